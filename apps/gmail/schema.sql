-- A mailbox. Messages, their labels and attachments; threads are messages with the same thread_id;
-- a draft is a message with a row in draft.

CREATE TABLE account (email TEXT PRIMARY KEY, name TEXT NOT NULL);

CREATE TABLE label (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE COLLATE NOCASE,
  type TEXT NOT NULL -- system, user
);

CREATE TABLE message (
  n INTEGER PRIMARY KEY, -- in the order of arrival
  id TEXT NOT NULL UNIQUE,
  thread_id TEXT,
  header_id TEXT NOT NULL, -- Message-ID, without <>
  in_reply_to TEXT,
  date_ms INTEGER NOT NULL,
  has_date INTEGER NOT NULL DEFAULT 0, -- the date was given by whoever imported it
  subject TEXT NOT NULL,
  topic TEXT NOT NULL, -- the subject without "Re:"
  sender TEXT NOT NULL,
  receivers TEXT NOT NULL,
  copies TEXT,
  blind TEXT,
  reply_to TEXT,
  body_text TEXT NOT NULL,
  body_html TEXT NOT NULL,
  size INTEGER NOT NULL
);
CREATE INDEX message_thread ON message (thread_id, date_ms);
CREATE INDEX message_date ON message (date_ms);
CREATE INDEX message_topic ON message (topic);
CREATE INDEX message_header ON message (header_id);

CREATE TABLE message_label (
  message INTEGER NOT NULL REFERENCES message (n) ON DELETE CASCADE,
  label TEXT NOT NULL REFERENCES label (id),
  PRIMARY KEY (message, label)
) WITHOUT ROWID;
CREATE INDEX message_label_label ON message_label (label);

CREATE TABLE draft (
  id TEXT PRIMARY KEY,
  message INTEGER NOT NULL UNIQUE REFERENCES message (n) ON DELETE CASCADE
);

CREATE TABLE attachment (
  id TEXT PRIMARY KEY,
  message INTEGER NOT NULL REFERENCES message (n) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  filename TEXT NOT NULL,
  mime_type TEXT NOT NULL,
  size INTEGER NOT NULL,
  content TEXT NOT NULL -- base64
);
CREATE INDEX attachment_message ON attachment (message, position);

CREATE VIRTUAL TABLE fts_message USING fts5 (
  subject, sender, receivers, copies, blind, body, files,
  tokenize = 'unicode61 remove_diacritics 2'
);

CREATE TABLE contact (
  n INTEGER PRIMARY KEY,
  source TEXT NOT NULL, -- personal, other, directory
  resource TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  first_name TEXT NOT NULL,
  last_name TEXT NOT NULL,
  email TEXT NOT NULL,
  phone TEXT,
  organization TEXT,
  title TEXT
);
CREATE VIRTUAL TABLE fts_contact USING fts5 (
  name, email, phone, organization, title, tokenize = 'unicode61 remove_diacritics 2'
);

-- What an account has before its first message.

INSERT INTO account VALUES ('maya.chen@larkspur.example', 'Maya Chen');

INSERT INTO label VALUES
  ('INBOX', 'INBOX', 'system'), ('SENT', 'SENT', 'system'), ('DRAFT', 'DRAFT', 'system'),
  ('TRASH', 'TRASH', 'system'), ('SPAM', 'SPAM', 'system'), ('UNREAD', 'UNREAD', 'system'),
  ('STARRED', 'STARRED', 'system'), ('IMPORTANT', 'IMPORTANT', 'system'),
  ('CHAT', 'CHAT', 'system'), ('CATEGORY_PERSONAL', 'CATEGORY_PERSONAL', 'system'),
  ('CATEGORY_SOCIAL', 'CATEGORY_SOCIAL', 'system'),
  ('CATEGORY_PROMOTIONS', 'CATEGORY_PROMOTIONS', 'system'),
  ('CATEGORY_UPDATES', 'CATEGORY_UPDATES', 'system'),
  ('CATEGORY_FORUMS', 'CATEGORY_FORUMS', 'system');

