-- part: find_audience
-- :audience of the id :wanted; :field is what the API calls that id.
SELECT id AS audience FROM segment WHERE id = :wanted;
SELECT :failed || iif(
  length(:wanted) = 36 AND :wanted NOT GLOB '*[^0-9a-fA-F-]*',
  json_object('statusCode', 404, 'message', 'Audience not found', 'name', 'not_found'),
  json_object(
    'statusCode', 422,
    'message', 'The `' || :field || '` must be a valid UUID.',
    'name', 'validation_error'
  )
) AS error
WHERE :audience IS NULL;

-- part: find_contact
-- :contact of the audience, by :id or :email.
SELECT 'Either contact ID or email must be provided' AS error
WHERE ifnull(:id, '') = '' AND ifnull(:email, '') = '';
SELECT
  :audienceId AS wanted,
  'audience_id' AS field,
  iif(ifnull(:id, '') = '', 'Failed to list contacts: ', :failed) AS failed;
-- include: find_audience
SELECT c.id AS contact
FROM contact c
JOIN membership m ON m.contact_id = c.id
WHERE m.segment_id = :audience
  AND iif(ifnull(:id, '') = '', c.email = :email COLLATE BINARY, c.id = :id);
SELECT iif(
  ifnull(:id, '') = '',
  'Contact with email ' || :email || ' not found',
  :failed || iif(
    length(:id) = 36 AND :id NOT GLOB '*[^0-9a-fA-F-]*',
    json_object('statusCode', 404, 'message', 'Contact not found', 'name', 'not_found'),
    json_object(
      'statusCode', 422,
      'message', 'The `id` must be a valid UUID.',
      'name', 'validation_error'
    )
  )
) AS error
WHERE :contact IS NULL;

-- part: find_broadcast
SELECT id AS broadcast, status FROM current_broadcast WHERE id = :id;
SELECT :failed || iif(
  length(:id) = 36 AND :id NOT GLOB '*[^0-9a-fA-F-]*',
  json_object('statusCode', 404, 'message', 'Broadcast not found', 'name', 'not_found'),
  json_object(
    'statusCode', 422,
    'message', 'The `id` must be a valid UUID.',
    'name', 'validation_error'
  )
) AS error
WHERE :broadcast IS NULL;

-- part: read_when
-- :due is the time that :scheduledAt means, in seconds: "in 2 hours", "tomorrow at 10am", "next
-- Friday at 3:30pm ET", ISO 8601. A day without a time is at this time of the day.
SELECT
  replace(replace(lower(trim(:scheduledAt)), ' am', 'am'), ' pm', 'pm') AS said,
  now_ms() / 1000 AS now_s;
SELECT said AS zone_said, name AS zone FROM zone WHERE :said LIKE '% ' || said LIMIT 1;
SELECT
  iif(:zone IS NULL, :said, substr(:said, 1, length(:said) - length(:zone_said) - 1)) AS said,
  ifnull(:zone, 'UTC') AS zone;
SELECT
  CASE
    WHEN :said GLOB 'at *' THEN 'today'
    WHEN instr(:said, ' at ') > 0 THEN substr(:said, 1, instr(:said, ' at ') - 1)
    WHEN :said GLOB '* [0-9]*' AND :said NOT GLOB 'in *' THEN rtrim(rtrim(:said, '0123456789:apm'))
    ELSE :said
  END AS day,
  CASE
    WHEN :said GLOB 'at *' THEN substr(:said, 4)
    WHEN instr(:said, ' at ') > 0 THEN substr(:said, instr(:said, ' at ') + 4)
    WHEN :said GLOB '* [0-9]*' AND :said NOT GLOB 'in *'
      THEN substr(:said, length(rtrim(:said, '0123456789:apm')) + 1)
  END AS clock;
SELECT CASE :clock
  WHEN 'noon' THEN '12:00'
  WHEN 'midnight' THEN '0:00'
  ELSE rtrim(:clock, 'apm')
