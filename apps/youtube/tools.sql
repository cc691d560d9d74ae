-- part: limit
-- :top, how many to show.
SELECT 'Error: YouTube API Error (400): Request contains an invalid argument.' AS error
WHERE :max_results < 0;
SELECT min(ifnull(:max_results, 25), 50) AS top;

-- part: dates
-- :first and :last, the days of a report.
SELECT
  ifnull(nullif(:start_date, ''), date(substr(now(), 1, 10), '-30 days')) AS first,
  ifnull(nullif(:end_date, ''), substr(now(), 1, 10)) AS last;
SELECT 'Error: YouTube Analytics API Error (400): ' || CASE
  WHEN NOT ifnull(time_is_date(:first), 0) THEN 'Invalid startDate: ' || :first
  WHEN NOT ifnull(time_is_date(:last), 0) THEN 'Invalid endDate: ' || :last
  ELSE 'The end date is before the start date.'
END AS error
WHERE NOT ifnull(time_is_date(:first), 0) OR NOT ifnull(time_is_date(:last), 0) OR :last < :first;

-- part: report
-- :days, what happened to the videos :ids on each of them. Of all views that a video has so far,
-- 1 - 1 / (k + 2) came until its day k, made fit for today; so the days add up to the views.
WITH RECURSIVE chosen AS MATERIALIZED (
  SELECT
    v.*,
    julianday(substr(v.published, 1, 10)) AS born,
    1 - 1.0 / (julianday(substr(now(), 1, 10)) - julianday(substr(v.published, 1, 10)) + 2) AS whole
  FROM video v
  WHERE v.id IN (SELECT value FROM json_each(:ids)) AND v.published <= now()
),
day (day) AS (
  SELECT max(julianday(:first), (SELECT min(born) FROM chosen))
  UNION ALL
  SELECT day + 1 FROM day WHERE day < min(julianday(:last), julianday(substr(now(), 1, 10)))
),
part AS (
  SELECT
    day.day,
    chosen.*,
    (1 - 1.0 / (day - born + 2)) / whole AS till,
    (1 - 1.0 / (day - born + 1)) / whole AS before
  FROM day
  JOIN chosen ON chosen.born <= day.day
  WHERE day.day <= min(julianday(:last), julianday(substr(now(), 1, 10)))
),
counted AS (
  SELECT
    day,
    seconds,
    CAST(views * till + 0.001 AS INTEGER) - CAST(views * before + 0.001 AS INTEGER) AS seen,
    CAST(likes * till + 0.001 AS INTEGER) - CAST(likes * before + 0.001 AS INTEGER) AS liked,
    CAST(likes / 40 * till + 0.001 AS INTEGER)
      - CAST(likes / 40 * before + 0.001 AS INTEGER) AS disliked,
    CAST(comments * till + 0.001 AS INTEGER)
      - CAST(comments * before + 0.001 AS INTEGER) AS commented,
    CAST(views / 60 * till + 0.001 AS INTEGER)
      - CAST(views / 60 * before + 0.001 AS INTEGER) AS shared,
    CAST(views / 90 * till + 0.001 AS INTEGER)
      - CAST(views / 90 * before + 0.001 AS INTEGER) AS gained,
    CAST(views / 800 * till + 0.001 AS INTEGER)
      - CAST(views / 800 * before + 0.001 AS INTEGER) AS lost
  FROM part
)
SELECT json_group_array(json(item)) AS days
FROM (
  SELECT json_object(
    'day', date(day),
    'views', sum(seen),
    'estimatedMinutesWatched', sum(seen * seconds) * 45 / 6000,
    'averageViewDuration', ifnull(sum(seen * seconds) * 45 / 100 / nullif(sum(seen), 0), 0),
    'likes', sum(liked),
    'dislikes', sum(disliked),
    'comments', sum(commented),
    'shares', sum(shared),
    'subscribersGained', sum(gained),
    'subscribersLost', sum(lost)
  ) AS item
  FROM counted
  GROUP BY day
  ORDER BY day
);
SELECT iif(
  json_array_length(:days) = 0,
  json('{}'),
  json_object(
    'views', sum(value ->> 'views'),
    'estimatedMinutesWatched', sum(value ->> 'estimatedMinutesWatched'),
    'averageViewDuration', sum(value ->> 'averageViewDuration'),
    'likes', sum(value ->> 'likes'),
    'dislikes', sum(value ->> 'dislikes'),
    'comments', sum(value ->> 'comments'),
    'shares', sum(value ->> 'shares'),
    'subscribersGained', sum(value ->> 'subscribersGained'),
    'subscribersLost', sum(value ->> 'subscribersLost')
  )
) AS totals
FROM json_each(:days);

