-- The tools of Asana. People are named by gid, by e-mail address or as "me", projects and tags by
-- gid or by name.

-- part: find_workspace
SELECT gid AS workspace FROM workspace WHERE gid = :workspace_id;
SELECT 'Asana API Error: workspace: '
  || iif(
    :workspace_id GLOB '*[^0-9]*' OR :workspace_id = '',
    'Not a recognized ID: ',
    'Unknown object: '
  ) || :workspace_id AS error
WHERE :workspace IS NULL;

-- part: page
-- A token of a next page is where it begins.
SELECT
  ifnull(:limit, 100) AS size,
  iif(ifnull(:next_page_token, '') = '', 0, CAST(substr(:next_page_token, 2) AS INTEGER)) AS skip;
SELECT 'Asana API Error: offset: Your pagination token is invalid.' AS error
WHERE :next_page_token <> '' AND (:next_page_token <> 'o' || :skip OR :skip <= 0);

-- part: next_page
SELECT json_object(
  'next_page_token', iif(:skip + :size < :total, 'o' || (:skip + :size), NULL)
) AS next_page;

-- part: find_task
SELECT gid AS task FROM task WHERE gid = :task_id;
SELECT 'Asana API Error: task: '
  || iif(:task_id GLOB '*[^0-9]*' OR :task_id = '', 'Not a recognized ID: ', 'Unknown object: ')
  || :task_id AS error
WHERE :task IS NULL;

-- part: find_assignee
SELECT gid AS assignee
FROM user
WHERE :assignee_id IN (gid, email) OR is_me AND :assignee_id = 'me'
LIMIT 1;
SELECT 'Asana API Error: assignee: '
  || iif(
    :assignee_id GLOB '*[^0-9]*' OR :assignee_id = '',
    'Not a recognized ID: ',
    'Unknown object: '
  ) || :assignee_id AS error
WHERE :assignee IS NULL AND :assignee_id IS NOT NULL;

-- part: find_project
SELECT iif(:project = '' OR :project GLOB '*[^0-9]*', 1, 0) AS is_name;
SELECT
  min(gid) AS project_gid,
  count(*) AS n_projects,
  json_group_array(json_object('name', name, 'id', gid)) AS projects
