-- Lost in a dump: ids, links to meetings, who made an event and when, in which of the calendars it
-- is (all events come back in the primary one), and that a changed date belonged to a series.
-- Events without any time take all day, today; those without an end an hour, or one day.

-- name: import
SELECT ifnull(max(n), 0) AS last FROM event;
SELECT ifnull(json_array_length(:args, '$.events'), 0) AS n_events, email, timezone AS own_zone
FROM account;
SELECT 'events/' || key || ': unknown time zone: ' || (value ->> 'timezone') AS error
FROM json_each(:args, '$.events')
WHERE type = 'object' AND value ->> 'timezone' IS NOT NULL AND NOT zone_exists(value ->> 'timezone')
LIMIT 1;
SELECT 'events/' || i.key || ': Invalid datetime format: ' || t.value AS error
FROM json_each(:args, '$.events') i, json_each(i.value) t
WHERE i.type = 'object'
  AND t.type = 'text'
  AND t.key IN ('startTime', 'endTime', 'startDate', 'endDate')
  AND time_read(t.value, 'UTC') IS NULL
LIMIT 1;
INSERT INTO event (
  n, id, calendar, title, description, location, visibility, start_s, end_s, days, timezone,
  recurrence, creator, created, updated
)
SELECT
  :last + 1 + key,
  new_id('event'),
  :email,
  item ->> 'title',
  item ->> 'description',
  item ->> 'location',
  nullif(item ->> 'visibility', 'default'),
  start_s,
  ifnull(end_s, iif(
    days IS NULL,
    start_s + 3600,
    time_read(date(time_write(start_s, zone, '%Y-%m-%d'), '+' || days || ' days'), zone)
  )),
  days,
  item ->> 'timezone',
  iif(json_array_length(item, '$.recurrence') > 0, json_extract(item, '$.recurrence'), NULL),
  :email,
  now(),
  now()
FROM (
  SELECT
    key,
    item,
    zone,
    iif(first IS NULL, time_read(item ->> 'startTime', zone), time_read(first, zone)) AS start_s,
    iif(first IS NULL, time_read(item ->> 'endTime', zone), NULL) AS end_s,
    iif(
      first IS NULL,
      NULL,
      max(1, ifnull(
        (time_read(substr(item ->> 'endDate', 1, 10), 'UTC') - time_read(first, 'UTC')) / 86400,
        1
      ))
    ) AS days
  FROM (
    SELECT
      key,
      value AS item,
      ifnull(value ->> 'timezone', :own_zone) AS zone,
      iif(
        value ->> 'startTime' IS NOT NULL,
        NULL,
        ifnull(
          substr(value ->> 'startDate', 1, 10),
          time_write(now_ms() / 1000, :own_zone, '%Y-%m-%d')
        )
      ) AS first
    FROM json_each(:args, '$.events')
    WHERE type = 'object'
  )
)
ORDER BY key;
SELECT 'events/' || (n - :last - 1) || ': The specified time range is empty.' AS error
FROM event
WHERE n > :last AND end_s < start_s
LIMIT 1;
SELECT 'events/' || (n - :last - 1) || ': Invalid recurrence rule: '
  || recur_error(recurrence, start_s, zone) AS error
FROM shown
WHERE n > :last AND recur_error(recurrence, start_s, zone) IS NOT NULL
LIMIT 1;
INSERT OR IGNORE INTO attendee
SELECT
  :last + 1 + i.key,
  a.key,
  a.value ->> 'email',
  a.value ->> 'name',
  coalesce(
    a.value ->> 'accepted',
    iif(lower(a.value ->> 'email') = :email, 'accepted', 'needsAction')
  ),
  ifnull(a.value ->> 'isOptional', 0),
  a.value ->> 'comment'
FROM json_each(:args, '$.events') i, json_each(i.value, '$.attendees') a
WHERE i.type = 'object' AND a.type = 'object'
ORDER BY i.key, a.key;
SELECT json_object('events', :n_events) AS result;

-- name: export
SELECT json_object('events', json_group_array(json(item))) AS result
FROM (
  SELECT drop_nulls(json_object(
    'title', title,
    'startTime', iif(days IS NULL, time_write(start_s, zone, '%Y-%m-%dT%H:%M:%S%:'), NULL),
    'endTime', iif(days IS NULL, time_write(end_s, zone, '%Y-%m-%dT%H:%M:%S%:'), NULL),
    'startDate', iif(days IS NULL, NULL, time_write(start_s, zone, '%Y-%m-%d')),
    'endDate', iif(
      days IS NULL,
      NULL,
      date(time_write(start_s, zone, '%Y-%m-%d'), '+' || days || ' days')
    ),
    'timezone', timezone,
    'description', description,
    'location', location,
    'visibility', visibility,
    'recurrence', json(recurrence),
    'attendees', (
      SELECT json_group_array(json(person))
      FROM (
        SELECT drop_nulls(json_object(
          'email', email,
          'name', name,
          'isOptional', iif(is_optional, json('true'), NULL),
          'comment', comment,
          'accepted', response
        )) AS person
        FROM attendee
        WHERE event = shown.n
        ORDER BY position
      )
      HAVING count(*) > 0
    )
  )) AS item
  FROM shown
  ORDER BY n
);
