-- The tools of HubSpot. What the API refuses is told as its Python client does: the status, then
-- the JSON of the answer. :prefix is what the server says before it.

-- part: list
-- :kind
SELECT json_object(
  'count', count(*),
  :kind, json_group_array(json(json)),
  'hasMore', json(iif((SELECT count(*) FROM object WHERE kind = :kind) > count(*), 'true', 'false'))
) AS result
FROM (SELECT json FROM shown WHERE kind = :kind ORDER BY place LIMIT min(:limit, 100));

-- part: find
-- :kind, :one, :id, :prefix
SELECT 'Error: ' || :one || '_id parameter is required' AS error WHERE :id = '';
SELECT id AS found FROM object WHERE kind = :kind AND id = :id;
SELECT :prefix || text || json_object('status', 'error', 'message', 'resource not found')
  || char(10) AS error
FROM failure
WHERE code = 404 AND :found IS NULL;

-- part: get
-- include: find
SELECT json_object(:one, json(json)) AS result FROM shown WHERE id = :found;

-- part: delete
-- include: find
DELETE FROM object WHERE id = :found;
SELECT 'Deleted' AS result;

-- part: check
-- :kind, :input, :prefix; gives :values, names and texts, null for what is cleared.
SELECT :prefix || 'Expecting value: line 1 column 1 (char 0)' AS error WHERE NOT json_valid(:input);
SELECT :prefix || text
  || json_object(
    'status', 'error',
    'message', 'Invalid input JSON: properties have to be an object',
    'category', 'VALIDATION_ERROR'
  ) || char(10) AS error
FROM failure
WHERE code = 400 AND json_type(:input) <> 'object';
WITH given AS (
  SELECT
    j.key AS name,
    p.type,
    p.options,
    p.is_read_only,
    CASE j.type
      WHEN 'true' THEN 'true'
      WHEN 'false' THEN 'false'
      WHEN 'null' THEN ''
      ELSE CAST(j.value AS TEXT)
    END AS text,
    j.type IN ('array', 'object') AS is_nested
  FROM json_each(:input) j
  LEFT JOIN property p ON p.kind = :kind AND p.name = j.key
),
read AS (
  SELECT
    *,
    CASE WHEN json_valid(text) THEN json_type(text) END AS number,
    iif(json_valid(text), CAST(text AS INTEGER) / 1000, time_read(text, 'UTC')) AS seconds
  FROM given
),
checked AS (
  SELECT
    name,
    text,
    CASE
      WHEN text = '' THEN NULL
      WHEN type = 'datetime' THEN strftime('%Y-%m-%dT%H:%M:%SZ', seconds, 'unixepoch')
      WHEN name = 'email' THEN lower(trim(text))
      ELSE text
    END AS value,
    CASE
      WHEN type IS NULL THEN 'PROPERTY_DOESNT_EXIST'
      WHEN is_read_only THEN 'READ_ONLY_VALUE'
      WHEN is_nested THEN 'INVALID_VALUE'
      WHEN text = '' THEN NULL
      WHEN type = 'number' AND ifnull(number, '') NOT IN ('integer', 'real') THEN 'INVALID_NUMBER'
      WHEN type = 'datetime' AND (seconds IS NULL OR ifnull(number, 'integer') <> 'integer')
        THEN 'INVALID_LONG'
      WHEN type = 'bool' AND text NOT IN ('true', 'false') THEN 'INVALID_OPTION'
      WHEN options IS NOT NULL
          AND (instr(text, ' ') > 0 OR instr(options, ' ' || text || ' ') = 0)
          AND NOT EXISTS (
            SELECT 1 FROM object o WHERE o.kind = :kind AND o.properties ->> name = text
          )
        THEN 'INVALID_OPTION'
      WHEN name = 'email' AND NOT mail_is_address(trim(text)) THEN 'INVALID_EMAIL'
    END AS code,
    options
  FROM read
),
told AS (
  SELECT
    *,
    CASE code
      WHEN 'PROPERTY_DOESNT_EXIST' THEN 'Property "' || name || '" does not exist'
      WHEN 'READ_ONLY_VALUE'
        THEN '"' || name || '" is a read only property; its value cannot be set.'
      WHEN 'INVALID_NUMBER' THEN text || ' was not a valid number.'
      WHEN 'INVALID_LONG' THEN text || ' was not a valid long.'
      WHEN 'INVALID_EMAIL' THEN 'Email address ' || text || ' is invalid'
      WHEN 'INVALID_OPTION'
        THEN text || ' was not one of the allowed options: ['
          || replace(trim(ifnull(options, 'true false')), ' ', ', ') || ']'
      ELSE 'The value of ' || name || ' has to be a text'
    END AS why
  FROM checked
)
SELECT
  iif(
    count(code) > 0,
    :prefix || (SELECT text FROM failure WHERE code = 400)
      || json_object(
        'status', 'error',
        'message', 'Property values were not valid: ' || json_group_array(json_object(
          'isValid', json('false'),
          'message', why,
          'error', code,
          'name', name,
          'localizedErrorMessage', why
        )) FILTER (WHERE code IS NOT NULL),
        'category', 'VALIDATION_ERROR'
      ) || char(10),
    NULL
  ) AS error,
  json_group_object(name, value) AS "values"
