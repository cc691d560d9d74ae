-- The workspace of Larkspur Robotics. The account is Maya Chen; the app that she has installed acts
-- as the bot. People, direct messages and the two channels that every workspace has are there from
-- the beginning.

CREATE TABLE team (id TEXT PRIMARY KEY, name TEXT NOT NULL, domain TEXT NOT NULL);
INSERT INTO team VALUES ('T06T4LRKSPR', 'Larkspur Robotics', 'larkspur');

CREATE TABLE user (
  id TEXT PRIMARY KEY,
  rank INTEGER NOT NULL, -- the order of lists; 1 is the account
  name TEXT NOT NULL UNIQUE,
  real_name TEXT NOT NULL,
  display_name TEXT NOT NULL,
  email TEXT, -- bots have none
  title TEXT NOT NULL,
  tz TEXT NOT NULL,
  tz_label TEXT NOT NULL,
  tz_offset INTEGER NOT NULL,
  color TEXT NOT NULL,
  kind TEXT NOT NULL, -- owner, admin, member, guest, bot
  bot_id TEXT
);
INSERT INTO user VALUES
  (
    'U06T4R2MCHN', 1, 'mchen', 'Maya Chen', 'maya', 'maya.chen@larkspur.example',
    'Engineering Manager', 'America/Los_Angeles', 'Pacific Standard Time', -28800, '9f69e7',
    'admin', NULL
  ),
  (
    'U06T4R7TRVA', 2, 'trivera', 'Tomás Rivera', 'tomas', 'tomas.rivera@larkspur.example',
    'Senior Firmware Engineer', 'Europe/Madrid', 'Central European Time', 3600, '4bbe2e', 'member',
    NULL
  ),
  (
    'U06T5A1OKFR', 3, 'aokafor', 'Aisha Okafor', 'aisha', 'aisha.okafor@larkspur.example',
    'Backend Engineer', 'Africa/Lagos', 'West Africa Time', 3600, 'e7392d', 'member', NULL
  ),
  (
    'U06T5A8JLND', 4, 'jlindqvist', 'Jonas Lindqvist', 'jonas', 'jonas.lindqvist@larkspur.example',
    'Site Reliability Engineer', 'Europe/Stockholm', 'Central European Time', 3600, '3c989f',
    'admin', NULL
  ),
  (
    'U06T6B3PNAR', 5, 'pnair', 'Priya Nair', 'priya', 'priya.nair@larkspur.example',
    'Product Manager', 'Europe/London', 'Greenwich Mean Time', 0, '674b1b', 'member', NULL
  ),
  (
    'U06T6B9DKIM', 6, 'dkim', 'Daniel Kim', 'daniel', 'daniel.kim@larkspur.example', 'QA Lead',
    'America/Los_Angeles', 'Pacific Standard Time', -28800, 'e96699', 'member', NULL
  ),
  (
    'U06T7C2SMRC', 7, 'smarchetti', 'Sofia Marchetti', 'sofia', 'sofia.marchetti@larkspur.example',
    'Designer', 'Europe/Rome', 'Central European Time', 3600, 'e0a729', 'member', NULL
  ),
  (
    'U06T7C6BADY', 8, 'badeyemi', 'Ben Adeyemi', 'ben', 'ben.adeyemi@larkspur.example',
    'Support Lead', 'Europe/London', 'Greenwich Mean Time', 0, '684b6c', 'member', NULL
  ),
  (
    'U06T8D4HSZK', 9, 'hsuzuki', 'Hana Suzuki', 'hana', 'hana.suzuki@larkspur.example',
    'Data Scientist', 'Asia/Tokyo', 'Japan Standard Time', 32400, '5b89d5', 'member', NULL
  ),
  (
    'U06T8D9OGRT', 10, 'ogrant', 'Oliver Grant', 'oliver', 'oliver.grant@larkspur.example', 'CFO',
    'America/New_York', 'Eastern Standard Time', -18000, '2b6836', 'owner', NULL
  ),
  (
    'U06T9E5EPTV', 11, 'epetrova', 'Elena Petrova', 'elena (Northwind)',
    'elena.petrova@northwind-logistics.example', 'Operations Lead, Northwind Logistics',
    'Europe/Berlin', 'Central European Time', 3600, '99a949', 'guest', NULL
  ),
  (
    'U06TAF1LBOT', 12, 'larkspur_assistant', 'Larkspur Assistant', 'Larkspur Assistant', NULL, '',
    'America/Los_Angeles', 'Pacific Standard Time', -28800, 'df3dc0', 'bot', 'B06TAF1ASST'
  );

