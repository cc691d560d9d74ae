-- Lists of objects by type; which of their members is which property, says the table "field".
-- Beyond Klavis' format an object may have "properties" (names and values of further ones), and
-- besides the lists there may be "properties" that the account added ("object_type", "name",
-- "label", "description"), "notes" ("body", "timestamp", "owner", "about") and "associations"
-- ("from", "to", "primary"), which name objects of the same body by type and place: "deals/0" is
-- its first deal. Dumps have these only where they say something. Ids and the times of creation
-- have no place in it: they are lost in a dump.

-- name: import
SELECT 'contacts: the address "' || mail || '" is there twice' AS error
FROM (
  SELECT lower(trim(value ->> 'email_address')) AS mail, 1 AS n FROM json_each(:args, '$.contacts')
  UNION ALL
  SELECT properties ->> 'email', 1 FROM object WHERE kind = 'contacts'
)
WHERE mail <> ''
GROUP BY mail
HAVING sum(n) > 1
LIMIT 1;
SELECT 'properties: "' || ifnull(value ->> 'name', '')
  || '" needs a name and an object_type' AS error
FROM json_each(:args, '$.properties')
WHERE type <> 'null'
  AND (
    ifnull(value ->> 'name', '') = ''
    OR ifnull(value ->> 'object_type', '') NOT IN ('contacts', 'companies', 'deals', 'tickets')
  )
LIMIT 1;
INSERT OR IGNORE INTO property (kind, name, label, type, field_type, description)
SELECT
  value ->> 'object_type',
  value ->> 'name',
  ifnull(value ->> 'label', value ->> 'name'),
  'string',
  'text',
  ifnull(value ->> 'description', '')
FROM json_each(:args, '$.properties')
WHERE type = 'object'
ORDER BY key;
-- Everything with its new id and the name that the body has for it.
WITH item AS (
  SELECT k.key AS kind, l.key AS nth, l.value AS body
  FROM
    json_each('{"companies":1,"contacts":2,"deals":3,"tickets":4,"tasks":5}') k,
    json_each(:args, '$.' || k.key) l
  WHERE l.type = 'object'
  ORDER BY k.value, l.key
)
SELECT json_group_array(json_object(
  'id', new_id(kind),
  'kind', kind,
  'ref', kind || '/' || nth,
  'body', json(body)
)) AS items
FROM item;
INSERT INTO object
SELECT
  i.value ->> 'id',
  i.value ->> 'kind',
  (SELECT ifnull(max(place), 0) FROM object) + i.key + 1,
  json_patch(
    ifnull((
      SELECT json_group_object(
        j.key,
        CASE j.type WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' ELSE CAST(j.value AS TEXT) END
      )
      FROM json_each(i.value, '$.body.properties') j
      WHERE j.type <> 'null'
    ), '{}'),
    (
      SELECT json_group_object(property, value)
      FROM (
        SELECT
          f.property,
          iif(
            f.property = 'email',
            lower(trim(i.value -> 'body' ->> f.name)),
            i.value -> 'body' ->> f.name
          ) AS value
        FROM field f
        WHERE f.kind = i.value ->> 'kind'
        ORDER BY f.place
      )
      WHERE value <> ''
    )
  ),
  now(),
  now()
FROM json_each(:items) i
ORDER BY i.key;
SELECT json_group_array(json_object(
  'id', new_id('notes'),
  'ref', 'notes/' || key,
  'body', json(value)
)) AS notes
FROM (SELECT key, value FROM json_each(:args, '$.notes') WHERE type = 'object' ORDER BY key);
INSERT INTO object
SELECT
  value ->> 'id',
  'notes',
  (SELECT ifnull(max(place), 0) FROM object) + key + 1,
  drop_nulls(json_object(
    'hs_note_body', ifnull(value ->> '$.body.body', ''),
    'hs_timestamp', ifnull(value ->> '$.body.timestamp', strftime('%Y-%m-%dT%H:%M:%SZ', now())),
    'hubspot_owner_id', value ->> '$.body.owner'
  )),
  now(),
  now()
FROM json_each(:notes)
ORDER BY key;
WITH wanted AS (
  SELECT
    0 AS part,
    key AS nth,
    0 AS place,
    value ->> 'from' AS a,
    value ->> 'to' AS b,
    ifnull(value ->> 'primary', 0) AS is_main
  FROM json_each(:args, '$.associations')
  WHERE type = 'object'
  UNION ALL
  SELECT 1, n.key, t.key, n.value ->> 'ref', t.value, 0
  FROM json_each(:notes) n, json_each(n.value, '$.body.about') t
)
SELECT json_group_array(json_object(
  'a', a,
  'b', b,
  'is_main', is_main,
  'from', (
    SELECT value ->> 'id' FROM json_each(:items) WHERE value ->> 'ref' = a
    UNION ALL
    SELECT value ->> 'id' FROM json_each(:notes) WHERE value ->> 'ref' = a
  ),
  'to', (SELECT value ->> 'id' FROM json_each(:items) WHERE value ->> 'ref' = b)
)) AS links
FROM (SELECT * FROM wanted ORDER BY part, nth, place);
SELECT 'associations: there is no "'
  || iif(value ->> 'from' IS NULL, ifnull(value ->> 'a', ''), ifnull(value ->> 'b', ''))
  || '"' AS error
