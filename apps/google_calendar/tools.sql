-- part: find_calendar
SELECT id AS calendar, timezone AS zone
FROM calendar
WHERE id = iif(:calendar_id = 'primary', (SELECT email FROM account), :calendar_id)
  AND NOT is_deleted;
SELECT 'Google Calendar API Error (404): Not Found' AS error WHERE :calendar IS NULL;

-- part: find_event
-- An event of :calendar, or a single date of a recurring one.
SELECT n AS found FROM event WHERE id = :event_id AND calendar = :calendar;
SELECT parent, at, parent_zone
FROM (
  SELECT
    n AS parent,
    zone AS parent_zone,
    recurrence,
    start_s,
    time_read(substr(:event_id, length(id) + 2), zone) AS at
  FROM shown
  WHERE :found IS NULL
    AND id = substr(:event_id, 1, instr(:event_id, '_') - 1)
    AND calendar = :calendar
    AND recurrence IS NOT NULL
)
WHERE at IS NOT NULL
  AND json_array_length(recur_starts(recurrence, start_s, parent_zone, at, at + 1)) = 1;

-- part: say_not_found
SELECT 'Event with ID ' || :event_id || ' not found. Available events: '
  || (
    SELECT json_group_array(json_object(
      'id', id,
      'summary', title,
      'start', time_write(start_s, zone, '%Y-%m-%dT%H:%M:%S%Z')
    ))
    FROM (
      SELECT *
      FROM shown
      WHERE calendar = :calendar
        AND (
          recurrence IS NOT NULL
          OR (end_s > now_ms() / 1000 - 172800 AND start_s < now_ms() / 1000 + 31536000)
        )
      ORDER BY start_s, n
      LIMIT 50
    )
  ) AS error
WHERE :found IS NULL AND :parent IS NULL;

-- part: except_date
UPDATE event
SET recurrence = json_insert(
  recurrence,
  '$[#]', iif(
    days IS NULL,
    'EXDATE:' || time_write(:at, 'UTC', '%Y%m%dT%H%M%SZ'),
    'EXDATE;VALUE=DATE:' || time_write(:at, :parent_zone, '%Y%m%d')
  )
)
WHERE n = :parent;

-- part: give_own_date
-- A single date of a recurring event becomes an event of its own.
-- include: except_date
INSERT INTO event (
  id, calendar, title, description, location, visibility, start_s, end_s, days, timezone,
  recurring_id, meeting_link, creator, created, updated
)
SELECT
  :event_id,
  calendar,
  title,
  description,
  location,
  visibility,
  :at,
  :at + end_s - start_s,
  days,
  timezone,
  id,
  meeting_link,
  creator,
  created,
  now()
FROM event
WHERE n = :parent;
INSERT INTO attendee
SELECT
  (SELECT n FROM event WHERE id = :event_id),
  position,
  email,
  name,
  response,
  is_optional,
  comment
FROM attendee
WHERE event = :parent;

-- part: choose_events
-- What takes place from :low to :high: [n, start, end] of each.
SELECT json_group_array(json_array(n, at, until)) AS chosen
FROM (
  SELECT n, at, until
  FROM (
    SELECT
      *,
      iif(
        days IS NULL,
        at + end_s - start_s,
        time_read(date(time_write(at, zone, '%Y-%m-%d'), '+' || days || ' days'), zone)
      ) AS until
    FROM (
      SELECT shown.*, o.value AS at
      FROM
        shown,
        json_each(recur_starts(
          recurrence,
          start_s,
          zone,
          :low - (end_s - start_s) - 86400,
          :high
        )) o
      WHERE calendar = :calendar AND (recurrence IS NOT NULL OR (start_s < :high AND end_s >= :low))
    )
  )
  WHERE until > :low OR (until = :low AND at = :low)
  ORDER BY iif(:order_by = 'updated', updated, NULL), at, until, n
  LIMIT max(1, min(:max_results, 2500))
);

-- name: google_calendar_get_current_time
SELECT json_object(
  'datetime', time_write(now_ms() / 1000, timezone, '%Y-%m-%dT%H:%M:%S'),
  'timezone', timezone,
  'date', time_write(now_ms() / 1000, timezone, '%Y-%m-%d'),
  'time', time_write(now_ms() / 1000, timezone, '%H:%M:%S'),
  'dayOfWeek', time_write(now_ms() / 1000, timezone, '%A')
) AS result
FROM account;

