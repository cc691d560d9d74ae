-- name: bigquery_run_query
SELECT
  bq_query(:query, :allowed_datasets, max(0, min(:max_results, 100000)), :dry_run) AS answer,
  new_id('job') AS job;
SELECT 'Error executing BigQuery query: ' || (:answer ->> 'code') || ' ' || (:answer ->> 'error')
  || '; reason: ' || (:answer ->> 'reason') || ', '
  || iif(:answer ->> 'reason' = 'invalidQuery', 'location: query, ', '') || 'message: '
  || (:answer ->> 'error') || char(10, 10) || 'Location: US' || char(10) || 'Job ID: ' || :job
  || char(10) AS error
WHERE :answer ->> 'error' IS NOT NULL;
INSERT INTO bq_job
SELECT ifnull(max(n), 0) + 1, :job, 'query', 'DONE', substr(:query, 1, 10000), now()
FROM bq_job
WHERE NOT :dry_run
HAVING NOT :dry_run;
SELECT iif(
  :dry_run,
  'Query validation successful.' || char(10) || 'Estimated bytes processed: '
    || (:answer ->> 'bytes') || char(10) || 'Estimated cost: $'
    || format('%.4f', (:answer ->> 'bytes') * 5.0 / 1099511627776) || ' USD',
  'Query executed successfully.' || char(10) || 'Total rows: '
    || iif(:answer ->> 'kind' IN ('SELECT', 'SCRIPT'), :answer ->> 'total', 0) || ', Returned: '
    || (:answer ->> 'returned') || char(10) || 'Bytes processed: ' || (:answer ->> 'bytes')
    || ', Execution time: ' || rand_int(180, 950) || 'ms' || char(10, 10)
    || iif(
      :answer ->> 'returned' > 0,
      'Sample results (first 5 rows):' || char(10) || (:answer ->> 'rows')
        || iif(
          :answer ->> 'returned' > 5,
          '... and ' || ((:answer ->> 'returned') - 5) || ' more rows',
          ''
        ),
      'No results returned.'
    )
    || iif(
      :answer ->> 'kind' IN ('INSERT', 'UPDATE', 'DELETE', 'MERGE', 'TRUNCATE_TABLE'),
      char(10) || 'Rows affected: ' || (:answer ->> 'total'),
      ''
    )
) AS result;

-- name: bigquery_list_datasets
SELECT 'No datasets found or no access to allowed datasets' AS error
WHERE NOT EXISTS (SELECT 1 FROM bq_dataset WHERE list_allows(:allowed_datasets, id));
SELECT 'Found ' || count(*) || ' datasets:' || char(10)
  || group_concat(
    '- ' || id || ' (Project: ' || (SELECT id FROM project) || ')',
    char(10)
  ) AS result
FROM (SELECT id FROM bq_dataset WHERE list_allows(:allowed_datasets, id) ORDER BY id);

