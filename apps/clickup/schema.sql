-- ClickUp: a workspace, which its API calls a team, with spaces, folders, lists and tasks.

CREATE TABLE team (id TEXT PRIMARY KEY, name TEXT NOT NULL, color TEXT NOT NULL);

CREATE TABLE user (
  id INTEGER PRIMARY KEY,
  username TEXT NOT NULL,
  email TEXT NOT NULL UNIQUE,
  initials TEXT NOT NULL,
  color TEXT NOT NULL,
  role INTEGER NOT NULL, -- 1 owner, 2 admin, 3 member
  is_me INTEGER NOT NULL DEFAULT 0
);

-- The workflow, the same in every list.
CREATE TABLE status (
  id TEXT PRIMARY KEY,
  position INTEGER NOT NULL,
  name TEXT NOT NULL UNIQUE,
  type TEXT NOT NULL, -- open, custom, closed
  color TEXT NOT NULL
);

CREATE TABLE priority (level INTEGER PRIMARY KEY, name TEXT NOT NULL, color TEXT NOT NULL);

CREATE TABLE space (
  id TEXT PRIMARY KEY,
  place INTEGER NOT NULL,
  team_id TEXT NOT NULL REFERENCES team (id),
  name TEXT NOT NULL,
  color TEXT,
  is_private INTEGER NOT NULL DEFAULT 0
);