-- name: google_calendar_list_calendars
SELECT 'Google Calendar API Error (400): Invalid page token value.' AS error
WHERE :next_page_token IS NOT NULL AND :next_page_token NOT GLOB 'calendars-[0-9]*';
SELECT CAST(ifnull(substr(:next_page_token, 11), 0) AS INTEGER) AS skip;
SELECT drop_nulls(json_object(
  'nextPageToken', iif(
    max(total) > :skip + :max_results,
    'calendars-' || (:skip + :max_results),
    NULL
  ),
  'count', count(*),
  'calendars', json_group_array(json(item))
)) AS result
FROM (
  SELECT
    drop_nulls(json_object(
      'id', id,
      'name', name,
      'description', description,
      'location', location,
      'timezone', timezone
    )) AS item,
    count(*) OVER () AS total
  FROM calendar
  WHERE (NOT is_hidden OR :show_hidden) AND (NOT is_deleted OR :show_deleted)
  ORDER BY position
  LIMIT :max_results OFFSET :skip
);

-- name: google_calendar_create_event
-- include: find_calendar
SELECT time_read(:start_datetime, :zone) AS start_s, time_read(:end_datetime, :zone) AS end_s;
SELECT 'Invalid datetime format: ' || iif(:start_s IS NULL, :start_datetime, :end_datetime) AS error
WHERE :start_s IS NULL OR :end_s IS NULL;
SELECT 'Google Calendar API Error (400): The specified time range is empty.' AS error
WHERE :end_s < :start_s;
SELECT 'Google Calendar API Error (400): Invalid attendee email.' AS error
FROM json_each(:attendees)
WHERE NOT mail_is_address(value)
LIMIT 1;
SELECT 'Google Calendar API Error (400): Invalid recurrence rule.' AS error
WHERE json_array_length(:recurrence) > 0 AND recur_error(:recurrence, :start_s, :zone) IS NOT NULL;
INSERT INTO event (
  id, calendar, title, description, location, visibility, start_s, end_s, recurrence, meeting_link,
  creator, created, updated
)
SELECT
  new_id('event'),
  :calendar,
  :summary,
  :description,
  :location,
  nullif(:visibility, 'default'),
  :start_s,
  :end_s,
  iif(json_array_length(:recurrence) > 0, :recurrence, NULL),
  iif(
    :add_google_meet,
    'https://meet.google.example/' || lower(rand_text('{upper:3}-{upper:4}-{upper:3}')),
    NULL
  ),
  email,
  now(),
  now()
FROM account
RETURNING n;
INSERT OR IGNORE INTO attendee (event, position, email, response)
SELECT :n, key, value, iif(lower(value) = email, 'accepted', 'needsAction')
FROM json_each(:attendees), account
ORDER BY key;
SELECT json_object(
  'event', drop_nulls(json_object(
    'id', id,
    'title', title,
    'description', description,
    'location', location,
    'status', 'confirmed',
    'type', 'default',
    'visibility', visibility,
    'link', link,
    'meetingLink', meeting_link,
    'created', created,
    'updated', updated,
    'creatorEmail', creator,
    'organizerEmail', organizer,
    'organizerName', organizer_name,
    'recurrence', json(recurrence),
    'startTime', time_write(start_s, zone, '%Y-%m-%dT%H:%M:%S%Z'),
    'endTime', time_write(end_s, zone, '%Y-%m-%dT%H:%M:%S%Z'),
    'timezone', zone,
    'attendees', json(attendees),
    'dayOfWeek', time_write(start_s, zone, '%A')
  ))
) AS result
FROM shown
WHERE n = :n;

