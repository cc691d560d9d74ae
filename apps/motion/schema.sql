-- Motion: workspaces with their people and statuses, projects, tasks and comments on these.

CREATE TABLE user (
  id TEXT PRIMARY KEY,
  place INTEGER NOT NULL,
  name TEXT NOT NULL,
  email TEXT NOT NULL UNIQUE,
  is_me INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE workspace (
  id TEXT PRIMARY KEY,
  place INTEGER NOT NULL,
  name TEXT NOT NULL,
  team_id TEXT, -- NULL: it is of the account alone
  type TEXT NOT NULL DEFAULT 'TEAM' -- or INDIVIDUAL
);

CREATE TABLE status (
  workspace_id TEXT NOT NULL REFERENCES workspace (id),
  name TEXT NOT NULL COLLATE NOCASE,
  place INTEGER NOT NULL,
  is_resolved INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (workspace_id, name)
) WITHOUT ROWID;

-- The statuses that a workspace begins with. The second one is that of new tasks and projects.
CREATE TABLE first_status (place INTEGER PRIMARY KEY, name TEXT NOT NULL, is_resolved INTEGER);
INSERT INTO first_status VALUES
  (1, 'Backlog', 0),
  (2, 'Todo', 0),
  (3, 'In Progress', 0),
  (4, 'Blocked', 0),
  (5, 'Completed', 1),
  (6, 'Canceled', 1);

CREATE TABLE project (
  id TEXT PRIMARY KEY,
  place INTEGER NOT NULL, -- in the order of creation
  workspace_id TEXT NOT NULL REFERENCES workspace (id),
  name TEXT NOT NULL,
  description TEXT,
  status TEXT NOT NULL,
  due_date TEXT,
  priority TEXT,
  labels TEXT NOT NULL DEFAULT '[]', -- JSON
  created_at TEXT NOT NULL
);
CREATE INDEX project_workspace ON project (workspace_id);

CREATE TABLE task (
  id TEXT PRIMARY KEY,
  place INTEGER NOT NULL, -- in the order of creation
  workspace_id TEXT NOT NULL REFERENCES workspace (id),
  project_id TEXT REFERENCES project (id),
  name TEXT NOT NULL,
  description TEXT,
  status TEXT NOT NULL,
  priority TEXT NOT NULL DEFAULT 'MEDIUM', -- ASAP, HIGH, MEDIUM, LOW
  due_date TEXT, -- as it was given
  duration INTEGER NOT NULL DEFAULT 30, -- in minutes
  assignee_id TEXT REFERENCES user (id),
  labels TEXT NOT NULL DEFAULT '[]', -- JSON
  created_at TEXT NOT NULL
);
CREATE INDEX task_workspace ON task (workspace_id);
CREATE INDEX task_project ON task (project_id);

CREATE TABLE comment (
  id TEXT PRIMARY KEY,
  place INTEGER NOT NULL,
  task_id TEXT NOT NULL REFERENCES task (id),
  user_id TEXT NOT NULL REFERENCES user (id),
  content TEXT NOT NULL,
  created_at TEXT NOT NULL
);
CREATE INDEX comment_task ON comment (task_id);

-- What the tools show.
CREATE VIEW user_row AS
SELECT id, place, is_me, json_object('id', id, 'name', name, 'email', email) AS json FROM user;

CREATE VIEW workspace_row AS
SELECT
  place,
  drop_nulls(json_object('id', id, 'name', name, 'teamId', team_id, 'type', type)) AS json
FROM workspace;

CREATE VIEW project_row AS
SELECT
  id,
  place,
  workspace_id,
  drop_nulls(json_object(
    'id', id,
    'name', name,
    'description', description,
    'workspaceId', workspace_id,
    'status', status
  )) AS json
FROM project;

CREATE VIEW task_row AS
SELECT
  t.*,
  drop_nulls(json_object(
    'id', t.id,
    'name', t.name,
    'description', t.description,
    'status', t.status,
    'priority', t.priority,
    'dueDate', time_write(time_read(t.due_date, 'UTC'), 'UTC', '%Y-%m-%dT%H:%M:%S.000Z'),
    'duration', t.duration,
    'completed', json(iif((
      SELECT is_resolved FROM status s WHERE s.workspace_id = t.workspace_id AND s.name = t.status
    ), 'true', 'false')),
    'createdAt', t.created_at,
    'workspaceId', w.id,
    'workspaceName', w.name,
    'projectId', p.id,
    'projectName', p.name,
    'assignees', (SELECT json_group_array(json(u.json)) FROM user_row u WHERE u.id = t.assignee_id),
    'labels', (SELECT json_group_array(json_object('name', l.value)) FROM json_each(t.labels) l)
  )) AS json
FROM task t
JOIN workspace w ON w.id = t.workspace_id
LEFT JOIN project p ON p.id = t.project_id;

CREATE VIEW comment_row AS
SELECT
  c.id,
  c.place,
  c.task_id,
  json_object(
    'id', c.id,
    'taskId', c.task_id,
    'content', c.content,
    'createdAt', c.created_at,
    'creatorId', u.id,
    'creatorName', u.name
  ) AS json
FROM comment c
JOIN user u ON u.id = c.user_id;

-- The company.
INSERT INTO user (id, place, name, email, is_me) VALUES
  ('aQ3vT8mZc1Ny7RkXw2LpD5sB9hJ1', 1, 'Maya Chen', 'maya.chen@larkspur.example', 1),
  ('fK7dW2xRb9Uq4MzTn6VhC3yG8eP2', 2, 'Tomás Rivera', 'tomas.rivera@larkspur.example', 0),
  ('kL5sN1jYg8Xt3QbEv7DwZ4rH6mA3', 3, 'Aisha Okafor', 'aisha.okafor@larkspur.example', 0),
  ('pR9cF6uBk2Jd8WnSx5TqM7vL1zG4', 4, 'Jonas Lindqvist', 'jonas.lindqvist@larkspur.example', 0),
  ('tV4hX9eMw6Pz1CfKy3BnR8jQ2sD5', 5, 'Priya Nair', 'priya.nair@larkspur.example', 0),
  ('wZ8bG3nTq5Hr7VdLm1JxF9kY4cS6', 6, 'Daniel Kim', 'daniel.kim@larkspur.example', 0),
  ('yD2mP7kLs4Fv9XgRc6WtB1nJ8hE7', 7, 'Sofia Marchetti', 'sofia.marchetti@larkspur.example', 0),
  ('bH6qS1yVt3Nk8ZwGp4LdM5xC9rF8', 8, 'Ben Adeyemi', 'ben.adeyemi@larkspur.example', 0),
  ('eJ1xU5rKf7Ty2BmQh9VsN4gW6zL9', 9, 'Hana Suzuki', 'hana.suzuki@larkspur.example', 0),
  ('hM9wC4zPd6Gb1SnXj8RkT3vY7qU0', 10, 'Oliver Grant', 'oliver.grant@larkspur.example', 0);

INSERT INTO workspace VALUES (
  'ws_4Rk8TzQm1VxNc6LbWd2HyG', 0, 'My Private Workspace', NULL, 'INDIVIDUAL'
);
INSERT INTO status SELECT 'ws_4Rk8TzQm1VxNc6LbWd2HyG', name, place, is_resolved FROM first_status;
