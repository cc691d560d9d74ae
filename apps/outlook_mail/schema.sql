-- A mailbox. Messages are in folders; a message that is moved gets another id, as Exchange does it.

CREATE TABLE account (email TEXT PRIMARY KEY, name TEXT NOT NULL);

CREATE TABLE folder (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL COLLATE NOCASE,
  well_known TEXT UNIQUE, -- inbox, sentitems, …
  parent INTEGER REFERENCES folder (n) ON DELETE CASCADE, -- NULL: at the top
  is_hidden INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX folder_parent ON folder (parent);

CREATE TABLE message (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  folder INTEGER NOT NULL REFERENCES folder (n) ON DELETE CASCADE,
  subject TEXT NOT NULL,
  body TEXT NOT NULL,
  body_type TEXT NOT NULL, -- html, text
  from_address TEXT, -- NULL: unknown
  importance TEXT NOT NULL DEFAULT 'normal',
  categories TEXT NOT NULL DEFAULT '[]',
  flag TEXT NOT NULL DEFAULT 'notFlagged',
  is_read INTEGER NOT NULL DEFAULT 0,
  is_draft INTEGER NOT NULL DEFAULT 0,
  has_attachments INTEGER NOT NULL DEFAULT 0,
  conversation TEXT NOT NULL,
  conversation_index TEXT NOT NULL,
  header_id TEXT NOT NULL,
  change_key TEXT NOT NULL,
  created_s INTEGER NOT NULL,
  modified_s INTEGER NOT NULL,
  received_s INTEGER NOT NULL,
  sent_s INTEGER NOT NULL
);
CREATE INDEX message_folder ON message (folder);
CREATE INDEX message_received ON message (received_s);

CREATE TABLE recipient_row (
  message INTEGER NOT NULL REFERENCES message (n) ON DELETE CASCADE,
  kind TEXT NOT NULL, -- to, cc, bcc
  position INTEGER NOT NULL,
  address TEXT NOT NULL COLLATE NOCASE,
  PRIMARY KEY (message, kind, position)
) WITHOUT ROWID;

-- Whose addresses have a name.
CREATE TABLE person (email TEXT PRIMARY KEY COLLATE NOCASE, name TEXT NOT NULL) WITHOUT ROWID;

-- Which fields of an answer $select's names stand for.
CREATE TABLE property (name TEXT PRIMARY KEY COLLATE NOCASE, shown TEXT NOT NULL) WITHOUT ROWID;

CREATE VIEW recipient AS
SELECT r.message, r.kind, r.position, r.address, ifnull(person.name, r.address) AS name
FROM recipient_row r
LEFT JOIN person ON person.email = r.address;

CREATE VIEW mail AS
SELECT
  message.*,
  folder.id AS folder_id,
  ifnull(person.name, from_address) AS from_name,
  trim(substr(iif(body_type = 'html', html_text(body), body), 1, 255), ' ' || char(10)) AS preview
FROM message
JOIN folder ON folder.n = message.folder
LEFT JOIN person ON person.email = message.from_address;

-- Messages as they are shown.
CREATE VIEW shown AS
SELECT
  n,
  id,
  drop_nulls(json_object(
    'id', id,
    'title', subject,
    'preview', preview,
    'content', body,
    'contentType', body_type,
    'importance', importance,
    'isRead', json(iif(is_read, 'true', 'false')),
    'isDraft', json(iif(is_draft, 'true', 'false')),
    'hasAttachments', json(iif(has_attachments, 'true', 'false')),
    'conversationId', conversation,
    'conversationIndex', conversation_index,
    'internetMessageId', header_id,
    'webLink', 'https://outlook.office365.example/owa/?ItemID=' || replace(id, '=', '%3D')
      || '&exvsurl=1&viewmodel=ReadMessageItem',
    'created', time_write(created_s, 'UTC', '%Y-%m-%dT%H:%M:%SZ'),
    'lastModified', time_write(modified_s, 'UTC', '%Y-%m-%dT%H:%M:%SZ'),
    'received', time_write(received_s, 'UTC', '%Y-%m-%dT%H:%M:%SZ'),
    'sent', time_write(sent_s, 'UTC', '%Y-%m-%dT%H:%M:%SZ'),
    'changeKey', change_key,
    'categories', json(categories),
    'isDeliveryReceiptRequested', json('false'),
    'isReadReceiptRequested', json('false'),
    'inferenceClassification', 'focused',
    'flagStatus', flag,
    'senderEmail', from_address,
    'senderName', from_name,
    'fromEmail', from_address,
    'fromName', from_name,
    'toRecipients', (
      SELECT json_group_array(json_object('email', address, 'name', name))
      FROM (SELECT * FROM recipient WHERE message = m.n AND kind = 'to' ORDER BY position)
      HAVING count(*) > 0
    ),
    'ccRecipients', (
      SELECT json_group_array(json_object('email', address, 'name', name))
      FROM (SELECT * FROM recipient WHERE message = m.n AND kind = 'cc' ORDER BY position)
      HAVING count(*) > 0
    ),
    'bccRecipients', (
      SELECT json_group_array(json_object('email', address, 'name', name))
      FROM (SELECT * FROM recipient WHERE message = m.n AND kind = 'bcc' ORDER BY position)
      HAVING count(*) > 0
    ),
    'folderId', folder_id
  )) AS item
FROM mail m;

-- Folders as they are shown.
CREATE VIEW shown_folder AS
SELECT
  n,
  id,
  name,
  parent,
  is_hidden,
  json_object(
    'itemId', id,
    'name', name,
    'messageCount', (SELECT count(*) FROM message WHERE folder = f.n),
    'unreadCount', (SELECT count(*) FROM message WHERE folder = f.n AND NOT is_read),
    'parentId', ifnull(
      (SELECT p.id FROM folder p WHERE p.n = f.parent),
      'AAMkAGQ4LarkspurMailboxRootAuAAAAAABtop00AAA='
    ),
    'childCount', (SELECT count(*) FROM folder c WHERE c.parent = f.n),
    'size', (
      SELECT ifnull(sum(2048 + length(CAST(subject || body AS BLOB))), 0)
      FROM message
      WHERE folder = f.n
    ),
    'hidden', json(iif(is_hidden, 'true', 'false'))
  ) AS item
FROM folder f;

-- What an account has before its first message.

INSERT INTO account VALUES ('maya.chen@larkspur.example', 'Maya Chen');

INSERT INTO folder (n, id, name, well_known) VALUES
  (1, 'AAMkAGQ4LarkspurMailboxInboxAuAAAAAABinbox0AAA=', 'Inbox', 'inbox'),
  (2, 'AAMkAGQ4LarkspurMailboxDraftsAuAAAAAABdrafts0AAA=', 'Drafts', 'drafts'),
  (3, 'AAMkAGQ4LarkspurMailboxSentAuAAAAAABsentitems0AAA=', 'Sent Items', 'sentitems'),
  (4, 'AAMkAGQ4LarkspurMailboxDeletedAuAAAAAABdeleteditems0AAA=', 'Deleted Items', 'deleteditems'),
  (5, 'AAMkAGQ4LarkspurMailboxJunkAuAAAAAABjunkemail0AAA=', 'Junk Email', 'junkemail'),
  (6, 'AAMkAGQ4LarkspurMailboxArchiveAuAAAAAABarchive0AAA=', 'Archive', 'archive'),
  (7, 'AAMkAGQ4LarkspurMailboxOutboxAuAAAAAABoutbox0AAA=', 'Outbox', 'outbox'),
  (
    8, 'AAMkAGQ4LarkspurMailboxHistoryAuAAAAAABconversationhistory0AAA=', 'Conversation History',
    'conversationhistory'
  );

-- include: common/people
INSERT INTO person VALUES
  ('elena.petrova@northwind-logistics.example', 'Elena Petrova'),
  ('marcus@brightpath-parts.example', 'Marcus Webb');

INSERT INTO property VALUES
  ('id', 'id'),
  ('subject', 'title'),
  ('bodyPreview', 'preview'),
  ('body', 'content,contentType'),
  ('uniqueBody', ''),
  ('importance', 'importance'),
  ('isRead', 'isRead'),
  ('isDraft', 'isDraft'),
  ('hasAttachments', 'hasAttachments'),
  ('attachments', ''),
  ('conversationId', 'conversationId'),
  ('conversationIndex', 'conversationIndex'),
  ('internetMessageId', 'internetMessageId'),
  ('internetMessageHeaders', ''),
  ('webLink', 'webLink'),
  ('createdDateTime', 'created'),
  ('lastModifiedDateTime', 'lastModified'),
  ('receivedDateTime', 'received'),
  ('sentDateTime', 'sent'),
  ('changeKey', 'changeKey'),
  ('categories', 'categories'),
  ('isDeliveryReceiptRequested', 'isDeliveryReceiptRequested'),
  ('isReadReceiptRequested', 'isReadReceiptRequested'),
  ('inferenceClassification', 'inferenceClassification'),
  ('flag', 'flagStatus'),
  ('sender', 'senderEmail,senderName'),
  ('from', 'fromEmail,fromName'),
  ('toRecipients', 'toRecipients'),
  ('ccRecipients', 'ccRecipients'),
  ('bccRecipients', 'bccRecipients'),
  ('replyTo', 'replyTo'),
  ('parentFolderId', 'folderId');
