-- part: read_search
SELECT 'Google Drive API Error (404): Shared drive not found: '
  || :search_only_in_shared_drive_id AS error
WHERE NOT EXISTS (SELECT 1 FROM drive WHERE id = :search_only_in_shared_drive_id)
  AND :search_only_in_shared_drive_id IS NOT NULL;
SELECT 'Google Drive API Error (400): Invalid Value' AS error WHERE :pagination_token IS NOT NULL;
SELECT
  '(mimeType = ''application/vnd.google-apps.document'' and trashed = false)'
    || (
      SELECT ifnull(
        group_concat(
          ' and (name contains ''' || word || ''' or fullText contains ''' || word || ''')',
          ''
        ),
        ''
      )
      FROM (
        SELECT replace(replace(value, '\', '\\'), '''', '\''') AS word
        FROM json_each(:document_contains)
      )
    )
    || (
      SELECT ifnull(
        group_concat(
          ' and not (name contains ''' || word || ''' or fullText contains ''' || word || ''')',
          ''
        ),
        ''
      )
      FROM (
        SELECT replace(replace(value, '\', '\\'), '''', '\''') AS word
        FROM json_each(:document_not_contains)
      )
    ) AS q,
  (SELECT ifnull(group_concat(value, ','), 'modifiedTime desc') FROM json_each(:order_by)) AS sort;

-- name: google_drive_search_documents
-- include: read_search
SELECT json_object('documents_count', count(*), 'documents', json_group_array(json(item))) AS result
FROM (
  SELECT drop_nulls(json_object(
    'kind', 'drive#file',
    'teamDriveId', drive_id,
    'driveId', drive_id,
    'mimeType', mime_type,
    'id', id,
    'name', name
  )) AS item
  FROM file f
  WHERE {{drive :q}}
    AND iif(
      :search_only_in_shared_drive_id IS NULL,
      drive_id IS NULL OR :include_shared_drives OR :include_organization_domain_documents,
      drive_id = :search_only_in_shared_drive_id
    )
  ORDER BY {{drive_order :sort}}, n
  LIMIT max(0, min(:limit, 1000))
);

-- name: google_drive_search_and_retrieve_documents
-- include: read_search
SELECT json_object('documents_count', count(*), 'documents', json_group_array(json(item))) AS result
FROM (
  SELECT json_object(
    'title', f.name,
    'body', (
      SELECT iif(:return_format = 'html', d.html, d.markdown) FROM document d WHERE d.n = f.n
    ),
    'documentId', f.id
  ) AS item
  FROM file f
  WHERE {{drive :q}}
    AND iif(
      :search_only_in_shared_drive_id IS NULL,
      drive_id IS NULL OR :include_shared_drives OR :include_organization_domain_documents,
      drive_id = :search_only_in_shared_drive_id
    )
  ORDER BY {{drive_order :sort}}, n
  LIMIT max(0, min(:limit, 100))
);

-- name: google_drive_get_file_tree_structure
SELECT 'Google Drive API Error (404): Shared drive not found: '
  || :restrict_to_shared_drive_id AS error
WHERE NOT EXISTS (SELECT 1 FROM drive WHERE id = :restrict_to_shared_drive_id)
  AND :restrict_to_shared_drive_id IS NOT NULL;
SELECT 'Google Drive API Error (400): Invalid value ''' || :limit
  || '''. Values must be within the range: [1, 1000]' AS error
WHERE :limit < 0 OR :limit > 1000;
SELECT (
  SELECT ifnull(group_concat(value, ','), 'modifiedTime desc') FROM json_each(:order_by)
) AS sort;
SELECT json_object('drives', json_group_array(json(tree))) AS result
FROM (
  SELECT iif(
    drive_id IS NULL,
    json_object('name', 'My Drive', 'children', json(children)),
    json_object(
      'name', (SELECT name FROM drive WHERE id = drive_id),
      'id', drive_id,
      'children', json(children)
    )
  ) AS tree
  FROM (
    SELECT
      drive_id,
      min(place) AS place,
      json_nest(json_group_array(json(item)), 'id', 'parent', 'children') AS children
    FROM (
      SELECT
        drive_id,
        row_number() OVER () AS place,
        drop_nulls(json_object(
          'id', id,
          'name', name,
          'mimeType', mime_type,
          'parent', parent,
          'size', iif(size IS NULL, NULL, json_object('value', size, 'unit', 'bytes')),
          'createdTime', time_write(created_ms / 1000, 'UTC', '%Y-%m-%dT%H:%M:%S.000Z'),
          'modifiedTime', time_write(modified_ms / 1000, 'UTC', '%Y-%m-%dT%H:%M:%S.000Z'),
          'owners', iif(
            drive_id IS NULL,
            json_array(json_object(
              'name', ifnull((SELECT name FROM person WHERE email = owner), ''),
              'email', owner
            )),
            NULL
          )
        )) AS item
      FROM (
        SELECT *
        FROM file f
        WHERE trashed = 0
          AND iif(
            :restrict_to_shared_drive_id IS NULL,
            drive_id IS NULL OR :include_shared_drives OR :include_organization_domain_documents,
            drive_id = :restrict_to_shared_drive_id
          )
        ORDER BY {{drive_order :sort}}, n
        LIMIT iif(ifnull(:limit, 0) = 0, 100, :limit)
      )
    )
    GROUP BY drive_id
  )
  ORDER BY place
);

-- name: google_drive_empty_trash
SELECT 'Google Drive API Error (404): Shared drive not found: ' || :drive_id AS error
WHERE NOT EXISTS (SELECT 1 FROM drive WHERE id = :drive_id) AND :drive_id IS NOT NULL;
DELETE FROM fts_file WHERE rowid IN (SELECT n FROM file WHERE trashed AND drive_id IS :drive_id);
DELETE FROM file WHERE trashed AND drive_id IS :drive_id;
SELECT '{"success": true, "message": "Trash emptied successfully"}' AS result;

-- name: google_drive_create_shared_drive
SELECT 'The ''' || iif(:name = '', 'name', 'request_id') || ''' argument is required.' AS error
WHERE :name = '' OR :request_id = '';
SELECT 'Google Drive API Error (409): A shared drive already exists with the specified request ID.'
  AS error
WHERE EXISTS (SELECT 1 FROM drive WHERE request_id = :request_id);
INSERT INTO drive VALUES (new_id('drive'), :name, :request_id, now_ms()) RETURNING id;
SELECT json_object('kind', 'drive#drive', 'id', :id, 'name', :name) AS result;

-- name: google_drive_get_document_by_id
SELECT 'The ''document_id'' argument is required.' AS error WHERE :document_id = '';
SELECT n, mime_type FROM file WHERE id = :document_id;
SELECT 'Google Docs API Error (404): Requested entity was not found.' AS error
WHERE :n IS NULL OR :mime_type = 'application/vnd.google-apps.folder';
SELECT 'Google Docs API Error (400): This operation is not supported for this document' AS error
WHERE :mime_type <> 'application/vnd.google-apps.document';
SELECT json_object(
  'title', name,
  'body', iif(:return_format = 'html', html, markdown),
  'documentId', id
) AS result
FROM document
WHERE n = :n;
