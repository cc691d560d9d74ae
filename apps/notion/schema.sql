-- The people of the workspace, and the integration that the tools act as.
CREATE TABLE user (id TEXT PRIMARY KEY, type TEXT NOT NULL, name TEXT NOT NULL, email TEXT);
INSERT INTO user VALUES
  ('6b1f2c3d-1000-4a01-8a01-000000000001', 'person', 'Maya Chen', 'maya.chen@larkspur.example'),
  (
    '6b1f2c3d-1000-4a01-8a01-000000000002', 'person', 'Tomás Rivera',
    'tomas.rivera@larkspur.example'
  ),
  (
    '6b1f2c3d-1000-4a01-8a01-000000000003', 'person', 'Aisha Okafor',
    'aisha.okafor@larkspur.example'
  ),
  (
    '6b1f2c3d-1000-4a01-8a01-000000000004', 'person', 'Jonas Lindqvist',
    'jonas.lindqvist@larkspur.example'
  ),
  ('6b1f2c3d-1000-4a01-8a01-000000000005', 'person', 'Priya Nair', 'priya.nair@larkspur.example'),
  ('6b1f2c3d-1000-4a01-8a01-000000000006', 'person', 'Daniel Kim', 'daniel.kim@larkspur.example'),
  (
    '6b1f2c3d-1000-4a01-8a01-000000000007', 'person', 'Sofia Marchetti',
    'sofia.marchetti@larkspur.example'
  ),
  ('6b1f2c3d-1000-4a01-8a01-000000000008', 'person', 'Ben Adeyemi', 'ben.adeyemi@larkspur.example'),
  ('6b1f2c3d-1000-4a01-8a01-000000000009', 'person', 'Hana Suzuki', 'hana.suzuki@larkspur.example'),
  (
    '6b1f2c3d-1000-4a01-8a01-000000000010', 'person', 'Oliver Grant',
    'oliver.grant@larkspur.example'
  ),
  ('6b1f2c3d-1000-4a01-8a01-0000000000ff', 'bot', 'Larkspur Assistant', NULL);

-- parent_type: workspace, page_id, block_id or database_id. pos: among the children of the parent,
-- of whichever table they are. properties, icon, cover, title, description, data: JSON.
CREATE TABLE page (
  id TEXT PRIMARY KEY,
  parent_type TEXT NOT NULL,
  parent_id TEXT,
  pos REAL NOT NULL,
  properties TEXT NOT NULL, -- values by the ids of the properties
  icon TEXT,
  cover TEXT,
  created TEXT NOT NULL,
  edited TEXT NOT NULL,
  created_by TEXT NOT NULL,
  edited_by TEXT NOT NULL,
  is_archived INTEGER NOT NULL
);
CREATE INDEX page_parent ON page (parent_id, pos);

CREATE TABLE database (
  id TEXT PRIMARY KEY,
  parent_type TEXT NOT NULL,
  parent_id TEXT,
  pos REAL NOT NULL,
  title TEXT NOT NULL,
  description TEXT NOT NULL,
  properties TEXT NOT NULL, -- by their names
  icon TEXT,
  cover TEXT,
  created TEXT NOT NULL,
  edited TEXT NOT NULL,
  created_by TEXT NOT NULL,
  edited_by TEXT NOT NULL,
  is_archived INTEGER NOT NULL,
  -- Of the seed format, where a database is a group of sources.
  grp INTEGER NOT NULL,
  label TEXT,
  summary TEXT
);
CREATE INDEX database_parent ON database (parent_id, pos);

CREATE TABLE block (
  id TEXT PRIMARY KEY,
  parent_type TEXT NOT NULL,
  parent_id TEXT NOT NULL,
  pos REAL NOT NULL,
  type TEXT NOT NULL,
  data TEXT NOT NULL,
  created TEXT NOT NULL,
  edited TEXT NOT NULL,
  created_by TEXT NOT NULL,
  edited_by TEXT NOT NULL,
  is_archived INTEGER NOT NULL
);
CREATE INDEX block_parent ON block (parent_id, pos);

CREATE TABLE comment (
  id TEXT PRIMARY KEY,
  parent_type TEXT NOT NULL,
  parent_id TEXT NOT NULL,
  discussion_id TEXT NOT NULL,
  rich_text TEXT NOT NULL,
  created TEXT NOT NULL,
  created_by TEXT NOT NULL
);
CREATE INDEX comment_parent ON comment (parent_id);
CREATE INDEX comment_discussion ON comment (discussion_id);

