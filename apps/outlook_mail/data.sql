-- Besides what Klavis's format names, messages may have "folder" (its name), "is_draft",
-- "bcc_addresses", "importance", "categories", "flag_status" and "has_attachments"; they are dumped
-- when they are not what a received message has. Lost in a dump: conversations (they are found
-- again by subject), headers, names of people who are not known, empty folders.

-- name: import
SELECT ifnull(max(n), 0) AS last FROM message;
SELECT ifnull(json_array_length(:args, '$.messages'), 0) AS n_messages, email AS me FROM account;
SELECT 'messages/' || key || ': not a date: ' || (value ->> 'received_date_time') AS error
FROM json_each(:args, '$.messages')
WHERE type = 'object'
  AND value ->> 'received_date_time' IS NOT NULL
  AND time_read(value ->> 'received_date_time', 'UTC') IS NULL
LIMIT 1;
INSERT INTO folder (id, name)
SELECT new_id('folder'), name
FROM (
  SELECT trim(value ->> 'folder') AS name, min(key) AS place
  FROM json_each(:args, '$.messages')
  WHERE type = 'object'
    AND json_type(value, '$.folder') = 'text'
    AND trim(value ->> 'folder') <> ''
    AND NOT EXISTS (
      SELECT 1
      FROM folder f
      WHERE f.name = trim(value ->> 'folder') OR f.well_known = lower(trim(value ->> 'folder'))
    )
  GROUP BY lower(trim(value ->> 'folder'))
  ORDER BY place
);
INSERT INTO message (
  n, id, folder, subject, body, body_type, from_address, importance, categories, flag, is_read,
  is_draft, has_attachments, conversation, conversation_index, header_id, change_key, created_s,
  modified_s, received_s, sent_s
)
SELECT
  :last + 1 + key,
  iif(own_id IS NULL OR own_id IN (SELECT id FROM message) OR is_second, new_id('message'), own_id),
  ifnull(
    (
      SELECT f.n
      FROM folder f
      WHERE f.name = folder OR f.well_known = lower(folder)
      ORDER BY f.n
      LIMIT 1
    ),
    (
      SELECT f.n
      FROM folder f
      WHERE f.well_known = CASE
        WHEN is_draft THEN 'drafts'
        WHEN lower(mail_address(sender)) = :me THEN 'sentitems'
        ELSE 'inbox'
      END
    )
  ),
  subject,
  body,
  type,
  mail_address(sender),
  importance,
  categories,
  flag,
  is_read,
  is_draft,
  has_attachments,
  '',
  new_id('index'),
  new_id('header'),
  new_id('change'),
  at,
  at,
  at,
  at
