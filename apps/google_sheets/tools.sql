-- part: find_spreadsheet
SELECT id, title FROM spreadsheet WHERE id = :spreadsheet_id;
SELECT 'Google Sheets API Error (404): Requested entity was not found.' AS error WHERE :id IS NULL;

-- part: recalculate
-- Formulas that read one of :changed, [[position of the sheet, row, column], …]; null: all.
SELECT book_calculate(
  iif(
    :changed IS NULL,
    json_object('now_ms', now_ms(), 'seed', seed),
    json_object('now_ms', now_ms(), 'seed', seed, 'changed', json(:changed))
  ),
  sheets,
  cells
) AS changes
FROM book
WHERE id = :id AND has_formulas;
INSERT INTO cell (spreadsheet_id, sheet_id, row, col, type, value, look, is_spilled)
SELECT
  :id,
  sheet_id,
  c.value ->> 1,
  c.value ->> 2,
  c.value ->> 3,
  c.value ->> 4,
  c.value ->> 5,
  c.value ->> 6
FROM json_each(ifnull(:changes, '[]')) c
JOIN sheet ON spreadsheet_id = :id AND position = c.value ->> 0
WHERE true
ON CONFLICT DO UPDATE SET
  type = excluded.type,
  value = excluded.value,
  look = excluded.look,
  is_spilled = excluded.is_spilled;
DELETE FROM cell WHERE spreadsheet_id = :id AND is_spilled AND type = 'blank';

-- part: enter_cells
-- :entries, [[row, column, value], …], come into a sheet as if they were typed: an empty text
-- clears a cell, null leaves it as it is. No place is in it twice.
DELETE FROM cell
WHERE spreadsheet_id = :id
  AND sheet_id = :sheet_id
  AND (row, col) IN (
    SELECT value ->> 0, value ->> 1 FROM json_each(:entries) WHERE value ->> 2 = ''
  );
-- A cell keeps its format when a number without one of its own comes into it.
WITH e AS MATERIALIZED (
  SELECT
    value ->> 0 AS row,
    value ->> 1 AS col,
    value ->> 2 AS value,
    json_type(value, '$[2]') AS type,
    iif(json_type(value, '$[2]') = 'text', cell_enter(value ->> 2), NULL) AS entry
  FROM json_each(:entries)
)
INSERT INTO cell (spreadsheet_id, sheet_id, row, col, formula, type, value, look, format)
SELECT
  :id,
  :sheet_id,
  row,
  col,
  entry ->> '$.formula',
  CASE
    WHEN entry IS NOT NULL THEN entry ->> '$.value[0]'
    WHEN type IN ('true', 'false') THEN 'boolean'
    ELSE 'number'
  END,
  iif(entry IS NOT NULL, entry ->> '$.value[1]', value),
  ifnull(entry ->> '$.value[2]', 'plain'),
  CASE
    WHEN entry ->> '$.format' <> '' THEN entry ->> '$.format'
    WHEN entry ->> '$.value[0]' IN ('text', 'boolean') THEN ''
    ELSE ifnull((
      SELECT body ->> '$'
      FROM feature f
      WHERE f.spreadsheet_id = :id
        AND f.sheet_id = :sheet_id
        AND kind = 'pattern'
        AND e.row >= row0
        AND e.col >= col0
        AND (row1 IS NULL OR e.row < row1)
        AND (col1 IS NULL OR e.col < col1)
      ORDER BY n DESC
      LIMIT 1
    ), '')
  END
FROM e
WHERE type <> 'null' AND value <> ''
ON CONFLICT DO UPDATE SET
  formula = excluded.formula,
  type = excluded.type,
  value = excluded.value,
  look = CASE
    WHEN excluded.type = 'number' AND excluded.format = '' AND cell.format <> '' THEN cell.look
    ELSE excluded.look
  END,
  format = CASE
    WHEN excluded.format = '' AND excluded.type IN ('number', 'blank') THEN cell.format
    ELSE excluded.format
  END,
  is_spilled = 0;
