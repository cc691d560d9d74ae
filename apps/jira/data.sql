-- Besides what the initialize format of the service names, an issue may have: key, status,
-- assignee, reporter, labels, components, fix_versions, parent, story_points, due_date, resolution,
-- links, created, updated; a comment: author, created (see data.json). The dump has them where they
-- are not what a new issue has, so that nothing of an issue is lost but its history (the table
-- change) and its numeric id.

-- name: import
-- Who is named and not known yet.
SELECT json_group_array(who) AS strangers
FROM (
  SELECT i.value ->> 'assignee' AS who
  FROM json_each(:args, '$.projects') p, json_each(p.value, '$.issues') i
  WHERE i.type = 'object'
  UNION
  SELECT i.value ->> 'reporter'
  FROM json_each(:args, '$.projects') p, json_each(p.value, '$.issues') i
  WHERE i.type = 'object'
  UNION
  SELECT c.value ->> 'author'
  FROM
    json_each(:args, '$.projects') p,
    json_each(p.value, '$.issues') i,
    json_each(i.value, '$.comments') c
  WHERE c.type = 'object'
)
WHERE NOT EXISTS (
  SELECT 1 FROM account WHERE who COLLATE NOCASE IN (account_id, login, email, display_name)
);
-- include: common/newcomers
INSERT INTO account
SELECT rand_text('{hex:24}'), value ->> 'name', value ->> 'email', value ->> 'login', 'member'
FROM json_each(:newcomers)
ORDER BY key;
INSERT OR IGNORE INTO member
SELECT 'jira-software-users', account_id
FROM account
WHERE email IN (SELECT value ->> 'email' FROM json_each(:newcomers));
INSERT INTO project (id, key, name, description, type, lead, last_number)
SELECT
  new_id('project'),
  value ->> '$.key',
  value ->> '$.name',
  value ->> '$.description',
  ifnull(value ->> '$.project_type', 'software'),
  (SELECT account_id FROM me),
  0
FROM json_each(:args, '$.projects')
WHERE type = 'object'
ON CONFLICT (key) DO NOTHING;

SELECT 'boards: ' || ifnull(value ->> '$.name', '') || ': no project '
  || (value ->> '$.project_key') AS error
FROM json_each(:args, '$.boards')
WHERE type = 'object'
  AND value ->> '$.project_key' IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM project p WHERE p.key = value ->> '$.project_key');
INSERT INTO board (id, name, type, project_key, filter_jql)
SELECT
  new_id('board'),
  value ->> '$.name',
  ifnull(value ->> '$.type', 'scrum'),
  value ->> '$.project_key',
  value ->> '$.filter_jql'
FROM json_each(:args, '$.boards')
WHERE type = 'object';

SELECT 'sprints: ' || ifnull(value ->> '$.name', '') || ': no board '
  || (value ->> '$.origin_board_name') AS error
FROM json_each(:args, '$.sprints')
WHERE type = 'object'
  AND value ->> '$.origin_board_name' IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM board b WHERE b.name = value ->> '$.origin_board_name');
SELECT 'sprints: ' || ifnull(value ->> '$.name', '')
  || ': state is not future, active or closed' AS error
FROM json_each(:args, '$.sprints')
WHERE type = 'object' AND lower(value ->> '$.state') NOT IN ('future', 'active', 'closed');
INSERT INTO sprint (id, name, state, start_date, end_date, complete_date, goal, board_id)
SELECT
  new_id('sprint'),
  value ->> '$.name',
  ifnull(lower(value ->> '$.state'), 'future'),
  value ->> '$.start_date',
  value ->> '$.end_date',
  iif(lower(value ->> '$.state') = 'closed', value ->> '$.end_date', NULL),
  value ->> '$.goal',
  ifnull(
    (SELECT min(id) FROM board b WHERE b.name = value ->> '$.origin_board_name'),
    (SELECT min(id) FROM board)
  )
FROM json_each(:args, '$.sprints')
WHERE type = 'object';

