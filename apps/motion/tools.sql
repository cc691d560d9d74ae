-- The tools of Motion. Failures are told as an HTTP client does: a status and the address; what was
-- wrong with a request stands below.

-- part: not_found
SELECT 'Client error ''404 Not Found'' for url ''https://api.usemotion.com/v1' || :path || ''''
  || char(10) || 'For more information check: '
  || 'https://developer.mozilla.org/en-US/docs/Web/HTTP/Status/404' AS error
WHERE :found IS NULL;

-- part: bad_request
SELECT 'Client error ''400 Bad Request'' for url ''https://api.usemotion.com/v1' || :path || ''''
  || char(10) || :problem AS error
WHERE :problem IS NOT NULL;

-- part: find_workspace
-- Without one it is all of them.
SELECT nullif(:workspace_id, '') AS workspace;
SELECT iif(:workspace IS NULL, '', id) AS found
FROM workspace
WHERE :workspace IS NULL OR id = :workspace
LIMIT 1;
SELECT :path || iif(instr(:path, '?'), '&', '?') || 'workspaceId=' || :workspace AS path;
-- include: not_found

-- part: find_task
SELECT 'task_id parameter is required' AS error WHERE :task_id = '';
SELECT id AS found FROM task WHERE id = :task_id;
-- include: not_found

-- part: check_task
-- What a task may be: of :home, its workspace.
SELECT CASE
  WHEN trim(:name) = '' THEN 'name should not be empty'
  WHEN :status <> ''
      AND NOT EXISTS (SELECT 1 FROM status WHERE workspace_id = :home AND name = :status)
    THEN 'status "' || :status || '" is not one of the workspace: '
      || (
        SELECT group_concat(name, ', ')
        FROM (SELECT name FROM status WHERE workspace_id = :home ORDER BY place)
      )
  WHEN :priority <> '' AND upper(:priority) NOT IN ('ASAP', 'HIGH', 'MEDIUM', 'LOW')
    THEN 'priority must be one of the following values: ASAP, HIGH, MEDIUM, LOW'
  WHEN :assignee_id <> ''
      AND NOT EXISTS (
        SELECT 1
        FROM user u
        JOIN workspace w ON w.id = :home
        WHERE u.id = :assignee_id AND (w.type = 'TEAM' OR u.is_me)
      )
    THEN 'assigneeId is not a user of the workspace'
  WHEN :project_id <> ''
      AND NOT EXISTS (SELECT 1 FROM project WHERE id = :project_id AND workspace_id = :home)
    THEN 'projectId is not a project of the workspace'
  WHEN :due_date <> '' AND time_read(:due_date, 'UTC') IS NULL
    THEN 'dueDate must be a valid ISO 8601 date string'
END AS problem;
-- include: bad_request

-- name: motion_get_workspaces
SELECT json_object('count', count(*), 'workspaces', json_group_array(json(json))) AS result
FROM (SELECT json FROM workspace_row ORDER BY place);

-- name: motion_get_users
SELECT '/users' AS path;
-- include: find_workspace
SELECT json_object('count', count(*), 'users', json_group_array(json(json))) AS result
FROM (
  SELECT json
  FROM user_row
  WHERE is_me
    OR :workspace IS NULL
    OR EXISTS (SELECT 1 FROM workspace WHERE id = :workspace AND type = 'TEAM')
  ORDER BY place
);

-- name: motion_get_my_user
SELECT json AS result FROM user_row WHERE is_me;

-- name: motion_get_tasks
SELECT '/tasks' AS path;
-- include: find_workspace
SELECT json_object('count', count(*), 'tasks', json_group_array(json(json))) AS result
FROM (
  SELECT json FROM task_row WHERE :workspace IS NULL OR workspace_id = :workspace ORDER BY place
);

-- name: motion_get_task
SELECT '/tasks/' || :task_id AS path;
-- include: find_task
SELECT json AS result FROM task_row WHERE id = :found;

-- name: motion_create_task
SELECT 'name and workspace_id parameters are required' AS error
WHERE :name = '' OR :workspace_id = '';
SELECT '/tasks' AS path;
SELECT id AS found, id AS home FROM workspace WHERE id = :workspace_id;
-- include: not_found
-- include: check_task
INSERT INTO task (
  id, place, workspace_id, project_id, name, description, status, priority, due_date, assignee_id,
  created_at
) VALUES (
  new_id('task'),
  (SELECT ifnull(max(place), 0) + 1 FROM task),
  :home,
  nullif(:project_id, ''),
  :name,
  nullif(:description, ''),
  (
    SELECT name
    FROM status
    WHERE workspace_id = :home AND name = ifnull(nullif(:status, ''), 'Todo')
  ),
  ifnull(nullif(upper(:priority), ''), 'MEDIUM'),
  nullif(:due_date, ''),
  nullif(:assignee_id, ''),
  now()
)
RETURNING id AS new_task;
SELECT json AS result FROM task_row WHERE id = :new_task;

