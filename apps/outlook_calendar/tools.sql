-- part: find_calendar
SELECT n AS calendar, is_default
FROM calendar
WHERE iif(
  :calendar_id IS NULL OR lower(:calendar_id) IN ('', 'primary', 'calendar'),
  is_default,
  id = :calendar_id
);
SELECT json_indent(json_object(
  'error', json_object(
    'code', iif(:calendar_id GLOB 'A[AQ]Mk*', 'ErrorItemNotFound', 'ErrorInvalidIdMalformed'),
    'message', iif(
      :calendar_id GLOB 'A[AQ]Mk*', 'The specified object was not found in the store.',
      'Id is malformed.'
    )
  )
)) AS error
WHERE :calendar IS NULL;

-- part: find_event
-- An event, or a single date (:at) of a recurring one (:master).
SELECT n FROM event WHERE id = :event_id;
SELECT n AS master, at
FROM (
  SELECT e.*, time_read(substr(:event_id, -16), 'UTC') AS at
  FROM entry e
  WHERE :n IS NULL
    AND e.recurrence IS NOT NULL
    AND e.id = substr(:event_id, 1, length(:event_id) - 17)
)
WHERE json_array_length(recur_starts(lines, start_s, zone, at, at + 1)) = 1;
SELECT json_indent(json_object(
  'error', json_object(
    'code', iif(:event_id GLOB 'A[AQ]Mk*', 'ErrorItemNotFound', 'ErrorInvalidIdMalformed'),
    'message', iif(
      :event_id GLOB 'A[AQ]Mk*', 'The specified object was not found in the store.',
      'Id is malformed.'
    )
  )
)) AS error
WHERE :n IS NULL AND :master IS NULL;

-- part: exclude_date
UPDATE event
SET excluded = json_insert(excluded, '$[#]', 'EXDATE:' || time_write(:at, 'UTC', '%Y%m%dT%H%M%SZ'))
WHERE n = :master;

-- part: check_select
-- :names: which members of a :kind are shown.
SELECT json_indent(json_object(
  'error', json_object(
    'code', 'RequestBroker--ParseUri',
    'message', 'Could not find a property named ''' || value || ''' on type '
      || '''Microsoft.OutlookServices.' || upper(substr(:kind, 1, 1)) || substr(:kind, 2) || '''.'
  )
)) AS error
FROM json_each(:select)
WHERE trim(value) NOT IN (SELECT name FROM property WHERE kind = :kind)
LIMIT 1;
SELECT iif(
  json_array_length(:select) > 0,
  (SELECT group_concat(trim(value)) || ',id,@odata.etag' FROM json_each(:select)),
  '*all'
) AS names;

