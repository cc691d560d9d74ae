-- Initialize bodies and dumps. What their format has no place for is made up by these rules, and
-- lost in a dump: comments, reviews, stars, assignees, history.
--
--   - a repository "owner/name" belongs to that account, one without an owner to the caller
--   - the default branch is main, else master, else the first; it has one commit, and each other
--     branch with files one more on top of that, by the person whose login the branch begins with
--     ("trivera/cold-boot"), else by the caller
--   - a pull request is by whom its branch is; an issue by whom its description says it was
--     "reported by @login"
--   - repositories of the organisation have stars, and all are looked at by code scanning

-- name: import
SELECT now, me, my_name, my_email, signature FROM session;
-- Repositories as [{place, owner, name, json}].
SELECT json_group_array(json_object(
         'place', key, 'json', json(value), 'name', trim(substr(full, instr(full, '/') + 1)),
         'owner', iif(instr(full, '/'), substr(full, 1, instr(full, '/') - 1),
                      (SELECT login FROM account WHERE is_me)))) AS repos
FROM (SELECT key, value, value ->> 'name' AS full FROM json_each(:args, '$.repos')
      WHERE type = 'object');
SELECT 'repository "' || (value ->> '$.json.name') || '": there is no account "'
       || (value ->> 'owner') || '"' AS error
FROM json_each(:repos)
WHERE NOT EXISTS (SELECT 1 FROM account WHERE login = value ->> 'owner') LIMIT 1;
SELECT 'a repository needs a name' AS error FROM json_each(:repos)
WHERE value ->> 'name' = '' OR instr(value ->> 'name', '/') LIMIT 1;
SELECT 'repository "' || (a.value ->> '$.json.name') || '": name already exists on this account'
       AS error
FROM json_each(:repos) a
WHERE EXISTS (SELECT 1 FROM repo_view WHERE owner = a.value ->> 'owner'
  AND name = a.value ->> 'name')
   OR EXISTS (SELECT 1 FROM json_each(:repos) b
              WHERE b.key < a.key AND lower(b.value ->> 'owner') = lower(a.value ->> 'owner')
                AND lower(b.value ->> 'name') = lower(a.value ->> 'name')) LIMIT 1;
INSERT INTO repo (id, owner_id, name, description, default_branch, created_at, updated_at,
  pushed_at)
SELECT new_id('repo'), a.id, r.value ->> 'name', r.value ->> '$.json.description',
       coalesce((SELECT value ->> 'name' FROM json_each(r.value, '$.json.branches')
                 WHERE type = 'object' AND value ->> 'name' IN ('main', 'master') ORDER BY 1 LIMIT 1),
                r.value ->> '$.json.branches[0].name', 'main'),
       :now, :now, :now
FROM json_each(:repos) r JOIN account a ON a.login = r.value ->> 'owner' ORDER BY r.key;
-- With the ids.
SELECT json_group_array(json_object('id', id, 'default_branch', default_branch, 'json', json(json)))
       AS repos
FROM (SELECT v.id, v.default_branch, r.value -> 'json' AS json
      FROM json_each(:repos) r
      JOIN repo_view v ON v.owner = r.value ->> 'owner' AND v.name = r.value ->> 'name'
      ORDER BY r.key);

-- Branches: [{repo_id, name, is_default, has_files}]; a folder in a folder is found by its path.
SELECT 'repository "' || (r.value ->> '$.json.name') || '": branch "' || (b.value ->> 'name')
       || '" is there twice, or has no name' AS error
FROM json_each(:repos) r, json_each(r.value, '$.json.branches') b
WHERE b.value ->> 'name' = ''
   OR EXISTS (SELECT 1 FROM json_each(r.value, '$.json.branches') c
              WHERE c.key < b.key AND c.value ->> 'name' = b.value ->> 'name') LIMIT 1;
WITH RECURSIVE d (repo_id, branch, folder) AS (
  SELECT r.value ->> 'id', b.value ->> 'name', b.value -> 'folders'
  FROM json_each(:repos) r, json_each(r.value, '$.json.branches') b
  WHERE json_type(b.value, '$.folders') = 'object'
  UNION ALL
  SELECT d.repo_id, d.branch, f.value FROM d, json_each(d.folder, '$.folders') f
  WHERE f.type = 'object')
