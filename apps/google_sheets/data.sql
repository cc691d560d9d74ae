-- Spreadsheets with their sheets and cells, the newest first: an import takes its first spreadsheet
-- for the newest. Texts are read as if they were typed, so dates, money and percentages are texts
-- here that show them, and what only looks like a number has an apostrophe before it. Values of
-- formulas are shown but not read. Ids and times have no place in the format, nor have formats of
-- numbers that neither their text nor a feature shows.

-- name: import
SELECT 'sheets of one spreadsheet must have different titles: ' || (h.value ->> 'title') AS error
FROM json_each(:args, '$.spreadsheets') s, json_each(s.value, '$.sheets') h
GROUP BY s.key, lower(h.value ->> 'title')
HAVING count(*) > 1;
SELECT 'a cell must have a row from 0 to 9999999 and a col from 0 to 18277' AS error
FROM
  json_each(:args, '$.spreadsheets') s,
  json_each(s.value, '$.sheets') h,
  json_each(h.value, '$.cells') c
WHERE c.type = 'object'
  AND (c.value ->> 'row' NOT BETWEEN 0 AND 9999999 OR c.value ->> 'col' NOT BETWEEN 0 AND 18277);
SELECT 'a cell has more than 50000 characters' AS error
FROM
  json_each(:args, '$.spreadsheets') s,
  json_each(s.value, '$.sheets') h,
  json_each(h.value, '$.cells') c
WHERE length(c.value ->> 'value') > 50000 OR length(c.value ->> 'formula') > 50000;
SELECT 'a feature has no kind that there is: ' || ifnull(f.value ->> 'kind', 'null') AS error
FROM
  json_each(:args, '$.spreadsheets') s,
  json_each(s.value, '$.sheets') h,
  json_each(h.value, '$.features') f
WHERE f.value ->> 'kind' NOT IN (
  'cell', 'pattern', 'merge', 'conditional', 'filter', 'rows', 'columns', 'properties'
);
-- Folders that there are not yet, and those that they are in.
WITH RECURSIVE wanted (path) AS (
  SELECT value FROM json_each(:args, '$.folders')
  UNION
  SELECT value ->> 'folder' FROM json_each(:args, '$.spreadsheets')
  UNION
  SELECT rtrim(rtrim(path, replace(path, '/', '')), '/') FROM wanted
)
SELECT json_group_object(path, new_id('folder')) AS folders
FROM (
  SELECT path
  FROM wanted
  WHERE path <> '' AND path NOT IN (SELECT path FROM folder_path)
  ORDER BY path
);
INSERT INTO folder
SELECT
  f.value,
  substr(f.key, length(rtrim(f.key, replace(f.key, '/', ''))) + 1),
  ifnull(
    (
      SELECT g.value
      FROM json_each(:folders) g
      WHERE g.key = rtrim(rtrim(f.key, replace(f.key, '/', '')), '/')
    ),
    (SELECT id FROM folder_path WHERE path = rtrim(rtrim(f.key, replace(f.key, '/', '')), '/'))
  )
FROM json_each(:folders) f
ORDER BY f.key;
SELECT ifnull(max(rank), 0) AS base, json_array_length(:args, '$.spreadsheets') AS n
FROM spreadsheet;
INSERT INTO spreadsheet
SELECT
  new_id('spreadsheet'),
  s.value ->> 'title',
  now(),
  now(),
  :base + :n - s.key,
  rand_int(0, 4294967295),
  (SELECT id FROM folder_path WHERE path = s.value ->> 'folder')
FROM json_each(:args, '$.spreadsheets') s
WHERE s.type = 'object';
INSERT INTO sheet
SELECT
  p.id,
  h.key,
  h.value ->> 'title',
  row_number() OVER (PARTITION BY p.id ORDER BY ifnull(h.value ->> 'index', h.key), h.key) - 1,
  max(
    ifnull(h.value ->> 'rowCount', 1000),
    1,
    ifnull((SELECT max(c.value ->> 'row') + 1 FROM json_each(h.value, '$.cells') c), 1)
  ),
  max(
    ifnull(h.value ->> 'columnCount', 26),
    1,
    ifnull((SELECT max(c.value ->> 'col') + 1 FROM json_each(h.value, '$.cells') c), 1)
  )