INSERT INTO issue_type (id, name, description, level)
SELECT new_id('type'), name, '', 0
FROM (
  SELECT DISTINCT i.value ->> '$.issue_type' AS name
  FROM json_each(:args, '$.projects') p, json_each(p.value, '$.issues') i
  WHERE p.type = 'object' AND i.type = 'object'
)
WHERE name <> 'Subtask' COLLATE NOCASE AND name NOT IN (SELECT name FROM issue_type)
ON CONFLICT DO NOTHING;
INSERT INTO priority (id, name, rank)
SELECT new_id('priority'), name, 3
FROM (
  SELECT DISTINCT i.value ->> '$.priority' AS name
  FROM json_each(:args, '$.projects') p, json_each(p.value, '$.issues') i
  WHERE p.type = 'object' AND i.type = 'object'
)
WHERE name NOT IN (SELECT name FROM priority)
ON CONFLICT DO NOTHING;

-- Issues are numbered in their order; a key that is given moves the numbers behind it on.
INSERT INTO edit (issue_id, project_id, number, seed, fields)
WITH item AS (
  SELECT
    j.id AS project_id,
    j.last_number AS base,
    i.value AS seed,
    row_number() OVER (PARTITION BY j.id ORDER BY p.key, i.key) AS place,
    CASE
      WHEN i.value ->> '$.key' IS NOT NULL
        THEN iif(
          i.value ->> '$.key' GLOB j.key || '-[1-9]*',
          CAST(substr(i.value ->> '$.key', length(j.key) + 2) AS INTEGER),
          -1
        )
    END AS given
  FROM json_each(:args, '$.projects') p, json_each(p.value, '$.issues') i
  JOIN project j ON j.key = p.value ->> '$.key'
  WHERE p.type = 'object' AND i.type = 'object'
),
numbered AS (
  SELECT
    project_id,
    seed,
    ifnull(
      given,
      place + max(max(ifnull(given - place, base), base)) OVER (
        PARTITION BY project_id ORDER BY place
      )
    ) AS number
  FROM item
)
SELECT
  new_id('issue'),
  project_id,
  number,
  seed,
  drop_nulls(json_object(
    'summary', seed ->> '$.summary',
    'description', seed ->> '$.description',
    'issuetype', ifnull(seed ->> '$.issue_type', 'Task'),
    'priority', ifnull(seed ->> '$.priority', 'Medium'),
    'customfield_10020', seed ->> '$.sprint_name',
    'status', seed ->> '$.status',
    'assignee', seed ->> '$.assignee',
    'reporter', seed ->> '$.reporter',
    'labels', json(seed -> '$.labels'),
    'components', json(seed -> '$.components'),
    'fixVersions', json(seed -> '$.fix_versions'),
    'parent', seed ->> '$.parent',
    'customfield_10016', seed -> '$.story_points',
    'duedate', seed ->> '$.due_date',
    'resolution', seed ->> '$.resolution'
  ))
FROM (SELECT * FROM numbered ORDER BY project_id, number);
SELECT 'projects: the key of an issue is used twice or is not of its project: ' || ifnull(
  max(e.seed ->> '$.key'),
  p.key || '-' || e.number
) AS error
FROM edit e
JOIN project p ON p.id = e.project_id
GROUP BY e.project_id, e.number
HAVING count(*) > 1
  OR e.number < 1
  OR EXISTS (SELECT 1 FROM issue i WHERE i.project_id = e.project_id AND i.number = e.number);

INSERT INTO issue (
  id, key, project_id, number, type_id, status_id, priority_id, summary, reporter, creator, created,
  updated, is_dated
)
SELECT
  e.issue_id,
  p.key || '-' || e.number,
  p.id,
  e.number,
  10002,
  10000,
  3,
  '',
  account_id,
  account_id,
  ifnull(e.seed ->> '$.created', now()),
  coalesce(e.seed ->> '$.updated', e.seed ->> '$.created', now()),
  e.seed ->> '$.created' IS NOT NULL
FROM edit e
JOIN project p ON p.id = e.project_id, me;
INSERT OR IGNORE INTO component (id, project_id, name)
SELECT new_id('component'), project_id, name
FROM (
  SELECT DISTINCT e.project_id, l.name
  FROM edit e
  JOIN edit_list l ON l.issue_id = e.issue_id AND l.field = 'components'
)
WHERE NOT EXISTS (SELECT 1 FROM component c WHERE c.project_id = project_id AND c.name = name);
INSERT OR IGNORE INTO version (id, project_id, name, is_released)
SELECT new_id('version'), project_id, name, 0
FROM (
  SELECT DISTINCT e.project_id, l.name
  FROM edit e
  JOIN edit_list l ON l.issue_id = e.issue_id AND l.field = 'fixVersions'
);
SELECT 'projects: ' || i.key || ': ' || iif(r.field = 'customfield_10020', 'sprint_name', r.field)
  || ': ' || r.text AS error