END AS digits;
SELECT
  CAST(:digits AS INTEGER) % iif(:clock GLOB '*[ap]m', 12, 100)
    + iif(:clock GLOB '*pm', 12, 0) AS hour,
  iif(instr(:digits, ':') > 0, CAST(substr(:digits, -2) AS INTEGER), 0) AS minute,
  :digits GLOB '[0-9]'
    OR :digits GLOB '[0-9][0-9]'
    OR :digits GLOB '[0-9]:[0-5][0-9]'
    OR :digits GLOB '[0-9][0-9]:[0-5][0-9]' AS is_clock,
  (
      instr(
          'sunday   monday   tuesday  wednesdaythursday friday   saturday ',
          replace(replace(replace(:day, 'next ', ''), 'this ', ''), 'on ', '')
        ) + 8
    ) / 9.0 - 1 AS weekday,
  substr(:said, 4) AS span;
SELECT
  CASE
    WHEN :day IN ('today', 'tonight') THEN 0
    WHEN :day IN ('tomorrow', 'next day') THEN 1
    WHEN :day GLOB '*day' AND :weekday >= 0 AND :weekday = CAST(:weekday AS INTEGER)
      THEN (:weekday - strftime('%w', time_write(:now_s, :zone, '%Y-%m-%d')) + 6) % 7 + 1
  END AS days,
  CASE
    WHEN :span GLOB 'a *' OR :span GLOB 'an *' OR :span GLOB 'one *' THEN 1
    WHEN :span GLOB '[0-9]*' THEN CAST(:span AS INTEGER)
  END AS amount,
  ltrim(substr(:span, instr(:span, ' ') + 1)) AS unit;
SELECT CASE
  WHEN :said GLOB 'in *'
    THEN :now_s + :amount * CASE
      WHEN :unit IN ('s', 'sec', 'secs', 'second', 'seconds') THEN 1
      WHEN :unit IN ('m', 'min', 'mins', 'minute', 'minutes') THEN 60
      WHEN :unit IN ('h', 'hr', 'hrs', 'hour', 'hours') THEN 3600
      WHEN :unit IN ('day', 'days') THEN 86400
      WHEN :unit IN ('week', 'weeks') THEN 604800
    END
  WHEN time_read(upper(:scheduledAt), 'UTC') IS NOT NULL THEN time_read(upper(:scheduledAt), 'UTC')
  WHEN :days IS NOT NULL AND (:clock IS NULL OR :is_clock AND :hour < 24)
    THEN time_read(
      time_write(:now_s + CAST(:days AS INTEGER) * 86400, :zone, '%Y-%m-%d') || 'T'
        || iif(
          :clock IS NULL,
          time_write(:now_s, :zone, '%H:%M:%S'),
          printf('%02d:%02d:00', :hour, :minute)
        ),
      :zone
    )
END AS due;
SELECT :failed || json_object(
  'statusCode', 422,
  'message', CASE
    WHEN :due IS NULL
      THEN 'The `scheduled_at` field is neither a date in natural language '
        || '(e.g.: in 1 min) nor one in ISO 8601 format.'
    WHEN :due < :now_s THEN 'The `scheduled_at` field is in the past.'
    ELSE 'The `scheduled_at` field is more than 30 days ahead.'
  END,
  'name', 'validation_error'
) AS error
WHERE ifnull(:scheduledAt, '') <> ''
  AND (:due IS NULL OR :due < :now_s OR :due > :now_s + 30 * 86400);
SELECT iif(
  ifnull(:scheduledAt, '') = '',
  NULL,
  time_write(:due, 'UTC', '%Y-%m-%dT%H:%M:%S') || '.000Z'
) AS scheduled;

-- name: resend_send_email
SELECT 'Email failed to send: ' AS failed;
SELECT :failed || json_object(
  'statusCode', 422,
  'message', 'Missing `subject` field.',
  'name', 'missing_required_field'
) AS error
WHERE :subject = '';
-- include: read_when
INSERT INTO email (
  id, n, sender, receivers, subject, html, text, cc, bcc, reply_to, created, scheduled
)
SELECT
  new_id('email'),
  ifnull(max(n), 0) + 1,
  :from,
  json_array(:to),
  :subject,
  nullif(:html, ''),
  :text,
  nullif(:cc, '[]'),
  nullif(:bcc, '[]'),
  (SELECT group_concat(value, ', ') FROM json_each(:replyTo)),
  now(),
  :scheduled
