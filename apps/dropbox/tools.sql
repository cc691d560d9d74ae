-- part: fail
-- :why is the summary of an error, :op what was tried.
SELECT '[dropbox-sdk] DROPBOX_API_ERROR:' || char(10) || :op || char(10) || 'status: 409, tag: '
  || substr(:why, 1, instr(:why || '/', '/') - 1) || ', summary: ' || :why || '/...' AS error
WHERE :why IS NOT NULL;

-- part: refuse
-- What is no request at all, when :bad.
SELECT '[dropbox-sdk] DROPBOX_API_ERROR:' || char(10) || :op || char(10)
  || 'status: 400, tag: unknown, summary: No error summary available' AS error
WHERE :bad;

-- part: find
-- :n of :wanted, a path or an id.
SELECT :wanted NOT GLOB '/?*' AND :wanted NOT GLOB 'id:*' AS bad;
-- include: refuse
SELECT n, id AS at_id, path AS at_path, low AS at_low, rev AS at_rev
FROM entry
WHERE low = lower(:wanted) OR id = :wanted;
SELECT :lookup || iif(:wanted GLOB '*/', '/malformed_path', '/not_found') AS why WHERE :n IS NULL;
-- include: fail

-- part: find_file
-- include: find
SELECT :lookup || '/not_file' AS why WHERE :at_rev IS NULL;
-- include: fail

-- part: find_base
-- :base, the path in lower case of the folder :wanted; '' is the top.
SELECT :wanted <> '' AND :wanted NOT GLOB '/?*' AND :wanted NOT GLOB 'id:*' AS bad;
-- include: refuse
SELECT low AS base, rev IS NOT NULL AS is_file FROM entry WHERE low = lower(:wanted) OR id = :wanted
UNION ALL
SELECT '', 0 WHERE :wanted = '';
SELECT CASE
  WHEN :base IS NULL AND :wanted GLOB '*/' THEN 'path/malformed_path'
  WHEN :base IS NULL THEN 'path/not_found'
  WHEN :is_file THEN 'path/not_folder'
END AS why;
-- include: fail

-- part: make_folders
-- Those above the paths :targets.
WITH RECURSIVE above (path) AS (
  SELECT rtrim(rtrim(value, replace(value, '/', '')), '/') FROM json_each(:targets)
  UNION
  SELECT rtrim(rtrim(path, replace(path, '/', '')), '/') FROM above WHERE path <> ''
)
INSERT INTO entry (id, path, low)
SELECT new_id('entry'), path, lower(path)
FROM (
  SELECT min(path) AS path
  FROM above
  WHERE path <> '' AND lower(path) NOT IN (SELECT low FROM entry)
  GROUP BY lower(path)
  ORDER BY lower(path)
);

-- part: place
-- :target becomes a path that can be written; :taken is what is there. With :autorename it is
-- another path then, before whose ending is a number when it :is_file.
SELECT :target NOT GLOB '/*' AS bad;
-- include: refuse
SELECT :write || '/malformed_path' AS why
WHERE :target = '/' OR :target GLOB '*/' OR instr(:target, '//') > 0;
-- include: fail
SELECT :write || '/conflict/file_ancestor' AS why
FROM entry
WHERE rev IS NOT NULL AND lower(:target) > low || '/' AND lower(:target) < low || '0'
LIMIT 1;
-- include: fail
SELECT json_array(:target) AS targets;
-- include: make_folders
SELECT ifnull((SELECT path FROM entry WHERE low = lower(rtrim(head, '/'))), '') || '/'
  || substr(:target, length(head) + 1) AS target
FROM (SELECT rtrim(:target, replace(:target, '/', '')) AS head);
SELECT n AS taken, rev AS taken_rev FROM entry WHERE low = lower(:target);
WITH RECURSIVE part (stem, ending) AS (
  SELECT substr(:target, 1, length(:target) - length(ending)), ending
  FROM (
    SELECT iif(
      :is_file AND ltrim(name, '.') LIKE '%.%',
      substr(name, length(rtrim(name, replace(name, '.', '')))),
      ''
    ) AS ending
    FROM (SELECT substr(:target, length(rtrim(:target, replace(:target, '/', ''))) + 1) AS name)
  )
),
number (i) AS (
  SELECT 1
  UNION ALL
  SELECT i + 1
  FROM number, part
  WHERE EXISTS (SELECT 1 FROM entry WHERE low = lower(stem || ' (' || i || ')' || ending))
)
SELECT
  iif(
    :taken IS NOT NULL AND :autorename,
    stem || ' (' || (SELECT max(i) FROM number) || ')' || ending,
    :target
  ) AS target,
  iif(:autorename, NULL, :taken) AS taken,
  iif(:autorename, NULL, :taken_rev) AS taken_rev
FROM part;

-- part: say_taken
SELECT :write || iif(:taken_rev IS NULL, '/conflict/folder', '/conflict/file') AS why
WHERE :taken IS NOT NULL;
-- include: fail

-- part: fetch
-- :bytes of :uri: what it holds, or the file that a link of the account leads to.
SELECT iif(
  typeof(got) = 'blob',
  'data:application/octet-stream;base64,' || base64(got),
  got
) AS bytes
FROM (
  SELECT CASE
    WHEN :uri LIKE 'data:%' THEN data_uri(:uri)
    ELSE (
      SELECT content
      FROM node
      LEFT JOIN link ON link.entry = node.n
      WHERE node.rev IS NOT NULL
        AND (
          link.url = :uri
          OR :uri = 'https://uc.dl.dropboxusercontent.example/cd/0/get/' || node.rev || '/file'
        )
    )
  END AS got
);

-- part: write_file
-- :bytes to :target, which is :taken or not; :n is the file.
INSERT INTO entry (id, path, low, rev)
SELECT new_id('entry'), :target, lower(:target), ''
WHERE :taken IS NULL
RETURNING n AS made;
SELECT ifnull(:made, :taken) AS n, new_id('rev') AS new_rev;
INSERT INTO revision (rev, id, low, content, modified_s, nth)
SELECT :new_rev, id, low, :bytes, now_ms() / 1000, (SELECT ifnull(max(nth), 0) + 1 FROM revision)
FROM entry
WHERE n = :n;
UPDATE entry SET rev = :new_rev WHERE n = :n;

