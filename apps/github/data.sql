-- Initialize bodies and dumps. Beyond Klavis' format a repository may say that it is "private" and
-- which is its "default_branch"; issues and pull requests who is their "author", their "assignees"
-- (logins) and "comments" ({"author", "body"}); pull requests that they are a "draft", their
-- "reviewers" (logins), and their "reviews" ({"author", "state", "body", "comments": [{"path",
-- "line", "body", "reply_to"}]}, "reply_to" being the place of another one among all comments of
-- the reviews, from 1); issues their "type", the "state_reason" and "sub_issues" (numbers, or
-- "owner/name#number"). A repository may have "tags" ({"name", "branch", "message"}) and "releases"
-- ({"tag", "name", "body", "draft", "prerelease"}), "discussions" ({"number", "title", "body",
-- "category", "author", "comments"}), "workflow_runs" that were asked for ({"workflow", "branch",
-- "conclusion"}), whether the caller "starred" it and has a "subscription" of it; issues and pull
-- requests what became of their "notification" (read, done) and the "subscription" of them. Beside
-- "repos" there may be "gists" ({"id", "description", "public", "files": {name: content}}). Dumps
-- have these members only where they say more than these rules do:
--
--   - a repository "owner/name" belongs to that account, one without an owner to the caller
--   - the default branch is main, else master, else the first; it has one commit, and each other
--     branch with files one more on top of that, by the person whose login the branch begins with
--     ("trivera/cold-boot"), else by the caller
--   - a pull request is by whom its branch is; an issue by whom its description says it was
--     "reported by @login"
--   - repositories of the organisation have stars, and all are looked at by code scanning
--   - workflows on the default branch ran once, and the caller is notified of what others have open
--
-- Histories, times, stars and forks have no place in it: they are lost in a dump.

-- name: import
SELECT now, me, my_name, my_email, signature FROM session;
-- Repositories.
INSERT INTO stage_repo (
  place, full_name, owner, name, description, is_private, default_branch, branches, prs, issues,
  tags, releases, discussions, workflow_runs, starred, subscription
)
SELECT
  key,
  full,
  iif(
    instr(full, '/'),
    substr(full, 1, instr(full, '/') - 1),
    (SELECT login FROM account WHERE is_me)
  ),
  trim(substr(full, instr(full, '/') + 1)),
  value ->> 'description',
  ifnull(value ->> 'private', 0),
  value ->> 'default_branch',
  value -> 'branches',
  value -> 'prs',
  value -> 'issues',
  value -> 'tags',
  value -> 'releases',
  value -> 'discussions',
  value -> 'workflow_runs',
  value ->> 'starred',
  value ->> 'subscription'
FROM (
  SELECT key, value, value ->> 'name' AS full FROM json_each(:args, '$.repos') WHERE type = 'object'
);
SELECT 'repository "' || full_name || '": there is no account "' || owner || '"' AS error
FROM stage_repo
WHERE owner NOT IN (SELECT login FROM account)
LIMIT 1;
SELECT 'a repository needs a name' AS error
FROM stage_repo
WHERE name = '' OR instr(name, '/')
LIMIT 1;
SELECT 'repository "' || full_name || '": name already exists on this account' AS error
FROM stage_repo s
GROUP BY owner, name
HAVING count(*) > 1
  OR EXISTS (
    SELECT 1
    FROM repo r
    JOIN account a ON a.id = r.owner_id
    WHERE r.name = s.name AND a.login = s.owner
  )
LIMIT 1;
UPDATE stage_repo SET id = new_id('repo');
INSERT INTO repo (
  id, owner_id, name, description, is_private, default_branch, created_at, updated_at, pushed_at
)
SELECT
  s.id,
  a.id,
  s.name,
  s.description,
  s.is_private,
  coalesce(
    s.default_branch,
    (
      SELECT value ->> 'name'
      FROM json_each(s.branches)
      WHERE type = 'object' AND value ->> 'name' IN ('main', 'master')
      ORDER BY 1
      LIMIT 1
    ),
    s.branches ->> '$[0].name',
    'main'
  ),
  :now,
  :now,
  :now
FROM stage_repo s
JOIN account a ON a.login = s.owner
ORDER BY s.place;

SELECT 'repository "' || full_name || '": there is no branch "' || default_branch || '"' AS error
FROM stage_repo s
WHERE default_branch NOT IN (
  SELECT value ->> 'name' FROM json_each(s.branches) WHERE type = 'object'
)
LIMIT 1;

-- Branches and their files; a folder in a folder is found by its path.
SELECT 'repository "' || full_name || '": branch "' || (b.value ->> 'name')
  || '" is there twice, or has no name' AS error
FROM stage_repo s, json_each(s.branches) b
WHERE b.type = 'object'
GROUP BY s.id, b.value ->> 'name'
HAVING count(*) > 1 OR b.value ->> 'name' = ''
LIMIT 1;
INSERT INTO stage_branch (repo_id, name, place, is_default, author_id, folders)
SELECT
  r.id,
  b.name,
  b.place,
  b.name = r.default_branch,
  ifnull((
    SELECT id FROM account WHERE login = substr(b.name, 1, instr(b.name, '/') - 1) AND type = 'User'
  ), :me),
  iif(json_type(folders) = 'object', folders, NULL)