-- name: bigquery_create_dataset
SELECT 'Access denied: Dataset ''' || :dataset_id || ''' is not in allowed '
  || 'datasets list' AS error
WHERE NOT list_allows(:allowed_datasets, :dataset_id);
SELECT 'Error creating BigQuery dataset: 400 POST '
  || 'https://bigquery.googleapis.com/bigquery/v2/projects/' || id
  || '/datasets?prettyPrint=false: Invalid dataset ID "' || :dataset_id
  || '". Dataset IDs must be alphanumeric (plus underscores) and must be at most 1024 '
  || 'characters long.' AS error
FROM project
WHERE :dataset_id = '' OR length(:dataset_id) > 1024 OR :dataset_id GLOB '*[^A-Za-z0-9_]*';
SELECT 'Error creating BigQuery dataset: 409 POST '
  || 'https://bigquery.googleapis.com/bigquery/v2/projects/' || id
  || '/datasets?prettyPrint=false: Already Exists: Dataset ' || id || ':' || :dataset_id AS error
FROM project
WHERE EXISTS (SELECT 1 FROM bq_dataset WHERE id = :dataset_id);
INSERT INTO bq_dataset VALUES (:dataset_id, nullif(:description, ''), :location, now(), now());
SELECT 'Successfully created dataset ''' || :dataset_id || ''' in location ''' || :location
  || '''' AS result;

-- name: bigquery_get_dataset_info
SELECT 'Access denied: Dataset ''' || :dataset_id || ''' is not in allowed '
  || 'datasets list' AS error
WHERE NOT list_allows(:allowed_datasets, :dataset_id);
SELECT 'Error getting dataset info for ''' || :dataset_id || ''': '
  || '404 GET https://bigquery.googleapis.com/bigquery/v2/projects/' || id || '/datasets/'
  || :dataset_id || '?prettyPrint=false: Not found: Dataset ' || id || ':' || :dataset_id AS error
FROM project
WHERE NOT EXISTS (SELECT 1 FROM bq_dataset WHERE id = :dataset_id);
SELECT 'Dataset Information for ''' || d.id || ''':' || char(10) || 'Full Name: ' || p.id || ':'
  || d.id || char(10) || 'Location: ' || d.location || char(10) || 'Description: '
  || ifnull(nullif(d.description, ''), 'No description') || char(10) || 'Created: '
  || replace(replace(d.created_at, '.000Z', 'Z'), 'Z', '+00:00') || char(10) || 'Modified: '
  || replace(replace(ifnull(d.updated_at, d.created_at), '.000Z', 'Z'), 'Z', '+00:00') || char(10)
  || 'Default Table Expiration: None ms' || char(10) || 'Labels: None' AS result
FROM bq_dataset d, project p
WHERE d.id = :dataset_id;

-- name: bigquery_load_csv_data
SELECT 'Access denied: Dataset ''' || :dataset_id || ''' is not in allowed '
  || 'datasets list' AS error
WHERE NOT list_allows(:allowed_datasets, :dataset_id);
SELECT 'Error loading CSV data to BigQuery: ' || ifnull(
  :file ->> 'error',
  '[Errno 2] No such file or directory: ''' || :csv_file_path || ''''
) AS error
WHERE :file ->> 'text' IS NULL;
SELECT 'Error loading CSV data to BigQuery: ' || '400 Value ' || :write_mode
  || ' in field write_disposition is not a valid value' AS error
WHERE :write_mode NOT IN ('WRITE_TRUNCATE', 'WRITE_APPEND', 'WRITE_EMPTY');
SELECT 'Error loading CSV data to BigQuery: '
  || '404 GET https://bigquery.googleapis.com/bigquery/v2/projects/' || id || '/datasets/'
  || :dataset_id || '?prettyPrint=false: Not found: Dataset ' || id || ':' || :dataset_id AS error
FROM project
WHERE NOT EXISTS (SELECT 1 FROM bq_dataset WHERE id = :dataset_id);
SELECT 'Error loading CSV data to BigQuery: ' || '400 Invalid table ID "' || :table_id
  || '".' AS error
WHERE :table_id = '' OR :table_id GLOB '*[^A-Za-z0-9_-]*';
SELECT (SELECT n FROM bq_table WHERE dataset = :dataset_id AND id = :table_id) AS t;
SELECT 'Error loading CSV data to BigQuery: 400 ' || p.id || ':' || dataset || '.' || b.id
  || ' is not allowed for this operation because it is currently a VIEW.; reason: invalid' AS error
FROM bq_table b, project p
WHERE n = :t AND view_query IS NOT NULL;
SELECT (SELECT count(*) FROM bq_row WHERE t = :t) AS n_before;
SELECT 'Error loading CSV data to BigQuery: ' || '409 Already Exists: Table ' || id || ':'
  || :dataset_id || '.' || :table_id AS error
FROM project
WHERE :write_mode = 'WRITE_EMPTY' AND :n_before > 0;
SELECT bq_csv(
  :file ->> 'text',
  :skip_header,
  iif(:write_mode = 'WRITE_APPEND' AND json_array_length(fields) > 0, fields, NULL)
) AS csv
FROM (SELECT (SELECT fields FROM bq_table WHERE n = :t) AS fields);
SELECT 'Error loading CSV data to BigQuery: ' || '400 ' || (:csv ->> 'error')
  || '; reason: invalid' AS error
WHERE :csv ->> 'error' IS NOT NULL;
DELETE FROM bq_row WHERE t = :t AND :write_mode = 'WRITE_TRUNCATE';
INSERT INTO bq_table (n, dataset, id, fields, created_at)
SELECT ifnull(max(n), 0) + 1, :dataset_id, :table_id, '[]', now()
FROM bq_table
HAVING :t IS NULL;
SELECT (SELECT n FROM bq_table WHERE dataset = :dataset_id AND id = :table_id) AS t;
UPDATE bq_table SET fields = ifnull(:csv -> 'fields', fields), row_count = NULL WHERE n = :t;
INSERT INTO bq_row
SELECT :t, (SELECT ifnull(max(n), 0) FROM bq_row WHERE t = :t) + key + 1, value
FROM json_each(:csv, '$.rows');
INSERT INTO bq_job
SELECT ifnull(max(n), 0) + 1, new_id('job'), 'load', 'DONE', NULL, now()
FROM bq_job;
SELECT 'Successfully loaded CSV data from ''' || :csv_file_path || ''' to table ''' || :dataset_id
  || '.' || :table_id || '''' AS result;

-- name: bigquery_export_table
SELECT 'Access denied: Dataset ''' || :dataset_id || ''' is not in allowed '
  || 'datasets list' AS error
WHERE NOT list_allows(:allowed_datasets, :dataset_id);
SELECT 'Access denied: Bucket ''' || :destination_bucket || ''' is not in allowed '
  || 'buckets list' AS error
WHERE NOT list_allows(:allowed_buckets, :destination_bucket);
SELECT 'Export format ''' || :file_format
  || ''' not yet supported. Currently only CSV is supported.' AS error
WHERE upper(:file_format) <> 'CSV';
SELECT (SELECT n FROM bq_table WHERE dataset = :dataset_id AND id = :table_id) AS t;
SELECT 'Error exporting BigQuery table: ' || '404 Not found: Table ' || id || ':' || :dataset_id
  || '.' || :table_id || '; reason: notFound, message: Not found: Table ' || id || ':'
  || :dataset_id || '.' || :table_id AS error
FROM project
WHERE :t IS NULL;
SELECT 'Error exporting BigQuery table: 400 Using table ' || p.id || ':' || dataset || '.' || b.id
  || ' is not allowed for this operation because of its type. Try using a different table '
  || 'that is of type TABLE.; reason: invalid' AS error
FROM bq_table b, project p
WHERE n = :t AND view_query IS NOT NULL;
SELECT 'Error exporting BigQuery table: ' || '404 Not found: URI gs://' || :destination_bucket
  || '/' || :destination_path || '; reason: notFound, message: Not found: URI gs://'
  || :destination_bucket || '/' || :destination_path AS error
WHERE NOT EXISTS (SELECT 1 FROM bucket WHERE name = :destination_bucket);
SELECT csv_line((SELECT json_group_array(value ->> 'name') FROM json_each(fields)), NULL)
  || ifnull((
    SELECT group_concat(csv_line(d, f.fields), '')
    FROM (SELECT d FROM bq_row WHERE t = :t ORDER BY n)
  ), '') AS csv
FROM bq_table f
WHERE n = :t;
INSERT INTO object_version
SELECT
  o.bucket,
  o.name,
  1 + ifnull((
    SELECT max(generation) FROM object_version v WHERE v.bucket = o.bucket AND v.name = o.name
  ), 0),
  o.content_type,
  o.size,
  o.content,
  o.encoding,
  o.created_at
FROM object o
JOIN bucket b ON b.name = o.bucket
WHERE b.versioning AND o.bucket = :destination_bucket AND o.name = :destination_path;
INSERT OR REPLACE INTO object VALUES (
  :destination_bucket,
  :destination_path,
  'text/csv',
  length(CAST(:csv AS BLOB)),
  :csv,
  NULL,
  NULL,
  now(),
  now()
);
INSERT INTO bq_job
SELECT ifnull(max(n), 0) + 1, new_id('job'), 'extract', 'DONE', NULL, now()
FROM bq_job;
SELECT 'Successfully exported table ''' || :dataset_id || '.' || :table_id || ''' to ''gs://'
  || :destination_bucket || '/' || :destination_path || '''' AS result;

