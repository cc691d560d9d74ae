-- Besides what Klavis's format names, tables may have "rows" (objects by the names of the fields,
-- or arrays) or, for views, "view_query" and "view_columns" (names), objects "content_base64" for
-- what is no text, and log sinks a "destination"; dumps have them. Lost in a dump: jobs,
-- operations, older versions of objects, ids and addresses of machines.

-- name: import
SELECT 'Dataset ' || (value ->> 'id') || ' is there already' AS error
FROM json_each(:args, '$.datasets')
WHERE value ->> 'id' IN (SELECT id FROM bq_dataset)
  OR EXISTS (
    SELECT 1
    FROM json_each(:args, '$.datasets') o
    WHERE o.key < json_each.key AND o.value ->> 'id' = json_each.value ->> 'id'
  )
LIMIT 1;
INSERT INTO bq_dataset
SELECT
  value ->> 'id',
  value ->> 'description',
  ifnull(value ->> 'location', 'US'),
  ifnull(value ->> 'created_at', now()),
  value ->> 'updated_at'
FROM json_each(:args, '$.datasets')
WHERE type = 'object';
SELECT 'Table ' || (value ->> 'id') || ': there is no dataset ' || (value ->> 'dataset_id') AS error
FROM json_each(:args, '$.tables')
WHERE type = 'object' AND value ->> 'dataset_id' NOT IN (SELECT id FROM bq_dataset)
LIMIT 1;
SELECT 'Table ' || (value ->> 'dataset_id') || '.' || (value ->> 'id')
  || ' is there already' AS error
FROM json_each(:args, '$.tables')
WHERE EXISTS (SELECT 1 FROM bq_table WHERE dataset = value ->> 'dataset_id' AND id = value ->> 'id')
  OR EXISTS (
    SELECT 1
    FROM json_each(:args, '$.tables') o
    WHERE o.key < json_each.key
      AND o.value ->> 'id' = json_each.value ->> 'id'
      AND o.value ->> 'dataset_id' = json_each.value ->> 'dataset_id'
  )
LIMIT 1;
SELECT 'Table ' || (t.value ->> 'id') || ': field ' || (f.value ->> 'name') || ' has no type of '
  || 'BigQuery: ' || (f.value ->> 'type') AS error
FROM json_each(:args, '$.tables') t, json_each(t.value, '$.fields') f
WHERE f.type = 'object' AND bq_type_name(f.value) IS NULL
LIMIT 1;
SELECT ifnull(max(n), 0) AS last FROM bq_table;
INSERT INTO bq_table
SELECT
  :last + 1 + key,
  value ->> 'dataset_id',
  value ->> 'id',
  value ->> 'description',
  ifnull(value -> 'fields', '[]'),
  value ->> 'row_count',
  ifnull(value ->> 'created_at', now()),
  value ->> 'view_query',
  iif(json_type(value, '$.view_columns') = 'array', value -> 'view_columns', NULL)
FROM json_each(:args, '$.tables')
WHERE type = 'object';
UPDATE bq_table SET fields = '[]' WHERE n > :last AND fields = 'null';
SELECT 'View ' || (value ->> 'dataset_id') || '.' || (value ->> 'id') || ': '
  || iif(
    json_type(value, '$.view_query') = 'text',
    'a view has no rows',
    'view_query is no text'
  ) AS error
FROM json_each(:args, '$.tables')
WHERE value ->> 'view_query' IS NOT NULL
  AND (json_type(value, '$.view_query') <> 'text' OR json_array_length(value, '$.rows') > 0)
LIMIT 1;
-- A view that comes without its fields has to be one; with them, it may name what is no more.
SELECT 'View ' || dataset || '.' || id || ': ' || (made ->> 'error') AS error
FROM (
  SELECT dataset, id, bq_view(view_query, view_columns) AS made
  FROM bq_table
  WHERE n > :last AND view_query IS NOT NULL AND fields = '[]'
)
WHERE made ->> 'error' IS NOT NULL
LIMIT 1;
UPDATE bq_table
SET fields = bq_view(view_query, view_columns) -> 'fields'
WHERE n > :last AND view_query IS NOT NULL AND fields = '[]';
SELECT 'Table ' || t.id || ': row ' || (r.key + 1) || ' does not fit its fields' AS error
FROM bq_table t, json_each(:args, '$.tables[' || (t.n - :last - 1) || '].rows') r
WHERE t.n > :last AND bq_row(t.fields, r.value) IS NULL
LIMIT 1;
INSERT INTO bq_row
SELECT t.n, r.key + 1, bq_row(t.fields, r.value)
FROM bq_table t, json_each(:args, '$.tables[' || (t.n - :last - 1) || '].rows') r
WHERE t.n > :last;
SELECT 'Bucket ' || (value ->> 'name') || ' is there already' AS error
FROM json_each(:args, '$.buckets')
WHERE value ->> 'name' IN (SELECT name FROM bucket)
  OR EXISTS (
    SELECT 1
    FROM json_each(:args, '$.buckets') o
    WHERE o.key < json_each.key AND o.value ->> 'name' = json_each.value ->> 'name'
  )
