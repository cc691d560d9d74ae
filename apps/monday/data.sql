-- Workspaces, and boards with groups of items, their values, updates and subitems. The workspace of
-- a board is named by its id or its name. A board has the usual columns and one for each other key
-- of its items' values, of the type that the first value looks like. Beyond Klavis' format a board
-- may tell its "columns" instead (id, title, type, description, settings), and subitems may have
-- updates. Dumps tell columns only after they or values were changed. Ids of workspaces follow from
-- their order; those of groups and items, and times, have no place in it.

-- name: import
SELECT id AS me FROM user WHERE is_me;
WITH RECURSIVE below (kind, member, child) AS (
  VALUES
    ('board', 'groups', 'group'),
    ('group', 'items', 'item'),
    ('item', 'subitems', 'subitem'),
    ('item', 'updates', 'update'),
    ('subitem', 'updates', 'update')
),
t (ord, above, kind, board, json) AS (
  SELECT printf('%08d', key), NULL, 'board', printf('%08d', key), value
  FROM json_each(:args, '$.boards')
  WHERE type = 'object'
  UNION ALL
  SELECT
    t.ord || '.' || substr(b.member, 1, 1) || printf('%08d', x.key),
    t.ord,
    b.child,
    t.board,
    x.value
  FROM t
  JOIN below b ON b.kind = t.kind, json_each(t.json, '$.' || b.member) x
  WHERE x.type = 'object'
)
INSERT INTO stage (ord, above, kind, id, board, json)
SELECT
  ord,
  above,
  kind,
  iif(kind = 'group' AND ord LIKE '%00000000', 'topics', new_id(kind)),
  board,
  json
FROM (SELECT * FROM t ORDER BY ord);
SELECT 'workspace "' || (value ->> 'name') || '": kind is open or closed' AS error
FROM json_each(:args, '$.workspaces')
WHERE value ->> 'kind' NOT IN ('open', 'closed')
LIMIT 1;
SELECT 'board "' || (json ->> 'name') || '": board_kind is public, private or share' AS error
FROM stage
WHERE kind = 'board' AND json ->> 'board_kind' NOT IN ('public', 'private', 'share')
LIMIT 1;
INSERT INTO workspace
SELECT
  new_id('workspace'),
  (SELECT ifnull(max(place), 0) FROM workspace) + key + 1,
  value ->> 'name',
  ifnull(value ->> 'kind', 'open'),
  value ->> 'description'
FROM json_each(:args, '$.workspaces')
WHERE type = 'object'
ORDER BY key;
SELECT 'board "' || (json ->> 'name') || '": there is no workspace "' || (json ->> 'workspace_id')
  || '"' AS error
FROM stage
WHERE kind = 'board'
  AND json ->> 'workspace_id' <> ''
  AND NOT EXISTS (SELECT 1 FROM workspace w WHERE json ->> 'workspace_id' IN (w.id, w.name))
LIMIT 1;
INSERT INTO board
SELECT
  id,
  (SELECT ifnull(max(place), 0) FROM board) + row_number() OVER (ORDER BY ord),
  json ->> 'name',
  json ->> 'description',
  ifnull(json ->> 'board_kind', 'public'),
  (
    SELECT w.id
    FROM workspace w
    WHERE json ->> 'workspace_id' IN (w.id, w.name)
    ORDER BY w.place DESC
    LIMIT 1
  ),
  json_type(json, '$.columns') IS 'array'
FROM stage
WHERE kind = 'board'
ORDER BY ord;
INSERT INTO board_group
SELECT
  u.id,
  s.id,
  row_number() OVER (PARTITION BY s.above ORDER BY s.ord),
  s.json ->> 'title',
  s.json ->> 'color'
FROM stage s
JOIN stage u ON u.ord = s.above
WHERE s.kind = 'group';
INSERT INTO board_group
SELECT id, 'topics', 1, 'Group Title', NULL
FROM stage s
WHERE kind = 'board' AND NOT EXISTS (SELECT 1 FROM board_group g WHERE g.board_id = s.id);
INSERT INTO board_column (board_id, id, position, title, type)
SELECT s.id, c.id, c.position, c.title, c.type
FROM stage s, usual_column c
WHERE s.kind = 'board' AND (c.type = 'name' OR json_type(s.json, '$.columns') IS NOT 'array');
INSERT OR IGNORE INTO board_column
SELECT
  s.id,
  ifnull(c.value ->> 'id', ''),
  c.key + 1,
  ifnull(c.value ->> 'title', c.value ->> 'id'),
  ifnull(c.value ->> 'type', 'text'),
  c.value ->> 'description',
  ifnull(c.value -> 'settings', '{}')
