-- The API's own answers and failures. Arguments that are objects may come as JSON in a text, and
-- calls may have all that the API takes, whatever the schemas of the tools tell.

-- part: refused
SELECT json_object(
  'status', 400,
  'object', 'error',
  'code', 'validation_error',
  'message', :why
) AS error
WHERE :why IS NOT NULL;

-- part: lost
SELECT json_object(
  'status', 404,
  'object', 'error',
  'code', 'object_not_found',
  'message', 'Could not find ' || :lost_kind || ' with ID: ' || :lost || '. Make sure the relevant '
    || 'pages and databases are shared with your integration.'
) AS error
WHERE :lost IS NOT NULL;

-- part: path
-- :given, the argument called :arg, is the id of a :kind: :id, unless there is none.
SELECT CASE
  WHEN notion_id(:given) IS NULL
    THEN 'path failed validation: path.' || :arg || ' should be a valid uuid, instead was `'
      || json_quote(:given) || '`.'
  WHEN :id IS NOT NULL THEN NULL
  WHEN :kind = 'page' AND EXISTS (SELECT 1 FROM database WHERE id = notion_id(:given))
    THEN 'Provided ID ' || notion_id(:given) || ' is a database, not a page. '
      || 'Use the retrieve database API instead.'
  WHEN :kind = 'database' AND EXISTS (SELECT 1 FROM page WHERE id = notion_id(:given))
    THEN 'Provided ID ' || notion_id(:given) || ' is a page, not a database. '
      || 'Use the retrieve page API instead.'
END AS why;
-- include: refused
SELECT :kind AS lost_kind, iif(:id IS NULL, notion_id(:given), NULL) AS lost;
-- include: lost

-- part: body
-- Texts in the places of objects have to be JSON.
SELECT (
  SELECT 'body failed validation: body.' || key || ' should be an object, instead was `'
    || json_quote(value) || '`.'
  FROM json_each(:args)
  WHERE type = 'text'
    AND NOT json_valid(value)
    AND key IN (
      'children', 'cover', 'description', 'filter', 'filter_properties', 'icon', 'parent',
      'properties', 'rich_text', 'sort', 'sorts', 'title'
    )
) AS why;
-- include: refused
SELECT 'body failed validation: body.' || a.key || substr(t.fullkey, 2)
  || '.length should be ≤ `2000`, instead was `' || length(t.value) || '`.' AS why
FROM json_each(:args) a
CROSS JOIN json_tree(iif(
  a.type IN ('object', 'array', 'text') AND json_valid(a.value),
  a.value,
  '[]'
)) t
WHERE t.key = 'content' AND t.type = 'text' AND t.path LIKE '%.text' AND length(t.value) > 2000
LIMIT 1;
-- include: refused

-- part: list
-- Of :ids, objects of :type.
-- include: slice
SELECT CASE
  WHEN :first IS NULL THEN 'The start_cursor provided is invalid: ' || :start_cursor
  WHEN :size > 100
    THEN 'body failed validation: body.page_size should be ≤ `100`, instead was `' || :size || '`.'
  WHEN :size < 1
    THEN 'body failed validation: body.page_size should be ≥ `1`, instead was `' || :size || '`.'
END AS why;
-- include: refused
SELECT json_object(
  'object', 'list',
  'results', json_group_array(json(json)),
  'next_cursor', :ids ->> ('$[' || (:first + :size) || ']'),
  'has_more', json(iif(json_array_length(:ids) > :first + :size, 'true', 'false')),
  'type', :type,
  :type, json('{}')
) AS list
FROM (
  SELECT o.json
  FROM json_each(:ids) i
  JOIN object o ON o.id = i.value AND o.type = :type
  WHERE i.key >= :first AND i.key < :first + :size
  ORDER BY i.key
);

-- part: parent
-- Where a page or a database is made.
-- include: body
SELECT
  iif(:parent ->> 'database_id' IS NOT NULL, 'database_id', 'page_id') AS parent_type,
  coalesce(:parent ->> 'database_id', :parent ->> 'page_id') AS given;
SELECT
  notion_id(:given) AS parent_id,
  replace(:parent_type, '_id', '') AS lost_kind,
  CASE
    WHEN :given IS NULL
      THEN 'body failed validation: body.parent.page_id should be defined, instead was '
        || '`undefined`.'
    WHEN notion_id(:given) IS NULL
      THEN 'body failed validation: body.parent.' || :parent_type
        || ' should be a valid uuid, instead was `' || json_quote(:given) || '`.'
  END AS why;
