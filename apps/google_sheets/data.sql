-- Spreadsheets with their sheets and cells, the newest first: an import takes its first spreadsheet
-- for the newest. Texts are read as if they were typed, so dates, money and percentages are texts
-- here that show them, and what only looks like a number has an apostrophe before it. Values of
-- formulas are shown but not read. Ids and times have no place in the format, nor have formats of
-- numbers that their text does not show.

-- name: import
SELECT 'sheets of one spreadsheet must have different titles: ' || (h.value ->> 'title') AS error
FROM json_each(:args, '$.spreadsheets') s, json_each(s.value, '$.sheets') h
GROUP BY s.key, lower(h.value ->> 'title') HAVING count(*) > 1;
SELECT 'a cell must have a row from 0 to 9999999 and a col from 0 to 18277' AS error
FROM json_each(:args, '$.spreadsheets') s, json_each(s.value, '$.sheets') h,
     json_each(h.value, '$.cells') c
WHERE c.type = 'object' AND (c.value ->> 'row' NOT BETWEEN 0 AND 9999999
                             OR c.value ->> 'col' NOT BETWEEN 0 AND 18277);
SELECT 'a cell has more than 50000 characters' AS error
FROM json_each(:args, '$.spreadsheets') s, json_each(s.value, '$.sheets') h,
     json_each(h.value, '$.cells') c
WHERE length(c.value ->> 'value') > 50000 OR length(c.value ->> 'formula') > 50000;
SELECT ifnull(max(rank), 0) AS base, json_array_length(:args, '$.spreadsheets') AS n
FROM spreadsheet;
INSERT INTO spreadsheet
SELECT new_id('spreadsheet'), s.value ->> 'title', now(), now(),
       :base + :n - s.key, rand_int(0, 4294967295)
FROM json_each(:args, '$.spreadsheets') s;
INSERT INTO sheet
SELECT p.id, h.key + 1, h.value ->> 'title',
       row_number() OVER (PARTITION BY p.id
                          ORDER BY ifnull(h.value ->> 'index', h.key), h.key) - 1,
       max(ifnull(h.value ->> 'rowCount', 1000), 1,
           ifnull((SELECT max(c.value ->> 'row') + 1 FROM json_each(h.value, '$.cells') c), 1)),
       max(ifnull(h.value ->> 'columnCount', 26), 1,
           ifnull((SELECT max(c.value ->> 'col') + 1 FROM json_each(h.value, '$.cells') c), 1))
FROM json_each(:args, '$.spreadsheets') s
JOIN spreadsheet p ON p.rank = :base + :n - s.key,
     json_each(s.value, '$.sheets') h
WHERE h.type = 'object';
INSERT INTO sheet
SELECT id, 1, 'Sheet1', 0, 1000, 26 FROM spreadsheet p
WHERE rank > :base AND NOT EXISTS (SELECT 1 FROM sheet WHERE spreadsheet_id = p.id);
-- Of several cells in one place the last one counts.
INSERT OR REPLACE INTO cell (spreadsheet_id, sheet_id, row, col, formula, type, value, look, format)
SELECT id, sheet_id, row, col, entry ->> '$.formula',
       CASE WHEN entry IS NOT NULL THEN entry ->> '$.value[0]'
            WHEN type IN ('true', 'false') THEN 'boolean' ELSE 'number' END,
       CASE WHEN entry IS NOT NULL THEN entry ->> '$.value[1]' ELSE value END,
       ifnull(entry ->> '$.value[2]', 'plain'), ifnull(entry ->> '$.format', '')