FROM (
  SELECT s.id, b.key AS place, b.value ->> 'name' AS name, b.value -> 'folders' AS folders
  FROM stage_repo s, json_each(s.branches) b
  WHERE b.type = 'object'
) b
CROSS JOIN repo r ON r.id = b.id;
WITH RECURSIVE d (repo_id, branch, folder) AS (
  SELECT repo_id, name, folders FROM stage_branch WHERE folders IS NOT NULL
  UNION ALL
  SELECT d.repo_id, d.branch, f.value
  FROM d, json_each(d.folder, '$.folders') f
  WHERE f.type = 'object'
)
INSERT OR REPLACE INTO stage_file
SELECT
  repo_id,
  branch,
  -- "path" is that of the file or of its folder.
  CASE
    WHEN path = '' OR path = name THEN name
    WHEN substr(path, -length(name) - 1) = '/' || name THEN path
    ELSE path || '/' || name
  END,
  git_blob(content),
  content
FROM (
  SELECT
    repo_id,
    branch,
    trim(f.value ->> 'name', '/') AS name,
    trim(
      iif((f.value ->> 'path') GLOB './*', substr(f.value ->> 'path', 3), f.value ->> 'path'),
      '/'
    ) AS path,
    ifnull(f.value ->> 'content', '') AS content
  FROM d, json_each(d.folder, '$.files') f
  WHERE f.type = 'object'
);
SELECT 'file "' || path || '" of branch "' || branch || '": a malformed path' AS error
FROM stage_file
WHERE path = ''
  OR '/' || path || '/' GLOB '*//*'
  OR '/' || path || '/' GLOB '*/./*'
  OR '/' || path || '/' GLOB '*/../*'
  OR '/' || lower(path) || '/' GLOB '*/.git/*'
  OR length(path) - length(replace(path, '/', '')) > 20
LIMIT 1;
SELECT 'file "' || f.path || '" of branch "' || f.branch || '" is a folder, too' AS error
FROM stage_file f
WHERE EXISTS (
  SELECT 1
  FROM stage_file g
  WHERE g.repo_id = f.repo_id
    AND g.branch = f.branch
    AND g.path > f.path || '/'
    AND g.path < f.path || '0'
)
LIMIT 1;
INSERT OR IGNORE INTO blob SELECT sha, length(CAST(content AS BLOB)), content FROM stage_file;
UPDATE stage_branch
SET trees = git_trees((
  SELECT json_group_array(json_array(f.path, f.sha))
  FROM stage_file f
  WHERE f.repo_id = stage_branch.repo_id AND f.branch = stage_branch.name
));
UPDATE stage_branch SET tree = trees ->> '$[#-1].sha';
INSERT OR IGNORE INTO tree_entry
SELECT t.value ->> 'sha', e.value ->> 'name', e.value ->> 'type', e.value ->> 'sha'
FROM stage_branch b, json_each(b.trees) t, json_each(t.value, '$.entries') e;

-- The first commit of each repository, then one for each other branch with files of its own.
INSERT INTO branch
SELECT
  repo_id,
  name,
  git_commit(tree, '[]', :signature, :signature, now_ms() / 1000, 'Initial commit')
FROM stage_branch
WHERE is_default;
INSERT OR IGNORE INTO git_commit
SELECT b.sha, s.tree, '[]', 1, 'Initial commit', :my_name, :my_email, :my_name, :my_email, :now
FROM stage_branch s
JOIN branch b USING (repo_id, name)
WHERE s.is_default;
INSERT INTO branch
SELECT
  s.repo_id,
  s.name,
  iif(
    s.folders IS NULL OR s.tree = c.tree,
    m.sha,
    git_commit(
      s.tree,
      json_array(m.sha),
      a.name || ' <' || a.email || '>',
      a.name || ' <' || a.email || '>',
      now_ms() / 1000,
      'Work on ' || s.name
    )
  )
FROM stage_branch s
JOIN repo r ON r.id = s.repo_id
JOIN branch m ON m.repo_id = r.id AND m.name = r.default_branch
JOIN git_commit c ON c.sha = m.sha
JOIN account a ON a.id = s.author_id
WHERE NOT s.is_default;
INSERT OR IGNORE INTO git_commit
SELECT
  b.sha,
  s.tree,
  json_array(m.sha),
  2,
  'Work on ' || s.name,
  a.name,
  a.email,
  a.name,
  a.email,
  :now
FROM stage_branch s
JOIN branch b USING (repo_id, name)
JOIN repo r ON r.id = s.repo_id
JOIN branch m ON m.repo_id = r.id AND m.name = r.default_branch
JOIN account a ON a.id = s.author_id
WHERE NOT s.is_default AND b.sha <> m.sha;

-- Issues and pull requests: those with a number keep it, the others follow behind.
INSERT INTO stage_item (
  repo_id, is_pull, place, given, title, body, state, labels, author, assignees, comments,
  sub_issues, state_reason, type, notification, subscription
)
SELECT
  s.id,
  0,
  i.key,
  i.value ->> 'id',
  i.value ->> 'issue_title',
  i.value ->> 'description',
  ifnull(lower(i.value ->> 'status'), 'open'),
  i.value -> 'labels',
  i.value ->> 'author',
  i.value -> 'assignees',
  i.value -> 'comments',
  i.value -> 'sub_issues',
  i.value ->> 'state_reason',
  i.value ->> 'type',
  i.value ->> 'notification',
  i.value ->> 'subscription'
