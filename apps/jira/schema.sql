-- Jira Cloud: one site, https://larkspur.atlassian.example.

-- ---- what every site has: people, types, statuses ----

CREATE TABLE account (
  account_id TEXT PRIMARY KEY,
  display_name TEXT NOT NULL,
  email TEXT NOT NULL UNIQUE,
  login TEXT NOT NULL UNIQUE,
  role TEXT NOT NULL
);
INSERT INTO account VALUES
  (
    '5f1c9a3e7b2d4c0068a1e001', 'Maya Chen', 'maya.chen@larkspur.example', 'mchen',
    'engineering manager'
  ),
  (
    '5f1c9a3e7b2d4c0068a1e002', 'Tomás Rivera', 'tomas.rivera@larkspur.example', 'trivera',
    'senior firmware engineer'
  ),
  (
    '5f1c9a3e7b2d4c0068a1e003', 'Aisha Okafor', 'aisha.okafor@larkspur.example', 'aokafor',
    'backend engineer'
  ),
  (
    '5f1c9a3e7b2d4c0068a1e004', 'Jonas Lindqvist', 'jonas.lindqvist@larkspur.example', 'jlindqvist',
    'SRE'
  ),
  (
    '5f1c9a3e7b2d4c0068a1e005', 'Priya Nair', 'priya.nair@larkspur.example', 'pnair',
    'product manager'
  ),
  ('5f1c9a3e7b2d4c0068a1e006', 'Daniel Kim', 'daniel.kim@larkspur.example', 'dkim', 'QA lead'),
  (
    '5f1c9a3e7b2d4c0068a1e007', 'Sofia Marchetti', 'sofia.marchetti@larkspur.example', 'smarchetti',
    'designer'
  ),
  (
    '5f1c9a3e7b2d4c0068a1e008', 'Ben Adeyemi', 'ben.adeyemi@larkspur.example', 'badeyemi',
    'support lead'
  ),
  (
    '5f1c9a3e7b2d4c0068a1e009', 'Hana Suzuki', 'hana.suzuki@larkspur.example', 'hsuzuki',
    'data scientist'
  ),
  ('5f1c9a3e7b2d4c0068a1e00a', 'Oliver Grant', 'oliver.grant@larkspur.example', 'ogrant', 'CFO');

-- The account that the tools act as.
CREATE TABLE me (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  account_id TEXT NOT NULL REFERENCES account
);
INSERT INTO me VALUES (1, '5f1c9a3e7b2d4c0068a1e001');

CREATE TABLE member (
  group_name TEXT NOT NULL COLLATE NOCASE,
  account_id TEXT NOT NULL REFERENCES account,
  PRIMARY KEY (group_name, account_id)
);
INSERT INTO member SELECT 'jira-software-users', account_id FROM account;
INSERT INTO member
SELECT 'jira-administrators', account_id
FROM account
WHERE login IN ('mchen', 'jlindqvist');
INSERT INTO member
SELECT 'engineering', account_id
FROM account
WHERE login IN ('mchen', 'trivera', 'aokafor', 'jlindqvist', 'dkim', 'hsuzuki');
INSERT INTO member
SELECT 'firmware', account_id
FROM account
WHERE login IN ('trivera', 'mchen', 'dkim');
INSERT INTO member SELECT 'product', account_id FROM account WHERE login IN ('pnair', 'smarchetti');

CREATE TABLE issue_type (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL COLLATE NOCASE UNIQUE,
  description TEXT NOT NULL,
  level INTEGER NOT NULL -- 1 epics, 0 ordinary issues, -1 sub-tasks
);
INSERT INTO issue_type VALUES
  (10000, 'Epic', 'A collection of related bugs, stories, and tasks.', 1),
  (10001, 'Story', 'Functionality or a feature expressed as a user goal.', 0),
  (10002, 'Task', 'A small, distinct piece of work.', 0),
  (10003, 'Bug', 'A problem or error.', 0),
  (10004, 'Sub-task', 'A small piece of work that is part of a larger task.', -1);

CREATE TABLE status (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL COLLATE NOCASE UNIQUE,
  category TEXT NOT NULL CHECK (category IN ('new', 'indeterminate', 'done')),
  rank INTEGER NOT NULL
);
INSERT INTO status VALUES
  (10000, 'To Do', 'new', 1),
  (3, 'In Progress', 'indeterminate', 2),
  (10003, 'Blocked', 'indeterminate', 3),
  (10001, 'In Review', 'indeterminate', 4),
  (10002, 'Done', 'done', 5);

