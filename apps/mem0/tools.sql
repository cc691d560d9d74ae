-- part: fail
-- The answer to what the API refuses: :failed says why, :status is its HTTP status.
SELECT json_indent(json_object(
  'success', json('false'),
  'operation', :operation,
  'message', 'API request failed: ' || :failed,
  'error', 'API request failed: ' || :failed,
  'status', :status
)) AS error
WHERE :failed IS NOT NULL;

-- part: find_memory
SELECT 'Error: memory_id parameter is required' AS error WHERE :memory_id = '';
SELECT id, is_fixed FROM memory WHERE id = :memory_id;
SELECT iif(:id IS NULL, '{"error": "Memory not found!"}', NULL) AS failed, 404 AS status;
-- include: fail

-- part: find_memories
-- :found, the ids of the memories that :filters means. A filter is a tree of AND, OR and NOT over
-- fields, taken apart into :nodes; then each memory goes through them from the last to the first
-- with a stack of what holds.
SELECT iif(
  instr(ifnull(:filters, ''), '"user_id"') > 0,
  :filters,
  json_object(
    'AND', json_array(
      json_object('user_id', ifnull(nullif(:user_id, ''), 'user')),
      json(ifnull(:filters, '{}'))
    )
  )
) AS wanted;
WITH RECURSIVE node (place, op, name, type, value) AS (
  SELECT '', 'AND', '', 'object', :wanted
  UNION ALL
  SELECT
    node.place || printf('.%08d', e.id),
    CASE
      WHEN node.type = 'array' THEN iif(e.type = 'object', 'AND', 'bad')
      WHEN e.key NOT IN ('AND', 'OR', 'NOT') THEN 'field'
      WHEN e.type = 'array' THEN e.key
      ELSE 'bad'
    END,
    iif(node.type = 'array', node.name, e.key),
    e.type,
    e.value
  FROM node, json_each(node.value) e
  WHERE node.op NOT IN ('field', 'bad')
)
SELECT json_group_array(json_object(
  'place', place,
  'op', op,
  'name', name,
  'n', iif(op IN ('field', 'bad'), 0, (SELECT count(*) FROM json_each(node.value))),
  'tests', CASE
    WHEN op <> 'field' THEN json('[]')
    WHEN type = 'object'
      THEN (
        SELECT json_group_array(json_object(
          'name', iif(node.name = 'metadata', 'metadata.' || e.key, node.name),
          'by', iif(node.name = 'metadata', 'eq', e.key),
          'type', e.type,
          'value', e.value
        ))
        FROM json_each(node.value) e
      )
    ELSE json_array(json_object(
      'name', name,
      'by', iif(type = 'array', 'in', 'eq'),
      'type', type,
      'value', value
    ))
  END
)) AS nodes
FROM node;
SELECT
  json_object(
    'error', CASE
      WHEN x.value ->> 'op' = 'bad'
        THEN 'filters[''' || (x.value ->> 'name') || '''] must be a list of filters.'
      WHEN t.value ->> 'name' NOT IN (
          'user_id', 'agent_id', 'app_id', 'run_id', 'created_at', 'updated_at', 'keywords',
          'memory_ids', 'id'
        )
          AND t.value ->> 'name' NOT GLOB 'metadata.*'
          OR instr(t.value ->> 'name', '"') > 0
        THEN 'Invalid filter field: ' || (t.value ->> 'name')
      WHEN t.value ->> 'by' NOT IN (
          'eq', 'ne', 'in', 'gt', 'gte', 'lt', 'lte', 'contains', 'icontains'
        )
        THEN 'Invalid filter operator: ' || (t.value ->> 'by')
      WHEN t.value ->> 'by' = 'in' AND t.value ->> 'type' <> 'array'
        THEN 'The operator in needs a list: ' || (t.value ->> 'name')
      WHEN t.value ->> 'name' IN ('created_at', 'updated_at')
          AND t.value ->> 'value' <> '*'
          AND time_read(t.value ->> 'value', 'UTC') IS NULL
        THEN 'Invalid date in filter: ' || (t.value ->> 'name')
    END
  ) AS failed,
  400 AS status
FROM json_each(:nodes) x
LEFT JOIN json_each(x.value, '$.tests') t
WHERE failed <> '{"error":null}'
LIMIT 1;
-- include: fail
WITH RECURSIVE node AS MATERIALIZED (
  SELECT
    row_number() OVER (ORDER BY value ->> 'place' DESC) AS i,
    value ->> 'op' AS op,
    value ->> 'n' AS n,
    value -> 'tests' AS tests
  FROM json_each(:nodes)
),
test AS MATERIALIZED (
  SELECT
    node.i,
    t.value ->> 'name' AS name,
    t.value ->> 'by' AS "by",
    iif(
      t.value ->> 'name' IN ('created_at', 'updated_at') AND t.value ->> 'value' <> '*',
      time_read(t.value ->> 'value', 'UTC'),
      t.value ->> 'value'
    ) AS target
  FROM node, json_each(node.tests) t
),
run (id, i, stack) AS (
  SELECT id, 0, '' FROM memory
  UNION ALL
  SELECT
    run.id,
    node.i,
    CASE node.op
        WHEN 'field'
          THEN NOT EXISTS (
            SELECT 1
            FROM (
              SELECT
                test."by",
                test.target,
                CASE test.name
                  WHEN 'user_id' THEN m.user_id
                  WHEN 'agent_id' THEN m.agent_id
                  WHEN 'app_id' THEN m.app_id
                  WHEN 'run_id' THEN m.run_id
                  WHEN 'keywords' THEN m.text
                  WHEN 'created_at' THEN time_read(m.created, 'UTC')
                  WHEN 'updated_at' THEN time_read(m.updated, 'UTC')
                  WHEN 'id' THEN m.id
                  WHEN 'memory_ids' THEN m.id
                  ELSE m.metadata ->> ('$."' || substr(test.name, 10) || '"')
                END AS is_now
              FROM test
              WHERE test.i = node.i
            )
            WHERE NOT ifnull(
              CASE "by"
                WHEN 'eq' THEN iif(target = '*', is_now IS NOT NULL, is_now IS target)
                WHEN 'ne' THEN is_now IS NOT target
                WHEN 'in' THEN EXISTS (SELECT 1 FROM json_each(target) v WHERE v.value = is_now)
                WHEN 'gt' THEN is_now > target
                WHEN 'gte' THEN is_now >= target
                WHEN 'lt' THEN is_now < target
                WHEN 'lte' THEN is_now <= target
                WHEN 'contains' THEN instr(is_now, target) > 0
                ELSE instr(lower(is_now), lower(target)) > 0
              END,
              0
            )
          )
        WHEN 'AND' THEN instr(substr(run.stack, 1, node.n), '0') = 0
        WHEN 'OR' THEN instr(substr(run.stack, 1, node.n), '1') > 0
        ELSE instr(substr(run.stack, 1, node.n), '1') = 0
      END || substr(run.stack, node.n + 1)
  FROM run
  JOIN node ON node.i = run.i + 1
  JOIN memory m ON m.id = run.id
)
SELECT json_group_array(id) AS found
FROM run
WHERE i = (SELECT count(*) FROM node) AND stack = '1';

-- name: mem0_add_memory
SELECT coalesce(
  nullif(:text, ''),
  nullif(:content, ''),
  (
    SELECT group_concat(value ->> 'content', char(10))
    FROM (
      SELECT value
      FROM json_each(:messages)
      WHERE value ->> 'role' = 'user' AND value ->> 'content' <> ''
      ORDER BY key
    )
  ),
  (
    SELECT group_concat(value ->> 'content', char(10))
    FROM (SELECT value FROM json_each(:messages) WHERE value ->> 'content' <> '' ORDER BY key)
  )
) AS said;
SELECT 'Error: provide at least one of text/content or messages' AS error WHERE :said IS NULL;
INSERT INTO memory (
  id, n, text, messages, user_id, agent_id, app_id, run_id, metadata, created, updated
)
SELECT
  new_id('memory'),
  ifnull(max(n), 0) + 1,
  :said,
  nullif(:messages, '[]'),
  ifnull(
    nullif(:user_id, ''),
    iif(ifnull(:agent_id, '') || ifnull(:run_id, '') = '', 'user', NULL)
  ),
  nullif(:agent_id, ''),
  nullif(:app_id, ''),
  nullif(:run_id, ''),
  nullif(:metadata, '{}'),
  now(),
  now()
FROM memory
WHERE true
RETURNING id AS made;
SELECT json_object(
  'success', json('true'),
  'memoryId', :made,
  'operation', 'add',
  'message', 'Operation completed'
) AS result;

-- name: mem0_get_memories
SELECT 'list' AS operation, ifnull(:page, 1) AS page, ifnull(:page_size, 100) AS page_size;
-- include: find_memories
SELECT
  iif(
    :page < 1
      OR :page_size < 1
      OR :page > 1 AND (:page - 1) * :page_size >= json_array_length(:found),
    '{"detail": "Invalid page."}',
    NULL
  ) AS failed,
  404 AS status;
-- include: fail
SELECT iif(
  count(*) = 0,
  json_object('success', json('true')),
  json_object(
    'items', json_group_array(json(shown)),
    'totalCount', count(*),
    'success', json('true')
  )
) AS result
FROM (
  SELECT shown
  FROM shown
  WHERE id IN (SELECT value FROM json_each(:found))
  ORDER BY shown ->> 'created' DESC, n DESC
  LIMIT :page_size OFFSET (:page - 1) * :page_size
);

-- name: mem0_search_memories
SELECT 'Error: query parameter is required' AS error WHERE trim(:query) = '';
SELECT 'search' AS operation;
-- include: find_memories
-- include: common/words
SELECT json_group_array(value) AS words
FROM json_each(:words)
WHERE value NOT IN (SELECT word FROM stop_word);
WITH hit AS (
  SELECT m.id, m.n, 1.0 * count(*) / json_array_length(:words) AS share
  FROM memory m
  JOIN json_each(:words) w ON text_match(w.value, m.text)
  WHERE m.id IN (SELECT value FROM json_each(:found))
  GROUP BY m.id
)
SELECT iif(
  count(*) = 0,
  json_object('success', json('true')),
  json_object(
    'results', json_group_array(json(shown)),
    'totalFound', count(*),
    'success', json('true')
  )
) AS result
FROM (
  SELECT json_set(s.shown, '$.score', round(0.3 + 0.6 * hit.share, 4)) AS shown
  FROM hit
  JOIN shown s ON s.id = hit.id
  ORDER BY hit.share DESC, hit.n DESC
  LIMIT max(ifnull(:limit, 20), 0)
);

-- name: mem0_get_memory
SELECT 'get' AS operation;
-- include: find_memory
SELECT shown AS result FROM shown WHERE id = :id;

-- name: mem0_list_entities
SELECT json_object(
  'entities', nullif(json_group_array(json(item)), '[]'),
  'totalEntities', count(*),
  'totalUsers', count(*) FILTER (WHERE type = 'user'),
  'totalAgents', count(*) FILTER (WHERE type = 'agent'),
  'totalApps', count(*) FILTER (WHERE type = 'app'),
  'totalRuns', count(*) FILTER (WHERE type = 'run'),
  'success', json('true')
) AS made
FROM (
  SELECT
    type,
    json_object(
      'name', name,
      'entityType', type,
      'memoryCount', memories,
      'created', created,
      'updated', updated,
      'owner', NULL,
      'metadata', NULL
    ) AS item
  FROM entity
  ORDER BY updated DESC, type DESC, name
);
SELECT iif(
  :made ->> 'entities' IS NULL,
  json_remove(:made, '$.entities'),
  json_set(:made, '$.entities', json(:made ->> 'entities'))
) AS result;

-- name: mem0_update_memory
SELECT 'Error: memory_id and text/data parameters are required' AS error
WHERE :memory_id = '' OR ifnull(:text, '') || ifnull(:data, '') = '';
SELECT 'update' AS operation;
-- include: find_memory
SELECT
  iif(:is_fixed, '{"error": "Memory is immutable and cannot be updated."}', NULL) AS failed,
  400 AS status;
-- include: fail
UPDATE memory SET text = ifnull(nullif(:text, ''), :data), updated = now() WHERE id = :id;
SELECT json_object(
  'success', json('true'),
  'memoryId', :id,
  'operation', 'update',
  'message', 'Operation completed'
) AS result;

-- name: mem0_delete_memory
SELECT 'delete' AS operation;
-- include: find_memory
DELETE FROM memory WHERE id = :id;
SELECT json_object(
  'success', json('true'),
  'operation', 'delete',
  'message', 'Memory deleted successfully!'
) AS result;

-- name: mem0_delete_all_memories
SELECT iif(
  coalesce(nullif(:user_id, ''), nullif(:agent_id, ''), nullif(:app_id, ''), nullif(:run_id, ''))
    IS NULL,
  'user',
  nullif(:user_id, '')
) AS whose;
DELETE FROM memory
WHERE (:whose IS NULL OR user_id = :whose)
  AND (ifnull(:agent_id, '') = '' OR agent_id = :agent_id)
  AND (ifnull(:app_id, '') = '' OR app_id = :app_id)
  AND (ifnull(:run_id, '') = '' OR run_id = :run_id);
SELECT json_object(
  'success', json('true'),
  'operation', 'delete_all',
  'message', 'Memories deleted successfully!'
) AS result;

-- name: mem0_delete_entities
-- The first one that is named, as the API's client has it.
SELECT
  'delete_entities' AS operation,
  CASE
    WHEN :user_id <> '' THEN 'user'
    WHEN :agent_id <> '' THEN 'agent'
    WHEN :app_id <> '' THEN 'app'
    WHEN :run_id <> '' THEN 'run'
    ELSE 'user'
  END AS kind,
  coalesce(
    nullif(:user_id, ''),
    nullif(:agent_id, ''),
    nullif(:app_id, ''),
    nullif(:run_id, ''),
    'user'
  ) AS whose;
SELECT
  iif(
    EXISTS (SELECT 1 FROM entity WHERE type = :kind AND name = :whose),
    NULL,
    '{"error": "Entity not found!"}'
  ) AS failed,
  404 AS status;
-- include: fail
DELETE FROM memory
WHERE CASE :kind
  WHEN 'user' THEN user_id
  WHEN 'agent' THEN agent_id
  WHEN 'app' THEN app_id
  ELSE run_id
END
  = :whose;
SELECT json_object(
  'success', json('true'),
  'operation', 'delete_entities',
  'message', 'Entity deleted successfully.'
) AS result;