FROM stage_repo s, json_each(s.issues) i
WHERE i.type = 'object';
INSERT INTO stage_item (
  repo_id, is_pull, place, given, title, body, state, labels, author, assignees, comments, head,
  base, is_draft, reviews, reviewers, notification, subscription
)
SELECT
  s.id,
  1,
  p.key,
  p.value ->> 'id',
  p.value ->> 'pr_title',
  p.value ->> 'description',
  ifnull(lower(p.value ->> 'status'), 'open'),
  p.value -> 'labels',
  p.value ->> 'author',
  p.value -> 'assignees',
  p.value -> 'comments',
  p.value ->> 'source_branch',
  ifnull(p.value ->> 'target_branch', 'main'),
  ifnull(p.value ->> 'draft', 0),
  p.value -> 'reviews',
  p.value -> 'reviewers',
  p.value ->> 'notification',
  p.value ->> 'subscription'
FROM stage_repo s, json_each(s.prs) p
WHERE p.type = 'object';
UPDATE stage_item
SET number = n.number
FROM (
  SELECT
    repo_id,
    is_pull,
    place,
    ifnull(
      given,
      max(ifnull(max(given) OVER (PARTITION BY repo_id), 0), 0)
        + row_number() OVER (PARTITION BY repo_id, given IS NULL ORDER BY is_pull, place)
    ) AS number
  FROM stage_item
) n
WHERE n.repo_id = stage_item.repo_id
  AND n.is_pull = stage_item.is_pull
  AND n.place = stage_item.place;
SELECT 'number ' || number || ' is not possible, or there twice' AS error
FROM stage_item
GROUP BY repo_id, number
HAVING count(*) > 1 OR number < 1
LIMIT 1;
SELECT 'status "' || state || '" is not open, closed' || iif(is_pull, ' or merged', '') AS error
FROM stage_item
WHERE state NOT IN ('open', 'closed') AND NOT (is_pull AND state = 'merged')
LIMIT 1;
SELECT 'pull request "' || i.title || '": there is no branch "'
  || iif(h.sha IS NULL, i.head, i.base) || '"' AS error
FROM stage_item i
LEFT JOIN branch h ON h.repo_id = i.repo_id AND h.name = i.head
LEFT JOIN branch t ON t.repo_id = i.repo_id AND t.name = i.base
WHERE i.is_pull AND (h.sha IS NULL OR t.sha IS NULL)
LIMIT 1;
SELECT '"' || title || '": there is no user "' || login || '"' AS error
FROM (
  SELECT title, author AS login FROM stage_item WHERE author IS NOT NULL
  UNION ALL
  SELECT title, value FROM stage_item, json_each(assignees) j WHERE j.type = 'text'
  UNION ALL
  SELECT title, value FROM stage_item, json_each(reviewers) j WHERE j.type = 'text'
  UNION ALL
  SELECT title, value ->> 'author'
  FROM stage_item, json_each(comments) j
  WHERE j.type = 'object' AND value ->> 'author' IS NOT NULL
  UNION ALL
  SELECT title, value ->> 'author'
  FROM stage_item, json_each(reviews) j
  WHERE j.type = 'object' AND value ->> 'author' IS NOT NULL
)
WHERE login NOT IN (SELECT login FROM account WHERE type <> 'Organization')
LIMIT 1;
SELECT '"' || title || '": a review is APPROVED, CHANGES_REQUESTED, COMMENTED or PENDING' AS error
FROM stage_item, json_each(reviews) j
WHERE j.type = 'object'
  AND ifnull(upper(value ->> 'state'), '') NOT IN (
    'APPROVED', 'CHANGES_REQUESTED', 'COMMENTED', 'PENDING'
  )
LIMIT 1;
SELECT '"' || title
  || '": the state_reason is completed, not_planned, duplicate or reopened' AS error
FROM stage_item
WHERE state_reason NOT IN ('completed', 'not_planned', 'duplicate', 'reopened')
LIMIT 1;
SELECT '"' || title || '": there is no type "' || type || '"' AS error
FROM stage_item
WHERE type NOT IN (SELECT name FROM issue_type)
LIMIT 1;
INSERT INTO issue (
  id, repo_id, number, is_pull, title, body, state, author_id, created_at, updated_at, closed_at,
  state_reason, type
)
SELECT
  new_id('issue'),
  repo_id,
  number,
  is_pull,
  title,
  body,
  iif(state = 'open', 'open', 'closed'),
  ifnull((SELECT id FROM account WHERE login = i.author), :me),
  :now,
  :now,
  iif(state = 'open', NULL, :now),
  nullif(state_reason, 'completed'),
  type
FROM stage_item i
ORDER BY repo_id, is_pull, place;
INSERT INTO pull (
  issue_id, head_repo_id, head, base, head_sha, base_sha, is_draft, merged_at, merge_sha
)
SELECT
  n.id,
  n.repo_id,
  i.head,
  i.base,
  h.sha,
  t.sha,
  i.is_draft,
  iif(i.state = 'merged', :now, NULL),
  iif(i.state = 'merged', t.sha, NULL)