-- name: get_youtube_video_transcript
SELECT
  substr(:url, instr(:url, '?') + 1) AS query,
  CASE
    WHEN instr(:url, 'youtu.be/') > 0 THEN substr(:url, instr(:url, 'youtu.be/') + 9)
    WHEN instr(:url, 'youtube.com/embed/') > 0
      THEN substr(:url, instr(:url, 'youtube.com/embed/') + 18)
    WHEN instr(:url, 'youtube.com/shorts/') > 0
      THEN substr(:url, instr(:url, 'youtube.com/shorts/') + 19)
  END AS path;
SELECT iif(
  instr(:url, 'youtube.com/watch') > 0 AND instr('&' || :query, '&v=') > 0,
  substr('&' || :query, instr('&' || :query, '&v=') + 3),
  :path
) AS tail;
SELECT replace(replace(replace(:tail, '?', '&'), '#', '&'), '/', '&') || '&' AS tail;
SELECT nullif(substr(:tail, 1, instr(:tail, '&') - 1), '') AS wanted;
SELECT json_indent(json_object(
  'error', 'Invalid YouTube URL: ' || iif(
    :url = '',
    'Empty URL provided',
    'Could not extract video ID from URL: ' || :url
  )
)) AS error
WHERE :wanted IS NULL;
SELECT transcript FROM video WHERE id = :wanted;
SELECT iif(
  :transcript IS NOT NULL,
  json_object(
    'video_id', :wanted,
    'transcript', (
      SELECT json_group_array(json_object(
        'text', value ->> 'text',
        'start', iif(
            value ->> 'start' >= 3600,
            printf('%02d:', CAST(value ->> 'start' AS INTEGER) / 3600),
            ''
          )
          || printf(
            '%02d:%02d',
            CAST(value ->> 'start' AS INTEGER) / 60 % 60,
            CAST(value ->> 'start' AS INTEGER) % 60
          ),
        'duration', value ->> 'duration'
      ))
      FROM json_each(:transcript)
    )
  ),
  json_object(
    'video_id', :wanted,
    'video_details', json(ifnull(
      (SELECT shown FROM full_video WHERE id = :wanted),
      json_object('error', 'No video found with ID: ' || :wanted)
    ))
  )
) AS result;

-- name: youtube_get_video_details
SELECT shown FROM full_video WHERE id = :video_id;
SELECT json_indent(json_object('error', 'No video found with ID: ' || :video_id)) AS error
WHERE :shown IS NULL;
SELECT :shown AS result;

-- name: youtube_get_liked_videos
-- include: limit
SELECT json_object(
  'liked_videos', json_group_array(json(item)),
  'total_count', count(*),
  'next_page_token', iif(
    count(*) < (SELECT count(*) FROM rating WHERE rating = 'like'),
    'CAUQ' || base64('P' || :top),
    NULL
  )
) AS result
FROM (
  SELECT json_object(
    'id', v.id,
    'title', v.title,
    'description', v.summary,
    'channelTitle', v.channel_title,
    'publishedAt', v.published,
    'thumbnailUrl', v.thumbnail,
    'viewCount', CAST(v.views AS TEXT),
    'likeCount', CAST(v.likes AS TEXT),
    'url', v.url
  ) AS item
  FROM rating r
  JOIN shown_video v ON v.id = r.video_id
  WHERE r.rating = 'like'
  ORDER BY r.n DESC
  LIMIT :top
);

-- name: youtube_get_subscriptions
-- include: limit
SELECT json_object(
  'subscriptions', json_group_array(json(item)),
  'total_count', count(*),
  'next_page_token', iif(
    count(*) < (SELECT count(*) FROM subscription),
    'CAUQ' || base64('P' || :top),
    NULL
  )
) AS result
FROM (
  SELECT json_object(
    'subscriptionId', s.id,
    'channelId', c.id,
    'channelTitle', c.title,
    'description', c.summary,
    'thumbnailUrl', c.thumbnail,
    'channelUrl', c.url
  ) AS item
  FROM subscription s
  JOIN shown_channel c ON c.id = s.channel_id
  ORDER BY s.n
  LIMIT :top
);

-- name: youtube_get_my_channel
SELECT json_object(
  'channelId', id,
  'title', title,
  'description', description,
  'customUrl', handle,
  'publishedAt', published,
  'thumbnailUrl', replace(thumbnail, '=s240', '=s800'),
  'subscriberCount', CAST(subscribers AS TEXT),
  'videoCount', CAST(videos AS TEXT),
  'viewCount', CAST(views AS TEXT),
  'uploadsPlaylistId', 'UU' || substr(id, 3),
  'channelUrl', url
) AS result
FROM shown_channel
WHERE n = 0;

