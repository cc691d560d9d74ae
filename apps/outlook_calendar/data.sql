-- Besides what Klavis's format names, events may have "calendar" (its name), "body", "body_type",
-- "is_all_day", "show_as", "importance", "sensitivity", "categories", "is_online_meeting",
-- "recurrence" (pattern and range as in Microsoft Graph), "excluded" (lines of EXDATE), and
-- "series_id" for a changed date of a recurring event; they are dumped when they are not what a new
-- event has. Lost in a dump: names and answers of attendees, reminders, calendars without events.
-- Events without any time begin now; those without an end take an hour, or one day.

-- name: import
SELECT ifnull(max(n), 0) AS last FROM event;
SELECT ifnull(json_array_length(:args, '$.calendar_events'), 0) AS n_events;
SELECT 'calendar_events/' || i.key || ': not a time: ' || (t.value ->> 'dateTime') AS error
FROM json_each(:args, '$.calendar_events') i, json_each(i.value) t
WHERE i.type = 'object'
  AND t.type = 'object'
  AND t.key IN ('start_time', 'end_time')
  AND t.value ->> 'dateTime' IS NOT NULL
  AND time_read(t.value ->> 'dateTime', 'UTC') IS NULL
LIMIT 1;
SELECT 'calendar_events/' || i.key || ': unknown time zone: ' || (t.value ->> 'timeZone') AS error
FROM json_each(:args, '$.calendar_events') i, json_each(i.value) t
WHERE i.type = 'object'
  AND t.type = 'object'
  AND t.key IN ('start_time', 'end_time')
  AND NOT EXISTS (SELECT 1 FROM zone z WHERE z.name = t.value ->> 'timeZone')
  AND NOT zone_exists(t.value ->> 'timeZone')
LIMIT 1;
INSERT INTO calendar (id, name, change_key)
SELECT new_id('calendar'), name, new_id('change')
FROM (
  SELECT trim(value ->> 'calendar') AS name, min(key) AS place
  FROM json_each(:args, '$.calendar_events')
  WHERE type = 'object'
    AND trim(value ->> 'calendar') <> ''
    AND NOT EXISTS (SELECT 1 FROM calendar c WHERE c.name = trim(value ->> 'calendar'))
  GROUP BY lower(trim(value ->> 'calendar'))
  ORDER BY place
);
INSERT INTO event (
  n, id, calendar, uid, change_key, subject, body, body_type, location, start_s, end_s, start_zone,
  end_zone, is_all_day, show_as, importance, sensitivity, categories, is_online, recurrence,
  excluded, created_s, modified_s
)
SELECT
  :last + 1 + key,
  iif(own_id IS NULL OR own_id IN (SELECT id FROM event) OR is_second, new_id('event'), own_id),
  ifnull(
    (SELECT n FROM calendar WHERE name = calendar_name),
    (SELECT n FROM calendar WHERE is_default)
  ),
  new_id('uid'),
  new_id('change'),
  item ->> 'title',
  ifnull(item ->> 'body', ''),
  ifnull(item ->> 'body_type', 'html'),
  nullif(item ->> 'event_location', ''),
  start_s,
  ifnull(end_s, start_s + iif(is_all_day, 86400, 3600)),
  start_zone,
  end_zone,
  is_all_day,
  ifnull(item ->> 'show_as', 'busy'),
  ifnull(item ->> 'importance', 'normal'),
  ifnull(item ->> 'sensitivity', 'normal'),
  ifnull(item -> 'categories', '[]'),
  ifnull(item ->> 'is_online_meeting', 0),
  iif(json_type(item, '$.recurrence') = 'object', item -> 'recurrence', NULL),
  iif(json_type(item, '$.excluded') = 'array', item -> 'excluded', '[]'),
  now_ms() / 1000,
  now_ms() / 1000