CREATE TABLE channel (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL, -- public_channel, private_channel, im
  name TEXT, -- direct messages have none
  creator TEXT NOT NULL REFERENCES user (id),
  created INTEGER NOT NULL, -- seconds since 1970
  purpose TEXT, -- NULL: none was set
  is_general INTEGER NOT NULL DEFAULT 0,
  own_purpose TEXT -- of the channels that are always there: the one that they begin with
);
CREATE UNIQUE INDEX channel_name ON channel (name) WHERE name IS NOT NULL;
INSERT INTO channel VALUES
  (
    'C06T4GENRAL', 'public_channel', 'general', 'U06T8D9OGRT', 1709283600,
    'Announcements and things that everyone at Larkspur should know.', 1,
    'Announcements and things that everyone at Larkspur should know.'
  ),
  (
    'C06T4RANDOM', 'public_channel', 'random', 'U06T8D9OGRT', 1709283600,
    'Robots, lunch and everything else.', 0, 'Robots, lunch and everything else.'
  );
INSERT INTO channel
SELECT 'D' || substr(id, 2), 'im', NULL, 'U06T4R2MCHN', 1709283600, NULL, 0, NULL
FROM user
WHERE rank > 1;

CREATE TABLE member (
  channel_id TEXT NOT NULL REFERENCES channel (id),
  user_id TEXT NOT NULL REFERENCES user (id),
  PRIMARY KEY (channel_id, user_id)
) WITHOUT ROWID;
CREATE INDEX member_user ON member (user_id, channel_id);
INSERT INTO member
SELECT channel.id, user.id
FROM channel, user
WHERE channel.kind <> 'im' AND user.kind <> 'guest';
INSERT INTO member SELECT 'D' || substr(id, 2), id FROM user WHERE rank > 1;
INSERT INTO member SELECT id, 'U06T4R2MCHN' FROM channel WHERE kind = 'im';

CREATE TABLE message (
  id INTEGER PRIMARY KEY,
  channel_id TEXT NOT NULL REFERENCES channel (id),
  ts TEXT NOT NULL, -- "1768467600.000000": unique in its channel, later is greater
  user_id TEXT NOT NULL REFERENCES user (id),
  text TEXT NOT NULL,
  thread_ts TEXT, -- of a reply: the message that began the thread
  is_dated INTEGER NOT NULL DEFAULT 0, -- ts was given by whoever filled the workspace
  UNIQUE (channel_id, ts)
);
CREATE INDEX message_thread ON message (channel_id, thread_ts, ts);
CREATE INDEX message_user ON message (user_id, ts);
CREATE VIRTUAL TABLE fts_message USING fts5 (
  text,
  content = 'message',
  content_rowid = 'id',
  tokenize = 'porter unicode61 remove_diacritics 2'
);

CREATE TABLE reaction (
  message_id INTEGER NOT NULL REFERENCES message (id),
  name TEXT NOT NULL,
  user_id TEXT NOT NULL REFERENCES user (id),
  position INTEGER NOT NULL, -- in the order in which they came
  PRIMARY KEY (message_id, name, user_id)
) WITHOUT ROWID;
CREATE INDEX reaction_user ON reaction (user_id, name);