FROM stage_item i
CROSS JOIN issue n ON n.repo_id = i.repo_id AND n.number = i.number
JOIN branch h ON h.repo_id = n.repo_id AND h.name = i.head
JOIN branch t ON t.repo_id = n.repo_id AND t.name = i.base
WHERE i.is_pull;
UPDATE issue
SET author_id = (SELECT a.author_id FROM implied_author a WHERE a.issue_id = issue.id)
WHERE (repo_id, number) IN (SELECT repo_id, number FROM stage_item WHERE author IS NULL);
INSERT OR IGNORE INTO issue_label
SELECT n.id, trim(l.value), l.key
FROM stage_item i
CROSS JOIN issue n ON n.repo_id = i.repo_id AND n.number = i.number, json_each(i.labels) l
WHERE trim(l.value) <> '';

INSERT OR IGNORE INTO issue_assignee
SELECT n.id, a.id, s.key
FROM stage_item i
CROSS JOIN issue n ON n.repo_id = i.repo_id AND n.number = i.number, json_each(i.assignees) s
JOIN account a ON a.login = s.value;
INSERT OR IGNORE INTO pull_reviewer
SELECT n.id, a.id, s.key
FROM stage_item i
CROSS JOIN issue n ON n.repo_id = i.repo_id AND n.number = i.number, json_each(i.reviewers) s
JOIN account a ON a.login = s.value
WHERE n.is_pull;
INSERT OR IGNORE INTO sub_issue
SELECT child_id, parent_id, place
FROM (
  SELECT
    n.id AS parent_id,
    s.key AS place,
    iif(
      s.type = 'integer',
      (SELECT id FROM issue c WHERE c.repo_id = n.repo_id AND c.number = s.value AND NOT c.is_pull),
      (
        SELECT c.id
        FROM account o
        JOIN repo r ON r.owner_id = o.id
        JOIN issue c ON c.repo_id = r.id
        WHERE o.login = substr(s.value, 1, instr(s.value, '/') - 1)
          AND r.name = substr(
            s.value,
            instr(s.value, '/') + 1,
            instr(s.value, '#') - instr(s.value, '/') - 1
          )
          AND c.number = CAST(substr(s.value, instr(s.value, '#') + 1) AS INTEGER)
          AND NOT c.is_pull
      )
    ) AS child_id
  FROM stage_item i
  CROSS JOIN issue n ON n.repo_id = i.repo_id AND n.number = i.number, json_each(i.sub_issues) s
  WHERE i.sub_issues IS NOT NULL
)
WHERE child_id <> parent_id;
INSERT INTO comment
SELECT
  new_id('comment'),
  n.id,
  ifnull((SELECT id FROM account WHERE login = c.value ->> 'author'), :me),
  ifnull(c.value ->> 'body', ''),
  :now,
  :now
FROM stage_item i
CROSS JOIN issue n ON n.repo_id = i.repo_id AND n.number = i.number, json_each(i.comments) c
WHERE c.type = 'object'
ORDER BY i.repo_id, i.number, c.key;
INSERT INTO review
SELECT
  new_id('review'),
  n.id,
  ifnull((SELECT id FROM account WHERE login = r.value ->> 'author'), :me),
  upper(r.value ->> 'state'),
  ifnull(r.value ->> 'body', ''),
  p.head_sha,
  :now
FROM stage_item i
CROSS JOIN issue n ON n.repo_id = i.repo_id AND n.number = i.number
CROSS JOIN pull p ON p.issue_id = n.id, json_each(i.reviews) r
WHERE r.type = 'object'
ORDER BY i.repo_id, i.number, r.key;
-- Reviews have been numbered in this order.
INSERT INTO review_comment (id, review_id, path, line, body, created_at, updated_at)
SELECT
  new_id('comment'),
  w.id,
  c.value ->> 'path',
  c.value ->> 'line',
  ifnull(c.value ->> 'body', ''),
  :now,
  :now
FROM (
  SELECT
    n.id AS issue_id,
    r.value -> 'comments' AS comments,
    row_number() OVER (PARTITION BY n.id ORDER BY r.key) AS nth
  FROM stage_item i
  CROSS JOIN issue n ON n.repo_id = i.repo_id AND n.number = i.number, json_each(i.reviews) r
  WHERE r.type = 'object'
) x
JOIN
  (SELECT id, issue_id, row_number() OVER (PARTITION BY issue_id ORDER BY id) AS nth FROM review) w
    ON w.issue_id = x.issue_id AND w.nth = x.nth,
  json_each(x.comments) c
WHERE c.type = 'object' AND c.value ->> 'path' IS NOT NULL
ORDER BY w.id, c.key;
-- So have their comments.
UPDATE review_comment
SET reply_to = x.target
FROM (
  SELECT o.id, t.id AS target
  FROM (
    SELECT
      n.id AS issue_id,
      c.value ->> 'reply_to' AS reply_to,
      row_number() OVER (PARTITION BY n.id ORDER BY r.key, c.key) AS nth
    FROM stage_item i
    CROSS JOIN
      issue n ON n.repo_id = i.repo_id AND n.number = i.number,
      json_each(i.reviews) r,
      json_each(r.value, '$.comments') c
    WHERE r.type = 'object' AND c.type = 'object' AND c.value ->> 'path' IS NOT NULL
  ) p
  JOIN review_place o ON o.issue_id = p.issue_id AND o.nth = p.nth
  JOIN review_place t ON t.issue_id = p.issue_id AND t.nth = p.reply_to
) x
WHERE review_comment.id = x.id;