-- part: plan
-- :plan says for :entries which :n goes from where to where, or why it does not.
WITH RECURSIVE asked AS MATERIALIZED (
  SELECT
    a.key AS i,
    a.value ->> 'from_path' AS src,
    a.value ->> 'to_path' AS dst,
    rtrim(a.value ->> 'to_path', replace(a.value ->> 'to_path', '/', '')) AS head,
    e.n,
    e.path AS old,
    e.low AS old_low,
    e.rev,
    row_number() OVER (PARTITION BY lower(a.value ->> 'to_path') ORDER BY a.key) - 1 AS n_before
  FROM json_each(:entries) a
  LEFT JOIN entry e ON e.low = lower(a.value ->> 'from_path') OR e.id = a.value ->> 'from_path'
),
source (i, low) AS (
  SELECT i, old_low FROM asked WHERE n IS NOT NULL
  UNION ALL
  SELECT i, rtrim(rtrim(low, replace(low, '/', '')), '/') FROM source WHERE low <> ''
),
gone AS ( -- it goes with something earlier
  SELECT s.i FROM source s JOIN asked b ON b.old_low = s.low AND b.i < s.i WHERE NOT :is_copy
),
above (i, low) AS (
  SELECT i, lower(rtrim(head, '/')) FROM asked
  UNION ALL
  SELECT i, rtrim(rtrim(low, replace(low, '/', '')), '/') FROM above WHERE low <> ''
),
blocked AS (SELECT a.i FROM above a JOIN entry f ON f.low = a.low WHERE f.rev IS NOT NULL),
shown AS (
  SELECT
    asked.*,
    ifnull((SELECT path FROM entry WHERE low = lower(rtrim(head, '/'))), rtrim(head, '/')) || '/'
      || substr(dst, length(head) + 1) AS goal,
    (
      SELECT iif(t.rev IS NULL, 'folder', 'file')
      FROM entry t
      WHERE t.low = lower(dst) AND (t.n <> asked.n OR :is_copy)
    ) AS taken,
    iif(
      rev IS NOT NULL AND ltrim(substr(dst, length(head) + 1), '.') LIKE '%.%',
      substr(dst, length(rtrim(dst, replace(dst, '.', '')))),
      ''
    ) AS ending
  FROM asked
),
judged AS (
  SELECT
    shown.*,
    CASE
      WHEN src NOT GLOB '/?*' AND src NOT GLOB 'id:*' THEN 'from_lookup/malformed_path'
      WHEN n IS NULL THEN 'from_lookup/not_found'
      WHEN dst NOT GLOB '/?*' OR dst GLOB '*/' OR instr(dst, '//') > 0 THEN 'to/malformed_path'
      WHEN lower(dst) > old_low || '/' AND lower(dst) < old_low || '0'
        THEN iif(:is_copy, 'duplicated_or_nested_paths', 'cant_move_folder_into_itself')
      WHEN dst = old AND NOT :is_copy THEN 'duplicated_or_nested_paths'
      WHEN i IN (SELECT i FROM gone) THEN 'from_lookup/not_found'
      WHEN i IN (SELECT i FROM blocked) THEN 'to/conflict/file_ancestor'
      WHEN taken IS NOT NULL AND NOT :autorename THEN 'to/conflict/' || taken
      WHEN n_before > 0 AND NOT :autorename THEN 'duplicated_or_nested_paths'
    END AS why
  FROM shown
)
SELECT json_group_array(json_object(
  'n', n,
  'old', old,
  'why', why,
  'goal', iif(
    taken IS NULL AND n_before = 0 OR why IS NOT NULL,
    goal,
    (
      WITH RECURSIVE number (i, rest) AS (
        SELECT 0, n_before + (taken IS NOT NULL)
        UNION ALL
        SELECT
          i + 1,
          rest - NOT EXISTS (
            SELECT 1 FROM entry WHERE low = lower(stem || ' (' || (i + 1) || ')' || ending)
          )
        FROM number
        WHERE rest > 0
      )
      SELECT stem || ' (' || max(i) || ')' || ending
      FROM number
    )
  )
)) AS plan
FROM (SELECT *, substr(goal, 1, length(goal) - length(ending)) AS stem FROM judged ORDER BY i);
SELECT json_group_array(value ->> 'goal') AS targets
FROM json_each(:plan)
WHERE value ->> 'why' IS NULL;
-- include: make_folders

-- part: move_planned
-- Everything goes with the nearest that goes.
UPDATE entry
SET
  path = m.goal || substr(path, length(m.old) + 1),
  low = lower(m.goal || substr(path, length(m.old) + 1))
FROM (
  SELECT e.n, p.old, p.goal, max(length(p.old))
  FROM (
    SELECT value ->> 'old' AS old, value ->> 'goal' AS goal
    FROM json_each(:plan)
    WHERE value ->> 'why' IS NULL
  ) p
  JOIN entry e
    ON e.low = lower(p.old) OR e.low > lower(p.old) || '/' AND e.low < lower(p.old) || '0'
  GROUP BY e.n
) m
WHERE entry.n = m.n;
-- What went into a folder that went elsewhere is where it was to go.
-- include: make_folders

-- part: copy_planned
SELECT ifnull(max(n), 0) AS last FROM entry;
INSERT INTO entry (id, path, low, rev)
SELECT
  new_id('entry'),
  p.goal || substr(e.path, length(p.old) + 1),
  lower(p.goal || substr(e.path, length(p.old) + 1)),
  iif(e.rev IS NULL, NULL, new_id('rev'))
FROM (
  SELECT key, value ->> 'old' AS old, value ->> 'goal' AS goal
  FROM json_each(:plan)
  WHERE value ->> 'why' IS NULL
) p
JOIN entry e ON e.low = lower(p.old) OR e.low > lower(p.old) || '/' AND e.low < lower(p.old) || '0'
ORDER BY p.key, e.low;
INSERT INTO revision (rev, id, low, content, modified_s, nth)
SELECT
  new.rev,
  new.id,
  new.low,
  r.content,
  now_ms() / 1000,
  (SELECT ifnull(max(nth), 0) FROM revision) + row_number() OVER (ORDER BY new.n)
FROM (
  SELECT value ->> 'old' AS old, value ->> 'goal' AS goal
  FROM json_each(:plan)
  WHERE value ->> 'why' IS NULL
) p
JOIN entry new
  ON new.n > :last
    AND (
      new.low = lower(p.goal) OR new.low > lower(p.goal) || '/' AND new.low < lower(p.goal) || '0'
    )
JOIN entry e ON e.low = lower(p.old || substr(new.path, length(p.goal) + 1))
JOIN revision r ON r.rev = e.rev;

-- part: tell_batch
-- :tale of the failures :whys, of :total.
SELECT 'Successful: ' || (:total - json_array_length(:whys)) || char(10) || 'Failed: '
  || json_array_length(:whys)
  || ifnull(
    char(10) || char(10) || 'Failure details:' || char(10)
      || (SELECT group_concat('  - ' || value, char(10)) FROM json_each(:whys)),
    ''
  ) AS tale;

-- part: list_page
-- :lines of the page behind :after, and the cursor :next when there are more.
SELECT json_group_array(json_array(line, low)) AS page
FROM (
  SELECT found || behind AS line, low
  FROM listing
  WHERE (:deleted OR NOT is_deleted)
    AND low > :after
    AND (up = :base OR :deep AND (low = :base OR low > :base || '/' AND low < :base || '0'))
  ORDER BY low
  LIMIT :size + 1
);
SELECT
  (SELECT group_concat(value ->> 0, char(10)) FROM json_each(:page) WHERE key < :size) AS lines,
  iif(
    json_array_length(:page) > :size,
    base64(json_array(
      'list',
      :base,
      :deep,
      :deleted,
      :size,
      :page ->> ('$[' || (:size - 1) || '][1]')
    )),
    NULL
  ) AS next;

