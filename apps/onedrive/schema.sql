-- A drive: folders and files below its root, and what others share. Names are unique in a folder,
-- without regard to case.

CREATE TABLE account (email TEXT PRIMARY KEY, name TEXT NOT NULL, drive TEXT NOT NULL);

CREATE TABLE item (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  parent INTEGER REFERENCES item (n) ON DELETE CASCADE, -- NULL: the root
  name TEXT NOT NULL COLLATE NOCASE,
  content TEXT, -- NULL: a folder
  created_s INTEGER NOT NULL,
  modified_s INTEGER NOT NULL,
  mark TEXT, -- during an import: the path, and that of the parent
  parent_mark TEXT,
  UNIQUE (parent, name)
);
CREATE INDEX item_mark ON item (mark);

-- What is in the drives of others.
CREATE TABLE shared_item (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  is_folder INTEGER NOT NULL,
  size INTEGER NOT NULL,
  shared_by TEXT NOT NULL,
  shared_s INTEGER NOT NULL
);

CREATE TABLE mime (extension TEXT PRIMARY KEY, type TEXT NOT NULL) WITHOUT ROWID;

-- Where every item is: the names above it, and what the kind of file is.
CREATE VIEW place AS
WITH RECURSIVE below (n, path) AS (
  SELECT n, '' FROM item WHERE parent IS NULL
  UNION ALL
  SELECT item.n, below.path || '/' || item.name FROM item JOIN below ON item.parent = below.n
)
SELECT
  below.n,
  below.path,
  ifnull((
    SELECT type
    FROM mime
    WHERE lower(item.name) LIKE '%.' || extension
    ORDER BY length(extension) DESC
    LIMIT 1
  ), 'application/octet-stream') AS mime
FROM below
JOIN item ON item.n = below.n;

CREATE VIEW entry AS
SELECT
  item.*,
  place.path,
  iif(item.content IS NULL, NULL, place.mime) AS mime,
  iif(
    item.content IS NULL,
    (
      WITH RECURSIVE inside (n) AS (
        SELECT item.n UNION ALL SELECT i.n FROM item i JOIN inside ON i.parent = inside.n
      )
      SELECT ifnull(sum(length(CAST(i.content AS BLOB))), 0)
      FROM inside
      JOIN item i ON i.n = inside.n
    ),
    length(CAST(item.content AS BLOB))
  ) AS size,
  iif(
    item.content IS NULL,
    (SELECT count(*) FROM item c WHERE c.parent = item.n),
    NULL
  ) AS n_children,
  above.id AS parent_id,
  iif(above.parent IS NULL, 'root', above.name) AS parent_name,
  '/drives/' || account.drive || '/root:'
    || substr(place.path, 1, length(place.path) - length(item.name) - 1) AS parent_path,
  account.drive,
  account.email,
  'https://larkspur-my.sharepoint.example/personal/maya_chen_larkspur_example' AS site
FROM item
JOIN place ON place.n = item.n
LEFT JOIN item above ON above.n = item.parent, account;

-- Items and folders as they are shown.
CREATE VIEW shown AS
SELECT
  n,
  name,
  parent,
  content IS NULL AS is_folder,
  drop_nulls(json_object(
    'itemId', id,
    'name', name,
    'size', size,
    'lastModified', time_write(modified_s, 'UTC', '%Y-%m-%dT%H:%M:%SZ'),
    'created', time_write(created_s, 'UTC', '%Y-%m-%dT%H:%M:%SZ'),
    'webUrl', site || '/Documents' || replace(path, ' ', '%20'),
    'downloadUrl', iif(content IS NULL, NULL, site || '/_layouts/15/download.aspx?UniqueId=' || id),
    'isFolder', json(iif(content IS NULL, 'true', 'false')),
    'isFile', json(iif(content IS NULL, 'false', 'true')),
    'parentId', parent_id,
    'parentPath', iif(parent IS NULL, NULL, parent_path),
    'parentName', iif(parent IS NULL, NULL, parent_name),
    'driveId', drive,
    'driveType', 'business',
    'mimeType', mime,
    'folderChildCount', n_children,
    'createdBy', email,
    'modifiedBy', email,
    'shared', json('false')
  )) AS item,
  json_object(
    'folderId', id,
    'name', name,
    'childCount', n_children,
    'lastModified', time_write(modified_s, 'UTC', '%Y-%m-%dT%H:%M:%SZ'),
    'created', time_write(created_s, 'UTC', '%Y-%m-%dT%H:%M:%SZ'),
    'webUrl', site || '/Documents' || replace(path, ' ', '%20'),
    'parentId', parent_id,
    'parentPath', parent_path,
    'parentName', parent_name,
    'driveId', drive,
    'driveType', 'business',
    'size', size,
    'createdBy', email,
    'modifiedBy', email,
    'shared', json('false')
  ) AS folder
FROM entry;

-- What an account has before its first file.

INSERT INTO account VALUES (
  'maya.chen@larkspur.example', 'Maya Chen', 'b!LarkspurRoboticsMayaChenDrive0000000000'
);
INSERT INTO item (n, id, name, created_s, modified_s) VALUES (
  1, '01LRKSPRROOT000000000000000000ROOT', 'root', 1735725600, 1735725600
);

INSERT INTO mime VALUES
  ('txt', 'text/plain'),
  ('md', 'text/markdown'),
  ('csv', 'text/csv'),
  ('html', 'text/html'),
  ('htm', 'text/html'),
  ('css', 'text/css'),
  ('xml', 'text/xml'),
  ('log', 'text/plain'),
  ('json', 'application/json'),
  ('yaml', 'application/x-yaml'),
  ('yml', 'application/x-yaml'),
  ('js', 'text/javascript'),
  ('py', 'text/x-python'),
  ('sql', 'application/sql'),
  ('pdf', 'application/pdf'),
  ('zip', 'application/zip'),
  ('png', 'image/png'),
  ('jpg', 'image/jpeg'),
  ('jpeg', 'image/jpeg'),
  ('gif', 'image/gif'),
  ('svg', 'image/svg+xml'),
  ('mp4', 'video/mp4'),
  ('mp3', 'audio/mpeg'),
  ('doc', 'application/msword'),
  ('docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'),
  ('xls', 'application/vnd.ms-excel'),
  ('xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'),
  ('ppt', 'application/vnd.ms-powerpoint'),
  ('pptx', 'application/vnd.openxmlformats-officedocument.presentationml.presentation');
