-- part: find_table
SELECT text AS error FROM forbidden WHERE NOT EXISTS (SELECT 1 FROM base WHERE id = :base_id);
SELECT (
  SELECT id FROM tables WHERE base_id = :base_id AND (id = :table_id OR name = :table_id)
) AS tid;
SELECT text AS error FROM forbidden WHERE :tid IS NULL;

-- part: check_records
SELECT airtable_error(
  422, 'INVALID_REQUEST_UNKNOWN',
  'Invalid request: between 1 and 10 records can be processed at once'
) AS error
WHERE json_array_length(:records) NOT BETWEEN 1 AND 10;
SELECT airtable_error(
  422, 'INVALID_REQUEST_MISSING_FIELDS', 'Could not find field "fields" in the request body'
) AS error
FROM json_each(:records)
WHERE json_type(value, '$.fields') IS NOT 'object';

-- part: take_cells
-- Every cell that is written: of which record, in which field, and its value as it is kept.
SELECT json_group_array(json_object(
  'n', n,
  'key', key,
  'field', field,
  'shape', shape,
  'is_known', is_known,
  'value', airtable_cell(shape, options, literal, :typecast)
)) AS cells
FROM (
  SELECT
    r.key AS n,
    c.key,
    f.id AS field,
    f.options,
    t.shape,
    f.id IS NOT NULL AS is_known,
    CASE c.type
      WHEN 'true' THEN 'true'
      WHEN 'false' THEN 'false'
      WHEN 'null' THEN 'null'
      WHEN 'array' THEN c.value
      WHEN 'object' THEN c.value
      ELSE json_quote(c.value)
    END AS literal
  FROM json_each(:records) r
  JOIN json_each(r.value, '$.fields') c
  LEFT JOIN field f ON f.table_id = :tid AND (f.name = c.key OR f.id = c.key)
  LEFT JOIN field_type t ON t.type = f.type
);
SELECT airtable_error(
  422,
  'UNKNOWN_FIELD_NAME',
  'Unknown field name: "' || (value ->> 'key') || '"'
) AS error
FROM json_each(:cells)
WHERE NOT value ->> 'is_known';
SELECT airtable_error(
  422,
  'INVALID_VALUE_FOR_COLUMN',
  'Field "' || (value ->> 'key') || '" cannot accept '
    || iif(value ->> 'shape' IS NULL, 'a value because the field is computed', 'the provided value')
) AS error
FROM json_each(:cells)
WHERE value ->> 'value' IS NULL;
-- Options of selects that are not there yet: only typecast makes them.
SELECT json_group_array(json_object('field', field, 'name', name)) AS wanted
FROM (
  SELECT DISTINCT w.field, w.name
  FROM (
    SELECT c.value ->> 'field' AS field, e.value AS name
    FROM json_each(:cells) c
    JOIN json_each(iif(
      c.value ->> 'shape' = 'choice',
      json_array(json(c.value ->> 'value')),
      c.value ->> 'value'
    )) e
    WHERE c.value ->> 'shape' IN ('choice', 'choices') AND e.type = 'text'
  ) w
  JOIN field f ON f.id = w.field
  WHERE NOT EXISTS (
    SELECT 1 FROM json_each(f.options, '$.choices') o WHERE o.value ->> 'name' = w.name
  )
);
SELECT airtable_error(
  422,
  'INVALID_MULTIPLE_CHOICE_OPTIONS',
  'Insufficient permissions to create new select option "' || (value ->> 'name') || '"'
) AS error
FROM json_each(:wanted)
WHERE NOT ifnull(:typecast, 0);
UPDATE field
SET options = json_set(
  ifnull(options, '{}'),
  '$.choices', json((
    SELECT json_group_array(json(choice))
    FROM (
      SELECT value AS choice FROM json_each(field.options, '$.choices')
      UNION ALL
      SELECT json_object('id', new_id('choice'), 'name', value ->> 'name', 'color', 'blueLight2')
      FROM json_each(:wanted)
      WHERE value ->> 'field' = field.id
    )
  ))
)
WHERE id IN (SELECT value ->> 'field' FROM json_each(:wanted));
SELECT airtable_error(
  422,
  'ROW_DOES_NOT_EXIST',
  'Record ID ' || e.value || ' does not exist in the linked table'
) AS error
FROM json_each(:cells) c
JOIN json_each(c.value ->> 'value') e
JOIN field f ON f.id = c.value ->> 'field'
WHERE c.value ->> 'shape' = 'links'
  AND NOT EXISTS (
    SELECT 1
    FROM record
    WHERE id = e.value AND table_id = ifnull(f.options ->> 'linkedTableId', table_id)
  );
