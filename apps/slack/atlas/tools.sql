-- Answers are CSV. Texts of messages have letters, digits and common signs only, see slack_text().

-- part: channel
SELECT id AS me FROM user WHERE rank = 1;
SELECT id AS channel FROM named_channel WHERE user_id = :me AND :channel_id IN (id, name);
SELECT CASE
  WHEN :channel_id = '' THEN 'channel_id must be a string'
  WHEN :channel_id GLOB '[#@]*'
    THEN 'channel ' || json_quote(:channel_id) || ' not found in synced cache. '
      || 'Try to remove old cache file and restart MCP Server'
  ELSE 'channel_not_found'
END AS error
WHERE :channel IS NULL;

-- part: limits
-- :limit is a time to go back, or a number.
SELECT CAST(ifnull(:limit, '') AS TEXT) AS asked, ifnull(:cursor, '') AS place;
SELECT CASE WHEN :asked GLOB '*[dwm]' THEN substr(:asked, -1) ELSE '' END AS unit;
SELECT substr(:asked, 1, length(:asked) - length(:unit)) AS number;
SELECT CASE
  WHEN :unit <> '' AND :number = ''
    THEN 'invalid duration limit ' || json_quote(:asked) || ': too short'
  WHEN :unit <> '' AND (:number GLOB '*[^0-9]*' OR CAST(:number AS INTEGER) = 0)
    THEN 'invalid duration limit ' || json_quote(:asked)
      || ': must be a positive integer followed by ''d'', ''w'', or ''m'''
  WHEN :unit = '' AND :place = '' AND ltrim(:number, '-') GLOB '*[^0-9]*'
    THEN 'invalid numeric limit: ' || json_quote(:asked)
  WHEN :unit = '' AND :place = '' AND :number GLOB '-*' THEN 'invalid_limit'
END AS error;
SELECT iif(:place GLOB 'next_ts:*', :place, unbase64(:place)) AS place;
SELECT 'invalid_cursor' AS error
WHERE ifnull(:place, '?') <> ''
  AND ifnull(:place NOT GLOB 'next_ts:[0-9]*' OR length(:place) <> 24, 1);
SELECT
  CASE
    WHEN :unit <> '' OR :place <> '' OR CAST(:number AS INTEGER) = 0 AND :number <> '' THEN 100
    WHEN :number = '' THEN 50
    ELSE min(CAST(:number AS INTEGER), 999)
  END AS n,
  iif(
    :unit = '',
    '',
    ifnull(
      printf('%017.6f', max(0, unixepoch(
        now(),
        'start of day',
        CASE :unit
          WHEN 'd' THEN '-' || (CAST(:number AS INTEGER) - 1) || ' days'
          WHEN 'w' THEN '-' || (CAST(:number AS INTEGER) * 7 - 1) || ' days'
          ELSE '-' || CAST(:number AS INTEGER) || ' months'
        END
      ))),
      ''
    )
  ) AS low,
  '9' AS high,
  0 AS inclusive,
  iif(:place = '', NULL, substr(:place, 9, 10) || '.' || substr(:place, 19)) AS since;

-- part: rows
-- The first :n messages of :page; the last one has the cursor.
SELECT csv_row('UserID', 'UserName', 'RealName', 'Channel', 'ThreadTs', 'Text', 'Time', 'Cursor')
  || ifnull(group_concat(line, ''), '') AS result
FROM (
  SELECT csv_row(
    m.user_id,
    u.name,
    u.real_name,
    m.channel_id,
    m.raw ->> 'thread_ts',
    slack_text(m.text),
    m.ts,
    iif(p.key = :n - 1 AND :next IS NOT NULL, base64('next_ts:' || :next), '')
  ) AS line
  FROM json_each(:page) p
  JOIN raw_message m ON m.id = p.value
  JOIN user u ON u.id = m.user_id
  WHERE p.key < :n
  ORDER BY p.key
);

-- name: conversations_history
-- include: limits
SELECT ifnull(:since, '9') AS since;
-- include: channel
-- include: history_page
-- include: rows

-- name: conversations_replies
-- include: limits
SELECT ifnull(:since, '') AS since;
-- include: channel
SELECT 'thread_ts must be a string' AS error WHERE :thread_ts = '';
SELECT ifnull(thread_ts, ts) AS parent FROM message WHERE channel_id = :channel AND ts = :thread_ts;
SELECT 'thread_not_found' AS error WHERE :parent IS NULL;
-- include: replies_page
-- include: rows

