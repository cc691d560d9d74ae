-- A database of the format is a group of sources; each source is a database here, the first one has
-- the name of the group. Pages below pages come out beside them, blocks within blocks behind them.
-- Styles of text, covers, comments on blocks, tables and columns have no place in the format, nor
-- has what is in the trash. Relations are the titles of the pages.

-- name: import
-- The sources: each with its id, its properties made whole.
SELECT json_group_array(json_object(
  'id', new_id('database'),
  'd', d,
  's', s,
  'name', name,
  'label', label,
  'summary', summary,
  'about', about,
  'icon', icon,
  'schema', notion_schema(NULL, iif(has_title, fields, json_patch('{"Name":{"title":{}}}', fields)))
)) AS dbs
FROM (
  SELECT
    *,
    EXISTS (
      SELECT 1
      FROM json_each(fields)
      WHERE value = 'title'
        OR (
          type = 'object'
          AND (value ->> 'type' = 'title' OR json_type(value, '$.title') IS NOT NULL)
        )
    ) AS has_title
  FROM (
    SELECT
      d.key AS d,
      ifnull(s.key, 0) AS s,
      d.value ->> 'name' AS name,
      ifnull(s.value ->> 'label', d.value ->> 'name') AS label,
      s.value ->> 'summary' AS summary,
      d.value ->> 'summary' AS about,
      d.value ->> 'display_icon' AS icon,
      ifnull(
        iif(json_type(s.value, '$.fields') = 'object', s.value -> 'fields', NULL),
        '{}'
      ) AS fields
    FROM json_each(:args, '$.databases') d
    LEFT JOIN json_each(d.value, '$.sources') s ON s.type = 'object'
    WHERE d.type = 'object'
    ORDER BY d.key, s.key
  )
);
SELECT 'Source "' || (value ->> 'label') || '": its fields are not valid' AS error
FROM json_each(:dbs)
WHERE value ->> 'schema' IS NULL;
INSERT INTO database
SELECT
  value ->> 'id',
  'workspace',
  NULL,
  ifnull((SELECT max(pos) FROM node WHERE parent_type = 'workspace'), 0) + 1 + key,
  notion_text(iif(value ->> 's' = 0, value ->> 'name', value ->> 'label')),
  notion_text(ifnull(iif(value ->> 's' = 0, value ->> 'about', NULL), '')),
  value -> 'schema',
  iif(
    ifnull(value ->> 'icon', '') = '' OR value ->> 's' > 0,
    NULL,
    iif(
      value ->> 'icon' LIKE 'http%',
      json_object('type', 'external', 'external', json_object('url', value ->> 'icon')),
      json_object('type', 'emoji', 'emoji', value ->> 'icon')
    )
  ),
  NULL,
  now(),
  now(),
  self.owner,
  self.owner,
  0,
  ifnull((SELECT max(grp) FROM database), 0) + 1 + (value ->> 'd'),
  value ->> 'label',
  value ->> 'summary'
FROM json_each(:dbs), self;
-- Relations name the other source.
SELECT 'Property "' || p.key || '" relates to an unknown source: '
  || json_extract(p.value, '$.relation.database_id') AS error
FROM database d
CROSS JOIN json_each(d.properties) p
WHERE p.value ->> 'type' = 'relation'
  AND NOT EXISTS (
    SELECT 1
    FROM database o
    WHERE json_extract(p.value, '$.relation.database_id') IN (o.id, o.label, notion_plain(o.title))
  );
UPDATE database
SET properties = (
  SELECT json_group_object(p.key, json(iif(
    p.value ->> 'type' = 'relation',
    json_set(
      p.value,
      '$.relation.database_id', (
        SELECT o.id
        FROM database o
        WHERE json_extract(p.value, '$.relation.database_id') IN (
          o.id,
          o.label,
          notion_plain(o.title)
        )
        ORDER BY o.grp, o.pos
        LIMIT 1
      )
    ),
    p.value
  )))
  FROM json_each(database.properties) p
)
WHERE EXISTS (SELECT 1 FROM json_each(database.properties) WHERE value ->> 'type' = 'relation');