FROM email
WHERE true
RETURNING id AS made;
SELECT 'Email sent successfully! ' || json_object('id', :made) AS result;

-- name: resend_create_audience
SELECT 'Failed to create audience: ' || json_object(
  'statusCode', 422,
  'message', 'Missing `name` field.',
  'name', 'missing_required_field'
) AS error
WHERE trim(:name) = '';
INSERT INTO segment
SELECT new_id('segment'), ifnull(max(n), 0) + 1, :name, now()
FROM segment
WHERE true
RETURNING id AS made;
SELECT 'Audience created successfully! ' || json_object(
  'object', 'audience',
  'id', :made,
  'name', :name
) AS result;

-- name: resend_get_audience
SELECT 'Failed to retrieve audience: ' AS failed, :id AS wanted, 'id' AS field;
-- include: find_audience
SELECT 'Audience retrieved successfully! ' || json_object(
  'object', 'audience',
  'id', id,
  'name', name,
  'created_at', created
) AS result
FROM segment
WHERE id = :audience;

-- name: resend_delete_audience
SELECT 'Failed to delete audience: ' AS failed, :id AS wanted, 'id' AS field;
-- include: find_audience
DELETE FROM broadcast WHERE segment_id = :audience;
DELETE FROM membership WHERE segment_id = :audience;
DELETE FROM segment WHERE id = :audience;
SELECT 'Audience deleted successfully! ' || json_object(
  'object', 'audience',
  'id', :audience,
  'deleted', json('true')
) AS result;

-- name: resend_list_audiences
SELECT 'Audiences retrieved successfully! ' || json_object(
  'object', 'list',
  'data', json_group_array(json(item))
) AS result
FROM (
  SELECT json_object('id', id, 'name', name, 'created_at', created) AS item
  FROM segment
  ORDER BY n DESC
);

-- name: resend_create_contact
SELECT 'Failed to create contact: ' AS failed, :audienceId AS wanted, 'audience_id' AS field;
-- include: find_audience
INSERT INTO contact
SELECT
  new_id('contact'),
  ifnull(max(n), 0) + 1,
  :email,
  :firstName,
  :lastName,
  ifnull(:unsubscribed, 0),
  now()
FROM contact
WHERE true
ON CONFLICT (email) DO UPDATE SET
  first_name = ifnull(:firstName, first_name),
  last_name = ifnull(:lastName, last_name),
  is_unsubscribed = ifnull(:unsubscribed, is_unsubscribed);
SELECT id AS contact FROM contact WHERE email = :email;
INSERT OR IGNORE INTO membership VALUES (:audience, :contact);
SELECT 'Contact created successfully! ' || json_object(
  'object', 'contact',
  'id', :contact
) AS result;

-- name: resend_get_contact
SELECT 'Failed to retrieve contact: ' AS failed;
-- include: find_contact
SELECT 'Contact retrieved successfully! ' || json_object(
  'object', 'contact',
  'id', id,
  'email', email,
  'first_name', first_name,
  'last_name', last_name,
  'created_at', created,
  'unsubscribed', json(iif(is_unsubscribed, 'true', 'false'))
) AS result
FROM contact
WHERE id = :contact;

-- name: resend_update_contact
SELECT 'Failed to update contact: ' AS failed;
-- include: find_contact
UPDATE contact
SET
  first_name = ifnull(:firstName, first_name),
  last_name = ifnull(:lastName, last_name),
  is_unsubscribed = ifnull(:unsubscribed, is_unsubscribed)
WHERE id = :contact;
SELECT 'Contact updated successfully! ' || json_object(
  'object', 'contact',
  'id', :contact
) AS result;

-- name: resend_delete_contact
SELECT 'Failed to delete contact: ' AS failed;
-- include: find_contact
DELETE FROM membership WHERE contact_id = :contact;
DELETE FROM contact WHERE id = :contact;
SELECT 'Contact deleted successfully! ' || json_object(
  'object', 'contact',
  'contact', :contact,
  'deleted', json('true')
) AS result;