-- People are written by id or e-mail address and kept whole.
SELECT airtable_error(
  422,
  'INVALID_VALUE_FOR_COLUMN',
  'Field "' || (c.value ->> 'key') || '" cannot accept the provided value'
) AS error
FROM json_each(:cells) c
JOIN json_each(iif(
  c.value ->> 'shape' = 'user',
  json_array(json(c.value ->> 'value')),
  c.value ->> 'value'
)) e
WHERE c.value ->> 'shape' IN ('user', 'users')
  AND e.type = 'object'
  AND NOT EXISTS (
    SELECT 1 FROM collaborator WHERE id = e.value ->> 'id' OR email = e.value ->> 'email'
  );
SELECT json_group_array(json_object('n', n, 'field', field, 'value', value)) AS cells
FROM (
  SELECT
    c.value ->> 'n' AS n,
    c.value ->> 'field' AS field,
    CASE
      WHEN c.value ->> 'value' = 'null' THEN 'null'
      WHEN c.value ->> 'shape' = 'user'
        THEN (
          SELECT json_object('id', id, 'email', email, 'name', name)
          FROM collaborator
          WHERE id = json_extract(c.value ->> 'value', '$.id')
            OR email = json_extract(c.value ->> 'value', '$.email')
        )
      WHEN c.value ->> 'shape' = 'users'
        THEN (
          SELECT json_group_array(json_object('id', u.id, 'email', u.email, 'name', u.name))
          FROM json_each(c.value ->> 'value') e
          JOIN collaborator u ON u.id = e.value ->> 'id' OR u.email = e.value ->> 'email'
        )
      WHEN c.value ->> 'shape' = 'attachments'
        THEN (
          SELECT json_group_array(json_object(
            'id', coalesce(e.value ->> 'id', new_id('attachment')),
            'url', e.value ->> 'url',
            'filename', coalesce(e.value ->> 'filename', 'attachment')
          ))
          FROM json_each(c.value ->> 'value') e
        )
      ELSE c.value ->> 'value'
    END AS value
  FROM json_each(:cells) c
);

-- part: link_back
-- The other ends of the links that were written, and of those that :targets do not have any more.
UPDATE record
SET data = json_patch(
  data,
  (
    SELECT json_group_object(
      f.id,
      (
        SELECT iif(count(*) = 0, NULL, json_group_array(o.id))
        FROM (
          SELECT o.id
          FROM record o
          WHERE o.table_id = :tid
            AND record.id IN (
              SELECT value FROM json_each(o.data, '$.' || (f.options ->> 'inverseLinkFieldId'))
            )
          ORDER BY o.pos
        ) o
      )
    )
    FROM field f
    WHERE f.table_id = record.table_id
      AND f.options ->> 'linkedTableId' = :tid
      AND f.options ->> 'inverseLinkFieldId' IN (SELECT value ->> 'field' FROM json_each(:cells))
  )
)
WHERE table_id IN (
  SELECT f.table_id
  FROM field f
  WHERE f.options ->> 'linkedTableId' = :tid
    AND f.options ->> 'inverseLinkFieldId' IN (SELECT value ->> 'field' FROM json_each(:cells))
)
  AND (
    id IN (
      SELECT e.value
      FROM json_each(:cells) c
      JOIN json_each(c.value ->> 'value') e
      WHERE e.type = 'text'
    )
    OR EXISTS (
      SELECT 1
      FROM field f
      JOIN json_each(record.data, '$.' || f.id) e
      WHERE f.table_id = record.table_id
        AND f.options ->> 'linkedTableId' = :tid
        AND e.value IN (SELECT value ->> 'id' FROM json_each(:targets))
    )
  );