FROM (
  SELECT
    *,
    ifnull(
      time_read(
        coalesce(item ->> '$.start_time.dateTime', item ->> '$.start_time.date'),
        iif(is_all_day, 'UTC', ifnull((SELECT iana FROM zone WHERE name = start_zone), start_zone))
      ),
      iif(is_all_day, now_ms() / 86400000 * 86400, now_ms() / 1000)
    ) AS start_s,
    time_read(
      coalesce(item ->> '$.end_time.dateTime', item ->> '$.end_time.date'),
      iif(is_all_day, 'UTC', ifnull((SELECT iana FROM zone WHERE name = end_zone), end_zone))
    ) AS end_s
  FROM (
    SELECT
      key,
      value AS item,
      nullif(value ->> 'event_id', '') AS own_id,
      row_number() OVER (PARTITION BY value ->> 'event_id' ORDER BY key) > 1 AS is_second,
      trim(value ->> 'calendar') AS calendar_name,
      coalesce(value ->> '$.start_time.timeZone', 'UTC') AS start_zone,
      coalesce(value ->> '$.end_time.timeZone', 'UTC') AS end_zone,
      ifnull(value ->> 'is_all_day', value ->> '$.start_time.date' IS NOT NULL) AS is_all_day
    FROM json_each(:args, '$.calendar_events')
    WHERE type = 'object'
  )
)
ORDER BY key;
SELECT 'calendar_events/' || (n - :last - 1) || ': ends before it begins' AS error
FROM event
WHERE n > :last AND end_s < start_s
LIMIT 1;
SELECT 'calendar_events/' || (n - :last - 1) || ': not a recurrence' AS error
FROM entry
WHERE n > :last
  AND recurrence IS NOT NULL
  AND (rule IS NULL OR recur_error(lines, start_s, zone) IS NOT NULL)
LIMIT 1;
UPDATE event
SET series = (
  SELECT s.n
  FROM json_each(:args, '$.calendar_events') i
  JOIN event s ON s.id = i.value ->> 'series_id'
  WHERE i.key = event.n - :last - 1 AND s.recurrence IS NOT NULL
)
WHERE n IN (
  SELECT :last + 1 + key
  FROM json_each(:args, '$.calendar_events')
  WHERE type = 'object' AND value ->> 'series_id' IS NOT NULL
);
INSERT INTO attendee (event, position, email, name)
SELECT
  :last + 1 + i.key,
  a.key,
  mail_address(a.value),
  ifnull((SELECT name FROM person WHERE email = mail_address(a.value)), mail_address(a.value))
FROM json_each(:args, '$.calendar_events') i, json_each(i.value, '$.event_attendees') a
WHERE i.type = 'object' AND a.type = 'text';
SELECT json_object('calendar_events', :n_events) AS result;

-- name: export
SELECT json_object('calendar_events', json_group_array(json(item))) AS result
FROM (
  SELECT drop_nulls(json_object(
    'event_id', e.id,
    'title', subject,
    'start_time', json_object(
      'dateTime', time_write(
        start_s,
        iif(is_all_day, 'UTC', ifnull((SELECT iana FROM zone WHERE name = start_zone), start_zone)),
        '%Y-%m-%dT%H:%M:%S'
      ),
      'timeZone', start_zone
    ),
    'end_time', json_object(
      'dateTime', time_write(
        end_s,
        iif(is_all_day, 'UTC', ifnull((SELECT iana FROM zone WHERE name = end_zone), end_zone)),
        '%Y-%m-%dT%H:%M:%S'
      ),
      'timeZone', end_zone
    ),
    'event_location', location,
    'event_attendees', (
      SELECT json_group_array(email)
      FROM (SELECT email FROM attendee WHERE event = e.n ORDER BY position)
      HAVING count(*) > 0
    ),
    'calendar', iif(calendar.is_default, NULL, calendar.name),
    'body', nullif(body, ''),
    'body_type', nullif(body_type, 'html'),
    'is_all_day', iif(is_all_day, json('true'), NULL),
    'show_as', nullif(show_as, 'busy'),
    'importance', nullif(importance, 'normal'),
    'sensitivity', nullif(sensitivity, 'normal'),
    'categories', iif(categories = '[]', NULL, json(categories)),
    'is_online_meeting', iif(is_online, json('true'), NULL),
    'recurrence', json(recurrence),
    'excluded', iif(excluded = '[]', NULL, json(excluded)),
    'series_id', (SELECT s.id FROM event s WHERE s.n = e.series)
  )) AS item
  FROM event e
  JOIN calendar ON calendar.n = e.calendar
  ORDER BY e.n
);