-- name: resend_list_contacts
SELECT 'Failed to list contacts: ' AS failed, :audienceId AS wanted, 'audience_id' AS field;
-- include: find_audience
SELECT 'Contacts retrieved successfully! ' || json_object(
  'object', 'list',
  'data', json_group_array(json(item))
) AS result
FROM (
  SELECT json_object(
    'id', id,
    'email', email,
    'first_name', first_name,
    'last_name', last_name,
    'created_at', created,
    'unsubscribed', json(iif(is_unsubscribed, 'true', 'false'))
  ) AS item
  FROM contact
  JOIN membership ON contact_id = id
  WHERE segment_id = :audience
  ORDER BY n DESC
);

-- name: resend_create_broadcast
SELECT 'Failed to create broadcast: ' AS failed, :audienceId AS wanted, 'audience_id' AS field;
-- include: find_audience
SELECT :failed || json_object(
  'statusCode', 422,
  'message', 'Invalid `from` field. The email address needs to follow the '
    || '`email@example.com` or `Name <email@example.com>` format.',
  'name', 'validation_error'
) AS error
WHERE NOT mail_is_address(mail_address(:from));
SELECT :failed || json_object(
  'statusCode', 422,
  'message', 'Missing `' || iif(:subject = '', 'subject', 'html') || '` field.',
  'name', 'missing_required_field'
) AS error
WHERE :subject = '' OR :html = '';
INSERT INTO broadcast (
  id, n, segment_id, name, sender, subject, html, reply_to, preview_text, created
)
SELECT
  new_id('broadcast'),
  ifnull(max(n), 0) + 1,
  :audience,
  nullif(:name, ''),
  :from,
  :subject,
  :html,
  nullif(:replyTo, ''),
  nullif(:previewText, ''),
  now()
FROM broadcast
WHERE true
RETURNING id AS made;
SELECT 'Broadcast created successfully! ' || json_object('id', :made) AS result;

-- name: resend_get_broadcast
SELECT 'Failed to retrieve broadcast: ' AS failed;
-- include: find_broadcast
SELECT 'Broadcast retrieved successfully! ' || json_object(
  'object', 'broadcast',
  'id', id,
  'name', name,
  'audience_id', segment_id,
  'from', sender,
  'subject', subject,
  'reply_to', iif(reply_to IS NULL, NULL, json_array(reply_to)),
  'preview_text', preview_text,
  'status', status,
  'created_at', created,
  'scheduled_at', scheduled,
  'sent_at', sent,
  'html', html,
  'text', text
) AS result
FROM current_broadcast
WHERE id = :broadcast;

-- name: resend_send_broadcast
SELECT 'Failed to send broadcast: ' AS failed;
-- include: find_broadcast
SELECT :failed || json_object(
  'statusCode', 422,
  'message', 'Only broadcasts with the status draft can be sent, this ' || 'one has ' || :status
    || '.',
  'name', 'validation_error'
) AS error
WHERE :status <> 'draft';
-- include: read_when
UPDATE broadcast
SET
  status = iif(:scheduled IS NULL, 'sent', 'scheduled'),
  scheduled = :scheduled,
  sent = iif(:scheduled IS NULL, now(), NULL)
WHERE id = :broadcast;
SELECT 'Broadcast ' || iif(:scheduled IS NULL, 'sent', 'scheduled') || ' successfully! '
  || json_object('id', :broadcast) AS result;

-- name: resend_delete_broadcast
SELECT 'Failed to delete broadcast: ' AS failed;
-- include: find_broadcast
SELECT :failed || json_object(
  'statusCode', 422,
  'message', 'Broadcasts that have been sent cannot be deleted.',
  'name', 'validation_error'
) AS error
WHERE :status NOT IN ('draft', 'scheduled');
DELETE FROM broadcast WHERE id = :broadcast;
SELECT 'Broadcast deleted successfully! ' || json_object(
  'object', 'broadcast',
  'id', :broadcast,
  'deleted', json('true')
) AS result;

-- name: resend_list_broadcasts
SELECT 'Broadcasts retrieved successfully! ' || json_object(
  'object', 'list',
  'data', json_group_array(json(item))
) AS result
FROM (
  SELECT json_object(
    'id', id,
    'name', name,
    'audience_id', segment_id,
    'status', status,
    'created_at', created,
    'scheduled_at', scheduled,
    'sent_at', sent
  ) AS item
  FROM current_broadcast
  ORDER BY n DESC
);
