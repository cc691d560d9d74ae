-- "folders" are paths, "files" have a path and their text; folders above them need not be named.
-- A file that is no text has a data: URI in base64 as its content. Besides what Klavis's format
-- names, a body may have "shared_folders" ([{"id", "path", "member_policy", "acl_update_policy",
-- "shared_link_policy", "members"}]), "file_members" ([{"path", "members"}], members are
-- [{"email", "access_level"}]), "shared_links" ([{"path", "url", "visibility", "password",
-- "expires"}]), "locked_files" (paths), "file_requests" ([{"id", "title", "destination",
-- "description", "is_open", "file_count"}]) and "received_files" ([{"id", "name", "shared_by",
-- "access_level", "invited"}]); they are dumped when there are some. A folder that is there already
-- is the same folder, a file is replaced. Lost in a dump: ids of files, times, earlier revisions,
-- what was deleted, jobs.

-- name: import
SELECT ifnull(max(nth), 0) AS last FROM revision;
-- Paths with what they hold; of files that are named twice the later one.
SELECT json_group_array(json_array(path, lower(path), content)) AS nodes
FROM (
  SELECT '/' || trim(value, '/') AS path, NULL AS content
  FROM json_each(:args, '$.folders')
  WHERE type = 'text' AND trim(value, '/') <> ''
  UNION ALL
  SELECT '/' || trim(value ->> 'path', '/'), ifnull(value ->> 'content', '')
  FROM json_each(:args, '$.files')
  WHERE type = 'object'
  UNION ALL
  SELECT '/' || trim(value ->> 'path', '/'), NULL
  FROM json_each(:args, '$.shared_folders')
  WHERE type = 'object'
);
SELECT 'not a path: ' || (value ->> 0) AS error
FROM json_each(:nodes)
WHERE value ->> 0 = '/' OR instr(value ->> 0, '//') > 0
LIMIT 1;
WITH RECURSIVE above (path) AS (
  SELECT iif(
    value ->> 2 IS NULL,
    value ->> 0,
    rtrim(rtrim(value ->> 0, replace(value ->> 0, '/', '')), '/')
  )
  FROM json_each(:nodes)
  UNION
  SELECT rtrim(rtrim(path, replace(path, '/', '')), '/') FROM above WHERE path <> ''
)
INSERT INTO entry (id, path, low)
SELECT new_id('entry'), path, lower(path)
FROM (
  SELECT min(path) AS path
  FROM above
  WHERE path <> '' AND lower(path) NOT IN (SELECT low FROM entry)
  GROUP BY lower(path)
  ORDER BY lower(path)
);
SELECT 'a file and a folder have the same path: ' || entry.path AS error
FROM json_each(:nodes)
JOIN entry ON low = value ->> 1
WHERE (value ->> 2 IS NULL) <> (rev IS NULL)
LIMIT 1;
INSERT INTO entry (id, path, low, rev)
SELECT new_id('entry'), path, low, ''
FROM (
  SELECT max(key) AS key, value ->> 0 AS path, value ->> 1 AS low
  FROM json_each(:nodes)
  WHERE value ->> 2 IS NOT NULL
  GROUP BY value ->> 1
)
WHERE low NOT IN (SELECT low FROM entry)
ORDER BY key;
SELECT 'a folder is a file already: ' || f.path AS error
FROM entry f
JOIN entry e ON e.up = f.low
WHERE f.rev IS NOT NULL
LIMIT 1;
INSERT INTO revision (rev, id, low, content, modified_s, nth)
SELECT
  new_id('rev'),
  e.id,
  e.low,
  content,
  now_ms() / 1000,
  :last + row_number() OVER (ORDER BY key)
FROM (
  SELECT max(key) AS key, value ->> 1 AS low, value ->> 2 AS content
  FROM json_each(:nodes)
  WHERE value ->> 2 IS NOT NULL
  GROUP BY value ->> 1
) f
JOIN entry e ON e.low = f.low;
UPDATE entry SET rev = r.rev FROM revision r WHERE r.id = entry.id AND r.nth > :last;
INSERT INTO shared_folder (id, entry, member_policy, acl_update_policy, shared_link_policy)
SELECT
  CASE
    WHEN value ->> 'id' IS NULL OR value ->> 'id' IN (SELECT id FROM shared_folder)
      THEN new_id('shared_folder')
    ELSE value ->> 'id'
  END,
  e.n,
  ifnull(value ->> 'member_policy', 'anyone'),
  ifnull(value ->> 'acl_update_policy', 'owner'),
  ifnull(value ->> 'shared_link_policy', 'anyone')
FROM json_each(:args, '$.shared_folders')
JOIN entry e ON e.low = lower('/' || trim(value ->> 'path', '/'))
WHERE type = 'object'
ORDER BY key
ON CONFLICT DO NOTHING;
INSERT INTO member (entry, email, access)
SELECT e.n, m.value ->> 'email', ifnull(m.value ->> 'access_level', 'viewer')
FROM (
  SELECT 0 AS list, key, value FROM json_each(:args, '$.shared_folders') WHERE type = 'object'
  UNION ALL
  SELECT 1, key, value FROM json_each(:args, '$.file_members') WHERE type = 'object'
) s
JOIN entry e ON e.low = lower('/' || trim(s.value ->> 'path', '/'))
JOIN json_each(s.value, '$.members') m
WHERE m.type = 'object' AND m.value ->> 'email' IS NOT NULL
ORDER BY s.list, s.key, m.key
ON CONFLICT (entry, email) DO UPDATE SET access = excluded.access;
INSERT INTO link (url, entry, visibility, password, expires)
SELECT
  ifnull(
    value ->> 'url',
    'https://www.dropbox.example/scl/fi/' || new_id('link') || '/' || replace(node.name, ' ', '-')
      || '?dl=0'
  ),
  node.n,
  ifnull(value ->> 'visibility', 'public'),
  value ->> 'password',
  value ->> 'expires'