SELECT json_group_array(json_object('repo_id', repo_id, 'branch', branch, 'path', path,
                                    'sha', git_blob(content), 'content', content)) AS contents
FROM (SELECT repo_id, branch, max(content) AS content,
             -- "path" is that of the file or of its folder.
             CASE WHEN path = '' OR path = name THEN name
                  WHEN substr(path, -length(name) - 1) = '/' || name THEN path
                  ELSE path || '/' || name END AS path
      FROM (SELECT repo_id, branch, trim(f.value ->> 'name', '/') AS name,
                   trim(iif((f.value ->> 'path') GLOB './*', substr(f.value ->> 'path', 3),
                            f.value ->> 'path'), '/') AS path,
                   ifnull(f.value ->> 'content', '') AS content
            FROM d, json_each(d.folder, '$.files') f WHERE f.type = 'object')
      GROUP BY 1, 2, 4);
SELECT 'file "' || (value ->> 'path') || '" of branch "' || (value ->> 'branch')
       || '": a malformed path' AS error
FROM json_each(:contents)
WHERE value ->> 'path' = '' OR '/' || (value ->> 'path') || '/' GLOB '*//*'
   OR '/' || (value ->> 'path') || '/' GLOB '*/./*' OR '/' || (value ->> 'path')
     || '/' GLOB '*/../*'
   OR '/' || lower(value ->> 'path') || '/' GLOB '*/.git/*'
   OR length(value ->> 'path') - length(replace(value ->> 'path', '/', '')) > 20 LIMIT 1;
WITH f AS MATERIALIZED (SELECT value ->> 'repo_id' AS repo_id, value ->> 'branch' AS branch,
                               value ->> 'path' AS path FROM json_each(:contents))
SELECT 'file "' || f.path || '" of branch "' || f.branch || '" is a folder, too' AS error
FROM f WHERE EXISTS (SELECT 1 FROM f g
                     WHERE g.repo_id = f.repo_id AND g.branch = f.branch
                       AND g.path > f.path || '/' AND g.path < f.path || '0') LIMIT 1;
INSERT OR IGNORE INTO blob
SELECT value ->> 'sha', length(CAST(value ->> 'content' AS BLOB)), value ->> 'content'
FROM json_each(:contents);
SELECT json_group_array(json_object(
         'repo_id', repo_id, 'branch', branch, 'is_default', branch = default_branch,
         'has_files', has_files, 'author', author, 'trees', git_trees(files))) AS branches
FROM (SELECT r.value ->> 'id' AS repo_id, b.value ->> 'name' AS branch,
             r.value ->> 'default_branch' AS default_branch,
             json_type(b.value, '$.folders') = 'object' AS has_files,
             ifnull((SELECT id FROM account
                     WHERE login = substr(b.value ->> 'name', 1, instr(b.value ->> 'name', '/') - 1)
                       AND type = 'User'), :me) AS author,
             (SELECT json_group_array(json_array(c.value ->> 'path', c.value ->> 'sha'))
              FROM json_each(:contents) c
              WHERE c.value ->> 'repo_id' = r.value ->> 'id'
                AND c.value ->> 'branch' = b.value ->> 'name') AS files
      FROM json_each(:repos) r, json_each(r.value, '$.json.branches') b
      WHERE b.type = 'object' ORDER BY r.key, b.key);
INSERT OR IGNORE INTO tree_entry
SELECT t.value ->> 'sha', e.value ->> 'name', e.value ->> 'type', e.value ->> 'sha'
FROM json_each(:branches) b, json_each(b.value, '$.trees') t, json_each(t.value, '$.entries') e;
-- The first commit of each repository, then one for each other branch with files.
INSERT OR IGNORE INTO git_commit
SELECT git_commit(b.value ->> '$.trees[#-1].sha', '[]', :signature, :signature, now_ms() / 1000,
                  'Initial commit'),
       b.value ->> '$.trees[#-1].sha', '[]', 1, 'Initial commit', :my_name, :my_email, :my_name,
       :my_email, :now
