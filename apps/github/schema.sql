-- GitHub: accounts, git objects shared by all repositories, and what people do with them.

CREATE TABLE account (
  id INTEGER PRIMARY KEY,
  login TEXT NOT NULL UNIQUE COLLATE NOCASE,
  type TEXT NOT NULL DEFAULT 'User', -- or Organization, Bot
  name TEXT,
  email TEXT,
  bio TEXT,
  company TEXT,
  location TEXT,
  followers INTEGER NOT NULL DEFAULT 0,
  following INTEGER NOT NULL DEFAULT 0,
  public_gists INTEGER NOT NULL DEFAULT 0,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  is_me INTEGER NOT NULL DEFAULT 0,
  can_write INTEGER NOT NULL DEFAULT 0 -- to its repositories: the account itself, its organisation
);

CREATE TABLE repo (
  id INTEGER PRIMARY KEY,
  owner_id INTEGER NOT NULL REFERENCES account (id),
  name TEXT NOT NULL COLLATE NOCASE,
  description TEXT,
  is_private INTEGER NOT NULL DEFAULT 0,
  parent_id INTEGER REFERENCES repo (id), -- of a fork
  default_branch TEXT NOT NULL DEFAULT 'main',
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  pushed_at TEXT NOT NULL,
  UNIQUE (owner_id, name)
);
CREATE INDEX repo_parent ON repo (parent_id);

CREATE TABLE star (
  repo_id INTEGER NOT NULL REFERENCES repo (id),
  account_id INTEGER NOT NULL REFERENCES account (id),
  starred_at TEXT NOT NULL,
  PRIMARY KEY (repo_id, account_id)
) WITHOUT ROWID;

