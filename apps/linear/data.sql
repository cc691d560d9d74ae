-- Projects with their issues. A project whose name begins with a team's belongs to that team, any
-- other to the first one. Beyond Klavis' format a project may have a "lead" (an e-mail address), a
-- "target_date" and "teams" (keys); an issue an "assignee", a "creator" and a "due_date", a comment
-- an "author"; besides "projects" there may be "issues" of a "team" (a key) without a project, and
-- "initiatives" with the names of their "projects". Dumps have these only where they say something.
-- Numbers and times have no place in it: they are lost in a dump.

-- name: import
SELECT id AS me FROM user WHERE is_me;
SELECT 'a project needs a name' AS error
FROM json_each(:args, '$.projects')
WHERE trim(value ->> 'name') = ''
LIMIT 1;
SELECT 'project "' || (value ->> 'name') || '": unknown state "' || (value ->> 'state')
  || '"' AS error
FROM json_each(:args, '$.projects')
WHERE lower(value ->> 'state') NOT IN (
  'backlog', 'planned', 'started', 'paused', 'completed', 'canceled'
)
LIMIT 1;
SELECT 'issue "' || (i.value ->> 'title') || '": priority is a number from 0 to 4' AS error
FROM json_each(:args, '$.projects') p, json_each(p.value, '$.issues') i
WHERE i.value ->> 'priority' NOT BETWEEN 0 AND 4
LIMIT 1;
SELECT 'issue "' || (i.value ->> 'title') || '": unknown state "' || (i.value ->> 'state_name')
  || '"' AS error
FROM json_each(:args, '$.projects') p, json_each(p.value, '$.issues') i
WHERE lower(i.value ->> 'state_name') NOT IN (SELECT lower(name) FROM state)
LIMIT 1;
SELECT json_group_array(mail) AS strangers
FROM (
  SELECT value ->> 'lead' AS mail FROM json_each(:args, '$.projects')
  UNION ALL
  SELECT value ->> 'owner' FROM json_each(:args, '$.initiatives')
  UNION ALL
  SELECT value ->> 'assignee' FROM json_each(:args, '$.issues')
  UNION ALL
  SELECT value ->> 'creator' FROM json_each(:args, '$.issues')
  UNION ALL
  SELECT i.value ->> 'assignee'
  FROM json_each(:args, '$.projects') p, json_each(p.value, '$.issues') i
  UNION ALL
  SELECT i.value ->> 'creator'
  FROM json_each(:args, '$.projects') p, json_each(p.value, '$.issues') i
)
WHERE mail_is_address(mail) AND mail NOT IN (SELECT email FROM user);
-- include: common/newcomers
INSERT INTO user
SELECT new_id('entity'), value ->> 'name', value ->> 'login', value ->> 'email', 0
FROM json_each(:newcomers)
ORDER BY key;
SELECT 'there is no user "' || mail || '"' AS error
FROM (
  SELECT value ->> 'lead' AS mail FROM json_each(:args, '$.projects')
  UNION ALL
  SELECT value ->> 'owner' FROM json_each(:args, '$.initiatives')
  UNION ALL
  SELECT value ->> 'assignee' FROM json_each(:args, '$.issues')
  UNION ALL
  SELECT value ->> 'creator' FROM json_each(:args, '$.issues')
  UNION ALL
  SELECT i.value ->> 'assignee'
  FROM json_each(:args, '$.projects') p, json_each(p.value, '$.issues') i
  UNION ALL
  SELECT i.value ->> 'creator'
  FROM json_each(:args, '$.projects') p, json_each(p.value, '$.issues') i
)
WHERE mail NOT IN (SELECT email FROM user)
LIMIT 1;
SELECT 'there is no team "' || team || '"' AS error
FROM (
  SELECT t.value AS team FROM json_each(:args, '$.projects') p, json_each(p.value, '$.teams') t
  UNION ALL
  SELECT value ->> 'team' FROM json_each(:args, '$.issues')
)
WHERE team NOT IN (SELECT key FROM team)
LIMIT 1;
SELECT 'initiative "' || (value ->> 'name') || '": status is Planned, Active or Completed' AS error
FROM json_each(:args, '$.initiatives')
WHERE value ->> 'status' NOT IN ('Planned', 'Active', 'Completed')
LIMIT 1;
SELECT json_group_array(json_object('id', id, 'team', team, 'json', json(json))) AS projects
FROM (
  SELECT
    rand_text('{uuid}') AS id,
    value AS json,
    (
      SELECT t.id
      FROM team t
      WHERE t.place = 1 OR lower(substr(value ->> 'name', 1, length(t.name))) = lower(t.name)
      ORDER BY t.place = 1, t.place
      LIMIT 1
    ) AS team
  FROM json_each(:args, '$.projects')
  WHERE type = 'object'
  ORDER BY key
);
INSERT INTO project (
  id, place, slug, name, description, state, lead_id, creator_id, target_date, created_at,
  updated_at
)
SELECT
  value ->> 'id',
  ifnull((SELECT max(place) FROM project), 0) + key + 1,
  rand_text('{hex:12}'),
  value ->> '$.json.name',
  value ->> '$.json.description',
  ifnull(lower(value ->> '$.json.state'), 'backlog'),
  (SELECT id FROM user WHERE email = value ->> '$.json.lead'),
  :me,
  value ->> '$.json.target_date',
  now(),
  now()
