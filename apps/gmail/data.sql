-- Besides what Klavis's format names, messages may have "date" (RFC 3339) and "attachments"
-- ([{"filename", "mimeType", "content" (base64) or "text"}]); both are dumped when given.
-- Lost in a dump: dates that were not given (they become the time of the import, half an hour
-- apart), ids, and the HTML of a message that also has text. Threads are found again by subject.

-- name: import
SELECT ifnull(max(n), 0) AS last FROM message;
SELECT
  ifnull(json_array_length(:args, '$.messages'), 0) AS n_messages,
  ifnull(json_array_length(:args, '$.drafts'), 0) AS n_drafts;
SELECT 'messages/' || key || ': not a date: ' || (value ->> 'date') AS error
FROM json_each(:args, '$.messages')
WHERE type = 'object'
  AND value ->> 'date' IS NOT NULL
  AND time_read(value ->> 'date', 'UTC') IS NULL
LIMIT 1;
SELECT 'messages/' || m.key || '/attachments/' || a.key || ': not base64' AS error
FROM json_each(:args, '$.messages') m, json_each(m.value, '$.attachments') a
WHERE m.type = 'object'
  AND a.type = 'object'
  AND a.value ->> 'text' IS NULL
  AND unbase64(a.value ->> 'content') IS NULL
LIMIT 1;
INSERT INTO label
SELECT new_id('label'), name, 'user'
FROM (
  SELECT l.value AS name
  FROM json_each(:args, '$.messages') m, json_each(m.value, '$.labels') l
  WHERE m.type = 'object'
    AND l.type = 'text'
    AND trim(l.value) <> ''
    AND NOT EXISTS (SELECT 1 FROM label WHERE id = l.value OR name = l.value)
  GROUP BY lower(l.value)
  ORDER BY min(m.key), min(l.key)
);
INSERT INTO message
SELECT
  :last + 1 + place,
  new_id('message'),
  NULL,
  new_id('header'),
  NULL,
  ifnull(1000 * time_read(date, 'UTC'), now_ms() - (:n_messages + :n_drafts - 1 - place) * 1800000),
  date IS NOT NULL,
  subject,
  mail_topic(subject),
  ifnull(sender, (SELECT name || ' <' || email || '>' FROM account)),
  receivers,
  copies,
  blind,
  reply_to,
  iif(is_html, '', body),
  iif(is_html, body, ''),
  400 + length(CAST(subject || body AS BLOB))
FROM (
  SELECT
    value ->> 'subject' AS subject,
    value ->> 'date' AS date,
    value ->> 'from' AS sender,
    value ->> 'to' AS receivers,
    value ->> 'cc' AS copies,
    value ->> 'bcc' AS blind,
    value ->> 'reply_to' AS reply_to,
    value ->> 'body' AS body,
    lower(ltrim(value ->> 'body')) GLOB '<!doctype html*'
      OR lower(ltrim(value ->> 'body')) GLOB '<html*' AS is_html,
    key AS place
  FROM json_each(:args, '$.messages')
  WHERE type = 'object'
  UNION ALL
  SELECT
    value ->> 'subject',
    NULL,
    value ->> 'from',
    value ->> 'to',
    value ->> 'cc',
    value ->> 'bcc',
    value ->> 'reply_to',
    value ->> 'body',
    lower(ltrim(value ->> 'body')) GLOB '<!doctype html*'
      OR lower(ltrim(value ->> 'body')) GLOB '<html*',
    :n_messages + key
  FROM json_each(:args, '$.drafts')
  WHERE type = 'object'
  ORDER BY place
);
UPDATE message
SET thread_id = coalesce(
  (
    SELECT coalesce(r.thread_id, r.id)
    FROM message r
    WHERE r.topic = message.topic AND r.n <= message.n AND r.topic = trim(r.subject)
    ORDER BY r.n DESC
    LIMIT 1
  ),
  (
    SELECT coalesce(r.thread_id, r.id)
    FROM message r
    WHERE r.topic = message.topic
    ORDER BY r.n
    LIMIT 1
  )
)
WHERE n > :last;
INSERT INTO draft SELECT new_id('draft'), n FROM message WHERE n > :last + :n_messages ORDER BY n;
INSERT OR IGNORE INTO message_label
SELECT :last + 1 + m.key, label.id
FROM json_each(:args, '$.messages') m, json_each(m.value, '$.labels') l
JOIN label ON label.id = l.value OR label.name = l.value
WHERE m.type = 'object' AND l.type = 'text';
INSERT INTO message_label
SELECT :last + 1 + m.key, label.id
FROM json_each(:args, '$.messages') m
JOIN message ON message.n = :last + 1 + m.key, account, label
WHERE m.type = 'object'
  AND m.value ->> 'labels' IS NULL
  AND iif(
    lower(mail_address(message.sender)) = account.email,
    label.id = 'SENT',
    label.id IN ('INBOX', 'UNREAD')
  );
