-- part: fail
-- What the API says, as the library for it shows that.
SELECT 'Error executing tool ' || :tool || ': <HttpError ' || :status
  || ' when requesting https://sheets.googleapis.com/v4/spreadsheets/' || :path || ' returned "'
  || :problem || '". Details: "' || :problem || '">' AS error
WHERE :problem IS NOT NULL;

-- part: find_book
SELECT id, :spreadsheet_id || '?alt=json' AS path
FROM (SELECT 1)
LEFT JOIN spreadsheet ON id = :spreadsheet_id;
SELECT 404 AS status, 'Requested entity was not found.' AS problem WHERE :id IS NULL;
-- include: fail

-- part: find_sheet
SELECT sheet_id FROM sheet WHERE spreadsheet_id = :id AND title = :sheet;
SELECT json_indent(json_object('error', 'Sheet ''' || :sheet || ''' not found')) AS error
WHERE :sheet_id IS NULL;

-- part: find_grid
-- The same for ranges: the title may stand in quotes, and need not be there.
SELECT id FROM spreadsheet WHERE id = :spreadsheet_id;
SELECT 404 AS status, 'Requested entity was not found.' AS problem WHERE :id IS NULL;
-- include: fail
SELECT sheet_id, title AS sheet_title, position, row_count, column_count
FROM sheet
WHERE spreadsheet_id = :id
  AND (
    title = :sheet COLLATE NOCASE OR title = a1_range(:sheet || '!A1') ->> 'sheet' COLLATE NOCASE
  )
ORDER BY title = :sheet DESC
LIMIT 1;

-- part: find_range
-- A sheet, and :range of it.
SELECT :sheet || ifnull('!' || nullif(:range, ''), '') AS full_range;
SELECT :spreadsheet_id || '/values/'
  || replace(replace(replace(:full_range, '!', '%21'), ':', '%3A'), ' ', '%20') || :query AS path;
-- include: find_grid
SELECT a1_range(:range) AS area;
SELECT 400 AS status, 'Unable to parse range: ' || :full_range AS problem
WHERE :sheet_id IS NULL OR (:range <> '' AND (:area IS NULL OR :area ->> 'sheet' IS NOT NULL));
-- include: fail
SELECT
  ifnull(:area ->> 'row0', 0) AS row0,
  ifnull(:area ->> 'col0', 0) AS col0,
  :area ->> 'row1' AS row1,
  :area ->> 'col1' AS col1;
SELECT
  400 AS status,
  'Range (' || a1_sheet(:sheet_title) || '!' || :range || ') exceeds grid limits. Max rows: '
    || :row_count || ', max columns: ' || :column_count AS problem
WHERE :row0 >= :row_count OR :col0 >= :column_count;
-- include: fail
SELECT json_array(json_object(
  'id', :id,
  'sheet', :sheet_id,
  'row0', :row0,
  'col0', :col0,
  'row1', :row1,
  'col1', :col1
)) AS areas;

-- part: write_ranges
-- :plan, [[range, rows of values], …], come into :sheet; what the API answers is :responses.
-- include: find_grid
-- What is wrong with one of them: its range, a value, that there are more values than places.
SELECT 400 AS status, prefix || problem AS problem
FROM (
  SELECT
    nth,
    prefix,
    CASE
      WHEN :sheet_id IS NULL OR area IS NULL OR area ->> 'sheet' IS NOT NULL
        THEN 'Unable to parse range: ' || :sheet || '!' || range
      WHEN area ->> 'row0' >= :row_count
          OR area ->> 'col0' >= :column_count
          OR (
            is_cell
            AND (
              n_rows > :row_count - (area ->> 'row0') OR n_cols > :column_count - (area ->> 'col0')
            )
          )
        THEN 'Range (' || a1_sheet(:sheet_title) || '!' || range
          || ') exceeds grid limits. Max rows: ' || :row_count || ', max columns: ' || :column_count
      WHEN NOT is_cell AND n_rows > ifnull(area ->> 'row1', :row_count - 1) + 1 - (area ->> 'row0')
        THEN 'Requested writing within range [' || a1_sheet(:sheet_title) || '!' || range
          || '], but tried writing to row [' || (ifnull(area ->> 'row1', :row_count - 1) + 2) || ']'
      WHEN NOT is_cell
          AND n_cols > ifnull(area ->> 'col1', :column_count - 1) + 1 - (area ->> 'col0')
        THEN 'Requested writing within range [' || a1_sheet(:sheet_title) || '!' || range
          || '], but tried writing to column ['
          || a1_letters(ifnull(area ->> 'col1', :column_count - 1) + 1) || ']'
      ELSE (
        SELECT CASE
          WHEN v.type = 'array' THEN 'Invalid values[' || r.key || '][' || v.key || ']: list_value'
          WHEN v.type = 'object'
            THEN 'Invalid values[' || r.key || '][' || v.key || ']: struct_value'
          ELSE 'Your input contains more than the maximum of 50000 '
            || 'characters in a single cell.'
        END
        FROM json_each(data) r, json_each(r.value) v
        WHERE v.type IN ('array', 'object') OR length(v.value) > 50000
        LIMIT 1
      )
    END AS problem
  FROM (
    SELECT
      p.key AS nth,
      iif(:is_batch, 'Invalid data[' || p.key || ']: ', '') AS prefix,
      p.value ->> 0 AS range,
      p.value -> 1 AS data,
      a1_range(p.value ->> 0) AS area,
      a1_range(p.value ->> 0) ->> 'row0' = a1_range(p.value ->> 0) ->> 'row1'
        AND a1_range(p.value ->> 0) ->> 'col0' = a1_range(p.value ->> 0) ->> 'col1' AS is_cell,
      json_array_length(p.value, '$[1]') AS n_rows,
      (SELECT max(json_array_length(value)) FROM json_each(p.value, '$[1]')) AS n_cols
    FROM json_each(:plan) p
  )
)
WHERE problem IS NOT NULL
ORDER BY nth
LIMIT 1;
-- include: fail
-- Where two ranges meet, the later one counts.
WITH spot AS MATERIALIZED (
  SELECT
    key AS nth,
    a1_range(value ->> 0) ->> 'row0' AS row0,
    a1_range(value ->> 0) ->> 'col0' AS col0,
    value -> 1 AS data
  FROM json_each(:plan)
)
SELECT json_group_array(json_array(row, col, json(value))) AS entries
FROM (
  SELECT
    row0 + r.key AS row,
    col0 + v.key AS col,
    max(nth),
    CASE WHEN v.type IN ('true', 'false') THEN v.type ELSE json_quote(v.value) END AS value
  FROM spot, json_each(data) r, json_each(r.value) v
  WHERE v.type <> 'null'
  GROUP BY row0 + r.key, col0 + v.key
);
-- include: enter_cells
SELECT json_group_array(json_object(
  'spreadsheetId', :id,
  'updatedRange', a1_sheet(:sheet_title) || '!' || a1_letters(col0) || (row0 + 1)
    || iif(n_rows > 1 OR n_cols > 1, ':' || a1_letters(col0 + n_cols - 1) || (row0 + n_rows), ''),
  'updatedRows', n_rows,
  'updatedColumns', n_cols,
  'updatedCells', n_cells
)) AS responses
FROM (
  SELECT
    a1_range(p.value ->> 0) ->> 'row0' AS row0,
    a1_range(p.value ->> 0) ->> 'col0' AS col0,
    max(json_array_length(p.value, '$[1]'), 1) AS n_rows,
    max(1, ifnull(
      (SELECT max(json_array_length(value)) FROM json_each(p.value, '$[1]')),
      1
    )) AS n_cols,
    (
      SELECT count(*) FROM json_each(p.value, '$[1]') r, json_each(r.value) v WHERE v.type <> 'null'
    ) AS n_cells
  FROM json_each(:plan) p
  ORDER BY p.key
);

-- part: update_book
-- :requests of the API change the spreadsheet :id, one after the other; :replies are the answers.
SELECT sheets_update(
  json_object(
    'title', title,
    'sheets', (
      SELECT json_group_array(json_array(sheet_id, title, row_count, column_count))
      FROM (SELECT * FROM sheet WHERE spreadsheet_id = :id ORDER BY position)
    ),
    'cells', (
      SELECT json_group_array(json_array(position, row, col, formula, type, value, look, format))
      FROM (
        SELECT *
        FROM cell
        JOIN sheet USING (spreadsheet_id, sheet_id)
        WHERE spreadsheet_id = :id AND NOT is_spilled
        ORDER BY position, row, col
      )
    ),
    'features', (
      SELECT json_group_array(json_array(position, kind, row0, col0, row1, col1, json(body)))
      FROM (
        SELECT *
        FROM feature
        JOIN sheet USING (spreadsheet_id, sheet_id)
        WHERE spreadsheet_id = :id
        ORDER BY position, n
      )
    )
  ),
  :requests,
  (SELECT json_group_array(rand_int(2, 2147483647)) FROM json_each(:requests))
) AS after
FROM spreadsheet
WHERE id = :id;
SELECT 400 AS status, :id || ':batchUpdate?alt=json' AS path, :after ->> 'error' AS problem;
-- include: fail
DELETE FROM cell WHERE spreadsheet_id = :id;
DELETE FROM feature WHERE spreadsheet_id = :id;
DELETE FROM sheet WHERE spreadsheet_id = :id;
INSERT INTO sheet
SELECT :id, value ->> 0, value ->> 1, key, value ->> 2, value ->> 3
FROM json_each(:after, '$.sheets');
INSERT INTO feature
SELECT
  :id,
  :after ->> ('$.sheets[' || (value ->> 0) || '][0]'),
  key,
  value ->> 1,
  value ->> 2,
  value ->> 3,
  value ->> 4,
  value ->> 5,
  value -> 6
FROM json_each(:after, '$.features');
INSERT INTO cell (spreadsheet_id, sheet_id, row, col, formula, type, value, look, format)
SELECT
  :id,
  sheet_id,
  value ->> 1,
  value ->> 2,
  value ->> 3,
  value ->> 4,
  value ->> 5,
  value ->> 6,
  value ->> 7
FROM json_each(:after, '$.cells')
JOIN sheet ON spreadsheet_id = :id AND position = value ->> 0;
UPDATE spreadsheet
SET title = :after ->> 'title', modified = now(), seed = rand_int(0, 4294967295)
WHERE id = :id;
SELECT NULL AS changed, :after -> 'replies' AS replies;
-- include: recalculate

-- part: sheet_properties
-- What the API tells of a sheet itself.
SELECT sheets_merge(json_group_array(json(body))) AS properties
FROM (
  SELECT
    -1 AS n,
    json_object(
      'sheetId', sheet_id,
      'title', title,
      'index', position,
      'sheetType', 'GRID',
      'gridProperties.rowCount', row_count,
      'gridProperties.columnCount', column_count
    ) AS body
  FROM sheet
  WHERE spreadsheet_id = :id AND sheet_id = :sheet_id
  UNION ALL
  SELECT n, body
  FROM feature
  WHERE spreadsheet_id = :id AND sheet_id = :sheet_id AND kind = 'properties'
  ORDER BY n
);

-- name: get_sheet_data
SELECT 'get_sheet_data' AS tool, '?alt=json' AS query;
-- include: find_range
-- include: read_cells
SELECT json_object(
  'spreadsheetId', :id,
  'valueRanges', json_array(json_object(
    'range', :full_range,
    'values', sheets_rows((
      SELECT json_group_array(json_array(value ->> 2, value ->> 3, value ->> 4))
      FROM (SELECT value FROM json_each(:cells) WHERE value ->> 4 <> '' ORDER BY key)
    ), :row0, :col0, '""')
  ))
) AS result
WHERE NOT :include_grid_data;
-- With formats also cells are shown that have nothing else, unless they are very many.
SELECT
  max(
    ifnull((SELECT max(value ->> 2) FROM json_each(:cells)), -1),
    ifnull(max(min(row1, ifnull(:row1 + 1, row1)) - 1), -1)
  ) AS last_row,
  max(
    ifnull((SELECT max(value ->> 3) FROM json_each(:cells)), -1),
    ifnull(max(min(col1, ifnull(:col1 + 1, col1)) - 1), -1)
  ) AS last_col
FROM (SELECT 1)
LEFT JOIN feature
  ON spreadsheet_id = :id
    AND sheet_id = :sheet_id
    AND kind = 'cell'
    AND (row1 - row0) * (col1 - col0) <= 10000
    AND row1 > :row0
    AND col1 > :col0
    AND (:row1 IS NULL OR row0 <= :row1)
    AND (:col1 IS NULL OR col0 <= :col1);
WITH RECURSIVE r (row) AS (
  SELECT :row0
  WHERE :include_grid_data
    AND :row0 <= :last_row
    AND (:last_row - :row0 + 1) * (:last_col - :col0 + 1) <= 100000
  UNION ALL
  SELECT row + 1 FROM r WHERE row < :last_row
),
c (col) AS (
  SELECT :col0 WHERE :col0 <= :last_col
  UNION ALL
  SELECT col + 1 FROM c WHERE col < :last_col
),
held AS MATERIALIZED (
  SELECT
    value ->> 2 AS row,
    value ->> 3 AS col,
    value ->> 4 AS shown,
    value -> 5 AS entered,
    json_type(value, '$[5]') AS entry_type,
    value ->> 6 AS type,
    value -> 7 AS value
  FROM json_each(:cells)
  WHERE :include_grid_data
),
place AS (SELECT row, col FROM r, c UNION SELECT row, col FROM held),
dressed AS (
  SELECT
    p.row,
    p.col,
    CASE
      WHEN entered = '""' OR entered IS NULL THEN NULL
      WHEN entry_type = 'text' AND (type <> 'text' OR substr(entered, 2, 1) = '=')
        THEN json_object('formulaValue', json(entered))
      WHEN entry_type IN ('true', 'false') THEN json_object('boolValue', json(entered))
      WHEN entry_type = 'text' THEN json_object('stringValue', json(entered))
      ELSE json_object('numberValue', json(entered))
    END AS user,
    CASE type
      WHEN 'number' THEN json_object('numberValue', json(held.value))
      WHEN 'text' THEN json_object('stringValue', json(held.value))
      WHEN 'boolean' THEN json_object('boolValue', json(iif(held.value, 'true', 'false')))
      WHEN 'error'
        THEN json_object(
          'errorValue', json_object(
            'type', rtrim(replace(replace(held.value ->> '$', '#', ''), '/', '_'), '!?')
          )
        )
    END AS effective,
    nullif(shown, '') AS shown,
    (
      SELECT sheets_merge(json_group_array(json(body)))
      FROM (
        SELECT body
        FROM feature
        WHERE spreadsheet_id = :id
          AND sheet_id = :sheet_id
          AND kind = 'cell'
          AND p.row >= row0
          AND p.col >= col0
          AND (row1 IS NULL OR p.row < row1)
          AND (col1 IS NULL OR p.col < col1)
        ORDER BY n
      )
    ) AS look
  FROM place p
  LEFT JOIN held ON held.row = p.row AND held.col = p.col
)
SELECT json_group_array(json_array(row, col, json(item))) AS grid
FROM (
  SELECT
    row,
    col,
    json_patch(
      drop_nulls(json_object(
        'userEnteredValue', json(user),
        'effectiveValue', json(effective),
        'formattedValue', shown
      )),
      look
    ) AS item
  FROM dressed
  ORDER BY row, col
)
WHERE item <> '{}';
WITH RECURSIVE line (kind, i, last) AS (
  SELECT 'rows', :row0, :last_row
  UNION ALL
  SELECT 'columns', :col0, :last_col
  UNION ALL
  SELECT kind, i + 1, last FROM line WHERE i < last
),
line_size AS (
  SELECT
    kind,
    i,
    sheets_merge((
      SELECT json_group_array(json(body))
      FROM (
        SELECT '{"pixelSize": ' || iif(line.kind = 'rows', 21, 100) || '}' AS body
        UNION ALL
        SELECT body
        FROM (
          SELECT body
          FROM feature f
          WHERE spreadsheet_id = :id
            AND sheet_id = :sheet_id
            AND f.kind = line.kind
            AND i >= iif(f.kind = 'rows', row0, col0)
            AND i < ifnull(iif(f.kind = 'rows', row1, col1), 1e9)
          ORDER BY n
        )
      )
    )) AS size
  FROM line
  WHERE :include_grid_data
    AND EXISTS (
      SELECT 1
      FROM feature f
      WHERE spreadsheet_id = :id AND sheet_id = :sheet_id AND f.kind = line.kind
    )
)
SELECT
  (
    SELECT json_group_array(json(size)) FROM line_size WHERE kind = 'rows' HAVING count(*) > 0
  ) AS row_sizes,
  (
    SELECT json_group_array(json(size)) FROM line_size WHERE kind = 'columns' HAVING count(*) > 0
  ) AS column_sizes;
WITH area AS (
  SELECT
    n,
    kind,
    body,
    json_object(
      'sheetId', :sheet_id,
      'startRowIndex', row0,
      'endRowIndex', ifnull(row1, :row_count),
      'startColumnIndex', col0,
      'endColumnIndex', ifnull(col1, :column_count)
    ) AS range
  FROM feature
  WHERE spreadsheet_id = :id AND sheet_id = :sheet_id
)
SELECT
  (
    SELECT json_group_array(json(range)) FROM area WHERE kind = 'merge' HAVING count(*) > 0
  ) AS merges,
  (
    SELECT json_group_array(json(rule))
    FROM (
      SELECT json_patch(
        json_object('ranges', json_group_array(json(range))),
        min(body -> 'rule')
      ) AS rule
      FROM area
      WHERE kind = 'conditional'
      GROUP BY body ->> 'index'
      ORDER BY body ->> 'index'
    )
    HAVING count(*) > 0
  ) AS rules,
  (
    SELECT json_patch(json_object('range', json(range)), body) FROM area WHERE kind = 'filter'
  ) AS filter;
-- include: sheet_properties
SELECT json_object(
  'spreadsheetId', :id,
  'properties', json_object(
    'title', title,
    'locale', 'en_US',
    'autoRecalc', 'ON_CHANGE',
    'timeZone', 'Etc/GMT'
  ),
  'sheets', json_array(drop_nulls(json_object(
    'properties', json(:properties),
    'data', json_array(drop_nulls(json_object(
      'startRow', nullif(:row0, 0),
      'startColumn', nullif(:col0, 0),
      'rowData', (
        SELECT json_group_array(json_object('values', json(value)))
        FROM json_each(sheets_rows(:grid, :row0, :col0, '{}'))
      ),
      'rowMetadata', json(:row_sizes),
      'columnMetadata', json(:column_sizes)
    ))),
    'merges', json(:merges),
    'conditionalFormats', json(:rules),
    'basicFilter', json(:filter)
  ))),
  'spreadsheetUrl', 'https://docs.google.com/spreadsheets/d/' || :id || '/edit'
) AS result
FROM spreadsheet
WHERE id = :id AND :include_grid_data;

-- name: get_sheet_formulas
SELECT 'get_sheet_formulas' AS tool, '?valueRenderOption=FORMULA&alt=json' AS query;
-- include: find_range
-- include: read_cells
-- What a formula fills beside itself is a value there.
SELECT sheets_rows((
  SELECT json_group_array(json_array(
    value ->> 2,
    value ->> 3,
    json(CASE
      WHEN value ->> 5 <> '' THEN value -> 5
      WHEN value ->> 6 = 'boolean' THEN iif(value ->> 7, 'true', 'false')
      ELSE value -> 7
    END)
  ))
  FROM (SELECT value FROM json_each(:cells) ORDER BY key)
), :row0, :col0, '""') AS result;

-- name: update_cells
SELECT
  'update_cells' AS tool,
  0 AS is_batch,
  :spreadsheet_id || '/values/'
    || replace(replace(replace(:sheet || '!' || :range, '!', '%21'), ':', '%3A'), ' ', '%20')
    || '?valueInputOption=USER_ENTERED&alt=json' AS path,
  json_array(json_array(:range, json(:data))) AS plan;
-- include: write_ranges
SELECT :responses -> 0 AS result;

-- name: batch_update_cells
SELECT
  'batch_update_cells' AS tool,
  1 AS is_batch,
  :spreadsheet_id || '/values:batchUpdate?alt=json' AS path,
  (SELECT json_group_array(json_array(key, json(value))) FROM json_each(:ranges)) AS plan;
-- include: write_ranges
SELECT json_object(
  'spreadsheetId', :id,
  'totalUpdatedRows', sum(value ->> 'updatedRows'),
  'totalUpdatedColumns', sum(value ->> 'updatedColumns'),
  'totalUpdatedCells', sum(value ->> 'updatedCells'),
  'totalUpdatedSheets', 1,
  'responses', json(:responses)
) AS result
FROM json_each(:responses);

-- part: add_lines
-- :count of :dimension, before the one that is :start.
-- include: find_book
-- include: find_sheet
SELECT json_array(json_object(
  'insertDimension', json_object(
    'range', json_object(
      'sheetId', :sheet_id,
      'dimension', :dimension,
      'startIndex', :start,
      'endIndex', :start + :count
    ),
    'inheritFromBefore', json(iif(:start > 0, 'true', 'false'))
  )
)) AS requests;
-- include: update_book
SELECT json_object('spreadsheetId', :id, 'replies', json(:replies)) AS result;

-- name: add_rows
SELECT 'add_rows' AS tool, 'ROWS' AS dimension, ifnull(:start_row, 0) AS start;
-- include: add_lines

-- name: add_columns
SELECT 'add_columns' AS tool, 'COLUMNS' AS dimension, ifnull(:start_column, 0) AS start;
-- include: add_lines

-- name: list_sheets
SELECT 'list_sheets' AS tool;
-- include: find_book
SELECT json_group_array(title) AS result
FROM (SELECT title FROM sheet WHERE spreadsheet_id = :id ORDER BY position);

-- name: copy_sheet
SELECT 'copy_sheet' AS tool, :dst_spreadsheet AS spreadsheet_id;
-- include: find_book
SELECT :id AS target, :src_spreadsheet AS spreadsheet_id;
-- include: find_book
SELECT sheet_id AS source FROM sheet WHERE spreadsheet_id = :id AND title = :src_sheet;
SELECT json_indent(json_object('error', 'Source sheet ''' || :src_sheet || ''' not found')) AS error
WHERE :source IS NULL;
SELECT
  :target || ':batchUpdate?alt=json' AS path,
  400 AS status,
  'Invalid requests[0].updateSheetProperties: ' || iif(
    :dst_sheet = '',
    'Sheet names must not be empty.',
    'A sheet with the name "' || :dst_sheet || '" already exists. Please enter another name.'
  ) AS problem
WHERE :dst_sheet = ''
  OR EXISTS (
    SELECT 1 FROM sheet WHERE spreadsheet_id = :target AND title = :dst_sheet COLLATE NOCASE
  );
-- include: fail
SELECT
  'Copy of ' || :src_sheet AS wanted,
  rand_int(2, 2147483647) AS sheet_id,
  (SELECT count(*) FROM sheet WHERE spreadsheet_id = :target) AS place;
SELECT iif(n = 1, :wanted, :wanted || ' ' || n) AS copy_title
FROM (SELECT 1 AS n UNION ALL SELECT row_number() OVER () + 1 FROM sheet)
WHERE NOT EXISTS (
  SELECT 1
  FROM sheet
  WHERE spreadsheet_id = :target AND title = iif(n = 1, :wanted, :wanted || ' ' || n) COLLATE NOCASE
)
ORDER BY n
LIMIT 1;
INSERT INTO sheet
SELECT :target, :sheet_id, :dst_sheet, :place, row_count, column_count
FROM sheet
WHERE spreadsheet_id = :id AND sheet_id = :source;
INSERT INTO feature
SELECT :target, :sheet_id, n, kind, row0, col0, row1, col1, body
FROM feature
WHERE spreadsheet_id = :id AND sheet_id = :source;
INSERT INTO cell
SELECT :target, :sheet_id, row, col, formula, type, value, look, format, is_spilled
FROM cell
WHERE spreadsheet_id = :id AND sheet_id = :source;
UPDATE spreadsheet SET modified = now() WHERE id = :target;
SELECT NULL AS changed, :target AS id;
-- include: recalculate
-- include: sheet_properties
SELECT drop_nulls(json_object(
  'copy', json_patch(:properties, json_object('title', :copy_title)),
  'rename', iif(
    :copy_title = :dst_sheet,
    NULL,
    json_object('spreadsheetId', :id, 'replies', json('[{}]'))
  )
)) AS result;

-- name: rename_sheet
SELECT 'rename_sheet' AS tool, :spreadsheet AS spreadsheet_id;
-- include: find_book
-- include: find_sheet
SELECT json_array(json_object(
  'updateSheetProperties', json_object(
    'properties', json_object('sheetId', :sheet_id, 'title', :new_name),
    'fields', 'title'
  )
)) AS requests;
-- include: update_book
SELECT json_object('spreadsheetId', :id, 'replies', json(:replies)) AS result;

-- name: get_multiple_sheet_data
-- Each query on its own: where its cells are, or what is wrong with it.
SELECT json_group_array(json_object(
  'query', json(query),
  'id', iif(problem IS NULL, id, NULL),
  'sheet', sheet_id,
  'row0', area ->> 'row0',
  'col0', area ->> 'col0',
  'row1', area ->> 'row1',
  'col1', area ->> 'col1',
  'problem', iif(
    status IS NULL,
    problem,
    '<HttpError ' || status || ' when requesting https://sheets.googleapis.com/v4/spreadsheets/'
      || (query ->> 'spreadsheet_id') || '/values/'
      || replace(replace(replace(full_range, '!', '%21'), ':', '%3A'), ' ', '%20')
      || '?alt=json returned "' || problem || '". Details: "' || problem || '">'
  )
)) AS areas
FROM (
  SELECT
    *,
    CASE WHEN full_range IS NULL THEN NULL WHEN id IS NULL THEN 404 ELSE 400 END AS status,
    CASE
      WHEN full_range IS NULL THEN 'Missing required keys (spreadsheet_id, sheet, range)'
      WHEN id IS NULL THEN 'Requested entity was not found.'
      WHEN sheet_id IS NULL OR area IS NULL OR area ->> 'sheet' IS NOT NULL
        THEN 'Unable to parse range: ' || full_range
      WHEN area ->> 'row0' >= row_count OR area ->> 'col0' >= column_count
        THEN 'Range (' || full_range || ') exceeds grid limits. Max rows: ' || row_count
          || ', max columns: ' || column_count
    END AS problem
  FROM (
    SELECT
      q.key AS nth,
      q.value AS query,
      p.id,
      h.sheet_id,
      h.row_count,
      h.column_count,
      nullif(q.value ->> 'sheet', '') || '!' || nullif(q.value ->> 'range', '')
        || iif(q.value ->> 'spreadsheet_id' <> '', '', NULL) AS full_range,
      a1_range(q.value ->> 'range') AS area
    FROM json_each(:queries) q
    LEFT JOIN spreadsheet p ON p.id = q.value ->> 'spreadsheet_id'
    LEFT JOIN sheet h
      ON h.spreadsheet_id = p.id
        AND h.title IN (q.value ->> 'sheet', a1_range((q.value ->> 'sheet') || '!A1') ->> 'sheet')
    GROUP BY q.key
  )
  ORDER BY nth
);
-- include: read_cells
SELECT json_group_array(json(item)) AS result
FROM (
  SELECT json_patch(
    a.value -> 'query',
    iif(
      a.value ->> 'problem' IS NOT NULL,
      json_object('error', a.value ->> 'problem'),
      json_object(
        'data', sheets_rows(
          (
            SELECT json_group_array(json_array(value ->> 2, value ->> 3, value ->> 4))
            FROM (
              SELECT value
              FROM json_each(:cells)
              WHERE value ->> 0 = a.key AND value ->> 4 <> ''
              ORDER BY key
            )
          ),
          a.value ->> 'row0',
          a.value ->> 'col0',
          '""'
        )
      )
    )
  ) AS item
  FROM json_each(:areas) a
  ORDER BY a.key
);

-- name: get_multiple_spreadsheet_summary
SELECT json_group_array(json_object(
  'nth', nth,
  'id', id,
  'sheet', sheet_id,
  'title', title,
  'row1', max(1, :rows_to_fetch) - 1
)) AS areas
FROM (
  SELECT i.key AS nth, spreadsheet_id AS id, sheet_id, title
  FROM json_each(:spreadsheet_ids) i
  JOIN sheet ON spreadsheet_id = i.value
  ORDER BY i.key, position
);
-- include: read_cells
SELECT json_group_array(json_object(
  'spreadsheet_id', wanted,
  'title', title,
  'sheets', (
    SELECT json_group_array(json_object(
      'title', sheet_title,
      'sheet_id', sheet_id,
      'headers', json(ifnull(rows -> 0, '[]')),
      'first_rows', json(iif(json_array_length(rows) > 0, json_remove(rows, '$[0]'), '[]')),
      'error', NULL
    ))
    FROM (
      SELECT
        a.value ->> 'title' AS sheet_title,
        a.value ->> 'sheet' AS sheet_id,
        sheets_rows((
          SELECT json_group_array(json_array(value ->> 2, value ->> 3, value ->> 4))
          FROM (
            SELECT value
            FROM json_each(:cells)
            WHERE value ->> 0 = a.key AND value ->> 4 <> ''
            ORDER BY key
          )
        ), 0, 0, '""') AS rows
      FROM json_each(:areas) a
      WHERE a.value ->> 'nth' = nth
      ORDER BY a.key
    )
  ),
  'error', iif(
    id IS NULL,
    'Error fetching spreadsheet ' || wanted
      || ': <HttpError 404 when requesting https://sheets.googleapis.com/v4/' || 'spreadsheets/'
      || wanted || '?fields=properties.title%2Csheets%28'
      || 'properties%28title%2CsheetId%29%29&alt=json returned "Requested entity '
      || 'was not found.". Details: "Requested entity was not found.">',
    NULL
  )
)) AS result
FROM (
  SELECT i.key AS nth, i.value AS wanted, p.id, title
  FROM json_each(:spreadsheet_ids) i
  LEFT JOIN spreadsheet p ON p.id = i.value
  ORDER BY i.key
);

-- part: find_folder
-- The folder that is asked for, or the one of the session, which need not be known.
SELECT id AS folder FROM folder WHERE id = coalesce(nullif(:folder_id, ''), :home);
SELECT 'Error executing tool ' || :tool || ': <HttpError 404 when requesting '
  || 'https://www.googleapis.com/drive/v3/files?alt=json returned "File not found: ' || :folder_id
  || '.". Details: "[{''message'': ''File not found: ' || :folder_id
  || '.'', ''domain'': ''global'', ''reason'': ''notFound'', ''location'': ''fileId'', '
  || '''locationType'': ''parameter''}]">' AS error