FROM json_each(:branches) b WHERE b.value ->> 'is_default';
INSERT INTO branch
SELECT b.value ->> 'repo_id', b.value ->> 'branch',
       git_commit(b.value ->> '$.trees[#-1].sha', '[]', :signature, :signature, now_ms() / 1000,
                  'Initial commit')
FROM json_each(:branches) b WHERE b.value ->> 'is_default';
SELECT json_group_array(json_object(
         'repo_id', b.value ->> 'repo_id', 'branch', b.value ->> 'branch', 'parent', m.sha,
         'tree', b.value ->> '$.trees[#-1].sha', 'author', b.value ->> 'author',
         'message', 'Work on ' || (b.value ->> 'branch'),
         'sha', iif((b.value ->> 'has_files') AND b.value ->> '$.trees[#-1].sha' <> c.tree,
                    git_commit(b.value ->> '$.trees[#-1].sha', json_array(m.sha),
                               a.name || ' <' || a.email || '>', a.name || ' <' || a.email || '>',
                               now_ms() / 1000, 'Work on ' || (b.value ->> 'branch')), m.sha)))
       AS others
FROM json_each(:branches) b JOIN repo r ON r.id = b.value ->> 'repo_id'
JOIN branch m ON m.repo_id = r.id AND m.name = r.default_branch
JOIN git_commit c ON c.sha = m.sha
JOIN account a ON a.id = b.value ->> 'author'
WHERE NOT b.value ->> 'is_default';
INSERT OR IGNORE INTO git_commit
SELECT o.value ->> 'sha', o.value ->> 'tree', json_array(o.value ->> 'parent'), 2,
       o.value ->> 'message', a.name, a.email, a.name, a.email, :now
FROM json_each(:others) o JOIN account a ON a.id = o.value ->> 'author'
WHERE o.value ->> 'sha' <> o.value ->> 'parent';
INSERT INTO branch
SELECT value ->> 'repo_id', value ->> 'branch', value ->> 'sha' FROM json_each(:others);

-- Issues and pull requests: those with a number keep it, the others follow behind.
SELECT json_group_array(json_object('repo_id', repo_id, 'is_pull', is_pull, 'json', json(json),
                                    'number', number)) AS items
FROM (SELECT repo_id, is_pull, json,
             ifnull(given, most + row_number() OVER (
               PARTITION BY repo_id, given IS NULL ORDER BY is_pull, place)) AS number
      FROM (SELECT *, max(ifnull(max(given) OVER (PARTITION BY repo_id), 0), 0) AS most
            FROM (SELECT r.value ->> 'id' AS repo_id, 0 AS is_pull, i.key AS place,
                         i.value AS json, i.value ->> 'id' AS given
                  FROM json_each(:repos) r, json_each(r.value, '$.json.issues') i
                  WHERE i.type = 'object'
                  UNION ALL
                  SELECT r.value ->> 'id', 1, p.key, p.value, p.value ->> 'id'
                  FROM json_each(:repos) r, json_each(r.value, '$.json.prs') p
                  WHERE p.type = 'object'))
      ORDER BY repo_id, is_pull, place);
SELECT 'number ' || (a.value ->> 'number') || ' is not possible, or there twice' AS error
FROM json_each(:items) a
WHERE a.value ->> 'number' < 1
   OR EXISTS (SELECT 1 FROM json_each(:items) b
              WHERE b.key < a.key AND b.value ->> 'repo_id' = a.value ->> 'repo_id'
                AND b.value ->> 'number' = a.value ->> 'number') LIMIT 1;
SELECT 'status "' || (value ->> '$.json.status') || '" is not open, closed'
       || iif(value ->> 'is_pull', ' or merged', '') AS error
FROM json_each(:items)
WHERE lower(value ->> '$.json.status') NOT IN ('open', 'closed')
  AND NOT ((value ->> 'is_pull') AND lower(value ->> '$.json.status') = 'merged') LIMIT 1;