LIMIT 1;
INSERT INTO bucket
SELECT
  value ->> 'name',
  ifnull(value ->> 'location', 'US'),
  ifnull(value ->> 'storage_class', 'STANDARD'),
  ifnull(value ->> 'versioning_enabled', 0),
  iif(json_type(value, '$.lifecycle_rules') = 'array', value -> 'lifecycle_rules', NULL),
  ifnull(value ->> 'created_at', now()),
  value ->> 'updated_at'
FROM json_each(:args, '$.buckets')
WHERE type = 'object';
SELECT 'Object ' || (value ->> 'name') || ': there is no bucket ' || (value ->> 'bucket') AS error
FROM json_each(:args, '$.objects')
WHERE type = 'object' AND value ->> 'bucket' NOT IN (SELECT name FROM bucket)
LIMIT 1;
INSERT OR REPLACE INTO object
SELECT
  value ->> 'bucket',
  value ->> 'name',
  value ->> 'content_type',
  coalesce(
    length(CAST(value ->> 'content' AS BLOB)),
    length(unbase64(value ->> 'content_base64')),
    CAST(value ->> 'size' AS INTEGER),
    0
  ),
  coalesce(value ->> 'content', value ->> 'content_base64'),
  iif(value ->> 'content' IS NULL AND value ->> 'content_base64' IS NOT NULL, 'base64', NULL),
  value ->> 'md5_hash',
  ifnull(value ->> 'created_at', now()),
  value ->> 'updated_at'
FROM json_each(:args, '$.objects')
WHERE type = 'object';
SELECT 'Log entry ' || (key + 1) || ': there is no severity ' || (value ->> 'severity') AS error
FROM json_each(:args, '$.log_entries')
WHERE upper(value ->> 'severity') NOT IN (
  'DEFAULT', 'DEBUG', 'INFO', 'NOTICE', 'WARNING', 'WARN', 'ERROR', 'CRITICAL', 'ALERT', 'EMERGENCY'
)
LIMIT 1;
SELECT 'Log entry ' || (key + 1) || ': not a time: ' || (value ->> 'timestamp') AS error
FROM json_each(:args, '$.log_entries')
WHERE value ->> 'timestamp' IS NOT NULL
  AND bq_cast('TIMESTAMP', value ->> 'timestamp', 'STRING', 1) IS NULL
LIMIT 1;
SELECT ifnull(max(n), 0) AS last FROM log_entry;
INSERT INTO log_entry
SELECT
  :last + 1 + key,
  value ->> 'log_name',
  upper(ifnull(value ->> 'severity', 'INFO')),
  json_extract(
    '{"DEFAULT":0,"DEBUG":100,"INFO":200,"NOTICE":300,"WARNING":400,"WARN":400,'
      || '"ERROR":500,"CRITICAL":600,"ALERT":700,"EMERGENCY":800}',
    '$.' || upper(ifnull(value ->> 'severity', 'INFO'))
  ),
  ifnull(value ->> 'timestamp', now()),
  value ->> 'message',
  iif(json_type(value, '$.json_data') = 'object', value -> 'json_data', NULL),
  value ->> 'resource_type',
  iif(json_type(value, '$.resource_labels') = 'object', value -> 'resource_labels', NULL),
  new_id('insert')
FROM json_each(:args, '$.log_entries')
WHERE type = 'object';
INSERT OR REPLACE INTO log_sink (name, destination, filter, description, created_at, updated_at)
SELECT
  value ->> 'name',
  ifnull(
    value ->> 'destination',
    'logging.googleapis.com/projects/' || p.id || '/locations/global/buckets/_Default'
  ),
  value ->> 'filter',
  value ->> 'description',
  value ->> 'created_at',
  value ->> 'updated_at'
FROM json_each(:args, '$.log_sinks'), project p
WHERE type = 'object';
INSERT OR REPLACE INTO log_bucket (
  name, location, retention_days, description, created_at, updated_at
)
SELECT
  value ->> 'name',
  ifnull(value ->> 'location', 'global'),
  ifnull(value ->> 'retention_days', 30),
  value ->> 'description',
  value ->> 'created_at',
  value ->> 'updated_at'
FROM json_each(:args, '$.log_buckets')
WHERE type = 'object';
SELECT 'Instance ' || (value ->> 'name') || ' is there already in ' || (value ->> 'zone') AS error
FROM json_each(:args, '$.instances')
WHERE EXISTS (SELECT 1 FROM instance WHERE zone = value ->> 'zone' AND name = value ->> 'name')
  OR EXISTS (
    SELECT 1
    FROM json_each(:args, '$.instances') o
    WHERE o.key < json_each.key
      AND o.value ->> 'name' = json_each.value ->> 'name'
      AND o.value ->> 'zone' = json_each.value ->> 'zone'
  )
