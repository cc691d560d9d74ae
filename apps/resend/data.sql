-- Besides what Klavis's format names, a mail may have "scheduled_at", a broadcast "preview_text"
-- and a contact "segments", the ids or names of segments; without it it is in General. A contact
-- whose address is there already is changed. General is dumped when it has broadcasts; that it was
-- deleted is not told. Several addresses for answers to a mail are one text with commas.

-- name: import
SELECT x.place || ': there is one with the id ' || x.id AS error
FROM (
  SELECT 'emails/' || key AS place, value ->> 'id' AS id, key AS nth, 'e' AS kind
  FROM json_each(:args, '$.emails')
  UNION ALL
  SELECT 'contacts/' || key, value ->> 'id', key, 'c' FROM json_each(:args, '$.contacts')
  UNION ALL
  SELECT 'segments/' || key, value ->> 'id', key, 's' FROM json_each(:args, '$.segments')
  UNION ALL
  SELECT
    'segments/' || s.key || '/broadcasts/' || b.key,
    b.value ->> 'id',
    s.key * 100000 + b.key,
    'b'
  FROM json_each(:args, '$.segments') s, json_each(s.value, '$.broadcasts') b
) x
WHERE CASE x.kind
  WHEN 'e' THEN x.id IN (SELECT id FROM email)
  WHEN 'c' THEN x.id IN (SELECT id FROM contact)
  WHEN 's' THEN x.id IN (SELECT id FROM segment WHERE n > 0)
  ELSE x.id IN (SELECT id FROM broadcast)
END
LIMIT 1;
SELECT x.place || ': twice: ' || x.id AS error
FROM (
  SELECT 'emails' AS place, value ->> 'id' AS id FROM json_each(:args, '$.emails')
  UNION ALL
  SELECT 'contacts', value ->> 'id' FROM json_each(:args, '$.contacts')
  UNION ALL
  SELECT 'segments', value ->> 'id' FROM json_each(:args, '$.segments')
  UNION ALL
  SELECT 'broadcasts', b.value ->> 'id'
  FROM json_each(:args, '$.segments') s, json_each(s.value, '$.broadcasts') b
) x
WHERE x.id IS NOT NULL
GROUP BY x.place, x.id
HAVING count(*) > 1
LIMIT 1;
SELECT
  (SELECT ifnull(max(n), 0) FROM email) AS n_emails,
  (SELECT ifnull(max(n), 0) FROM contact) AS n_contacts,
  (SELECT ifnull(max(n), 0) FROM segment) AS n_segments,
  (SELECT ifnull(max(n), 0) FROM broadcast) AS n_broadcasts;
INSERT INTO email
SELECT
  ifnull(value ->> 'id', new_id('email')),
  :n_emails + 1 + key,
  value ->> 'from',
  value -> 'to',
  value ->> 'subject',
  value ->> 'html',
  value ->> 'text',
  value ->> 'cc',
  value ->> 'bcc',
  value ->> 'reply_to',
  value ->> 'tags',
  ifnull(value ->> 'created_at', now()),
  value ->> 'scheduled_at'
FROM json_each(:args, '$.emails')
WHERE type = 'object'
ORDER BY key;
INSERT INTO segment
SELECT
  ifnull(value ->> 'id', new_id('segment')),
  :n_segments + 1 + key,
  value ->> 'name',
  ifnull(value ->> 'created_at', now())
FROM json_each(:args, '$.segments')
WHERE type = 'object'
ORDER BY key
ON CONFLICT (id) DO UPDATE SET name = excluded.name;
INSERT INTO broadcast
SELECT
  ifnull(b.value ->> 'id', new_id('broadcast')),
  :n_broadcasts + row_number() OVER (ORDER BY s.key, b.key),
  (SELECT id FROM segment WHERE id = s.value ->> 'id' OR n = :n_segments + 1 + s.key LIMIT 1),
  b.value ->> 'name',
  b.value ->> 'from',
  b.value ->> 'subject',
  b.value ->> 'html',
  b.value ->> 'text',
  b.value ->> 'reply_to',
  b.value ->> 'preview_text',
  ifnull(b.value ->> 'status', 'draft'),
  ifnull(b.value ->> 'created_at', now()),
  b.value ->> 'scheduled_at',
  b.value ->> 'sent_at',
  b.value ->> 'topic_id'