-- part: check_page
SELECT json_indent(json_object(
  'error', json_object(
    'code', 'ErrorInvalidUrlQuery',
    'message', 'Invalid value ''' || iif(:top < 1, :top, :skip) || ''' for $'
      || iif(:top < 1, 'top', 'skip') || ' query option found.'
  )
)) AS error
WHERE :top < 1 OR :skip < 0;
SELECT min(ifnull(:top, 10), 1000) AS page_size, ifnull(:skip, 0) AS first;

-- part: check_range
SELECT time_read(:start_datetime, 'UTC') AS low, time_read(:end_datetime, 'UTC') AS high;
SELECT json_indent(json_object(
  'error', json_object(
    'code', 'ErrorInvalidParameter',
    'message', 'The value ''' || iif(:low IS NULL, :start_datetime, :end_datetime)
      || ''' of parameter ''' || iif(:low IS NULL, 'startDateTime', 'endDateTime')
      || ''' is invalid.'
  )
)) AS error
WHERE :low IS NULL OR :high IS NULL;
SELECT json_indent(json_object(
  'error', json_object(
    'code', 'ErrorInvalidParameter',
    'message', 'The end of the time range must be after its start.'
  )
)) AS error
WHERE :high <= :low;

-- part: page_of_calendars
SELECT json_group_array(json(json_pick(:names, item))) AS items, max(total) AS total
FROM (
  SELECT item, count(*) OVER () AS total
  FROM shown_calendar
  ORDER BY n
  LIMIT :page_size OFFSET :first
);
SELECT 'calendars' AS path, 'users(''' || email || ''')/calendars' AS context FROM account;

-- part: page_of_events
-- Of :calendar, from :low to :high when these are given.
SELECT
  json_group_array(json(json_pick(
    :names,
    (
      SELECT iif(single, item, json_set(
        item,
        '$.id', own_id || time_write(at, 'UTC', '_%Y%m%dT%H%M%SZ'),
        '$.type', 'occurrence',
        '$.seriesMasterId', own_id,
        '$.recurrence', NULL,
        '$.start.dateTime', time_write(at, 'UTC', '%Y-%m-%dT%H:%M:%S.0000000'),
        '$.end.dateTime', time_write(at + span, 'UTC', '%Y-%m-%dT%H:%M:%S.0000000')
      ))
      FROM shown
      WHERE n = chosen
    )
  ))) AS items,
  max(total) AS total
FROM (
  SELECT
    m.n AS chosen,
    m.at,
    m.id AS own_id,
    m.end_s - m.start_s AS span,
    :low IS NULL OR m.recurrence IS NULL AS single,
    count(*) OVER () AS total
  FROM (
    SELECT e.*, o.value AS at
    FROM
      entry e,
      json_each(iif(
        :low IS NULL,
        json_array(e.start_s),
        recur_starts(e.lines, e.start_s, e.zone, :low - (e.end_s - e.start_s), :high)
      )) o
    WHERE e.calendar = :calendar
      AND iif(
        :low IS NULL,
        e.series IS NULL,
        e.recurrence IS NOT NULL OR (e.start_s < :high AND e.end_s > :low)
      )
  ) m
  WHERE (:low IS NULL OR (m.at < :high AND m.at + m.end_s - m.start_s > :low))
    AND {{odata :filter_text}}
  ORDER BY {{odata_order :order_text}}, m.at, m.n
  LIMIT :page_size OFFSET :first
);
SELECT
  'calendars/' || id || iif(:low IS NULL, '/events', '/calendarView') AS path,
  'users(''' || email || ''')/calendars(''' || id || ''')/'
    || iif(:low IS NULL, 'events', 'calendarView') AS context
FROM calendar, account
WHERE n = :calendar;

-- part: show_page
SELECT drop_nulls(json_object(
  '@odata.context', 'https://graph.microsoft.com/v1.0/$metadata#' || :context,
  'value', json(:items),
  '@odata.nextLink', iif(
    :total > :first + :page_size,
    'https://graph.microsoft.com/v1.0/users/' || email || '/' || :path || '?$skiptoken='
      || replace(
        replace(
          rtrim(
            base64(json_array(
              :kind,
              :calendar,
              :page_size,
              :first + :page_size,
              :names,
              :filter_text,
              :order_text,
              :low,
              :high
            )),
            '='
          ),
          '+',
          '-'
        ),
        '/',
        '_'
      ),
    NULL
  )
)) AS result
FROM account;

-- part: check_event
-- :e, the members of an event that are written.
SELECT json_indent(json_object(
  'error', json_object(
    'code', 'RequestBodyRead',
    'message', 'The property ''' || key || ''' does not exist on type '
      || '''Microsoft.OutlookServices.Event''. Make sure to only use property names '
      || 'that are defined by the type.'
  )
)) AS error
FROM json_each(:e)
WHERE key NOT IN (SELECT name FROM property WHERE kind = 'written')
LIMIT 1;
SELECT json_indent(json_object(
  'error', json_object(
    'code', 'RequestBodyRead',
    'message', 'The value of the property ''' || key || ''' has the wrong type.'
  )
)) AS error
FROM json_each(:e)
WHERE CASE
  WHEN key IN ('start', 'end', 'body', 'location', 'recurrence') THEN type NOT IN ('object', 'null')
  WHEN key IN ('attendees', 'categories') THEN type <> 'array'
  WHEN key LIKE 'is%' THEN type NOT IN ('true', 'false')
  WHEN key = 'reminderMinutesBeforeStart' THEN type <> 'integer'
  WHEN key IN ('subject', 'showAs', 'importance', 'sensitivity') THEN type <> 'text'
END
LIMIT 1;
SELECT json_indent(json_object(
  'error', json_object(
    'code', 'RequestBodyRead',
    'message', 'Requested value ''' || value || ''' was not found.'
  )
)) AS error
FROM json_each(:e)
WHERE (
  key = 'showAs'
  AND value NOT IN ('free', 'tentative', 'busy', 'oof', 'workingElsewhere', 'unknown')
)
  OR (key = 'importance' AND value NOT IN ('low', 'normal', 'high'))
  OR (key = 'sensitivity' AND value NOT IN ('normal', 'personal', 'private', 'confidential'))
LIMIT 1;
SELECT json_indent(json_object(
  'error', json_object(
    'code', 'TimeZoneNotSupportedException',
    'message', 'A valid TimeZone value must be specified. The following TimeZone value is not '
      || 'supported: ''' || wanted || '''.'
  )
)) AS error
FROM (
  SELECT value ->> 'timeZone' AS wanted
  FROM json_each(:e)
  WHERE key IN ('start', 'end') AND type = 'object'
)
WHERE NOT EXISTS (SELECT 1 FROM zone z WHERE z.name = wanted) AND NOT zone_exists(wanted)
LIMIT 1;
SELECT json_indent(json_object(
  'error', json_object(
    'code', 'ErrorInvalidRequest',
    'message', 'Cannot convert the literal ''' || ifnull(value ->> 'dateTime', '')
      || ''' to the expected type ''Edm.DateTime''.'
  )
)) AS error
FROM json_each(:e)
WHERE key IN ('start', 'end') AND type = 'object' AND time_read(value ->> 'dateTime', 'UTC') IS NULL
LIMIT 1;
SELECT json_indent(json_object(
  'error', json_object(
    'code', 'ErrorInvalidRecipients',
    'message', 'At least one recipient is not valid., Recipient '''
      || ifnull(value ->> '$.emailAddress.address', '') || ''' is not resolved.'
  )
)) AS error
FROM json_each(:e, '$.attendees')
WHERE NOT ifnull(mail_is_address(iif(type = 'object', value ->> '$.emailAddress.address', NULL)), 0)
LIMIT 1;

-- part: write_event
UPDATE event
SET
  subject = ifnull(:e ->> 'subject', subject),
  body = ifnull(:e ->> '$.body.content', body),
  body_type = ifnull(lower(:e ->> '$.body.contentType'), body_type),
  location = iif(
    json_type(:e, '$.location') IS NULL,
    location,
    nullif(:e ->> '$.location.displayName', '')
  ),
  is_all_day = ifnull(:e ->> 'isAllDay', is_all_day),
  start_zone = iif(
    json_type(:e, '$.start') = 'object',
    ifnull(:e ->> '$.start.timeZone', 'UTC'),
    start_zone
  ),
  end_zone = iif(
    json_type(:e, '$.end') = 'object',
    ifnull(:e ->> '$.end.timeZone', 'UTC'),
    end_zone
  ),
  show_as = ifnull(:e ->> 'showAs', show_as),
  importance = ifnull(:e ->> 'importance', importance),
  sensitivity = ifnull(:e ->> 'sensitivity', sensitivity),
  categories = ifnull(:e -> 'categories', categories),
  is_online = ifnull(:e ->> 'isOnlineMeeting', is_online),
  is_reminder_on = ifnull(:e ->> 'isReminderOn', is_reminder_on),
  reminder_minutes = ifnull(:e ->> 'reminderMinutesBeforeStart', reminder_minutes),
  recurrence = CASE json_type(:e, '$.recurrence')
    WHEN 'object' THEN :e -> 'recurrence'
    WHEN 'null' THEN NULL
    ELSE recurrence
  END,
  change_key = new_id('change'),
  modified_s = now_ms() / 1000
WHERE n = :n;
UPDATE event
SET
  start_s = ifnull(
    time_read(
      :e ->> '$.start.dateTime',
      iif(is_all_day, 'UTC', ifnull((SELECT iana FROM zone WHERE name = start_zone), start_zone))
    ),
    start_s
  ),
  end_s = ifnull(
    time_read(
      :e ->> '$.end.dateTime',
      iif(is_all_day, 'UTC', ifnull((SELECT iana FROM zone WHERE name = end_zone), end_zone))
    ),
    end_s
  )
WHERE n = :n;
SELECT json_indent(json_object(
  'error', json_object(
    'code', 'ErrorPropertyValidationFailure',
    'message', iif(
      is_all_day AND (start_s % 86400 <> 0 OR end_s % 86400 <> 0),
      'The Event.Start and Event.End properties of an all-day event need to be '
        || 'set to midnight.',
      'At least one property failed validation. The end of an event cannot be '
        || 'before its start.'
    )
  )
)) AS error
FROM event
WHERE n = :n
  AND (
    end_s < start_s
    OR (is_all_day AND (start_s % 86400 <> 0 OR end_s % 86400 <> 0 OR end_s = start_s))
  );
SELECT json_indent(json_object(
  'error', json_object(
    'code', 'ErrorPropertyValidationFailure',
    'message', CASE
      WHEN series IS NOT NULL THEN 'A single date of a recurring event cannot recur itself.'
      WHEN rule IS NULL OR recur_error(lines, start_s, zone) IS NOT NULL
        THEN 'The recurrence pattern or range is not valid.'
      ELSE 'The start date of the range must be the date of the start.'
    END
  )
)) AS error
FROM entry
WHERE n = :n
  AND json_type(:e, '$.recurrence') = 'object'
  AND (
    series IS NOT NULL
    OR rule IS NULL
    OR recur_error(lines, start_s, zone) IS NOT NULL
    OR recurrence ->> '$.range.startDate' <> time_write(start_s, zone, '%Y-%m-%d')
  );
DELETE FROM attendee WHERE event = :n AND json_type(:e, '$.attendees') = 'array';
INSERT INTO attendee (event, position, email, name, type)
SELECT
  :n,
  key,
  address,
  coalesce(
    value ->> '$.emailAddress.name',
    (SELECT name FROM person WHERE email = address),
    address
  ),
  ifnull(value ->> 'type', 'required')
FROM (
  SELECT key, value, value ->> '$.emailAddress.address' AS address FROM json_each(:e, '$.attendees')
);
SELECT item AS result FROM shown WHERE n = :n;

-- name: get_my_profile
SELECT json_object(
  '@odata.context', 'https://graph.microsoft.com/v1.0/$metadata#users(userPrincipalName)/$entity',
  'userPrincipalName', email
) AS result
FROM account;

-- name: list_calendars
SELECT
  'calendar' AS kind, NULL AS calendar, NULL AS filter_text, NULL AS order_text, NULL AS low,
  NULL AS high;
-- include: check_select
-- include: check_page
-- include: page_of_calendars
-- include: show_page

-- name: get_calendar
SELECT 'calendar' AS kind;
-- include: find_calendar
-- include: check_select
SELECT json_pick(:names, item) AS result FROM shown_calendar WHERE n = :calendar;

-- name: create_calendar
SELECT json_indent(json_object(
  'error', json_object(
    'code', 'ErrorFolderExists',
    'message', 'A folder with the specified name already exists.'
  )
)) AS error
WHERE EXISTS (SELECT 1 FROM calendar WHERE name = trim(:name));
SELECT json_indent(json_object(
  'error', json_object(
    'code', 'ErrorInvalidRequest',
    'message', 'The name of a calendar cannot be empty.'
  )
)) AS error
WHERE trim(:name) = '';
INSERT INTO calendar (id, name, change_key) VALUES (
  new_id('calendar'),
  trim(:name),
  new_id('change')
)
RETURNING n;
SELECT item AS result FROM shown_calendar WHERE n = :n;

-- name: update_calendar
-- include: find_calendar
SELECT json_indent(json_object(
  'error', json_object(
    'code', 'ErrorFolderExists',
    'message', 'A folder with the specified name already exists.'
  )
)) AS error
WHERE EXISTS (SELECT 1 FROM calendar WHERE name = trim(:name) AND n <> :calendar);
UPDATE calendar SET name = trim(:name), change_key = new_id('change') WHERE n = :calendar;
SELECT item AS result FROM shown_calendar WHERE n = :calendar;

-- name: delete_calendar
-- include: find_calendar
SELECT json_indent(json_object(
  'error', json_object(
    'code', 'ErrorDeleteDistinguishedFolder',
    'message', 'Distinguished folders cannot be deleted.'
  )
)) AS error
WHERE :is_default;
DELETE FROM calendar WHERE n = :calendar;
SELECT json_object('status', 'success', 'status_code', 204) AS result;

-- name: list_events
SELECT
  'event' AS kind,
  NULL AS low,
  NULL AS high,
  :filter AS filter_text,
  (SELECT group_concat(value) FROM json_each(:orderby)) AS order_text;
-- include: find_calendar
-- include: check_select
-- include: check_page
-- include: page_of_events
-- include: show_page

-- name: get_event
SELECT 'event' AS kind;
-- include: find_event
-- include: check_select
SELECT json_pick(:names, iif(
  :n IS NOT NULL,
  item,
  json_set(
    item,
    '$.id', :event_id,
    '$.type', 'occurrence',
    '$.seriesMasterId', e.id,
    '$.recurrence', NULL,
    '$.start.dateTime', time_write(:at, 'UTC', '%Y-%m-%dT%H:%M:%S.0000000'),
    '$.end.dateTime', time_write(:at + e.end_s - e.start_s, 'UTC', '%Y-%m-%dT%H:%M:%S.0000000')
  )
)) AS result
FROM shown
JOIN event e ON e.n = shown.n
WHERE shown.n = ifnull(:n, :master);

-- name: create_event
-- include: find_calendar
SELECT json_patch(
  json_remove(
    json_patch(:args, ifnull(:args -> 'kwargs', '{}')),
    '$.kwargs',
    '$.start_datetime',
    '$.end_datetime',
    '$.start_timezone',
    '$.end_timezone',
    '$.body',
    '$.body_content_type',
    '$.location_display_name',
    '$.calendar_id',
    iif(json_type(:args, '$.attendees') = 'null', '$.attendees', '$.kwargs')
  ),
  drop_nulls(json_object(
    'start', json_object('dateTime', :start_datetime, 'timeZone', :start_timezone),
    'end', json_object('dateTime', :end_datetime, 'timeZone', :end_timezone),
    'body', iif(
      :body <> '',
      json_object('contentType', :body_content_type, 'content', :body),
      NULL
    ),
    'location', iif(
      :location_display_name <> '',
      json_object('displayName', :location_display_name),
      NULL
    )
  ))
) AS e;
-- include: check_event
INSERT INTO event (id, calendar, uid, change_key, start_s, end_s, created_s, modified_s) VALUES (
  new_id('event'),
  :calendar,
  new_id('uid'),
  '',
  0,
  0,
  now_ms() / 1000,
  now_ms() / 1000
)
RETURNING n;
-- include: write_event

-- name: update_event
-- include: find_event
SELECT json_remove(
  json_patch(:args, ifnull(:args -> 'kwargs', '{}')),
  '$.kwargs',
  '$.event_id'
) AS e;
-- include: check_event
-- A single date of a recurring event becomes an event of its own.
-- include: exclude_date
INSERT INTO event (
  id, calendar, uid, change_key, subject, body, body_type, location, start_s, end_s, start_zone,
  end_zone, is_all_day, show_as, importance, sensitivity, categories, is_online, is_reminder_on,
  reminder_minutes, series, created_s, modified_s
)
SELECT
  :event_id,
  calendar,
  uid,
  change_key,
  subject,
  body,
  body_type,
  location,
  :at,
  :at + end_s - start_s,
  start_zone,
  end_zone,
  is_all_day,
  show_as,
  importance,
  sensitivity,
  categories,
  is_online,
  is_reminder_on,
  reminder_minutes,
  n,
  created_s,
  modified_s
FROM event
WHERE n = :master;
SELECT n FROM event WHERE id = :event_id;
INSERT INTO attendee
SELECT :n, position, email, name, type, response
FROM attendee
WHERE event = :master;
-- include: write_event

-- name: delete_event
-- include: find_event
DELETE FROM event WHERE n = :n;
-- include: exclude_date
SELECT json_object('status', 'success', 'status_code', 204) AS result;

-- name: list_calendar_view
SELECT 'event' AS kind, NULL AS filter_text, NULL AS order_text;
-- include: check_range
-- include: find_calendar
-- include: check_select
-- include: check_page
-- include: page_of_events
-- include: show_page

-- name: get_schedule
-- include: check_range
SELECT json_indent(json_object(
  'error', json_object(
    'code', 'ErrorInvalidParameter',
    'message', 'The value of availabilityViewInterval must be between 5 and 1440 minutes.'
  )
)) AS error
WHERE :availability_view_interval NOT BETWEEN 5 AND 1440;
SELECT json_indent(json_object(
  'error', json_object(
    'code', 'ErrorInvalidParameter',
    'message', 'A schedule can be asked for at most 62 days.'
  )
)) AS error
WHERE :high - :low > 62 * 86400;
-- What keeps whom: my events, and colleagues those that they are invited to.
SELECT json_group_array(json_array(who, n, start_s, end_s, show_as)) AS kept
FROM (
  SELECT s.value AS who, e.n, o.value AS start_s, o.value + e.end_s - e.start_s AS end_s, e.show_as
  FROM
    json_each(:schedules) s,
    entry e,
    json_each(recur_starts(e.lines, e.start_s, e.zone, :low - (e.end_s - e.start_s), :high)) o
  WHERE (e.recurrence IS NOT NULL OR (e.start_s < :high AND e.end_s > :low))
    AND o.value + e.end_s - e.start_s > :low
    AND (
      (
        lower(s.value) IN (SELECT email FROM account)
        AND e.calendar IN (SELECT n FROM calendar WHERE is_default)
      )
      OR EXISTS (SELECT 1 FROM attendee WHERE event = e.n AND email = s.value)
    )
  ORDER BY s.key, o.value, e.n
);
WITH RECURSIVE slot (at, until) AS (
  SELECT :low, min(:high, :low + 60 * :availability_view_interval)
  UNION ALL
  SELECT until, min(:high, until + 60 * :availability_view_interval) FROM slot WHERE until < :high
)
SELECT json_object(
  '@odata.context', 'https://graph.microsoft.com/v1.0/$metadata'
    || '#Collection(microsoft.graph.scheduleInformation)',
  'value', json_group_array(json(item))
) AS result
FROM (
  SELECT CASE
    WHEN NOT EXISTS (SELECT 1 FROM person WHERE email = s.value)
      THEN json_object(
        'scheduleId', s.value,
        'availabilityView', '',
        'error', json_object(
          'message', 'Unable to resolve e-mail address ' || s.value
            || ' to an Active Directory object.',
          'responseCode', 'ErrorMailRecipientNotFound'
        )
      )
    ELSE json_object(
      'scheduleId', s.value,
      'availabilityView', (
        SELECT group_concat(mark, '')
        FROM (
          SELECT ifnull((
            SELECT max(CASE k.value ->> 4
              WHEN 'tentative' THEN 1
              WHEN 'busy' THEN 2
              WHEN 'oof' THEN 3
              WHEN 'workingElsewhere' THEN 4
              ELSE 0
            END)
            FROM json_each(:kept) k
            WHERE k.value ->> 0 = s.value AND k.value ->> 2 < slot.until AND k.value ->> 3 > slot.at
          ), 0) AS mark
          FROM slot
          ORDER BY at
        )
      ),
      'scheduleItems', (
        SELECT json_group_array(json_object(
          'isPrivate', json(iif(e.sensitivity = 'private', 'true', 'false')),
          'status', e.show_as,
          'subject', e.subject,
          'location', ifnull(e.location, ''),
          'start', json_object(
            'dateTime', time_write(e.at, 'UTC', '%Y-%m-%dT%H:%M:%S.0000000'),
            'timeZone', 'UTC'
          ),
          'end', json_object(
            'dateTime', time_write(e.until, 'UTC', '%Y-%m-%dT%H:%M:%S.0000000'),
            'timeZone', 'UTC'
          )
        ))
        FROM (
          SELECT event.*, k.value ->> 2 AS at, k.value ->> 3 AS until
          FROM json_each(:kept) k
          JOIN event ON n = k.value ->> 1
          WHERE k.value ->> 0 = s.value
          ORDER BY k.key
        ) e
      ),
      'workingHours', json_object(
        'daysOfWeek', json('["monday","tuesday","wednesday","thursday","friday"]'),
        'startTime', '08:00:00.0000000',
        'endTime', '17:00:00.0000000',
        'timeZone', json_object('name', 'GMT Standard Time')
      )
    )
  END AS item
  FROM json_each(:schedules) s
  ORDER BY s.key
);

-- name: get_next_page_results
SELECT CAST(unbase64(token || substr('===', 1, (4 - length(token) % 4) % 4)) AS TEXT) AS page
FROM (
  SELECT replace(
    replace(substr(:url, instr(:url, '$skiptoken=') + 11), '-', '+'),
    '_',
    '/'
  ) AS token
  WHERE :url LIKE 'https://graph.microsoft.com/v1.0/users/%' AND instr(:url, '$skiptoken=') > 0
);
SELECT json_indent(json_object(
  'error', json_object(
    'code', 'ErrorInvalidUrlQuery',
    'message', 'The URL is not one of @odata.nextLink.'
  )
)) AS error
WHERE NOT ifnull(json_valid(:page), 0) OR ifnull(json_array_length(:page), 0) <> 9;
SELECT
  :page ->> 0 AS kind,
  :page ->> 1 AS calendar,
  :page ->> 2 AS page_size,
  :page ->> 3 AS first,
  :page ->> 4 AS names,
  :page ->> 5 AS filter_text,
  :page ->> 6 AS order_text,
  :page ->> 7 AS low,
  :page ->> 8 AS high;
-- include: page_of_calendars
SELECT
  :items AS calendars, :total AS n_calendars, :path AS calendars_path,
  :context AS calendars_context;
-- include: page_of_events
SELECT
  iif(:kind = 'calendar', :calendars, :items) AS items,
  iif(:kind = 'calendar', :n_calendars, :total) AS total,
  iif(:kind = 'calendar', :calendars_path, :path) AS path,
  iif(:kind = 'calendar', :calendars_context, :context) AS context;
-- include: show_page