-- name: airtable_list_bases_info
SELECT json_object(
  'nextPageToken', NULL,
  'count', count(*),
  'bases', json_group_array(json_object('id', id, 'name', name, 'accessLevel', permission))
) AS result
FROM (SELECT * FROM base ORDER BY name);

-- name: airtable_list_tables_info
SELECT text AS error FROM forbidden WHERE NOT EXISTS (SELECT 1 FROM base WHERE id = :base_id);
SELECT json_object('count', count(*), 'tables', json_group_array(json(json))) AS result
FROM (SELECT json FROM table_json WHERE base_id = :base_id ORDER BY pos);

-- name: airtable_create_table
SELECT text AS error FROM forbidden WHERE NOT EXISTS (SELECT 1 FROM base WHERE id = :base_id);
SELECT airtable_error(
  422, 'DUPLICATE_TABLE_NAME', 'Cannot create more than one table with the same name'
) AS error
FROM tables
WHERE base_id = :base_id AND name = trim(:name) COLLATE NOCASE;
SELECT airtable_error(
  422, 'INVALID_REQUEST_UNKNOWN', 'Invalid request: a table has a name and at least one field'
) AS error
WHERE trim(:name) = '' OR json_array_length(:fields) = 0 OR json_array_length(:fields) > 500;
SELECT airtable_error(
  422,
  'INVALID_FIELD_TYPE_OPTIONS_FOR_CREATE',
  'Invalid options for field ' || ifnull(value ->> 'name', key) || ': type '
    || ifnull(value ->> 'type', 'null') || ' cannot be created'
) AS error
FROM json_each(:fields)
WHERE ifnull(value ->> 'type', '') NOT IN (SELECT type FROM field_type WHERE shape IS NOT NULL);
SELECT airtable_error(
  422,
  'DUPLICATE_OR_EMPTY_FIELD_NAME',
  'Field names have to be unique and not empty: "' || trim(ifnull(value ->> 'name', '')) || '"'
) AS error
FROM json_each(:fields)
GROUP BY trim(ifnull(value ->> 'name', '')) COLLATE NOCASE
HAVING count(*) > 1 OR trim(ifnull(value ->> 'name', '')) = '';
SELECT airtable_error(
  422,
  'INVALID_FIELD_TYPE_OPTIONS_FOR_CREATE',
  'Invalid options for ' || (f.value ->> 'name') || ': options.' || t.needs || ' is missing'
) AS error
FROM json_each(:fields) f
JOIN field_type t ON t.type = f.value ->> 'type'
WHERE t.needs IS NOT NULL AND json_extract(f.value, '$.options.' || t.needs) IS NULL;
SELECT new_id('table') AS tid;
INSERT INTO tables VALUES (
  :tid,
  :base_id,
  trim(:name),
  :description,
  NULL,
  (SELECT ifnull(max(pos), 0) + 1 FROM tables WHERE base_id = :base_id)
);
INSERT INTO field
SELECT
  new_id('field'),
  :tid,
  trim(value ->> 'name'),
  value ->> 'type',
  value ->> 'description',
  iif(
    json_type(value, '$.options.choices') = 'array',
    json_set(
      value -> 'options',
      '$.choices', json((
        SELECT json_group_array(json_object(
          'id', ifnull(o.value ->> 'id', new_id('choice')),
          'name', o.value ->> 'name',
          'color', ifnull(o.value ->> 'color', 'blueLight2')
        ))
        FROM json_each(f.value, '$.options.choices') o
      ))
    ),
    value -> 'options'
  ),
  key
