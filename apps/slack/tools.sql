-- part: history_page
-- The messages of :channel, newest first; :next is where to go on.
SELECT json_group_array(id) AS page, count(*) AS n_page
FROM (
  SELECT id
  FROM message
  WHERE channel_id = :channel
    AND thread_ts IS NULL
    AND ts <= :since
    AND (ts > :low OR :inclusive AND ts = :low)
    AND (ts < :high OR :inclusive AND ts = :high)
  ORDER BY ts DESC
  LIMIT :n + 1
);
SELECT replace(ts, '.', '') AS next
FROM message
WHERE :n_page > :n AND id = :page ->> ('$[' || :n || ']');

-- part: replies_page
-- The message that began the thread comes first, whatever the times.
SELECT json_group_array(id) AS page, count(*) AS n_page
FROM (
  SELECT id
  FROM (
    SELECT id, 0 AS is_reply, ts
    FROM message
    WHERE channel_id = :channel AND ts = :parent AND :since = ''
    UNION ALL
    SELECT id, 1, ts
    FROM message
    WHERE channel_id = :channel
      AND thread_ts = :parent
      AND ts >= :since
      AND (ts > :low OR :inclusive AND ts = :low)
      AND (ts < :high OR :inclusive AND ts = :high)
  )
  ORDER BY is_reply, ts
  LIMIT :n + 1
);
SELECT replace(ts, '.', '') AS next
FROM message
WHERE :n_page > :n AND id = :page ->> ('$[' || :n || ']');

-- part: text_fits
SELECT 'no_text' AS error WHERE trim(:text) = '';
SELECT 'msg_too_long' AS error WHERE length(:text) > 40000;

-- part: post
-- A message, or a reply to the one of :parent.
INSERT INTO message (channel_id, ts, user_id, text, thread_ts)
SELECT channel_id, ts, :author, :text, :parent
FROM next_ts
WHERE channel_id = :channel
RETURNING id, ts;
INSERT INTO fts_message (rowid, text) VALUES (:id, :text);

-- part: search
SELECT json_group_array(id) AS found, count(*) AS total
FROM (
  SELECT m.id
  FROM message m
  JOIN member own ON own.channel_id = m.channel_id AND own.user_id = :me
  WHERE {{slack :search}}
  ORDER BY
    iif(:sort = 'score', iif(:sort_dir = 'asc', -1, 1) * {{slack_score :search}}, 0),
    iif(:sort_dir = 'asc', m.ts, NULL),
    m.ts DESC,
    m.channel_id
);

-- name: slack_user_list_channels
SELECT
  iif(ifnull(:limit, 0) = 0, 100, min(CAST(:limit AS INTEGER), 200)) AS n,
  nullif(:cursor, '') AS place;
SELECT 'invalid_limit' AS error WHERE :n < 1;
SELECT 'invalid_types' AS error
FROM json_each('["' || replace(replace(:types, '"', '?'), ',', '","') || '"]')
WHERE trim(value) NOT IN ('public_channel', 'private_channel', 'im', 'mpim');
SELECT json_group_array(value) AS kinds
FROM (
  SELECT trim(value) AS value
  FROM json_each('["' || replace(replace(:types, '"', '?'), ',', '","') || '"]')
);
SELECT 'invalid_cursor' AS error
WHERE :place IS NOT NULL AND NOT EXISTS (SELECT 1 FROM channel WHERE 'team:' || id = :place);
SELECT json_group_array(id) AS page, count(*) AS n_page
FROM (
  SELECT c.id
  FROM member m
  JOIN channel c ON c.id = m.channel_id
  WHERE m.user_id = (SELECT id FROM user WHERE rank = 1)
    AND c.kind IN (SELECT value FROM json_each(:kinds))
    AND (:place IS NULL OR 'team:' || c.id >= :place)
  ORDER BY c.id
  LIMIT :n + 1
);
SELECT iif(:n_page > :n, 'team:' || (:page ->> ('$[' || :n || ']')), '') AS next;
SELECT json_group_array(json(item)) AS items, count(*) AS got
FROM (
  SELECT CASE
    WHEN :response_format = 'detailed' THEN raw
    WHEN kind = 'im' THEN json_object('id', c.id, 'user', raw ->> 'user')
    ELSE json_object('id', c.id, 'name', name)
  END AS item
  FROM json_each(:page) p
  JOIN raw_channel c ON c.id = p.value
  WHERE p.key < :n
    AND (
      ifnull(:channel_name, '') = '' AND ifnull(:user_id, '') = ''
      OR kind <> 'im' AND :channel_name <> '' AND instr(lower(name), lower(:channel_name)) > 0
      OR kind = 'im' AND :user_id <> '' AND raw ->> 'user' = :user_id
    )
  ORDER BY p.key
);
SELECT json_object(
  'ok', json('true'),
  'channels', json(:items),
  'summary', json_object(
    'total_returned', :got,
    'message', 'Found ' || :got || ' channels.'
      || iif(
        :next = '',
        '',
        ' More results available - please specify the cursor parameter to continue.'
      )
  ),
  'response_metadata', json_object('next_cursor', :next)
) AS result;

