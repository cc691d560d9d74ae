-- Besides what the initialize format of the service names, a space may have home (title, content,
-- comments and attachments of its home page, which every space gets by itself); a page: status,
-- author, created, updated, attachments; a comment: author, created (see data.json). The dump has
-- them where they are not what a new page has. Numbers and messages of versions are lost.

-- name: import
INSERT INTO space (id, key, name, description, author_id, created_at, is_private)
SELECT
  new_id('space'),
  value ->> '$.identifier',
  value ->> '$.name',
  value ->> '$.description',
  (SELECT account_id FROM me),
  now(),
  0
FROM json_each(:args, '$.spaces')
WHERE type = 'object'
ON CONFLICT (key) DO NOTHING;

-- The home pages of new spaces.
INSERT INTO stage (page_id, space_id, place, above, seed)
SELECT
  new_id('page'),
  s.id,
  '',
  NULL,
  json_pick(
    '*all',
    nullif(b.value -> '$.home', 'null'),
    json_object('title', s.name, 'content', '')
  )
FROM json_each(:args, '$.spaces') b
JOIN space s ON s.key = b.value ->> '$.identifier'
WHERE b.type = 'object' AND NOT EXISTS (SELECT 1 FROM page p WHERE p.space_id = s.id)
GROUP BY s.id
ORDER BY b.key;
-- The others, in the order of the body.
INSERT INTO stage (page_id, space_id, place, above, seed)
SELECT new_id('page'), space_id, place, above, seed
FROM (
  SELECT
    s.id AS space_id,
    b.key || t.fullkey AS place,
    t.value AS seed,
    b.key AS space_place,
    t.id AS position,
    iif(
      t.path = '$.pages',
      NULL,
      b.key || substr(t.path, 1, length(t.path) - length('.children'))
    ) AS above
  FROM json_each(:args, '$.spaces') b
  JOIN space s ON s.key = b.value ->> '$.identifier', json_tree(b.value) t
  WHERE b.type = 'object'
    AND t.type = 'object'
    AND (t.path = '$.pages' OR (t.path GLOB '$.pages[[]*' AND t.path GLOB '*.children'))
  ORDER BY space_place, position
);
SELECT json_group_array(who) AS strangers
FROM (
  SELECT seed ->> '$.author' AS who FROM stage
  UNION
  SELECT c.value ->> '$.author' FROM stage, json_each(seed, '$.comments') c WHERE c.type = 'object'
  UNION
  SELECT c.value ->> '$.author'
  FROM stage, json_each(seed, '$.attachments') c
  WHERE c.type = 'object'
)
WHERE who IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM account WHERE who IN (account_id, login, email, display_name));
-- include: common/newcomers
INSERT INTO account
SELECT rand_text('{hex:24}'), value ->> 'name', value ->> 'email', value ->> 'login'
FROM json_each(:newcomers)
ORDER BY key;
SELECT 'spaces: no account ' || who AS error
FROM (
  SELECT seed ->> '$.author' AS who FROM stage
  UNION
  SELECT c.value ->> '$.author' FROM stage, json_each(seed, '$.comments') c WHERE c.type = 'object'
  UNION
  SELECT c.value ->> '$.author'
  FROM stage, json_each(seed, '$.attachments') c
  WHERE c.type = 'object'
)
WHERE who IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM account WHERE who IN (account_id, login, email, display_name));
SELECT 'spaces: ' || (seed ->> '$.title') || ': status is not current or draft' AS error
FROM stage
WHERE seed ->> '$.status' NOT IN ('current', 'draft');
INSERT INTO page (
  id, space_id, parent_id, title, content, status, is_private, author_id, created_at, is_dated,
  version, message, updated_at, updated_by
)
SELECT
  page_id,
  space_id,
  parent,
  title,
  content,
  status,
  0,
  author,
  ifnull(created, now()),
  created IS NOT NULL,
  1,
  '',
  coalesce(updated, created, now()),
  author
