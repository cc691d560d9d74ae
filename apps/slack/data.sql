-- Channels with their messages, threads and reactions. Beyond Klavis' format a message may say who
-- wrote it ("user": a name or an id; else it is the account) and when ("ts"), and a reaction whose
-- it is ("user"). Direct messages and who is in a channel have no place in it: they are not dumped.

-- name: import
SELECT id AS me FROM user WHERE rank = 1;
SELECT 'channel name must not be empty' AS error
FROM json_each(:args, '$.channels') c
WHERE trim(c.value ->> 'name') = '';
INSERT INTO channel (id, kind, name, creator, created, purpose)
SELECT new_id('channel'), kind, name, :me, now_ms() / 1000, NULL
FROM (
  SELECT
    c.value ->> 'name' AS name,
    min(c.key) AS nth,
    iif(max(c.value ->> 'is_private'), 'private_channel', 'public_channel') AS kind
  FROM json_each(:args, '$.channels') c
  WHERE c.value ->> 'name' NOT IN (SELECT name FROM channel WHERE name IS NOT NULL)
  GROUP BY 1
  ORDER BY nth
);
UPDATE channel
SET purpose = d.text
FROM (
  SELECT c.value ->> 'name' AS name, c.value ->> 'description' AS text
  FROM json_each(:args, '$.channels') c
  WHERE c.value ->> 'description' IS NOT NULL
) AS d
WHERE channel.name = d.name;

-- All messages, flat, in the order of the body: a reply to a reply is one in the same thread.
WITH RECURSIVE tree (channel, nth, root, sort, node) AS (
  SELECT c.value ->> 'name', c.key, c.key || '.' || m.key, printf('%08d', m.key), m.value
  FROM json_each(:args, '$.channels') c, json_each(c.value, '$.messages') m
  WHERE m.type = 'object'
  UNION ALL
  SELECT t.channel, t.nth, t.root, t.sort || printf('.%08d', r.key), r.value
  FROM tree t, json_each(t.node, '$.replies') r
  WHERE r.type = 'object'
)
SELECT
  json_group_array(json_object(
    'channel', channel,
    'root', root,
    'is_reply', length(sort) > 8,
    'text', node ->> 'text',
    'user', node ->> 'user',
    'ts', node ->> 'ts',
    'reactions', node -> 'reactions'
  )) AS flat,
  count(*) AS n_messages
FROM (SELECT * FROM tree ORDER BY nth, sort);
SELECT 'unknown user: ' || name AS error
FROM (
  SELECT value ->> 'user' AS name FROM json_each(:flat)
  UNION
  SELECT r.value ->> 'user' FROM json_each(:flat) m, json_each(m.value, '$.reactions') r
)
WHERE name IS NOT NULL AND NOT EXISTS (SELECT 1 FROM user WHERE name IN (user.id, user.name))
LIMIT 1;
SELECT 'invalid ts: ' || (value ->> 'ts') AS error
FROM json_each(:flat)
WHERE value ->> 'ts' NOT GLOB '[1-9]?????????.??????' OR value ->> 'ts' GLOB '*[^0-9.]*'
LIMIT 1;

-- Messages without a time come behind all others, a second apart, the last of them now.
SELECT max(
  now_ms() * 1000 - 1000000 * :n_messages,
  ifnull((SELECT max(CAST(replace(ts, '.', '') AS INTEGER)) FROM message), 0),
  ifnull((SELECT max(CAST(replace(value ->> 'ts', '.', '') AS INTEGER)) FROM json_each(:flat)), 0)
) AS base;
SELECT json_group_array(json_set(
  json(node),
  '$.key', ifnull(ts, printf('%d.%06d', us / 1000000, us % 1000000))
)) AS timed
FROM (
  SELECT
    value AS node,
    value ->> 'ts' AS ts,
    :base + 1000000 * row_number() OVER (ORDER BY value ->> 'ts' IS NOT NULL, key) AS us,
    key
  FROM json_each(:flat)
  ORDER BY key
);
SELECT 'two messages with the ts ' || ts || ' in ' || channel AS error
FROM (
  SELECT value ->> 'channel' AS channel, value ->> 'key' AS ts FROM json_each(:timed)
  UNION ALL
  SELECT c.name, m.ts FROM message m JOIN channel c ON c.id = m.channel_id
)
GROUP BY channel, ts
HAVING count(*) > 1
LIMIT 1;
INSERT INTO message (channel_id, ts, user_id, text, thread_ts, is_dated)
SELECT
  c.id,
  m.value ->> 'key',
  ifnull((SELECT id FROM user WHERE m.value ->> 'user' IN (user.id, user.name)), :me),
  m.value ->> 'text',
  p.ts,
  m.value ->> 'ts' IS NOT NULL