FROM stage s, json_each(s.json, '$.columns') c
WHERE s.kind = 'board' AND c.type = 'object' AND c.value ->> 'id' <> ''
ORDER BY s.ord, c.key;
INSERT OR IGNORE INTO board_column (board_id, id, position, title, type)
SELECT
  board,
  key,
  3 + row_number() OVER (PARTITION BY board ORDER BY first, nth),
  upper(substr(key, 1, 1)) || replace(substr(key, 2), '_', ' '),
  CASE
    WHEN kind IN ('integer', 'real') THEN 'numbers'
    WHEN kind IN ('true', 'false') THEN 'checkbox'
    WHEN kind = 'array' THEN 'dropdown'
    WHEN kind = 'object'
      THEN ifnull((
        SELECT x.value
        FROM json_each(sample) m
        JOIN json_each('{"label":"status","index":"status","date":"date","personsAndTeams":"people",
                   "labels":"dropdown","ids":"dropdown","checked":"checkbox","email":"email",
                   "phone":"phone","url":"link","from":"timeline","rating":"rating","hour":"hour",
                   "countryCode":"country","tag_ids":"tags","lat":"location"}') x
          ON x.key = m.key
        ORDER BY x.id
        LIMIT 1
      ), 'long_text')
    ELSE ifnull((
      SELECT x.value
      FROM json_each('["status","date","numbers","people","email","phone","link","long_text",
                   "dropdown","checkbox","rating"]') x
      WHERE lower(substr(y.key, 1, length(x.value))) = x.value
        AND (x.value <> 'date' OR date(sample) IS NOT NULL)
      LIMIT 1
    ), 'text')
  END
FROM (
  SELECT b.id AS board, v.key, v.type AS kind, v.value AS sample, min(s.ord) AS first, v.id AS nth
  FROM stage s
  JOIN stage b ON b.ord = s.board, json_each(s.json, '$.column_values') v
  WHERE s.kind = 'item'
    AND v.type <> 'null'
    AND json_type(b.json, '$.columns') IS NOT 'array'
    AND v.key NOT IN (SELECT id FROM usual_column)
  GROUP BY b.id, v.key
) y;
-- The labels that there are, and those that the values have.
WITH given AS MATERIALIZED (
  SELECT
    b.id AS board,
    v.key AS id,
    min(s.ord) AS first,
    CASE v.type WHEN 'object' THEN v.value ->> 'label' WHEN 'text' THEN v.value END AS label
  FROM stage s
  JOIN stage b ON b.ord = s.board, json_each(s.json, '$.column_values') v
  WHERE s.kind = 'item'
  GROUP BY b.id, v.key, label
)
UPDATE board_column AS c
SET settings = json_object(
  'labels', (
    SELECT json_group_object(CAST(nth AS TEXT), label)
    FROM (
      SELECT 0 AS nth, 'Working on it' AS label
      UNION ALL
      SELECT 1, 'Done'
      UNION ALL
      SELECT 2, 'Stuck'
      UNION ALL
      SELECT 5 + row_number() OVER (ORDER BY g.first), g.label
      FROM given g
      WHERE g.board = c.board_id
        AND g.id = c.id
        AND g.label <> ''
        AND g.label NOT IN ('Working on it', 'Done', 'Stuck')
    )
  )
)
WHERE type = 'status'
  AND settings = '{}'
  AND board_id IN (SELECT id FROM stage WHERE kind = 'board');
WITH given AS MATERIALIZED (
  SELECT b.id AS board, v.key AS id, min(s.ord) AS first, l.value AS label
  FROM stage s
  JOIN
    stage b ON b.ord = s.board,
    json_each(s.json, '$.column_values') v,
    json_each(CASE v.type
      WHEN 'object' THEN ifnull(v.value -> '$.labels', '[]')
      WHEN 'array' THEN v.value
      ELSE json_array(v.value)
    END) l
  WHERE s.kind = 'item'
  GROUP BY b.id, v.key, l.value
)
UPDATE board_column AS c
SET settings = json_object(
  'labels', (
    SELECT json_group_array(json_object('id', nth, 'name', label))
    FROM (
      SELECT row_number() OVER (ORDER BY g.first, g.label) AS nth, g.label
      FROM given g
      WHERE g.board = c.board_id AND g.id = c.id AND g.label <> ''
    )
  )
)
WHERE type = 'dropdown'
  AND settings = '{}'
  AND board_id IN (SELECT id FROM stage WHERE kind = 'board');
