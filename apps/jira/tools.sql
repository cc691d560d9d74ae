-- part: say_no_issue
SELECT 'Jira API error (404): {"errorMessages":["Issue does not exist or you do not have '
  || 'permission to see it."],"errors":{}}' AS error
WHERE :id IS NULL;

-- part: find_board
SELECT id, type FROM board WHERE id = :board_id;
SELECT 'Jira API error (404): {"errorMessages":["Board does not exist or you do not have '
  || 'permission to see it."],"errors":{}}' AS error
WHERE :id IS NULL;
SELECT 'Jira API error (400): {"errorMessages":["The board does not support sprints"],"errors":{}}'
  AS error
WHERE :type = 'kanban';

-- name: jira_search
SELECT {{jql_check :jql}} AS bad;
SELECT 'Jira API error (400): ' || json_object(
  'errorMessages', json_array(:bad),
  'warningMessages', json_array()
) AS error
WHERE :bad IS NOT NULL;
SELECT
  nullif(trim(:projects_filter), '') AS projects,
  replace(:fields, '*navigable', '*all') AS names;
SELECT '[' || replace(replace(json_quote(upper(:projects)), ' ', ''), ',', '","') || ']' AS projects
WHERE :projects IS NOT NULL;
SELECT EXISTS (
  SELECT 1
  FROM json_each('[' || replace(json_quote(:names), ',', '","') || ']')
  WHERE trim(value) NOT IN (
    'summary', 'status', 'assignee', 'issuetype', 'priority', 'created', 'updated', 'description',
    'labels', 'key', 'id'
  )
) AS wants_more;
SELECT count(*) AS total
FROM issue i
WHERE {{jql :jql}}
  AND (
    :projects IS NULL
    OR i.project_id IN (
      SELECT id FROM project WHERE key IN (SELECT value FROM json_each(:projects))
    )
  );
SELECT json_object(
  'expand', 'names,schema',
  'startAt', CAST(:startAt AS INTEGER),
  'maxResults', CAST(:limit AS INTEGER),
  'total', :total,
  'issues', json_group_array(json(issue))
) AS result
FROM (
  SELECT json_object(
    'expand', 'operations,versionedRepresentations,editmeta,changelog,' || 'renderedFields',
    'id', CAST(v.id AS TEXT),
    'self', 'https://larkspur.atlassian.example/rest/api/3/issue/' || v.id,
    'key', v.key,
    'fields', json_pick(:names, v.basic, CASE WHEN :wants_more THEN v.more END)
  ) AS issue
  FROM (
    SELECT i.id
    FROM issue i
    WHERE {{jql :jql}}
      AND (
        :projects IS NULL
        OR i.project_id IN (
          SELECT id FROM project WHERE key IN (SELECT value FROM json_each(:projects))
        )
      )
    ORDER BY {{jql_order :jql}}
    LIMIT CAST(:limit AS INTEGER) OFFSET CAST(:startAt AS INTEGER)
  ) page
  CROSS JOIN issue_view v ON v.id = page.id
);

-- name: jira_get_issue
SELECT id FROM issue WHERE key = upper(:issue_key) OR id = :issue_key;
-- include: say_no_issue
SELECT
  replace(:fields, '*navigable', '*all') AS names,
  ',' || replace(ifnull(:expand, ''), ' ', '') || ',' AS wants;