FROM json_each(:args, '$.spreadsheets') s
JOIN spreadsheet p ON p.rank = :base + :n - s.key, json_each(s.value, '$.sheets') h
WHERE h.type = 'object';
INSERT INTO sheet
SELECT id, 0, 'Sheet1', 0, 1000, 26
FROM spreadsheet p
WHERE rank > :base AND NOT EXISTS (SELECT 1 FROM sheet WHERE spreadsheet_id = p.id);
INSERT INTO feature
SELECT
  p.id,
  h.key,
  f.key,
  f.value ->> 'kind',
  ifnull(f.value ->> 'startRow', 0),
  ifnull(f.value ->> 'startColumn', 0),
  f.value ->> 'endRow',
  f.value ->> 'endColumn',
  ifnull(f.value -> 'value', '{}')
FROM json_each(:args, '$.spreadsheets') s
JOIN
  spreadsheet p ON p.rank = :base + :n - s.key,
  json_each(s.value, '$.sheets') h,
  json_each(h.value, '$.features') f
WHERE f.type = 'object';
INSERT OR REPLACE INTO permission (id, spreadsheet_id, email, role)
SELECT new_id('permission'), p.id, r.value ->> 'email', r.value ->> 'role'
FROM json_each(:args, '$.spreadsheets') s
JOIN spreadsheet p ON p.rank = :base + :n - s.key, json_each(s.value, '$.permissions') r
WHERE r.type = 'object'
ORDER BY s.key, r.key;
-- Of several cells in one place the last one counts.
INSERT OR REPLACE INTO cell (spreadsheet_id, sheet_id, row, col, formula, type, value, look, format)
SELECT
  id,
  sheet_id,
  row,
  col,
  entry ->> '$.formula',
  CASE
    WHEN entry IS NOT NULL THEN entry ->> '$.value[0]'
    WHEN type IN ('true', 'false') THEN 'boolean'
    ELSE 'number'
  END,
  CASE WHEN entry IS NOT NULL THEN entry ->> '$.value[1]' ELSE value END,
  ifnull(entry ->> '$.value[2]', 'plain'),
  CASE
    WHEN entry ->> '$.format' <> '' THEN entry ->> '$.format'
    WHEN entry ->> '$.value[0]' IN ('text', 'boolean') THEN ''
    ELSE ifnull((
      SELECT body ->> '$'
      FROM feature f
      WHERE f.spreadsheet_id = e.id
        AND f.sheet_id = e.sheet_id
        AND kind = 'pattern'
        AND e.row >= row0
        AND e.col >= col0
        AND (row1 IS NULL OR e.row < row1)
        AND (col1 IS NULL OR e.col < col1)
      ORDER BY n DESC
      LIMIT 1
    ), '')
  END
FROM (
  SELECT
    p.id,
    h.key AS sheet_id,
    c.value ->> 'row' AS row,
    c.value ->> 'col' AS col,
    json_type(c.value, '$.value') AS type,
    c.value ->> 'value' AS value,
    CASE
      WHEN nullif(ltrim(c.value ->> 'formula', ' ='), '') IS NOT NULL
        THEN cell_enter('=' || ltrim(c.value ->> 'formula', ' ='))
      WHEN json_type(c.value, '$.value') = 'text' THEN cell_enter(c.value ->> 'value')
    END AS entry,
    s.key AS k1,
    h.key AS k2,
    c.key AS k3
  FROM json_each(:args, '$.spreadsheets') s
  JOIN
    spreadsheet p ON p.rank = :base + :n - s.key,
    json_each(s.value, '$.sheets') h,
    json_each(h.value, '$.cells') c
  WHERE c.type = 'object'
  ORDER BY k1, k2, k3
) e
WHERE (entry IS NOT NULL OR value IS NOT NULL)
  AND (entry IS NULL OR entry ->> '$.formula' IS NOT NULL OR entry ->> '$.value[0]' <> 'blank');
INSERT INTO cell (spreadsheet_id, sheet_id, row, col, type, value, look, is_spilled)
SELECT
  b.id,
  h.sheet_id,
  c.value ->> 1,
  c.value ->> 2,
  c.value ->> 3,
  c.value ->> 4,
  c.value ->> 5,
  c.value ->> 6