-- Who the tools are; what a failure leaves of the answers, since the server shows only the members
-- that it knows; the properties of a page outside of databases.
CREATE VIEW self AS
SELECT
  '6b1f2c3d-1000-4a01-8a01-0000000000ff' AS bot,
  '6b1f2c3d-1000-4a01-8a01-000000000001' AS owner,
  '{}' AS failed,
  '{' || char(10) || '  "blockType": "api_error"' || char(10) || '}' AS failed_block,
  '{' || char(10) || '  "userType": "api_error"' || char(10) || '}' AS failed_user,
  '{' || char(10) || '  "propertyType": "api_error"' || char(10) || '}' AS failed_property,
  '{' || char(10) || '  "error": "Notion API error: %",' || char(10) || '  "type": "api_error"'
    || char(10) || '}' AS failed_search,
  '{"title":{"id":"title","name":"title","type":"title","title":{}}}' AS plain_schema;

-- Pages with what they need to be shown.
CREATE VIEW page_full AS
SELECT
  p.*,
  notion_plain(p.properties -> '$.title.title') AS title,
  iif(
    p.parent_type = 'workspace',
    '{"type":"workspace","workspace":true}',
    json_object('type', p.parent_type, p.parent_type, p.parent_id)
  ) AS parent,
  ifnull(d.properties, (SELECT plain_schema FROM self)) AS schema,
  json_object(
    'created_time', p.created,
    'last_edited_time', p.edited,
    'created_by', p.created_by,
    'last_edited_by', p.edited_by
  ) AS about
FROM page p
LEFT JOIN database d ON p.parent_type = 'database_id' AND d.id = p.parent_id;

CREATE VIEW page_json AS
SELECT
  id,
  drop_nulls(json_object(
    'pageId', id,
    'objectType', 'page',
    'createdAt', created,
    'lastEditedAt', edited,
    'createdBy', created_by,
    'lastEditedBy', edited_by,
    'coverImage', json(cover),
    'iconData', json(icon),
    'parentInfo', json(parent),
    'isArchived', json(iif(is_archived, 'true', 'false')),
    'isInTrash', json(iif(is_archived, 'true', 'false')),
    'pageProperties', notion_show(schema, properties, about, NULL),
    'urlPath', 'https://www.notion.example/' || replace(id, '-', '')
  )) AS json
FROM page_full;

CREATE VIEW database_json AS
SELECT
  id,
  drop_nulls(json_object(
    'databaseId', id,
    'objectType', 'database',
    'createdAt', created,
    'lastEditedAt', edited,
    'createdBy', created_by,
    'lastEditedBy', edited_by,
    'titleData', json(title),
    'descriptionData', json(description),
    'iconData', json(icon),
    'coverImage', json(cover),
    'databaseProperties', json(properties),
    'parentInfo', json(iif(
      parent_type = 'workspace',
      '{"type":"workspace","workspace":true}',
      json_object('type', parent_type, parent_type, parent_id)
    )),
    'urlPath', 'https://www.notion.example/' || replace(id, '-', ''),
    'isArchived', json(iif(is_archived, 'true', 'false')),
    'isInline', json('false')
  )) AS json
FROM database;

-- All that is a block: pages and databases are, too.
CREATE VIEW node AS
SELECT
  id, parent_type, parent_id, pos, type, data, created, edited, created_by, edited_by, is_archived
FROM block
UNION ALL
SELECT
  id,
  parent_type,
  parent_id,
  pos,
  'child_page',
  json_object('title', notion_plain(properties -> '$.title.title')),
  created,
  edited,
  created_by,
  edited_by,
  is_archived
FROM page
UNION ALL
SELECT
  id,
  parent_type,
  parent_id,
  pos,
  'child_database',
  json_object('title', notion_plain(title)),
  created,
  edited,
  created_by,
  edited_by,
  is_archived
FROM database;

CREATE VIEW node_full AS
SELECT
  node.*,
  iif(
    parent_type = 'workspace',
    '{"type":"workspace","workspace":true}',
    json_object('type', parent_type, parent_type, parent_id)
  ) AS parent,
  iif(
    type <> 'child_database'
      AND (
        EXISTS (SELECT 1 FROM block c WHERE c.parent_id = node.id AND NOT c.is_archived)
        OR EXISTS (SELECT 1 FROM page c WHERE c.parent_id = node.id AND NOT c.is_archived)
        OR EXISTS (SELECT 1 FROM database c WHERE c.parent_id = node.id AND NOT c.is_archived)
      ),
    'true',
    'false'
  ) AS has_children
FROM node;

CREATE VIEW block_json AS
SELECT
  id,
  json_object(
    'blockId', id,
    'objectType', 'block',
    'parentInfo', json(parent),
    'createdAt', created,
    'lastEditedAt', edited,
    'createdBy', created_by,
    'lastEditedBy', edited_by,
    'hasChildren', json(has_children),
    'isArchived', json(iif(is_archived, 'true', 'false')),
    'isInTrash', json(iif(is_archived, 'true', 'false')),
    'blockType', type,
    type || 'Data', json(data)
  ) AS json
FROM node_full;

CREATE VIEW comment_json AS
SELECT
  id,
  json_object(
    'commentId', id,
    'objectType', 'comment',
    'parentInfo', json_object('type', parent_type, parent_type, parent_id),
    'discussionId', discussion_id,
    'createdAt', created,
    'lastEditedAt', created,
    'createdBy', created_by,
    'richTextContent', json(rich_text)
  ) AS json
