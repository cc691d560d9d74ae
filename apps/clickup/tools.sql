-- The tools of ClickUp. Times are milliseconds, as texts when shown.

-- part: find_team
SELECT 'ClickUp API error: Team not authorized (OAUTH_027)' AS error
WHERE :team_id NOT IN (SELECT id FROM team);

-- part: find_space
SELECT 'ClickUp API error: Space not found' AS error
WHERE :space_id IS NOT NULL AND :space_id NOT IN (SELECT id FROM space);

-- part: find_folder
SELECT 'ClickUp API error: Folder not found' AS error
WHERE :folder_id IS NOT NULL AND :folder_id NOT IN (SELECT id FROM folder WHERE NOT is_hidden);

-- part: find_list
SELECT 'ClickUp API error: List not found' AS error WHERE :list_id NOT IN (SELECT id FROM list);

-- part: find_task
SELECT 'ClickUp API error: Task not found, deleted (ITEM_013)' AS error
WHERE :task_id NOT IN (SELECT id FROM task);

-- part: check_priority
SELECT 'ClickUp API error: Priority must be from 1 (urgent) to 4 (low)' AS error
WHERE :priority NOT BETWEEN 1 AND 4;

-- part: check_list
-- include: check_priority
SELECT 'ClickUp API error: Due date must be a Unix time in milliseconds' AS error
WHERE :due_date <> '' AND (:due_date GLOB '*[^0-9]*' OR length(:due_date) > 15);
SELECT 'ClickUp API error: Assignee not found' AS error
WHERE :assignee <> '' AND :assignee NOT IN (SELECT CAST(id AS TEXT) FROM user);

-- part: show_teams
SELECT json_object('teams', json_group_array(json(json))) AS result FROM team_row;

-- name: clickup_get_teams
-- include: show_teams

-- name: clickup_get_workspaces
-- include: show_teams

-- name: clickup_get_spaces
SELECT 'team_id parameter is required' AS error WHERE :team_id = '';
-- include: find_team
SELECT json_object('spaces', json_group_array(json(json))) AS result
FROM (SELECT json FROM space_row WHERE team_id = :team_id ORDER BY place);

-- name: clickup_create_space
SELECT 'team_id and name parameters are required' AS error WHERE :team_id = '' OR :name = '';
-- include: find_team
SELECT 'ClickUp API error: Space with this name already exists' AS error
WHERE lower(:name) IN (SELECT lower(name) FROM space WHERE team_id = :team_id);
INSERT INTO space VALUES (
  new_id('space'),
  (SELECT ifnull(max(place), 0) + 1 FROM space),
  :team_id,
  :name,
  nullif(:color, ''),
  ifnull(:private, 0)
)
RETURNING id AS new_space;
SELECT json AS result FROM space_row WHERE id = :new_space;

-- name: clickup_update_space
SELECT 'space_id parameter is required' AS error WHERE :space_id = '';
-- include: find_space
SELECT 'ClickUp API error: Space with this name already exists' AS error
WHERE lower(:name) IN (SELECT lower(name) FROM space WHERE id <> :space_id);
UPDATE space
SET
  name = ifnull(nullif(:name, ''), name),
  color = ifnull(nullif(:color, ''), color),
  is_private = ifnull(:private, is_private)
WHERE id = :space_id;
SELECT json AS result FROM space_row WHERE id = :space_id;

-- name: clickup_get_folders
SELECT 'space_id parameter is required' AS error WHERE :space_id = '';
-- include: find_space
SELECT json_object('folders', json_group_array(json(json))) AS result
FROM (SELECT json FROM folder_row WHERE space_id = :space_id AND NOT is_hidden ORDER BY place);

-- name: clickup_create_folder
SELECT 'space_id and name parameters are required' AS error WHERE :space_id = '' OR :name = '';
-- include: find_space
SELECT 'ClickUp API error: Folder name taken (CAT_014)' AS error
WHERE lower(:name) IN (SELECT lower(name) FROM folder WHERE space_id = :space_id AND NOT is_hidden);
INSERT INTO folder VALUES (
  new_id('folder'),
  (SELECT ifnull(max(place), 0) + 1 FROM folder),
  :space_id,
  :name,
  0
)
RETURNING id AS new_folder;
SELECT json AS result FROM folder_row WHERE id = :new_folder;

-- name: clickup_update_folder
SELECT 'folder_id and name parameters are required' AS error WHERE :folder_id = '' OR :name = '';
-- include: find_folder
SELECT 'ClickUp API error: Folder name taken (CAT_014)' AS error
FROM folder f
JOIN folder o ON o.space_id = f.space_id AND o.id <> f.id AND NOT o.is_hidden
WHERE f.id = :folder_id AND lower(o.name) = lower(:name)
LIMIT 1;
UPDATE folder SET name = :name WHERE id = :folder_id;
SELECT json AS result FROM folder_row WHERE id = :folder_id;