-- Tags and releases.
SELECT 'repository "' || full_name || '": there is no branch "' || branch || '" for a tag' AS error
FROM (
  SELECT s.full_name, s.id, ifnull(t.value ->> 'branch', r.default_branch) AS branch
  FROM stage_repo s
  JOIN repo r ON r.id = s.id, json_each(s.tags) t
  WHERE t.type = 'object'
) x
WHERE NOT EXISTS (SELECT 1 FROM branch b WHERE b.repo_id = x.id AND b.name = x.branch)
LIMIT 1;
INSERT OR IGNORE INTO tag
SELECT r.id, t.value ->> 'name', b.sha, ifnull(t.value ->> 'message', ''), :now
FROM stage_repo s
CROSS JOIN repo r ON r.id = s.id, json_each(s.tags) t
JOIN branch b ON b.repo_id = r.id AND b.name = ifnull(t.value ->> 'branch', r.default_branch)
WHERE t.type = 'object' AND t.value ->> 'name' <> '';
INSERT OR IGNORE INTO release (
  id, repo_id, tag, name, body, is_draft, is_prerelease, author_id, created_at
)
SELECT
  new_id('release'),
  s.id,
  e.value ->> 'tag',
  ifnull(e.value ->> 'name', e.value ->> 'tag'),
  ifnull(e.value ->> 'body', ''),
  ifnull(e.value ->> 'draft', 0),
  ifnull(e.value ->> 'prerelease', 0),
  :me,
  :now
FROM stage_repo s, json_each(s.releases) e
WHERE e.type = 'object' AND e.value ->> 'tag' <> ''
ORDER BY s.place, e.key;

-- Discussions: those with a number keep it, the others follow behind the issues.
SELECT 'discussion "' || title || '": there is no ' || iif(is_category, 'category', 'user') || ' "'
  || name || '"' AS error
FROM (
  SELECT d.value ->> 'title' AS title, 1 AS is_category, d.value ->> 'category' AS name
  FROM stage_repo s, json_each(s.discussions) d
  WHERE d.type = 'object' AND d.value ->> 'category' NOT IN (SELECT name FROM discussion_category)
  UNION ALL
  SELECT d.value ->> 'title', 0, j.value
  FROM stage_repo s, json_each(s.discussions) d, json_tree(d.value) j
  WHERE d.type = 'object'
    AND j.key = 'author'
    AND j.value NOT IN (SELECT login FROM account WHERE type <> 'Organization')
)
LIMIT 1;
SELECT 'number ' || number || ' of a discussion is not possible, or there twice' AS error
FROM (
  SELECT s.id, d.value ->> 'number' AS number
  FROM stage_repo s, json_each(s.discussions) d
  WHERE d.type = 'object' AND d.value ->> 'number' IS NOT NULL
  UNION ALL
  SELECT repo_id, number FROM stage_item
)
GROUP BY id, number
HAVING count(*) > 1 OR typeof(number) <> 'integer' OR number < 1
LIMIT 1;
INSERT INTO discussion
SELECT
  new_id('discussion'),
  s.id,
  ifnull(
    d.value ->> 'number',
    max(n.number - 1, ifnull(max(d.value ->> 'number') OVER (PARTITION BY s.id), 0))
      + row_number() OVER (PARTITION BY s.id, d.value ->> 'number' IS NULL ORDER BY d.key)
  ),
  ifnull(d.value ->> 'category', 'General'),
  ifnull(d.value ->> 'title', ''),
  ifnull(d.value ->> 'body', ''),
  ifnull((SELECT id FROM account WHERE login = d.value ->> 'author'), :me),
  :now
FROM stage_repo s
CROSS JOIN next_number n ON n.repo_id = s.id, json_each(s.discussions) d
WHERE d.type = 'object'
ORDER BY s.place, d.key;
INSERT INTO discussion_comment
SELECT
  new_id('discussion_comment'),
  x.id,
  ifnull((SELECT id FROM account WHERE login = c.value ->> 'author'), :me),
  ifnull(c.value ->> 'body', '')
FROM (
  SELECT
    s.id AS repo_id,
    d.value -> 'comments' AS comments,
    row_number() OVER (PARTITION BY s.id ORDER BY d.key) AS nth
  FROM stage_repo s, json_each(s.discussions) d
  WHERE d.type = 'object'
) y
JOIN
  (
    SELECT id, repo_id, row_number() OVER (PARTITION BY repo_id ORDER BY id) AS nth FROM discussion
  ) x
    ON x.repo_id = y.repo_id AND x.nth = y.nth,
  json_each(y.comments) c
WHERE c.type = 'object'
ORDER BY x.id, c.key;

-- Workflows.
INSERT INTO workflow_run (id, repo_id, path, branch, sha, event, number, conclusion, created_at)
SELECT new_id('run'), w.repo_id, w.path, r.default_branch, r.head, 'push', 1, 'success', :now
FROM stage_repo s
CROSS JOIN repo_view r ON r.id = s.id
CROSS JOIN workflow w ON w.repo_id = r.id
WHERE instr(w.content, 'push')
ORDER BY s.place, w.path;
INSERT INTO workflow_run (id, repo_id, path, branch, sha, event, number, conclusion, created_at)
SELECT
  new_id('run'),
  s.id,
  '.github/workflows/' || (x.value ->> 'workflow'),
  b.name,
  b.sha,
  'workflow_dispatch',
  1000 + x.key,
  ifnull(x.value ->> 'conclusion', 'success'),
  :now