-- include: refused
SELECT iif(
  EXISTS (SELECT 1 FROM node WHERE id = :parent_id AND type = 'child_' || :lost_kind),
  NULL,
  :parent_id
) AS lost;
-- include: lost
SELECT 'Can''t edit block that is archived. You must unarchive the block before editing.' AS why
FROM node
WHERE id = :parent_id AND is_archived;
-- include: refused

-- part: looks
-- :icon and :cover as they are kept; what is null takes them away.
SELECT
  CASE
    WHEN :icon ->> 'emoji' IS NOT NULL THEN json_object('type', 'emoji', 'emoji', :icon ->> 'emoji')
    WHEN :icon ->> '$.external.url' IS NOT NULL
      THEN json_object(
        'type', 'external',
        'external', json_object('url', :icon ->> '$.external.url')
      )
  END AS new_icon,
  iif(
    :cover ->> '$.external.url' IS NOT NULL,
    json_object('type', 'external', 'external', json_object('url', :cover ->> '$.external.url')),
    NULL
  ) AS new_cover;
SELECT CASE
  WHEN :icon IS NOT NULL AND :new_icon IS NULL
    THEN 'body failed validation: body.icon should be an emoji or an external file.'
  WHEN :cover IS NOT NULL AND :new_cover IS NULL
    THEN 'body failed validation: body.cover should be an external file.'
END AS why;
-- include: refused
SELECT :new_icon AS icon, :new_cover AS cover;

-- part: values
-- :properties of a page as :made, by :schema and :old. A list may stand for a property that has
-- nothing else.
SELECT 'body failed validation: body.properties should be an object, instead was `' || :properties
  || '`.' AS why
WHERE json_type(:properties) <> 'object';
-- include: refused
SELECT (
  SELECT json_group_object(key, json(CASE type
    WHEN 'object' THEN value
    WHEN 'array' THEN json_object(ifnull(kind, ''), json(value))
    ELSE 'null'
  END))
  FROM (
    SELECT
      p.key,
      p.type,
      p.value,
      (
        SELECT s.value ->> 'type' FROM json_each(:schema) s WHERE p.key IN (s.key, s.value ->> 'id')
      ) AS kind
    FROM json_each(ifnull(:properties, '{}')) p
    WHERE p.key <> 'type' OR p.type <> 'text'
  )
) AS wanted;
SELECT notion_values(:schema, :old, :wanted, 0) AS made;
SELECT (
  SELECT CASE
    WHEN kind IS NULL THEN key || ' is not a property that exists.'
    WHEN json_type(value, '$.' || kind) IS NULL THEN key || ' is expected to be ' || kind || '.'
    ELSE 'body failed validation: body.properties.' || key || '.' || kind
      || ' is not a valid value.'
  END
  FROM (
    SELECT
      w.key,
      w.value,
      (
        SELECT s.value ->> 'type' FROM json_each(:schema) s WHERE w.key IN (s.key, s.value ->> 'id')
      ) AS kind
    FROM json_each(:wanted) w
    WHERE w.type <> 'object'
      OR notion_values(:schema, NULL, json_object(w.key, json(w.value)), 0) IS NULL
  )
  WHERE :made IS NULL
  LIMIT 1
) AS why;
-- include: refused
-- include: strangers
SELECT :stranger_kind AS lost_kind, :stranger AS lost;
-- include: lost

-- part: blocks
-- :children as :flat0; each may be JSON in a text.
SELECT json_group_array(json(iif(json_valid(value), value, 'null'))) AS given
FROM json_each(ifnull(:children, '[]'));
SELECT notion_blocks(:given) AS flat0;
SELECT CASE
  WHEN json_array_length(:given) > 100
    THEN 'body failed validation: body.children.length should be ≤ `100`, instead was `'
      || json_array_length(:given) || '`.'
  WHEN :flat0 IS NULL
    THEN 'body failed validation: body.children['
      || ifnull((
        SELECT min(key) FROM json_each(:given) WHERE notion_blocks(json_array(json(value))) IS NULL
      ), '') || '] is not a block that can be made.'
END AS why;
-- include: refused

-- name: API-get-user
SELECT
  'user' AS kind,
  'user_id' AS arg,
  :user_id AS given,
  (SELECT id FROM user WHERE id = notion_id(:user_id)) AS id;
-- include: path
SELECT json AS result FROM user_object WHERE id = :id;

