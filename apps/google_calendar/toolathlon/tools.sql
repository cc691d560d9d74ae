-- part: check_times
-- What is wrong with the :start or the :end of an event, as the API tells it.
SELECT problem AS error
FROM (
  SELECT CASE
    WHEN NOT zone_exists(ifnull(t.value ->> 'timeZone', 'UTC'))
      THEN 'Invalid time zone definition for ' || t.key || ' time.'
    WHEN time_read(t.value ->> 'dateTime', 'UTC') IS NULL OR time_is_date(t.value ->> 'dateTime')
      THEN 'Invalid value for: Invalid format: "' || (t.value ->> 'dateTime') || '"'
    WHEN t.value ->> 'timeZone' IS NULL
        AND t.value ->> 'dateTime' NOT GLOB '*[Zz]'
        AND t.value ->> 'dateTime' NOT GLOB '*T*[-+][0-9][0-9]*'
      THEN 'Missing time zone definition for ' || t.key || ' time.'
  END AS problem
  FROM json_each(json_object('start', json(:start), 'end', json(:end))) t
  WHERE t.type = 'object'
)
WHERE problem IS NOT NULL
LIMIT 1;
SELECT
  time_read(:start ->> 'dateTime', ifnull(:start ->> 'timeZone', 'UTC')) AS new_start,
  time_read(:end ->> 'dateTime', ifnull(:end ->> 'timeZone', 'UTC')) AS new_end;

-- part: show_events
-- :chosen as the API shows events: of [n, start, end] the one of that date, of [n] the whole event.
SELECT json_group_array(json(item)) AS items
FROM (
  SELECT drop_nulls(json_object(
    'kind', 'calendar#event',
    'etag', '"' || (unixepoch(updated) * 2000) || '"',
    'id', iif(
      is_date,
      id || '_'
        || iif(
          days IS NULL,
          time_write(at, 'UTC', '%Y%m%dT%H%M%SZ'),
          time_write(at, zone, '%Y%m%d')
        ),
      id
    ),
    'status', 'confirmed',
    'htmlLink', link,
    'created', created,
    'updated', updated,
    'summary', title,
    'description', description,
    'location', location,
    'creator', json_object('email', creator, 'self', json('true')),
    'organizer', json_object('email', organizer, 'self', json('true')),
    'start', json(iif(
      days IS NULL,
      json_object(
        'dateTime', time_write(at, timezone_shown, '%Y-%m-%dT%H:%M:%S%Z'),
        'timeZone', zone
      ),
      json_object('date', time_write(at, zone, '%Y-%m-%d'))
    )),
    'end', json(iif(
      days IS NULL,
      json_object(
        'dateTime', time_write(until, timezone_shown, '%Y-%m-%dT%H:%M:%S%Z'),
        'timeZone', zone
      ),
      json_object('date', time_write(until, zone, '%Y-%m-%d'))
    )),
    'recurrence', iif(is_date, NULL, json(recurrence)),
    'recurringEventId', iif(is_date, id, recurring_id),
    'originalStartTime', iif(
      NOT is_date,
      NULL,
      json(iif(
        days IS NULL,
        json_object(
          'dateTime', time_write(at, timezone_shown, '%Y-%m-%dT%H:%M:%S%Z'),
          'timeZone', zone
        ),
        json_object('date', time_write(at, zone, '%Y-%m-%d'))
      ))
    ),
    'visibility', visibility,
    'iCalUID', ifnull(recurring_id, id) || '@google.com',
    'sequence', 0,
    'attendees', json(guests),
    'hangoutLink', meeting_link,
    'reminders', json_object('useDefault', json('true')),
    'eventType', 'default'
  )) AS item
  FROM (
    SELECT
      shown.*,
      c.key AS place,
      recurrence IS NOT NULL AND json_array_length(c.value) = 3 AS is_date,
      ifnull(c.value ->> 1, start_s) AS at,
      ifnull(c.value ->> 2, end_s) AS until,
      (SELECT timezone FROM account) AS timezone_shown,
      (
        SELECT json_group_array(drop_nulls(json_object(
          'email', g.value ->> 'email',
          'displayName', g.value ->> 'name',
          'organizer', iif(g.value ->> 'isOrganizer', json('true'), NULL),
          'self', iif(g.value ->> 'isSelf', json('true'), NULL),
          'optional', iif(g.value ->> 'isOptional', json('true'), NULL),
          'responseStatus', g.value ->> 'responseStatus',
          'comment', g.value ->> 'comment'
        )))
        FROM json_each(attendees) g
        HAVING count(*) > 0
      ) AS guests
    FROM json_each(:chosen) c
    JOIN shown ON n = c.value ->> 0
  )
  ORDER BY place
);

