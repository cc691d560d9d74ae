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
  subject,
  sender,
  receivers,
  copies,
  blind,
  body,
  files,
  tokenize = 'unicode61 remove_diacritics 2'
);

-- include: common/contacts

-- What an account has before its first message.

INSERT INTO account VALUES ('maya.chen@larkspur.example', 'Maya Chen');

INSERT INTO label VALUES
  ('INBOX', 'INBOX', 'system'),
  ('SENT', 'SENT', 'system'),
  ('DRAFT', 'DRAFT', 'system'),
  ('TRASH', 'TRASH', 'system'),
  ('SPAM', 'SPAM', 'system'),
  ('UNREAD', 'UNREAD', 'system'),
  ('STARRED', 'STARRED', 'system'),
  ('IMPORTANT', 'IMPORTANT', 'system'),
  ('CHAT', 'CHAT', 'system'),
  ('CATEGORY_PERSONAL', 'CATEGORY_PERSONAL', 'system'),
  ('CATEGORY_SOCIAL', 'CATEGORY_SOCIAL', 'system'),
  ('CATEGORY_PROMOTIONS', 'CATEGORY_PROMOTIONS', 'system'),
  ('CATEGORY_UPDATES', 'CATEGORY_UPDATES', 'system'),
  ('CATEGORY_FORUMS', 'CATEGORY_FORUMS', 'system');