LIMIT 1;
INSERT INTO instance
SELECT
  value ->> 'zone',
  value ->> 'name',
  new_id('instance'),
  ifnull(value ->> 'machine_type', 'e2-micro'),
  ifnull(value ->> 'status', 'RUNNING'),
  value ->> 'description',
  iif(json_type(value, '$.labels') = 'object', value -> 'labels', NULL),
  '10.128.0.' || rand_int(2, 250),
  '34.' || rand_int(16, 127) || '.' || rand_int(1, 250) || '.' || rand_int(1, 250),
  ifnull(value ->> 'created_at', now())
FROM json_each(:args, '$.instances')
WHERE type = 'object';
SELECT json_object(
  'datasets', ifnull(json_array_length(:args, '$.datasets'), 0),
  'tables', ifnull(json_array_length(:args, '$.tables'), 0),
  'buckets', ifnull(json_array_length(:args, '$.buckets'), 0),
  'objects', ifnull(json_array_length(:args, '$.objects'), 0),
  'log_entries', ifnull(json_array_length(:args, '$.log_entries'), 0),
  'log_sinks', ifnull(json_array_length(:args, '$.log_sinks'), 0),
  'log_buckets', ifnull(json_array_length(:args, '$.log_buckets'), 0),
  'instances', ifnull(json_array_length(:args, '$.instances'), 0)
) AS result;

-- name: export
SELECT json_object(
  'datasets', (
    SELECT json_group_array(json(drop_nulls(json_object(
      'id', id,
      'description', description,
      'location', location,
      'created_at', created_at,
      'updated_at', updated_at
    ))))
    FROM (SELECT * FROM bq_dataset ORDER BY id)
  ),
  'tables', (
    SELECT json_group_array(json(drop_nulls(json_object(
      'dataset_id', dataset,
      'id', id,
      'description', description,
      'fields', json(fields),
      'row_count', iif(n_rows > 0, CAST(n_rows AS TEXT), row_count),
      'created_at', created_at,
      'rows', json(rows),
      'type', iif(view_query IS NULL, NULL, 'VIEW'),
      'view_query', view_query,
      'view_columns', json(view_columns)
    ))))
    FROM (
      SELECT
        t.*,
        (SELECT count(*) FROM bq_row r WHERE r.t = t.n) AS n_rows,
        (
          SELECT json_group_array(json(bq_row_object(t.fields, r.d)))
          FROM (SELECT d FROM bq_row r WHERE r.t = t.n ORDER BY r.n) r
          HAVING count(*) > 0
        ) AS rows
      FROM bq_table t
      ORDER BY t.dataset, t.id
    )
  ),
  'buckets', (
    SELECT json_group_array(json(drop_nulls(json_object(
      'name', name,
      'location', location,
      'storage_class', storage_class,
      'versioning_enabled', json(iif(versioning, 'true', 'false')),
      'lifecycle_rules', json(lifecycle),
      'created_at', created_at,
      'updated_at', updated_at
    ))))
    FROM (SELECT * FROM bucket ORDER BY name)
  ),
  'objects', (
    SELECT json_group_array(json(drop_nulls(json_object(
      'bucket', bucket,
      'name', name,
      'content_type', content_type,
      'size', CAST(size AS TEXT),
      'content', iif(encoding IS NULL, content, NULL),
      'content_base64', iif(encoding IS NULL, NULL, content),
      'md5_hash', md5_hash,
      'created_at', created_at,
      'updated_at', updated_at
    ))))
    FROM (SELECT * FROM object ORDER BY bucket, name)
  ),
  'log_entries', (
    SELECT json_group_array(json(drop_nulls(json_object(
      'log_name', log_name,
      'message', message,
      'json_data', json(json),
      'severity', severity,
      'timestamp', timestamp,
      'resource_type', resource_type,
      'resource_labels', json(resource_labels)
    ))))
    FROM (SELECT * FROM log_entry ORDER BY n)
  ),
  'log_sinks', (
    SELECT json_group_array(json(drop_nulls(json_object(
      'name', name,
      'destination', destination,
      'filter', filter,
      'description', description,
      'created_at', created_at,
      'updated_at', updated_at
    ))))
    FROM (SELECT * FROM log_sink WHERE NOT is_fixed ORDER BY name)
  ),
  'log_buckets', (
    SELECT json_group_array(json(drop_nulls(json_object(
      'name', name,
      'location', location,
      'retention_days', retention_days,
      'description', description,
      'created_at', created_at,
      'updated_at', updated_at
    ))))
    FROM (SELECT * FROM log_bucket WHERE NOT is_fixed ORDER BY name)
  ),
  'instances', (
    SELECT json_group_array(json(drop_nulls(json_object(
      'name', name,
      'zone', zone,
      'machine_type', machine_type,
      'status', status,
      'description', description,
      'labels', json(labels),
      'created_at', created_at
    ))))
    FROM (SELECT * FROM instance ORDER BY zone, name)
  )
) AS result;