-- name: clickup_get_lists
SELECT nullif(:folder_id, '') AS folder_id, nullif(:space_id, '') AS space_id;
SELECT 'either folder_id or space_id parameter is required' AS error
WHERE :folder_id IS NULL AND :space_id IS NULL;
-- include: find_folder
SELECT iif(:folder_id IS NULL, :space_id, NULL) AS space_id;
-- include: find_space
SELECT json_object('lists', json_group_array(json(json))) AS result
FROM (
  SELECT json
  FROM list_row
  WHERE folder_id = :folder_id OR space_id = :space_id AND is_hidden
  ORDER BY place
);

-- name: clickup_create_list
SELECT nullif(:folder_id, '') AS folder_id, nullif(:space_id, '') AS space_id;
SELECT 'name parameter is required' AS error WHERE :name = '';
SELECT 'either folder_id or space_id parameter is required' AS error
WHERE :folder_id IS NULL AND :space_id IS NULL;
-- include: find_folder
SELECT iif(:folder_id IS NULL, :space_id, NULL) AS space_id;
-- include: find_space
-- include: check_list
SELECT 'ClickUp API error: List name taken (SUBCAT_016)' AS error
FROM list_row r
JOIN list l ON l.id = r.id
WHERE (r.folder_id = :folder_id OR r.space_id = :space_id AND r.is_hidden)
  AND lower(l.name) = lower(:name)
LIMIT 1;
INSERT INTO folder
SELECT new_id('folder'), (SELECT ifnull(max(place), 0) + 1 FROM folder), :space_id, 'hidden', 1
WHERE :space_id IS NOT NULL
RETURNING id AS hidden_folder;
INSERT INTO list VALUES (
  new_id('list'),
  (SELECT ifnull(max(place), 0) + 1 FROM list),
  ifnull(:folder_id, :hidden_folder),
  :name,
  nullif(:content, ''),
  CAST(nullif(:due_date, '') AS INTEGER),
  :priority,
  CAST(nullif(:assignee, '') AS INTEGER),
  nullif(:status, '')
)
RETURNING id AS new_list;
SELECT json AS result FROM list_row WHERE id = :new_list;

-- name: clickup_update_list
SELECT 'list_id parameter is required' AS error WHERE :list_id = '';
-- include: find_list
-- include: check_list
SELECT 'ClickUp API error: List name taken (SUBCAT_016)' AS error
FROM list_row r
JOIN list_row o
  ON o.id <> r.id
    AND (o.folder_id = r.folder_id OR o.space_id = r.space_id AND o.is_hidden AND r.is_hidden)
JOIN list l ON l.id = o.id
WHERE r.id = :list_id AND lower(l.name) = lower(:name)
LIMIT 1;
UPDATE list
SET
  name = ifnull(nullif(:name, ''), name),
  content = ifnull(nullif(:content, ''), content),
  due_date = ifnull(CAST(nullif(:due_date, '') AS INTEGER), due_date),
  priority = ifnull(:priority, priority),
  assignee_id = ifnull(CAST(nullif(:assignee, '') AS INTEGER), assignee_id),
  status = iif(:unset_status, NULL, status)
WHERE id = :list_id;
SELECT json AS result FROM list_row WHERE id = :list_id;

-- name: clickup_get_tasks
SELECT 'list_id parameter is required' AS error WHERE :list_id = '';
-- include: find_list
SELECT 'ClickUp API error: Page must be 0 or more' AS error WHERE :page < 0;
-- Nothing is ever archived.
SELECT count(*) AS total
FROM task_row
WHERE list_id = :list_id
  AND NOT :archived
  AND (:include_closed OR status_type <> 'closed')
  AND (:subtasks OR parent_id IS NULL);
SELECT json_object(
  'tasks', json_group_array(json(json)),
  'last_page', json(iif((:page + 1) * 100 < :total, 'false', 'true'))
) AS result
FROM (
  SELECT json
  FROM task_row
  WHERE list_id = :list_id
    AND NOT :archived
    AND (:include_closed OR status_type <> 'closed')
    AND (:subtasks OR parent_id IS NULL)
  ORDER BY created_at DESC, place DESC
  LIMIT 100 OFFSET :page * 100
);

-- name: clickup_get_task_by_id
SELECT 'task_id parameter is required' AS error WHERE :task_id = '';
-- include: find_task
SELECT iif(
  :include_subtasks,
  json_set(
    json,
    '$.subtasks', (
      SELECT json_group_array(json(json))
      FROM (SELECT s.json FROM task_row s WHERE s.parent_id = :task_id ORDER BY s.place)
    )
  ),
  json
) AS result
FROM task_row
WHERE id = :task_id;

