-- The tools of MCP-Mark: all of GitHub's server as it was before its tools took a method.

-- part: find_run
-- include: api
SELECT :api || '/actions/runs/' || CAST(:run_id AS INTEGER) AS url;
SELECT :verb || :url || :behind AS request;
-- include: session
-- include: find_repo
SELECT id AS found_run, status AS run_status, conclusion AS run_conclusion, has_logs
FROM run_view
WHERE repo_id = :repo_id AND id = :run_id;
SELECT github_failure(:request, :failed, not_found) AS error FROM body WHERE :found_run IS NULL;

-- part: find_workflow
SELECT id AS workflow_number, path AS workflow_path, content AS workflow_text
FROM workflow
WHERE repo_id = :repo_id AND :workflow_id IN (file, path, CAST(id AS TEXT));
SELECT github_failure(:request, :failed, not_found) AS error
FROM body
WHERE :workflow_number IS NULL;

-- part: thread
SELECT 'GET https://api.github.example/notifications/threads/' || :thread_id AS request;
SELECT id AS notification_id FROM notification WHERE CAST(id AS TEXT) = :thread_id;
SELECT github_failure(:request, :failed, not_found) AS error
FROM body
WHERE :notification_id IS NULL;

-- part: cursor
SELECT CAST(ifnull(:perPage, 30) AS INTEGER) AS size, CAST(unbase64(:after) AS TEXT) AS cursor;
SELECT iif(:cursor GLOB 'cursor:[0-9]*', CAST(substr(:cursor, 8) AS INTEGER), NULL) AS seen;
SELECT :failed || ': `' || :after || '` does not appear to be a valid cursor.' AS error
WHERE :after <> '' AND :seen IS NULL;
SELECT ifnull(:seen, 0) AS seen;