-- name: motion_update_task
SELECT '/tasks/' || :task_id AS path;
-- include: find_task
SELECT workspace_id AS home FROM task WHERE id = :found;
SELECT CASE
  WHEN :status = '' THEN 'status should not be empty'
  WHEN :priority = '' THEN 'priority must be one of the following values: ASAP, HIGH, MEDIUM, LOW'
END AS problem;
-- include: bad_request
-- include: check_task
-- An empty text takes away what may be missing.
UPDATE task
SET
  name = ifnull(:name, name),
  description = iif(:description IS NULL, description, nullif(:description, '')),
  status = ifnull((
    SELECT s.name FROM status s WHERE s.workspace_id = :home AND s.name = :status
  ), status),
  priority = ifnull(upper(:priority), priority),
  assignee_id = iif(:assignee_id IS NULL, assignee_id, nullif(:assignee_id, '')),
  project_id = iif(:project_id IS NULL, project_id, nullif(:project_id, '')),
  due_date = iif(:due_date IS NULL, due_date, nullif(:due_date, ''))
WHERE id = :found;
SELECT json AS result FROM task_row WHERE id = :found;

-- name: motion_delete_task
SELECT '/tasks/' || :task_id AS path;
-- include: find_task
DELETE FROM comment WHERE task_id = :found;
DELETE FROM task WHERE id = :found;
SELECT json_object(
  'success', json('true'),
  'message', 'Task ' || :found || ' deleted successfully'
) AS result;

-- name: motion_search_tasks
SELECT 'query parameter is required' AS error WHERE :query = '';
SELECT '/tasks?search=' || :query AS path;
-- include: find_workspace
SELECT json_object('count', count(*), 'tasks', json_group_array(json(json))) AS result
FROM (
  SELECT json
  FROM task_row
  WHERE (:workspace IS NULL OR workspace_id = :workspace)
    AND (instr(lower(name), lower(:query)) OR instr(lower(description), lower(:query)))
  ORDER BY place
);

-- name: motion_get_projects
SELECT '/projects' AS path;
-- include: find_workspace
SELECT json_object('count', count(*), 'projects', json_group_array(json(json))) AS result
FROM (
  SELECT json FROM project_row WHERE :workspace IS NULL OR workspace_id = :workspace ORDER BY place
);

-- name: motion_get_project
SELECT 'project_id parameter is required' AS error WHERE :project_id = '';
SELECT '/projects/' || :project_id AS path;
SELECT id AS found FROM project WHERE id = :project_id;
-- include: not_found
SELECT json AS result FROM project_row WHERE id = :found;

-- name: motion_create_project
SELECT 'name and workspace_id parameters are required' AS error
WHERE :name = '' OR :workspace_id = '';
SELECT '/projects' AS path;
SELECT id AS found FROM workspace WHERE id = :workspace_id;
-- include: not_found
SELECT CASE
  WHEN trim(:name) = '' THEN 'name should not be empty'
  WHEN :status <> ''
      AND NOT EXISTS (SELECT 1 FROM status WHERE workspace_id = :found AND name = :status)
    THEN 'status "' || :status || '" is not one of the workspace: '
      || (
        SELECT group_concat(name, ', ')
        FROM (SELECT name FROM status WHERE workspace_id = :found ORDER BY place)
      )
END AS problem;
-- include: bad_request
INSERT INTO project (id, place, workspace_id, name, description, status, created_at) VALUES (
  new_id('project'),
  (SELECT ifnull(max(place), 0) + 1 FROM project),
  :found,
  :name,
  nullif(:description, ''),
  (
    SELECT name
    FROM status
    WHERE workspace_id = :found AND name = ifnull(nullif(:status, ''), 'Todo')
  ),
  now()
)
RETURNING id AS new_project;
SELECT json AS result FROM project_row WHERE id = :new_project;

-- name: motion_get_comments
SELECT '/tasks/' || :task_id || '/comments' AS path;
-- include: find_task
SELECT json_object('count', count(*), 'comments', json_group_array(json(json))) AS result
FROM (SELECT json FROM comment_row WHERE task_id = :found ORDER BY place);

-- name: motion_create_comment
SELECT 'task_id and content parameters are required' AS error WHERE :task_id = '' OR :content = '';
SELECT '/tasks/' || :task_id || '/comments' AS path;
-- include: find_task
SELECT iif(trim(:content) = '', 'content should not be empty', NULL) AS problem;
-- include: bad_request
INSERT INTO comment
SELECT
  new_id('comment'),
  (SELECT ifnull(max(place), 0) + 1 FROM comment),
  :found,
  id,
  :content,
  now()
FROM user
WHERE is_me
RETURNING id AS new_comment;
SELECT json AS result FROM comment_row WHERE id = :new_comment;
