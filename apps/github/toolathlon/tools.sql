-- The tools of Toolathlon: those of GitHub's own server, whose answers are the objects of the REST
-- API or trimmed ones, and whose failures are those of its library for Go.

-- part: api
SELECT 'https://api.github.example/repos/' || :owner || '/' || :repo AS api;

-- part: page
SELECT
  CAST(ifnull(:perPage, 30) AS INTEGER) AS size,
  CAST((ifnull(:page, 1) - 1) * ifnull(:perPage, 30) AS INTEGER) AS skip;

-- part: issue_request
-- include: api
SELECT :api || '/issues/' || CAST(:issue_number AS INTEGER) AS url;

-- part: pull_request
-- include: api
SELECT :api || '/pulls/' || CAST(:pullNumber AS INTEGER) AS url;

-- part: whole_commit
-- A commit as the answer to a write has it.
SELECT json_remove(
  json_patch(
    json -> 'commit',
    json_object('sha', sha, 'html_url', json ->> 'html_url', 'parents', json -> 'parents')
  ),
  '$.comment_count'
) AS commit_json
FROM rest_commit
WHERE repo_id = :repo_id AND sha = :commit_sha;

-- part: pending
-- The review that one has begun and not given yet.
SELECT (
  SELECT id FROM review WHERE issue_id = :issue_id AND author_id = :me AND state = 'PENDING'
) AS pending_id;

-- part: found_issues
SELECT count(*) AS total FROM issue_view v WHERE {{github_issues :words}};
SELECT json_object(
  'total_count', :total,
  'incomplete_results', json('false'),
  'items', json_group_array(json(json))
) AS result
FROM (
  SELECT j.json
  FROM (
    SELECT
      id,
      number,
      created_at,
      updated_at,
      comments,
      CASE :sort
        WHEN 'created' THEN created_at
        WHEN 'updated' THEN updated_at
        WHEN 'comments' THEN printf('%09d', comments)
        WHEN 'interactions' THEN printf('%09d', comments)
        ELSE ''
      END AS key
    FROM issue_view v
    WHERE {{github_issues :words}}
  ) v
  JOIN rest_issue j ON j.id = v.id
  ORDER BY
    iif(:order = 'asc', key, NULL),
    iif(:order = 'asc', NULL, key) DESC,
    {{github_issues_order :words}},
    v.id
  LIMIT :size OFFSET :skip
);

-- part: read_issue
-- include: issue_request
SELECT
  'GET ' || :url
    || CASE :method
      WHEN 'get_comments' THEN '/comments'
      WHEN 'get_sub_issues' THEN '/sub_issues'
      ELSE ''
    END AS request,
  CASE :method
    WHEN 'get_comments' THEN 'failed to get issue comments'
    WHEN 'get_sub_issues' THEN 'failed to list sub-issues'
    WHEN 'get_labels' THEN 'failed to get issue labels'
    ELSE 'failed to get issue'
  END AS failed;
-- include: find_repo
-- include: page
SELECT id AS issue_id FROM issue WHERE repo_id = :repo_id AND number = :issue_number;
SELECT github_failure(:request, :failed, not_found) AS error FROM body WHERE :issue_id IS NULL;
SELECT json AS result FROM issue_whole WHERE id = :issue_id AND :method = 'get';
SELECT json_group_array(json(json)) AS result
FROM (
  SELECT json
  FROM rest_comment
  WHERE issue_id = :issue_id
  ORDER BY created_at, id
  LIMIT :size OFFSET :skip
)
HAVING :method = 'get_comments';
SELECT json_group_array(json(json)) AS result
FROM (
  SELECT j.json
  FROM sub_issue s
  JOIN rest_issue j ON j.id = s.issue_id
  WHERE s.parent_id = :issue_id
  ORDER BY s.place
  LIMIT :size OFFSET :skip
)
HAVING :method = 'get_sub_issues';
SELECT json_object(
  'labels', json_group_array(json_object(
    'id', l.value ->> 'id',
    'name', l.value ->> 'name',
    'color', l.value ->> 'color',
    'description', ifnull(l.value ->> 'description', '')
  )),
  'totalCount', count(*)
) AS result
FROM issue_parts i, json_each(i.labels) l
WHERE i.id = :issue_id
HAVING :method = 'get_labels';

-- part: write_sub_issue
SELECT 'unknown method: ' || :method AS error
WHERE lower(:method) NOT IN ('add', 'remove', 'reprioritize');
SELECT 'either after_id or before_id must be specified' AS error
WHERE lower(:method) = 'reprioritize' AND :after_id IS NULL AND :before_id IS NULL;
SELECT 'only one of after_id or before_id should be specified, not both' AS error
WHERE lower(:method) = 'reprioritize' AND :after_id IS NOT NULL AND :before_id IS NOT NULL;
-- include: issue_request
SELECT
  CASE lower(:method)
    WHEN 'add' THEN 'POST ' || :url || '/sub_issues'
    WHEN 'remove' THEN 'DELETE ' || :url || '/sub_issue'
    ELSE 'PATCH ' || :url || '/sub_issues/priority'
  END AS request,
  CASE lower(:method)
    WHEN 'add' THEN 'failed to add sub-issue'
    WHEN 'remove' THEN 'failed to remove sub-issue'
    ELSE 'failed to reprioritize sub-issue'
  END AS failed;
-- include: session
-- include: find_repo
SELECT github_failure(:request, :failed, no_access) AS error FROM body WHERE NOT :can_write;
SELECT id AS issue_id
FROM issue
WHERE repo_id = :repo_id AND number = :issue_number AND NOT is_pull;
SELECT github_failure(:request, :failed, not_found) AS error FROM body WHERE :issue_id IS NULL;
SELECT i.id AS child_id, s.parent_id
FROM issue i
LEFT JOIN sub_issue s ON s.issue_id = i.id
WHERE i.id = :sub_issue_id AND NOT i.is_pull;
SELECT github_failure(:request, :failed, json_object(
  'message', 'The provided sub-issue does not exist',
  'documentation_url', docs,
  'status', '404'
)) AS error
FROM body
WHERE :child_id IS NULL
  OR (lower(:method) <> 'add' AND :parent_id IS NOT :issue_id)
  OR EXISTS (
    SELECT 1
    FROM (SELECT :after_id AS id UNION ALL SELECT :before_id)
    WHERE lower(:method) = 'reprioritize'
      AND id IS NOT NULL
      AND id NOT IN (
        SELECT issue_id FROM sub_issue WHERE parent_id = :issue_id AND issue_id <> :child_id
      )
  );