-- name: slack_get_channel_history
SELECT channel_id AS channel
FROM member
WHERE channel_id = :channel_id AND user_id = (SELECT id FROM user WHERE rank = 1);
SELECT 'channel_not_found' AS error WHERE :channel IS NULL;
SELECT 'invalid_ts_oldest' AS error WHERE :oldest GLOB '*[^0-9.]*';
SELECT 'invalid_ts_latest' AS error WHERE :latest GLOB '*[^0-9.]*';
SELECT 'invalid_cursor' AS error
WHERE :cursor <> '' AND (:cursor NOT GLOB 'next_ts:[0-9]*' OR length(:cursor) <> 24);
SELECT
  iif(ifnull(:limit, 0) = 0, 10, min(CAST(:limit AS INTEGER), 999)) AS n,
  iif(:cursor <> '', substr(:cursor, 9, 10) || '.' || substr(:cursor, 19), '9') AS since,
  iif(:oldest <> '', printf('%017.6f', CAST(:oldest AS REAL)), '') AS low,
  iif(:latest <> '', printf('%017.6f', CAST(:latest AS REAL)), '9') AS high;
SELECT 'invalid_limit' AS error WHERE :n < 1;
-- include: history_page
SELECT json_group_array(json(item)) AS items, count(*) AS got
FROM (
  SELECT CASE
    WHEN :response_format = 'detailed' THEN raw
    ELSE drop_nulls(json_object(
      'user_id', m.user_id,
      'ts', m.ts,
      'text', m.text,
      'thread_ts', raw ->> 'thread_ts',
      'is_thread_parent', json(iif(raw -> 'reply_count' IS NULL, NULL, 'true')),
      'reply_count', raw -> 'reply_count',
      'reactions', (
        SELECT nullif(group_concat(value ->> 'name' || ' * ' || (value ->> 'count'), ', '), '')
        FROM json_each(raw, '$.reactions')
      )
    ))
  END AS item
  FROM json_each(:page) p
  JOIN raw_message m ON m.id = p.value
  WHERE p.key < :n
  ORDER BY p.key
);
SELECT drop_nulls(json_object(
  'ok', json('true'),
  'messages', json(:items),
  'has_more', json(iif(:next IS NULL, 'false', 'true')),
  'summary', 'Found ' || :got || ' messages.'
    || iif(:next IS NULL, '', ' Use next_cursor for more results.'),
  'response_metadata', iif(:next IS NULL, NULL, json_object('next_cursor', 'next_ts:' || :next))
)) AS result;

