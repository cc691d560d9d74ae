-- name: google_docs_get_document_by_id
SELECT 'document_id parameter is required' AS error WHERE :document_id = '';
SELECT id, title, content AS body, revision FROM document WHERE id = :document_id;
SELECT 'Google Docs API Error (404): Requested entity was not found.' AS error WHERE :id IS NULL;
-- A paragraph is a line; empty ones are not shown.
SELECT json_object(
  'documentId', :id,
  'title', :title,
  'revisionId', :revision,
  'content', (
    WITH RECURSIVE line (nth, text, rest) AS (
      SELECT 0, NULL, replace(:body, char(11), char(10)) || char(10)
      UNION ALL
      SELECT
        nth + 1,
        substr(rest, 1, instr(rest, char(10)) - 1),
        substr(rest, instr(rest, char(10)) + 1)
      FROM line
      WHERE rest <> ''
    )
    SELECT json_group_array(json_object('type', 'paragraph', 'text', text))
    FROM (SELECT trim(text, char(32, 9, 12, 13, 160)) AS text FROM line WHERE nth > 0 ORDER BY nth)
    WHERE text <> ''
  ),
  'pageInfo', json_object(
    'width', 612,
    'height', 792,
    'unit', 'PT',
    'margins', json_object('top', 72, 'bottom', 72, 'left', 72, 'right', 72)
  )
) AS result;

-- name: google_docs_get_all_documents
-- A page of the drive, the one that was changed last first.
SELECT json_object('documents', json_group_array(json(item)), 'total_count', count(*)) AS result
FROM (
  SELECT json_object(
    'id', id,
    'name', title,
    'createdAt', created,
    'modifiedAt', modified,
    'url', 'https://docs.google.com/document/d/' || id || '/edit?usp=drivesdk'
  ) AS item
  FROM document
  ORDER BY modified DESC, rank DESC
  LIMIT 100
);

-- name: google_docs_insert_text_at_end
SELECT 'document_id and text parameters are required' AS error
WHERE :document_id = '' OR :text = '';
SELECT id, length(content) AS len FROM document WHERE id = :document_id;
SELECT 'Google Docs API Error (404): Requested entity was not found.' AS error WHERE :id IS NULL;
SELECT 'Google Docs API Error (400): Invalid requests[0].insertText: The document would be larger '
  || 'than the maximum of 1020000 characters.' AS error
WHERE :len + length(:text) > 1020000;
UPDATE document
SET
  content = content || replace(replace(:text, char(13, 10), char(10)), char(13), char(10)),
  modified = now(),
  revision = new_id('revision')
WHERE id = :id;
SELECT json_object('id', :id, 'status', 'success') AS result;

-- name: google_docs_create_blank_document
SELECT 'title parameter is required' AS error WHERE :title = '';
INSERT INTO document
SELECT
  new_id('document'),
  :title,
  '',
  new_id('revision'),
  now(),
  now(),
  (SELECT ifnull(max(rank), 0) + 1 FROM document)
RETURNING id;
SELECT json_object(
  'title', :title,
  'id', :id,
  'url', 'https://docs.google.com/document/d/' || :id || '/edit'
) AS result;

-- name: google_docs_create_document_from_text
SELECT 'title and text_content parameters are required' AS error
WHERE :title = '' OR :text_content = '';
SELECT 'Google Docs API Error (400): Invalid requests[0].insertText: The document would be larger '
  || 'than the maximum of 1020000 characters.' AS error
WHERE length(:text_content) > 1020000;
INSERT INTO document
SELECT
  new_id('document'),
  :title,
  replace(replace(:text_content, char(13, 10), char(10)), char(13), char(10)),
  new_id('revision'),
  now(),
  now(),
  (SELECT ifnull(max(rank), 0) + 1 FROM document)
RETURNING id;
SELECT json_object(
  'title', :title,
  'id', :id,
  'url', 'https://docs.google.com/document/d/' || :id || '/edit'
) AS result;