FROM comment;

CREATE VIEW user_json AS
SELECT
  id,
  name,
  type,
  iif(
    type = 'person',
    json_object(
      'userId', id,
      'objectType', 'user',
      'userType', type,
      'displayName', name,
      'personEmail', email
    ),
    json_object(
      'userId', id,
      'objectType', 'user',
      'userType', type,
      'displayName', name,
      'botOwner', (
        SELECT json_object(
          'type', 'user',
          'user', json_object(
            'object', 'user',
            'id', o.id,
            'name', o.name,
            'avatar_url', NULL,
            'type', 'person',
            'person', json_object('email', o.email)
          )
        )
        FROM user o, self
        WHERE o.id = self.owner
      ),
      'botWorkspaceName', 'Larkspur Robotics'
    )
  ) AS json
FROM user;

-- ---- as the API shows them, for the tools of benchmarks ----

CREATE VIEW user_object AS
SELECT
  id,
  json_object(
    'object', 'user',
    'id', id,
    'name', name,
    'avatar_url', NULL,
    'type', type,
    type, iif(
      type = 'person',
      json_object('email', email),
      json_object(
        'owner', json_object('type', 'workspace', 'workspace', json('true')),
        'workspace_name', 'Larkspur Robotics'
      )
    )
  ) AS json
FROM user;

-- Properties that are people have all of them that the API knows.
CREATE VIEW page_object AS
SELECT
  id,
  json_object(
    'object', 'page',
    'id', id,
    'created_time', created,
    'last_edited_time', edited,
    'created_by', json_object('object', 'user', 'id', created_by),
    'last_edited_by', json_object('object', 'user', 'id', edited_by),
    'cover', json(cover),
    'icon', json(icon),
    'parent', json(parent),
    'archived', json(iif(is_archived, 'true', 'false')),
    'in_trash', json(iif(is_archived, 'true', 'false')),
    'properties', (
      SELECT json_group_object(s.key, json(CASE s.value ->> 'type'
        WHEN 'people'
          THEN json_set(
            s.value,
            '$.people', json((
              SELECT json_group_array(json(u.json))
              FROM json_each(s.value, '$.people') e
              CROSS JOIN user_object u ON u.id = e.value ->> 'id'
            ))
          )
        WHEN 'relation' THEN json_set(s.value, '$.has_more', json('false'))
        ELSE s.value
      END))
      FROM json_each(notion_show(schema, properties, about, NULL)) s
    ),
    'url', 'https://www.notion.example/' || replace(id, '-', ''),
    'public_url', NULL
  ) AS json
FROM page_full;

CREATE VIEW database_object AS
SELECT
  id,
  json_object(
    'object', 'database',
    'id', id,
    'cover', json(cover),
    'icon', json(icon),
    'created_time', created,
    'created_by', json_object('object', 'user', 'id', created_by),
    'last_edited_by', json_object('object', 'user', 'id', edited_by),
    'last_edited_time', edited,
    'title', json(title),
    'description', json(description),
    'is_inline', json('false'),
    'properties', json(properties),
    'parent', json(iif(
      parent_type = 'workspace',
      '{"type":"workspace","workspace":true}',
      json_object('type', parent_type, parent_type, parent_id)
    )),
    'url', 'https://www.notion.example/' || replace(id, '-', ''),
    'public_url', NULL,
    'archived', json(iif(is_archived, 'true', 'false')),
    'in_trash', json(iif(is_archived, 'true', 'false'))
  ) AS json
FROM database;

CREATE VIEW block_object AS
SELECT
  id,
  json_object(
    'object', 'block',
    'id', id,
    'parent', json(parent),
    'created_time', created,
    'last_edited_time', edited,
    'created_by', json_object('object', 'user', 'id', created_by),
    'last_edited_by', json_object('object', 'user', 'id', edited_by),
    'has_children', json(has_children),
    'archived', json(iif(is_archived, 'true', 'false')),
    'in_trash', json(iif(is_archived, 'true', 'false')),
    'type', type,
    type, json(data)
  ) AS json
FROM node_full;

CREATE VIEW comment_object AS
SELECT
  id,
  json_object(
    'object', 'comment',
    'id', id,
    'parent', json_object('type', parent_type, parent_type, parent_id),
    'discussion_id', discussion_id,
    'created_time', created,
    'last_edited_time', created,
    'created_by', json_object('object', 'user', 'id', created_by),
    'rich_text', json(rich_text)
  ) AS json
FROM comment;

-- By the type that lists say they are of.
CREATE VIEW object AS
SELECT 'user' AS type, id, json FROM user_object
UNION ALL
SELECT 'page_or_database', id, json FROM page_object
UNION ALL
SELECT 'page_or_database', id, json FROM database_object
UNION ALL
SELECT 'block', id, json FROM block_object
UNION ALL
SELECT 'comment', id, json FROM comment_object;