-- The pages: those of sources, then the others, which may name theirs.
SELECT json_group_array(json_object(
  'id', new_id('page'),
  'db', db,
  'source', source,
  'page', json(page)
)) AS pages
FROM (
  SELECT d.value ->> 'id' AS db, NULL AS source, p.value AS page
  FROM json_each(:dbs) d
  CROSS JOIN json_each(
    :args,
    '$.databases[' || (d.value ->> 'd') || '].sources[' || (d.value ->> 's') || '].pages'
  ) p
  WHERE p.type = 'object'
  UNION ALL
  SELECT
    (
      SELECT o.id
      FROM database o
      WHERE nullif(p.value ->> 'parent_source', '') IN (o.id, o.label, notion_plain(o.title))
      ORDER BY o.grp DESC, o.pos
      LIMIT 1
    ),
    nullif(p.value ->> 'parent_source', ''),
    p.value
  FROM json_each(:args, '$.pages') p
  WHERE p.type = 'object'
);
SELECT 'Page "' || json_extract(value, '$.page.name') || '" is of an unknown source: '
  || (value ->> 'source') AS error
FROM json_each(:pages)
WHERE value ->> 'source' IS NOT NULL AND value ->> 'db' IS NULL;
-- Their properties, database by database, since a value may bring a new option.
SELECT json_group_object(db, notion_fill(schema, wanted)) AS filled
FROM (
  SELECT
    ifnull(p.value ->> 'db', '') AS db,
    ifnull(
      (SELECT properties FROM database WHERE id = p.value ->> 'db'),
      (SELECT plain_schema FROM self)
    ) AS schema,
    json_group_object(
      p.value ->> 'id',
      json_set(
        iif(
          p.value ->> 'db' IS NOT NULL AND json_type(p.value, '$.page.attributes') = 'object',
          json_extract(p.value, '$.page.attributes'),
          '{}'
        ),
        '$.title', json_object('title', notion_text(json_extract(p.value, '$.page.name')))
      )
    ) AS wanted
  FROM json_each(:pages) p
  GROUP BY 1
);
SELECT 'Page "' || json_extract(p.value, '$.page.name')
  || '": its attributes do not fit the fields of its source' AS error
FROM json_each(:filled) f
CROSS JOIN json_each(:pages) p
WHERE f.value ->> 'bad' IS NOT NULL AND p.value ->> 'id' = f.value ->> 'bad';
UPDATE database
SET properties = f.value -> 'schema'
FROM json_each(:filled) f
WHERE f.key = database.id;
INSERT INTO page
SELECT
  v.key,
  iif(f.key = '', 'workspace', 'database_id'),
  nullif(f.key, ''),
  ifnull((SELECT max(pos) FROM node WHERE parent_id IS nullif(f.key, '')), 0) + v.id,
  v.value,
  NULL,
  NULL,
  now(),
  now(),
  self.owner,
  self.owner,
  0
FROM self
CROSS JOIN json_each(:filled) f
CROSS JOIN json_each(f.value, '$.values') v;
-- People by name or e-mail address, related pages by title.
WITH called (type, name, id) AS MATERIALIZED (
  SELECT 'people', id, id FROM user
  UNION ALL
  SELECT 'people', name, id FROM user
  UNION ALL
  SELECT 'people', email, id FROM user
  UNION ALL
  SELECT 'relation', id, id FROM page
  UNION ALL
  SELECT 'relation', title, id
  FROM (
    SELECT title, id, min((parent_type <> 'database_id') * 1e9 + pos) FROM page_full GROUP BY title
  )
)
SELECT 'A property names an unknown person or page: ' || (e.value ->> 'id') AS error
FROM page p
CROSS JOIN json_each(p.properties) v
CROSS JOIN json_each(v.value, '$.' || (v.value ->> 'type')) e
LEFT JOIN called k ON k.type = v.value ->> 'type' AND k.name = e.value ->> 'id'
WHERE v.value ->> 'type' IN ('people', 'relation') AND k.id IS NULL;
WITH called (type, name, id) AS MATERIALIZED (
  SELECT 'people', id, id FROM user
  UNION ALL
  SELECT 'people', name, id FROM user
  UNION ALL
  SELECT 'people', email, id FROM user
  UNION ALL
  SELECT 'relation', id, id FROM page
  UNION ALL
  SELECT 'relation', title, id
  FROM (
    SELECT title, id, min((parent_type <> 'database_id') * 1e9 + pos) FROM page_full GROUP BY title
  )
)
UPDATE page
SET properties = json_patch(page.properties, g.found)
FROM (
  SELECT page_id, json_group_object(key, json_object(type, json(list))) AS found
  FROM (
    SELECT
      page_id,
      key,
      type,
      json_group_array(iif(
        type = 'people',
        json_object('object', 'user', 'id', id),
        json_object('id', id)
      )) AS list
    FROM (
      SELECT p.id AS page_id, v.key, v.value ->> 'type' AS type, k.id
      FROM page p
      CROSS JOIN json_each(p.properties) v
      CROSS JOIN json_each(v.value, '$.' || (v.value ->> 'type')) e
      CROSS JOIN called k ON k.type = v.value ->> 'type' AND k.name = e.value ->> 'id'
      WHERE v.value ->> 'type' IN ('people', 'relation')
      ORDER BY p.id, v.key, e.key
    )
    GROUP BY page_id, key, type
  )
  GROUP BY page_id
) g
WHERE g.page_id = page.id;
SELECT 'Page "' || json_extract(value, '$.page.name') || '" has a block that there is not' AS error
FROM json_each(:pages)
WHERE json_type(value, '$.page.content_blocks') = 'array'
  AND notion_blocks(json_extract(value, '$.page.content_blocks')) IS NULL;
