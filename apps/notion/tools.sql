-- The parts are those that the tools of benchmarks need, too: see api/.

-- part: strangers
-- Someone or something that the values of :made name and that there is not.
SELECT kind AS stranger_kind, id AS stranger
FROM (
  SELECT 'user' AS kind, e.value ->> 'id' AS id
  FROM json_each(:made, '$.values') v
  JOIN json_each(v.value, '$.people') e
  WHERE e.value ->> 'id' NOT IN (SELECT id FROM user)
  UNION ALL
  SELECT 'page', e.value ->> 'id'
  FROM json_each(:made, '$.values') v
  JOIN json_each(v.value, '$.relation') e
  WHERE notion_id(e.value ->> 'id') IS NULL
    OR notion_id(e.value ->> 'id') NOT IN (SELECT id FROM page)
);

-- part: write_page
-- A page of the values :made with the blocks :flat0.
SELECT new_id('page') AS id;
INSERT INTO page
SELECT
  :id,
  :parent_type,
  :parent_id,
  ifnull((
      SELECT max(pos) FROM node WHERE parent_id IS :parent_id AND parent_type = :parent_type
    ), 0) + 1,
  :made -> 'values',
  :icon,
  :cover,
  now(),
  now(),
  bot,
  bot,
  0
FROM self;
UPDATE database
SET properties = :made -> 'schema'
WHERE :parent_type = 'database_id' AND id = :parent_id AND properties <> :made -> 'schema';
SELECT json_group_array(json_set(value, '$.id', new_id('block'))) AS flat FROM json_each(:flat0);
INSERT INTO block
SELECT
  value ->> 'id',
  iif(value ->> 'parent' < 0, 'page_id', 'block_id'),
  iif(value ->> 'parent' < 0, :id, :flat ->> ('$[' || (value ->> 'parent') || '].id')),
  0 + 1 * (key + 1),
  value ->> 'type',
  value -> 'data',
  now(),
  now(),
  self.bot,
  self.bot,
  0
FROM json_each(:flat), self;

-- part: change_page
UPDATE page
SET
  properties = :made -> 'values',
  icon = ifnull(:icon, icon),
  cover = ifnull(:cover, cover),
  is_archived = ifnull(:wanted, is_archived),
  edited = now(),
  edited_by = (SELECT bot FROM self)
WHERE id = :id;
UPDATE database
SET properties = :made -> 'schema'
WHERE :parent_type = 'database_id' AND id = :parent_id AND properties <> :made -> 'schema';

-- part: parent_there
SELECT failed AS error
FROM self
WHERE NOT ifnull(
  CASE :parent_type
    WHEN 'workspace' THEN 1
    WHEN 'page_id' THEN EXISTS (SELECT 1 FROM page WHERE id = :parent_id AND NOT is_archived)
    WHEN 'database_id'
      THEN EXISTS (SELECT 1 FROM database WHERE id = :parent_id AND NOT is_archived)
  END,
  0
);

-- part: find_pages
-- The pages of the database :id by :request.
SELECT json_group_array(id) AS ids
FROM (
  SELECT p.id
  FROM page p
  WHERE p.parent_id = :id AND p.is_archived = :is_archived AND {{notion_filter :request}}
  ORDER BY {{notion_sort :request}}, p.pos DESC
);

-- part: slice
-- From where on, and how many.
SELECT
  iif(
    :start_cursor IS NULL,
    0,
    (SELECT key FROM json_each(:ids) WHERE value = notion_id(:start_cursor))
  ) AS first,
  iif(ifnull(:page_size, 0) = 0, 100, :page_size) AS size;

-- part: write_database
SELECT new_id('database') AS id;
INSERT INTO database
SELECT
  :id,
  :parent_type,
  :parent_id,
  ifnull((
      SELECT max(pos) FROM node WHERE parent_id IS :parent_id AND parent_type = :parent_type
    ), 0) + 1,
  :name,
  :about,
  :schema,
  :icon,
  :cover,
  now(),
  now(),
  bot,
  bot,
  0,
  (SELECT ifnull(max(grp), 0) + 1 FROM database),
  NULL,
  NULL
FROM self;

