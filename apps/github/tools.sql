-- The tools of GitHub. Failures are told as its REST API does.
--
-- A failure is told by github_failure(): the tools here say :failed and what the API answered;
-- other sets of tools have a :request, and say it in other ways.

-- part: session
SELECT now, me, my_name, my_email, signature FROM session;

-- part: find_repo
SELECT id AS repo_id, full_name, default_branch, can_write
FROM repo_view
WHERE owner = :owner AND name = :repo;
SELECT github_failure(:request, :failed, not_found) AS error FROM body WHERE :repo_id IS NULL;

-- part: find_pull_of_repo
SELECT
  issue_id, head AS head_branch, base AS base_branch, head_repo_id, head_now AS head_sha,
  base_now AS base_sha, state AS pull_state, title AS pull_title, body AS pull_body, is_draft,
  merged_at, author_id, number AS pull_number
FROM pull_view
WHERE repo_id = :repo_id AND number = :pullNumber;
SELECT github_failure(:request, :failed, not_found) AS error FROM body WHERE :issue_id IS NULL;

-- part: find_pull
-- include: find_repo
-- include: find_pull_of_repo

-- part: find_commit
-- :ref is a branch, a tag, or the beginning of a commit's name.
SELECT coalesce(
  (
    SELECT sha
    FROM branch
    WHERE repo_id = :repo_id
      AND 'refs/heads/' || name IN (:ref, 'refs/' || :ref, 'refs/heads/' || :ref)
  ),
  (
    SELECT sha
    FROM tag
    WHERE repo_id = :repo_id
      AND 'refs/tags/' || name IN (:ref, 'refs/' || :ref, 'refs/tags/' || :ref)
  ),
  (
    SELECT sha
    FROM git_commit
    WHERE length(:ref) >= 7 AND sha >= lower(:ref) AND sha < lower(:ref) || 'g'
  )
) AS start;

-- part: merge_base
SELECT (
  WITH RECURSIVE ours (sha) AS (
    SELECT :base_sha
    UNION
    SELECT p.value FROM ours JOIN git_commit c ON c.sha = ours.sha, json_each(c.parents) p
  ),
  theirs (sha) AS (
    SELECT :head_sha
    UNION
    SELECT p.value FROM theirs JOIN git_commit c ON c.sha = theirs.sha, json_each(c.parents) p
  )
  SELECT c.sha
  FROM ours
  JOIN theirs USING (sha)
  JOIN git_commit c ON c.sha = ours.sha
  ORDER BY c.generation DESC, c.sha
  LIMIT 1
) AS merge_base;

-- part: chosen_pulls
-- The page of the pull requests that are asked for, as :chosen, an array of their ids.
SELECT json_group_array(id) AS chosen
FROM (
  SELECT id
  FROM (
    SELECT
      id,
      number,
      CASE :sort
        WHEN 'updated' THEN updated_at
        WHEN 'popularity' THEN printf('%09d', comments)
        ELSE created_at
      END AS key
    FROM issue_view v
    WHERE repo_id = :repo_id
      AND is_pull
      AND (:state = 'all' OR state = ifnull(:state, 'open'))
      AND (:base IS NULL OR base = :base)
      AND (:head IS NULL OR head = substr(:head, instr(:head, ':') + 1))
      AND (
        ifnull(instr(:head, ':'), 0) = 0
        OR head_repo_id IN (
          SELECT id FROM repo_view h WHERE h.owner = substr(:head, 1, instr(:head, ':') - 1)
        )
      )
  ) v
  ORDER BY
    iif(:direction = 'asc', key, NULL),
    iif(:direction = 'asc', v.number, NULL),
    key DESC,
    v.number DESC
  LIMIT :size OFFSET :skip
);

-- part: two_trees
-- The files at :old_commit and :new_commit.
SELECT
  (
    WITH RECURSIVE f (path, type, sha) AS (
      SELECT '', 'tree', (SELECT tree FROM git_commit WHERE sha = :old_commit)
      UNION ALL
      SELECT f.path || iif(f.path = '', '', '/') || e.name, e.type, e.sha
      FROM f
      JOIN tree_entry e ON e.tree = f.sha
      WHERE f.type = 'tree'
    )
    SELECT json_group_object(path, sha)
    FROM f
    WHERE type = 'blob'
  ) AS old_files,
  (
    WITH RECURSIVE f (path, type, sha) AS (
      SELECT '', 'tree', (SELECT tree FROM git_commit WHERE sha = :new_commit)
      UNION ALL
      SELECT f.path || iif(f.path = '', '', '/') || e.name, e.type, e.sha
      FROM f
      JOIN tree_entry e ON e.tree = f.sha
      WHERE f.type = 'tree'
    )
    SELECT json_group_object(path, sha)
    FROM f
    WHERE type = 'blob'
  ) AS new_files;

-- part: three_trees
-- What :their_commit changed since :merge_base is put on :our_commit.
SELECT
  (
    WITH RECURSIVE f (path, type, sha) AS (
      SELECT '', 'tree', (SELECT tree FROM git_commit WHERE sha = :merge_base)
      UNION ALL
      SELECT f.path || iif(f.path = '', '', '/') || e.name, e.type, e.sha
      FROM f
      JOIN tree_entry e ON e.tree = f.sha
      WHERE f.type = 'tree'
    )
    SELECT json_group_object(path, sha)
    FROM f
    WHERE type = 'blob'
  ) AS was_files,
  (
    WITH RECURSIVE f (path, type, sha) AS (
      SELECT '', 'tree', (SELECT tree FROM git_commit WHERE sha = :our_commit)
      UNION ALL
      SELECT f.path || iif(f.path = '', '', '/') || e.name, e.type, e.sha
      FROM f
      JOIN tree_entry e ON e.tree = f.sha
      WHERE f.type = 'tree'
    )
    SELECT json_group_object(path, sha)
    FROM f
    WHERE type = 'blob'
  ) AS our_files,
  (
    WITH RECURSIVE f (path, type, sha) AS (
      SELECT '', 'tree', (SELECT tree FROM git_commit WHERE sha = :their_commit)
      UNION ALL
      SELECT f.path || iif(f.path = '', '', '/') || e.name, e.type, e.sha
      FROM f
      JOIN tree_entry e ON e.tree = f.sha
      WHERE f.type = 'tree'
    )
    SELECT json_group_object(path, sha)
    FROM f
    WHERE type = 'blob'
  ) AS their_files;
WITH w AS MATERIALIZED (SELECT key AS path, value AS sha FROM json_each(:was_files)),
o AS MATERIALIZED (SELECT key AS path, value AS sha FROM json_each(:our_files)),
t AS MATERIALIZED (SELECT key AS path, value AS sha FROM json_each(:their_files)),
-- A path is as the side that changed it has it; where both did, the texts are merged.
m AS (
  SELECT
    path,
    CASE WHEN o.sha IS t.sha OR t.sha IS w.sha THEN o.sha WHEN o.sha IS w.sha THEN t.sha END AS sha,
    o.sha IS NOT t.sha AND t.sha IS NOT w.sha AND o.sha IS NOT w.sha AS is_both,
    iif(
      o.sha IS NOT NULL AND t.sha IS NOT NULL,
      diff_merge(
        (SELECT content FROM blob WHERE blob.sha = w.sha),
        (SELECT content FROM blob WHERE blob.sha = o.sha),
        (SELECT content FROM blob WHERE blob.sha = t.sha)
      ),
      NULL
    ) AS text
  FROM (SELECT path FROM o UNION SELECT path FROM t)
  LEFT JOIN w USING (path)
  LEFT JOIN o USING (path)
  LEFT JOIN t USING (path)
)
SELECT
  json_group_array(json_array(
    path,
    iif(is_both, git_blob(text), sha),
    iif(is_both, text, NULL)
  )) FILTER (WHERE is_both OR sha IS NOT NULL) AS merged,
  total(is_both AND text IS NULL) > 0 AS is_conflict
FROM m;

-- part: store_merged
INSERT OR IGNORE INTO blob
SELECT value ->> 1, length(CAST(value ->> 2 AS BLOB)), value ->> 2
FROM json_each(:merged)
WHERE value ->> 2 IS NOT NULL;
SELECT json_group_array(json_array(value ->> 0, value ->> 1)) AS files FROM json_each(:merged);

-- part: commit
-- A commit of :files on :parents.
SELECT git_trees(:files) AS trees;
SELECT :trees ->> '$[#-1].sha' AS tree;
INSERT OR IGNORE INTO tree_entry
SELECT t.value ->> 'sha', e.value ->> 'name', e.value ->> 'type', e.value ->> 'sha'
FROM json_each(:trees) t, json_each(t.value, '$.entries') e;
SELECT git_commit(
  :tree,
  :parents,
  :signature,
  :committer_name || ' <' || :committer_email || '>',
  now_ms() / 1000,
  :message
) AS commit_sha;
INSERT OR IGNORE INTO git_commit
SELECT
  :commit_sha,
  :tree,
  :parents,
  1 + ifnull((
    SELECT max(generation) FROM git_commit WHERE sha IN (SELECT value FROM json_each(:parents))
  ), 0),
  :message,
  :my_name,
  :my_email,
  :committer_name,
  :committer_email,
  :now;