FROM (
  SELECT
    g.page_id,
    g.space_id,
    g.seed ->> '$.title' AS title,
    g.seed ->> '$.content' AS content,
    ifnull(g.seed ->> '$.status', 'current') AS status,
    g.seed ->> '$.created' AS created,
    g.seed ->> '$.updated' AS updated,
    CASE
      WHEN g.place = '' THEN NULL
      WHEN g.above IS NULL
        THEN ifnull(
          (SELECT min(h.page_id) FROM stage h WHERE h.place = '' AND h.space_id = g.space_id),
          (SELECT min(p.id) FROM page p WHERE p.space_id = g.space_id AND p.parent_id IS NULL)
        )
      ELSE (SELECT h.page_id FROM stage h WHERE h.place = g.above AND h.space_id = g.space_id)
    END AS parent,
    ifnull(
      (
        SELECT account_id
        FROM account
        WHERE g.seed ->> '$.author' IN (account_id, login, email, display_name)
      ),
      (SELECT account_id FROM me)
    ) AS author
  FROM stage g
);
INSERT INTO comment (id, page_id, content, author_id, created_at, is_dated)
SELECT new_id('comment'), page_id, content, author, ifnull(created, now()), created IS NOT NULL
FROM (
  SELECT
    g.page_id,
    c.value ->> '$.content' AS content,
    c.value ->> '$.created' AS created,
    ifnull(
      (
        SELECT account_id
        FROM account
        WHERE c.value ->> '$.author' IN (account_id, login, email, display_name)
      ),
      (SELECT account_id FROM me)
    ) AS author
  FROM stage g, json_each(g.seed, '$.comments') c
  WHERE c.type = 'object'
  ORDER BY g.page_id, c.key
);
INSERT INTO attachment (
  id, page_id, title, media_type, comment, file_id, file_size, author_id, created_at, is_dated
)
SELECT
  new_id('attachment'),
  page_id,
  title,
  media_type,
  comment,
  new_id('file'),
  file_size,
  author,
  ifnull(created, now()),
  created IS NOT NULL
FROM (
  SELECT
    g.page_id,
    a.value ->> '$.title' AS title,
    a.value ->> '$.comment' AS comment,
    ifnull(a.value ->> '$.media_type', 'application/octet-stream') AS media_type,
    ifnull(a.value ->> '$.file_size', 0) AS file_size,
    a.value ->> '$.created' AS created,
    ifnull(
      (
        SELECT account_id
        FROM account
        WHERE a.value ->> '$.author' IN (account_id, login, email, display_name)
      ),
      (SELECT account_id FROM me)
    ) AS author
  FROM stage g, json_each(g.seed, '$.attachments') a
  WHERE a.type = 'object'
  ORDER BY g.page_id, a.key
);
SELECT
  count(*) AS n_pages,
  ifnull(sum(json_array_length(ifnull(seed -> '$.comments', '[]'))), 0) AS n_comments
FROM stage
WHERE place <> '';
DELETE FROM stage;
SELECT json_object(
  'spaces', json_array_length(ifnull(:args -> '$.spaces', '[]')),
  'pages', :n_pages,
  'comments', :n_comments
) AS result;

-- name: export
SELECT json_group_array(json(json)) AS spaces
FROM (
  SELECT drop_nulls(json_object(
    'identifier', s.key,
    'name', s.name,
    'description', s.description,
    'home', json((
      SELECT CASE
        WHEN h.title <> s.name
            OR h.content <> ''
            OR h.updated_at <> h.created_at
            OR EXISTS (SELECT 1 FROM comment x WHERE x.page_id = h.id)
            OR EXISTS (SELECT 1 FROM attachment x WHERE x.page_id = h.id)
          THEN (SELECT d.json FROM page_dump d WHERE d.id = h.id)
      END
      FROM page h
      WHERE h.space_id = s.id AND h.parent_id IS NULL
    )),
    'pages', json((
      SELECT nullif(json_nest(json_group_array(json(row)), '_id', '_parent', 'children', 1), '[]')
      FROM (
        SELECT json_pick(
          '*all',
          json_object('_id', CAST(p.id AS TEXT), '_parent', CAST(p.parent_id AS TEXT)),
          d.json
        ) AS row
        FROM page p
        JOIN page_dump d ON d.id = p.id
        WHERE p.space_id = s.id AND p.parent_id IS NOT NULL
        ORDER BY p.id
      )
    ))
  )) AS json
  FROM space s
  ORDER BY s.id
);
SELECT json_object('spaces', json(:spaces)) AS result;