FROM stage_repo s, json_each(s.workflow_runs) x
JOIN repo r ON r.id = s.id
JOIN branch b ON b.repo_id = r.id AND b.name = ifnull(x.value ->> 'branch', r.default_branch)
WHERE x.type = 'object' AND x.value ->> 'workflow' IS NOT NULL
ORDER BY s.place, x.key;
-- Their numbers go on where those of the pushes end.
UPDATE workflow_run
SET number = n.number
FROM (
  SELECT id, row_number() OVER (PARTITION BY repo_id, path ORDER BY id) AS number FROM workflow_run
) n
WHERE n.id = workflow_run.id AND workflow_run.number >= 1000;

-- What the caller is told of, and what became of it.
INSERT INTO notification (id, issue_id, reason, state, subscription, updated_at)
SELECT
  new_id('notification'),
  n.id,
  CASE
    WHEN EXISTS (SELECT 1 FROM issue_assignee a WHERE a.issue_id = n.id AND a.account_id = :me)
      THEN 'assign'
    WHEN EXISTS (SELECT 1 FROM pull_reviewer a WHERE a.issue_id = n.id AND a.account_id = :me)
      THEN 'review_requested'
    ELSE 'subscribed'
  END,
  iif(i.notification IN ('read', 'done'), i.notification, 'unread'),
  iif(i.subscription IN ('ignored', 'subscribed'), i.subscription, NULL),
  :now
FROM stage_item i
CROSS JOIN issue n ON n.repo_id = i.repo_id AND n.number = i.number
WHERE i.notification IN ('read', 'done')
  OR (n.state = 'open' AND n.author_id <> :me)
  OR i.subscription IN ('ignored', 'subscribed')
ORDER BY i.repo_id, i.is_pull, i.place;
UPDATE notification SET read_at = :now WHERE state <> 'unread';
INSERT INTO repo_subscription
SELECT id, subscription
FROM stage_repo
WHERE subscription IN ('ignored', 'subscribed');
INSERT OR IGNORE INTO gist
SELECT
  ifnull(value ->> 'id', substr(git_blob(value), 1, 32)),
  ifnull(value ->> 'description', ''),
  ifnull(value ->> 'public', 0),
  :now,
  :now
FROM json_each(:args, '$.gists')
WHERE type = 'object'
ORDER BY key;
INSERT OR IGNORE INTO gist_file
SELECT ifnull(g.value ->> 'id', substr(git_blob(g.value), 1, 32)), f.key, ifnull(f.value, '')
FROM json_each(:args, '$.gists') g, json_each(g.value, '$.files') f
WHERE g.type = 'object';

-- People who know the organisation's repositories, and code scanning.
INSERT INTO star
SELECT
  s.id,
  a.account_id,
  strftime('%Y-%m-%dT%H:%M:%SZ', :now, '-' || (a.account_id % 89 + 1) || ' hours')
FROM stage_repo s
CROSS JOIN implied_star a ON a.repo_id = s.id;
DELETE FROM star
WHERE account_id = :me AND repo_id IN (SELECT id FROM stage_repo WHERE starred = 0);
INSERT OR IGNORE INTO star SELECT id, :me, :now FROM stage_repo WHERE starred;
INSERT INTO alert (id, repo_id, number, rule_id, path, line, created_at, updated_at)
SELECT
  new_id('alert'),
  repo_id,
  row_number() OVER (PARTITION BY repo_id ORDER BY path, rule_id),
  rule_id,
  path,
  1 + length(before) - length(replace(before, char(10), '')),
  :now,
  :now
FROM (
  SELECT
    f.repo_id,
    f.path,
    s.id AS rule_id,
    substr(f.content, 1, instr(f.content, s.needle)) AS before
  FROM stage_branch b
  CROSS JOIN stage_file f ON f.repo_id = b.repo_id AND f.branch = b.name
  JOIN scan_rule s ON f.path LIKE s.files AND instr(f.content, s.needle) > 0
  WHERE b.is_default
    AND EXISTS (
      SELECT 1
      FROM stage_file w
      WHERE w.repo_id = b.repo_id
        AND w.branch = b.name
        AND w.path >= '.github/workflows/codeql'
        AND w.path < '.github/workflows/codeqm'
    )
  ORDER BY 1, 2, 3
);
SELECT json_object(
  'repos', (SELECT count(*) FROM stage_repo),
  'branches', (SELECT count(*) FROM stage_branch),
  'prs', (SELECT count(*) FROM stage_item WHERE is_pull),
  'issues', (SELECT count(*) FROM stage_item WHERE NOT is_pull)
) AS result;
DELETE FROM stage_repo;
DELETE FROM stage_branch;
DELETE FROM stage_file;
DELETE FROM stage_item;

