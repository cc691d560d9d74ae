-- The engine reads and writes the data (src/apps/pg/data.c): schemas, tables, columns with their
-- own constraints, rows. Keys of several columns, foreign keys, indexes, views and the like have no
-- place in the format: they are not dumped.

-- name: import
SELECT 1 AS result;

-- name: export
SELECT 1 AS result;
