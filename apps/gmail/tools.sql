-- part: store_message
-- A message of the account's own, without labels.
SELECT 'Recipient email address is invalid: ' || value AS error
FROM (
  SELECT value FROM json_each(:to)
  UNION ALL
  SELECT value FROM json_each(ifnull(:cc, '[]'))
  UNION ALL
  SELECT value FROM json_each(ifnull(:bcc, '[]'))
)
WHERE NOT mail_is_address(value)
LIMIT 1;
SELECT 'Requested entity was not found.' AS error
WHERE :threadId IS NOT NULL AND NOT EXISTS (SELECT 1 FROM message WHERE thread_id = :threadId);
SELECT
  coalesce(
    :threadId,
    (
      SELECT thread_id
      FROM message
      WHERE header_id IN (:inReplyTo, trim(:inReplyTo, '<>')) OR id = :inReplyTo
    )
  ) AS thread,
  CASE WHEN :mimeType = 'text/html' AND :htmlBody IS NULL THEN '' ELSE :body END AS text,
  CASE
    WHEN :mimeType = 'text/plain' THEN ''
    WHEN :htmlBody IS NOT NULL THEN :htmlBody
    WHEN :mimeType = 'text/html' THEN :body
    ELSE ''
  END AS html,
  (SELECT ifnull(group_concat(value, ', '), '') FROM json_each(:to)) AS receivers,
  (SELECT group_concat(value, ', ') FROM json_each(:cc)) AS copies,
  (SELECT group_concat(value, ', ') FROM json_each(:bcc)) AS blind,
  new_id('message') AS message_id;
INSERT INTO message (
  id, thread_id, header_id, in_reply_to, date_ms, subject, topic, sender, receivers, copies, blind,
  body_text, body_html, size
)
SELECT
  :message_id,
  ifnull(:thread, :message_id),
  new_id('header'),
  trim(:inReplyTo, '<>'),
  now_ms(),
  :subject,
  mail_topic(:subject),
  name || ' <' || email || '>',
  :receivers,
  :copies,
  :blind,
  :text,
  :html,
  400 + length(CAST(:subject || :text || :html AS BLOB))
FROM account
RETURNING n;
INSERT INTO fts_message (rowid, subject, sender, receivers, copies, blind, body)
SELECT n, subject, sender, receivers, copies, blind, body_text || ' ' || body_html
FROM message
WHERE n = :n;

-- name: gmail_send_email
SELECT 'Recipient address required' AS error WHERE json_array_length(:to) = 0;
-- include: store_message
INSERT INTO message_label SELECT :n, 'SENT';
INSERT INTO message_label
SELECT :n, label.id
FROM label, account
WHERE label.id IN ('INBOX', 'UNREAD')
  AND EXISTS (
    SELECT 1
    FROM (
      SELECT value FROM json_each(:to)
      UNION ALL
      SELECT value FROM json_each(ifnull(:cc, '[]'))
      UNION ALL
      SELECT value FROM json_each(ifnull(:bcc, '[]'))
    )
    WHERE lower(value) = account.email
  );
SELECT json_object(
  'message', 'Email sent successfully with ID: ' || :message_id,
  'messageId', :message_id
) AS result;

-- name: gmail_draft_email
-- include: store_message
INSERT INTO draft SELECT new_id('draft'), :n RETURNING id AS draft_id;
INSERT INTO message_label VALUES (:n, 'DRAFT');
SELECT json_object(
  'message', 'Email draft created successfully with ID: ' || :draft_id,
  'draftId', :draft_id
) AS result;

-- name: gmail_read_email
SELECT thread_id FROM message WHERE id = :messageId;
SELECT 'Requested entity was not found.' AS error WHERE :thread_id IS NULL;
SELECT json_object(
  'threadId', :thread_id,
  'messageCount', count(*),
  'emails', json_group_array(json(email))
) AS result
FROM (
  SELECT drop_nulls(json_object(
    'messageId', id,
    'subject', subject,
    'from', sender,
    'to', receivers,
    'cc', copies,
    'date', time_write(date_ms / 1000, 'UTC', '%a, %d %b %Y %H:%M:%S %z'),
    'body', json_object(
      'text', body_text,
      'html', body_html,
      'preferredFormat', CASE
        WHEN body_text <> '' THEN 'text/plain'
        WHEN body_html <> '' THEN 'text/html'
      END
    ),
    'attachments', (
      SELECT json_group_array(json_object(
        'id', id,
        'filename', filename,
        'mimeType', mime_type,
        'size', size
      ))
      FROM (SELECT * FROM attachment WHERE message = m.n ORDER BY position)
      HAVING count(*) > 0
    )
  )) AS email
  FROM message m
  WHERE thread_id = :thread_id
  ORDER BY date_ms, n
);

