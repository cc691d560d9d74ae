CREATE TABLE account (
  email TEXT PRIMARY KEY,
  name TEXT NOT NULL
);
INSERT INTO account VALUES ('maya.chen@larkspur.example', 'Maya Chen');

CREATE TABLE spreadsheet (
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  created TEXT NOT NULL,
  modified TEXT NOT NULL,
  rank INTEGER NOT NULL UNIQUE, -- the larger, the newer
  seed INTEGER NOT NULL -- of the random numbers in its formulas
);
CREATE INDEX spreadsheet_modified ON spreadsheet (modified, rank);

CREATE TABLE sheet (
  spreadsheet_id TEXT NOT NULL REFERENCES spreadsheet (id),
  sheet_id INTEGER NOT NULL,
  title TEXT NOT NULL,
  position INTEGER NOT NULL, -- from 0, without gaps
  row_count INTEGER NOT NULL,
  column_count INTEGER NOT NULL,
  PRIMARY KEY (spreadsheet_id, sheet_id)
);
CREATE UNIQUE INDEX sheet_title ON sheet (spreadsheet_id, title COLLATE NOCASE);
CREATE UNIQUE INDEX sheet_position ON sheet (spreadsheet_id, position);

-- Cells that are not blank. What a formula fills beside itself is here too, but is not entered.
CREATE TABLE cell (
  spreadsheet_id TEXT NOT NULL,
  sheet_id INTEGER NOT NULL,
  row INTEGER NOT NULL, -- from 0
  col INTEGER NOT NULL, -- from 0
  formula TEXT,
  type TEXT NOT NULL CHECK (type IN ('number', 'text', 'boolean', 'error', 'blank')),
  value, -- of the formula, when there is one
  look TEXT NOT NULL DEFAULT 'plain', -- of a number: plain, percent, currency, date, time, datetime
  format TEXT NOT NULL DEFAULT '', -- pattern, '' as it looks
  is_spilled INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (spreadsheet_id, sheet_id, row, col),
  FOREIGN KEY (spreadsheet_id, sheet_id) REFERENCES sheet (spreadsheet_id, sheet_id)
) WITHOUT ROWID;

-- A spreadsheet as book_calculate() takes it.
CREATE VIEW book AS
SELECT id, seed,
       (SELECT json_group_array(json_array(title, row_count, column_count))
        FROM (SELECT title, row_count, column_count FROM sheet
              WHERE spreadsheet_id = spreadsheet.id ORDER BY position)) AS sheets,
       (SELECT json_group_array(json_array(position, row, col, formula, type, value, look,
                                           is_spilled))
        FROM cell JOIN sheet USING (spreadsheet_id, sheet_id)
        WHERE spreadsheet_id = spreadsheet.id) AS cells,
       EXISTS (SELECT 1 FROM cell
               WHERE spreadsheet_id = spreadsheet.id AND formula IS NOT NULL
                 AND (formula LIKE '%TODAY(%' OR formula LIKE '%NOW(%')) AS has_clock,
       EXISTS (SELECT 1 FROM cell
               WHERE spreadsheet_id = spreadsheet.id AND formula IS NOT NULL) AS has_formulas
FROM spreadsheet;