FROM json_each(:fields) f;
UPDATE tables
SET primary_field = (SELECT id FROM field WHERE table_id = :tid AND pos = 0)
WHERE id = :tid;
INSERT INTO grid VALUES (new_id('view'), :tid, 'Grid view', 'grid');
SELECT json AS result FROM table_json WHERE id = :tid;

-- name: airtable_update_table
-- include: find_table
SELECT airtable_error(
  422, 'DUPLICATE_TABLE_NAME', 'Cannot create more than one table with the same name'
) AS error
FROM tables
WHERE base_id = :base_id AND id <> :tid AND name = trim(:name) COLLATE NOCASE;
SELECT airtable_error(
  422, 'INVALID_REQUEST_UNKNOWN', 'Invalid request: a new name or a new description is needed'
) AS error
WHERE (:name IS NULL AND :description IS NULL) OR trim(:name) = '';
UPDATE tables
SET
  name = ifnull(trim(:name), name),
  description = iif(:description IS NULL, description, nullif(:description, ''))
WHERE id = :tid;
SELECT json AS result FROM table_json WHERE id = :tid;

-- name: airtable_create_field
-- include: find_table
SELECT airtable_error(
  422,
  'DUPLICATE_OR_EMPTY_FIELD_NAME',
  'Field names have to be unique and not empty: "' || trim(:name) || '"'
) AS error
WHERE trim(:name) = ''
  OR EXISTS (SELECT 1 FROM field WHERE table_id = :tid AND name = trim(:name) COLLATE NOCASE);
SELECT
  (SELECT shape FROM field_type WHERE type = :type) AS shape,
  (SELECT needs FROM field_type WHERE type = :type) AS needs;
SELECT airtable_error(
  422,
  'UNSUPPORTED_FIELD_TYPE_FOR_CREATE',
  'Creating ' || :type || ' fields is not supported at this time'
) AS error
WHERE :shape IS NULL;
SELECT airtable_error(
  422,
  'INVALID_FIELD_TYPE_OPTIONS_FOR_CREATE',
  'Invalid options for ' || :name || ': options.' || :needs || ' is missing'
) AS error
WHERE :needs IS NOT NULL AND json_extract(ifnull(:options, '{}'), '$.' || :needs) IS NULL;
SELECT text AS error
FROM forbidden
WHERE :shape = 'links'
  AND NOT EXISTS (
    SELECT 1 FROM tables WHERE base_id = :base_id AND id = :options ->> 'linkedTableId'
  );
SELECT new_id('field') AS fid, iif(:shape = 'links', new_id('field'), NULL) AS inverse;
INSERT INTO field VALUES (
  :fid,
  :tid,
  trim(:name),
  :type,
  :description,
  CASE
    WHEN :shape = 'links' THEN json_set(:options, '$.inverseLinkFieldId', :inverse)
    WHEN json_type(:options, '$.choices') = 'array'
      THEN json_set(
        :options,
        '$.choices', json((
          SELECT json_group_array(json_object(
            'id', ifnull(value ->> 'id', new_id('choice')),
            'name', value ->> 'name',
            'color', ifnull(value ->> 'color', 'blueLight2')
          ))
          FROM json_each(:options, '$.choices')
        ))
      )
    ELSE :options
  END,
  (SELECT ifnull(max(pos), 0) + 1 FROM field WHERE table_id = :tid)
);
-- A link has its other end: a field of the linked table.
INSERT INTO field
SELECT
  :inverse,
  other.id,
  own.name || iif(
    EXISTS (SELECT 1 FROM field WHERE table_id = other.id AND name = own.name),
    ' 2',
    ''
  ),
  'multipleRecordLinks',
  NULL,
  json_object('linkedTableId', :tid, 'inverseLinkFieldId', :fid),
  (SELECT ifnull(max(pos), 0) + 1 FROM field WHERE table_id = other.id)
FROM tables own
JOIN tables other ON other.id = :options ->> 'linkedTableId'
WHERE own.id = :tid AND :inverse IS NOT NULL;
SELECT json AS result FROM field_json WHERE id = :fid;