-- name: gmail_search_emails
SELECT json_group_array(json_object(
  'id', id,
  'subject', subject,
  'from', sender,
  'date', date
)) AS result
FROM (
  SELECT id, subject, sender, time_write(date_ms / 1000, 'UTC', '%a, %d %b %Y %H:%M:%S %z') AS date
  FROM message m
  WHERE {{gmail :query}}
  ORDER BY date_ms DESC, n DESC
  LIMIT CASE WHEN ifnull(:maxResults, 0) < 1 THEN 10 ELSE min(CAST(:maxResults AS INTEGER), 500) END
);

-- name: gmail_modify_email
SELECT n FROM message WHERE id = :messageId;
SELECT 'Requested entity was not found.' AS error WHERE :n IS NULL;
SELECT 'Invalid label: ' || value AS error
FROM (
  SELECT value FROM json_each(ifnull(:addLabelIds, '[]'))
  UNION ALL
  SELECT value FROM json_each(ifnull(:removeLabelIds, '[]'))
)
WHERE value IN ('SENT', 'DRAFT')
  OR NOT EXISTS (SELECT 1 FROM label WHERE id = value OR name = value)
LIMIT 1;
SELECT 'Cannot both add and remove the same label' AS error
FROM label a
WHERE EXISTS (SELECT 1 FROM json_each(:addLabelIds) WHERE value IN (a.id, a.name))
  AND EXISTS (SELECT 1 FROM json_each(:removeLabelIds) WHERE value IN (a.id, a.name));
INSERT OR IGNORE INTO message_label
SELECT :n, label.id
FROM json_each(:addLabelIds)
JOIN label ON label.id = value OR label.name = value;
DELETE FROM message_label
WHERE message = :n
  AND label IN (
    SELECT label.id
    FROM json_each(:removeLabelIds)
    JOIN label ON label.id = value OR label.name = value
  );
SELECT drop_nulls(json_object(
  'message', 'Email ' || :messageId || ' labels updated successfully',
  'messageId', :messageId,
  'addedLabels', json(:addLabelIds),
  'removedLabels', json(:removeLabelIds)
)) AS result;

-- name: gmail_delete_email
SELECT n FROM message WHERE id = :messageId;
SELECT 'Requested entity was not found.' AS error WHERE :n IS NULL;
DELETE FROM fts_message WHERE rowid = :n;
DELETE FROM message WHERE n = :n;
SELECT json_object(
  'message', 'Email ' || :messageId || ' deleted successfully',
  'messageId', :messageId
) AS result;

-- name: gmail_batch_modify_emails
SELECT 'Too many messages: at most 1000' AS error WHERE json_array_length(:messageIds) > 1000;
SELECT (
  SELECT 'Invalid label: ' || value
  FROM (
    SELECT value FROM json_each(ifnull(:addLabelIds, '[]'))
    UNION ALL
    SELECT value FROM json_each(ifnull(:removeLabelIds, '[]'))
  )
  WHERE value IN ('SENT', 'DRAFT')
    OR NOT EXISTS (SELECT 1 FROM label WHERE id = value OR name = value)
  LIMIT 1
) AS label_error;
SELECT
  json_group_array(json_object(
    'messageId', value,
    'error', CASE WHEN known THEN :label_error ELSE 'Requested entity was not found.' END
  )) FILTER (WHERE NOT known OR :label_error IS NOT NULL) AS failures,
  count(*) FILTER (WHERE known AND :label_error IS NULL) AS n_done,
  count(*) FILTER (WHERE NOT known OR :label_error IS NOT NULL) AS n_failed