-- name: API-get-users
SELECT 'user' AS type, json_group_array(id) AS ids FROM (SELECT id FROM user ORDER BY id);
-- include: list
SELECT :list AS result;

-- name: API-get-self
SELECT json AS result FROM user_object WHERE id = (SELECT bot FROM self);

-- name: API-post-database-query
SELECT
  'database' AS kind,
  'database_id' AS arg,
  :database_id AS given,
  (SELECT id FROM database WHERE id = notion_id(:database_id)) AS id;
-- include: path
-- include: body
SELECT
  json_object(
    'filter', json(nullif(:filter, '{}')),
    'sorts', json(:sorts),
    'schema', json(properties)
  ) AS request,
  coalesce(:archived, :in_trash, 0) AS is_archived,
  'page_or_database' AS type
FROM database
WHERE id = :id;
-- include: find_pages
-- include: list
SELECT iif(
  :filter_properties IS NULL,
  :list,
  json_set(
    :list,
    '$.results', json((
      SELECT json_group_array(json_set(
        r.value,
        '$.properties', json((
          SELECT json_group_object(key, json(value))
          FROM json_each(r.value, '$.properties')
          WHERE value ->> 'id' IN (SELECT value FROM json_each(:filter_properties))
        ))
      ))
      FROM json_each(:list, '$.results') r
    ))
  )
) AS result;

-- name: API-post-search
-- include: body
SELECT CASE
  WHEN ifnull(:filter, '{}') <> '{}' AND ifnull(:filter ->> 'property', '') <> 'object'
    THEN 'body failed validation: body.filter.property should be `"object"`, instead was `'
      || ifnull(json_quote(:filter ->> 'property'), 'undefined') || '`.'
  WHEN ifnull(:filter, '{}') <> '{}' AND ifnull(:filter ->> 'value', '') NOT IN ('page', 'database')
    THEN 'body failed validation: body.filter.value should be `"page"` or `"database"`, '
      || 'instead was `' || ifnull(json_quote(:filter ->> 'value'), 'undefined') || '`.'
  WHEN ifnull(:sort ->> 'direction', 'ascending') NOT IN ('ascending', 'descending')
    THEN 'body failed validation: body.sort.direction should be `"ascending"` or '
      || '`"descending"`, instead was `' || json_quote(:sort ->> 'direction') || '`.'
  WHEN ifnull(:sort ->> 'timestamp', 'last_edited_time') <> 'last_edited_time'
    THEN 'body failed validation: body.sort.timestamp should be `"last_edited_time"`, '
      || 'instead was `' || json_quote(:sort ->> 'timestamp') || '`.'
END AS why;
-- include: refused
-- include: find_all
SELECT 'page_or_database' AS type;
-- include: list
SELECT :list AS result;

-- name: API-get-block-children
SELECT
  'block' AS kind,
  'block_id' AS arg,
  :block_id AS given,
  (SELECT id FROM node WHERE id = notion_id(:block_id)) AS id;
-- include: path
SELECT 'block' AS type, json_group_array(id) AS ids
FROM (
  SELECT id
  FROM node
  WHERE parent_id = :id AND parent_type <> 'database_id' AND NOT is_archived
  ORDER BY pos, id
);
-- include: list
SELECT :list AS result;

-- name: API-patch-block-children
SELECT
  'block' AS kind,
  'block_id' AS arg,
  :block_id AS given,
  (SELECT id FROM node WHERE id = notion_id(:block_id)) AS id;
-- include: path
-- include: body
-- include: blocks
SELECT
  iif(type = 'child_page', 'page_id', 'block_id') AS parent_type,
  (SELECT pos FROM node o WHERE o.id = notion_id(:after) AND o.parent_id = :id) AS place,
  CASE
    WHEN is_archived
      THEN 'Can''t edit block that is archived. You must unarchive the block before editing.'
    WHEN json_array_length(:given) = 0
      THEN 'body failed validation: body.children.length should be ≥ `1`, instead was `0`.'
    WHEN type NOT IN (
        'child_page', 'paragraph', 'bulleted_list_item', 'numbered_list_item', 'to_do', 'toggle',
        'quote', 'callout', 'heading_1', 'heading_2', 'heading_3', 'column', 'column_list',
        'synced_block', 'table'
      )
      THEN 'Block does not support children.'
    WHEN :after IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM node o WHERE o.id = notion_id(:after) AND o.parent_id = :id)
      THEN 'body failed validation: body.after should be the ID of a block of the parent, '
        || 'instead was `' || json_quote(:after) || '`.'
  END AS why
