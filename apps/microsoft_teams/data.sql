-- Channels belong to the first team. Besides what Klavis's format names, a channel may have "team"
-- (the name of another one), a chat "topic", a message "from" (an address or a name) and
-- "created_date_time"; a body may have "online_meetings" ([{"id", "user", "subject", "start_time",
-- "end_time"}]). They are dumped where they were given. A channel that is there already, such as
-- General, is the same channel. Lost in a dump: times that were not given.

-- name: import
SELECT ifnull(max(n), 0) AS last FROM thread;
SELECT
  ifnull(json_array_length(:args, '$.team_channels'), 0) AS n_channels,
  ifnull(json_array_length(:args, '$.team_chats'), 0) AS n_chats,
  user_id AS me
FROM account;
SELECT 'team_channels/' || key || ': unknown team: ' || (value ->> 'team') AS error
FROM json_each(:args, '$.team_channels')
WHERE type = 'object'
  AND value ->> 'team' IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM team t WHERE t.name = value ->> 'team')
LIMIT 1;
SELECT 'not a time: ' || value AS error
FROM json_tree(:args)
WHERE key IN ('created_date_time', 'start_time', 'end_time')
  AND type = 'text'
  AND time_read(value, 'UTC') IS NULL
LIMIT 1;
SELECT 'online_meetings/' || key || ': unknown user: ' || ifnull(value ->> 'user', '') AS error
FROM json_each(:args, '$.online_meetings')
WHERE type = 'object'
  AND NOT EXISTS (SELECT 1 FROM user WHERE email = value ->> 'user' OR id = value ->> 'user')
LIMIT 1;
INSERT INTO thread (id, team, name, description, created_s, updated_ms)
SELECT
  iif(own_id IS NULL OR own_id IN (SELECT id FROM thread) OR is_second, new_id('channel'), own_id),
  team,
  name,
  description,
  now_ms() / 1000,
  now_ms()
FROM (
  SELECT
    key,
    nullif(value ->> 'channel_id', '') AS own_id,
    value ->> 'name' AS name,
    value ->> 'channel_description' AS description,
    ifnull((SELECT n FROM team WHERE name = value ->> 'team'), 1) AS team,
    row_number() OVER (PARTITION BY value ->> 'channel_id' ORDER BY key) > 1 AS is_second,
    row_number() OVER (
      PARTITION BY lower(value ->> 'name'), lower(value ->> 'team') ORDER BY key
    ) AS nth
  FROM json_each(:args, '$.team_channels')
  WHERE type = 'object'
) c
WHERE nth = 1 AND NOT EXISTS (SELECT 1 FROM thread t WHERE t.team = c.team AND t.name = c.name)
ORDER BY key;
UPDATE thread
SET description = ifnull((
  SELECT value ->> 'channel_description'
  FROM json_each(:args, '$.team_channels')
  WHERE type = 'object'
    AND lower(value ->> 'name') = lower(thread.name)
    AND ifnull((SELECT n FROM team WHERE name = value ->> 'team'), 1) = thread.team
  LIMIT 1
), description)
WHERE n <= :last AND team IS NOT NULL;
SELECT max(n) AS before_chats FROM thread;
INSERT INTO thread (n, id, name, created_s, updated_ms)
SELECT
  :before_chats + 1 + key,
  iif(own_id IS NULL OR own_id IN (SELECT id FROM thread) OR is_second, new_id('chat'), own_id),
  topic,
  now_ms() / 1000,
  now_ms()
FROM (
  SELECT
    key,
    nullif(value ->> 'chat_id', '') AS own_id,
    value ->> 'topic' AS topic,
    row_number() OVER (PARTITION BY value ->> 'chat_id' ORDER BY key) > 1 AS is_second
  FROM json_each(:args, '$.team_chats')
  WHERE type = 'object'
)
ORDER BY key;
INSERT INTO member
SELECT
  :before_chats + 1 + c.key,
  m.key,
  coalesce(
    nullif(m.value ->> 'member_id', ''),
    (SELECT id FROM user WHERE email = m.value ->> 'member_email'),
    new_id('member')
  ),
  coalesce(
    m.value ->> 'member_name',
    (
      SELECT given_name || ' ' || surname
      FROM user
      WHERE email = m.value ->> 'member_email' OR id = m.value ->> 'member_id'
    )
  ),
  coalesce(m.value ->> 'member_email', (SELECT email FROM user WHERE id = m.value ->> 'member_id'))
FROM json_each(:args, '$.team_chats') c, json_each(c.value, '$.chat_members') m
WHERE c.type = 'object' AND m.type = 'object'
ORDER BY c.key, m.key;
INSERT OR IGNORE INTO message (id, thread, content, sender, created_ms, has_date)
SELECT
  ifnull(own_id, at + row_number() OVER (ORDER BY kind, place, key) || ''),
  thread,
  content,
  ifnull((SELECT id FROM user WHERE email = sender OR id = sender), ifnull(sender, :me)),
  at,
  has_date