-- ---- as Slack shows them ----

CREATE VIEW raw_message AS
SELECT
  m.id,
  m.channel_id,
  m.ts,
  m.thread_ts,
  m.user_id,
  m.text,
  drop_nulls(json_object(
    'type', 'message',
    'user', m.user_id,
    'ts', m.ts,
    'bot_id', u.bot_id,
    'text', m.text,
    'team', (SELECT id FROM team),
    'thread_ts', ifnull(
      m.thread_ts,
      (
        SELECT r.thread_ts
        FROM message r
        WHERE r.channel_id = m.channel_id AND r.thread_ts = m.ts
        LIMIT 1
      )
    ),
    'parent_user_id', (
      SELECT p.user_id FROM message p WHERE p.channel_id = m.channel_id AND p.ts = m.thread_ts
    ),
    'reply_count', (
      SELECT nullif(count(*), 0)
      FROM message r
      WHERE r.channel_id = m.channel_id AND r.thread_ts = m.ts
    ),
    'reply_users_count', (
      SELECT nullif(count(DISTINCT r.user_id), 0)
      FROM message r
      WHERE r.channel_id = m.channel_id AND r.thread_ts = m.ts
    ),
    'latest_reply', (
      SELECT max(r.ts) FROM message r WHERE r.channel_id = m.channel_id AND r.thread_ts = m.ts
    ),
    'reply_users', (
      SELECT json(nullif(json_group_array(user_id), '[]'))
      FROM (
        SELECT r.user_id
        FROM message r
        WHERE r.channel_id = m.channel_id AND r.thread_ts = m.ts
        GROUP BY r.user_id
        ORDER BY min(r.ts)
      )
    ),
    'reactions', (
      SELECT json(nullif(
        json_group_array(json_object('name', name, 'users', json(users), 'count', n)),
        '[]'
      ))
      FROM (
        SELECT name, json_group_array(user_id) AS users, count(*) AS n
        FROM (
          SELECT name, user_id, position FROM reaction WHERE message_id = m.id ORDER BY position
        )
        GROUP BY name
        ORDER BY min(position)
      )
    )
  )) AS raw
FROM message m
JOIN user u ON u.id = m.user_id;

CREATE VIEW raw_channel AS
SELECT
  c.id,
  c.kind,
  c.name,
  CASE c.kind
    WHEN 'im'
      THEN json_object(
        'id', c.id,
        'created', c.created,
        'is_archived', json('false'),
        'is_im', json('true'),
        'is_org_shared', json('false'),
        'context_team_id', (SELECT id FROM team),
        'updated', c.created * 1000,
        'user', (
          SELECT user_id
          FROM member
          JOIN user ON user.id = user_id
          WHERE channel_id = c.id
          ORDER BY rank DESC
          LIMIT 1
        ),
        'is_user_deleted', json('false'),
        'priority', 0
      )
    ELSE json_object(
      'id', c.id,
      'name', c.name,
      'is_channel', json(iif(c.kind = 'public_channel', 'true', 'false')),
      'is_group', json(iif(c.kind = 'private_channel', 'true', 'false')),
      'is_im', json('false'),
      'is_mpim', json('false'),
      'is_private', json(iif(c.kind = 'private_channel', 'true', 'false')),
      'created', c.created,
      'is_archived', json('false'),
      'is_general', json(iif(c.is_general, 'true', 'false')),
      'unlinked', 0,
      'name_normalized', lower(c.name),
      'is_shared', json('false'),
      'is_org_shared', json('false'),
      'is_ext_shared', json('false'),
      'context_team_id', (SELECT id FROM team),
      'updated', c.created * 1000,
      'creator', c.creator,
      'is_member', json('true'),
      'topic', json_object('value', '', 'creator', '', 'last_set', 0),
      'purpose', json_object(
        'value', ifnull(c.purpose, ''),
        'creator', iif(c.purpose IS NULL, '', c.creator),
        'last_set', iif(c.purpose IS NULL, 0, c.created)
      ),
      'num_members', (SELECT count(*) FROM member WHERE channel_id = c.id)
    )
  END AS raw
