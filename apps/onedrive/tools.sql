-- part: find_item
-- :n of :wanted, an id or "root".
SELECT n, parent, name AS old_name, content IS NULL AS is_folder
FROM item
WHERE id = :wanted OR (parent IS NULL AND lower(:wanted) = 'root');
SELECT json_indent(json_object(
  'error', json_object('code', 'itemNotFound', 'message', 'The resource could not be found.')
)) AS error
WHERE :n IS NULL;

-- part: find_folder
-- :folder of :wanted, an id or "root".
SELECT n AS folder, content IS NULL AS is_parent
FROM item
WHERE id = :wanted OR (parent IS NULL AND lower(:wanted) = 'root');
SELECT json_indent(json_object(
  'error', json_object('code', 'itemNotFound', 'message', 'The resource could not be found.')
)) AS error
WHERE :folder IS NULL;
SELECT json_indent(json_object(
  'error', json_object(
    'code', 'invalidRequest',
    'message', 'The item is not a folder and has no children.'
  )
)) AS error
WHERE NOT :is_parent;

-- part: check_name
SELECT json_indent(json_object(
  'error', json_object(
    'code', 'invalidRequest',
    'message', 'The name in the provided oneDrive item is blank.'
  )
)) AS error
WHERE trim(:item_name) = '';
SELECT json_indent(json_object(
  'error', json_object(
    'code', 'invalidRequest',
    'message', 'The name contains characters that are not allowed: " * : < > ? / \ |'
  )
)) AS error
WHERE :item_name GLOB '*["*:<>?/\|]*' OR :item_name IN ('.', '..');

-- part: refuse_root
SELECT json_indent(json_object(
  'error', json_object('code', 'accessDenied', 'message', 'The root of a drive cannot be changed.')
)) AS error
WHERE :parent IS NULL;

-- part: say_taken
SELECT json_indent(json_object(
  'error', json_object('code', 'nameAlreadyExists', 'message', 'Name already exists')
)) AS error
WHERE :taken IS NOT NULL;

-- name: onedrive_rename_item
SELECT :file_id AS wanted, :new_name AS item_name;
-- include: find_item
-- include: refuse_root
-- include: check_name
SELECT n AS taken FROM item WHERE parent = :parent AND name = :item_name AND n <> :n;
-- include: say_taken
UPDATE item SET name = :item_name, modified_s = now_ms() / 1000 WHERE n = :n;
SELECT json_object('status', 'success', 'item', json(item)) AS result FROM shown WHERE n = :n;

-- name: onedrive_move_item
SELECT :item_id AS wanted;
-- include: find_item
-- include: refuse_root
SELECT :new_parent_id AS wanted;
-- include: find_folder
WITH RECURSIVE above (n) AS (
  SELECT :folder
  UNION ALL
  SELECT parent FROM item JOIN above USING (n) WHERE parent IS NOT NULL
)
SELECT json_indent(json_object(
  'error', json_object(
    'code', 'invalidRequest',
    'message', 'An item cannot be moved into itself or below itself.'
  )
)) AS error
FROM above
WHERE n = :n;
SELECT n AS taken FROM item WHERE parent = :folder AND name = :old_name AND n <> :n;
-- include: say_taken
UPDATE item SET parent = :folder, modified_s = now_ms() / 1000 WHERE n = :n;
SELECT json_object('status', 'success', 'item', json(item)) AS result FROM shown WHERE n = :n;

-- name: onedrive_delete_item
SELECT :item_id AS wanted;
-- include: find_item
-- include: refuse_root
DELETE FROM item WHERE n = :n;
SELECT json_object(
  'status', 'success',
  'itemId', :item_id,
  'message', 'Item ' || :item_id || ' deleted.'
) AS result;

-- name: onedrive_read_file_content
SELECT :file_id AS wanted;
-- include: find_item
SELECT json_indent(json_object(
  'error', json_object(
    'code', 'invalidRequest',
    'message', 'A folder has no content that can be read.'
  )
)) AS error
WHERE :is_folder;
SELECT json_array(json_object('type', 'text', 'text', content)) AS content FROM item WHERE n = :n;