-- part: change_database
UPDATE database
SET
  title = :name,
  description = :about,
  properties = :schema,
  icon = ifnull(:icon, icon),
  cover = ifnull(:cover, cover),
  is_archived = ifnull(:archived, is_archived),
  edited = now(),
  edited_by = (SELECT bot FROM self)
WHERE id = :id;

-- part: find_all
-- Pages and databases by their titles.
SELECT json_group_array(id) AS ids
FROM (
  SELECT id
  FROM (
    SELECT id, 'page' AS object, title, edited, pos FROM page_full WHERE NOT is_archived
    UNION ALL
    SELECT id, 'database', notion_plain(title), edited, pos FROM database WHERE NOT is_archived
  )
  WHERE {{words :query}} AND object = ifnull(:filter ->> 'value', object)
  ORDER BY
    iif(:sort ->> 'direction' = 'ascending', edited, NULL),
    iif(ifnull(:sort ->> 'direction', '') <> 'ascending', edited, NULL) DESC,
    pos,
    id
);

-- part: write_comment
SELECT new_id('comment') AS id, ifnull(:thread, new_id('discussion')) AS thread;
INSERT INTO comment SELECT :id, :parent_type, :parent_id, :thread, :text, now(), bot FROM self;

-- part: touch_page
-- The page of a block is edited with it.
UPDATE page
SET edited = now(), edited_by = (SELECT bot FROM self)
WHERE id = (
  WITH RECURSIVE up (id, type) AS (
    SELECT parent_id, parent_type FROM node WHERE id = :id
    UNION ALL
    SELECT b.parent_id, b.parent_type
    FROM up
    JOIN block b ON b.id = up.id
    WHERE up.type = 'block_id'
  )
  SELECT id
  FROM up
  WHERE type = 'page_id'
  LIMIT 1
);

-- part: trash
UPDATE block SET is_archived = 1, edited = now(), edited_by = (SELECT bot FROM self) WHERE id = :id;
UPDATE page SET is_archived = 1, edited = now(), edited_by = (SELECT bot FROM self) WHERE id = :id;
UPDATE database
SET is_archived = 1, edited = now(), edited_by = (SELECT bot FROM self)
WHERE id = :id;

-- part: append
-- Behind the last one, or in between: the gap is shared.
SELECT ifnull(:place, (SELECT ifnull(max(pos), 0) FROM node WHERE parent_id = :id)) AS base;
SELECT ifnull(
  ((SELECT min(pos) FROM node WHERE parent_id = :id AND pos > :base) - :base) / (
    json_array_length(:flat0) + 1
  ),
  1
) AS step;
SELECT json_group_array(json_set(value, '$.id', new_id('block'))) AS flat FROM json_each(:flat0);
INSERT INTO block
SELECT
  value ->> 'id',
  iif(value ->> 'parent' < 0, :parent_type, 'block_id'),
  iif(value ->> 'parent' < 0, :id, :flat ->> ('$[' || (value ->> 'parent') || '].id')),
  :base + :step * (key + 1),
  value ->> 'type',
  value -> 'data',
  now(),
  now(),
  self.bot,
  self.bot,
  0
FROM json_each(:flat), self;
-- The page of a block is edited with it.
UPDATE page
SET edited = now(), edited_by = (SELECT bot FROM self)
WHERE id = (
  WITH RECURSIVE up (id, type) AS (
    SELECT :id, :parent_type
    UNION ALL
    SELECT b.parent_id, b.parent_type
    FROM up
    JOIN block b ON b.id = up.id
    WHERE up.type = 'block_id'
  )
  SELECT id
  FROM up
  WHERE type = 'page_id'
  LIMIT 1
);

-- name: notion_create_page
-- The server takes {"page": {"content", "properties"}} and, as it did before, the API's own body.
SELECT nullif(ifnull(:page -> 'properties', ''), '{}') AS given;
SELECT
  iif(
    ifnull(:given, '') <> '',
    iif(
      json_type(:given, '$.title') = 'text',
      json_set(:given, '$.title', json_object('title', notion_text(:given ->> 'title'))),
      :given
    ),
    :args -> 'properties'
  ) AS wanted,
  CASE
    WHEN :parent ->> 'database_id' IS NOT NULL THEN 'database_id'
    WHEN :parent ->> 'page_id' IS NOT NULL THEN 'page_id'
    WHEN ifnull(:parent, '{}') = '{}' OR :parent ->> 'workspace' THEN 'workspace'
  END AS parent_type,
  notion_id(coalesce(:parent ->> 'database_id', :parent ->> 'page_id')) AS parent_id;
