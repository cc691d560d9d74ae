-- The format has one base, so all tables come into the account's. Tables that are there already get
-- what is new. It has no ids: links between tables are the names of the table and of the other end,
-- cells of links are what the linked records have in their first field. Descriptions of fields and
-- further views have no place in it.

-- name: import
SELECT 'A table has no name' AS error
FROM json_each(:args, '$.tables')
WHERE type = 'object' AND trim(value ->> 'name') = '';
INSERT INTO tables
SELECT
  new_id('table'),
  (SELECT min(id) FROM base),
  trim(value ->> 'name'),
  nullif(value ->> 'description', ''),
  NULL,
  (SELECT ifnull(max(pos), 0) FROM tables) + 1 + key
FROM json_each(:args, '$.tables')
WHERE type = 'object'
ON CONFLICT DO NOTHING;
INSERT INTO grid
SELECT new_id('view'), id, 'Grid view', 'grid'
FROM tables t
WHERE NOT EXISTS (SELECT 1 FROM grid WHERE table_id = t.id)
ORDER BY pos;
-- The fields that are said, or else those that the records have.
SELECT json_group_array(json_object(
  'tid', tid,
  'name', name,
  'type', type,
  'options', json(options),
  'pos', pos
)) AS specs
FROM (
  SELECT
    o.id AS tid,
    trim(f.value ->> 'name') AS name,
    f.value ->> 'type' AS type,
    f.value -> 'options' AS options,
    f.key AS pos
  FROM json_each(:args, '$.tables') t
  CROSS JOIN tables o ON o.name = trim(t.value ->> 'name') COLLATE NOCASE
  CROSS JOIN json_each(t.value, '$.fields') f
  WHERE t.type = 'object' AND f.type = 'object'
  UNION ALL
  SELECT
    o.id,
    c.key,
    CASE max(c.type)
      WHEN 'integer' THEN 'number'
      WHEN 'real' THEN 'number'
      WHEN 'true' THEN 'checkbox'
      WHEN 'false' THEN 'checkbox'
      WHEN 'array' THEN 'multipleSelects'
      ELSE 'singleLineText'
    END,
    NULL,
    min(r.key * 1000 + c.id)
  FROM json_each(:args, '$.tables') t
  CROSS JOIN tables o ON o.name = trim(t.value ->> 'name') COLLATE NOCASE
  CROSS JOIN json_each(t.value, '$.records') r
  CROSS JOIN json_each(r.value, '$.fields') c
  WHERE t.type = 'object'
    AND r.type = 'object'
    AND c.type <> 'null'
    AND ifnull(json_array_length(t.value, '$.fields'), 0) = 0
  GROUP BY o.id, c.key
  UNION ALL
  SELECT DISTINCT o.id, 'Name', 'singleLineText', NULL, 0
  FROM json_each(:args, '$.tables') t
  CROSS JOIN tables o ON o.name = trim(t.value ->> 'name') COLLATE NOCASE
  WHERE t.type = 'object'
    AND ifnull(json_array_length(t.value, '$.fields'), 0) = 0
    AND ifnull(json_array_length(t.value, '$.records'), 0) = 0
  ORDER BY 1, 5
);
SELECT 'Field "' || (value ->> 'name') || '" has an unknown type: ' || (value ->> 'type') AS error
FROM json_each(:specs)
WHERE value ->> 'type' NOT IN (SELECT type FROM field_type);
SELECT 'Field names have to be unique and not empty' AS error
FROM json_each(:specs)
GROUP BY value ->> 'tid', value ->> 'name'
HAVING count(*) > 1 OR value ->> 'name' = '';
INSERT INTO field
SELECT
  new_id('field'),
  value ->> 'tid',
  value ->> 'name',
  value ->> 'type',
  NULL,
  CASE
    WHEN json_type(value, '$.options.choices') = 'array'
      THEN json_set(
        value -> 'options',
        '$.choices', json((
          SELECT json_group_array(json_object(
            'id', ifnull(iif(o.type = 'object', o.value ->> 'id', NULL), new_id('choice')),
            'name', iif(o.type = 'object', o.value ->> 'name', o.value),
            'color', ifnull(iif(o.type = 'object', o.value ->> 'color', NULL), 'blueLight2')
          ))
          FROM json_each(s.value, '$.options.choices') o
        ))
      )
    WHEN json_type(value, '$.options') = 'object' THEN value -> 'options'
  END,
  (SELECT ifnull(max(pos), -1) + 1 FROM field WHERE table_id = s.value ->> 'tid') + key
FROM json_each(:specs) s
WHERE true
ON CONFLICT DO NOTHING;
UPDATE tables
SET primary_field = (SELECT id FROM field WHERE table_id = tables.id ORDER BY pos LIMIT 1)
WHERE primary_field IS NULL;
SELECT 'Field "' || f.name || '" links to an unknown table: '
  || ifnull(f.options ->> 'linkedTableId', '') AS error
