-- The tools of Linear. An issue is named by its id or by its identifier ("ATL-1").

-- name: linear_get_teams
SELECT json_object(
  'data', json_object('workspaceTeams', json_object('items', json_group_array(json(json))))
) AS result
FROM (
  SELECT drop_nulls(json_object(
    'teamId', t.id,
    'teamName', t.name,
    'teamKey', t.key,
    'summary', t.description,
    'isPrivate', json(iif(t.is_private, 'true', 'false')),
    'dateCreated', t.created_at,
    'dateModified', t.updated_at,
    'workflowStates', (
      SELECT json_group_array(json_object(
        'stateId', id,
        'stateName', name,
        'category', type,
        'stateColor', color
      ))
      FROM (SELECT * FROM state WHERE team_id = t.id ORDER BY position)
    ),
    'teamMembers', (
      SELECT json_group_array(json_object(
        'userId', id,
        'displayName', name,
        'userEmail', email,
        'nickname', display_name
      ))
      FROM (
        SELECT u.*
        FROM team_member m
        JOIN user u ON u.id = m.user_id
        WHERE m.team_id = t.id
        ORDER BY u.name
      )
    )
  )) AS json
  FROM team t
  ORDER BY t.place
);

-- name: linear_get_issues
SELECT 'Argument Validation Error - first must be from 1 to 250' AS error
WHERE :limit NOT BETWEEN 1 AND 250;
SELECT json_object(
  'data', json_object('workItems', json_object('items', json_group_array(json(json))))
) AS result
FROM (
  SELECT r.json
  FROM issue i
  JOIN issue_row r ON r.id = i.id
  WHERE (ifnull(:team_id, '') = '' OR i.team_id = :team_id) AND {{linear_issues :filter}}
  ORDER BY i.created_at DESC, i.place DESC
  LIMIT :limit
);

-- name: linear_get_issue_by_id
SELECT 'issue_id parameter is required' AS error WHERE :issue_id = '';
SELECT id AS found FROM issue_view WHERE id = :issue_id OR identifier = upper(:issue_id);
SELECT 'Entity not found: Issue' AS error WHERE :found IS NULL;
SELECT json_object(
  'data', json_object(
    'workItem', drop_nulls(json_object(
      'itemId', id,
      'ticketNumber', identifier,
      'subject', title,
      'details', description,
      'priorityLevel', priority,
      'priorityName', priority_label,
      'deadline', due_date,
      'status', json(state),
      'assignedTo', json(assignee),
      'reportedBy', json(creator),
      'owningTeam', json(team),
      'parentProject', json(project),
      'dateCreated', created_at,
      'dateModified', updated_at,
      'externalLink', url,
      'responses', (
        SELECT iif(count(*) > 0, json_group_array(json(json)), NULL)
        FROM (SELECT json FROM comment_row c WHERE c.issue_id = :found ORDER BY c.place LIMIT 50)
      )
    ))
  )
) AS result
FROM issue_view
WHERE id = :found;

-- name: linear_create_issue
SELECT 'team_id and title parameters are required' AS error
WHERE :team_id = '' OR trim(:title) = '';
SELECT id AS me FROM user WHERE is_me;
SELECT id AS team FROM team WHERE id = :team_id;
SELECT 'Entity not found: Team' AS error WHERE :team IS NULL;
SELECT id AS state, type AS state_type
FROM state
WHERE team_id = :team AND iif(ifnull(:state_id, '') = '', name = 'Backlog', id = :state_id);
SELECT 'Entity not found: WorkflowState' AS error WHERE :state IS NULL;
SELECT 'Entity not found: User' AS error
WHERE :assignee_id <> '' AND :assignee_id NOT IN (SELECT id FROM user);
SELECT 'Entity not found: Project' AS error
WHERE :project_id <> '' AND :project_id NOT IN (SELECT id FROM project);
SELECT 'Argument Validation Error - Discrepancy between issue team and project teams' AS error
WHERE :project_id <> ''
  AND :team NOT IN (SELECT team_id FROM project_team WHERE project_id = :project_id);