-- name: create_event
-- include: check_times
SELECT 'The specified time range is empty.' AS error WHERE :new_end < :new_start;
INSERT INTO event (
  id, calendar, title, description, location, start_s, end_s, timezone, creator, created, updated
)
SELECT
  new_id('event'),
  email,
  :summary,
  nullif(:description, ''),
  nullif(:location, ''),
  :new_start,
  :new_end,
  :start ->> 'timeZone',
  email,
  now(),
  now()
FROM account
RETURNING id;
SELECT 'Event created with ID: ' || :id || char(10) || 'Title: ' || :summary || char(10)
  || 'Start: ' || (:start ->> 'dateTime') || char(10) || 'End: ' || (:end ->> 'dateTime') AS result;

-- name: get_event
SELECT :eventId AS event_id, email AS calendar FROM account;
-- include: find_event
SELECT 'Not Found' AS error WHERE :found IS NULL AND :parent IS NULL;
SELECT json_array(iif(
  :found IS NOT NULL,
  json_array(:found),
  json_array(n, :at, :at + end_s - start_s)
)) AS chosen
FROM event
WHERE n = ifnull(:found, :parent);
-- include: show_events
SELECT :items -> 0 AS result;

-- name: update_event
-- include: check_times
SELECT :eventId AS event_id, email AS calendar FROM account;
-- include: find_event
SELECT 'Not Found' AS error WHERE :found IS NULL AND :parent IS NULL;
-- include: give_own_date
SELECT n, ifnull(:new_start, start_s) AS start_s, ifnull(:new_end, end_s) AS end_s, days AS old_days
FROM event
WHERE id = :event_id;
SELECT 'Start and end times must either both be date or both be dateTime.' AS error
WHERE :old_days IS NOT NULL AND (:new_start IS NULL) <> (:new_end IS NULL);
SELECT 'The specified time range is empty.' AS error WHERE :end_s < :start_s;
UPDATE event
SET
  title = ifnull(:summary, title),
  description = iif(:description IS NULL, description, nullif(:description, '')),
  location = iif(:location IS NULL, location, nullif(:location, '')),
  start_s = :start_s,
  end_s = :end_s,
  days = iif(:new_start IS NULL, days, NULL),
  timezone = ifnull(:start ->> 'timeZone', timezone),
  updated = now()
WHERE n = :n;
SELECT 'Event updated: ' || :event_id || char(10) || 'New title: '
  || ifnull(nullif(:summary, ''), '(unchanged)') || char(10) || 'New start: '
  || ifnull(:start ->> 'dateTime', '(unchanged)') || char(10) || 'New end: '
  || ifnull(:end ->> 'dateTime', '(unchanged)') AS result;

-- name: delete_event
SELECT :eventId AS event_id, email AS calendar FROM account;
-- include: find_event
SELECT 'Resource has been deleted' AS error
FROM gone
WHERE :found IS NULL AND :parent IS NULL AND calendar = :calendar AND id = :event_id;
SELECT 'Not Found' AS error WHERE :found IS NULL AND :parent IS NULL;
-- include: except_date
INSERT OR IGNORE INTO gone VALUES (:calendar, :event_id);
DELETE FROM event WHERE n = :found OR (:found IS NOT NULL AND recurring_id = :event_id);
SELECT 'Event deleted: ' || :event_id AS result;

-- name: list_events
SELECT 'Bad Request' AS error
FROM json_each(json_array(:timeMin, :timeMax)) t
WHERE time_read(t.value, 'UTC') IS NULL
  OR time_is_date(t.value)
  OR (t.value NOT GLOB '*[Zz]' AND t.value NOT GLOB '*T*[-+][0-9][0-9]*')
LIMIT 1;
SELECT
  email AS calendar,
  time_read(:timeMin, 'UTC') AS low,
  time_read(:timeMax, 'UTC') AS high,
  CAST(ifnull(nullif(:maxResults, 0), 10) AS INTEGER) AS max_results,
  ifnull(:orderBy, 'startTime') AS order_by
FROM account;
SELECT 'The specified time range is empty.' AS error WHERE :high <= :low;
SELECT 'Invalid value ''' || :max_results
  || '''. Values must be within the range: [1, 2147483647]' AS error
WHERE :max_results < 1;
-- include: choose_events
-- include: show_events
SELECT :items AS result;