FROM account
WHERE :folder IS NULL AND :folder_id <> '' AND :folder_id NOT IN ('root', root);
SELECT nullif(:home, '') AS new_folder
FROM account
WHERE :folder IS NULL AND ifnull(:folder_id, '') = '' AND :home NOT IN ('root', root);

-- name: create_spreadsheet
SELECT 'create_spreadsheet' AS tool;
-- include: find_folder
INSERT INTO folder SELECT :new_folder, :new_folder, NULL WHERE :new_folder IS NOT NULL;
INSERT INTO spreadsheet
SELECT
  new_id('spreadsheet'),
  ifnull(nullif(:title, ''), 'Untitled spreadsheet'),
  now(),
  now(),
  (SELECT ifnull(max(rank), 0) + 1 FROM spreadsheet),
  rand_int(0, 4294967295),
  ifnull(:folder, :new_folder)
RETURNING id, title AS name;
INSERT INTO sheet VALUES (:id, 0, 'Sheet1', 0, 1000, 26);
SELECT json_object(
  'spreadsheetId', :id,
  'title', :name,
  'folder', coalesce(:folder, :new_folder, root)
) AS result
FROM account;

-- name: create_sheet
SELECT 'create_sheet' AS tool;
-- include: find_book
SELECT json_array(json_object(
  'addSheet', json_object('properties', json_object('title', :title))
)) AS requests;
-- include: update_book
SELECT json_object(
  'sheetId', p ->> 'sheetId',
  'title', p ->> 'title',
  'index', p ->> 'index',
  'spreadsheetId', :id
) AS result
FROM (SELECT json_extract(:replies, '$[0].addSheet.properties') AS p);