-- part: scan
UPDATE alert
SET state = 'fixed', fixed_at = :now, updated_at = :now
WHERE repo_id = :repo_id
  AND state = 'open'
  AND :branch_name = :default_branch
  AND NOT EXISTS (
    SELECT 1
    FROM json_each(:files) f
    JOIN blob b ON b.sha = f.value ->> 1
    JOIN scan_rule r ON r.id = alert.rule_id
    WHERE f.value ->> 0 = alert.path AND instr(b.content, r.needle) > 0
  );
INSERT INTO alert (id, repo_id, number, rule_id, path, line, created_at, updated_at)
SELECT
  new_id('alert'),
  :repo_id,
  ifnull((SELECT max(number) FROM alert WHERE repo_id = :repo_id), 0)
    + row_number() OVER (ORDER BY path, rule_id),
  rule_id,
  path,
  line,
  :now,
  :now
FROM (
  SELECT
    f.value ->> 0 AS path,
    r.id AS rule_id,
    1 + length(substr(b.content, 1, instr(b.content, r.needle)))
      - length(replace(substr(b.content, 1, instr(b.content, r.needle)), char(10), '')) AS line
  FROM json_each(:files) f
  JOIN blob b ON b.sha = f.value ->> 1
  JOIN scan_rule r ON f.value ->> 0 LIKE r.files AND instr(b.content, r.needle) > 0
  WHERE :branch_name = :default_branch
    AND EXISTS (
      SELECT 1 FROM json_each(:files) w WHERE w.value ->> 0 LIKE '.github/workflows/codeql%'
    )
    AND NOT EXISTS (
      SELECT 1
      FROM alert a
      WHERE a.repo_id = :repo_id
        AND a.state = 'open'
        AND a.path = f.value ->> 0
        AND a.rule_id = r.id
    )
);

-- part: close_issues
-- Issues that :closing says are closed with it.
UPDATE issue
SET state = 'closed', closed_at = :now, updated_at = :now
WHERE repo_id = :repo_id
  AND state = 'open'
  AND NOT is_pull
  AND :branch_name = :default_branch
  AND EXISTS (
    SELECT 1
    FROM closing_word
    WHERE replace(lower(' ' || :closing || ' '), char(10), ' ') GLOB '*[^a-z]' || word || ' [#]'
      || number || '[^0-9]*'
  );

-- part: find_tag
-- Only tags with a message are objects.
SELECT json_object(
  'tag', name,
  'sha', tag_sha,
  'url', 'https://api.github.example/repos/' || full_name || '/git/tags/' || tag_sha,
  'message', message,
  'tagger', json_object('name', s.my_name, 'email', s.my_email, 'date', tagged_at),
  'object', json_object(
    'type', 'commit',
    'sha', sha,
    'url', 'https://api.github.example/repos/' || full_name || '/git/commits/' || sha
  ),
  'verification', json_object('verified', json('false'), 'reason', 'unsigned')
) AS tag_object
FROM tag_view, session s
WHERE repo_id = :repo_id AND name = :tag AND message <> '';
SELECT github_failure(:request, :failed, not_found) AS error FROM body WHERE :tag_object IS NULL;

-- part: ref
SELECT json_object(
  'ref', 'refs/heads/' || :branch,
  'url', 'https://api.github.example/repos/' || :full_name || '/git/refs/heads/' || :branch,
  'object', json_object(
    'sha', :commit_sha,
    'type', 'commit',
    'url', 'https://api.github.example/repos/' || :full_name || '/git/commits/' || :commit_sha
  )
) AS reference;

-- part: reply_target
-- A thread is known by its first comment.
SELECT ifnull(c.reply_to, c.id) AS thread
FROM review_comment c
JOIN review r ON r.id = c.review_id
WHERE r.issue_id = :issue_id AND c.id = :target AND r.state <> 'PENDING';
SELECT github_failure(:request, :failed, not_found) AS error
FROM body
WHERE :target IS NOT NULL AND :thread IS NULL;

-- part: reply
INSERT INTO review_comment (
  id, review_id, path, line, position, side, start_line, start_side, body, created_at, updated_at,
  reply_to
)
SELECT
  new_id('comment'),
  :review_id,
  path,
  line,
  position,
  side,
  start_line,
  start_side,
  :body,
  :now,
  :now,
  id
FROM review_comment
WHERE id = :thread
RETURNING id AS reply_id;

-- part: changes
-- include: two_trees
-- A file that went away and came back unchanged under another name was renamed.
WITH o AS MATERIALIZED (SELECT key AS path, value AS sha FROM json_each(:old_files)),
n AS MATERIALIZED (SELECT key AS path, value AS sha FROM json_each(:new_files)),
c AS MATERIALIZED (
  SELECT path, o.sha AS old_sha, n.sha AS new_sha
  FROM (SELECT path FROM o UNION SELECT path FROM n)
  LEFT JOIN o USING (path)
  LEFT JOIN n USING (path)
  WHERE o.sha IS NOT n.sha
)
SELECT json_group_array(drop_nulls(json_object(
  'sha', ifnull(new_sha, old_sha),
  'filename', path,
  'status', status,
  'additions', patch -> 'additions',
  'deletions', patch -> 'deletions',
  'changes', (patch ->> 'additions') + (patch ->> 'deletions'),
  'patch', patch ->> 'patch',
  'previous_filename', gone,
  'previous_sha', old_sha
))) AS changes
FROM (
  SELECT
    path,
    gone,
    old_sha,
    new_sha,
    CASE
      WHEN new_sha IS NULL THEN 'removed'
      WHEN old_sha IS NOT NULL THEN 'modified'
      WHEN gone IS NOT NULL THEN 'renamed'
      ELSE 'added'
    END AS status,
    iif(
      gone IS NOT NULL,
      '{"additions":0,"deletions":0}',
      diff_patch(
        (SELECT content FROM blob WHERE sha = old_sha),
        (SELECT content FROM blob WHERE sha = new_sha)
      )
    ) AS patch
  FROM (
    SELECT
      c.*,
      iif(
        c.old_sha IS NULL,
        (SELECT g.path FROM c g WHERE g.new_sha IS NULL AND g.old_sha = c.new_sha),
        NULL
      ) AS gone
    FROM c
  )
  WHERE new_sha IS NOT NULL
    OR NOT EXISTS (SELECT 1 FROM c a WHERE a.old_sha IS NULL AND a.new_sha = old_sha)
  ORDER BY path
  LIMIT 300
);

-- part: pull_changes
-- include: merge_base
SELECT :merge_base AS old_commit, :head_sha AS new_commit;
-- include: changes

-- part: pull_detail
-- A pull request with what it changes, and whether it can be merged.
SELECT head_now AS head_sha, base_now AS base_sha FROM pull_view WHERE issue_id = :issue_id;
-- include: pull_changes
SELECT :base_sha AS our_commit, :head_sha AS their_commit;
-- include: three_trees
WITH RECURSIVE ours (sha) AS (
  SELECT :base_sha
  UNION
  SELECT p.value FROM ours JOIN git_commit c ON c.sha = ours.sha, json_each(c.parents) p
),
theirs (sha) AS (
  SELECT :head_sha
  UNION
  SELECT p.value FROM theirs JOIN git_commit c ON c.sha = theirs.sha, json_each(c.parents) p
)
SELECT count(*) AS n_commits
FROM theirs
WHERE sha NOT IN (SELECT sha FROM ours);
SELECT json_patch(
  json_patch(p.json, p.more),
  json_object(
    'mergeable', json(CASE
      WHEN i.state = 'closed' THEN NULL
      WHEN :is_conflict THEN 'false'
      ELSE 'true'
    END),
    'mergeable_state', CASE
      WHEN i.state = 'closed' THEN 'unknown'
      WHEN :is_conflict THEN 'dirty'
      WHEN l.is_draft THEN 'draft'
      ELSE 'clean'
    END,
    'commits', :n_commits,
    'additions', (SELECT CAST(total(value ->> 'additions') AS INTEGER) FROM json_each(:changes)),
    'deletions', (SELECT CAST(total(value ->> 'deletions') AS INTEGER) FROM json_each(:changes)),
    'changed_files', json_array_length(:changes)
  )
) AS pull
FROM rest_pull p
JOIN issue i ON i.id = p.id
JOIN pull l ON l.issue_id = p.id
WHERE p.id = :issue_id;

-- part: move_branch
-- :branch_name goes to :commit_sha, whose files are :files.
UPDATE branch SET sha = :commit_sha WHERE repo_id = :repo_id AND name = :branch_name;
UPDATE repo SET pushed_at = :now, updated_at = :now WHERE id = :repo_id;
UPDATE issue
SET updated_at = :now
WHERE state = 'open'
  AND id IN (SELECT issue_id FROM pull WHERE head_repo_id = :repo_id AND head = :branch_name);