FROM field f
WHERE f.type = 'multipleRecordLinks'
  AND NOT EXISTS (SELECT 1 FROM tables WHERE f.options ->> 'linkedTableId' IN (id, name));
UPDATE field
SET options = json_set(
  options,
  '$.linkedTableId', (SELECT id FROM tables WHERE field.options ->> 'linkedTableId' IN (id, name))
)
WHERE type = 'multipleRecordLinks';
UPDATE field
SET options = json_patch(options, json_object(
  'inverseLinkFieldId', (
    SELECT f.id
    FROM field f
    WHERE f.table_id = field.options ->> 'linkedTableId'
      AND field.options ->> 'inverseLinkFieldId' IN (f.id, f.name)
  )
))
WHERE type = 'multipleRecordLinks' AND options ->> 'inverseLinkFieldId' IS NOT NULL;

SELECT json_group_array(json_object(
  'tid', tid,
  'n', n,
  'key', key,
  'field', field,
  'shape', shape,
  'value', iif(
    field_id IS NOT NULL AND shape IS NULL,
    literal,
    airtable_cell(shape, options, literal, 1)
  )
)) AS cells
FROM (
  SELECT
    o.id AS tid,
    r.key AS n,
    c.key,
    f.id AS field,
    f.id AS field_id,
    f.options,
    t.shape,
    CASE c.type
      WHEN 'true' THEN 'true'
      WHEN 'false' THEN 'false'
      WHEN 'null' THEN 'null'
      WHEN 'array' THEN c.value
      WHEN 'object' THEN c.value
      ELSE json_quote(c.value)
    END AS literal
  FROM json_each(:args, '$.tables') b
  CROSS JOIN tables o ON o.name = trim(b.value ->> 'name') COLLATE NOCASE
  CROSS JOIN json_each(b.value, '$.records') r
  CROSS JOIN json_each(r.value, '$.fields') c
  LEFT JOIN field f ON f.table_id = o.id AND f.name = c.key
  LEFT JOIN field_type t ON t.type = f.type
  WHERE b.type = 'object' AND r.type = 'object' AND c.type <> 'null'
);
SELECT 'Unknown field name: "' || (value ->> 'key') || '"' AS error
FROM json_each(:cells)
WHERE value ->> 'field' IS NULL;
SELECT 'Field "' || (value ->> 'key') || '" cannot accept the provided value' AS error
FROM json_each(:cells)
WHERE value ->> 'value' IS NULL;
UPDATE field
SET options = json_set(
  ifnull(options, '{}'),
  '$.choices', json((
    SELECT json_group_array(json(choice))
    FROM (
      SELECT value AS choice FROM json_each(field.options, '$.choices')
      UNION ALL
      SELECT json_object('id', new_id('choice'), 'name', name, 'color', 'blueLight2')
      FROM (
        SELECT DISTINCT e.value AS name
        FROM json_each(:cells) c
        CROSS JOIN json_each(iif(
          c.value ->> 'shape' = 'choice',
          json_array(json(c.value ->> 'value')),
          c.value ->> 'value'
        )) e
        WHERE c.value ->> 'field' = field.id
          AND e.type = 'text'
          AND e.value NOT IN (
            SELECT o.value ->> 'name' FROM json_each(field.options, '$.choices') o
          )
      )
    )
  ))
)
WHERE id IN (
  SELECT value ->> 'field' FROM json_each(:cells) WHERE value ->> 'shape' IN ('choice', 'choices')
);
INSERT INTO record
SELECT
  new_id('record'),
  o.id,
  (SELECT ifnull(max(pos), 0) + 1 FROM record WHERE table_id = o.id) + r.key,
  now(),
  now(),
  json_patch('{}', ifnull(g.data, '{}'))
FROM json_each(:args, '$.tables') b
CROSS JOIN tables o ON o.name = trim(b.value ->> 'name') COLLATE NOCASE
CROSS JOIN json_each(b.value, '$.records') r
LEFT JOIN (
  SELECT
    tid,
    n,
    json_group_object(field, json(CASE
      WHEN value = 'null' THEN 'null'
      WHEN shape = 'user'
        THEN ifnull((
          SELECT json_object('id', id, 'email', email, 'name', name)
          FROM collaborator
          WHERE id = c.value ->> 'id' OR email = c.value ->> 'email'
        ), value)
      WHEN shape = 'users'
        THEN (
          SELECT json_group_array(json(ifnull((
            SELECT json_object('id', id, 'email', email, 'name', name)
            FROM collaborator
            WHERE id = e.value ->> 'id' OR email = e.value ->> 'email'
          ), e.value)))
          FROM json_each(c.value) e
        )
      WHEN shape = 'attachments'
        THEN (
          SELECT json_group_array(json_object(
            'id', coalesce(e.value ->> 'id', new_id('attachment')),
            'url', e.value ->> 'url',
            'filename', coalesce(e.value ->> 'filename', 'attachment')
          ))
          FROM json_each(c.value) e
        )
      ELSE value
    END)) AS data
  FROM (
    SELECT
      value ->> 'tid' AS tid,
      value ->> 'n' AS n,
      value ->> 'field' AS field,
      value ->> 'shape' AS shape,
      value ->> 'value' AS value
    FROM json_each(:cells)
  ) c
  GROUP BY tid, n
) g
  ON g.tid = o.id AND g.n = r.key