-- name: bigquery_list_jobs
SELECT 'Error listing BigQuery jobs: 400 Invalid value ''' || :state_filter
  || ''' for stateFilter' AS error
WHERE lower(:state_filter) NOT IN ('', 'running', 'done', 'pending');
SELECT 'No BigQuery jobs found' AS error
WHERE NOT EXISTS (
  SELECT 1 FROM bq_job WHERE :max_results > 0 AND upper(:state_filter) IN ('', state)
);
SELECT 'Found ' || count(*) || ' BigQuery jobs:' || char(10)
  || group_concat(
    iif(
      place <= 10,
      '- ' || id || ': ' || state || ' (' || type || ')' || char(10) || '  Created: '
        || replace(replace(created_at, '.000Z', 'Z'), 'Z', '+00:00') || char(10),
      ''
    ),
    ''
  ) || iif(count(*) > 10, '... and ' || (count(*) - 10) || ' more jobs', '') AS result
FROM (
  SELECT *, row_number() OVER (ORDER BY n DESC) AS place
  FROM bq_job
  WHERE upper(:state_filter) IN ('', state)
  ORDER BY n DESC
  LIMIT max(0, min(:max_results, 1000))
);

-- name: bigquery_cancel_job
SELECT 'Error cancelling BigQuery job ''' || :job_id
  || ''': 404 GET https://bigquery.googleapis.com/bigquery/v2/projects/' || id || '/jobs/'
  || :job_id || '?projection=full&prettyPrint=false: Not found: Job ' || id || ':US.'
  || :job_id AS error
FROM project
WHERE NOT EXISTS (SELECT 1 FROM bq_job WHERE bq_job.id = :job_id);
UPDATE bq_job SET state = 'DONE' WHERE id = :job_id;
SELECT 'Successfully cancelled BigQuery job ''' || :job_id || '''' AS result;

-- name: storage_list_buckets
SELECT 'Found ' || count(*) || ' buckets:' || char(10)
  || ifnull(group_concat('- ' || name || ': ' || location, char(10)), '') AS result
FROM (SELECT name, location FROM bucket WHERE list_allows(:allowed_buckets, name) ORDER BY name);

-- name: storage_create_bucket
SELECT 'Access denied: Bucket ''' || :bucket_name || ''' is not in allowed '
  || 'buckets list' AS error
WHERE NOT list_allows(:allowed_buckets, :bucket_name);
SELECT 'Error creating Cloud Storage bucket: 400 POST '
  || 'https://storage.googleapis.com/storage/v1/b?project=' || id
  || '&prettyPrint=false: Invalid bucket name: ''' || :bucket_name || '''' AS error
FROM project
WHERE length(:bucket_name) NOT BETWEEN 3 AND 63
  OR :bucket_name GLOB '*[^a-z0-9._-]*'
  OR NOT :bucket_name GLOB '[a-z0-9]*[a-z0-9]'
  OR :bucket_name LIKE 'goog%';
SELECT 'Error creating Cloud Storage bucket: 409 POST '
  || 'https://storage.googleapis.com/storage/v1/b?project=' || id
  || '&prettyPrint=false: Your previous request to create the named bucket succeeded and you '
  || 'already own it.' AS error
FROM project
WHERE EXISTS (SELECT 1 FROM bucket WHERE name = :bucket_name);
INSERT INTO bucket VALUES (:bucket_name, upper(:location), 'STANDARD', 0, NULL, now(), now());
SELECT 'Successfully created bucket ''' || :bucket_name || ''' in location ''' || :location
  || '''' AS result;

-- name: storage_list_objects
SELECT 'Access denied: Bucket ''' || :bucket_name || ''' is not in allowed '
  || 'buckets list' AS error
WHERE NOT list_allows(:allowed_buckets, :bucket_name);
SELECT 'Error listing objects in bucket ''' || :bucket_name || ''': '
  || '404 GET https://storage.googleapis.com/storage/v1/b/' || :bucket_name
  || '/o?projection=noAcl&prefix=' || :prefix || '&prettyPrint=false'
  || ': The specified bucket does not exist.' AS error
WHERE NOT EXISTS (SELECT 1 FROM bucket WHERE name = :bucket_name);
SELECT 'Found ' || count(*) || ' objects in bucket ''' || :bucket_name || ''':' || char(10)
  || ifnull((
    SELECT group_concat('- ' || name || ': ' || size || ' bytes', char(10))
    FROM (
      SELECT name, size
      FROM object
      WHERE bucket = :bucket_name AND substr(name, 1, length(:prefix)) = :prefix
      ORDER BY name
      LIMIT 20
    )
  ), '') || iif(count(*) > 20, '...', '') AS result
FROM object
WHERE bucket = :bucket_name AND substr(name, 1, length(:prefix)) = :prefix;

-- name: storage_upload_file
SELECT 'Access denied: Bucket ''' || :bucket_name || ''' is not in allowed '
  || 'buckets list' AS error
WHERE NOT list_allows(:allowed_buckets, :bucket_name);
SELECT 'Error uploading file to bucket ''' || :bucket_name || ''': '
  || ifnull(
    :file ->> 'error',
    '[Errno 2] No such file or directory: ''' || :source_file_path || ''''
  ) AS error
WHERE :file ->> 'text' IS NULL AND :file ->> 'base64' IS NULL;
SELECT 'Error uploading file to bucket ''' || :bucket_name
  || ''': 404 POST https://storage.googleapis.com/upload/storage/v1/b/' || :bucket_name
  || '/o?uploadType=multipart: The specified bucket does not exist.' AS error
WHERE NOT EXISTS (SELECT 1 FROM bucket WHERE name = :bucket_name);
SELECT 'Error uploading file to bucket ''' || :bucket_name
  || ''': 400 POST https://storage.googleapis.com/upload/storage/v1/b/' || :bucket_name
  || '/o?uploadType=multipart: Required parameter: name' AS error
WHERE :destination_blob_name = '' OR length(:destination_blob_name) > 1024;
SELECT (
  SELECT created_at FROM object WHERE bucket = :bucket_name AND name = :destination_blob_name
) AS created;
INSERT INTO object_version
SELECT
  o.bucket,
  o.name,
  1 + ifnull((
    SELECT max(generation) FROM object_version v WHERE v.bucket = o.bucket AND v.name = o.name
  ), 0),
  o.content_type,
  o.size,
  o.content,
  o.encoding,
  o.created_at
FROM object o
JOIN bucket b ON b.name = o.bucket
WHERE b.versioning AND o.bucket = :bucket_name AND o.name = :destination_blob_name;
INSERT OR REPLACE INTO object VALUES (
  :bucket_name,
  :destination_blob_name,
  mime_of(:source_file_path),
  :file ->> 'size',
  coalesce(:file ->> 'text', :file ->> 'base64'),
  iif(:file ->> 'text' IS NULL, 'base64', NULL),
  NULL,
  ifnull(:created, now()),
  now()
);
SELECT 'Successfully uploaded ''' || :source_file_path || ''' to ''' || :bucket_name || '/'
  || :destination_blob_name || '''' AS result;

-- name: storage_download_file
SELECT 'Access denied: Bucket ''' || :bucket_name || ''' is not in allowed '
  || 'buckets list' AS error
WHERE NOT list_allows(:allowed_buckets, :bucket_name);
SELECT 'Error downloading file from bucket ''' || :bucket_name || ''': '
  || '404 GET https://storage.googleapis.com/download/storage/v1/b/' || :bucket_name || '/o/'
  || replace(:source_blob_name, '/', '%2F') || '?alt=media: No such object: ' || :bucket_name || '/'
  || :source_blob_name || ': (''Request failed with status code'', '
  || '404, ''Expected one of'', <HTTPStatus.OK: 200>, <HTTPStatus.PARTIAL_CONTENT: 206>)' AS error
WHERE NOT EXISTS (SELECT 1 FROM object WHERE bucket = :bucket_name AND name = :source_blob_name);
SELECT json_array(
  json_object(
    'type', 'text',
    'text', 'Successfully downloaded ''' || :bucket_name || '/' || :source_blob_name || ''' to '''
      || :destination_file_path || ''''
  ),
  json_object(
    'type', 'file',
    'path', :destination_file_path,
    iif(encoding IS 'base64', 'base64', 'text'), ifnull(content, ''),
    'failure', 'Error downloading file from bucket ''' || :bucket_name || ''': '
  )
) AS content
FROM object
WHERE bucket = :bucket_name AND name = :source_blob_name;

-- name: storage_delete_object
SELECT 'Access denied: Bucket ''' || :bucket_name || ''' is not in allowed '
  || 'buckets list' AS error
WHERE NOT list_allows(:allowed_buckets, :bucket_name);
SELECT 'Error deleting object from bucket ''' || :bucket_name || ''': '
  || '404 GET https://storage.googleapis.com/storage/v1/b/' || :bucket_name
  || '?projection=noAcl&prettyPrint=false' || ': The specified bucket does not exist.' AS error
WHERE NOT EXISTS (SELECT 1 FROM bucket WHERE name = :bucket_name);
SELECT 'Object ''' || :blob_name || ''' not found in bucket ''' || :bucket_name || '''' AS error
WHERE NOT EXISTS (SELECT 1 FROM object WHERE bucket = :bucket_name AND name = :blob_name);
INSERT INTO object_version
SELECT
  o.bucket,
  o.name,
  1 + ifnull((
    SELECT max(generation) FROM object_version v WHERE v.bucket = o.bucket AND v.name = o.name
  ), 0),
  o.content_type,
  o.size,
  o.content,
  o.encoding,
  o.created_at
FROM object o
JOIN bucket b ON b.name = o.bucket
WHERE b.versioning AND o.bucket = :bucket_name AND o.name = :blob_name;
DELETE FROM object WHERE bucket = :bucket_name AND name = :blob_name;
SELECT 'Successfully deleted ''' || :blob_name || ''' from bucket ''' || :bucket_name
  || '''' AS result;

-- name: storage_get_bucket_info
SELECT 'Access denied: Bucket ''' || :bucket_name || ''' is not in allowed '
  || 'buckets list' AS error
WHERE NOT list_allows(:allowed_buckets, :bucket_name);
SELECT 'Error getting bucket info for ''' || :bucket_name || ''': '
  || '404 GET https://storage.googleapis.com/storage/v1/b/' || :bucket_name
  || '?projection=noAcl&prettyPrint=false' || ': The specified bucket does not exist.' AS error
WHERE NOT EXISTS (SELECT 1 FROM bucket WHERE name = :bucket_name);
SELECT 'Bucket Information for ''' || name || ''':' || char(10) || 'Location: ' || location
  || char(10) || 'Storage Class: ' || storage_class || char(10) || 'Created: '
  || replace(replace(created_at, '.000Z', 'Z'), 'Z', '+00:00') || char(10) || 'Versioning: '
  || iif(versioning, 'Enabled', 'Disabled') || char(10) || 'Labels: {}' || char(10)
  || 'Lifecycle Rules: ' || ifnull(json_array_length(lifecycle), 0) AS result
FROM bucket
WHERE name = :bucket_name;

-- name: storage_generate_signed_url
SELECT 'Access denied: Bucket ''' || :bucket_name || ''' is not in allowed '
  || 'buckets list' AS error
WHERE NOT list_allows(:allowed_buckets, :bucket_name);
SELECT 'Error generating signed URL for ''' || :bucket_name || '/' || :blob_name
  || ''': Max allowed expiration interval is seven days 604800' AS error
WHERE :expiration_minutes > 10080;
SELECT 'Error generating signed URL for ''' || :bucket_name || '/' || :blob_name
  || ''': Expiration has to be in the future and the method one of GET, PUT, POST, DELETE' AS error
WHERE :expiration_minutes <= 0 OR upper(:method) NOT IN ('GET', 'PUT', 'POST', 'DELETE', 'HEAD');
SELECT
  strftime('%Y%m%dT%H%M%SZ', now_ms() / 1000, 'unixepoch') AS time,
  lower(hex(:bucket_name || '/' || :blob_name || now() || :method)) AS seed;
SELECT 'Signed URL for ''' || :bucket_name || '/' || :blob_name || ''' (expires in '
  || :expiration_minutes || ' minutes):' || char(10) || 'https://storage.googleapis.com/'
  || :bucket_name || '/' || replace(replace(:blob_name, '%', '%25'), ' ', '%20')
  || '?X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Credential=' || replace(account, '@', '%40')
  || '%2F' || substr(:time, 1, 8) || '%2Fauto%2Fstorage%2Fgoog4_request&X-Goog-Date=' || :time
  || '&X-Goog-Expires=' || (:expiration_minutes * 60)
  || '&X-Goog-SignedHeaders=host&X-Goog-Signature='
  || substr(bq_repeat(:seed, 1 + 512 / length(:seed)), 1, 512) AS result
FROM project;

-- name: storage_copy_object
SELECT 'Access denied: Source bucket ''' || :source_bucket || ''' is not in allowed '
  || 'buckets list' AS error
WHERE NOT list_allows(:allowed_buckets, :source_bucket);
SELECT 'Access denied: Destination bucket ''' || :dest_bucket || ''' is not in allowed '
  || 'buckets list' AS error
WHERE NOT list_allows(:allowed_buckets, :dest_bucket);
SELECT 'Error copying object: 404 POST https://storage.googleapis.com/storage/v1/b/'
  || :source_bucket || '/o/' || replace(:source_blob, '/', '%2F') || '/copyTo/b/' || :dest_bucket
  || '/o/' || replace(:dest_blob, '/', '%2F') || '?prettyPrint=false: '
  || iif(
    EXISTS (SELECT 1 FROM bucket WHERE name = :source_bucket)
      AND EXISTS (SELECT 1 FROM bucket WHERE name = :dest_bucket),
    'No such object: ' || :source_bucket || '/' || :source_blob,
    'The specified bucket does not exist.'
  ) AS error
WHERE NOT EXISTS (SELECT 1 FROM object WHERE bucket = :source_bucket AND name = :source_blob)
  OR NOT EXISTS (SELECT 1 FROM bucket WHERE name = :dest_bucket)
  OR :dest_blob = '';
INSERT INTO object_version
SELECT
  o.bucket,
  o.name,
  1 + ifnull((
    SELECT max(generation) FROM object_version v WHERE v.bucket = o.bucket AND v.name = o.name
  ), 0),
  o.content_type,
  o.size,
  o.content,
  o.encoding,
  o.created_at
FROM object o
JOIN bucket b ON b.name = o.bucket
WHERE b.versioning AND o.bucket = :dest_bucket AND o.name = :dest_blob;
INSERT OR REPLACE INTO object
SELECT :dest_bucket, :dest_blob, content_type, size, content, encoding, md5_hash, now(), now()
FROM object
WHERE bucket = :source_bucket AND name = :source_blob;
SELECT 'Successfully copied ''' || :source_bucket || '/' || :source_blob || ''' to '''
  || :dest_bucket || '/' || :dest_blob || '''' AS result;

-- name: storage_move_object
SELECT 'Access denied: Source bucket ''' || :source_bucket || ''' is not in allowed '
  || 'buckets list' AS error
WHERE NOT list_allows(:allowed_buckets, :source_bucket);
SELECT 'Access denied: Destination bucket ''' || :dest_bucket || ''' is not in allowed '
  || 'buckets list' AS error
WHERE NOT list_allows(:allowed_buckets, :dest_bucket);
SELECT 'Error moving object: 404 POST https://storage.googleapis.com/storage/v1/b/'
  || :source_bucket || '/o/' || replace(:source_blob, '/', '%2F') || '/copyTo/b/' || :dest_bucket
  || '/o/' || replace(:dest_blob, '/', '%2F') || '?prettyPrint=false: '
  || iif(
    EXISTS (SELECT 1 FROM bucket WHERE name = :source_bucket)
      AND EXISTS (SELECT 1 FROM bucket WHERE name = :dest_bucket),
    'No such object: ' || :source_bucket || '/' || :source_blob,
    'The specified bucket does not exist.'
  ) AS error
WHERE NOT EXISTS (SELECT 1 FROM object WHERE bucket = :source_bucket AND name = :source_blob)
  OR NOT EXISTS (SELECT 1 FROM bucket WHERE name = :dest_bucket)
  OR :dest_blob = '';
INSERT INTO object_version
SELECT
  o.bucket,
  o.name,
  1 + ifnull((
    SELECT max(generation) FROM object_version v WHERE v.bucket = o.bucket AND v.name = o.name
  ), 0),
  o.content_type,
  o.size,
  o.content,
  o.encoding,
  o.created_at
FROM object o
JOIN bucket b ON b.name = o.bucket
WHERE b.versioning AND o.bucket = :dest_bucket AND o.name = :dest_blob;
INSERT OR REPLACE INTO object
SELECT :dest_bucket, :dest_blob, content_type, size, content, encoding, md5_hash, now(), now()
FROM object
WHERE bucket = :source_bucket AND name = :source_blob;
INSERT INTO object_version
SELECT
  o.bucket,
  o.name,
  1 + ifnull((
    SELECT max(generation) FROM object_version v WHERE v.bucket = o.bucket AND v.name = o.name
  ), 0),
  o.content_type,
  o.size,
  o.content,
  o.encoding,
  o.created_at
FROM object o
JOIN bucket b ON b.name = o.bucket
WHERE b.versioning AND o.bucket = :source_bucket AND o.name = :source_blob;
DELETE FROM object
WHERE bucket = :source_bucket
  AND name = :source_blob
  AND (:source_bucket, :source_blob) <> (:dest_bucket, :dest_blob);
SELECT 'Successfully moved ''' || :source_bucket || '/' || :source_blob || ''' to '''
  || :dest_bucket || '/' || :dest_blob || '''' AS result;

-- name: storage_enable_versioning
SELECT 'Access denied: Bucket ''' || :bucket_name || ''' is not in allowed '
  || 'buckets list' AS error
WHERE NOT list_allows(:allowed_buckets, :bucket_name);
SELECT 'Error updating versioning for bucket ''' || :bucket_name || ''': '
  || '404 GET https://storage.googleapis.com/storage/v1/b/' || :bucket_name
  || '?projection=noAcl&prettyPrint=false' || ': The specified bucket does not exist.' AS error
WHERE NOT EXISTS (SELECT 1 FROM bucket WHERE name = :bucket_name);
UPDATE bucket SET versioning = :enabled, updated_at = now() WHERE name = :bucket_name;
SELECT 'Successfully ' || iif(:enabled, 'enabled', 'disabled') || ' versioning for bucket '''
  || :bucket_name || '''' AS result;

-- name: storage_get_bucket_size
SELECT 'Access denied: Bucket ''' || :bucket_name || ''' is not in allowed '
  || 'buckets list' AS error
WHERE NOT list_allows(:allowed_buckets, :bucket_name);
SELECT 'Error getting bucket size for ''' || :bucket_name || ''': '
  || '404 GET https://storage.googleapis.com/storage/v1/b/' || :bucket_name
  || '?projection=noAcl&prettyPrint=false' || ': The specified bucket does not exist.' AS error
WHERE NOT EXISTS (SELECT 1 FROM bucket WHERE name = :bucket_name);
SELECT 'Bucket Size Statistics for ''' || :bucket_name || ''':' || char(10) || 'Total Objects: '
  || count(*) || char(10) || 'Total Size: ' || ifnull(sum(size), 0) || ' bytes' || char(10)
  || 'Size (MB): ' || format('%.2f', ifnull(sum(size), 0) / 1048576.0) || ' MB' || char(10)
  || 'Size (GB): ' || format('%.2f', ifnull(sum(size), 0) / 1073741824.0) || ' GB' AS result
FROM object
WHERE bucket = :bucket_name;

-- name: storage_set_bucket_lifecycle
SELECT 'Access denied: Bucket ''' || :bucket_name || ''' is not in allowed '
  || 'buckets list' AS error
WHERE NOT list_allows(:allowed_buckets, :bucket_name);
SELECT 'Error setting lifecycle rules for bucket ''' || :bucket_name || ''': '
  || '404 GET https://storage.googleapis.com/storage/v1/b/' || :bucket_name
  || '?projection=noAcl&prettyPrint=false' || ': The specified bucket does not exist.' AS error
WHERE NOT EXISTS (SELECT 1 FROM bucket WHERE name = :bucket_name);
SELECT 'Error setting lifecycle rules for bucket ''' || :bucket_name || ''': Unsupported action: '
  || :action AS error
WHERE :action NOT IN ('Delete', 'SetStorageClass') OR :age_days < 0;
UPDATE bucket
SET
  lifecycle = json_array(drop_nulls(json_object(
    'action', :action,
    'action_storage_class', iif(:action = 'SetStorageClass', 'NEARLINE', NULL),
    'age_days', :age_days
  ))),
  updated_at = now()
WHERE name = :bucket_name;
SELECT 'Successfully set lifecycle rule for bucket ''' || :bucket_name || ''': ' || :action
  || ' objects after ' || :age_days || ' days' AS result;

-- name: logging_write_log
SELECT 'Access denied: Log ''' || :log_name || ''' is not in allowed '
  || 'log buckets list' AS error
WHERE NOT list_allows(:allowed_log_buckets, :log_name);
SELECT json_extract(
  '{"DEFAULT":0,"DEBUG":100,"INFO":200,"NOTICE":300,"WARNING":400,'
    || '"WARN":400,"ERROR":500,"CRITICAL":600,"ALERT":700,"EMERGENCY":800}',
  '$.' || upper(:severity)
) AS level;
SELECT 'Error writing log: 400 Invalid value at ''entries[0].severity'' '
  || '(type.googleapis.com/google.logging.type.LogSeverity), "' || :severity || '"' AS error
WHERE :level IS NULL;
SELECT 'Error writing log: 400 Log name contains illegal characters or is empty' AS error
WHERE :log_name = '' OR :log_name GLOB '*[^A-Za-z0-9_./%-]*';
INSERT INTO log_entry
SELECT
  ifnull(max(n), 0) + 1,
  :log_name,
  upper(:severity),
  :level,
  now(),
  :message,
  NULL,
  'global',
  NULL,
  new_id('insert')
FROM log_entry;
SELECT 'Successfully wrote log entry to ''' || :log_name || ''' with severity ''' || :severity
  || '''' AS result;

-- name: logging_read_logs
SELECT json_group_array(json_array(timestamp, severity, message, json)) AS found
FROM (
  SELECT e.*
  FROM log_entry e
  WHERE {{logging :log_filter}} AND list_allows(:allowed_log_buckets, e.log_name)
  ORDER BY bq_cast('TIMESTAMP', e.timestamp, 'STRING', 1) DESC, e.n DESC
  LIMIT max(0, min(:max_entries, 1000))
);
SELECT 'No log entries found matching the filter criteria' AS error
WHERE json_array_length(:found) = 0;
SELECT 'Found ' || count(*) || ' log entries:' || char(10)
  || group_concat(
    iif(
      key < 10,
      '[' || replace(replace((value ->> 0), '.000Z', 'Z'), 'Z', '+00:00') || '] ' || (value ->> 1)
        || ': ' || coalesce(value ->> 2, py_repr(value ->> 3), 'No message') || char(10),
      ''
    ),
    ''
  ) || iif(count(*) > 10, '... and ' || (count(*) - 10) || ' more entries', '') AS result
FROM json_each(:found);

-- name: logging_list_logs
SELECT 'No logs found' AS error
WHERE ifnull(:allowed_log_buckets, '') = '' AND NOT EXISTS (SELECT 1 FROM log_entry);
SELECT 'No accessible log buckets found. Allowed buckets: ' || :allowed_log_buckets AS error
WHERE ifnull(:allowed_log_buckets, '') <> ''
  AND NOT EXISTS (SELECT 1 FROM log_bucket WHERE list_allows(:allowed_log_buckets, name));
SELECT ifnull(
  (
    SELECT '  Recent log names (last 7 days):' || char(10)
      || group_concat('    - ' || log_name || char(10), '')
    FROM (SELECT DISTINCT log_name FROM log_entry ORDER BY log_name LIMIT 10)
    HAVING count(*) > 0
  ),
  '  No recent log entries found' || char(10)
) AS recent;
SELECT iif(
  ifnull(:allowed_log_buckets, '') = '',
  (
    SELECT 'Found ' || count(DISTINCT log_name) || ' logs:' || char(10)
      || (
        SELECT group_concat(
          '- projects/' || p.id || '/logs/' || replace(log_name, '/', '%2F'),
          char(10)
        )
        FROM (SELECT DISTINCT log_name FROM log_entry ORDER BY log_name LIMIT 20), project p
      ) || iif(count(DISTINCT log_name) > 20, '...', '')
    FROM log_entry
  ),
  (
    SELECT 'Access restricted to ' || count(*) || ' log bucket(s):' || char(10, 10)
      || group_concat(
        'Log Bucket: ' || name || char(10) || '  Full path: projects/' || (SELECT id FROM project)
          || '/locations/' || location || '/buckets/' || name || char(10) || '  Retention: '
          || retention_days || ' days' || char(10)
          || ifnull(
            (
              SELECT '  Routed logs (via sinks):' || char(10)
                || group_concat(
                  '    - Sink: ' || s.name || char(10) || '      Filter: '
                    || ifnull(s.filter, 'All logs') || char(10),
                  ''
                )
              FROM log_sink s
              WHERE instr(s.destination, b.name)
              HAVING count(*) > 0
            ),
            '  No explicit routing rules found (may use default routing)' || char(10)
          ) || :recent || char(10),
        ''
      )
    FROM (SELECT * FROM log_bucket WHERE list_allows(:allowed_log_buckets, name) ORDER BY name) b
  )
) AS result;

-- name: logging_delete_log
SELECT 'Access denied: Log ''' || :log_name || ''' is not in allowed '
  || 'log buckets list' AS error
WHERE NOT list_allows(:allowed_log_buckets, :log_name);
SELECT 'Log ''' || :log_name || ''' not found or could not be deleted' AS error
WHERE NOT EXISTS (SELECT 1 FROM log_entry WHERE log_name = :log_name);
DELETE FROM log_entry WHERE log_name = :log_name;
SELECT 'Successfully deleted log ''' || :log_name || '''' AS result;

-- name: logging_create_log_sink
SELECT 'Error creating log sink ''' || :sink_name || ''': 400 Invalid sink name' AS error
WHERE :sink_name = '' OR :sink_name GLOB '*[^A-Za-z0-9_.-]*' OR length(:sink_name) > 100;
SELECT 'Error creating log sink ''' || :sink_name || ''': 400 Invalid destination: '
  || :destination AS error
WHERE :destination = '';
SELECT 'Error creating log sink ''' || :sink_name || ''': 409 Sink ' || :sink_name
  || ' already exists' AS error
WHERE EXISTS (SELECT 1 FROM log_sink WHERE name = :sink_name);
SELECT count(*) AS n_found FROM log_entry e WHERE {{logging :log_filter}};
INSERT INTO log_sink (name, destination, filter, created_at, updated_at) VALUES (
  :sink_name,
  :destination,
  nullif(:log_filter, ''),
  now(),
  now()
);
SELECT 'Successfully created log sink ''' || :sink_name || ''' to destination ''' || :destination
  || '''' AS result;

-- name: logging_list_log_sinks
SELECT 'Found ' || count(*) || ' log sinks:' || char(10)
  || group_concat(
    '- ' || name || char(10) || '  Destination: ' || destination || char(10) || '  Filter: '
      || ifnull(filter, 'None') || char(10),
    ''
  ) AS result
FROM (SELECT * FROM log_sink ORDER BY is_fixed DESC, name);

-- name: logging_delete_log_sink
SELECT 'Log sink ''' || :sink_name || ''' not found or could not be deleted' AS error
WHERE NOT EXISTS (SELECT 1 FROM log_sink WHERE name = :sink_name AND name <> '_Required');
DELETE FROM log_sink WHERE name = :sink_name;
SELECT 'Successfully deleted log sink ''' || :sink_name || '''' AS result;

-- name: logging_export_logs_to_bigquery
SELECT 'Access denied: Dataset ''' || :dataset_id || ''' is not in allowed '
  || 'datasets list' AS error
WHERE NOT list_allows(:allowed_datasets, :dataset_id);
SELECT 'Error exporting logs to BigQuery: '
  || '404 GET https://bigquery.googleapis.com/bigquery/v2/projects/' || id || '/datasets/'
  || :dataset_id || '?prettyPrint=false: Not found: Dataset ' || id || ':' || :dataset_id AS error
FROM project
WHERE NOT EXISTS (SELECT 1 FROM bq_dataset WHERE id = :dataset_id);
SELECT 'Error exporting logs to BigQuery: 400 Invalid table ID "' || :table_id || '".' AS error
WHERE :table_id = '' OR :table_id GLOB '*[^A-Za-z0-9_-]*' OR :days_back < 0;
SELECT '[{"name":"timestamp","type":"TIMESTAMP","mode":"NULLABLE"},'
  || '{"name":"severity","type":"STRING","mode":"NULLABLE"},'
  || '{"name":"log_name","type":"STRING","mode":"NULLABLE"},'
  || '{"name":"message","type":"STRING","mode":"NULLABLE"},'
  || '{"name":"json_payload","type":"STRING","mode":"NULLABLE"},'
  || '{"name":"resource_type","type":"STRING","mode":"NULLABLE"}]' AS fields;
SELECT 'Error exporting logs to BigQuery: 400 Provided Schema does not match Table ' || id || ':'
  || :dataset_id || '.' || :table_id AS error
FROM project
WHERE EXISTS (
  SELECT 1
  FROM bq_table
  WHERE dataset = :dataset_id AND bq_table.id = :table_id AND view_query IS NOT NULL
    OR dataset = :dataset_id
      AND bq_table.id = :table_id
      AND (SELECT group_concat(value ->> 'name') FROM json_each(fields)) <> (
        SELECT group_concat(value ->> 'name') FROM json_each(:fields)
      )
);
INSERT INTO bq_table (n, dataset, id, fields, created_at)
SELECT ifnull(max(n), 0) + 1, :dataset_id, :table_id, :fields, now()
FROM bq_table
HAVING NOT EXISTS (SELECT 1 FROM bq_table WHERE dataset = :dataset_id AND id = :table_id);
SELECT n AS t FROM bq_table WHERE dataset = :dataset_id AND id = :table_id;
SELECT strftime(
  '%Y-%m-%dT%H:%M:%SZ',
  now_ms() / 1000 - 86400 * min(:days_back, 100000),
  'unixepoch'
) AS since;
INSERT INTO bq_row
SELECT
  :t,
  (SELECT ifnull(max(n), 0) FROM bq_row WHERE t = :t) + row_number() OVER (ORDER BY e.n),
  json_array(
    bq_cast('TIMESTAMP', e.timestamp, 'STRING', 1),
    e.severity,
    e.log_name,
    e.message,
    e.json,
    e.resource_type
  )
FROM log_entry e
WHERE bq_cast('TIMESTAMP', e.timestamp, 'STRING', 1) >= bq_cast('TIMESTAMP', :since, 'STRING', 1)
  AND {{logging :log_filter}}
  AND list_allows(:allowed_log_buckets, e.log_name);
SELECT 'Successfully exported logs to BigQuery table ''' || :dataset_id || '.' || :table_id
  || '''' AS result;

-- name: logging_create_log_bucket
SELECT 'Access denied: Log bucket ''' || :bucket_id || ''' is not in allowed '
  || 'log buckets list' AS error
WHERE NOT list_allows(:allowed_log_buckets, :bucket_id);
SELECT 'Error creating log bucket ''' || :bucket_id
  || ''': 400 The bucket ID must be less than 100 '
  || 'characters and may only include letters, digits, underscores, hyphens and periods.' AS error
WHERE :bucket_id = '' OR length(:bucket_id) > 99 OR :bucket_id GLOB '*[^A-Za-z0-9_.-]*';
SELECT 'Error creating log bucket ''' || :bucket_id || ''': 400 Retention must be between 1 and '
  || '3650 days.' AS error
WHERE :retention_days NOT BETWEEN 1 AND 3650;
SELECT 'Error creating log bucket ''' || :bucket_id || ''': 409 Bucket ' || :bucket_id
  || ' already exists' AS error
WHERE EXISTS (SELECT 1 FROM log_bucket WHERE name = :bucket_id);
INSERT INTO log_bucket (name, location, retention_days, created_at, updated_at) VALUES (
  :bucket_id,
  :location,
  :retention_days,
  now(),
  now()
);
SELECT 'Successfully created log bucket ''' || :bucket_id || ''' with ' || :retention_days
  || ' days retention' AS result;

-- name: compute_list_instances
SELECT 'Error listing Compute Engine instances: 400 Invalid value for field ''zone'': ''' || :zone
  || '''. Unknown zone.' AS error
WHERE :zone <> ''
  AND NOT EXISTS (SELECT 1 FROM zone WHERE name = :zone)
  AND NOT EXISTS (SELECT 1 FROM instance WHERE zone = :zone);
SELECT 'Found ' || count(*) || ' instances:' || char(10)
  || ifnull(group_concat('- ' || name || ': ' || status || ' in ' || zone, char(10)), '') AS result
FROM (
  SELECT *
  FROM instance
  WHERE :zone IN ('', zone) AND list_allows(:allowed_instances, name)
  ORDER BY zone, name
);

-- name: compute_create_instance
SELECT 'Access denied: Instance ''' || :instance_name || ''' is not in allowed '
  || 'instances list' AS error
WHERE NOT list_allows(:allowed_instances, :instance_name);
SELECT 'Error creating Compute Engine instance: ' || '400 Invalid value for field ''zone'': '''
  || :zone || '''. Unknown zone.' AS error
WHERE NOT EXISTS (SELECT 1 FROM zone WHERE name = :zone);
SELECT 'Error creating Compute Engine instance: 400 Invalid value for field '
  || '''resource.name'': ''' || :instance_name || '''. Must be a match of regex '
  || '''(?:[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?)''' AS error
