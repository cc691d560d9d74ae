-- Spaces with folders, lists, tasks and comments, in this order. Beyond Klavis' format a space may
-- have a "color" and be "private"; a list may have a "due_date" and a "priority", an "assignee" and
-- a "status" (a color); a task a "status", a "due_date", "assignees" and "subtasks". People are
-- named by their addresses, times are milliseconds. Dumps have these only where they say something.
-- Ids and the times of changes have no place in it.

-- name: import
SELECT id AS me FROM user WHERE is_me;
SELECT id AS team FROM team;
WITH RECURSIVE below (kind, member, nth, child) AS (
  VALUES
    ('space', 'folders', 1, 'folder'),
    ('space', 'lists', 2, 'list'),
    ('folder', 'lists', 1, 'list'),
    ('list', 'tasks', 1, 'task'),
    ('task', 'comments', 1, 'comment'),
    ('task', 'subtasks', 2, 'task')
),
t (ord, above, kind, in_kind, list, json) AS (
  SELECT printf('%08d', key), NULL, 'space', NULL, NULL, value
  FROM json_each(:args, '$.spaces')
  WHERE type = 'object'
  UNION ALL
  SELECT
    t.ord || printf('.%d%08d', b.nth, x.key),
    t.ord,
    b.child,
    t.kind,
    iif(t.kind = 'list', t.ord, t.list),
    x.value
  FROM t
  JOIN below b ON b.kind = t.kind, json_each(t.json, '$.' || b.member) x
  WHERE x.type = 'object'
)
INSERT INTO stage (ord, above, kind, id, hidden_id, list, json)
SELECT
  ord,
  above,
  kind,
  new_id(kind),
  iif(kind = 'list' AND in_kind = 'space', new_id('folder'), NULL),
  list,
  json
FROM (SELECT * FROM t ORDER BY ord);
SELECT kind || ' "' || (json ->> 'name') || '": priority is a number from 1 to 4' AS error
FROM stage
WHERE kind IN ('list', 'task') AND json ->> 'priority' NOT BETWEEN 1 AND 4
LIMIT 1;
SELECT 'task "' || (json ->> 'name') || '": unknown status "' || (json ->> 'status') || '"' AS error
FROM stage
WHERE kind = 'task' AND lower(json ->> 'status') NOT IN (SELECT name FROM status)
LIMIT 1;
SELECT json_group_array(mail) AS strangers
FROM (
  SELECT json ->> 'assignee' AS mail FROM stage WHERE kind = 'list'
  UNION ALL
  SELECT a.value FROM stage s, json_each(s.json, '$.assignees') a WHERE s.kind = 'task'
)
WHERE mail_is_address(mail) AND mail NOT IN (SELECT email FROM user);
-- include: common/newcomers
INSERT INTO user
SELECT
  (SELECT max(id) FROM user) + key + 1,
  value ->> 'name',
  value ->> 'email',
  upper(substr(value ->> 'name', 1, 1)),
  '#7c4dff',
  3,
  0
FROM json_each(:newcomers)
ORDER BY key;
SELECT 'there is no user "' || mail || '"' AS error
FROM (
  SELECT json ->> 'assignee' AS mail FROM stage WHERE kind = 'list'
  UNION ALL
  SELECT a.value FROM stage s, json_each(s.json, '$.assignees') a WHERE s.kind = 'task'
)
WHERE mail NOT IN (SELECT email FROM user)
LIMIT 1;
INSERT INTO space
SELECT
  id,
  (SELECT ifnull(max(place), 0) FROM space) + row_number() OVER (ORDER BY ord),
  :team,
  json ->> 'name',
  json ->> 'color',
  ifnull(json ->> 'private', 0)
FROM stage
WHERE kind = 'space'
ORDER BY ord;
INSERT INTO folder
SELECT
  ifnull(s.hidden_id, s.id),
  (SELECT ifnull(max(place), 0) FROM folder) + row_number() OVER (ORDER BY s.ord),
  u.id,
  iif(s.kind = 'folder', s.json ->> 'name', 'hidden'),
  s.kind = 'list'
FROM stage s
JOIN stage u ON u.ord = s.above
WHERE s.kind = 'folder' OR s.hidden_id IS NOT NULL
ORDER BY s.ord;
INSERT INTO list
SELECT
  s.id,
  (SELECT ifnull(max(place), 0) FROM list) + row_number() OVER (ORDER BY s.ord),
  ifnull(s.hidden_id, s.folder),
  s.json ->> 'name',
  s.json ->> 'description',
  s.json ->> 'due_date',
  s.json ->> 'priority',
  (SELECT p.id FROM user p WHERE p.email = s.json ->> 'assignee'),
  s.json ->> 'status'