INSERT INTO item
SELECT
  s.id,
  (SELECT ifnull(max(place), 0) FROM item) + row_number() OVER (ORDER BY s.ord),
  b.id,
  iif(s.kind = 'item', u.id, NULL),
  iif(s.kind = 'subitem', u.id, NULL),
  s.json ->> 'name'
FROM stage s
JOIN stage u ON u.ord = s.above
JOIN stage b ON b.ord = s.board
WHERE s.kind IN ('item', 'subitem')
ORDER BY s.ord;
INSERT INTO item_value
SELECT s.id, v.key, s.json -> 'column_values' -> v.key
FROM stage s, json_each(s.json, '$.column_values') v
WHERE s.kind IN ('item', 'subitem') AND v.type <> 'null'
ORDER BY s.ord, v.id;
INSERT INTO item_update
SELECT
  s.id,
  (SELECT ifnull(max(place), 0) FROM item_update) + row_number() OVER (ORDER BY s.ord),
  u.id,
  :me,
  s.json ->> 'body',
  now()
FROM stage s
JOIN stage u ON u.ord = s.above
WHERE s.kind = 'update'
ORDER BY s.ord;
SELECT json_group_object(kind || 's', n) AS counts
FROM (SELECT kind, count(*) AS n FROM stage GROUP BY kind ORDER BY min(ord));
DELETE FROM stage;
SELECT json_patch(
  json_object('workspaces', json_array_length(ifnull(:args -> '$.workspaces', '[]'))),
  :counts
) AS result;

-- name: export
WITH i AS (
  SELECT
    i.*,
    (
      SELECT iif(count(*) > 0, json_group_object(column_id, json(value)), NULL)
      FROM (SELECT column_id, value FROM item_value WHERE item_id = i.id ORDER BY rowid)
    ) AS vals,
    (
      SELECT json_group_array(json_object('body', body))
      FROM (SELECT body FROM item_update WHERE item_id = i.id ORDER BY place)
    ) AS updates
  FROM item i
)
SELECT json_object(
  'workspaces', (
    SELECT json_group_array(json(json))
    FROM (
      SELECT drop_nulls(json_object('name', name, 'kind', kind, 'description', description)) AS json
      FROM workspace
      ORDER BY place
    )
  ),
  'boards', (
    SELECT json_group_array(json(json))
    FROM (
      SELECT drop_nulls(json_object(
        'name', b.name,
        'description', b.description,
        'board_kind', b.kind,
        'workspace_id', b.workspace_id,
        'columns', iif(
          b.tells_columns,
          (
            SELECT json_group_array(json(json))
            FROM (
              SELECT drop_nulls(json_object(
                'id', id,
                'title', title,
                'type', type,
                'description', description,
                'settings', json(nullif(settings, '{}'))
              )) AS json
              FROM board_column
              WHERE board_id = b.id AND type <> 'name'
              ORDER BY position
            )
          ),
          NULL
        ),
        'groups', (
          SELECT json_group_array(json(json))
          FROM (
            SELECT drop_nulls(json_object(
              'title', g.title,
              'color', g.color,
              'items', (
                SELECT json_group_array(json(json))
                FROM (
                  SELECT drop_nulls(json_object(
                    'name', i.name,
                    'column_values', json(i.vals),
                    'updates', json(i.updates),
                    'subitems', (
                      SELECT json_group_array(json(json))
                      FROM (
                        SELECT drop_nulls(json_object(
                          'name', s.name,
                          'column_values', json(s.vals),
                          'updates', json(nullif(s.updates, '[]'))
                        )) AS json
                        FROM i s
                        WHERE s.parent_id = i.id
                        ORDER BY s.place
                      )
                    )
                  )) AS json
                  FROM i
                  WHERE i.board_id = b.id AND i.group_id = g.id
                  ORDER BY i.place
                )
              )
            )) AS json
            FROM board_group g
            WHERE g.board_id = b.id
            ORDER BY g.position
          )
        )
      )) AS json
      FROM board b
      ORDER BY b.place
    )
  )
) AS result;