SELECT 'pull request "' || (i.value ->> '$.json.pr_title') || '": there is no branch "'
       || iif(h.sha IS NULL, i.value ->> '$.json.source_branch',
              ifnull(i.value ->> '$.json.target_branch', 'main')) || '"' AS error
FROM json_each(:items) i
LEFT JOIN branch h ON h.repo_id = i.value ->> 'repo_id'
  AND h.name = i.value ->> '$.json.source_branch'
LEFT JOIN branch t ON t.repo_id = i.value ->> 'repo_id'
                  AND t.name = ifnull(i.value ->> '$.json.target_branch', 'main')
WHERE (i.value ->> 'is_pull') AND (h.sha IS NULL OR t.sha IS NULL) LIMIT 1;
INSERT INTO issue (id, repo_id, number, is_pull, title, body, state, author_id, created_at,
                   updated_at, closed_at)
SELECT new_id('issue'), value ->> 'repo_id', value ->> 'number', value ->> 'is_pull',
       iif(value ->> 'is_pull', value ->> '$.json.pr_title', value ->> '$.json.issue_title'),
       value ->> '$.json.description',
       iif(ifnull(lower(value ->> '$.json.status'), 'open') = 'open', 'open', 'closed'),
       coalesce(iif(value ->> 'is_pull',
                    (SELECT id FROM account
                     WHERE type = 'User'
                       AND login = substr(value ->> '$.json.source_branch', 1,
                                          instr(value ->> '$.json.source_branch', '/') - 1)),
                    (SELECT id FROM account
                     WHERE type = 'User' AND text_has(ifnull(value ->> '$.json.description', ''),
                                                      'reported by @' || login)
                     ORDER BY length(login) DESC LIMIT 1)), :me),
       :now, :now, iif(lower(value ->> '$.json.status') IN ('closed', 'merged'), :now, NULL)
FROM json_each(:items) ORDER BY key;
INSERT INTO pull (issue_id, head_repo_id, head, base, head_sha, base_sha, merged_at, merge_sha)
SELECT n.id, n.repo_id, h.name, t.name, h.sha, t.sha,
       iif(lower(i.value ->> '$.json.status') = 'merged', :now, NULL),
       iif(lower(i.value ->> '$.json.status') = 'merged', t.sha, NULL)
FROM json_each(:items) i
JOIN issue n ON n.repo_id = i.value ->> 'repo_id' AND n.number = i.value ->> 'number'
JOIN branch h ON h.repo_id = n.repo_id AND h.name = i.value ->> '$.json.source_branch'
JOIN branch t ON t.repo_id = n.repo_id AND t.name = ifnull(i.value ->> '$.json.target_branch',
  'main')
WHERE i.value ->> 'is_pull';
INSERT OR IGNORE INTO issue_label
SELECT n.id, trim(l.value), l.key
FROM json_each(:items) i
JOIN issue n ON n.repo_id = i.value ->> 'repo_id' AND n.number = i.value ->> 'number',
     json_each(i.value, '$.json.labels') l
WHERE trim(l.value) <> '';

-- People who know the organisation's repositories.
INSERT INTO star
SELECT r.id, a.id, strftime('%Y-%m-%dT%H:%M:%SZ', :now, '-' || (a.id % 89 + 1) || ' hours')
FROM json_each(:repos) j JOIN repo r ON r.id = j.value ->> 'id'
JOIN account o ON o.id = r.owner_id AND o.type = 'Organization'
JOIN account a ON a.type = 'User' AND (a.id + length(r.name)) % 3 <> 0;
INSERT INTO alert (id, repo_id, number, rule_id, path, line, created_at, updated_at)
SELECT new_id('alert'), repo_id, row_number() OVER (PARTITION BY repo_id ORDER BY path, rule_id),
       rule_id, path, line, :now, :now
