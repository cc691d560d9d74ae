-- The server of Larkspur Robotics, its people and its channels, which are there from the beginning,
-- and the messages. The account is a bot. Ids are snowflakes: milliseconds since 2015, shifted by
-- 22 bits, and a number. They are integers here and texts outside.

CREATE TABLE server (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  owner_id INTEGER NOT NULL,
  n_online INTEGER NOT NULL,
  icon TEXT NOT NULL,
  description TEXT NOT NULL,
  boost_level INTEGER NOT NULL,
  content_filter INTEGER NOT NULL
);
INSERT INTO server VALUES (
  1214906412381700106, 'Larkspur Robotics', 708213547692163112, 6,
  'b7d1f0c2a4e8593d6c1e0f7a2b948d35', 'ATLAS robots, the Harbor platform and the people around.', 1,
  2
);

CREATE TABLE user (
  id INTEGER PRIMARY KEY,
  rank INTEGER NOT NULL UNIQUE, -- whose the nth reaction is, when nobody says; 1 is the bot
  username TEXT NOT NULL UNIQUE,
  display_name TEXT,
  discriminator TEXT NOT NULL,
  is_bot INTEGER NOT NULL,
  avatar TEXT,
  nickname TEXT,
  joined TEXT, -- NULL: not in the server
  roles TEXT NOT NULL
);
INSERT INTO user VALUES
  (
    1214910384743419914, 1, 'Larkspur Assistant', NULL, '4821', 1,
    '5a1c9e7d3b8f2046a1c9e7d3b8f20465', NULL, '2024-03-06T11:20:14.311000+00:00',
    '["1214906412381700109"]'
  ),
  (
    708213547692163112, 2, 'mayachen', 'Maya Chen', '0', 0, '0f3a7c5e9b1d2846f3a7c5e9b1d28460',
    NULL, '2024-03-06T10:58:02.104000+00:00', '["1214906412381700107","1214906412381700108"]'
  ),
  (
    731590268840411187, 3, 'tomas.rivera', 'Tomás Rivera', '0', 0, NULL, 'Tomás (firmware)',
    '2024-03-06T13:41:37.920000+00:00', '["1214906412381700107"]'
  ),
  (
    759028841127870515, 4, 'aisha_ok', 'Aisha Okafor', '0', 0, 'c4e8593d6c1e0f7a2b948d35b7d1f0c2',
    NULL, '2024-03-07T08:05:51.003000+00:00', '["1214906412381700107"]'
  ),
  (
    782641190358024263, 5, 'jlindqvist', 'Jonas Lindqvist', '0', 0, NULL, 'Jonas | on call',
    '2024-03-07T08:19:26.447000+00:00', '["1214906412381700107","1214906412381700108"]'
  ),
  (
    806913325574529078, 6, 'priyanair', 'Priya Nair', '0', 0, NULL, NULL,
    '2024-03-11T09:30:00.615000+00:00', '["1214906412381700107"]'
  ),
  (
    834270016695795782, 7, 'danielk', 'Daniel Kim', '0', 0, '93d6c1e0f7a2b948d35b7d1f0c2a4e85',
    NULL, '2024-04-02T16:12:44.230000+00:00', '["1214906412381700107"]'
  ),
  (
    861755240911937566, 8, 'hana.szk', 'Hana Suzuki', '0', 0, NULL, NULL,
    '2024-05-20T01:47:09.871000+00:00', '["1214906412381700107"]'
  ),
  (
    912384457081303091, 9, 'northwind_elena', 'Elena Petrova', '0', 0, NULL, 'Elena (Northwind)',
    '2025-02-17T12:03:33.508000+00:00', '[]'
  ),
  (950117733629472828, 10, 'brightpath_marcus', 'Marcus Webb', '0', 0, NULL, NULL, NULL, '[]');

CREATE TABLE channel (
  id INTEGER PRIMARY KEY,
  server_id INTEGER NOT NULL REFERENCES server (id),
  kind TEXT NOT NULL, -- text, voice, category
  name TEXT NOT NULL,
  topic TEXT,
  category_id INTEGER REFERENCES channel (id),
  is_own INTEGER NOT NULL DEFAULT 1 -- 0: it is there from the beginning
);
INSERT INTO channel VALUES
  (1214906412838871089, 1214906412381700106, 'category', 'Text Channels', NULL, NULL, 0),
  (1214906412838871090, 1214906412381700106, 'category', 'Engineering', NULL, NULL, 0),
  (
    1214906412838871091, 1214906412381700106, 'text', 'general',
    'Everything that has no other place', 1214906412838871089, 0
  ),
  (
    1214906412838871092, 1214906412381700106, 'text', 'announcements',
    'Releases and incidents, few words', 1214906412838871089, 0
  ),
  (
    1214907702289530940, 1214906412381700106, 'text', 'atlas-firmware',
    'ATLAS firmware and its bugs', 1214906412838871090, 0
  ),
  (
    1214907758648180827, 1214906412381700106, 'text', 'harbor-ops', 'Running Harbor',
    1214906412838871090, 0
  ),
  (1214906412838871093, 1214906412381700106, 'voice', 'Lobby', NULL, NULL, 0);

-- The server's own emojis; others are Unicode's.
CREATE TABLE emoji (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
INSERT INTO emoji VALUES (1214911902523498586, 'atlas'), (1214911957078802493, 'shipit');

CREATE TABLE message (
  id INTEGER PRIMARY KEY,
  channel_id INTEGER NOT NULL REFERENCES channel (id),
  user_id INTEGER NOT NULL REFERENCES user (id),
  content TEXT NOT NULL,
  is_dated INTEGER NOT NULL DEFAULT 0 -- the time was given by whoever filled the server
);
CREATE INDEX message_channel ON message (channel_id, id);

CREATE TABLE reaction (
  message_id INTEGER NOT NULL REFERENCES message (id),
  emoji TEXT NOT NULL, -- itself, or name:id
  user_id INTEGER NOT NULL REFERENCES user (id),
  position INTEGER NOT NULL, -- in the order in which they came
  PRIMARY KEY (message_id, emoji, user_id)
) WITHOUT ROWID;

-- ---- as the server's tools show them ----

CREATE VIEW shown_message AS
SELECT
  m.id,
  m.channel_id,
  drop_nulls(json_object(
    'id', CAST(m.id AS TEXT),
    'content', m.content,
    'createdAt', strftime('%Y-%m-%dT%H:%M:%f', ((m.id >> 22) + 1420070400000) / 1000.0, 'unixepoch')
      || '000+00:00',
    'author', drop_nulls(json_object(
      'id', CAST(u.id AS TEXT),
      'username', u.username,
      'displayName', u.display_name,
      'tag', u.discriminator,
      'isBot', iif(u.is_bot, json('true'), NULL)
    )),
    'reactions', (
      SELECT json(nullif(json_group_array(json(item)), '[]'))
      FROM (
        SELECT drop_nulls(json_object(
          'name', iif(emoji GLOB '?*:[0-9]*', substr(emoji, 1, instr(emoji, ':') - 1), emoji),
          'emojiId', iif(emoji GLOB '?*:[0-9]*', substr(emoji, instr(emoji, ':') + 1), NULL),
          'count', count(*)
        )) AS item
        FROM reaction
        WHERE message_id = m.id
        GROUP BY emoji
        ORDER BY min(position), emoji
      )
    )
  )) AS shown
FROM message m
JOIN user u ON u.id = m.user_id;