CREATE TABLE priority (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL COLLATE NOCASE UNIQUE,
  rank INTEGER NOT NULL -- the higher the more urgent
);
INSERT INTO priority VALUES
  (1, 'Highest', 5),
  (2, 'High', 4),
  (3, 'Medium', 3),
  (4, 'Low', 2),
  (5, 'Lowest', 1);

CREATE TABLE resolution (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL COLLATE NOCASE UNIQUE,
  description TEXT NOT NULL
);
INSERT INTO resolution VALUES
  (10000, 'Done', 'Work has been completed on this issue.'),
  (10001, 'Won''t Do', 'This issue won''t be actioned.'),
  (10002, 'Duplicate', 'The problem is a duplicate of an existing issue.'),
  (10003, 'Cannot Reproduce', 'All attempts at reproducing this issue failed.');

CREATE TABLE link_type (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  inward TEXT NOT NULL,
  outward TEXT NOT NULL
);
INSERT INTO link_type VALUES
  (10000, 'Blocks', 'is blocked by', 'blocks'),
  (10001, 'Cloners', 'is cloned by', 'clones'),
  (10002, 'Duplicate', 'is duplicated by', 'duplicates'),
  (10003, 'Relates', 'relates to', 'relates to');

-- Fields of issues; is_editable: may be set by create and update.
CREATE TABLE field (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  is_custom INTEGER NOT NULL,
  is_editable INTEGER NOT NULL,
  is_orderable INTEGER NOT NULL,
  clauses TEXT NOT NULL,
  schema TEXT,
  position INTEGER NOT NULL
);
INSERT INTO field VALUES
  (
    'statuscategorychangedate', 'Status Category Changed', 0, 0, 0, '["statusCategoryChangedDate"]',
    '{"type":"datetime","system":"statuscategorychangedate"}', 1
  ),
  (
    'issuetype', 'Issue Type', 0, 1, 1, '["issuetype","type"]',
    '{"type":"issuetype","system":"issuetype"}', 2
  ),
  ('parent', 'Parent', 0, 1, 0, '["parent"]', NULL, 3),
  (
    'timespent', 'Time Spent', 0, 0, 0, '["timespent"]', '{"type":"number","system":"timespent"}', 4
  ),
  ('project', 'Project', 0, 0, 0, '["project"]', '{"type":"project","system":"project"}', 5),
  (
    'fixVersions', 'Fix versions', 0, 1, 1, '["fixVersion"]',
    '{"type":"array","items":"version","system":"fixVersions"}', 6
  ),
  (
    'resolution', 'Resolution', 0, 1, 1, '["resolution"]',
    '{"type":"resolution","system":"resolution"}', 7
  ),
  (
    'resolutiondate', 'Resolved', 0, 0, 0, '["resolutiondate","resolved"]',
    '{"type":"datetime","system":"resolutiondate"}', 8
  ),
  (
    'created', 'Created', 0, 0, 0, '["created","createdDate"]',
    '{"type":"datetime","system":"created"}', 9
  ),
  ('priority', 'Priority', 0, 1, 1, '["priority"]', '{"type":"priority","system":"priority"}', 10),
  (
    'labels', 'Labels', 0, 1, 1, '["labels"]',
    '{"type":"array","items":"string","system":"labels"}', 11
  ),
  (
    'issuelinks', 'Linked Issues', 0, 1, 1, '["issueLink"]',
    '{"type":"array","items":"issuelinks","system":"issuelinks"}', 12
  ),
  ('assignee', 'Assignee', 0, 1, 1, '["assignee"]', '{"type":"user","system":"assignee"}', 13),
  (
    'updated', 'Updated', 0, 0, 0, '["updated","updatedDate"]',
    '{"type":"datetime","system":"updated"}', 14
  ),
  ('status', 'Status', 0, 1, 0, '["status"]', '{"type":"status","system":"status"}', 15),
  (
    'components', 'Components', 0, 1, 1, '["component"]',
    '{"type":"array","items":"component","system":"components"}', 16
  ),
  (
    'description', 'Description', 0, 1, 1, '["description"]',
    '{"type":"string","system":"description"}', 17
  ),
  (
    'customfield_10014', 'Epic Link', 1, 1, 1, '["cf[10014]","Epic Link"]',
    '{"type":"any","custom":"com.pyxis.greenhopper.jira:gh-epic-link","customId":10014}', 18
  ),
  (
    'customfield_10016', 'Story point estimate', 1, 1, 1,
    '["cf[10016]","Story point estimate","Story Points"]',
    '{"type":"number","custom":"com.pyxis.greenhopper.jira:jsw-story-points","customId":10016}', 19
  ),
  (
    'customfield_10020',
    'Sprint',
    1,
    1,
    1,
    '["cf[10020]","Sprint"]',
    '{"type":"array","items":"json","custom":"com.pyxis.greenhopper.jira:gh-sprint",'
      || '"customId":10020}',
    20
  ),
  (
    'attachment', 'Attachment', 0, 0, 1, '["attachments"]',
    '{"type":"array","items":"attachment","system":"attachment"}', 21
  ),
  ('summary', 'Summary', 0, 1, 1, '["summary"]', '{"type":"string","system":"summary"}', 22),
  ('creator', 'Creator', 0, 0, 0, '["creator"]', '{"type":"user","system":"creator"}', 23),
  (
    'subtasks', 'Sub-tasks', 0, 0, 0, '["subtasks"]',
    '{"type":"array","items":"issuelinks","system":"subtasks"}', 24
  ),
  ('reporter', 'Reporter', 0, 1, 1, '["reporter"]', '{"type":"user","system":"reporter"}', 25),
  ('duedate', 'Due date', 0, 1, 1, '["due","duedate"]', '{"type":"date","system":"duedate"}', 26),
  ('votes', 'Votes', 0, 0, 0, '["votes"]', '{"type":"votes","system":"votes"}', 27),
  ('watches', 'Watchers', 0, 0, 0, '["watchers"]', '{"type":"watches","system":"watches"}', 28),
  ('comment', 'Comment', 0, 0, 1, '["comment"]', '{"type":"comments-page","system":"comment"}', 29),
  ('issuekey', 'Key', 0, 0, 0, '["id","issue","issuekey","key"]', NULL, 30);

