-- Files and folders by their paths, without regard to case; what was written to files over time;
-- and who else has them.

CREATE TABLE account (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL,
  given TEXT NOT NULL,
  surname TEXT NOT NULL,
  team_id TEXT NOT NULL,
  team TEXT NOT NULL,
  member_id TEXT NOT NULL,
  namespace TEXT NOT NULL
);

CREATE TABLE entry (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  path TEXT NOT NULL,
  low TEXT NOT NULL UNIQUE, -- the path in lower case
  up TEXT AS (rtrim(rtrim(low, replace(low, '/', '')), '/')), -- of the folder above, '' the top
  rev TEXT, -- NULL: a folder
  locked_s INTEGER
);
CREATE INDEX entry_up ON entry (up);

CREATE TABLE revision (
  rev TEXT PRIMARY KEY,
  id TEXT NOT NULL, -- of the file
  low TEXT NOT NULL, -- where the file was then
  content TEXT NOT NULL, -- a data: URI in base64 when it is no text
  modified_s INTEGER NOT NULL,
  nth INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX revision_id ON revision (id);
CREATE INDEX revision_low ON revision (low);

-- Where something was, and is not any more.
CREATE TABLE deleted (low TEXT PRIMARY KEY, path TEXT NOT NULL) WITHOUT ROWID;
CREATE TRIGGER entry_made AFTER INSERT ON entry BEGIN
  DELETE FROM deleted WHERE low = NEW.low;
END;
CREATE TRIGGER entry_gone AFTER DELETE ON entry BEGIN
  INSERT OR REPLACE INTO deleted VALUES (OLD.low, OLD.path);
END;
CREATE TRIGGER entry_moved AFTER UPDATE OF low ON entry WHEN NEW.low <> OLD.low BEGIN
  INSERT OR REPLACE INTO deleted VALUES (OLD.low, OLD.path);
  DELETE FROM deleted WHERE low = NEW.low;
END;

CREATE TABLE shared_folder (
  id TEXT PRIMARY KEY,
  entry INTEGER NOT NULL UNIQUE REFERENCES entry (n) ON DELETE CASCADE,
  member_policy TEXT NOT NULL,
  acl_update_policy TEXT NOT NULL,
  shared_link_policy TEXT NOT NULL
);

-- Of a file or a shared folder, besides the owner.
CREATE TABLE member (
  n INTEGER PRIMARY KEY,
  entry INTEGER NOT NULL REFERENCES entry (n) ON DELETE CASCADE,
  email TEXT NOT NULL COLLATE NOCASE,
  access TEXT NOT NULL,
  UNIQUE (entry, email)
);

CREATE TABLE link (
  n INTEGER PRIMARY KEY,
  url TEXT NOT NULL UNIQUE,
  entry INTEGER NOT NULL UNIQUE REFERENCES entry (n) ON DELETE CASCADE,
  visibility TEXT NOT NULL,
  password TEXT,
  expires TEXT
);

CREATE TABLE request (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  title TEXT NOT NULL,
  destination TEXT NOT NULL,
  description TEXT,
  is_open INTEGER NOT NULL,
  file_count INTEGER NOT NULL
);

-- What others share.
CREATE TABLE received (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  shared_by TEXT NOT NULL,
  access TEXT NOT NULL,
  invited_s INTEGER NOT NULL
);

-- What has been done in the background: of which kind, and what there is to tell.
CREATE TABLE job (id TEXT PRIMARY KEY, kind TEXT NOT NULL, tale TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE mime (extension TEXT PRIMARY KEY, type TEXT NOT NULL) WITHOUT ROWID;

-- What is in a file: text, or the bytes of a data: URI when they are no text.
CREATE VIEW version AS
SELECT
  r.*,
  iif(is_binary, data_uri(content), content) AS bytes,
  length(CAST(iif(is_binary, data_uri(content), content) AS BLOB)) AS size
FROM (
  SELECT
    revision.*,
    content LIKE 'data:%;base64,%' AND typeof(data_uri(content)) = 'blob' AS is_binary
  FROM revision
) r;

CREATE VIEW node AS
SELECT
  e.n,
  e.id,
  e.path,
  e.low,
  e.up,
  e.rev,
  e.locked_s,
  r.content,
  r.bytes,
  r.is_binary,
  r.size,
  substr(e.path, length(rtrim(e.path, replace(e.path, '/', ''))) + 1) AS name,
  time_write(r.modified_s, 'UTC', '%Y-%m-%dT%H:%M:%SZ') AS modified
FROM entry e
LEFT JOIN version r ON r.rev = e.rev;

-- Lines of lists, with what was deleted.
CREATE VIEW listing AS
SELECT
  low,
  up,
  0 AS is_deleted,
  name,
  iif(is_binary, '', content) AS content,
  iif(
    rev IS NULL,
    'Folder: ' || name || ' (' || path || ')',
    'File: ' || name || ' (' || path || ') - Size: ' || size || ' bytes'
  ) AS found,
  ifnull(', Modified: ' || modified, '') AS behind
FROM node
UNION ALL
SELECT
  low,
  rtrim(rtrim(low, replace(low, '/', '')), '/'),
  1,
  substr(path, length(rtrim(path, replace(path, '/', ''))) + 1),
  NULL,
  'deleted: ' || substr(path, length(rtrim(path, replace(path, '/', ''))) + 1) || ' (' || path
    || ')',
  ''
FROM deleted;

-- Who has a file or folder: by itself, or by a shared folder above it.
CREATE VIEW access AS
SELECT e.n AS entry, account.email, 'owner' AS access, 0 AS is_inherited, 0 AS place
FROM entry e, account
UNION ALL
SELECT entry, email, access, 0, n FROM member
UNION ALL
SELECT e.n, m.email, m.access, 1, m.n
FROM entry e
JOIN entry f ON e.low > f.low || '/' AND e.low < f.low || '0'
JOIN shared_folder s ON s.entry = f.n
JOIN member m ON m.entry = f.n
WHERE NOT EXISTS (SELECT 1 FROM member own WHERE own.entry = e.n AND own.email = m.email);

-- What an account has before its first file.

INSERT INTO account VALUES (
  'dbid:AAB4larkspurMayaChen0000000000000000000', 'maya.chen@larkspur.example', 'Maya', 'Chen',
  'dbtid:AACLarkspurRobotics00000000000000000000', 'Larkspur Robotics',
  'dbmid:AACMayaChenLarkspur000000000000000000', '3410225'
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
  ('yaml', 'text/yaml'),
  ('yml', 'text/yaml'),
  ('js', 'text/javascript'),
  ('pdf', 'application/pdf'),
  ('zip', 'application/zip'),
  ('png', 'image/png'),
  ('jpg', 'image/jpeg'),
  ('jpeg', 'image/jpeg'),
  ('gif', 'image/gif'),
  ('webp', 'image/webp'),
  ('bmp', 'image/bmp'),
  ('tif', 'image/tiff'),
  ('tiff', 'image/tiff'),
  ('svg', 'image/svg+xml'),
  ('mp4', 'video/mp4'),
  ('mp3', 'audio/mpeg'),
  ('wav', 'audio/wav'),
  ('doc', 'application/msword'),
  ('docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'),
  ('xls', 'application/vnd.ms-excel'),
  ('xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'),
  ('ppt', 'application/vnd.ms-powerpoint'),
  ('pptx', 'application/vnd.openxmlformats-officedocument.presentationml.presentation');