-- name: list_spreadsheets
SELECT 'list_spreadsheets' AS tool;
-- include: find_folder
-- Without a folder it is those of the whole drive.
SELECT json_group_array(json_object('id', id, 'title', title)) AS result
FROM (
  SELECT id, title
  FROM spreadsheet
  WHERE CASE
    WHEN :folder IS NOT NULL THEN folder = :folder
    WHEN :new_folder IS NOT NULL THEN 0
    WHEN coalesce(nullif(:folder_id, ''), :home) IS NOT NULL THEN folder IS NULL
    ELSE 1
  END
  ORDER BY modified DESC, rank DESC
  LIMIT 100
);

-- name: share_spreadsheet
SELECT id FROM spreadsheet WHERE id = :spreadsheet_id;
SELECT json_group_array(json_object('email', email, 'role', role, 'problem', problem)) AS plan
FROM (
  SELECT
    email,
    role,
    CASE
      WHEN ifnull(email, '') = '' THEN 'Missing email_address in recipient entry.'
      WHEN role NOT IN ('reader', 'commenter', 'writer')
        THEN 'Invalid role ''' || role || '''. Must be ''reader'', ''commenter'', or ''writer''.'
      WHEN :id IS NULL THEN 'Failed to share: File not found: ' || :spreadsheet_id || '.'
      WHEN NOT mail_is_address(email)
        THEN 'Failed to share: The specified emailAddress is invalid or not applicable '
          || 'for the given permission type.'
    END AS problem
  FROM (
    SELECT key, value ->> 'email_address' AS email, ifnull(value ->> 'role', 'writer') AS role
    FROM json_each(:recipients)
    ORDER BY key
  )
);
INSERT INTO permission (id, spreadsheet_id, email, role)
SELECT new_id('permission'), :id, value ->> 'email', value ->> 'role'
FROM json_each(:plan)
WHERE value ->> 'problem' IS NULL
ORDER BY key
ON CONFLICT DO UPDATE SET role = excluded.role;
SELECT json_object(
  'successes', (
    SELECT json_group_array(json_object(
      'email_address', p.value ->> 'email',
      'role', p.value ->> 'role',
      'permissionId', (
        SELECT id FROM permission WHERE spreadsheet_id = :id AND email = p.value ->> 'email'
      )
    ))
    FROM json_each(:plan) p
    WHERE p.value ->> 'problem' IS NULL
  ),
  'failures', (
    SELECT json_group_array(json_object(
      'email_address', nullif(value ->> 'email', ''),
      'error', value ->> 'problem'
    ))
    FROM json_each(:plan)
    WHERE value ->> 'problem' IS NOT NULL
  )
) AS result;

-- name: list_folders
SELECT 'list_folders' AS tool, :parent_folder_id AS folder_id, NULL AS home;
-- include: find_folder
SELECT json_group_array(json_object(
  'id', id,
  'name', name,
  'parent', ifnull(parent, root)
)) AS result
FROM (
  SELECT id, folder.name, parent, root
  FROM folder, account
  WHERE iif(:folder IS NULL, parent IS NULL, parent = :folder)
  ORDER BY folder.name COLLATE NOCASE, id
);

-- name: search_spreadsheets
SELECT json_group_array(json_object(
  'id', id,
  'name', title,
  'created_time', created,
  'modified_time', modified,
  'owners', json_array(email),
  'web_link', 'https://docs.google.com/spreadsheets/d/' || id || '/edit?usp=drivesdk'
)) AS result
FROM (
  SELECT p.id, p.title, created, modified, email
  FROM spreadsheet p, account
  WHERE text_has(p.title, :query)
    OR EXISTS (SELECT 1 FROM sheet h WHERE h.spreadsheet_id = p.id AND text_has(h.title, :query))
    OR EXISTS (
      SELECT 1
      FROM cell c
      WHERE c.spreadsheet_id = p.id AND text_has(cell_show(type, value, look, format), :query)
    )
  ORDER BY modified DESC, rank DESC
  LIMIT min(max(1, :max_results), 100)
);

-- name: find_in_spreadsheet
SELECT id FROM spreadsheet WHERE id = :spreadsheet_id;
SELECT json_indent(json_array(json_object(
  'error', 'Search failed: <HttpError 404 when requesting https://sheets.googleapis.com/v4/'
    || 'spreadsheets/' || :spreadsheet_id || '?fields=sheets%28properties%28title%2C'
    || 'sheetId%29%29&alt=json returned "Requested entity was not found.". Details: '
    || '"Requested entity was not found.">'
))) AS error
WHERE :id IS NULL;
SELECT json_indent(json_array(json_object(
  'error', 'Sheet ''' || :sheet || ''' not found'
))) AS error
WHERE :sheet IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM sheet WHERE spreadsheet_id = :id AND title = :sheet);
SELECT json_group_array(json_object('id', :id, 'sheet', sheet_id, 'title', title)) AS areas
FROM (
  SELECT sheet_id, title
  FROM sheet
  WHERE spreadsheet_id = :id AND (:sheet IS NULL OR title = :sheet)
  ORDER BY position
);
-- include: read_cells
SELECT json_group_array(json_object('sheet', title, 'cell', place, 'value', shown)) AS result
FROM (
  SELECT
    :areas ->> ('$[' || (value ->> 0) || '].title') AS title,
    a1_letters(value ->> 3) || ((value ->> 2) + 1) AS place,
    value ->> 4 AS shown
  FROM json_each(:cells)
  WHERE instr(
    iif(:case_sensitive, value ->> 4, lower(value ->> 4)),
    iif(:case_sensitive, :query, lower(:query))
  )
    > 0
    AND value ->> 4 <> ''
  ORDER BY key
  LIMIT max(0, :max_results)
);

-- name: batch_update
SELECT 'batch_update' AS tool;
SELECT json_indent(json_object('error', 'requests list cannot be empty')) AS error
WHERE json_array_length(:requests) = 0;
-- include: find_book
-- include: update_book
SELECT json_object('spreadsheetId', :id, 'replies', json(:replies)) AS result;