-- ---- content ----

CREATE TABLE project (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  description TEXT,
  type TEXT NOT NULL,
  lead TEXT NOT NULL REFERENCES account,
  last_number INTEGER NOT NULL -- of an issue: numbers are not given twice
);

CREATE TABLE board (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  type TEXT NOT NULL,
  project_key TEXT REFERENCES project (key),
  filter_jql TEXT
);

CREATE TABLE sprint (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('future', 'active', 'closed')),
  start_date TEXT,
  end_date TEXT,
  complete_date TEXT,
  goal TEXT,
  board_id INTEGER REFERENCES board
);
CREATE INDEX sprint_board ON sprint (board_id);

CREATE TABLE issue (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  project_id INTEGER NOT NULL REFERENCES project,
  number INTEGER NOT NULL,
  type_id INTEGER NOT NULL REFERENCES issue_type,
  status_id INTEGER NOT NULL REFERENCES status,
  priority_id INTEGER REFERENCES priority,
  resolution_id INTEGER REFERENCES resolution,
  summary TEXT NOT NULL,
  description TEXT, -- a document (ADF)
  assignee TEXT REFERENCES account,
  reporter TEXT REFERENCES account,
  creator TEXT NOT NULL REFERENCES account,
  parent_id INTEGER REFERENCES issue,
  sprint_id INTEGER REFERENCES sprint,
  points REAL,
  due TEXT,
  created TEXT NOT NULL,
  updated TEXT NOT NULL,
  resolved TEXT,
  is_dated INTEGER NOT NULL, -- created is a time of its own, not that of the import
  UNIQUE (project_id, number)
);
CREATE INDEX issue_parent ON issue (parent_id);
CREATE INDEX issue_sprint ON issue (sprint_id);
CREATE INDEX issue_assignee ON issue (assignee);
CREATE INDEX issue_status ON issue (status_id);

CREATE TABLE label (
  issue_id INTEGER NOT NULL REFERENCES issue,
  label TEXT NOT NULL COLLATE NOCASE,
  PRIMARY KEY (issue_id, label)
);
CREATE INDEX label_label ON label (label);

CREATE TABLE component (
  id INTEGER PRIMARY KEY,
  project_id INTEGER NOT NULL REFERENCES project,
  name TEXT NOT NULL COLLATE NOCASE,
  UNIQUE (project_id, name)
);
CREATE TABLE issue_component (
  issue_id INTEGER NOT NULL REFERENCES issue,
  component_id INTEGER NOT NULL REFERENCES component,
  PRIMARY KEY (issue_id, component_id)
);

CREATE TABLE version (
  id INTEGER PRIMARY KEY,
  project_id INTEGER NOT NULL REFERENCES project,
  name TEXT NOT NULL COLLATE NOCASE,
  is_released INTEGER NOT NULL,
  UNIQUE (project_id, name)
);
CREATE TABLE fix_version (
  issue_id INTEGER NOT NULL REFERENCES issue,
  version_id INTEGER NOT NULL REFERENCES version,
  PRIMARY KEY (issue_id, version_id)
);