-- name: airtable_update_field
-- include: find_table
SELECT (SELECT id FROM field WHERE table_id = :tid AND (id = :field_id OR name = :field_id)) AS fid;
SELECT text AS error FROM forbidden WHERE :fid IS NULL;
SELECT airtable_error(
  422,
  'DUPLICATE_OR_EMPTY_FIELD_NAME',
  'Field names have to be unique and not empty: "' || trim(:name) || '"'
) AS error
WHERE trim(:name) = ''
  OR EXISTS (
    SELECT 1 FROM field WHERE table_id = :tid AND id <> :fid AND name = trim(:name) COLLATE NOCASE
  );
SELECT airtable_error(
  422, 'INVALID_REQUEST_UNKNOWN', 'Invalid request: a new name or a new description is needed'
) AS error
WHERE :name IS NULL AND :description IS NULL;
UPDATE field
SET
  name = ifnull(trim(:name), name),
  description = iif(:description IS NULL, description, nullif(:description, ''))
WHERE id = :fid;
SELECT json AS result FROM field_json WHERE id = :fid;

-- name: airtable_list_records
-- include: find_table
SELECT airtable_error(
  422, 'INVALID_REQUEST_UNKNOWN',
  'Invalid request: parameter validation failed. Check your request data.'
) AS error
WHERE :page_size NOT BETWEEN 1 AND 100 OR :max_records < 1;
SELECT airtable_error(422, 'UNKNOWN_FIELD_NAME', 'Unknown field name: "' || value || '"') AS error
FROM (
  SELECT value FROM json_each(:fields) UNION ALL SELECT value ->> 'field' FROM json_each(:sort)
) w
WHERE NOT EXISTS (SELECT 1 FROM field WHERE table_id = :tid AND (name = w.value OR id = w.value));
-- The languages have to know the fields.
SELECT
  json_object(
    'query', :filter_by_formula,
    'sort', json(:sort),
    'fields', json((
      SELECT json_group_array(json_object(
        'id', id,
        'name', name,
        'type', type,
        'choices', iif(
          :sort IS NULL,
          NULL,
          (SELECT json_group_array(value ->> 'name') FROM json_each(field.options, '$.choices'))
        )
      ))
      FROM field
      WHERE table_id = :tid
    ))
  ) AS request,
  min(ifnull(:page_size, 100), ifnull(:max_records, 100)) AS size;
SELECT json_object(
  'nextPageToken', iif(
    count(*) > :size AND ifnull(:max_records, :size + 1) > :size,
    rand_text('itr{base62:14}') || '/' || max(iif(n = :size, id, NULL)),
    NULL
  ),
  'count', min(count(*), :size),
  'records', ifnull(json_group_array(json(json)) FILTER (WHERE n <= :size), '[]')
) AS result
FROM (
  SELECT
    id,
    n,
    json_object(
      'id', id,
      'createdAt', created,
      'data', json(ifnull((
        SELECT json_group_object(iif(:return_fields_by_field_id, field_id, name), json(value))
        FROM (
          SELECT *
          FROM cell
          WHERE record_id = found.id
            AND value IS NOT NULL
            AND (
              :fields IS NULL
              OR name IN (SELECT value FROM json_each(:fields))
              OR field_id IN (SELECT value FROM json_each(:fields))
            )
          ORDER BY pos
        )
      ), '{}'))
    ) AS json
  FROM (
    SELECT r.id, r.created, row_number() OVER (ORDER BY {{airtable_sort :request}}, r.pos) AS n
    FROM record r
    WHERE r.table_id = :tid AND {{airtable_formula :request}}
    ORDER BY n
    LIMIT :size + 1
  ) found
  ORDER BY n
);

-- name: airtable_get_record
-- include: find_table
SELECT airtable_error(404, 'NOT_FOUND', NULL) AS error
WHERE NOT EXISTS (SELECT 1 FROM record WHERE id = :record_id AND table_id = :tid);
SELECT json_object(
  'id', r.id,
  'createdAt', r.created,
  'data', json(ifnull((
    SELECT json_group_object(name, json(value))
    FROM (SELECT * FROM cell WHERE record_id = r.id AND value IS NOT NULL ORDER BY pos)
  ), '{}'))
) AS result
FROM record r
WHERE r.id = :record_id;

