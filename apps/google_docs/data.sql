-- Documents by title and text, the newest first: an import takes its first document for the newest.
-- Ids, times and revisions have no place in the format; they are made anew.

-- name: import
SELECT 'a document has more than 1020000 characters' AS error
FROM json_each(:args, '$.documents') d
WHERE length(d.value ->> 'content') > 1020000;
SELECT ifnull(max(rank), 0) AS base, json_array_length(:args, '$.documents') AS n FROM document;
INSERT INTO document
SELECT
  new_id('document'),
  d.value ->> 'title',
  ifnull(replace(replace(d.value ->> 'content', char(13, 10), char(10)), char(13), char(10)), ''),
  new_id('revision'),
  now(),
  now(),
  :base + :n - d.key
FROM json_each(:args, '$.documents') d
WHERE d.type = 'object';
SELECT json_object('documents', count(*)) AS result
FROM json_each(:args, '$.documents') d
WHERE d.type = 'object';

-- name: export
SELECT json_object('documents', json_group_array(json(item))) AS result
FROM (
  SELECT drop_nulls(json_object('title', title, 'content', nullif(content, ''))) AS item
  FROM document
  ORDER BY rank DESC
);