FROM json_each(:links)
WHERE value ->> 'from' IS NULL OR value ->> 'to' IS NULL
LIMIT 1;
INSERT OR IGNORE INTO link
SELECT
  value ->> 'from',
  value ->> 'to',
  (SELECT ifnull(max(place), 0) FROM link) + key + 1,
  value ->> 'is_main'
FROM json_each(:links)
ORDER BY key;
SELECT json_group_object(kind, n) AS result
FROM (SELECT value ->> 'kind' AS kind, count(*) AS n FROM json_each(:items) GROUP BY 1 ORDER BY 1);

-- name: export
WITH item AS MATERIALIZED (
  SELECT
    o.id,
    o.kind,
    o.place,
    o.kind || '/' || (row_number() OVER (PARTITION BY o.kind ORDER BY o.place) - 1) AS ref,
    (
      SELECT json_group_object(name, value)
      FROM (
        SELECT name, iif(is_required, ifnull(value, ''), value) AS value
        FROM (
          SELECT f.name, f.is_required, f.place, o.properties ->> f.property AS value
          FROM field f
          WHERE f.kind = o.kind
        )
        ORDER BY place
      )
      WHERE value IS NOT NULL
    ) AS fields,
    (
      SELECT iif(count(*) > 0, json_group_object(key, value), NULL)
      FROM (
        SELECT key, value
        FROM json_each(o.properties)
        WHERE key NOT IN (SELECT property FROM field WHERE kind = o.kind)
        ORDER BY key
      )
    ) AS further,
    o.properties
  FROM object o
),
body AS (
  SELECT
    kind,
    place,
    json_patch(fields, drop_nulls(json_object('properties', json(further)))) AS json
  FROM item
)
SELECT drop_nulls(json_object(
  'companies', (
    SELECT json_group_array(json(json))
    FROM (SELECT json FROM body WHERE kind = 'companies' ORDER BY place)
  ),
  'contacts', (
    SELECT json_group_array(json(json))
    FROM (SELECT json FROM body WHERE kind = 'contacts' ORDER BY place)
  ),
  'deals', (
    SELECT json_group_array(json(json))
    FROM (SELECT json FROM body WHERE kind = 'deals' ORDER BY place)
  ),
  'tickets', (
    SELECT json_group_array(json(json))
    FROM (SELECT json FROM body WHERE kind = 'tickets' ORDER BY place)
  ),
  'tasks', (
    SELECT json_group_array(json(json))
    FROM (SELECT json FROM body WHERE kind = 'tasks' ORDER BY place)
  ),
  'properties', (
    SELECT iif(
      count(*) > 0,
      json_group_array(json_object(
        'object_type', kind,
        'name', name,
        'label', label,
        'description', description
      )),
      NULL
    )
    FROM (SELECT * FROM property WHERE description IS NOT NULL ORDER BY place)
  ),
  'notes', (
    SELECT iif(count(*) > 0, json_group_array(json(json)), NULL)
    FROM (
      SELECT drop_nulls(json_object(
        'body', n.properties ->> 'hs_note_body',
        'timestamp', n.properties ->> 'hs_timestamp',
        'owner', n.properties ->> 'hubspot_owner_id',
        'about', (
          SELECT iif(count(*) > 0, json_group_array(ref), NULL)
          FROM (
            SELECT t.ref
            FROM link l
            JOIN item t ON t.id = l.to_id
            WHERE l.from_id = n.id
            ORDER BY l.place
          )
        )
      )) AS json
      FROM item n
      WHERE n.kind = 'notes'
      ORDER BY n.place
    )
  ),
  'associations', (
    SELECT iif(count(*) > 0, json_group_array(json(json)), NULL)
    FROM (
      SELECT drop_nulls(json_object(
        'from', a.ref,
        'to', b.ref,
        'primary', iif(l.is_main, json('true'), NULL)
      )) AS json
      FROM link l
      JOIN item a ON a.id = l.from_id
      JOIN item b ON b.id = l.to_id
      WHERE a.kind <> 'notes'
      ORDER BY l.place
    )
  )
)) AS result;
