-- Channels with their videos, and what the account does with them: playlists, ratings and
-- subscriptions. The account's own channel is always there.

CREATE TABLE channel (
  id TEXT PRIMARY KEY,
  n INTEGER NOT NULL UNIQUE, -- 0: the account's
  title TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  handle TEXT,
  published TEXT NOT NULL,
  subscribers INTEGER NOT NULL DEFAULT 0
);
INSERT INTO channel VALUES (
  'UCx7Lk2vQm9TzR4bWn1YpHdA', 0, 'Larkspur Robotics',
  'How our robots see, drive and carry, told by those who build them.', '@larkspur-robotics',
  '2021-05-18T08:30:00Z', 4120
);

CREATE TABLE video (
  id TEXT PRIMARY KEY,
  n INTEGER NOT NULL UNIQUE,
  channel_id TEXT NOT NULL REFERENCES channel (id),
  title TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  tags TEXT NOT NULL DEFAULT '[]', -- as JSON
  category TEXT NOT NULL DEFAULT '28',
  seconds INTEGER NOT NULL DEFAULT 0, -- how long it is
  published TEXT NOT NULL,
  views INTEGER NOT NULL DEFAULT 0,
  likes INTEGER NOT NULL DEFAULT 0,
  comments INTEGER NOT NULL DEFAULT 0,
  transcript TEXT -- [{"text", "start", "duration"}] in seconds, as JSON
);
CREATE INDEX video_channel ON video (channel_id, published);

CREATE TABLE playlist (
  id TEXT PRIMARY KEY,
  n INTEGER NOT NULL UNIQUE,
  channel_id TEXT NOT NULL REFERENCES channel (id),
  title TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  privacy TEXT NOT NULL DEFAULT 'private',
  published TEXT NOT NULL
);

CREATE TABLE playlist_item (
  id TEXT PRIMARY KEY,
  playlist_id TEXT NOT NULL REFERENCES playlist (id),
  position INTEGER NOT NULL,
  video_id TEXT NOT NULL, -- may be one that is not among the videos
  title TEXT,
  note TEXT,
  published TEXT NOT NULL
);
CREATE INDEX playlist_item_place ON playlist_item (playlist_id, position);

CREATE TABLE rating (
  video_id TEXT PRIMARY KEY REFERENCES video (id),
  n INTEGER NOT NULL UNIQUE,
  rating TEXT NOT NULL -- like, dislike
);

CREATE TABLE subscription (
  id TEXT PRIMARY KEY,
  n INTEGER NOT NULL UNIQUE,
  channel_id TEXT NOT NULL UNIQUE REFERENCES channel (id)
);

-- Videos as lists and searches show them, and in full.
CREATE VIEW shown_video AS
SELECT
  v.*,
  c.title AS channel_title,
  iif(
    length(v.description) > 200,
    substr(v.description, 1, 200) || '...',
    v.description
  ) AS summary,
  'https://i.ytimg.com/vi/' || v.id || '/mqdefault.jpg' AS thumbnail,
  'https://www.youtube.com/watch?v=' || v.id AS url,
  'PT' || iif(v.seconds >= 3600, (v.seconds / 3600) || 'H', '')
    || iif(v.seconds / 60 % 60 > 0, (v.seconds / 60 % 60) || 'M', '')
    || iif(v.seconds % 60 > 0 OR v.seconds = 0, (v.seconds % 60) || 'S', '') AS duration
FROM video v
JOIN channel c ON c.id = v.channel_id;

CREATE VIEW full_video AS
SELECT
  id,
  json_object(
    'id', id,
    'title', title,
    'description', description,
    'publishedAt', published,
    'channelId', channel_id,
    'channelTitle', channel_title,
    'thumbnailUrl', 'https://i.ytimg.com/vi/' || id || '/hqdefault.jpg',
    'tags', json(tags),
    'categoryId', category,
    'duration', duration,
    'viewCount', CAST(views AS TEXT),
    'likeCount', CAST(likes AS TEXT),
    'commentCount', CAST(comments AS TEXT),
    'url', url
  ) AS shown
FROM shown_video;

CREATE VIEW shown_channel AS
SELECT
  c.*,
  (SELECT count(*) FROM video v WHERE v.channel_id = c.id) AS videos,
  (SELECT ifnull(sum(views), 0) FROM video v WHERE v.channel_id = c.id) AS views,
  iif(
    length(c.description) > 200,
    substr(c.description, 1, 200) || '...',
    c.description
  ) AS summary,
  'https://yt3.ggpht.com/ytc/' || c.id || '=s240-c-k-c0x00ffffff-no-rj' AS thumbnail,
  'https://www.youtube.com/channel/' || c.id AS url
FROM channel c;

-- Items of playlists; uploads are playlists, too, whose ids begin with UU.
CREATE VIEW shown_item AS
SELECT
  i.id,
  i.playlist_id,
  i.position,
  i.video_id,
  i.published,
  coalesce(v.title, i.title, 'Private video') AS title,
  ifnull(v.summary, '') AS summary
FROM playlist_item i
LEFT JOIN shown_video v ON v.id = i.video_id
UNION ALL
SELECT
  'VVU' || substr(channel_id, 3) || '.' || id,
  'UU' || substr(channel_id, 3),
  row_number() OVER (PARTITION BY channel_id ORDER BY published DESC, n DESC) - 1,
  id,
  published,
  title,
  summary
FROM shown_video;

-- Videos as the API has them.
CREATE VIEW api_video AS
SELECT
  id,
  n,
  channel_id,
  published,
  views,
  json_object(
    'kind', 'youtube#video',
    'id', id,
    'snippet', json_object(
      'publishedAt', published,
      'channelId', channel_id,
      'title', title,
      'description', description,
      'channelTitle', channel_title,
      'tags', json(tags),
      'categoryId', category,
      'liveBroadcastContent', 'none',
      'localized', json_object('title', title, 'description', description)
    ),
    'contentDetails', json_object(
      'duration', duration,
      'dimension', '2d',
      'definition', 'hd',
      'caption', iif(transcript IS NULL, 'false', 'true'),
      'licensedContent', json('false'),
      'contentRating', json('{}'),
      'projection', 'rectangular'
    ),
    'status', json_object(
      'uploadStatus', 'processed',
      'privacyStatus', 'public',
      'license', 'youtube',
      'embeddable', json('true'),
      'publicStatsViewable', json('true'),
      'madeForKids', json('false')
    ),
    'statistics', json_object(
      'viewCount', CAST(views AS TEXT),
      'likeCount', CAST(likes AS TEXT),
      'favoriteCount', '0',
      'commentCount', CAST(comments AS TEXT)
    )
  ) AS shown
FROM shown_video;