FROM (
  SELECT
    key,
    nullif(value ->> 'id', '') AS own_id,
    row_number() OVER (PARTITION BY value ->> 'id' ORDER BY key) > 1 AS is_second,
    trim(value ->> 'folder') AS folder,
    value ->> 'title' AS subject,
    coalesce(
      value ->> '$.content.content',
      value ->> '$.content.html',
      value ->> '$.content.text',
      value ->> '$.content.body',
      ''
    ) AS body,
    iif(
      lower(coalesce(
        value ->> '$.content.contentType',
        value ->> '$.content.content_type',
        iif(value ->> '$.content.html' IS NULL, 'text', 'html')
      ))
        = 'html',
      'html',
      'text'
    ) AS type,
    coalesce(
      value ->> '$.from.emailAddress.address',
      value ->> '$.from.address',
      value ->> '$.from.email'
    ) AS sender,
    ifnull(lower(value ->> 'importance'), 'normal') AS importance,
    iif(json_type(value, '$.categories') = 'array', value -> 'categories', '[]') AS categories,
    ifnull(value ->> 'flag_status', 'notFlagged') AS flag,
    ifnull(value ->> 'is_read', 0) AS is_read,
    ifnull(value ->> 'is_draft', 0) AS is_draft,
    ifnull(value ->> 'has_attachments', 0) AS has_attachments,
    ifnull(time_read(value ->> 'received_date_time', 'UTC'), now_ms() / 1000) AS at
  FROM json_each(:args, '$.messages')
  WHERE type = 'object'
)
ORDER BY key;
INSERT OR IGNORE INTO person
SELECT mail_address(address), name
FROM (
  SELECT
    coalesce(
      value ->> '$.from.emailAddress.address',
      value ->> '$.from.address',
      value ->> '$.from.email'
    ) AS address,
    coalesce(value ->> '$.from.emailAddress.name', value ->> '$.from.name') AS name
  FROM json_each(:args, '$.messages')
  WHERE type = 'object'
)
WHERE address IS NOT NULL AND name IS NOT NULL AND name <> address;
INSERT INTO recipient_row
SELECT :last + 1 + m.key, 'to', a.key, mail_address(a.value)
FROM json_each(:args, '$.messages') m, json_each(m.value, '$.to_addresses') a
WHERE m.type = 'object' AND a.type = 'text'
UNION ALL
SELECT :last + 1 + m.key, 'cc', a.key, mail_address(a.value)
FROM json_each(:args, '$.messages') m, json_each(m.value, '$.cc_addresses') a
WHERE m.type = 'object' AND a.type = 'text'
UNION ALL
SELECT :last + 1 + m.key, 'bcc', a.key, mail_address(a.value)
FROM json_each(:args, '$.messages') m, json_each(m.value, '$.bcc_addresses') a
WHERE m.type = 'object' AND a.type = 'text';
UPDATE message
SET conversation = first.conversation
FROM (
  SELECT new.topic, ifnull(old.conversation, new_id('conversation')) AS conversation
  FROM (SELECT DISTINCT mail_topic(subject) AS topic FROM message WHERE n > :last) new
  LEFT JOIN (
    SELECT mail_topic(subject) AS topic, min(conversation) AS conversation
    FROM message
    WHERE n <= :last
    GROUP BY 1
  ) old
    ON old.topic = new.topic
) first
WHERE n > :last AND mail_topic(subject) = first.topic;
SELECT json_object('messages', :n_messages) AS result;

-- name: export
SELECT json_object('messages', json_group_array(json(item))) AS result
FROM (
  SELECT drop_nulls(json_object(
    'id', id,
    'title', subject,
    'content', json_object('contentType', body_type, 'content', body),
    'from', iif(
      from_address IS NULL,
      NULL,
      json_object('emailAddress', json_object('name', from_name, 'address', from_address))
    ),
    'to_addresses', (
      SELECT json_group_array(address)
      FROM (SELECT address FROM recipient_row WHERE message = m.n AND kind = 'to' ORDER BY position)
    ),
    'cc_addresses', (
      SELECT json_group_array(address)
      FROM (SELECT address FROM recipient_row WHERE message = m.n AND kind = 'cc' ORDER BY position)
      HAVING count(*) > 0
    ),
    'is_read', json(iif(is_read, 'true', 'false')),
    'received_date_time', time_write(received_s, 'UTC', '%Y-%m-%dT%H:%M:%SZ'),
    'bcc_addresses', (
      SELECT json_group_array(address)
      FROM (
        SELECT address FROM recipient_row WHERE message = m.n AND kind = 'bcc' ORDER BY position
      )
      HAVING count(*) > 0
    ),
    'folder', (
      SELECT iif(
        well_known IS 'inbox'
          AND NOT is_draft
          AND lower(from_address) IS NOT (SELECT email FROM account),
        NULL,
        name
      )
      FROM folder
      WHERE n = m.folder
    ),
    'is_draft', iif(is_draft, json('true'), NULL),
    'importance', nullif(importance, 'normal'),
    'categories', iif(categories = '[]', NULL, json(categories)),
    'flag_status', nullif(flag, 'notFlagged'),
    'has_attachments', iif(has_attachments, json('true'), NULL)
  )) AS item
  FROM mail m
  ORDER BY n
);