FROM (
  SELECT
    1 AS kind,
    c.key AS place,
    m.key,
    t.n AS thread,
    m.value ->> 'content' AS content,
    nullif(m.value ->> 'message_id', '') AS own_id,
    m.value ->> 'from' AS sender,
    m.value ->> 'created_date_time' IS NOT NULL AS has_date,
    ifnull(1000 * time_read(m.value ->> 'created_date_time', 'UTC'), now_ms()) AS at
  FROM json_each(:args, '$.team_channels') c, json_each(c.value, '$.channel_messages') m
  JOIN thread t
    ON t.name = c.value ->> 'name'
      AND t.team = ifnull((SELECT n FROM team WHERE name = c.value ->> 'team'), 1)
  WHERE c.type = 'object' AND m.type = 'object'
  UNION ALL
  SELECT
    2,
    c.key,
    m.key,
    :before_chats + 1 + c.key,
    m.value ->> 'content',
    nullif(m.value ->> 'message_id', ''),
    m.value ->> 'from',
    m.value ->> 'created_date_time' IS NOT NULL,
    ifnull(1000 * time_read(m.value ->> 'created_date_time', 'UTC'), now_ms())
  FROM json_each(:args, '$.team_chats') c, json_each(c.value, '$.chat_messages') m
  WHERE c.type = 'object' AND m.type = 'object'
)
ORDER BY kind, place, key;
UPDATE thread
SET updated_ms = (SELECT max(created_ms) FROM message WHERE thread = thread.n)
WHERE n > :last AND n IN (SELECT thread FROM message);
INSERT INTO meeting (id, user_id, subject, start_s, end_s, created_s, thread_id, code)
SELECT
  iif(
    value ->> 'id' IS NULL OR value ->> 'id' IN (SELECT id FROM meeting),
    new_id('meeting'),
    value ->> 'id'
  ),
  (SELECT id FROM user WHERE email = value ->> 'user' OR id = value ->> 'user'),
  ifnull(value ->> 'subject', ''),
  ifnull(time_read(value ->> 'start_time', 'UTC'), now_ms() / 1000),
  coalesce(
    time_read(value ->> 'end_time', 'UTC'),
    3600 + time_read(value ->> 'start_time', 'UTC'),
    3600 + now_ms() / 1000
  ),
  now_ms() / 1000,
  new_id('thread'),
  rand_text('{digits:12}')
FROM json_each(:args, '$.online_meetings')
WHERE type = 'object'
ORDER BY key;
SELECT json_object('team_channels', :n_channels, 'team_chats', :n_chats) AS result;

-- name: export
SELECT json_group_array(json(item)) AS channels
FROM (
  SELECT drop_nulls(json_object(
    'channel_id', id,
    'name', name,
    'channel_description', description,
    'channel_messages', (
      SELECT json_group_array(json(m.item))
      FROM (SELECT item FROM dumped_message WHERE thread = t.n ORDER BY n) m
      HAVING count(*) > 0
    ),
    'team', iif(team = 1, NULL, (SELECT name FROM team WHERE n = t.team))
  )) AS item
  FROM thread t
  WHERE team IS NOT NULL AND (name <> 'General' OR n IN (SELECT thread FROM message))
  ORDER BY n
);
SELECT json_group_array(json(item)) AS chats
FROM (
  SELECT drop_nulls(json_object(
    'chat_id', id,
    'topic', name,
    'chat_members', (
      SELECT json_group_array(json(person))
      FROM (
        SELECT drop_nulls(json_object(
          'member_id', user_id,
          'member_name', name,
          'member_email', email
        )) AS person
        FROM member
        WHERE thread = t.n
        ORDER BY position
      )
      HAVING count(*) > 0
    ),
    'chat_messages', (
      SELECT json_group_array(json(m.item))
      FROM (SELECT item FROM dumped_message WHERE thread = t.n ORDER BY n) m
      HAVING count(*) > 0
    )
  )) AS item
  FROM thread t
  WHERE team IS NULL
  ORDER BY n
);
SELECT drop_nulls(json_object(
  'team_channels', json(:channels),
  'team_chats', json(:chats),
  'online_meetings', (
    SELECT json_group_array(json_object(
      'id', id,
      'user', (SELECT email FROM user WHERE user.id = user_id),
      'subject', subject,
      'start_time', time_write(start_s, 'UTC', '%Y-%m-%dT%H:%M:%SZ'),
      'end_time', time_write(end_s, 'UTC', '%Y-%m-%dT%H:%M:%SZ')
    ))
    FROM (SELECT * FROM meeting ORDER BY n)
    HAVING count(*) > 0
  )
)) AS result;