FROM json_each(:args, '$.segments') s, json_each(s.value, '$.broadcasts') b
WHERE s.type = 'object' AND b.type = 'object';
SELECT 'contacts/' || c.key || ': no such segment: ' || s.value AS error
FROM json_each(:args, '$.contacts') c, json_each(c.value, '$.segments') s
WHERE c.type = 'object' AND s.value NOT IN (SELECT id FROM segment UNION SELECT name FROM segment)
LIMIT 1;
INSERT INTO contact
SELECT
  ifnull(value ->> 'id', new_id('contact')),
  :n_contacts + 1 + key,
  value ->> 'email',
  value ->> 'first_name',
  value ->> 'last_name',
  ifnull(value ->> 'unsubscribed', 0),
  ifnull(value ->> 'created_at', now())
FROM json_each(:args, '$.contacts')
WHERE type = 'object'
ORDER BY key
ON CONFLICT (email) DO UPDATE SET
  first_name = ifnull(excluded.first_name, first_name),
  last_name = ifnull(excluded.last_name, last_name),
  is_unsubscribed = excluded.is_unsubscribed;
INSERT OR IGNORE INTO membership
SELECT s.id, contact.id
FROM json_each(:args, '$.contacts') c
JOIN contact ON contact.email = c.value ->> 'email'
JOIN segment s ON s.n = 0
WHERE c.type = 'object' AND ifnull(json_type(c.value, '$.segments'), 'null') <> 'array';
INSERT OR IGNORE INTO membership
SELECT s.id, contact.id
FROM json_each(:args, '$.contacts') c
JOIN contact ON contact.email = c.value ->> 'email', json_each(c.value, '$.segments') w
JOIN segment s ON s.id = w.value OR s.name = w.value AND w.value NOT IN (SELECT id FROM segment)
WHERE c.type = 'object' AND json_type(c.value, '$.segments') = 'array';
SELECT json_object(
  'emails', (SELECT count(*) FROM json_each(:args, '$.emails') WHERE type = 'object'),
  'contacts', (SELECT count(*) FROM json_each(:args, '$.contacts') WHERE type = 'object'),
  'segments', (SELECT count(*) FROM json_each(:args, '$.segments') WHERE type = 'object'),
  'broadcasts', (SELECT count(*) FROM broadcast WHERE n > :n_broadcasts)
) AS result;

-- name: export
SELECT json_object(
  'emails', (
    SELECT json_group_array(json(item))
    FROM (
      SELECT drop_nulls(json_object(
        'id', id,
        'from', sender,
        'to', json(receivers),
        'subject', subject,
        'html', html,
        'text', text,
        'reply_to', reply_to,
        'cc', json(cc),
        'bcc', json(bcc),
        'tags', json(tags),
        'created_at', created,
        'scheduled_at', scheduled
      )) AS item
      FROM email
      ORDER BY n
    )
  ),
  'contacts', (
    SELECT json_group_array(json(item))
    FROM (
      SELECT drop_nulls(json_object(
        'id', id,
        'email', email,
        'first_name', first_name,
        'last_name', last_name,
        'unsubscribed', json(iif(is_unsubscribed, 'true', 'false')),
        'created_at', created,
        'segments', (
          SELECT iif(count(*) = 1 AND min(n) = 0, NULL, json_group_array(id))
          FROM (
            SELECT s.id, s.n
            FROM membership m
            JOIN segment s ON s.id = m.segment_id
            WHERE m.contact_id = contact.id
            ORDER BY s.n
          )
        )
      )) AS item
      FROM contact
      ORDER BY n
    )
  ),
  'segments', (
    SELECT json_group_array(json(item))
    FROM (
      SELECT drop_nulls(json_object(
        'id', s.id,
        'name', s.name,
        'created_at', s.created,
        'broadcasts', (
          SELECT json(nullif(json_group_array(json(item)), '[]'))
          FROM (
            SELECT drop_nulls(json_object(
              'id', id,
              'from', sender,
              'subject', subject,
              'name', name,
              'html', html,
              'text', text,
              'reply_to', reply_to,
              'preview_text', preview_text,
              'status', status,
              'created_at', created,
              'scheduled_at', scheduled,
              'sent_at', sent,
              'topic_id', topic_id
            )) AS item
            FROM broadcast
            WHERE segment_id = s.id
            ORDER BY n
          )
        )
      )) AS item
      FROM segment s
      WHERE s.n > 0 OR EXISTS (SELECT 1 FROM broadcast WHERE segment_id = s.id)
      ORDER BY s.n
    )
  )
) AS result;
