-- Projects with their tasks, and the comments on these as stories. Beyond Klavis' format a project
-- may have a "team" (a name, or the beginning of the project's name says it), an "owner", a
-- "color" and a "due_date"; a task "tags" (names), "subtasks" and "attachments", a subtask also the
-- gid of a "project"; besides "projects" there may be "tags" and "tasks" of no project. Dumps have
-- these only where they say something. People are named by address, gid or name, or as "me";
-- whoever is not known comes to be. Times of creation have no place in it: they are lost in a dump.

-- name: import
SELECT gid AS me FROM user WHERE is_me;
SELECT gid AS workspace FROM workspace;
WITH RECURSIVE t (json) AS (
  SELECT i.value
  FROM json_each(:args, '$.projects') p, json_each(p.value, '$.tasks') i
  WHERE i.type = 'object'
  UNION ALL
  SELECT value FROM json_each(:args, '$.tasks') WHERE type = 'object'
  UNION ALL
  SELECT s.value FROM t, json_each(t.json, '$.subtasks') s WHERE s.type = 'object'
)
SELECT
  CASE
    WHEN date(json ->> 'due_date', '+0 days') IS NOT json ->> 'due_date'
      THEN 'due_date is a date (YYYY-MM-DD)'
    WHEN date(json ->> 'start_date', '+0 days') IS NOT json ->> 'start_date'
      THEN 'start_date is a date (YYYY-MM-DD)'
    WHEN json ->> 'due_datetime' IS NOT NULL AND time_read(json ->> 'due_datetime', 'UTC') IS NULL
      THEN 'due_datetime is a time (ISO 8601)'
  END AS why,
  json ->> 'name' AS name
FROM t
WHERE why IS NOT NULL
LIMIT 1;
SELECT 'task "' || :name || '": ' || :why AS error WHERE :why IS NOT NULL;
SELECT 'there is no team "' || (value ->> 'team') || '"' AS error
FROM json_each(:args, '$.projects')
WHERE lower(value ->> 'team') NOT IN (SELECT lower(name) FROM team)
LIMIT 1;
SELECT 'the gid "' || value || '" is used twice' AS error
FROM json_tree(:args)
WHERE key = 'gid' AND type = 'text'
GROUP BY value
HAVING count(*) > 1
  OR value IN (
    SELECT gid FROM project
    UNION ALL
    SELECT gid FROM task
    UNION ALL
    SELECT gid FROM tag
    UNION ALL
    SELECT gid FROM story
    UNION ALL
    SELECT gid FROM attachment
  )
LIMIT 1;

-- People that nobody knew.
WITH RECURSIVE t (json) AS (
  SELECT i.value
  FROM json_each(:args, '$.projects') p, json_each(p.value, '$.tasks') i
  WHERE i.type = 'object'
  UNION ALL
  SELECT value FROM json_each(:args, '$.tasks') WHERE type = 'object'
  UNION ALL
  SELECT s.value FROM t, json_each(t.json, '$.subtasks') s WHERE s.type = 'object'
)
INSERT INTO user (gid, place, name, email, called)
SELECT
  iif(who GLOB '*[^0-9]*', new_id('gid'), who),
  (SELECT max(place) FROM user) + row_number() OVER (ORDER BY who),
  iif(
    who GLOB '*[^0-9]*',
    iif(mail_is_address(who), substr(who, 1, instr(who, '@') - 1), who),
    'Private User'
  ),
  iif(mail_is_address(who), who, NULL),
  who
FROM (
  SELECT json ->> 'assignee' AS who FROM t
  UNION
  SELECT value ->> 'owner' FROM json_each(:args, '$.projects')
)
WHERE who <> ''
  AND who <> 'me'
  AND NOT EXISTS (
    SELECT 1 FROM user u WHERE who IN (u.gid, u.called, u.email) OR lower(who) = lower(u.name)
  );

SELECT ifnull(max(place), 0) AS tags_before FROM tag;
INSERT INTO tag
SELECT
  ifnull(value ->> 'gid', new_id('gid')),
  :tags_before + key + 1,
  ifnull(value ->> 'name', ''),
  value ->> 'color',
  ifnull(value ->> 'description', ''),
  :workspace
FROM json_each(:args, '$.tags')
WHERE type = 'object'
ORDER BY key;
SELECT ifnull(max(place), 0) AS projects_before FROM project;
INSERT INTO project
SELECT
  ifnull(p.value ->> 'gid', new_id('gid')),
  :projects_before + p.key + 1,
  p.value ->> 'name',
  ifnull(p.value ->> 'description', ''),
  p.value ->> 'color',
  p.value ->> 'due_date',
  ifnull((
    SELECT gid
    FROM user u
    WHERE p.value ->> 'owner' IN (u.gid, u.called, u.email)
      OR lower(p.value ->> 'owner') = lower(u.name)
  ), :me),
  coalesce(
    (SELECT t.gid FROM team t WHERE lower(t.name) = lower(p.value ->> 'team')),
    (
      SELECT t.gid
      FROM team t
      WHERE p.value ->> 'team' IS NULL
        AND t.place > 1
        AND lower(substr(p.value ->> 'name', 1, length(t.name))) = lower(t.name)
      ORDER BY t.place
      LIMIT 1
    ),
    (SELECT t.gid FROM team t WHERE t.place = 1)
  ),
  new_id('gid'),
  now(),
  now()
FROM json_each(:args, '$.projects') p
WHERE p.type = 'object'
ORDER BY p.key;
WITH RECURSIVE t (ord, above, project, json) AS (
  SELECT printf('%08d.%08d', p.key, i.key), NULL, q.gid, i.value
  FROM json_each(:args, '$.projects') p
  JOIN project q ON q.place = :projects_before + p.key + 1, json_each(p.value, '$.tasks') i
  WHERE p.type = 'object' AND i.type = 'object'
  UNION ALL
  SELECT printf('x.%08d', key), NULL, NULL, value
  FROM json_each(:args, '$.tasks')
  WHERE type = 'object'
  UNION ALL
  SELECT
    t.ord || printf('.%08d', s.key),
    t.ord,
    (SELECT gid FROM project WHERE gid = s.value ->> 'project'),
    s.value
  FROM t, json_each(t.json, '$.subtasks') s
  WHERE s.type = 'object'
)
INSERT INTO stage (ord, above, gid, project_gid, json)
SELECT ord, above, ifnull(json ->> 'gid', new_id('gid')), project, json
FROM (SELECT * FROM t ORDER BY ord);
SELECT ifnull(max(place), 0) AS tasks_before FROM task;
INSERT INTO task (
  gid, place, project_gid, parent_gid, workspace_gid, name, notes, completed_at, completed_by,
  assignee_gid, start_on, due_on, due_at, created_by, created_at, modified_at
)
SELECT
  gid,
  :tasks_before + row_number() OVER (ORDER BY ord),
  project_gid,
  (SELECT u.gid FROM stage u WHERE u.ord = s.above),
  :workspace,
  json ->> 'name',
  ifnull(json ->> 'description', ''),
  iif(json ->> 'completed', now(), NULL),
  iif(json ->> 'completed', :me, NULL),
  (
    SELECT u.gid
    FROM user u
    WHERE json ->> 'assignee' IN (u.gid, u.called, u.email)
      OR lower(json ->> 'assignee') = lower(u.name)
      OR u.is_me AND json ->> 'assignee' = 'me'
    LIMIT 1
  ),
  json ->> 'start_date',
  ifnull(
    json ->> 'due_date',
    time_write(time_read(json ->> 'due_datetime', 'UTC'), 'UTC', '%Y-%m-%d')
  ),
  json ->> 'due_datetime',
  :me,
  now(),
  now()
FROM stage s
ORDER BY ord;
-- Tags that came with a task.
INSERT INTO tag
SELECT new_id('gid'), most + row_number() OVER (ORDER BY name), name, NULL, '', :workspace
FROM (
  SELECT (SELECT ifnull(max(place), 0) FROM tag) AS most, min(g.value) AS name
  FROM stage s, json_each(s.json, '$.tags') g
  WHERE g.type = 'text'
    AND g.value NOT IN (SELECT gid FROM tag)
    AND lower(g.value) NOT IN (SELECT lower(name) FROM tag)
  GROUP BY lower(g.value)
);
INSERT OR IGNORE INTO task_tag
SELECT
  s.gid,
  ifnull(
    (SELECT gid FROM tag WHERE gid = g.value),
    (SELECT gid FROM tag WHERE lower(name) = lower(g.value) ORDER BY place LIMIT 1)
  ),
  g.key + 1
FROM stage s, json_each(s.json, '$.tags') g
WHERE g.type = 'text'
ORDER BY s.ord, g.key;
INSERT INTO story
SELECT
  ifnull(c.value ->> 'gid', new_id('gid')),
  (SELECT ifnull(max(place), 0) FROM story) + row_number() OVER (ORDER BY s.ord, c.key),
  s.gid,
  c.value ->> 'text',
  :me,
  now()
FROM stage s, json_each(s.json, '$.stories') c
WHERE c.type = 'object'
ORDER BY s.ord, c.key;
INSERT INTO attachment
SELECT
  ifnull(c.value ->> 'gid', new_id('gid')),
  (SELECT ifnull(max(place), 0) FROM attachment) + row_number() OVER (ORDER BY s.ord, c.key),
  s.gid,
  ifnull(c.value ->> 'name', ''),
  c.value ->> 'url',
  ifnull(c.value ->> 'content_base64', iif(c.value ->> 'url' IS NULL, '', NULL)),
  now()
FROM stage s, json_each(s.json, '$.attachments') c
WHERE c.type = 'object'
ORDER BY s.ord, c.key;
SELECT
  count(*) AS n_tasks,
  ifnull(sum(json_array_length(ifnull(json -> '$.stories', '[]'))), 0) AS n_stories
FROM stage;
DELETE FROM stage;
SELECT json_object(
  'projects', json_array_length(ifnull(:args -> '$.projects', '[]')),
  'tasks', :n_tasks,
  'stories', :n_stories
) AS result;

-- name: export
WITH t AS (
  SELECT
    t.gid,
    t.place,
    t.parent_gid,
    t.project_gid,
    drop_nulls(json_object(
      '_id', t.gid,
      '_parent', t.parent_gid,
      'gid', t.gid,
      'name', t.name,
      'description', nullif(t.notes, ''),
      'completed', json(iif(t.completed_at IS NULL, 'false', 'true')),
      'assignee', u.called,
      'due_date', t.due_on,
      'due_datetime', t.due_at,
      'start_date', t.start_on,
      'stories', (
        SELECT json_group_array(json_object('gid', gid, 'text', text))
        FROM (SELECT gid, text FROM story WHERE task_gid = t.gid ORDER BY place)
      ),
      'tags', (
        SELECT iif(count(*) > 0, json_group_array(called), NULL)
        FROM (
          SELECT iif(
            (SELECT count(*) FROM tag h WHERE lower(h.name) = lower(g.name)) > 1,
            g.gid,
            g.name
          ) AS called
          FROM task_tag m
          JOIN tag g ON g.gid = m.tag_gid
          WHERE m.task_gid = t.gid
          ORDER BY m.place
        )
      ),
      'project', iif(t.parent_gid IS NULL, NULL, t.project_gid),
      'attachments', (
        SELECT iif(count(*) > 0, json_group_array(json(json)), NULL)
        FROM (
          SELECT drop_nulls(json_object(
            'gid', gid,
            'name', name,
            'url', url,
            'content_base64', content
          )) AS json
          FROM attachment
          WHERE task_gid = t.gid
          ORDER BY place
        )
      )
    )) AS json
  FROM task t
  LEFT JOIN user u ON u.gid = t.assignee_gid
),
-- Which tree a task is in.
r (gid, root, project) AS (
  SELECT gid, gid, project_gid FROM task WHERE parent_gid IS NULL
  UNION ALL
  SELECT s.gid, r.root, r.project FROM r JOIN task s ON s.parent_gid = r.gid
),
n AS (
  SELECT
    r.project,
    json_nest(json_group_array(json(t.json)), '_id', '_parent', 'subtasks', 1) AS tasks
  FROM (SELECT t.json, t.gid FROM t ORDER BY t.place) t
  JOIN r ON r.gid = t.gid
  GROUP BY r.project
)
SELECT drop_nulls(json_object(
  'projects', (
    SELECT json_group_array(json(json))
    FROM (
      SELECT drop_nulls(json_object(
        'gid', p.gid,
        'name', p.name,
        'description', nullif(p.notes, ''),
        'tasks', json(ifnull((SELECT n.tasks FROM n WHERE n.project = p.gid), '[]')),
        'team', iif(
          p.team_gid = (
            SELECT x.gid
            FROM team x
            WHERE x.place = 1 OR lower(substr(p.name, 1, length(x.name))) = lower(x.name)
            ORDER BY x.place = 1, x.place
            LIMIT 1
          ),
          NULL,
          (SELECT x.name FROM team x WHERE x.gid = p.team_gid)
        ),
        'owner', iif(u.is_me, NULL, u.called),
        'color', p.color,
        'due_date', p.due_on
      )) AS json
      FROM project p
      LEFT JOIN user u ON u.gid = p.owner_gid
      ORDER BY p.place
    )
  ),
  'tags', (
    SELECT iif(count(*) > 0, json_group_array(json(json)), NULL)
    FROM (
      SELECT drop_nulls(json_object(
        'gid', gid,
        'name', name,
        'color', color,
        'description', nullif(notes, '')
      )) AS json
      FROM tag
      ORDER BY place
    )
  ),
  'tasks', json((SELECT n.tasks FROM n WHERE n.project IS NULL))
)) AS result;
