-- An organization: its people, teams with channels, chats, and online meetings. Messages belong to
-- a channel or a chat, both are threads; ids of messages are milliseconds.

CREATE TABLE account (user_id TEXT PRIMARY KEY, tenant TEXT NOT NULL);

CREATE TABLE user (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL UNIQUE COLLATE NOCASE,
  given_name TEXT NOT NULL,
  surname TEXT NOT NULL,
  title TEXT NOT NULL,
  phone TEXT NOT NULL,
  office TEXT NOT NULL
);

CREATE TABLE team (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL UNIQUE COLLATE NOCASE,
  description TEXT NOT NULL,
  visibility TEXT NOT NULL, -- private, public
  created_s INTEGER NOT NULL
);

CREATE TABLE thread (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  team INTEGER REFERENCES team (n), -- NULL: a chat
  name TEXT COLLATE NOCASE, -- of a channel; of a chat its topic
  description TEXT,
  created_s INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL,
  UNIQUE (team, name)
);

CREATE TABLE member (
  thread INTEGER NOT NULL REFERENCES thread (n) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  user_id TEXT NOT NULL,
  name TEXT,
  email TEXT,
  PRIMARY KEY (thread, position)
) WITHOUT ROWID;

CREATE TABLE message (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  thread INTEGER NOT NULL REFERENCES thread (n) ON DELETE CASCADE,
  content TEXT NOT NULL,
  sender TEXT NOT NULL, -- id of a user, or a name
  created_ms INTEGER NOT NULL,
  has_date INTEGER NOT NULL DEFAULT 0, -- the date was given by whoever imported it
  UNIQUE (thread, id)
);

CREATE TABLE meeting (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  user_id TEXT NOT NULL REFERENCES user (id),
  subject TEXT NOT NULL,
  start_s INTEGER NOT NULL,
  end_s INTEGER NOT NULL,
  created_s INTEGER NOT NULL,
  thread_id TEXT NOT NULL,
  code TEXT NOT NULL
);
CREATE INDEX meeting_user ON meeting (user_id, start_s);

-- Messages as a dump has them.
CREATE VIEW dumped_message AS
SELECT
  n,
  thread,
  drop_nulls(json_object(
    'message_id', id,
    'content', content,
    'from', iif(
      sender = (SELECT user_id FROM account),
      NULL,
      ifnull((SELECT email FROM user WHERE user.id = sender), sender)
    ),
    'created_date_time', iif(
      has_date,
      time_write(created_ms / 1000, 'UTC', '%Y-%m-%dT%H:%M:%SZ'),
      NULL
    )
  )) AS item
FROM message;

CREATE VIEW shown_user AS
SELECT
  id,
  email,
  json_object(
    'businessPhones', json_array(phone),
    'displayName', given_name || ' ' || surname,
    'givenName', given_name,
    'jobTitle', title,
    'mail', email,
    'mobilePhone', NULL,
    'officeLocation', office,
    'preferredLanguage', 'en-US',
    'surname', surname,
    'userPrincipalName', email,
    'id', id
  ) AS item
FROM user;

CREATE VIEW shown_channel AS
SELECT
  c.n,
  c.team,
  json_object(
    'id', c.id,
    'createdDateTime', time_write(c.created_s, 'UTC', '%Y-%m-%dT%H:%M:%S.000Z'),
    'displayName', c.name,
    'description', c.description,
    'isFavoriteByDefault', NULL,
    'email', '',
    'tenantId', tenant,
    'webUrl', 'https://teams.microsoft.example/l/channel/'
      || replace(replace(c.id, ':', '%3A'), '@', '%40') || '/' || replace(c.name, ' ', '%20')
      || '?groupId=' || team.id || '&tenantId=' || tenant,
    'membershipType', 'standard',
    'isArchived', json('false')
  ) AS item
FROM thread c
JOIN team ON team.n = c.team, account;