FROM book b
JOIN
  spreadsheet p ON p.id = b.id,
  json_each(book_calculate(json_object('now_ms', now_ms(), 'seed', b.seed), b.sheets, b.cells)) c
JOIN sheet h ON h.spreadsheet_id = b.id AND h.position = c.value ->> 0
WHERE p.rank > :base AND b.has_formulas
ON CONFLICT DO UPDATE SET
  type = excluded.type,
  value = excluded.value,
  look = excluded.look,
  is_spilled = excluded.is_spilled;
SELECT json_object(
  'spreadsheets', (SELECT count(*) FROM spreadsheet WHERE rank > :base),
  'sheets', (SELECT count(*) FROM sheet JOIN spreadsheet ON id = spreadsheet_id WHERE rank > :base),
  'cells', (
    SELECT count(*)
    FROM cell
    JOIN spreadsheet ON id = spreadsheet_id
    WHERE rank > :base AND NOT is_spilled
  )
) AS result;

-- name: export
WITH shown AS (
  SELECT *, cell_show(type, value, look, format) AS text FROM cell WHERE NOT is_spilled
),
written AS (
  SELECT
    spreadsheet_id,
    sheet_id,
    row,
    col,
    formula,
    CASE
      WHEN formula IS NOT NULL
          AND (
            type = 'blank'
            OR formula LIKE '%NOW(%'
            OR formula LIKE '%TODAY(%'
            OR formula LIKE '%RAND%'
          )
        THEN NULL
      WHEN type = 'boolean' THEN iif(value, 'true', 'false')
      WHEN type = 'number'
          AND formula IS NULL
          AND format <> ''
          AND cell_enter(text) ->> '$.value' = json_array(type, value, look)
          AND cell_enter(text) ->> '$.format' = format
        THEN json_quote(text)
      WHEN type = 'text'
          AND formula IS NULL
          AND (cell_enter(value) ->> '$.value[0]' <> 'text' OR substr(value, 1, 1) IN ('''', '='))
        THEN json_quote('''' || value)
      ELSE json_quote(value)
    END AS value
  FROM shown
)
SELECT drop_nulls(json_object(
  'folders', (
    SELECT json_group_array(path)
    FROM (SELECT path FROM folder_path ORDER BY path)
    HAVING count(*) > 0
  ),
  'spreadsheets', json_group_array(json(item))
)) AS result
FROM (
  SELECT drop_nulls(json_object(
    'title', p.title,
    'sheets', (
      SELECT json_group_array(json(item))
      FROM (
        SELECT drop_nulls(json_object(
          'title', h.title,
          'index', h.position,
          'rowCount', h.row_count,
          'columnCount', h.column_count,
          'features', (
            SELECT json_group_array(drop_nulls(json_object(
              'kind', kind,
              'startRow', row0,
              'startColumn', col0,
              'endRow', row1,
              'endColumn', col1,
              'value', json(body)
            )))
            FROM (
              SELECT *
              FROM feature f
              WHERE f.spreadsheet_id = h.spreadsheet_id AND f.sheet_id = h.sheet_id
              ORDER BY n
            )
            HAVING count(*) > 0
          ),
          'cells', (
            SELECT json_group_array(json(item))
            FROM (
              SELECT drop_nulls(json_object(
                'row', row,
                'col', col,
                'value', json(value),
                'formula', formula
              )) AS item
              FROM written w
              WHERE w.spreadsheet_id = h.spreadsheet_id AND w.sheet_id = h.sheet_id
              ORDER BY row, col
            )
          )
        )) AS item
        FROM sheet h
        WHERE h.spreadsheet_id = p.id
        ORDER BY h.position
      )
    ),
    'folder', (SELECT path FROM folder_path f WHERE f.id = p.folder),
    'permissions', (
      SELECT json_group_array(json_object('email', email, 'role', role))
      FROM (SELECT * FROM permission r WHERE r.spreadsheet_id = p.id ORDER BY n)
      HAVING count(*) > 0
    )
  )) AS item
  FROM spreadsheet p
  ORDER BY rank DESC
);