FROM node
WHERE id = :id;
-- include: refused
-- include: append
SELECT json_object(
  'object', 'list',
  'results', json_group_array(json(json)),
  'next_cursor', NULL,
  'has_more', json('false'),
  'type', 'block',
  'block', json('{}')
) AS result
FROM (
  SELECT o.json
  FROM json_each(:flat) i
  JOIN block_object o ON o.id = i.value ->> 'id'
  WHERE i.value ->> 'parent' < 0
  ORDER BY i.key
);

-- name: API-retrieve-a-block
SELECT
  'block' AS kind,
  'block_id' AS arg,
  :block_id AS given,
  (SELECT id FROM node WHERE id = notion_id(:block_id)) AS id;
-- include: path
SELECT json AS result FROM block_object WHERE id = :id;

-- name: API-update-a-block
SELECT
  'block' AS kind,
  'block_id' AS arg,
  :block_id AS given,
  (SELECT id FROM node WHERE id = notion_id(:block_id)) AS id;
-- include: path
-- The content is in "type", as the tool tells, or beside it, as the API has it.
SELECT
  iif(
    json_valid(:type) AND json_type(iif(json_valid(:type), :type, '0')) = 'object',
    :type,
    :args
  ) AS change,
  ifnull(:archived, :args ->> 'in_trash') AS wanted;
SELECT
  type AS block_type,
  is_archived,
  iif(
    json_type(:change, '$.' || type) IS NULL,
    data,
    notion_blocks(json_array(json_object(
      'type', type,
      type, json(json_patch(data, :change -> type))
    ))) -> '$[0].data'
  ) AS new_data
FROM node
WHERE id = :id;
SELECT CASE
  WHEN :is_archived AND ifnull(:wanted, 1)
    THEN 'Can''t edit block that is archived. You must unarchive the block before editing.'
  WHEN :block_type IN ('child_page', 'child_database')
    THEN 'Updating ' || :block_type || ' blocks is not supported: use the API of '
      || replace(:block_type, 'child_', '') || 's.'
  WHEN :wanted IS NULL AND json_type(:change, '$.' || :block_type) IS NULL
    THEN 'body failed validation: body.' || :block_type
      || ' should be defined, instead was `undefined`.'
  WHEN :new_data IS NULL
    THEN 'body failed validation: body.' || :block_type || ' is not what such a block has.'
END AS why;
-- include: refused
UPDATE block
SET
  data = :new_data,
  is_archived = ifnull(:wanted, is_archived),
  edited = now(),
  edited_by = (SELECT bot FROM self)
WHERE id = :id;
-- include: touch_page
SELECT json AS result FROM block_object WHERE id = :id;

-- name: API-delete-a-block
SELECT
  'block' AS kind,
  'block_id' AS arg,
  :block_id AS given,
  (SELECT id FROM node WHERE id = notion_id(:block_id)) AS id;
-- include: path
SELECT 'Can''t edit block that is archived. You must unarchive the block before editing.' AS why
FROM node
WHERE id = :id AND is_archived;
-- include: refused
-- include: trash
-- include: touch_page
SELECT json AS result FROM block_object WHERE id = :id;

-- name: API-retrieve-a-page
SELECT
  'page' AS kind,
  'page_id' AS arg,
  :page_id AS given,
  (SELECT id FROM page WHERE id = notion_id(:page_id)) AS id;
-- include: path
SELECT iif(
  json_valid(:filter_properties) AND :filter_properties LIKE '[%',
  :filter_properties,
  '["' || replace(replace(:filter_properties, '"', ''), ',', '","') || '"]'
) AS only;
SELECT iif(
  :only IS NULL,
  o.json,
  json_set(
    o.json,
    '$.properties', json((
      SELECT json_group_object(key, json(value))
      FROM json_each(o.json, '$.properties')
      WHERE value ->> 'id' IN (SELECT trim(value) FROM json_each(:only))
    ))
  )
) AS result
FROM page_object o
WHERE o.id = :id;

-- name: API-patch-page
SELECT
  'page' AS kind,
  'page_id' AS arg,
  :page_id AS given,
  (SELECT id FROM page WHERE id = notion_id(:page_id)) AS id;
