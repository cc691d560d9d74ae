-- Linear: a workspace with teams, their workflows, projects, issues and initiatives.

CREATE TABLE user (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  display_name TEXT NOT NULL,
  email TEXT NOT NULL UNIQUE,
  is_me INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE team (
  id TEXT PRIMARY KEY,
  place INTEGER NOT NULL,
  key TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  description TEXT,
  is_private INTEGER NOT NULL DEFAULT 0,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
);

CREATE TABLE team_member (
  team_id TEXT NOT NULL REFERENCES team (id),
  user_id TEXT NOT NULL REFERENCES user (id),
  PRIMARY KEY (team_id, user_id)
) WITHOUT ROWID;

-- The workflow of a team.
CREATE TABLE state (
  id TEXT PRIMARY KEY,
  team_id TEXT NOT NULL REFERENCES team (id),
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  type TEXT NOT NULL, -- backlog, unstarted, started, completed, canceled
  color TEXT NOT NULL,
  UNIQUE (team_id, name)
);

CREATE TABLE project (
  id TEXT PRIMARY KEY,
  place INTEGER NOT NULL, -- in the order of creation
  slug TEXT NOT NULL,
  name TEXT NOT NULL,
  description TEXT,
  state TEXT NOT NULL DEFAULT 'backlog',
  lead_id TEXT REFERENCES user (id),
  creator_id TEXT NOT NULL REFERENCES user (id),
  target_date TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
);

CREATE TABLE project_team (
  project_id TEXT NOT NULL REFERENCES project (id),
  team_id TEXT NOT NULL REFERENCES team (id),
  PRIMARY KEY (project_id, team_id)
) WITHOUT ROWID;

CREATE TABLE issue (
  id TEXT PRIMARY KEY,
  place INTEGER NOT NULL, -- in the order of creation
  team_id TEXT NOT NULL REFERENCES team (id),
  number INTEGER NOT NULL,
  title TEXT NOT NULL,
  description TEXT,
  priority INTEGER NOT NULL DEFAULT 0,
  state_id TEXT NOT NULL REFERENCES state (id),
  assignee_id TEXT REFERENCES user (id),
  creator_id TEXT NOT NULL REFERENCES user (id),
  project_id TEXT REFERENCES project (id),
  due_date TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  started_at TEXT,
  completed_at TEXT,
  canceled_at TEXT,
  UNIQUE (team_id, number)
);
CREATE INDEX issue_project ON issue (project_id);
CREATE INDEX issue_place ON issue (place);

CREATE TABLE comment (
  id TEXT PRIMARY KEY,
  place INTEGER NOT NULL,
  issue_id TEXT NOT NULL REFERENCES issue (id),
  user_id TEXT NOT NULL REFERENCES user (id),
  body TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
);
CREATE INDEX comment_issue ON comment (issue_id);

CREATE TABLE initiative (
  id TEXT PRIMARY KEY,
  place INTEGER NOT NULL,
  slug TEXT NOT NULL,
  name TEXT NOT NULL,
  description TEXT,
  status TEXT NOT NULL DEFAULT 'Planned', -- Planned, Active, Completed
  owner_id TEXT REFERENCES user (id),
  creator_id TEXT NOT NULL REFERENCES user (id),
  target_date TEXT,
  color TEXT,
  icon TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
);

CREATE TABLE initiative_project (
  id TEXT PRIMARY KEY,
  place INTEGER NOT NULL,
  initiative_id TEXT NOT NULL REFERENCES initiative (id),
  project_id TEXT NOT NULL REFERENCES project (id),
  created_at TEXT NOT NULL,
  UNIQUE (initiative_id, project_id)
);

-- What the tools show.
CREATE VIEW person AS
SELECT id, json_object('userId', id, 'displayName', name, 'userEmail', email) AS json FROM user;

CREATE VIEW issue_view AS
SELECT
  i.*,
  t.key || '-' || i.number AS identifier,
  s.type AS state_type,
  s.name AS state_name,
  CASE i.priority
    WHEN 1 THEN 'Urgent'
    WHEN 2 THEN 'High'
    WHEN 3 THEN 'Medium'
    WHEN 4 THEN 'Low'
    ELSE 'No priority'
  END AS priority_label,
  'https://linear.example/larkspur/issue/' || t.key || '-' || i.number AS url,
  json_object('stateId', s.id, 'stateName', s.name, 'category', s.type) AS state,
  ifnull((SELECT json FROM person WHERE id = i.assignee_id), '{}') AS assignee,
  (SELECT json FROM person WHERE id = i.creator_id) AS creator,
  json_object('teamId', t.id, 'teamName', t.name, 'teamKey', t.key) AS team,
  ifnull((
    SELECT json_object('projectId', id, 'projectName', name) FROM project WHERE id = i.project_id
  ), '{}') AS project
FROM issue i
JOIN team t ON t.id = i.team_id
JOIN state s ON s.id = i.state_id;

-- As lists have it.
CREATE VIEW issue_row AS
SELECT
  v.id,
  drop_nulls(json_object(
    'itemId', id,
    'ticketNumber', identifier,
    'subject', title,
    'details', description,
    'priorityLevel', priority,
    'deadline', due_date,
    'status', json(state),
    'assignedTo', json(assignee),
    'reportedBy', json(creator),
    'owningTeam', json(team),
    'parentProject', json(project),
    'dateCreated', created_at,
    'dateModified', updated_at,
    'externalLink', url
  )) AS json
FROM issue_view v;

-- As the answer to a change has it.
CREATE VIEW issue_changed AS
SELECT
  v.id,
  drop_nulls(json_object(
    'itemId', id,
    'ticketNumber', identifier,
    'subject', title,
    'details', description,
    'priorityLevel', priority,
    'priorityName', priority_label,
    'deadline', due_date,
    'status', json(state),
    'assignedTo', json(assignee),
    'reportedBy', json('{}'),
    'owningTeam', json(team),
    'parentProject', json(project),
    'dateCreated', created_at,
    'dateModified', updated_at,
    'externalLink', url
  )) AS json
FROM issue_view v;

CREATE VIEW comment_row AS
SELECT
  c.id,
  c.issue_id,
  c.place,
  json_object(
    'responseId', c.id,
    'content', c.body,
    'author', json(p.json),
    'dateCreated', c.created_at,
    'dateModified', c.updated_at
  ) AS json,
  json_object(
    'responseId', c.id,
    'content', c.body,
    'author', json(p.json),
    'relatedIssue', json_object('itemId', i.id, 'ticketNumber', i.identifier, 'subject', i.title),
    'dateCreated', c.created_at,
    'dateModified', c.updated_at,
    'externalLink', i.url || '#comment-' || substr(c.id, 1, 8)
  ) AS full
FROM comment c
JOIN person p ON p.id = c.user_id
JOIN issue_view i ON i.id = c.issue_id;

-- Progress counts what is done, and a quarter of what is under way.
CREATE VIEW project_view AS
SELECT
  p.*,
  ifnull((
    SELECT sum(CASE s.type
      WHEN 'completed' THEN 1.0
      WHEN 'started' THEN 0.25
      ELSE 0.0
    END) / nullif(sum(s.type <> 'canceled'), 0)
    FROM issue i
    JOIN state s ON s.id = i.state_id
    WHERE i.project_id = p.id
  ), 0.0) AS progress
FROM project p;

CREATE VIEW project_row AS
SELECT
  p.id,
  p.place,
  drop_nulls(json_object(
    'projectId', id,
    'projectName', name,
    'summary', description,
    'currentState', state,
    'completion', progress,
    'targetCompletion', target_date,
    'projectLead', json(ifnull((SELECT json FROM person WHERE id = p.lead_id), '{}')),
    'contributors', (
      SELECT iif(count(*) > 0, json_group_array(json(json)), NULL)
      FROM (
        SELECT q.json
        FROM person q
        WHERE q.id IN (p.lead_id, p.creator_id)
          OR q.id IN (SELECT assignee_id FROM issue WHERE project_id = p.id)
        ORDER BY q.id
      )
    ),
    'associatedTeams', (
      SELECT iif(count(*) > 0, json_group_array(json(json)), NULL)
      FROM (
        SELECT json_object('teamId', t.id, 'teamName', t.name, 'teamKey', t.key) AS json
        FROM project_team m
        JOIN team t ON t.id = m.team_id
        WHERE m.project_id = p.id
        ORDER BY t.place
      )
    ),
    'dateCreated', created_at,
    'dateModified', updated_at,
    'externalLink', 'https://linear.example/larkspur/project/' || slug
  )) AS json
FROM project_view p;

CREATE VIEW initiative_row AS
SELECT
  n.id,
  n.place,
  drop_nulls(json_object(
    'initiativeId', n.id,
    'initiativeName', n.name,
    'summary', n.description,
    'currentStatus', n.status,
    'targetCompletion', n.target_date,
    'displayOrder', n.place * 1000.0,
    'themeColor', n.color,
    'displayIcon', n.icon,
    'slugIdentifier', n.slug,
    'initiativeCreator', json((SELECT json FROM person WHERE id = n.creator_id)),
    'initiativeOwner', json(ifnull((SELECT json FROM person WHERE id = n.owner_id), '{}')),
    'linkedProjects', (
      SELECT iif(count(*) > 0, json_group_array(json(json)), NULL)
      FROM (
        SELECT json_object(
          'projectId', p.id,
          'projectName', p.name,
          'currentState', p.state,
          'completion', p.progress
        ) AS json
        FROM initiative_project l
        JOIN project_view p ON p.id = l.project_id
        WHERE l.initiative_id = n.id
        ORDER BY l.place
      )
    ),
    'dateCreated', n.created_at,
    'dateModified', n.updated_at
  )) AS json
FROM initiative n;

-- The company.
INSERT INTO user (id, name, display_name, email, is_me) VALUES
  ('501cce9d-3fdb-4258-9466-616fec7a75ef', 'Maya Chen', 'maya', 'maya.chen@larkspur.example', 1),
  (
    '5dd290e9-2766-453c-8b7f-77e8f8d2b920', 'Tomás Rivera', 'tomas',
    'tomas.rivera@larkspur.example', 0
  ),
  (
    'f9806b85-f754-48af-9cea-d7a289c7205a', 'Aisha Okafor', 'aisha',
    'aisha.okafor@larkspur.example', 0
  ),
  (
    '33794435-4ab4-48e1-93f3-58ebba9a691e', 'Jonas Lindqvist', 'jonas',
    'jonas.lindqvist@larkspur.example', 0
  ),
  ('257ae823-33a9-4c8c-8369-a962abc6a3f5', 'Priya Nair', 'priya', 'priya.nair@larkspur.example', 0),
  (
    '15ef3a3b-ca2b-494d-a34e-614facd3d1de', 'Daniel Kim', 'daniel', 'daniel.kim@larkspur.example', 0
  ),
  (
    'a9dcc471-a8cf-4684-9d9e-3dbe903d3150', 'Sofia Marchetti', 'sofia',
    'sofia.marchetti@larkspur.example', 0
  ),
  ('c53504a6-1cd3-42fb-aa9f-a6ea1dda44f5', 'Ben Adeyemi', 'ben', 'ben.adeyemi@larkspur.example', 0),
  (
    'd829a422-f29b-4a56-a473-794ce2da0ebb', 'Hana Suzuki', 'hana', 'hana.suzuki@larkspur.example', 0
  ),
  (
    'a7794402-91f5-4e08-9319-51e92ae58956', 'Oliver Grant', 'oliver',
    'oliver.grant@larkspur.example', 0
  );

INSERT INTO team VALUES
  (
    'a99baaa3-2ee6-4db2-b0e8-2c5019368a81', 1, 'LAR', 'Larkspur', 'What belongs to no other team',
    0, '2024-09-02T08:00:00.000Z', '2025-11-17T10:30:00.000Z'
  ),
  (
    '946bb8ea-d77f-4d21-af63-6bc86bdebede', 2, 'ATL', 'Atlas', 'Fleet robot firmware', 0,
    '2024-09-02T08:00:00.000Z', '2025-11-17T10:30:00.000Z'
  ),
  (
    'fb6e3d66-fbba-4f14-8176-80a8db08b497', 3, 'HAR', 'Harbor', 'Customer API', 0,
    '2024-09-02T08:00:00.000Z', '2025-11-17T10:30:00.000Z'
  ),
  (
    '01ea13c4-e5c0-4d66-93db-e91be6d6114f', 4, 'BEA', 'Beacon', 'Website relaunch', 0,
    '2024-09-02T08:00:00.000Z', '2025-11-17T10:30:00.000Z'
  );

INSERT INTO team_member
SELECT t.id, u.id
FROM team t
JOIN user u
  ON t.key = 'LAR'
    OR t.key = 'ATL' AND u.display_name IN ('maya', 'tomas', 'daniel', 'hana', 'priya')
    OR t.key = 'HAR' AND u.display_name IN ('maya', 'aisha', 'jonas', 'daniel')
    OR t.key = 'BEA' AND u.display_name IN ('maya', 'sofia', 'priya');

INSERT INTO state VALUES
  (
    '454f7be5-9f9b-4615-b6ee-d6d7340394d0', 'a99baaa3-2ee6-4db2-b0e8-2c5019368a81', 0, 'Backlog',
    'backlog', '#bec2c8'
  ),
  (
    '990ab926-5357-48d7-956a-529d53efc089', 'a99baaa3-2ee6-4db2-b0e8-2c5019368a81', 1, 'Todo',
    'unstarted', '#e2e2e2'
  ),
  (
    '66b2f2fd-000c-4ac8-b46e-5bec0b3fd6fb', 'a99baaa3-2ee6-4db2-b0e8-2c5019368a81', 2,
    'In Progress', 'started', '#f2c94c'
  ),
  (
    '7a498e12-e530-49b4-8d78-56914cb811b0', 'a99baaa3-2ee6-4db2-b0e8-2c5019368a81', 3, 'In Review',
    'started', '#0f783c'
  ),
  (
    '341ead60-f36e-4653-8729-14073639c91a', 'a99baaa3-2ee6-4db2-b0e8-2c5019368a81', 4, 'Done',
    'completed', '#5e6ad2'
  ),
  (
    '201eab82-4d20-4c59-b595-01f139171119', 'a99baaa3-2ee6-4db2-b0e8-2c5019368a81', 5, 'Canceled',
    'canceled', '#95a2b3'
  ),
  (
    'fbc3e79c-159c-4fe4-a466-62cf891125af', 'a99baaa3-2ee6-4db2-b0e8-2c5019368a81', 6, 'Duplicate',
    'canceled', '#95a2b3'
  ),
  (
    '441cc874-a043-4ec2-a062-2862b6be2127', '946bb8ea-d77f-4d21-af63-6bc86bdebede', 0, 'Backlog',
    'backlog', '#bec2c8'
  ),
  (
    '06bd048b-2f8e-47fa-91fe-4aeca4f53ef8', '946bb8ea-d77f-4d21-af63-6bc86bdebede', 1, 'Todo',
    'unstarted', '#e2e2e2'
  ),
  (
    '7cb2ef1a-cd3d-49a2-b691-b1953a98c24b', '946bb8ea-d77f-4d21-af63-6bc86bdebede', 2,
    'In Progress', 'started', '#f2c94c'
  ),
  (
    '9e7deebe-8141-4ec8-9a60-04ac5b6ee460', '946bb8ea-d77f-4d21-af63-6bc86bdebede', 3, 'In Review',
    'started', '#0f783c'
  ),
  (
    'fde7e16a-b727-421d-a8cf-d092f7bda172', '946bb8ea-d77f-4d21-af63-6bc86bdebede', 4, 'Done',
    'completed', '#5e6ad2'
  ),
  (
    '071ce884-b883-4c95-964c-6dbe15180c98', '946bb8ea-d77f-4d21-af63-6bc86bdebede', 5, 'Canceled',
    'canceled', '#95a2b3'
  ),
  (
    '11084c19-9170-41a2-8476-7d329abffeab', '946bb8ea-d77f-4d21-af63-6bc86bdebede', 6, 'Duplicate',
    'canceled', '#95a2b3'
  ),
  (
    '2b8dd77f-0446-4dd1-8a96-838ed15dcaeb', 'fb6e3d66-fbba-4f14-8176-80a8db08b497', 0, 'Backlog',
    'backlog', '#bec2c8'
  ),
  (
    '63fe6dfe-fe29-400f-b474-d2d91bdcfbc1', 'fb6e3d66-fbba-4f14-8176-80a8db08b497', 1, 'Todo',
    'unstarted', '#e2e2e2'
  ),
  (
    'fb24d990-f340-4e04-a800-d26f30043881', 'fb6e3d66-fbba-4f14-8176-80a8db08b497', 2,
    'In Progress', 'started', '#f2c94c'
  ),
  (
    '988a2811-1bcb-400f-beda-254901667a14', 'fb6e3d66-fbba-4f14-8176-80a8db08b497', 3, 'In Review',
    'started', '#0f783c'
  ),
  (
    'ae95bf8e-ba55-4142-9250-985b66077331', 'fb6e3d66-fbba-4f14-8176-80a8db08b497', 4, 'Done',
    'completed', '#5e6ad2'
  ),
  (
    '0d17d172-6643-4a59-a3e3-9155744355c1', 'fb6e3d66-fbba-4f14-8176-80a8db08b497', 5, 'Canceled',
    'canceled', '#95a2b3'
  ),
  (
    '94b651e9-4c42-4c3f-bbe0-0fc89b39ca0d', 'fb6e3d66-fbba-4f14-8176-80a8db08b497', 6, 'Duplicate',
    'canceled', '#95a2b3'
  ),
  (
    '2da27440-cd37-495d-a47e-74441f4251c4', '01ea13c4-e5c0-4d66-93db-e91be6d6114f', 0, 'Backlog',
    'backlog', '#bec2c8'
  ),
  (
    '456f85b0-e563-439e-87ab-1387d1c1257c', '01ea13c4-e5c0-4d66-93db-e91be6d6114f', 1, 'Todo',
    'unstarted', '#e2e2e2'
  ),
  (
    '6d1ebebd-7ab8-4c34-a7ac-aa3ad013fd1f', '01ea13c4-e5c0-4d66-93db-e91be6d6114f', 2,
    'In Progress', 'started', '#f2c94c'
  ),
  (
    '7065df07-600c-4a48-8c90-c64e30dba41b', '01ea13c4-e5c0-4d66-93db-e91be6d6114f', 3, 'In Review',
    'started', '#0f783c'
  ),
  (
    '15924d50-193d-4cd2-9893-74d33047c8f1', '01ea13c4-e5c0-4d66-93db-e91be6d6114f', 4, 'Done',
    'completed', '#5e6ad2'
  ),
  (
    '4c3c155b-c28c-4940-b3c3-3486080d18de', '01ea13c4-e5c0-4d66-93db-e91be6d6114f', 5, 'Canceled',
    'canceled', '#95a2b3'
  ),
  (
    '79192a8c-2079-43cd-afa3-598059d3eb7b', '01ea13c4-e5c0-4d66-93db-e91be6d6114f', 6, 'Duplicate',
    'canceled', '#95a2b3'
  );