-- part: search_page
SELECT json_group_array(json_array(found, low)) AS page
FROM (
  SELECT found, low
  FROM listing
  WHERE is_deleted = :deleted
    AND low > :after
    AND low > :base || '/'
    AND low < :base || '0'
    AND NOT EXISTS (
      SELECT 1
      FROM json_each('[' || replace(json_quote(trim(:words)), ' ', '","') || ']') w
      WHERE w.value <> ''
        AND instr(lower(name), lower(w.value)) = 0
        AND (:names OR NOT text_has(ifnull(content, ''), w.value))
    )
  ORDER BY low
  LIMIT :size + 1
);
SELECT
  (SELECT group_concat(value ->> 0, char(10)) FROM json_each(:page) WHERE key < :size) AS lines,
  iif(
    json_array_length(:page) > :size,
    base64(json_array(
      'search',
      :base,
      :words,
      :deleted,
      :size,
      :page ->> ('$[' || (:size - 1) || '][1]'),
      :names
    )),
    NULL
  ) AS next;

-- part: read_cursor
-- :c, what a cursor of the :kind holds.
SELECT CAST(unbase64(:cursor) AS TEXT) AS c;
SELECT iif(json_valid(:c), :c ->> 0 IS NOT :kind, 1) AS bad;
-- include: refuse

-- part: find_shared_folder
SELECT s.entry, s.id AS folder_id FROM shared_folder s WHERE s.id = :shared_folder_id;
SELECT 'access_error/invalid_id' AS why WHERE :entry IS NULL;
-- include: fail

-- part: check_members
SELECT 'bad_member/invalid_email' AS why
FROM json_each(:members)
WHERE NOT mail_is_address(value ->> 'email')
LIMIT 1;
-- include: fail
SELECT '[unknown] UNKNOWN_ERROR:' || char(10) || :op
  || ': Cannot read properties of undefined (reading ''access_level'')' AS error
WHERE json_array_length(:members) = 0;

-- name: dropbox_list_folder
SELECT 'Failed to execute files operation: dropbox_list_folder' AS op, :path AS wanted;
-- include: find_base
SELECT
  :recursive AS deep,
  :include_deleted AS deleted,
  '' AS after,
  CAST(ifnull(:limit, 2000) AS INTEGER) AS size;
-- include: list_page
SELECT 'Contents of folder "' || ifnull(nullif(:path, ''), '/') || '":' || char(10) || char(10)
  || ifnull(:lines, 'Empty folder')
  || ifnull(
    char(10) || char(10) || 'More results available. Use ''list_folder_continue'' '
      || 'with cursor: ' || :next,
    ''
  ) AS result;

-- name: dropbox_list_folder_continue
SELECT 'Failed to execute files operation: dropbox_list_folder_continue' AS op, 'list' AS kind;
-- include: read_cursor
SELECT :c ->> 1 AS base, :c ->> 2 AS deep, :c ->> 3 AS deleted, :c ->> 4 AS size, :c ->> 5 AS after;
-- include: list_page
SELECT 'Continued folder contents:' || char(10) || char(10) || ifnull(:lines, 'No more items')
  || char(10) || char(10)
  || ifnull(
    'More results available. Use ''list_folder_continue'' with cursor: ' || :next,
    'End of folder contents reached.'
  ) AS result;

-- name: dropbox_create_folder
SELECT
  'Failed to execute files operation: dropbox_create_folder' AS op, :path AS target,
  'path' AS write, 0 AS is_file;
-- include: place
-- include: say_taken
INSERT INTO entry (id, path, low) VALUES (new_id('entry'), :target, lower(:target));
SELECT 'Folder created successfully: ' || :target AS result;

-- name: dropbox_delete_file
SELECT
  'Failed to execute files operation: dropbox_delete_file' AS op, :path AS wanted,
  'path_lookup' AS lookup;
-- include: find
DELETE FROM entry WHERE low = :at_low OR low > :at_low || '/' AND low < :at_low || '0';
SELECT 'File/folder deleted successfully: ' || :at_path AS result;

-- name: dropbox_move_file
SELECT
  'Failed to execute files operation: dropbox_move_file' AS op,
  0 AS is_copy,
  json_array(json_object('from_path', :from_path, 'to_path', :to_path)) AS entries;
-- include: plan
SELECT :plan ->> '$[0].why' AS why;
-- include: fail
-- include: move_planned
SELECT 'File/folder moved from "' || :from_path || '" to "' || (:plan ->> '$[0].goal')
  || '"' AS result;

-- name: dropbox_copy_file
SELECT
  'Failed to execute files operation: dropbox_copy_file' AS op,
  1 AS is_copy,
  json_array(json_object('from_path', :from_path, 'to_path', :to_path)) AS entries;
-- include: plan
SELECT :plan ->> '$[0].why' AS why;
-- include: fail
-- include: copy_planned
SELECT 'File/folder copied from "' || :from_path || '" to "' || (:plan ->> '$[0].goal')
  || '"' AS result;

-- name: dropbox_search_files
SELECT 'Failed to execute files operation: dropbox_search_files' AS op, :path AS wanted;
-- include: find_base
SELECT trim(:query) = '' OR :max_results < 1 OR :max_results > 1000 AS bad;
-- include: refuse
SELECT
  :query AS words,
  :file_status = 'deleted' AS deleted,
  CAST(:max_results AS INTEGER) AS size,
  :filename_only AS names,
  '' AS after;
-- include: search_page
SELECT 'Search results for "' || :query || '"' || ifnull(' in "' || nullif(:path, '') || '"', '')
  || ':' || char(10) || char(10) || ifnull(:lines, 'No results found')
  || ifnull(
    char(10) || char(10) || 'More results available. Showing first ' || :size || ' results.'
      || char(10) || 'Use ''search_files_continue'' with cursor: ' || :next,
    ''
  ) AS result;

-- name: dropbox_search_files_continue
SELECT 'Failed to execute files operation: dropbox_search_files_continue' AS op, 'search' AS kind;
-- include: read_cursor
SELECT
  :c ->> 1 AS base,
  :c ->> 2 AS words,
  :c ->> 3 AS deleted,
  :c ->> 4 AS size,
  :c ->> 5 AS after,
  :c ->> 6 AS names;
-- include: search_page
SELECT 'Search results (continued):' || char(10) || char(10)
  || ifnull(:lines, 'No more results found')
  || ifnull(
    char(10) || char(10) || 'More results available. Use ''search_files_continue'' '
      || 'with cursor: ' || :next,
    ''
  ) AS result;

-- name: dropbox_get_file_info
SELECT
  'Failed to execute files operation: dropbox_get_file_info' AS op,
  :path NOT GLOB '/?*' AND :path NOT GLOB 'id:*' AS bad;
-- include: refuse
SELECT n FROM entry WHERE low = lower(:path) OR id = :path;
SELECT substr(path, length(rtrim(path, replace(path, '/', ''))) + 1) AS gone_name, path AS gone_path
FROM deleted
WHERE low = lower(:path) AND :include_deleted;
SELECT iif(:path GLOB '*/', 'path/malformed_path', 'path/not_found') AS why
WHERE :n IS NULL AND :gone_path IS NULL;
-- include: fail
SELECT 'Name: ' || name || char(10) || 'Path: ' || path
  || iif(
    rev IS NULL,
    char(10) || 'Type: Folder'
      || ifnull((
        SELECT char(10) || 'Shared Folder ID: ' || s.id FROM shared_folder s WHERE s.entry = node.n
      ), ''),
    char(10) || 'Type: File' || char(10) || 'Size: ' || size || ' bytes' || char(10)
      || 'Last Modified: ' || modified || char(10) || 'Content Hash: ' || dropbox_hash(bytes)
  ) AS result
