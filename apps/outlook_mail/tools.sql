-- part: find_folder
-- :folder of :folder_id, an id or the name of a well-known folder.
SELECT n AS folder, well_known
FROM folder
WHERE id = :folder_id
  OR well_known = lower(:folder_id)
  OR (lower(:folder_id) = 'inbox' AND well_known = 'inbox');

-- part: say_folder
SELECT json_indent(json_object(
  'error', json_object(
    'code', iif(:folder_id GLOB 'A[AQ]Mk*', 'ErrorItemNotFound', 'ErrorInvalidIdMalformed'),
    'message', iif(
      :folder_id GLOB 'A[AQ]Mk*',
      'The specified object was not found in the store., The process failed to '
        || 'get the correct properties.',
      'Id is malformed.'
    )
  )
)) AS error
WHERE :folder IS NULL;

-- part: find_message
SELECT n, is_draft, folder AS old_folder FROM message WHERE id = :message_id;

-- part: say_message
SELECT json_indent(json_object(
  'error', json_object(
    'code', iif(:message_id GLOB 'A[AQ]Mk*', 'ErrorItemNotFound', 'ErrorInvalidIdMalformed'),
    'message', iif(
      :message_id GLOB 'A[AQ]Mk*', 'The specified object was not found in the store.',
      'Id is malformed.'
    )
  )
)) AS error
WHERE :n IS NULL;