WHERE b.type = 'object' AND r.type = 'object'
ORDER BY o.pos, r.key;
-- Links by what their records are called; ids are taken as they are.
WITH called (table_id, name, id) AS MATERIALIZED (
  SELECT table_id, id, id FROM record
  UNION ALL
  SELECT table_id, name, id
  FROM (
    SELECT r.table_id, json_extract(r.data, '$.' || t.primary_field) AS name, r.id, min(r.pos)
    FROM record r
    JOIN tables t ON t.id = r.table_id
    GROUP BY 1, 2
  )
  WHERE name IS NOT NULL
)
SELECT 'Unknown record "' || e.value || '" in the field "' || f.name || '"' AS error
FROM field f
CROSS JOIN record r ON r.table_id = f.table_id
CROSS JOIN json_each(r.data, '$.' || f.id) e
LEFT JOIN called k ON k.table_id = f.options ->> 'linkedTableId' AND k.name = e.value
WHERE f.type = 'multipleRecordLinks' AND k.id IS NULL;
WITH called (table_id, name, id) AS MATERIALIZED (
  SELECT table_id, id, id FROM record
  UNION ALL
  SELECT table_id, name, id
  FROM (
    SELECT r.table_id, json_extract(r.data, '$.' || t.primary_field) AS name, r.id, min(r.pos)
    FROM record r
    JOIN tables t ON t.id = r.table_id
    GROUP BY 1, 2
  )
  WHERE name IS NOT NULL
)
UPDATE record
SET data = json_patch(record.data, g.links)
FROM (
  SELECT rid, json_group_object(fid, json(ids)) AS links
  FROM (
    SELECT rid, fid, json_group_array(id) AS ids
    FROM (
      SELECT r.id AS rid, f.id AS fid, k.id
      FROM field f
      CROSS JOIN record r ON r.table_id = f.table_id
      CROSS JOIN json_each(r.data, '$.' || f.id) e
      CROSS JOIN called k ON k.table_id = f.options ->> 'linkedTableId' AND k.name = e.value
      WHERE f.type = 'multipleRecordLinks'
      ORDER BY r.id, f.id, e.key
    )
    GROUP BY rid, fid
  )
  GROUP BY rid
) g
WHERE g.rid = record.id;
SELECT json_object(
  'tables', (SELECT count(*) FROM json_each(:args, '$.tables') WHERE type = 'object'),
  'fields', json_array_length(:specs),
  'records', (
    SELECT count(*)
    FROM json_each(:args, '$.tables') t
    CROSS JOIN json_each(t.value, '$.records') r
    WHERE t.type = 'object' AND r.type = 'object'
  )
) AS result;

-- name: export
SELECT json_object('tables', json_group_array(json(json))) AS result
FROM (
  SELECT drop_nulls(json_object(
    'name', t.name,
    'description', t.description,
    'fields', (
      SELECT json_group_array(drop_nulls(json_object(
        'name', name,
        'type', type,
        'options', json(options)
      )))
      FROM (
        SELECT
          f.name,
          f.type,
          iif(
            f.type = 'multipleRecordLinks',
            json_patch(f.options, json_object(
              'linkedTableId', (SELECT name FROM tables WHERE id = f.options ->> 'linkedTableId'),
              'inverseLinkFieldId', (
                SELECT i.name FROM field i WHERE i.id = f.options ->> 'inverseLinkFieldId'
              )
            )),
            f.options
          ) AS options
        FROM field f
        WHERE f.table_id = t.id
        ORDER BY f.pos
      )
    ),
    'records', (
      SELECT json_group_array(json_object('fields', json(fields)))
      FROM (
        SELECT ifnull((
          SELECT json_group_object(name, json(value))
          FROM (
            SELECT
              f.name,
              iif(
                f.type = 'multipleRecordLinks',
                (
                  SELECT json_group_array(json_extract(o.data, '$.' || l.primary_field))
                  FROM json_each(r.data, '$.' || f.id) e
                  JOIN record o ON o.id = e.value
                  JOIN tables l ON l.id = o.table_id
                ),
                r.data -> ('$.' || f.id)
              ) AS value
            FROM field f
            WHERE f.table_id = t.id AND json_type(r.data, '$.' || f.id) IS NOT NULL
            ORDER BY f.pos
          )
        ), '{}') AS fields
        FROM record r
        WHERE r.table_id = t.id
        ORDER BY r.pos
      )
    )
  )) AS json
  FROM tables t
  ORDER BY t.pos
);
