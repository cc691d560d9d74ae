-- part: find_team
SELECT n AS team FROM team WHERE id = lower(:team_id);
SELECT 'Graph API Error 400: ' || json_object(
  'error', json_object('code', 'BadRequest', 'message', 'teamId needs to be a valid GUID.')
) AS error
WHERE :team_id NOT LIKE '________-____-____-____-____________';
SELECT 'Graph API Error 404: ' || json_object(
  'error', json_object('code', 'NotFound', 'message', 'No team found with Group Id ' || :team_id)
) AS error
WHERE :team IS NULL;

-- part: find_user
SELECT id AS user_key
FROM user
WHERE id = lower(:user_id)
  OR email = :user_id
  OR (lower(:user_id) = 'me' AND id = (SELECT user_id FROM account));
SELECT 'Graph API Error 404: ' || json_object(
  'error', json_object(
    'code', 'Request_ResourceNotFound',
    'message', 'Resource ''' || :user_id || ''' does not exist or one of its queried '
      || 'reference-property objects are not present.'
  )
) AS error
WHERE :user_key IS NULL;

-- part: write_message
-- :message to :thread.
SELECT 'Graph API Error 400: ' || json_object(
  'error', json_object('code', 'BadRequest', 'message', 'The body of a message cannot be empty.')
) AS error
WHERE trim(:message) = '';
INSERT INTO message (id, thread, content, sender, created_ms)
SELECT
  max(
    now_ms(),
    1 + ifnull((SELECT max(CAST(id AS INTEGER)) FROM message WHERE thread = :thread), 0)
  ),
  :thread,
  :message,
  user_id,
  now_ms()
FROM account
RETURNING n;
UPDATE thread SET updated_ms = now_ms() WHERE n = :thread;
SELECT item AS result FROM shown_message WHERE n = :n;

-- name: msteams_list_all_teams
SELECT json_object(
  '@odata.context', 'https://graph.microsoft.com/v1.0/$metadata#groups',
  'value', json_group_array(json(item))
) AS result
FROM (
  SELECT json_object(
    'id', id,
    'deletedDateTime', NULL,
    'classification', NULL,
    'createdDateTime', time_write(created_s, 'UTC', '%Y-%m-%dT%H:%M:%SZ'),
    'creationOptions', json('["Team"]'),
    'description', description,
    'displayName', name,
    'groupTypes', json('["Unified"]'),
    'mail', lower(replace(name, ' ', '')) || '@larkspur.example',
    'mailEnabled', json('true'),
    'mailNickname', lower(replace(name, ' ', '')),
    'resourceProvisioningOptions', json('["Team"]'),
    'securityEnabled', json('false'),
    'visibility', upper(substr(visibility, 1, 1)) || substr(visibility, 2)
  ) AS item
  FROM team
  ORDER BY n
);

-- name: msteams_get_team
-- include: find_team
SELECT json_object(
  '@odata.context', 'https://graph.microsoft.com/v1.0/$metadata#teams/$entity',
  'id', id,
  'createdDateTime', time_write(created_s, 'UTC', '%Y-%m-%dT%H:%M:%SZ'),
  'displayName', name,
  'description', description,
  'internalId', (SELECT c.id FROM thread c WHERE c.team = team.n ORDER BY c.n LIMIT 1),
  'classification', NULL,
  'specialization', 'none',
  'visibility', visibility,
  'webUrl', 'https://teams.microsoft.example/l/team/' || id || '/conversations?groupId=' || id
    || '&tenantId=' || tenant,
  'isArchived', json('false'),
  'isMembershipLimitedToOwners', json('false'),
  'tenantId', tenant,
  'memberSettings', json_object(
    'allowCreateUpdateChannels', json('true'),
    'allowCreatePrivateChannels', json('true'),
    'allowDeleteChannels', json('true'),
    'allowAddRemoveApps', json('true')
  ),
  'guestSettings', json_object(
    'allowCreateUpdateChannels', json('false'),
    'allowDeleteChannels', json('false')
  ),
  'messagingSettings', json_object(
    'allowUserEditMessages', json('true'),
    'allowUserDeleteMessages', json('true'),
    'allowTeamMentions', json('true'),
    'allowChannelMentions', json('true')
  )
) AS result
FROM team, account
WHERE n = :team;

-- name: msteams_list_channels
-- include: find_team
SELECT json_object(
  '@odata.context', 'https://graph.microsoft.com/v1.0/$metadata#teams(''' || :team_id
    || ''')/channels',
  '@odata.count', count(*),
  'value', json_group_array(json(item))
) AS result
FROM (SELECT item FROM shown_channel WHERE team = :team ORDER BY n);

-- name: msteams_create_channel
-- include: find_team
SELECT 'Graph API Error 400: ' || json_object(
  'error', json_object('code', 'BadRequest', 'message', text)
) AS error
FROM (
  SELECT CASE
    WHEN trim(:display_name) = '' THEN 'displayName cannot be empty.'
    WHEN length(:display_name) > 50 THEN 'displayName cannot be longer than 50 characters.'
    WHEN :display_name GLOB '*[~#%&*{}/\:<>?+|''"]*'
      THEN 'displayName has characters that are not allowed: ~ # % & * { } / \ : < > ? '
        || '+ | '' "'
    WHEN length(:description) > 1024 THEN 'description cannot be longer than 1024 characters.'
    WHEN EXISTS (SELECT 1 FROM thread WHERE team = :team AND name = trim(:display_name))
      THEN 'Channel name already existed, please use other name.'
  END AS text
)
WHERE text IS NOT NULL;
INSERT INTO thread (id, team, name, description, created_s, updated_ms) VALUES (
  new_id('channel'),
  :team,
  trim(:display_name),
  :description,
  now_ms() / 1000,
  now_ms()
)
RETURNING n;
SELECT json_set(
  item,
  '$."@odata.context"', 'https://graph.microsoft.com/v1.0/$metadata#teams(''' || :team_id
    || ''')/channels/$entity'
) AS result
FROM shown_channel
WHERE n = :n;

-- name: msteams_send_channel_message
-- include: find_team
SELECT n AS thread FROM thread WHERE id = :channel_id AND team = :team;
SELECT 'Graph API Error 404: ' || json_object(
  'error', json_object('code', 'NotFound', 'message', 'No channel found with id ' || :channel_id)
) AS error
WHERE :thread IS NULL;
-- include: write_message

-- name: msteams_list_chats
SELECT json_object(
  '@odata.context', 'https://graph.microsoft.com/v1.0/$metadata#chats',
  '@odata.count', count(*),
  'value', json_group_array(json(item))
) AS result
FROM (SELECT item FROM shown_chat ORDER BY updated_ms DESC, n);

-- name: msteams_send_chat_message
SELECT n AS thread FROM thread WHERE id = :chat_id AND team IS NULL;
SELECT 'Graph API Error 404: ' || json_object(
  'error', json_object('code', 'NotFound', 'message', 'No chat found with id ' || :chat_id)
) AS error
WHERE :thread IS NULL;
-- include: write_message

-- name: msteams_list_users
SELECT json_object(
  '@odata.context', 'https://graph.microsoft.com/v1.0/$metadata#users',
  'value', json_group_array(json(item))
) AS result
FROM (SELECT item FROM shown_user ORDER BY id);

-- name: msteams_get_user
-- include: find_user
SELECT json_set(
  item,
  '$."@odata.context"', 'https://graph.microsoft.com/v1.0/$metadata#users/$entity'
) AS result
FROM shown_user
WHERE id = :user_key;

-- name: msteams_create_online_meeting
-- include: find_user
SELECT time_read(:start_datetime, 'UTC') AS start_s, time_read(:end_datetime, 'UTC') AS end_s;
SELECT 'Graph API Error 400: ' || json_object(
  'error', json_object(
    'code', 'BadRequest',
    'message', 'Cannot convert the literal '''
      || iif(:start_s IS NULL, :start_datetime, :end_datetime)
      || ''' to the expected type ''Edm.DateTimeOffset''.'
  )
) AS error
WHERE :start_s IS NULL OR :end_s IS NULL;
SELECT 'Graph API Error 400: ' || json_object(
  'error', json_object('code', 'BadRequest', 'message', 'A meeting cannot end before it begins.')
) AS error
WHERE :end_s < :start_s;
INSERT INTO meeting (id, user_id, subject, start_s, end_s, created_s, thread_id, code) VALUES (
  new_id('meeting'),
  :user_key,
  :subject,
  :start_s,
  :end_s,
  now_ms() / 1000,
  new_id('thread'),
  rand_text('{digits:12}')
)
RETURNING n;
SELECT json_set(
  item,
  '$."@odata.context"', 'https://graph.microsoft.com/v1.0/$metadata#users(''' || :user_key
    || ''')/onlineMeetings/$entity'
) AS result
FROM shown_meeting
WHERE n = :n;

-- name: msteams_list_online_meetings
-- include: find_user
SELECT json_object(
  '@odata.context', 'https://graph.microsoft.com/v1.0/$metadata#users(''' || :user_key
    || ''')/onlineMeetings',
  'value', json_group_array(json(item))
) AS result
FROM (SELECT item FROM shown_meeting WHERE user_id = :user_key ORDER BY start_s, n);
