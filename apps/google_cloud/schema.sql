-- The project, and what every project has before anything was made in it.
CREATE TABLE project (
  id TEXT PRIMARY KEY,
  number TEXT NOT NULL,
  account TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO project VALUES (
  'larkspur-robotics', '418093275516', 'sandbox@larkspur-robotics.iam.gserviceaccount.com'
);

CREATE TABLE zone (name TEXT PRIMARY KEY, place INTEGER NOT NULL) WITHOUT ROWID;
WITH region (name, zones, place) AS (
  VALUES
    ('us-east1', 'bcd', 1),
    ('us-east4', 'abc', 2),
    ('us-central1', 'abcf', 3),
    ('us-west1', 'abc', 4),
    ('europe-west1', 'bcd', 5),
    ('europe-west2', 'abc', 6),
    ('europe-west3', 'abc', 7),
    ('europe-west4', 'abc', 8),
    ('europe-north1', 'abc', 9),
    ('asia-east1', 'abc', 10),
    ('asia-northeast1', 'abc', 11),
    ('asia-south1', 'abc', 12),
    ('asia-southeast1', 'abc', 13),
    ('australia-southeast1', 'abc', 14),
    ('southamerica-east1', 'abc', 15)
)
INSERT INTO zone
SELECT r.name || '-' || substr(r.zones, i.value, 1), r.place * 10 + i.value
FROM region r, json_each('[1,2,3,4]') i
WHERE i.value <= length(r.zones);

-- ---- storage ----
CREATE TABLE bucket (
  name TEXT PRIMARY KEY,
  location TEXT NOT NULL,
  storage_class TEXT NOT NULL,
  versioning INTEGER NOT NULL,
  lifecycle TEXT, -- JSON, as initialize has it
  created_at TEXT NOT NULL,
  updated_at TEXT
) WITHOUT ROWID;
CREATE TABLE object (
  bucket TEXT NOT NULL REFERENCES bucket (name) ON DELETE CASCADE,
  name TEXT NOT NULL,
  content_type TEXT,
  size INTEGER NOT NULL,
  content TEXT,
  encoding TEXT, -- 'base64', else the content is text
  md5_hash TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT,
  PRIMARY KEY (bucket, name)
) WITHOUT ROWID;
-- What objects were before, in buckets with versions.
CREATE TABLE object_version (
  bucket TEXT NOT NULL REFERENCES bucket (name) ON DELETE CASCADE,
  name TEXT NOT NULL,
  generation INTEGER NOT NULL,
  content_type TEXT,
  size INTEGER NOT NULL,
  content TEXT,
  encoding TEXT,
  created_at TEXT NOT NULL,
  PRIMARY KEY (bucket, name, generation)
) WITHOUT ROWID;

-- ---- BigQuery: see src/apps/products/bigquery/bq.h ----
CREATE TABLE bq_dataset (
  id TEXT PRIMARY KEY,
  description TEXT,
  location TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT
) WITHOUT ROWID;
CREATE TABLE bq_table (
  n INTEGER PRIMARY KEY,
  dataset TEXT NOT NULL,
  id TEXT NOT NULL,
  description TEXT,
  fields TEXT NOT NULL, -- JSON: [{name, type, mode, description, fields}]
  row_count TEXT, -- as initialize said it, of a table without rows
  created_at TEXT NOT NULL,
  view_query TEXT, -- of a view
  view_columns TEXT -- JSON: their names, where they are not those of the query
);
CREATE INDEX bq_table_by_name ON bq_table (dataset, id);
CREATE TABLE bq_row (
  t INTEGER NOT NULL,
  n INTEGER NOT NULL,
  d TEXT NOT NULL,
  PRIMARY KEY (t, n)
) WITHOUT ROWID;
CREATE TABLE bq_job (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  type TEXT NOT NULL,
  state TEXT NOT NULL,
  statement TEXT,
  created_at TEXT NOT NULL
);

-- ---- logging ----
CREATE TABLE log_entry (
  n INTEGER PRIMARY KEY,
  log_name TEXT NOT NULL,
  severity TEXT NOT NULL,
  level INTEGER NOT NULL,
  timestamp TEXT NOT NULL,
  message TEXT,
  json TEXT,
  resource_type TEXT,
  resource_labels TEXT,
  insert_id TEXT NOT NULL
);
CREATE INDEX log_entry_by_time ON log_entry (timestamp, n);
CREATE TABLE log_sink (
  name TEXT PRIMARY KEY,
  destination TEXT NOT NULL,
  filter TEXT,
  description TEXT,
  created_at TEXT,
  updated_at TEXT,
  is_fixed INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE TABLE log_bucket (
  name TEXT PRIMARY KEY,
  location TEXT NOT NULL,
  retention_days INTEGER NOT NULL,
  description TEXT,
  created_at TEXT,
  updated_at TEXT,
  is_fixed INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
INSERT INTO log_bucket (name, location, retention_days, is_fixed) VALUES
  ('_Default', 'global', 30, 1),
  ('_Required', 'global', 400, 1);
INSERT INTO log_sink (name, destination, filter, is_fixed) VALUES
  (
    '_Default',
    'logging.googleapis.com/projects/larkspur-robotics/locations/global/buckets/_Default',
    'NOT LOG_ID("cloudaudit.googleapis.com/activity")', 1
  ),
  (
    '_Required',
    'logging.googleapis.com/projects/larkspur-robotics/locations/global/buckets/_Required',
    'LOG_ID("cloudaudit.googleapis.com/activity")', 1
  );

-- ---- compute ----
CREATE TABLE instance (
  zone TEXT NOT NULL,
  name TEXT NOT NULL,
  id TEXT NOT NULL,
  machine_type TEXT NOT NULL,
  status TEXT NOT NULL,
  description TEXT,
  labels TEXT,
  internal_ip TEXT NOT NULL,
  external_ip TEXT NOT NULL,
  created_at TEXT NOT NULL,
  PRIMARY KEY (zone, name)
) WITHOUT ROWID;
CREATE TABLE operation (
  name TEXT PRIMARY KEY,
  zone TEXT NOT NULL,
  kind TEXT NOT NULL,
  target TEXT NOT NULL,
  created_at TEXT NOT NULL
) WITHOUT ROWID;