-- Git. Objects are named by their content, as git does it.
CREATE TABLE blob (
  sha TEXT PRIMARY KEY,
  size INTEGER NOT NULL,
  content TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE tree_entry (
  tree TEXT NOT NULL,
  name TEXT NOT NULL,
  type TEXT NOT NULL, -- blob or tree
  sha TEXT NOT NULL,
  PRIMARY KEY (tree, name)
) WITHOUT ROWID;

CREATE TABLE git_commit (
  sha TEXT PRIMARY KEY,
  tree TEXT NOT NULL,
  parents TEXT NOT NULL, -- a JSON array
  generation INTEGER NOT NULL, -- 1 more than the parents'
  message TEXT NOT NULL,
  author_name TEXT NOT NULL,
  author_email TEXT NOT NULL,
  committer_name TEXT NOT NULL,
  committer_email TEXT NOT NULL,
  committed_at TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE branch (
  repo_id INTEGER NOT NULL REFERENCES repo (id),
  name TEXT NOT NULL,
  sha TEXT NOT NULL,
  PRIMARY KEY (repo_id, name)
) WITHOUT ROWID;

CREATE TABLE tag (
  repo_id INTEGER NOT NULL REFERENCES repo (id),
  name TEXT NOT NULL,
  sha TEXT NOT NULL, -- of a commit
  message TEXT NOT NULL,
  tagged_at TEXT NOT NULL,
  PRIMARY KEY (repo_id, name)
) WITHOUT ROWID;

CREATE TABLE release (
  id INTEGER PRIMARY KEY,
  repo_id INTEGER NOT NULL REFERENCES repo (id),
  tag TEXT NOT NULL,
  name TEXT NOT NULL,
  body TEXT NOT NULL,
  is_draft INTEGER NOT NULL DEFAULT 0,
  is_prerelease INTEGER NOT NULL DEFAULT 0,
  author_id INTEGER NOT NULL REFERENCES account (id),
  created_at TEXT NOT NULL,
  UNIQUE (repo_id, tag)
);

-- For import alone, empty before and after: what is in the body.
CREATE TABLE stage_repo (
  place INTEGER PRIMARY KEY,
  full_name TEXT NOT NULL, -- as given
  owner TEXT NOT NULL COLLATE NOCASE,
  name TEXT NOT NULL COLLATE NOCASE,
  description TEXT,
  is_private INTEGER NOT NULL,
  default_branch TEXT,
  branches TEXT, -- JSON
  prs TEXT,
  issues TEXT,
  tags TEXT,
  releases TEXT,
  discussions TEXT,
  workflow_runs TEXT,
  starred INTEGER,
  subscription TEXT,
  id INTEGER
);
CREATE TABLE stage_branch (
  repo_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  place INTEGER NOT NULL,
  is_default INTEGER NOT NULL,
  author_id INTEGER NOT NULL,
  folders TEXT,
  trees TEXT, -- JSON
  tree TEXT,
  PRIMARY KEY (repo_id, name)
) WITHOUT ROWID;
CREATE TABLE stage_file (
  repo_id INTEGER NOT NULL,
  branch TEXT NOT NULL,
  path TEXT NOT NULL,
  sha TEXT NOT NULL,
  content TEXT NOT NULL,
  PRIMARY KEY (repo_id, branch, path)
) WITHOUT ROWID;
CREATE TABLE stage_item (
  repo_id INTEGER NOT NULL,
  is_pull INTEGER NOT NULL,
  place INTEGER NOT NULL,
  given INTEGER,
  number INTEGER,
  title TEXT NOT NULL,
  body TEXT,
  state TEXT NOT NULL,
  head TEXT,
  base TEXT,
  is_draft INTEGER NOT NULL DEFAULT 0,
  author TEXT,
  labels TEXT, -- JSON
  assignees TEXT,
  comments TEXT,
  reviews TEXT,
  reviewers TEXT,
  sub_issues TEXT,
  state_reason TEXT,
  type TEXT,
  notification TEXT,
  subscription TEXT,
  PRIMARY KEY (repo_id, is_pull, place)
) WITHOUT ROWID;

-- Issues and pull requests share their numbers.
CREATE TABLE issue (
  id INTEGER PRIMARY KEY,
  repo_id INTEGER NOT NULL REFERENCES repo (id),
  number INTEGER NOT NULL,
  is_pull INTEGER NOT NULL DEFAULT 0,
  title TEXT NOT NULL,
  body TEXT,
  state TEXT NOT NULL DEFAULT 'open', -- or closed
  author_id INTEGER NOT NULL REFERENCES account (id),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  closed_at TEXT,
  state_reason TEXT, -- not_planned, duplicate, reopened; NULL: completed, when it is closed
  type TEXT, -- of issue_type
  UNIQUE (repo_id, number)
);
CREATE INDEX issue_state ON issue (repo_id, is_pull, state);

CREATE TABLE pull (
  issue_id INTEGER PRIMARY KEY REFERENCES issue (id),
  head_repo_id INTEGER NOT NULL REFERENCES repo (id),
  head TEXT NOT NULL,
  base TEXT NOT NULL,
  -- Where the branches were when it was closed; an open one follows its branches.
  head_sha TEXT,
  base_sha TEXT,
  is_draft INTEGER NOT NULL DEFAULT 0,
  maintainer_can_modify INTEGER NOT NULL DEFAULT 1,
  merged_at TEXT,
  merge_sha TEXT
);

CREATE TABLE issue_label (
  issue_id INTEGER NOT NULL REFERENCES issue (id),
  label TEXT NOT NULL COLLATE NOCASE,
  place INTEGER NOT NULL,
  PRIMARY KEY (issue_id, label)
) WITHOUT ROWID;
CREATE INDEX issue_label_label ON issue_label (label);

CREATE TABLE issue_assignee (
  issue_id INTEGER NOT NULL REFERENCES issue (id),
  account_id INTEGER NOT NULL REFERENCES account (id),
  place INTEGER NOT NULL,
  PRIMARY KEY (issue_id, account_id)
) WITHOUT ROWID;

-- An issue has one parent at most.
CREATE TABLE sub_issue (
  issue_id INTEGER PRIMARY KEY REFERENCES issue (id),
  parent_id INTEGER NOT NULL REFERENCES issue (id),
  place INTEGER NOT NULL
);
CREATE INDEX sub_issue_parent ON sub_issue (parent_id);

-- Who was asked for a review and has not given one.
CREATE TABLE pull_reviewer (
  issue_id INTEGER NOT NULL REFERENCES pull (issue_id),
  account_id INTEGER NOT NULL REFERENCES account (id),
  place INTEGER NOT NULL,
  PRIMARY KEY (issue_id, account_id)
) WITHOUT ROWID;

CREATE TABLE comment (
  id INTEGER PRIMARY KEY,
  issue_id INTEGER NOT NULL REFERENCES issue (id),
  author_id INTEGER NOT NULL REFERENCES account (id),
  body TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
);
CREATE INDEX comment_issue ON comment (issue_id);

CREATE TABLE review (
  id INTEGER PRIMARY KEY,
  issue_id INTEGER NOT NULL REFERENCES pull (issue_id),
  author_id INTEGER NOT NULL REFERENCES account (id),
  state TEXT NOT NULL, -- APPROVED, CHANGES_REQUESTED, COMMENTED, PENDING
  body TEXT NOT NULL,
  commit_sha TEXT NOT NULL,
  submitted_at TEXT NOT NULL
);
CREATE INDEX review_issue ON review (issue_id);

CREATE TABLE review_comment (
  id INTEGER PRIMARY KEY,
  review_id INTEGER NOT NULL REFERENCES review (id),
  path TEXT NOT NULL,
  line INTEGER,
  position INTEGER,
  side TEXT,
  start_line INTEGER,
  start_side TEXT,
  body TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  reply_to INTEGER REFERENCES review_comment (
    id
  ) -- the first comment of its thread
);
CREATE INDEX review_comment_review ON review_comment (review_id);

CREATE TABLE discussion (
  id INTEGER PRIMARY KEY,
  repo_id INTEGER NOT NULL REFERENCES repo (id),
  number INTEGER NOT NULL, -- one of the row of its issues
  category TEXT NOT NULL, -- of discussion_category
  title TEXT NOT NULL,
  body TEXT NOT NULL,
  author_id INTEGER NOT NULL REFERENCES account (id),
  created_at TEXT NOT NULL,
  UNIQUE (repo_id, number)
);

CREATE TABLE discussion_comment (
  id INTEGER PRIMARY KEY,
  discussion_id INTEGER NOT NULL REFERENCES discussion (id),
  author_id INTEGER NOT NULL REFERENCES account (id),
  body TEXT NOT NULL
);
CREATE INDEX discussion_comment_discussion ON discussion_comment (discussion_id);

CREATE TABLE gist (
  id TEXT PRIMARY KEY,
  description TEXT NOT NULL,
  is_public INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE gist_file (
  gist_id TEXT NOT NULL REFERENCES gist (id),
  name TEXT NOT NULL,
  content TEXT NOT NULL,
  PRIMARY KEY (gist_id, name)
) WITHOUT ROWID;

-- What the caller is told of: an issue or a pull request of others.
CREATE TABLE notification (
  id INTEGER PRIMARY KEY,
  issue_id INTEGER NOT NULL UNIQUE REFERENCES issue (id),
  reason TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'unread', -- read, done
  subscription TEXT, -- ignored, subscribed
  updated_at TEXT NOT NULL,
  read_at TEXT
);

-- Of the caller, where it was set.
CREATE TABLE repo_subscription (
  repo_id INTEGER PRIMARY KEY REFERENCES repo (id),
  state TEXT NOT NULL -- ignored, subscribed
);

-- Actions: a run of a file in .github/workflows.
CREATE TABLE workflow_run (
  id INTEGER PRIMARY KEY,
  repo_id INTEGER NOT NULL REFERENCES repo (id),
  path TEXT NOT NULL,
  branch TEXT NOT NULL,
  sha TEXT NOT NULL,
  event TEXT NOT NULL, -- push, workflow_dispatch
  number INTEGER NOT NULL,
  attempt INTEGER NOT NULL DEFAULT 1,
  conclusion TEXT NOT NULL, -- what it comes to: success, failure, cancelled
  created_at TEXT NOT NULL,
  started_at TEXT, -- NULL: it is over; else it takes its time
  has_logs INTEGER NOT NULL DEFAULT 1,
  UNIQUE (repo_id, path, number)
);

-- What packages are known for, and how a manifest is known to have one.
CREATE TABLE advisory (
  ghsa_id TEXT PRIMARY KEY,
  cve_id TEXT NOT NULL,
  ecosystem TEXT NOT NULL,
  package TEXT NOT NULL,
  severity TEXT NOT NULL,
  summary TEXT NOT NULL,
  cwe_id TEXT NOT NULL,
  vulnerable TEXT NOT NULL,
  patched TEXT NOT NULL,
  published_at TEXT NOT NULL,
  manifest TEXT NOT NULL,
  globs TEXT NOT NULL -- JSON
) WITHOUT ROWID;

CREATE TABLE secret_rule (
  type TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  needle TEXT NOT NULL,
  length INTEGER NOT NULL -- of the secret
) WITHOUT ROWID;

-- Code scanning: repositories with a workflow codeql.yml on their default branch are looked at by
-- these rules. An alert is fixed when what it points at is gone.
CREATE TABLE scan_rule (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  severity TEXT NOT NULL, -- critical, high, medium, low
  files TEXT NOT NULL, -- a pattern of LIKE
  needle TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE alert (
  id INTEGER PRIMARY KEY,
  repo_id INTEGER NOT NULL REFERENCES repo (id),
  number INTEGER NOT NULL,
  rule_id TEXT NOT NULL REFERENCES scan_rule (id),
  path TEXT NOT NULL,
  line INTEGER NOT NULL,
  state TEXT NOT NULL DEFAULT 'open', -- or fixed
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  fixed_at TEXT,
  UNIQUE (repo_id, number)
);

-- Who calls, and when.
CREATE VIEW session AS
SELECT
  substr(now(), 1, 19) || 'Z' AS now,
  id AS me,
  name AS my_name,
  email AS my_email,
  name || ' <' || email || '>' AS signature
FROM account
WHERE is_me;

-- Answers of the API to what cannot be.
CREATE VIEW body AS
SELECT
  docs,
  json_object('message', 'Not Found', 'documentation_url', docs, 'status', '404') AS not_found,
  json_object(
    'message', 'Resource not accessible by personal access token',
    'documentation_url', docs,
    'status', '403'
  ) AS no_access
FROM (SELECT 'https://docs.github.com/rest' AS docs);

-- Who an issue or a pull request is by when the body of an import does not say: the person whose
-- login the branch begins with, or the one who it was "reported by".
CREATE VIEW implied_author AS
SELECT
  i.id AS issue_id,
  coalesce(
    iif(
      i.is_pull,
      (
        SELECT id
        FROM account
        WHERE type = 'User' AND login = substr(p.head, 1, instr(p.head, '/') - 1)
      ),
      (
        SELECT id
        FROM account
        WHERE type = 'User'
          AND instr(lower(ifnull(i.body, '')), 'reported by @')
          AND text_has(i.body, 'reported by @' || login)
        ORDER BY length(login) DESC
        LIMIT 1
      )
    ),
    (SELECT id FROM account WHERE is_me)
  ) AS author_id
FROM issue i
LEFT JOIN pull p ON p.issue_id = i.id;

-- The places of comments of reviews in their pull request, as a dump tells them.
CREATE VIEW review_place AS
SELECT c.id, r.issue_id, row_number() OVER (PARTITION BY r.issue_id ORDER BY r.id, c.id) AS nth
FROM review_comment c
JOIN review r ON r.id = c.review_id;

-- What the tools show.
CREATE VIEW account_view AS
SELECT a.*, (SELECT count(*) FROM repo r WHERE r.owner_id = a.id) AS repos
FROM account a
WHERE a.type <> 'Bot';

CREATE VIEW person AS
SELECT id, login, json_object('username', login, 'profile_id', id) AS json FROM account;

CREATE VIEW repo_view AS
SELECT
  r.*,
  o.login AS owner,
  o.login || '/' || r.name AS full_name,
  o.can_write,
  (SELECT count(*) FROM star s WHERE s.repo_id = r.id) AS stars,
  (SELECT count(*) FROM repo f WHERE f.parent_id = r.id) AS forks,
  o.type AS owner_type,
  b.sha AS head,
  -- The language is that of the most files, as far as names of files tell.
  (
    WITH RECURSIVE f (sha, type, name) AS (
      SELECT c.tree, 'tree', '' FROM git_commit c WHERE c.sha = b.sha
      UNION ALL
      SELECT e.sha, e.type, e.name FROM f JOIN tree_entry e ON e.tree = f.sha WHERE f.type = 'tree'
    )
    SELECT l.language
    FROM f
    JOIN language l
      ON l.extension = substr(f.name, length(rtrim(f.name, replace(f.name, '.', ''))) + 1)
    WHERE f.type = 'blob' AND instr(f.name, '.') > 0
    GROUP BY l.language
    ORDER BY count(*) DESC, l.language
    LIMIT 1
  ) AS language
FROM repo r
JOIN account o ON o.id = r.owner_id
LEFT JOIN branch b ON b.repo_id = r.id AND b.name = r.default_branch;

CREATE TABLE language (extension TEXT PRIMARY KEY, language TEXT NOT NULL) WITHOUT ROWID;

CREATE VIEW repo_json AS
SELECT
  r.*,
  drop_nulls(json_object(
    'repo_id', r.id,
    'name', r.name,
    'full_name', r.full_name,
    'description', ifnull(r.description, ''),
    'owner', json(p.json),
    'is_private', json(iif(r.is_private, 'true', 'false')),
    'is_fork', json(iif(r.parent_id IS NULL, 'false', 'true')),
    'default_branch', r.default_branch,
    'language', r.language,
    'star_count', r.stars,
    'fork_count', r.forks,
    'watcher_count', r.stars,
    'created_at', r.created_at,
    'updated_at', r.updated_at,
    'pushed_at', r.pushed_at,
    'clone_url', 'https://github.example/' || r.full_name || '.git',
    'html_url', 'https://github.example/' || r.full_name
  )) AS json
FROM repo_view r
JOIN person p ON p.id = r.owner_id;

CREATE VIEW issue_view AS
SELECT
  i.*,
  a.login AS author,
  o.login AS owner,
  r.name AS repo,
  o.login || '/' || r.name AS full_name,
  o.type AS owner_type,
  r.is_private,
  r.default_branch,
  p.head,
  p.base,
  p.is_draft,
  p.merged_at,
  p.maintainer_can_modify,
  p.head_repo_id,
  (SELECT count(*) FROM comment c WHERE c.issue_id = i.id) AS comments
FROM issue i
JOIN account a ON a.id = i.author_id
JOIN repo r ON r.id = i.repo_id
JOIN account o ON o.id = r.owner_id
LEFT JOIN pull p ON p.issue_id = i.id;

CREATE VIEW issue_json AS
SELECT
  i.id,
  json_object(
    'issue_id', i.id,
    'issue_number', i.number,
    'subject', i.title,
    'description', ifnull(i.body, ''),
    'status', i.state,
    'submitted_at', i.created_at,
    'last_updated_at', i.updated_at,
    'reporter', json(p.json),
    'tags', (
      SELECT json_group_array(label)
      FROM (SELECT label FROM issue_label l WHERE l.issue_id = i.id ORDER BY place)
    ),
    'assignees', (
      SELECT json_group_array(json(json))
      FROM (
        SELECT q.json
        FROM issue_assignee s
        JOIN person q ON q.id = s.account_id
        WHERE s.issue_id = i.id
        ORDER BY s.place
      )
    )
  ) AS json
FROM issue i
JOIN person p ON p.id = i.author_id;

-- The commits that a pull request stands between: of its branches while it is open.
CREATE VIEW pull_view AS
SELECT
  p.*,
  i.repo_id,
  i.number,
  i.state,
  i.title,
  i.body,
  i.author_id,
  i.created_at,
  i.updated_at,
  i.closed_at,
  iif(i.state = 'open', ifnull(h.sha, p.head_sha), p.head_sha) AS head_now,
  iif(i.state = 'open', ifnull(b.sha, p.base_sha), p.base_sha) AS base_now
FROM pull p
JOIN issue i ON i.id = p.issue_id
LEFT JOIN branch h ON h.repo_id = p.head_repo_id AND h.name = p.head
LEFT JOIN branch b ON b.repo_id = i.repo_id AND b.name = p.base;

CREATE VIEW pull_json AS
SELECT
  v.issue_id AS id,
  drop_nulls(json_object(
    'pr_id', v.issue_id,
    'pr_number', v.number,
    'title', v.title,
    'description', ifnull(v.body, ''),
    'state', v.state,
    'is_draft', json(iif(v.is_draft, 'true', 'false')),
    'source_branch', json_object('name', v.head, 'sha', v.head_now),
    'target_branch', json_object('name', v.base, 'sha', v.base_now),
    'author', json(a.json),
    'created_at', v.created_at,
    'updated_at', v.updated_at,
    'merged_at', v.merged_at,
    'closed_at', v.closed_at,
    'is_merged', json(iif(v.merged_at IS NULL, 'false', 'true'))
  )) AS json
FROM pull_view v
JOIN person a ON a.id = v.author_id;

-- The files that a search for code looks at: those of default branches, not of forks.
CREATE VIEW code AS
WITH RECURSIVE f (repo_id, path, type, sha) AS MATERIALIZED (
  SELECT b.repo_id, '', 'tree', c.tree
  FROM repo r
  JOIN branch b ON b.repo_id = r.id AND b.name = r.default_branch
  JOIN git_commit c ON c.sha = b.sha
  WHERE r.parent_id IS NULL
  UNION ALL
  SELECT f.repo_id, f.path || iif(f.path = '', '', '/') || e.name, e.type, e.sha
  FROM f
  JOIN tree_entry e ON e.tree = f.sha
  WHERE f.type = 'tree'
)
SELECT
  f.path,
  f.sha,
  b.content,
  b.size,
  r.id AS repo_id,
  r.name AS repo,
  r.owner,
  r.full_name,
  r.head,
  r.owner_type,
  r.is_private,
  substr(f.path, 1 + length(rtrim(f.path, replace(f.path, '/', '')))) AS filename,
  iif(
    instr(f.path, '.'),
    substr(f.path, 1 + length(rtrim(f.path, replace(f.path, '.', '')))),
    ''
  ) AS extension
FROM f
JOIN blob b ON b.sha = f.sha
JOIN repo_view r ON r.id = f.repo_id
WHERE f.type = 'blob';

CREATE VIEW alert_json AS
SELECT
  a.*,
  r.severity,
  drop_nulls(json_object(
    'alert_id', a.id,
    'alert_number', a.number,
    'state', a.state,
    'severity', r.severity,
    'description', r.description,
    'rule_name', r.name,
    'rule_id', r.id,
    'tool', json_object('name', 'CodeQL', 'version', '2.23.8'),
    'location', json_object('file_path', a.path, 'start_line', a.line, 'end_line', a.line),
    'created_at', a.created_at,
    'updated_at', a.updated_at,
    'fixed_at', a.fixed_at
  )) AS json
FROM alert a
JOIN scan_rule r ON r.id = a.rule_id;

-- The objects of the REST API, as the tools that pass them on show them.
CREATE VIEW rest_user AS
SELECT
  id,
  login,
  json_object(
    'login', login,
    'id', id,
    'avatar_url', 'https://avatars.github.example/u/' || id,
    'url', 'https://api.github.example/users/' || login,
    'html_url', 'https://github.example/' || login,
    'type', type,
    'site_admin', json('false')
  ) AS json
FROM account;

CREATE VIEW rest_repo AS
SELECT
  r.*,
  json_object(
    'id', r.id,
    'name', r.name,
    'full_name', r.full_name,
    'private', json(iif(r.is_private, 'true', 'false')),
    'owner', json(u.json),
    'html_url', 'https://github.example/' || r.full_name,
    'description', r.description,
    'fork', json(iif(r.parent_id IS NULL, 'false', 'true')),
    'url', 'https://api.github.example/repos/' || r.full_name,
    'created_at', r.created_at,
    'updated_at', r.updated_at,
    'pushed_at', r.pushed_at,
    'git_url', 'git://github.example/' || r.full_name || '.git',
    'ssh_url', 'git@github.example:' || r.full_name || '.git',
    'clone_url', 'https://github.example/' || r.full_name || '.git',
    'homepage', NULL,
    'stargazers_count', r.stars,
    'watchers_count', r.stars,
    'language', r.language,
    'has_issues', json('true'),
    'forks_count', r.forks,
    'archived', json('false'),
    'disabled', json('false'),
    'open_issues_count', r.open_issues,
    'license', NULL,
    'allow_forking', json('true'),
    'topics', json('[]'),
    'visibility', iif(r.is_private, 'private', 'public'),
    'forks', r.forks,
    'open_issues', r.open_issues,
    'watchers', r.stars,
    'default_branch', r.default_branch
  ) AS json
FROM (
  SELECT
    v.*,
    (SELECT count(*) FROM issue i WHERE i.repo_id = v.id AND i.state = 'open') AS open_issues
  FROM repo_view v
) r
JOIN rest_user u ON u.id = r.owner_id;

-- The same where it stands in something else: without what has to be counted.
CREATE VIEW rest_repo_in AS
SELECT
  r.id,
  r.owner_id,
  u.login AS owner,
  json_object(
    'id', r.id,
    'name', r.name,
    'full_name', u.login || '/' || r.name,
    'private', json(iif(r.is_private, 'true', 'false')),
    'owner', json(u.json),
    'html_url', 'https://github.example/' || u.login || '/' || r.name,
    'description', r.description,
    'fork', json(iif(r.parent_id IS NULL, 'false', 'true')),
    'url', 'https://api.github.example/repos/' || u.login || '/' || r.name,
    'default_branch', r.default_branch
  ) AS json
FROM repo r
JOIN rest_user u ON u.id = r.owner_id;

-- Labels of a repository: those it was made with, and all that its issues have.
CREATE VIEW rest_label AS
SELECT
  l.repo_id,
  l.label,
  json_object(
    'id', l.repo_id * 1000000
      + (unicode(l.label) * 8191 + unicode(substr(l.label, -1)) * 127 + length(l.label)) % 1000000,
    'url', 'https://api.github.example/repos/' || r.full_name || '/labels/'
      || replace(l.label, ' ', '%20'),
    'name', l.label,
    'color', ifnull(s.color, 'ededed'),
    'default', json(iif(s.label IS NULL, 'false', 'true')),
    'description', s.description
  ) AS json
FROM (
  SELECT DISTINCT repo_id, label
  FROM (
    SELECT r.id AS repo_id, s.label FROM repo r, label_style s
    UNION ALL
    SELECT i.repo_id, l.label FROM issue_label l JOIN issue i ON i.id = l.issue_id
  )
) l
JOIN repo_view r ON r.id = l.repo_id
LEFT JOIN label_style s ON s.label = l.label;

CREATE TABLE label_style (
  label TEXT PRIMARY KEY COLLATE NOCASE,
  color TEXT NOT NULL,
  description TEXT NOT NULL
) WITHOUT ROWID;

-- What issues and pull requests have in common.
CREATE VIEW issue_parts AS
SELECT
  i.*,
  u.json AS user,
  'https://api.github.example/repos/' || i.full_name AS api,
  'https://github.example/' || i.full_name || iif(i.is_pull, '/pull/', '/issues/')
    || i.number AS html_url,
  CASE
    WHEN i.author = i.owner THEN 'OWNER'
    WHEN i.owner_type = 'Organization'
        AND EXISTS (
          SELECT 1
          FROM account a
          JOIN account o ON o.login = i.owner AND a.company = o.name
          WHERE a.id = i.author_id
        )
      THEN 'MEMBER'
    ELSE 'NONE'
  END AS association,
  (
    SELECT json_group_array(json(json))
    FROM (
      SELECT json_object(
        'id', i.repo_id * 1000000
          + (
            unicode(l.label) * 8191 + unicode(substr(l.label, -1)) * 127 + length(l.label)
          ) % 1000000,
        'name', l.label,
        'color', ifnull(s.color, 'ededed'),
        'default', json(iif(s.label IS NULL, 'false', 'true')),
        'description', s.description
      ) AS json
      FROM issue_label l
      LEFT JOIN label_style s ON s.label = l.label
      WHERE l.issue_id = i.id
      ORDER BY l.place
    )
  ) AS labels,
  (
    SELECT json_group_array(json(json))
    FROM (
      SELECT q.json
      FROM issue_assignee s
      JOIN rest_user q ON q.id = s.account_id
      WHERE s.issue_id = i.id
      ORDER BY s.place
    )
  ) AS assignees
FROM issue_view i
JOIN rest_user u ON u.id = i.author_id;

CREATE VIEW rest_issue AS
SELECT
  i.id,
  i.repo_id,
  i.number,
  drop_nulls(json_object(
    'url', i.api || '/issues/' || i.number,
    'repository_url', i.api,
    'html_url', i.html_url,
    'id', i.id,
    'number', i.number,
    'title', i.title,
    'user', json(i.user),
    'labels', json(i.labels),
    'state', i.state,
    'state_reason', iif(
      i.state = 'closed' AND NOT i.is_pull,
      ifnull(i.state_reason, 'completed'),
      i.state_reason
    ),
    'locked', json('false'),
    'assignee', json(i.assignees -> 0),
    'assignees', json(i.assignees),
    'comments', i.comments,
    'created_at', i.created_at,
    'updated_at', i.updated_at,
    'closed_at', i.closed_at,
    'author_association', i.association,
    'body', i.body,
    'type', (SELECT json(t.json) FROM issue_type t WHERE t.name = i.type),
    'draft', iif(i.is_pull, json(iif(i.is_draft, 'true', 'false')), NULL),
    'pull_request', iif(
      i.is_pull,
      json_object(
        'url', i.api || '/pulls/' || i.number,
        'html_url', i.html_url,
        'diff_url', i.html_url || '.diff',
        'patch_url', i.html_url || '.patch',
        'merged_at', i.merged_at
      ),
      NULL
    )
  )) AS json
FROM issue_parts i;

-- An issue that says how far its sub-issues are.
CREATE VIEW issue_whole AS
SELECT
  i.id,
  iif(
    s.n IS NULL,
    i.json,
    json_patch(i.json, json_object(
      'sub_issues_summary', json_object(
        'total', s.n,
        'completed', s.done,
        'percent_completed', s.done * 100 / s.n
      )
    ))
  ) AS json
FROM rest_issue i
LEFT JOIN (
  SELECT s.parent_id, count(*) AS n, sum(c.state = 'closed') AS done
  FROM sub_issue s
  JOIN issue c ON c.id = s.issue_id
  GROUP BY s.parent_id
) s
  ON s.parent_id = i.id;

-- An issue or a pull request as an item of a list in Markdown.
CREATE VIEW issue_card AS
SELECT
  id,
  number,
  title,
  is_pull,
  comments,
  full_name,
  html_url,
  '- **State**: ' || state || char(10) || '- **Author**: ' || author || char(10)
    || '- **Created**: '
    || printf('%d/%d/%d', substr(created_at, 6), substr(created_at, 9), created_at) || char(10)
    || '- **Updated**: '
    || printf('%d/%d/%d', substr(updated_at, 6), substr(updated_at, 9), updated_at)
    || char(10) AS lines,
  '- **Branch**: ' || head || ' → ' || base || char(10)
    || iif(ifnull(is_draft, 0), '- **Status**: Draft' || char(10), '') AS branches,
  ifnull((
      SELECT '- **Labels**: ' || group_concat(label, ', ') || char(10)
      FROM (SELECT label FROM issue_label l WHERE l.issue_id = i.id ORDER BY place)
    ), '')
    || ifnull((
      SELECT '- **Assignees**: ' || group_concat(login, ', ') || char(10)
      FROM (
        SELECT a.login
        FROM issue_assignee s
        JOIN account a ON a.id = s.account_id
        WHERE s.issue_id = i.id
        ORDER BY s.place
      )
    ), '') AS people
FROM issue_parts i;

CREATE VIEW issue_type AS
SELECT
  column1 AS name,
  json_object(
    'id', column2,
    'name', column1,
    'description', column3,
    'color', column4,
    'is_enabled', json('true')
  ) AS json
FROM (
  VALUES
    ('Task', 25110471, 'A specific piece of work', 'yellow'),
    ('Bug', 25110474, 'An unexpected problem or behavior', 'red'),
    ('Feature', 25110477, 'A request, idea, or new functionality', 'blue')
);

CREATE VIEW rest_pull AS
SELECT
  i.id,
  i.repo_id,
  i.number,
  json_object(
    'url', i.api || '/pulls/' || i.number,
    'id', i.id,
    'html_url', i.html_url,
    'diff_url', i.html_url || '.diff',
    'patch_url', i.html_url || '.patch',
    'issue_url', i.api || '/issues/' || i.number,
    'number', i.number,
    'state', i.state,
    'locked', json('false'),
    'title', i.title,
    'user', json(i.user),
    'body', i.body,
    'created_at', i.created_at,
    'updated_at', i.updated_at,
    'closed_at', i.closed_at,
    'merged_at', i.merged_at,
    'merge_commit_sha', v.merge_sha,
    'assignee', json(i.assignees -> 0),
    'assignees', json(i.assignees),
    'requested_reviewers', (
      SELECT json_group_array(json(json))
      FROM (
        SELECT q.json
        FROM pull_reviewer s
        JOIN rest_user q ON q.id = s.account_id
        WHERE s.issue_id = i.id
        ORDER BY s.place
      )
    ),
    'labels', json(i.labels),
    'milestone', NULL,
    'draft', json(iif(i.is_draft, 'true', 'false')),
    'head', json_object(
      'label', h.owner || ':' || v.head,
      'ref', v.head,
      'sha', v.head_now,
      'user', (SELECT json(json) FROM rest_user WHERE id = h.owner_id),
      'repo', json(h.json)
    ),
    'base', json_object(
      'label', i.owner || ':' || v.base,
      'ref', v.base,
      'sha', v.base_now,
      'user', (SELECT json(json) FROM rest_user WHERE id = b.owner_id),
      'repo', json(b.json)
    ),
    'author_association', i.association
  ) AS json,
  json_object(
    'merged', json(iif(i.merged_at IS NULL, 'false', 'true')),
    'merged_by', iif(
      i.merged_at IS NULL,
      NULL,
      (SELECT json(json) FROM rest_user WHERE id = (SELECT me FROM session))
    ),
    'comments', i.comments,
    'review_comments', (
      SELECT count(*)
      FROM review_comment c
      JOIN review r ON r.id = c.review_id
      WHERE r.issue_id = i.id AND r.state <> 'PENDING'
    ),
    'maintainer_can_modify', json(iif(i.maintainer_can_modify, 'true', 'false'))
  ) AS more
FROM issue_parts i
JOIN pull_view v ON v.issue_id = i.id
JOIN rest_repo_in h ON h.id = v.head_repo_id
JOIN rest_repo_in b ON b.id = i.repo_id;

CREATE VIEW rest_comment AS
SELECT
  c.*,
  json_object(
    'url', i.api || '/issues/comments/' || c.id,
    'html_url', i.html_url || '#issuecomment-' || c.id,
    'issue_url', i.api || '/issues/' || i.number,
    'id', c.id,
    'user', json(u.json),
    'created_at', c.created_at,
    'updated_at', c.updated_at,
    'author_association', 'MEMBER',
    'body', c.body
  ) AS json
FROM comment c
JOIN issue_parts i ON i.id = c.issue_id
JOIN rest_user u ON u.id = c.author_id;

CREATE VIEW rest_review AS
SELECT
  r.*,
  drop_nulls(json_object(
    'id', r.id,
    'user', json(u.json),
    'body', r.body,
    'state', r.state,
    'html_url', i.html_url || '#pullrequestreview-' || r.id,
    'pull_request_url', i.api || '/pulls/' || i.number,
    'author_association', 'MEMBER',
    'submitted_at', iif(r.state = 'PENDING', NULL, r.submitted_at),
    'commit_id', r.commit_sha
  )) AS json
FROM review r
JOIN issue_parts i ON i.id = r.issue_id
JOIN rest_user u ON u.id = r.author_id;

CREATE VIEW rest_review_comment AS
SELECT
  c.*,
  r.issue_id,
  r.author_id,
  r.state AS review_state,
  drop_nulls(json_object(
    'url', i.api || '/pulls/comments/' || c.id,
    'pull_request_review_id', r.id,
    'id', c.id,
    'path', c.path,
    'position', c.position,
    'commit_id', r.commit_sha,
    'in_reply_to_id', c.reply_to,
    'user', json(u.json),
    'body', c.body,
    'created_at', c.created_at,
    'updated_at', c.updated_at,
    'html_url', i.html_url || '#discussion_r' || c.id,
    'pull_request_url', i.api || '/pulls/' || i.number,
    'author_association', 'MEMBER',
    'start_line', c.start_line,
    'start_side', c.start_side,
    'line', ifnull(c.line, c.position),
    'side', ifnull(c.side, 'RIGHT'),
    'subject_type', iif(ifnull(c.line, c.position) IS NULL, 'file', 'line')
  )) AS json
FROM review_comment c
JOIN review r ON r.id = c.review_id
JOIN issue_parts i ON i.id = r.issue_id
JOIN rest_user u ON u.id = r.author_id;

-- A commit says nothing of repositories: it is shown as one of repo_id.
CREATE VIEW rest_commit AS
SELECT
  r.id AS repo_id,
  c.sha,
  json_object(
    'sha', c.sha,
    'commit', json_object(
      'author', json_object('name', c.author_name, 'email', c.author_email, 'date', c.committed_at),
      'committer', json_object(
        'name', c.committer_name,
        'email', c.committer_email,
        'date', c.committed_at
      ),
      'message', c.message,
      'tree', json_object(
        'sha', c.tree,
        'url', 'https://api.github.example/repos/' || r.full_name || '/git/trees/' || c.tree
      ),
      'comment_count', 0
    ),
    'url', 'https://api.github.example/repos/' || r.full_name || '/commits/' || c.sha,
    'html_url', 'https://github.example/' || r.full_name || '/commit/' || c.sha,
    'author', (
      SELECT json(u.json)
      FROM account a
      JOIN rest_user u ON u.id = a.id
      WHERE a.email = c.author_email
    ),
    'committer', (
      SELECT json(u.json)
      FROM account a
      JOIN rest_user u ON u.id = a.id
      WHERE a.email = c.committer_email
    ),
    'parents', (
      SELECT json_group_array(json_object(
        'sha', p.value,
        'url', 'https://api.github.example/repos/' || r.full_name || '/commits/' || p.value,
        'html_url', 'https://github.example/' || r.full_name || '/commit/' || p.value
      ))
      FROM json_each(c.parents) p
    )
  ) AS json
FROM repo_view r, git_commit c;

CREATE VIEW minimal_commit AS
SELECT
  repo_id,
  sha,
  drop_nulls(json_object(
    'sha', sha,
    'html_url', json ->> 'html_url',
    'commit', json_object(
      'message', json ->> '$.commit.message',
      'author', json -> '$.commit.author',
      'committer', json -> '$.commit.committer'
    ),
    'author', iif(
      json ->> '$.author.login' IS NULL,
      NULL,
      json_object(
        'login', json ->> '$.author.login',
        'id', json ->> '$.author.id',
        'profile_url', json ->> '$.author.html_url',
        'avatar_url', json ->> '$.author.avatar_url'
      )
    ),
    'committer', iif(
      json ->> '$.committer.login' IS NULL,
      NULL,
      json_object(
        'login', json ->> '$.committer.login',
        'id', json ->> '$.committer.id',
        'profile_url', json ->> '$.committer.html_url',
        'avatar_url', json ->> '$.committer.avatar_url'
      )
    )
  )) AS json
FROM rest_commit;

-- A tag with a message is an object of its own, which has a name.
CREATE VIEW tag_view AS
SELECT t.*, r.full_name, git_blob(t.name || ' ' || t.sha || ' ' || t.message) AS tag_sha
FROM tag t
JOIN repo_view r ON r.id = t.repo_id;

CREATE VIEW rest_release AS
SELECT
  e.*,
  json_object(
    'url', 'https://api.github.example/repos/' || r.full_name || '/releases/' || e.id,
    'html_url', 'https://github.example/' || r.full_name || '/releases/tag/' || e.tag,
    'id', e.id,
    'tag_name', e.tag,
    'target_commitish', r.default_branch,
    'name', e.name,
    'body', e.body,
    'draft', json(iif(e.is_draft, 'true', 'false')),
    'prerelease', json(iif(e.is_prerelease, 'true', 'false')),
    'author', json(u.json),
    'created_at', e.created_at,
    'published_at', iif(e.is_draft, NULL, e.created_at),
    'assets', json('[]')
  ) AS json
FROM release e
JOIN repo_view r ON r.id = e.repo_id
JOIN rest_user u ON u.id = e.author_id;

CREATE VIEW next_number AS
SELECT
  id AS repo_id,
  1 + max(
    ifnull((SELECT max(number) FROM issue i WHERE i.repo_id = r.id), 0),
    ifnull((SELECT max(number) FROM discussion d WHERE d.repo_id = r.id), 0)
  ) AS number
FROM repo r;

-- Whose stars a repository has from the beginning.
CREATE VIEW implied_star AS
SELECT r.id AS repo_id, a.id AS account_id
FROM repo r
JOIN account o ON o.id = r.owner_id AND o.type = 'Organization'
JOIN account a ON a.type = 'User' AND (a.id + length(r.name)) % 3 <> 0;

-- The workflows of a repository: what is on the default branch.
CREATE VIEW workflow AS
SELECT
  r.id AS repo_id,
  r.full_name,
  '.github/workflows/' || q.name AS path,
  q.name AS file,
  r.id * 1000
    + (unicode(q.name) * 31 + unicode(substr(q.name, 2)) * 7 + length(q.name)) % 1000 AS id,
  b.content,
  iif(
    b.content GLOB 'name: *',
    substr(b.content, 7, instr(b.content || char(10), char(10)) - 7),
    '.github/workflows/' || q.name
  ) AS name,
  iif(
    instr(b.content, char(10) || 'jobs:'),
    ltrim(substr(b.content, instr(b.content, char(10) || 'jobs:') + 6), char(10, 32)),
    'build:'
  ) AS jobs
FROM repo_view r
JOIN git_commit c ON c.sha = r.head
JOIN tree_entry g ON g.tree = c.tree AND g.name = '.github'
JOIN tree_entry w ON w.tree = g.sha AND w.name = 'workflows'
JOIN tree_entry q ON q.tree = w.sha AND q.name LIKE '%.y%ml'
JOIN blob b ON b.sha = q.sha;

CREATE VIEW run_view AS
SELECT
  v.*,
  w.id AS workflow_id,
  ifnull(w.name, v.path) AS name,
  w.content,
  r.full_name,
  r.owner,
  r.name AS repo,
  substr(ifnull(w.jobs, 'build:'), 1, instr(ifnull(w.jobs, 'build:'), ':') - 1) AS job,
  v.id * 10 + v.attempt AS job_id,
  strftime('%Y-%m-%dT%H:%M:%SZ', ifnull(v.started_at, v.created_at), '+20 seconds') AS over_at
FROM (
  SELECT
    n.*,
    CASE
      WHEN age IS NULL OR age >= 20 OR conclusion = 'cancelled' THEN 'completed'
      WHEN age >= 5 THEN 'in_progress'
      ELSE 'queued'
    END AS status
  FROM (SELECT *, (julianday(now()) - julianday(started_at)) * 86400 AS age FROM workflow_run) n
) v
JOIN repo_view r ON r.id = v.repo_id
LEFT JOIN workflow w ON w.repo_id = v.repo_id AND w.path = v.path;

CREATE VIEW rest_run AS
SELECT
  v.*,
  drop_nulls(json_object(
    'id', v.id,
    'name', v.name,
    'head_branch', v.branch,
    'head_sha', v.sha,
    'path', v.path,
    'run_number', v.number,
    'run_attempt', v.attempt,
    'event', v.event,
    'display_title', (
      SELECT substr(c.message, 1, instr(c.message || char(10), char(10)) - 1)
      FROM git_commit c
      WHERE c.sha = v.sha
    ),
    'status', v.status,
    'conclusion', iif(v.status = 'completed', v.conclusion, NULL),
    'workflow_id', v.workflow_id,
    'url', 'https://api.github.example/repos/' || v.full_name || '/actions/runs/' || v.id,
    'html_url', 'https://github.example/' || v.full_name || '/actions/runs/' || v.id,
    'created_at', v.created_at,
    'updated_at', iif(v.status = 'completed', v.over_at, v.created_at),
    'run_started_at', ifnull(v.started_at, v.created_at),
    'actor', (SELECT json(json) FROM rest_user WHERE id = (SELECT me FROM session))
  )) AS json
FROM run_view v;

CREATE VIEW rest_job AS
SELECT
  v.*,
  drop_nulls(json_object(
    'id', v.job_id,
    'run_id', v.id,
    'run_attempt', v.attempt,
    'url', 'https://api.github.example/repos/' || v.full_name || '/actions/jobs/' || v.job_id,
    'html_url', 'https://github.example/' || v.full_name || '/actions/runs/' || v.id || '/job/'
      || v.job_id,
    'status', v.status,
    'conclusion', iif(v.status = 'completed', v.conclusion, NULL),
    'created_at', v.created_at,
    'started_at', ifnull(v.started_at, v.created_at),
    'completed_at', iif(v.status = 'completed', v.over_at, NULL),
    'name', v.job,
    'steps', json_array(
      json_object('name', 'Set up job', 'status', v.status, 'number', 1),
      json_object('name', 'Run ' || v.job, 'status', v.status, 'number', 2)
    ),
    'labels', json_array('ubuntu-latest'),
    'head_sha', v.sha,
    'head_branch', v.branch,
    'workflow_name', v.name
  )) AS json,
  -- What it wrote.
    'Set up job ' || v.job || char(10) || 'Check out ' || v.sha || char(10) || 'Run ' || v.name
    || char(10)
    || iif(v.conclusion = 'failure', 'Error: conflict markers in the sources', 'Everything passed')
    || char(10) || 'Finished: ' || v.conclusion AS log
FROM run_view v;

-- Workflows that upload something leave one artifact with each run that went well.
CREATE VIEW rest_artifact AS
SELECT
  v.id AS run_id,
  v.repo_id,
  v.id * 10 AS id,
  json_object(
    'id', v.id * 10,
    'name', v.job || '-output',
    'size_in_bytes', 48213,
    'url', 'https://api.github.example/repos/' || v.full_name || '/actions/artifacts/'
      || (v.id * 10),
    'archive_download_url', 'https://api.github.example/repos/' || v.full_name
      || '/actions/artifacts/' || (v.id * 10) || '/zip',
    'expired', json('false'),
    'created_at', v.over_at,
    'updated_at', v.over_at
  ) AS json
FROM run_view v
WHERE v.status = 'completed' AND v.conclusion = 'success' AND instr(v.content, 'upload-artifact');

CREATE VIEW discussion_category AS
SELECT column1 AS name, column2 AS id
FROM (
  VALUES
    ('Announcements', 'DIC_kwDOA1'),
    ('General', 'DIC_kwDOA2'),
    ('Ideas', 'DIC_kwDOA3'),
    ('Q&A', 'DIC_kwDOA4'),
    ('Show and tell', 'DIC_kwDOA5')
);

CREATE VIEW rest_discussion AS
SELECT
  d.*,
  r.owner,
  r.name AS repo,
  c.id AS category_id,
  json_object(
    'number', d.number,
    'title', d.title,
    'body', d.body,
    'created_at', d.created_at,
    'updated_at', d.created_at,
    'user', json_object('login', a.login),
    'category', json_object('id', c.id, 'name', d.category),
    'html_url', 'https://github.example/' || r.full_name || '/discussions/' || d.number
  ) AS json
FROM discussion d
JOIN repo_view r ON r.id = d.repo_id
JOIN account a ON a.id = d.author_id
JOIN discussion_category c ON c.name = d.category;

CREATE VIEW rest_gist AS
SELECT
  g.*,
  json_object(
    'id', g.id,
    'description', g.description,
    'public', json(iif(g.is_public, 'true', 'false')),
    'owner', json(u.json),
    'files', (
      SELECT json_group_object(f.name, json_object(
        'size', length(CAST(f.content AS BLOB)),
        'filename', f.name,
        'type', 'text/plain',
        'raw_url', 'https://gist.github.example/' || u.login || '/' || g.id || '/raw/' || f.name,
        'content', f.content
      ))
      FROM gist_file f
      WHERE f.gist_id = g.id
    ),
    'comments', 0,
    'html_url', 'https://gist.github.example/' || u.login || '/' || g.id,
    'created_at', g.created_at,
    'updated_at', g.updated_at
  ) AS json
FROM gist g, rest_user u
WHERE u.id = (SELECT me FROM session);

CREATE VIEW rest_notification AS
SELECT
  n.*,
  i.repo_id,
  i.owner,
  i.repo,
  json_object(
    'id', CAST(n.id AS TEXT),
    'repository', json(r.json),
    'subject', json_object(
      'title', i.title,
      'url', i.api || iif(i.is_pull, '/pulls/', '/issues/') || i.number,
      'type', iif(i.is_pull, 'PullRequest', 'Issue')
    ),
    'reason', n.reason,
    'unread', json(iif(n.state = 'unread', 'true', 'false')),
    'updated_at', n.updated_at,
    'last_read_at', n.read_at,
    'url', 'https://api.github.example/notifications/threads/' || n.id
  ) AS json
FROM notification n
JOIN issue_parts i ON i.id = n.issue_id
JOIN rest_repo_in r ON r.id = i.repo_id;

CREATE VIEW rest_advisory AS
SELECT
  a.*,
  json_object(
    'ghsa_id', a.ghsa_id,
    'cve_id', a.cve_id,
    'url', 'https://api.github.example/advisories/' || a.ghsa_id,
    'html_url', 'https://github.example/advisories/' || a.ghsa_id,
    'summary', a.summary,
    'description', a.summary,
    'type', 'reviewed',
    'severity', a.severity,
    'identifiers', json_array(
      json_object('type', 'GHSA', 'value', a.ghsa_id),
      json_object('type', 'CVE', 'value', a.cve_id)
    ),
    'published_at', a.published_at,
    'updated_at', a.published_at,
    'vulnerabilities', json_array(json_object(
      'package', json_object('ecosystem', a.ecosystem, 'name', a.package),
      'vulnerable_version_range', a.vulnerable,
      'first_patched_version', a.patched
    )),
    'cwes', json_array(json_object('cwe_id', a.cwe_id))
  ) AS json
FROM advisory a;

-- Dependabot's alerts are what the manifests on default branches have of the advisories.
CREATE VIEW rest_dependabot AS
SELECT
  x.repo_id,
  x.number,
  x.severity,
  json_object(
    'number', x.number,
    'state', 'open',
    'dependency', json_object(
      'package', json_object('ecosystem', x.ecosystem, 'name', x.package),
      'manifest_path', x.path,
      'scope', 'runtime'
    ),
    'security_advisory', json_object(
      'ghsa_id', x.ghsa_id,
      'cve_id', x.cve_id,
      'summary', x.summary,
      'severity', x.severity,
      'published_at', x.published_at
    ),
    'security_vulnerability', json_object(
      'package', json_object('ecosystem', x.ecosystem, 'name', x.package),
      'severity', x.severity,
      'vulnerable_version_range', x.vulnerable,
      'first_patched_version', json_object('identifier', x.patched)
    ),
    'url', 'https://api.github.example/repos/' || x.full_name || '/dependabot/alerts/' || x.number,
    'html_url', 'https://github.example/' || x.full_name || '/security/dependabot/' || x.number
  ) AS json
FROM (
  SELECT
    c.repo_id,
    c.full_name,
    c.path,
    a.*,
    row_number() OVER (PARTITION BY c.repo_id ORDER BY c.path, a.ghsa_id) AS number
  FROM code c
  JOIN advisory a ON a.manifest = c.filename
  WHERE EXISTS (
    SELECT 1
    FROM json_each(a.globs) g
    WHERE char(10) || lower(c.content) || char(10) GLOB '*' || g.value || '[^0-9]*'
  )
) x;

CREATE VIEW rest_secret AS
SELECT
  x.repo_id,
  x.number,
  x.type,
  json_object(
    'number', x.number,
    'state', 'open',
    'secret_type', x.type,
    'secret_type_display_name', x.name,
    'secret', substr(x.content, x.at, x.length),
    'url', 'https://api.github.example/repos/' || x.full_name || '/secret-scanning/alerts/'
      || x.number,
    'html_url', 'https://github.example/' || x.full_name || '/security/secret-scanning/'
      || x.number,
    'first_location_detected', json_object(
      'path', x.path,
      'start_line', 1 + length(substr(x.content, 1, x.at))
        - length(replace(substr(x.content, 1, x.at), char(10), ''))
    )
  ) AS json
FROM (
  SELECT
    c.repo_id,
    c.full_name,
    c.path,
    c.content,
    s.*,
    instr(c.content, s.needle) AS at,
    row_number() OVER (PARTITION BY c.repo_id ORDER BY c.path, s.type) AS number
  FROM code c
  JOIN secret_rule s ON instr(c.content, s.needle) > 0
) x;

CREATE VIEW rest_alert AS
SELECT
  a.*,
  r.severity,
  drop_nulls(json_object(
    'number', a.number,
    'state', a.state,
    'created_at', a.created_at,
    'updated_at', a.updated_at,
    'fixed_at', a.fixed_at,
    'rule', json_object(
      'id', r.id,
      'name', r.name,
      'severity', 'error',
      'security_severity_level', r.severity,
      'description', r.description
    ),
    'tool', json_object('name', 'CodeQL', 'version', '2.23.8'),
    'most_recent_instance', json_object(
      'ref', 'refs/heads/' || v.default_branch,
      'state', a.state,
      'message', json_object('text', r.description),
      'location', json_object('path', a.path, 'start_line', a.line, 'end_line', a.line)
    ),
    'url', 'https://api.github.example/repos/' || v.full_name || '/code-scanning/alerts/'
      || a.number,
    'html_url', 'https://github.example/' || v.full_name || '/security/code-scanning/' || a.number
  )) AS json
FROM alert a
JOIN scan_rule r ON r.id = a.rule_id
JOIN repo_view v ON v.id = a.repo_id;

-- The organisation's teams.
CREATE TABLE team (
  slug TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  description TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE team_member (
  slug TEXT NOT NULL REFERENCES team (slug),
  login TEXT NOT NULL COLLATE NOCASE,
  PRIMARY KEY (slug, login)
) WITHOUT ROWID;

-- The people of the company, and two from outside.
INSERT INTO account (
  id, login, type, name, email, bio, company, location, followers, following, created_at,
  updated_at, is_me, can_write
) VALUES
  (
    58120400, 'larkspur', 'Organization', 'Larkspur Robotics', 'opensource@larkspur.example',
    'Robots that know their way around a warehouse', NULL, 'Lisbon, Portugal', 214, 0,
    '2019-03-04T08:12:45Z', '2025-12-02T10:00:00Z', 0, 1
  ),
  (
    58120417, 'mchen', 'User', 'Maya Chen', 'maya.chen@larkspur.example',
    'Engineering manager, robots and the people who make them', 'Larkspur Robotics',
    'Lisbon, Portugal', 83, 41, '2019-03-04T08:30:11Z', '2026-01-12T17:20:00Z', 1, 1
  ),
  (
    58211093, 'trivera', 'User', 'Tomás Rivera', 'tomas.rivera@larkspur.example',
    'Senior firmware engineer', 'Larkspur Robotics', 'Porto, Portugal', 128, 60,
    '2017-06-19T19:02:33Z', '2026-01-14T15:41:00Z', 0, 0
  ),
  (
    60473120, 'aokafor', 'User', 'Aisha Okafor', 'aisha.okafor@larkspur.example',
    'Backend engineer', 'Larkspur Robotics', 'London, United Kingdom', 57, 33,
    '2018-01-08T11:45:09Z', '2026-01-13T09:12:00Z', 0, 0
  ),
  (
    61240088, 'jlindqvist', 'User', 'Jonas Lindqvist', 'jonas.lindqvist@larkspur.example',
    'Site reliability engineer', 'Larkspur Robotics', 'Stockholm, Sweden', 91, 22,
    '2015-09-30T07:15:50Z', '2026-01-12T22:03:00Z', 0, 0
  ),
  (
    63007541, 'pnair', 'User', 'Priya Nair', 'priya.nair@larkspur.example', 'Product manager',
    'Larkspur Robotics', 'Lisbon, Portugal', 12, 15, '2021-05-11T13:00:00Z', '2025-11-28T08:00:00Z',
    0, 0
  ),
  (
    63922716, 'dkim', 'User', 'Daniel Kim', 'daniel.kim@larkspur.example', 'QA lead',
    'Larkspur Robotics', 'Berlin, Germany', 34, 18, '2018-10-02T16:21:05Z', '2026-01-09T14:30:00Z',
    0, 0
  ),
  (
    64158830, 'smarchetti', 'User', 'Sofia Marchetti', 'sofia.marchetti@larkspur.example',
    'Designer', 'Larkspur Robotics', 'Milan, Italy', 49, 52, '2020-02-17T10:09:27Z',
    '2025-12-19T12:00:00Z', 0, 0
  ),
  (
    66730129, 'badeyemi', 'User', 'Ben Adeyemi', 'ben.adeyemi@larkspur.example', 'Support lead',
    'Larkspur Robotics', 'Lagos, Nigeria', 9, 11, '2021-08-23T09:33:48Z', '2026-01-08T16:45:00Z', 0,
    0
  ),
  (
    67005318, 'hsuzuki', 'User', 'Hana Suzuki', 'hana.suzuki@larkspur.example', 'Data scientist',
    'Larkspur Robotics', 'Kyoto, Japan', 76, 29, '2016-12-05T02:54:16Z', '2026-01-05T01:10:00Z', 0,
    0
  ),
  (
    69481276, 'ogrant', 'User', 'Oliver Grant', 'oliver.grant@larkspur.example', NULL,
    'Larkspur Robotics', 'London, United Kingdom', 2, 3, '2023-01-16T12:00:00Z',
    '2025-06-30T12:00:00Z', 0, 0
  ),
  (
    71920455, 'epetrova', 'User', 'Elena Petrova', 'elena.petrova@northwind-logistics.example',
    'Automation at Northwind', 'Northwind Logistics', 'Rotterdam, Netherlands', 17, 20,
    '2020-07-01T06:40:12Z', '2025-12-15T11:11:00Z', 0, 0
  ),
  (
    72418803, 'mwebb', 'User', 'Marcus Webb', 'marcus@brightpath-parts.example', NULL,
    'Brightpath Parts', 'Leeds, United Kingdom', 5, 8, '2022-04-12T14:26:39Z',
    '2025-10-07T08:08:00Z', 0, 0
  );

-- Who issues are assigned to, and reviews asked for, by the tools of that name.
INSERT INTO account (id, login, type, created_at, updated_at) VALUES (
  98198556, 'Copilot', 'Bot', '2025-05-19T16:00:00Z', '2025-05-19T16:00:00Z'
);

INSERT INTO team VALUES
  ('firmware', 'Firmware', 'What runs on the robots'),
  ('platform', 'Platform', 'Harbor and what it runs on'),
  ('product', 'Product', 'What is built next, and how it looks');
INSERT INTO team_member VALUES
  ('firmware', 'dkim'),
  ('firmware', 'mchen'),
  ('firmware', 'trivera'),
  ('platform', 'aokafor'),
  ('platform', 'jlindqvist'),
  ('platform', 'mchen'),
  ('product', 'pnair'),
  ('product', 'smarchetti');

INSERT INTO advisory VALUES
  (
    'GHSA-35jh-r3h4-6jhm',
    'CVE-2021-23337',
    'npm',
    'lodash',
    'high',
    'A template of lodash can run commands',
    'CWE-77',
    '< 4.17.21',
    '4.17.21',
    '2021-05-06T16:05:51Z',
    'package.json',
    '["\"lodash\": \"[~^]4.17.1[0-9]",
     "\"lodash\": \"4.17.1[0-9]", "\"lodash\": \"[~^]4.17.20", "\"lodash\": \"4.17.20"]'
  ),
  (
    'GHSA-9hjg-9r4m-mvj7', 'CVE-2024-47081', 'pip', 'requests', 'medium',
    'requests may send credentials of .netrc to other hosts', 'CWE-522', '< 2.32.4', '2.32.4',
    '2025-06-09T19:06:08Z', 'requirements.txt',
    '["\nrequests==2.32.[0-3]", "\nrequests==2.[12][0-9].[0-9]", "\nrequests==2.3[01].[0-9]"]'
  ),
  (
    'GHSA-h5c8-rqwp-cp95', 'CVE-2024-22195', 'pip', 'jinja2', 'medium',
    'The filter xmlattr of Jinja lets keys with spaces through', 'CWE-79', '< 3.1.3', '3.1.3',
    '2024-01-11T15:20:48Z', 'requirements.txt',
    '["\njinja2==2.[0-9]", "\njinja2==3.0.[0-9]", "\njinja2==3.1.[0-2]"]'
  ),
  (
    'GHSA-m2qf-hxjv-5gpq', 'CVE-2023-30861', 'pip', 'flask', 'high',
    'A cache may give the session cookie of one client of Flask to others', 'CWE-539', '< 2.2.5',
    '2.2.5', '2023-05-01T19:22:20Z', 'requirements.txt',
    '["\nflask==[01].[0-9]", "\nflask==2.[01].[0-9]", "\nflask==2.2.[0-4]"]'
  ),
  (
    'GHSA-jfh8-c2jp-5v3q', 'CVE-2021-44228', 'maven', 'org.apache.logging.log4j:log4j-core',
    'critical', 'Log4j runs code that a message names', 'CWE-502', '>= 2.13.0, < 2.15.0', '2.15.0',
    '2021-12-10T00:40:56Z', 'pom.xml', '["<version>2.1[34].[0-9]"]'
  );

INSERT INTO secret_rule VALUES
  ('amazon_aws_access_key_id', 'Amazon AWS Access Key ID', 'AKIA', 20),
  ('github_personal_access_token', 'GitHub Personal Access Token', 'ghp_', 40),
  ('slack_api_token', 'Slack API Token', 'xoxb-', 56);

INSERT INTO label_style VALUES
  ('bug', 'd73a4a', 'Something isn''t working'),
  ('documentation', '0075ca', 'Improvements or additions to documentation'),
  ('duplicate', 'cfd3d7', 'This issue or pull request already exists'),
  ('enhancement', 'a2eeef', 'New feature or request'),
  ('good first issue', '7057ff', 'Good for newcomers'),
  ('help wanted', '008672', 'Extra attention is needed'),
  ('invalid', 'e4e669', 'This doesn''t seem right'),
  ('question', 'd876e3', 'Further information is requested'),
  ('wontfix', 'ffffff', 'This will not be worked on');

INSERT INTO language VALUES
  ('c', 'C'),
  ('cc', 'C++'),
  ('cpp', 'C++'),
  ('cs', 'C#'),
  ('css', 'CSS'),
  ('go', 'Go'),
  ('h', 'C'),
  ('hpp', 'C++'),
  ('html', 'HTML'),
  ('java', 'Java'),
  ('js', 'JavaScript'),
  ('jsx', 'JavaScript'),
  ('kt', 'Kotlin'),
  ('lua', 'Lua'),
  ('php', 'PHP'),
  ('py', 'Python'),
  ('rb', 'Ruby'),
  ('rs', 'Rust'),
  ('scss', 'SCSS'),
  ('sh', 'Shell'),
  ('sql', 'SQL'),
  ('swift', 'Swift'),
  ('ts', 'TypeScript'),
  ('tsx', 'TypeScript'),
  ('vue', 'Vue');

-- What closes an issue when its number stands behind it.
CREATE TABLE closing_word (word TEXT PRIMARY KEY) WITHOUT ROWID;
INSERT INTO closing_word VALUES
  ('close'),
  ('closes'),
  ('closed'),
  ('fix'),
  ('fixes'),
  ('fixed'),
  ('resolve'),
  ('resolves'),
  ('resolved');

INSERT INTO scan_rule VALUES
  (
    'cpp/unbounded-write', 'Unbounded write',
    'Buffer write operations that do not control the length of data written may overflow.',
    'critical', '%.c', 'strcpy('
  ),
  (
    'cpp/dangerous-function-overflow', 'Use of dangerous function',
    'Use of a standard library function that does not guard against buffer overflow.', 'high',
    '%.c', 'gets('
  ),
  (
    'py/code-injection', 'Code injection',
    'Interpreting unsanitized user input as code allows a malicious user arbitrary code execution.',
    'critical', '%.py', 'eval('
  ),
  (
    'py/request-without-cert-validation', 'Request without certificate validation',
    'Making a request without certificate validation can allow man-in-the-middle attacks.', 'high',
    '%.py', 'verify=False'
  ),
  (
    'py/flask-debug', 'Flask app is run in debug mode',
    'Running a Flask app in debug mode may allow an attacker to run arbitrary code.', 'medium',
    '%.py', 'debug=True'
  ),
  (
    'js/xss-through-dom', 'DOM text reinterpreted as HTML',
    'Reinterpreting text from the DOM as HTML can lead to a cross-site scripting vulnerability.',
    'medium', '%.js', '.innerHTML ='
  ),
  (
    'js/insecure-randomness', 'Insecure randomness',
    'Using a weak random number generator for a secret may let an attacker predict it.', 'high',
    '%.js', 'Math.random()'
  );
