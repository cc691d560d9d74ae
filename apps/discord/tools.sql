-- part: find_server
-- An id that is no number is a bad request.
SELECT 'Discord API Error (400): Bad Request' AS error
WHERE :server_id = '' OR :server_id GLOB '*[^0-9]*';
SELECT id FROM server WHERE id = CAST(:server_id AS INTEGER);
SELECT 'Discord API Error (404): Not Found' AS error WHERE :id IS NULL;

-- part: find_channel
SELECT 'Discord API Error (400): Bad Request' AS error
WHERE :channel_id = '' OR :channel_id GLOB '*[^0-9]*';
SELECT id, kind FROM channel WHERE id = CAST(:channel_id AS INTEGER);
SELECT 'Discord API Error (404): Not Found' AS error WHERE :id IS NULL;
-- Categories have no messages.
SELECT 'Discord API Error (400): Bad Request' AS error WHERE :kind = 'category';

-- part: find_message
-- :problem is what the API says of the message, NULL when it is there.
SELECT
  CASE
    WHEN :channel_id = ''
        OR :channel_id GLOB '*[^0-9]*'
        OR :message_id = ''
        OR :message_id GLOB '*[^0-9]*'
      THEN 'Discord API Error (400): Bad Request'
    WHEN NOT EXISTS (
        SELECT 1
        FROM message
        WHERE id = CAST(:message_id AS INTEGER) AND channel_id = CAST(:channel_id AS INTEGER)
      )
      THEN 'Discord API Error (404): Not Found'
  END AS problem,
  CAST(:message_id AS INTEGER) AS id,
  (SELECT id FROM user WHERE rank = 1) AS me;

-- part: judge_emojis
-- Of :wanted, [EMOJI], what is wrong with each. An emoji is not ASCII (or a keycap) or one of the
-- server's own; a message has at most 20.
SELECT json_group_array(json_object('emoji', emoji, 'problem', ifnull(:problem, fault))) AS judged
FROM (
  SELECT
    emoji,
    iif(
      is_emoji AND (n_there + is_new + n_before <= 20 OR NOT is_new),
      NULL,
      'Discord API Error (400): Bad Request'
    ) AS fault
  FROM (
    SELECT
      w.key,
      w.value AS emoji,
      w.value NOT IN (SELECT emoji FROM reaction WHERE message_id = :id) AS is_new,
      (SELECT count(DISTINCT emoji) FROM reaction WHERE message_id = :id) AS n_there,
      (
        SELECT count(DISTINCT b.value)
        FROM json_each(:wanted) b
        WHERE b.key < w.key AND b.value NOT IN (SELECT emoji FROM reaction WHERE message_id = :id)
      ) AS n_before,
      length(w.value) < 15 AND (unicode(w.value) > 127 OR w.value GLOB '[0-9#*]*' || char(8419))
        OR w.value IN (SELECT name || ':' || id FROM emoji) AS is_emoji
    FROM json_each(:wanted) w
  )
  ORDER BY key
);

-- part: add_reactions
INSERT OR IGNORE INTO reaction
SELECT
  :id,
  j.value ->> 'emoji',
  :me,
  (SELECT ifnull(max(position), 0) FROM reaction WHERE message_id = :id) + 1 + j.key
FROM json_each(:judged) j
WHERE j.value ->> 'problem' IS NULL
ORDER BY j.key;

-- name: discord_get_server_info
-- include: find_server
SELECT json_object(
  'id', CAST(id AS TEXT),
  'name', name,
  'ownerId', CAST(owner_id AS TEXT),
  'memberCount', (SELECT count(joined) FROM user),
  'onlineCount', n_online,
  'iconId', icon,
  'description', description,
  'boostLevel', boost_level,
  'contentFilter', content_filter
) AS result
FROM server
WHERE id = :id;

-- name: discord_list_members
-- include: find_server
SELECT json_group_array(json(item)) AS result
FROM (
  SELECT drop_nulls(json_object(
    'id', CAST(id AS TEXT),
    'username', username,
    'displayName', display_name,
    'tag', discriminator,
    'nickname', nickname,
    'joinedAt', joined,
    'roleIds', json(roles)
  )) AS item
  FROM user
  WHERE joined IS NOT NULL
  ORDER BY id
  LIMIT max(1, min(ifnull(:limit, 100), 1000))
);