SELECT EXISTS (
  SELECT 1
  FROM json_each('[' || replace(json_quote(:names), ',', '","') || ']')
  WHERE trim(value) NOT IN (
    'summary', 'status', 'assignee', 'issuetype', 'priority', 'created', 'updated', 'description',
    'labels', 'key', 'id'
  )
) AS wants_more;
SELECT (
  SELECT json_group_array(json(json))
  FROM (SELECT json FROM comment_view WHERE issue_id = :id ORDER BY id LIMIT :comment_limit)
) AS comments
WHERE :comment_limit > 0;
SELECT json_object(
  'startAt', 0,
  'maxResults', count(*),
  'total', count(*),
  'histories', json_group_array(json(json))
) AS changelog
FROM (
  SELECT json_object(
    'id', CAST(min(c.id) AS TEXT),
    'author', json(a.json),
    'created', replace(c.created, 'Z', '+0000'),
    'items', json_group_array(json_object(
      'field', c.field,
      'fieldtype', 'jira',
      'fieldId', c.field,
      'from', c.from_id,
      'fromString', c.from_text,
      'to', c.to_id,
      'toString', c.to_text
    ))
  ) AS json
  FROM (SELECT * FROM change WHERE issue_id = :id ORDER BY id) c
  JOIN account_view a ON a.account_id = c.author
  GROUP BY c.created
  ORDER BY c.created DESC
)
HAVING instr(:wants, ',changelog,');
SELECT json_group_object(id, name) AS labels_of
FROM (SELECT id, name FROM field ORDER BY position)
HAVING instr(:wants, ',names,');
SELECT '<p>'
  || replace(
    replace(
      replace(replace(adf_text(ifnull(description, '')), '&', '&amp;'), '<', '&lt;'),
      '>',
      '&gt;'
    ),
    char(10),
    '<br/>'
  ) || '</p>' AS html
FROM issue
WHERE id = :id AND instr(:wants, ',renderedFields,');
SELECT json_group_array(json(json)) AS transitions
FROM (
  SELECT json_object(
    'id', CAST(10 * s.rank + 1 AS TEXT),
    'name', s.name,
    'to', json(v.json),
    'isAvailable', json('true')
  ) AS json
  FROM status s
  JOIN status_view v ON v.id = s.id
  JOIN issue i ON i.id = :id AND i.status_id <> s.id
  ORDER BY s.rank
)
HAVING instr(:wants, ',transitions,');
SELECT json_pick(
  '*all',
  json_object(
    'expand', 'renderedFields,names,schema,operations,editmeta,changelog,'
      || 'versionedRepresentations',
    'id', CAST(v.id AS TEXT),
    'self', 'https://larkspur.atlassian.example/rest/api/3/issue/' || v.id,
    'key', v.key,
    'fields', json_pick(:names, v.basic, CASE WHEN :wants_more THEN v.more END)
  ),
  CASE WHEN :changelog IS NOT NULL THEN json_object('changelog', json(:changelog)) END,
  CASE WHEN :labels_of IS NOT NULL THEN json_object('names', json(:labels_of)) END,
  CASE WHEN :transitions IS NOT NULL THEN json_object('transitions', json(:transitions)) END,
  CASE
    WHEN :html IS NOT NULL THEN json_object('renderedFields', json_object('description', :html))
  END,
  CASE WHEN :comments IS NOT NULL THEN json_object('comments', json(:comments)) END
) AS result
FROM issue_view v
WHERE v.id = :id;

-- name: jira_search_fields
SELECT json_group_array(json(json)) AS result
FROM (
  SELECT drop_nulls(json_object(
    'id', id,
    'key', id,
    'name', name,
    'custom', json(iif(is_custom, 'true', 'false')),
    'orderable', json(iif(is_orderable, 'true', 'false')),
    'navigable', json('true'),
    'searchable', json('true'),
    'clauseNames', json(clauses),
    'schema', json(schema)
  )) AS json
  FROM field
  WHERE trim(:keyword) = ''
    OR instr(lower(name || ' ' || id || ' ' || clauses), lower(trim(:keyword)))
  ORDER BY position
  LIMIT CAST(:limit AS INTEGER)
);

