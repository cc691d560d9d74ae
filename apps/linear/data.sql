-- Projects with their issues. A project whose name begins with a team's belongs to that team, any
-- other to the first one. What has no place in the format is lost in a dump: issues without a
-- project, people, dates and initiatives.

-- name: import
SELECT id AS me FROM user WHERE is_me;
SELECT 'a project needs a name' AS error FROM json_each(:args, '$.projects')
WHERE trim(value ->> 'name') = '' LIMIT 1;
SELECT 'project "' || (value ->> 'name') || '": unknown state "' || (value ->> 'state') || '"'
       AS error
FROM json_each(:args, '$.projects')
WHERE lower(value ->> 'state')
      NOT IN ('backlog', 'planned', 'started', 'paused', 'completed', 'canceled') LIMIT 1;
SELECT 'issue "' || (i.value ->> 'title') || '": priority is a number from 0 to 4' AS error
FROM json_each(:args, '$.projects') p, json_each(p.value, '$.issues') i
WHERE i.value ->> 'priority' NOT BETWEEN 0 AND 4 LIMIT 1;
SELECT 'issue "' || (i.value ->> 'title') || '": unknown state "' || (i.value ->> 'state_name')
       || '"' AS error
FROM json_each(:args, '$.projects') p, json_each(p.value, '$.issues') i
WHERE lower(i.value ->> 'state_name') NOT IN (SELECT lower(name) FROM state) LIMIT 1;
SELECT json_group_array(json_object('id', id, 'team', team, 'json', json(json))) AS projects
FROM (SELECT rand_text('{uuid}') AS id, value AS json,
             (SELECT t.id FROM team t
              WHERE t.place = 1 OR lower(substr(value ->> 'name', 1,
              length(t.name))) = lower(t.name)
              ORDER BY t.place = 1, t.place LIMIT 1) AS team
      FROM json_each(:args, '$.projects') WHERE type = 'object' ORDER BY key);
INSERT INTO project (id, place, slug, name, description, state, creator_id, created_at, updated_at)
SELECT value ->> 'id', ifnull((SELECT max(place) FROM project), 0) + key + 1,
       rand_text('{hex:12}'), value ->> '$.json.name', value ->> '$.json.description',
       ifnull(lower(value ->> '$.json.state'), 'backlog'), :me, now(), now()
FROM json_each(:projects) ORDER BY key;
INSERT INTO project_team SELECT value ->> 'id', value ->> 'team' FROM json_each(:projects);
WITH p AS MATERIALIZED (SELECT key, value ->> 'id' AS id, value ->> 'team' AS team,
                               value -> '$.json.issues' AS list FROM json_each(:projects))
SELECT json_group_array(json_object('id', id, 'project', project, 'team', team,
                                    'json', json(json))) AS issues
FROM (SELECT rand_text('{uuid}') AS id, p.id AS project, p.team, i.value AS json
      FROM p, json_each(p.list) i WHERE i.type = 'object' ORDER BY p.key, i.key);
INSERT INTO issue (id, place, team_id, number, title, description, priority, state_id, creator_id,
                   project_id, created_at, updated_at, started_at, completed_at, canceled_at)
SELECT x.id, most + key + 1, team,
       ifnull((SELECT max(number) FROM issue WHERE team_id = team), 0)
       + row_number() OVER (PARTITION BY team ORDER BY key),
       json ->> 'title', json ->> 'description', ifnull(json ->> 'priority', 0), s.id, :me,
       project, now(), now(), iif(s.type = 'started', now(), NULL),
       iif(s.type = 'completed', now(), NULL), iif(s.type = 'canceled', now(), NULL)
FROM (SELECT key, value ->> 'id' AS id, value ->> 'project' AS project, value ->> 'team' AS team,
             value -> 'json' AS json, ifnull((SELECT max(place) FROM issue), 0) AS most
      FROM json_each(:issues)) x
JOIN state s ON s.team_id = team
            AND lower(s.name) = lower(ifnull(json ->> 'state_name', 'Backlog'));
INSERT INTO comment
SELECT rand_text('{uuid}'),
       ifnull((SELECT max(place) FROM comment), 0) + row_number() OVER (ORDER BY i.key, c.key),
       i.value ->> 'id', :me, c.value ->> 'body', now(), now()
FROM json_each(:issues) i, json_each(i.value, '$.json.comments') c
WHERE c.type = 'object' ORDER BY i.key, c.key;
SELECT json_object('projects', json_array_length(:projects), 'issues', json_array_length(:issues),
                   'comments', (SELECT count(*) FROM json_each(:issues) i,
                                                     json_each(i.value, '$.json.comments') c
                                WHERE c.type = 'object'))
       AS result;

-- name: export
SELECT json_object('projects', json_group_array(json(json))) AS result
FROM (SELECT drop_nulls(json_object(
               'name', p.name, 'description', p.description, 'state', p.state,
               'issues', (
                 SELECT json_group_array(json(json))
                 FROM (SELECT drop_nulls(json_object(
                                'title', i.title, 'description', i.description,
                                'priority', i.priority, 'state_name', s.name,
                                'comments', (
                                  SELECT json_group_array(json_object('body', body))
                                  FROM (SELECT body FROM comment c WHERE c.issue_id = i.id
                                        ORDER BY c.place)))) AS json
                       FROM issue i JOIN state s ON s.id = i.state_id
                       WHERE i.project_id = p.id ORDER BY i.place)))) AS json
      FROM project p ORDER BY p.place);