-- name: conversations_add_message
SELECT id AS author, 'channel ' || json_quote(:channel_id) || ' not found' AS unknown
FROM user
WHERE rank = 1;
SELECT id AS channel FROM named_channel WHERE user_id = :author AND :channel_id IN (id, name);
SELECT CASE
  WHEN :channel_id = '' THEN 'channel_id must be a string'
  WHEN :channel IS NULL AND :channel_id GLOB '[#@]*' THEN :unknown
  WHEN :thread_ts <> '' AND instr(:thread_ts, '.') = 0
    THEN 'thread_ts must be a valid timestamp in format 1234567890.123456'
  WHEN ifnull(:payload, '') = '' THEN 'text must be a string'
  WHEN :content_type NOT IN ('text/plain', 'text/markdown')
    THEN 'content_type must be either ''text/plain'' or ''text/markdown'''
  WHEN :channel IS NULL THEN 'channel_not_found'
END AS error;
SELECT :payload AS text;
-- include: text_fits
SELECT (
  SELECT ifnull(thread_ts, ts) FROM message WHERE channel_id = :channel AND ts = :thread_ts
) AS parent;
SELECT 'thread_not_found' AS error WHERE :thread_ts <> '' AND :parent IS NULL;
-- include: post
SELECT json_array(:id) AS page, 1 AS n, NULL AS next;
-- include: rows

-- name: conversations_search_messages
SELECT id AS me FROM user WHERE rank = 1;
-- People by ids or names, with what marks them or without.
SELECT
  json_group_object(arg, found) AS people,
  max(iif(found IS NULL, 'user ' || json_quote(ltrim(wanted, '<@')) || ' not found', NULL)) AS error
FROM (
  SELECT
    arg,
    wanted,
    (
      SELECT u.id
      FROM user u
      WHERE lower(ltrim(rtrim(wanted, '>'), '<@')) IN (
        lower(u.id),
        u.name,
        lower(u.display_name),
        lower(u.real_name)
      )
      UNION ALL
      SELECT c.id
      FROM named_channel c
      WHERE arg = 'filter_in_im_or_mpim' AND c.user_id = :me AND c.kind = 'im' AND c.id = wanted
    ) AS found
  FROM (
    SELECT key AS arg, trim(value) AS wanted
    FROM json_each(:args)
    WHERE key IN ('filter_in_im_or_mpim', 'filter_users_with', 'filter_users_from') AND value <> ''
  )
);
SELECT CASE
  WHEN trim(:filter_in_channel) NOT GLOB '[#C]*'
    THEN 'invalid channel format: ' || json_quote(trim(:filter_in_channel))
  ELSE 'channel ' || json_quote(trim(:filter_in_channel)) || ' not found'
END AS error
WHERE :filter_in_channel <> ''
  AND NOT EXISTS (
    SELECT 1 FROM named_channel WHERE user_id = :me AND trim(:filter_in_channel) IN (id, name)
  );
SELECT CASE
  WHEN :filter_date_on <> ''
      AND coalesce(
        nullif(:filter_date_before, ''),
        nullif(:filter_date_after, ''),
        nullif(:filter_date_during, '')
      )
        IS NOT NULL
    THEN '''on'' cannot be combined with other date filters'
  WHEN :filter_date_during <> ''
      AND coalesce(nullif(:filter_date_before, ''), nullif(:filter_date_after, '')) IS NOT NULL
    THEN '''during'' cannot be combined with ''before'' or ''after'''
END AS error;
SELECT
  json_group_object(name, day) AS days,
  max(iif(
    day IS NULL,
    'invalid ''' || name || ''' date: unable to parse date: ' || given,
    NULL
  )) AS error
FROM (
  SELECT substr(key, 13) AS name, value AS given, slack_date(value, now()) AS day
  FROM json_each(:args)
  WHERE key IN ('filter_date_before', 'filter_date_after', 'filter_date_on', 'filter_date_during')
    AND value <> ''
);
SELECT '''after'' date is after ''before'' date' AS error
WHERE :days ->> 'after' > :days ->> 'before';
SELECT
  trim(
    ifnull(:search_query, '') || iif(:filter_threads_only, ' is:thread', '')
      || CASE
        WHEN :filter_in_channel <> ''
          THEN ' in:' || (
            SELECT id
            FROM named_channel
            WHERE user_id = :me AND trim(:filter_in_channel) IN (id, name)
          )
        ELSE ifnull(' in:' || (:people ->> 'filter_in_im_or_mpim'), '')
      END || ifnull(' with:' || (:people ->> 'filter_users_with'), '')
      || ifnull(' from:' || (:people ->> 'filter_users_from'), '')
      || ifnull((SELECT group_concat(' ' || key || ':' || value, '') FROM json_each(:days)), '')
  ) AS search,
  'score' AS sort,
  'desc' AS sort_dir,
  CASE WHEN ifnull(:cursor, '') = '' THEN 'page:1' ELSE unbase64(:cursor) END AS place,
  iif(ifnull(:limit, 0) < 1, 100, min(CAST(:limit AS INTEGER), 100)) AS n;