WHERE length(:instance_name) NOT BETWEEN 1 AND 63
  OR :instance_name GLOB '*[^a-z0-9-]*'
  OR :instance_name NOT GLOB '[a-z]*'
  OR :instance_name GLOB '*-';
SELECT 'Error creating Compute Engine instance: 400 Invalid value for field '
  || '''resource.machineType'': ''zones/' || :zone || '/machineTypes/' || :machine_type
  || '''. The referenced resource does not exist.' AS error
WHERE :machine_type NOT GLOB '[a-z]*-[a-z0-9]*' OR :machine_type GLOB '*[^a-z0-9-]*';
SELECT 'Error creating Compute Engine instance: 409 POST '
  || 'https://compute.googleapis.com/compute/v1/projects/' || id || '/zones/' || :zone
  || '/instances: The resource ''projects/' || id || '/zones/' || :zone || '/instances/'
  || :instance_name || ''' already exists' AS error
FROM project
WHERE EXISTS (SELECT 1 FROM instance WHERE zone = :zone AND name = :instance_name);
INSERT INTO instance
SELECT
  :zone,
  :instance_name,
  new_id('instance'),
  :machine_type,
  'RUNNING',
  NULL,
  NULL,
  '10.128.0.' || rand_int(2, 250),
  '34.' || rand_int(16, 127) || '.' || rand_int(1, 250) || '.' || rand_int(1, 250),
  now();
INSERT OR IGNORE INTO operation
SELECT
  'operation-' || now_ms() || '-' || lower(hex(:instance_name || 'insert')),
  :zone,
  'insert',
  :instance_name,
  now();
SELECT 'Successfully initiated creation of instance ''' || :instance_name || ''' in zone '''
  || :zone || '''' AS result;

-- name: compute_delete_instance
SELECT 'Access denied: Instance ''' || :instance_name || ''' is not in allowed '
  || 'instances list' AS error
WHERE NOT list_allows(:allowed_instances, :instance_name);
SELECT 'Error deleting Compute Engine instance: '
  || '404 DELETE https://compute.googleapis.com/compute/v1/projects/' || id || '/zones/' || :zone
  || '/instances/' || :instance_name || ': The resource ' || '''projects/' || id || '/zones/'
  || :zone || '/instances/' || :instance_name || ''' was not found' AS error
FROM project
WHERE NOT EXISTS (SELECT 1 FROM instance WHERE zone = :zone AND name = :instance_name);
DELETE FROM instance WHERE zone = :zone AND name = :instance_name;
INSERT OR IGNORE INTO operation
SELECT
  'operation-' || now_ms() || '-' || lower(hex(:instance_name || 'delete')),
  :zone,
  'delete',
  :instance_name,
  now();
SELECT 'Successfully initiated deletion of instance ''' || :instance_name || ''' in zone '''
  || :zone || '''' AS result;

-- name: compute_start_instance
SELECT 'Access denied: Instance ''' || :instance_name || ''' is not in allowed '
  || 'instances list' AS error
WHERE NOT list_allows(:allowed_instances, :instance_name);
SELECT 'Error starting Compute Engine instance: '
  || '404 POST https://compute.googleapis.com/compute/v1/projects/' || id || '/zones/' || :zone
  || '/instances/' || :instance_name || '/start: The resource ' || '''projects/' || id || '/zones/'
  || :zone || '/instances/' || :instance_name || ''' was not found' AS error
FROM project
WHERE NOT EXISTS (SELECT 1 FROM instance WHERE zone = :zone AND name = :instance_name);
UPDATE instance SET status = 'RUNNING' WHERE zone = :zone AND name = :instance_name;
INSERT OR IGNORE INTO operation
SELECT
  'operation-' || now_ms() || '-' || lower(hex(:instance_name || 'start')),
  :zone,
  'start',
  :instance_name,
  now();
SELECT 'Successfully initiated start of instance ''' || :instance_name || ''' in zone ''' || :zone
  || '''' AS result;

-- name: compute_stop_instance
SELECT 'Access denied: Instance ''' || :instance_name || ''' is not in allowed '
  || 'instances list' AS error
WHERE NOT list_allows(:allowed_instances, :instance_name);
SELECT 'Error stopping Compute Engine instance: '
  || '404 POST https://compute.googleapis.com/compute/v1/projects/' || id || '/zones/' || :zone
  || '/instances/' || :instance_name || '/stop: The resource ' || '''projects/' || id || '/zones/'
  || :zone || '/instances/' || :instance_name || ''' was not found' AS error
FROM project
WHERE NOT EXISTS (SELECT 1 FROM instance WHERE zone = :zone AND name = :instance_name);
UPDATE instance SET status = 'TERMINATED' WHERE zone = :zone AND name = :instance_name;
INSERT OR IGNORE INTO operation
SELECT
  'operation-' || now_ms() || '-' || lower(hex(:instance_name || 'stop')),
  :zone,
  'stop',
  :instance_name,
  now();
SELECT 'Successfully initiated stop of instance ''' || :instance_name || ''' in zone ''' || :zone
  || '''' AS result;

-- name: compute_restart_instance
SELECT 'Access denied: Instance ''' || :instance_name || ''' is not in allowed '
  || 'instances list' AS error
WHERE NOT list_allows(:allowed_instances, :instance_name);
SELECT 'Error restarting Compute Engine instance: '
  || '404 POST https://compute.googleapis.com/compute/v1/projects/' || id || '/zones/' || :zone
  || '/instances/' || :instance_name || '/reset: The resource ' || '''projects/' || id || '/zones/'
  || :zone || '/instances/' || :instance_name || ''' was not found' AS error
FROM project
WHERE NOT EXISTS (SELECT 1 FROM instance WHERE zone = :zone AND name = :instance_name);
SELECT 'Cannot restart instance ''' || name || ''': current status is ''' || status
  || '''. Instance must be RUNNING or STOPPING to restart.' AS error
FROM instance
WHERE zone = :zone AND name = :instance_name AND status NOT IN ('RUNNING', 'STOPPING');
INSERT OR IGNORE INTO operation
SELECT
  'operation-' || now_ms() || '-' || lower(hex(:instance_name || 'restart')),
  :zone,
  'restart',
  :instance_name,
  now();
SELECT 'Successfully initiated restart of instance ''' || :instance_name || ''' in zone ''' || :zone
  || '''' AS result;

-- name: compute_get_instance
SELECT 'Access denied: Instance ''' || :instance_name || ''' is not in allowed '
  || 'instances list' AS error
WHERE NOT list_allows(:allowed_instances, :instance_name);
SELECT 'Error getting instance info for ''' || :instance_name || ''': '
  || '404 GET https://compute.googleapis.com/compute/v1/projects/' || id || '/zones/' || :zone
  || '/instances/' || :instance_name || ': The resource ' || '''projects/' || id || '/zones/'
  || :zone || '/instances/' || :instance_name || ''' was not found' AS error
FROM project
WHERE NOT EXISTS (SELECT 1 FROM instance WHERE zone = :zone AND name = :instance_name);
SELECT 'Instance Information for ''' || name || ''':' || char(10) || 'Status: ' || status
  || char(10) || 'Zone: ' || zone || char(10) || 'Machine Type: ' || machine_type || char(10)
  || 'Created: ' || replace(replace(created_at, '.000Z', 'Z'), 'Z', '+00:00') || char(10)
  || 'Internal IP: ' || internal_ip || char(10) || 'External IP: '
  || iif(status = 'RUNNING', external_ip, 'None') || char(10) || 'Boot Disk: 10 GB' || char(10)
  || 'Network Tags: []' || char(10) || 'Labels: '
  || iif(labels IS NULL, '{}', py_repr(labels)) AS result
FROM instance
WHERE zone = :zone AND name = :instance_name;

-- name: compute_list_zones
SELECT 'Found ' || count(*) || ' available zones:' || char(10)
  || (
    SELECT group_concat('- ' || name, char(10)) FROM (SELECT name FROM zone ORDER BY place LIMIT 20)
  ) || '...' AS result
FROM zone;

-- name: compute_wait_for_operation
SELECT 'Error waiting for operation ''' || :operation_name || ''': 404 GET '
  || 'https://compute.googleapis.com/compute/v1/projects/' || id || '/zones/' || :zone
  || '/operations/' || :operation_name || ': The resource ''projects/' || id || '/zones/' || :zone
  || '/operations/' || :operation_name || ''' was not found' AS error
FROM project
WHERE NOT EXISTS (SELECT 1 FROM operation WHERE name = :operation_name AND zone = :zone);
SELECT 'Operation ''' || :operation_name || ''' completed successfully' AS result;