UPDATE spreadsheet SET modified = now(), seed = rand_int(0, 4294967295) WHERE id = :id;
SELECT iif(
  json_array_length(:entries) > 100,
  NULL,
  (
    SELECT json_group_array(json_array(:position, value ->> 0, value ->> 1))
    FROM json_each(:entries)
    WHERE json_type(value, '$[2]') <> 'null'
  )
) AS changed;
-- include: recalculate

-- part: read_cells
-- Cells of :areas, [{"id", "sheet", "row0", "col0", "row1", "col1"}, …] (of which all but the id
-- may be null): [[area, sheet, row, column, shown, entered, type, value], …], without blank ones.
-- What the clock has changed since it was last calculated is new.
WITH area AS MATERIALIZED (
  SELECT
    key AS nth,
    value ->> 'id' AS id,
    value ->> 'sheet' AS sheet,
    ifnull(value ->> 'row0', 0) AS row0,
    ifnull(value ->> 'col0', 0) AS col0,
    ifnull(value ->> 'row1', 9999999) AS row1,
    ifnull(value ->> 'col1', 18277) AS col1
  FROM json_each(:areas)
),
fresh AS MATERIALIZED (
  SELECT
    b.id,
    sheet_id,
    c.value ->> 1 AS row,
    c.value ->> 2 AS col,
    c.value ->> 3 AS type,
    c.value ->> 4 AS value,
    c.value ->> 5 AS look,
    c.value ->> 6 AS is_spilled
  FROM
    book b,
    json_each(book_calculate(
      json_object('now_ms', now_ms(), 'seed', b.seed, 'changed', json('[]')),
      b.sheets,
      b.cells
    )) c
  JOIN sheet ON spreadsheet_id = b.id AND position = c.value ->> 0
  WHERE b.id IN (SELECT id FROM area) AND b.has_clock
),
now_cell AS (
  SELECT spreadsheet_id AS id, sheet_id, row, col, formula, type, value, look, format, is_spilled
  FROM cell c
  WHERE spreadsheet_id IN (SELECT id FROM area)
    AND NOT EXISTS (
      SELECT 1
      FROM fresh f
      WHERE f.id = c.spreadsheet_id AND f.sheet_id = c.sheet_id AND f.row = c.row AND f.col = c.col
    )
  UNION ALL
  SELECT
    f.id,
    f.sheet_id,
    f.row,
    f.col,
    c.formula,
    f.type,
    f.value,
    f.look,
    ifnull(c.format, ''),
    f.is_spilled
  FROM fresh f
  LEFT JOIN cell c
    ON c.spreadsheet_id = f.id AND c.sheet_id = f.sheet_id AND c.row = f.row AND c.col = f.col
),
shown AS (
  SELECT
    nth,
    sheet_id,
    row,
    col,
    cell_show(type, value, look, format) AS formatted,
    CASE
      WHEN formula IS NOT NULL THEN json_quote(formula)
      WHEN is_spilled OR type = 'blank' THEN '""'
      WHEN type = 'boolean' THEN iif(value, 'true', 'false')
      ELSE json_quote(value)
    END AS entered,
    type,
    value
  FROM area
  JOIN now_cell c
    ON c.id = area.id
      AND (sheet IS NULL OR sheet_id = sheet)
      AND row BETWEEN row0 AND row1
      AND col BETWEEN col0 AND col1
)
SELECT json_group_array(json_array(
  nth,
  sheet_id,
  row,
  col,
  formatted,
  json(entered),
  type,
  value
)) AS cells
FROM (
  SELECT * FROM shown WHERE formatted <> '' OR entered <> '""' ORDER BY nth, sheet_id, row, col
);

-- name: google_sheets_create_spreadsheet
SELECT 'title parameter is required' AS error WHERE :title = '';
SELECT CASE
  WHEN json_valid(ifnull(nullif(:data, ''), '{}')) THEN ifnull(nullif(:data, ''), '{}')