-- include: path
-- include: body
SELECT
  parent_type,
  parent_id,
  schema,
  properties AS old,
  iif(
    is_archived AND ifnull(coalesce(:archived, :in_trash), 1),
    'Can''t edit page that is archived. You must unarchive the page before editing.',
    NULL
  ) AS why
FROM page_full
WHERE id = :id;
-- include: refused
-- include: values
-- include: looks
SELECT coalesce(:archived, :in_trash) AS wanted;
-- include: change_page
UPDATE page
SET
  icon = iif(json_type(:args, '$.icon') = 'null', NULL, icon),
  cover = iif(json_type(:args, '$.cover') = 'null', NULL, cover)
WHERE id = :id;
SELECT json AS result FROM page_object WHERE id = :id;

-- name: API-post-page
-- include: parent
SELECT
  ifnull((
    SELECT properties FROM database WHERE :parent_type = 'database_id' AND id = :parent_id
  ), plain_schema) AS schema,
  NULL AS old
FROM self;
-- include: values
-- include: blocks
-- include: looks
-- include: write_page
SELECT json AS result FROM page_object WHERE id = :id;

-- name: API-create-a-database
-- include: parent
SELECT
  notion_rich_text(ifnull(:title, '[]')) AS name,
  notion_rich_text(ifnull(:args ->> 'description', '[]')) AS about,
  notion_schema(NULL, :properties) AS schema,
  :args ->> 'icon' AS icon,
  :args ->> 'cover' AS cover;
SELECT CASE
  WHEN :parent_type <> 'page_id'
    THEN 'body failed validation: body.parent.page_id should be defined, instead was '
      || '`undefined`.'
  WHEN :name IS NULL THEN 'body failed validation: body.title should be rich text.'
  WHEN :about IS NULL THEN 'body failed validation: body.description should be rich text.'
  WHEN :schema IS NULL
      AND NOT EXISTS (
        SELECT 1
        FROM json_each(:properties) p
        WHERE iif(p.type = 'object', json_type(p.value, '$.title'), NULL) IS NOT NULL
      )
    THEN 'Title is not provided'
  WHEN :schema IS NULL
    THEN 'body failed validation: body.properties has a property that cannot be made.'
END AS why;
-- include: refused
SELECT 'database' AS lost_kind, json_extract(value, '$.relation.database_id') AS lost
FROM json_each(:schema)
WHERE value ->> 'type' = 'relation'
  AND ifnull(notion_id(json_extract(value, '$.relation.database_id')), '') NOT IN (
    SELECT id FROM database
  );
-- include: lost
-- include: looks
-- include: write_database
SELECT json AS result FROM database_object WHERE id = :id;

-- name: API-update-a-database
SELECT
  'database' AS kind,
  'database_id' AS arg,
  :database_id AS given,
  (SELECT id FROM database WHERE id = notion_id(:database_id)) AS id;
-- include: path
-- include: body
SELECT
  iif(:title IS NULL, title, notion_rich_text(:title)) AS name,
  iif(:description IS NULL, description, notion_rich_text(:description)) AS about,
  iif(:properties IS NULL, properties, notion_schema(properties, :properties)) AS schema,
  is_archived,
  coalesce(:args ->> 'archived', :args ->> 'in_trash') AS archived,
  :args ->> 'icon' AS icon,
  :args ->> 'cover' AS cover
FROM database
WHERE id = :id;
SELECT CASE
  WHEN :is_archived AND ifnull(:archived, 1)
    THEN 'Can''t edit database that is archived. You must unarchive the database before '
      || 'editing.'
  WHEN :name IS NULL THEN 'body failed validation: body.title should be rich text.'
  WHEN :about IS NULL THEN 'body failed validation: body.description should be rich text.'
  WHEN :schema IS NULL
    THEN 'body failed validation: body.properties has a property that cannot be made.'
END AS why;
-- include: refused
-- include: looks
-- include: change_database
SELECT json AS result FROM database_object WHERE id = :id;

-- name: API-retrieve-a-database
SELECT
  'database' AS kind,
  'database_id' AS arg,
  :database_id AS given,
  (SELECT id FROM database WHERE id = notion_id(:database_id)) AS id;
-- include: path
SELECT json AS result FROM database_object WHERE id = :id;

-- name: API-retrieve-a-page-property
SELECT
  'page' AS kind,
  'page_id' AS arg,
  :page_id AS given,
  (SELECT id FROM page WHERE id = notion_id(:page_id)) AS id;