-- A list without a folder is in a hidden one of its own.
CREATE TABLE folder (
  id TEXT PRIMARY KEY,
  place INTEGER NOT NULL,
  space_id TEXT NOT NULL REFERENCES space (id),
  name TEXT NOT NULL,
  is_hidden INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX folder_space ON folder (space_id);

CREATE TABLE list (
  id TEXT PRIMARY KEY,
  place INTEGER NOT NULL,
  folder_id TEXT NOT NULL REFERENCES folder (id),
  name TEXT NOT NULL,
  content TEXT,
  due_date INTEGER, -- milliseconds
  priority INTEGER REFERENCES priority (level),
  assignee_id INTEGER REFERENCES user (id),
  status TEXT -- a color's name
);
CREATE INDEX list_folder ON list (folder_id);

CREATE TABLE task (
  id TEXT PRIMARY KEY,
  place INTEGER NOT NULL,
  list_id TEXT NOT NULL REFERENCES list (id),
  parent_id TEXT REFERENCES task (id),
  name TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  status_id TEXT NOT NULL REFERENCES status (id),
  priority INTEGER REFERENCES priority (level),
  due_date INTEGER, -- milliseconds, as all times here
  creator_id INTEGER NOT NULL REFERENCES user (id),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  closed_at INTEGER
);
CREATE INDEX task_list ON task (list_id);
CREATE INDEX task_parent ON task (parent_id);
CREATE INDEX task_place ON task (place);

CREATE TABLE task_assignee (
  task_id TEXT NOT NULL REFERENCES task (id),
  user_id INTEGER NOT NULL REFERENCES user (id),
  PRIMARY KEY (task_id, user_id)
) WITHOUT ROWID;

CREATE TABLE comment (
  id TEXT PRIMARY KEY,
  place INTEGER NOT NULL,
  task_id TEXT NOT NULL REFERENCES task (id),
  user_id INTEGER NOT NULL REFERENCES user (id),
  text TEXT NOT NULL,
  created_at INTEGER NOT NULL
);
CREATE INDEX comment_task ON comment (task_id);

-- A body of initialize on its way in: everything with its place in the tree.
CREATE TABLE stage (
  ord TEXT PRIMARY KEY,
  above TEXT,
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  hidden_id TEXT, -- of the folder around a list
  list TEXT, -- where the list of a task is
  json TEXT NOT NULL
) WITHOUT ROWID;

-- What the tools show.
CREATE VIEW person AS
SELECT
  id,
  json_object(
    'id', id,
    'username', username,
    'email', email,
    'displayName', username,
    'initials', initials
  ) AS json
FROM user;

CREATE VIEW member AS
SELECT
  id,
  json_object(
    'id', id,
    'username', username,
    'email', email,
    'displayName', username,
    'initials', initials,
    'role', role
  ) AS json
FROM user;

CREATE VIEW team_row AS
SELECT
  t.id,
  json_object(
    'id', t.id,
    'name', t.name,
    'color', t.color,
    'members', (SELECT json_group_array(json(json)) FROM (SELECT json FROM member ORDER BY id))
  ) AS json
FROM team t;

CREATE VIEW space_row AS
SELECT
  id,
  place,
  team_id,
  drop_nulls(json_object(
    'id', id,
    'name', name,
    'isPrivate', json(iif(is_private, 'true', 'false')),
    'color', color,
    'isArchived', json('false')
  )) AS json
FROM space;

CREATE VIEW folder_row AS
SELECT
  f.id,
  f.place,
  f.space_id,
  f.is_hidden,
  json_object(
    'id', f.id,
    'name', f.name,
    'isHidden', json(iif(f.is_hidden, 'true', 'false')),
    'isArchived', json('false'),
    'spaceId', f.space_id,
    'taskCount', (
      SELECT CAST(count(*) AS TEXT)
      FROM task t
      JOIN list l ON l.id = t.list_id
      JOIN status s ON s.id = t.status_id
      WHERE l.folder_id = f.id AND s.type <> 'closed'
    )
  ) AS json
FROM folder f;

CREATE VIEW list_row AS
SELECT
  l.id,
  l.place,
  l.folder_id,
  f.space_id,
  f.is_hidden,
  drop_nulls(json_object(
    'id', l.id,
    'name', l.name,
    'description', l.content,
    'isArchived', json('false'),
    'folderId', l.folder_id,
    'spaceId', f.space_id,
    'taskCount', (
      SELECT count(*)
      FROM task t
      JOIN status s ON s.id = t.status_id
      WHERE t.list_id = l.id AND s.type <> 'closed'
    ),
    'dueDate', CAST(l.due_date AS TEXT),
    'priority', (SELECT name FROM priority WHERE level = l.priority),
    'statuses', (
      SELECT json_group_array(json_object(
        'id', id,
        'name', name,
        'color', color,
        'type', type,
        'orderIndex', position
      ))
      FROM (SELECT * FROM status ORDER BY position)
    )
  )) AS json
FROM list l
JOIN folder f ON f.id = l.folder_id;

CREATE VIEW task_row AS
SELECT
  t.*,
  s.type AS status_type,
  drop_nulls(json_object(
    'id', t.id,
    'name', t.name,
    'description', t.description,
    'textContent', t.description,
    'status', s.name,
    'statusColor', s.color,
    'createdAt', CAST(t.created_at AS TEXT),
    'updatedAt', CAST(t.updated_at AS TEXT),
    'closedAt', CAST(t.closed_at AS TEXT),
    'doneAt', CAST(t.closed_at AS TEXT),
    'dueDate', CAST(t.due_date AS TEXT),
    'url', 'https://app.clickup.example/t/' || t.id,
    'isArchived', json('false'),
    'listId', l.id,
    'listName', l.name,
    'folderId', f.id,
    'folderName', f.name,
    'spaceId', f.space_id,
    'parentTaskId', t.parent_id,
    'priority', p.name,
    'priorityColor', p.color,
    'creator', json((SELECT json FROM person WHERE id = t.creator_id)),
    'assignees', (
      SELECT json_group_array(json(json))
      FROM (
        SELECT q.json
        FROM task_assignee a
        JOIN person q ON q.id = a.user_id
        WHERE a.task_id = t.id
        ORDER BY q.id
      )
    ),
    'tags', json('[]')
  )) AS json
FROM task t
JOIN status s ON s.id = t.status_id
JOIN list l ON l.id = t.list_id
JOIN folder f ON f.id = l.folder_id
LEFT JOIN priority p ON p.level = t.priority;

CREATE VIEW comment_row AS
SELECT
  c.id,
  c.place,
  c.task_id,
  json_object(
    'id', c.id,
    'text', c.text,
    'createdAt', CAST(c.created_at AS TEXT),
    'isResolved', json('false'),
    'author', json(p.json)
  ) AS json
FROM comment c
JOIN person p ON p.id = c.user_id;

-- The company.
INSERT INTO team VALUES ('90121680250', 'Larkspur', '#40BC86');

INSERT INTO user (id, username, email, initials, color, role, is_me) VALUES
  (81236501, 'Maya Chen', 'maya.chen@larkspur.example', 'MC', '#7b68ee', 1, 1),
  (81236502, 'Tomás Rivera', 'tomas.rivera@larkspur.example', 'TR', '#ff7fab', 2, 0),
  (81236503, 'Aisha Okafor', 'aisha.okafor@larkspur.example', 'AO', '#4169E1', 2, 0),
  (81236504, 'Jonas Lindqvist', 'jonas.lindqvist@larkspur.example', 'JL', '#5f7c8a', 3, 0),
  (81236505, 'Priya Nair', 'priya.nair@larkspur.example', 'PN', '#ee5e99', 3, 0),
  (81236506, 'Daniel Kim', 'daniel.kim@larkspur.example', 'DK', '#3082b7', 3, 0),
  (81236507, 'Sofia Marchetti', 'sofia.marchetti@larkspur.example', 'SM', '#e65100', 3, 0),
  (81236508, 'Ben Adeyemi', 'ben.adeyemi@larkspur.example', 'BA', '#008844', 3, 0),
  (81236509, 'Hana Suzuki', 'hana.suzuki@larkspur.example', 'HS', '#b388ff', 3, 0),
  (81236510, 'Oliver Grant', 'oliver.grant@larkspur.example', 'OG', '#827718', 3, 0);

INSERT INTO status VALUES
  ('sc90121680250_todo', 0, 'to do', 'open', '#87909e'),
  ('sc90121680250_prog', 1, 'in progress', 'custom', '#5f55ee'),
  ('sc90121680250_done', 2, 'complete', 'closed', '#008844');

INSERT INTO priority VALUES
  (1, 'urgent', '#f50000'),
  (2, 'high', '#f8ae00'),
  (3, 'normal', '#6fddff'),
  (4, 'low', '#d8d8d8');