-- include: scan
-- include: close_issues
-- Workflows that want to run on a push do.
INSERT INTO workflow_run (id, repo_id, path, branch, sha, event, number, conclusion, created_at)
SELECT
  new_id('run'),
  :repo_id,
  f.value ->> 0,
  :branch_name,
  :commit_sha,
  'push',
  1 + ifnull((
    SELECT max(number) FROM workflow_run w WHERE w.repo_id = :repo_id AND w.path = f.value ->> 0
  ), 0),
  iif(
    EXISTS (
      SELECT 1
      FROM json_each(:files) g
      JOIN blob x ON x.sha = g.value ->> 1
      WHERE instr(char(10) || x.content, char(10) || '<<<<<<< ')
    ),
    'failure',
    'success'
  ),
  :now
FROM json_each(:files) f
JOIN blob b ON b.sha = f.value ->> 1
WHERE f.value ->> 0 LIKE '.github/workflows/%.y%ml'
  AND instr(b.content, 'push')
  AND instr(:message, '[skip ci]') = 0;

-- part: merge_pull
-- include: session
-- include: find_repo
SELECT github_failure(:request, :failed, no_access) AS error FROM body WHERE NOT :can_write;
-- include: find_pull_of_repo
SELECT github_failure(:request, :failed, json_object(
  'message', 'Invalid request.' || char(10, 10) || '' || :merge_method
    || ' is not a member of ["merge", "squash", "rebase"].',
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE lower(:merge_method) NOT IN ('', 'merge', 'squash', 'rebase');
SELECT github_failure(:request, :failed, json_object(
  'message', 'Pull Request is not mergeable',
  'documentation_url', docs,
  'status', '405'
)) AS error
FROM body
WHERE :pull_state = 'closed';
SELECT github_failure(:request, :failed, json_object(
  'message', 'Pull Request is still a draft',
  'documentation_url', docs,
  'status', '405'
)) AS error
FROM body
WHERE :is_draft;
-- include: merge_base
SELECT :base_sha AS our_commit, :head_sha AS their_commit;
-- include: three_trees
SELECT github_failure(:request, :failed, json_object(
  'message', 'Pull Request is not mergeable',
  'documentation_url', docs,
  'status', '405'
)) AS error
FROM body
WHERE :is_conflict OR :head_sha IS NULL;
-- include: store_merged
SELECT ifnull(nullif(lower(:merge_method), ''), 'merge') AS method;
SELECT
  CASE :method
    WHEN 'rebase' THEN (SELECT message FROM git_commit WHERE sha = :head_sha)
    ELSE ifnull(
        nullif(:commit_title, ''),
        iif(
          :method = 'squash',
          :pull_title || ' (#' || :pull_number || ')',
          'Merge pull request #' || :pull_number || ' from '
            || (SELECT owner FROM repo_view WHERE id = :head_repo_id) || '/' || :head_branch
        )
      )
      || CASE
        WHEN :commit_message <> '' THEN char(10, 10) || :commit_message
        WHEN :method = 'merge' THEN char(10, 10) || :pull_title
        ELSE ''
      END
  END AS message,
  iif(:method = 'merge', json_array(:base_sha, :head_sha), json_array(:base_sha)) AS parents,
  :base_branch AS branch_name,
  'GitHub' AS committer_name,
  'noreply@github.example' AS committer_email;
-- The description closes issues, too.
SELECT ifnull(:pull_body, '') || ' ' || :message AS closing;
-- include: commit
-- Nothing to rebase: the branch goes to the commits as they are.
SELECT iif(:method = 'rebase' AND :merge_base = :base_sha, :head_sha, :commit_sha) AS commit_sha;
UPDATE pull
SET head_sha = :head_sha, base_sha = :base_sha, merged_at = :now, merge_sha = :commit_sha
WHERE issue_id = :issue_id;
UPDATE issue SET state = 'closed', closed_at = :now, updated_at = :now WHERE id = :issue_id;
-- include: move_branch

-- part: update_branch
-- include: session
-- include: find_pull
SELECT github_failure(:request, :failed, json_object(
  'message', 'expected head sha didn’t match current head ref.',
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE :expectedHeadSha <> '' AND :expectedHeadSha <> :head_sha;
SELECT github_failure(:request, :failed, json_object(
  'message', 'Validation Failed',
  'errors', json_array(json_object(
    'resource', 'PullRequest',
    'code', 'custom',
    'message', 'Pull request is closed'
  )),
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE :pull_state = 'closed';
-- include: merge_base
SELECT github_failure(:request, :failed, json_object(
  'message', 'There are no new commits on the base branch.',
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE :merge_base = :base_sha;
SELECT :head_sha AS our_commit, :base_sha AS their_commit;
-- include: three_trees
SELECT github_failure(:request, :failed, json_object(
  'message', 'merge conflict between base and head',
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE :is_conflict;
-- include: store_merged
SELECT
  json_array(:head_sha, :base_sha) AS parents,
  'Merge branch ''' || :base_branch || ''' into ' || :head_branch AS message,
  'GitHub' AS committer_name,
  'noreply@github.example' AS committer_email;
-- include: commit
UPDATE branch SET sha = :commit_sha WHERE repo_id = :head_repo_id AND name = :head_branch;
UPDATE repo SET pushed_at = :now, updated_at = :now WHERE id = :head_repo_id;
UPDATE issue
SET updated_at = :now
WHERE state = 'open'
  AND id IN (SELECT issue_id FROM pull WHERE head_repo_id = :head_repo_id AND head = :head_branch);

-- part: add_comment
-- include: session
-- include: find_repo
SELECT id AS issue_id FROM issue WHERE repo_id = :repo_id AND number = :issue_number;
SELECT github_failure(:request, :failed, not_found) AS error FROM body WHERE :issue_id IS NULL;
SELECT github_failure(:request, :failed, json_object(
  'message', 'Validation Failed',
  'errors', json_array(json_object(
    'resource', 'IssueComment',
    'code', 'unprocessable',
    'field', 'data',
    'message', 'Body cannot be blank'
  )),
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE trim(:body) = '';
INSERT INTO comment VALUES (new_id('comment'), :issue_id, :me, :body, :now, :now)
RETURNING id AS comment_id;
UPDATE issue SET updated_at = :now WHERE id = :issue_id;

-- part: create_issue
-- include: session
-- include: find_repo
SELECT github_failure(:request, :failed, json_object(
  'message', 'Validation Failed',
  'errors', json_array(json_object('resource', 'Issue', 'code', 'missing_field', 'field', 'title')),
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE trim(:title) = '';
SELECT github_failure(:request, :failed, json_object(
  'message', 'Validation Failed',
  'errors', json_array(json_object(
    'value', CAST(:milestone AS INTEGER),
    'resource', 'Issue',
    'field', 'milestone',
    'code', 'invalid'
  )),
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE :milestone IS NOT NULL;
SELECT s.value AS stranger
FROM json_each(:assignees) s
WHERE NOT EXISTS (SELECT 1 FROM account a WHERE a.login = s.value AND a.type = 'User')
LIMIT 1;
SELECT github_failure(:request, :failed, json_object(
  'message', 'Validation Failed',
  'errors', json_array(json_object(
    'value', :stranger,
    'resource', 'Issue',
    'field', 'assignees',
    'code', 'invalid'
  )),
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE :stranger IS NOT NULL;
INSERT INTO issue (id, repo_id, number, title, body, author_id, created_at, updated_at) VALUES (
  new_id('issue'),
  :repo_id,
  (SELECT number FROM next_number WHERE repo_id = :repo_id),
  :title,
  :body,
  :me,
  :now,
  :now
)
RETURNING id AS issue_id;
INSERT OR IGNORE INTO issue_label
SELECT :issue_id, trim(value), key
FROM json_each(:labels)
WHERE trim(value) <> '';
INSERT OR IGNORE INTO issue_assignee
SELECT :issue_id, a.id, s.key
FROM json_each(:assignees) s
JOIN account a ON a.login = s.value;

-- part: change_issue
SELECT id AS issue_id, state AS state_before
FROM issue
WHERE repo_id = :repo_id AND number = :issue_number;
SELECT github_failure(:request, :failed, not_found) AS error FROM body WHERE :issue_id IS NULL;
SELECT github_failure(:request, :failed, json_object(
  'message', 'Validation Failed',
  'errors', json_array(json_object('resource', 'Issue', 'code', 'missing_field', 'field', 'title')),
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE trim(:title) = '';
SELECT github_failure(:request, :failed, json_object(
  'message', 'Validation Failed',
  'errors', json_array(json_object(
    'resource', 'Issue',
    'code', 'custom',
    'field', 'state',
    'message', 'state cannot be changed. The pull request has been merged.'
  )),
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE :state = 'open'
  AND EXISTS (SELECT 1 FROM pull WHERE issue_id = :issue_id AND merged_at IS NOT NULL);
SELECT github_failure(:request, :failed, json_object(
  'message', 'Validation Failed',
  'errors', json_array(json_object(
    'value', CAST(:milestone AS INTEGER),
    'resource', 'Issue',
    'field', 'milestone',
    'code', 'invalid'
  )),
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE :milestone IS NOT NULL;
SELECT s.value AS stranger
FROM json_each(:assignees) s
WHERE NOT EXISTS (SELECT 1 FROM account a WHERE a.login = s.value AND a.type = 'User')
LIMIT 1;
SELECT github_failure(:request, :failed, json_object(
  'message', 'Validation Failed',
  'errors', json_array(json_object(
    'value', :stranger,
    'resource', 'Issue',
    'field', 'assignees',
    'code', 'invalid'
  )),
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE :stranger IS NOT NULL;
UPDATE pull
SET (head_sha, base_sha) = (SELECT head_now, base_now FROM pull_view v WHERE v.issue_id = :issue_id)
WHERE issue_id = :issue_id AND :state = 'closed' AND :state_before = 'open';
UPDATE issue
SET
  title = ifnull(:title, title),
  body = ifnull(:body, body),
  state = ifnull(:state, state),
  closed_at = CASE
    WHEN :state = 'open' THEN NULL
    WHEN :state = 'closed' AND state = 'open' THEN :now
    ELSE closed_at
  END,
  updated_at = :now
WHERE id = :issue_id;
DELETE FROM issue_label WHERE issue_id = :issue_id AND :labels IS NOT NULL;
INSERT OR IGNORE INTO issue_label
SELECT :issue_id, trim(value), key
FROM json_each(:labels)
WHERE trim(value) <> '';
DELETE FROM issue_assignee WHERE issue_id = :issue_id AND :assignees IS NOT NULL;
INSERT OR IGNORE INTO issue_assignee
SELECT :issue_id, a.id, s.key
FROM json_each(:assignees) s
JOIN account a ON a.login = s.value;

-- part: update_issue
-- include: session
-- include: find_repo
SELECT github_failure(:request, :failed, no_access) AS error FROM body WHERE NOT :can_write;
-- include: change_issue

-- part: update_pull
-- include: session
-- include: find_repo
SELECT github_failure(:request, :failed, no_access) AS error FROM body WHERE NOT :can_write;
-- include: find_pull_of_repo
SELECT github_failure(:request, :failed, json_object(
  'message', 'Validation Failed',
  'errors', json_array(json_object(
    'resource', 'PullRequest',
    'code', 'custom',
    'field', 'state',
    'message', 'state cannot be changed. The pull request has been merged.'
  )),
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE :state = 'open' AND :merged_at IS NOT NULL;
SELECT github_failure(:request, :failed, json_object(
  'message', 'Validation Failed',
  'errors', json_array(json_object('resource', 'PullRequest', 'code', 'invalid', 'field', 'base')),
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE :base IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM branch WHERE repo_id = :repo_id AND name = :base);
SELECT github_failure(:request, :failed, json_object(
  'message', 'Validation Failed',
  'errors', json_array(json_object(
    'resource', 'PullRequest',
    'code', 'custom',
    'field', 'base',
    'message', 'Cannot change the base branch of a closed pull request.'
  )),
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE :base IS NOT NULL AND :base <> :base_branch AND :pull_state = 'closed';
SELECT :pull_state AS state_before;
UPDATE pull
SET
  base = ifnull(:base, base),
  maintainer_can_modify = ifnull(:maintainer_can_modify, maintainer_can_modify)
WHERE issue_id = :issue_id;
UPDATE pull
SET (head_sha, base_sha) = (SELECT head_now, base_now FROM pull_view v WHERE v.issue_id = :issue_id)
WHERE issue_id = :issue_id AND :state = 'closed' AND :state_before = 'open';
UPDATE issue
SET
  title = ifnull(:title, title),
  body = ifnull(:body, body),
  state = ifnull(:state, state),
  closed_at = CASE
    WHEN :state = 'open' THEN NULL
    WHEN :state = 'closed' AND state = 'open' THEN :now
    ELSE closed_at
  END,
  updated_at = :now
WHERE id = :issue_id;

-- part: create_pull
-- include: session
-- include: find_repo
SELECT
  iif(instr(:head, ':'), substr(:head, instr(:head, ':') + 1), :head) AS head_branch,
  iif(instr(:head, ':'), substr(:head, 1, instr(:head, ':') - 1), :owner) AS head_owner;
-- The head may be in a fork, or in what this is a fork of.
SELECT h.id AS head_repo_id, b.sha AS head_sha
FROM repo_view h
JOIN repo r ON r.id = :repo_id
JOIN branch b ON b.repo_id = h.id
WHERE h.owner = :head_owner
  AND b.name = :head_branch
  AND (h.id = r.id OR h.parent_id = r.id OR r.parent_id = h.id);
SELECT sha AS base_sha FROM branch WHERE repo_id = :repo_id AND name = :base;
SELECT github_failure(:request, :failed, json_object(
  'message', 'Validation Failed',
  'errors', json_array(json_object('resource', 'PullRequest', 'field', 'head', 'code', 'invalid')),
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE :head_sha IS NULL;
SELECT github_failure(:request, :failed, json_object(
  'message', 'Validation Failed',
  'errors', json_array(json_object('resource', 'PullRequest', 'field', 'base', 'code', 'invalid')),
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE :base_sha IS NULL;
SELECT github_failure(:request, :failed, json_object(
  'message', 'Validation Failed',
  'errors', json_array(json_object(
    'resource', 'PullRequest',
    'code', 'missing_field',
    'field', 'title'
  )),
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE trim(:title) = '';
SELECT github_failure(:request, :failed, json_object(
  'message', 'Validation Failed',
  'errors', json_array(json_object(
    'resource', 'PullRequest',
    'code', 'custom',
    'message', 'A pull request already exists for ' || :head_owner || ':' || :head_branch || '.'
  )),
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE EXISTS (
  SELECT 1
  FROM pull p
  JOIN issue i ON i.id = p.issue_id
  WHERE i.repo_id = :repo_id
    AND i.state = 'open'
    AND p.head_repo_id = :head_repo_id
    AND p.head = :head_branch
    AND p.base = :base
);
-- include: merge_base
SELECT github_failure(:request, :failed, json_object(
  'message', 'Validation Failed',
  'errors', json_array(json_object(
    'resource', 'PullRequest',
    'code', 'custom',
    'message', 'No commits between ' || :base || ' and ' || :head_branch
  )),
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE :merge_base = :head_sha;
INSERT INTO issue (
  id, repo_id, number, is_pull, title, body, author_id, created_at, updated_at
) VALUES (
  new_id('issue'),
  :repo_id,
  (SELECT number FROM next_number WHERE repo_id = :repo_id),
  1,
  :title,
  :body,
  :me,
  :now,
  :now
)
RETURNING id AS issue_id;
INSERT INTO pull (issue_id, head_repo_id, head, base, is_draft, maintainer_can_modify) VALUES (
  :issue_id,
  :head_repo_id,
  :head_branch,
  :base,
  ifnull(:draft, 0),
  ifnull(:maintainer_can_modify, 1)
);

-- part: pull_status
-- include: find_pull
-- The checks are the workflows at the head of the pull request. They fail on conflict markers.
WITH RECURSIVE f (type, sha) AS (
  SELECT 'tree', tree FROM git_commit WHERE sha = :head_sha
  UNION
  SELECT e.type, e.sha FROM f JOIN tree_entry e ON e.tree = f.sha WHERE f.type = 'tree'
)
SELECT iif(
  EXISTS (
    SELECT 1
    FROM f
    JOIN blob b ON b.sha = f.sha
    WHERE f.type = 'blob' AND instr(char(10) || b.content, char(10) || '<<<<<<< ')
  ),
  'failure',
  'success'
) AS outcome;
SELECT
  json_group_array(json(json)) AS statuses,
  count(*) AS n_statuses,
  iif(count(*) = 0, 'pending', :outcome) AS pull_status
FROM (
  SELECT json_object(
    'context', 'ci/' || replace(replace(q.name, '.yml', ''), '.yaml', ''),
    'state', :outcome,
    'description', iif(
      :outcome = 'success',
      'The workflow passed',
      'The workflow failed: conflict markers in the sources'
    ),
    'target_url', 'https://github.example/' || :full_name || '/actions/workflows/' || q.name,
    'created_at', c.committed_at,
    'updated_at', c.committed_at
  ) AS json
  FROM git_commit c
  JOIN tree_entry g ON g.tree = c.tree AND g.name = '.github'
  JOIN tree_entry w ON w.tree = g.sha AND w.name = 'workflows'
  JOIN tree_entry q ON q.tree = w.sha AND q.name LIKE '%.y%ml'
  WHERE c.sha = :head_sha AND instr(c.message, '[skip ci]') = 0
  ORDER BY q.name
);

-- part: find_commits
-- include: find_repo
SELECT ifnull(nullif(:sha, ''), :default_branch) AS ref;
SELECT github_failure(:request, :failed, json_object(
  'message', 'Git Repository is empty.',
  'documentation_url', docs,
  'status', '409'
)) AS error
FROM body
WHERE NOT EXISTS (SELECT 1 FROM branch WHERE repo_id = :repo_id);
-- include: find_commit
SELECT github_failure(:request, :failed, not_found) AS error FROM body WHERE :start IS NULL;

-- part: write_file
-- include: session
-- include: find_repo
SELECT github_failure(:request, :failed, no_access) AS error FROM body WHERE NOT :can_write;
SELECT ltrim(:path, '/') AS file_path, :branch AS branch_name;
SELECT github_failure(:request, :failed, json_object(
  'message', 'path contains a malformed path component',
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE :file_path = ''
  OR '/' || :file_path || '/' GLOB '*//*'
  OR '/' || :file_path || '/' GLOB '*/./*'
  OR '/' || :file_path || '/' GLOB '*/../*'
  OR '/' || lower(:file_path) || '/' GLOB '*/.git/*'
  OR length(:file_path) - length(replace(:file_path, '/', '')) > 20;
SELECT b.sha AS parent, c.tree AS tree_before
FROM branch b
JOIN git_commit c ON c.sha = b.sha
WHERE b.repo_id = :repo_id AND b.name = :branch;
SELECT github_failure(:request, :failed, json_object(
  'message', 'Branch ' || :branch || ' not found',
  'documentation_url', docs,
  'status', '404'
)) AS error
FROM body
WHERE :parent IS NULL AND EXISTS (SELECT 1 FROM branch WHERE repo_id = :repo_id);
SELECT (
  WITH RECURSIVE f (path, type, sha) AS (
    SELECT '', 'tree', :tree_before
    UNION ALL
    SELECT f.path || iif(f.path = '', '', '/') || e.name, e.type, e.sha
    FROM f
    JOIN tree_entry e ON e.tree = f.sha
    WHERE f.type = 'tree'
  )
  SELECT json_group_object(path, sha)
  FROM f
  WHERE type = 'blob'
) AS old_files;
SELECT value AS sha_before FROM json_each(:old_files) WHERE key = :file_path;
SELECT github_failure(:request, :failed, json_object(
  'message', 'Invalid request.' || char(10, 10) || '"sha" wasn''t supplied.',
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE :sha_before IS NOT NULL AND ifnull(:sha, '') = '';
SELECT github_failure(:request, :failed, json_object(
  'message', :file_path || ' does not match ' || :sha,
  'documentation_url', docs,
  'status', '409'
)) AS error
FROM body
WHERE :sha <> '' AND :sha IS NOT :sha_before;
INSERT OR IGNORE INTO blob VALUES (git_blob(:content), length(CAST(:content AS BLOB)), :content);
SELECT json_group_array(json_array(path, sha)) AS files
FROM (
  SELECT key AS path, value AS sha
  FROM json_each(:old_files)
  WHERE key <> :file_path
    AND substr(key, 1, length(:file_path) + 1) <> :file_path || '/'
    AND substr(:file_path, 1, length(key) + 1) <> key || '/'
  UNION ALL
  SELECT :file_path, git_blob(:content)
);
SELECT
  iif(:parent IS NULL, json_array(), json_array(:parent)) AS parents,
  :my_name AS committer_name,
  :my_email AS committer_email,
  :message AS closing;
-- include: commit
-- The first commit of a repository makes the branch.
INSERT INTO branch SELECT :repo_id, :branch, :commit_sha WHERE :parent IS NULL;
UPDATE repo SET default_branch = :branch WHERE id = :repo_id AND :parent IS NULL;
-- include: move_branch

-- part: push_files
-- include: session
-- include: find_repo
SELECT github_failure(:request, :failed, no_access) AS error FROM body WHERE NOT :can_write;
SELECT b.sha AS parent, c.tree AS tree_before, b.name AS branch_name
FROM branch b
JOIN git_commit c ON c.sha = b.sha
WHERE b.repo_id = :repo_id AND b.name = :branch;
SELECT github_failure(:request, :failed, not_found) AS error FROM body WHERE :parent IS NULL;
SELECT json_group_array(json_array(path, content)) AS pushed
FROM (
  SELECT ltrim(value ->> 'path', '/') AS path, value ->> 'content' AS content, max(key)
  FROM json_each(:files)
  GROUP BY 1
);
SELECT github_failure(
  :request,
  'failed to create tree',
  json_object(
    'message', 'tree.path contains a malformed path component',
    'documentation_url', docs,
    'status', '422'
  )
) AS error
FROM body
WHERE EXISTS (
  SELECT 1
  FROM json_each(:pushed)
  WHERE (value ->> 0) = ''
    OR '/' || (value ->> 0) || '/' GLOB '*//*'
    OR '/' || (value ->> 0) || '/' GLOB '*/./*'
    OR '/' || (value ->> 0) || '/' GLOB '*/../*'
    OR '/' || lower((value ->> 0)) || '/' GLOB '*/.git/*'
    OR length((value ->> 0)) - length(replace((value ->> 0), '/', '')) > 20
)
  OR EXISTS (
    SELECT 1
    FROM json_each(:pushed) a, json_each(:pushed) b
    WHERE substr(a.value ->> 0, 1, length(b.value ->> 0) + 1) = (b.value ->> 0) || '/'
  );
SELECT (
  WITH RECURSIVE f (path, type, sha) AS (
    SELECT '', 'tree', :tree_before
    UNION ALL
    SELECT f.path || iif(f.path = '', '', '/') || e.name, e.type, e.sha
    FROM f
    JOIN tree_entry e ON e.tree = f.sha
    WHERE f.type = 'tree'
  )
  SELECT json_group_object(path, sha)
  FROM f
  WHERE type = 'blob'
) AS old_files;
INSERT OR IGNORE INTO blob
SELECT git_blob(value ->> 1), length(CAST(value ->> 1 AS BLOB)), value ->> 1
FROM json_each(:pushed);
WITH p AS MATERIALIZED (SELECT value ->> 0 AS path, value ->> 1 AS content FROM json_each(:pushed))
SELECT json_group_array(json_array(path, sha)) AS files
FROM (
  SELECT key AS path, value AS sha
  FROM json_each(:old_files)
  WHERE key NOT IN (SELECT path FROM p)
    AND NOT EXISTS (
      SELECT 1
      FROM p
      WHERE substr(key, 1, length(p.path) + 1) = p.path || '/'
        OR substr(p.path, 1, length(key) + 1) = key || '/'
    )
  UNION ALL
  SELECT path, git_blob(content) FROM p
);
SELECT
  json_array(:parent) AS parents,
  :my_name AS committer_name,
  :my_email AS committer_email,
  :message AS closing;
-- include: commit
-- include: move_branch

-- part: create_repository
-- What names cannot have becomes a hyphen.
WITH RECURSIVE c (rest, name) AS (
  SELECT substr(trim(:name), 1, 100), ''
  UNION ALL
  SELECT
    substr(rest, 2),
    name || iif(substr(rest, 1, 1) GLOB '[A-Za-z0-9._-]', substr(rest, 1, 1), '-')
  FROM c
  WHERE rest <> ''
)
SELECT name AS repo_name
FROM c
WHERE rest = '';
-- include: session
SELECT github_failure(:request, :failed, json_object(
  'message', 'Repository creation failed.',
  'errors', json_array(json_object(
    'resource', 'Repository',
    'code', 'custom',
    'field', 'name',
    'message', 'name is too short (minimum is 1 character)'
  )),
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE trim(:name) = '';
SELECT github_failure(:request, :failed, json_object(
  'message', 'Repository creation failed.',
  'errors', json_array(json_object(
    'resource', 'Repository',
    'code', 'custom',
    'field', 'name',
    'message', 'name already exists on this account'
  )),
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE EXISTS (SELECT 1 FROM repo WHERE owner_id = :new_owner_id AND name = :repo_name);
INSERT INTO repo (
  id, owner_id, name, description, is_private, created_at, updated_at, pushed_at
) VALUES (
  new_id('repo'),
  :new_owner_id,
  :repo_name,
  nullif(:description, ''),
  ifnull(:private, 0),
  :now,
  :now,
  :now
)
RETURNING id AS repo_id;
-- A repository that is not empty begins with a README.
SELECT
  '# ' || :repo_name || ifnull(char(10) || nullif(:description, ''), '') || char(10) AS readme,
  'Initial commit' AS message,
  '[]' AS parents;
INSERT OR IGNORE INTO blob
SELECT git_blob(:readme), length(CAST(:readme AS BLOB)), :readme
WHERE :autoInit;
SELECT iif(:autoInit, json_array(json_array('README.md', git_blob(:readme))), '[]') AS files;
SELECT git_trees(:files) AS trees;
SELECT :trees ->> '$[#-1].sha' AS tree;
INSERT OR IGNORE INTO tree_entry
SELECT t.value ->> 'sha', e.value ->> 'name', e.value ->> 'type', e.value ->> 'sha'
FROM json_each(:trees) t, json_each(t.value, '$.entries') e;
SELECT git_commit(:tree, :parents, :signature, :signature, now_ms() / 1000, :message) AS commit_sha;
INSERT OR IGNORE INTO git_commit
SELECT
  :commit_sha,
  :tree,
  :parents,
  1 + ifnull((
    SELECT max(generation) FROM git_commit WHERE sha IN (SELECT value FROM json_each(:parents))
  ), 0),
  :message,
  :my_name,
  :my_email,
  :my_name,
  :my_email,
  :now
WHERE :autoInit;
INSERT INTO branch SELECT :repo_id, 'main', :commit_sha WHERE :autoInit;

-- part: find_file
-- What :path is in :at.
-- include: find_repo
SELECT trim(:path, '/') AS file_path, ifnull(nullif(:at, ''), :default_branch) AS ref;
SELECT github_failure(:request, :failed, json_object(
  'message', 'This repository is empty.',
  'documentation_url', docs,
  'status', '404'
)) AS error
FROM body
WHERE NOT EXISTS (SELECT 1 FROM branch WHERE repo_id = :repo_id);
-- include: find_commit
SELECT tree FROM git_commit WHERE sha = :start;
SELECT github_failure(:request, :failed, json_object(
  'message', 'No commit found for the ref ' || :ref,
  'documentation_url', docs,
  'status', '404'
)) AS error
FROM body
WHERE :tree IS NULL;
WITH RECURSIVE f (path, type, sha) AS (
  SELECT '', 'tree', :tree
  UNION ALL
  SELECT f.path || iif(f.path = '', '', '/') || e.name, e.type, e.sha
  FROM f
  JOIN tree_entry e ON e.tree = f.sha
  WHERE f.type = 'tree'
    AND substr(
      :file_path || '/',
      1,
      length(f.path) + iif(f.path = '', 0, 1) + length(e.name) + 1
    ) = f.path || iif(f.path = '', '', '/') || e.name || '/'
)
SELECT type AS found, sha AS object
FROM f
WHERE path = :file_path;
SELECT github_failure(:request, :failed, not_found) AS error FROM body WHERE :found IS NULL;

-- part: fork
-- include: session
-- include: find_repo
SELECT id AS new_owner_id, login AS new_owner
FROM account
WHERE iif(ifnull(:organization, '') = '', is_me, login = :organization AND type = 'Organization');
SELECT github_failure(:request, :failed, json_object(
  'message', 'Validation Failed',
  'errors', json_array(json_object(
    'resource', 'Fork',
    'field', 'organization',
    'code', 'invalid',
    'message', '''' || :organization
      || ''' is the login for a user account. You must pass the login for an '
      || 'organization account.'
  )),
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE :new_owner_id IS NULL;
SELECT
  owner_id AS old_owner_id,
  (
    SELECT id
    FROM repo f
    WHERE f.owner_id = :new_owner_id AND (f.parent_id = r.id OR f.name = r.name)
  ) AS there
FROM repo r
WHERE id = :repo_id;
SELECT github_failure(:request, :failed, json_object(
  'message', 'Validation Failed',
  'errors', json_array(json_object(
    'resource', 'Fork',
    'code', 'custom',
    'message', 'You cannot fork your own repository'
  )),
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE :old_owner_id = :new_owner_id;
-- Asking for a fork that is there gives that one.
INSERT INTO repo (
  id, owner_id, name, description, is_private, parent_id, default_branch, created_at, updated_at,
  pushed_at
)
SELECT
  new_id('repo'),
  :new_owner_id,
  name,
  description,
  is_private,
  id,
  default_branch,
  :now,
  :now,
  pushed_at
FROM repo
WHERE id = :repo_id AND :there IS NULL
RETURNING id AS fork_id;
INSERT INTO branch
SELECT :fork_id, name, sha
FROM branch
WHERE repo_id = :repo_id AND :fork_id IS NOT NULL;

-- part: create_branch
-- include: session
-- include: find_repo
SELECT github_failure(:request, :failed, no_access) AS error FROM body WHERE NOT :can_write;
SELECT ifnull(nullif(:from_branch, ''), :default_branch) AS source;
SELECT sha AS start FROM branch WHERE repo_id = :repo_id AND name = :source;
SELECT github_failure(:request, 'failed to get reference', not_found) AS error
FROM body
WHERE :start IS NULL;
SELECT github_failure(:request, :failed, json_object(
  'message', 'Reference already exists',
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE EXISTS (SELECT 1 FROM branch WHERE repo_id = :repo_id AND name = :branch);
SELECT github_failure(:request, :failed, json_object(
  'message', 'Reference name is not valid',
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE :branch = ''
  OR :branch GLOB '*[ ~^:?*[\]*'
  OR instr(:branch, '..')
  OR :branch GLOB '/*'
  OR :branch GLOB '*/'
  OR :branch GLOB '-*'
  OR :branch GLOB '*.lock'
  OR length(:branch) > 250;
INSERT INTO branch VALUES (:repo_id, :branch, :start);
UPDATE repo SET updated_at = :now WHERE id = :repo_id;

-- name: github_get_code_scanning_alert
SELECT NULL AS request, 'failed to get alert' AS failed;
-- include: find_repo
SELECT json AS alert FROM alert_json WHERE repo_id = :repo_id AND number = :alertNumber;
SELECT github_failure(:request, :failed, json_object(
  'message', 'No alert found for alert number ' || CAST(:alertNumber AS INTEGER),
  'documentation_url', docs,
  'status', '404'
)) AS error
FROM body
WHERE :alert IS NULL;
SELECT :alert AS result;

-- name: github_list_code_scanning_alerts
SELECT NULL AS request, 'failed to list alerts' AS failed;
-- include: find_repo
SELECT github_failure(:request, :failed, json_object(
  'message', 'Invalid request.' || char(10, 10) || 'Invalid value for state',
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE lower(:state) NOT IN ('open', 'closed', 'dismissed', 'fixed');
SELECT github_failure(:request, :failed, json_object(
  'message', 'Invalid request.' || char(10, 10) || 'Invalid value for severity',
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE lower(:severity) NOT IN ('critical', 'high', 'medium', 'low', 'warning', 'note', 'error');
SELECT iif(
  :ref IS NULL OR :ref = :default_branch OR :ref = 'refs/heads/' || :default_branch,
  1,
  0
) AS is_default;
SELECT github_failure(:request, :failed, json_object(
  'message', 'no analysis found',
  'documentation_url', docs,
  'status', '404'
)) AS error
FROM body
WHERE NOT :is_default
  OR NOT EXISTS (
    SELECT 1
    FROM branch b
    JOIN git_commit c ON c.sha = b.sha
    JOIN tree_entry g ON g.tree = c.tree AND g.name = '.github'
    JOIN tree_entry w ON w.tree = g.sha AND w.name = 'workflows'
    JOIN tree_entry q ON q.tree = w.sha AND q.name LIKE 'codeql%'
    WHERE b.repo_id = :repo_id AND b.name = :default_branch
  );
SELECT json_group_array(json(json)) AS result
FROM (
  SELECT json
  FROM alert_json
  WHERE repo_id = :repo_id
    AND (state = lower(:state) OR (lower(:state) = 'closed' AND state <> 'open'))
    AND (:severity IS NULL OR severity = lower(:severity))
  ORDER BY number DESC
  LIMIT 100
);

-- name: github_get_issue
SELECT NULL AS request, 'failed to get issue' AS failed;
-- include: find_repo
SELECT j.json AS issue
FROM issue i
JOIN issue_json j ON j.id = i.id
WHERE i.repo_id = :repo_id AND i.number = :issue_number;
SELECT github_failure(:request, :failed, not_found) AS error FROM body WHERE :issue IS NULL;
SELECT :issue AS result;

-- name: github_add_issue_comment
SELECT NULL AS request, 'failed to create comment' AS failed;
-- include: add_comment
SELECT json_object(
  'comment_id', c.id,
  'content', c.body,
  'author', json(p.json),
  'posted_at', c.created_at,
  'modified_at', c.updated_at
) AS result
FROM comment c
JOIN person p ON p.id = c.author_id
WHERE c.id = :comment_id;

-- name: github_search_issues
SELECT 'missing required parameter: q' AS error WHERE trim(:q) = '';
SELECT count(*) AS total FROM issue_view v WHERE {{github_issues :q}};
SELECT json_object('total_matches', :total, 'items', json_group_array(json(json))) AS result
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
    WHERE {{github_issues :q}}
  ) v
  JOIN issue_json j ON j.id = v.id
  ORDER BY
    iif(:order = 'asc', key, NULL),
    iif(:order = 'asc', NULL, key) DESC,
    {{github_issues_order :q}},
    v.id
  LIMIT CAST(ifnull(:perPage, 30) AS INTEGER) OFFSET CAST(
    (ifnull(:page, 1) - 1) * ifnull(:perPage, 30) AS INTEGER
  )
);

-- name: github_create_issue
SELECT NULL AS request, 'failed to create issue' AS failed;
-- include: create_issue
SELECT json AS result FROM issue_json WHERE id = :issue_id;

-- name: github_list_issues
SELECT NULL AS request, 'failed to list issues' AS failed;
-- include: find_repo
SELECT 'failed to list issues: invalid ISO 8601 timestamp: ' || :since AS error
WHERE :since IS NOT NULL AND julianday(:since) IS NULL;
SELECT json_group_array(json(json)) AS result
FROM (
  SELECT j.json
  FROM (
    SELECT
      id,
      number,
      CASE :sort
        WHEN 'updated' THEN updated_at
        WHEN 'comments' THEN printf('%09d', comments)
        ELSE created_at
      END AS key
    FROM issue_view v
    WHERE repo_id = :repo_id
      AND (:state = 'all' OR state = ifnull(:state, 'open'))
      AND (:since IS NULL OR julianday(updated_at) >= julianday(:since))
      AND NOT EXISTS (
        SELECT 1
        FROM json_each(:labels) w
        WHERE NOT EXISTS (SELECT 1 FROM issue_label l WHERE l.issue_id = v.id AND l.label = w.value)
      )
  ) v
  JOIN issue_json j ON j.id = v.id
  ORDER BY
    iif(:direction = 'asc', key, NULL),
    iif(:direction = 'asc', number, NULL),
    key DESC,
    number DESC
  LIMIT CAST(ifnull(:perPage, 30) AS INTEGER) OFFSET CAST(
    (ifnull(:page, 1) - 1) * ifnull(:perPage, 30) AS INTEGER
  )
);

-- name: github_update_issue
SELECT NULL AS request, 'failed to update issue' AS failed;
-- include: update_issue
SELECT json AS result FROM issue_json WHERE id = :issue_id;

-- name: github_get_issue_comments
SELECT NULL AS request, 'failed to get issue comments' AS failed;
-- include: find_repo
SELECT id AS issue_id FROM issue WHERE repo_id = :repo_id AND number = :issue_number;
SELECT github_failure(:request, :failed, not_found) AS error FROM body WHERE :issue_id IS NULL;
SELECT CAST(min(max(ifnull(:per_page, 30), 1), 100) AS INTEGER) AS size;
SELECT json_group_array(json_object(
  'comment_id', c.id,
  'content', c.body,
  'author', json(p.json),
  'posted_at', c.created_at,
  'modified_at', c.updated_at
)) AS result
FROM (
  SELECT *
  FROM comment
  WHERE issue_id = :issue_id
  ORDER BY created_at, id
  LIMIT :size OFFSET CAST((max(ifnull(:page, 1), 1) - 1) * :size AS INTEGER)
) c
JOIN person p ON p.id = c.author_id;

-- name: github_get_pull_request
SELECT NULL AS request, 'failed to get pull request' AS failed;
-- include: find_pull
SELECT json AS result FROM pull_json WHERE id = :issue_id;

-- name: github_update_pull_request
SELECT NULL AS request, 'failed to update pull request' AS failed;
SELECT 'No update parameters provided.' AS error
WHERE coalesce(:title, :body, :state, :base, :maintainer_can_modify) IS NULL;
-- include: update_pull
SELECT json AS result FROM pull_json WHERE id = :issue_id;

-- name: github_list_pull_requests
SELECT NULL AS request, 'failed to list pull requests' AS failed;
-- include: find_repo
SELECT github_failure(:request, :failed, json_object(
  'message', 'Validation Failed',
  'errors', json_array(json_object('resource', 'PullRequest', 'code', 'invalid', 'field', 'state')),
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE lower(:state) NOT IN ('open', 'closed', 'all');
SELECT json_group_array(json(json)) AS result
FROM (
  SELECT j.json
  FROM (
    SELECT
      id,
      number,
      CASE lower(:sort)
        WHEN 'updated' THEN updated_at
        WHEN 'popularity' THEN printf('%09d', comments)
        ELSE created_at
      END AS key
    FROM issue_view v
    WHERE repo_id = :repo_id
      AND is_pull
      AND (lower(:state) = 'all' OR state = ifnull(lower(:state), 'open'))
      AND (:base IS NULL OR base = :base)
      AND (:head IS NULL OR head = substr(:head, instr(:head, ':') + 1))
      AND (
        ifnull(instr(:head, ':'), 0) = 0
        OR head_repo_id IN (
          SELECT id FROM repo_view h WHERE h.owner = substr(:head, 1, instr(:head, ':') - 1)
        )
      )
  ) v
  JOIN pull_json j ON j.id = v.id
  ORDER BY
    iif(lower(:direction) = 'asc', key, NULL),
    iif(lower(:direction) = 'asc', number, NULL),
    key DESC,
    number DESC
  LIMIT CAST(ifnull(:perPage, 30) AS INTEGER) OFFSET CAST(
    (ifnull(:page, 1) - 1) * ifnull(:perPage, 30) AS INTEGER
  )
);

-- name: github_merge_pull_request
SELECT NULL AS request, 'failed to merge pull request' AS failed;
-- include: merge_pull
SELECT json_object(
  'success', json('true'),
  'merge_commit_sha', :commit_sha,
  'message', 'Pull Request successfully merged'
) AS result;

-- name: github_get_pull_request_files
SELECT NULL AS request, 'failed to get pull request files' AS failed;
-- include: find_pull
-- include: pull_changes
SELECT json_group_array(drop_nulls(json_object(
  'filename', value ->> 'filename',
  'status', value ->> 'status',
  'additions', value -> 'additions',
  'deletions', value -> 'deletions',
  'changes', value -> 'changes',
  'patch_content', value ->> 'patch'
))) AS result
FROM json_each(:changes);

-- name: github_get_pull_request_status
SELECT NULL AS request, 'failed to get pull request' AS failed;
-- include: pull_status
SELECT json_object(
  'state', :pull_status,
  'total_count', :n_statuses,
  'statuses', json(:statuses)
) AS result;

-- name: github_update_pull_request_branch
SELECT NULL AS request, 'failed to update pull request branch' AS failed;
-- include: update_branch
SELECT 'Pull request branch update is in progress' AS result;

-- name: github_get_pull_request_comments
SELECT NULL AS request, 'failed to get pull request comments' AS failed;
-- include: find_pull
SELECT json_group_array(json(json)) AS result
FROM (
  SELECT drop_nulls(json_object(
    'comment_id', c.id,
    'file_path', c.path,
    'content', c.body,
    'author', json(p.json),
    'created_at', c.created_at,
    'updated_at', c.updated_at,
    'line_number', ifnull(c.line, c.position)
  )) AS json
  FROM review_comment c
  JOIN review r ON r.id = c.review_id
  JOIN person p ON p.id = r.author_id
  WHERE r.issue_id = :issue_id
  ORDER BY c.created_at, c.id
  LIMIT 100
);

-- name: github_get_pull_request_reviews
SELECT NULL AS request, 'failed to get pull request reviews' AS failed;
-- include: find_pull
SELECT json_group_array(json(json)) AS result
FROM (
  SELECT json_object(
    'review_id', r.id,
    'reviewer', json(p.json),
    'state', r.state,
    'content', r.body,
    'submitted_at', r.submitted_at
  ) AS json
  FROM review r
  JOIN person p ON p.id = r.author_id
  WHERE r.issue_id = :issue_id
  ORDER BY r.submitted_at, r.id
  LIMIT 100
);

-- name: github_create_pull_request_review
SELECT NULL AS request, 'failed to create pull request review' AS failed;
-- include: session
-- include: find_pull
SELECT github_failure(:request, :failed, json_object(
  'message', 'Unprocessable Entity',
  'errors', json_array(
    'Variable $event of type PullRequestReviewEvent was provided ' || 'invalid value'
  ),
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE upper(:event) NOT IN ('APPROVE', 'REQUEST_CHANGES', 'COMMENT');
SELECT github_failure(:request, :failed, json_object(
  'message', 'Unprocessable Entity',
  'errors', json_array('Can not approve your own pull request'),
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE upper(:event) = 'APPROVE' AND :author_id = :me;
SELECT github_failure(:request, :failed, json_object(
  'message', 'Unprocessable Entity',
  'errors', json_array('Can not request changes on your own pull request'),
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE upper(:event) = 'REQUEST_CHANGES' AND :author_id = :me;
SELECT github_failure(:request, :failed, json_object(
  'message', 'Unprocessable Entity',
  'errors', json_array('Review body cannot be blank'),
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE upper(:event) <> 'APPROVE'
  AND trim(ifnull(:body, '')) = ''
  AND ifnull(json_array_length(:comments), 0) = 0;
-- include: merge_base
SELECT :merge_base AS old_commit, :head_sha AS new_commit;
-- include: two_trees
WITH o AS MATERIALIZED (SELECT key AS path, value AS sha FROM json_each(:old_files)),
n AS MATERIALIZED (SELECT key AS path, value AS sha FROM json_each(:new_files)),
c AS MATERIALIZED (
  SELECT path, o.sha AS old_sha, n.sha AS new_sha
  FROM (SELECT path FROM o UNION SELECT path FROM n)
  LEFT JOIN o USING (path)
  LEFT JOIN n USING (path)
  WHERE o.sha IS NOT n.sha
)
SELECT (
  SELECT value ->> 'path'
  FROM json_each(:comments)
  WHERE value ->> 'path' NOT IN (SELECT path FROM c)
  LIMIT 1
) AS lost_path;
SELECT github_failure(:request, :failed, json_object(
  'message', 'Unprocessable Entity',
  'errors', json_array('Path could not be resolved'),
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE :lost_path IS NOT NULL;
SELECT github_failure(:request, :failed, json_object(
  'message', 'Unprocessable Entity',
  'errors', json_array('Line could not be resolved'),
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE EXISTS (
  SELECT 1 FROM json_each(:comments) WHERE value ->> 'line' IS NULL AND value ->> 'position' IS NULL
);
SELECT github_failure(:request, :failed, json_object(
  'message', 'Unprocessable Entity',
  'errors', json_array('Commit could not be resolved'),
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE :commitId <> '' AND NOT EXISTS (SELECT 1 FROM git_commit WHERE sha = :commitId);
INSERT INTO review VALUES (
  new_id('review'),
  :issue_id,
  :me,
  CASE upper(:event)
    WHEN 'APPROVE' THEN 'APPROVED'
    WHEN 'COMMENT' THEN 'COMMENTED'
    ELSE 'CHANGES_REQUESTED'
  END,
  ifnull(:body, ''),
  ifnull(nullif(:commitId, ''), :head_sha),
  :now
)
RETURNING id AS review_id;
INSERT INTO review_comment (
  id, review_id, path, line, position, side, start_line, start_side, body, created_at, updated_at
)
SELECT
  new_id('comment'),
  :review_id,
  value ->> 'path',
  value ->> 'line',
  value ->> 'position',
  value ->> 'side',
  value ->> 'start_line',
  value ->> 'start_side',
  value ->> 'body',
  :now,
  :now
FROM json_each(:comments);
UPDATE issue SET updated_at = :now WHERE id = :issue_id;
SELECT json_object(
  'review_id', r.id,
  'reviewer', json(p.json),
  'state', r.state,
  'content', r.body,
  'submitted_at', r.submitted_at
) AS result
FROM review r
JOIN person p ON p.id = r.author_id
WHERE r.id = :review_id;

-- name: github_create_pull_request
SELECT NULL AS request, 'failed to create pull request' AS failed;
-- include: create_pull
SELECT json AS result FROM pull_json WHERE id = :issue_id;

-- name: github_list_commits
SELECT NULL AS request, 'failed to list commits' AS failed;
-- include: find_commits
WITH RECURSIVE h (sha) AS (
  SELECT :start
  UNION
  SELECT p.value FROM h JOIN git_commit c ON c.sha = h.sha, json_each(c.parents) p
)
SELECT json_group_array(json(json)) AS result
FROM (
  SELECT json_object(
    'sha', c.sha,
    'message', c.message,
    'committer', json_object('name', committer_name, 'email', committer_email),
    'author', json_object('name', author_name, 'email', author_email),
    'committed_date', committed_at,
    'authored_date', committed_at
  ) AS json
  FROM h
  JOIN git_commit c ON c.sha = h.sha
  ORDER BY c.committed_at DESC, c.generation DESC, c.sha
  LIMIT CAST(ifnull(:perPage, 30) AS INTEGER) OFFSET CAST(
    (ifnull(:page, 1) - 1) * ifnull(:perPage, 30) AS INTEGER
  )
);

-- name: github_create_or_update_file
SELECT NULL AS request, 'failed to create/update file' AS failed;
-- include: write_file
SELECT json_object(
  'file_path', :file_path,
  'commit_message', :message,
  'commit_sha', :commit_sha,
  'content', json_object(
    'name', substr(:file_path, 1 + length(rtrim(:file_path, replace(:file_path, '/', '')))),
    'path', :file_path,
    'sha', git_blob(:content),
    'size', length(CAST(:content AS BLOB)),
    'download_url', 'https://raw.github.example/' || :full_name || '/' || :branch || '/'
      || :file_path
  )
) AS result;

-- name: github_create_repository
SELECT NULL AS request, 'failed to create repository' AS failed;
SELECT me AS new_owner_id FROM session;
-- include: create_repository
SELECT json AS result FROM repo_json WHERE id = :repo_id;

-- name: github_get_file_contents
SELECT NULL AS request, 'failed to get file contents' AS failed, :branch AS at;
-- include: find_file
SELECT 'https://raw.github.example/' || :full_name || '/' || :ref || '/' AS raw;
SELECT json_object(
  'file_name', substr(:file_path, 1 + length(rtrim(:file_path, replace(:file_path, '/', '')))),
  'file_path', :file_path,
  'content', content,
  'size', size,
  'sha', sha,
  'download_url', :raw || :file_path
) AS result
FROM blob
WHERE sha = :object AND :found = 'blob';
SELECT json_group_array(json(json)) AS result
FROM (
  SELECT drop_nulls(json_object(
    'name', e.name,
    'path', ltrim(:file_path || '/' || e.name, '/'),
    'type', iif(e.type = 'tree', 'dir', 'file'),
    'size', ifnull(b.size, 0),
    'sha', e.sha,
    'download_url', iif(e.type = 'tree', NULL, :raw || ltrim(:file_path || '/' || e.name, '/'))
  )) AS json
  FROM tree_entry e
  LEFT JOIN blob b ON b.sha = e.sha AND e.type = 'blob'
  WHERE e.tree = :object
  ORDER BY e.name
  LIMIT 1000
)
WHERE :found = 'tree'
HAVING :found = 'tree';

-- name: github_fork_repository
SELECT NULL AS request, 'failed to fork repository' AS failed;
-- include: fork
SELECT 'Fork is in progress' AS result;

-- name: github_create_branch
SELECT NULL AS request, 'failed to create branch' AS failed;
-- include: create_branch
SELECT json_object('name', :branch, 'commit_sha', :start) AS result;

-- name: github_push_files
SELECT NULL AS request, 'failed to get branch reference' AS failed;
-- include: push_files
SELECT json_object('name', :branch, 'commit_sha', :commit_sha) AS result;

-- name: github_list_recent_stargazers
SELECT NULL AS request, 'failed to get stargazers' AS failed;
-- include: find_repo
SELECT json_group_array(json(json)) AS result
FROM (
  SELECT json_object('username', a.login, 'starred_at', s.starred_at) AS json
  FROM star s
  JOIN account a ON a.id = s.account_id
  WHERE s.repo_id = :repo_id
  ORDER BY s.starred_at DESC, a.id
  LIMIT CAST(ifnull(:perPage, 30) AS INTEGER) OFFSET CAST(
    (ifnull(:page, 1) - 1) * ifnull(:perPage, 30) AS INTEGER
  )
);

-- name: github_search_repositories
SELECT 'missing required parameter: query' AS error WHERE trim(:query) = '';
SELECT count(*) AS total FROM repo_view r WHERE {{github_repos :query}};
SELECT json_object('total_count', :total, 'repositories', json_group_array(json(json))) AS result
FROM (
  SELECT json
  FROM repo_json r
  WHERE {{github_repos :query}}
  ORDER BY {{github_repos_order :query}}, id
  LIMIT CAST(ifnull(:perPage, 30) AS INTEGER) OFFSET CAST(
    (ifnull(:page, 1) - 1) * ifnull(:perPage, 30) AS INTEGER
  )
);

-- name: github_search_code
SELECT 'missing required parameter: q' AS error WHERE trim(:q) = '';
SELECT count(*) AS total FROM code WHERE {{github_code :q}};
SELECT json_object('total_matches', :total, 'code_results', json_group_array(json(json))) AS result
FROM (
  SELECT json_object(
    'file_name', filename,
    'file_path', path,
    'repository', json_object('name', repo, 'full_name', full_name, 'owner', owner),
    'sha', sha,
    'html_url', 'https://github.example/' || full_name || '/blob/' || head || '/' || path
  ) AS json
  FROM code
  WHERE {{github_code :q}}
  ORDER BY full_name, path
  LIMIT CAST(ifnull(:perPage, 30) AS INTEGER) OFFSET CAST(
    (ifnull(:page, 1) - 1) * ifnull(:perPage, 30) AS INTEGER
  )
);

-- name: github_search_users
SELECT 'missing required parameter: q' AS error WHERE trim(:q) = '';
SELECT count(*) AS total FROM account_view WHERE {{github_users :q}};
SELECT json_object('total_matches', :total, 'users', json_group_array(json(json))) AS result
FROM (
  SELECT json_object(
    'username', login,
    'profile_id', id,
    'account_type', type,
    'avatar_url', 'https://avatars.github.example/u/' || id,
    'html_url', 'https://github.example/' || login
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
    WHERE {{github_users :q}}
  )
  ORDER BY iif(:order = 'asc', key, NULL), iif(:order = 'asc', NULL, key) DESC, followers DESC, id
  LIMIT CAST(ifnull(:perPage, 30) AS INTEGER) OFFSET CAST(
    (ifnull(:page, 1) - 1) * ifnull(:perPage, 30) AS INTEGER
  )
);

-- name: github_get_me
SELECT drop_nulls(json_object(
  'user_id', id,
  'username', login,
  'display_name', name,
  'email', email,
  'bio', bio,
  'company', company,
  'location', location,
  'profile_url', 'https://github.example/' || login,
  'avatar_url', 'https://avatars.github.example/u/' || id,
  'account_type', type,
  'public_repos', (SELECT count(*) FROM repo r WHERE r.owner_id = a.id AND NOT r.is_private),
  'public_gists', public_gists,
  'follower_count', followers,
  'following_count', following,
  'account_created', created_at,
  'last_updated', updated_at
)) AS result
FROM account a
WHERE is_me;
