-- Memories and whose they are. Users, agents, apps and runs are what memories name: they begin with
-- their first memory and end with their last one.

CREATE TABLE memory (
  id TEXT PRIMARY KEY,
  n INTEGER NOT NULL UNIQUE, -- the order in which they were made
  text TEXT NOT NULL,
  messages TEXT, -- the conversation that it is from, as JSON
  user_id TEXT,
  agent_id TEXT,
  app_id TEXT,
  run_id TEXT,
  metadata TEXT, -- an object as JSON
  created TEXT NOT NULL,
  updated TEXT NOT NULL,
  is_fixed INTEGER NOT NULL DEFAULT 0, -- cannot be updated
  options TEXT NOT NULL DEFAULT '{}' -- what else a body said of it, for the dump
);
CREATE INDEX memory_user ON memory (user_id);

-- Memories as answers show them; a search adds a score.
CREATE VIEW shown AS
SELECT
  id,
  n,
  drop_nulls(json_object(
    'memoryId', id,
    'content', text,
    'created', created,
    'updated', updated,
    'userId', user_id,
    'agentId', agent_id,
    'appId', app_id,
    'runId', run_id,
    'metadata', json(metadata),
    'structuredData', json_object(
      'day', 0 + strftime('%d', created),
      'hour', 0 + strftime('%H', created),
      'year', 0 + strftime('%Y', created),
      'month', 0 + strftime('%m', created),
      'minute', 0 + strftime('%M', created),
      'quarter', (strftime('%m', created) + 2) / 3,
      'is_weekend', json(iif(strftime('%w', created) IN ('0', '6'), 'true', 'false')),
      'day_of_week', lower(time_write(time_read(created, 'UTC'), 'UTC', '%A')),
      'day_of_year', 0 + strftime('%j', created)
    )
  )) AS shown
FROM memory;

CREATE VIEW entity AS
SELECT type, name, count(*) AS memories, min(created) AS created, max(updated) AS updated
FROM (
  SELECT 'user' AS type, user_id AS name, created, updated FROM memory
  UNION ALL
  SELECT 'agent', agent_id, created, updated FROM memory
  UNION ALL
  SELECT 'app', app_id, created, updated FROM memory
  UNION ALL
  SELECT 'run', run_id, created, updated FROM memory
)
WHERE name IS NOT NULL
GROUP BY type, name;

-- Words that say nothing about what a question is after.
CREATE TABLE stop_word (word TEXT PRIMARY KEY) WITHOUT ROWID;
INSERT INTO stop_word VALUES
  ('a'),
  ('about'),
  ('all'),
  ('am'),
  ('an'),
  ('and'),
  ('any'),
  ('are'),
  ('as'),
  ('at'),
  ('be'),
  ('been'),
  ('by'),
  ('can'),
  ('did'),
  ('do'),
  ('does'),
  ('for'),
  ('from'),
  ('had'),
  ('has'),
  ('have'),
  ('he'),
  ('her'),
  ('his'),
  ('how'),
  ('i'),
  ('if'),
  ('in'),
  ('is'),
  ('it'),
  ('its'),
  ('know'),
  ('me'),
  ('my'),
  ('of'),
  ('on'),
  ('or'),
  ('our'),
  ('s'),
  ('she'),
  ('should'),
  ('so'),
  ('some'),
  ('tell'),
  ('that'),
  ('the'),
  ('their'),
  ('them'),
  ('there'),
  ('they'),
  ('this'),
  ('to'),
  ('user'),
  ('was'),
  ('we'),
  ('were'),
  ('what'),
  ('when'),
  ('where'),
  ('which'),
  ('who'),
  ('whose'),
  ('why'),
  ('will'),
  ('with'),
  ('you'),
  ('your');
