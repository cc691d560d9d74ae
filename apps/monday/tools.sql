-- The tools of monday.com: what they answer is the data of a GraphQL request.

-- part: find_board
SELECT id AS board FROM board WHERE id = :boardId;
SELECT 'This board does not exist: ' || :boardId AS error WHERE :board IS NULL;

-- part: find_item
SELECT id AS item, board_id AS item_board, parent_id AS parent FROM item WHERE id = :itemId;
SELECT 'Item not found: ' || :itemId AS error WHERE :item IS NULL;

-- part: check_values
-- Of :columnValues for items of :board. What empties a column fits any.
SELECT 'The column values are not valid JSON' AS error
WHERE trim(:columnValues) <> '' AND NOT json_valid(:columnValues);
SELECT iif(trim(:columnValues) = '', '{}', :columnValues) AS new_values;
SELECT 'The column values are not a JSON object' AS error WHERE json_type(:new_values) <> 'object';
SELECT 'This column ID doesn''t exist for the board: ' || key AS error
FROM json_each(:new_values)
WHERE key NOT IN (SELECT id FROM board_column WHERE board_id = :board)
LIMIT 1;
SELECT json_group_array(json_object(
  'id', c.id,
  'type', c.type,
  'kind', v.type,
  'settings', json(c.settings),
  'value', json(:new_values -> v.key),
  'text', CASE WHEN v.type = 'object' THEN NULL ELSE CAST(v.atom AS TEXT) END
)) AS given
FROM json_each(:new_values) v
JOIN board_column c ON c.board_id = :board AND c.id = v.key
WHERE v.type <> 'null' AND v.value NOT IN ('', '{}');
SELECT 'The column ' || (value ->> 'id') || ' is of a type that cannot be changed: '
  || (value ->> 'type') AS error
FROM json_each(:given)
WHERE value ->> 'type' IN (SELECT type FROM computed_type)
LIMIT 1;
SELECT 'This status label doesn''t exist, possible statuses are: {'
  || ifnull((
    SELECT group_concat(l.key || ': ' || l.value, ', ')
    FROM json_each(g.value, '$.settings.labels') l
  ), '') || '}' AS error
FROM json_each(:given) g
WHERE g.value ->> 'type' = 'status'
  AND NOT EXISTS (
    SELECT 1
    FROM json_each(g.value, '$.settings.labels') l
    WHERE l.value IN (g.value ->> '$.value.label', g.value ->> 'text')
      OR l.key IN (CAST(g.value ->> '$.value.index' AS TEXT), g.value ->> 'text')
  )
LIMIT 1;
SELECT 'The dropdown label ' || label || ' doesn''t exist, possible labels are: {'
  || ifnull((
    SELECT group_concat((l.value ->> 'id') || ': ' || (l.value ->> 'name'), ', ')
    FROM json_each(settings, '$.labels') l
  ), '') || '}' AS error
FROM (
  SELECT x.value AS label, g.value -> 'settings' AS settings
  FROM
    json_each(:given) g,
    json_each(CASE
      WHEN g.value ->> 'text' IS NOT NULL
        THEN '[' || replace(json_quote(g.value ->> 'text'), ',', '","') || ']'
      WHEN g.value ->> 'kind' = 'array' THEN g.value ->> 'value'
      ELSE ifnull(g.value -> '$.value.labels', ifnull(g.value -> '$.value.ids', '[null]'))
    END) x
  WHERE g.value ->> 'type' = 'dropdown'
)
WHERE label IS NULL
  OR NOT EXISTS (
    SELECT 1
    FROM json_each(settings, '$.labels') l
    WHERE trim(label) IN (l.value ->> 'name', CAST(l.value ->> 'id' AS TEXT))
  )