-- part: check_select
-- :names: the fields that an answer has.
SELECT json_indent(json_object(
  'error', json_object(
    'code', 'RequestBroker--ParseUri',
    'message', 'Could not find a property named ''' || wanted
      || ''' on type ''Microsoft.OutlookServices.Message''.'
  )
)) AS error
FROM (
  SELECT trim(CASE
    WHEN instr(value, '/') THEN substr(value, 1, instr(value, '/') - 1)
    ELSE value
  END) AS wanted
  FROM json_each('["' || replace(replace(replace(:select, '\', ''), '"', ''), ',', '","') || '"]')
)
WHERE trim(:select) <> '' AND NOT EXISTS (SELECT 1 FROM property p WHERE p.name = wanted)
LIMIT 1;
SELECT iif(
  trim(:select) <> '',
  (
    SELECT group_concat(shown)
    FROM property
    WHERE name = 'id'
      OR instr(
        ',' || lower(replace(replace(:select, ' ', ''), '/', ',')) || ',',
        ',' || lower(name) || ','
      )
        > 0
  ),
  '*all'
) AS names;

-- part: show_message
SELECT item AS result FROM shown WHERE n = :n;

-- part: write_draft
-- A draft with :subject, :content and the recipients :to, :cc and :bcc; :conversation or NULL.
INSERT INTO message (
  id, folder, subject, body, body_type, from_address, is_read, is_draft, conversation,
  conversation_index, header_id, change_key, created_s, modified_s, received_s, sent_s
)
SELECT
  new_id('message'),
  (SELECT n FROM folder WHERE well_known = 'drafts'),
  :draft_subject,
  :draft_body,
  'html',
  email,
  1,
  1,
  ifnull(:conversation, new_id('conversation')),
  new_id('index'),
  new_id('header'),
  new_id('change'),
  now_ms() / 1000,
  now_ms() / 1000,
  now_ms() / 1000,
  now_ms() / 1000
FROM account
RETURNING n AS draft;
INSERT INTO recipient_row SELECT :draft, 'to', key, value FROM json_each(:to)
UNION ALL
SELECT :draft, 'cc', key, value FROM json_each(:cc)
UNION ALL
SELECT :draft, 'bcc', key, value FROM json_each(:bcc);
SELECT item AS result FROM shown WHERE n = :draft;

-- part: quote
-- The message :n below a comment, as replies and forwards have it.
SELECT
  conversation,
  iif(subject LIKE 'RE: %' OR subject LIKE 'FW: %', substr(subject, 5), subject) AS topic,
  '<html><body><div>' || replace(ifnull(:comment, ''), char(10), '<br>')
    || '</div><hr style="display:inline-block;width:98%"><div id="divRplyFwdMsg"><b>From:</b> '
    || ifnull(from_name || ' &lt;' || from_address || '&gt;', '') || '<br><b>Sent:</b> '
    || time_write(sent_s, 'UTC', '%A, %B %d, %Y %H:%M') || '<br><b>To:</b> '
    || ifnull((
      SELECT group_concat(name || ' &lt;' || address || '&gt;', '; ')
      FROM (SELECT * FROM recipient WHERE message = m.n AND kind = 'to' ORDER BY position)
    ), '')
    || ifnull((
      SELECT '<br><b>Cc:</b> ' || group_concat(name || ' &lt;' || address || '&gt;', '; ')
      FROM (SELECT * FROM recipient WHERE message = m.n AND kind = 'cc' ORDER BY position)
    ), '') || '<br><b>Subject:</b> ' || subject || '</div><div>'
    || iif(
      body_type = 'html',
      body,
      replace(
        replace(replace(replace(body, '&', '&amp;'), '<', '&lt;'), '>', '&gt;'),
        char(10),
        '<br>'
      )
    ) || '</div></body></html>' AS draft_body
FROM mail m
WHERE n = :n;

-- name: outlookMail_delete_folder
-- include: find_folder
SELECT json_indent(json_object(
  'error', 'Unexpected response: ' || iif(is_bad, 400, 404),
  'details', json_object(
      'error', json_object(
        'code', iif(is_bad, 'ErrorInvalidIdMalformed', 'ErrorItemNotFound'),
        'message', iif(
          is_bad, 'Id is malformed.', 'The specified object was not found in the store.'
        )
      )
    ) || ''
)) AS error
FROM (SELECT :folder_id NOT GLOB 'A[AQ]Mk*' AS is_bad)
WHERE :folder IS NULL;
SELECT json_indent(json_object(
  'error', 'Unexpected response: 403',
  'details', json_object(
      'error', json_object(
        'code', 'ErrorDeleteDistinguishedFolder',
        'message', 'Distinguished folders cannot be deleted.'
      )
    ) || ''
)) AS error
WHERE :well_known IS NOT NULL;
-- What is in the deleted items already is gone; else it goes there.
WITH RECURSIVE above (n) AS (
  SELECT parent FROM folder WHERE n = :folder
  UNION
  SELECT parent FROM folder JOIN above USING (n)
)
SELECT EXISTS (
  SELECT 1 FROM above JOIN folder USING (n) WHERE well_known = 'deleteditems'
) AS is_final;
DELETE FROM folder WHERE n = :folder AND :is_final;
UPDATE folder
SET parent = (SELECT n FROM folder WHERE well_known = 'deleteditems')
WHERE n = :folder;
SELECT json_object('message', 'Folder ' || :folder_id || ' deleted successfully') AS result;

-- name: outlookMail_create_mail_folder
SELECT json_indent(json_object(
  'error', 'Could not create mail folder at https://graph.microsoft.com/v1.0/me/mailFolders'
)) AS error
WHERE trim(:display_name) = ''
  OR EXISTS (SELECT 1 FROM folder WHERE name = trim(:display_name) AND parent IS NULL);
INSERT INTO folder (id, name, is_hidden) VALUES (
  new_id('folder'),
  trim(:display_name),
  ifnull(:is_hidden, 0)
)
RETURNING n;
SELECT item AS result FROM shown_folder WHERE n = :n;

-- name: outlookMail_list_folders
SELECT json_object('count', count(*), 'folders', json_group_array(json(item))) AS result
FROM (
  SELECT item
  FROM shown_folder
  WHERE parent IS NULL AND (ifnull(:include_hidden, 1) OR NOT is_hidden)
  ORDER BY name, n
);

-- name: outlookMail_get_mail_folder_details
SELECT 'Error: ''folder_id'' argument is required.' AS error WHERE :folder_id = '';
-- include: find_folder
SELECT json_indent(json_object(
  'error', 'Could not get mail folder at https://graph.microsoft.com/v1.0/me/mailFolders/'
    || :folder_id
)) AS error
WHERE :folder IS NULL;
SELECT item AS result FROM shown_folder WHERE n = :folder;

-- name: outlookMail_update_folder_display_name
-- include: find_folder
SELECT json_indent(json_object(
  'error', 'Failed to update folder at https://graph.microsoft.com/v1.0/me/mailFolders/'
    || :folder_id
)) AS error
WHERE :folder IS NULL
  OR :well_known IS NOT NULL
  OR trim(:display_name) = ''
  OR EXISTS (
    SELECT 1
    FROM folder f
    JOIN folder own ON own.n = :folder
    WHERE f.name = trim(:display_name) AND f.parent IS own.parent AND f.n <> own.n
  );
UPDATE folder SET name = trim(:display_name) WHERE n = :folder;
SELECT item AS result FROM shown_folder WHERE n = :folder;

-- name: outlookMail_read_message
SELECT 'Error: ''message_id'' argument is required.' AS error WHERE :message_id = '';
-- include: find_message
-- include: say_message
-- include: show_message

-- name: outlookMail_list_messages
-- include: check_select
SELECT json_object(
  'count', count(*),
  'messages', json_group_array(json(json_pick(:names, (SELECT item FROM shown WHERE n = chosen))))
) AS result
FROM (
  SELECT m.n AS chosen
  FROM mail m
  WHERE {{odata :filter_query}}
  ORDER BY
    iif(ifnull(trim(:orderby), '') = '', -m.received_s, 0),
    {{odata_order :orderby}},
    m.n DESC
  LIMIT :top
);

-- name: outlookMail_list_messages_from_folder
-- include: find_folder
-- include: say_folder
-- include: check_select
SELECT json_object(
  'count', count(*),
  'messages', json_group_array(json(json_pick(:names, (SELECT item FROM shown WHERE n = chosen))))
) AS result
FROM (
  SELECT m.n AS chosen
  FROM mail m
  WHERE m.folder = :folder AND {{odata :filter_query}}
  ORDER BY
    iif(ifnull(trim(:orderby), '') = '', -m.received_s, 0),
    {{odata_order :orderby}},
    m.n DESC
  LIMIT :top
);

-- name: outlookMail_update_draft
-- include: find_message
SELECT json_indent(json_object(
  'error', 'Could not update Outlook draft message at '
    || 'https://graph.microsoft.com/v1.0/me/messages/' || :message_id
)) AS error
WHERE :n IS NULL
  OR (
    NOT :is_draft
    AND (
      :subject IS NOT NULL
      OR nullif(:body_content, '') IS NOT NULL
      OR json_array_length(:to_recipients) > 0
      OR json_array_length(:cc_recipients) > 0
      OR json_array_length(:bcc_recipients) > 0
    )
  );
UPDATE message
SET
  subject = ifnull(:subject, subject),
  body = ifnull(nullif(:body_content, ''), body),
  body_type = iif(nullif(:body_content, '') IS NULL, body_type, 'html'),
  change_key = new_id('change'),
  modified_s = now_ms() / 1000
WHERE n = :n;
DELETE FROM recipient_row
WHERE message = :n
  AND (
    (kind = 'to' AND json_array_length(:to_recipients) > 0)
    OR (kind = 'cc' AND json_array_length(:cc_recipients) > 0)
    OR (kind = 'bcc' AND json_array_length(:bcc_recipients) > 0)
  );
INSERT INTO recipient_row SELECT :n, 'to', key, value FROM json_each(:to_recipients)
UNION ALL
SELECT :n, 'cc', key, value FROM json_each(:cc_recipients)
UNION ALL
SELECT :n, 'bcc', key, value FROM json_each(:bcc_recipients);
-- include: show_message

-- name: outlookMail_delete_draft
-- include: find_message
-- include: say_message
-- What is in the deleted items already is gone; else it goes there.
DELETE FROM message
WHERE n = :n AND folder = (SELECT n FROM folder WHERE well_known = 'deleteditems');
UPDATE message
SET
  folder = (SELECT n FROM folder WHERE well_known = 'deleteditems'),
  id = new_id('message'),
  change_key = new_id('change'),
  modified_s = now_ms() / 1000
WHERE n = :n;
SELECT json_object('Success', 'Deleted') AS result;

-- name: outlookMail_create_forward_draft
-- include: find_message
-- include: say_message
-- include: quote
SELECT 'FW: ' || :topic AS draft_subject, :to_recipients AS "to", '[]' AS cc, '[]' AS bcc;
-- include: write_draft

-- name: outlookMail_create_reply_draft
-- include: find_message
-- include: say_message
-- include: quote
SELECT
  'RE: ' || :topic AS draft_subject,
  '[]' AS cc,
  '[]' AS bcc,
  iif(
    lower(from_address) IN (SELECT email FROM account),
    (
      SELECT json_group_array(address)
      FROM (SELECT address FROM recipient WHERE message = :n AND kind = 'to' ORDER BY position)
    ),
    iif(from_address IS NULL, '[]', json_array(from_address))
  ) AS "to"
FROM message
WHERE n = :n;
-- include: write_draft

-- name: outlookMail_create_reply_all_draft
-- include: find_message
-- include: say_message
-- include: quote
SELECT
  'RE: ' || :topic AS draft_subject,
  '[]' AS bcc,
  (
    SELECT json_group_array(address)
    FROM (
      SELECT lower(address) AS address, min(place) AS place
      FROM (
        SELECT from_address AS address, -1 AS place
        UNION ALL
        SELECT address, position FROM recipient WHERE message = :n AND kind = 'to'
      )
      WHERE address IS NOT NULL AND lower(address) NOT IN (SELECT email FROM account)
      GROUP BY lower(address)
      ORDER BY 2
    )
  ) AS "to",
  (
    SELECT json_group_array(address)
    FROM (
      SELECT address
      FROM recipient
      WHERE message = :n AND kind = 'cc' AND lower(address) NOT IN (SELECT email FROM account)
      ORDER BY position
    )
  ) AS cc
FROM message
WHERE n = :n;
-- include: write_draft

-- name: outlookMail_send_draft
-- include: find_message
-- include: say_message
SELECT json_indent(json_object(
  'error', json_object(
    'code', 'ErrorInvalidOperation',
    'message', 'The message is not a draft and cannot be sent.'
  )
)) AS error
WHERE NOT :is_draft;
SELECT json_indent(json_object(
  'error', json_object(
    'code', 'ErrorInvalidRecipients',
    'message', 'At least one recipient is not valid., Recipient ''' || address
      || ''' is not resolved. All recipients must be resolved before a message can '
      || 'be submitted.'
  )
)) AS error
FROM recipient
WHERE message = :n AND NOT mail_is_address(address)
LIMIT 1;
SELECT json_indent(json_object(
  'error', json_object(
    'code', 'ErrorInvalidRecipients',
    'message', 'At least one recipient is not valid., A message can''t be sent unless it '
      || 'has at least one recipient.'
  )
)) AS error
WHERE NOT EXISTS (SELECT 1 FROM recipient WHERE message = :n);
UPDATE message
SET
  is_draft = 0,
  folder = (SELECT n FROM folder WHERE well_known = 'sentitems'),
  id = new_id('message'),
  change_key = new_id('change'),
  modified_s = now_ms() / 1000,
  sent_s = now_ms() / 1000,
  received_s = now_ms() / 1000
WHERE n = :n;
-- What is sent to oneself arrives, too.
INSERT INTO message (
  id, folder, subject, body, body_type, from_address, importance, conversation, conversation_index,
  header_id, change_key, created_s, modified_s, received_s, sent_s
)
SELECT
  new_id('message'),
  (SELECT n FROM folder WHERE well_known = 'inbox'),
  subject,
  body,
  body_type,
  from_address,
  importance,
  conversation,
  conversation_index,
  header_id,
  new_id('change'),
  now_ms() / 1000,
  now_ms() / 1000,
  received_s,
  sent_s
FROM message
WHERE n = :n
  AND EXISTS (SELECT 1 FROM recipient JOIN account ON email = lower(address) WHERE message = :n)
RETURNING n AS copy;
INSERT INTO recipient_row
SELECT :copy, kind, position, address
FROM recipient
WHERE :copy IS NOT NULL AND message = :n AND kind <> 'bcc';
SELECT json_object('success', 'Draft sent successfully') AS result;

-- name: outlookMail_create_draft
SELECT
  :subject AS draft_subject,
  :body_content AS draft_body,
  :to_recipients AS "to",
  ifnull(:cc_recipients, '[]') AS cc,
  ifnull(:bcc_recipients, '[]') AS bcc,
  NULL AS conversation;
-- include: write_draft

-- name: outlookMail_move_message
-- include: find_message
-- include: say_message
SELECT :destination_folder_id AS folder_id;
-- include: find_folder
-- include: say_folder
UPDATE message
SET
  folder = :folder,
  id = new_id('message'),
  change_key = new_id('change'),
  modified_s = now_ms() / 1000
WHERE n = :n;
-- include: show_message