-- part: channel_videos
-- :found, the newest videos of the channel :channel, :count of them, and :next.
SELECT
  json_group_array(json(item)) AS found,
  count(*) AS count,
  iif(
    count(*) < (SELECT count(*) FROM video WHERE channel_id = :channel),
    'EAAaB' || base64('P' || :top),
    NULL
  ) AS next
FROM (
  SELECT json_object(
    'id', id,
    'title', title,
    'description', summary,
    'publishedAt', published,
    'thumbnailUrl', thumbnail,
    'viewCount', CAST(views AS TEXT),
    'likeCount', CAST(likes AS TEXT),
    'commentCount', CAST(comments AS TEXT),
    'url', url
  ) AS item
  FROM shown_video
  WHERE channel_id = :channel
  ORDER BY published DESC, n DESC
  LIMIT :top
);

-- name: youtube_get_my_videos
-- include: limit
SELECT id AS channel FROM channel WHERE n = 0;
-- include: channel_videos
SELECT iif(
  :count = 0,
  json_object('videos', json('[]'), 'total_count', 0),
  json_object('videos', json(:found), 'total_count', :count, 'next_page_token', :next)
) AS result;

-- name: youtube_get_channel_videos
-- include: limit
SELECT id AS channel, title FROM channel WHERE id = :channel_id;
SELECT json_indent(json_object('error', 'No channel found with ID: ' || :channel_id)) AS error
WHERE :channel IS NULL;
-- include: channel_videos
SELECT json_object(
  'channelId', :channel,
  'channelTitle', :title,
  'videos', json(:found),
  'total_count', :count,
  'next_page_token', :next
) AS result;

-- name: youtube_search_videos
-- At least half of the words have to be there; the best are those with the most of them.
-- include: limit
-- include: common/words
SELECT 'Error: YouTube API Error (400): Request contains an invalid argument.' AS error
WHERE :published_after <> '' AND time_read(:published_after, 'UTC') IS NULL
  OR :published_before <> '' AND time_read(:published_before, 'UTC') IS NULL;
WITH hit AS (
  SELECT
    v.id,
    count(w.value) AS words,
    count(w.value) FILTER (WHERE text_match(w.value, v.title)) AS in_title
  FROM shown_video v
  LEFT JOIN json_each(:words) w
    ON text_match(w.value, v.title, v.description, v.tags, v.channel_title)
  WHERE (ifnull(:channel_id, '') = '' OR v.channel_id = :channel_id)
    AND (
      ifnull(:published_after, '') = ''
      OR time_read(v.published, 'UTC') >= time_read(:published_after, 'UTC')
    )
    AND (
      ifnull(:published_before, '') = ''
      OR time_read(v.published, 'UTC') < time_read(:published_before, 'UTC')
    )
  GROUP BY v.id
  HAVING count(w.value) * 2 >= json_array_length(:words)
)
SELECT json_object(
  'query', :query,
  'videos', json_group_array(json(item)),
  'total_count', count(*),
  'next_page_token', iif(count(*) < (SELECT count(*) FROM hit), 'CAUQ' || base64('P' || :top), NULL)
) AS result
FROM (
  SELECT json_object(
    'id', v.id,
    'title', v.title,
    'description', v.summary,
    'channelId', v.channel_id,
    'channelTitle', v.channel_title,
    'publishedAt', v.published,
    'thumbnailUrl', v.thumbnail,
    'viewCount', CAST(v.views AS TEXT),
    'likeCount', CAST(v.likes AS TEXT),
    'commentCount', CAST(v.comments AS TEXT),
    'url', v.url
  ) AS item
  FROM hit
  JOIN shown_video v ON v.id = hit.id
  ORDER BY
    CASE :order
      WHEN 'date' THEN time_read(v.published, 'UTC')
      WHEN 'viewCount' THEN v.views
      WHEN 'rating' THEN v.likes
      ELSE hit.words * 100 + hit.in_title
    END DESC,
    v.views DESC,
    v.n
  LIMIT :top
);

