-- Workspaces with their projects, the tasks of these and the comments on them. Beyond Klavis'
-- format a workspace may have "tasks" of no project and a project a "status"; a task may have an
-- "assignee" and a comment an "author" (e-mail addresses). Dumps have these only where they say
-- something. A status that a workspace lacks comes to be. "My Private Workspace" is there from the
-- start, and in a dump only when something is in it. Ids and times of creation are lost in a dump.

-- name: import
SELECT id AS me FROM user WHERE is_me;
SELECT 'a ' || what || ' needs a name' AS error
FROM (
  SELECT 'workspace' AS what, w.value AS json FROM json_each(:args, '$.workspaces') w
  UNION ALL
  SELECT 'project', p.value
  FROM json_each(:args, '$.workspaces') w, json_each(w.value, '$.projects') p
  UNION ALL
  SELECT 'task', t.value
  FROM
    json_each(:args, '$.workspaces') w,
    json_each(w.value, '$.projects') p,
    json_each(p.value, '$.tasks') t
)
WHERE trim(json ->> 'name') = ''
LIMIT 1;
WITH x AS (
  SELECT p.value AS json FROM json_each(:args, '$.workspaces') w, json_each(w.value, '$.projects') p
  UNION ALL
  SELECT t.value
  FROM
    json_each(:args, '$.workspaces') w,
    json_each(w.value, '$.projects') p,
    json_each(p.value, '$.tasks') t
  UNION ALL
  SELECT t.value FROM json_each(:args, '$.workspaces') w, json_each(w.value, '$.tasks') t
)
SELECT json_group_array(json ->> 'assignee') AS strangers
FROM x
WHERE mail_is_address(json ->> 'assignee') AND json ->> 'assignee' NOT IN (SELECT email FROM user);
-- include: common/newcomers
INSERT INTO user
SELECT
  rand_text('{base62:28}'),
  (SELECT max(place) FROM user) + key + 1,
  value ->> 'name',
  value ->> 'email',
  0
FROM json_each(:newcomers)
ORDER BY key;
WITH x AS (
  SELECT p.value AS json FROM json_each(:args, '$.workspaces') w, json_each(w.value, '$.projects') p
  UNION ALL
  SELECT t.value
  FROM
    json_each(:args, '$.workspaces') w,
    json_each(w.value, '$.projects') p,
    json_each(p.value, '$.tasks') t
  UNION ALL
  SELECT t.value FROM json_each(:args, '$.workspaces') w, json_each(w.value, '$.tasks') t
)
SELECT '"' || (json ->> 'name') || '": '
  || CASE
    WHEN upper(json ->> 'priority') NOT IN ('ASAP', 'HIGH', 'MEDIUM', 'LOW')
      THEN 'priority is ASAP, HIGH, MEDIUM or LOW'
    WHEN json ->> 'due_date' <> '' AND time_read(json ->> 'due_date', 'UTC') IS NULL
      THEN 'due_date is a time (ISO 8601)'
    ELSE 'there is no user "' || (json ->> 'assignee') || '"'
  END AS error
FROM x
WHERE upper(json ->> 'priority') NOT IN ('ASAP', 'HIGH', 'MEDIUM', 'LOW')
  OR json ->> 'due_date' <> '' AND time_read(json ->> 'due_date', 'UTC') IS NULL
  OR json ->> 'assignee' NOT IN (SELECT email FROM user)
LIMIT 1;
SELECT json_group_array(json_object('id', id, 'json', json(json))) AS workspaces
FROM (
  SELECT
    ifnull(
      (SELECT id FROM workspace v WHERE v.place = 0 AND v.name = w.value ->> 'name'),
      rand_text('ws_{base62:22}')
    ) AS id,
    w.value AS json
  FROM json_each(:args, '$.workspaces') w
  WHERE w.type = 'object'
  ORDER BY w.key
);
INSERT OR IGNORE INTO workspace
SELECT
  value ->> 'id',
  (SELECT max(place) FROM workspace) + key + 1,
  value ->> '$.json.name',
  'tm_7Hq2VwXc9KtRb4NzLd8MyJ',
  'TEAM'
FROM json_each(:workspaces)
ORDER BY key;
INSERT OR IGNORE INTO status
SELECT w.value ->> 'id', s.name, s.place, s.is_resolved
FROM json_each(:workspaces) w, first_status s;
SELECT json_group_array(json_object(
  'id', id,
  'workspace', workspace,
  'json', json(json)
)) AS projects
FROM (
  SELECT rand_text('pr_{base62:22}') AS id, w.value ->> 'id' AS workspace, p.value AS json
  FROM json_each(:workspaces) w, json_each(w.value, '$.json.projects') p
  WHERE p.type = 'object'
  ORDER BY w.key, p.key
);
SELECT json_group_array(json_object(
  'id', id,
  'workspace', workspace,
  'project', project,
  'json', json(json)
)) AS tasks
FROM (
  SELECT rand_text('tk_{base62:22}') AS id, workspace, project, json
  FROM (
    SELECT
      p.key,
      t.key AS place,
      p.value ->> 'workspace' AS workspace,
      p.value ->> 'id' AS project,
      t.value AS json
    FROM json_each(:projects) p, json_each(p.value, '$.json.tasks') t
    WHERE t.type = 'object'
    UNION ALL
    SELECT 1000000 + w.key, t.key, w.value ->> 'id', NULL, t.value
    FROM json_each(:workspaces) w, json_each(w.value, '$.json.tasks') t
    WHERE t.type = 'object'
  )
  ORDER BY key, place
);
INSERT OR IGNORE INTO status
SELECT
  workspace,
  name,
  100 + row_number() OVER (ORDER BY nth),
  lower(name) IN ('done', 'complete', 'closed', 'resolved', 'cancelled')