END AS body;
SELECT 'Invalid JSON or unexpected data format for parameter `data`' AS error
WHERE :body IS NULL OR json_type(:body) NOT IN ('object', 'null');
SELECT 'Invalid JSON or unexpected data format for parameter `data`' AS error
FROM json_each(:body) r
WHERE r.type <> 'object'
  OR r.key = ''
  OR r.key GLOB '*[^0-9]*'
  OR CAST(r.key AS INTEGER) < 1
  OR CAST(r.key AS INTEGER) > 1000000;
SELECT 'Invalid JSON or unexpected data format for parameter `data`' AS error
FROM json_each(:body) r, json_each(r.value) c
WHERE a1_column(c.key) IS NULL OR c.type IN ('object', 'array', 'null') OR length(c.value) > 50000;
INSERT INTO spreadsheet (id, title, created, modified, rank, seed)
SELECT
  new_id('spreadsheet'),
  :title,
  now(),
  now(),
  (SELECT ifnull(max(rank), 0) + 1 FROM spreadsheet),
  rand_int(0, 4294967295)
RETURNING id;
INSERT INTO sheet
SELECT
  :id,
  0,
  'Sheet1',
  0,
  max(1000, ifnull(max(CAST(r.key AS INTEGER)), 0)),
  max(26, ifnull(max(a1_column(c.key)), 0) + 1)
FROM (SELECT 1)
LEFT JOIN json_each(:body) r
LEFT JOIN json_each(r.value) c;
-- Texts are taken as they are, but for formulas, money and percentages; numbers get a format.
INSERT OR REPLACE INTO cell (spreadsheet_id, sheet_id, row, col, formula, type, value, look, format)
SELECT
  :id,
  0,
  row,
  col,
  entry ->> '$.formula',
  CASE
    WHEN entry IS NOT NULL THEN entry ->> '$.value[0]'
    WHEN type IN ('true', 'false') THEN 'boolean'
    WHEN type = 'text' THEN 'text'
    ELSE 'number'
  END,
  CASE WHEN entry IS NOT NULL THEN entry ->> '$.value[1]' ELSE value END,
  ifnull(entry ->> '$.value[2]', 'plain'),
  CASE
    WHEN entry IS NOT NULL THEN entry ->> '$.format'
    WHEN type = 'integer' THEN '#,##0'
    WHEN type = 'real' THEN '#,##0.00'
    ELSE ''
  END