INSERT INTO message_label SELECT n, 'DRAFT' FROM message WHERE n > :last + :n_messages;
INSERT INTO attachment
SELECT
  new_id('attachment'),
  message,
  place,
  filename,
  mime_type,
  length(CAST(unbase64(content) AS BLOB)),
  content
FROM (
  SELECT
    :last + 1 + m.key AS message,
    a.key AS place,
    ifnull(a.value ->> 'filename', 'attachment-' || a.key) AS filename,
    coalesce(
      a.value ->> 'mimeType',
      iif(a.value ->> 'text' IS NULL, 'application/octet-stream', 'text/plain')
    ) AS mime_type,
    ifnull(base64(a.value ->> 'text'), a.value ->> 'content') AS content
  FROM json_each(:args, '$.messages') m, json_each(m.value, '$.attachments') a
  WHERE m.type = 'object' AND a.type = 'object'
);
UPDATE message
SET size = size + (SELECT ifnull(sum(length(content)), 0) FROM attachment WHERE message = n)
WHERE n > :last AND n IN (SELECT message FROM attachment);
INSERT INTO fts_message (rowid, subject, sender, receivers, copies, blind, body, files)
SELECT
  n,
  subject,
  sender,
  receivers,
  copies,
  blind,
  body_text || body_html,
  (SELECT group_concat(filename, ' | ') FROM attachment WHERE message = n)
FROM message
WHERE n > :last;
SELECT json_object('messages', :n_messages, 'drafts', :n_drafts) AS result;

-- name: export
SELECT json_group_array(json(item)) AS messages
FROM (
  SELECT drop_nulls(json_object(
    'subject', subject,
    'to', receivers,
    'cc', copies,
    'bcc', blind,
    'body', iif(body_text = '', body_html, body_text),
    'from', sender,
    'reply_to', reply_to,
    'labels', (
      SELECT json_group_array(name)
      FROM (
        SELECT name
        FROM message_label
        JOIN label ON label.id = label
        WHERE message = m.n
        ORDER BY name
      )
    ),
    'date', iif(has_date, time_write(date_ms / 1000, 'UTC', '%Y-%m-%dT%H:%M:%SZ'), NULL),
    'attachments', (
      SELECT json_group_array(json_object(
        'filename', filename,
        'mimeType', mime_type,
        'content', content
      ))
      FROM (SELECT * FROM attachment WHERE message = m.n ORDER BY position)
      HAVING count(*) > 0
    )
  )) AS item
  FROM message m
  WHERE n NOT IN (SELECT message FROM draft)
  ORDER BY n
);
SELECT json_group_array(json(item)) AS drafts
FROM (
  SELECT drop_nulls(json_object(
    'subject', subject,
    'to', receivers,
    'cc', copies,
    'bcc', blind,
    'body', iif(body_text = '', body_html, body_text),
    'from', sender,
    'reply_to', reply_to
  )) AS item
  FROM message
  WHERE n IN (SELECT message FROM draft)
  ORDER BY n
);
SELECT json_object('messages', json(:messages), 'drafts', json(:drafts)) AS result;