FROM edit_error r
JOIN issue i ON i.id = r.issue_id
WHERE r.text IS NOT NULL AND r.field <> 'summary';
UPDATE issue
SET
  summary = n.summary,
  type_id = n.type_id,
  description = n.description,
  assignee = n.assignee,
  status_id = ifnull(n.status_id, issue.status_id),
  priority_id = ifnull(n.priority_id, issue.priority_id),
  reporter = ifnull(n.reporter, issue.reporter),
  parent_id = n.parent_id,
  sprint_id = n.sprint_id,
  points = n.points,
  due = n.due,
  resolution_id = n.resolution_id
FROM edit_new n
WHERE n.id = issue.id;
UPDATE issue
SET resolution_id = ifnull(issue.resolution_id, 10000), resolved = issue.updated
FROM edit e, status s
WHERE e.issue_id = issue.id AND s.id = issue.status_id AND s.category = 'done';
INSERT OR IGNORE INTO label SELECT issue_id, name FROM edit_list WHERE field = 'labels';
INSERT OR IGNORE INTO issue_component
SELECT l.issue_id, c.id
FROM edit_list l
JOIN issue i ON i.id = l.issue_id
JOIN component c ON c.project_id = i.project_id AND c.name = l.name
WHERE l.field = 'components';
INSERT OR IGNORE INTO fix_version
SELECT l.issue_id, v.id
FROM edit_list l
JOIN issue i ON i.id = l.issue_id
JOIN version v ON v.project_id = i.project_id AND v.name = l.name
WHERE l.field = 'fixVersions';

SELECT 'projects: comments: no account ' || (c.value ->> '$.author') AS error
FROM edit e, json_each(e.seed, '$.comments') c
WHERE c.type = 'object'
  AND c.value ->> '$.author' IS NOT NULL
  AND NOT EXISTS (
    SELECT 1
    FROM account a
    WHERE c.value ->> '$.author' IN (a.account_id, a.login, a.email, a.display_name)
  );
INSERT INTO comment (id, issue_id, author, body, created, is_dated)
SELECT new_id('comment'), issue_id, author, adf_doc(body), created, is_dated
FROM (
  SELECT
    e.issue_id,
    c.value ->> '$.body' AS body,
    c.value ->> '$.created' IS NOT NULL AS is_dated,
    ifnull(c.value ->> '$.created', now()) AS created,
    ifnull(
      (
        SELECT account_id
        FROM account a
        WHERE c.value ->> '$.author' IN (a.account_id, a.login, a.email, a.display_name)
      ),
      (SELECT account_id FROM me)
    ) AS author
  FROM edit e, json_each(e.seed, '$.comments') c
  WHERE c.type = 'object'
  ORDER BY e.issue_id, c.key
);

SELECT 'projects: links: no ' || (l.value ->> '$.type') || ' or no issue '
  || (l.value ->> '$.key') AS error
FROM edit e, json_each(e.seed, '$.links') l
WHERE l.type = 'object'
  AND NOT EXISTS (
    SELECT 1
    FROM link_type t, issue i
    WHERE t.name = l.value ->> '$.type' AND i.key = l.value ->> '$.key'
  );
INSERT OR IGNORE INTO link (id, type_id, outward_id, inward_id)
SELECT new_id('link'), t.id, e.issue_id, i.id
FROM edit e, json_each(e.seed, '$.links') l
JOIN link_type t ON t.name = l.value ->> '$.type'
JOIN issue i ON i.key = l.value ->> '$.key'
WHERE l.type = 'object';

UPDATE project
SET last_number = max(last_number, ifnull(
  (SELECT max(number) FROM issue WHERE project_id = project.id),
  0
));
SELECT
  count(*) AS n_issues,
  ifnull(sum(json_array_length(ifnull(seed -> '$.comments', '[]'))), 0) AS n_comments
FROM edit;
DELETE FROM edit;
SELECT json_object(
  'projects', json_array_length(ifnull(:args -> '$.projects', '[]')),
  'boards', json_array_length(ifnull(:args -> '$.boards', '[]')),
  'sprints', json_array_length(ifnull(:args -> '$.sprints', '[]')),
  'issues', :n_issues,
  'comments', :n_comments
) AS result;

