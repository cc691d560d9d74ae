-- The tools of MCP-Atlas only read; answers are the API's lists, without what is around them.

-- part: refused
SELECT 'MCP error -32603: Airtable API error: ' || :refusal AS error WHERE :refusal IS NOT NULL;

-- part: table
SELECT (
  SELECT id FROM tables WHERE base_id = :base_id AND (id = :table_name OR name = :table_name)
) AS tid;
SELECT (SELECT message FROM denied WHERE :tid IS NULL) AS refusal;
-- include: refused

-- part: records
SELECT json_group_array(json_object(
  'id', id,
  'createdTime', created,
  'fields', json(fields)
)) AS records
FROM (
  SELECT
    r.id,
    r.created,
    (
      SELECT json_group_object(name, json(value))
      FROM (SELECT name, value FROM cell WHERE record_id = r.id AND value IS NOT NULL ORDER BY pos)
    ) AS fields
  FROM json_each(:ids) i
  JOIN record r ON r.id = i.value
  ORDER BY i.key
);

-- name: list_bases
SELECT json_group_array(json_object(
  'id', id,
  'name', name,
  'permissionLevel', permission
)) AS result
FROM (SELECT * FROM base ORDER BY name);

-- name: list_tables
SELECT (
  SELECT message FROM denied WHERE NOT EXISTS (SELECT 1 FROM base WHERE id = :base_id)
) AS refusal;
-- include: refused
SELECT json_group_array(json(json)) AS result
FROM (SELECT json FROM table_json WHERE base_id = :base_id ORDER BY pos);

-- name: list_records
-- include: table
SELECT iif(
  :max_records < 0 OR :max_records <> CAST(:max_records AS INTEGER),
  'Invalid request: parameter validation failed. Check your request data.',
  NULL
) AS refusal;
-- include: refused
SELECT json_group_array(id) AS ids
FROM (
  SELECT id
  FROM record
  WHERE table_id = :tid
  ORDER BY pos
  LIMIT iif(ifnull(:max_records, 0) = 0, 100, min(:max_records, 100))
);
-- include: records
SELECT :records AS result;

-- name: search_records
-- include: table
SELECT json_object(
  'query', '{' || :field_name || '} = "' || :value || '"',
  'fields', json((
    SELECT json_group_array(json_object('id', id, 'name', name, 'type', type))
    FROM field
    WHERE table_id = :tid
  ))
) AS request;
SELECT json_group_array(id) AS ids
FROM (
  SELECT r.id
  FROM record r
  WHERE r.table_id = :tid AND {{airtable_formula :request}}
  ORDER BY r.pos
  LIMIT 100
);
-- include: records
SELECT :records AS result;

-- name: get_record
-- include: table
SELECT iif(
  EXISTS (SELECT 1 FROM record WHERE id = :record_id AND table_id = :tid),
  NULL,
  'Request failed with status code 404'
) AS refusal;
-- include: refused
SELECT json_array(:record_id) AS ids;
-- include: records
SELECT :records -> 0 AS result;