-- name: slack_get_thread_replies
SELECT channel_id AS channel
FROM member
WHERE channel_id = :channel_id AND user_id = (SELECT id FROM user WHERE rank = 1);
SELECT 'channel_not_found' AS error WHERE :channel IS NULL;
SELECT ts AS parent
FROM message
WHERE channel_id = :channel AND ts = :thread_ts AND thread_ts IS NULL;
SELECT 'thread_not_found' AS error WHERE :parent IS NULL;
SELECT 'invalid_ts_oldest' AS error WHERE :oldest GLOB '*[^0-9.]*';
SELECT 'invalid_ts_latest' AS error WHERE :latest GLOB '*[^0-9.]*';
SELECT 'invalid_cursor' AS error
WHERE :cursor <> '' AND (:cursor NOT GLOB 'next_ts:[0-9]*' OR length(:cursor) <> 24);
SELECT
  iif(ifnull(:limit, 0) = 0, 10, min(CAST(:limit AS INTEGER), 1000)) AS n,
  iif(:cursor <> '', substr(:cursor, 9, 10) || '.' || substr(:cursor, 19), '') AS since,
  iif(:oldest <> '', printf('%017.6f', CAST(:oldest AS REAL)), '') AS low,
  iif(:latest <> '', printf('%017.6f', CAST(:latest AS REAL)), '9') AS high;
SELECT 'invalid_limit' AS error WHERE :n < 1;
-- include: replies_page
SELECT json_group_array(json(item)) AS items, count(*) AS got
FROM (
  SELECT CASE
    WHEN :response_format = 'detailed' THEN raw
    WHEN m.ts = :parent
      THEN json_object(
        'user_id', m.user_id,
        'ts', m.ts,
        'text', m.text,
        'thread_ts', raw ->> 'thread_ts',
        'is_parent', json('true'),
        'reply_count', ifnull(raw -> 'reply_count', 0)
      )
    ELSE json_object(
      'user_id', m.user_id,
      'ts', m.ts,
      'text', m.text,
      'thread_ts', raw ->> 'thread_ts',
      'is_parent', json('false'),
      'parent_user_id', raw ->> 'parent_user_id'
    )
  END AS item
  FROM json_each(:page) p
  JOIN raw_message m ON m.id = p.value
  WHERE p.key < :n
  ORDER BY p.key
);
SELECT drop_nulls(json_object(
  'ok', json('true'),
  'messages', json(:items),
  'has_more', json(iif(:next IS NULL, 'false', 'true')),
  'summary', 'Found ' || :got || ' messages in thread.'
    || iif(:next IS NULL, '', ' Use next_cursor for more results.'),
  'response_metadata', iif(:next IS NULL, NULL, json_object('next_cursor', 'next_ts:' || :next))
)) AS result;

-- name: slack_invite_users_to_channel
SELECT id AS me FROM user WHERE rank = 1;
SELECT 'At least one user ID must be provided' AS error WHERE json_array_length(:user_ids) = 0;
SELECT 'too_many_users' AS error WHERE json_array_length(:user_ids) > 100;
SELECT c.id AS channel, c.kind
FROM member m
JOIN channel c ON c.id = m.channel_id
WHERE m.channel_id = :channel_id AND m.user_id = :me;
SELECT 'channel_not_found' AS error WHERE :channel IS NULL;
SELECT 'method_not_supported_for_channel_type' AS error WHERE :kind = 'im';
SELECT 'user_not_found' AS error FROM json_each(:user_ids) WHERE value NOT IN (SELECT id FROM user);
SELECT 'cant_invite_self' AS error FROM json_each(:user_ids) WHERE value = :me;
SELECT 'already_in_channel' AS error
FROM json_each(:user_ids)
WHERE value IN (SELECT user_id FROM member WHERE channel_id = :channel);
INSERT INTO member SELECT DISTINCT :channel, value FROM json_each(:user_ids);
SELECT json_object('ok', json('true'), 'channel', json(raw)) AS result
FROM raw_channel
WHERE id = :channel;