FROM (
  SELECT name, gid
  FROM project
  WHERE iif(:is_name, lower(name) = lower(:project), gid = :project)
  ORDER BY place
);
SELECT 'Project with name ''' || :project || ''' was not found. Projects available: '
  || (
    SELECT json_group_array(json_object('name', name, 'id', gid))
    FROM (SELECT name, gid FROM project ORDER BY place LIMIT 100)
  ) AS error
WHERE :project <> '' AND :is_name AND :n_projects = 0;
SELECT 'Multiple projects found with the same name. Please provide a project ID instead. '
  || 'Projects matching the name ''' || :project || ''': ' || :projects AS error
WHERE :project <> '' AND :n_projects > 1;
SELECT 'Asana API Error: project: Unknown object: ' || :project AS error
WHERE :project <> '' AND :n_projects = 0;

-- part: check_dates
SELECT 'Asana API Error: Invalid ' || name || ' date format. Use the format YYYY-MM-DD.' AS error
FROM (SELECT 'start_date' AS name, :start_date AS date UNION ALL SELECT 'due_date', :due_date)
WHERE date <> '' AND date(date, '+0 days') IS NOT date
LIMIT 1;

-- part: check_order
-- Of the task as it is now; a failure undoes it.
SELECT iif(
  due_on IS NULL,
  'Asana API Error: due_on: A start date needs a due date.',
  'Asana API Error: start_on: The start date must be before the due date.'
) AS error
FROM task
WHERE gid = :task AND start_on IS NOT NULL AND (due_on IS NULL OR due_on < start_on);

-- part: show_task
SELECT json_object('task', json(json)) AS result FROM task_row WHERE gid = :task;

-- name: asana_create_task
-- include: find_workspace
-- include: check_dates
-- include: find_project
SELECT 'Asana API Error: parent: '
  || iif(:parent_task_id GLOB '*[^0-9]*', 'Not a recognized ID: ', 'Unknown object: ')
  || :parent_task_id AS error
WHERE :parent_task_id <> '' AND :parent_task_id NOT IN (SELECT gid FROM task);
SELECT ifnull(:assignee_id, 'me') AS assignee_id;
-- include: find_assignee
SELECT 'Asana API Error: tags: Unknown object: ' || value AS error
FROM json_each(:tags)
WHERE value <> '' AND value NOT GLOB '*[^0-9]*' AND value NOT IN (SELECT gid FROM tag)
LIMIT 1;
SELECT gid AS me FROM user WHERE is_me;
INSERT INTO tag
SELECT new_id('gid'), most + row_number() OVER (ORDER BY nth), name, NULL, '', :workspace
FROM (
  SELECT (SELECT ifnull(max(place), 0) FROM tag) AS most, min(key) AS nth, min(value) AS name
  FROM json_each(:tags)
  WHERE value GLOB '*[^0-9]*' AND lower(value) NOT IN (SELECT lower(name) FROM tag)
  GROUP BY lower(value)
);
INSERT INTO task (
  gid, place, project_gid, parent_gid, workspace_gid, name, notes, assignee_gid, start_on, due_on,
  created_by, created_at, modified_at
) VALUES (
  new_id('gid'),
  (SELECT ifnull(max(place), 0) + 1 FROM task),
  iif(:project <> '', :project_gid, NULL),
  nullif(:parent_task_id, ''),
  :workspace,
  :name,
  ifnull(:description, ''),
  :assignee,
  nullif(:start_date, ''),
  nullif(:due_date, ''),
  :me,
  now(),
  now()
)
RETURNING gid AS task;
-- include: check_order
INSERT OR IGNORE INTO task_tag
SELECT
  :task,
  ifnull(
    (SELECT gid FROM tag WHERE gid = value),
    (SELECT gid FROM tag WHERE lower(name) = lower(value) ORDER BY place LIMIT 1)
  ),
  key + 1
FROM json_each(:tags)
WHERE value <> ''
ORDER BY key;
-- include: show_task

-- name: asana_get_task
-- include: find_task
SELECT json_object(
  'task', iif(
    ifnull(:max_subtasks, 100) = 0,
    json(json),
    json_set(
      json,
      '$.subtasks', (
        SELECT json_group_array(json(json))
        FROM (
          SELECT s.json
          FROM task_row s
          WHERE s.parent_gid = :task
          ORDER BY s.place
          LIMIT ifnull(:max_subtasks, 100)
        )
      )
    )
  )
) AS result
FROM task_row
WHERE gid = :task;

-- name: asana_search_tasks
-- include: find_workspace
-- include: find_project
SELECT 'Asana API Error: Invalid ' || name || ' date format. Use the format YYYY-MM-DD.' AS error
FROM (
  SELECT 'due_on' AS name, :due_on AS date
  UNION ALL
  SELECT 'due_on_or_after', :due_on_or_after
  UNION ALL
  SELECT 'due_on_or_before', :due_on_or_before
  UNION ALL
  SELECT 'start_on', :start_on
  UNION ALL
  SELECT 'start_on_or_after', :start_on_or_after
  UNION ALL
  SELECT 'start_on_or_before', :start_on_or_before
)
WHERE date <> '' AND date(date, '+0 days') IS NOT date
LIMIT 1;
SELECT nullif(:assignee_id, '') AS wanted, nullif(nullif(:assignee_id, ''), 'null') AS assignee_id;
-- include: find_assignee
SELECT 'Asana API Error: team.any: '
  || iif(:team_id GLOB '*[^0-9]*', 'Not a recognized ID: ', 'Unknown object: ') || :team_id AS error
WHERE :team_id <> '' AND :team_id NOT IN (SELECT gid FROM team);
SELECT '[' || replace(json_quote(trim(ifnull(:keywords, ''))), ' ', '","') || ']' AS words;
SELECT json_object('tasks', json_group_array(json(json)), 'count', count(*)) AS result
FROM (
  SELECT json
  FROM task_row t
  WHERE NOT EXISTS (
    SELECT 1
    FROM json_each(:words)
    WHERE value <> '' AND NOT text_has(t.name || ' ' || t.notes, value)
  )
    AND (:wanted IS NULL OR t.assignee_gid IS :assignee)
    AND (ifnull(:project, '') = '' OR t.project_gid = :project_gid)
    AND (
      ifnull(:team_id, '') = ''
      OR t.project_gid IN (SELECT gid FROM project WHERE team_gid = :team_id)
    )
    AND (
      ifnull(json_array_length(:tags), 0) = 0
      OR EXISTS (
        SELECT 1
        FROM task_tag m
        JOIN tag g ON g.gid = m.tag_gid
        JOIN json_each(:tags) x ON x.value = g.gid OR lower(x.value) = lower(g.name)
        WHERE m.task_gid = t.gid
      )
    )
    AND (ifnull(:due_on, '') = '' OR t.due_on = :due_on)
    AND (ifnull(:due_on_or_after, '') = '' OR t.due_on >= :due_on_or_after)
    AND (ifnull(:due_on_or_before, '') = '' OR t.due_on <= :due_on_or_before)
    AND (ifnull(:start_on, '') = '' OR t.start_on = :start_on)
    AND (ifnull(:start_on_or_after, '') = '' OR t.start_on >= :start_on_or_after)
    AND (ifnull(:start_on_or_before, '') = '' OR t.start_on <= :start_on_or_before)
    AND (:completed IS NULL OR (t.completed_at IS NOT NULL) = :completed)
  ORDER BY
    CASE WHEN :sort_by = 'due_date' THEN t.due_on IS NULL END,
    CASE
      WHEN ifnull(:sort_order, '') <> 'ascending' THEN NULL
      WHEN :sort_by = 'due_date' THEN t.due_on
      WHEN :sort_by = 'created_at' THEN t.created_at
      ELSE t.modified_at
    END,
    CASE
      WHEN :sort_order = 'ascending' THEN NULL
      WHEN :sort_by = 'due_date' THEN t.due_on
      WHEN :sort_by = 'created_at' THEN t.created_at
      ELSE t.modified_at
    END DESC,
    iif(:sort_order = 'ascending', t.place, -t.place)
  LIMIT ifnull(:limit, 100)
);

-- name: asana_update_task
-- include: find_task
-- include: check_dates
-- include: find_assignee
SELECT gid AS me FROM user WHERE is_me;
UPDATE task
SET
  name = ifnull(:name, name),
  notes = ifnull(:description, notes),
  start_on = iif(:start_date IS NULL, start_on, nullif(:start_date, '')),
  due_on = iif(:due_date IS NULL, due_on, nullif(:due_date, '')),
  due_at = iif(:due_date IS NULL, due_at, NULL),
  assignee_gid = ifnull(:assignee, assignee_gid),
  completed_at = CASE :completed
    WHEN 1 THEN ifnull(completed_at, now())
    WHEN 0 THEN NULL
    ELSE completed_at
  END,
  completed_by = CASE :completed
    WHEN 1 THEN ifnull(completed_by, :me)
    WHEN 0 THEN NULL
    ELSE completed_by
  END,
  modified_at = now()
WHERE gid = :task;
-- include: check_order
-- include: show_task

-- name: asana_mark_task_completed
-- include: find_task
UPDATE task
SET
  completed_at = ifnull(completed_at, now()),
  completed_by = ifnull(completed_by, (SELECT gid FROM user WHERE is_me)),
  modified_at = now()
WHERE gid = :task;
-- include: show_task

-- name: asana_get_subtasks
-- include: find_task
-- include: page
SELECT count(*) AS total FROM task WHERE parent_gid = :task;
-- include: next_page
SELECT json_object(
  'subtasks', json_group_array(json(json)),
  'count', count(*),
  'next_page', json(:next_page)
) AS result
FROM (SELECT json FROM task_row WHERE parent_gid = :task ORDER BY place LIMIT :size OFFSET :skip);

-- name: asana_attach_file_to_task
SELECT 'One of file_content_str, file_content_base64, or file_content_url must be provided' AS error
WHERE ifnull(:file_content_str, '') = ''
  AND ifnull(:file_content_base64, '') = ''
  AND ifnull(:file_content_url, '') = '';
-- include: find_task
SELECT 'Asana API Error: url: Not a valid URL: ' || :file_content_url AS error
WHERE :file_content_url <> '' AND :file_content_url NOT LIKE 'http%://_%';
SELECT 'unknown encoding: ' || :file_encoding AS error
WHERE ifnull(:file_content_url, '') = ''
  AND :file_content_str <> ''
  AND replace(lower(:file_encoding), '_', '-') NOT IN (
    'utf-8', 'utf8', 'ascii', 'us-ascii', 'latin-1', 'latin1', 'iso-8859-1'
  );
SELECT 'Incorrect padding' AS error
WHERE ifnull(:file_content_url, '') = ''
  AND ifnull(:file_content_str, '') = ''
  AND unbase64(:file_content_base64) IS NULL;
INSERT INTO attachment VALUES (
  new_id('gid'),
  (SELECT ifnull(max(place), 0) + 1 FROM attachment),
  :task,
  :file_name,
  nullif(:file_content_url, ''),
  CASE
    WHEN :file_content_url <> '' THEN NULL
    WHEN :file_content_str <> '' THEN base64(:file_content_str)
    ELSE :file_content_base64
  END,
  now()
)
RETURNING gid AS attachment;
UPDATE task SET modified_at = now() WHERE gid = :task;
SELECT json_object('attachment', json(json)) AS result FROM attachment_row WHERE gid = :attachment;

-- name: asana_get_projects
-- include: find_workspace
SELECT 'Asana API Error: team: '
  || iif(:team_id GLOB '*[^0-9]*', 'Not a recognized ID: ', 'Unknown object: ') || :team_id AS error
WHERE :team_id <> '' AND :team_id NOT IN (SELECT gid FROM team);
SELECT 'Invalid ' || f.key || ' filter: ' || x.value || ' is not a time.' AS error
FROM json_each(:filter) f, json_each(f.value) x
WHERE f.type = 'object' AND time_read(x.value, 'UTC') IS NULL
LIMIT 1;
SELECT 'Invalid filter: ' || path || ' is not known.' AS error
FROM (SELECT replace(fullkey, '"', '') AS path FROM json_tree(:filter))
WHERE path NOT IN (
  '$', '$.created_at', '$.created_at.gt', '$.created_at.gte', '$.created_at.lt', '$.created_at.lte',
  '$.modified_at', '$.modified_at.gt', '$.modified_at.gte', '$.modified_at.lt', '$.modified_at.lte'
)
LIMIT 1;
-- include: page
SELECT json_group_array(json(json)) AS all_projects, count(*) AS total
FROM (
  SELECT p.json
  FROM project_row p
  WHERE p.workspace_gid = :workspace
    AND (ifnull(:team_id, '') = '' OR p.team_gid = :team_id)
    AND NOT EXISTS (
      SELECT 1
      FROM (
        SELECT
          iif(f.key = 'created_at', p.created_at, p.modified_at) AS at,
          x.key AS op,
          time_read(x.value, 'UTC') AS bound
        FROM json_each(:filter) f, json_each(f.value) x
      )
      WHERE NOT CASE op
        WHEN 'gt' THEN time_read(at, 'UTC') > bound
        WHEN 'gte' THEN time_read(at, 'UTC') >= bound
        WHEN 'lt' THEN time_read(at, 'UTC') < bound
        ELSE time_read(at, 'UTC') <= bound
      END
    )
  ORDER BY p.place
);
-- include: next_page
SELECT json_object(
  'projects', json_group_array(json(value)),
  'count', count(*),
  'next_page', json(:next_page)
) AS result
FROM (SELECT value FROM json_each(:all_projects) ORDER BY key LIMIT :size OFFSET :skip);

-- name: asana_get_project
SELECT 'Asana API Error: project: '
  || iif(
    :project_id GLOB '*[^0-9]*' OR :project_id = '',
    'Not a recognized ID: ',
    'Unknown object: '
  ) || :project_id AS error
WHERE :project_id NOT IN (SELECT gid FROM project);
SELECT json_object('project', json(json)) AS result FROM project_row WHERE gid = :project_id;

-- name: asana_get_project_tasks
SELECT 'Asana API Error: project: '
  || iif(
    :project_id GLOB '*[^0-9]*' OR :project_id = '',
    'Not a recognized ID: ',
    'Unknown object: '
  ) || :project_id AS error
WHERE :project_id NOT IN (SELECT gid FROM project);
SELECT time_read(iif(:completed_since = 'now', now(), :completed_since), 'UTC') AS since;
SELECT 'Asana API Error: completed_since: Not a recognized date: ' || :completed_since AS error
WHERE :completed_since <> '' AND :since IS NULL;
-- include: page
SELECT count(*) AS total
FROM task
WHERE project_gid = :project_id
  AND (:since IS NULL OR completed_at IS NULL OR time_read(completed_at, 'UTC') > :since);
-- include: next_page
SELECT json_object(
  'tasks', json_group_array(json(json)),
  'count', count(*),
  'next_page', json(:next_page)
) AS result
FROM (
  SELECT json
  FROM task_row
  WHERE project_gid = :project_id
    AND (:since IS NULL OR completed_at IS NULL OR time_read(completed_at, 'UTC') > :since)
  ORDER BY place
  LIMIT :size OFFSET :skip
);

-- name: asana_get_workspaces
-- include: page
SELECT count(*) AS total FROM workspace;
-- include: next_page
SELECT json_object(
  'workspaces', json_group_array(json(json)),
  'count', count(*),
  'next_page', json(:next_page)
) AS result
FROM (SELECT json FROM workspace_row ORDER BY gid LIMIT :size OFFSET :skip);

-- name: asana_get_workspace
-- include: find_workspace
SELECT json_object('workspace', json(json)) AS result FROM workspace_row WHERE gid = :workspace;

-- name: asana_get_users
-- include: find_workspace
-- include: page
SELECT count(*) AS total FROM user;
-- include: next_page
SELECT json_object(
  'users', json_group_array(json(json)),
  'count', count(*),
  'next_page', json(:next_page)
) AS result
FROM (SELECT json FROM user_row ORDER BY place LIMIT :size OFFSET :skip);

-- name: asana_get_user
SELECT gid AS found FROM user WHERE :user_id IN (gid, email) OR is_me AND :user_id = 'me' LIMIT 1;
SELECT 'Asana API Error: user: '
  || iif(:user_id GLOB '*[^0-9]*' OR :user_id = '', 'Not a recognized ID: ', 'Unknown object: ')
  || :user_id AS error
WHERE :found IS NULL;
SELECT json_object('user', json(json)) AS result FROM user_row WHERE gid = :found;

-- name: asana_get_teams
-- include: find_workspace
-- include: page
SELECT count(*) AS total FROM team WHERE workspace_gid = :workspace;
-- include: next_page
SELECT json_object(
  'teams', json_group_array(json(json)),
  'count', count(*),
  'next_page', json(:next_page)
) AS result
FROM (
  SELECT json FROM team_row WHERE workspace_gid = :workspace ORDER BY place LIMIT :size OFFSET :skip
);

-- name: asana_get_team
SELECT 'Asana API Error: team: '
  || iif(:team_id GLOB '*[^0-9]*' OR :team_id = '', 'Not a recognized ID: ', 'Unknown object: ')
  || :team_id AS error
WHERE :team_id NOT IN (SELECT gid FROM team);
SELECT json_object('team', json(json)) AS result FROM team_row WHERE gid = :team_id;

-- name: asana_get_user_teams
SELECT ifnull(nullif(:workspace_id, ''), (SELECT gid FROM workspace)) AS workspace_id;
-- include: find_workspace
-- include: page
SELECT count(*) AS total FROM team_member WHERE user_gid = (SELECT gid FROM user WHERE is_me);
-- include: next_page
SELECT json_object(
  'teams', json_group_array(json(json)),
  'count', count(*),
  'next_page', json(:next_page)
) AS result
FROM (
  SELECT t.json
  FROM team_member m
  JOIN team_row t ON t.gid = m.team_gid
  WHERE m.user_gid = (SELECT gid FROM user WHERE is_me) AND t.workspace_gid = :workspace
  ORDER BY t.place
  LIMIT :size OFFSET :skip
);

-- name: asana_get_tags
-- include: find_workspace
-- include: page
SELECT count(*) AS total FROM tag WHERE workspace_gid = :workspace;
-- include: next_page
SELECT json_object(
  'tags', json_group_array(json(json)),
  'count', count(*),
  'next_page', json(:next_page)
) AS result
FROM (
  SELECT json_remove(json, '$.color', '$.description') AS json
  FROM tag_row
  WHERE workspace_gid = :workspace
  ORDER BY place
  LIMIT :size OFFSET :skip
);

-- name: asana_get_tag
SELECT 'Asana API Error: tag: '
  || iif(:tag_id GLOB '*[^0-9]*' OR :tag_id = '', 'Not a recognized ID: ', 'Unknown object: ')
  || :tag_id AS error
WHERE :tag_id NOT IN (SELECT gid FROM tag);
SELECT json_object('tag', json(json)) AS result FROM tag_row WHERE gid = :tag_id;

-- name: asana_create_tag
SELECT 'Tag name must be between 1 and 100 characters long.' AS error
WHERE length(:name) NOT BETWEEN 1 AND 100;
-- include: find_workspace
INSERT INTO tag VALUES (
  new_id('gid'),
  (SELECT ifnull(max(place), 0) + 1 FROM tag),
  :name,
  :color,
  ifnull(:description, ''),
  :workspace
)
RETURNING gid AS new_tag;
SELECT json_object('tag', json(json)) AS result FROM tag_row WHERE gid = :new_tag;