-- name: youtube_search_channels
-- include: limit
-- include: common/words
SELECT json_object(
  'query', :query,
  'channels', json_group_array(json(item)),
  'total_count', count(*)
) AS result
FROM (
  SELECT json_object(
    'channelId', c.id,
    'title', c.title,
    'description', c.summary,
    'customUrl', c.handle,
    'thumbnailUrl', c.thumbnail,
    'subscriberCount', CAST(c.subscribers AS TEXT),
    'videoCount', CAST(c.videos AS TEXT),
    'viewCount', CAST(c.views AS TEXT),
    'channelUrl', c.url
  ) AS item
  FROM shown_channel c
  LEFT JOIN json_each(:words) w ON text_match(w.value, c.title, c.description, c.handle)
  GROUP BY c.id
  HAVING count(w.value) * 2 >= json_array_length(:words)
  ORDER BY count(w.value) DESC, c.subscribers DESC
  LIMIT :top
);

-- name: youtube_get_my_analytics
-- include: dates
SELECT json_group_array(v.id) AS ids
FROM video v
JOIN channel c ON c.id = v.channel_id
WHERE c.n = 0;
-- include: report
SELECT json_object(
  'channelId', id,
  'dateRange', json_object('startDate', :first, 'endDate', :last),
  'totals', json(:totals),
  'dailyData', json(:days)
) AS result
FROM channel
WHERE n = 0;

-- name: youtube_get_video_analytics
-- Videos of others have no rows.
-- include: dates
SELECT json_group_array(v.id) AS ids
FROM video v
JOIN channel c ON c.id = v.channel_id
WHERE c.n = 0 AND v.id = :video_id;
-- include: report
SELECT json_object(
  'videoId', :video_id,
  'dateRange', json_object('startDate', :first, 'endDate', :last),
  'totals', json_remove(:totals, '$.subscribersGained', '$.subscribersLost'),
  'dailyData', (
    SELECT json_group_array(json_remove(value, '$.subscribersGained', '$.subscribersLost'))
    FROM json_each(:days)
  )
) AS result;

-- name: youtube_get_recent_uploads
-- Five of each channel, of the first ten channels, as the server asks for them.
SELECT 'Error: YouTube API Error (400): Request contains an invalid argument.' AS error
WHERE :days < 0 OR :max_results < 0;
SELECT json_object(
  'days', ifnull(:days, 14),
  'videos', json_group_array(json(item)),
  'total_count', count(*)
) AS result
FROM (
  SELECT json_object(
    'id', id,
    'title', title,
    'channelTitle', channel_title,
    'channelId', channel_id,
    'publishedAt', published,
    'thumbnailUrl', thumbnail,
    'url', url
  ) AS item
  FROM (
    SELECT v.*, row_number() OVER (PARTITION BY v.channel_id ORDER BY v.published DESC) AS place
    FROM shown_video v
    JOIN (SELECT channel_id FROM subscription ORDER BY n LIMIT 10) s ON s.channel_id = v.channel_id
    WHERE time_read(v.published, 'UTC') BETWEEN now_ms() / 1000
      - ifnull(:days, 14) * 86400 AND now_ms() / 1000
  )
  WHERE place <= 5
  ORDER BY published DESC, n
  LIMIT ifnull(:max_results, 25)
);

-- name: youtube_list_playlists
-- include: limit
SELECT id AS me FROM channel WHERE n = 0;
SELECT iif(ifnull(:mine, 0) OR ifnull(:channel_id, '') = '', :me, :channel_id) AS channel;
SELECT 'Error: YouTube API Error (404): Channel not found.' AS error
WHERE NOT EXISTS (SELECT 1 FROM channel WHERE id = :channel);
WITH listed AS (
  SELECT * FROM playlist WHERE channel_id = :channel AND (:channel = :me OR privacy = 'public')
)
SELECT json_object(
  'playlists', json_group_array(json(item)),
  'total_count', count(*),
  'next_page_token', iif(
    count(*) < (SELECT count(*) FROM listed),
    'CAUQ' || base64('P' || :top),
    NULL
  )
) AS result
FROM (
  SELECT json_object(
    'id', p.id,
    'title', p.title,
    'description', p.description,
    'publishedAt', p.published,
    'itemCount', (SELECT count(*) FROM playlist_item i WHERE i.playlist_id = p.id),
    'thumbnailUrl', ifnull(
      'https://i.ytimg.com/vi/'
        || (
          SELECT video_id FROM playlist_item i WHERE i.playlist_id = p.id ORDER BY position LIMIT 1
        ) || '/mqdefault.jpg',
      'https://i.ytimg.com/img/no_thumbnail.jpg'
    ),
    'url', 'https://www.youtube.com/playlist?list=' || p.id
  ) AS item
  FROM listed p
  ORDER BY p.published DESC, p.n DESC
  LIMIT :top
);