FROM json_each(:timed) m
JOIN channel c ON c.name = m.value ->> 'channel'
LEFT JOIN (
  SELECT value ->> 'root' AS root, value ->> 'key' AS ts
  FROM json_each(:timed)
  WHERE NOT value ->> 'is_reply'
) p
  ON m.value ->> 'is_reply' AND p.root = m.value ->> 'root'
ORDER BY m.value ->> 'key', m.key;
INSERT INTO fts_message (rowid, text)
SELECT id, text
FROM message
WHERE id NOT IN (SELECT rowid FROM fts_message_docsize);
-- The nth reaction of the same name that does not say whose it is, is that of the nth person.
INSERT OR IGNORE INTO reaction
SELECT m.id, x.name, ifnull((SELECT id FROM user WHERE x.user IN (user.id, user.name)), u.id), x.nth
FROM (
  SELECT
    t.value ->> 'channel' AS channel,
    t.value ->> 'key' AS ts,
    r.value ->> 'name' AS name,
    r.value ->> 'user' AS user,
    r.key + 1 AS nth,
    row_number() OVER (
      PARTITION BY t.key, r.value ->> 'name', r.value ->> 'user' IS NULL ORDER BY r.key
    ) AS rank
  FROM json_each(:timed) t, json_each(t.value, '$.reactions') r
  WHERE r.type = 'object'
) x
JOIN channel c ON c.name = x.channel
JOIN message m ON m.channel_id = c.id AND m.ts = x.ts
JOIN user u ON u.rank = iif(x.user IS NULL, x.rank, 1);
-- Whoever wrote in a channel is in it.
INSERT OR IGNORE INTO member SELECT c.id, :me FROM channel c WHERE c.kind <> 'im';
INSERT OR IGNORE INTO member SELECT DISTINCT channel_id, user_id FROM message;
SELECT json_object(
  'channels', (SELECT count(*) FROM json_each(:args, '$.channels') WHERE type = 'object'),
  'messages', :n_messages,
  'reactions', (
    SELECT count(*)
    FROM json_each(:flat) m, json_each(m.value, '$.reactions') r
    WHERE r.type = 'object'
  )
) AS result;

-- name: export
WITH line AS (
  SELECT
    m.id,
    m.channel_id,
    m.ts,
    m.thread_ts,
    json_object(
      'text', m.text,
      'user', nullif(u.name, (SELECT name FROM user WHERE rank = 1)),
      'ts', iif(m.is_dated, m.ts, NULL),
      'reactions', (
        SELECT json(nullif(json_group_array(json(item)), '[]'))
        FROM (
          SELECT drop_nulls(json_object(
            'name', r.name,
            'user', iif(w.rank = 1, NULL, w.name)
          )) AS item
          FROM reaction r
          JOIN user w ON w.id = r.user_id
          WHERE r.message_id = m.id
          ORDER BY r.position, r.name, w.rank
        )
      )
    ) AS item
  FROM message m
  JOIN user u ON u.id = m.user_id
)
SELECT json_object('channels', json_group_array(json(item))) AS result
FROM (
  SELECT drop_nulls(json_object(
    'name', c.name,
    'description', iif(c.purpose IS c.own_purpose, NULL, c.purpose),
    'is_private', json(iif(c.kind = 'private_channel', 'true', 'false')),
    'messages', (
      SELECT json(nullif(json_group_array(json(message)), '[]'))
      FROM (
        SELECT drop_nulls(json_set(
          p.item,
          '$.replies', (
            SELECT json(nullif(json_group_array(json(reply)), '[]'))
            FROM (
              SELECT drop_nulls(r.item) AS reply
              FROM line r
              WHERE r.channel_id = c.id AND r.thread_ts = p.ts
              ORDER BY r.ts
            )
          )
        )) AS message
        FROM line p
        WHERE p.channel_id = c.id AND p.thread_ts IS NULL
        ORDER BY p.ts
      )
    )
  )) AS item
  FROM channel c
  WHERE c.name IS NOT NULL
    AND (
      c.own_purpose IS NULL
      OR c.purpose IS NOT c.own_purpose
      OR EXISTS (SELECT 1 FROM message WHERE channel_id = c.id)
    )
  ORDER BY c.name
);