FROM (
  SELECT s.*, u.id AS folder FROM stage s JOIN stage u ON u.ord = s.above WHERE s.kind = 'list'
) s
ORDER BY s.ord;
INSERT INTO task
SELECT
  s.id,
  (SELECT ifnull(max(place), 0) FROM task) + row_number() OVER (ORDER BY s.ord),
  (SELECT l.id FROM stage l WHERE l.ord = s.list),
  iif(u.kind = 'task', u.id, NULL),
  s.json ->> 'name',
  ifnull(s.json ->> 'description', ''),
  x.id,
  s.json ->> 'priority',
  s.json ->> 'due_date',
  :me,
  now_ms(),
  now_ms(),
  iif(x.type = 'closed', now_ms(), NULL)
FROM stage s
JOIN stage u ON u.ord = s.above
JOIN status x ON x.name = lower(ifnull(s.json ->> 'status', 'to do'))
WHERE s.kind = 'task'
ORDER BY s.ord;
INSERT OR IGNORE INTO task_assignee
SELECT s.id, p.id
FROM stage s, json_each(s.json, '$.assignees') a
JOIN user p ON p.email = a.value
WHERE s.kind = 'task';
INSERT INTO comment
SELECT
  s.id,
  (SELECT ifnull(max(place), 0) FROM comment) + row_number() OVER (ORDER BY s.ord),
  u.id,
  :me,
  s.json ->> 'body',
  now_ms()
FROM stage s
JOIN stage u ON u.ord = s.above
WHERE s.kind = 'comment'
ORDER BY s.ord;
SELECT json_group_object(kind || 's', n) AS counts
FROM (SELECT kind, count(*) AS n FROM stage GROUP BY kind ORDER BY min(ord));
DELETE FROM stage;
SELECT :counts AS result;

-- name: export
WITH t AS (
  SELECT
    t.list_id,
    t.place,
    drop_nulls(json_object(
      '_id', t.id,
      '_parent', t.parent_id,
      'name', t.name,
      'description', nullif(t.description, ''),
      'priority', t.priority,
      'comments', (
        SELECT json_group_array(json_object('body', text))
        FROM (SELECT text FROM comment WHERE task_id = t.id ORDER BY place)
      ),
      'status', iif(s.position > 0, s.name, NULL),
      'due_date', t.due_date,
      'assignees', (
        SELECT iif(count(*) > 0, json_group_array(email), NULL)
        FROM (
          SELECT u.email
          FROM task_assignee a
          JOIN user u ON u.id = a.user_id
          WHERE a.task_id = t.id
          ORDER BY u.id
        )
      )
    )) AS json
  FROM task t
  JOIN status s ON s.id = t.status_id
),
n AS (
  SELECT list_id, json_nest(json_group_array(json(json)), '_id', '_parent', 'subtasks', 1) AS tasks
  FROM (SELECT list_id, json FROM t ORDER BY place)
  GROUP BY list_id
),
l AS (
  SELECT
    l.place,
    l.folder_id,
    drop_nulls(json_object(
      'name', l.name,
      'description', l.content,
      'tasks', json(ifnull((SELECT n.tasks FROM n WHERE n.list_id = l.id), '[]')),
      'due_date', l.due_date,
      'priority', l.priority,
      'assignee', u.email,
      'status', l.status
    )) AS json
  FROM list l
  LEFT JOIN user u ON u.id = l.assignee_id
)
SELECT json_object('spaces', json_group_array(json(json))) AS result
FROM (
  SELECT drop_nulls(json_object(
    'name', s.name,
    'folders', (
      SELECT json_group_array(json(json))
      FROM (
        SELECT json_object(
          'name', f.name,
          'lists', (
            SELECT json_group_array(json(json))
            FROM (SELECT l.json FROM l WHERE l.folder_id = f.id ORDER BY l.place)
          )
        ) AS json
        FROM folder f
        WHERE f.space_id = s.id AND NOT f.is_hidden
        ORDER BY f.place
      )
    ),
    'lists', (
      SELECT json_group_array(json(json))
      FROM (
        SELECT l.json
        FROM l
        JOIN folder f ON f.id = l.folder_id
        WHERE f.space_id = s.id AND f.is_hidden
        ORDER BY l.place
      )
    ),
    'color', s.color,
    'private', json(iif(s.is_private, 'true', NULL))
  )) AS json
  FROM space s
  ORDER BY s.place
);