-- name: slack_list_users
SELECT iif(ifnull(:limit, 0) = 0, 100, min(:limit, 200)) AS n, nullif(:cursor, '') AS place;
SELECT 'invalid_limit' AS error WHERE :n < 1;
SELECT 'team_access_not_granted' AS error
WHERE :team_id <> '' AND :team_id NOT IN (SELECT id FROM team);
SELECT ifnull((SELECT rank FROM user WHERE 'user:' || id = :place), 0) AS since;
SELECT 'invalid_cursor' AS error WHERE :place IS NOT NULL AND :since = 0;
SELECT 'user:' || id AS next FROM user WHERE rank >= :since ORDER BY rank LIMIT 1 OFFSET :n;
SELECT json_group_array(json(item)) AS items, count(*) AS got
FROM (
  SELECT CASE
    WHEN :response_format <> 'detailed'
      THEN json_object('id', id, 'name', name, 'real_name', real_name)
    WHEN :include_locale THEN json_set(raw, '$.locale', 'en-US')
    ELSE raw
  END AS item
  FROM (SELECT * FROM raw_user WHERE rank >= :since ORDER BY rank LIMIT :n)
  WHERE ifnull(:user_id, '') = '' AND ifnull(:name, '') = ''
    OR id = :user_id
    OR :name <> ''
      AND (instr(lower(name), lower(:name)) > 0 OR instr(lower(real_name), lower(:name)) > 0)
  ORDER BY iif(id = :user_id, 0, 1), rank
);
SELECT json_object(
  'ok', json('true'),
  'members', json(:items),
  'summary', json_object(
    'total_returned', :got,
    'message', 'Found ' || :got || ' users.'
      || iif(
        :next IS NULL,
        '',
        ' More results available - please specify the cursor parameter to continue.'
      )
  ),
  'response_metadata', json_object('next_cursor', ifnull(:next, ''))
) AS result;

-- name: slack_user_get_info
SELECT raw FROM raw_user WHERE id = :user_id;
SELECT 'user_not_found' AS error WHERE :raw IS NULL;
SELECT json_object(
  'ok', json('true'),
  'user', json(iif(:include_locale, json_set(:raw, '$.locale', 'en-US'), :raw))
) AS result;

-- name: slack_user_search_messages
SELECT id AS me FROM user WHERE rank = 1;
SELECT trim(
  :query || CASE :to_me WHEN 'dm' THEN ' to:me' WHEN 'mention' THEN ' <@' || :me || '>' ELSE '' END
    || ifnull((SELECT group_concat(' in:' || value, '') FROM json_each(:channel_ids)), '')
) AS search;
SELECT 'no_query' AS error WHERE :search = '';
SELECT 'invalid_cursor' AS error
WHERE :cursor <> '' AND :cursor <> '*' AND :cursor NOT GLOB 'offset:[0-9]*';
SELECT
  iif(ifnull(:count, 0) = 0, 20, min(CAST(:count AS INTEGER), 100)) AS n,
  iif(:cursor GLOB 'offset:*', CAST(substr(:cursor, 8) AS INTEGER), 0) AS skip;