-- include: parent_there
SELECT
  notion_values(
    ifnull((
      SELECT properties FROM database WHERE :parent_type = 'database_id' AND id = :parent_id
    ), plain_schema),
    NULL,
    :wanted,
    0
  ) AS made,
  notion_blocks(coalesce(
    notion_markdown(nullif(:page ->> 'content', '')),
    :args -> 'children',
    '[]'
  )) AS flat0
FROM self;
SELECT failed AS error FROM self WHERE :made IS NULL;
-- include: strangers
SELECT failed AS error FROM self WHERE :stranger IS NOT NULL;
SELECT failed AS error FROM self WHERE :flat0 IS NULL;
-- include: write_page
SELECT json AS result FROM page_json WHERE id = :id;

-- name: notion_get_page
SELECT (SELECT id FROM page WHERE id = notion_id(:page_id)) AS id;
SELECT failed AS error FROM self WHERE :id IS NULL;
SELECT iif(
  :filter_properties IS NULL,
  j.json,
  json_set(
    j.json,
    '$.pageProperties', notion_show(p.schema, p.properties, p.about, :filter_properties)
  )
) AS result
FROM page_json j
JOIN page_full p ON p.id = j.id
WHERE j.id = :id;

-- name: notion_update_page_properties
SELECT (SELECT id FROM page WHERE id = notion_id(:page_id)) AS id;
SELECT failed AS error FROM self WHERE :id IS NULL;
SELECT
  parent_type,
  parent_id,
  is_archived,
  notion_values(schema, properties, :properties, 0) AS made,
  coalesce(:archived, :in_trash) AS wanted
FROM page_full
WHERE id = :id;
-- What is in the trash has to come out of it first.
SELECT failed AS error FROM self WHERE :made IS NULL OR (:is_archived AND ifnull(:wanted, 1));
-- include: strangers
SELECT failed AS error FROM self WHERE :stranger IS NOT NULL;
-- include: change_page
SELECT json AS result FROM page_json WHERE id = :id;

-- name: notion_query_database
SELECT (SELECT id FROM database WHERE id = notion_id(:database_id)) AS id;
SELECT failed AS error FROM self WHERE :id IS NULL;
SELECT
  json_object(
    'filter', json(:filter),
    'sorts', json(:sorts),
    'schema', json(properties)
  ) AS request,
  coalesce(:archived, :in_trash, 0) AS is_archived
FROM database
WHERE id = :id;
-- include: find_pages
-- include: slice
SELECT failed AS error FROM self WHERE :first IS NULL OR :size NOT BETWEEN 1 AND 100;
SELECT json_object(
  'nextPageCursor', :ids ->> ('$[' || (:first + :size) || ']'),
  'hasMoreResults', json(iif(json_array_length(:ids) > :first + :size, 'true', 'false')),
  'items', json_group_array(json(json)),
  'itemCount', count(*),
  'objectType', 'list'
) AS result
FROM (
  SELECT iif(
    :filter_properties IS NULL,
    v.json,
    json_set(
      v.json,
      '$.pageProperties', (
        SELECT notion_show(p.schema, p.properties, p.about, :filter_properties)
        FROM page_full p
        WHERE p.id = v.id
      )
    )
  ) AS json
  FROM json_each(:ids) i
  JOIN page_json v ON v.id = i.value
  WHERE i.key >= :first AND i.key < :first + :size
  ORDER BY i.key
);

-- name: notion_get_database
SELECT (SELECT id FROM database WHERE id = notion_id(:database_id)) AS id;
SELECT failed AS error FROM self WHERE :id IS NULL;
SELECT json AS result FROM database_json WHERE id = :id;

-- name: notion_create_database
SELECT
  iif(
    :parent ->> 'page_id' IS NOT NULL,
    'page_id',
    iif(:parent ->> 'workspace', 'workspace', NULL)
  ) AS parent_type,
  notion_id(:parent ->> 'page_id') AS parent_id,
  notion_rich_text(:title) AS name,
  notion_rich_text(ifnull(:description, '[]')) AS about,
  notion_schema(NULL, :properties) AS schema;