FROM json_each(:projects)
ORDER BY key;
INSERT OR IGNORE INTO project_team
SELECT p.value ->> 'id', m.id
FROM json_each(:projects) p, json_each(p.value, '$.json.teams') t
JOIN team m ON m.key = t.value;
INSERT INTO project_team
SELECT value ->> 'id', value ->> 'team'
FROM json_each(:projects)
WHERE ifnull(json_array_length(value, '$.json.teams'), 0) = 0;
WITH p AS MATERIALIZED (
  SELECT key, value ->> 'id' AS id, value ->> 'team' AS team, value -> '$.json.issues' AS list
  FROM json_each(:projects)
)
SELECT json_group_array(json_object(
  'id', id,
  'project', project,
  'team', team,
  'json', json(json)
)) AS issues
FROM (
  SELECT rand_text('{uuid}') AS id, project, team, json
  FROM (
    SELECT
      p.key,
      i.key AS place,
      p.id AS project,
      ifnull((SELECT id FROM team WHERE key = i.value ->> 'team'), p.team) AS team,
      i.value AS json
    FROM p, json_each(p.list) i
    WHERE i.type = 'object'
    UNION ALL
    SELECT
      1000000,
      key,
      NULL,
      (SELECT id FROM team WHERE place = 1 OR key = x.value ->> 'team' ORDER BY place = 1 LIMIT 1),
      x.value
    FROM json_each(:args, '$.issues') x
    WHERE x.type = 'object'
  )
  ORDER BY key, place
);
INSERT INTO issue (
  id, place, team_id, number, title, description, priority, state_id, assignee_id, creator_id,
  project_id, due_date, created_at, updated_at, started_at, completed_at, canceled_at
)
SELECT
  x.id,
  most + key + 1,
  team,
  ifnull((SELECT max(number) FROM issue WHERE team_id = team), 0)
    + row_number() OVER (PARTITION BY team ORDER BY key),
  json ->> 'title',
  json ->> 'description',
  ifnull(json ->> 'priority', 0),
  s.id,
  (SELECT u.id FROM user u WHERE u.email = json ->> 'assignee'),
  ifnull((SELECT u.id FROM user u WHERE u.email = json ->> 'creator'), :me),
  project,
  json ->> 'due_date',
  now(),
  now(),
  iif(s.type = 'started', now(), NULL),
  iif(s.type = 'completed', now(), NULL),
  iif(s.type = 'canceled', now(), NULL)
FROM (
  SELECT
    key,
    value ->> 'id' AS id,
    value ->> 'project' AS project,
    value ->> 'team' AS team,
    value -> 'json' AS json,
    ifnull((SELECT max(place) FROM issue), 0) AS most
  FROM json_each(:issues)
) x
JOIN state s
  ON s.team_id = team AND lower(s.name) = lower(ifnull(json ->> 'state_name', 'Backlog'));
INSERT INTO comment
SELECT
  rand_text('{uuid}'),
  ifnull((SELECT max(place) FROM comment), 0) + row_number() OVER (ORDER BY i.key, c.key),
  i.value ->> 'id',
  ifnull((SELECT id FROM user WHERE email = c.value ->> 'author'), :me),
  c.value ->> 'body',
  now(),
  now()
FROM json_each(:issues) i, json_each(i.value, '$.json.comments') c
WHERE c.type = 'object'
ORDER BY i.key, c.key;
SELECT ifnull(max(place), 0) AS before FROM initiative;
INSERT INTO initiative
SELECT
  rand_text('{uuid}'),
  :before + key + 1,
  rand_text('{hex:12}'),
  ifnull(value ->> 'name', ''),
  value ->> 'description',
  ifnull(value ->> 'status', 'Planned'),
  ifnull((SELECT id FROM user WHERE email = value ->> 'owner'), :me),
  :me,
  value ->> 'target_date',
  value ->> 'color',
  value ->> 'icon',
  now(),
  now()