-- name: airtable_create_records
-- include: find_table
-- include: check_records
-- include: take_cells
SELECT ifnull(max(pos), 0) AS last FROM record WHERE table_id = :tid;
INSERT INTO record
SELECT
  new_id('record'),
  :tid,
  :last + 1 + key,
  now(),
  now(),
  json_patch('{}', ifnull((
    SELECT json_group_object(value ->> 'field', json(value ->> 'value'))
    FROM json_each(:cells)
    WHERE value ->> 'n' = r.key
  ), '{}'))
FROM json_each(:records) r;
SELECT '[]' AS targets;
-- include: link_back
SELECT json_object('count', count(*), 'records', json_group_array(json(json))) AS result
FROM (
  SELECT json_object(
    'id', r.id,
    'createdAt', r.created,
    'data', json(ifnull((
      SELECT json_group_object(iif(:return_fields_by_field_id, field_id, name), json(value))
      FROM (SELECT * FROM cell WHERE record_id = r.id AND value IS NOT NULL ORDER BY pos)
    ), '{}'))
  ) AS json
  FROM record r
  WHERE r.table_id = :tid AND r.pos > :last
  ORDER BY r.pos
);

-- name: airtable_update_records
-- include: find_table
-- include: check_records
SELECT airtable_error(
  422, 'INVALID_REQUEST_UNKNOWN',
  'Invalid request: records without an id can only be written by an upsert'
) AS error
FROM json_each(:records)
WHERE value ->> 'id' IS NULL
  AND json_array_length(:perform_upsert, '$.fieldsToMergeOn') NOT BETWEEN 1 AND 3;
SELECT airtable_error(
  422, 'INVALID_REQUEST_UNKNOWN',
  'Invalid request: records without an id can only be written by an upsert'
) AS error
FROM json_each(:records)
WHERE value ->> 'id' IS NULL AND :perform_upsert ->> 'fieldsToMergeOn' IS NULL;
SELECT airtable_error(
  422,
  'ROW_DOES_NOT_EXIST',
  'Record ID ' || (value ->> 'id') || ' does not exist in this table'
) AS error
FROM json_each(:records)
WHERE value ->> 'id' NOT IN (SELECT id FROM record WHERE table_id = :tid);
SELECT airtable_error(422, 'UNKNOWN_FIELD_NAME', 'Unknown field name: "' || value || '"') AS error
FROM json_each(:perform_upsert, '$.fieldsToMergeOn') w
WHERE NOT EXISTS (SELECT 1 FROM field WHERE table_id = :tid AND (name = w.value OR id = w.value));
-- include: take_cells
-- Which record each one is: by its id, or the one that agrees in all the fields to merge on.
SELECT json_group_array(json_object('n', n, 'id', id, 'matches', matches)) AS targets
FROM (
  SELECT
    w.key AS n,
    ifnull(w.value ->> 'id', min(r.id)) AS id,
    iif(w.value ->> 'id' IS NULL, count(r.id), 1) AS matches
  FROM json_each(:records) w
  LEFT JOIN record r
    ON w.value ->> 'id' IS NULL
      AND r.table_id = :tid
      AND NOT EXISTS (
        SELECT 1
        FROM json_each(:perform_upsert, '$.fieldsToMergeOn') m
        JOIN field f ON f.table_id = :tid AND (f.name = m.value OR f.id = m.value)
        WHERE (r.data -> ('$.' || f.id)) IS NOT (
          SELECT nullif(c.value ->> 'value', 'null')
          FROM json_each(:cells) c
          WHERE c.value ->> 'n' = w.key AND c.value ->> 'field' = f.id
        )
      )
  GROUP BY w.key
  ORDER BY w.key
);
SELECT airtable_error(
  422, 'INVALID_REQUEST_UNKNOWN',
  'Invalid request: more than one record matches the fields to merge on'
) AS error
FROM json_each(:targets)
WHERE value ->> 'matches' > 1;
UPDATE record
SET
  modified = now(),
  data = json_patch(data, ifnull((
    SELECT json_group_object(c.value ->> 'field', json(c.value ->> 'value'))
    FROM json_each(:targets) t
    JOIN json_each(:cells) c ON c.value ->> 'n' = t.value ->> 'n'
    WHERE t.value ->> 'id' = record.id
  ), '{}'))