INSERT INTO block
SELECT
  new_id('block'),
  'page_id',
  p.value ->> 'id',
  b.key + 1,
  b.value ->> 'type',
  b.value -> 'data',
  now(),
  now(),
  self.owner,
  self.owner,
  0
FROM json_each(:pages) p
CROSS JOIN json_each(notion_blocks(json_extract(p.value, '$.page.content_blocks'))) b, self
WHERE json_type(p.value, '$.page.content_blocks') = 'array'
ORDER BY p.key, b.key;
INSERT INTO comment
SELECT
  new_id('comment'),
  'page_id',
  p.value ->> 'id',
  new_id('discussion'),
  notion_text(c.value ->> 'content'),
  now(),
  self.owner
FROM json_each(:pages) p
CROSS JOIN json_each(p.value, '$.page.comments') c, self
WHERE c.type = 'object'
ORDER BY p.key, c.key;
SELECT json_object(
  'databases', (SELECT count(*) FROM json_each(:args, '$.databases') WHERE type = 'object'),
  'pages', json_array_length(:pages),
  'blocks', (
    SELECT count(*)
    FROM json_each(:pages) p
    CROSS JOIN json_each(p.value, '$.page.content_blocks') b
    WHERE b.type = 'object'
  ),
  'comments', (
    SELECT count(*)
    FROM json_each(:pages) p
    CROSS JOIN json_each(p.value, '$.page.comments') c
    WHERE c.type = 'object'
  )
) AS result;