-- part: find_playlist
-- :playlist that the account may see, and whether it :is_mine.
SELECT p.id AS playlist, c.n = 0 AS is_mine
FROM playlist p
JOIN channel c ON c.id = p.channel_id
WHERE p.id = :playlist_id AND (c.n = 0 OR p.privacy <> 'private')
UNION ALL
SELECT 'UU' || substr(id, 3), 0 FROM channel WHERE 'UU' || substr(id, 3) = :playlist_id;
SELECT 'Error: YouTube API Error (404): The playlist identified with the request''s '
  || '<code>playlistId</code> parameter cannot be found.' AS error
WHERE :playlist IS NULL;

-- name: youtube_get_playlist_items
-- include: limit
-- include: find_playlist
SELECT json_object(
  'playlist_id', :playlist,
  'items', json_group_array(json(item)),
  'total_count', count(*),
  'next_page_token', iif(
    count(*) < (SELECT count(*) FROM shown_item WHERE playlist_id = :playlist),
    'EAAaB' || base64('P' || :top),
    NULL
  )
) AS result
FROM (
  SELECT json_object(
    'id', id,
    'videoId', video_id,
    'title', title,
    'description', summary,
    'publishedAt', published,
    'position', position,
    'thumbnailUrl', 'https://i.ytimg.com/vi/' || video_id || '/mqdefault.jpg',
    'url', 'https://www.youtube.com/watch?v=' || video_id
  ) AS item
  FROM shown_item
  WHERE playlist_id = :playlist
  ORDER BY position
  LIMIT :top
);

-- name: youtube_rate_video
SELECT id AS video FROM video WHERE id = :video_id;
SELECT 'Error: YouTube API Error (404): The video that you are trying to rate cannot be found. '
  || 'Check the value of the request''s <code>id</code> parameter to ensure that it is '
  || 'correct.' AS error
WHERE :video IS NULL;
UPDATE video
SET likes = likes + (:rating = 'like')
  - EXISTS (SELECT 1 FROM rating WHERE video_id = :video AND rating = 'like')
WHERE id = :video;
DELETE FROM rating WHERE video_id = :video;
INSERT INTO rating
SELECT :video, ifnull(max(n), 0) + 1, :rating
FROM rating
HAVING :rating <> 'none';
SELECT json_object(
  'success', json('true'),
  'video_id', :video,
  'rating', :rating,
  'message', 'Successfully ' || iif(
    :rating = 'none',
    'removed rating from',
    'rated video as ' || :rating
  )
) AS result;

-- name: youtube_create_playlist
SELECT 'Error: YouTube API Error (400): The request must specify a playlist title.' AS error
WHERE trim(:title) = '';
INSERT INTO playlist
SELECT
  new_id('playlist'),
  (SELECT ifnull(max(n), 0) + 1 FROM playlist),
  id,
  :title,
  ifnull(:description, ''),
  ifnull(:privacy_status, 'private'),
  substr(now(), 1, 19) || 'Z'
FROM channel
WHERE n = 0
RETURNING id AS made, description AS said, privacy;
SELECT json_object(
  'success', json('true'),
  'playlist_id', :made,
  'title', :title,
  'description', :said,
  'privacy_status', :privacy,
  'url', 'https://www.youtube.com/playlist?list=' || :made,
  'message', 'Successfully created playlist ''' || :title || ''''
) AS result;

-- name: youtube_add_video_to_playlist
-- include: find_playlist
SELECT 'Error: YouTube API Error (403): The request is not properly authorized to insert the '
  || 'specified playlist item.' AS error
WHERE NOT :is_mine;
SELECT 'Error: YouTube API Error (404): Video not found.' AS error
WHERE NOT EXISTS (SELECT 1 FROM video WHERE id = :video_id);
SELECT count(*) AS count FROM playlist_item WHERE playlist_id = :playlist;
SELECT 'Error: YouTube API Error (400): The request attempts to set an invalid position for the '
  || 'playlist item.' AS error
WHERE :position < 0 OR :position > :count;
SELECT ifnull(:position, :count) AS place;
UPDATE playlist_item
SET position = position + 1
WHERE playlist_id = :playlist AND position >= :place;
INSERT INTO playlist_item (id, playlist_id, position, video_id, published)
SELECT new_id('item'), :playlist, :place, :video_id, substr(now(), 1, 19) || 'Z'
RETURNING id AS made;
SELECT json_object(
  'success', json('true'),
  'playlist_item_id', :made,
  'playlist_id', :playlist,
  'video_id', :video_id,
  'position', :place,
  'message', 'Successfully added video to playlist'
) AS result;