CREATE TABLE comment (
  id INTEGER PRIMARY KEY,
  issue_id INTEGER NOT NULL REFERENCES issue,
  author TEXT NOT NULL REFERENCES account,
  body TEXT NOT NULL, -- a document (ADF)
  created TEXT NOT NULL,
  is_dated INTEGER NOT NULL
);
CREATE INDEX comment_issue ON comment (issue_id);

-- outward blocks (duplicates, …) inward.
CREATE TABLE link (
  id INTEGER PRIMARY KEY,
  type_id INTEGER NOT NULL REFERENCES link_type,
  outward_id INTEGER NOT NULL REFERENCES issue,
  inward_id INTEGER NOT NULL REFERENCES issue,
  UNIQUE (type_id, outward_id, inward_id)
);
CREATE INDEX link_inward ON link (inward_id);
CREATE INDEX link_outward ON link (outward_id);

-- What updates changed.
CREATE TABLE change (
  id INTEGER PRIMARY KEY,
  issue_id INTEGER NOT NULL REFERENCES issue,
  author TEXT NOT NULL REFERENCES account,
  created TEXT NOT NULL,
  field TEXT NOT NULL,
  from_id TEXT,
  from_text TEXT,
  to_id TEXT,
  to_text TEXT
);
CREATE INDEX change_issue ON change (issue_id, field);

-- ---- changes to issues while they are carried out; empty between calls ----

-- fields: as Jira's REST interface takes them; names may stand for {"name": …}. The rest is for
-- import.
CREATE TABLE edit (
  issue_id INTEGER PRIMARY KEY,
  fields TEXT NOT NULL,
  project_id INTEGER,
  number INTEGER,
  seed TEXT
);

CREATE VIEW edit_name AS
SELECT
  e.issue_id,
  f.key AS field,
  f.type,
  CASE f.type
    WHEN 'object'
      THEN coalesce(
        f.value ->> '$.accountId',
        f.value ->> '$.key',
        f.value ->> '$.name',
        f.value ->> '$.value',
        f.value ->> '$.emailAddress',
        f.value ->> '$.displayName',
        f.value ->> '$.id'
      )
    WHEN 'array' THEN coalesce(f.value ->> '$[0].id', f.value ->> '$[0].name', f.value ->> '$[0]')
    WHEN 'null' THEN NULL
    ELSE CAST(f.value AS TEXT)
  END AS name
FROM edit e, json_each(e.fields) f;

-- A row per field that is to be set, with the id of what its name stands for.
CREATE VIEW edit_ref AS
SELECT
  w.issue_id,
  w.field,
  w.type,
  w.name,
  CASE w.field
    WHEN 'issuetype'
      THEN (
        SELECT id
        FROM issue_type
        WHERE name = w.name OR id = w.name OR (w.name = 'Subtask' COLLATE NOCASE AND level = -1)
      )
    WHEN 'status' THEN (SELECT id FROM status WHERE name = w.name OR id = w.name)
    WHEN 'priority' THEN (SELECT id FROM priority WHERE name = w.name OR id = w.name)
    WHEN 'resolution' THEN (SELECT id FROM resolution WHERE name = w.name OR id = w.name)
    WHEN 'customfield_10020'
      THEN ifnull(
        (SELECT min(id) FROM sprint WHERE name = w.name),
        (SELECT id FROM sprint WHERE id = w.name)
      )
    WHEN 'parent' THEN (SELECT id FROM issue WHERE key = upper(w.name) OR id = w.name)
    WHEN 'customfield_10014' THEN (SELECT id FROM issue WHERE key = upper(w.name) OR id = w.name)
    WHEN 'assignee'
      THEN (
        SELECT account_id
        FROM account
        WHERE w.name IN (account_id, login)
          OR email = w.name COLLATE NOCASE
          OR display_name = w.name COLLATE NOCASE
      )
    WHEN 'reporter'
      THEN (
        SELECT account_id
        FROM account
        WHERE w.name IN (account_id, login)
          OR email = w.name COLLATE NOCASE
          OR display_name = w.name COLLATE NOCASE
      )
  END AS id
FROM edit_name w;

CREATE VIEW edit_list AS
SELECT
  e.issue_id,
  f.key AS field,
  l.key AS position,
  CASE l.type
    WHEN 'object' THEN coalesce(l.value ->> '$.name', l.value ->> '$.id')
    ELSE l.value
  END AS name
FROM edit e, json_each(e.fields) f, json_each(f.value) l
WHERE f.key IN ('labels', 'components', 'fixVersions') AND f.type = 'array';