INSERT INTO contact (source, resource, name, first_name, last_name, email, phone, organization,
                     title)
VALUES
  ('directory', 'people/100000000000000000001', 'Maya Chen', 'Maya', 'Chen',
   'maya.chen@larkspur.example', '+351 21 555 0101', 'Larkspur Robotics', 'Engineering Manager'),
  ('directory', 'people/100000000000000000002', 'Tomás Rivera', 'Tomás', 'Rivera',
   'tomas.rivera@larkspur.example', '+351 21 555 0102', 'Larkspur Robotics',
   'Senior Firmware Engineer'),
  ('directory', 'people/100000000000000000003', 'Aisha Okafor', 'Aisha', 'Okafor',
   'aisha.okafor@larkspur.example', '+351 21 555 0103', 'Larkspur Robotics', 'Backend Engineer'),
  ('directory', 'people/100000000000000000004', 'Jonas Lindqvist', 'Jonas', 'Lindqvist',
   'jonas.lindqvist@larkspur.example', '+46 8 555 0104', 'Larkspur Robotics',
   'Site Reliability Engineer'),
  ('directory', 'people/100000000000000000005', 'Priya Nair', 'Priya', 'Nair',
   'priya.nair@larkspur.example', '+351 21 555 0105', 'Larkspur Robotics', 'Product Manager'),
  ('directory', 'people/100000000000000000006', 'Daniel Kim', 'Daniel', 'Kim',
   'daniel.kim@larkspur.example', '+351 21 555 0106', 'Larkspur Robotics', 'QA Lead'),
  ('directory', 'people/100000000000000000007', 'Sofia Marchetti', 'Sofia', 'Marchetti',
   'sofia.marchetti@larkspur.example', '+39 02 555 0107', 'Larkspur Robotics', 'Designer'),
  ('directory', 'people/100000000000000000008', 'Ben Adeyemi', 'Ben', 'Adeyemi',
   'ben.adeyemi@larkspur.example', '+44 20 5550 0108', 'Larkspur Robotics', 'Support Lead'),
  ('directory', 'people/100000000000000000009', 'Hana Suzuki', 'Hana', 'Suzuki',
   'hana.suzuki@larkspur.example', '+351 21 555 0109', 'Larkspur Robotics', 'Data Scientist'),
  ('directory', 'people/100000000000000000010', 'Oliver Grant', 'Oliver', 'Grant',
   'oliver.grant@larkspur.example', '+44 20 5550 0110', 'Larkspur Robotics', 'CFO'),
  ('personal', 'people/c2001', 'Elena Petrova', 'Elena', 'Petrova',
   'elena.petrova@northwind-logistics.example', '+49 30 555 0201', 'Northwind Logistics',
   'Operations Director'),
  ('personal', 'people/c2002', 'Marcus Webb', 'Marcus', 'Webb',
   'marcus@brightpath-parts.example', '+1 415 555 0202', 'Brightpath Parts', 'Account Manager'),
  ('personal', 'people/c2003', 'Tomás Rivera', 'Tomás', 'Rivera',
   'tomas.rivera@larkspur.example', '+351 91 555 0102', 'Larkspur Robotics',
   'Senior Firmware Engineer'),
  ('other', 'otherContacts/c3001', 'Lisbon Harbour Hotel', 'Lisbon Harbour', 'Hotel',
   'events@lisbon-harbour-hotel.example', '+351 21 555 0301', NULL, NULL),
  ('other', 'otherContacts/c3002', 'Northwind Service Desk', 'Northwind', 'Service Desk',
   'servicedesk@northwind-logistics.example', NULL, NULL, NULL);
INSERT INTO fts_contact (rowid, name, email, phone, organization, title)
SELECT n, name, email, phone, organization, title FROM contact;