WHERE table_id = :tid AND id IN (SELECT value ->> 'id' FROM json_each(:targets));
SELECT ifnull(max(pos), 0) AS last FROM record WHERE table_id = :tid;
INSERT INTO record
SELECT
  new_id('record'),
  :tid,
  :last + 1 + (t.value ->> 'n'),
  now(),
  now(),
  json_patch('{}', ifnull((
    SELECT json_group_object(value ->> 'field', json(value ->> 'value'))
    FROM json_each(:cells)
    WHERE value ->> 'n' = t.value ->> 'n'
  ), '{}'))
FROM json_each(:targets) t
WHERE t.value ->> 'id' IS NULL;
-- include: link_back
SELECT drop_nulls(json_object(
  'count', count(*),
  'records', json_group_array(json(json)),
  'createdRecordIds', iif(sum(is_new) > 0, json_group_array(id) FILTER (WHERE is_new), NULL),
  'updatedRecordIds', iif(
    :perform_upsert IS NOT NULL AND sum(NOT is_new) > 0,
    json_group_array(id) FILTER (WHERE NOT is_new),
    NULL
  )
)) AS result
FROM (
  SELECT
    r.id,
    t.value ->> 'id' IS NULL AS is_new,
    json_object(
      'id', r.id,
      'createdAt', r.created,
      'data', json(ifnull((
        SELECT json_group_object(iif(:return_fields_by_field_id, field_id, name), json(value))
        FROM (SELECT * FROM cell WHERE record_id = r.id AND value IS NOT NULL ORDER BY pos)
      ), '{}'))
    ) AS json
  FROM json_each(:targets) t
  JOIN record r
    ON r.id = t.value ->> 'id'
      OR (t.value ->> 'id' IS NULL AND r.table_id = :tid AND r.pos = :last + 1 + (t.value ->> 'n'))
  ORDER BY t.key
);

-- name: airtable_delete_records
-- include: find_table
SELECT airtable_error(
  422, 'INVALID_REQUEST_UNKNOWN',
  'Invalid request: between 1 and 10 records can be processed at once'
) AS error
WHERE json_array_length(:record_ids) NOT BETWEEN 1 AND 10;
SELECT airtable_error(404, 'NOT_FOUND', 'Could not find record ' || value) AS error
FROM json_each(:record_ids)
WHERE value NOT IN (SELECT id FROM record WHERE table_id = :tid);
DELETE FROM record WHERE id IN (SELECT value FROM json_each(:record_ids));
-- Links to them go, too.
UPDATE record
SET data = json_patch(
  data,
  (
    SELECT json_group_object(
      f.id,
      (
        SELECT iif(count(*) = 0, NULL, json_group_array(value))
        FROM json_each(record.data, '$.' || f.id)
        WHERE value NOT IN (SELECT value FROM json_each(:record_ids))
      )
    )
    FROM field f
    WHERE f.table_id = record.table_id AND f.options ->> 'linkedTableId' = :tid
  )
)
WHERE EXISTS (
  SELECT 1
  FROM field f
  JOIN json_each(record.data, '$.' || f.id) e
  WHERE f.table_id = record.table_id
    AND f.options ->> 'linkedTableId' = :tid
    AND e.value IN (SELECT value FROM json_each(:record_ids))
);
SELECT json_object('deletedCount', count(*), 'deletedRecordIds', json_group_array(value)) AS result
FROM json_each(:record_ids);