SELECT 'Argument Validation Error - priority must be from 0 to 4' AS error
WHERE :priority NOT BETWEEN 0 AND 4;
SELECT 'Argument Validation Error - dueDate must be a date (YYYY-MM-DD)' AS error
WHERE :due_date <> '' AND date(:due_date, '+0 days') IS NOT :due_date;
INSERT INTO issue (
  id, place, team_id, number, title, description, priority, state_id, assignee_id, creator_id,
  project_id, due_date, created_at, updated_at, started_at, completed_at, canceled_at
) VALUES (
  new_id('entity'),
  (SELECT ifnull(max(place), 0) + 1 FROM issue),
  :team,
  (SELECT ifnull(max(number), 0) + 1 FROM issue WHERE team_id = :team),
  :title,
  nullif(:description, ''),
  ifnull(:priority, 0),
  :state,
  nullif(:assignee_id, ''),
  :me,
  nullif(:project_id, ''),
  nullif(:due_date, ''),
  now(),
  now(),
  iif(:state_type = 'started', now(), NULL),
  iif(:state_type = 'completed', now(), NULL),
  iif(:state_type = 'canceled', now(), NULL)
)
RETURNING id AS new_issue;
SELECT json_object(
  'data', json_object(
    'workItemCreate', json_object(
      'success', json('true'),
      'workItem', json_remove(json, '$.dateModified')
    )
  )
) AS result
FROM issue_changed
WHERE id = :new_issue;

-- name: linear_update_issue
SELECT 'issue_id parameter is required' AS error WHERE :issue_id = '';
SELECT id AS found, team_id AS team, state_id AS state_before
FROM issue_view
WHERE id = :issue_id OR identifier = upper(:issue_id);
SELECT 'Entity not found: Issue' AS error WHERE :found IS NULL;
SELECT ifnull(nullif(:state_id, ''), :state_before) AS state;
SELECT type AS state_type FROM state WHERE id = :state AND team_id = :team;
SELECT 'Entity not found: WorkflowState' AS error WHERE :state_type IS NULL;
SELECT 'Entity not found: User' AS error
WHERE :assignee_id <> '' AND :assignee_id NOT IN (SELECT id FROM user);
SELECT 'Entity not found: Project' AS error
WHERE :project_id <> '' AND :project_id NOT IN (SELECT id FROM project);
SELECT 'Argument Validation Error - Discrepancy between issue team and project teams' AS error
WHERE :project_id <> ''
  AND :team NOT IN (SELECT team_id FROM project_team WHERE project_id = :project_id);
SELECT 'Argument Validation Error - priority must be from 0 to 4' AS error
WHERE :priority NOT BETWEEN 0 AND 4;
SELECT 'Argument Validation Error - dueDate must be a date (YYYY-MM-DD)' AS error
WHERE :due_date <> '' AND date(:due_date, '+0 days') IS NOT :due_date;
-- Empty texts change nothing, but a description can be emptied.
UPDATE issue
SET
  title = ifnull(nullif(:title, ''), title),
  description = iif(:description IS NULL, description, nullif(:description, '')),
  priority = ifnull(:priority, priority),
  assignee_id = ifnull(nullif(:assignee_id, ''), assignee_id),
  project_id = ifnull(nullif(:project_id, ''), project_id),
  due_date = ifnull(nullif(:due_date, ''), due_date),
  state_id = :state,
  started_at = CASE
    WHEN :state_type IN ('backlog', 'unstarted') THEN NULL
    ELSE ifnull(started_at, now())
  END,
  completed_at = iif(:state_type = 'completed', ifnull(completed_at, now()), NULL),
  canceled_at = iif(:state_type = 'canceled', ifnull(canceled_at, now()), NULL),
  updated_at = now()
WHERE id = :found;
SELECT json_object(
  'data', json_object(
    'workItemUpdate', json_object(
      'success', json('true'),
      'workItem', json_remove(json, '$.dateCreated')
    )
  )
) AS result
FROM issue_changed
WHERE id = :found;

-- name: linear_get_projects
SELECT 'Argument Validation Error - first must be from 1 to 250' AS error
WHERE :limit NOT BETWEEN 1 AND 250;
SELECT json_object(
  'data', json_object('initiatives', json_object('items', json_group_array(json(json))))
) AS result
FROM (
  SELECT r.json
  FROM project p
  JOIN project_row r ON r.id = p.id
  WHERE (
    ifnull(:team_id, '') = ''
    OR :team_id IN (SELECT team_id FROM project_team WHERE project_id = p.id)
  )
    AND {{linear_projects :filter}}
  ORDER BY p.created_at DESC, p.place DESC
  LIMIT :limit
);

