-- The tools of MCP-Atlas: lists and files come as Markdown, single things as the REST API has them.

-- part: octokit
SELECT 'octokit' AS request, '' AS failed;

-- part: page
SELECT
  CAST(min(max(:per_page, 1), 100) AS INTEGER) AS size,
  CAST((max(:page, 1) - 1) * min(max(:per_page, 1), 100) AS INTEGER) AS skip,
  CAST(:page AS INTEGER) AS page_number;

-- part: search
SELECT github_failure('octokit', '', json_object(
  'message', 'Validation Failed',
  'errors', json_array(json_object('resource', 'Search', 'field', 'q', 'code', 'missing')),
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE trim(:words) = '';
-- include: page

-- part: repo
-- include: octokit
-- include: find_repo

-- part: pull
-- include: octokit
-- include: find_pull

-- name: search_repositories
SELECT :query AS words;
-- include: search
SELECT iif(
  count(*) = 0,
  'No repositories found',
  '### Found ' || count(*) || ' repositories:' || char(10, 10) || group_concat(text, char(10, 10))
) AS result
FROM (
  SELECT row_number() OVER () || '. **' || full_name || '**'
    || iif(stars > 0, ' - ' || printf('%,d', stars) || ' stars', '')
    || ifnull(' - `' || language || '`', '') || char(10) || '   '
    || ifnull(
      substr(nullif(description, ''), 1, 150) || iif(length(description) > 150, '...', ''),
      '_No description_'
    )
    || iif(
      julianday(updated_at) > julianday(now()) - 365,
      char(10) || '   _Updated: ' || substr(updated_at, 1, 10) || '_',
      ''
    ) AS text
  FROM (
    SELECT r.*
    FROM repo_view r
    WHERE {{github_repos :query}}
    ORDER BY {{github_repos_order :query}}, id
    LIMIT :size OFFSET :skip
  )
);

-- name: search_code
SELECT :q AS words;
-- include: search
-- The first word is what is shown of a file.
SELECT value AS needle
FROM json_each('[' || replace(json_quote(replace(:q, '"', '')), ' ', '","') || ']')
WHERE value <> '' AND instr(value, ':') = 0 AND value NOT IN ('AND', 'OR', 'NOT')
LIMIT 1;
SELECT iif(
  count(*) = 0,
  'No code results found',
  '### Found ' || count(*) || ' code results:' || char(10, 10) || group_concat(text, char(10, 10))
) AS result
FROM (
  SELECT row_number() OVER () || '. **' || full_name || '** / `' || path || '`'
    || iif(
      at > 0,
      char(10) || '   ```' || char(10) || '   '
        || trim(replace(substr(content, max(1, at - 60), 200), char(10), ' ')) || char(10)
        || '   ```',
      ''
    ) AS text
  FROM (
    SELECT full_name, path, content, ifnull(instr(lower(content), lower(:needle)), 0) AS at
    FROM code
    WHERE {{github_code :q}}
    ORDER BY full_name, path
    LIMIT :size OFFSET :skip
  )
);

-- name: search_users
SELECT :q AS words;
-- include: search
SELECT iif(
  count(*) = 0,
  'No users found',
  '### Found ' || count(*) || ' users:' || char(10, 10) || group_concat(text, char(10, 10))
) AS result
FROM (
  SELECT row_number() OVER () || '. **' || login || '**'
    || iif(type = 'Organization', ' `[org]`', '') AS text
  FROM (
    SELECT login, type
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
    LIMIT :size OFFSET :skip
  )
);

-- name: get_issue
-- include: repo
SELECT json AS issue FROM rest_issue WHERE repo_id = :repo_id AND number = :issue_number;
SELECT github_failure(:request, :failed, not_found) AS error FROM body WHERE :issue IS NULL;
SELECT :issue AS result;

-- name: add_issue_comment
-- include: octokit
-- include: add_comment
SELECT json AS result FROM rest_comment WHERE id = :comment_id;

-- name: search_issues
SELECT :q AS words;
-- include: search
SELECT count(*) AS total FROM issue_view v WHERE {{github_issues :q}};
SELECT iif(
  count(*) = 0,
  'No issues found matching your search.',
  '# Search Results' || char(10, 10) || 'Found ' || :total || ' total result(s), showing '
    || count(*) || char(10, 10) || '**Query**: ' || :q || char(10, 10) || group_concat(text, '')
) AS result
FROM (
  SELECT '## ' || iif(c.is_pull, 'PR', 'Issue') || ' #' || c.number || ': ' || c.title
    || char(10, 10) || '- **Repository**: ' || c.full_name || char(10) || c.lines || c.people
    || '- **Comments**: ' || c.comments || char(10) || '- **URL**: ' || c.html_url
    || char(10, 10) AS text
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
  JOIN issue_card c ON c.id = v.id
  ORDER BY
    iif(:order = 'asc', key, NULL),
    iif(:order = 'asc', NULL, key) DESC,
    {{github_issues_order :q}},
    v.id
  LIMIT :size OFFSET :skip
);

-- name: create_issue
-- include: octokit
-- include: create_issue
SELECT json AS result FROM rest_issue WHERE id = :issue_id;

-- name: list_issues
-- include: repo
-- include: page
SELECT github_failure(:request, :failed, json_object(
  'message', 'Validation Failed',
  'errors', json_array(json_object('resource', 'Issue', 'field', 'since', 'code', 'invalid')),
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE :since IS NOT NULL AND julianday(:since) IS NULL;
-- A page counts pull requests, and does not show them.
SELECT json_group_array(id) AS found, count(*) AS n_found
FROM (
  SELECT id
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
  )
  ORDER BY
    iif(:direction = 'asc', key, NULL),
    iif(:direction = 'asc', number, NULL),
    key DESC,
    number DESC
  LIMIT :size OFFSET :skip
);
SELECT iif(
  count(*) = 0,
  'No issues found.',
  '# Issues for ' || :owner || '/' || :repo || char(10, 10) || 'Showing ' || count(*)
    || ' issue(s) - Page ' || :page_number || char(10)
    || iif(
      :n_found = :size,
      '*Note: More results may be available. Use ''page'' parameter ' || 'to see next page.*'
        || char(10),
      ''
    ) || char(10) || group_concat(text, '')
) AS result
FROM (
  SELECT '## #' || c.number || ': ' || c.title || char(10, 10) || c.lines || c.people
    || '- **Comments**: ' || c.comments || char(10) || '- **URL**: ' || c.html_url
    || char(10, 10) AS text
  FROM json_each(:found) f
  JOIN issue_card c ON c.id = f.value
  WHERE NOT c.is_pull
  ORDER BY f.key
);

-- name: update_issue
-- include: octokit
-- include: update_issue
SELECT json AS result FROM rest_issue WHERE id = :issue_id;

-- name: get_issue_comments
-- include: repo
-- include: page
SELECT id AS issue_id FROM issue WHERE repo_id = :repo_id AND number = :issue_number;
SELECT github_failure(:request, :failed, not_found) AS error FROM body WHERE :issue_id IS NULL;
SELECT iif(
  count(*) = 0,
  'No comments found for this issue.',
  '# Comments for Issue #' || CAST(:issue_number AS INTEGER) || char(10, 10) || 'Showing '
    || count(*) || ' comment(s) - Page ' || :page_number || char(10)
    || iif(
      count(*) = :size,
      '*Note: More comments may be available. Use ''page'' parameter ' || 'to see next page.*'
        || char(10),
      ''
    ) || char(10) || group_concat(text, '')
) AS result
FROM (
  SELECT '## Comment ' || row_number() OVER () || char(10, 10) || '- **Author**: ' || a.login
    || char(10) || '- **Created**: '
    || printf('%d/%d/%d', substr(c.created_at, 6), substr(c.created_at, 9), c.created_at)
    || char(10) || '- **Updated**: '
    || printf('%d/%d/%d', substr(c.updated_at, 6), substr(c.updated_at, 9), c.updated_at)
    || char(10, 10) || '**Content**:' || char(10) || c.body || char(10, 10) || '---'
    || char(10, 10) AS text
  FROM (
    SELECT *
    FROM comment
    WHERE issue_id = :issue_id
    ORDER BY created_at, id
    LIMIT :size OFFSET :skip
  ) c
  JOIN account a ON a.id = c.author_id
);

-- name: get_repository
-- include: repo
SELECT c.tree AS root
FROM branch b
JOIN git_commit c ON c.sha = b.sha
WHERE b.repo_id = :repo_id AND b.name = :default_branch;
SELECT b.content AS readme
FROM tree_entry e
JOIN blob b ON b.sha = e.sha
WHERE e.tree = :root AND e.type = 'blob' AND lower(e.name) IN ('readme', 'readme.md', 'readme.txt')
ORDER BY e.name DESC
LIMIT 1;
SELECT
  (
    SELECT group_concat('- **' || name || '/**' || char(10), '')
    FROM (SELECT name FROM tree_entry WHERE tree = :root AND type = 'tree' ORDER BY name)
  ) AS folders,
  (
    SELECT group_concat(
      '- ' || name || iif(size > 0, printf(' (%.1f KB)', size / 1024.0), '') || char(10),
      ''
    )
    FROM (
      SELECT e.name, b.size
      FROM tree_entry e
      JOIN blob b ON b.sha = e.sha
      WHERE e.tree = :root AND e.type = 'blob'
      ORDER BY e.name
    )
  ) AS files;
SELECT '# ' || full_name || char(10, 10)
  || ifnull('> ' || nullif(description, '') || char(10, 10), '') || '**Language:** '
  || ifnull(language, 'Not specified') || ' | **Stars:** ' || stars || ' | **Forks:** ' || forks
  || ' | **License:** None' || char(10, 10) || '## README' || char(10, 10)
  || ifnull(:readme, '*No README file found*') || char(10, 10) || '## Repository Structure'
  || char(10, 10) || iif(:root IS NULL, '*Unable to fetch repository contents*' || char(10, 10), '')
  || ifnull('### Directories' || char(10) || :folders || char(10), '')
  || ifnull('### Files' || char(10) || :files || char(10), '') || '## Links' || char(10, 10)
  || '- **GitHub:** https://github.example/' || full_name || char(10)
  || '- **Clone:** `git clone https://github.example/' || full_name || '.git`' || char(10) AS result
FROM repo_view
WHERE id = :repo_id;

-- name: get_commit
-- include: repo
SELECT :sha AS ref;
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
SELECT '# Commit ' || substr(c.sha, 1, 7) || char(10, 10) || '**Message:** ' || c.message
  || char(10, 10) || '**Author:** ' || c.author_name || ' <' || c.author_email || '>' || char(10)
  || '**Date:** '
  || printf('%d/%d/%d', substr(c.committed_at, 6), substr(c.committed_at, 9), c.committed_at)
  || char(10)
  || iif(
    c.committer_name <> c.author_name,
    '**Committer:** ' || c.committer_name || ' <' || c.committer_email || '>' || char(10),
    ''
  ) || char(10) || '## Changes' || char(10, 10) || '- **Files changed:** '
  || json_array_length(:changes) || char(10) || '- **Additions:** ' || s.additions || char(10)
  || '- **Deletions:** ' || s.deletions || char(10)
  || ifnull(char(10) || '## Files' || char(10, 10) || s.files, '') || char(10) || '## Links'
  || char(10, 10) || '- **Commit URL:** https://github.example/' || :full_name || '/commit/'
  || c.sha || char(10) || '- **Full SHA:** ' || c.sha || char(10) AS result
FROM
  git_commit c,
  (
    SELECT
      CAST(total(value ->> 'additions') AS INTEGER) AS additions,
      CAST(total(value ->> 'deletions') AS INTEGER) AS deletions,
      group_concat(
        '- '
          || CASE value ->> 'status'
            WHEN 'added' THEN '[A] '
            WHEN 'removed' THEN '[D] '
            WHEN 'renamed' THEN '[R] '
            ELSE '[M] '
          END || (value ->> 'filename') || ' (+' || (value ->> 'additions') || ' -'
          || (value ->> 'deletions') || ')' || char(10),
        ''
      ) AS files
    FROM json_each(:changes)
  ) s
WHERE c.sha = :start;

-- name: list_commits
-- include: octokit
-- include: find_commits
-- include: page
WITH RECURSIVE h (sha) AS (
  SELECT :start
  UNION
  SELECT p.value FROM h JOIN git_commit c ON c.sha = h.sha, json_each(c.parents) p
)
SELECT iif(
  count(*) = 0,
  'No commits found.',
  '# Commits for ' || :owner || '/' || :repo || ifnull(' (' || nullif(:sha, '') || ')', '')
    || char(10, 10) || 'Showing ' || count(*) || ' commit(s) - Page ' || :page_number || char(10)
    || iif(
      count(*) = :size,
      '*Note: More commits may be available. Use ''page'' parameter ' || 'to see next page.*'
        || char(10),
      ''
    ) || char(10) || group_concat(text, '')
) AS result
FROM (
  SELECT '## ' || substr(c.sha, 1, 7) || ': '
    || iif(
      instr(c.message, char(10)),
      substr(c.message, 1, instr(c.message, char(10)) - 1),
      c.message
    ) || char(10, 10) || '- **Author:** ' || c.author_name || char(10) || '- **Date:** '
    || printf('%d/%d/%d', substr(c.committed_at, 6), substr(c.committed_at, 9), c.committed_at)
    || char(10) || '- **URL:** https://github.example/' || :full_name || '/commit/' || c.sha
    || char(10, 10) AS text
  FROM h
  JOIN git_commit c ON c.sha = h.sha
  ORDER BY c.committed_at DESC, c.generation DESC, c.sha
  LIMIT :size OFFSET :skip
);

-- name: list_branches
-- include: repo
-- include: page
SELECT iif(
  count(*) = 0,
  'No branches found.',
  '# Branches for ' || :owner || '/' || :repo || char(10, 10) || 'Showing ' || count(*)
    || ' branch(es) - Page ' || :page_number || char(10)
    || iif(
      count(*) = :size,
      '*Note: More branches may be available. Use ''page'' parameter ' || 'to see next page.*'
        || char(10),
      ''
    ) || char(10) || group_concat(text, '')
) AS result
FROM (
  SELECT '## ' || name || iif(name = :default_branch, ' (default)', '') || char(10, 10)
    || '- **SHA:** ' || substr(sha, 1, 7) || char(10) || '- **URL:** https://github.example/'
    || :full_name || '/tree/' || sha || char(10, 10) AS text
  FROM branch
  WHERE repo_id = :repo_id
  ORDER BY name
  LIMIT :size OFFSET :skip
);

-- name: create_or_update_file
-- include: octokit
SELECT 'Error: SHA must be the full 40-character blob SHA. Provided SHA "' || :sha || '" is only '
  || length(:sha) || ' characters. Use get_file_contents to retrieve the full SHA.' AS error
WHERE :sha <> '' AND length(:sha) <> 40;
-- include: write_file
SELECT '# File ' || :message || char(10, 10) || '**Path:** ' || :file_path || char(10)
  || '**SHA:** ' || git_blob(:content) || char(10) || '**Size:** ' || length(CAST(:content AS BLOB))
  || ' bytes' || char(10, 10) || '## Commit Details' || char(10, 10) || '- **Commit SHA:** '
  || :commit_sha || char(10) || '- **Author:** ' || :signature || char(10) || '- **Date:** ' || :now
  || char(10) || '- **URL:** https://github.example/' || :full_name || '/commit/' || :commit_sha
  || char(10) AS result;

-- name: create_repository
-- include: octokit
SELECT me AS new_owner_id FROM session;
-- include: create_repository
SELECT json AS result FROM rest_repo WHERE id = :repo_id;

-- name: get_file_contents
SELECT 'octokit' AS request, '' AS failed, :branch AS at;
-- include: find_file
SELECT 'Error: Path points to a directory, not a file.' AS error WHERE :found = 'tree';
SELECT
  content AS whole,
  size AS bytes,
  1 + length(content) - length(replace(content, char(10), '')) AS n_lines,
  substr(:file_path, 1 + length(rtrim(:file_path, replace(:file_path, '/', '')))) AS filename,
  substr(:file_path, 1 + length(rtrim(:file_path, replace(:file_path, '.', '')))) AS extension
FROM blob
WHERE sha = :object;
-- Where the 50th line ends.
WITH RECURSIVE l (nth, at) AS (
  SELECT 0, 0
  UNION ALL
  SELECT nth + 1, at + instr(substr(:whole, at + 1), char(10)) FROM l WHERE nth < 50
)
SELECT iif(:n_lines > 50, substr(:whole, 1, max(at) - 1), :whole) AS preview
FROM l;
SELECT '# File: ' || :filename || char(10, 10) || '**Path:** ' || :file_path || char(10)
  || printf('**Size:** %.2f KB (%d bytes)', :bytes / 1024.0, :bytes) || char(10) || '**SHA:** '
  || substr(:object, 1, 7) || ' (full: ' || :object || ')' || char(10, 10) || '**Lines:** '
  || :n_lines || char(10, 10)
  || iif(
    :mode = 'full',
    '## Full Content' || char(10, 10) || '```' || :extension || char(10) || :whole || char(10)
      || '```',
    '## Preview (first 50 lines)' || char(10, 10) || '```' || :extension || char(10) || :preview
      || char(10)
      || iif(
        :n_lines > 50,
        char(10) || '... (' || (:n_lines - 50) || ' more lines)' || char(10),
        ''
      ) || '```' || char(10, 10)
      || iif(
        :n_lines > 50,
        '*Showing first 50 lines of ' || :n_lines || ' total. Use '
          || 'mode=''full'' to see complete file.*' || char(10),
        ''
      )
  ) AS result;

-- name: fork_repository
-- include: octokit
-- include: fork
SELECT json AS result FROM rest_repo WHERE id = ifnull(:there, :fork_id);

-- name: create_branch
-- include: octokit
-- include: create_branch
SELECT :start AS commit_sha;
-- include: ref
SELECT :reference AS result;

-- name: list_tags
-- include: repo
-- include: page
SELECT iif(
  count(*) = 0,
  'No tags found.',
  '# Tags for ' || :owner || '/' || :repo || char(10, 10) || 'Showing ' || count(*)
    || ' tag(s) - Page ' || :page_number || char(10)
    || iif(
      count(*) = :size,
      '*Note: More tags may be available. Use ''page'' parameter ' || 'to see next page.*'
        || char(10),
      ''
    ) || char(10) || group_concat(text, '')
) AS result
FROM (
  SELECT '## ' || name || char(10, 10) || '- **SHA:** ' || substr(sha, 1, 7) || char(10)
    || '- **URL:** https://github.example/' || full_name || '/releases/tag/' || sha || char(10)
    || '- **Download:** [ZIP](https://api.github.example/repos/' || full_name
    || '/zipball/refs/tags/' || name || ') | [TAR](https://api.github.example/repos/' || full_name
    || '/tarball/refs/tags/' || name || ')' || char(10, 10) AS text
  FROM tag_view
  WHERE repo_id = :repo_id
  ORDER BY name DESC
  LIMIT :size OFFSET :skip
);

-- name: get_tag
-- include: repo
-- include: find_tag
SELECT :tag_object AS result;

-- name: push_files
-- include: octokit
-- include: push_files
-- include: ref
SELECT :reference AS result;

-- name: get_pull_request
-- include: pull
-- include: pull_detail
SELECT :pull AS result;

-- name: update_pull_request
-- include: octokit
-- include: update_pull
-- include: pull_detail
SELECT :pull AS result;

-- name: list_pull_requests
-- include: repo
-- include: page
-- include: chosen_pulls
SELECT iif(
  count(*) = 0,
  'No pull requests found.',
  '# Pull Requests for ' || :owner || '/' || :repo || char(10, 10) || 'Showing ' || count(*)
    || ' pull request(s) - Page ' || :page_number || char(10)
    || iif(
      count(*) = :size,
      '*Note: More results may be available. Use ''page'' parameter ' || 'to see next page.*'
        || char(10),
      ''
    ) || char(10) || group_concat(text, '')
) AS result
FROM (
  SELECT '## #' || c.number || ': ' || c.title || char(10, 10) || c.lines || c.branches || c.people
    || '- **URL**: ' || c.html_url || char(10, 10) AS text
  FROM json_each(:chosen) v
  JOIN issue_card c ON c.id = v.value
  ORDER BY v.key
);

-- name: merge_pull_request
-- include: octokit
-- include: merge_pull
SELECT json_object(
  'sha', :commit_sha,
  'merged', json('true'),
  'message', 'Pull Request successfully merged'
) AS result;

-- name: get_pull_request_files
-- include: pull
-- include: page
-- include: pull_changes
SELECT json_group_array(json(value)) AS shown
FROM (SELECT value FROM json_each(:changes) ORDER BY key LIMIT :size OFFSET :skip);
SELECT
  count(*) AS n_files,
  CAST(total(value ->> 'additions') AS INTEGER) AS additions,
  CAST(total(value ->> 'deletions') AS INTEGER) AS deletions,
  group_concat(
    '- **' || (value ->> 'filename') || '** (+' || (value ->> 'additions') || ' lines)' || char(10),
    ''
  ) FILTER (WHERE value ->> 'status' = 'added') AS added,
  group_concat(
    '- **' || (value ->> 'filename') || '** (+' || (value ->> 'additions') || ' -'
      || (value ->> 'deletions') || ')' || char(10)
      || iif(
        value ->> 'patch' IS NULL,
        '',
        '  - [View Diff](https://github.example/' || :full_name || '/blob/' || :head_sha || '/'
          || (value ->> 'filename') || ')' || char(10)
      ),
    ''
  ) FILTER (WHERE value ->> 'status' = 'modified') AS modified,
  group_concat(
    '- **' || (value ->> 'filename') || '** (-' || (value ->> 'deletions') || ' lines)' || char(10),
    ''
  ) FILTER (WHERE value ->> 'status' = 'removed') AS removed,
  group_concat(
    '- **' || (value ->> 'previous_filename') || '** → **' || (value ->> 'filename') || '**'
      || char(10),
    ''
  ) FILTER (WHERE value ->> 'status' = 'renamed') AS renamed
FROM json_each(:shown);
SELECT iif(
  :n_files = 0,
  'No files changed in this pull request.',
  '# Files Changed in Pull Request #' || :pull_number || char(10, 10) || '**Total:** ' || :n_files
    || ' file(s) | **+' || :additions || '** additions | **-' || :deletions || '** deletions'
    || char(10, 10) || ifnull('## Added Files' || char(10, 10) || :added || char(10), '')
    || ifnull('## Modified Files' || char(10, 10) || :modified || char(10), '')
    || ifnull('## Removed Files' || char(10, 10) || :removed || char(10), '')
    || ifnull('## Renamed Files' || char(10, 10) || :renamed || char(10), '')
) AS result;

-- name: get_pull_request_status
-- include: octokit
-- include: pull_status
SELECT '# Pull Request #' || :pull_number || ' Status' || char(10, 10) || '**Overall State:** '
  || :pull_status || char(10) || '**SHA:** ' || substr(:head_sha, 1, 7) || char(10)
  || '**Total Checks:** ' || :n_statuses || char(10, 10)
  || iif(
    :n_statuses = 0,
    '*No status checks found*' || char(10),
    '## Status Checks' || char(10, 10) || iif(:outcome = 'success', '### Passed', '### Failed')
      || char(10, 10)
      || group_concat(
        '- **' || (value ->> 'context') || '**: ' || (value ->> 'description') || char(10)
          || iif(
            :outcome = 'success',
            '',
            '  - [View Details](' || (value ->> 'target_url') || ')' || char(10)
          ),
        ''
      ) || char(10)
  ) AS result
FROM json_each(:statuses);

-- name: update_pull_request_branch
-- include: octokit
-- include: update_branch
SELECT json_object(
  'message', 'Updating pull request branch.',
  'url', 'https://api.github.example/repos/' || :full_name || '/pulls/' || :pull_number
) AS result;

-- name: get_pull_request_comments
-- include: pull
-- include: page
-- A page is one of the comments below the pull request, and one of those at its lines.
SELECT iif(
  count(*) = 0,
  'No comments found for this pull request.',
  '# Comments for Pull Request #' || :pull_number || char(10, 10) || 'Showing ' || count(*)
    || ' comment(s) - Page ' || :page_number || char(10)
    || iif(
      max(is_full),
      '*Note: More comments may be available. Use ''page'' parameter to see next page.*' || char(
        10
      ),
      ''
    ) || char(10) || group_concat(text, '')
) AS result
FROM (
  SELECT
    is_full,
    '## Comment ' || row_number() OVER () || iif(path IS NULL, '', ' (Code Review)') || char(10, 10)
      || '- **Author:** ' || login || char(10) || '- **Created:** '
      || printf('%d/%d/%d', substr(created_at, 6), substr(created_at, 9), created_at) || char(10)
      || iif(
        updated_at <> created_at,
        '- **Updated:** '
          || printf('%d/%d/%d', substr(updated_at, 6), substr(updated_at, 9), updated_at)
          || char(10),
        ''
      ) || ifnull('- **File:** ' || path || char(10), '')
      || ifnull('- **Line:** ' || line || char(10), '')
      || ifnull('- **Commit:** ' || substr(commit_sha, 1, 7) || char(10), '') || char(10)
      || '**Content:**' || char(10) || body || char(10, 10) || '---' || char(10, 10) AS text
  FROM (
    SELECT *, count(*) OVER (PARTITION BY path IS NULL) = :size AS is_full
    FROM (
      SELECT *
      FROM (
        SELECT
          a.login, c.created_at, c.updated_at, c.body, NULL AS path, NULL AS line,
          NULL AS commit_sha, c.id
        FROM comment c
        JOIN account a ON a.id = c.author_id
        WHERE c.issue_id = :issue_id
        ORDER BY c.created_at, c.id
        LIMIT :size OFFSET :skip
      )
      UNION ALL
      SELECT *
      FROM (
        SELECT
          a.login,
          c.created_at,
          c.updated_at,
          c.body,
          c.path,
          ifnull(c.line, c.position),
          r.commit_sha,
          c.id
        FROM review_comment c
        JOIN review r ON r.id = c.review_id
        JOIN account a ON a.id = r.author_id
        WHERE r.issue_id = :issue_id AND r.state <> 'PENDING'
        ORDER BY c.created_at, c.id
        LIMIT :size OFFSET :skip
      )
    )
    ORDER BY created_at, path IS NOT NULL, id
  )
);

-- name: create_pull_request
-- include: octokit
-- include: create_pull
-- include: pull_detail
SELECT :pull AS result;

-- name: get_pull_request_review_comments
-- include: pull
-- include: page
SELECT github_failure(:request, :failed, json_object(
  'message', 'Validation Failed',
  'errors', json_array(json_object(
    'resource', 'PullRequestReviewComment',
    'field', 'since',
    'code', 'invalid'
  )),
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE :since IS NOT NULL AND julianday(:since) IS NULL;
SELECT json_group_array(json(json)) AS result
FROM (
  SELECT json
  FROM (
    SELECT id, json, iif(:sort = 'updated', updated_at, created_at) AS key
    FROM rest_review_comment
    WHERE issue_id = :issue_id
      AND review_state <> 'PENDING'
      AND (:since IS NULL OR julianday(updated_at) >= julianday(:since))
  )
  ORDER BY
    iif(:direction = 'desc', key, NULL) DESC,
    iif(:direction = 'desc', id, NULL) DESC,
    key,
    id
  LIMIT :size OFFSET :skip
);

-- name: create_pull_request_review_comment
-- include: octokit
-- include: session
-- include: find_pull
SELECT :in_reply_to AS target;
-- include: reply_target
SELECT github_failure(:request, :failed, json_object(
  'message', 'Validation Failed',
  'errors', json_array(json_object(
    'resource', 'PullRequestReviewComment',
    'code', 'custom',
    'field', 'pull_request_review_thread.commit_id',
    'message', 'commit_id is not part of the pull ' || 'request'
  )),
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE NOT EXISTS (SELECT 1 FROM git_commit WHERE sha = :commit_id);
-- include: pull_changes
SELECT github_failure(:request, :failed, json_object(
  'message', 'Validation Failed',
  'errors', json_array(json_object(
    'resource', 'PullRequestReviewComment',
    'code', 'invalid',
    'field', 'pull_request_review_thread.path'
  )),
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE :target IS NULL AND :path NOT IN (SELECT value ->> 'filename' FROM json_each(:changes));
SELECT github_failure(:request, :failed, json_object(
  'message', 'Validation Failed',
  'errors', json_array(json_object(
    'resource', 'PullRequestReviewComment',
    'code', 'missing_field',
    'field', 'pull_request_review_thread.line'
  )),
  'documentation_url', docs,
  'status', '422'
)) AS error
FROM body
WHERE :target IS NULL AND :line IS NULL;
INSERT INTO review VALUES (new_id('review'), :issue_id, :me, 'COMMENTED', '', :commit_id, :now)
RETURNING id AS review_id;
INSERT INTO review_comment (
  id, review_id, path, line, side, start_line, start_side, body, created_at, updated_at
)
SELECT
  new_id('comment'),
  :review_id,
  :path,
  CAST(:line AS INTEGER),
  :side,
  CAST(:start_line AS INTEGER),
  :start_side,
  :body,
  :now,
  :now
WHERE :target IS NULL
RETURNING id AS comment_id;
-- include: reply
UPDATE issue SET updated_at = :now WHERE id = :issue_id;
SELECT json AS result FROM rest_review_comment WHERE id = ifnull(:reply_id, :comment_id);