-- include: parent_there
SELECT failed AS error
FROM self
WHERE :name IS NULL
  OR :about IS NULL
  OR :schema IS NULL
  OR EXISTS (
    SELECT 1
    FROM json_each(:schema)
    WHERE value ->> 'type' = 'relation'
      AND ifnull(notion_id(json_extract(value, '$.relation.database_id')), '') NOT IN (
        SELECT id FROM database
      )
  );
-- include: write_database
SELECT json AS result FROM database_json WHERE id = :id;

-- name: notion_update_database
SELECT (SELECT id FROM database WHERE id = notion_id(:database_id)) AS id;
SELECT failed AS error FROM self WHERE :id IS NULL;
SELECT
  iif(:title IS NULL, title, notion_rich_text(:title)) AS name,
  iif(:description IS NULL, description, notion_rich_text(:description)) AS about,
  iif(:properties IS NULL, properties, notion_schema(properties, :properties)) AS schema,
  is_archived
FROM database
WHERE id = :id;
SELECT failed AS error
FROM self
WHERE :name IS NULL OR :about IS NULL OR :schema IS NULL OR (:is_archived AND ifnull(:archived, 1));
-- include: change_database
SELECT json AS result FROM database_json WHERE id = :id;

-- name: notion_create_database_item
SELECT 'database_id' AS parent_type, notion_id(:database_id) AS parent_id;
-- include: parent_there
SELECT
  notion_values(properties, NULL, :properties, 0) AS made,
  notion_blocks(ifnull(:children, '[]')) AS flat0
FROM database
WHERE id = :parent_id;
SELECT failed AS error FROM self WHERE :made IS NULL;
-- include: strangers
SELECT failed AS error FROM self WHERE :stranger IS NOT NULL;
SELECT failed AS error FROM self WHERE :flat0 IS NULL;
-- include: write_page
SELECT json AS result FROM page_json WHERE id = :id;

-- name: notion_search
-- Here the server shows failures as they are.
SELECT replace(
  failed_search, '%',
  'body failed validation: the filter or the sort is not one that the API knows.'
) AS error
FROM self
WHERE (
  ifnull(:filter, '{}') <> '{}'
  AND (
    ifnull(:filter ->> 'property', '') <> 'object'
    OR ifnull(:filter ->> 'value', '') NOT IN ('page', 'database')
  )
)
  OR (
    ifnull(:sort, '{}') <> '{}'
    AND (
      ifnull(:sort ->> 'timestamp', '') <> 'last_edited_time'
      OR ifnull(:sort ->> 'direction', '') NOT IN ('ascending', 'descending')
    )
  );
-- include: find_all
SELECT replace(
  failed_search, '%', 'body failed validation: the start_cursor or the page_size is not valid.'
) AS error
FROM self
WHERE (
  :start_cursor IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM json_each(:ids) WHERE value = notion_id(:start_cursor))
)
  OR ifnull(:page_size, 1) NOT BETWEEN 0 AND 100;
-- include: slice
SELECT failed AS error FROM self WHERE :first IS NULL OR :size NOT BETWEEN 1 AND 100;
SELECT json_object(
  'nextPageCursor', :ids ->> ('$[' || (:first + :size) || ']'),
  'hasMoreResults', json(iif(json_array_length(:ids) > :first + :size, 'true', 'false')),
  'items', json_group_array(json(json)),
  'itemCount', count(*),
  'objectType', 'list'
) AS result
FROM (
  SELECT v.json AS json
  FROM json_each(:ids) i
  JOIN (SELECT * FROM page_json UNION ALL SELECT * FROM database_json) v ON v.id = i.value
  WHERE i.key >= :first AND i.key < :first + :size
  ORDER BY i.key
);

-- name: notion_get_user
SELECT failed_user AS error
FROM self
WHERE NOT EXISTS (SELECT 1 FROM user WHERE id = notion_id(:user_id));
SELECT json AS result FROM user_json WHERE id = notion_id(:user_id);