SELECT 'invalid_count' AS error WHERE :n < 1;
-- include: search
SELECT json_group_array(json(item)) AS items, count(*) AS got
FROM (
  SELECT CASE
    WHEN :response_format = 'detailed'
      THEN drop_nulls(json_object(
        'iid', printf('%08x-0000-4000-8000-%012x', m.id, m.id),
        'team', (SELECT id FROM team),
        'score', 0,
        'channel', json_object(
          'id', c.id,
          'name', ifnull(c.name, k.raw ->> 'user'),
          'is_channel', json(iif(c.kind = 'public_channel', 'true', 'false')),
          'is_group', json(iif(c.kind = 'private_channel', 'true', 'false')),
          'is_im', json(iif(c.kind = 'im', 'true', 'false')),
          'is_mpim', json('false'),
          'is_private', json(iif(c.kind = 'public_channel', 'false', 'true')),
          'is_shared', json('false'),
          'is_ext_shared', json('false')
        ),
        'type', iif(c.kind = 'im', 'im', 'message'),
        'user', m.user_id,
        'username', u.name,
        'ts', m.ts,
        'text', m.text,
        'thread_ts', m.raw ->> 'thread_ts',
        'permalink', link
      ))
    ELSE json_patch(
      json_object(
        'channel_id', c.id,
        'channel_name', c.name,
        'user_id', m.user_id,
        'username', u.name,
        'ts', m.ts,
        'text', m.text,
        'permalink', link
      ),
      iif(m.raw ->> 'thread_ts' IS NULL, '{}', json_object('thread_ts', m.raw ->> 'thread_ts'))
    )
  END AS item
  FROM (
    SELECT
      f.key AS nth,
      r.*,
      'https://' || (SELECT domain FROM team) || '.slack.example/archives/' || r.channel_id || '/p'
        || replace(r.ts, '.', '')
        || ifnull('?thread_ts=' || r.thread_ts || '&cid=' || r.channel_id, '') AS link
    FROM json_each(:found) f
    JOIN raw_message r ON r.id = f.value
    WHERE f.key >= :skip AND f.key < :skip + :n
  ) m
  JOIN channel c ON c.id = m.channel_id
  JOIN raw_channel k ON k.id = c.id
  JOIN user u ON u.id = m.user_id
  ORDER BY m.nth
);
SELECT iif(:skip + :n < :total, 'offset:' || (:skip + :n), '') AS next;
SELECT json_object(
  'ok', json('true'),
  'query', :search,
  'messages', json_object('total', :total, 'matches', json(:items)),
  'summary', 'Found ' || :total || ' messages' || iif(:total > :got, ', showing ' || :got, '')
    || '.' || iif(:next = '', '', ' Use next_cursor for more results.')
    || iif(
      :response_format = 'detailed',
      '',
      ' To get full message details, use slack_get_channel_history with channel_id and '
        || 'latest=ts, inclusive=true, limit=1. For threaded messages, use '
        || 'slack_get_thread_replies.'
    ),
  'response_metadata', json_object('next_cursor', :next)
) AS result;

-- name: slack_user_post_message
SELECT id AS author FROM user WHERE rank = 1;
SELECT channel_id AS channel FROM place WHERE user_id = :author AND called = :channel_id;
SELECT 'channel_not_found' AS error WHERE :channel IS NULL;
-- include: text_fits
SELECT NULL AS parent;
-- include: post
SELECT json_object(
  'ok', json('true'),
  'channel', :channel,
  'ts', ts,
  'message', json(raw)
) AS result
FROM raw_message
WHERE id = :id;

-- name: slack_user_reply_to_thread
SELECT id AS author FROM user WHERE rank = 1;
SELECT channel_id AS channel FROM place WHERE user_id = :author AND called = :channel_id;
SELECT 'channel_not_found' AS error WHERE :channel IS NULL;
-- include: text_fits
SELECT ifnull(thread_ts, ts) AS parent FROM message WHERE channel_id = :channel AND ts = :thread_ts;
SELECT 'thread_not_found' AS error WHERE :parent IS NULL;
-- include: post
SELECT json_object(
  'ok', json('true'),
  'channel', :channel,
  'ts', ts,
  'message', json(raw)
) AS result
FROM raw_message
WHERE id = :id;

-- name: slack_user_add_reaction
SELECT id AS author FROM user WHERE rank = 1;
SELECT channel_id AS channel FROM place WHERE user_id = :author AND called = :channel_id;
SELECT 'channel_not_found' AS error WHERE :channel IS NULL;
SELECT 'no_reaction' AS error WHERE :reaction = '';
SELECT 'invalid_name' AS error WHERE length(:reaction) > 100 OR :reaction GLOB '*[^a-z0-9_+''-]*';
SELECT 'bad_timestamp' AS error WHERE :timestamp NOT GLOB '[0-9]*.[0-9]*';
SELECT id FROM message WHERE channel_id = :channel AND ts = :timestamp;
SELECT 'message_not_found' AS error WHERE :id IS NULL;
SELECT 'already_reacted' AS error
FROM reaction
WHERE message_id = :id AND name = :reaction AND user_id = :author;
SELECT 'too_many_emoji' AS error
WHERE (SELECT count(DISTINCT name) FROM reaction WHERE message_id = :id) >= 50;
INSERT INTO reaction
SELECT :id, :reaction, :author, ifnull(max(position), 0) + 1
FROM reaction
WHERE message_id = :id;
SELECT json_object('ok', json('true')) AS result;

