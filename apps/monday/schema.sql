-- monday.com: boards with groups of items, columns, subitems and updates.

CREATE TABLE user (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  email TEXT NOT NULL UNIQUE,
  title TEXT,
  is_me INTEGER NOT NULL DEFAULT 0
);

-- Boards of the main workspace have none.
CREATE TABLE workspace (
  id TEXT PRIMARY KEY,
  place INTEGER NOT NULL,
  name TEXT NOT NULL,
  kind TEXT NOT NULL DEFAULT 'open',
  description TEXT
);

CREATE TABLE board (
  id TEXT PRIMARY KEY,
  place INTEGER NOT NULL,
  name TEXT NOT NULL,
  description TEXT,
  kind TEXT NOT NULL DEFAULT 'public', -- public, private, share
  workspace_id TEXT REFERENCES workspace (id),
  -- Whether a dump tells the columns: otherwise they follow from the values in it.
  tells_columns INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE board_group (
  board_id TEXT NOT NULL REFERENCES board (id),
  id TEXT NOT NULL,
  position INTEGER NOT NULL,
  title TEXT NOT NULL,
  color TEXT,
  PRIMARY KEY (board_id, id)
);

CREATE TABLE board_column (
  board_id TEXT NOT NULL REFERENCES board (id),
  id TEXT NOT NULL,
  position INTEGER NOT NULL,
  title TEXT NOT NULL,
  type TEXT NOT NULL,
  description TEXT,
  settings TEXT NOT NULL DEFAULT '{}', -- JSON
  PRIMARY KEY (board_id, id)
);

-- A subitem has a parent and no group.
CREATE TABLE item (
  id TEXT PRIMARY KEY,
  place INTEGER NOT NULL,
  board_id TEXT NOT NULL REFERENCES board (id),
  group_id TEXT,
  parent_id TEXT REFERENCES item (id),
  name TEXT NOT NULL,
  FOREIGN KEY (board_id, group_id) REFERENCES board_group (board_id, id)
);
CREATE INDEX item_group ON item (board_id, group_id);
CREATE INDEX item_parent ON item (parent_id);

CREATE TABLE item_value (
  item_id TEXT NOT NULL REFERENCES item (id),
  column_id TEXT NOT NULL,
  value TEXT NOT NULL, -- JSON, as it was written
  PRIMARY KEY (item_id, column_id)
);

CREATE TABLE item_update (
  id TEXT PRIMARY KEY,
  place INTEGER NOT NULL,
  item_id TEXT NOT NULL REFERENCES item (id),
  creator_id TEXT NOT NULL REFERENCES user (id),
  body TEXT NOT NULL,
  created_at TEXT NOT NULL
);
CREATE INDEX item_update_item ON item_update (item_id);

-- What a board begins with when nothing else is said.
CREATE TABLE usual_column (
  id TEXT PRIMARY KEY,
  position INTEGER NOT NULL,
  title TEXT NOT NULL,
  type TEXT NOT NULL
);

-- A body of initialize on its way in: everything with its place in the tree.
CREATE TABLE stage (
  ord TEXT PRIMARY KEY,
  above TEXT,
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  board TEXT NOT NULL, -- where its board is
  json TEXT NOT NULL
) WITHOUT ROWID;

-- Column types whose values the API does not take.
CREATE TABLE computed_type (type TEXT PRIMARY KEY) WITHOUT ROWID;
INSERT INTO computed_type VALUES
  ('auto_number'),
  ('button'),
  ('creation_log'),
  ('formula'),
  ('item_id'),
  ('last_updated'),
  ('mirror'),
  ('progress'),
  ('subtasks'),
  ('time_tracking'),
  ('unsupported');

INSERT INTO usual_column VALUES
  ('name', 0, 'Name', 'name'),
  ('person', 1, 'Person', 'people'),
  ('status', 2, 'Status', 'status'),
  ('date4', 3, 'Date', 'date');

INSERT INTO user (id, name, email, title, is_me) VALUES
  ('71204401', 'Maya Chen', 'maya.chen@larkspur.example', 'Head of Product', 1),
  ('71204402', 'Tomás Rivera', 'tomas.rivera@larkspur.example', 'Firmware Lead', 0),
  ('71204403', 'Aisha Okafor', 'aisha.okafor@larkspur.example', 'Backend Lead', 0),
  ('71204404', 'Jonas Lindqvist', 'jonas.lindqvist@larkspur.example', 'Reliability Engineer', 0),
  ('71204405', 'Priya Nair', 'priya.nair@larkspur.example', 'Program Manager', 0),
  ('71204406', 'Daniel Kim', 'daniel.kim@larkspur.example', 'Test Engineer', 0),
  ('71204407', 'Sofia Marchetti', 'sofia.marchetti@larkspur.example', 'Designer', 0),
  ('71204408', 'Ben Adeyemi', 'ben.adeyemi@larkspur.example', 'Customer Success', 0),
  ('71204409', 'Hana Suzuki', 'hana.suzuki@larkspur.example', 'Hardware Engineer', 0),
  ('71204410', 'Oliver Grant', 'oliver.grant@larkspur.example', 'Finance', 0);