-- part: discussions_of
SELECT ifnull(nullif(:repo, ''), '.github') AS repo;
SELECT :failed || ': Could not resolve to a Repository with the name ''' || :owner || '/' || :repo
  || '''.' AS error
WHERE NOT EXISTS (SELECT 1 FROM repo_view WHERE owner = :owner AND name = :repo);

-- part: find_discussion
SELECT 'failed to get discussion' AS failed;
-- include: discussions_of
SELECT id AS discussion_id, json AS discussion
FROM rest_discussion
WHERE owner = :owner AND repo = :repo AND number = :discussionNumber;
SELECT :failed || ': Could not resolve to a Discussion with the number of '
  || CAST(:discussionNumber AS INTEGER) || '.' AS error
WHERE :discussion_id IS NULL;

-- name: list_workflows
-- include: api
SELECT 'GET ' || :api || '/actions/workflows' AS request, 'failed to list workflows' AS failed;
-- include: find_repo
-- include: page
SELECT count(*) AS total FROM workflow WHERE repo_id = :repo_id;
SELECT json_object('total_count', :total, 'workflows', json_group_array(json(json))) AS result
FROM (
  SELECT json_object(
    'id', id,
    'name', name,
    'path', path,
    'state', 'active',
    'url', :api || '/actions/workflows/' || id,
    'html_url', 'https://github.example/' || full_name || '/blob/' || :default_branch || '/'
      || path,
    'badge_url', 'https://github.example/' || full_name || '/workflows/' || name || '/badge.svg'
  ) AS json
  FROM workflow
  WHERE repo_id = :repo_id
  ORDER BY path
  LIMIT :size OFFSET :skip
);

-- name: list_workflow_runs
-- include: api
SELECT
  'GET ' || :api || '/actions/workflows/' || :workflow_id || '/runs' AS request,
  'failed to list workflow runs' AS failed;
-- include: find_repo
-- include: find_workflow
-- include: page
SELECT json_group_array(id) AS found
FROM (
  SELECT id
  FROM run_view
  WHERE repo_id = :repo_id
    AND path = :workflow_path
    AND (ifnull(:branch, '') = '' OR branch = :branch)
    AND (ifnull(:actor, '') = '' OR :actor = (SELECT login FROM account WHERE is_me))
    AND (ifnull(:event, '') = '' OR event = :event)
    AND (ifnull(:status, '') = '' OR status = :status)
  ORDER BY id DESC
);
SELECT json_object(
  'total_count', json_array_length(:found),
  'workflow_runs', json_group_array(json(json))
) AS result
FROM (
  SELECT r.json
  FROM json_each(:found) f
  JOIN rest_run r ON r.id = f.value
  ORDER BY f.key
  LIMIT :size OFFSET :skip
);

-- name: run_workflow
-- include: api
SELECT
  'POST ' || :api || '/actions/workflows/' || :workflow_id || '/dispatches' AS request,
  'failed to run workflow' AS failed;
-- include: session
-- include: find_repo
SELECT github_failure(:request, :failed, no_access) AS error FROM body WHERE NOT :can_write;
-- include: find_workflow
SELECT name AS branch_name, sha AS branch_sha
FROM branch
WHERE repo_id = :repo_id AND 'refs/heads/' || name IN (:ref, 'refs/heads/' || :ref);
SELECT github_failure(:request, :failed, json_object(
  'message', 'No ref found for: ' || :ref,
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE :branch_name IS NULL;
SELECT github_failure(:request, :failed, json_object(
  'message', 'Workflow does not have ''workflow_dispatch'' trigger',
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE instr(:workflow_text, 'workflow_dispatch') = 0;
INSERT INTO workflow_run (
  id, repo_id, path, branch, sha, event, number, conclusion, created_at, started_at
) VALUES (
  new_id('run'),
  :repo_id,
  :workflow_path,
  :branch_name,
  :branch_sha,
  'workflow_dispatch',
  1 + ifnull((
    SELECT max(number) FROM workflow_run WHERE repo_id = :repo_id AND path = :workflow_path
  ), 0),
  'success',
  :now,
  :now
);
SELECT json_object(
  'inputs', json(:inputs),
  'message', 'Workflow run has been queued',
  'ref', :ref,
  'status', '204 No Content',
  'status_code', 204,
  'workflow_id', :workflow_id,
  'workflow_type', iif(:workflow_id GLOB '*[^0-9]*', 'workflow_file', 'workflow_id')
) AS result;

-- name: get_workflow_run
SELECT 'GET ' AS verb, '' AS behind, 'failed to get workflow run' AS failed;
-- include: find_run
SELECT json AS result FROM rest_run WHERE id = :found_run;

-- name: get_workflow_run_logs
SELECT 'GET ' AS verb, '/logs' AS behind, 'failed to get workflow run logs' AS failed;
-- include: find_run
SELECT github_failure(:request, :failed, not_found) AS error
FROM body
WHERE NOT :has_logs OR :run_status <> 'completed';
SELECT json_object(
  'logs_url', :url || '/logs.zip',
  'message', 'Workflow run logs are available for download',
  'note', 'A ZIP file with the logs of all jobs; get_job_logs has those of one'
) AS result;

-- name: list_workflow_jobs
SELECT 'GET ' AS verb, '/jobs' AS behind, 'failed to list workflow jobs' AS failed;
-- include: find_run
-- include: page
SELECT json_object(
  'jobs', json_object('total_count', 1, 'jobs', json_group_array(json(json)))
) AS result
FROM (SELECT json FROM rest_job WHERE id = :found_run LIMIT :size OFFSET :skip);

-- name: get_job_logs
SELECT 'run_id is required when failed_only is true' AS error
WHERE ifnull(:failed_only, 0) AND :run_id IS NULL;
SELECT 'job_id is required when failed_only is false' AS error
WHERE NOT ifnull(:failed_only, 0) AND :job_id IS NULL;
-- include: api
SELECT
  iif(
    ifnull(:failed_only, 0),
    'GET ' || :api || '/actions/runs/' || CAST(:run_id AS INTEGER) || '/jobs',
    'GET ' || :api || '/actions/jobs/' || CAST(:job_id AS INTEGER) || '/logs'
  ) AS request,
  iif(ifnull(:failed_only, 0), 'failed to list workflow jobs', 'failed to get job logs') AS failed;
-- include: find_repo
SELECT
  id AS found_run,
  job_id AS found_job,
  status AS run_status,
  conclusion AS run_conclusion,
  log,
  1 + length(log) - length(replace(log, char(10), '')) AS n_lines
FROM rest_job
WHERE repo_id = :repo_id
  AND iif(
    ifnull(:failed_only, 0),
    id = :run_id,
    job_id = :job_id AND has_logs AND status = 'completed'
  );
SELECT github_failure(:request, :failed, not_found) AS error FROM body WHERE :found_run IS NULL;
-- The last lines of it.
WITH RECURSIVE l (nth, at) AS (
  SELECT 0, 0
  UNION ALL
  SELECT nth + 1, at + instr(substr(:log, at + 1), char(10))
  FROM l
  WHERE nth < :n_lines - max(CAST(:tail_lines AS INTEGER), 1)
)
SELECT substr(:log, max(at) + 1) AS tail
FROM l;
SELECT iif(
  ifnull(:return_content, 0),
  json_object(
    'job_id', :found_job,
    'logs_content', :tail,
    'message', 'Job logs content retrieved successfully',
    'original_length', :n_lines
  ),
  json_object(
    'job_id', :found_job,
    'logs_url', :api || '/actions/jobs/' || :found_job || '/logs.txt',
    'message', 'Job logs are available for download',
    'note', 'With return_content the answer has the logs themselves'
  )
) AS one;
SELECT CASE
  WHEN NOT ifnull(:failed_only, 0) THEN :one
  WHEN :run_status = 'completed' AND :run_conclusion = 'failure'
    THEN json_object(
      'failed_jobs', 1,
      'logs', json_array(json(:one)),
      'message', 'Retrieved logs for 1 failed jobs',
      'return_format', json_object(
        'content', json(iif(ifnull(:return_content, 0), 'true', 'false')),
        'urls', json(iif(ifnull(:return_content, 0), 'false', 'true'))
      ),
      'run_id', :found_run,
      'total_jobs', 1
    )
  ELSE json_object(
    'failed_jobs', 0,
    'message', 'No failed jobs found in this workflow run',
    'run_id', :found_run,
    'total_jobs', 1
  )
END AS result;

-- name: rerun_workflow_run
SELECT 'POST ' AS verb, '/rerun' AS behind, 'failed to rerun workflow run' AS failed;
-- include: find_run
SELECT github_failure(:request, :failed, json_object(
  'message', 'The workflow run is already running',
  'documentation_url', docs,
  'status', '403'
)) AS error
FROM body
WHERE :run_status <> 'completed';
UPDATE workflow_run
SET
  attempt = attempt + 1,
  started_at = :now,
  has_logs = 1,
  conclusion = iif(conclusion = 'cancelled', 'success', conclusion)
WHERE id = :found_run;
SELECT json_object(
  'message', 'Workflow run has been queued for re-run',
  'run_id', :found_run,
  'status', '201 Created',
  'status_code', 201
) AS result;

-- name: rerun_failed_jobs
SELECT 'POST ' AS verb, '/rerun-failed-jobs' AS behind, 'failed to rerun failed jobs' AS failed;
-- include: find_run
SELECT github_failure(:request, :failed, json_object(
  'message', 'The workflow run has no failed jobs',
  'documentation_url', docs,
  'status', '403'
)) AS error
FROM body
WHERE :run_status <> 'completed' OR :run_conclusion = 'success';
UPDATE workflow_run
SET
  attempt = attempt + 1,
  started_at = :now,
  has_logs = 1,
  conclusion = iif(conclusion = 'cancelled', 'success', conclusion)
WHERE id = :found_run;
SELECT json_object(
  'message', 'Failed jobs have been queued for re-run',
  'run_id', :found_run,
  'status', '201 Created',
  'status_code', 201
) AS result;

-- name: cancel_workflow_run
SELECT 'POST ' AS verb, '/cancel' AS behind, 'failed to cancel workflow run' AS failed;
-- include: find_run
SELECT github_failure(:request, :failed, json_object(
  'message', 'Cannot cancel a workflow run that is completed.',
  'documentation_url', docs,
  'status', '409'
)) AS error
FROM body
WHERE :run_status = 'completed';
UPDATE workflow_run SET conclusion = 'cancelled' WHERE id = :found_run;
SELECT json_object(
  'message', 'Workflow run has been cancelled',
  'run_id', :found_run,
  'status', '202 Accepted',
  'status_code', 202
) AS result;

-- name: list_workflow_run_artifacts
SELECT 'GET ' AS verb, '/artifacts' AS behind, 'failed to list workflow run artifacts' AS failed;
-- include: find_run
-- include: page
SELECT json_object(
  'total_count', (SELECT count(*) FROM rest_artifact WHERE run_id = :found_run),
  'artifacts', json_group_array(json(json))
) AS result
FROM (SELECT json FROM rest_artifact WHERE run_id = :found_run LIMIT :size OFFSET :skip);

-- name: download_workflow_run_artifact
-- include: api
SELECT
  'GET ' || :api || '/actions/artifacts/' || CAST(:artifact_id AS INTEGER) || '/zip' AS request,
  'failed to get artifact download URL' AS failed;
-- include: find_repo
SELECT id AS found_id, json ->> 'archive_download_url' AS download
FROM rest_artifact
WHERE repo_id = :repo_id AND id = :artifact_id;
SELECT github_failure(:request, :failed, not_found) AS error FROM body WHERE :found_id IS NULL;
SELECT json_object(
  'artifact_id', :found_id,
  'download_url', :download,
  'message', 'Artifact is available for download',
  'note', 'A ZIP file; the URL is good for one minute'
) AS result;

-- name: delete_workflow_run_logs
SELECT 'DELETE ' AS verb, '/logs' AS behind, 'failed to delete workflow run logs' AS failed;
-- include: find_run
SELECT github_failure(:request, :failed, not_found) AS error
FROM body
WHERE NOT :has_logs OR :run_status <> 'completed';
UPDATE workflow_run SET has_logs = 0 WHERE id = :found_run;
SELECT json_object(
  'message', 'Workflow run logs have been deleted',
  'run_id', :found_run,
  'status', '204 No Content',
  'status_code', 204
) AS result;

-- name: get_workflow_run_usage
SELECT 'GET ' AS verb, '/timing' AS behind, 'failed to get workflow run usage' AS failed;
-- include: find_run
SELECT json_object(
  'billable', json_object(
    'UBUNTU', json_object(
      'total_ms', 20000,
      'jobs', 1,
      'job_runs', json_array(json_object('job_id', job_id, 'duration_ms', 20000))
    )
  ),
  'run_duration_ms', 20000
) AS result
FROM run_view
WHERE id = :found_run;

-- name: get_code_scanning_alert
-- include: api
SELECT
  'GET ' || :api || '/code-scanning/alerts/' || CAST(:alertNumber AS INTEGER) AS request,
  'failed to get alert' AS failed;
-- include: find_repo
SELECT json AS alert FROM rest_alert WHERE repo_id = :repo_id AND number = :alertNumber;
SELECT github_failure(:request, :failed, json_object(
  'message', 'No alert found for alert number ' || CAST(:alertNumber AS INTEGER),
  'documentation_url', docs,
  'status', '404'
)) AS error
FROM body
WHERE :alert IS NULL;
SELECT :alert AS result;

-- name: list_code_scanning_alerts
-- include: api
SELECT 'GET ' || :api || '/code-scanning/alerts' AS request, 'failed to list alerts' AS failed;
-- include: find_repo
SELECT github_failure(:request, :failed, json_object(
  'message', 'no analysis found',
  'documentation_url', docs,
  'status', '404'
)) AS error
FROM body
WHERE (:ref <> '' AND :ref NOT IN (:default_branch, 'refs/heads/' || :default_branch))
  OR NOT EXISTS (SELECT 1 FROM workflow WHERE repo_id = :repo_id AND file LIKE 'codeql%');
SELECT json_group_array(json(json)) AS result
FROM (
  SELECT json
  FROM rest_alert
  WHERE repo_id = :repo_id
    AND (state = :state OR (:state = 'closed' AND state <> 'open'))
    AND (:severity IS NULL OR severity = :severity)
    AND (ifnull(:tool_name, '') = '' OR :tool_name = 'CodeQL')
  ORDER BY number DESC
);

-- name: get_dependabot_alert
-- include: api
SELECT
  'GET ' || :api || '/dependabot/alerts/' || CAST(:alertNumber AS INTEGER) AS request,
  'failed to get alert with number ''' || CAST(:alertNumber AS INTEGER) || '''' AS failed;
-- include: find_repo
SELECT json AS alert FROM rest_dependabot WHERE repo_id = :repo_id AND number = :alertNumber;
SELECT github_failure(:request, :failed, json_object(
  'message', 'No alert found for alert number ' || CAST(:alertNumber AS INTEGER),
  'documentation_url', docs,
  'status', '404'
)) AS error
FROM body
WHERE :alert IS NULL;
SELECT :alert AS result;

-- name: list_dependabot_alerts
-- include: api
SELECT
  'GET ' || :api || '/dependabot/alerts' AS request,
  'failed to list alerts for repository ''' || :owner || '/' || :repo || '''' AS failed;
-- include: find_repo
SELECT json_group_array(json(json)) AS result
FROM (
  SELECT json
  FROM rest_dependabot
  WHERE repo_id = :repo_id AND :state = 'open' AND (:severity IS NULL OR severity = :severity)
  ORDER BY number DESC
);

-- name: get_secret_scanning_alert
-- include: api
SELECT
  'GET ' || :api || '/secret-scanning/alerts/' || CAST(:alertNumber AS INTEGER) AS request,
  'failed to get alert with number ''' || CAST(:alertNumber AS INTEGER) || '''' AS failed;
-- include: find_repo
SELECT json AS alert FROM rest_secret WHERE repo_id = :repo_id AND number = :alertNumber;
SELECT github_failure(:request, :failed, not_found) AS error FROM body WHERE :alert IS NULL;
SELECT :alert AS result;

-- name: list_secret_scanning_alerts
-- include: api
SELECT
  'GET ' || :api || '/secret-scanning/alerts' AS request,
  'failed to list alerts for repository ''' || :owner || '/' || :repo || '''' AS failed;
-- include: find_repo
SELECT json_group_array(json(json)) AS result
FROM (
  SELECT json
  FROM rest_secret
  WHERE repo_id = :repo_id
    AND ifnull(:state, 'open') = 'open'
    AND :resolution IS NULL
    AND (ifnull(:secret_type, '') = '' OR instr(',' || :secret_type || ',', ',' || type || ','))
  ORDER BY number DESC
);

-- name: list_discussions
SELECT 'failed to list discussions' AS failed;
-- include: discussions_of
-- include: cursor
SELECT json_group_array(id) AS found
FROM (
  SELECT id
  FROM rest_discussion
  WHERE owner = :owner AND repo = :repo AND (ifnull(:category, '') = '' OR category_id = :category)
  ORDER BY iif(:direction = 'ASC', number, NULL), number DESC
);
SELECT json_array_length(:found) AS total;
SELECT json_object(
  'discussions', json_group_array(json(json)),
  'pageInfo', json_object(
    'endCursor', iif(count(*) = 0, '', base64('cursor:' || (:seen + count(*)))),
    'hasNextPage', json(iif(:seen + count(*) < :total, 'true', 'false')),
    'hasPreviousPage', json(iif(:seen > 0, 'true', 'false')),
    'startCursor', iif(count(*) = 0, '', base64('cursor:' || (:seen + 1)))
  ),
  'totalCount', :total
) AS result
FROM (
  SELECT d.json
  FROM json_each(:found) f
  JOIN rest_discussion d ON d.id = f.value
  ORDER BY f.key
  LIMIT :size OFFSET :seen
);

-- name: get_discussion
-- include: find_discussion
SELECT :discussion AS result;

-- name: get_discussion_comments
-- include: find_discussion
-- include: cursor
SELECT count(*) AS total FROM discussion_comment WHERE discussion_id = :discussion_id;
SELECT json_object(
  'comments', json_group_array(json_object('body', body, 'user', json_object('login', login))),
  'pageInfo', json_object(
    'endCursor', iif(count(*) = 0, '', base64('cursor:' || (:seen + count(*)))),
    'hasNextPage', json(iif(:seen + count(*) < :total, 'true', 'false')),
    'hasPreviousPage', json(iif(:seen > 0, 'true', 'false')),
    'startCursor', iif(count(*) = 0, '', base64('cursor:' || (:seen + 1)))
  ),
  'totalCount', :total
) AS result
FROM (
  SELECT c.body, a.login
  FROM discussion_comment c
  JOIN account a ON a.id = c.author_id
  WHERE c.discussion_id = :discussion_id
  ORDER BY c.id
  LIMIT :size OFFSET :seen
);

-- name: list_discussion_categories
SELECT 'failed to list discussion categories' AS failed;
-- include: discussions_of
SELECT json_object(
  'categories', json_group_array(json_object('id', id, 'name', name)),
  'pageInfo', json_object(
    'endCursor', '',
    'hasNextPage', json('false'),
    'hasPreviousPage', json('false'),
    'startCursor', ''
  ),
  'totalCount', count(*)
) AS result
FROM discussion_category;

-- name: list_gists
SELECT 'failed to list gists: invalid ISO 8601 timestamp: ' || :since AS error
WHERE :since <> '' AND julianday(:since) IS NULL;
SELECT
  'GET https://api.github.example/users/' || :username || '/gists' AS request,
  'failed to list gists' AS failed;
SELECT github_failure(:request, :failed, not_found) AS error
FROM body
WHERE :username <> '' AND :username NOT IN (SELECT login FROM account);
-- include: page
SELECT json_group_array(json(json)) AS result
FROM (
  SELECT json
  FROM rest_gist
  WHERE (ifnull(:username, '') = '' OR :username IN (SELECT login FROM account WHERE is_me))
    AND (ifnull(:since, '') = '' OR julianday(updated_at) >= julianday(:since))
  ORDER BY updated_at DESC, id
  LIMIT :size OFFSET :skip
);

-- name: create_gist
SELECT 'missing required parameter: ' || iif(trim(:filename) = '', 'filename', 'content') AS error
WHERE trim(:filename) = '' OR :content = '';
-- include: session
INSERT INTO gist VALUES (new_id('gist'), ifnull(:description, ''), :public, :now, :now)
RETURNING id AS gist_key;
INSERT INTO gist_file VALUES (:gist_key, :filename, :content);
SELECT json_object('id', id, 'url', json ->> 'html_url') AS result
FROM rest_gist
WHERE id = :gist_key;

-- name: update_gist
SELECT
  'PATCH https://api.github.example/gists/' || :gist_id AS request,
  'failed to update gist' AS failed;
SELECT 'missing required parameter: ' || iif(trim(:filename) = '', 'filename', 'content') AS error
WHERE trim(:filename) = '' OR :content = '';
-- include: session
SELECT github_failure(:request, :failed, not_found) AS error
FROM body
WHERE :gist_id NOT IN (SELECT id FROM gist);
UPDATE gist
SET description = ifnull(:description, description), updated_at = :now
WHERE id = :gist_id;
INSERT INTO gist_file VALUES (:gist_id, :filename, :content)
ON CONFLICT DO UPDATE SET content = excluded.content;
SELECT json_object('id', id, 'url', json ->> 'html_url') AS result
FROM rest_gist
WHERE id = :gist_id;

-- name: get_issue
SELECT 'get' AS method, NULL AS page, NULL AS perPage;
-- include: read_issue

-- name: get_issue_comments
SELECT 'get_comments' AS method;
-- include: read_issue

-- name: list_sub_issues
SELECT
  'get_sub_issues' AS method,
  max(ifnull(:page, 1), 1) AS page,
  min(max(ifnull(:per_page, 30), 1), 100) AS perPage;
-- include: read_issue

-- name: add_sub_issue
SELECT 'add' AS method, NULL AS after_id, NULL AS before_id;
-- include: write_sub_issue

-- name: remove_sub_issue
SELECT 'remove' AS method, NULL AS after_id, NULL AS before_id, NULL AS replace_parent;
-- include: write_sub_issue

-- name: reprioritize_sub_issue
SELECT 'reprioritize' AS method, NULL AS replace_parent;
-- include: write_sub_issue

-- name: create_issue
SELECT
  'create' AS method, NULL AS issue_number, NULL AS state, NULL AS state_reason,
  NULL AS duplicate_of;
-- include: write_issue

-- name: update_issue
SELECT 'update' AS method;
-- include: write_issue

-- name: assign_copilot_to_issue
SELECT :issueNumber AS issue_number, NULL AS base_ref;
-- include: assign_copilot
SELECT 'successfully assigned copilot to issue' AS result;

-- name: list_notifications
SELECT 'invalid ' || iif(julianday(:since) IS NULL AND :since <> '', 'since', 'before')
  || ' time format, should be RFC3339/ISO8601' AS error
WHERE (:since <> '' AND julianday(:since) IS NULL)
  OR (:before <> '' AND julianday(:before) IS NULL);
-- include: api
SELECT 'GET ' || :api || '/notifications' AS request, 'failed to list notifications' AS failed;
SELECT github_failure(:request, :failed, not_found) AS error
FROM body
WHERE :owner <> ''
  AND :repo <> ''
  AND NOT EXISTS (SELECT 1 FROM repo_view WHERE owner = :owner AND name = :repo);
-- include: page
SELECT json_group_array(json(json)) AS result
FROM (
  SELECT json
  FROM rest_notification
  WHERE (state = 'unread' OR (state = 'read' AND :filter = 'include_read_notifications'))
    AND (:filter IS NOT 'only_participating' OR reason <> 'subscribed')
    AND (ifnull(:owner, '') = '' OR ifnull(:repo, '') = '' OR (owner = :owner AND repo = :repo))
    AND (ifnull(:since, '') = '' OR julianday(updated_at) >= julianday(:since))
    AND (ifnull(:before, '') = '' OR julianday(updated_at) < julianday(:before))
  ORDER BY updated_at DESC, id DESC
  LIMIT :size OFFSET :skip
);

-- name: get_notification_details
SELECT :notificationID AS thread_id, 'failed to get notification details' AS failed;
-- include: thread
SELECT json AS result FROM rest_notification WHERE id = :notification_id;

-- name: dismiss_notification
SELECT 'Invalid state. Must be one of: read, done.' AS error WHERE :state IS NULL;
SELECT :threadID AS thread_id, 'failed to mark notification as ' || :state AS failed;
-- include: session
-- include: thread
UPDATE notification SET state = :state, read_at = :now WHERE id = :notification_id;
SELECT 'Notification marked as ' || :state AS result;

-- name: mark_all_notifications_read
SELECT 'invalid lastReadAt time format, should be RFC3339/ISO8601' AS error
WHERE :lastReadAt <> '' AND julianday(:lastReadAt) IS NULL;
-- include: session
-- include: api
SELECT
  'PUT ' || :api || '/notifications' AS request,
  'failed to mark all notifications as read' AS failed;
SELECT github_failure(:request, :failed, not_found) AS error
FROM body
WHERE :owner <> ''
  AND :repo <> ''
  AND NOT EXISTS (SELECT 1 FROM repo_view WHERE owner = :owner AND name = :repo);
UPDATE notification
SET state = 'read', read_at = :now
WHERE state = 'unread'
  AND (ifnull(:lastReadAt, '') = '' OR julianday(updated_at) <= julianday(:lastReadAt))
  AND (
    ifnull(:owner, '') = ''
    OR ifnull(:repo, '') = ''
    OR issue_id IN (SELECT id FROM issue_view WHERE owner = :owner AND repo = :repo)
  );
SELECT 'All notifications marked as read' AS result;

-- name: manage_notification_subscription
SELECT
  :notificationID AS thread_id,
  'failed to ' || :action || ' notification subscription' AS failed;
-- include: session
-- include: thread
UPDATE notification
SET subscription = CASE :action WHEN 'ignore' THEN 'ignored' WHEN 'watch' THEN 'subscribed' END
WHERE id = :notification_id;
SELECT iif(
  :action = 'delete',
  'Notification subscription deleted',
  json_object(
    'subscribed', json(iif(:action = 'watch', 'true', 'false')),
    'ignored', json(iif(:action = 'ignore', 'true', 'false')),
    'created_at', :now,
    'url', 'https://api.github.example/notifications/threads/' || :notification_id
      || '/subscription',
    'thread_url', 'https://api.github.example/notifications/threads/' || :notification_id
  )
) AS result;

-- name: manage_repository_notification_subscription
-- include: api
SELECT
  'PUT ' || :api || '/subscription' AS request,
  'failed to ' || :action || ' repository subscription' AS failed;
-- include: session
-- include: find_repo
DELETE FROM repo_subscription WHERE repo_id = :repo_id;
INSERT INTO repo_subscription
SELECT :repo_id, iif(:action = 'ignore', 'ignored', 'subscribed')
WHERE :action <> 'delete';
SELECT iif(
  :action = 'delete',
  'Repository subscription deleted',
  json_object(
    'subscribed', json(iif(:action = 'watch', 'true', 'false')),
    'ignored', json(iif(:action = 'ignore', 'true', 'false')),
    'created_at', :now,
    'url', :api || '/subscription',
    'repository_url', :api
  )
) AS result;

-- name: get_pull_request
SELECT 'get' AS method, NULL AS page, NULL AS perPage;
-- include: read_pull

-- name: get_pull_request_diff
SELECT 'get_diff' AS method, NULL AS page, NULL AS perPage;
-- include: read_pull

-- name: get_pull_request_files
SELECT 'get_files' AS method;
-- include: read_pull

-- name: get_pull_request_status
SELECT 'get_status' AS method, NULL AS page, NULL AS perPage;
-- include: read_pull

-- name: get_pull_request_reviews
SELECT 'get_reviews' AS method, NULL AS page, 100 AS perPage;
-- include: read_pull

-- name: get_pull_request_review_comments
-- include: pull_request
SELECT
  'GET ' || :url || '/comments' AS request,
  'failed to get pull request review comments' AS failed;
-- include: find_pull
SELECT json_group_array(json(json)) AS result
FROM (
  SELECT json
  FROM rest_review_comment
  WHERE issue_id = :issue_id AND review_state <> 'PENDING'
  ORDER BY created_at, id
  LIMIT 100
);

-- name: create_and_submit_pull_request_review
SELECT 'create' AS method;
-- include: write_review

-- name: create_pending_pull_request_review
SELECT 'create' AS method, NULL AS event, NULL AS body;
-- include: write_review

-- name: submit_pending_pull_request_review
SELECT 'submit_pending' AS method, NULL AS commitID;
-- include: write_review

-- name: delete_pending_pull_request_review
SELECT 'delete_pending' AS method, NULL AS event, NULL AS body, NULL AS commitID;
-- include: write_review

-- name: list_starred_repositories
SELECT
  'GET https://api.github.example/users/' || :username || '/starred' AS request,
  'failed to list starred repositories' AS failed;
SELECT github_failure(:request, :failed, not_found) AS error
FROM body
WHERE :username <> '' AND :username NOT IN (SELECT login FROM account);
-- include: page
SELECT json_group_array(json(json)) AS result
FROM (
  SELECT drop_nulls(json_object(
    'id', r.id,
    'name', r.name,
    'full_name', r.full_name,
    'description', r.description,
    'html_url', 'https://github.example/' || r.full_name,
    'language', r.language,
    'stargazers_count', r.stars,
    'forks_count', r.forks,
    'open_issues_count', r.open_issues,
    'updated_at', r.updated_at,
    'private', json(iif(r.is_private, 'true', 'false')),
    'fork', json(iif(r.parent_id IS NULL, 'false', 'true')),
    'archived', json('false'),
    'default_branch', r.default_branch
  )) AS json
  FROM (
    SELECT r.*, iif(:sort = 'updated', r.updated_at, s.starred_at) AS key
    FROM star s
    JOIN account a ON a.id = s.account_id
    JOIN rest_repo r ON r.id = s.repo_id
    WHERE iif(ifnull(:username, '') = '', a.is_me, a.login = :username)
  ) r
  ORDER BY iif(:direction = 'asc', r.key, NULL), r.key DESC, r.id
  LIMIT :size OFFSET :skip
);

-- name: star_repository
-- include: api
SELECT
  'PUT https://api.github.example/user/starred/' || :owner || '/' || :repo AS request,
  'failed to star repository ' || :owner || '/' || :repo AS failed;
-- include: session
-- include: find_repo
INSERT OR IGNORE INTO star VALUES (:repo_id, :me, :now);
SELECT 'Successfully starred repository ' || :owner || '/' || :repo AS result;

-- name: unstar_repository
SELECT
  'DELETE https://api.github.example/user/starred/' || :owner || '/' || :repo AS request,
  'failed to unstar repository ' || :owner || '/' || :repo AS failed;
-- include: session
-- include: find_repo
DELETE FROM star WHERE repo_id = :repo_id AND account_id = :me;
SELECT 'Successfully unstarred repository ' || :owner || '/' || :repo AS result;

-- name: search_repositories
SELECT NULL AS sort, NULL AS "order";
-- include: found_repos

-- name: search_orgs
SELECT 'missing required parameter: query' AS error WHERE trim(:query) = '';
SELECT 'type:org ' || :query AS words;
-- include: page
-- include: found_users

-- name: list_global_security_advisories
SELECT 'failed to list global security advisories: invalid CVE ID: ' || :cveId AS error
WHERE :cveId <> '' AND :cveId NOT GLOB 'CVE-[0-9]*-[0-9]*';
SELECT json_group_array(json(json)) AS result
FROM (
  SELECT json
  FROM rest_advisory a
  WHERE :type = 'reviewed'
    AND NOT ifnull(:isWithdrawn, 0)
    AND (ifnull(:ghsaId, '') = '' OR ghsa_id = :ghsaId COLLATE NOCASE)
    AND (ifnull(:cveId, '') = '' OR cve_id = :cveId)
    AND (:ecosystem IS NULL OR ecosystem = :ecosystem)
    AND (:severity IS NULL OR severity = :severity)
    AND (
      ifnull(json_array_length(:cwes), 0) = 0
      OR replace(cwe_id, 'CWE-', '') IN (
        SELECT replace(upper(value), 'CWE-', '') FROM json_each(:cwes)
      )
    )
    AND (
      ifnull(:affects, '') = '' OR package = substr(:affects, 1, instr(:affects || '@', '@') - 1)
    )
    -- A day, the first or the last of them.
    AND NOT EXISTS (
      SELECT 1
      FROM json_each(json_array(:published, :updated, :modified)) d
      WHERE ifnull(d.value, '') <> ''
        AND NOT CASE
          WHEN d.value GLOB '>*' THEN a.published_at >= ltrim(d.value, '>=')
          WHEN d.value GLOB '<*' THEN a.published_at <= ltrim(d.value, '<=')
          WHEN instr(d.value, '..')
            THEN a.published_at BETWEEN substr(d.value, 1, instr(d.value, '..') - 1) AND substr(
                d.value,
                instr(d.value, '..') + 2
              ) || 'Z'
          ELSE a.published_at GLOB d.value || '*'
        END
    )
  ORDER BY published_at DESC
);

-- name: get_global_security_advisory
SELECT
  'GET https://api.github.example/advisories/' || :ghsaId AS request,
  'failed to get advisory' AS failed;
SELECT json AS advisory FROM rest_advisory WHERE ghsa_id = :ghsaId COLLATE NOCASE;
SELECT github_failure(:request, :failed, not_found) AS error FROM body WHERE :advisory IS NULL;
SELECT :advisory AS result;

-- name: list_repository_security_advisories
-- include: api
SELECT
  'GET ' || :api || '/security-advisories' AS request,
  'failed to list repository security advisories' AS failed;
-- include: find_repo
-- Repositories have none of their own.
SELECT '[]' AS result;

-- name: list_org_repository_security_advisories
SELECT
  'GET https://api.github.example/orgs/' || :org || '/security-advisories' AS request,
  'failed to list organization repository security advisories' AS failed;
SELECT github_failure(:request, :failed, not_found) AS error
FROM body
WHERE NOT EXISTS (SELECT 1 FROM account WHERE login = :org AND type = 'Organization');
SELECT '[]' AS result;
