-- What the account has before any content: its base, its people, and the types of fields.
CREATE TABLE base (id TEXT PRIMARY KEY, name TEXT NOT NULL, permission TEXT NOT NULL);
INSERT INTO base VALUES ('appLarkspurOps001', 'Larkspur Operations', 'create');

CREATE TABLE collaborator (id TEXT PRIMARY KEY, email TEXT NOT NULL UNIQUE, name TEXT NOT NULL);
INSERT INTO collaborator VALUES
  ('usrMayaChen000001', 'maya.chen@larkspur.example', 'Maya Chen'),
  ('usrTomasRivera001', 'tomas.rivera@larkspur.example', 'Tomás Rivera'),
  ('usrAishaOkafor001', 'aisha.okafor@larkspur.example', 'Aisha Okafor'),
  ('usrJonasLindqv001', 'jonas.lindqvist@larkspur.example', 'Jonas Lindqvist'),
  ('usrPriyaNair00001', 'priya.nair@larkspur.example', 'Priya Nair'),
  ('usrDanielKim00001', 'daniel.kim@larkspur.example', 'Daniel Kim'),
  ('usrSofiaMarche001', 'sofia.marchetti@larkspur.example', 'Sofia Marchetti'),
  ('usrBenAdeyemi0001', 'ben.adeyemi@larkspur.example', 'Ben Adeyemi'),
  ('usrHanaSuzuki0001', 'hana.suzuki@larkspur.example', 'Hana Suzuki'),
  ('usrOliverGrant001', 'oliver.grant@larkspur.example', 'Oliver Grant');

-- shape: what a cell holds (see airtable_cell), NULL where Airtable computes it.
-- needs: the option without which a field of the type cannot be made.
CREATE TABLE field_type (type TEXT PRIMARY KEY, shape TEXT, needs TEXT);
INSERT INTO field_type VALUES
  ('singleLineText', 'text', NULL),
  ('multilineText', 'text', NULL),
  ('richText', 'text', NULL),
  ('email', 'text', NULL),
  ('url', 'text', NULL),
  ('phoneNumber', 'text', NULL),
  ('number', 'number', 'precision'),
  ('currency', 'number', 'precision'),
  ('percent', 'number', 'precision'),
  ('duration', 'number', 'durationFormat'),
  ('rating', 'rating', 'max'),
  ('checkbox', 'bool', NULL),
  ('singleSelect', 'choice', 'choices'),
  ('multipleSelects', 'choices', 'choices'),
  ('date', 'date', 'dateFormat'),
  ('dateTime', 'datetime', 'timeZone'),
  ('multipleRecordLinks', 'links', 'linkedTableId'),
  ('multipleAttachments', 'attachments', NULL),
  ('singleCollaborator', 'user', NULL),
  ('multipleCollaborators', 'users', NULL),
  ('barcode', 'barcode', NULL),
  ('formula', NULL, NULL),
  ('rollup', NULL, NULL),
  ('count', NULL, NULL),
  ('multipleLookupValues', NULL, NULL),
  ('createdTime', NULL, NULL),
  ('lastModifiedTime', NULL, NULL),
  ('createdBy', NULL, NULL),
  ('lastModifiedBy', NULL, NULL),
  ('autoNumber', NULL, NULL),
  ('button', NULL, NULL),
  ('aiText', NULL, NULL),
  ('externalSyncSource', NULL, NULL);

CREATE TABLE tables (
  id TEXT PRIMARY KEY,
  base_id TEXT NOT NULL REFERENCES base (id),
  name TEXT NOT NULL,
  description TEXT,
  primary_field TEXT,
  pos INTEGER NOT NULL
);
CREATE UNIQUE INDEX tables_name ON tables (base_id, name COLLATE NOCASE);

CREATE TABLE field (
  id TEXT PRIMARY KEY,
  table_id TEXT NOT NULL REFERENCES tables (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  type TEXT NOT NULL,
  description TEXT,
  options TEXT, -- JSON
  pos INTEGER NOT NULL
);
CREATE UNIQUE INDEX field_name ON field (table_id, name);

CREATE TABLE grid (
  id TEXT PRIMARY KEY,
  table_id TEXT NOT NULL REFERENCES tables (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  type TEXT NOT NULL
);
CREATE INDEX grid_table ON grid (table_id);

-- data: JSON, cells by the ids of their fields; empty cells are not in it.
CREATE TABLE record (
  id TEXT PRIMARY KEY,
  table_id TEXT NOT NULL REFERENCES tables (id) ON DELETE CASCADE,
  pos INTEGER NOT NULL,
  created TEXT NOT NULL,
  modified TEXT NOT NULL,
  data TEXT NOT NULL
);
CREATE UNIQUE INDEX record_pos ON record (table_id, pos);

-- Cells as the API shows them, JSON; those that are calculated, too.
CREATE VIEW cell AS
SELECT
  r.id AS record_id,
  f.id AS field_id,
  f.name,
  f.pos,
  CASE f.type
    WHEN 'createdTime' THEN json_quote(r.created)
    WHEN 'lastModifiedTime' THEN json_quote(r.modified)
    WHEN 'autoNumber' THEN json_quote(r.pos)
    WHEN 'count'
      THEN json_quote(ifnull(
        json_array_length(r.data, '$.' || (f.options ->> 'recordLinkFieldId')),
        0
      ))
    ELSE r.data -> ('$.' || f.id)
  END AS value
FROM record r
JOIN field f ON f.table_id = r.table_id;

-- What is said of a base, a table or a field that there is not.
CREATE VIEW denied AS
SELECT 'Invalid permissions, or the requested model was not found. Check that both '
  || 'your user and your token have the required permissions, and that the '
  || 'model names and/or ids are correct.' AS message;

CREATE VIEW forbidden AS
SELECT airtable_error(403, 'INVALID_PERMISSIONS_OR_MODEL_NOT_FOUND', message) AS text FROM denied;

CREATE VIEW field_json AS
SELECT
  id,
  table_id,
  pos,
  drop_nulls(json_object(
    'id', id,
    'name', name,
    'type', type,
    'description', description,
    'options', json(options)
  )) AS json
FROM field;

CREATE VIEW table_json AS
SELECT
  t.id,
  t.base_id,
  t.pos,
  drop_nulls(json_object(
    'id', t.id,
    'name', t.name,
    'description', t.description,
    'primaryFieldId', t.primary_field,
    'fields', (
      SELECT json_group_array(json(json))
      FROM (SELECT json FROM field_json WHERE table_id = t.id ORDER BY pos)
    ),
    'views', (
      SELECT json_group_array(json_object('id', id, 'name', name, 'type', type))
      FROM grid
      WHERE table_id = t.id
    )
  )) AS json
FROM tables t;
