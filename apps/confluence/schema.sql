-- Confluence Cloud: one site, https://larkspur.atlassian.example/wiki.

-- ---- people ----

CREATE TABLE account (
  account_id TEXT PRIMARY KEY,
  display_name TEXT NOT NULL,
  email TEXT NOT NULL UNIQUE,
  login TEXT NOT NULL UNIQUE
);
INSERT INTO account VALUES
  ('5f1c9a3e7b2d4c0068a1e001', 'Maya Chen', 'maya.chen@larkspur.example', 'mchen'),
  ('5f1c9a3e7b2d4c0068a1e002', 'Tomás Rivera', 'tomas.rivera@larkspur.example', 'trivera'),
  ('5f1c9a3e7b2d4c0068a1e003', 'Aisha Okafor', 'aisha.okafor@larkspur.example', 'aokafor'),
  ('5f1c9a3e7b2d4c0068a1e004', 'Jonas Lindqvist', 'jonas.lindqvist@larkspur.example', 'jlindqvist'),
  ('5f1c9a3e7b2d4c0068a1e005', 'Priya Nair', 'priya.nair@larkspur.example', 'pnair'),
  ('5f1c9a3e7b2d4c0068a1e006', 'Daniel Kim', 'daniel.kim@larkspur.example', 'dkim'),
  ('5f1c9a3e7b2d4c0068a1e007', 'Sofia Marchetti', 'sofia.marchetti@larkspur.example', 'smarchetti'),
  ('5f1c9a3e7b2d4c0068a1e008', 'Ben Adeyemi', 'ben.adeyemi@larkspur.example', 'badeyemi'),
  ('5f1c9a3e7b2d4c0068a1e009', 'Hana Suzuki', 'hana.suzuki@larkspur.example', 'hsuzuki'),
  ('5f1c9a3e7b2d4c0068a1e00a', 'Oliver Grant', 'oliver.grant@larkspur.example', 'ogrant');

-- The account that the tools act as.
CREATE TABLE me (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  account_id TEXT NOT NULL REFERENCES account
);
INSERT INTO me VALUES (1, '5f1c9a3e7b2d4c0068a1e001');

-- ---- content ----

CREATE TABLE space (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  description TEXT,
  author_id TEXT NOT NULL REFERENCES account,
  created_at TEXT NOT NULL,
  is_private INTEGER NOT NULL
);

-- Every space has one page without a parent: its home page.
CREATE TABLE page (
  id INTEGER PRIMARY KEY,
  space_id INTEGER NOT NULL REFERENCES space,
  parent_id INTEGER REFERENCES page,
  title TEXT NOT NULL,
  content TEXT NOT NULL, -- storage format
  status TEXT NOT NULL CHECK (status IN ('current', 'draft')),
  is_private INTEGER NOT NULL,
  author_id TEXT NOT NULL REFERENCES account,
  created_at TEXT NOT NULL,
  is_dated INTEGER NOT NULL, -- created_at is a time of its own, not that of the import
  version INTEGER NOT NULL,
  message TEXT NOT NULL, -- of the version
  updated_at TEXT NOT NULL,
  updated_by TEXT NOT NULL REFERENCES account
);
CREATE INDEX page_space ON page (space_id);
CREATE INDEX page_parent ON page (parent_id);
CREATE INDEX page_title ON page (title COLLATE NOCASE);

CREATE TABLE comment (
  id INTEGER PRIMARY KEY,
  page_id INTEGER NOT NULL REFERENCES page,
  content TEXT NOT NULL,
  author_id TEXT NOT NULL REFERENCES account,
  created_at TEXT NOT NULL,
  is_dated INTEGER NOT NULL
);
CREATE INDEX comment_page ON comment (page_id);

CREATE TABLE attachment (
  id TEXT PRIMARY KEY,
  page_id INTEGER NOT NULL REFERENCES page,
  title TEXT NOT NULL,
  media_type TEXT NOT NULL,
  comment TEXT,
  file_id TEXT NOT NULL,
  file_size INTEGER NOT NULL,
  author_id TEXT NOT NULL REFERENCES account,
  created_at TEXT NOT NULL,
  is_dated INTEGER NOT NULL
);
CREATE INDEX attachment_page ON attachment (page_id);

-- Pages of a body that is imported; empty between calls. place: the path in it.
CREATE TABLE stage (
  page_id INTEGER PRIMARY KEY,
  space_id INTEGER NOT NULL,
  place TEXT NOT NULL,
  above TEXT,
  seed TEXT NOT NULL
);
CREATE INDEX stage_place ON stage (space_id, place);

-- ---- how things are shown ----