-- name: clickup_create_task
SELECT 'list_id and name parameters are required' AS error WHERE :list_id = '' OR :name = '';
-- include: find_list
-- include: check_priority
SELECT id AS status_id, type AS status_type
FROM status
WHERE iif(ifnull(:status, '') = '', position = 0, name = lower(trim(:status)));
SELECT 'ClickUp API error: Status not found (CRTSK_001)' AS error WHERE :status_id IS NULL;
SELECT 'ClickUp API error: Due date must be a Unix time in milliseconds' AS error
WHERE :due_date < 0;
SELECT 'ClickUp API error: Assignee not found: ' || value AS error
FROM json_each(:assignees)
WHERE value NOT IN (SELECT CAST(id AS TEXT) FROM user)
LIMIT 1;
SELECT id AS me FROM user WHERE is_me;
INSERT INTO task VALUES (
  new_id('task'),
  (SELECT ifnull(max(place), 0) + 1 FROM task),
  :list_id,
  NULL,
  :name,
  ifnull(:description, ''),
  :status_id,
  :priority,
  nullif(:due_date, 0),
  :me,
  now_ms(),
  now_ms(),
  iif(:status_type = 'closed', now_ms(), NULL)
)
RETURNING id AS new_task;
INSERT OR IGNORE INTO task_assignee
SELECT :new_task, CAST(value AS INTEGER)
FROM json_each(:assignees);
SELECT json AS result FROM task_row WHERE id = :new_task;

-- name: clickup_update_task
SELECT 'task_id parameter is required' AS error WHERE :task_id = '';
-- include: find_task
-- include: check_priority
SELECT 'ClickUp API error: Due date must be a Unix time in milliseconds' AS error
WHERE :due_date < 0;
SELECT id AS status_id
FROM status
WHERE id = (SELECT status_id FROM task WHERE id = :task_id) AND ifnull(:status, '') = ''
  OR name = lower(trim(:status));
SELECT 'ClickUp API error: Status does not exist (ITEM_114)' AS error WHERE :status_id IS NULL;
UPDATE task
SET
  name = ifnull(nullif(:name, ''), name),
  description = ifnull(:description, description),
  status_id = :status_id,
  priority = ifnull(:priority, priority),
  due_date = iif(:due_date IS NULL, due_date, nullif(:due_date, 0)),
  updated_at = now_ms(),
  closed_at = iif(
    (SELECT type FROM status WHERE id = :status_id) = 'closed',
    ifnull(closed_at, now_ms()),
    NULL
  )
WHERE id = :task_id;
SELECT json AS result FROM task_row WHERE id = :task_id;

-- name: clickup_search_tasks
SELECT 'team_id and query parameters are required' AS error WHERE :team_id = '' OR :query = '';
-- include: find_team
SELECT 'ClickUp API error: start must be 0 or more, limit from 1 to 100' AS error
WHERE :start < 0 OR :limit NOT BETWEEN 1 AND 100;
SELECT '[' || replace(json_quote(trim(:query)), ' ', '","') || ']' AS words;
SELECT json_object('tasks', json_group_array(json(json))) AS result
FROM (
  SELECT json
  FROM task_row t
  WHERE NOT EXISTS (
    SELECT 1
    FROM json_each(:words)
    WHERE value <> '' AND NOT text_has(t.name || ' ' || t.description, value)
  )
  ORDER BY created_at DESC, place DESC
  LIMIT :limit OFFSET :start
);

-- name: clickup_get_comments
SELECT 'task_id parameter is required' AS error WHERE :task_id = '';
-- include: find_task
SELECT json_object('comments', json_group_array(json(json))) AS result
FROM (SELECT json FROM comment_row WHERE task_id = :task_id ORDER BY place DESC);

-- name: clickup_create_comment
SELECT 'task_id and comment_text parameters are required' AS error
WHERE :task_id = '' OR :comment_text = '';
-- include: find_task
INSERT INTO comment VALUES (
  new_id('comment'),
  (SELECT ifnull(max(place), 0) + 1 FROM comment),
  :task_id,
  (SELECT id FROM user WHERE is_me),
  :comment_text,
  now_ms()
)
RETURNING id AS new_comment;
UPDATE task SET updated_at = now_ms() WHERE id = :task_id;
SELECT json AS result FROM comment_row WHERE id = :new_comment;

-- name: clickup_update_comment
SELECT 'comment_id and comment_text parameters are required' AS error
WHERE :comment_id = '' OR :comment_text = '';
SELECT 'ClickUp API error: Comment not found' AS error
WHERE :comment_id NOT IN (SELECT id FROM comment);
UPDATE comment SET text = :comment_text WHERE id = :comment_id;
SELECT json AS result FROM comment_row WHERE id = :comment_id;

-- name: clickup_get_user
SELECT json_object('user', json_set(p.json, '$.color', u.color)) AS result
FROM user u
JOIN person p ON p.id = u.id
WHERE u.is_me;

-- name: clickup_get_team_members
SELECT 'team_id parameter is required' AS error WHERE :team_id = '';
-- include: find_team
SELECT json_object('members', json_group_array(json(json))) AS result
FROM (SELECT json FROM member ORDER BY id);