FROM node
WHERE n = :n
UNION ALL
SELECT 'Name: ' || :gone_name || char(10) || 'Path: ' || :gone_path WHERE :gone_path IS NOT NULL;

-- name: dropbox_share_file
SELECT
  'Failed to execute sharing operation: dropbox_share_file' AS op, 'path' AS lookup,
  :path AS wanted;
-- include: find
SELECT 'shared_link_already_exists/metadata' AS why FROM link WHERE entry = :n;
-- include: fail
SELECT
  CASE
    WHEN :settings ->> 'requested_visibility' IS NOT NULL THEN :settings ->> 'requested_visibility'
    WHEN nullif(:settings ->> 'link_password', '') IS NOT NULL THEN 'password'
    ELSE 'public'
  END AS visibility,
  nullif(:settings ->> 'link_password', '') AS password,
  nullif(:settings ->> 'expires', '') AS expires;
SELECT 'settings_error/invalid_settings' AS why
WHERE (:visibility = 'password') <> (:password IS NOT NULL)
  OR :expires IS NOT NULL AND ifnull(time_read(:expires, 'UTC') <= now_ms() / 1000, 1);
-- include: fail
INSERT INTO link (url, entry, visibility, password, expires)
SELECT
  'https://www.dropbox.example/scl/' || iif(rev IS NULL, 'fo/', 'fi/') || new_id('link') || '/'
    || replace(name, ' ', '-') || '?rlkey=' || lower(rand_text('{base62:25}')) || '&dl=0',
  n,
  :visibility,
  :password,
  :expires
FROM node
WHERE n = :n;
SELECT 'File shared successfully!' || char(10) || char(10) || 'File: ' || name || char(10)
  || 'Shared Link: ' || url || char(10) || 'Path: ' || path || char(10) || 'Visibility: '
  || visibility AS result
FROM node
JOIN link ON link.entry = node.n
WHERE node.n = :n;

-- name: dropbox_get_shared_links
SELECT 'Failed to execute sharing operation: dropbox_get_shared_links' AS op;
SELECT 'reset' AS why WHERE :cursor IS NOT NULL;
-- include: fail
SELECT ifnull(:path, '') <> '' AND :path NOT GLOB '/?*' AND :path NOT GLOB 'id:*' AS bad;
-- include: refuse
SELECT low AS at_low FROM entry WHERE low = lower(:path) OR id = :path;
SELECT 'path/not_found' AS why WHERE ifnull(:path, '') <> '' AND :at_low IS NULL;
-- include: fail
-- Links of a path are also those of the folders above it.
SELECT 'Shared Links' || ifnull(' for "' || nullif(:path, '') || '"', '') || ': ' || count(*)
  || ' link(s) found' || char(10) || char(10)
  || ifnull(group_concat(line, char(10) || char(10)), 'No shared links found.') AS result
FROM (
  SELECT row_number() OVER (ORDER BY link.n) || '. ' || name || char(10) || '   URL: ' || url
    || char(10) || '   Path: ' || path || char(10) || '   Visibility: ' || visibility || char(10)
    || '   Expires: ' || ifnull(expires, 'Never') AS line
  FROM link
  JOIN node ON node.n = link.entry
  WHERE :at_low IS NULL OR low = :at_low OR :at_low > low || '/' AND :at_low < low || '0'
  ORDER BY link.n
);

-- name: dropbox_upload_file
SELECT '[others] OTHERS_ERROR:' || char(10) || 'File URIs are not allowed for security reasons. '
  || 'Please use http://, https://, ftp://, or data: URIs.' AS error
WHERE :source_uri LIKE 'file://%';
SELECT
  'Failed to upload file from ' || :source_uri || ' to ' || :dropbox_path AS op,
  :dropbox_path AS target,
  'path' AS write,
  1 AS is_file,
  :source_uri AS uri;
-- include: fetch
SELECT '[get-uri] GET_URI_ERROR:' || char(10) || 'Failed to get URI for path "' || :uri || '". '
  || CASE
    WHEN :uri LIKE 'data:%' THEN 'Status: unknown, message: malformed data: URI'
    WHEN :uri LIKE 'http://%' OR :uri LIKE 'https://%' OR :uri LIKE 'ftp://%'
      THEN 'Status: ENOTFOUND, message: getaddrinfo ENOTFOUND ' || substr(
        host,
        1,
        instr(host || '/', '/') - 1
      )
    ELSE 'Status: ENOTSUP, message: Unsupported protocol in URI: "' || :uri || '"'
  END AS error
FROM (SELECT substr(:uri, instr(:uri, '://') + 3) AS host)
WHERE :bytes IS NULL;
-- To update needs the revision that is known, which the tool has no argument for.
SELECT :mode = 'update' AS bad;
-- include: refuse
-- What is overwritten is not renamed, nor what is the same already.
SELECT
  :autorename
    AND NOT EXISTS (
      SELECT 1
      FROM node
      WHERE low = lower(:target) AND rev IS NOT NULL AND (:mode = 'overwrite' OR content = :bytes)
    ) AS autorename,
  :autorename AS asked;
-- include: place
SELECT n AS same
FROM node
WHERE n = :taken AND (:mode = 'overwrite' OR content = :bytes) AND rev IS NOT NULL;
SELECT :write || iif(:taken_rev IS NULL, '/conflict/folder', '/conflict/file') AS why
WHERE :taken IS NOT NULL AND :same IS NULL;
-- include: fail
-- include: write_file
SELECT 'File uploaded successfully!' || char(10) || char(10) || 'Source URI: ' || :uri || char(10)
  || 'Dropbox path: ' || path || char(10) || 'File size: ' || size || ' bytes ('
  || printf('%.2f', size / 1024.0) || ' KB)' || char(10) || 'Content size: ' || size || ' bytes'
  || char(10) || 'Upload mode: ' || :mode || char(10) || 'Autorename: '
  || iif(:asked, 'true', 'false') AS result
FROM node
WHERE n = :n;

-- name: dropbox_download_file
SELECT
  'Failed to download file: "' || :path || '"' AS op,
  'path' AS lookup,
  ifnull((SELECT id FROM revision WHERE :path = 'rev:' || rev), :path) AS wanted;
-- include: find_file
SELECT
  ifnull((SELECT rev FROM revision WHERE :path = 'rev:' || rev), :at_rev) AS shown_rev,
  ifnull((
    SELECT type
    FROM mime
    WHERE :at_low LIKE '%.' || extension
    ORDER BY length(extension) DESC
    LIMIT 1
  ), 'application/octet-stream') AS type;
SELECT json_array(CASE
  WHEN NOT is_binary THEN json_object('type', 'text', 'text', content)
  WHEN :type LIKE 'image/%' OR :type LIKE 'audio/%'
    THEN json_object(
      'type', substr(:type, 1, 5),
      'data', substr(content, instr(content, ',') + 1),
      'mimeType', :type
    )
  ELSE json_object(
    'type', 'resource',
    'resource', json_object(
      'uri', 'dropbox://' || :at_path,
      'mimeType', :type,
      'blob', substr(content, instr(content, ',') + 1)
    )
  )
END) AS content
FROM version
WHERE rev = :shown_rev;