FROM (
  SELECT value ->> 'workspace' AS workspace, value ->> '$.json.status' AS name, key AS nth
  FROM json_each(:projects)
  UNION ALL
  SELECT value ->> 'workspace', value ->> '$.json.status', 100000 + key FROM json_each(:tasks)
)
WHERE name <> '';
INSERT INTO project
SELECT
  p.value ->> 'id',
  (SELECT ifnull(max(place), 0) FROM project) + p.key + 1,
  p.value ->> 'workspace',
  p.value ->> '$.json.name',
  p.value ->> '$.json.description',
  (
    SELECT s.name
    FROM status s
    WHERE s.workspace_id = p.value ->> 'workspace'
      AND s.name = ifnull(nullif(p.value ->> '$.json.status', ''), 'Todo')
  ),
  nullif(p.value ->> '$.json.due_date', ''),
  upper(p.value ->> '$.json.priority'),
  ifnull(p.value -> '$.json.labels', '[]'),
  now()
FROM json_each(:projects) p
ORDER BY p.key;
INSERT INTO task
SELECT
  t.value ->> 'id',
  (SELECT ifnull(max(place), 0) FROM task) + t.key + 1,
  t.value ->> 'workspace',
  t.value ->> 'project',
  t.value ->> '$.json.name',
  t.value ->> '$.json.description',
  (
    SELECT s.name
    FROM status s
    WHERE s.workspace_id = t.value ->> 'workspace'
      AND s.name = ifnull(nullif(t.value ->> '$.json.status', ''), 'Todo')
  ),
  ifnull(upper(t.value ->> '$.json.priority'), 'MEDIUM'),
  nullif(t.value ->> '$.json.due_date', ''),
  ifnull(t.value ->> '$.json.duration', 30),
  (SELECT u.id FROM user u WHERE u.email = t.value ->> '$.json.assignee'),
  ifnull(t.value -> '$.json.labels', '[]'),
  now()
FROM json_each(:tasks) t
ORDER BY t.key;
INSERT INTO comment
SELECT
  rand_text('cm_{base62:22}'),
  (SELECT ifnull(max(place), 0) FROM comment) + row_number() OVER (ORDER BY t.key, c.key),
  t.value ->> 'id',
  ifnull((SELECT id FROM user WHERE email = c.value ->> 'author'), :me),
  c.value ->> 'text',
  now()
FROM json_each(:tasks) t, json_each(t.value, '$.json.comments') c
WHERE c.type = 'object'
ORDER BY t.key, c.key;
UPDATE project SET labels = '[]' WHERE labels = 'null';
UPDATE task SET labels = '[]' WHERE labels = 'null';
SELECT json_object(
  'workspaces', json_array_length(:workspaces),
  'projects', json_array_length(:projects),
  'tasks', json_array_length(:tasks)
) AS result;

-- name: export
WITH t AS (
  SELECT
    t.project_id,
    t.workspace_id,
    t.place,
    drop_nulls(json_object(
      'name', t.name,
      'description', t.description,
      'status', t.status,
      'priority', t.priority,
      'due_date', t.due_date,
      'duration', t.duration,
      'labels', json(t.labels),
      'comments', (
        SELECT json_group_array(json(json))
        FROM (
          SELECT drop_nulls(json_object(
            'text', c.content,
            'author', iif(u.is_me, NULL, u.email)
          )) AS json
          FROM comment c
          JOIN user u ON u.id = c.user_id
          WHERE c.task_id = t.id
          ORDER BY c.place
        )
      ),
      'assignee', a.email
    )) AS json
  FROM task t
  LEFT JOIN user a ON a.id = t.assignee_id
)
SELECT json_object(
  'workspaces', (
    SELECT json_group_array(json(json))
    FROM (
      SELECT drop_nulls(json_object(
        'name', w.name,
        'projects', (
          SELECT json_group_array(json(json))
          FROM (
            SELECT drop_nulls(json_object(
              'name', p.name,
              'description', p.description,
              'due_date', p.due_date,
              'priority', p.priority,
              'labels', json(p.labels),
              'tasks', (
                SELECT json_group_array(json(json))
                FROM (SELECT json FROM t WHERE t.project_id = p.id ORDER BY t.place)
              ),
              'status', iif(p.status = 'Todo', NULL, p.status)
            )) AS json
            FROM project p
            WHERE p.workspace_id = w.id
            ORDER BY p.place
          )
        ),
        'tasks', (
          SELECT iif(count(*) > 0, json_group_array(json(json)), NULL)
          FROM (
            SELECT json FROM t WHERE t.workspace_id = w.id AND t.project_id IS NULL ORDER BY t.place
          )
        )
      )) AS json
      FROM workspace w
      WHERE w.place > 0
        OR EXISTS (SELECT 1 FROM project WHERE workspace_id = w.id)
        OR EXISTS (SELECT 1 FROM task WHERE workspace_id = w.id)
      ORDER BY w.place
    )
  )
) AS result;
