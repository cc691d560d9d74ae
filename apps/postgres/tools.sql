-- name: list_schemas
SELECT
  schema_name,
  schema_owner,
  CASE
    WHEN schema_name LIKE 'pg_%' THEN 'System Schema'
    WHEN schema_name = 'information_schema' THEN 'System Information Schema'
    ELSE 'User Schema'
  END AS schema_type
FROM information_schema.schemata
ORDER BY schema_type, schema_name;

-- name: list_objects
SELECT 'Unsupported object type: ' || :object_type::text AS error
WHERE :object_type::text NOT IN ('table', 'view', 'sequence', 'extension');
SELECT coalesce(json_agg(item ORDER BY nth), '[]') AS result
FROM (
  SELECT
    row_number() OVER (ORDER BY table_name) AS nth,
    json_build_object('schema', table_schema, 'name', table_name, 'type', table_type) AS item
  FROM information_schema.tables
  WHERE table_schema = :schema_name::text
    AND table_type = CASE :object_type::text
      WHEN 'table' THEN 'BASE TABLE'
      WHEN 'view' THEN 'VIEW'
    END
  UNION ALL
  SELECT
    row_number() OVER (ORDER BY sequence_name),
    json_build_object('schema', sequence_schema, 'name', sequence_name, 'data_type', data_type)
  FROM information_schema.sequences
  WHERE :object_type::text = 'sequence' AND sequence_schema = :schema_name::text
  UNION ALL
  SELECT
    row_number() OVER (ORDER BY extname),
    json_build_object('name', extname, 'version', extversion, 'relocatable', extrelocatable)
  FROM pg_extension
  WHERE :object_type::text = 'extension'
) AS x;

-- name: get_object_details
SELECT 'Unsupported object type: ' || :object_type::text AS error
WHERE :object_type::text NOT IN ('table', 'view', 'sequence', 'extension');
SELECT CASE
  WHEN :object_type::text IN ('table', 'view')
    THEN json_build_object(
      'basic', json_build_object(
        'schema', :schema_name::text,
        'name', :object_name::text,
        'type', :object_type::text
      ),
      'columns', (
        SELECT coalesce(
          json_agg(
            json_build_object(
              'column', column_name,
              'data_type', data_type,
              'is_nullable', is_nullable,
              'default', column_default
            ) ORDER BY ordinal_position
          ),
          '[]'
        )
        FROM information_schema.columns
        WHERE table_schema = :schema_name::text AND table_name = :object_name::text
      ),
      'constraints', (
        SELECT coalesce(
          json_agg(json_build_object('name', name, 'type', type, 'columns', columns) ORDER BY name),
          '[]'
        )
        FROM (
          SELECT
            tc.constraint_name AS name,
            tc.constraint_type AS type,
            coalesce(
              json_agg(k.column_name ORDER BY k.ordinal_position) FILTER (
                WHERE k.column_name IS NOT NULL
              ),
              '[]'
            ) AS columns
          FROM information_schema.table_constraints tc
          LEFT JOIN information_schema.key_column_usage k
            ON k.constraint_name = tc.constraint_name AND k.table_schema = tc.table_schema
          WHERE tc.table_schema = :schema_name::text AND tc.table_name = :object_name::text
          GROUP BY 1, 2
        ) AS c
      ),
      'indexes', (
        SELECT coalesce(
          json_agg(json_build_object('name', indexname, 'definition', indexdef) ORDER BY indexname),
          '[]'
        )
        FROM pg_indexes
        WHERE schemaname = :schema_name::text AND tablename = :object_name::text
      )
    )
  WHEN :object_type::text = 'sequence'
    THEN coalesce((
      SELECT json_build_object(
        'schema', sequence_schema,
        'name', sequence_name,
        'data_type', data_type,
        'start_value', start_value,
        'increment', increment
      )
      FROM information_schema.sequences
      WHERE sequence_schema = :schema_name::text AND sequence_name = :object_name::text
    ), '{}')
  ELSE coalesce((
    SELECT json_build_object('name', extname, 'version', extversion, 'relocatable', extrelocatable)
    FROM pg_extension
    WHERE extname = :object_name::text
  ), '{}')
END AS result;

-- name: explain_query
SELECT 'Cannot use analyze and hypothetical indexes together' AS error
WHERE :analyze::boolean AND json_array_length(:hypothetical_indexes::json) > 0;
SELECT E'The **hypopg** extension is not available on this PostgreSQL server, so hypothetical '
  || 'indexes cannot be tested.' AS result
WHERE json_array_length(:hypothetical_indexes::json) > 0;
SELECT CASE WHEN :analyze::boolean THEN 'EXPLAIN (ANALYZE, BUFFERS) ' ELSE 'EXPLAIN ' END
  || :sql::text AS explain;
{{plan :explain}};

-- name: analyze_workload_indexes
SELECT 'Error analyzing workload: no language model is configured' AS error
WHERE :method::text = 'llm';
SELECT 'max_index_size_mb must be positive' AS error WHERE :max_index_size_mb::bigint <= 0;
SELECT 'The **hypopg** extension is not available on this PostgreSQL server. Indexes are '
  || 'recommended by trying hypothetical ones, which needs it.' AS result;