SELECT 'invalid cursor: ' || :cursor AS error
WHERE ifnull(:place NOT GLOB 'page:[1-9]*' OR substr(:place, 6) GLOB '*[^0-9]*', 1);
SELECT 'no_query' AS error WHERE :search = '';
-- include: search
SELECT (CAST(substr(:place, 6) AS INTEGER) - 1) * :n AS skip;
SELECT csv_row('UserID', 'UserName', 'RealName', 'Channel', 'ThreadTs', 'Text', 'Time', 'Cursor')
  || ifnull(group_concat(line, ''), '') AS result
FROM (
  SELECT csv_row(
    m.user_id,
    u.name,
    u.real_name,
    '#' || ifnull(c.name, k.raw ->> 'user'),
    m.thread_ts,
    slack_text(m.text),
    m.ts,
    iif(f.key = :skip + :n - 1 AND :total > :skip + :n, base64('page:' || (:skip / :n + 2)), '')
  ) AS line
  FROM json_each(:found) f
  JOIN message m ON m.id = f.value
  JOIN user u ON u.id = m.user_id
  JOIN channel c ON c.id = m.channel_id
  JOIN raw_channel k ON k.id = c.id
  WHERE f.key >= :skip AND f.key < :skip + :n
  ORDER BY f.key
);

-- name: channels_list
SELECT 'invalid_limit' AS error WHERE :limit < 0;
SELECT
  iif(ifnull(:limit, 0) = 0, 100, min(CAST(:limit AS INTEGER), 999)) AS n,
  ifnull(unbase64(:cursor), '') AS place,
  ifnull(nullif(:sort, ''), 'popularity') AS sort;
-- Types that there are not are no fault; without any the channels are meant.
SELECT ifnull(
  nullif(json_group_array(column1), '[]'),
  '["public_channel","private_channel"]'
) AS types
FROM (VALUES ('public_channel'), ('private_channel'), ('im'), ('mpim'))
WHERE instr(
  ',' || replace(ifnull(:channel_types, 'public_channel'), ' ', '') || ',',
  ',' || column1 || ','
)
  > 0;
SELECT json_group_array(id) AS page, count(*) AS n_page
FROM (
  SELECT id
  FROM named_channel
  WHERE user_id = (SELECT id FROM user WHERE rank = 1)
    AND kind IN (SELECT value FROM json_each(:types))
    AND id > :place
  ORDER BY id
  LIMIT :n + 1
);
SELECT iif(:n_page > :n, base64(:page ->> ('$[' || (:n - 1) || ']')), '') AS next;
SELECT csv_row('ID', 'Name', 'Topic', 'Purpose', 'MemberCount', 'Cursor')
  || ifnull(group_concat(line, ''), '') AS result
FROM (
  SELECT csv_row(
    id,
    name,
    '',
    purpose,
    n_members,
    iif(row_number() OVER w = min(:n, :n_page), :next, '')
  ) AS line
  FROM (
    SELECT c.*, p.key
    FROM json_each(:page) p
    JOIN named_channel c ON c.id = p.value
    WHERE c.user_id = (SELECT id FROM user WHERE rank = 1) AND p.key < :n
  ) WINDOW w AS (ORDER BY iif(:sort = 'popularity', -n_members, 0), key)
  ORDER BY row_number() OVER w
);