FROM told;

-- part: own_email
-- No two contacts have the same address.
SELECT :prefix || f.text
  || json_object(
    'status', 'error',
    'message', 'Contact already exists. Existing ID: ' || o.id,
    'category', 'CONFLICT'
  ) || char(10) AS error
FROM object o, failure f
WHERE :kind = 'contacts'
  AND o.kind = 'contacts'
  AND o.properties ->> 'email' = :values ->> 'email'
  AND o.id IS NOT :found
  AND f.code = 409;

-- part: names
-- :kind, :input, :prefix
SELECT :prefix || 'Invalid property names detected:' || char(10)
  || group_concat('Property ''' || wrong || ''' should be ''' || name || '''', char(10)) || char(10)
  || char(10) || 'Tip: Call ''hubspot_list_properties'' with object_type=''' || :kind
  || ''' to see all valid property names.' AS error
FROM (
  SELECT m.wrong, m.name
  FROM json_each(iif(json_valid(:input), :input, '{}')) j
  JOIN mistake m ON m.kind = :kind AND m.wrong = j.key
  ORDER BY j.id
)
HAVING count(*) > 0;

-- part: create
-- :kind, :input, :prefix, :defaults and :needed, a property that has to be there
-- include: check
SELECT NULL AS found;
-- include: own_email
SELECT :prefix || text
  || json_object(
    'status', 'error',
    'message', 'Error creating ' || upper(:one) || '. Some required properties were not set.',
    'category', 'VALIDATION_ERROR',
    'errors', json_array(json_object(
      'message', 'One or more required properties were not set',
      'context', json_object('properties', json_array(:needed))
    ))
  ) || char(10) AS error
FROM failure
WHERE code = 400 AND :needed <> '' AND :values ->> :needed IS NULL;
INSERT INTO object VALUES (
  new_id(:kind),
  :kind,
  (SELECT ifnull(max(place), 0) + 1 FROM object),
  json_patch(:defaults, :values),
  now(),
  now()
)
RETURNING id AS new_object;

-- part: update
-- :kind, :one, :id, :input
SELECT 'Error: ' || :one || '_id and updates parameters are required' AS error
WHERE :id = '' OR :input = '';
SELECT 'Error occurred: ' AS prefix;
-- include: check
-- include: find
-- include: own_email
UPDATE object
SET properties = json_patch(properties, :values), updated_at = now()
WHERE id = :found;
SELECT 'Done' AS result;

-- name: hubspot_get_contacts
SELECT 'contacts' AS kind;
-- include: list

-- name: hubspot_get_contact_by_id
SELECT 'contacts' AS kind, 'contact' AS one, :contact_id AS id, 'Error: ' AS prefix;
-- include: get

-- name: hubspot_create_contact
SELECT
  'contacts' AS kind, 'contact' AS one, :properties AS input, 'Error: ' AS prefix, '' AS needed,
  '{}' AS defaults;
-- include: names
-- include: create
SELECT 'Created' AS result;

-- name: hubspot_update_contact_by_id
SELECT 'contacts' AS kind, 'contact' AS one, :contact_id AS id, :updates AS input;
-- include: update

-- name: hubspot_delete_contact_by_id
SELECT 'contacts' AS kind, 'contact' AS one, :contact_id AS id, 'Error: ' AS prefix;
-- include: delete

-- name: hubspot_get_companies
SELECT 'companies' AS kind;
-- include: list

-- name: hubspot_get_company_by_id
SELECT 'companies' AS kind, 'company' AS one, :company_id AS id, 'Error: ' AS prefix;
-- include: get

-- name: hubspot_create_companies
SELECT
  'companies' AS kind, 'company' AS one, :properties AS input, 'Error: ' AS prefix, '' AS needed,
  '{}' AS defaults;
-- include: names
SELECT 'Error occurred: ' AS prefix;
-- include: create
SELECT 'Created' AS result;

-- name: hubspot_update_company_by_id
SELECT 'companies' AS kind, 'company' AS one, :company_id AS id, :updates AS input;
-- include: update

-- name: hubspot_delete_company_by_id
SELECT 'companies' AS kind, 'company' AS one, :company_id AS id, 'Error occurred: ' AS prefix;
-- include: delete

-- name: hubspot_get_deals
SELECT 'deals' AS kind;
-- include: list

-- name: hubspot_get_deal_by_id
SELECT 'deals' AS kind, 'deal' AS one, :deal_id AS id, 'Error: ' AS prefix;
-- include: get

-- name: hubspot_create_deal
SELECT
  'deals' AS kind, 'deal' AS one, :properties AS input, 'Error: ' AS prefix, '' AS needed,
  '{"pipeline":"default"}' AS defaults;
-- include: names
-- include: create
SELECT json_object('deal', json(json), 'status', 'created') AS result
FROM shown
WHERE id = :new_object;

-- name: hubspot_update_deal_by_id
SELECT 'deals' AS kind, 'deal' AS one, :deal_id AS id, :updates AS input;
-- include: update

-- name: hubspot_delete_deal_by_id
SELECT 'deals' AS kind, 'deal' AS one, :deal_id AS id, 'Error occurred: ' AS prefix;
-- include: delete

-- name: hubspot_get_tickets
SELECT 'tickets' AS kind;
-- include: list

-- name: hubspot_get_ticket_by_id
SELECT 'tickets' AS kind, 'ticket' AS one, :ticket_id AS id, 'Error: ' AS prefix;
-- include: get

-- name: hubspot_create_ticket
SELECT
  'tickets' AS kind, 'ticket' AS one, :properties AS input, 'Error: ' AS prefix,
  'hs_pipeline_stage' AS needed, '{"hs_pipeline":"0"}' AS defaults;
-- include: create
SELECT json_object('ticket', json(json), 'status', 'created') AS result
FROM shown
WHERE id = :new_object;

-- name: hubspot_update_ticket_by_id
SELECT 'tickets' AS kind, 'ticket' AS one, :ticket_id AS id, :updates AS input;
-- include: update

-- name: hubspot_delete_ticket_by_id
SELECT 'tickets' AS kind, 'ticket' AS one, :ticket_id AS id, 'Error occurred: ' AS prefix;
-- include: delete

-- name: hubspot_get_tasks
SELECT 'tasks' AS kind;
-- include: list

-- name: hubspot_get_task_by_id
SELECT 'tasks' AS kind, 'task' AS one, :task_id AS id, 'Error: ' AS prefix;
-- include: get

-- name: hubspot_create_task
SELECT
  'tasks' AS kind, 'task' AS one, :properties AS input, 'Error: ' AS prefix,
  'hs_timestamp' AS needed,
  '{"hs_task_status":"NOT_STARTED","hs_task_priority":"NONE","hs_task_type":"TODO"}' AS defaults;
-- include: create
SELECT json_object('task', json(json), 'status', 'created') AS result
FROM shown
WHERE id = :new_object;

-- name: hubspot_update_task_by_id
SELECT 'tasks' AS kind, 'task' AS one, :task_id AS id, :updates AS input;
-- include: update

-- name: hubspot_delete_task_by_id
SELECT 'tasks' AS kind, 'task' AS one, :task_id AS id, 'Error occurred: ' AS prefix;
-- include: delete

-- name: hubspot_list_properties
SELECT json_group_array(json_object(
  'name', name,
  'label', label,
  'type', type,
  'fieldType', field_type
)) AS result
FROM (SELECT * FROM property WHERE kind = :object_type ORDER BY place);

-- name: hubspot_create_property
SELECT 'Error: Invalid object_type ''' || :object_type || '''' AS error
WHERE :object_type NOT IN ('contacts', 'companies', 'deals', 'tickets');
SELECT 'Error: ' || text
  || json_object(
    'status', 'error',
    'message', iif(
      :label = '',
      'label must not be empty',
      'name "' || :name || '" is not valid: it begins with a small letter and has small '
        || 'letters, digits and underscores'
    ),
    'category', 'VALIDATION_ERROR'
  ) || char(10) AS error
FROM failure
WHERE code = 400
  AND (:name NOT GLOB '[a-z]*' OR :name GLOB '*[^a-z0-9_]*' OR length(:name) > 100 OR :label = '');
SELECT 'Error: ' || text
  || json_object(
    'status', 'error',
    'message', 'A property named ''' || :name || ''' already exists.',
    'category', 'OBJECT_ALREADY_EXISTS'
  ) || char(10) AS error
FROM failure
WHERE code = 409 AND EXISTS (SELECT 1 FROM property WHERE kind = :object_type AND name = :name);
INSERT INTO property (kind, name, label, type, field_type, description) VALUES (
  :object_type, :name, :label, 'string', 'text', :description
);
SELECT 'Property Created' AS result;

-- name: hubspot_search_by_property
SELECT 'Missing required parameters. Required: object_type, property_name, operator, value, '
  || 'properties.' AS error
WHERE :object_type = ''
  OR :property_name = ''
  OR :operator = ''
  OR :value = ''
  OR json_array_length(:properties) = 0;
SELECT 'Error executing hubspot_search_by_property: ' AS prefix;
SELECT :prefix || 'Unsupported object type: ' || :object_type AS error
WHERE :object_type NOT IN ('contacts', 'companies', 'deals', 'tickets');
SELECT :prefix || 'Invalid value for `operator` (' || :operator || '), must be one of [''EQ'', '
  || '''NEQ'', ''LT'', ''LTE'', ''GT'', ''GTE'', ''BETWEEN'', ''IN'', ''NOT_IN'', '
  || '''HAS_PROPERTY'', ''NOT_HAS_PROPERTY'', ''CONTAINS_TOKEN'', ''NOT_CONTAINS_TOKEN'', '
  || '''STARTS_WITH'', ''ENDS_WITH'', ''ON_OR_AFTER'', ''ON_OR_BEFORE'']' AS error
