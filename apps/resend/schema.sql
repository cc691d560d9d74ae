-- Mails that were sent, contacts, and segments, which the tools call audiences. Every account has
-- the segment General, where contacts are that nobody put elsewhere.

CREATE TABLE email (
  id TEXT PRIMARY KEY,
  n INTEGER NOT NULL UNIQUE, -- the order in which they were made
  sender TEXT NOT NULL,
  receivers TEXT NOT NULL, -- addresses as JSON; so are cc and bcc
  subject TEXT NOT NULL,
  html TEXT,
  text TEXT,
  cc TEXT,
  bcc TEXT,
  reply_to TEXT, -- addresses with commas
  tags TEXT, -- as JSON
  created TEXT NOT NULL,
  scheduled TEXT -- NULL: at once
);

CREATE TABLE contact (
  id TEXT PRIMARY KEY,
  n INTEGER NOT NULL UNIQUE,
  email TEXT NOT NULL UNIQUE COLLATE NOCASE,
  first_name TEXT,
  last_name TEXT,
  is_unsubscribed INTEGER NOT NULL DEFAULT 0,
  created TEXT NOT NULL
);

CREATE TABLE segment (
  id TEXT PRIMARY KEY,
  n INTEGER NOT NULL UNIQUE, -- 0: General
  name TEXT NOT NULL,
  created TEXT NOT NULL
);
INSERT INTO segment VALUES (
  '2f6c1a54-8d0e-4b7a-9c35-61e0b7d2a9f8', 0, 'General', '2025-03-03T09:14:27.118Z'
);

CREATE TABLE membership (
  segment_id TEXT NOT NULL REFERENCES segment (id),
  contact_id TEXT NOT NULL REFERENCES contact (id),
  PRIMARY KEY (segment_id, contact_id)
) WITHOUT ROWID;
CREATE INDEX membership_contact ON membership (contact_id);

CREATE TABLE broadcast (
  id TEXT PRIMARY KEY,
  n INTEGER NOT NULL UNIQUE,
  segment_id TEXT NOT NULL REFERENCES segment (id),
  name TEXT,
  sender TEXT NOT NULL,
  subject TEXT NOT NULL,
  html TEXT,
  text TEXT,
  reply_to TEXT,
  preview_text TEXT,
  status TEXT NOT NULL DEFAULT 'draft', -- draft, scheduled, sent and what a body says
  created TEXT NOT NULL,
  scheduled TEXT,
  sent TEXT,
  topic_id TEXT
);

-- What a broadcast is by now: one that is scheduled is sent when its time has come.
CREATE VIEW current_broadcast AS
SELECT
  id,
  n,
  segment_id,
  name,
  sender,
  subject,
  html,
  text,
  reply_to,
  preview_text,
  created,
  scheduled,
  topic_id,
  iif(is_due, 'sent', status) AS status,
  iif(is_due, scheduled, sent) AS sent
FROM (
  SELECT *, status = 'scheduled' AND time_read(scheduled, 'UTC') * 1000 <= now_ms() AS is_due
  FROM broadcast
);

-- What people call the zones in which they name a time.
CREATE TABLE zone (said TEXT PRIMARY KEY, name TEXT NOT NULL);
INSERT INTO zone VALUES
  ('utc', 'UTC'),
  ('gmt', 'UTC'),
  ('et', 'America/New_York'),
  ('est', 'America/New_York'),
  ('edt', 'America/New_York'),
  ('ct', 'America/Chicago'),
  ('cst', 'America/Chicago'),
  ('cdt', 'America/Chicago'),
  ('mt', 'America/Denver'),
  ('mst', 'America/Denver'),
  ('mdt', 'America/Denver'),
  ('pt', 'America/Los_Angeles'),
  ('pst', 'America/Los_Angeles'),
  ('pdt', 'America/Los_Angeles'),
  ('bst', 'Europe/London'),
  ('cet', 'Europe/Berlin'),
  ('cest', 'Europe/Berlin'),
  ('jst', 'Asia/Tokyo');
