-- Messages by channel, the oldest first; one without "channel_id" is the channel general, one that
-- there is not yet is made. Besides what Klavis's format names, a channel that is made may have
-- "name", "topic" and "category_id", a message "author" (a username, else it is the bot's) and
-- "timestamp" (RFC 3339), a reaction "user"; dumps have them where they differ. Lost in a dump: ids
-- of messages, and times that were not given.

-- name: import
SELECT 'channels/' || key || ': not a channel''s id: ' || (value ->> 'channel_id') AS error
FROM json_each(:args, '$.channels')
WHERE type = 'object'
  AND value ->> 'channel_id' IS NOT NULL
  AND (
    value ->> 'channel_id' = ''
    OR value ->> 'channel_id' GLOB '*[^0-9]*'
    OR length(value ->> 'channel_id') > 19
    OR EXISTS (
      SELECT 1 FROM channel WHERE kind = 'category' AND CAST(id AS TEXT) = value ->> 'channel_id'
    )
  )
LIMIT 1;
SELECT 'channels/' || c.key || '/messages/' || m.key || ': no such author: '
  || (m.value ->> 'author') AS error
FROM json_each(:args, '$.channels') c, json_each(c.value, '$.messages') m
WHERE m.value ->> 'author' NOT IN (SELECT username FROM user)
LIMIT 1;
SELECT 'channels/' || c.key || '/messages/' || m.key || ': not a time: '
  || (m.value ->> 'timestamp') AS error
FROM json_each(:args, '$.channels') c, json_each(c.value, '$.messages') m
WHERE m.value ->> 'timestamp' IS NOT NULL AND time_read(m.value ->> 'timestamp', 'UTC') IS NULL
LIMIT 1;
SELECT 'channels/' || c.key || '/messages/' || m.key || '/reactions/' || r.key || ': no such user: '
  || (r.value ->> 'user') AS error
FROM
  json_each(:args, '$.channels') c,
  json_each(c.value, '$.messages') m,
  json_each(m.value, '$.reactions') r
WHERE r.value ->> 'user' NOT IN (SELECT username FROM user)
LIMIT 1;
INSERT OR IGNORE INTO channel (id, server_id, kind, name, topic, category_id)
SELECT
  CAST(c.value ->> 'channel_id' AS INTEGER),
  (SELECT id FROM server),
  'text',
  ifnull(c.value ->> 'name', 'channel-' || substr(c.value ->> 'channel_id', -4)),
  c.value ->> 'topic',
  (SELECT id FROM channel WHERE CAST(id AS TEXT) = c.value ->> 'category_id' AND kind = 'category')
FROM json_each(:args, '$.channels') c
WHERE c.type = 'object' AND c.value ->> 'channel_id' IS NOT NULL;
WITH place AS MATERIALIZED (
  SELECT
    key,
    ifnull(value ->> 'channel_id', '1214906412838871091') AS channel,
    value -> 'messages' AS messages
  FROM json_each(:args, '$.channels')
  WHERE type = 'object'
)
SELECT json_group_array(json(item)) AS lines
FROM (
  SELECT json_object(
    'id', (
        (ifnull(1000 * time_read(m.value ->> 'timestamp', 'UTC'), now_ms()) - 1420070400000) << 22
      ) + new_id('snowflake'),
    'channel', p.channel,
    'line', json(m.value)
  ) AS item
  FROM place p, json_each(p.messages) m
  WHERE m.type = 'object'
  ORDER BY p.key, m.key
);
INSERT INTO message
SELECT
  l.value ->> 'id',
  CAST(l.value ->> 'channel' AS INTEGER),
  (
    SELECT id
    FROM user
    WHERE username = l.value ->> '$.line.author'
      OR rank = iif(l.value ->> '$.line.author' IS NULL, 1, NULL)
  ),
  l.value ->> '$.line.content',
  l.value ->> '$.line.timestamp' IS NOT NULL
FROM json_each(:lines) l
ORDER BY l.key;
-- The nth reaction of the same name that does not say whose it is, is that of the nth person.
INSERT OR IGNORE INTO reaction
SELECT x.id, x.emoji, u.id, x.nth
FROM (
  SELECT
    l.value ->> 'id' AS id,
    r.value ->> 'name' AS emoji,
    r.value ->> 'user' AS user,
    r.key + 1 AS nth,
    row_number() OVER (
      PARTITION BY l.key, r.value ->> 'name', r.value ->> 'user' IS NULL ORDER BY r.key
    ) AS rank
  FROM json_each(:lines) l, json_each(l.value, '$.line.reactions') r
  WHERE r.type = 'object'
) x
JOIN user u ON u.username = x.user OR x.user IS NULL AND u.rank = x.rank;
SELECT json_object(
  'channels', (SELECT count(*) FROM json_each(:args, '$.channels') WHERE type = 'object'),
  'messages', json_array_length(:lines),
  'reactions', (SELECT count(*) FROM json_each(:lines) l, json_each(l.value, '$.line.reactions'))
) AS result;

-- name: export
SELECT json_object('channels', json_group_array(json(item))) AS result
FROM (
  SELECT drop_nulls(json_object(
    'channel_id', CAST(c.id AS TEXT),
    'name', iif(is_own, c.name, NULL),
    'topic', iif(is_own, c.topic, NULL),
    'category_id', iif(is_own, CAST(c.category_id AS TEXT), NULL),
    'messages', (
      SELECT json(nullif(json_group_array(json(item)), '[]'))
      FROM (
        SELECT drop_nulls(json_object(
          'content', m.content,
          'author', iif(u.rank = 1, NULL, u.username),
          'timestamp', iif(
            m.is_dated,
            strftime('%Y-%m-%dT%H:%M:%SZ', ((m.id >> 22) + 1420070400000) / 1000, 'unixepoch'),
            NULL
          ),
          'reactions', (
            SELECT json(nullif(json_group_array(json(item)), '[]'))
            FROM (
              SELECT drop_nulls(json_object(
                'name', r.emoji,
                'user', iif(w.rank = 1, NULL, w.username)
              )) AS item
              FROM reaction r
              JOIN user w ON w.id = r.user_id
              WHERE r.message_id = m.id
              ORDER BY r.position, r.emoji, w.rank
            )
          )
        )) AS item
        FROM message m
        JOIN user u ON u.id = m.user_id
        WHERE m.channel_id = c.id
        ORDER BY m.id
      )
    )
  )) AS item
  FROM channel c
  WHERE is_own OR EXISTS (SELECT 1 FROM message WHERE channel_id = c.id)
  ORDER BY c.id
);
