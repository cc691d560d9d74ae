-- Answers are the API's own JSON without pictures; what there is not is null.

-- part: top
-- :top, how many to show; :doing is what fails otherwise.
SELECT 'Error: Failed to ' || :doing || ': Request contains an invalid argument.' AS error
WHERE :maxResults < 0 OR :maxResults > 50;
SELECT CAST(ifnull(:maxResults, :usual) AS INTEGER) AS top;

-- part: page
-- :found, the page :page of the channel's uploads, :size on each, sorted by :sort within the page.
SELECT json_group_array(json(shown)) AS found
FROM (
  SELECT shown
  FROM (
    SELECT shown, published, n, views
    FROM api_video
    WHERE channel_id = :channel
    ORDER BY published DESC, n DESC
    LIMIT :size OFFSET (:page - 1) * :size
  )
  ORDER BY
    CASE :sort
      WHEN 'popular' THEN -views
      WHEN 'oldest' THEN time_read(published, 'UTC')
      ELSE -time_read(published, 'UTC')
    END,
    n
);

-- name: videos_getVideo
SELECT 'Error: Failed to get video: ''' || value || '''' AS error
FROM json_each(ifnull(:parts, '[]'))
WHERE value NOT IN (
  'id', 'snippet', 'contentDetails', 'status', 'statistics', 'player', 'topicDetails',
  'localizations', 'recordingDetails', 'liveStreamingDetails', 'paidProductPlacementDetails'
)
LIMIT 1;
SELECT ifnull((
  SELECT json_group_object(e.key, json(v.shown -> e.key))
  FROM api_video v, json_each(v.shown) e
  WHERE v.id = :videoId
    AND (
      e.key IN ('kind', 'id')
      OR e.key IN (
        SELECT value
        FROM json_each(ifnull(nullif(:parts, '[]'), '["snippet", "contentDetails", "statistics"]'))
      )
    )
  HAVING count(*) > 0
), 'null') AS result;

-- name: videos_searchVideos
SELECT 'search videos' AS doing, 10 AS usual;
-- include: top
-- include: common/words
SELECT json_group_array(json(shown)) AS result
FROM (
  SELECT a.shown
  FROM shown_video v
  JOIN api_video a ON a.id = v.id
  LEFT JOIN json_each(:words) w
    ON text_match(w.value, v.title, v.description, v.tags, v.channel_title)
  GROUP BY v.id
  HAVING count(w.value) * 2 >= json_array_length(:words)
  ORDER BY
    count(w.value) DESC,
    count(w.value) FILTER (WHERE text_match(w.value, v.title)) DESC,
    v.views DESC
  LIMIT :top
);

-- name: transcripts_getTranscript
SELECT id, transcript FROM video WHERE id = :videoId;
SELECT 'Error: Failed to get transcript: [YoutubeTranscript] ' || CASE
  WHEN :id IS NULL THEN 'The video is no longer available (' || :videoId || ')'
  WHEN :transcript IS NULL THEN 'Transcript is disabled on this video (' || :videoId || ')'
  ELSE 'No transcripts are available in ' || :language || ' this video (' || :videoId
    || '). Available languages: en'
END AS error
WHERE :transcript IS NULL OR ifnull(:language, 'en') NOT IN ('', 'en', 'en-US', 'en-GB');
SELECT json_object(
  'videoId', :id,
  'language', ifnull(nullif(:language, ''), 'en'),
  'transcript', (
    SELECT json_group_array(json_object(
      'text', value ->> 'text',
      'duration', value ->> 'duration',
      'offset', value ->> 'start',
      'lang', 'en'
    ))
    FROM json_each(:transcript)
  )
) AS result;

-- name: channels_getChannel
SELECT ifnull((
  SELECT json_object(
    'kind', 'youtube#channel',
    'id', id,
    'snippet', json_object(
      'title', title,
      'description', description,
      'customUrl', handle,
      'publishedAt', published,
      'localized', json_object('title', title, 'description', description)
    ),
    'contentDetails', json_object(
      'relatedPlaylists', json_object('likes', '', 'uploads', 'UU' || substr(id, 3))
    ),
    'statistics', json_object(
      'viewCount', CAST(views AS TEXT),
      'subscriberCount', CAST(subscribers AS TEXT),
      'hiddenSubscriberCount', json('false'),
      'videoCount', CAST(videos AS TEXT)
    )
  )
  FROM shown_channel
  WHERE id = :channelId
), 'null') AS result;

-- name: channels_listVideos
SELECT id AS channel, title, videos FROM shown_channel WHERE id = :channelId;
SELECT 'Error: Failed to list channel videos: Channel not found: ' || :channelId AS error
WHERE :channel IS NULL;
SELECT 'Error: Failed to list channel videos: Request contains an invalid argument.' AS error
WHERE :maxResults < 1;
SELECT
  1 AS page,
  CAST(ifnull(:maxResults, 20) AS INTEGER) AS size,
  ifnull(:sortOrder, 'newest') AS sort;
SELECT (:videos + :size - 1) / :size AS pages;
-- include: page
SELECT json_object(
  'listId', 'list_' || :size || '_' || :sort || '_' || :channel,
  'channelId', :channel,
  'channelTitle', :title,
  'sortOrder', :sort,
  'currentPage', 1,
  'totalPages', :pages,
  'pageSize', :size,
  'totalVideos', :videos,
  'videos', json(:found),
  'hasNextPage', json(iif(:pages > 1, 'true', 'false')),
  'hasPrevPage', json('false')
) AS result;

-- name: channels_navigateList
-- A list's id says which list it is, so that it does not end.
SELECT CAST(substr(:listId, 6) AS INTEGER) AS size;
SELECT c.id AS channel, c.title, s.value AS sort, (c.videos + :size - 1) / :size AS pages
FROM shown_channel c, json_each('["newest", "oldest", "popular"]') s
WHERE :size > 0 AND :listId = 'list_' || :size || '_' || s.value || '_' || c.id;
SELECT 'Error: Failed to navigate list: List session expired or not found: ' || :listId AS error
WHERE :channel IS NULL;
SELECT CAST(:page AS INTEGER) AS page;
SELECT 'Error: Failed to navigate list: Invalid page number: ' || :page || '. Valid range: 1-'
  || :pages AS error
WHERE :page < 1 OR :page > :pages;
-- include: page
SELECT json_object(
  'listId', :listId,
  'channelId', :channel,
  'channelTitle', :title,
  'sortOrder', :sort,
  'currentPage', :page,
  'totalPages', :pages,
  'pageSize', :size,
  'videos', json(:found),
  'hasNextPage', json(iif(:page < :pages, 'true', 'false')),
  'hasPrevPage', json(iif(:page > 1, 'true', 'false'))
) AS result;

-- name: playlists_getPlaylist
SELECT ifnull((
  SELECT json_object(
    'kind', 'youtube#playlist',
    'id', p.id,
    'snippet', json_object(
      'publishedAt', p.published,
      'channelId', c.id,
      'title', p.title,
      'description', p.description,
      'channelTitle', c.title,
      'localized', json_object('title', p.title, 'description', p.description)
    ),
    'status', json_object('privacyStatus', p.privacy),
    'contentDetails', json_object(
      'itemCount', (SELECT count(*) FROM playlist_item i WHERE i.playlist_id = p.id)
    )
  )
  FROM playlist p
  JOIN channel c ON c.id = p.channel_id
  WHERE p.id = :playlistId AND (c.n = 0 OR p.privacy <> 'private')
), 'null') AS result;

-- name: playlists_getPlaylistItems
SELECT 'get playlist items' AS doing, 50 AS usual;
-- include: top
SELECT p.id AS playlist, c.id AS channel, c.title
FROM playlist p
JOIN channel c ON c.id = p.channel_id
WHERE p.id = :playlistId AND (c.n = 0 OR p.privacy <> 'private')
UNION ALL
SELECT 'UU' || substr(id, 3), id, title FROM channel WHERE 'UU' || substr(id, 3) = :playlistId;
SELECT 'Error: Failed to get playlist items: The playlist identified with the request''s '
  || '<code>playlistId</code> parameter cannot be found.' AS error
WHERE :playlist IS NULL;
SELECT count(*) AS total FROM shown_item WHERE playlist_id = :playlist;
SELECT drop_nulls(json_object(
  'items', json_group_array(json(item)),
  'totalResults', :total,
  'nextPageToken', iif(:total > :top, 'EAAaB' || base64('P' || :top), NULL)
)) AS result
FROM (
  SELECT json_object(
    'playlistItem', json_object(
      'kind', 'youtube#playlistItem',
      'id', i.id,
      'snippet', json_object(
        'publishedAt', i.published,
        'channelId', :channel,
        'title', i.title,
        'description', ifnull(v.description, ''),
        'channelTitle', :title,
        'playlistId', :playlist,
        'position', i.position,
        'resourceId', json_object('kind', 'youtube#video', 'videoId', i.video_id),
        'videoOwnerChannelTitle', v.channel_title,
        'videoOwnerChannelId', v.channel_id
      ),
      'contentDetails', json_object('videoId', i.video_id, 'videoPublishedAt', v.published),
      'status', json_object('privacyStatus', iif(v.id IS NULL, 'private', 'public'))
    ),
    'videoDetails', json((
      SELECT json_remove(shown, '$.status') FROM api_video a WHERE a.id = i.video_id
    ))
  ) AS item
  FROM shown_item i
  LEFT JOIN shown_video v ON v.id = i.video_id
  WHERE i.playlist_id = :playlist
  ORDER BY i.position
  LIMIT :top
);

-- name: playlists_searchPlaylists
SELECT 'search playlists' AS doing, 10 AS usual;
-- include: top
-- include: common/words
SELECT json_group_array(json(item)) AS result
FROM (
  SELECT json_object(
    'kind', 'youtube#searchResult',
    'id', json_object('kind', 'youtube#playlist', 'playlistId', p.id),
    'snippet', json_object(
      'publishedAt', p.published,
      'channelId', c.id,
      'title', p.title,
      'description', p.description,
      'channelTitle', c.title,
      'liveBroadcastContent', 'none',
      'publishTime', p.published
    )
  ) AS item
  FROM playlist p
  JOIN channel c ON c.id = p.channel_id
  LEFT JOIN json_each(:words) w ON text_match(w.value, p.title, p.description, c.title)
  WHERE p.privacy = 'public'
  GROUP BY p.id
  HAVING count(w.value) * 2 >= json_array_length(:words)
  ORDER BY count(w.value) DESC, p.n
  LIMIT :top
);