FROM (SELECT p.id, h.key + 1 AS sheet_id, c.value ->> 'row' AS row, c.value ->> 'col' AS col,
             json_type(c.value, '$.value') AS type, c.value ->> 'value' AS value,
             CASE WHEN nullif(ltrim(c.value ->> 'formula', ' ='), '') IS NOT NULL
                  THEN cell_enter('=' || ltrim(c.value ->> 'formula', ' ='))
                  WHEN json_type(c.value, '$.value') = 'text'
                  THEN cell_enter(c.value ->> 'value') END AS entry,
             s.key AS k1, h.key AS k2, c.key AS k3
      FROM json_each(:args, '$.spreadsheets') s
      JOIN spreadsheet p ON p.rank = :base + :n - s.key,
           json_each(s.value, '$.sheets') h, json_each(h.value, '$.cells') c
      WHERE c.type = 'object'
      ORDER BY k1, k2, k3)
WHERE (entry IS NOT NULL OR value IS NOT NULL)
  AND (entry IS NULL OR entry ->> '$.formula' IS NOT NULL OR entry ->> '$.value[0]' <> 'blank');
INSERT INTO cell (spreadsheet_id, sheet_id, row, col, type, value, look, is_spilled)
SELECT b.id, h.sheet_id, c.value ->> 1, c.value ->> 2, c.value ->> 3, c.value ->> 4,
       c.value ->> 5, c.value ->> 6
FROM book b JOIN spreadsheet p ON p.id = b.id,
     json_each(book_calculate(json_object('now_ms', now_ms(), 'seed', b.seed), b.sheets, b.cells)) c
JOIN sheet h ON h.spreadsheet_id = b.id AND h.position = c.value ->> 0
WHERE p.rank > :base AND b.has_formulas
ON CONFLICT DO UPDATE SET type = excluded.type, value = excluded.value, look = excluded.look,
                          is_spilled = excluded.is_spilled;
SELECT json_object('spreadsheets', (SELECT count(*) FROM spreadsheet WHERE rank > :base),
                   'sheets', (SELECT count(*) FROM sheet JOIN spreadsheet ON id = spreadsheet_id
                              WHERE rank > :base),
                   'cells', (SELECT count(*) FROM cell JOIN spreadsheet ON id = spreadsheet_id
                             WHERE rank > :base AND NOT is_spilled)) AS result;

-- name: export
WITH shown AS (
  SELECT *, cell_show(type, value, look, format) AS text FROM cell WHERE NOT is_spilled
),
written AS (
  SELECT spreadsheet_id, sheet_id, row, col, formula,
         CASE WHEN formula IS NOT NULL
                   AND (type = 'blank' OR formula LIKE '%NOW(%' OR formula LIKE '%TODAY(%'
                        OR formula LIKE '%RAND%')
              THEN NULL
              WHEN type = 'boolean' THEN iif(value, 'true', 'false')
              WHEN type = 'number' AND formula IS NULL AND format <> ''
                   AND cell_enter(text) ->> '$.value' = json_array(type, value, look)
                   AND cell_enter(text) ->> '$.format' = format
              THEN json_quote(text)
              WHEN type = 'text' AND formula IS NULL
                   AND (cell_enter(value) ->> '$.value[0]' <> 'text'
                        OR substr(value, 1, 1) IN ('''', '='))
              THEN json_quote('''' || value)
              ELSE json_quote(value) END AS value
  FROM shown
)
SELECT json_object('spreadsheets', json_group_array(json(item))) AS result
FROM (SELECT json_object('title', p.title, 'sheets', (
        SELECT json_group_array(json(item))
        FROM (SELECT drop_nulls(json_object(
                'title', h.title, 'index', h.position, 'rowCount', h.row_count,
                'columnCount', h.column_count, 'cells', (
                  SELECT json_group_array(json(item))
                  FROM (SELECT drop_nulls(json_object('row', row, 'col', col, 'value', json(value),
                                                      'formula', formula)) AS item
                        FROM written w
                        WHERE w.spreadsheet_id = h.spreadsheet_id AND w.sheet_id = h.sheet_id
                        ORDER BY row, col)))) AS item
              FROM sheet h WHERE h.spreadsheet_id = p.id ORDER BY h.position))) AS item
      FROM spreadsheet p ORDER BY rank DESC);