FROM json_each(:args, '$.initiatives')
WHERE type = 'object'
ORDER BY key;
INSERT OR IGNORE INTO initiative_project
SELECT
  rand_text('{uuid}'),
  most + row_number() OVER (ORDER BY nth, place),
  initiative,
  project,
  now()
FROM (
  SELECT
    ifnull((SELECT max(place) FROM initiative_project), 0) AS most,
    x.key AS nth,
    p.key AS place,
    (SELECT n.id FROM initiative n WHERE n.place = :before + x.key + 1) AS initiative,
    (SELECT q.id FROM project q WHERE q.name = p.value ORDER BY q.place LIMIT 1) AS project
  FROM json_each(:args, '$.initiatives') x, json_each(x.value, '$.projects') p
  WHERE x.type = 'object' AND p.type = 'text'
)
WHERE project IS NOT NULL;
SELECT json_object(
  'projects', json_array_length(:projects),
  'issues', json_array_length(:issues),
  'comments', (
    SELECT count(*)
    FROM json_each(:issues) i, json_each(i.value, '$.json.comments') c
    WHERE c.type = 'object'
  )
) AS result;

-- name: export
WITH i AS (
  SELECT
    i.project_id,
    i.place,
    drop_nulls(json_object(
      'title', i.title,
      'description', i.description,
      'priority', i.priority,
      'state_name', s.name,
      'comments', (
        SELECT json_group_array(json(json))
        FROM (
          SELECT drop_nulls(json_object(
            'body', c.body,
            'author', iif(u.is_me, NULL, u.email)
          )) AS json
          FROM comment c
          JOIN user u ON u.id = c.user_id
          WHERE c.issue_id = i.id
          ORDER BY c.place
        )
      ),
      'assignee', a.email,
      'creator', iif(b.is_me, NULL, b.email),
      'due_date', i.due_date,
      'team', iif(t.id <> ifnull(d.id, ''), t.key, NULL)
    )) AS json
  FROM issue i
  JOIN state s ON s.id = i.state_id
  JOIN team t ON t.id = i.team_id
  LEFT JOIN user a ON a.id = i.assignee_id
  JOIN user b ON b.id = i.creator_id
  LEFT JOIN project p ON p.id = i.project_id
  -- The team that import finds for the project.
  LEFT JOIN team d
    ON d.id = (
      SELECT id
      FROM team x
      WHERE x.place = 1 OR lower(substr(p.name, 1, length(x.name))) = lower(x.name)
      ORDER BY x.place = 1, x.place
      LIMIT 1
    )
)
SELECT drop_nulls(json_object(
  'projects', (
    SELECT json_group_array(json(json))
    FROM (
      SELECT drop_nulls(json_object(
        'name', p.name,
        'description', p.description,
        'state', p.state,
        'issues', (
          SELECT json_group_array(json(json))
          FROM (SELECT json FROM i WHERE i.project_id = p.id ORDER BY i.place)
        ),
        'lead', u.email,
        'target_date', p.target_date,
        'teams', (
          SELECT iif(
            count(*) > 1
              OR min(key) <> (
                SELECT key
                FROM team x
                WHERE x.place = 1 OR lower(substr(p.name, 1, length(x.name))) = lower(x.name)
                ORDER BY x.place = 1, x.place
                LIMIT 1
              ),
            json_group_array(key),
            NULL
          )
          FROM (
            SELECT t.key
            FROM project_team m
            JOIN team t ON t.id = m.team_id
            WHERE m.project_id = p.id
            ORDER BY t.place
          )
        )
      )) AS json
      FROM project p
      LEFT JOIN user u ON u.id = p.lead_id
      ORDER BY p.place
    )
  ),
  'issues', (
    SELECT iif(count(*) > 0, json_group_array(json(json)), NULL)
    FROM (SELECT json FROM i WHERE project_id IS NULL ORDER BY place)
  ),
  'initiatives', (
    SELECT iif(count(*) > 0, json_group_array(json(json)), NULL)
    FROM (
      SELECT drop_nulls(json_object(
        'name', n.name,
        'description', n.description,
        'status', n.status,
        'owner', iif(u.is_me, NULL, u.email),
        'target_date', n.target_date,
        'color', n.color,
        'icon', n.icon,
        'projects', (
          SELECT iif(count(*) > 0, json_group_array(name), NULL)
          FROM (
            SELECT p.name
            FROM initiative_project l
            JOIN project p ON p.id = l.project_id
            WHERE l.initiative_id = n.id
            GROUP BY p.name
            ORDER BY min(l.place)
          )
        )
      )) AS json
      FROM initiative n
      LEFT JOIN user u ON u.id = n.owner_id
      ORDER BY n.place
    )
  )
)) AS result;