-- name: dropbox_list_revisions
SELECT
  'Failed to list revisions' AS op,
  'path' AS lookup,
  :path NOT GLOB '/?*' AND :path NOT GLOB 'id:*' OR :limit < 1 OR :limit > 100 AS bad;
-- include: refuse
SELECT id AS at_id, low AS at_low, rev AS at_rev FROM entry WHERE low = lower(:path) OR id = :path;
SELECT CASE
  WHEN :at_id IS NOT NULL AND :at_rev IS NULL THEN 'path/not_file'
  WHEN NOT EXISTS (
      SELECT 1
      FROM revision
      WHERE id = ifnull(:at_id, :path) OR :mode = 'path' AND low = ifnull(:at_low, lower(:path))
    )
    THEN 'path/not_found'
END AS why;
-- include: fail
SELECT 'Revisions for file "' || :path || '":' || char(10) || char(10)
  || group_concat(line, char(10)) AS result
FROM (
  SELECT 'Revision ID: ' || rev || ' - Modified: '
    || time_write(modified_s, 'UTC', '%Y-%m-%dT%H:%M:%SZ') || ' - Size: ' || size
    || ' bytes' AS line
  FROM version
  WHERE id = ifnull(:at_id, :path) OR :mode = 'path' AND low = ifnull(:at_low, lower(:path))
  ORDER BY nth DESC
  LIMIT CAST(:limit AS INTEGER)
);

-- name: dropbox_restore_file
SELECT
  'Failed to restore file' AS op, :path AS target, 'path_write' AS write, 1 AS is_file,
  0 AS autorename;
SELECT content AS bytes, id AS old_id FROM revision WHERE rev = :rev;
SELECT 'invalid_revision' AS why WHERE :bytes IS NULL;
-- include: fail
-- include: place
SELECT 'path_write/conflict/folder' AS why WHERE :taken IS NOT NULL AND :taken_rev IS NULL;
-- include: fail
-- include: write_file
-- What was deleted is the same file again.
UPDATE entry
SET id = :old_id
WHERE n = :made AND NOT EXISTS (SELECT 1 FROM entry e WHERE e.id = :old_id);
UPDATE revision SET id = (SELECT id FROM entry WHERE n = :n) WHERE rev = :new_rev;
SELECT 'File restored to revision ' || :rev || ': ' || path AS result FROM entry WHERE n = :n;

-- name: dropbox_get_current_account
SELECT '=== Dropbox Account Information ===' || char(10) || char(10) || 'Account ID: ' || id
  || char(10) || 'Email: ' || email || char(10) || 'Email Verified: Yes' || char(10)
  || 'Account Disabled: No' || char(10) || 'Locale: en' || char(10) || 'Country: DE' || char(10)
  || char(10) || '--- Name Details ---' || char(10) || 'Display Name: ' || given || ' ' || surname
  || char(10) || 'Given Name: ' || given || char(10) || 'Surname: ' || surname || char(10)
  || 'Familiar Name: ' || given || char(10) || 'Abbreviated Name: ' || substr(given, 1, 1)
  || substr(surname, 1, 1) || char(10) || char(10) || '--- Account Type ---' || char(10)
  || 'Type: business' || char(10) || char(10) || '--- Profile & Links ---' || char(10)
  || 'Referral Link: https://www.dropbox.example/' || 'referrals/' || substr(id, 6, 12) || char(10)
  || char(10) || '--- Account Pairing ---' || char(10) || 'Is Paired (has work account): No'
  || char(10) || char(10) || '--- Root Information ---' || char(10) || 'Root Type: user' || char(10)
  || 'Home Namespace ID: ' || namespace || char(10) || 'Root Namespace ID: ' || namespace
  || char(10) || char(10) || '--- Team Information ---' || char(10) || 'Team ID: ' || team_id
  || char(10) || 'Team Name: ' || team || char(10) || 'Team Member ID: ' || member_id
  || char(10) AS result
FROM account;

-- name: dropbox_get_space_usage
SELECT 'Used: ' || ifnull(sum(size), 0) || ' bytes' || char(10) || 'Allocation Type: team' AS result
FROM node;

-- name: dropbox_get_temporary_link
SELECT 'Failed to get temporary link' AS op, 'path' AS lookup, :path AS wanted;
-- include: find_file
SELECT 'Temporary link: https://uc.dl.dropboxusercontent.example/cd/0/get/' || :at_rev
  || '/file' AS result;

-- name: dropbox_add_file_member
SELECT
  'Failed to execute sharing operation: dropbox_add_file_member' AS op,
  iif(:file GLOB 'id:*', 'access_error', 'path') AS lookup,
  :file AS wanted;
-- include: find
SELECT 'access_error/invalid_file' AS why WHERE :at_rev IS NULL;
-- include: fail
-- include: check_members
INSERT INTO member (entry, email, access)
SELECT :n, value ->> 'email', ifnull(value ->> 'access_level', 'viewer')
FROM json_each(:members), account
WHERE lower(value ->> 'email') <> account.email
ORDER BY key
ON CONFLICT (entry, email) DO UPDATE SET access = excluded.access;
SELECT 'Member(s) added to file successfully!' || char(10) || char(10) || 'File: ' || :file
  || char(10) || 'Members added: '
  || group_concat(
    (value ->> 'email') || ' (' || ifnull(value ->> 'access_level', 'viewer') || ')',
    ', '
  ) || char(10) || 'File ID: ' || :at_id AS result
FROM json_each(:members);

-- part: find_own_file
SELECT :wanted NOT GLOB '/?*' AND :wanted NOT GLOB 'id:*' AS bad;
-- include: refuse
SELECT n FROM entry WHERE rev IS NOT NULL AND (low = lower(:wanted) OR id = :wanted);
SELECT 'access_error/invalid_file' AS why WHERE :n IS NULL;
-- include: fail

-- name: dropbox_list_file_members
SELECT 'Failed to execute sharing operation: dropbox_list_file_members' AS op, :file AS wanted;
-- include: find_own_file
SELECT :limit < 1 OR :limit > 300 AS bad;
-- include: refuse
SELECT 'Members of file "' || :file || '":' || char(10) || char(10)
  || group_concat(line, char(10)) AS result
FROM (
  SELECT email || ' (' || access || ')' AS line
  FROM access
  WHERE entry = :n AND (:include_inherited OR NOT is_inherited)
  ORDER BY is_inherited, place
  LIMIT CAST(:limit AS INTEGER)
);

-- name: dropbox_remove_file_member
SELECT 'Failed to execute sharing operation: dropbox_remove_file_member' AS op, :file AS wanted;
-- include: find_own_file
DELETE FROM member WHERE entry = :n AND email = :member RETURNING n AS gone;
SELECT 'no_explicit_access' AS why WHERE :gone IS NULL;
-- include: fail
SELECT 'Member removed from file: ' || :file AS result;