-- name: export
WITH RECURSIVE f (repo_id, branch, path, type, sha) AS (
  SELECT b.repo_id, b.name, '', 'tree', c.tree FROM branch b JOIN git_commit c ON c.sha = b.sha
  UNION ALL
  SELECT f.repo_id, f.branch, f.path || iif(f.path = '', '', '/') || e.name, e.type, e.sha
  FROM f
  JOIN tree_entry e ON e.tree = f.sha
  WHERE f.type = 'tree'
),
folders AS MATERIALIZED (
  SELECT repo_id, branch, git_folders(json_group_array(json_array(f.path, b.content))) AS json
  FROM f
  JOIN blob b ON b.sha = f.sha
  WHERE f.type = 'blob'
  GROUP BY 1, 2
)
-- Put together as text and in one go, since it can be large.
SELECT printf(
  '{"repos":[%s]%s}',
  group_concat(json, ','),
  ifnull(
    ',"gists":' || (
      SELECT iif(count(*) > 0, json_group_array(json(json)), NULL)
      FROM (
        SELECT json_object(
          'id', g.id,
          'description', g.description,
          'public', json(iif(g.is_public, 'true', 'false')),
          'files', (
            SELECT json_group_object(f.name, f.content) FROM gist_file f WHERE f.gist_id = g.id
          )
        ) AS json
        FROM gist g
        ORDER BY g.created_at, g.id
      )
    ),
    ''
  )
) AS result
FROM (
  SELECT printf(
    '%s,"branches":%s,"prs":%s,%s',
    rtrim(
      drop_nulls(json_object(
        'name', iif(r.owner_id = (SELECT me FROM session), r.name, r.full_name),
        'description', r.description,
        'private', iif(r.is_private, json('true'), NULL),
        'default_branch', (
          SELECT r.default_branch
          FROM branch b
          WHERE b.repo_id = r.id
            AND b.name <> r.default_branch
            AND b.name IN ('main', 'master')
            AND (r.default_branch <> 'main')
          LIMIT 1
        )
      )),
      '}'
    ),
    (
      SELECT json_group_array(json_object(
        'name', name,
        'folders', json(ifnull(json, git_folders('[]')))
      ))
      FROM (
        SELECT
          b.name,
          d.json,
          b.name <> r.default_branch
            AND NOT EXISTS (
              SELECT 1 FROM branch m WHERE m.repo_id = r.id AND m.name IN ('main', 'master')
            ) AS later
        FROM branch b
        LEFT JOIN folders d ON d.repo_id = b.repo_id AND d.branch = b.name
        WHERE b.repo_id = r.id
        -- As import finds the default branch.
        ORDER BY
          b.name <> 'main',
          b.name <> 'master',
          later,
          b.name
      )
    ),
    (
      SELECT json_group_array(json(json))
      FROM (
        SELECT drop_nulls(json_object(
          'id', i.number,
          'pr_title', i.title,
          'description', i.body,
          'status', iif(p.merged_at IS NULL, i.state, 'merged'),
          'notification', (
            SELECT nullif(t.state, 'unread') FROM notification t WHERE t.issue_id = i.id
          ),
          'subscription', (SELECT t.subscription FROM notification t WHERE t.issue_id = i.id),
          'source_branch', p.head,
          'target_branch', p.base,
          'labels', (
            SELECT json_group_array(label)
            FROM (SELECT label FROM issue_label l WHERE l.issue_id = i.id ORDER BY place)
          ),
          'author', iif(m.author_id <> i.author_id, a.login, NULL),
          'assignees', (
            SELECT iif(count(*) > 0, json_group_array(login), NULL)
            FROM (
              SELECT u.login
              FROM issue_assignee s
              JOIN account u ON u.id = s.account_id
              WHERE s.issue_id = i.id
              ORDER BY s.place
            )
          ),
          'comments', (
            SELECT iif(count(*) > 0, json_group_array(json(json)), NULL)
            FROM (
              SELECT drop_nulls(json_object(
                'author', iif(u.is_me, NULL, u.login),
                'body', c.body
              )) AS json
              FROM comment c
              JOIN account u ON u.id = c.author_id
              WHERE c.issue_id = i.id
              ORDER BY c.created_at, c.id
            )
          ),
          'draft', iif(p.is_draft, json('true'), NULL),
          'reviewers', (
            SELECT iif(count(*) > 0, json_group_array(login), NULL)
            FROM (
              SELECT u.login
              FROM pull_reviewer s
              JOIN account u ON u.id = s.account_id
              WHERE s.issue_id = i.id
              ORDER BY s.place
            )
          ),
          'reviews', (
            SELECT iif(count(*) > 0, json_group_array(json(json)), NULL)
            FROM (
              SELECT drop_nulls(json_object(
                'author', iif(u.is_me, NULL, u.login),
                'state', w.state,
                'body', w.body,
                'comments', (
                  SELECT iif(count(*) > 0, json_group_array(json(json)), NULL)
                  FROM (
                    SELECT drop_nulls(json_object(
                      'path', q.path,
                      'line', ifnull(q.line, q.position),
                      'body', q.body,
                      'reply_to', (SELECT o.nth FROM review_place o WHERE o.id = q.reply_to)
                    )) AS json
                    FROM review_comment q
                    WHERE q.review_id = w.id
                    ORDER BY q.id
                  )
                )
              )) AS json
              FROM review w
              JOIN account u ON u.id = w.author_id
              WHERE w.issue_id = i.id
              ORDER BY w.id
            )
          )
        )) AS json
        FROM issue i
        JOIN pull p ON p.issue_id = i.id
        JOIN implied_author m ON m.issue_id = i.id
        JOIN account a ON a.id = i.author_id
        -- One from a fork has a branch that is not of this repository.
        WHERE i.repo_id = r.id AND p.head_repo_id = r.id
        ORDER BY i.number
      )
    ),
    substr(
      drop_nulls(json_object(
        'issues', (
          SELECT json_group_array(json(json))
          FROM (
            SELECT drop_nulls(json_object(
              'id', i.number,
              'issue_title', i.title,
              'description', i.body,
              'status', i.state,
              'state_reason', i.state_reason,
              'type', i.type,
              'notification', (
                SELECT nullif(t.state, 'unread') FROM notification t WHERE t.issue_id = i.id
              ),
              'subscription', (SELECT t.subscription FROM notification t WHERE t.issue_id = i.id),
              'labels', (
                SELECT json_group_array(label)
                FROM (SELECT label FROM issue_label l WHERE l.issue_id = i.id ORDER BY place)
              ),
              'author', iif(m.author_id <> i.author_id, a.login, NULL),
              'assignees', (
                SELECT iif(count(*) > 0, json_group_array(login), NULL)
                FROM (
                  SELECT u.login
                  FROM issue_assignee s
                  JOIN account u ON u.id = s.account_id
                  WHERE s.issue_id = i.id
                  ORDER BY s.place
                )
              ),
              'comments', (
                SELECT iif(count(*) > 0, json_group_array(json(json)), NULL)
                FROM (
                  SELECT drop_nulls(json_object(
                    'author', iif(u.is_me, NULL, u.login),
                    'body', c.body
                  )) AS json
                  FROM comment c
                  JOIN account u ON u.id = c.author_id
                  WHERE c.issue_id = i.id
                  ORDER BY c.created_at, c.id
                )
              ),
              'sub_issues', (
                SELECT iif(count(*) > 0, json_group_array(name), NULL)
                FROM (
                  SELECT iif(
                    c.repo_id = i.repo_id,
                    c.number,
                    c.full_name || '#' || c.number
                  ) AS name
                  FROM sub_issue s
                  JOIN issue_view c ON c.id = s.issue_id
                  WHERE s.parent_id = i.id
                  ORDER BY s.place
                )
              )
            )) AS json
            FROM issue i
            JOIN implied_author m ON m.issue_id = i.id
            JOIN account a ON a.id = i.author_id
            WHERE i.repo_id = r.id AND NOT i.is_pull
            ORDER BY i.number
          )
        ),
        'tags', (
          SELECT iif(count(*) > 0, json_group_array(json(json)), NULL)
          FROM (
            SELECT drop_nulls(json_object(
              'name', t.name,
              -- One at a commit of the past comes back at the default branch.
              'branch', (
                SELECT b.name
                FROM branch b
                WHERE b.repo_id = r.id
                  AND b.sha = t.sha
                  AND NOT EXISTS (
                    SELECT 1
                    FROM branch d
                    WHERE d.repo_id = r.id AND d.sha = t.sha AND d.name = r.default_branch
                  )
                ORDER BY b.name
                LIMIT 1
              ),
              'message', nullif(t.message, '')
            )) AS json
            FROM tag t
            WHERE t.repo_id = r.id AND r.head IS NOT NULL
            ORDER BY t.name
          )
        ),
        'releases', (
          SELECT iif(count(*) > 0, json_group_array(json(json)), NULL)
          FROM (
            SELECT drop_nulls(json_object(
              'tag', e.tag,
              'name', e.name,
              'body', nullif(e.body, ''),
              'draft', iif(e.is_draft, json('true'), NULL),
              'prerelease', iif(e.is_prerelease, json('true'), NULL)
            )) AS json
            FROM release e
            WHERE e.repo_id = r.id
            ORDER BY e.id
          )
        ),
        'discussions', (
          SELECT iif(count(*) > 0, json_group_array(json(json)), NULL)
          FROM (
            SELECT drop_nulls(json_object(
              'number', d.number,
              'title', d.title,
              'body', d.body,
              'category', d.category,
              'author', iif(u.is_me, NULL, u.login),
              'comments', (
                SELECT iif(count(*) > 0, json_group_array(json(json)), NULL)
                FROM (
                  SELECT drop_nulls(json_object(
                    'author', iif(a.is_me, NULL, a.login),
                    'body', c.body
                  )) AS json
                  FROM discussion_comment c
                  JOIN account a ON a.id = c.author_id
                  WHERE c.discussion_id = d.id
                  ORDER BY c.id
                )
              )
            )) AS json
            FROM discussion d
            JOIN account u ON u.id = d.author_id
            WHERE d.repo_id = r.id
            ORDER BY d.number
          )
        ),
        'workflow_runs', (
          SELECT iif(count(*) > 0, json_group_array(json(json)), NULL)
          FROM (
            SELECT json_object(
              'workflow', substr(w.path, 19),
              'branch', w.branch,
              'conclusion', w.conclusion
            ) AS json
            FROM workflow_run w
            JOIN branch b ON b.repo_id = r.id AND b.name = w.branch
            WHERE w.repo_id = r.id AND w.event = 'workflow_dispatch'
            ORDER BY w.id
          )
        ),
        'starred', (
          SELECT iif(x.is_star <> x.is_implied, json(iif(x.is_star, 'true', 'false')), NULL)
          FROM (
            SELECT
              EXISTS (
                SELECT 1
                FROM star t
                WHERE t.repo_id = r.id AND t.account_id = (SELECT me FROM session)
              ) AS is_star,
              EXISTS (
                SELECT 1
                FROM implied_star t
                WHERE t.repo_id = r.id AND t.account_id = (SELECT me FROM session)
              ) AS is_implied
          ) x
        ),
        'subscription', (SELECT state FROM repo_subscription t WHERE t.repo_id = r.id)
      )),
      2
    )
  ) AS json
  FROM repo_view r
  ORDER BY r.id
);