-- name: google_calendar_list_events
-- include: find_calendar
SELECT time_read(:min_end_datetime, :zone) AS a, time_read(:max_start_datetime, :zone) AS b;
SELECT 'Invalid datetime format: ' || iif(
  :a IS NULL,
  :min_end_datetime,
  :max_start_datetime
) AS error
WHERE :a IS NULL OR :b IS NULL;
SELECT min(:a, :b) AS low, max(:a, :b) AS high, 'startTime' AS order_by;
-- include: choose_events
SELECT json_object('count', count(*), 'events', json_group_array(json(item))) AS result
FROM (
  SELECT drop_nulls(json_object(
    'id', iif(
      recurrence IS NULL,
      id,
      id || '_'
        || iif(
          days IS NULL,
          time_write(at, 'UTC', '%Y%m%dT%H%M%SZ'),
          time_write(at, zone, '%Y%m%d')
        )
    ),
    'title', title,
    'description', description,
    'location', location,
    'status', 'confirmed',
    'type', 'default',
    'visibility', visibility,
    'link', link,
    'meetingLink', meeting_link,
    'created', created,
    'updated', updated,
    'creatorEmail', creator,
    'organizerEmail', organizer,
    'organizerName', organizer_name,
    'recurrenceId', iif(recurrence IS NULL, recurring_id, id),
    'startTime', iif(days IS NULL, time_write(at, zone, '%Y-%m-%dT%H:%M:%S%Z'), NULL),
    'endTime', iif(days IS NULL, time_write(until, zone, '%Y-%m-%dT%H:%M:%S%Z'), NULL),
    'startDate', iif(days IS NULL, NULL, time_write(at, zone, '%Y-%m-%d')),
    'endDate', iif(days IS NULL, NULL, time_write(until, zone, '%Y-%m-%d')),
    'timezone', iif(days IS NULL, zone, NULL),
    'attendees', json(attendees),
    'dayOfWeek', time_write(at, zone, '%A')
  )) AS item
  FROM (
    SELECT shown.*, c.key AS place, c.value ->> 1 AS at, c.value ->> 2 AS until
    FROM json_each(:chosen) c
    JOIN shown ON n = c.value ->> 0
  )
  ORDER BY place
);

-- name: google_calendar_update_event
SELECT email AS calendar FROM account;
-- include: find_event
-- include: say_not_found
-- include: give_own_date
SELECT n, zone, days AS old_days, start_s AS old_start, end_s AS old_end, recurring_id AS series
FROM shown
WHERE id = :event_id;
SELECT
  ifnull(time_read(nullif(:updated_start_datetime, ''), :zone), :old_start) AS start_s,
  ifnull(time_read(nullif(:updated_end_datetime, ''), :zone), :old_end) AS end_s,
  nullif(:updated_start_datetime, '') IS NOT NULL AS has_start,
  nullif(:updated_end_datetime, '') IS NOT NULL AS has_end;
SELECT 'Google Calendar API Error (400): Invalid value for: Invalid format: "'
  || iif(
    :has_start AND time_read(:updated_start_datetime, :zone) IS NULL,
    :updated_start_datetime,
    :updated_end_datetime
  ) || '"' AS error
WHERE (:has_start AND time_read(:updated_start_datetime, :zone) IS NULL)
  OR (:has_end AND time_read(:updated_end_datetime, :zone) IS NULL);
SELECT 'Google Calendar API Error (400): Start and end times must either both be date or both be '
  || 'dateTime.' AS error
WHERE :old_days IS NOT NULL AND :has_start <> :has_end;
SELECT 'Google Calendar API Error (400): The specified time range is empty.' AS error
WHERE :end_s < :start_s;
SELECT 'Google Calendar API Error (400): Invalid attendee email.' AS error
FROM json_each(:attendees_to_add)
WHERE NOT mail_is_address(value)
LIMIT 1;
SELECT 'Google Calendar API Error (400): Invalid recurrence rule.' AS error
WHERE json_array_length(:updated_recurrence) > 0
  AND (:series IS NOT NULL OR recur_error(:updated_recurrence, :start_s, :zone) IS NOT NULL);
UPDATE event
SET
  title = ifnull(nullif(:updated_summary, ''), title),
  description = ifnull(nullif(:updated_description, ''), description),
  location = ifnull(nullif(:updated_location, ''), location),
  visibility = iif(:updated_visibility IS NULL, visibility, nullif(:updated_visibility, 'default')),
  start_s = :start_s,
  end_s = :end_s,
  days = iif(:has_start, NULL, days),
  recurrence = CASE
    WHEN :updated_recurrence IS NULL THEN recurrence
    WHEN json_array_length(:updated_recurrence) = 0 THEN NULL
    ELSE :updated_recurrence
  END,
  updated = now()
WHERE n = :n;
DELETE FROM attendee
WHERE event = :n AND email IN (SELECT lower(value) FROM json_each(:attendees_to_remove));
INSERT OR IGNORE INTO attendee (event, position, email, response)
SELECT
  :n,
  (SELECT ifnull(max(position), -1) + 1 FROM attendee WHERE event = :n) + key,
  value,
  iif(lower(value) = email, 'accepted', 'needsAction')
