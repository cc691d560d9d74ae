-- Besides what Klavis's format names, files may have "createdTime" and "modifiedTime" (RFC 3339),
-- "owner" (an address; of others: the file was shared), "starred" and "trashed"; they are dumped
-- when they were given. A parent is 'root', the id or the name of a folder or of a shared drive, or
-- 'folder/folder' where a name is not enough. Lost in a dump: ids, times that were not given (they
-- become the time of the import, an hour apart), and shared drives that tools made.

-- name: import
SELECT ifnull(max(n), 0) AS last FROM file;
SELECT ifnull(json_array_length(:args, '$.files'), 0) AS n_files;
SELECT 'files/' || key || ': not a time' AS error
FROM json_each(:args, '$.files')
WHERE type = 'object'
  AND (
    (value ->> 'createdTime' IS NOT NULL AND time_read(value ->> 'createdTime', 'UTC') IS NULL)
    OR (value ->> 'modifiedTime' IS NOT NULL AND time_read(value ->> 'modifiedTime', 'UTC') IS NULL)
  )
LIMIT 1;
INSERT INTO file
SELECT
  :last + 1 + key,
  new_id('file'),
  value ->> 'name',
  value ->> 'mimeType',
  value ->> 'description',
  ifnull(value ->> '$.parents[0]', 'root'),
  NULL,
  ifnull(value ->> 'owner', account.email),
  value ->> 'content',
  iif(
    value ->> 'mimeType' GLOB 'application/vnd.google-apps.*',
    NULL,
    length(CAST(ifnull(value ->> 'content', '') AS BLOB))
  ),
  coalesce(
    1000 * time_read(value ->> 'createdTime', 'UTC'),
    1000 * time_read(value ->> 'modifiedTime', 'UTC'),
    now_ms() - (:n_files - 1 - key) * 3600000
  ),
  coalesce(
    1000 * time_read(value ->> 'modifiedTime', 'UTC'),
    1000 * time_read(value ->> 'createdTime', 'UTC'),
    now_ms() - (:n_files - 1 - key) * 3600000
  ),
  iif(value ->> 'createdTime' IS NULL, '', 'c') || iif(value ->> 'modifiedTime' IS NULL, '', 'm'),
  ifnull(value ->> 'trashed', 0),
  ifnull(value ->> 'starred', 0),
  ifnull(value ->> 'owner', account.email) <> account.email
FROM json_each(:args, '$.files'), account
WHERE type = 'object';
-- Until here a parent is what the body says.
SELECT 'File not found: ' || parent || '.' AS error
FROM (
  SELECT
    f.parent,
    f.n,
    rtrim(rtrim(f.parent, replace(f.parent, '/', '')), '/') AS way,
    substr(f.parent, 1 + length(rtrim(f.parent, replace(f.parent, '/', '')))) AS leaf
  FROM file f
  WHERE f.n > :last
) x
WHERE NOT EXISTS (SELECT 1 FROM account WHERE x.parent IN ('root', root))
  AND NOT EXISTS (SELECT 1 FROM drive WHERE x.parent IN (id, name))
  AND NOT EXISTS (SELECT 1 FROM file WHERE id = x.parent)
  AND NOT EXISTS (
    SELECT 1
    FROM file p
    WHERE p.mime_type = 'application/vnd.google-apps.folder'
      AND p.n <> x.n
      AND (p.name = x.parent OR (p.name = x.leaf AND p.parent = x.way))
  )
LIMIT 1;
UPDATE file
SET parent = found.id
FROM (
  SELECT
    x.n,
    coalesce(
      (SELECT root FROM account WHERE x.parent IN ('root', root)),
      (SELECT id FROM file WHERE id = x.parent),
      (SELECT id FROM drive WHERE x.parent IN (id, name)),
      (
        SELECT p.id
        FROM file p
        WHERE p.mime_type = 'application/vnd.google-apps.folder'
          AND p.n <> x.n
          AND (p.name = x.parent OR (p.name = x.leaf AND p.parent = x.way))
        ORDER BY p.n <= :last, p.n
        LIMIT 1
      )
    ) AS id
  FROM (
    SELECT
      f.parent,
      f.n,
      rtrim(rtrim(f.parent, replace(f.parent, '/', '')), '/') AS way,
      substr(f.parent, 1 + length(rtrim(f.parent, replace(f.parent, '/', '')))) AS leaf
    FROM file f
    WHERE f.n > :last
  ) x
) found
WHERE file.n = found.n;
WITH RECURSIVE inside (id, drive) AS (
  SELECT file.id, drive.id FROM file JOIN drive ON file.parent = drive.id
  UNION
  SELECT file.id, inside.drive FROM file JOIN inside ON file.parent = inside.id
)
UPDATE file
SET drive_id = inside.drive
FROM inside
WHERE inside.id = file.id AND file.n > :last;
WITH RECURSIVE gone (id) AS (
  SELECT id FROM file WHERE trashed
  UNION
  SELECT file.id FROM file JOIN gone ON file.parent = gone.id
)
UPDATE file
SET trashed = 1
WHERE id IN (SELECT id FROM gone) AND NOT trashed;
INSERT INTO fts_file (rowid, name, content, description)
SELECT n, name, content, description
FROM file
WHERE n > :last;
SELECT json_object('files', :n_files) AS result;

-- name: export
WITH RECURSIVE folder (id, name, parent, is_unique) AS (
  SELECT
    id,
    name,
    parent,
    (
      SELECT count(*)
      FROM file o
      WHERE o.name = f.name AND o.mime_type = 'application/vnd.google-apps.folder'
    )
      = 1
      AND NOT EXISTS (SELECT 1 FROM drive WHERE drive.name = f.name)
  FROM file f
  WHERE mime_type = 'application/vnd.google-apps.folder'
),
label (id, label) AS (
  SELECT id, name FROM drive
  UNION
  SELECT folder.id, folder.name FROM folder JOIN account ON folder.parent = account.root
  UNION
  SELECT folder.id, iif(is_unique, folder.name, label.label || '/' || folder.name)
  FROM folder
  JOIN label ON folder.parent = label.id
)
SELECT json_object('files', json_group_array(json(item))) AS result
FROM (
  SELECT drop_nulls(json_object(
    'name', f.name,
    'mimeType', mime_type,
    'description', description,
    'parents', iif(
      f.parent = account.root,
      NULL,
      json_array(ifnull(
        (SELECT label FROM label WHERE label.id = f.parent),
        (SELECT p.name FROM file p WHERE p.id = f.parent)
      ))
    ),
    'content', content,
    'createdTime', iif(
      instr(given, 'c'),
      time_write(created_ms / 1000, 'UTC', '%Y-%m-%dT%H:%M:%SZ'),
      NULL
    ),
    'modifiedTime', iif(
      instr(given, 'm'),
      time_write(modified_ms / 1000, 'UTC', '%Y-%m-%dT%H:%M:%SZ'),
      NULL
    ),
    'owner', iif(owner = account.email, NULL, owner),
    'starred', iif(starred, json('true'), NULL),
    'trashed', iif(trashed, json('true'), NULL)
  )) AS item
  FROM file f, account
  ORDER BY f.n
);