-- name: export
-- Pages as the format has them, by their ids.
WITH RECURSIVE inner_block (page_id, id, path) AS (
  SELECT parent_id, id, printf('%020.6f', pos)
  FROM block
  WHERE parent_type = 'page_id' AND NOT is_archived
  UNION ALL
  SELECT i.page_id, b.id, i.path || '/' || printf('%020.6f', b.pos)
  FROM inner_block i
  JOIN block b ON b.parent_id = i.id AND NOT b.is_archived
),
content (page_id, blocks) AS MATERIALIZED (
  SELECT page_id, json_group_array(json_object('block_type', type, 'content', content))
  FROM (
    SELECT
      i.page_id,
      b.type,
      iif(b.type = 'to_do', iif(b.data ->> 'checked', '[x] ', '[ ] '), '')
        || coalesce(
          iif(
            json_type(b.data, '$.rich_text') = 'array',
            notion_plain(b.data -> 'rich_text'),
            NULL
          ),
          b.data ->> 'url',
          b.data ->> '$.external.url',
          b.data ->> '$.file.url',
          b.data ->> 'expression',
          ''
        ) AS content
    FROM inner_block i
    JOIN block b ON b.id = i.id
    WHERE b.type NOT IN (
      'table', 'table_row', 'column', 'column_list', 'synced_block', 'link_to_page'
    )
    ORDER BY i.page_id, i.path
  )
  GROUP BY page_id
),
said (page_id, comments) AS MATERIALIZED (
  SELECT parent_id, json_group_array(json_object('content', notion_plain(rich_text)))
  FROM (SELECT * FROM comment WHERE parent_type = 'page_id' ORDER BY parent_id, created, rowid)
  GROUP BY parent_id
),
-- Values that are not empty, as the API takes them.
attribute (page_id, attributes) AS MATERIALIZED (
  SELECT page_id, json_group_object(name, json(value))
  FROM (
    SELECT
      p.id AS page_id,
      s.key AS name,
      iif(
        s.value ->> 'type' = 'relation',
        json_object(
          'type', 'relation',
          'relation', json((
            SELECT json_group_array(json_object('id', o.title))
            FROM json_each(p.properties, '$.' || (s.value ->> 'id') || '.relation') e
            JOIN page_full o ON o.id = e.value ->> 'id'
          ))
        ),
        p.properties -> ('$.' || (s.value ->> 'id'))
      ) AS value
    FROM page p
    JOIN database d ON d.id = p.parent_id AND p.parent_type = 'database_id'
    CROSS JOIN json_each(d.properties) s
    WHERE s.value ->> 'type' <> 'title'
      AND (p.properties ->> ('$.' || (s.value ->> 'id') || '.type')) = s.value ->> 'type'
      AND ifnull(
        p.properties ->> ('$.' || (s.value ->> 'id') || '.' || (s.value ->> 'type')),
        ''
      ) NOT IN ('', '[]')
    ORDER BY p.id, s.id
  )
  GROUP BY page_id
),
page_out (id, parent_type, parent_id, pos, json) AS MATERIALIZED (
  SELECT
    p.id,
    p.parent_type,
    p.parent_id,
    p.pos,
    drop_nulls(json_object(
      'name', p.title,
      'attributes', json(a.attributes),
      'content_blocks', json(c.blocks),
      'comments', json(k.comments)
    ))
  FROM page_full p
  LEFT JOIN attribute a ON a.page_id = p.id
  LEFT JOIN content c ON c.page_id = p.id
  LEFT JOIN said k ON k.page_id = p.id
  WHERE NOT p.is_archived
),
pages_of (parent_id, pages) AS MATERIALIZED (
  SELECT parent_id, json_group_array(json(json))
  FROM (SELECT * FROM page_out WHERE parent_type = 'database_id' ORDER BY parent_id, pos)
  GROUP BY parent_id
),
source_out (grp, pos, title, about, icon, json) AS (
  SELECT
    d.grp,
    d.pos,
    notion_plain(d.title),
    nullif(notion_plain(d.description), ''),
    coalesce(d.icon ->> 'emoji', d.icon ->> '$.external.url'),
    drop_nulls(json_object(
      'label', ifnull(d.label, notion_plain(d.title)),
      'summary', d.summary,
      'fields', (
        SELECT json_group_object(s.key, json(iif(
          s.value ->> 'type' = 'relation',
          json_set(
            json_remove(s.value, '$.id', '$.name'),
            '$.relation.database_id', (
              SELECT notion_plain(o.title)
              FROM database o
              WHERE o.id = json_extract(s.value, '$.relation.database_id')
            )
          ),
          json_remove(s.value, '$.id', '$.name')
        )))
        FROM json_each(d.properties) s
      ),
      'pages', json(ifnull(o.pages, '[]'))
    ))
  FROM database d
  LEFT JOIN pages_of o ON o.parent_id = d.id
  WHERE NOT d.is_archived
)
SELECT json_object(
  'databases', json((
    SELECT json_group_array(json(json))
    FROM (
      SELECT drop_nulls(json_object(
        'name', (SELECT title FROM source_out f WHERE f.grp = g.grp ORDER BY pos LIMIT 1),
        'summary', (SELECT about FROM source_out f WHERE f.grp = g.grp ORDER BY pos LIMIT 1),
        'display_icon', (SELECT icon FROM source_out f WHERE f.grp = g.grp ORDER BY pos LIMIT 1),
        'sources', (
          SELECT json_group_array(json(json))
          FROM (SELECT json FROM source_out f WHERE f.grp = g.grp ORDER BY pos)
        )
      )) AS json
      FROM (SELECT DISTINCT grp FROM database WHERE NOT is_archived) g
      ORDER BY g.grp
    )
  )),
  'pages', json((
    SELECT json_group_array(json(json))
    FROM (
      SELECT json
      FROM page_out
      WHERE parent_type <> 'database_id'
      ORDER BY parent_type = 'workspace' DESC, pos, id
    )
  ))
) AS result;