LIMIT 1;
SELECT 'Invalid value for the column ' || id || ' (' || type || '): ' || whole AS error
FROM (
  SELECT
    value ->> 'id' AS id,
    value ->> 'type' AS type,
    value ->> 'kind' AS kind,
    value ->> 'text' AS text,
    value -> 'value' AS whole
  FROM json_each(:given)
)
WHERE CASE type
  WHEN 'date'
    THEN date(substr(ifnull(text, whole ->> 'date'), 1, 10), '+0 days') IS NOT substr(
      ifnull(text, whole ->> 'date'),
      1,
      10
    )
  WHEN 'timeline'
    THEN date(whole ->> 'from', '+0 days') IS NOT whole ->> 'from'
      OR date(whole ->> 'to', '+0 days') IS NOT whole ->> 'to'
      OR whole ->> 'from' IS NULL
      OR whole ->> 'to' IS NULL
  WHEN 'numbers'
    THEN kind NOT IN ('integer', 'real', 'text')
      OR NOT json_valid(trim(text))
      OR trim(text) GLOB '*[^-+0-9.eE]*'
  WHEN 'rating'
    THEN ifnull(text, whole ->> 'rating') NOT IN ('0', '1', '2', '3', '4', '5')
      OR ifnull(text, whole ->> 'rating') IS NULL
  WHEN 'checkbox'
    THEN lower(ifnull(ifnull(text, whole ->> 'checked'), '')) NOT IN ('true', 'false', '1', '0')
  WHEN 'people'
    THEN EXISTS (
      SELECT 1
      FROM json_each(iif(
        text IS NULL,
        ifnull(whole -> 'personsAndTeams', '[0]'),
        '[' || replace(json_quote(text), ',', '","') || ']'
      )) p
      WHERE NOT EXISTS (
        SELECT 1
        FROM user
        WHERE id = trim(CAST(iif(p.type = 'object', p.value ->> 'id', p.value) AS TEXT))
      )
    )
  WHEN 'email'
    THEN NOT mail_is_address(ifnull(whole ->> 'email', ifnull(text, '')))
      AND ifnull(text, '') NOT LIKE '%_@_%'
  WHEN 'link' THEN ifnull(whole ->> 'url', ifnull(text, '')) NOT LIKE '%_://_%'
  WHEN 'text' THEN kind NOT IN ('text', 'integer', 'real', 'true', 'false')
  ELSE 0
END
LIMIT 1;

-- part: write_values
-- To :item. A status given by its number is kept by its label.
UPDATE item
SET name = :new_values ->> 'name'
WHERE id = :item AND json_type(:new_values, '$.name') = 'text' AND :new_values ->> 'name' <> '';
DELETE FROM item_value
WHERE item_id = :item
  AND column_id IN (
    SELECT key FROM json_each(:new_values) WHERE type = 'null' OR value IN ('', '{}')
  );
INSERT INTO item_value
SELECT
  :item,
  g.value ->> 'id',
  ifnull(
    CASE
      WHEN g.value ->> 'type' = 'status'
        THEN (
          SELECT json_object('label', l.value)
          FROM json_each(g.value, '$.settings.labels') l
          WHERE l.key IN (CAST(g.value ->> '$.value.index' AS TEXT), g.value ->> 'text')
        )
    END,
    g.value -> 'value'
  )
FROM json_each(:given) g
WHERE g.value ->> 'type' <> 'name'
ORDER BY g.key
ON CONFLICT DO UPDATE SET value = excluded.value;
UPDATE board SET tells_columns = 1 WHERE id = :board AND :new_values <> '{}';

-- name: monday_get_users_by_name
SELECT json_object(
  'users', json_group_array(json_object('id', id, 'name', name, 'title', title))
) AS result
FROM (SELECT * FROM user WHERE instr(lower(name), lower(trim(:name))) ORDER BY id);

-- name: monday_get_board_schema
SELECT json_object(
  'boards', json_group_array(json_object(
    'groups', (
      SELECT json_group_array(json_object('id', id, 'title', title))
      FROM (SELECT id, title FROM board_group WHERE board_id = b.id ORDER BY position)
    ),
    'columns', (
      SELECT json_group_array(json_object(
        'id', id,
        'type', type,
        'title', title,
        'settings_str', settings
      ))
      FROM (SELECT * FROM board_column WHERE board_id = b.id ORDER BY position)
    )
  ))
) AS result
FROM board b
WHERE b.id = :boardId;

-- name: monday_create_board
SELECT 'The name of a board cannot be empty' AS error WHERE trim(:boardName) = '';
SELECT 'This workspace does not exist: ' || :workspaceId AS error
WHERE :workspaceId <> '' AND :workspaceId NOT IN (SELECT id FROM workspace);
INSERT INTO board VALUES (
  new_id('board'),
  (SELECT ifnull(max(place), 0) + 1 FROM board),
  :boardName,
  nullif(:boardDescription, ''),
  :boardKind,
  nullif(:workspaceId, ''),
  1
)
RETURNING id AS new_board;
INSERT INTO board_column (board_id, id, position, title, type)
SELECT :new_board, id, position, title, type
FROM usual_column
WHERE type = 'name';
INSERT INTO board_group VALUES (:new_board, 'topics', 1, 'Group Title', NULL);
SELECT json_object('create_board', json_object('id', :new_board)) AS result;

-- name: monday_get_boards
SELECT json_object(
  'boards', json_group_array(json_object(
    'id', id,
    'name', name,
    'description', description,
    'workspace_id', workspace_id
  ))
) AS result
FROM (SELECT * FROM board ORDER BY place DESC);