-- name: notion_list_users
SELECT json_group_array(id) AS ids FROM (SELECT id FROM user ORDER BY id);
-- include: slice
SELECT failed AS error FROM self WHERE :first IS NULL OR :size NOT BETWEEN 1 AND 100;
SELECT json_object(
  'nextPageCursor', :ids ->> ('$[' || (:first + :size) || ']'),
  'hasMoreResults', json(iif(json_array_length(:ids) > :first + :size, 'true', 'false')),
  'items', json_group_array(json(json)),
  'itemCount', count(*),
  'objectType', 'list'
) AS result
FROM (
  SELECT v.json AS json
  FROM json_each(:ids) i
  JOIN user_json v ON v.id = i.value
  WHERE i.key >= :first AND i.key < :first + :size
  ORDER BY i.key
);

-- name: notion_create_comment
-- A thread that is there, or a new one on a page or a block.
SELECT
  notion_rich_text(:rich_text) AS text,
  notion_id(:discussion_id) AS thread,
  notion_id(coalesce(:parent ->> 'page_id', :parent ->> 'block_id')) AS target;
SELECT
  iif(
    :discussion_id IS NOT NULL,
    (SELECT parent_type FROM comment WHERE discussion_id = :thread),
    (
      SELECT iif(type = 'child_page', 'page_id', 'block_id')
      FROM node
      WHERE id = :target AND NOT is_archived
    )
  ) AS parent_type,
  iif(
    :discussion_id IS NOT NULL,
    (SELECT parent_id FROM comment WHERE discussion_id = :thread),
    :target
  ) AS parent_id;
SELECT failed AS error
FROM self
WHERE :text IS NULL
  OR :parent_type IS NULL
  OR json_array_length(:text) = 0
  OR (:discussion_id IS NOT NULL AND :parent IS NOT NULL AND :parent <> '{}');
-- include: write_comment
SELECT json AS result FROM comment_json WHERE id = :id;

-- name: notion_get_comments
SELECT (SELECT id FROM node WHERE id = notion_id(:block_id)) AS id;
SELECT failed AS error FROM self WHERE :id IS NULL;
SELECT json_group_array(id) AS ids
FROM (SELECT id FROM comment WHERE parent_id = :id ORDER BY created, rowid);
-- include: slice
SELECT failed AS error FROM self WHERE :first IS NULL OR :size NOT BETWEEN 1 AND 100;
SELECT json_object(
  'nextPageCursor', :ids ->> ('$[' || (:first + :size) || ']'),
  'hasMoreResults', json(iif(json_array_length(:ids) > :first + :size, 'true', 'false')),
  'items', json_group_array(json(json)),
  'itemCount', count(*),
  'objectType', 'list'
) AS result
FROM (
  SELECT v.json AS json
  FROM json_each(:ids) i
  JOIN comment_json v ON v.id = i.value
  WHERE i.key >= :first AND i.key < :first + :size
  ORDER BY i.key
);

-- name: notion_get_me
SELECT json AS result FROM user_json, self WHERE user_json.id = self.bot;

-- name: notion_retrieve_page_property
SELECT (SELECT id FROM page WHERE id = notion_id(:page_id)) AS id;
SELECT failed_property AS error FROM self WHERE :id IS NULL OR :page_size NOT BETWEEN 0 AND 100;
SELECT (
  SELECT value
  FROM json_each((
    SELECT notion_show(schema, properties, about, NULL) FROM page_full WHERE id = :id
  ))
  WHERE value ->> 'id' = :property_id OR key = :property_id
) AS item;
SELECT failed_property AS error FROM self WHERE :item IS NULL;
-- Of lists the server shows which property they are of, and not what is in them.
SELECT iif(
  :item ->> 'type' IN ('title', 'rich_text', 'relation', 'people'),
  json_object(
    'objectType', 'list',
    'propertyType', 'property_item',
    'nextPageCursor', NULL,
    'hasMoreResults', json('false'),
    'property_itemData', json_object(
      'id', :item ->> 'id',
      'next_url', NULL,
      'type', :item ->> 'type',
      :item ->> 'type', json('{}')
    )
  ),
  json_object(
    'objectType', 'property_item',
    'propertyId', :item ->> 'id',
    'propertyType', :item ->> 'type',
    (:item ->> 'type') || 'Data', json(:item -> (:item ->> 'type'))
  )
) AS result;