-- name: slack_bot_post_message
SELECT id AS author FROM user WHERE kind = 'bot';
-- A direct message of the bot begins with its first message.
INSERT INTO channel
SELECT new_id('im'), 'im', NULL, :author, now_ms() / 1000, NULL, 0, NULL
FROM user
WHERE id = :channel_id
  AND id <> :author
  AND NOT EXISTS (SELECT 1 FROM place WHERE user_id = :author AND called = :channel_id)
RETURNING id AS opened;
INSERT INTO member
SELECT :opened, id
FROM user
WHERE :opened IS NOT NULL AND id IN (:author, :channel_id);
SELECT channel_id AS channel FROM place WHERE user_id = :author AND called = :channel_id;
SELECT iif(
  EXISTS (
    SELECT 1 FROM channel WHERE kind = 'public_channel' AND :channel_id IN (id, name, '#' || name)
  ),
  'not_in_channel',
  'channel_not_found'
) AS error
WHERE :channel IS NULL;
-- include: text_fits
SELECT NULL AS parent;
-- include: post
SELECT json_object(
  'ok', json('true'),
  'channel', :channel,
  'ts', ts,
  'message', json(raw)
) AS result
FROM raw_message
WHERE id = :id;

-- name: slack_bot_reply_to_thread
SELECT id AS author FROM user WHERE kind = 'bot';
SELECT channel_id AS channel FROM place WHERE user_id = :author AND called = :channel_id;
SELECT iif(
  EXISTS (
    SELECT 1 FROM channel WHERE kind = 'public_channel' AND :channel_id IN (id, name, '#' || name)
  ),
  'not_in_channel',
  'channel_not_found'
) AS error
WHERE :channel IS NULL;
-- include: text_fits
SELECT ifnull(thread_ts, ts) AS parent FROM message WHERE channel_id = :channel AND ts = :thread_ts;
SELECT 'thread_not_found' AS error WHERE :parent IS NULL;
-- include: post
SELECT json_object(
  'ok', json('true'),
  'channel', :channel,
  'ts', ts,
  'message', json(raw)
) AS result
FROM raw_message
WHERE id = :id;

-- name: slack_bot_add_reaction
SELECT id AS author FROM user WHERE kind = 'bot';
SELECT channel_id AS channel FROM place WHERE user_id = :author AND called = :channel_id;
SELECT iif(
  EXISTS (
    SELECT 1 FROM channel WHERE kind = 'public_channel' AND :channel_id IN (id, name, '#' || name)
  ),
  'not_in_channel',
  'channel_not_found'
) AS error
WHERE :channel IS NULL;
SELECT 'no_reaction' AS error WHERE :reaction = '';
SELECT 'invalid_name' AS error WHERE length(:reaction) > 100 OR :reaction GLOB '*[^a-z0-9_+''-]*';
SELECT 'bad_timestamp' AS error WHERE :timestamp NOT GLOB '[0-9]*.[0-9]*';
SELECT id FROM message WHERE channel_id = :channel AND ts = :timestamp;
SELECT 'message_not_found' AS error WHERE :id IS NULL;
SELECT 'already_reacted' AS error
FROM reaction
WHERE message_id = :id AND name = :reaction AND user_id = :author;
SELECT 'too_many_emoji' AS error
WHERE (SELECT count(DISTINCT name) FROM reaction WHERE message_id = :id) >= 50;
INSERT INTO reaction
SELECT :id, :reaction, :author, ifnull(max(position), 0) + 1
FROM reaction
WHERE message_id = :id;
SELECT json_object('ok', json('true')) AS result;
