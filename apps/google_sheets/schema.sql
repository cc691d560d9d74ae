CREATE TABLE account (
  email TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  root TEXT NOT NULL -- id of the folder that holds everything else
);
INSERT INTO account VALUES ('maya.chen@larkspur.example', 'Maya Chen', '0ALarkspurMayaUk9PVA');

CREATE TABLE folder (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  parent TEXT REFERENCES folder (
    id
  ) -- NULL: the root
);
-- Names from the root on, such as Finance/2026.
CREATE VIEW folder_path AS
WITH RECURSIVE p (id, path) AS (
  SELECT id, name FROM folder WHERE parent IS NULL
  UNION ALL
  SELECT f.id, p.path || '/' || f.name FROM p JOIN folder f ON f.parent = p.id
)
SELECT id, path
FROM p;

CREATE TABLE spreadsheet (
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  created TEXT NOT NULL,
  modified TEXT NOT NULL,
  rank INTEGER NOT NULL UNIQUE, -- the larger, the newer
  seed INTEGER NOT NULL, -- of the random numbers in its formulas
  folder TEXT REFERENCES folder (
    id
  ) -- NULL: the root
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

-- What areas of a sheet have besides values, in the order in which it came: see
-- src/apps/products/sheets/update.h. The ends do not belong to an area; NULL is the sheet's own.
CREATE TABLE feature (
  spreadsheet_id TEXT NOT NULL,
  sheet_id INTEGER NOT NULL,
  n INTEGER NOT NULL,
  kind TEXT NOT NULL,
  row0 INTEGER NOT NULL,
  col0 INTEGER NOT NULL,
  row1 INTEGER,
  col1 INTEGER,
  body TEXT NOT NULL, -- JSON
  PRIMARY KEY (spreadsheet_id, sheet_id, n),
  FOREIGN KEY (spreadsheet_id, sheet_id) REFERENCES sheet (spreadsheet_id, sheet_id)
);

-- With whom a spreadsheet is shared.
CREATE TABLE permission (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  spreadsheet_id TEXT NOT NULL REFERENCES spreadsheet (id),
  email TEXT NOT NULL COLLATE NOCASE,
  role TEXT NOT NULL CHECK (role IN ('reader', 'commenter', 'writer')),
  UNIQUE (spreadsheet_id, email)
);

-- A spreadsheet as book_calculate() takes it.
CREATE VIEW book AS
SELECT
  id,
  seed,
  (
    SELECT json_group_array(json_array(title, row_count, column_count))
    FROM (
      SELECT title, row_count, column_count
      FROM sheet
      WHERE spreadsheet_id = spreadsheet.id
      ORDER BY position
    )
  ) AS sheets,
  (
    SELECT json_group_array(json_array(position, row, col, formula, type, value, look, is_spilled))
    FROM cell
    JOIN sheet USING (spreadsheet_id, sheet_id)
    WHERE spreadsheet_id = spreadsheet.id
  ) AS cells,
  EXISTS (
    SELECT 1
    FROM cell
    WHERE spreadsheet_id = spreadsheet.id
      AND formula IS NOT NULL
      AND (formula LIKE '%TODAY(%' OR formula LIKE '%NOW(%')
  ) AS has_clock,
  EXISTS (
    SELECT 1 FROM cell WHERE spreadsheet_id = spreadsheet.id AND formula IS NOT NULL
  ) AS has_formulas
FROM spreadsheet;