-- name: notion_retrieve_block
SELECT (SELECT id FROM node WHERE id = notion_id(:block_id)) AS id;
SELECT failed_block AS error FROM self WHERE :id IS NULL;
SELECT json AS result FROM block_json WHERE id = :id;

-- name: notion_update_block
SELECT (SELECT id FROM block WHERE id = notion_id(:block_id)) AS id;
SELECT failed_block AS error FROM self WHERE :id IS NULL;
SELECT
  type,
  data,
  is_archived,
  iif(
    ifnull(:block_type, '{}') = '{}',
    data,
    notion_blocks(json_array(json_object(
      'type', type,
      type, json(json_patch(data, ifnull(:block_type -> type, 'null')))
    ))) -> '$[0].data'
  ) AS new_data
FROM block
WHERE id = :id;
-- A block stays what it is; what is in the trash has to come out of it first.
SELECT failed_block AS error
FROM self
WHERE :new_data IS NULL
  OR (:is_archived AND ifnull(:archived, 1))
  OR (ifnull(:block_type, '{}') <> '{}' AND json_type(:block_type, '$.' || :type) IS NOT 'object');
UPDATE block
SET
  data = :new_data,
  is_archived = ifnull(:archived, is_archived),
  edited = now(),
  edited_by = (SELECT bot FROM self)
WHERE id = :id;
-- include: touch_page
SELECT json AS result FROM block_json WHERE id = :id;

-- name: notion_delete_block
SELECT (SELECT id FROM node WHERE id = notion_id(:block_id) AND NOT is_archived) AS id;
SELECT failed_block AS error FROM self WHERE :id IS NULL;
-- include: trash
-- include: touch_page
SELECT json AS result FROM block_json WHERE id = :id;

-- name: notion_get_block_children
SELECT (SELECT id FROM node WHERE id = notion_id(:block_id)) AS id;
SELECT failed AS error FROM self WHERE :id IS NULL;
SELECT json_group_array(id) AS ids
FROM (
  SELECT id
  FROM node
  WHERE parent_id = :id AND parent_type <> 'database_id' AND NOT is_archived
  ORDER BY pos, id
);
-- include: slice
SELECT failed AS error FROM self WHERE :first IS NULL OR :size NOT BETWEEN 1 AND 100;
SELECT json_object(
  'nextPageCursor', :ids ->> ('$[' || (:first + :size) || ']'),
  'hasMoreResults', json(iif(json_array_length(:ids) > :first + :size, 'true', 'false')),
  'items', json_group_array(json(json)),
  'itemCount', count(*),
  'objectType', 'list'
) AS result
FROM (
  SELECT v.json AS json
  FROM json_each(:ids) i
  JOIN block_json v ON v.id = i.value
  WHERE i.key >= :first AND i.key < :first + :size
  ORDER BY i.key
);

-- name: notion_append_block_children
SELECT
  (SELECT id FROM node WHERE id = notion_id(:block_id) AND NOT is_archived) AS id,
  notion_blocks(:children) AS flat0;
SELECT
  (SELECT iif(type = 'child_page', 'page_id', 'block_id') FROM node WHERE id = :id) AS parent_type,
  (SELECT type FROM node WHERE id = :id) AS type,
  (SELECT pos FROM node WHERE id = notion_id(:after) AND parent_id = :id) AS place;
-- Only blocks that can hold others take them; a hundred at once.
SELECT failed AS error
FROM self
WHERE :id IS NULL
  OR :flat0 IS NULL
  OR json_array_length(:children) NOT BETWEEN 1 AND 100
  OR (:after IS NOT NULL AND :place IS NULL)
  OR :type NOT IN (
    'child_page', 'paragraph', 'bulleted_list_item', 'numbered_list_item', 'to_do', 'toggle',
    'quote', 'callout', 'heading_1', 'heading_2', 'heading_3', 'column', 'column_list',
    'synced_block', 'table'
  );
-- include: append
SELECT json_object(
  'nextPageCursor', NULL,
  'hasMoreResults', json('false'),
  'items', json_group_array(json(json)),
  'itemCount', count(*),
  'objectType', 'list'
) AS result
FROM (
  SELECT v.json
  FROM json_each(:flat) i
  JOIN block_json v ON v.id = i.value ->> 'id'
  WHERE i.value ->> 'parent' < 0
  ORDER BY i.key
);