CREATE VIEW page_view AS
SELECT
  p.id,
  p.space_id,
  p.title,
  p.status,
  p.created_at,
  p.updated_at,
  drop_nulls(json_object(
    'id', CAST(p.id AS TEXT),
    'title', p.title,
    'status', p.status,
    'spaceId', CAST(p.space_id AS TEXT),
    'parentId', CAST(p.parent_id AS TEXT),
    'parentType', iif(p.parent_id IS NULL, NULL, 'page'),
    'position', (
      SELECT count(*)
      FROM page x
      WHERE x.parent_id IS p.parent_id AND x.space_id = p.space_id AND x.id < p.id
    ),
    'authorId', p.author_id,
    'ownerId', p.author_id,
    'createdAt', p.created_at,
    'body', json_object('storage', json_object('representation', 'storage', 'value', p.content)),
    'version', json_object(
      'number', p.version,
      'message', p.message,
      'createdAt', p.updated_at,
      'authorId', p.updated_by,
      'isMinorEdit', json('false')
    )
  )) AS json
FROM page p;

CREATE VIEW space_view AS
SELECT
  s.id,
  s.key,
  s.name,
  drop_nulls(json_object(
    'id', CAST(s.id AS TEXT),
    'key', s.key,
    'name', s.name,
    'type', 'global',
    'status', 'current',
    'authorId', s.author_id,
    'createdAt', s.created_at,
    'homepageId', (
      SELECT CAST(min(id) AS TEXT) FROM page WHERE space_id = s.id AND parent_id IS NULL
    ),
    'description', s.description
  )) AS json
FROM space s;

CREATE VIEW attachment_view AS
SELECT
  a.id,
  a.page_id,
  a.created_at,
  drop_nulls(json_object(
    'id', a.id,
    'title', a.title,
    'status', 'current',
    'mediaType', a.media_type,
    'mediaTypeDescription', CASE a.media_type
      WHEN 'application/pdf' THEN 'PDF Document'
      WHEN 'image/png' THEN 'PNG Image'
      WHEN 'text/csv' THEN 'CSV File'
      ELSE 'File'
    END,
    'comment', a.comment,
    'fileId', a.file_id,
    'fileSize', a.file_size,
    'pageId', CAST(a.page_id AS TEXT),
    'createdAt', a.created_at,
    'version', json_object(
      'number', 1,
      'message', '',
      'createdAt', a.created_at,
      'authorId', a.author_id,
      'isMinorEdit', json('false')
    )
  )) AS json
FROM attachment a;

-- What is searched.
CREATE VIEW content AS
SELECT
  id,
  'page' AS type,
  title,
  html_text(content) AS text,
  status,
  space_id,
  parent_id,
  author_id,
  created_at,
  updated_at
FROM page
WHERE status = 'current'
UNION ALL
SELECT
  c.id,
  'comment',
  'Re: ' || p.title,
  html_text(c.content),
  'current',
  p.space_id,
  p.id,
  c.author_id,
  c.created_at,
  c.created_at
FROM comment c
JOIN page p ON p.id = c.page_id
UNION ALL
SELECT
  a.id,
  'attachment',
  a.title,
  ifnull(a.comment, ''),
  'current',
  p.space_id,
  p.id,
  a.author_id,
  a.created_at,
  a.created_at
FROM attachment a
JOIN page p ON p.id = a.page_id;

-- A page as a dump has it, without its children.
CREATE VIEW page_dump AS
SELECT
  p.id,
  drop_nulls(json_object(
    'title', p.title,
    'content', p.content,
    'status', nullif(p.status, 'current'),
    'author', (
      SELECT email
      FROM account
      WHERE account_id = p.author_id AND account_id <> (SELECT account_id FROM me)
    ),
    'created', iif(p.is_dated, p.created_at, NULL),
    'updated', iif(p.updated_at <> p.created_at, p.updated_at, NULL),
    'comments', json((
      SELECT nullif(json_group_array(json(json)), '[]')
      FROM (
        SELECT drop_nulls(json_object(
          'content', c.content,
          'author', (
            SELECT email
            FROM account
            WHERE account_id = c.author_id AND account_id <> (SELECT account_id FROM me)
          ),
          'created', iif(c.is_dated, c.created_at, NULL)
        )) AS json
        FROM comment c
        WHERE c.page_id = p.id
        ORDER BY c.id
      )
    )),
    'attachments', json((
      SELECT nullif(json_group_array(json(json)), '[]')
      FROM (
        SELECT drop_nulls(json_object(
          'title', a.title,
          'media_type', a.media_type,
          'file_size', a.file_size,
          'comment', a.comment,
          'author', (
            SELECT email
            FROM account
            WHERE account_id = a.author_id AND account_id <> (SELECT account_id FROM me)
          ),
          'created', iif(a.is_dated, a.created_at, NULL)
        )) AS json
        FROM attachment a
        WHERE a.page_id = p.id
        ORDER BY a.id
      )
    ))
  )) AS json
FROM page p;