-- name: export
SELECT json_group_array(json(json)) AS projects
FROM (
  SELECT drop_nulls(json_object(
    'key', p.key,
    'name', p.name,
    'description', p.description,
    'project_type', p.type,
    'issues', (
      SELECT nullif(json_group_array(json(json)), '[]')
      FROM (
        SELECT drop_nulls(json_object(
          'key', iif(
            i.number = ifnull((
                SELECT max(number) FROM issue x WHERE x.project_id = p.id AND x.number < i.number
              ), 0) + 1,
            NULL,
            i.key
          ),
          'summary', i.summary,
          'description', adf_text(i.description),
          'issue_type', t.name,
          'priority', r.name,
          'sprint_name', (SELECT name FROM sprint WHERE id = i.sprint_id),
          'status', nullif((SELECT name FROM status WHERE id = i.status_id), 'To Do'),
          'resolution', (SELECT name FROM resolution WHERE id = i.resolution_id AND id <> 10000),
          'assignee', (SELECT email FROM account WHERE account_id = i.assignee),
          'reporter', (
            SELECT email
            FROM account
            WHERE account_id = i.reporter AND account_id <> (SELECT account_id FROM me)
          ),
          'labels', (
            SELECT json(nullif(json_group_array(label), '[]'))
            FROM (SELECT label FROM label WHERE issue_id = i.id ORDER BY label)
          ),
          'components', (
            SELECT json(nullif(json_group_array(name), '[]'))
            FROM (
              SELECT c.name
              FROM issue_component x
              JOIN component c ON c.id = x.component_id
              WHERE x.issue_id = i.id
              ORDER BY c.name
            )
          ),
          'fix_versions', (
            SELECT json(nullif(json_group_array(name), '[]'))
            FROM (
              SELECT c.name
              FROM fix_version x
              JOIN version c ON c.id = x.version_id
              WHERE x.issue_id = i.id
              ORDER BY c.name
            )
          ),
          'parent', (SELECT key FROM issue e WHERE e.id = i.parent_id),
          'story_points', i.points,
          'due_date', i.due,
          'links', (
            SELECT json(nullif(json_group_array(json_object('type', type, 'key', key)), '[]'))
            FROM (
              SELECT k.name AS type, o.key
              FROM link l
              JOIN link_type k ON k.id = l.type_id
              JOIN issue o ON o.id = l.inward_id
              WHERE l.outward_id = i.id
              ORDER BY k.id, o.project_id, o.number
            )
          ),
          'created', iif(i.is_dated, i.created, NULL),
          'updated', iif(i.updated <> i.created, i.updated, NULL),
          'comments', (
            SELECT json(nullif(json_group_array(json(json)), '[]'))
            FROM (
              SELECT drop_nulls(json_object(
                'body', adf_text(c.body),
                'author', (
                  SELECT email
                  FROM account
                  WHERE account_id = c.author AND account_id <> (SELECT account_id FROM me)
                ),
                'created', iif(c.is_dated, c.created, NULL)
              )) AS json
              FROM comment c
              WHERE c.issue_id = i.id
              ORDER BY c.id
            )
          )
        )) AS json
        FROM issue i
        JOIN issue_type t ON t.id = i.type_id
        LEFT JOIN priority r ON r.id = i.priority_id
        WHERE i.project_id = p.id
        ORDER BY i.number
      )
    )
  )) AS json
  FROM project p
  ORDER BY p.id
);
SELECT json_group_array(json(json)) AS boards
FROM (
  SELECT drop_nulls(json_object(
    'name', name,
    'type', type,
    'project_key', project_key,
    'filter_jql', filter_jql
  )) AS json
  FROM board
  ORDER BY id
);
SELECT json_group_array(json(json)) AS sprints
FROM (
  SELECT drop_nulls(json_object(
    'name', s.name,
    'start_date', s.start_date,
    'end_date', s.end_date,
    'origin_board_name', b.name,
    'goal', s.goal,
    'state', s.state
  )) AS json
  FROM sprint s
  LEFT JOIN board b ON b.id = s.board_id
  ORDER BY s.id
);
SELECT json_object(
  'projects', json(:projects),
  'boards', json(:boards),
  'sprints', json(:sprints)
) AS result;