-- name: linear_create_project
SELECT 'name parameter is required' AS error WHERE trim(:name) = '';
SELECT id AS me FROM user WHERE is_me;
-- Without teams it is the first one's.
SELECT iif(
  ifnull(json_array_length(:team_ids), 0) = 0,
  (SELECT json_array(id) FROM team WHERE place = 1),
  :team_ids
) AS teams;
SELECT 'Entity not found: Team' AS error
FROM json_each(:teams)
WHERE value NOT IN (SELECT id FROM team)
LIMIT 1;
SELECT 'Entity not found: User' AS error
WHERE :lead_id <> '' AND :lead_id NOT IN (SELECT id FROM user);
SELECT 'Argument Validation Error - targetDate must be a date (YYYY-MM-DD)' AS error
WHERE :target_date <> '' AND date(:target_date, '+0 days') IS NOT :target_date;
INSERT INTO project (
  id, place, slug, name, description, lead_id, creator_id, target_date, created_at, updated_at
) VALUES (
  new_id('entity'),
  (SELECT ifnull(max(place), 0) + 1 FROM project),
  new_id('slug'),
  :name,
  nullif(:description, ''),
  nullif(:lead_id, ''),
  :me,
  nullif(:target_date, ''),
  now(),
  now()
)
RETURNING id AS new_project;
INSERT OR IGNORE INTO project_team SELECT :new_project, value FROM json_each(:teams);
SELECT json_object(
  'data', json_object(
    'initiativeCreate', json_object(
      'success', json('true'),
      'initiative', json_remove(json, '$.dateModified', '$.contributors')
    )
  )
) AS result
FROM project_row
WHERE id = :new_project;

-- name: linear_update_project
SELECT 'project_id parameter is required' AS error WHERE :project_id = '';
SELECT id AS found FROM project WHERE id = :project_id OR slug = :project_id;
SELECT 'Entity not found: Project' AS error WHERE :found IS NULL;
SELECT 'Argument Validation Error - state must be one of backlog, planned, started, paused, '
  || 'completed, canceled' AS error
WHERE :state <> ''
  AND :state NOT IN ('backlog', 'planned', 'started', 'paused', 'completed', 'canceled');
SELECT 'Entity not found: User' AS error
WHERE :lead_id <> '' AND :lead_id NOT IN (SELECT id FROM user);
SELECT 'Argument Validation Error - targetDate must be a date (YYYY-MM-DD)' AS error
WHERE :target_date <> '' AND date(:target_date, '+0 days') IS NOT :target_date;
UPDATE project
SET
  name = ifnull(nullif(:name, ''), name),
  description = iif(:description IS NULL, description, nullif(:description, '')),
  state = ifnull(nullif(:state, ''), state),
  lead_id = ifnull(nullif(:lead_id, ''), lead_id),
  target_date = ifnull(nullif(:target_date, ''), target_date),
  updated_at = now()
WHERE id = :found;
SELECT json_object(
  'data', json_object(
    'initiativeUpdate', json_object(
      'success', json('true'),
      'initiative', json_remove(json, '$.dateCreated', '$.contributors')
    )
  )
) AS result
FROM project_row
WHERE id = :found;

-- name: linear_get_comments
SELECT 'issue_id parameter is required' AS error WHERE :issue_id = '';
SELECT id AS found, identifier, title
FROM issue_view
WHERE id = :issue_id OR identifier = upper(:issue_id);
SELECT 'Entity not found: Issue' AS error WHERE :found IS NULL;
SELECT json_object(
  'data', json_object(
    'workItemResponses', json_object(
      'parentItem', json_object('itemId', :found, 'ticketNumber', :identifier, 'subject', :title),
      'items', json_group_array(json(json))
    )
  )
) AS result
FROM (SELECT json FROM comment_row WHERE issue_id = :found ORDER BY place LIMIT 50);

