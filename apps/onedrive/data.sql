-- "root" has the folders at the top of the drive. Besides what Klavis's format names, a body may
-- have "files", those at the top, and "shared_with_me" ([{"id", "name", "is_folder", "size",
-- "shared_by", "shared_date_time"}]); both are dumped when there are some. A folder that is there
-- already is the same folder, a file is replaced. Lost in a dump: times.

-- name: import
SELECT ifnull(max(n), 0) AS last FROM item;
SELECT 'shared_with_me/' || key || ': not a time: ' || (value ->> 'shared_date_time') AS error
FROM json_each(:args, '$.shared_with_me')
WHERE type = 'object'
  AND value ->> 'shared_date_time' IS NOT NULL
  AND time_read(value ->> 'shared_date_time', 'UTC') IS NULL
LIMIT 1;
-- Every folder and file of the body with its path.
WITH RECURSIVE folder (path, above, node, place) AS (
  SELECT lower('/' || (value ->> 'name')), '', value, printf('%06d', key)
  FROM json_each(:args, '$.root')
  WHERE type = 'object'
  UNION ALL
  SELECT
    lower(folder.path || '/' || (f.value ->> 'name')),
    folder.path,
    f.value,
    folder.place || printf('.%06d', f.key)
  FROM folder, json_each(folder.node, '$.folders') f
  WHERE f.type = 'object'
)
SELECT json_group_array(json_array(path, above, name, id, content)) AS nodes
FROM (
  SELECT
    path,
    above,
    node ->> 'name' AS name,
    nullif(node ->> 'id', '') AS id,
    NULL AS content,
    place
  FROM folder
  UNION ALL
  SELECT
    lower(folder.path || '/' || (f.value ->> 'name')),
    folder.path,
    f.value ->> 'name',
    nullif(f.value ->> 'id', ''),
    ifnull(f.value ->> 'content', ''),
    folder.place || printf('/%06d', f.key)
  FROM folder, json_each(folder.node, '$.files') f
  WHERE f.type = 'object'
  UNION ALL
  SELECT
    lower('/' || (value ->> 'name')),
    '',
    value ->> 'name',
    nullif(value ->> 'id', ''),
    ifnull(value ->> 'content', ''),
    printf('/%06d', key)
  FROM json_each(:args, '$.files')
  WHERE type = 'object'
  ORDER BY place
);
SELECT 'not a name: ' || (value ->> 2) AS error
FROM json_each(:nodes)
WHERE trim(value ->> 2) = '' OR value ->> 2 GLOB '*["*:<>?/\|]*'
LIMIT 1;
SELECT 'two items have the name ' || (value ->> 2) AS error
FROM json_each(:nodes)
GROUP BY value ->> 0
HAVING count(*) > 1 AND count(value ->> 4) > 0
LIMIT 1;
UPDATE item SET mark = lower((SELECT path FROM place WHERE place.n = item.n));
SELECT iif(content IS NULL, 'a folder', 'a file') || ' has the name already: ' || name AS error
FROM json_each(:nodes)
JOIN item ON mark = value ->> 0
WHERE (content IS NULL) <> (value ->> 4 IS NULL)
LIMIT 1;
UPDATE item
SET
  content = (
    SELECT value ->> 4
    FROM json_each(:nodes)
    WHERE value ->> 0 = item.mark
    ORDER BY key DESC
    LIMIT 1
  ),
  modified_s = now_ms() / 1000
WHERE content IS NOT NULL
  AND mark IN (SELECT value ->> 0 FROM json_each(:nodes) WHERE value ->> 4 IS NOT NULL);
INSERT INTO item (id, name, content, created_s, modified_s, mark, parent_mark)
SELECT
  iif(id IS NULL OR id IN (SELECT id FROM item) OR is_second, new_id('item'), id),
  name,
  content,
  now_ms() / 1000,
  now_ms() / 1000,
  path,
  above
FROM (
  SELECT
    key,
    value ->> 0 AS path,
    value ->> 1 AS above,
    value ->> 2 AS name,
    value ->> 3 AS id,
    value ->> 4 AS content,
    row_number() OVER (PARTITION BY value ->> 3 ORDER BY key) > 1 AS is_second,
    row_number() OVER (PARTITION BY value ->> 0 ORDER BY key) AS nth
  FROM json_each(:nodes)
)
WHERE nth = 1 AND path NOT IN (SELECT mark FROM item)
ORDER BY key;
UPDATE item
SET parent = (SELECT up.n FROM item up WHERE up.mark = item.parent_mark ORDER BY up.n LIMIT 1)
WHERE n > :last;
UPDATE item SET mark = NULL, parent_mark = NULL;
INSERT INTO shared_item (id, name, is_folder, size, shared_by, shared_s)
SELECT
  iif(
    value ->> 'id' IS NULL OR value ->> 'id' IN (SELECT id FROM shared_item),
    new_id('item'),
    value ->> 'id'
  ),
  value ->> 'name',
  ifnull(value ->> 'is_folder', 0),
  ifnull(value ->> 'size', 0),
  ifnull(value ->> 'shared_by', 'Someone'),
  ifnull(time_read(value ->> 'shared_date_time', 'UTC'), now_ms() / 1000)
FROM json_each(:args, '$.shared_with_me')
WHERE type = 'object' AND value ->> 'name' IS NOT NULL
ORDER BY key;
SELECT json_object('items', json_array_length(:nodes)) AS result;

-- name: export
-- Rows as a tree: files and folders of a folder are two lists.
SELECT json_group_array(drop_nulls(json_object(
  '_id', n || '',
  '_parent', parent || '',
  'id', id,
  'name', name,
  'files', (
    SELECT json_group_array(json_object('id', f.id, 'name', f.name, 'content', f.content))
    FROM (SELECT * FROM item c WHERE c.parent = item.n AND c.content IS NOT NULL ORDER BY c.n) f
    HAVING count(*) > 0
  )
))) AS folders
FROM (SELECT * FROM item WHERE content IS NULL ORDER BY n) item;
SELECT json_nest(:folders, '_id', '_parent', 'folders', 1) AS tree;
SELECT drop_nulls(json_object(
  'root', json(ifnull(:tree -> '$[0].folders', '[]')),
  'files', iif(json_array_length(:tree, '$[0].files') > 0, json(:tree -> '$[0].files'), NULL),
  'shared_with_me', (
    SELECT json_group_array(json_object(
      'id', id,
      'name', name,
      'is_folder', json(iif(is_folder, 'true', 'false')),
      'size', size,
      'shared_by', shared_by,
      'shared_date_time', time_write(shared_s, 'UTC', '%Y-%m-%dT%H:%M:%SZ')
    ))
    FROM (SELECT * FROM shared_item ORDER BY n)
    HAVING count(*) > 0
  )
)) AS result;