-- name: dropbox_share_folder
-- A folder that is not there is made.
SELECT
  'Failed to execute sharing operation: dropbox_share_folder' AS op,
  'bad_path' AS write,
  0 AS is_file,
  0 AS autorename,
  ifnull((SELECT path FROM entry WHERE id = :path), :path) AS target;
-- include: place
SELECT CASE
  WHEN :taken_rev IS NOT NULL THEN 'bad_path/is_file'
  WHEN EXISTS (SELECT 1 FROM shared_folder WHERE entry = :taken) THEN 'bad_path/already_shared'
  WHEN EXISTS (
      SELECT 1
      FROM shared_folder s
      JOIN entry e ON e.n = s.entry
      WHERE lower(:target) > e.low || '/' AND lower(:target) < e.low || '0'
    )
    THEN 'bad_path/inside_shared_folder'
  WHEN EXISTS (
      SELECT 1
      FROM shared_folder s
      JOIN entry e ON e.n = s.entry
      WHERE e.low > lower(:target) || '/' AND e.low < lower(:target) || '0'
    )
    THEN 'bad_path/contains_shared_folder'
END AS why;
-- include: fail
INSERT INTO entry (id, path, low)
SELECT new_id('entry'), :target, lower(:target)
WHERE :taken IS NULL
RETURNING n AS made;
INSERT INTO shared_folder (id, entry, member_policy, acl_update_policy, shared_link_policy) VALUES (
  new_id('shared_folder'),
  ifnull(:made, :taken),
  :member_policy,
  :acl_update_policy,
  :shared_link_policy
)
RETURNING id AS folder_id;
INSERT INTO job (id, kind, tale)
SELECT new_id('job'), 'sharing', :folder_id
WHERE :force_async
RETURNING id AS job;
SELECT 'Folder shared successfully!' || char(10) || char(10) || 'Folder: ' || :path || char(10)
  || 'Shared Folder ID: ' || ifnull(:job, :folder_id) || char(10) || 'Member Policy: '
  || :member_policy || char(10) || 'ACL Update Policy: ' || :acl_update_policy || char(10)
  || 'Shared Link Policy: ' || :shared_link_policy AS result;

-- name: dropbox_list_folder_members
SELECT
  'Failed to execute sharing operation: dropbox_list_folder_members' AS op,
  :limit < 1 OR :limit > 1000 AS bad;
-- include: refuse
-- include: find_shared_folder
SELECT 'Members of shared folder "' || :shared_folder_id || '":' || char(10) || char(10)
  || group_concat(line, char(10)) AS result
FROM (
  SELECT email || ' (' || access || ')' AS line
  FROM access
  WHERE entry = :entry AND NOT is_inherited
  ORDER BY place
  LIMIT CAST(:limit AS INTEGER)
);

-- name: dropbox_add_folder_member
SELECT 'Failed to execute sharing operation: dropbox_add_folder_member' AS op;
-- include: find_shared_folder
-- include: check_members
-- There is one owner.
SELECT 'no_permission' AS why
FROM json_each(:members)
WHERE value ->> 'access_level' = 'owner'
LIMIT 1;
-- include: fail
INSERT INTO member (entry, email, access)
SELECT :entry, value ->> 'email', ifnull(value ->> 'access_level', 'viewer')
FROM json_each(:members), account
WHERE lower(value ->> 'email') <> account.email
ORDER BY key
ON CONFLICT (entry, email) DO UPDATE SET access = excluded.access;
SELECT 'Member(s) added to shared folder: ' || :shared_folder_id AS result;

-- name: dropbox_list_shared_folders
SELECT
  'Failed to execute sharing operation: dropbox_list_shared_folders' AS op,
  'folders' AS kind,
  ifnull(:cursor, base64(json_array('folders', '', CAST(:limit AS INTEGER)))) AS cursor,
  :limit < 1 OR :limit > 1000 AS bad;
-- include: refuse
-- include: read_cursor
SELECT json_group_array(json_array(line, low)) AS page, :c ->> 2 AS size
FROM (
  SELECT
    name || '**' || char(10) || '   ID: ' || s.id || char(10) || '   Path: ' || low || char(10)
      || '   Access Type: owner' || char(10) || '   Policy: ' || acl_update_policy || char(10)
      || char(10) AS line,
    low
  FROM shared_folder s
  JOIN node ON node.n = s.entry
  WHERE low > :c ->> 1
  ORDER BY low
  LIMIT (:c ->> 2) + 1
);
SELECT 'Shared Folders:' || char(10) || char(10)
  || ifnull(
    (
      SELECT group_concat((key + 1) || '. **' || (value ->> 0), '')
      FROM json_each(:page)
      WHERE key < :size
    ),
    'No shared folders found.' || char(10)
  )
  || iif(
    json_array_length(:page) > :size,
    char(10) || 'More results available. Use ''list_shared_folders_continue'' with ' || 'cursor: '
      || base64(json_array('folders', :page ->> ('$[' || (:size - 1) || '][1]'), :size)),
    ''
  ) AS result;

-- name: dropbox_unshare_file
SELECT 'Failed to execute sharing operation: dropbox_unshare_file' AS op, :file AS wanted;
-- include: find_own_file
DELETE FROM member WHERE entry = :n;
SELECT 'Successfully unshared file: ' || :file || char(10) || char(10)
  || 'All members have been removed from this file (inherited members are not affected).' AS result;

-- name: dropbox_unshare_folder
SELECT 'Failed to execute sharing operation: dropbox_unshare_folder' AS op;
-- include: find_shared_folder
DELETE FROM member WHERE entry = :entry;
DELETE FROM shared_folder WHERE entry = :entry;
SELECT 'Unshare folder operation initiated for shared folder ID: ' || :shared_folder_id || char(10)
  || char(10) || 'Operation completed successfully. The folder has been unshared.' || char(10)
  || iif(
    :leave_a_copy, 'Members will keep a copy of the folder in their Dropbox.',
    'The folder has been removed from members'' Dropbox accounts.'
  ) AS result;

-- part: check_destination
SELECT :destination IS NOT NULL AND :destination NOT GLOB '/?*'
  OR :title IS NOT NULL AND trim(:title) = '' AS bad;
-- include: refuse
SELECT 'not_a_folder' AS why FROM entry WHERE low = lower(:destination) AND rev IS NOT NULL;
-- include: fail

-- part: find_request
SELECT n FROM request WHERE id = :id;
SELECT 'not_found' AS why WHERE :n IS NULL;
-- include: fail

-- name: dropbox_create_file_request
SELECT 'Failed to execute file request operation: dropbox_create_file_request' AS op;
-- include: check_destination
INSERT INTO request (id, title, destination, description, is_open, file_count) VALUES (
  new_id('request'),
  :title,
  :destination,
  nullif(:description, ''),
  1,
  0
)
RETURNING n;
SELECT 'File request created successfully!' || char(10) || 'ID: ' || id || char(10) || 'Title: '
  || title || char(10) || 'URL: https://www.dropbox.example/request/' || id || char(10)
  || 'Destination: ' || destination
  || ifnull(char(10) || 'Description: ' || description, '') AS result
FROM request
WHERE n = :n;