-- name: onedrive_create_file
SELECT :parent_folder AS wanted, :new_file_name AS item_name;
-- include: find_folder
-- include: check_name
SELECT n AS old, content IS NULL AS is_old_folder
FROM item
WHERE parent = :folder AND name = :item_name;
SELECT 'File ''' || :item_name || ''' already exists. Aborting.' AS error
WHERE :old IS NOT NULL AND :if_exists = 'error';
SELECT iif(:if_exists = 'replace' AND :is_old_folder, :old, NULL) AS taken;
-- include: say_taken
UPDATE item
SET content = ifnull(:data, ''), modified_s = now_ms() / 1000
WHERE n = :old AND :if_exists = 'replace';
-- Another name has random digits before the ending.
INSERT INTO item (id, parent, name, content, created_s, modified_s)
SELECT
  new_id('item'),
  :folder,
  CASE
    WHEN :old IS NULL THEN :item_name
    WHEN ending = '' THEN :item_name || '_' || rand_text('{hex:32}')
    ELSE substr(:item_name, 1, length(:item_name) - length(ending)) || '_' || rand_text('{hex:32}')
      || ending
  END,
  ifnull(:data, ''),
  now_ms() / 1000,
  now_ms() / 1000
FROM (
  SELECT iif(
    ltrim(:item_name, '.') LIKE '%.%',
    substr(:item_name, length(rtrim(:item_name, replace(:item_name, '.', '')))),
    ''
  ) AS ending
)
WHERE :old IS NULL OR :if_exists = 'rename'
RETURNING n AS made;
SELECT json_object('status', 'success', 'file', json(item)) AS result
FROM shown
WHERE n = ifnull(:made, :old);

-- name: onedrive_create_folder
SELECT :parent_folder AS wanted, :new_folder_name AS item_name;
-- include: find_folder
-- include: check_name
SELECT n AS old FROM item WHERE parent = :folder AND name = :item_name;
SELECT iif(:behavior = 'fail', :old, NULL) AS taken;
-- include: say_taken
DELETE FROM item WHERE n = :old AND :behavior = 'replace';
WITH RECURSIVE number (i) AS (
  SELECT 1
  UNION ALL
  SELECT i + 1
  FROM number
  WHERE EXISTS (SELECT 1 FROM item WHERE parent = :folder AND name = :item_name || ' ' || i)
)
INSERT INTO item (id, parent, name, created_s, modified_s)
SELECT
  new_id('item'),
  :folder,
  iif(
    :old IS NOT NULL AND :behavior = 'rename',
    :item_name || ' ' || (SELECT max(i) FROM number),
    :item_name
  ),
  now_ms() / 1000,
  now_ms() / 1000
RETURNING n AS made;
SELECT json_object('status', 'success', 'folder', json(folder)) AS result
FROM shown
WHERE n = :made;

-- name: onedrive_list_root_files_folders
SELECT json_object(
  'status', 'success',
  'data', json_object('items', json_group_array(json(item)), 'count', count(*))
) AS result
FROM (
  SELECT item
  FROM shown
  WHERE parent = (SELECT n FROM item WHERE parent IS NULL)
  ORDER BY name
);

-- name: onedrive_list_inside_folder
SELECT :folder_id AS wanted;
-- include: find_folder
SELECT json_object(
  'status', 'success',
  'data', json_object('items', json_group_array(json(item)), 'count', count(*))
) AS result
FROM (SELECT item FROM shown WHERE parent = :folder ORDER BY name);

-- name: onedrive_search_item_by_name
SELECT json_indent(json_object(
  'error', json_object('code', 'invalidRequest', 'message', 'The search query cannot be empty.')
)) AS error
WHERE trim(:itemname) = '';
SELECT json_object(
  'status', 'success',
  'data', json_object('items', json_group_array(json(item)), 'count', count(*))
) AS result
FROM (
  SELECT item
  FROM shown
  WHERE parent IS NOT NULL AND instr(lower(name), lower(trim(:itemname))) > 0
  ORDER BY name, n
);

-- name: onedrive_search_folder_by_name
SELECT json_indent(json_object(
  'error', json_object('code', 'invalidRequest', 'message', 'The search query cannot be empty.')
)) AS error
WHERE trim(:folder_name) = '';
SELECT json_object(
  'status', 'success',
  'folders', json_group_array(json(folder)),
  'count', count(*)
) AS result
FROM (
  SELECT folder
  FROM shown
  WHERE parent IS NOT NULL AND is_folder AND instr(lower(name), lower(trim(:folder_name))) > 0
  ORDER BY name, n
);

-- name: onedrive_get_item_by_id
SELECT :item_id AS wanted;
-- include: find_item
SELECT json_object('status', 'success', 'item', json(item)) AS result FROM shown WHERE n = :n;

-- name: onedrive_list_shared_items
SELECT json_object(
  'status', 'success',
  'sharedItems', json_group_array(json(item)),
  'count', count(*)
) AS result
FROM (
  SELECT drop_nulls(json_object(
    'sharedItemId', id,
    'name', name,
    'size', size,
    'lastModified', time_write(shared_s, 'UTC', '%Y-%m-%dT%H:%M:%SZ'),
    'created', time_write(shared_s, 'UTC', '%Y-%m-%dT%H:%M:%SZ'),
    'webUrl', 'https://larkspur-my.sharepoint.example/personal/'
      || lower(replace(shared_by, ' ', '_')) || '/Documents/' || replace(name, ' ', '%20'),
    'isFolder', json(iif(is_folder, 'true', 'false')),
    'isFile', json(iif(is_folder, 'false', 'true')),
    'mimeType', iif(is_folder, NULL, ifnull((
      SELECT type
      FROM mime
      WHERE lower(name) LIKE '%.' || extension
      ORDER BY length(extension) DESC
      LIMIT 1
    ), 'application/octet-stream')),
    'driveId', 'b!LarkspurRobotics' || replace(shared_by, ' ', '') || 'Drive',
    'sharedBy', shared_by,
    'sharedDateTime', time_write(shared_s, 'UTC', '%Y-%m-%dT%H:%M:%SZ'),
    'permissions', 'users'
  )) AS item
  FROM shared_item
  ORDER BY shared_s DESC, n
);