CREATE VIEW shown_chat AS
SELECT
  c.n,
  c.updated_ms,
  json_object(
    'id', c.id,
    'topic', c.name,
    'createdDateTime', time_write(c.created_s, 'UTC', '%Y-%m-%dT%H:%M:%S.000Z'),
    'lastUpdatedDateTime', time_write(c.updated_ms / 1000, 'UTC', '%Y-%m-%dT%H:%M:%S.000Z'),
    'chatType', iif(
      (SELECT count(*) FROM member WHERE thread = c.n) > 2 OR c.name IS NOT NULL,
      'group',
      'oneOnOne'
    ),
    'webUrl', 'https://teams.microsoft.example/l/chat/'
      || replace(replace(c.id, ':', '%3A'), '@', '%40') || '/0?tenantId=' || tenant,
    'tenantId', tenant,
    'onlineMeetingInfo', NULL,
    'viewpoint', json_object('isHidden', json('false')),
    'members', (
      SELECT json_group_array(json_object(
        '@odata.type', '#microsoft.graph.aadUserConversationMember',
        'roles', json('["owner"]'),
        'displayName', name,
        'userId', user_id,
        'email', email
      ))
      FROM (SELECT * FROM member WHERE thread = c.n ORDER BY position)
    )
  ) AS item
FROM thread c, account
WHERE c.team IS NULL;