-- name: monday_create_column
-- include: find_board
SELECT 'The title of a column cannot be empty' AS error WHERE trim(:columnTitle) = '';
SELECT 'A board has one column of the type name' AS error WHERE :columnType = 'name';
INSERT INTO board_column VALUES (
  :board,
  :columnType || '_mk' || rand_text('{hex:6}'),
  (SELECT max(position) + 1 FROM board_column WHERE board_id = :board),
  :columnTitle,
  :columnType,
  nullif(:columnDescription, ''),
  CASE
    WHEN :columnType = 'status' AND json_array_length(:columnSettings) > 0
      THEN json_object(
        'labels', (
          SELECT json_group_object(CAST(key + 1 AS TEXT), value) FROM json_each(:columnSettings)
        )
      )
    WHEN :columnType = 'status' THEN '{"labels":{"0":"Working on it","1":"Done","2":"Stuck"}}'
    WHEN :columnType = 'dropdown'
      THEN json_object(
        'labels', (
          SELECT json_group_array(json_object('id', key + 1, 'name', value))
          FROM json_each(ifnull(:columnSettings, '[]'))
        )
      )
    ELSE '{}'
  END
)
RETURNING id AS new_column;
UPDATE board SET tells_columns = 1 WHERE id = :board;
SELECT json_indent(json_object('create_column', json_object('id', :new_column))) AS result;

-- name: monday_delete_column
-- include: find_board
SELECT type AS found FROM board_column WHERE board_id = :board AND id = :columnId;
SELECT 'This column ID doesn''t exist for the board: ' || :columnId AS error WHERE :found IS NULL;
SELECT 'The name column cannot be deleted' AS error WHERE :found = 'name';
DELETE FROM board_column WHERE board_id = :board AND id = :columnId;
DELETE FROM item_value
WHERE column_id = :columnId
  AND item_id IN (SELECT id FROM item WHERE board_id = :board AND parent_id IS NULL);
UPDATE board SET tells_columns = 1 WHERE id = :board;
SELECT json_indent(json_object('delete_column', json_object('id', :columnId))) AS result;

-- name: monday_create_item
-- include: find_board
SELECT 'The name of an item cannot be empty' AS error WHERE trim(:name) = '';
SELECT id AS item_group
FROM board_group
WHERE board_id = :board AND (ifnull(:groupId, '') = '' OR id = :groupId)
ORDER BY position
LIMIT 1;
SELECT 'Group not found: ' || :groupId AS error WHERE :item_group IS NULL;
-- include: check_values
INSERT INTO item VALUES (
  new_id('item'),
  (SELECT ifnull(max(place), 0) + 1 FROM item),
  :board,
  :item_group,
  NULL,
  :name
)
RETURNING id AS item;
-- include: write_values
SELECT json_indent(json_object('create_item', json_object('id', id, 'name', name))) AS result
FROM item
WHERE id = :item;

-- name: monday_get_board_items_by_name
SELECT json_indent(json_object(
  'boards', json_group_array(json_object(
    'items_page', json_object(
      'items', (
        SELECT json_group_array(json_object('id', id, 'name', name))
        FROM (
          SELECT i.id, i.name
          FROM item i
          JOIN board_group g ON g.board_id = i.board_id AND g.id = i.group_id
          WHERE i.board_id = b.id AND instr(lower(i.name), lower(:term))
          ORDER BY g.position, i.place
          LIMIT 500
        )
      )
    )
  ))
)) AS result
FROM board b
WHERE b.id = :boardId;

-- name: monday_create_update
-- include: find_item
SELECT 'The body of an update cannot be empty' AS error WHERE trim(:body) = '';
INSERT INTO item_update VALUES (
  new_id('update'),
  (SELECT ifnull(max(place), 0) + 1 FROM item_update),
  :item,
  (SELECT id FROM user WHERE is_me),
  :body,
  now()
)
RETURNING id AS new_update;
SELECT json_indent(json_object('create_update', json_object('id', :new_update))) AS result;

-- name: monday_delete_item
-- include: find_item
DELETE FROM item_update
WHERE item_id = :item OR item_id IN (SELECT id FROM item WHERE parent_id = :item);
DELETE FROM item_value
WHERE item_id = :item OR item_id IN (SELECT id FROM item WHERE parent_id = :item);
DELETE FROM item WHERE parent_id = :item;
DELETE FROM item WHERE id = :item;
SELECT json_indent(json_object('delete_item', json_object('id', :item))) AS result;

-- name: monday_change_item_column_values
-- include: find_board
-- include: find_item
SELECT 'Item not found in board: ' || :itemId AS error
WHERE :item_board <> :board OR :parent IS NOT NULL;
-- include: check_values
-- include: write_values
SELECT json_indent(json_object(
  'change_multiple_column_values', json_object('id', :item)
)) AS result;

-- name: monday_move_item_to_group
-- include: find_item
SELECT 'A subitem is in no group: ' || :itemId AS error WHERE :parent IS NOT NULL;
SELECT 'Group not found: ' || :groupId AS error
WHERE :groupId NOT IN (SELECT id FROM board_group WHERE board_id = :item_board);
UPDATE item
SET group_id = :groupId, place = (SELECT max(place) + 1 FROM item)
WHERE id = :item AND group_id <> :groupId;
SELECT json_indent(json_object('move_item_to_group', json_object('id', :item))) AS result;