-- include: path
SELECT p.value AS item, p.value ->> 'type' AS type, p.value ->> 'id' AS property
FROM page_object o, json_each(o.json, '$.properties') p
WHERE o.id = :id AND :property_id IN (p.key, p.value ->> 'id');
SELECT iif(:item IS NULL, 'Could not find property with name or id: ' || :property_id, NULL) AS why;
-- include: refused
-- Lists come in pages; the cursors are made of the places.
SELECT json_group_array(printf('00000000-0000-4000-8000-%012x', key)) AS ids
FROM json_each(:item, '$.' || :type)
WHERE :type IN ('title', 'rich_text', 'relation', 'people');
-- include: slice
SELECT iif(
  :first IS NULL AND :start_cursor IS NOT NULL,
  'The start_cursor provided is invalid: ' || :start_cursor,
  NULL
) AS why;
-- include: refused
SELECT iif(
  :type NOT IN ('title', 'rich_text', 'relation', 'people'),
  json_object(
    'object', 'property_item',
    'type', :type,
    'id', :property,
    :type, json(:item -> :type)
  ),
  json_object(
    'object', 'list',
    'results', json((
      SELECT json_group_array(json_object(
        'object', 'property_item',
        'type', :type,
        'id', :property,
        :type, json(value)
      ))
      FROM json_each(:item, '$.' || :type)
      WHERE key >= :first AND key < :first + :size
    )),
    'next_cursor', :ids ->> ('$[' || (:first + :size) || ']'),
    'has_more', json(iif(json_array_length(:ids) > :first + :size, 'true', 'false')),
    'type', 'property_item',
    'property_item', json_object(
      'id', :property,
      'next_url', NULL,
      'type', :type,
      :type, json('{}')
    )
  )
) AS result;

-- name: API-retrieve-a-comment
SELECT
  'block' AS kind,
  'block_id' AS arg,
  :block_id AS given,
  (SELECT id FROM node WHERE id = notion_id(:block_id)) AS id;
-- include: path
SELECT 'comment' AS type, json_group_array(id) AS ids
FROM (SELECT id FROM comment WHERE parent_id = :id ORDER BY created, rowid);
-- include: list
SELECT :list AS result;

-- name: API-create-a-comment
-- On a page or a block, or in a discussion that is there.
-- include: body
SELECT
  notion_rich_text(:rich_text) AS text,
  coalesce(:parent ->> 'page_id', :parent ->> 'block_id') AS target,
  :args ->> 'discussion_id' AS discussion;
SELECT CASE
  WHEN :text IS NULL OR json_array_length(:text) = 0
    THEN 'body failed validation: body.rich_text should be rich text that is not empty.'
  WHEN :discussion IS NOT NULL AND :target IS NOT NULL
    THEN 'body failed validation: body.parent or body.discussion_id should be defined, not both.'
  WHEN :discussion IS NULL AND :target IS NULL
    THEN 'body failed validation: body.parent.page_id should be defined, instead was '
      || '`undefined`.'
  WHEN notion_id(ifnull(:discussion, :target)) IS NULL
    THEN 'body failed validation: '
      || iif(:discussion IS NULL, 'body.parent.page_id', 'body.discussion_id')
      || ' should be a valid uuid, instead was `' || json_quote(ifnull(:discussion, :target))
      || '`.'
END AS why;
-- include: refused
SELECT
  iif(:discussion IS NULL, NULL, notion_id(:discussion)) AS thread,
  iif(
    :discussion IS NULL,
    NULL,
    (SELECT parent_type FROM comment WHERE discussion_id = notion_id(:discussion))
  ) AS thread_type,
  (SELECT parent_id FROM comment WHERE discussion_id = notion_id(:discussion)) AS thread_of,
  (
    SELECT iif(type = 'child_page', 'page_id', 'block_id')
    FROM node
    WHERE id = notion_id(:target) AND NOT is_archived
  ) AS target_type;
SELECT
  ifnull(:thread_type, :target_type) AS parent_type,
  ifnull(:thread_of, notion_id(:target)) AS parent_id,
  CASE
    WHEN :discussion IS NOT NULL THEN 'discussion'
    WHEN :parent ->> 'page_id' IS NOT NULL THEN 'page'
    ELSE 'block'
  END AS lost_kind;
SELECT iif(:parent_type IS NULL, notion_id(ifnull(:discussion, :target)), NULL) AS lost;
-- include: lost
-- include: write_comment
SELECT json AS result FROM comment_object WHERE id = :id;