CREATE VIEW shown_message AS
SELECT
  m.n,
  json_object(
    '@odata.context', 'https://graph.microsoft.com/v1.0/$metadata#'
      || iif(
        team.id IS NULL,
        'chats(''' || t.id || ''')',
        'teams(''' || team.id || ''')/channels(''' || t.id || ''')'
      ) || '/messages/$entity',
    'id', m.id,
    'replyToId', NULL,
    'etag', m.id,
    'messageType', 'message',
    'createdDateTime', time_write(m.created_ms / 1000, 'UTC', '%Y-%m-%dT%H:%M:%S.000Z'),
    'lastModifiedDateTime', time_write(m.created_ms / 1000, 'UTC', '%Y-%m-%dT%H:%M:%S.000Z'),
    'lastEditedDateTime', NULL,
    'deletedDateTime', NULL,
    'subject', NULL,
    'summary', NULL,
    'chatId', iif(team.id IS NULL, t.id, NULL),
    'importance', 'normal',
    'locale', 'en-us',
    'webUrl', iif(
      team.id IS NULL,
      NULL,
      'https://teams.microsoft.example/l/message/' || replace(replace(t.id, ':', '%3A'), '@', '%40')
        || '/' || m.id || '?groupId=' || team.id
    ),
    'from', json_object(
      'application', NULL,
      'device', NULL,
      'user', json_object(
        '@odata.type', '#microsoft.graph.teamworkUserIdentity',
        'id', m.sender,
        'displayName', ifnull(user.given_name || ' ' || user.surname, m.sender),
        'userIdentityType', 'aadUser',
        'tenantId', tenant
      )
    ),
    'body', json_object('contentType', 'text', 'content', m.content),
    'channelIdentity', iif(
      team.id IS NULL,
      NULL,
      json_object('teamId', team.id, 'channelId', t.id)
    ),
    'attachments', json('[]'),
    'mentions', json('[]'),
    'reactions', json('[]')
  ) AS item
FROM message m
JOIN thread t ON t.n = m.thread
LEFT JOIN team ON team.n = t.team
LEFT JOIN user ON user.id = m.sender, account;

CREATE VIEW shown_meeting AS
SELECT
  m.n,
  m.user_id,
  m.start_s,
  json_object(
    'id', m.id,
    'creationDateTime', time_write(m.created_s, 'UTC', '%Y-%m-%dT%H:%M:%SZ'),
    'startDateTime', time_write(m.start_s, 'UTC', '%Y-%m-%dT%H:%M:%SZ'),
    'endDateTime', time_write(m.end_s, 'UTC', '%Y-%m-%dT%H:%M:%SZ'),
    'joinWebUrl', 'https://teams.microsoft.example/l/meetup-join/'
      || replace(replace(m.thread_id, ':', '%3a'), '@', '%40') || '/0',
    'meetingCode', m.code,
    'subject', m.subject,
    'isBroadcast', json('false'),
    'autoAdmittedUsers', 'everyoneInCompany',
    'isEntryExitAnnounced', json('true'),
    'allowedPresenters', 'everyone',
    'videoTeleconferenceId', NULL,
    'participants', json_object(
      'organizer', json_object(
        'upn', user.email,
        'role', 'presenter',
        'identity', json_object(
          'user', json_object('id', user.id, 'displayName', user.given_name || ' ' || user.surname)
        )
      ),
      'attendees', json('[]')
    ),
    'audioConferencing', NULL,
    'chatInfo', json_object('threadId', m.thread_id, 'messageId', '0', 'replyChainMessageId', NULL),
    'lobbyBypassSettings', json_object(
      'scope', 'organization',
      'isDialInBypassEnabled', json('false')
    )
  ) AS item
FROM meeting m
JOIN user ON user.id = m.user_id;

-- What an organization has before its first message.

INSERT INTO account VALUES (
  '6b1c7a10-0001-4d2e-9a51-1f0c5a7e0001', '2d9f4c1e-7b35-4a60-8c1d-5e3f7a9b0c21'
);

INSERT INTO user VALUES
  (
    '6b1c7a10-0001-4d2e-9a51-1f0c5a7e0001', 'maya.chen@larkspur.example', 'Maya', 'Chen',
    'Engineering Manager', '+351 21 555 0101', 'Lisbon'
  ),
  (
    '6b1c7a10-0002-4d2e-9a51-1f0c5a7e0002', 'tomas.rivera@larkspur.example', 'Tomás', 'Rivera',
    'Senior Firmware Engineer', '+351 21 555 0102', 'Lisbon'
  ),
  (
    '6b1c7a10-0003-4d2e-9a51-1f0c5a7e0003', 'aisha.okafor@larkspur.example', 'Aisha', 'Okafor',
    'Backend Engineer', '+351 21 555 0103', 'Lisbon'
  ),
  (
    '6b1c7a10-0004-4d2e-9a51-1f0c5a7e0004', 'jonas.lindqvist@larkspur.example', 'Jonas',
    'Lindqvist', 'Site Reliability Engineer', '+46 8 555 0104', 'Stockholm'
  ),
  (
    '6b1c7a10-0005-4d2e-9a51-1f0c5a7e0005', 'priya.nair@larkspur.example', 'Priya', 'Nair',
    'Product Manager', '+351 21 555 0105', 'Lisbon'
  ),
  (
    '6b1c7a10-0006-4d2e-9a51-1f0c5a7e0006', 'daniel.kim@larkspur.example', 'Daniel', 'Kim',
    'QA Lead', '+351 21 555 0106', 'Lisbon'
  ),
  (
    '6b1c7a10-0007-4d2e-9a51-1f0c5a7e0007', 'sofia.marchetti@larkspur.example', 'Sofia',
    'Marchetti', 'Designer', '+39 02 555 0107', 'Milan'
  ),
  (
    '6b1c7a10-0008-4d2e-9a51-1f0c5a7e0008', 'ben.adeyemi@larkspur.example', 'Ben', 'Adeyemi',
    'Support Lead', '+44 20 5550 0108', 'London'
  ),
  (
    '6b1c7a10-0009-4d2e-9a51-1f0c5a7e0009', 'hana.suzuki@larkspur.example', 'Hana', 'Suzuki',
    'Data Scientist', '+351 21 555 0109', 'Lisbon'
  ),
  (
    '6b1c7a10-0010-4d2e-9a51-1f0c5a7e0010', 'oliver.grant@larkspur.example', 'Oliver', 'Grant',
    'CFO', '+44 20 5550 0110', 'London'
  );

INSERT INTO team VALUES
  (
    1, '8f3e2b6a-4c1d-4e57-9b0a-7d6c5b4a3001', 'Larkspur Engineering',
    'Firmware, cloud and tools of Larkspur Robotics', 'private', 1704099600
  ),
  (
    2, '8f3e2b6a-4c1d-4e57-9b0a-7d6c5b4a3002', 'Larkspur Company', 'Everyone at Larkspur Robotics',
    'public', 1704099600
  );

INSERT INTO thread (id, team, name, description, created_s, updated_ms) VALUES
  (
    '19:0a1b2c3d4e5f60718293a4b5c6d70001@thread.tacv2', 1, 'General',
    'Firmware, cloud and tools of Larkspur Robotics', 1704099600, 1704099600000
  ),
  (
    '19:0a1b2c3d4e5f60718293a4b5c6d70002@thread.tacv2', 2, 'General',
    'Everyone at Larkspur Robotics', 1704099600, 1704099600000
  );
