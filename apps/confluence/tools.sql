-- part: find_space
SELECT CASE
  WHEN :space_identifier GLOB '*[^0-9]*'
    THEN (SELECT id FROM space WHERE key = :space_identifier COLLATE NOCASE)
  ELSE (SELECT id FROM space WHERE id = :space_identifier)
END AS id;
SELECT iif(
  :space_identifier GLOB '*[^0-9]*',
  'No space found with key: ''' || :space_identifier || '''',
  'API request failed: HTTP 404'
) AS error
WHERE :id IS NULL;

-- part: find_page
SELECT CASE
  WHEN :page_identifier GLOB '*[^0-9]*'
    THEN (
      SELECT min(id) FROM page WHERE title = :page_identifier COLLATE NOCASE AND status = 'current'
    )
  ELSE (SELECT id FROM page WHERE id = :page_identifier)
END AS id;
SELECT iif(
  :page_identifier GLOB '*[^0-9]*',
  'No page found with title: ''' || :page_identifier || '''',
  'API request failed: HTTP 404'
) AS error
WHERE :id IS NULL;

-- name: confluence_create_page
SELECT id AS space_id
FROM space
WHERE id = :space_identifier
  OR key = :space_identifier COLLATE NOCASE
  OR name = :space_identifier COLLATE NOCASE
ORDER BY id = :space_identifier DESC, key = :space_identifier COLLATE NOCASE DESC, id
LIMIT 1;
SELECT iif(
  :space_identifier GLOB '*[^0-9]*',
  'No space found with key: ''' || :space_identifier || '''',
  'API request failed: HTTP 404'
) AS error
WHERE :space_id IS NULL;
SELECT id AS parent
FROM page
WHERE space_id = :space_id
  AND id = ifnull(
    :parent_id,
    (SELECT min(id) FROM page WHERE space_id = :space_id AND parent_id IS NULL)
  );
SELECT 'API request failed: HTTP 404' AS error WHERE :parent IS NULL AND :parent_id IS NOT NULL;
SELECT 'API request failed: HTTP 400' AS error
WHERE trim(:title) = ''
  OR length(:title) > 255
  OR (
    NOT ifnull(:is_draft, 0)
    AND EXISTS (
      SELECT 1
      FROM page
      WHERE space_id = :space_id AND status = 'current' AND title = trim(:title) COLLATE NOCASE
    )
  );
INSERT INTO page (
  id, space_id, parent_id, title, content, status, is_private, author_id, created_at, is_dated,
  version, message, updated_at, updated_by
)
SELECT
  new_id('page'),
  :space_id,
  :parent,
  trim(:title),
  :content,
  iif(:is_draft, 'draft', 'current'),
  ifnull(:is_private, 0),
  account_id,
  now(),
  1,
  1,
  '',
  now(),
  account_id
FROM me
RETURNING id AS page_id;
SELECT json_object('page', json(json)) AS result FROM page_view WHERE id = :page_id;

-- name: confluence_get_page
SELECT CASE
  WHEN :page_identifier GLOB '*[^0-9]*'
    THEN (
      SELECT min(id) FROM page WHERE title = :page_identifier COLLATE NOCASE AND status = 'current'
    )
  ELSE (SELECT id FROM page WHERE id = :page_identifier)
END AS id;
SELECT 'API request failed: HTTP 404' AS error
WHERE :id IS NULL AND :page_identifier NOT GLOB '*[^0-9]*';
SELECT json_object(
  'page', json(ifnull((SELECT json FROM page_view WHERE id = :id), '{}'))
) AS result;

-- name: confluence_get_pages_by_id
SELECT 'API request failed: HTTP 400' AS error
WHERE json_array_length(:page_ids) > 250
  OR EXISTS (SELECT 1 FROM json_each(:page_ids) WHERE value GLOB '*[^0-9]*' OR value = '');
SELECT json_object('pages', json_group_array(json(json))) AS result
FROM (
  SELECT json
  FROM page_view
  WHERE status = 'current' AND id IN (SELECT CAST(value AS INTEGER) FROM json_each(:page_ids))
  ORDER BY id
);

-- name: confluence_list_pages
SELECT
  ifnull(:limit, 25) AS size,
  iif(:pagination_token IS NULL, 0, CAST(substr(:pagination_token, 2) AS INTEGER)) AS skip;
SELECT 'API request failed: HTTP 400' AS error
WHERE (:pagination_token IS NOT NULL AND ('c' || :skip <> :pagination_token OR :skip < 0))
  OR json_array_length(:space_ids) > 100
  OR EXISTS (SELECT 1 FROM json_each(:space_ids) WHERE value GLOB '*[^0-9]*' OR value = '');
SELECT count(*) AS total
FROM page
WHERE status = 'current'
  AND (
    ifnull(:space_ids, '[]') = '[]'
    OR space_id IN (SELECT CAST(value AS INTEGER) FROM json_each(:space_ids))
  );
SELECT drop_nulls(json_object(
  'pages', json_group_array(json(json)),
  'pagination_token', iif(:skip + :size < :total, 'c' || (:skip + :size), NULL)
)) AS result
FROM (
  SELECT json
  FROM page_view
  WHERE status = 'current'
    AND (
      ifnull(:space_ids, '[]') = '[]'
      OR space_id IN (SELECT CAST(value AS INTEGER) FROM json_each(:space_ids))
    )
  ORDER BY
    CASE :sort_by
      WHEN 'title-ascending' THEN lower(title)
      WHEN 'created-date-oldest-to-newest' THEN created_at
      WHEN 'modified-date-oldest-to-newest' THEN updated_at
    END,
    CASE ifnull(:sort_by, 'created-date-newest-to-oldest')
      WHEN 'title-descending' THEN lower(title)
      WHEN 'created-date-newest-to-oldest' THEN created_at
      WHEN 'modified-date-newest-to-oldest' THEN updated_at
    END DESC,
    iif(
      :sort_by = 'id-descending' OR ifnull(:sort_by, 'x-newest-to-oldest') GLOB '*newest-to-oldest',
      -id,
      id
    )
  LIMIT :size OFFSET :skip
);

-- name: confluence_update_page_content
-- include: find_page
SELECT ifnull(:update_mode, 'append') AS mode;
UPDATE page
SET
  content = CASE :mode
    WHEN 'append' THEN content || '<br/>' || :content
    WHEN 'prepend' THEN :content || '<br/>' || content
    ELSE :content
  END,
  message = CASE :mode
    WHEN 'append' THEN 'Append content to the page'
    WHEN 'prepend' THEN 'Prepend content to the page'
    ELSE 'Replace the page content'
  END,
  version = version + 1,
  updated_at = now(),
  updated_by = (SELECT account_id FROM me)
WHERE id = :id;
SELECT json_object('page', json(json)) AS result FROM page_view WHERE id = :id;

-- name: confluence_rename_page
-- include: find_page
SELECT 'API request failed: HTTP 400' AS error
WHERE trim(:title) = ''
  OR length(:title) > 255
  OR EXISTS (
    SELECT 1
    FROM page
    WHERE space_id = (SELECT space_id FROM page WHERE id = :id)
      AND status = 'current'
      AND title = trim(:title) COLLATE NOCASE
      AND id <> :id
  );
UPDATE page
SET
  title = trim(:title),
  message = 'Rename the page',
  version = version + 1,
  updated_at = now(),
  updated_by = (SELECT account_id FROM me)
WHERE id = :id;
SELECT json_object('page', json(json)) AS result FROM page_view WHERE id = :id;

-- name: confluence_create_space
SELECT 'API request failed: HTTP 400' AS error WHERE trim(:name) = '' OR length(:name) > 200;
WITH RECURSIVE letter (n, c) AS (
  SELECT 1, substr(upper(:name), 1, 1)
  UNION ALL
  SELECT n + 1, substr(upper(:name), n + 1, 1) FROM letter WHERE n < length(:name)
)
SELECT ifnull(group_concat(c, ''), 'SPACE') AS base
FROM letter
WHERE c GLOB '[A-Z0-9]';
WITH RECURSIVE try (n, key) AS (
  SELECT 1, substr(:base, 1, 20)
  UNION ALL
  SELECT n + 1, substr(:base, 1, 20) || n
  FROM try
  WHERE EXISTS (SELECT 1 FROM space s WHERE s.key = try.key)
)
SELECT key AS free
FROM try
ORDER BY n DESC
LIMIT 1;
SELECT ifnull(:key, :free) AS new_key;
SELECT 'API request failed: HTTP 400' AS error
WHERE :new_key GLOB '*[^A-Za-z0-9]*'
  OR :new_key = ''
  OR length(:new_key) > 255
  OR EXISTS (SELECT 1 FROM space WHERE key = :new_key COLLATE NOCASE);
INSERT INTO space (id, key, name, description, author_id, created_at, is_private)
SELECT
  new_id('space'),
  :new_key,
  trim(:name),
  nullif(:description, ''),
  account_id,
  now(),
  ifnull(:is_private, 0)
FROM me
RETURNING id AS space_id;
INSERT INTO page (
  id, space_id, title, content, status, is_private, author_id, created_at, is_dated, version,
  message, updated_at, updated_by
)
SELECT
  new_id('page'),
  :space_id,
  trim(:name),
  '',
  'current',
  0,
  account_id,
  now(),
  0,
  1,
  '',
  now(),
  account_id
FROM me;
SELECT json_object('space', json(json)) AS result FROM space_view WHERE id = :space_id;

-- name: confluence_list_spaces
SELECT
  ifnull(:limit, 25) AS size,
  iif(:pagination_token IS NULL, 0, CAST(substr(:pagination_token, 2) AS INTEGER)) AS skip;
SELECT 'API request failed: HTTP 400' AS error
WHERE :pagination_token IS NOT NULL AND ('c' || :skip <> :pagination_token OR :skip < 0);
SELECT count(*) AS total FROM space;
SELECT drop_nulls(json_object(
  'spaces', json_group_array(json(json)),
  'pagination_token', iif(:skip + :size < :total, 'c' || (:skip + :size), NULL)
)) AS result
FROM (SELECT json FROM space_view ORDER BY name COLLATE NOCASE, id LIMIT :size OFFSET :skip);

-- name: confluence_get_space
-- include: find_space
SELECT json_object('space', json(json)) AS result FROM space_view WHERE id = :id;

-- name: confluence_get_space_hierarchy
-- include: find_space
SELECT json_group_array(json(json)) AS nodes
FROM (
  SELECT json_object(
    'id', CAST(id AS TEXT),
    'title', title,
    'type', 'page',
    'status', status,
    'parent', CAST(parent_id AS TEXT),
    'children', json('[]')
  ) AS json
  FROM page
  WHERE space_id = :id AND status = 'current'
  ORDER BY id
);
SELECT json_object(
  'id', CAST(id AS TEXT),
  'key', key,
  'name', name,
  'type', 'space',
  'description', ifnull(description, ''),
  'children', json_nest(:nodes, 'id', 'parent', 'children')
) AS result
FROM space
WHERE id = :id;

-- name: confluence_search_content
SELECT ifnull(:enable_fuzzy, 1) AS is_fuzzy;
WITH term (list, text) AS (
  SELECT 1, trim(value) FROM json_each(ifnull(:must_contain_all, '[]')) WHERE trim(value) <> ''
  UNION ALL
  SELECT 2, trim(value) FROM json_each(ifnull(:can_contain_any, '[]')) WHERE trim(value) <> ''
),
quoted (list, q) AS (
  SELECT
    list,
    CASE
      WHEN instr(text, ' ') THEN '"\"' || replace(replace(text, '\', ' '), '"', ' ') || '\""'
      ELSE '"' || replace(replace(text, '\', ' '), '"', ' ') || iif(:is_fuzzy, '~', '') || '"'
    END
  FROM term
)
SELECT
  (
    SELECT '('
      || group_concat(
        '(text ~ ' || q || ' OR title ~ ' || q || ' OR space.title ~ ' || q || ')',
        ' AND '
      ) || ')'
    FROM quoted
    WHERE list = 1
  ) AS every,
  (
    SELECT '('
      || group_concat(
        '(text ~ ' || q || ' OR title ~ ' || q || ' OR space.title ~ ' || q || ')',
        ' OR '
      ) || ')'
    FROM quoted
    WHERE list = 2
  ) AS some;
SELECT 'At least one search parameter must be provided' AS error
WHERE :every IS NULL AND :some IS NULL;
SELECT CASE
  WHEN :every IS NULL THEN :some
  WHEN :some IS NULL THEN :every
  ELSE :every || ' AND ' || :some
END AS cql;
SELECT json_object('results', json_group_array(json(json))) AS result
FROM (
  SELECT json_object(
    'id', CAST(c.id AS TEXT),
    'title', c.title,
    'type', c.type,
    'status', c.status,
    'excerpt', trim(substr(replace(c.text, char(10), ' '), 1, 200))
  ) AS json
  FROM content c
  WHERE {{cql :cql}}
  ORDER BY c.type = 'page' DESC, {{cql_order :cql}}
  LIMIT ifnull(:limit, 25)
);

-- name: confluence_list_attachments
SELECT
  ifnull(:limit, 25) AS size,
  iif(:pagination_token IS NULL, 0, CAST(substr(:pagination_token, 2) AS INTEGER)) AS skip;
SELECT 'API request failed: HTTP 400' AS error
WHERE :pagination_token IS NOT NULL AND ('c' || :skip <> :pagination_token OR :skip < 0);
SELECT count(*) AS total FROM attachment;
SELECT drop_nulls(json_object(
  'attachments', json_group_array(json(json)),
  'pagination_token', iif(:skip + :size < :total, 'c' || (:skip + :size), NULL)
)) AS result
FROM (
  SELECT json
  FROM attachment_view
  ORDER BY
    iif(:sort_order GLOB '*oldest-to-newest', created_at, NULL),
    iif(:sort_order GLOB '*oldest-to-newest', NULL, created_at) DESC,
    id
  LIMIT :size OFFSET :skip
);

-- name: confluence_get_attachments_for_page
-- include: find_page
SELECT
  ifnull(:limit, 25) AS size,
  iif(:pagination_token IS NULL, 0, CAST(substr(:pagination_token, 2) AS INTEGER)) AS skip;
SELECT 'API request failed: HTTP 400' AS error
WHERE :pagination_token IS NOT NULL AND ('c' || :skip <> :pagination_token OR :skip < 0);
SELECT count(*) AS total FROM attachment WHERE page_id = :id;
SELECT drop_nulls(json_object(
  'attachments', json_group_array(json(json)),
  'pagination_token', iif(:skip + :size < :total, 'c' || (:skip + :size), NULL)
)) AS result
FROM (
  SELECT json
  FROM attachment_view
  WHERE page_id = :id
  ORDER BY created_at, id
  LIMIT :size OFFSET :skip
);

-- name: confluence_get_attachment
SELECT 'API request failed: HTTP 404' AS error
WHERE NOT EXISTS (SELECT 1 FROM attachment WHERE id = :attachment_id);
SELECT json_object('attachment', json(json)) AS result
FROM attachment_view
WHERE id = :attachment_id;