-- name: dropbox_get_file_request
SELECT 'Failed to execute file request operation: dropbox_get_file_request' AS op;
-- include: find_request
SELECT 'ID: ' || id || char(10) || 'Title: ' || title || char(10) || 'Destination: ' || destination
  || char(10) || 'File Count: ' || file_count || char(10)
  || 'URL: https://www.dropbox.example/request/' || id
  || ifnull(char(10) || 'Description: ' || description, '') AS result
FROM request
WHERE n = :n;

-- name: dropbox_list_file_requests
SELECT 'File requests:' || char(10) || char(10)
  || ifnull(
    group_concat(
      'ID: ' || id || ' - Title: ' || title || ' - Destination: ' || destination
        || ' - File Count: ' || file_count || ' - Status: ' || iif(is_open, 'Open', 'Closed'),
      char(10)
    ),
    'No file requests found'
  ) AS result
FROM (SELECT * FROM request ORDER BY n);

-- name: dropbox_delete_file_request
SELECT
  'Failed to execute file request operation: dropbox_delete_file_request' AS op,
  json_array_length(:ids) = 0 AS bad;
-- include: refuse
SELECT iif(r.n IS NULL, 'not_found', 'file_request_open') AS why
FROM json_each(:ids)
LEFT JOIN request r ON r.id = value
WHERE r.n IS NULL OR r.is_open
ORDER BY r.n IS NOT NULL
LIMIT 1;
-- include: fail
DELETE FROM request WHERE id IN (SELECT value FROM json_each(:ids));
SELECT 'File request(s) deleted successfully: ' || group_concat(value, ', ') AS result
FROM json_each(:ids);

-- name: dropbox_update_file_request
SELECT 'Failed to execute file request operation: dropbox_update_file_request' AS op;
-- include: find_request
-- include: check_destination
UPDATE request
SET
  title = ifnull(:title, title),
  destination = ifnull(:destination, destination),
  description = nullif(ifnull(:description, description), ''),
  is_open = ifnull(:open, is_open)
WHERE n = :n;
SELECT 'File request updated successfully:' || char(10) || 'ID: ' || id || char(10) || 'Title: '
  || title || char(10) || 'Destination: ' || destination || char(10)
  || ifnull('Description: ' || description || char(10), '') || 'Status: '
  || iif(is_open, 'Open', 'Closed') || char(10) || 'File Count: ' || file_count AS result
FROM request
WHERE n = :n;

-- name: dropbox_batch_delete
SELECT
  'Failed to perform batch delete on ' || json_array_length(:entries) || ' items' AS op,
  json_array_length(:entries) > 1000 AS bad,
  json_array_length(:entries) AS total;
-- include: refuse
-- What is below something earlier is gone when its turn comes.
WITH RECURSIVE asked AS MATERIALIZED (
  SELECT d.key AS i, d.value ->> 'path' AS src, e.low
  FROM json_each(:entries) d
  LEFT JOIN entry e ON e.low = lower(d.value ->> 'path') OR e.id = d.value ->> 'path'
),
source (i, low) AS (
  SELECT i, low FROM asked WHERE low IS NOT NULL
  UNION ALL
  SELECT i, rtrim(rtrim(low, replace(low, '/', '')), '/') FROM source WHERE low <> ''
),
gone AS (SELECT s.i FROM source s JOIN asked b ON b.low = s.low AND b.i < s.i)
SELECT json_group_array(
  'path_lookup/' || iif(src GLOB '/?*' OR src GLOB 'id:*', 'not_found', 'malformed_path')
) AS whys
FROM (
  SELECT *
  FROM asked
  WHERE low IS NULL OR i IN (SELECT i FROM gone)
  ORDER BY i
);
DELETE FROM entry
WHERE n IN (
  SELECT e.n
  FROM json_each(:entries) d
  JOIN entry f ON f.low = lower(d.value ->> 'path') OR f.id = d.value ->> 'path'
  JOIN entry e ON e.n = f.n OR e.low > f.low || '/' AND e.low < f.low || '0'
);
-- include: tell_batch
INSERT INTO job (id, kind, tale) VALUES (new_id('job'), 'delete', :tale) RETURNING id AS job;
SELECT 'Batch delete started (async operation)' || char(10) || 'Job ID: ' || :job || char(10)
  || char(10) || 'The operation is processing in the background.' || char(10)
  || 'Use ''check_batch_job_status'' with this Job ID to monitor progress and get final '
  || 'results.' AS result;

-- name: dropbox_batch_move
SELECT
  'Failed to perform batch move on ' || json_array_length(:entries) || ' items' AS op,
  json_array_length(:entries) NOT BETWEEN 1 AND 1000 AS bad,
  json_array_length(:entries) AS total,
  0 AS is_copy;
-- include: refuse
-- include: plan
-- include: move_planned
SELECT json_group_array(value ->> 'why') AS whys
FROM json_each(:plan)
WHERE value ->> 'why' IS NOT NULL;
-- include: tell_batch
SELECT 'Batch move completed:' || char(10) || :tale AS result;

-- name: dropbox_batch_copy
SELECT
  'Failed to perform batch copy on ' || json_array_length(:entries) || ' items' AS op,
  json_array_length(:entries) NOT BETWEEN 1 AND 1000 AS bad,
  json_array_length(:entries) AS total,
  1 AS is_copy;
-- include: refuse
-- include: plan
-- include: copy_planned
SELECT json_group_array(value ->> 'why') AS whys
FROM json_each(:plan)
WHERE value ->> 'why' IS NOT NULL;
-- include: tell_batch
SELECT 'Batch copy completed:' || char(10) || :tale AS result;

-- name: dropbox_check_batch_job_status
SELECT tale FROM job WHERE id = :async_job_id AND kind = 'delete';
SELECT '[unknown] UNKNOWN_ERROR:' || char(10)
  || 'Failed to execute batch operation: dropbox_check_batch_job_status: Unable to check job '
  || 'status. Job ID may be invalid or expired: ' || :async_job_id AS error
WHERE :tale IS NULL;
SELECT 'Batch delete operation completed!' || char(10) || 'Job ID: ' || :async_job_id || char(10)
  || :tale AS result;

-- name: dropbox_get_thumbnail
SELECT 'Failed to get thumbnail for: "' || :path || '"' AS op, 'path' AS lookup, :path AS wanted;
-- include: find_file
SELECT type
FROM mime
WHERE :at_low LIKE '%.' || extension AND type LIKE 'image/%' AND type <> 'image/svg+xml';
SELECT 'unsupported_extension' AS why WHERE :type IS NULL;
-- include: fail
SELECT content AS image FROM version WHERE rev = :at_rev AND is_binary;
SELECT 'unsupported_image' AS why WHERE :image IS NULL;
-- include: fail
SELECT json_array(json_object(
  'type', 'image',
  'data', substr(:image, instr(:image, ',') + 1),
  'mimeType', :type
)) AS content;

-- name: dropbox_save_url
SELECT
  'Failed to save URL: "' || :path || '"' AS op,
  :path AS target,
  'path' AS write,
  1 AS is_file,
  1 AS autorename,
  :url AS uri;