FROM (
  SELECT
    CAST(r.key AS INTEGER) - 1 AS row,
    a1_column(c.key) AS col,
    c.type,
    c.value,
    CASE
      WHEN c.type = 'text'
          AND (c.value LIKE '=_%' OR c.value LIKE '$_%' OR c.value LIKE '_%\%' ESCAPE '\')
        THEN cell_enter(c.value)
    END AS entry
  FROM json_each(:body) r, json_each(r.value) c
  WHERE c.value <> ''
);
SELECT NULL AS changed;
-- include: recalculate
SELECT json_object(
  'title', :title,
  'spreadsheetId', :id,
  'spreadsheetUrl', 'https://docs.google.com/spreadsheets/d/' || :id || '/edit'
) AS result;

-- name: google_sheets_get_spreadsheet
SELECT 'spreadsheet_id parameter is required' AS error WHERE :spreadsheet_id = '';
-- include: find_spreadsheet
SELECT nullif(:range, '') AS wanted, ifnull(:cell_value_format, 'formatted') AS style;
SELECT a1_range(:wanted) AS area;
SELECT
  :area ->> 'row0' AS row0,
  :area ->> 'col0' AS col0,
  :area ->> 'row1' AS row1,
  :area ->> 'col1' AS col1,
  sheet_id AS only_sheet,
  row_count,
  column_count
FROM sheet
WHERE spreadsheet_id = :id
  AND :area IS NOT NULL
  AND (:area ->> 'sheet' IS NULL OR title = :area ->> 'sheet' COLLATE NOCASE)
ORDER BY position
LIMIT 1;
SELECT 'Google Sheets API Error (400): Unable to parse range: ' || :wanted AS error
WHERE :wanted IS NOT NULL AND :only_sheet IS NULL;
SELECT 'Google Sheets API Error (400): Range (' || :wanted || ') exceeds grid limits. Max rows: '
  || :row_count || ', max columns: ' || :column_count AS error
WHERE :row0 >= :row_count OR :col0 >= :column_count;
SELECT json_array(json_object(
  'id', :id,
  'sheet', :only_sheet,
  'row0', :row0,
  'col0', :col0,
  'row1', :row1,
  'col1', :col1
)) AS areas;
-- include: read_cells
WITH line AS MATERIALIZED (
  SELECT
    sheet_id,
    row,
    json_group_object(
      a1_letters(col),
      json(CASE :style
        WHEN 'all' THEN json_object('userEnteredValue', json(entered), 'formattedValue', formatted)
        WHEN 'userEntered' THEN entered
        ELSE json_quote(formatted)
      END)
    ) AS cells
  FROM (
    SELECT
      value ->> 1 AS sheet_id,
      value ->> 2 AS row,
      value ->> 3 AS col,
      value ->> 4 AS formatted,
      value -> 5 AS entered
    FROM json_each(:cells)
    ORDER BY key
  )
  GROUP BY sheet_id, row
)
SELECT json_object(
  'title', :title,
  'spreadsheetId', :id,
  'spreadsheetUrl', 'https://docs.google.com/spreadsheets/d/' || :id || '/edit',
  'sheets', (
    SELECT json_group_array(json_object(
      'sheetId', sheet_id,
      'title', title,
      'rowCount', row_count,
      'columnCount', column_count,
      'data', json((
        SELECT json_group_object(row + 1, json(cells))
        FROM (SELECT row, cells FROM line l WHERE l.sheet_id = s.sheet_id ORDER BY row)
      ))
    ))
    FROM (
      SELECT *
      FROM sheet
      WHERE spreadsheet_id = :id AND (:only_sheet IS NULL OR sheet_id = :only_sheet)
      ORDER BY position
    ) s
  )
) AS result;

-- name: google_sheets_write_to_cell
SELECT 'spreadsheet_id, column, row, and value parameters are required' AS error
WHERE :spreadsheet_id = '' OR :column = '';
SELECT 'Invalid column name ' || :column
  || '. It must be a non-empty string containing only letters' AS error
WHERE :column GLOB '*[^A-Za-z]*';
SELECT 'Invalid row number ' || :row || '. It must be a positive integer greater than 0.' AS error
WHERE :row < 1;
-- include: find_spreadsheet
SELECT sheet_id, title AS sheet, position, row_count, column_count, a1_column(:column) AS col
FROM sheet
WHERE spreadsheet_id = :id AND (:sheet_name IS NULL OR title = :sheet_name)
ORDER BY position
LIMIT 1;
SELECT 'Sheet name ' || :sheet_name || ' not found in spreadsheet with id ' || :id AS error
WHERE :sheet_id IS NULL;
SELECT 'Row ' || :row || ' is out of bounds for sheet ' || :sheet || ' in spreadsheet with id '
  || :id || '. Sheet only has ' || :row_count || ' rows which is less than the requested row '
  || :row AS error
WHERE :row > :row_count;
SELECT 'Column ' || :column || ' is out of bounds for sheet ' || :sheet
  || ' in spreadsheet with id ' || :id || '. Sheet only has ' || :column_count
  || ' columns which is less than the requested column ' || :column AS error
WHERE :col IS NULL OR :col >= :column_count;
SELECT 'Google Sheets API Error (400): Your input contains more than the maximum of 50000 '
  || 'characters in a single cell.' AS error
WHERE length(:value) > 50000;
SELECT json_array(json_array(:row - 1, :col, :value)) AS entries;
-- include: enter_cells
SELECT json_object(
  'spreadsheetId', :id,
  'sheetTitle', a1_sheet(:sheet),
  'updatedCell', upper(:column) || :row,
  'value', ifnull((
    SELECT cell_show(type, value, look, format)
    FROM cell
    WHERE spreadsheet_id = :id AND sheet_id = :sheet_id AND row = :row - 1 AND col = :col
  ), '')
) AS result;

-- name: google_sheets_list_spreadsheets
-- A page of the drive, the one that was changed last first.
SELECT json_object('spreadsheets', json_group_array(json(item)), 'total_count', count(*)) AS result
FROM (
  SELECT json_object(
    'id', id,
    'name', title,
    'createdTime', created,
    'modifiedTime', modified,
    'webViewLink', 'https://docs.google.com/spreadsheets/d/' || id || '/edit?usp=drivesdk',
    'owners', json_array((SELECT name FROM account))
  ) AS item
  FROM spreadsheet
  ORDER BY modified DESC, rank DESC
  LIMIT 100
);

-- name: google_sheets_list_sheets
SELECT 'spreadsheet_id parameter is required' AS error WHERE :spreadsheet_id = '';
-- include: find_spreadsheet
SELECT json_object(
  'spreadsheetId', :id,
  'spreadsheetUrl', 'https://docs.google.com/spreadsheets/d/' || :id || '/edit',
  'title', :title,
  'sheets', (
    SELECT json_group_array(json_object(
      'sheetId', sheet_id,
      'title', title,
      'index', position,
      'rowCount', row_count,
      'columnCount', column_count
    ))
    FROM (SELECT * FROM sheet WHERE spreadsheet_id = :id ORDER BY position)
  )
) AS result;

-- name: google_sheets_create_sheets
SELECT 'spreadsheet_id parameter is required' AS error WHERE :spreadsheet_id = '';
SELECT 'sheet_names parameter is required and must be an array' AS error
WHERE json_array_length(:sheet_names) = 0;
SELECT 'Google Sheets API Error (400): no more than 200 sheets at once' AS error
WHERE json_array_length(:sheet_names) > 200;
SELECT id, (SELECT count(*) FROM sheet WHERE spreadsheet_id = id) AS n_before
FROM spreadsheet
WHERE id = :spreadsheet_id;
-- Each name on its own: what is wrong with it, or nothing.
SELECT 'API Error (400): Invalid requests[0].addSheet: ' AS prefix;
SELECT json_group_array(json_array(name, problem)) AS plan
FROM (
  SELECT
    n.value AS name,
    CASE
      WHEN :id IS NULL THEN 'API Error (404): Requested entity was not found.'
      WHEN n.value = '' THEN :prefix || 'Sheet names must not be empty.'
      WHEN length(n.value) > 100
        THEN :prefix || 'Sheet names must not have more than 100 characters.'
      WHEN EXISTS (
          SELECT 1 FROM sheet WHERE spreadsheet_id = :id AND title = n.value COLLATE NOCASE
        )
          OR EXISTS (
            SELECT 1
            FROM json_each(:sheet_names) o
            WHERE o.key < n.key AND o.value = n.value COLLATE NOCASE
          )
        THEN :prefix || 'A sheet with the name "' || n.value
          || '" already exists. Please enter another name.'
    END AS problem
  FROM json_each(:sheet_names) n
  ORDER BY n.key
);
INSERT INTO sheet
SELECT :id, new_id, name, :n_before + row_number() OVER (ORDER BY nth) - 1, 1000, 26
FROM (
  SELECT p.key AS nth, p.value ->> 0 AS name, rand_int(2, 2147483647) AS new_id
  FROM json_each(:plan) p
  WHERE p.value ->> 1 IS NULL AND :id IS NOT NULL
);
UPDATE spreadsheet
SET modified = now()
WHERE id = :id AND (SELECT count(*) FROM sheet WHERE spreadsheet_id = :id) > :n_before;
-- Formulas may have named a sheet before there was one.
SELECT NULL AS changed;
-- include: recalculate
SELECT json_object(
  'spreadsheet_id', :spreadsheet_id,
  'created', (
    SELECT json_group_array(json_object('title', title, 'sheetId', sheet_id))
    FROM (
      SELECT title, sheet_id
      FROM sheet
      WHERE spreadsheet_id = :id AND position >= :n_before
      ORDER BY position
    )
  ),
  'failed', (
    SELECT json_group_array(json_object('name', p.value ->> 0, 'error', p.value ->> 1))
    FROM json_each(:plan) p
    WHERE p.value ->> 1 IS NOT NULL
  )
) AS result;