FROM json_each(:attendees_to_add), account
ORDER BY key;
SELECT 'Event with ID ' || id || ' successfully updated at ' || updated
  || '. View updated event at ' || link AS result
FROM shown
WHERE n = :n;

-- name: google_calendar_delete_event
SELECT iif(:calendar_id = 'primary', (SELECT email FROM account), :calendar_id) AS calendar;
-- include: find_event
SELECT 'Google Calendar API Error (410): Resource has been deleted' AS error
FROM gone
WHERE :found IS NULL AND :parent IS NULL AND calendar = :calendar AND id = :event_id;
SELECT 'Google Calendar API Error (404): Not Found' AS error
WHERE :found IS NULL AND :parent IS NULL;
-- include: except_date
INSERT OR IGNORE INTO gone VALUES (:calendar, :event_id);
DELETE FROM event WHERE n = :found OR (:found IS NOT NULL AND recurring_id = :event_id);
SELECT 'Event with ID ''' || :event_id || ''' successfully deleted from calendar ''' || :calendar_id
  || '''. '
  || CASE :send_updates
    WHEN 'all' THEN 'Notifications were sent to all attendees.'
    WHEN 'externalOnly' THEN 'Notifications were sent to external attendees only.'
    ELSE 'No notifications were sent to attendees.'
  END AS result;

-- name: google_calendar_add_attendees_to_event
SELECT iif(:calendar_id = 'primary', (SELECT email FROM account), :calendar_id) AS calendar;
-- include: find_event
-- include: say_not_found
SELECT 'Google Calendar API Error (400): Invalid attendee email.' AS error
FROM json_each(:attendees)
WHERE NOT mail_is_address(value)
LIMIT 1;
SELECT json_group_array(value) AS added, count(*) AS n_added
FROM (
  SELECT value
  FROM json_each(:attendees)
  WHERE lower(value) NOT IN (
    SELECT lower(email) FROM attendee WHERE event = ifnull(:found, :parent)
  )
  GROUP BY lower(value)
  ORDER BY min(key)
);
SELECT
  'No new attendees were added to event ''' || :event_id
    || ''' because all specified emails are already attendees. Current attendees: ['
    || (
      SELECT ifnull(group_concat('''' || email || '''', ', '), '')
      FROM (SELECT email FROM attendee WHERE event = ifnull(:found, :parent) ORDER BY position)
    ) || ']' AS result,
  iif(:n_added > 0, :parent, NULL) AS parent;
-- include: give_own_date
SELECT n FROM event WHERE id = :event_id;
INSERT INTO attendee (event, position, email, response)
SELECT
  :n,
  (SELECT ifnull(max(position), -1) + 1 FROM attendee WHERE event = :n) + key,
  value,
  iif(lower(value) = email, 'accepted', 'needsAction')
FROM json_each(:added), account
ORDER BY key;
UPDATE event SET updated = now() WHERE n = :n AND :n_added > 0;
SELECT 'Successfully added ' || :n_added || ' new attendees to event ''' || :event_id || ''': '
  || (SELECT group_concat(value, ', ') FROM json_each(:added)) || '. '
  || CASE :send_updates
    WHEN 'all' THEN 'Notifications were sent to all attendees.'
    WHEN 'externalOnly' THEN 'Notifications were sent to external attendees only.'
    ELSE 'No notifications were sent to attendees.'
  END || ' View updated event at ' || link AS result
FROM shown
WHERE n = :n AND :n_added > 0;

-- name: google_calendar_find_free_slots
SELECT iif(zone_exists(:timezone), :timezone, 'UTC') AS zone;
SELECT
  ifnull(
    time_read(:time_min, :zone),
    time_read(time_write(now_ms() / 1000, :zone, '%Y-%m-%d'), :zone)
  ) AS low,
  ifnull(
    time_read(:time_max, :zone),
    time_read(time_write(now_ms() / 1000, :zone, '%Y-%m-%dT23:59:59'), :zone)
  ) AS high;
SELECT 'Invalid isoformat string: '''
  || iif(time_read(:time_min, :zone) IS NULL AND :time_min IS NOT NULL, :time_min, :time_max)
  || '''' AS error
WHERE (:time_min IS NOT NULL AND time_read(:time_min, :zone) IS NULL)
  OR (:time_max IS NOT NULL AND time_read(:time_max, :zone) IS NULL);
SELECT 'time_min must precede time_max' AS error WHERE :low >= :high;
SELECT 'Google Calendar API Error (400): The requested list of items is too long.' AS error
WHERE json_array_length(:items) > 50;
SELECT
  iif(ifnull(json_array_length(:items), 0) = 0, '["primary"]', :items) AS wanted,
  iif(
    :time_max IS NULL,
    time_write(:high, :zone, '%Y-%m-%dT%H:%M:%S.999999%:'),
    time_write(:high, :zone, '%Y-%m-%dT%H:%M:%S%:')
  ) AS high_text;
WITH item (name, place, calendar, person) AS (
  SELECT
    value,
    min(key),
    (
      SELECT id
      FROM calendar
      WHERE NOT is_deleted AND id = iif(value = 'primary', (SELECT email FROM account), value)
    ),
    (SELECT email FROM contact WHERE source = 'directory' AND email = lower(value))
  FROM json_each(:wanted)
  GROUP BY value
),
taken (name, a, b) AS (
  SELECT item.name, max(at, :low), min(until, :high)
  FROM item
  JOIN (
    SELECT
      *,
      iif(
        days IS NULL,
        at + end_s - start_s,
        time_read(date(time_write(at, zone, '%Y-%m-%d'), '+' || days || ' days'), zone)
      ) AS until
    FROM (
      SELECT n, calendar, days, zone, start_s, end_s, o.value AS at
      FROM
        shown,
        json_each(recur_starts(
          recurrence,
          start_s,
          zone,
          :low - (end_s - start_s) - 86400,
          :high
        )) o
      WHERE recurrence IS NOT NULL OR (start_s < :high AND end_s > :low)
    )
  ) e
    ON e.calendar = item.calendar
      OR (
        item.person IS NOT NULL
        AND item.calendar IS NULL
        AND EXISTS (SELECT 1 FROM attendee WHERE event = e.n AND email = item.person)
      )
  WHERE until > :low
    AND NOT EXISTS (
      SELECT 1
      FROM attendee
      WHERE event = e.n AND response = 'declined' AND email = ifnull(item.calendar, item.person)
    )
),
marked AS (
  SELECT
    name,
    a,
    b,
    max(b) OVER (
      PARTITION BY name ORDER BY a, b ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS before
  FROM taken
),
grouped AS (
  SELECT
    name,
    a,
    b,
    sum(before IS NULL OR a > before) OVER (PARTITION BY name ORDER BY a, b) AS island
  FROM marked
),
busy AS (SELECT name, min(a) AS a, max(b) AS b FROM grouped GROUP BY name, island),
gap (name, a, b) AS (
  SELECT name, lag(b, 1, :low) OVER (PARTITION BY name ORDER BY a), a FROM busy
  UNION ALL
  SELECT item.name, ifnull((SELECT max(b) FROM busy WHERE busy.name = item.name), :low), :high
  FROM item
)
SELECT json_object('calendars', json_group_object(name, json(slots))) AS result
FROM (
  SELECT
    name,
    iif(
      calendar IS NULL AND person IS NULL,
      json_object('error', 'notFound', 'busy', json_array(), 'free', json_array()),
      json_object(
        'busy', (
          SELECT json_group_array(json_object(
            'start', time_write(a, :zone, '%Y-%m-%dT%H:%M:%S%:'),
            'end', time_write(b, :zone, '%Y-%m-%dT%H:%M:%S%:')
          ))
          FROM (SELECT a, b FROM busy WHERE busy.name = item.name ORDER BY a)
        ),
        'free', (
          SELECT json_group_array(json_object(
            'start', time_write(a, :zone, '%Y-%m-%dT%H:%M:%S%:'),
            'end', iif(b = :high, :high_text, time_write(b, :zone, '%Y-%m-%dT%H:%M:%S%:'))
          ))
          FROM (
            SELECT a, b
            FROM gap
            WHERE gap.name = item.name AND (b - a) / 60 >= :min_slot_duration_minutes AND b > a
            ORDER BY a
          )
        )
      )
    ) AS slots
  FROM item
  ORDER BY place
);

-- name: google_calendar_search_contacts
-- include: common/search_contacts