-- name: analyze_query_indexes
SELECT 'Please provide a non-empty list of queries to analyze.' AS error
WHERE json_array_length(:queries::json) = 0;
SELECT 'Please provide a list of up to 10 queries to analyze.' AS error
WHERE json_array_length(:queries::json) > 10;
SELECT 'Error analyzing queries: no language model is configured' AS error
WHERE :method::text = 'llm' AND :max_index_size_mb::bigint IS NOT NULL;
SELECT 'The **hypopg** extension is not available on this PostgreSQL server. Indexes are '
  || 'recommended by trying hypothetical ones, which needs it.' AS result;

-- name: analyze_db_health
SELECT 'Invalid health types provided: ' || quote_literal(:health_type::text)
  || '. Valid values are: all, buffer, connection, constraint, index, replication, sequence, '
  || 'vacuum.' AS error
WHERE EXISTS (
  SELECT 1
  FROM regexp_split_to_table(:health_type::text, ',') AS t
  WHERE trim(t) NOT IN (
    'all', 'buffer', 'connection', 'constraint', 'index', 'replication', 'sequence', 'vacuum'
  )
);
WITH wanted AS (SELECT trim(t) AS name FROM regexp_split_to_table(:health_type::text, ',') AS t),
invalid AS (SELECT i.indexrelid::regclass::text AS name FROM pg_index i WHERE NOT i.indisvalid),
twice AS (
  SELECT string_agg(indexrelid::regclass::text, ', ' ORDER BY indexrelid) AS names
  FROM pg_index
  WHERE indrelid >= 16384
  GROUP BY indrelid, indkey, indclass, indpred::text, indexprs::text
  HAVING count(*) > 1
),
unused AS (
  SELECT s.indexrelname AS name
  FROM pg_stat_user_indexes s
  JOIN pg_index i USING (indexrelid)
  WHERE s.idx_scan = 0 AND NOT i.indisunique
),
report (nth, kind, line) AS (
  SELECT
    1,
    'index',
    coalesce(
      (SELECT 'Invalid indexes: ' || string_agg(name, ', ') FROM invalid),
      'No invalid indexes found.'
    )
  UNION ALL
  SELECT
    2,
    'index',
    coalesce(
      (SELECT 'Duplicate indexes: ' || string_agg(names, '; ') FROM twice),
      'No duplicate indexes found.'
    )
  UNION ALL
  SELECT
    3,
    'index',
    coalesce(
      (SELECT 'Unused indexes: ' || string_agg(name, ', ') FROM unused),
      'No unused indexes found.'
    )
  UNION ALL
  SELECT
    4,
    'connection',
    'Connections healthy: ' || count(*) || ' total, ' || count(*) FILTER (WHERE state = 'idle')
      || ' idle'
  FROM pg_stat_activity
  WHERE datname = current_database()
  UNION ALL
  SELECT
    5,
    'vacuum',
    CASE
      WHEN max(age(relfrozenxid)) > 1500000000 THEN 'Transaction ID wraparound is near'
      ELSE 'No tables near transaction ID wraparound.'
    END
  FROM pg_class
  WHERE relkind = 'r'
  UNION ALL
  SELECT
    6,
    'sequence',
    coalesce(
      'Sequences near their end: ' || string_agg(schemaname || '.' || sequencename, ', '),
      'All sequences have healthy usage levels.'
    )
  FROM pg_sequences
  WHERE last_value > 0.9 * max_value
  UNION ALL
  SELECT 7, 'replication', 'This is a primary database. No replicas, no replication slots.'
  UNION ALL
  SELECT
    8,
    'buffer',
    'Index cache hit rate: ' || coalesce(
      round(100.0 * sum(idx_blks_hit) / nullif(sum(idx_blks_hit + idx_blks_read), 0), 1) || '%',
      'no data yet'
    )
  FROM pg_statio_user_indexes
  UNION ALL
  SELECT
    9,
    'buffer',
    'Table cache hit rate: ' || coalesce(
      round(100.0 * sum(heap_blks_hit) / nullif(sum(heap_blks_hit + heap_blks_read), 0), 1) || '%',
      'no data yet'
    )
  FROM pg_statio_user_tables
  UNION ALL
  SELECT
    10,
    'constraint',
    coalesce('Invalid constraints: ' || string_agg(conname, ', '), 'No invalid constraints found.')
  FROM pg_constraint
  WHERE NOT convalidated
)
SELECT string_agg(line, E'\n' ORDER BY nth) AS result
FROM report
WHERE kind IN (SELECT name FROM wanted) OR 'all' IN (SELECT name FROM wanted);

-- name: get_top_queries
SELECT 'Invalid sort criteria. Please use ''resources'' or ''mean_time'' or ''total_time''.'
  AS error
WHERE :sort_by::text NOT IN ('resources', 'mean_time', 'total_time');
SELECT query, calls, total_exec_time, mean_exec_time, rows
FROM pg_stat_statements s
JOIN pg_database d ON d.oid = s.dbid AND d.datname = current_database()
JOIN pg_roles r ON r.oid = s.userid AND r.rolname = current_user
ORDER BY CASE WHEN :sort_by::text = 'mean_time' THEN mean_exec_time ELSE total_exec_time END DESC
LIMIT least(greatest(:limit::bigint, 0), 100);

-- name: execute_sql
{{sql :sql}};