WHERE :operator NOT IN (
  'EQ', 'NEQ', 'LT', 'LTE', 'GT', 'GTE', 'BETWEEN', 'IN', 'NOT_IN', 'HAS_PROPERTY',
  'NOT_HAS_PROPERTY', 'CONTAINS_TOKEN', 'NOT_CONTAINS_TOKEN', 'STARTS_WITH', 'ENDS_WITH',
  'ON_OR_AFTER', 'ON_OR_BEFORE'
);
-- A list is JSON, or as Python writes it, or texts with commas between them.
SELECT
  CASE
    WHEN :operator NOT IN ('BETWEEN', 'IN', 'NOT_IN') THEN json_array(:value)
    WHEN :value LIKE '[%' AND json_valid(:value) THEN :value
    WHEN :value LIKE '[%' AND json_valid(replace(:value, '''', '"')) THEN replace(:value, '''', '"')
    ELSE (
      WITH RECURSIVE part (one, rest) AS (
        SELECT NULL, :value || ','
        UNION ALL
        SELECT
          trim(substr(rest, 1, instr(rest, ',') - 1), ' "'''),
          substr(rest, instr(rest, ',') + 1)
        FROM part
        WHERE rest <> ''
      )
      SELECT json_group_array(one)
      FROM part
      WHERE one <> ''
    )
  END AS list,
  (SELECT type FROM property WHERE kind = :object_type AND name = :property_name) AS type;
SELECT :prefix || iif(
  :operator = 'BETWEEN',
  'Operator BETWEEN requires a list with two values [low, high]',
  'Operator IN/NOT_IN requires a non-empty list of values'
) AS error
WHERE :operator = 'BETWEEN' AND (json_array_length(:list) < 2 OR :value NOT LIKE '[%')
  OR :operator IN ('IN', 'NOT_IN') AND json_array_length(:list) = 0;
SELECT :prefix || text
  || json_object('status', 'error', 'message', 'There was a problem with the request.')
  || char(10) AS error
FROM failure
WHERE code = 400
  AND (
    :type IS NULL
    OR :limit < 0
    OR :type IN ('number', 'datetime')
      AND :operator IN (
        'EQ', 'NEQ', 'LT', 'LTE', 'GT', 'GTE', 'BETWEEN', 'IN', 'NOT_IN', 'ON_OR_AFTER',
        'ON_OR_BEFORE'
      )
      AND EXISTS (
        SELECT 1
        FROM json_each(:list)
        WHERE CASE
          WHEN json_valid(value) THEN json_type(value) NOT IN ('integer', 'real')
          ELSE :type = 'number' OR time_read(value, 'UTC') IS NULL
        END
      )
  );
WITH raw (id, place, nth, text) AS (
  SELECT NULL, NULL, key, CAST(value AS TEXT) FROM json_each(:list)
  UNION ALL
  SELECT id, place, NULL, properties ->> :property_name FROM record WHERE kind = :object_type
),
keyed AS MATERIALIZED (
  SELECT
    *,
    CASE :type
      WHEN 'number' THEN CAST(text AS REAL)
      WHEN 'datetime'
        THEN iif(json_valid(text), CAST(text AS INTEGER) / 1000, time_read(text, 'UTC'))
      ELSE lower(text)
    END AS k,
    -- Words with one space before and behind each.
      ' '
      || replace(
        replace(
          replace(
            replace(
              replace(
                replace(
                  replace(
                    replace(
                      replace(replace(replace(lower(text), '@', ' '), '.', ' '), ',', ' '),
                      '-',
                      ' '
                    ),
                    '_',
                    ' '
                  ),
                  '/',
                  ' '
                ),
                ':',
                ' '
              ),
              '(',
              ' '
            ),
            ')',
            ' '
          ),
          '%',
          ' '
        ),
        char(10),
        ' '
      ) || ' ' AS words
  FROM raw
),
wanted AS MATERIALIZED (
  SELECT
    (SELECT k FROM keyed WHERE nth = 0) AS low,
    (SELECT k FROM keyed WHERE nth = 1) AS high,
    (SELECT '% ' || replace(trim(words), '*', '%') || ' %' FROM keyed WHERE nth = 0) AS pattern,
    lower(:value) AS plain,
    iif(:type = 'datetime' AND time_is_date(:value), 86399, 0) AS day
)
SELECT json_group_array(json(json)) AS result
FROM (
  SELECT (
    SELECT json_group_object(name, value)
    FROM (
      SELECT p.name, r.properties ->> p.name AS value
      FROM property p
      WHERE p.kind = :object_type
        AND (
          p.name IN (SELECT value FROM json_each(:properties))
          OR p.name IN ('createdate', 'hs_object_id', 'lastmodifieddate', 'hs_lastmodifieddate')
        )
      ORDER BY p.name
    )
  ) AS json
  FROM keyed f
  JOIN record r ON r.id = f.id, wanted w
  WHERE CASE :operator
    WHEN 'EQ' THEN f.k = w.low
    WHEN 'NEQ' THEN f.k <> w.low
    WHEN 'LT' THEN f.k < w.low
    WHEN 'LTE' THEN f.k <= w.low
    WHEN 'GT' THEN f.k > w.low
    WHEN 'GTE' THEN f.k >= w.low
    WHEN 'ON_OR_AFTER' THEN f.k >= w.low
    WHEN 'ON_OR_BEFORE' THEN f.k <= w.low + w.day
    WHEN 'BETWEEN' THEN f.k BETWEEN w.low AND w.high
    WHEN 'IN' THEN f.k IN (SELECT k FROM keyed WHERE nth IS NOT NULL)
    WHEN 'NOT_IN' THEN f.k NOT IN (SELECT k FROM keyed WHERE nth IS NOT NULL)
    WHEN 'HAS_PROPERTY' THEN f.text IS NOT NULL
    WHEN 'NOT_HAS_PROPERTY' THEN f.text IS NULL
    WHEN 'CONTAINS_TOKEN' THEN f.words LIKE w.pattern
    WHEN 'NOT_CONTAINS_TOKEN' THEN f.words NOT LIKE w.pattern
    WHEN 'STARTS_WITH' THEN substr(lower(f.text), 1, length(w.plain)) = w.plain
    WHEN 'ENDS_WITH' THEN substr(lower(f.text), -length(w.plain)) = w.plain
  END
  ORDER BY f.place
  LIMIT min(:limit, 200)
);

-- name: hubspot_create_note
SELECT 'Error: note_body parameter is required' AS error WHERE :note_body = '';
SELECT
  'notes' AS kind,
  'Error: ' AS prefix,
  json_object(
    'hs_note_body', :note_body,
    'hubspot_owner_id', :owner_id,
    'hs_timestamp', ifnull(nullif(:timestamp, ''), now())
  ) AS input;
-- include: check
SELECT json_group_array(json_object('kind', kind, 'id', id)) AS targets
FROM (
  SELECT 'contacts' AS kind, value AS id FROM json_each(:contact_ids)
  UNION ALL
  SELECT 'companies', value FROM json_each(:company_ids)
  UNION ALL
  SELECT 'deals', value FROM json_each(:deal_ids)
  UNION ALL
  SELECT 'tickets', value FROM json_each(:ticket_ids)
);
SELECT 'Error: ' || (SELECT text FROM failure WHERE code = 400)
  || json_object(
    'status', 'error',
    'message', 'One or more associations are invalid',
    'errors', json_group_array(json_object('message', bad || ' is not valid')),
    'category', 'VALIDATION_ERROR'
  ) || char(10) AS error
FROM (
  SELECT CASE value ->> 'kind'
      WHEN 'companies' THEN 'COMPANY'
      WHEN 'contacts' THEN 'CONTACT'
      WHEN 'deals' THEN 'DEAL'
      ELSE 'TICKET'
    END || '=' || (value ->> 'id') AS bad
  FROM json_each(:targets) t
  WHERE NOT EXISTS (
    SELECT 1 FROM object o WHERE o.kind = t.value ->> 'kind' AND o.id = t.value ->> 'id'
  )
)
HAVING count(*) > 0;
INSERT INTO object VALUES (
  new_id('notes'),
  'notes',
  (SELECT ifnull(max(place), 0) + 1 FROM object),
  json_patch('{}', :values),
  now(),
  now()
)
RETURNING id AS new_note;
INSERT OR IGNORE INTO link
SELECT :new_note, value ->> 'id', (SELECT ifnull(max(place), 0) FROM link) + key + 1, 0
FROM json_each(:targets)
ORDER BY key;
SELECT 'Note created successfully with ID: ' || :new_note AS result;

-- part: one_end
-- :action; gives :main, the number of "Primary" between these types.
SELECT main, plain FROM link_type WHERE from_kind = :from_object_type AND to_kind = :to_object_type;
SELECT 'Error: Failed to ' || :action || ' association: ' || text
  || json_object(
    'status', 'error',
    'message', 'No association type ' || :association_type_id || ' exists between '
      || :from_object_type || ' and ' || :to_object_type,
    'category', 'VALIDATION_ERROR'
  ) || char(10) AS error
FROM failure
WHERE code = 400 AND :association_type_id <> :plain AND :association_type_id IS NOT :main;
SELECT 'Error: Failed to ' || :action || ' association: ' || text
  || json_object('status', 'error', 'message', 'resource not found') || char(10) AS error
FROM failure
WHERE code = 404
  AND NOT EXISTS (SELECT 1 FROM object WHERE kind = :from_object_type AND id = :from_object_id);

-- part: ends
-- :action
SELECT 'Error: from_object_type, from_object_id, to_object_type, and to_object_id are required'
  AS error
WHERE :from_object_id = '' OR :to_object_id = '';
-- include: one_end
SELECT 'Error: Failed to ' || :action || ' association: '
  || (SELECT text FROM failure WHERE code = 400)
  || json_object(
    'status', 'error',
    'message', 'One or more associations are invalid',
    'errors', json_group_array(json_object('message', bad || ' is not valid')),
    'category', 'VALIDATION_ERROR'
  ) || char(10) AS error
FROM (
  SELECT CASE :to_object_type
      WHEN 'companies' THEN 'COMPANY'
      WHEN 'contacts' THEN 'CONTACT'
      WHEN 'deals' THEN 'DEAL'
      ELSE 'TICKET'
    END || '=' || :to_object_id AS bad
  WHERE NOT EXISTS (SELECT 1 FROM object WHERE kind = :to_object_type AND id = :to_object_id)
)
HAVING count(*) > 0;

-- name: hubspot_create_association
SELECT 'create' AS action;
-- include: ends
INSERT INTO link
SELECT
  :from_object_id,
  :to_object_id,
  (SELECT ifnull(max(place), 0) + 1 FROM link),
  main IS NOT NULL AND main IS :association_type_id
FROM link_type
WHERE from_kind = :from_object_type
  AND to_kind = :to_object_type
  AND NOT EXISTS (SELECT 1 FROM linked WHERE from_id = :from_object_id AND to_id = :to_object_id);
UPDATE link
SET is_main = 1
WHERE :main = :association_type_id
  AND (
    from_id = :from_object_id AND to_id = :to_object_id
    OR from_id = :to_object_id AND to_id = :from_object_id
  );
SELECT json_object(
  'status', 'success',
  'message', 'Associated ' || :from_object_type || ' ' || :from_object_id || ' with '
    || :to_object_type || ' ' || :to_object_id,
  'from_object_type', :from_object_type,
  'from_object_id', :from_object_id,
  'to_object_type', :to_object_type,
  'to_object_id', :to_object_id,
  'result', 'Association created'
) AS result;

-- name: hubspot_delete_association
SELECT 'remove' AS action;
-- include: ends
DELETE FROM link
WHERE from_id = :from_object_id AND to_id = :to_object_id
  OR from_id = :to_object_id AND to_id = :from_object_id;
SELECT json_object(
  'status', 'success',
  'message', 'Removed association between ' || :from_object_type || ' ' || :from_object_id
    || ' and ' || :to_object_type || ' ' || :to_object_id
) AS result;

-- name: hubspot_get_associations
SELECT 'Error: from_object_type, from_object_id, and to_object_type are required' AS error
WHERE :from_object_id = '';
SELECT 'Error: Failed to fetch associations: ' || text
  || json_object('status', 'error', 'message', 'resource not found') || char(10) AS error
FROM failure
WHERE code = 404
  AND NOT EXISTS (SELECT 1 FROM object WHERE kind = :from_object_type AND id = :from_object_id);
SELECT json_object(
  'from_object_type', :from_object_type,
  'from_object_id', :from_object_id,
  'to_object_type', :to_object_type,
  'associations', json_group_array(json(json)),
  'total', count(*)
) AS result
FROM (
  SELECT json_object(
    'to_object_id', l.to_id,
    'association_types', (
      SELECT json_group_array(json_object(
        'category', 'HUBSPOT_DEFINED',
        'type_id', id,
        'label', label
      ))
      FROM (SELECT t.main AS id, 'Primary' AS label WHERE l.is_main UNION ALL SELECT t.plain, NULL)
    )
  ) AS json
  FROM linked l
  JOIN object o ON o.id = l.to_id AND o.kind = :to_object_type
  JOIN link_type t ON t.from_kind = :from_object_type AND t.to_kind = :to_object_type
  WHERE l.from_id = :from_object_id
  ORDER BY l.place
);

-- name: hubspot_batch_create_associations
SELECT 'Error: from_object_type, from_object_id, to_object_type, and to_object_ids are required'
  AS error
WHERE :from_object_id = '' OR json_array_length(:to_object_ids) = 0;
SELECT 'create batch' AS action;
-- include: one_end
INSERT INTO link
SELECT
  :from_object_id,
  id,
  (SELECT ifnull(max(place), 0) FROM link) + nth + 1,
  :main IS NOT NULL AND :main IS :association_type_id
FROM (SELECT value AS id, min(key) AS nth FROM json_each(:to_object_ids) GROUP BY value) w
WHERE EXISTS (SELECT 1 FROM object o WHERE o.kind = :to_object_type AND o.id = w.id)
  AND NOT EXISTS (SELECT 1 FROM linked l WHERE l.from_id = :from_object_id AND l.to_id = w.id)
ORDER BY nth;
SELECT json_object(
  'status', 'completed',
  'total_requested', count(*),
  'successful', sum(is_there),
  'failed', sum(NOT is_there),
  'errors', json(iif(
    sum(NOT is_there) > 0,
    json_group_array(
      'Failed to associate with ' || id || ': ' || (SELECT text FROM failure WHERE code = 400)
        || json_object('status', 'error', 'message', 'One or more associations are invalid')
        || char(10)
    ) FILTER (WHERE NOT is_there),
    'null'
  ))
) AS result
FROM (
  SELECT
    w.value AS id,
    EXISTS (SELECT 1 FROM object o WHERE o.kind = :to_object_type AND o.id = w.value) AS is_there
  FROM json_each(:to_object_ids) w
  ORDER BY w.key
);