-- name: linear_create_comment
SELECT 'issue_id and body parameters are required' AS error
WHERE :issue_id = '' OR trim(:body) = '';
SELECT id AS found FROM issue_view WHERE id = :issue_id OR identifier = upper(:issue_id);
SELECT 'Entity not found: Issue' AS error WHERE :found IS NULL;
INSERT INTO comment
SELECT
  new_id('entity'),
  (SELECT ifnull(max(place), 0) + 1 FROM comment),
  :found,
  id,
  :body,
  now(),
  now()
FROM user
WHERE is_me
RETURNING id AS new_comment;
UPDATE issue SET updated_at = now() WHERE id = :found;
SELECT json_object(
  'data', json_object(
    'responseCreate', json_object(
      'success', json('true'),
      'response', json_remove(full, '$.dateModified')
    )
  )
) AS result
FROM comment_row
WHERE id = :new_comment;

-- name: linear_update_comment
SELECT 'comment_id and body parameters are required' AS error
WHERE :comment_id = '' OR trim(:body) = '';
SELECT c.id AS found, u.is_me
FROM comment c
JOIN user u ON u.id = c.user_id
WHERE c.id = :comment_id;
SELECT 'Entity not found: Comment' AS error WHERE :found IS NULL;
SELECT 'Forbidden - you can only edit your own comments' AS error WHERE NOT :is_me;
UPDATE comment SET body = :body, updated_at = now() WHERE id = :found;
SELECT json_object(
  'data', json_object(
    'responseUpdate', json_object(
      'success', json('true'),
      'response', json_remove(full, '$.dateCreated')
    )
  )
) AS result
FROM comment_row
WHERE id = :found;

-- name: linear_search_issues
SELECT 'query parameter is required' AS error WHERE :query = '';
SELECT 'Argument Validation Error - first must be from 1 to 250' AS error
WHERE :limit NOT BETWEEN 1 AND 250;
SELECT json_object(
  'data', json_object(
    'workItems', json_object('items', json_group_array(json_set(json, '$.reportedBy', json('{}'))))
  )
) AS result
FROM (
  SELECT r.json
  FROM issue i
  JOIN issue_row r ON r.id = i.id
  WHERE instr(lower(i.title), lower(:query)) AND (ifnull(:team_id, '') = '' OR i.team_id = :team_id)
  ORDER BY i.created_at DESC, i.place DESC
  LIMIT :limit
);

-- name: linear_get_initiatives
SELECT 'Argument Validation Error - first must be from 1 to 250' AS error
WHERE :limit NOT BETWEEN 1 AND 250;
SELECT json_object(
  'data', json_object('strategicInitiatives', json_object('items', json_group_array(json(json))))
) AS result
FROM (
  SELECT r.json
  FROM initiative n
  JOIN initiative_row r ON r.id = n.id
  WHERE {{linear_initiatives :filter}}
  ORDER BY n.created_at DESC, n.place DESC
  LIMIT :limit
);

-- name: linear_get_initiative_by_id
SELECT 'initiative_id parameter is required' AS error WHERE :initiative_id = '';
SELECT id AS found FROM initiative WHERE id = :initiative_id OR slug = :initiative_id;
SELECT 'Entity not found: Initiative' AS error WHERE :found IS NULL;
SELECT json_object('data', json_object('strategicInitiative', json(json))) AS result
FROM initiative_row
WHERE id = :found;

-- name: linear_create_initiative
SELECT 'name parameter is required' AS error WHERE trim(:name) = '';
SELECT id AS me FROM user WHERE is_me;
SELECT 'Entity not found: User' AS error
WHERE :owner_id <> '' AND :owner_id NOT IN (SELECT id FROM user);
SELECT 'Argument Validation Error - status must be one of Planned, Active, Completed' AS error
WHERE :status <> '' AND :status NOT IN ('Planned', 'Active', 'Completed');
SELECT 'Argument Validation Error - targetDate must be a date (YYYY-MM-DD)' AS error
WHERE :target_date <> '' AND date(:target_date, '+0 days') IS NOT :target_date;
INSERT INTO initiative VALUES (
  new_id('entity'),
  (SELECT ifnull(max(place), 0) + 1 FROM initiative),
  new_id('slug'),
  :name,
  nullif(:description, ''),
  ifnull(nullif(:status, ''), 'Planned'),
  ifnull(nullif(:owner_id, ''), :me),
  :me,
  nullif(:target_date, ''),
  nullif(:color, ''),
  nullif(:icon, ''),
  now(),
  now()
)
RETURNING id AS new_initiative;
SELECT json_object(
  'data', json_object(
    'strategicInitiativeCreate', json_object(
      'success', json('true'),
      'strategicInitiative', json(json)
    )
  )
) AS result
FROM initiative_row
WHERE id = :new_initiative;