-- What is wrong with them.
CREATE VIEW edit_error AS
SELECT
  r.issue_id,
  r.field,
  CASE
    WHEN NOT EXISTS (SELECT 1 FROM field f WHERE f.id = r.field AND f.is_editable)
      THEN 'Field ''' || r.field || ''' cannot be set. It is not on the appropriate '
        || 'screen, or unknown.'
    WHEN r.field = 'summary' AND (r.type <> 'text' OR trim(r.name) = '')
      THEN 'You must specify a summary of the issue.'
    WHEN r.field = 'summary' AND length(r.name) > 255
      THEN 'Summary must be less than 255 characters.'
    WHEN r.field = 'summary' AND instr(r.name, char(10))
      THEN 'The summary is invalid because it contains newline characters.'
    WHEN r.field = 'issuetype' AND r.id IS NULL THEN 'Specify a valid issue type'
    WHEN r.field = 'status' AND r.id IS NULL THEN 'Specify a valid value for status'
    WHEN r.field = 'priority' AND r.id IS NULL AND r.type <> 'null'
      THEN 'Specify a valid ''id'' or ''name'' for priority'
    WHEN r.field = 'resolution' AND r.id IS NULL AND r.type <> 'null'
      THEN 'Specify a valid ''id'' or ''name'' for resolution'
    WHEN r.field IN ('assignee', 'reporter') AND r.id IS NULL AND r.type <> 'null'
      THEN 'Specify a valid value for ' || r.field
    WHEN r.field = 'customfield_10020' AND r.id IS NULL AND r.type <> 'null' AND r.name IS NOT NULL
      THEN 'Specify a valid value for Sprint'
    WHEN r.field IN ('parent', 'customfield_10014') AND r.id IS NULL AND r.type <> 'null'
      THEN 'Could not find valid ''id'' or ''key'' for parent.'
    WHEN r.field IN ('parent', 'customfield_10014') AND r.id = r.issue_id
      THEN 'An issue cannot be its own parent.'
    WHEN r.field = 'customfield_10016' AND r.type NOT IN ('integer', 'real', 'null')
      THEN 'Operation value must be a number'
    WHEN r.field = 'duedate' AND r.type <> 'null' AND date(r.name) IS NOT r.name
      THEN 'Error parsing date string: ' || r.name
    WHEN r.field IN ('labels', 'components', 'fixVersions') AND r.type <> 'array'
      THEN 'data was not an array'
    WHEN r.field = 'components'
        AND EXISTS (
          SELECT 1
          FROM edit_list l
          WHERE l.issue_id = r.issue_id
            AND l.field = 'components'
            AND NOT EXISTS (
              SELECT 1
              FROM component c, issue i
              WHERE i.id = r.issue_id AND c.project_id = i.project_id AND l.name IN (c.name, c.id)
            )
        )
      THEN 'Component name '''
        || (
          SELECT group_concat(l.name, ''', ''')
          FROM edit_list l
          WHERE l.issue_id = r.issue_id
            AND l.field = 'components'
            AND NOT EXISTS (
              SELECT 1
              FROM component c, issue i
              WHERE i.id = r.issue_id AND c.project_id = i.project_id AND l.name IN (c.name, c.id)
            )
        ) || ''' is not valid'
    WHEN r.field = 'fixVersions'
        AND EXISTS (
          SELECT 1
          FROM edit_list l
          WHERE l.issue_id = r.issue_id
            AND l.field = 'fixVersions'
            AND NOT EXISTS (
              SELECT 1
              FROM version c, issue i
              WHERE i.id = r.issue_id AND c.project_id = i.project_id AND l.name IN (c.name, c.id)
            )
        )
      THEN 'Version name '''
        || (
          SELECT group_concat(l.name, ''', ''')
          FROM edit_list l
          WHERE l.issue_id = r.issue_id
            AND l.field = 'fixVersions'
            AND NOT EXISTS (
              SELECT 1
              FROM version c, issue i
              WHERE i.id = r.issue_id AND c.project_id = i.project_id AND l.name IN (c.name, c.id)
            )
        ) || ''' is not valid'
    WHEN r.field = 'labels'
        AND EXISTS (
          SELECT 1
          FROM edit_list l
          WHERE l.issue_id = r.issue_id AND l.field = 'labels' AND instr(l.name, ' ')
        )
      THEN 'The label '''
        || (
          SELECT l.name
          FROM edit_list l
          WHERE l.issue_id = r.issue_id AND l.field = 'labels' AND instr(l.name, ' ')
        ) || ''' contains spaces which is invalid.'
  END AS text
FROM edit_ref r;

-- The rows as they will be.
CREATE VIEW edit_new AS
SELECT
  i.id,
  max(CASE WHEN r.field = 'summary' THEN r.name END) AS summary,
  max(CASE
    WHEN r.field = 'description'
      THEN CASE r.type
        WHEN 'object' THEN json_extract(e.fields, '$.description')
        ELSE adf_doc(r.name)
      END
  END) AS description,
  max(CASE WHEN r.field = 'issuetype' THEN r.id END) AS type_id,
  max(CASE WHEN r.field = 'status' THEN r.id END) AS status_id,
  max(CASE WHEN r.field = 'priority' THEN r.id END) AS priority_id,
  max(CASE WHEN r.field = 'resolution' THEN r.id END) AS resolution_id,
  max(CASE WHEN r.field = 'assignee' THEN r.id END) AS assignee,
  max(CASE WHEN r.field = 'reporter' THEN r.id END) AS reporter,
  max(CASE WHEN r.field IN ('parent', 'customfield_10014') THEN r.id END) AS parent_id,
  max(CASE WHEN r.field = 'customfield_10020' THEN r.id END) AS sprint_id,
  max(CASE WHEN r.field = 'customfield_10016' THEN CAST(r.name AS REAL) END) AS points,
  max(CASE WHEN r.field = 'duedate' THEN r.name END) AS due,
  ',' || group_concat(r.field) || ',' AS fields
FROM issue i
JOIN edit e ON e.issue_id = i.id
JOIN edit_ref r ON r.issue_id = i.id
GROUP BY i.id;

-- What becomes different.
CREATE VIEW edit_change AS
SELECT *
FROM (
  SELECT
    n.id AS issue_id,
    r.field,
    CASE r.field
      WHEN 'status' THEN i.status_id
      WHEN 'priority' THEN i.priority_id
      WHEN 'issuetype' THEN i.type_id
      WHEN 'assignee' THEN i.assignee
      WHEN 'reporter' THEN i.reporter
      WHEN 'resolution' THEN i.resolution_id
      WHEN 'parent' THEN i.parent_id
      WHEN 'customfield_10014' THEN i.parent_id
      WHEN 'customfield_10020' THEN i.sprint_id
    END AS from_id,
    CASE r.field
      WHEN 'summary' THEN i.summary
      WHEN 'description' THEN adf_text(i.description)
      WHEN 'duedate' THEN i.due
      WHEN 'customfield_10016' THEN i.points
      WHEN 'status' THEN (SELECT name FROM status WHERE id = i.status_id)
      WHEN 'priority' THEN (SELECT name FROM priority WHERE id = i.priority_id)
      WHEN 'issuetype' THEN (SELECT name FROM issue_type WHERE id = i.type_id)
      WHEN 'resolution' THEN (SELECT name FROM resolution WHERE id = i.resolution_id)
      WHEN 'assignee' THEN (SELECT display_name FROM account WHERE account_id = i.assignee)
      WHEN 'reporter' THEN (SELECT display_name FROM account WHERE account_id = i.reporter)
      WHEN 'parent' THEN (SELECT key FROM issue WHERE id = i.parent_id)
      WHEN 'customfield_10014' THEN (SELECT key FROM issue WHERE id = i.parent_id)
      WHEN 'customfield_10020' THEN (SELECT name FROM sprint WHERE id = i.sprint_id)
      WHEN 'labels'
        THEN (
          SELECT group_concat(label, ' ')
          FROM (SELECT label FROM label WHERE issue_id = i.id ORDER BY label)
        )
    END AS from_text,
    r.id AS to_id,
    CASE r.field
      WHEN 'summary' THEN n.summary
      WHEN 'description' THEN adf_text(n.description)
      WHEN 'duedate' THEN n.due
      WHEN 'customfield_10016' THEN n.points
      WHEN 'status' THEN (SELECT name FROM status WHERE id = r.id)
      WHEN 'priority' THEN (SELECT name FROM priority WHERE id = r.id)
      WHEN 'issuetype' THEN (SELECT name FROM issue_type WHERE id = r.id)
      WHEN 'resolution' THEN (SELECT name FROM resolution WHERE id = r.id)
      WHEN 'assignee' THEN (SELECT display_name FROM account WHERE account_id = r.id)
      WHEN 'reporter' THEN (SELECT display_name FROM account WHERE account_id = r.id)
      WHEN 'parent' THEN (SELECT key FROM issue WHERE id = r.id)
      WHEN 'customfield_10014' THEN (SELECT key FROM issue WHERE id = r.id)
      WHEN 'customfield_10020' THEN (SELECT name FROM sprint WHERE id = r.id)
      WHEN 'labels'
        THEN (
          SELECT group_concat(name, ' ')
          FROM (
            SELECT name
            FROM edit_list l
            WHERE l.issue_id = i.id AND l.field = 'labels'
            ORDER BY name
          )
        )
    END AS to_text
  FROM edit_new n
  JOIN issue i ON i.id = n.id
  JOIN edit_ref r ON r.issue_id = i.id
)
WHERE from_text IS NOT to_text;

-- ---- how things are shown ----

CREATE VIEW account_view AS
SELECT
  account_id,
  '{"self":"https://larkspur.atlassian.example/rest/api/3/user?accountId=' || account_id
    || '","accountId":"' || account_id || '","emailAddress":' || json_quote(email)
    || ',"avatarUrls":{"48x48":' || '"https://larkspur.atlassian.example/avatar/' || login
    || '"},"displayName":' || json_quote(display_name)
    || ',"active":true,"timeZone":"Etc/UTC","accountType":"atlassian"}' AS json
FROM account;

CREATE VIEW status_view AS
SELECT
  id,
  '{"self":"https://larkspur.atlassian.example/rest/api/3/status/' || id
    || '","description":"","iconUrl":'
    || '"https://larkspur.atlassian.example/images/icons/statuses/generic.png","name":'
    || json_quote(name) || ',"id":"' || id || '","statusCategory":'
    || CASE category
      WHEN 'new'
        THEN '{"self":"https://larkspur.atlassian.example/rest/api/3/'
          || 'statuscategory/2","id":2,"key":"new","colorName":"blue-gray","name":"To Do"}'
      WHEN 'done'
        THEN '{"self":"https://larkspur.atlassian.example/rest/api/3/'
          || 'statuscategory/3","id":3,"key":"done","colorName":"green","name":"Done"}'
      ELSE '{"self":"https://larkspur.atlassian.example/rest/api/3/statuscategory/4",'
        || '"id":4,"key":"indeterminate","colorName":"yellow","name":"In Progress"}'
    END || '}' AS json
FROM status;

CREATE VIEW issue_type_view AS
SELECT
  id,
  '{"self":"https://larkspur.atlassian.example/rest/api/3/issuetype/' || id || '","id":"' || id
    || '","description":' || json_quote(description) || ',"name":' || json_quote(name)
    || ',"subtask":' || iif(level < 0, 'true', 'false') || ',"hierarchyLevel":' || level
    || '}' AS json
FROM issue_type;

CREATE VIEW priority_view AS
SELECT
  id,
  '{"self":"https://larkspur.atlassian.example/rest/api/3/priority/' || id || '","iconUrl":'
    || '"https://larkspur.atlassian.example/images/icons/priorities/'
    || lower(replace(name, ' ', '-')) || '.svg","name":' || json_quote(name) || ',"id":"' || id
    || '"}' AS json
FROM priority;

CREATE VIEW sprint_view AS
SELECT
  id,
  board_id,
  state,
  drop_nulls(json_object(
    'id', id,
    'self', 'https://larkspur.atlassian.example/rest/agile/1.0/sprint/' || id,
    'state', state,
    'name', name,
    'startDate', start_date,
    'endDate', end_date,
    'completeDate', complete_date,
    'originBoardId', board_id,
    'goal', goal
  )) AS json
FROM sprint;

CREATE VIEW comment_view AS
SELECT
  c.id,
  c.issue_id,
  json_object(
    'self', 'https://larkspur.atlassian.example/rest/api/3/issue/' || c.issue_id || '/comment/'
      || c.id,
    'id', CAST(c.id AS TEXT),
    'author', json(a.json),
    'body', json(c.body),
    'updateAuthor', json(a.json),
    'created', replace(c.created, 'Z', '+0000'),
    'updated', replace(c.created, 'Z', '+0000'),
    'jsdPublic', json('true')
  ) AS json
FROM comment c
JOIN account_view a ON a.account_id = c.author;

-- An issue as it stands in another one.
CREATE VIEW issue_brief AS
SELECT
  i.id,
  i.parent_id,
  json_object(
    'id', CAST(i.id AS TEXT),
    'key', i.key,
    'self', 'https://larkspur.atlassian.example/rest/api/3/issue/' || i.id,
    'fields', json_object(
      'summary', i.summary,
      'status', json(s.json),
      'priority', json(p.json),
      'issuetype', json(t.json)
    )
  ) AS json
FROM issue i
JOIN status_view s ON s.id = i.status_id
JOIN issue_type_view t ON t.id = i.type_id
LEFT JOIN priority_view p ON p.id = i.priority_id;

-- basic: the fields that are shown when nobody asks for others; more: the others.
CREATE VIEW issue_view AS
SELECT
  i.id,
  i.key,
  '{"summary":' || json_quote(i.summary) || ',"status":'
    || (SELECT json FROM status_view WHERE id = i.status_id) || ',"assignee":'
    || ifnull((SELECT json FROM account_view WHERE account_id = i.assignee), 'null')
    || ',"issuetype":' || (SELECT json FROM issue_type_view WHERE id = i.type_id) || ',"priority":'
    || ifnull((SELECT json FROM priority_view WHERE id = i.priority_id), 'null') || ',"created":"'
    || replace(i.created, 'Z', '+0000') || '","updated":"' || replace(i.updated, 'Z', '+0000')
    || '","description":' || ifnull(i.description, 'null') || ',"labels":'
    || (
      SELECT json_group_array(label)
      FROM (SELECT label FROM label WHERE issue_id = i.id ORDER BY label)
    ) || '}' AS basic,
  json_object(
    'project', (
      SELECT json_object(
        'self', 'https://larkspur.atlassian.example/rest/api/3/project/' || p.id,
        'id', CAST(p.id AS TEXT),
        'key', p.key,
        'name', p.name,
        'projectTypeKey', p.type,
        'simplified', json('false')
      )
      FROM project p
      WHERE p.id = i.project_id
    ),
    'reporter', (SELECT json(json) FROM account_view WHERE account_id = i.reporter),
    'creator', (SELECT json(json) FROM account_view WHERE account_id = i.creator),
    'parent', (SELECT json(json) FROM issue_brief WHERE id = i.parent_id),
    'subtasks', (
      SELECT json_group_array(json(b.json))
      FROM issue_brief b
      JOIN issue c ON c.id = b.id
      JOIN issue_type t ON t.id = c.type_id
      WHERE b.parent_id = i.id AND t.level = -1
    ),
    'resolution', (
      SELECT json_object(
        'self', 'https://larkspur.atlassian.example/rest/api/3/resolution/' || id,
        'id', CAST(id AS TEXT),
        'description', description,
        'name', name
      )
      FROM resolution
      WHERE id = i.resolution_id
    ),
    'resolutiondate', replace(i.resolved, 'Z', '+0000'),
    'duedate', i.due,
    'components', (
      SELECT json_group_array(json_object(
        'self', 'https://larkspur.atlassian.example/rest/api/3/component/' || c.id,
        'id', CAST(c.id AS TEXT),
        'name', c.name
      ))
      FROM issue_component x
      JOIN component c ON c.id = x.component_id
      WHERE x.issue_id = i.id
    ),
    'fixVersions', (
      SELECT json_group_array(json_object(
        'self', 'https://larkspur.atlassian.example/rest/api/3/version/' || v.id,
        'id', CAST(v.id AS TEXT),
        'name', v.name,
        'archived', json('false'),
        'released', json(iif(v.is_released, 'true', 'false'))
      ))
      FROM fix_version x
      JOIN version v ON v.id = x.version_id
      WHERE x.issue_id = i.id
    ),
    'issuelinks', (
      SELECT json_group_array(json(json))
      FROM (
        SELECT json_object(
          'id', CAST(l.id AS TEXT),
          'self', 'https://larkspur.atlassian.example/rest/api/3/issueLink/' || l.id,
          'type', json_object(
            'id', CAST(t.id AS TEXT),
            'name', t.name,
            'inward', t.inward,
            'outward', t.outward
          ),
          iif(l.outward_id = i.id, 'outwardIssue', 'inwardIssue'), (
            SELECT json(json)
            FROM issue_brief
            WHERE id = iif(l.outward_id = i.id, l.inward_id, l.outward_id)
          )
        ) AS json
        FROM link l
        JOIN link_type t ON t.id = l.type_id
        WHERE i.id IN (l.outward_id, l.inward_id)
        ORDER BY l.id
      )
    ),
    'comment', (
      SELECT json_object(
        'comments', json_group_array(json(json)),
        'maxResults', count(*),
        'total', count(*),
        'startAt', 0
      )
      FROM (SELECT json FROM comment_view WHERE issue_id = i.id ORDER BY id)
    ),
    'attachment', json('[]'),
    'votes', json_object(
      'self', 'https://larkspur.atlassian.example/rest/api/3/issue/' || i.key || '/votes',
      'votes', 0,
      'hasVoted', json('false')
    ),
    'watches', json_object(
      'self', 'https://larkspur.atlassian.example/rest/api/3/issue/' || i.key || '/watchers',
      'watchCount', 1,
      'isWatching', json('true')
    ),
    'customfield_10014', (
      SELECT e.key
      FROM issue e
      JOIN issue_type t ON t.id = e.type_id
      WHERE e.id = i.parent_id AND t.level = 1
    ),
    'customfield_10016', i.points,
    'customfield_10020', (SELECT json_array(json(json)) FROM sprint_view WHERE id = i.sprint_id)
  ) AS more
FROM issue i;