-- name: jira_get_project_issues
SELECT id
FROM project
WHERE key = :project_key COLLATE NOCASE OR id = :project_key OR name = :project_key COLLATE NOCASE;
SELECT 'Jira API error (400): ' || json_object(
  'errorMessages', json_array(
    'The value ''' || :project_key || ''' does not exist for the field ''project''.'
  ),
  'warningMessages', json_array()
) AS error
WHERE :id IS NULL;
SELECT count(*) AS total FROM issue WHERE project_id = :id;
SELECT json_object(
  'expand', 'names,schema',
  'startAt', CAST(:startAt AS INTEGER),
  'maxResults', CAST(:limit AS INTEGER),
  'total', :total,
  'issues', json_group_array(json(issue))
) AS result
FROM (
  SELECT json_object(
    'expand', 'operations,versionedRepresentations,editmeta,changelog,' || 'renderedFields',
    'id', CAST(v.id AS TEXT),
    'self', 'https://larkspur.atlassian.example/rest/api/3/issue/' || v.id,
    'key', v.key,
    'fields', json(v.basic)
  ) AS issue
  FROM (
    SELECT id
    FROM issue
    WHERE project_id = :id
    ORDER BY created DESC, id DESC
    LIMIT CAST(:limit AS INTEGER) OFFSET CAST(:startAt AS INTEGER)
  ) page
  CROSS JOIN issue_view v ON v.id = page.id
);

-- name: jira_get_epic_issues
SELECT i.id, t.level
FROM issue i
JOIN issue_type t ON t.id = i.type_id
WHERE i.key = upper(:epic_key) OR i.id = :epic_key;
-- include: say_no_issue
SELECT 'Issue ' || :epic_key || ' is not an Epic' AS error WHERE :level <> 1;
SELECT count(*) AS total FROM issue WHERE parent_id = :id;
SELECT json_object(
  'expand', 'names,schema',
  'startAt', CAST(:startAt AS INTEGER),
  'maxResults', CAST(:limit AS INTEGER),
  'total', :total,
  'issues', json_group_array(json(issue))
) AS result
FROM (
  SELECT json_object(
    'expand', 'operations,versionedRepresentations,editmeta,changelog,' || 'renderedFields',
    'id', CAST(v.id AS TEXT),
    'self', 'https://larkspur.atlassian.example/rest/api/3/issue/' || v.id,
    'key', v.key,
    'fields', json(v.basic)
  ) AS issue
  FROM (
    SELECT id
    FROM issue
    WHERE parent_id = :id
    ORDER BY id
    LIMIT CAST(:limit AS INTEGER) OFFSET CAST(:startAt AS INTEGER)
  ) page
  CROSS JOIN issue_view v ON v.id = page.id
);

-- name: jira_get_sprints_from_board
SELECT 'Missing required argument: board_id' AS error WHERE :board_id IS NULL;
-- include: find_board
SELECT '[' || replace(replace(json_quote(lower(:state)), ' ', ''), ',', '","') || ']' AS states
WHERE trim(:state) <> '';
SELECT 'Jira API error (400): ' || json_object(
  'errorMessages', json_array('Unknown sprint state: ' || value),
  'errors', json_object()
) AS error
FROM json_each(:states)
WHERE value NOT IN ('future', 'active', 'closed');
SELECT count(*) AS total
FROM sprint
WHERE board_id = :id AND (:states IS NULL OR state IN (SELECT value FROM json_each(:states)));
SELECT json_object(
  'maxResults', CAST(:limit AS INTEGER),
  'startAt', CAST(:startAt AS INTEGER),
  'total', :total,
  'isLast', json(iif(CAST(:startAt AS INTEGER) + count(*) >= :total, 'true', 'false')),
  'values', json_group_array(json(json))
) AS result
FROM (
  SELECT json
  FROM sprint_view
  WHERE board_id = :id AND (:states IS NULL OR state IN (SELECT value FROM json_each(:states)))
  ORDER BY CASE state WHEN 'closed' THEN 1 WHEN 'active' THEN 2 ELSE 3 END, id
  LIMIT CAST(:limit AS INTEGER) OFFSET max(CAST(:startAt AS INTEGER), 0)
);

-- name: jira_create_sprint
-- include: find_board
SELECT 'Jira API error (400): {"errorMessages":[],"errors":{"name":"You must specify a name '
  || 'for the sprint."}}' AS error
WHERE trim(:sprint_name) = '';
SELECT 'Jira API error (400): {"errorMessages":[],"errors":{"startDate":"The start date is '
  || 'not a valid date."}}' AS error
WHERE julianday(:start_date) IS NULL;
SELECT 'Jira API error (400): {"errorMessages":[],"errors":{"endDate":"The end date is not a '
  || 'valid date."}}' AS error
WHERE julianday(:end_date) IS NULL;
SELECT 'Jira API error (400): {"errorMessages":[],"errors":{"endDate":"The end date of a '
  || 'sprint must be after the start date."}}' AS error
WHERE julianday(:end_date) <= julianday(:start_date);
INSERT INTO sprint (id, name, state, start_date, end_date, goal, board_id) VALUES (
  new_id('sprint'),
  trim(:sprint_name),
  'future',
  strftime('%Y-%m-%dT%H:%M:%fZ', :start_date),
  strftime('%Y-%m-%dT%H:%M:%fZ', :end_date),
  nullif(:goal, ''),
  :id
)
RETURNING id AS sprint_id;
SELECT json AS result FROM sprint_view WHERE id = :sprint_id;

-- name: jira_get_sprint_issues
SELECT id FROM sprint WHERE id = :sprint_id;
SELECT 'Jira API error (404): {"errorMessages":["Sprint does not exist or you do not have '
  || 'permission to see it."],"errors":{}}' AS error
WHERE :id IS NULL;
SELECT replace(:fields, '*navigable', '*all') AS names;
SELECT EXISTS (
  SELECT 1
  FROM json_each('[' || replace(json_quote(:names), ',', '","') || ']')
  WHERE trim(value) NOT IN (
    'summary', 'status', 'assignee', 'issuetype', 'priority', 'created', 'updated', 'description',
    'labels', 'key', 'id'
  )
) AS wants_more;
SELECT count(*) AS total FROM issue WHERE sprint_id = :id;
SELECT json_object(
  'expand', 'schema,names',
  'startAt', max(CAST(:startAt AS INTEGER), 0),
  'maxResults', CAST(:limit AS INTEGER),
  'total', :total,
  'issues', json_group_array(json(issue))
) AS result
FROM (
  SELECT json_object(
    'expand', 'operations,versionedRepresentations,editmeta,changelog,' || 'renderedFields',
    'id', CAST(v.id AS TEXT),
    'self', 'https://larkspur.atlassian.example/rest/agile/1.0/issue/' || v.id,
    'key', v.key,
    'fields', json_pick(:names, v.basic, CASE WHEN :wants_more THEN v.more END)
  ) AS issue
  FROM (
    SELECT id
    FROM issue
    WHERE sprint_id = :id
    ORDER BY id
    LIMIT CAST(:limit AS INTEGER) OFFSET max(CAST(:startAt AS INTEGER), 0)
  ) page
  CROSS JOIN issue_view v ON v.id = page.id
);

-- name: jira_update_sprint
SELECT id, state AS old_state, start_date AS old_start, end_date AS old_end
FROM sprint
WHERE id = :sprint_id;
SELECT 'Jira API error (404): {"errorMessages":["Sprint does not exist or you do not have '
  || 'permission to see it."],"errors":{}}' AS error
WHERE :id IS NULL;
SELECT
  lower(:state) AS new_state,
  ifnull(:start_date, :old_start) AS new_start,
  ifnull(:end_date, :old_end) AS new_end;
SELECT 'Jira API error (400): {"errorMessages":[],"errors":{"state":"The state must be one '
  || 'of: future, active, closed."}}' AS error
WHERE :new_state NOT IN ('future', 'active', 'closed');
SELECT 'Jira API error (400): {"errorMessages":[],"errors":{"name":"You must specify a name '
  || 'for the sprint."}}' AS error
WHERE trim(:sprint_name) = '';
SELECT 'Jira API error (400): {"errorMessages":[],"errors":{"startDate":"The start date is '
  || 'not a valid date."}}' AS error
WHERE :start_date IS NOT NULL AND julianday(:start_date) IS NULL;
SELECT 'Jira API error (400): {"errorMessages":[],"errors":{"endDate":"The end date is not a '
  || 'valid date."}}' AS error
WHERE :end_date IS NOT NULL AND julianday(:end_date) IS NULL;
SELECT 'Jira API error (400): {"errorMessages":[],"errors":{"endDate":"The end date of a '
  || 'sprint must be after the start date."}}' AS error
WHERE julianday(:new_end) <= julianday(:new_start)
  AND (:start_date IS NOT NULL OR :end_date IS NOT NULL);
SELECT 'Jira API error (400): {"errorMessages":["A sprint can only be started from the '
  || 'future state, with a start date and an end date."],"errors":{}}' AS error
WHERE :new_state = 'active'
  AND :old_state <> 'active'
  AND (:old_state <> 'future' OR :new_start IS NULL OR :new_end IS NULL);
SELECT 'Jira API error (400): {"errorMessages":["Only an active sprint can be completed."],'
  || '"errors":{}}' AS error
WHERE :new_state = 'closed' AND :old_state = 'future';
SELECT 'Jira API error (400): {"errorMessages":["A sprint that was started cannot go back to '
  || 'the future state."],"errors":{}}' AS error
WHERE :new_state = 'future' AND :old_state <> 'future';
UPDATE sprint
SET
  name = ifnull(trim(:sprint_name), name),
  state = ifnull(:new_state, state),
  goal = ifnull(:goal, goal),
  start_date = iif(:start_date IS NULL, start_date, strftime('%Y-%m-%dT%H:%M:%fZ', :start_date)),
  end_date = iif(:end_date IS NULL, end_date, strftime('%Y-%m-%dT%H:%M:%fZ', :end_date)),
  complete_date = iif(:new_state = 'closed' AND :old_state = 'active', now(), complete_date)
WHERE id = :id;
SELECT json AS result FROM sprint_view WHERE id = :id;

-- name: jira_create_issue
SELECT 'Invalid JSON in additional_fields' AS error
WHERE NOT (json_valid(:additional_fields) AND json_type(:additional_fields) = 'object');
SELECT id AS project_id, key AS project_key, last_number + 1 AS number
FROM project
WHERE key = :project_key COLLATE NOCASE;
SELECT 'Jira API error (400): {"errorMessages":[],"errors":{"project":"valid project is '
  || 'required"}}' AS error
WHERE :project_id IS NULL;
SELECT json_pick(
  '*all',
  :additional_fields,
  json_object('summary', :summary, 'issuetype', :issue_type),
  CASE WHEN trim(:assignee) <> '' THEN json_object('assignee', trim(:assignee)) END,
  CASE WHEN :description <> '' THEN json_object('description', :description) END,
  CASE
    WHEN trim(:components) <> ''
      THEN json_object(
        'components', (
          SELECT json_group_array(trim(value))
          FROM json_each('[' || replace(json_quote(:components), ',', '","') || ']')
          WHERE trim(value) <> ''
        )
      )
  END
) AS fields;
INSERT INTO issue (
  id, key, project_id, number, type_id, status_id, priority_id, summary, reporter, creator, created,
  updated, is_dated
)
SELECT
  new_id('issue'),
  :project_key || '-' || :number,
  :project_id,
  :number,
  10002,
  10000,
  3,
  '',
  account_id,
  account_id,
  now(),
  now(),
  1
FROM me
RETURNING id AS issue_id;
INSERT INTO edit (issue_id, fields) VALUES (:issue_id, :fields);
SELECT 'Jira API error (400): ' || json_object(
  'errorMessages', json_array(),
  'errors', json_group_object(field, text)
) AS error
FROM edit_error
WHERE text IS NOT NULL
HAVING count(*) > 0;
SELECT 'Jira API error (400): {"errorMessages":[],"errors":{"parent":"A sub-task must have a '
  || 'parent issue."}}' AS error
FROM edit_ref r
JOIN issue_type t ON t.id = r.id
WHERE r.field = 'issuetype'
  AND t.level = -1
  AND NOT EXISTS (SELECT 1 FROM edit_ref p WHERE p.field = 'parent' AND p.id IS NOT NULL);
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
SET resolution_id = ifnull(resolution_id, 10000), resolved = now()
WHERE id = :issue_id AND status_id IN (SELECT id FROM status WHERE category = 'done');
INSERT OR IGNORE INTO label
SELECT issue_id, name
FROM edit_list
WHERE field = 'labels'
ORDER BY position;
INSERT OR IGNORE INTO issue_component
SELECT l.issue_id, c.id
FROM edit_list l
JOIN component c ON c.project_id = :project_id AND l.name IN (c.name, c.id)
WHERE l.field = 'components';
INSERT OR IGNORE INTO fix_version
SELECT l.issue_id, v.id
FROM edit_list l
JOIN version v ON v.project_id = :project_id AND l.name IN (v.name, v.id)
WHERE l.field = 'fixVersions';
UPDATE project SET last_number = :number WHERE id = :project_id;
DELETE FROM edit;
SELECT json_object(
  'id', CAST(id AS TEXT),
  'key', key,
  'self', 'https://larkspur.atlassian.example/rest/api/3/issue/' || id
) AS result
FROM issue
WHERE id = :issue_id;

-- name: jira_update_issue
SELECT 'Invalid JSON in fields' AS error
WHERE NOT (json_valid(:fields) AND json_type(:fields) = 'object');
SELECT 'Invalid JSON in additional_fields' AS error
WHERE NOT (json_valid(:additional_fields) AND json_type(:additional_fields) = 'object');
SELECT id AS issue_id, project_id FROM issue WHERE key = upper(:issue_key) OR id = :issue_key;
SELECT 'Jira API error (404): {"errorMessages":["Issue does not exist or you do not have '
  || 'permission to see it."],"errors":{}}' AS error
WHERE :issue_id IS NULL;
SELECT 'Attachment file not found: ' || :attachments AS error
WHERE trim(:attachments) NOT IN ('', '[]');
INSERT INTO edit (issue_id, fields) VALUES (
  :issue_id,
  json_pick('*all', :additional_fields, :fields)
);
SELECT 'Jira API error (400): ' || json_object(
  'errorMessages', json_array(),
  'errors', json_group_object(field, text)
) AS error
FROM edit_error
WHERE text IS NOT NULL
HAVING count(*) > 0;
INSERT INTO change (id, issue_id, author, created, field, from_id, from_text, to_id, to_text)
SELECT new_id('change'), :issue_id, account_id, now(), field, from_id, from_text, to_id, to_text
FROM edit_change, me;
UPDATE issue
SET
  summary = ifnull(n.summary, issue.summary),
  type_id = ifnull(n.type_id, issue.type_id),
  status_id = ifnull(n.status_id, issue.status_id),
  description = iif(instr(n.fields, ',description,'), n.description, issue.description),
  priority_id = iif(instr(n.fields, ',priority,'), n.priority_id, issue.priority_id),
  resolution_id = iif(instr(n.fields, ',resolution,'), n.resolution_id, issue.resolution_id),
  assignee = iif(instr(n.fields, ',assignee,'), n.assignee, issue.assignee),
  reporter = iif(instr(n.fields, ',reporter,'), n.reporter, issue.reporter),
  parent_id = iif(
    instr(n.fields, ',parent,') OR instr(n.fields, ',customfield_10014,'),
    n.parent_id,
    issue.parent_id
  ),
  sprint_id = iif(instr(n.fields, ',customfield_10020,'), n.sprint_id, issue.sprint_id),
  points = iif(instr(n.fields, ',customfield_10016,'), n.points, issue.points),
  due = iif(instr(n.fields, ',duedate,'), n.due, issue.due),
  updated = now()
FROM edit_new n
WHERE n.id = issue.id;
UPDATE issue
SET resolution_id = ifnull(issue.resolution_id, 10000), resolved = ifnull(issue.resolved, now())
FROM status s
WHERE issue.id = :issue_id AND s.id = issue.status_id AND s.category = 'done';
UPDATE issue
SET resolution_id = NULL, resolved = NULL
FROM status s
WHERE issue.id = :issue_id
  AND s.id = issue.status_id
  AND s.category <> 'done'
  AND issue.resolved IS NOT NULL;
DELETE FROM label
WHERE issue_id = :issue_id AND EXISTS (SELECT 1 FROM edit_name WHERE field = 'labels');
INSERT OR IGNORE INTO label
SELECT issue_id, name
FROM edit_list
WHERE field = 'labels'
ORDER BY position;
DELETE FROM issue_component
WHERE issue_id = :issue_id AND EXISTS (SELECT 1 FROM edit_name WHERE field = 'components');
INSERT OR IGNORE INTO issue_component
SELECT l.issue_id, c.id
FROM edit_list l
JOIN component c ON c.project_id = :project_id AND l.name IN (c.name, c.id)
WHERE l.field = 'components';
DELETE FROM fix_version
WHERE issue_id = :issue_id AND EXISTS (SELECT 1 FROM edit_name WHERE field = 'fixVersions');
INSERT OR IGNORE INTO fix_version
SELECT l.issue_id, v.id
FROM edit_list l
JOIN version v ON v.project_id = :project_id AND l.name IN (v.name, v.id)
WHERE l.field = 'fixVersions';
DELETE FROM edit;
SELECT json_object(
  'expand', 'renderedFields,names,schema,operations,editmeta,changelog,'
    || 'versionedRepresentations',
  'id', CAST(v.id AS TEXT),
  'self', 'https://larkspur.atlassian.example/rest/api/3/issue/' || v.id,
  'key', v.key,
  'fields', json_pick('*all', v.basic, v.more)
) AS result
FROM issue_view v
WHERE v.id = :issue_id;

-- name: jira_delete_issue
SELECT id, key FROM issue WHERE key = upper(:issue_key) OR id = :issue_key;
-- include: say_no_issue
SELECT 'Jira API error (400): ' || json_object(
  'errorMessages', json_array(
    'The issue ''' || :key || ''' has subtasks.  You must specify '
      || 'the ''deleteSubtasks'' parameter to delete this issue and all its subtasks.'
  ),
  'errors', json_object()
) AS error
FROM issue i
JOIN issue_type t ON t.id = i.type_id
WHERE i.parent_id = :id AND t.level = -1;
UPDATE issue SET parent_id = NULL WHERE parent_id = :id;
DELETE FROM comment WHERE issue_id = :id;
DELETE FROM label WHERE issue_id = :id;
DELETE FROM issue_component WHERE issue_id = :id;
DELETE FROM fix_version WHERE issue_id = :id;
DELETE FROM link WHERE :id IN (outward_id, inward_id);
DELETE FROM change WHERE issue_id = :id;
DELETE FROM issue WHERE id = :id;
SELECT '{}' AS result;

-- name: jira_add_comment
SELECT id FROM issue WHERE key = upper(:issue_key) OR id = :issue_key;
-- include: say_no_issue
SELECT 'Jira API error (400): {"errorMessages":[],"errors":{"comment":"Comment body can not '
  || 'be empty!"}}' AS error
WHERE trim(:comment) = '';
INSERT INTO comment (id, issue_id, author, body, created, is_dated)
SELECT new_id('comment'), :id, account_id, adf_doc(:comment), now(), 1
FROM me
RETURNING id AS comment_id;
UPDATE issue SET updated = now() WHERE id = :id;
SELECT json AS result FROM comment_view WHERE id = :comment_id;

-- name: jira_get_link_types
SELECT json_object(
  'issueLinkTypes', json_group_array(json_object(
    'id', CAST(id AS TEXT),
    'name', name,
    'inward', inward,
    'outward', outward,
    'self', 'https://larkspur.atlassian.example/rest/api/3/issueLinkType/' || id
  ))
) AS result
FROM (SELECT * FROM link_type ORDER BY id);
