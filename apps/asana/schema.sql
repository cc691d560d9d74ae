-- Asana: a workspace with teams, projects, tasks that can have subtasks, and tags.

CREATE TABLE workspace (
  gid TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  email_domains TEXT NOT NULL, -- JSON
  is_organization INTEGER NOT NULL DEFAULT 1
);

CREATE TABLE user (
  gid TEXT PRIMARY KEY,
  place INTEGER NOT NULL,
  name TEXT NOT NULL,
  email TEXT,
  called TEXT NOT NULL UNIQUE, -- in bodies of initialize and dump
  is_me INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE team (
  gid TEXT PRIMARY KEY,
  place INTEGER NOT NULL,
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  workspace_gid TEXT NOT NULL REFERENCES workspace (gid)
);

CREATE TABLE team_member (
  team_gid TEXT NOT NULL REFERENCES team (gid),
  user_gid TEXT NOT NULL REFERENCES user (gid),
  PRIMARY KEY (team_gid, user_gid)
) WITHOUT ROWID;

CREATE TABLE tag (
  gid TEXT PRIMARY KEY,
  place INTEGER NOT NULL,
  name TEXT NOT NULL,
  color TEXT,
  notes TEXT NOT NULL DEFAULT '',
  workspace_gid TEXT NOT NULL REFERENCES workspace (gid)
);

CREATE TABLE project (
  gid TEXT PRIMARY KEY,
  place INTEGER NOT NULL, -- in the order of creation
  name TEXT NOT NULL,
  notes TEXT NOT NULL DEFAULT '',
  color TEXT,
  due_on TEXT,
  owner_gid TEXT REFERENCES user (gid),
  team_gid TEXT NOT NULL REFERENCES team (gid),
  section_gid TEXT NOT NULL, -- the one that every project begins with
  created_at TEXT NOT NULL,
  modified_at TEXT NOT NULL
);
CREATE INDEX project_place ON project (place);

CREATE TABLE task (
  gid TEXT PRIMARY KEY,
  place INTEGER NOT NULL, -- in the order of creation
  project_gid TEXT REFERENCES project (gid),
  parent_gid TEXT REFERENCES task (gid),
  workspace_gid TEXT NOT NULL REFERENCES workspace (gid),
  name TEXT NOT NULL,
  notes TEXT NOT NULL DEFAULT '',
  completed_at TEXT,
  completed_by TEXT REFERENCES user (gid),
  assignee_gid TEXT REFERENCES user (gid),
  start_on TEXT,
  due_on TEXT,
  due_at TEXT,
  created_by TEXT NOT NULL REFERENCES user (gid),
  created_at TEXT NOT NULL,
  modified_at TEXT NOT NULL
);
CREATE INDEX task_project ON task (project_gid);
CREATE INDEX task_parent ON task (parent_gid);
CREATE INDEX task_place ON task (place);

CREATE TABLE task_tag (
  task_gid TEXT NOT NULL REFERENCES task (gid),
  tag_gid TEXT NOT NULL REFERENCES tag (gid),
  place INTEGER NOT NULL,
  PRIMARY KEY (task_gid, tag_gid)
) WITHOUT ROWID;

CREATE TABLE story (
  gid TEXT PRIMARY KEY,
  place INTEGER NOT NULL,
  task_gid TEXT NOT NULL REFERENCES task (gid),
  text TEXT NOT NULL,
  created_by TEXT NOT NULL REFERENCES user (gid),
  created_at TEXT NOT NULL
);
CREATE INDEX story_task ON story (task_gid);

CREATE TABLE attachment (
  gid TEXT PRIMARY KEY,
  place INTEGER NOT NULL,
  task_gid TEXT NOT NULL REFERENCES task (gid),
  name TEXT NOT NULL,
  url TEXT, -- of a file elsewhere
  content TEXT, -- of one that was sent, in base64
  created_at TEXT NOT NULL
);
CREATE INDEX attachment_task ON attachment (task_gid);

-- Tasks on the way in, while import looks for their parents.
CREATE TABLE stage (
  ord TEXT PRIMARY KEY,
  above TEXT,
  gid TEXT NOT NULL,
  project_gid TEXT,
  json TEXT NOT NULL
) WITHOUT ROWID;

-- What the tools show.
CREATE VIEW user_compact AS SELECT gid, json_object('id', gid, 'name', name) AS json FROM user;

CREATE VIEW workspace_compact AS
SELECT gid, json_object('id', gid, 'name', name) AS json FROM workspace;

CREATE VIEW user_row AS
SELECT
  u.gid,
  u.place,
  drop_nulls(json_object(
    'id', u.gid,
    'name', u.name,
    'email', u.email,
    'workspaces', (SELECT json_group_array(json(json)) FROM workspace_compact)
  )) AS json
FROM user u;

CREATE VIEW workspace_row AS
SELECT
  gid,
  json_object(
    'id', gid,
    'name', name,
    'emailDomains', json(email_domains),
    'isOrganization', json(iif(is_organization, 'true', 'false'))
  ) AS json
FROM workspace;

CREATE VIEW team_row AS
SELECT
  t.gid,
  t.place,
  t.workspace_gid,
  json_object(
    'id', t.gid,
    'name', t.name,
    'description', t.description,
    'organization', json((SELECT json FROM workspace_compact WHERE gid = t.workspace_gid)),
    'url', 'https://app.asana.example/0/' || t.workspace_gid || '/' || t.gid || '/overview'
  ) AS json
FROM team t;

CREATE VIEW tag_row AS
SELECT
  t.gid,
  t.place,
  t.workspace_gid,
  drop_nulls(json_object(
    'id', t.gid,
    'name', t.name,
    'color', t.color,
    'description', t.notes,
    'workspace', json((SELECT json FROM workspace_compact WHERE gid = t.workspace_gid))
  )) AS json
FROM tag t;

CREATE VIEW project_row AS
SELECT
  p.gid,
  p.place,
  p.team_gid,
  p.created_at,
  p.modified_at,
  t.workspace_gid,
  drop_nulls(json_object(
    'id', p.gid,
    'name', p.name,
    'description', p.notes,
    'color', p.color,
    'isCompleted', json('false'),
    'createdAt', p.created_at,
    'modifiedAt', p.modified_at,
    'dueDate', p.due_on,
    'owner', json((SELECT json FROM user_compact WHERE gid = p.owner_gid)),
    'team', json_object('id', t.gid, 'name', t.name),
    'workspace', json((SELECT json FROM workspace_compact WHERE gid = t.workspace_gid)),
    'url', 'https://app.asana.example/0/' || p.gid || '/' || p.gid,
    'members', (
      SELECT iif(count(*) > 0, json_group_array(json(json)), NULL)
      FROM (
        SELECT c.json
        FROM user u
        JOIN user_compact c ON c.gid = u.gid
        WHERE u.gid = p.owner_gid
          OR u.gid IN (SELECT user_gid FROM team_member WHERE team_gid = p.team_gid)
        ORDER BY u.place
      )
    )
  )) AS json
FROM project p
JOIN team t ON t.gid = p.team_gid;

CREATE VIEW task_row AS
SELECT
  t.*,
  drop_nulls(json_object(
    'id', t.gid,
    'name', t.name,
    'description', t.notes,
    'isCompleted', json(iif(t.completed_at IS NULL, 'false', 'true')),
    'completedAt', t.completed_at,
    'completedBy', json((SELECT json FROM user_compact WHERE gid = t.completed_by)),
    'createdAt', t.created_at,
    'createdBy', json((SELECT json FROM user_compact WHERE gid = t.created_by)),
    'dueDate', t.due_on,
    'startDate', t.start_on,
    'assignee', json((SELECT json FROM user_compact WHERE gid = t.assignee_gid)),
    'assigneeStatus', 'upcoming',
    'subtaskCount', (SELECT count(*) FROM task s WHERE s.parent_gid = t.gid),
    'parent', json((
      SELECT json_object('id', u.gid, 'name', u.name) FROM task u WHERE u.gid = t.parent_gid
    )),
    'workspace', json((SELECT json FROM workspace_compact WHERE gid = t.workspace_gid)),
    'url', 'https://app.asana.example/0/' || ifnull(t.project_gid, '0') || '/' || t.gid,
    'tags', (
      SELECT iif(count(*) > 0, json_group_array(json(json)), NULL)
      FROM (
        SELECT json_object('id', g.gid, 'name', g.name) AS json
        FROM task_tag m
        JOIN tag g ON g.gid = m.tag_gid
        WHERE m.task_gid = t.gid
        ORDER BY m.place
      )
    ),
    'memberships', (
      SELECT json_array(json_object(
        'project', json_object('id', p.gid, 'name', p.name),
        'section', json_object('id', p.section_gid, 'name', 'Untitled section')
      ))
      FROM project p
      WHERE p.gid = t.project_gid
    )
  )) AS json
FROM task t;

CREATE VIEW attachment_row AS
SELECT
  a.gid,
  drop_nulls(json_object(
    'id', a.gid,
    'name', a.name,
    'url', iif(a.url IS NULL, 'https://app.asana.example/-/download?asset_id=' || a.gid, NULL),
    'host', iif(a.url IS NULL, 'asana', 'external'),
    'viewUrl', ifnull(a.url, 'https://app.asana.example/app/asana/-/get_asset?asset_id=' || a.gid),
    'createdAt', a.created_at,
    'parent', json_object('id', a.task_gid)
  )) AS json
FROM attachment a;

-- The company.
INSERT INTO workspace VALUES ('1201650000000101', 'Larkspur', '["larkspur.example"]', 1);

INSERT INTO user (gid, place, name, email, called, is_me) VALUES
  (
    '1201650000000201', 1, 'Maya Chen', 'maya.chen@larkspur.example', 'maya.chen@larkspur.example',
    1
  ),
  (
    '1201650000000202', 2, 'Tomás Rivera', 'tomas.rivera@larkspur.example',
    'tomas.rivera@larkspur.example', 0
  ),
  (
    '1201650000000203', 3, 'Aisha Okafor', 'aisha.okafor@larkspur.example',
    'aisha.okafor@larkspur.example', 0
  ),
  (
    '1201650000000204', 4, 'Jonas Lindqvist', 'jonas.lindqvist@larkspur.example',
    'jonas.lindqvist@larkspur.example', 0
  ),
  (
    '1201650000000205', 5, 'Priya Nair', 'priya.nair@larkspur.example',
    'priya.nair@larkspur.example', 0
  ),
  (
    '1201650000000206', 6, 'Daniel Kim', 'daniel.kim@larkspur.example',
    'daniel.kim@larkspur.example', 0
  ),
  (
    '1201650000000207', 7, 'Sofia Marchetti', 'sofia.marchetti@larkspur.example',
    'sofia.marchetti@larkspur.example', 0
  ),
  (
    '1201650000000208', 8, 'Ben Adeyemi', 'ben.adeyemi@larkspur.example',
    'ben.adeyemi@larkspur.example', 0
  ),
  (
    '1201650000000209', 9, 'Hana Suzuki', 'hana.suzuki@larkspur.example',
    'hana.suzuki@larkspur.example', 0
  ),
  (
    '1201650000000210', 10, 'Oliver Grant', 'oliver.grant@larkspur.example',
    'oliver.grant@larkspur.example', 0
  );

INSERT INTO team VALUES
  ('1201650000000301', 1, 'Larkspur', 'What belongs to no other team', '1201650000000101'),
  ('1201650000000302', 2, 'Atlas', 'Fleet robot firmware', '1201650000000101'),
  ('1201650000000303', 3, 'Harbor', 'Customer API', '1201650000000101'),
  ('1201650000000304', 4, 'Beacon', 'Website relaunch', '1201650000000101');

INSERT INTO team_member
SELECT t.gid, u.gid
FROM team t
JOIN user u
  ON t.name = 'Larkspur'
    OR t.name = 'Atlas' AND u.place IN (1, 2, 5, 6, 9)
    OR t.name = 'Harbor' AND u.place IN (3, 4, 6)
    OR t.name = 'Beacon' AND u.place IN (1, 5, 7);