-- name: linear_update_initiative
SELECT 'initiative_id parameter is required' AS error WHERE :initiative_id = '';
SELECT id AS found FROM initiative WHERE id = :initiative_id OR slug = :initiative_id;
SELECT 'Entity not found: Initiative' AS error WHERE :found IS NULL;
SELECT 'Entity not found: User' AS error
WHERE :owner_id <> '' AND :owner_id NOT IN (SELECT id FROM user);
SELECT 'Argument Validation Error - status must be one of Planned, Active, Completed' AS error
WHERE :status <> '' AND :status NOT IN ('Planned', 'Active', 'Completed');
SELECT 'Argument Validation Error - targetDate must be a date (YYYY-MM-DD)' AS error
WHERE :target_date <> '' AND date(:target_date, '+0 days') IS NOT :target_date;
UPDATE initiative
SET
  name = ifnull(nullif(:name, ''), name),
  description = iif(:description IS NULL, description, nullif(:description, '')),
  status = ifnull(nullif(:status, ''), status),
  owner_id = ifnull(nullif(:owner_id, ''), owner_id),
  target_date = ifnull(nullif(:target_date, ''), target_date),
  color = ifnull(nullif(:color, ''), color),
  icon = ifnull(nullif(:icon, ''), icon),
  updated_at = now()
WHERE id = :found;
SELECT json_object(
  'data', json_object(
    'strategicInitiativeUpdate', json_object(
      'success', json('true'),
      'strategicInitiative', json(json)
    )
  )
) AS result
FROM initiative_row
WHERE id = :found;

-- name: linear_add_project_to_initiative
SELECT 'initiative_id and project_id parameters are required' AS error
WHERE :initiative_id = '' OR :project_id = '';
SELECT id AS initiative, name AS initiative_name
FROM initiative
WHERE id = :initiative_id OR slug = :initiative_id;
SELECT 'Entity not found: Initiative' AS error WHERE :initiative IS NULL;
SELECT id AS project FROM project WHERE id = :project_id OR slug = :project_id;
SELECT 'Entity not found: Project' AS error WHERE :project IS NULL;
SELECT 'Project is already part of the initiative' AS error
WHERE EXISTS (
  SELECT 1 FROM initiative_project WHERE initiative_id = :initiative AND project_id = :project
);
INSERT INTO initiative_project VALUES (
  new_id('entity'),
  (SELECT ifnull(max(place), 0) + 1 FROM initiative_project),
  :initiative,
  :project,
  now()
)
RETURNING id AS link;
UPDATE initiative SET updated_at = now() WHERE id = :initiative;
SELECT json_object(
  'data', json_object(
    'projectLink', json_object(
      'success', json('true'),
      'link', json_object(
        'linkId', :link,
        'linkedInitiative', json_object(
          'initiativeId', :initiative,
          'initiativeName', :initiative_name
        ),
        'linkedProject', json_object(
          'projectId', id,
          'projectName', name,
          'currentState', state,
          'completion', progress
        ),
        'dateCreated', now()
      )
    )
  )
) AS result
FROM project_view
WHERE id = :project;

-- name: linear_remove_project_from_initiative
SELECT 'initiative_to_project_id parameter is required' AS error
WHERE :initiative_to_project_id = '';
SELECT initiative_id AS initiative FROM initiative_project WHERE id = :initiative_to_project_id;
SELECT 'Entity not found: InitiativeToProject' AS error WHERE :initiative IS NULL;
DELETE FROM initiative_project WHERE id = :initiative_to_project_id;
UPDATE initiative SET updated_at = now() WHERE id = :initiative;
SELECT json_object(
  'data', json_object('projectLinkDelete', json_object('success', json('true')))
) AS result;