FROM channel c;

CREATE VIEW raw_user AS
SELECT
  u.id,
  u.rank,
  u.name,
  u.real_name,
  drop_nulls(json_object(
    'id', u.id,
    'team_id', (SELECT id FROM team),
    'name', u.name,
    'deleted', json('false'),
    'color', u.color,
    'real_name', u.real_name,
    'tz', u.tz,
    'tz_label', u.tz_label,
    'tz_offset', u.tz_offset,
    'profile', drop_nulls(json_object(
      'title', u.title,
      'phone', '',
      'real_name', u.real_name,
      'real_name_normalized', u.real_name,
      'display_name', u.display_name,
      'display_name_normalized', u.display_name,
      'status_text', '',
      'status_emoji', '',
      'first_name', substr(u.real_name, 1, instr(u.real_name, ' ') - 1),
      'last_name', substr(u.real_name, instr(u.real_name, ' ') + 1),
      'email', u.email,
      'bot_id', u.bot_id,
      'team', (SELECT id FROM team)
    )),
    'is_admin', json(iif(u.kind IN ('admin', 'owner'), 'true', 'false')),
    'is_owner', json(iif(u.kind = 'owner', 'true', 'false')),
    'is_primary_owner', json(iif(u.kind = 'owner', 'true', 'false')),
    'is_restricted', json(iif(u.kind = 'guest', 'true', 'false')),
    'is_ultra_restricted', json('false'),
    'is_bot', json(iif(u.kind = 'bot', 'true', 'false')),
    'is_app_user', json('false'),
    'updated', 1767258000,
    'is_email_confirmed', json(iif(u.email IS NULL, 'false', 'true'))
  )) AS raw
FROM user u;

-- What USER_ID may call a conversation that they are in: its id, its name, the other's id.
CREATE VIEW place AS
SELECT user_id, channel_id, channel_id AS called FROM member
UNION ALL
SELECT m.user_id, m.channel_id, c.name
FROM member m
JOIN channel c ON c.id = m.channel_id
WHERE c.name IS NOT NULL
UNION ALL
SELECT m.user_id, m.channel_id, '#' || c.name
FROM member m
JOIN channel c ON c.id = m.channel_id
WHERE c.name IS NOT NULL
UNION ALL
SELECT m.user_id, m.channel_id, o.user_id
FROM member m
JOIN channel c ON c.id = m.channel_id
JOIN member o ON o.channel_id = m.channel_id
WHERE c.kind = 'im' AND o.user_id <> m.user_id;

-- The conversations of USER_ID by their names: direct messages have that of the other.
CREATE VIEW named_channel AS
SELECT
  m.user_id,
  c.id,
  c.kind,
  iif(c.kind = 'im', '@' || u.name, '#' || c.name) AS name,
  iif(c.kind = 'im', 'DM with ' || u.real_name, ifnull(c.purpose, '')) AS purpose,
  (SELECT count(*) FROM member n WHERE n.channel_id = c.id) AS n_members
FROM member m
JOIN channel c ON c.id = m.channel_id
LEFT JOIN member o ON c.kind = 'im' AND o.channel_id = c.id AND o.user_id <> m.user_id
LEFT JOIN user u ON u.id = o.user_id;

-- The ts of the next message of each conversation: the time, but later than all that are there.
CREATE VIEW next_ts AS
SELECT id AS channel_id, printf('%d.%06d', us / 1000000, us % 1000000) AS ts
FROM (
  SELECT
    id,
    max(
      now_ms() * 1000,
      ifnull((
        SELECT CAST(replace(max(ts), '.', '') AS INTEGER) + 100
        FROM message
        WHERE channel_id = channel.id
      ), 0)
    ) AS us
  FROM channel
);