FROM (SELECT c.value ->> 'repo_id' AS repo_id, c.value ->> 'path' AS path, r.id AS rule_id,
             1 + length(before) - length(replace(before, char(10), '')) AS line
      FROM (SELECT c.value, s.id, substr(c.value ->> 'content', 1,
                                         instr(c.value ->> 'content', s.needle)) AS before
            FROM json_each(:contents) c
            JOIN scan_rule s ON c.value ->> 'path' LIKE s.files
                            AND instr(c.value ->> 'content', s.needle) > 0) c
      JOIN scan_rule r ON r.id = c.id
      JOIN repo p ON p.id = c.value ->> 'repo_id' AND p.default_branch = c.value ->> 'branch'
      WHERE EXISTS (SELECT 1 FROM json_each(:contents) w
                    WHERE w.value ->> 'repo_id' = c.value ->> 'repo_id'
                      AND w.value ->> 'branch' = c.value ->> 'branch'
                      AND w.value ->> 'path' LIKE '.github/workflows/codeql%')
      ORDER BY 1, 2, 3);
SELECT json_object('repos', json_array_length(:repos), 'branches', json_array_length(:branches),
                   'prs', (SELECT count(*) FROM json_each(:items) WHERE value ->> 'is_pull'),
                   'issues', (SELECT count(*) FROM json_each(:items) WHERE NOT value ->> 'is_pull'))
       AS result;

-- name: export
WITH RECURSIVE
  f (repo_id, branch, path, type, sha) AS (
    SELECT b.repo_id, b.name, '', 'tree', c.tree FROM branch b JOIN git_commit c ON c.sha = b.sha
    UNION ALL
    SELECT f.repo_id, f.branch, f.path || iif(f.path = '', '', '/') || e.name, e.type, e.sha
    FROM f JOIN tree_entry e ON e.tree = f.sha WHERE f.type = 'tree'),
  folders AS MATERIALIZED (
    SELECT repo_id, branch, git_folders(json_group_array(json_array(f.path, b.content))) AS json
    FROM f JOIN blob b ON b.sha = f.sha WHERE f.type = 'blob' GROUP BY 1, 2)
SELECT json_object('repos', json_group_array(json(json))) AS result
FROM (
  SELECT drop_nulls(json_object(
           'name', iif(r.owner_id = (SELECT me FROM session), r.name, r.full_name),
           'description', r.description,
           'branches', (
             SELECT json_group_array(json_object('name', name,
                                                 'folders', json(ifnull(json, git_folders('[]')))))
             FROM (SELECT b.name, d.json,
                          b.name <> r.default_branch AND NOT EXISTS (
                            SELECT 1 FROM branch m WHERE m.repo_id = r.id
                                                     AND m.name IN ('main', 'master')) AS later
                   FROM branch b
                   LEFT JOIN folders d ON d.repo_id = b.repo_id AND d.branch = b.name
                   WHERE b.repo_id = r.id
                   -- As import finds the default branch.
                   ORDER BY b.name <> 'main', b.name <> 'master', later, b.name)),
           'prs', (
             SELECT json_group_array(json(json))
             FROM (SELECT drop_nulls(json_object(
                            'id', i.number, 'pr_title', i.title, 'description', i.body,
                            'status', iif(p.merged_at IS NULL, i.state, 'merged'),
                            'source_branch', p.head, 'target_branch', p.base,
                            'labels', (SELECT json_group_array(label)
                                       FROM (SELECT label FROM issue_label l
                                             WHERE l.issue_id = i.id ORDER BY place)))) AS json
                   FROM issue i JOIN pull p ON p.issue_id = i.id
                   -- One from a fork has a branch that is not of this repository.
                   WHERE i.repo_id = r.id AND p.head_repo_id = r.id ORDER BY i.number)),
           'issues', (
             SELECT json_group_array(json(json))
             FROM (SELECT drop_nulls(json_object(
                            'id', i.number, 'issue_title', i.title, 'description', i.body,
                            'status', i.state,
                            'labels', (SELECT json_group_array(label)
                                       FROM (SELECT label FROM issue_label l
                                             WHERE l.issue_id = i.id ORDER BY place)))) AS json
                   FROM issue i WHERE i.repo_id = r.id AND NOT i.is_pull
                   ORDER BY i.number)))) AS json
  FROM repo_view r ORDER BY r.id);