-- Above an issue there is none that is below it.
SELECT github_failure(:request, :failed, json_object(
  'message', 'An error occurred while adding the sub-issue to the parent issue. ' || why,
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM (
  SELECT
    docs,
    CASE
      WHEN :parent_id = :issue_id THEN 'Issue may not contain duplicate sub-issues'
      WHEN :parent_id IS NOT NULL AND NOT ifnull(:replace_parent, 0)
        THEN 'Sub issue may only have one parent'
      WHEN EXISTS (
          WITH RECURSIVE up (id) AS (
            SELECT :issue_id UNION SELECT s.parent_id FROM up JOIN sub_issue s ON s.issue_id = up.id
          )
          SELECT 1
          FROM up
          WHERE id = :child_id
        )
        THEN 'Sub issue may not create a circular dependency'
    END AS why
  FROM body
)
WHERE lower(:method) = 'add' AND why IS NOT NULL;
DELETE FROM sub_issue WHERE issue_id = :child_id;
-- The siblings with their places, and where it goes.
SELECT json_group_array(issue_id) AS siblings
FROM (SELECT issue_id FROM sub_issue WHERE parent_id = :issue_id ORDER BY place);
SELECT CASE
  WHEN :after_id IS NOT NULL AND lower(:method) <> 'add'
    THEN (SELECT key + 0.5 FROM json_each(:siblings) WHERE value = :after_id)
  WHEN :before_id IS NOT NULL AND lower(:method) <> 'add'
    THEN (SELECT key - 0.5 FROM json_each(:siblings) WHERE value = :before_id)
  ELSE json_array_length(:siblings)
END AS spot;
UPDATE sub_issue
SET place = p.place
FROM (
  SELECT value AS id, row_number() OVER (ORDER BY key) + (key > :spot) AS place
  FROM json_each(:siblings)
) p
WHERE sub_issue.issue_id = p.id;
INSERT INTO sub_issue
SELECT :child_id, :issue_id, 1 + (SELECT count(*) FROM json_each(:siblings) WHERE key < :spot)
WHERE lower(:method) <> 'remove';
UPDATE issue SET updated_at = :now WHERE id = :issue_id;
SELECT json AS result FROM issue_whole WHERE id = :issue_id;

-- part: write_issue
SELECT 'missing required parameter: title' AS error
WHERE :method = 'create' AND trim(ifnull(:title, '')) = '';
SELECT 'missing required parameter: issue_number' AS error
WHERE :method = 'update' AND :issue_number IS NULL;
SELECT 'duplicate_of can only be used when state_reason is ''duplicate''' AS error
WHERE :duplicate_of IS NOT NULL AND :state_reason IS NOT 'duplicate';
-- include: api
SELECT
  iif(
    :method = 'create',
    'POST ' || :api || '/issues',
    'PATCH ' || :api || '/issues/' || CAST(:issue_number AS INTEGER)
  ) AS request,
  iif(:method = 'create', 'failed to create issue', 'failed to update issue') AS failed;
-- include: session
-- include: find_repo
SELECT github_failure(:request, :failed, json_object(
  'message', 'Validation Failed',
  'errors', json_array(json_object('resource', 'Issue', 'code', 'invalid', 'field', 'type')),
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE :type <> ''
  AND (
    :type NOT IN (SELECT name FROM issue_type)
    OR NOT EXISTS (SELECT 1 FROM repo_view WHERE id = :repo_id AND owner_type = 'Organization')
  );
SELECT github_failure(:request, :failed, not_found) AS error
FROM body
WHERE :duplicate_of IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM issue WHERE repo_id = :repo_id AND number = :duplicate_of);
SELECT github_failure(:request, :failed, no_access) AS error
FROM body
WHERE :method = 'update' AND NOT :can_write;
-- A new one is made first; then it gets what was given, as one that was there.
INSERT INTO issue (id, repo_id, number, title, author_id, created_at, updated_at)
SELECT
  new_id('issue'),
  :repo_id,
  (SELECT number FROM next_number WHERE repo_id = :repo_id),
  :title,
  :me,
  :now,
  :now
WHERE :method = 'create'
RETURNING number AS new_number;
SELECT
  iif(:method = 'create', :new_number, :issue_number) AS issue_number,
  iif(:method = 'create', NULL, :state) AS state;
-- include: change_issue
UPDATE issue
SET
  type = ifnull(nullif(:type, ''), type),
  state_reason = CASE
    WHEN state = 'open' THEN iif(:state_before = 'closed', 'reopened', state_reason)
    WHEN :state IS NOT NULL THEN nullif(:state_reason, 'completed')
    ELSE state_reason
  END
WHERE id = :issue_id;
SELECT json_object('id', CAST(id AS TEXT), 'url', html_url) AS result
FROM issue_parts
WHERE id = :issue_id;

-- part: read_pull
-- include: pull_request
SELECT
  'GET ' || :url
    || CASE :method
      WHEN 'get_files' THEN '/files'
      WHEN 'get_review_comments' THEN '/comments'
      WHEN 'get_reviews' THEN '/reviews'
      ELSE ''
    END AS request,
  CASE :method
    WHEN 'get_diff' THEN 'failed to get pull request diff'
    WHEN 'get_files' THEN 'failed to get pull request files'
    WHEN 'get_review_comments' THEN 'failed to get pull request review threads'
    WHEN 'get_reviews' THEN 'failed to get pull request reviews'
    WHEN 'get_comments' THEN 'failed to get issue comments'
    ELSE 'failed to get pull request'
  END AS failed;
-- include: pull_status
-- include: page
-- include: pull_detail
SELECT :pull AS result WHERE :method = 'get';
SELECT ifnull(group_concat(text, ''), '') AS result
FROM (
  SELECT 'diff --git a/' || ifnull(value ->> 'previous_filename', value ->> 'filename') || ' b/'
    || (value ->> 'filename') || char(10)
    || CASE value ->> 'status'
      WHEN 'added' THEN 'new file mode 100644' || char(10)
      WHEN 'removed' THEN 'deleted file mode 100644' || char(10)
      WHEN 'renamed'
        THEN 'similarity index 100%' || char(10) || 'rename from '
          || (value ->> 'previous_filename') || char(10) || 'rename to ' || (value ->> 'filename')
          || char(10)
      ELSE ''
    END
    || ifnull(
      'index '
        || iif(value ->> 'status' = 'added', '0000000', substr(value ->> 'previous_sha', 1, 7))
        || '..' || iif(value ->> 'status' = 'removed', '0000000', substr(value ->> 'sha', 1, 7))
        || iif(value ->> 'status' = 'modified', ' 100644', '') || char(10) || '--- '
        || iif(value ->> 'status' = 'added', '/dev/null', 'a/' || (value ->> 'filename'))
        || char(10) || '+++ '
        || iif(value ->> 'status' = 'removed', '/dev/null', 'b/' || (value ->> 'filename'))
        || char(10) || (value ->> 'patch') || char(10),
      ''
    ) AS text
  FROM json_each(:changes)
  ORDER BY key
)
HAVING :method = 'get_diff';
SELECT json_object(
  'state', :pull_status,
  'sha', :head_sha,
  'total_count', :n_statuses,
  'statuses', json(:statuses),
  'commit_url', :api || '/commits/' || :head_sha,
  'repository_url', :api
) AS result
WHERE :method = 'get_status';
SELECT json_group_array(json(json)) AS result
FROM (
  SELECT drop_nulls(json_object(
    'sha', value ->> 'sha',
    'filename', value ->> 'filename',
    'additions', value -> 'additions',
    'deletions', value -> 'deletions',
    'changes', value -> 'changes',
    'status', value ->> 'status',
    'patch', value ->> 'patch',
    'blob_url', 'https://github.example/' || :full_name || '/blob/' || :head_sha || '/'
      || (value ->> 'filename'),
    'raw_url', 'https://github.example/' || :full_name || '/raw/' || :head_sha || '/'
      || (value ->> 'filename'),
    'contents_url', :api || '/contents/' || (value ->> 'filename') || '?ref=' || :head_sha,
    'previous_filename', value ->> 'previous_filename'
  )) AS json
  FROM json_each(:changes)
  ORDER BY key
  LIMIT :size OFFSET :skip
)
HAVING :method = 'get_files';
SELECT json_object(
  'pageInfo', json_object(
    'endCursor', '',
    'hasNextPage', json(iif(:skip + count(*) < max(total), 'true', 'false')),
    'hasPreviousPage', json(iif(:skip > 0, 'true', 'false')),
    'startCursor', ''
  ),
  'reviewThreads', json_group_array(json(json)),
  'totalCount', ifnull(max(total), 0)
) AS result
FROM (
  SELECT
    count(*) OVER () AS total,
    json_object(
      'ID', 'PRRT_' || t.id,
      'IsResolved', json('false'),
      'IsOutdated', json('false'),
      'IsCollapsed', json('false'),
      'Comments', (
        SELECT json_object('Nodes', json_group_array(json(json)), 'TotalCount', count(*))
        FROM (
          SELECT json_object(
            'ID', 'PRRC_' || c.id,
            'Body', c.body,
            'Path', c.path,
            'Line', ifnull(c.line, c.position),
            'Author', json_object('Login', c.json ->> '$.user.login'),
            'CreatedAt', c.created_at,
            'UpdatedAt', c.updated_at,
            'URL', c.json ->> 'html_url'
          ) AS json
          FROM rest_review_comment c
          WHERE t.id IN (c.id, c.reply_to) AND c.review_state <> 'PENDING'
          ORDER BY c.id
        )
      )
    ) AS json
  FROM rest_review_comment t
  WHERE t.issue_id = :issue_id AND t.reply_to IS NULL AND t.review_state <> 'PENDING'
  ORDER BY t.created_at, t.id
  LIMIT :size OFFSET :skip
)
HAVING :method = 'get_review_comments';
SELECT json_group_array(json(json)) AS result
FROM (
  SELECT json
  FROM rest_review
  WHERE issue_id = :issue_id
  ORDER BY submitted_at, id
  LIMIT :size OFFSET :skip
)
HAVING :method = 'get_reviews';
SELECT json_group_array(json(json)) AS result
FROM (
  SELECT json
  FROM rest_comment
  WHERE issue_id = :issue_id
  ORDER BY created_at, id
  LIMIT :size OFFSET :skip
)
HAVING :method = 'get_comments';

-- part: write_review
-- include: pull_request
SELECT 'GET ' || :url AS request, 'failed to get pull request' AS failed;
-- include: session
-- include: find_pull
-- include: pending
SELECT 'failed to create pull request review: User can only have one pending review per pull '
  || 'request' AS error
WHERE :method = 'create' AND :pending_id IS NOT NULL;
SELECT 'No pending review found for the viewer' AS error
WHERE :method <> 'create' AND :pending_id IS NULL;
SELECT 'failed to submit pull request review: an event is needed: APPROVE, REQUEST_CHANGES or '
  || 'COMMENT' AS error
WHERE :method = 'submit_pending' AND :event IS NULL;
SELECT 'failed to submit pull request review: Review Can not '
  || iif(:event = 'APPROVE', 'approve', 'request changes on') || ' your own pull request' AS error
WHERE :method <> 'delete_pending' AND :event IN ('APPROVE', 'REQUEST_CHANGES') AND :author_id = :me;
SELECT 'failed to submit pull request review: Review body cannot be blank' AS error
WHERE :method <> 'delete_pending'
  AND :event IN ('COMMENT', 'REQUEST_CHANGES')
  AND trim(ifnull(:body, '')) = ''
  AND NOT EXISTS (SELECT 1 FROM review_comment WHERE review_id = :pending_id);
SELECT 'failed to create pull request review: Could not resolve to a commit with the id '
  || :commitID AS error
WHERE :commitID <> '' AND NOT EXISTS (SELECT 1 FROM git_commit WHERE sha = :commitID);
SELECT CASE :event
  WHEN 'APPROVE' THEN 'APPROVED'
  WHEN 'COMMENT' THEN 'COMMENTED'
  WHEN 'REQUEST_CHANGES' THEN 'CHANGES_REQUESTED'
  ELSE 'PENDING'
END AS new_state;
INSERT INTO review
SELECT
  new_id('review'),
  :issue_id,
  :me,
  :new_state,
  ifnull(:body, ''),
  ifnull(nullif(:commitID, ''), :head_sha),
  :now
WHERE :method = 'create';
UPDATE review
SET state = :new_state, body = ifnull(:body, body), submitted_at = :now
WHERE id = :pending_id AND :method = 'submit_pending';
DELETE FROM review_comment WHERE review_id = :pending_id AND :method = 'delete_pending';
DELETE FROM review WHERE id = :pending_id AND :method = 'delete_pending';
DELETE FROM pull_reviewer
WHERE issue_id = :issue_id AND account_id = :me AND :new_state <> 'PENDING';
UPDATE issue SET updated_at = :now WHERE id = :issue_id AND :new_state <> 'PENDING';
SELECT CASE :method
  WHEN 'submit_pending' THEN 'pending pull request review successfully submitted'
  WHEN 'delete_pending' THEN 'pending pull request review successfully deleted'
  ELSE iif(
    :event IS NULL,
    'pending pull request created',
    'pull request review submitted successfully'
  )
END AS result;

-- part: assign_copilot
-- include: issue_request
SELECT 'POST ' || :url || '/assignees' AS request, 'failed to get issue' AS failed;
-- include: session
-- include: find_repo
SELECT github_failure(:request, :failed, no_access) AS error FROM body WHERE NOT :can_write;
SELECT id AS issue_id
FROM issue
WHERE repo_id = :repo_id AND number = :issue_number AND NOT is_pull;
SELECT github_failure(:request, :failed, not_found) AS error FROM body WHERE :issue_id IS NULL;
SELECT 'failed to assign copilot: there is no branch ' || :base_ref AS error
WHERE :base_ref <> ''
  AND NOT EXISTS (SELECT 1 FROM branch WHERE repo_id = :repo_id AND name = :base_ref);
INSERT OR IGNORE INTO issue_assignee
SELECT
  :issue_id,
  a.id,
  (SELECT ifnull(max(place), -1) + 1 FROM issue_assignee WHERE issue_id = :issue_id)
FROM account a
WHERE a.login = 'Copilot';
UPDATE issue SET updated_at = :now WHERE id = :issue_id;

-- part: found_repos
SELECT 'missing required parameter: query' AS error WHERE trim(:query) = '';
-- include: page
SELECT count(*) AS total FROM repo_view r WHERE {{github_repos :query}};
SELECT json_object(
  'total_count', :total,
  'incomplete_results', json('false'),
  'items', json_group_array(json(json))
) AS result
FROM (
  SELECT iif(
    :minimal_output,
    drop_nulls(json_object(
      'id', id,
      'name', name,
      'full_name', full_name,
      'description', description,
      'html_url', 'https://github.example/' || full_name,
      'language', language,
      'stargazers_count', stars,
      'forks_count', forks,
      'open_issues_count', open_issues,
      'updated_at', updated_at,
      'created_at', created_at,
      'private', json(iif(is_private, 'true', 'false')),
      'fork', json(iif(parent_id IS NULL, 'false', 'true')),
      'archived', json('false'),
      'default_branch', default_branch
    )),
    json
  ) AS json
  FROM (
    SELECT
      r.*,
      CASE :sort
        WHEN 'stars' THEN printf('%09d', stars)
        WHEN 'forks' THEN printf('%09d', forks)
        WHEN 'updated' THEN updated_at
        ELSE ''
      END AS key
    FROM rest_repo r
    WHERE {{github_repos :query}}
  )
  ORDER BY
    iif(:order = 'asc', key, NULL),
    iif(:order = 'asc', NULL, key) DESC,
    {{github_repos_order :query}},
    id
  LIMIT :size OFFSET :skip
);

-- part: found_users
SELECT count(*) AS total FROM account_view WHERE {{github_users :words}};
SELECT json_object(
  'total_count', :total,
  'incomplete_results', json('false'),
  'items', json_group_array(json(json))
) AS result
FROM (
  SELECT json_object(
    'login', login,
    'id', id,
    'profile_url', 'https://github.example/' || login,
    'avatar_url', 'https://avatars.github.example/u/' || id
  ) AS json
  FROM (
    SELECT
      *,
      CASE :sort
        WHEN 'followers' THEN printf('%09d', followers)
        WHEN 'repositories' THEN printf('%09d', repos)
        WHEN 'joined' THEN created_at
        ELSE ''
      END AS key
    FROM account_view
    WHERE {{github_users :words}}
  )
  ORDER BY iif(:order = 'asc', key, NULL), iif(:order = 'asc', NULL, key) DESC, followers DESC, id
  LIMIT :size OFFSET :skip
);

-- name: get_me
SELECT json_object(
  'login', login,
  'id', id,
  'profile_url', 'https://github.example/' || login,
  'avatar_url', 'https://avatars.github.example/u/' || id,
  'details', drop_nulls(json_object(
    'name', name,
    'company', company,
    'location', location,
    'email', email,
    'bio', bio,
    'public_repos', (SELECT count(*) FROM repo r WHERE r.owner_id = a.id AND NOT r.is_private),
    'public_gists', public_gists,
    'followers', followers,
    'following', following,
    'created_at', created_at,
    'updated_at', updated_at
  ))
) AS result
FROM account a
WHERE is_me;

-- name: get_teams
SELECT ifnull(nullif(:user, ''), (SELECT login FROM account WHERE is_me)) AS who;
SELECT 'Failed to find teams: Could not resolve to a User with the login of ''' || :who
  || '''.' AS error
WHERE NOT EXISTS (SELECT 1 FROM account WHERE login = :who AND type = 'User');
SELECT iif(
  count(*) = 0,
  '[]',
  json_array(json_object(
    'org', (SELECT login FROM account WHERE type = 'Organization'),
    'teams', json_group_array(json(json))
  ))
) AS result
FROM (
  SELECT json_object('name', t.name, 'slug', t.slug, 'description', t.description) AS json
  FROM team_member m
  JOIN team t USING (slug)
  WHERE m.login = :who
  ORDER BY t.slug
);

-- name: get_team_members
SELECT 'Failed to get team members: Could not resolve to an Organization with the login of '''
  || :org || '''.' AS error
WHERE NOT EXISTS (SELECT 1 FROM account WHERE login = :org AND type = 'Organization');
SELECT json_group_array(login) AS result
FROM (SELECT login FROM team_member WHERE slug = :team_slug ORDER BY login);

-- name: issue_read
-- include: read_issue

-- name: list_issue_types
SELECT
  'GET https://api.github.example/orgs/' || :owner || '/issue-types' AS request,
  'failed to list issue types' AS failed;
SELECT github_failure(:request, :failed, not_found) AS error
FROM body
WHERE NOT EXISTS (SELECT 1 FROM account WHERE login = :owner AND type = 'Organization');
SELECT json_group_array(json(json)) AS result FROM issue_type;

-- name: add_issue_comment
-- include: issue_request
SELECT 'POST ' || :url || '/comments' AS request, 'failed to create comment' AS failed;
-- include: add_comment
SELECT json_object('id', CAST(id AS TEXT), 'url', json ->> 'html_url') AS result
FROM rest_comment
WHERE id = :comment_id;

-- name: sub_issue_write
-- include: write_sub_issue

-- name: search_issues
SELECT 'missing required parameter: query' AS error WHERE trim(:query) = '';
SELECT 'is:issue '
  || iif(:owner <> '' AND :repo <> '', 'repo:' || :owner || '/' || :repo || ' ', '')
  || :query AS words;
-- include: page
-- include: found_issues

-- name: issue_write
-- include: write_issue

-- name: list_issues
SELECT
  'GET https://api.github.example/repos/' || :owner || '/' || :repo || '/issues' AS request,
  'failed to list issues' AS failed;
SELECT 'failed to list issues: invalid ISO 8601 timestamp: ' || :since
  || ' (supported formats: YYYY-MM-DDThh:mm:ssZ or YYYY-MM-DD)' AS error
WHERE :since IS NOT NULL AND julianday(:since) IS NULL;
SELECT 'failed to list issues: Could not resolve to a Repository with the name ''' || :owner || '/'
  || :repo || '''.' AS error
WHERE NOT EXISTS (SELECT 1 FROM repo_view WHERE owner = :owner AND name = :repo);
SELECT CAST(ifnull(:perPage, 30) AS INTEGER) AS size, CAST(unbase64(:after) AS TEXT) AS cursor;
SELECT iif(:cursor GLOB 'cursor:[0-9]*', CAST(substr(:cursor, 8) AS INTEGER), NULL) AS seen;
SELECT 'failed to list issues: `' || :after || '` does not appear to be a valid cursor.' AS error
WHERE :after <> '' AND :seen IS NULL;
SELECT json_group_array(id) AS found
FROM (
  SELECT id
  FROM (
    SELECT
      id,
      number,
      CASE :orderBy
        WHEN 'UPDATED_AT' THEN updated_at
        WHEN 'COMMENTS' THEN printf('%09d', comments)
        ELSE created_at
      END AS key
    FROM issue_view v
    WHERE owner = :owner
      AND repo = :repo
      AND NOT is_pull
      AND (:state IS NULL OR state = lower(:state))
      AND (:since IS NULL OR julianday(updated_at) >= julianday(:since))
      AND (
        ifnull(json_array_length(:labels), 0) = 0
        OR EXISTS (
          SELECT 1
          FROM json_each(:labels) w
          JOIN issue_label l ON l.label = w.value
          WHERE l.issue_id = v.id
        )
      )
  )
  ORDER BY
    iif(:direction = 'ASC', key, NULL),
    iif(:direction = 'ASC', number, NULL),
    key DESC,
    number DESC
);
SELECT ifnull(:seen, 0) AS seen, json_array_length(:found) AS total;
SELECT json_object(
  'issues', json_group_array(json(json)),
  'pageInfo', json_object(
    'endCursor', iif(count(*) = 0, '', base64('cursor:' || (:seen + count(*)))),
    'hasNextPage', json(iif(:seen + count(*) < :total, 'true', 'false')),
    'hasPreviousPage', json(iif(:seen > 0, 'true', 'false')),
    'startCursor', iif(count(*) = 0, '', base64('cursor:' || (:seen + 1)))
  ),
  'totalCount', :total
) AS result
FROM (
  SELECT json_object(
    'id', i.id,
    'number', i.number,
    'state', upper(i.state),
    'title', i.title,
    'body', ifnull(i.body, ''),
    'user', json_object('login', i.author),
    'labels', (
      SELECT json_group_array(json_object(
        'name', value ->> 'name',
        'description', ifnull(value ->> 'description', '')
      ))
      FROM json_each(i.labels)
    ),
    'comments', i.comments,
    'created_at', i.created_at,
    'updated_at', i.updated_at
  ) AS json
  FROM json_each(:found) f
  JOIN issue_parts i ON i.id = f.value
  ORDER BY f.key
  LIMIT :size OFFSET :seen
);

-- name: assign_copilot_to_issue
-- include: assign_copilot
SELECT json_object(
  'issue_number', number,
  'issue_url', html_url,
  'message', 'successfully assigned copilot to issue',
  'owner', :owner,
  'repo', :repo
) AS result
FROM issue_parts
WHERE id = :issue_id;

-- name: get_label
SELECT 'Failed to find label: Could not resolve to a Repository with the name ''' || :owner || '/'
  || :repo || '''.' AS error
WHERE NOT EXISTS (SELECT 1 FROM repo_view WHERE owner = :owner AND name = :repo);
SELECT l.json AS label
FROM rest_label l
JOIN repo_view r ON r.id = l.repo_id
WHERE r.owner = :owner AND r.name = :repo AND l.label = :name;
SELECT 'label ''' || :name || ''' not found in ' || :owner || '/' || :repo AS error
WHERE :label IS NULL;
SELECT json_object(
  'color', :label ->> 'color',
  'description', ifnull(:label ->> 'description', ''),
  'id', CAST(:label ->> 'id' AS TEXT),
  'name', :label ->> 'name'
) AS result;

-- name: pull_request_read
-- include: read_pull

-- name: create_pull_request
-- include: api
SELECT 'POST ' || :api || '/pulls' AS request, 'failed to create pull request' AS failed;
-- include: create_pull
SELECT json_object('id', CAST(id AS TEXT), 'url', html_url) AS result
FROM issue_parts
WHERE id = :issue_id;

-- name: update_pull_request
SELECT 'No update parameters provided.' AS error
WHERE coalesce(:title, :body, :state, :base, :maintainer_can_modify, :draft, :reviewers) IS NULL;
-- include: pull_request
SELECT 'PATCH ' || :url AS request, 'failed to update pull request' AS failed;
-- include: update_pull
SELECT
  'POST ' || :url || '/requested_reviewers' AS request,
  'failed to request reviewers' AS failed;
SELECT github_failure(:request, :failed, json_object(
  'message', 'Reviews may only be requested from collaborators. One or more of the users or '
    || 'teams you specified is not a collaborator of the ' || :full_name || ' repository.',
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE EXISTS (
  SELECT 1
  FROM json_each(:reviewers)
  WHERE value NOT IN (SELECT login FROM account WHERE type <> 'Organization')
);
SELECT github_failure(:request, :failed, json_object(
  'message', 'Review cannot be requested from pull request author.',
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE EXISTS (
  SELECT 1 FROM json_each(:reviewers) r JOIN account a ON a.login = r.value WHERE a.id = :author_id
);
INSERT OR IGNORE INTO pull_reviewer
SELECT
  :issue_id,
  a.id,
  r.key + (SELECT ifnull(max(place), -1) + 1 FROM pull_reviewer WHERE issue_id = :issue_id)
FROM json_each(:reviewers) r
JOIN account a ON a.login = r.value;
UPDATE pull SET is_draft = :draft WHERE issue_id = :issue_id AND :draft IS NOT NULL;
SELECT json_object('id', CAST(id AS TEXT), 'url', html_url) AS result
FROM issue_parts
WHERE id = :issue_id;

-- name: add_reply_to_pull_request_comment
-- include: pull_request
SELECT
  'POST ' || :url || '/comments' AS request,
  'failed to add reply to pull request comment' AS failed,
  :commentId AS target;
-- include: session
-- include: find_pull
-- include: reply_target
INSERT INTO review VALUES (new_id('review'), :issue_id, :me, 'COMMENTED', '', :head_sha, :now)
RETURNING id AS review_id;
-- include: reply
UPDATE issue SET updated_at = :now WHERE id = :issue_id;
SELECT json_object('id', CAST(id AS TEXT), 'url', json ->> 'html_url') AS result
FROM rest_review_comment
WHERE id = :reply_id;

-- name: list_pull_requests
-- include: api
SELECT 'GET ' || :api || '/pulls' AS request, 'failed to list pull requests' AS failed;
-- include: find_repo
-- include: page
-- include: chosen_pulls
SELECT json_group_array(json(json)) AS result
FROM (SELECT j.json FROM json_each(:chosen) v JOIN rest_pull j ON j.id = v.value ORDER BY v.key);

-- name: merge_pull_request
-- include: pull_request
SELECT 'PUT ' || :url || '/merge' AS request, 'failed to merge pull request' AS failed;
-- include: merge_pull
SELECT json_object(
  'sha', :commit_sha,
  'merged', json('true'),
  'message', 'Pull Request successfully merged'
) AS result;

-- name: search_pull_requests
SELECT 'missing required parameter: query' AS error WHERE trim(:query) = '';
SELECT 'is:pr ' || iif(:owner <> '' AND :repo <> '', 'repo:' || :owner || '/' || :repo || ' ', '')
  || :query AS words;
-- include: page
-- include: found_issues

-- name: update_pull_request_branch
-- include: pull_request
SELECT
  'PUT ' || :url || '/update-branch' AS request,
  'failed to update pull request branch' AS failed;
-- include: update_branch
SELECT 'Pull request branch update is in progress' AS result;

-- name: pull_request_review_write
-- include: write_review

-- name: add_comment_to_pending_review
-- include: pull_request
SELECT 'GET ' || :url AS request, 'failed to get pull request' AS failed;
-- include: session
-- include: find_pull
-- include: pending
SELECT 'No pending review found for the viewer' AS error WHERE :pending_id IS NULL;
-- include: pull_changes
SELECT 'Failed to add comment to pending review: the pull request does not change '
  || :path AS error
WHERE :path NOT IN (SELECT value ->> 'filename' FROM json_each(:changes));
SELECT 'Failed to add comment to pending review: a comment on a LINE needs the line' AS error
WHERE :subjectType = 'LINE' AND :line IS NULL;
INSERT INTO review_comment (
  id, review_id, path, line, side, start_line, start_side, body, created_at, updated_at
) VALUES (
  new_id('comment'),
  :pending_id,
  :path,
  iif(:subjectType = 'FILE', NULL, CAST(:line AS INTEGER)),
  :side,
  CAST(:startLine AS INTEGER),
  :startSide,
  :body,
  :now,
  :now
);
SELECT 'pull request review comment successfully added to pending review' AS result;

-- name: request_copilot_review
-- include: pull_request
SELECT
  'POST ' || :url || '/requested_reviewers' AS request,
  'failed to request copilot review' AS failed;
-- include: session
-- include: find_repo
SELECT github_failure(:request, :failed, no_access) AS error FROM body WHERE NOT :can_write;
-- include: find_pull_of_repo
INSERT OR IGNORE INTO pull_reviewer
SELECT
  :issue_id,
  a.id,
  (SELECT ifnull(max(place), -1) + 1 FROM pull_reviewer WHERE issue_id = :issue_id)
FROM account a
WHERE a.login = 'Copilot';
UPDATE issue SET updated_at = :now WHERE id = :issue_id;
SELECT '' AS result;

-- name: get_commit
-- include: api
SELECT
  'GET ' || :api || '/commits/' || :sha AS request,
  'failed to get commit: ' || :sha AS failed,
  :sha AS ref;
-- include: find_repo
-- include: page
-- include: find_commit
SELECT github_failure(:request, :failed, json_object(
  'message', 'No commit found for SHA: ' || :sha,
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE :start IS NULL;
SELECT parents ->> 0 AS old_commit, sha AS new_commit FROM git_commit WHERE sha = :start;
-- include: changes
SELECT
  CAST(total(value ->> 'additions') AS INTEGER) AS additions,
  CAST(total(value ->> 'deletions') AS INTEGER) AS deletions
FROM json_each(:changes);
SELECT iif(
  :include_diff,
  json_patch(json, json_object(
    'stats', json_object(
      'additions', :additions,
      'deletions', :deletions,
      'total', :additions + :deletions
    ),
    'files', (
      SELECT json_group_array(json(json))
      FROM (
        SELECT json_object(
          'filename', value ->> 'filename',
          'status', value ->> 'status',
          'additions', value -> 'additions',
          'deletions', value -> 'deletions',
          'changes', value -> 'changes'
        ) AS json
        FROM json_each(:changes)
        ORDER BY key
        LIMIT :size OFFSET :skip
      )
    )
  )),
  json
) AS result
FROM minimal_commit
WHERE repo_id = :repo_id AND sha = :start;

-- name: list_commits
-- include: api
SELECT 'GET ' || :api || '/commits' AS request, 'failed to list commits' AS failed;
-- include: find_commits
-- include: page
WITH RECURSIVE h (sha) AS (
  SELECT :start
  UNION
  SELECT p.value FROM h JOIN git_commit c ON c.sha = h.sha, json_each(c.parents) p
)
SELECT json_group_array(json(json)) AS result
FROM (
  SELECT m.json
  FROM h
  JOIN git_commit c ON c.sha = h.sha
  JOIN minimal_commit m ON m.repo_id = :repo_id AND m.sha = c.sha
  WHERE ifnull(:author, '') = ''
    OR c.author_email = :author
    OR c.author_email = (SELECT email FROM account WHERE login = :author)
  ORDER BY c.committed_at DESC, c.generation DESC, c.sha
  LIMIT :size OFFSET :skip
);

-- name: list_branches
-- include: api
SELECT 'GET ' || :api || '/branches' AS request, 'failed to list branches' AS failed;
-- include: find_repo
-- include: page
SELECT json_group_array(json_object('name', name, 'sha', sha, 'protected', json('false'))) AS result
FROM (SELECT name, sha FROM branch WHERE repo_id = :repo_id ORDER BY name LIMIT :size OFFSET :skip);

-- name: create_or_update_file
-- include: api
SELECT 'PUT ' || :api || '/contents/' || :path AS request, 'failed to create/update file' AS failed;
-- include: write_file
-- include: whole_commit
SELECT json_object(
  'content', json_object(
    'type', 'file',
    'size', length(CAST(:content AS BLOB)),
    'name', substr(:file_path, 1 + length(rtrim(:file_path, replace(:file_path, '/', '')))),
    'path', :file_path,
    'sha', git_blob(:content),
    'url', :api || '/contents/' || :file_path || '?ref=' || :branch,
    'html_url', 'https://github.example/' || :full_name || '/blob/' || :branch || '/' || :file_path,
    'download_url', 'https://raw.github.example/' || :full_name || '/' || :branch || '/'
      || :file_path
  ),
  'commit', json(:commit_json)
) AS result;

-- name: create_repository
SELECT
  iif(
    ifnull(:organization, '') = '',
    'POST https://api.github.example/user/repos',
    'POST https://api.github.example/orgs/' || :organization || '/repos'
  ) AS request,
  'failed to create repository' AS failed;
SELECT id AS new_owner_id, can_write
FROM account
WHERE iif(ifnull(:organization, '') = '', is_me, login = :organization AND type = 'Organization');
SELECT github_failure(:request, :failed, not_found) AS error FROM body WHERE :new_owner_id IS NULL;
SELECT github_failure(:request, :failed, no_access) AS error FROM body WHERE NOT :can_write;
-- include: create_repository
SELECT json_object('id', CAST(id AS TEXT), 'url', 'https://github.example/' || full_name) AS result
FROM repo_view
WHERE id = :repo_id;

-- name: get_file_contents
-- include: api
-- The head of a pull request is known by its number.
SELECT
  'GET ' || :api || '/contents/' || trim(:path, '/') AS request,
  'failed to get file contents' AS failed,
  coalesce(
    nullif(:sha, ''),
    (
      SELECT p.head_now
      FROM pull_view p
      JOIN repo_view r ON r.id = p.repo_id
      WHERE r.owner = :owner AND r.name = :repo AND :ref = 'refs/pull/' || p.number || '/head'
    ),
    nullif(:ref, '')
  ) AS at;
-- include: find_file
SELECT json_array(
  json_object('type', 'text', 'text', 'successfully downloaded text file (SHA: ' || :object || ')'),
  json_object(
    'type', 'resource',
    'resource', json_object(
      'uri', 'repo://' || :owner || '/' || :repo || '/sha/' || :start || '/contents/' || :file_path,
      'mimeType', 'text/plain; charset=utf-8',
      'text', content
    )
  )
) AS content
FROM blob
WHERE sha = :object AND :found = 'blob';
SELECT json_group_array(json(json)) AS result
FROM (
  SELECT drop_nulls(json_object(
    'type', iif(e.type = 'tree', 'dir', 'file'),
    'size', b.size,
    'name', e.name,
    'path', ltrim(:file_path || '/' || e.name, '/'),
    'sha', e.sha,
    'url', :api || '/contents/' || ltrim(:file_path || '/' || e.name, '/') || '?ref=' || :ref,
    'html_url', 'https://github.example/' || :full_name || iif(e.type = 'tree', '/tree/', '/blob/')
      || :ref || '/' || ltrim(:file_path || '/' || e.name, '/'),
    'download_url', iif(
      e.type = 'tree',
      NULL,
      'https://raw.github.example/' || :full_name || '/' || :ref || '/'
        || ltrim(:file_path || '/' || e.name, '/')
    )
  )) AS json
  FROM tree_entry e
  LEFT JOIN blob b ON b.sha = e.sha AND e.type = 'blob'
  WHERE e.tree = :object
  ORDER BY e.name
  LIMIT 1000
)
HAVING :found = 'tree';

-- name: fork_repository
-- include: api
SELECT 'POST ' || :api || '/forks' AS request, 'failed to fork repository' AS failed;
-- include: fork
SELECT 'Fork is in progress' AS result;

-- name: delete_file
-- include: api
SELECT
  'DELETE ' || :api || '/contents/' || :path AS request,
  'failed to delete file' AS failed,
  :branch AS branch_name,
  ltrim(:path, '/') AS file_path;
-- include: session
-- include: find_repo
SELECT github_failure(:request, :failed, no_access) AS error FROM body WHERE NOT :can_write;
SELECT b.sha AS parent, b.sha AS old_commit, b.sha AS new_commit
FROM branch b
WHERE b.repo_id = :repo_id AND b.name = :branch;
SELECT github_failure(
  'GET ' || :api || '/git/ref/heads/' || :branch,
  'failed to get branch reference',
  not_found
) AS error
FROM body
WHERE :parent IS NULL;
-- include: two_trees
SELECT github_failure(:request, :failed, not_found) AS error
FROM body
WHERE :file_path NOT IN (SELECT key FROM json_each(:old_files));
SELECT json_group_array(json_array(key, value)) AS files
FROM json_each(:old_files)
WHERE key <> :file_path;
SELECT
  json_array(:parent) AS parents,
  :my_name AS committer_name,
  :my_email AS committer_email,
  :message AS closing;
-- include: commit
-- include: move_branch
-- include: whole_commit
SELECT json_object('commit', json(:commit_json), 'content', NULL) AS result;

-- name: create_branch
-- include: api
SELECT 'POST ' || :api || '/git/refs' AS request, 'failed to create branch' AS failed;
-- include: create_branch
SELECT :start AS commit_sha;
-- include: ref
SELECT :reference AS result;

-- name: push_files
-- include: api
SELECT
  'GET ' || :api || '/git/ref/heads/' || :branch AS request,
  'failed to get branch reference' AS failed;
-- include: push_files
-- include: ref
SELECT :reference AS result;

-- name: list_tags
-- include: api
SELECT 'GET ' || :api || '/tags' AS request, 'failed to list tags' AS failed;
-- include: find_repo
-- include: page
SELECT json_group_array(json(json)) AS result
FROM (
  SELECT json_object(
    'name', name,
    'commit', json_object('sha', sha, 'url', :api || '/commits/' || sha),
    'zipball_url', :api || '/zipball/refs/tags/' || name,
    'tarball_url', :api || '/tarball/refs/tags/' || name
  ) AS json
  FROM tag
  WHERE repo_id = :repo_id
  ORDER BY name DESC
  LIMIT :size OFFSET :skip
);

-- name: get_tag
-- include: api
SELECT
  'GET ' || :api || '/git/ref/tags/' || :tag AS request,
  'failed to get tag reference' AS failed;
-- include: find_repo
-- include: find_tag
SELECT :tag_object AS result;

-- name: list_releases
-- include: api
SELECT 'GET ' || :api || '/releases' AS request, 'failed to list releases' AS failed;
-- include: find_repo
-- include: page
SELECT json_group_array(json(json)) AS result
FROM (
  SELECT json
  FROM rest_release
  WHERE repo_id = :repo_id
  ORDER BY created_at DESC, id DESC
  LIMIT :size OFFSET :skip
);

-- name: get_latest_release
-- include: api
SELECT 'GET ' || :api || '/releases/latest' AS request, 'failed to get latest release' AS failed;
-- include: find_repo
SELECT json AS release
FROM rest_release
WHERE repo_id = :repo_id AND NOT is_draft AND NOT is_prerelease
ORDER BY created_at DESC, id DESC
LIMIT 1;
SELECT github_failure(:request, :failed, not_found) AS error FROM body WHERE :release IS NULL;
SELECT :release AS result;

-- name: get_release_by_tag
-- include: api
SELECT
  'GET ' || :api || '/releases/tags/' || :tag AS request,
  'failed to get release by tag: ' || :tag AS failed;
-- include: find_repo
SELECT json AS release FROM rest_release WHERE repo_id = :repo_id AND tag = :tag AND NOT is_draft;
SELECT github_failure(:request, :failed, not_found) AS error FROM body WHERE :release IS NULL;
SELECT :release AS result;

-- name: search_repositories
-- include: found_repos

-- name: search_code
SELECT 'missing required parameter: query' AS error WHERE trim(:query) = '';
-- include: page
SELECT count(*) AS total FROM code WHERE {{github_code :query}};
SELECT json_object(
  'total_count', :total,
  'incomplete_results', json('false'),
  'items', json_group_array(json(json))
) AS result
FROM (
  SELECT json_object(
    'name', c.filename,
    'path', c.path,
    'sha', c.sha,
    'html_url', 'https://github.example/' || c.full_name || '/blob/' || c.head || '/' || c.path,
    'repository', json_object(
      'id', c.repo_id,
      'name', c.repo,
      'full_name', c.full_name,
      'owner', (SELECT json(json) FROM rest_user WHERE login = c.owner),
      'private', json(iif(c.is_private, 'true', 'false')),
      'html_url', 'https://github.example/' || c.full_name
    )
  ) AS json
  FROM (
    SELECT *
    FROM code
    WHERE {{github_code :query}}
    ORDER BY full_name, path
    LIMIT :size OFFSET :skip
  ) c
);

-- name: search_users
SELECT 'missing required parameter: query' AS error WHERE trim(:query) = '';
-- include: page
SELECT 'type:user ' || :query AS words;
-- include: found_users