-- name: discord_create_text_channel
-- include: find_server
SELECT 'Discord API Error (400): Bad Request' AS error
WHERE trim(:name) = ''
  OR length(:name) > 100
  OR length(:topic) > 1024
  OR :category_id IS NOT NULL
    AND NOT EXISTS (
      SELECT 1 FROM channel WHERE CAST(id AS TEXT) = :category_id AND kind = 'category'
    );
INSERT INTO channel (id, server_id, kind, name, topic, category_id)
SELECT
  ((now_ms() - 1420070400000) << 22) + new_id('snowflake'),
  :id,
  'text',
  replace(lower(trim(:name)), ' ', '-'),
  nullif(:topic, ''),
  CAST(:category_id AS INTEGER)
RETURNING id AS made;
SELECT drop_nulls(json_object(
  'id', CAST(id AS TEXT),
  'name', name,
  'topic', topic,
  'categoryId', CAST(category_id AS TEXT)
)) AS result
FROM channel
WHERE id = :made;

-- name: discord_add_reaction
-- Failures are answers here, as in the original.
SELECT json_array(:emoji) AS wanted;
-- include: find_message
-- include: judge_emojis
-- include: add_reactions
SELECT json_quote(iif(
  :judged ->> '$[0].problem' IS NULL,
  'Added reaction ' || :emoji || ' to message ' || :message_id,
  'Error adding reaction ' || :emoji || ' to message ' || :message_id || ': '
    || (:judged ->> '$[0].problem')
)) AS result;

-- name: discord_add_multiple_reactions
SELECT :emojis AS wanted;
-- include: find_message
-- include: judge_emojis
-- include: add_reactions
SELECT json_quote(trim(
  'Finished adding multiple reactions to message ' || :message_id || '. '
    || ifnull(
      'Successfully added: '
        || group_concat(iif(value ->> 'problem' IS NULL, value ->> 'emoji', NULL), ', ') || '. ',
      ''
    )
    || ifnull(
      'Errors encountered: '
        || group_concat((value ->> 'emoji') || ': ' || (value ->> 'problem'), '; ') || '.',
      ''
    )
)) AS result
FROM (SELECT value FROM json_each(:judged) ORDER BY key);

-- name: discord_remove_reaction
-- include: find_message
SELECT ifnull(:problem, iif(
  EXISTS (SELECT 1 FROM reaction WHERE message_id = :id AND emoji = :emoji),
  NULL,
  iif(
    unicode(:emoji) > 127 OR :emoji IN (SELECT name || ':' || id FROM emoji),
    'Discord API Error (404): Not Found',
    'Discord API Error (400): Bad Request'
  )
)) AS fault;
DELETE FROM reaction WHERE :fault IS NULL AND message_id = :id AND emoji = :emoji AND user_id = :me;
SELECT json_quote(iif(
  :fault IS NULL,
  'Removed bot''s reaction ' || :emoji || ' from message ' || :message_id,
  'Error removing reaction ' || :emoji || ' from message ' || :message_id || ': ' || :fault
)) AS result;

-- name: discord_send_message
-- include: find_channel
SELECT 'Discord API Error (400): Bad Request' AS error
WHERE trim(:content, char(32, 9, 10, 13)) = '' OR length(:content) > 2000;
INSERT INTO message (id, channel_id, user_id, content)
SELECT
  ((now_ms() - 1420070400000) << 22) + new_id('snowflake'),
  :id,
  id,
  trim(:content, char(32, 9, 10, 13))
FROM user
WHERE rank = 1
RETURNING id AS made;
SELECT json_set(shown, '$.channelId', CAST(channel_id AS TEXT)) AS result
FROM shown_message
WHERE id = :made;

-- name: discord_read_messages
-- include: find_channel
SELECT json_group_array(json(shown)) AS result
FROM (
  SELECT shown
  FROM shown_message
  WHERE channel_id = :id
  ORDER BY id DESC
  LIMIT max(1, min(ifnull(:limit, 50), 100))
);

-- name: discord_get_user_info
SELECT 'Discord API Error (400): Bad Request' AS error
WHERE :user_id <> '@me' AND (:user_id = '' OR :user_id GLOB '*[^0-9]*');
SELECT id AS found FROM user WHERE CAST(id AS TEXT) = :user_id OR :user_id = '@me' AND rank = 1;
SELECT 'Discord API Error (404): Not Found' AS error WHERE :found IS NULL;
SELECT drop_nulls(json_object(
  'id', CAST(id AS TEXT),
  'username', username,
  'displayName', display_name,
  'tag', discriminator,
  'isBot', iif(is_bot, json('true'), NULL),
  'avatarId', avatar
)) AS result
FROM user
WHERE id = :found;
