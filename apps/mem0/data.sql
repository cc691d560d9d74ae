-- Memories in the order in which they were made. One that names nobody is the user's, as the tools
-- have it; without a text it is what its user's messages say. A memory that is read only cannot be
-- updated. What only says how the product would come to a memory (preferences, instructions,
-- definitions of categories) is kept for the dump.

-- name: import
SELECT 'memory_list/' || key || ': '
  || CASE
    WHEN value ->> 'id' IN (SELECT id FROM memory) THEN 'is there already: ' || (value ->> 'id')
    WHEN ifnull(value ->> 'content_text', '') = ''
        AND ifnull(json_array_length(value, '$.message_list'), 0) = 0
      THEN 'needs content_text or message_list'
    WHEN time_read(ifnull(value ->> 'created_at', '2000-01-01'), 'UTC') IS NULL
      THEN 'created_at is a time (ISO 8601)'
    WHEN time_read(ifnull(value ->> 'updated_at', '2000-01-01'), 'UTC') IS NULL
      THEN 'updated_at is a time (ISO 8601)'
  END AS error
FROM json_each(:args, '$.memory_list') m
WHERE error IS NOT NULL
LIMIT 1;
SELECT 'memory_list: twice: ' || (value ->> 'id') AS error
FROM json_each(:args, '$.memory_list')
WHERE value ->> 'id' IS NOT NULL
GROUP BY value ->> 'id'
HAVING count(*) > 1
LIMIT 1;
SELECT ifnull(max(n), 0) AS n_memories FROM memory;
INSERT INTO memory
SELECT
  ifnull(value ->> 'id', new_id('memory')),
  :n_memories + 1 + key,
  coalesce(
    nullif(value ->> 'content_text', ''),
    (
      SELECT group_concat(s.value ->> 'content', char(10))
      FROM json_each(m.value, '$.message_list') s
      WHERE s.value ->> 'role' = 'user' AND s.value ->> 'content' <> ''
    ),
    (
      SELECT group_concat(s.value ->> 'content', char(10))
      FROM json_each(m.value, '$.message_list') s
    ),
    ''
  ),
  value ->> 'message_list',
  ifnull(
    nullif(value ->> 'user_id', ''),
    iif(ifnull(value ->> 'agent_id', '') || ifnull(value ->> 'run_id', '') = '', 'user', NULL)
  ),
  nullif(value ->> 'agent_id', ''),
  nullif(value ->> 'app_id', ''),
  nullif(value ->> 'run_id', ''),
  value ->> 'metadata',
  coalesce(
    value ->> 'created_at',
    time_write(value ->> 'timestamp', 'UTC', '%Y-%m-%dT%H:%M:%SZ'),
    now()
  ),
  coalesce(
    value ->> 'updated_at',
    value ->> 'created_at',
    time_write(value ->> 'timestamp', 'UTC', '%Y-%m-%dT%H:%M:%SZ'),
    now()
  ),
  ifnull(value ->> 'read_only', 0),
  drop_nulls(json_object(
    'include_preferences', value ->> 'include_preferences',
    'exclude_preferences', value ->> 'exclude_preferences',
    'auto_infer', json(ifnull(value -> 'auto_infer', 'true')),
    'response_format', ifnull(value ->> 'response_format', 'v1.1'),
    'category_definitions', json(value -> 'category_definitions'),
    'processing_instructions', value ->> 'processing_instructions',
    'background_processing', json(ifnull(value -> 'background_processing', 'true')),
    'timestamp', value ->> 'timestamp'
  ))
FROM json_each(:args, '$.memory_list') m
WHERE type = 'object'
ORDER BY key;
SELECT json_object('memories', (SELECT count(*) FROM memory WHERE n > :n_memories)) AS result;

-- name: export
SELECT json_object('memory_list', json_group_array(json(item))) AS result
FROM (
  SELECT drop_nulls(json_object(
    'id', id,
    'content_text', text,
    'message_list', json(messages),
    'agent_id', agent_id,
    'user_id', user_id,
    'app_id', app_id,
    'run_id', run_id,
    'metadata', json(metadata),
    'include_preferences', options ->> 'include_preferences',
    'exclude_preferences', options ->> 'exclude_preferences',
    'auto_infer', json(ifnull(options -> 'auto_infer', 'true')),
    'response_format', ifnull(options ->> 'response_format', 'v1.1'),
    'category_definitions', json(options -> 'category_definitions'),
    'processing_instructions', options ->> 'processing_instructions',
    'read_only', json(iif(is_fixed, 'true', 'false')),
    'background_processing', json(ifnull(options -> 'background_processing', 'true')),
    'timestamp', options ->> 'timestamp',
    'created_at', created,
    'updated_at', updated
  )) AS item
  FROM memory
  ORDER BY n
);