FROM json_each(:args, '$.shared_links')
JOIN node ON node.low = lower('/' || trim(value ->> 'path', '/'))
WHERE type = 'object'
ORDER BY key
ON CONFLICT DO NOTHING;
UPDATE entry
SET locked_s = now_ms() / 1000
WHERE rev IS NOT NULL
  AND low IN (
    SELECT lower('/' || trim(value, '/'))
    FROM json_each(:args, '$.locked_files')
    WHERE type = 'text'
  );
INSERT INTO request (id, title, destination, description, is_open, file_count)
SELECT
  CASE
    WHEN value ->> 'id' IS NULL OR value ->> 'id' IN (SELECT id FROM request) THEN new_id('request')
    ELSE value ->> 'id'
  END,
  value ->> 'title',
  ifnull(value ->> 'destination', '/File requests'),
  value ->> 'description',
  ifnull(value ->> 'is_open', 1),
  ifnull(value ->> 'file_count', 0)
FROM json_each(:args, '$.file_requests')
WHERE type = 'object' AND value ->> 'title' IS NOT NULL
ORDER BY key
ON CONFLICT DO NOTHING;
SELECT 'received_files/' || key || ': not a time: ' || (value ->> 'invited') AS error
FROM json_each(:args, '$.received_files')
WHERE type = 'object'
  AND value ->> 'invited' IS NOT NULL
  AND time_read(value ->> 'invited', 'UTC') IS NULL
LIMIT 1;
INSERT INTO received (id, name, shared_by, access, invited_s)
SELECT
  CASE
    WHEN value ->> 'id' IS NULL OR value ->> 'id' IN (SELECT id FROM received) THEN new_id('entry')
    ELSE value ->> 'id'
  END,
  value ->> 'name',
  ifnull(value ->> 'shared_by', 'Someone'),
  ifnull(value ->> 'access_level', 'viewer'),
  ifnull(time_read(value ->> 'invited', 'UTC'), now_ms() / 1000)
FROM json_each(:args, '$.received_files')
WHERE type = 'object' AND value ->> 'name' IS NOT NULL
ORDER BY key
ON CONFLICT DO NOTHING;
SELECT json_object(
  'folders', ifnull(json_array_length(:args, '$.folders'), 0),
  'files', ifnull(json_array_length(:args, '$.files'), 0)
) AS result;

-- name: export
SELECT drop_nulls(json_object(
  'folders', (
    SELECT json_group_array(path) FROM (SELECT path FROM entry WHERE rev IS NULL ORDER BY low)
  ),
  'files', (
    SELECT json_group_array(json_object('path', path, 'content', content))
    FROM (SELECT path, content FROM node WHERE rev IS NOT NULL ORDER BY low)
  ),
  'shared_folders', (
    SELECT json_group_array(json_object(
      'id', id,
      'path', path,
      'member_policy', member_policy,
      'acl_update_policy', acl_update_policy,
      'shared_link_policy', shared_link_policy,
      'members', (
        SELECT json_group_array(json_object('email', email, 'access_level', access))
        FROM (SELECT email, access FROM member m WHERE m.entry = s.entry ORDER BY n)
      )
    ))
    FROM (SELECT s.*, e.path FROM shared_folder s JOIN entry e ON e.n = s.entry ORDER BY e.low) s
    HAVING count(*) > 0
  ),
  'file_members', (
    SELECT json_group_array(json_object('path', path, 'members', json(members)))
    FROM (
      SELECT
        e.path,
        json_group_array(json_object('email', m.email, 'access_level', m.access)) AS members
      FROM (SELECT * FROM member ORDER BY n) m
      JOIN entry e ON e.n = m.entry
      WHERE e.rev IS NOT NULL
      GROUP BY e.low
      ORDER BY e.low
    )
    HAVING count(*) > 0
  ),
  'shared_links', (
    SELECT json_group_array(json(drop_nulls(json_object(
      'path', path,
      'url', url,
      'visibility', visibility,
      'password', password,
      'expires', expires
    ))))
    FROM (SELECT l.*, e.path FROM link l JOIN entry e ON e.n = l.entry ORDER BY l.n)
    HAVING count(*) > 0
  ),
  'locked_files', (
    SELECT json_group_array(path)
    FROM (SELECT path FROM entry WHERE locked_s IS NOT NULL ORDER BY low)
    HAVING count(*) > 0
  ),
  'file_requests', (
    SELECT json_group_array(json(drop_nulls(json_object(
      'id', id,
      'title', title,
      'destination', destination,
      'description', description,
      'is_open', json(iif(is_open, 'true', 'false')),
      'file_count', file_count
    ))))
    FROM (SELECT * FROM request ORDER BY n)
    HAVING count(*) > 0
  ),
  'received_files', (
    SELECT json_group_array(json_object(
      'id', id,
      'name', name,
      'shared_by', shared_by,
      'access_level', access,
      'invited', time_write(invited_s, 'UTC', '%Y-%m-%dT%H:%M:%SZ')
    ))
    FROM (SELECT * FROM received ORDER BY n)
    HAVING count(*) > 0
  )
)) AS result;
