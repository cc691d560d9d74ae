-- Playlists of the account. Beyond Klavis' format a body may have the catalog: "channels" and
-- "videos" (those with ids that are there are replaced), "subscriptions" (ids of channels), "liked"
-- and "disliked" (ids of videos); a playlist "id", "channel_id" (of another one's) and
-- "published_at", its items "id" and "published_at". Dumps have all that. A playlist may hold
-- videos that are not in the catalog: these have only the title that the item says.

-- name: import
SELECT 'playlists/' || key || ': is there already: ' || (value ->> 'id') AS error
FROM json_each(:args, '$.playlists')
WHERE value ->> 'id' IN (SELECT id FROM playlist)
LIMIT 1;
SELECT 'playlists/' || key
  || CASE
    WHEN trim(ifnull(value ->> 'title', '')) = '' THEN ': needs a title'
    ELSE ': privacy_status is public, private or unlisted'
  END AS error
FROM json_each(:args, '$.playlists')
WHERE type = 'object'
  AND (
    trim(ifnull(value ->> 'title', '')) = ''
    OR ifnull(value ->> 'privacy_status', 'private') NOT IN ('public', 'private', 'unlisted')
  )
LIMIT 1;
SELECT 'playlists: twice: ' || id AS error
FROM (
  SELECT value ->> 'id' AS id FROM json_each(:args, '$.playlists')
  UNION ALL
  SELECT i.value ->> 'id' FROM json_each(:args, '$.playlists') p, json_each(p.value, '$.items') i
  UNION ALL
  SELECT id FROM playlist_item
)
WHERE id IS NOT NULL
GROUP BY id
HAVING count(*) > 1
LIMIT 1;
SELECT
  (SELECT max(n) FROM channel) AS n_channels,
  (SELECT ifnull(max(n), 0) FROM video) AS n_videos,
  (SELECT ifnull(max(n), 0) FROM playlist) AS n_playlists,
  (SELECT ifnull(max(n), 0) FROM subscription) AS n_subscriptions,
  (SELECT ifnull(max(n), 0) FROM rating) AS n_ratings;
INSERT INTO channel
SELECT
  value ->> 'id',
  :n_channels + 1 + key,
  value ->> 'title',
  ifnull(value ->> 'description', ''),
  value ->> 'custom_url',
  ifnull(value ->> 'published_at', substr(now(), 1, 19) || 'Z'),
  ifnull(value ->> 'subscriber_count', 0)
FROM json_each(:args, '$.channels')
WHERE type = 'object'
ORDER BY key
ON CONFLICT (id) DO UPDATE SET
  title = excluded.title,
  description = excluded.description,
  handle = excluded.handle,
  published = excluded.published,
  subscribers = excluded.subscribers;
SELECT x.place || ': no such channel: ' || ifnull(x.id, 'null') AS error
FROM (
  SELECT 'videos/' || key AS place, value ->> 'channel_id' AS id
  FROM json_each(:args, '$.videos')
  WHERE type = 'object'
  UNION ALL
  SELECT 'subscriptions/' || key, value FROM json_each(:args, '$.subscriptions') WHERE type = 'text'
  UNION ALL
  SELECT 'playlists/' || key, value ->> 'channel_id'
  FROM json_each(:args, '$.playlists')
  WHERE value ->> 'channel_id' IS NOT NULL
) x
WHERE ifnull(x.id, '') NOT IN (SELECT id FROM channel)
LIMIT 1;
SELECT 'videos/' || key || ': published_at is a time (ISO 8601)' AS error
FROM json_each(:args, '$.videos')
WHERE time_read(ifnull(value ->> 'published_at', '2000-01-01'), 'UTC') IS NULL
LIMIT 1;
INSERT INTO video
SELECT
  value ->> 'id',
  :n_videos + 1 + key,
  value ->> 'channel_id',
  value ->> 'title',
  ifnull(value ->> 'description', ''),
  ifnull(value ->> 'tags', '[]'),
  ifnull(value ->> 'category_id', '28'),
  ifnull(value ->> 'seconds', 0),
  ifnull(value ->> 'published_at', substr(now(), 1, 19) || 'Z'),
  ifnull(value ->> 'view_count', 0),
  ifnull(value ->> 'like_count', 0),
  ifnull(value ->> 'comment_count', 0),
  value ->> 'transcript'
FROM json_each(:args, '$.videos')
WHERE type = 'object'
ORDER BY key
ON CONFLICT (id) DO UPDATE SET
  channel_id = excluded.channel_id,
  title = excluded.title,
  description = excluded.description,
  tags = excluded.tags,
  category = excluded.category,
  seconds = excluded.seconds,
  published = excluded.published,
  views = excluded.views,
  likes = excluded.likes,
  comments = excluded.comments,
  transcript = excluded.transcript;
SELECT x.place || ': no such video: ' || x.id AS error
FROM (
  SELECT 'liked/' || key AS place, value AS id FROM json_each(:args, '$.liked')
  UNION ALL
  SELECT 'disliked/' || key, value FROM json_each(:args, '$.disliked')
) x
WHERE x.id NOT IN (SELECT id FROM video)
LIMIT 1;
INSERT OR REPLACE INTO rating
SELECT value, :n_ratings + 1 + key, 'like'
FROM json_each(:args, '$.liked')
WHERE type = 'text'
ORDER BY key;
INSERT OR REPLACE INTO rating
SELECT value, (SELECT ifnull(max(n), 0) FROM rating) + 1 + key, 'dislike'
FROM json_each(:args, '$.disliked')
WHERE type = 'text'
ORDER BY key;
INSERT OR IGNORE INTO subscription
SELECT new_id('subscription'), :n_subscriptions + 1 + key, value
FROM json_each(:args, '$.subscriptions')
WHERE type = 'text'
ORDER BY key;
INSERT INTO playlist
SELECT
  ifnull(value ->> 'id', new_id('playlist')),
  :n_playlists + 1 + key,
  ifnull(value ->> 'channel_id', (SELECT id FROM channel WHERE n = 0)),
  value ->> 'title',
  ifnull(value ->> 'description', ''),
  ifnull(value ->> 'privacy_status', 'private'),
  ifnull(value ->> 'published_at', substr(now(), 1, 19) || 'Z')
FROM json_each(:args, '$.playlists')
WHERE type = 'object'
ORDER BY key;
INSERT INTO playlist_item
SELECT
  ifnull(i.value ->> 'id', new_id('item')),
  (SELECT id FROM playlist WHERE n = :n_playlists + 1 + p.key),
  row_number() OVER (PARTITION BY p.key ORDER BY ifnull(i.value ->> 'position', i.key), i.key) - 1,
  i.value ->> 'video_id',
  i.value ->> 'title',
  i.value ->> 'note',
  ifnull(i.value ->> 'published_at', substr(now(), 1, 19) || 'Z')
FROM json_each(:args, '$.playlists') p, json_each(p.value, '$.items') i
WHERE p.type = 'object' AND i.type = 'object'
ORDER BY p.key, i.key;
SELECT json_object(
  'playlists', (SELECT count(*) FROM playlist WHERE n > :n_playlists),
  'playlist_items', (
    SELECT count(*)
    FROM json_each(:args, '$.playlists') p, json_each(p.value, '$.items') i
    WHERE i.type = 'object'
  ),
  'channels', (SELECT count(*) FROM json_each(:args, '$.channels') WHERE type = 'object'),
  'videos', (SELECT count(*) FROM json_each(:args, '$.videos') WHERE type = 'object')
) AS result;

-- name: export
SELECT drop_nulls(json_object(
  'playlists', (
    SELECT json_group_array(json(item))
    FROM (
      SELECT drop_nulls(json_object(
        'title', p.title,
        'description', p.description,
        'privacy_status', p.privacy,
        'items', (
          SELECT json_group_array(json(item))
          FROM (
            SELECT drop_nulls(json_object(
              'video_id', i.video_id,
              'title', ifnull(i.title, v.title),
              'note', i.note,
              'position', i.position,
              'id', i.id,
              'published_at', i.published
            )) AS item
            FROM playlist_item i
            LEFT JOIN video v ON v.id = i.video_id
            WHERE i.playlist_id = p.id
            ORDER BY i.position
          )
        ),
        'id', p.id,
        'channel_id', iif(c.n = 0, NULL, c.id),
        'published_at', p.published
      )) AS item
      FROM playlist p
      JOIN channel c ON c.id = p.channel_id
      ORDER BY p.n
    )
  ),
  'channels', (
    SELECT json(nullif(json_group_array(json(item)), '[]'))
    FROM (
      SELECT drop_nulls(json_object(
        'id', id,
        'title', title,
        'description', description,
        'custom_url', handle,
        'published_at', published,
        'subscriber_count', subscribers
      )) AS item
      FROM channel
      WHERE n > 0
      ORDER BY n
    )
  ),
  'videos', (
    SELECT json(nullif(json_group_array(json(item)), '[]'))
    FROM (
      SELECT drop_nulls(json_object(
        'id', id,
        'channel_id', channel_id,
        'title', title,
        'description', description,
        'tags', json(tags),
        'category_id', category,
        'seconds', seconds,
        'published_at', published,
        'view_count', views,
        'like_count', likes,
        'comment_count', comments,
        'transcript', json(transcript)
      )) AS item
      FROM video
      ORDER BY n
    )
  ),
  'subscriptions', (
    SELECT json(nullif(json_group_array(channel_id), '[]'))
    FROM (SELECT channel_id FROM subscription ORDER BY n)
  ),
  'liked', (
    SELECT json(nullif(json_group_array(video_id), '[]'))
    FROM (SELECT video_id FROM rating WHERE rating = 'like' ORDER BY n)
  ),
  'disliked', (
    SELECT json(nullif(json_group_array(video_id), '[]'))
    FROM (SELECT video_id FROM rating WHERE rating = 'dislike' ORDER BY n)
  )
)) AS result;