SELECT 'invalid_url' AS why WHERE :url NOT LIKE 'http://_%' AND :url NOT LIKE 'https://_%';
-- include: fail
-- include: place
-- include: fetch
INSERT INTO entry (id, path, low, rev)
SELECT new_id('entry'), :target, lower(:target), ''
WHERE :bytes IS NOT NULL
RETURNING n;
SELECT new_id('rev') AS new_rev;
INSERT INTO revision (rev, id, low, content, modified_s, nth)
SELECT :new_rev, id, low, :bytes, now_ms() / 1000, (SELECT ifnull(max(nth), 0) + 1 FROM revision)
FROM entry
WHERE n = :n;
UPDATE entry SET rev = :new_rev WHERE n = :n;
INSERT INTO job (id, kind, tale) VALUES (
  new_id('job'),
  'url',
  ifnull((
    SELECT 'File: ' || path || char(10) || 'Size: ' || size || ' bytes' FROM node WHERE n = :n
  ), '')
)
RETURNING id AS job;
SELECT 'URL save started (async operation)' || char(10) || 'Job ID: ' || :job || char(10)
  || char(10) || 'Source URL: ' || :url || char(10) || 'Destination: ' || :path || char(10)
  || char(10) || 'Use ''save_url_check_job_status'' with this Job ID to check progress.' AS result;

-- part: find_job
SELECT tale FROM job WHERE id = :async_job_id AND kind = :kind;
SELECT 'invalid_async_job_id' AS why WHERE :tale IS NULL;
-- include: fail

-- name: dropbox_save_url_check_job_status
SELECT 'Failed to check save URL job status: "' || :async_job_id || '"' AS op, 'url' AS kind;
-- include: find_job
SELECT iif(
  :tale = '',
  'URL save failed.' || char(10) || 'Job ID: ' || :async_job_id || char(10)
    || 'Error: download_failed',
  'URL save completed!' || char(10) || 'Job ID: ' || :async_job_id || char(10) || :tale
) AS result;

-- part: tell_locks
SELECT 'File ' || :what || 'ing batch operation completed!' || char(10) || char(10)
  || 'Successfully ' || :what || 'ed: ' || (:total - json_array_length(:whys)) || ' file(s)'
  || char(10) || 'Failed to ' || :what || ': ' || json_array_length(:whys) || ' file(s)'
  || ifnull(
    char(10) || char(10) || 'Failure details:' || char(10)
      || (SELECT group_concat('  ' || (key + 1) || '. ' || value, char(10)) FROM json_each(:whys)),
    ''
  ) AS result;

-- name: dropbox_lock_file_batch
SELECT
  'Failed to execute batch operation: dropbox_lock_file_batch' AS op,
  'lock' AS what,
  json_array_length(:entries) AS total,
  json_array_length(:entries) > 1000 AS bad;
-- include: refuse
SELECT json_group_array(iif(e.n IS NULL, 'path_lookup/not_found', 'cannot_be_locked')) AS whys
FROM json_each(:entries) l
LEFT JOIN entry e ON e.low = lower(l.value ->> 'path') OR e.id = l.value ->> 'path'
WHERE e.rev IS NULL;
UPDATE entry
SET locked_s = ifnull(locked_s, now_ms() / 1000)
WHERE rev IS NOT NULL
  AND n IN (
    SELECT e.n
    FROM json_each(:entries) l
    JOIN entry e ON e.low = lower(l.value ->> 'path') OR e.id = l.value ->> 'path'
  );
-- include: tell_locks

-- name: dropbox_unlock_file_batch
SELECT
  'Failed to execute batch operation: dropbox_unlock_file_batch' AS op,
  'unlock' AS what,
  json_array_length(:entries) AS total,
  json_array_length(:entries) > 1000 AS bad;
-- include: refuse
SELECT json_group_array(iif(e.n IS NULL, 'path_lookup/not_found', 'lock_conflict')) AS whys
FROM json_each(:entries) l
LEFT JOIN entry e ON e.low = lower(l.value ->> 'path') OR e.id = l.value ->> 'path'
WHERE e.locked_s IS NULL;
UPDATE entry
SET locked_s = NULL
WHERE n IN (
  SELECT e.n
  FROM json_each(:entries) l
  JOIN entry e ON e.low = lower(l.value ->> 'path') OR e.id = l.value ->> 'path'
);
-- include: tell_locks

-- name: dropbox_list_received_files
SELECT
  'Failed to execute sharing operation: dropbox_list_received_files' AS op,
  'received' AS kind,
  ifnull(:cursor, base64(json_array('received', 0, CAST(:limit AS INTEGER)))) AS cursor,
  :limit < 1 OR :limit > 300 AS bad;
-- include: refuse
-- include: read_cursor
SELECT json_group_array(json_array(line, n)) AS page, :c ->> 2 AS size
FROM (
  SELECT
    n,
    name || '**' || char(10) || '   ID: ' || id || char(10) || '   Path: N/A' || char(10)
      || '   Shared by: ' || shared_by || char(10) || '   Access Level: ' || access || char(10)
      || '   Invited: ' || ltrim(time_write(invited_s, 'UTC', '%m'), '0') || '/'
      || ltrim(time_write(invited_s, 'UTC', '%d/%Y, '), '0')
      || ((time_write(invited_s, 'UTC', '%H') + 11) % 12 + 1)
      || time_write(invited_s, 'UTC', ':%M:%S')
      || iif(time_write(invited_s, 'UTC', '%H') < '12', ' AM', ' PM') || char(10)
      || '   Preview: Available' || char(10) || char(10) AS line
  FROM received
  WHERE n > :c ->> 1
  ORDER BY n
  LIMIT (:c ->> 2) + 1
);
SELECT 'Files Shared With You:' || char(10) || char(10)
  || ifnull(
    (
      SELECT group_concat((key + 1) || '. **' || (value ->> 0), '')
      FROM json_each(:page)
      WHERE key < :size
    ),
    'No files have been shared with you.' || char(10)
  )
  || iif(
    json_array_length(:page) > :size,
    char(10) || 'More results available. Use ''list_received_files_continue'' with ' || 'cursor: '
      || base64(json_array('received', :page ->> ('$[' || (:size - 1) || '][1]'), :size)),
    ''
  ) AS result;

-- name: dropbox_check_job_status
SELECT 'Failed to execute sharing operation: dropbox_check_job_status' AS op, 'sharing' AS kind;
-- include: find_job
SELECT 'Job Status for ID: ' || :async_job_id || char(10) || char(10) || 'Status: Complete'
  || char(10) || char(10) || 'The operation has finished successfully.' AS result;

-- name: dropbox_remove_folder_member
SELECT 'Failed to execute sharing operation: dropbox_remove_folder_member' AS op;
-- include: find_shared_folder
SELECT 'folder_owner' AS why FROM account WHERE email = lower(:member);
-- include: fail
DELETE FROM member WHERE entry = :entry AND email = :member RETURNING n AS gone;
SELECT 'member_error/not_a_member' AS why WHERE :gone IS NULL;
-- include: fail
INSERT INTO job (id, kind, tale) VALUES (new_id('job'), 'sharing', :member) RETURNING id AS job;
SELECT 'Member removal initiated for shared folder ID: ' || :shared_folder_id || char(10)
  || char(10) || 'Member: ' || :member || char(10) || 'Job ID: ' || :job || char(10) || char(10)
  || 'Use "check_job_status" with this ID to monitor the progress.' AS result;