FROM (
  SELECT value, EXISTS (SELECT 1 FROM message WHERE id = value) AS known
  FROM json_each(:messageIds)
  ORDER BY key
);
INSERT OR IGNORE INTO message_label
SELECT m.n, label.id
FROM json_each(:messageIds) i
JOIN message m ON m.id = i.value, json_each(:addLabelIds) a
JOIN label ON label.id = a.value OR label.name = a.value
WHERE :label_error IS NULL;
DELETE FROM message_label
WHERE :label_error IS NULL
  AND message IN (SELECT m.n FROM json_each(:messageIds) i JOIN message m ON m.id = i.value)
  AND label IN (
    SELECT label.id
    FROM json_each(:removeLabelIds)
    JOIN label ON label.id = value OR label.name = value
  );
SELECT drop_nulls(json_object(
  'message', 'Batch label modification complete.',
  'successCount', :n_done,
  'failureCount', :n_failed,
  'failures', CASE WHEN :n_failed > 0 THEN json(:failures) END
)) AS result;

-- name: gmail_batch_delete_emails
SELECT 'Too many messages: at most 1000' AS error WHERE json_array_length(:messageIds) > 1000;
SELECT
  json_group_array(json_object(
    'messageId', value,
    'error', 'Requested entity was not found.'
  )) FILTER (WHERE NOT known) AS failures,
  count(*) FILTER (WHERE known) AS n_done,
  count(*) FILTER (WHERE NOT known) AS n_failed
FROM (
  SELECT
    value,
    EXISTS (SELECT 1 FROM message WHERE id = value)
      AND NOT EXISTS (
        SELECT 1 FROM json_each(:messageIds) e WHERE e.value = i.value AND e.key < i.key
      ) AS known
  FROM json_each(:messageIds) i
  ORDER BY key
);
DELETE FROM fts_message
WHERE rowid IN (SELECT m.n FROM json_each(:messageIds) i JOIN message m ON m.id = i.value);
DELETE FROM message WHERE id IN (SELECT value FROM json_each(:messageIds));
SELECT drop_nulls(json_object(
  'message', 'Batch delete operation complete.',
  'successCount', :n_done,
  'failureCount', :n_failed,
  'failures', CASE WHEN :n_failed > 0 THEN json(:failures) END
)) AS result;

-- name: gmail_get_email_attachments
SELECT n FROM message WHERE id = :messageId;
SELECT 'Requested entity was not found.' AS error WHERE :n IS NULL;
SELECT json_object(
  'message', 'No attachments found for message ' || :messageId,
  'messageId', :messageId,
  'attachmentCount', 0
) AS result
WHERE NOT EXISTS (SELECT 1 FROM attachment WHERE message = :n);
SELECT json_group_array(json(item)) AS content
FROM (
  SELECT item
  FROM (
    SELECT
      -1 AS position,
      json_object(
        'type', 'text',
        'text', json_indent(json_object(
          'message', 'Attachments for message ' || :messageId,
          'messageId', :messageId,
          'attachmentCount', count(*),
          'attachments', json_group_array(json_object(
            'attachmentId', id,
            'filename', filename,
            'mimeType', mime_type,
            'size', size
          ))
        ))
      ) AS item
    FROM (SELECT * FROM attachment WHERE message = :n ORDER BY position)
    UNION ALL
    SELECT
      position,
      CASE
        WHEN mime_type GLOB 'image/*' OR mime_type GLOB 'audio/*'
          THEN json_object('type', substr(mime_type, 1, 5), 'data', content, 'mimeType', mime_type)
        WHEN mime_type GLOB 'text/*'
            OR mime_type IN ('application/json', 'application/xml', 'application/javascript')
          THEN json_object('type', 'text', 'text', CAST(unbase64(content) AS TEXT))
        ELSE json_object(
          'type', 'text',
          'text', 'Attachment: ' || filename || ' (' || mime_type || ', ' || size || ' bytes)'
            || char(10) || 'data:' || mime_type || ';base64,' || content
        )
      END
    FROM attachment
    WHERE message = :n
  )
  ORDER BY position
)
WHERE EXISTS (SELECT 1 FROM attachment WHERE message = :n)
HAVING count(*) > 0;

-- name: gmail_search_contacts
-- include: common/search_contacts
