-- Calendars and their events. Times are seconds since 1970 in UTC; an event that takes all day
-- begins and ends at midnight in UTC. Of a recurring event there is one row; a single date of it
-- that was changed is a row of its own (series), and is excluded from the other one.

CREATE TABLE account (email TEXT PRIMARY KEY, name TEXT NOT NULL);

CREATE TABLE calendar (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL COLLATE NOCASE UNIQUE,
  change_key TEXT NOT NULL,
  is_default INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE event (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  calendar INTEGER NOT NULL REFERENCES calendar (n) ON DELETE CASCADE,
  uid TEXT NOT NULL,
  change_key TEXT NOT NULL,
  subject TEXT NOT NULL DEFAULT '',
  body TEXT NOT NULL DEFAULT '',
  body_type TEXT NOT NULL DEFAULT 'html',
  location TEXT,
  start_s INTEGER NOT NULL,
  end_s INTEGER NOT NULL,
  start_zone TEXT NOT NULL DEFAULT 'UTC', -- as it was given
  end_zone TEXT NOT NULL DEFAULT 'UTC',
  is_all_day INTEGER NOT NULL DEFAULT 0,
  show_as TEXT NOT NULL DEFAULT 'busy', -- free, tentative, busy, oof, workingElsewhere
  importance TEXT NOT NULL DEFAULT 'normal',
  sensitivity TEXT NOT NULL DEFAULT 'normal',
  categories TEXT NOT NULL DEFAULT '[]',
  is_online INTEGER NOT NULL DEFAULT 0,
  is_reminder_on INTEGER NOT NULL DEFAULT 1,
  reminder_minutes INTEGER NOT NULL DEFAULT 15,
  recurrence TEXT, -- Graph's object of pattern and range
  excluded TEXT NOT NULL DEFAULT '[]', -- lines of EXDATE
  series INTEGER REFERENCES event (n) ON DELETE CASCADE,
  created_s INTEGER NOT NULL,
  modified_s INTEGER NOT NULL
);
CREATE INDEX event_time ON event (calendar, start_s);
CREATE INDEX event_series ON event (series);

CREATE TABLE attendee (
  event INTEGER NOT NULL REFERENCES event (n) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  email TEXT NOT NULL COLLATE NOCASE,
  name TEXT NOT NULL,
  type TEXT NOT NULL DEFAULT 'required', -- required, optional, resource
  response TEXT NOT NULL DEFAULT 'none',
  PRIMARY KEY (event, position)
) WITHOUT ROWID;
CREATE INDEX attendee_email ON attendee (email);

-- Colleagues, whose schedules can be asked for.
CREATE TABLE person (email TEXT PRIMARY KEY COLLATE NOCASE, name TEXT NOT NULL) WITHOUT ROWID;

-- Zones that have another name on Windows.
CREATE TABLE zone (name TEXT PRIMARY KEY COLLATE NOCASE, iana TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE property (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (kind, name)
) WITHOUT ROWID;

-- Events with the zone of their clock, and the lines of RFC 5545 for their recurrence. The first
-- line (rule) is NULL when something is missing in it.
CREATE VIEW entry AS
SELECT
  *,
  iif(
    recurrence IS NULL,
    NULL,
    (
      SELECT json_group_array(value)
      FROM (SELECT rule AS value UNION ALL SELECT value FROM json_each(excluded))
    )
  ) AS lines
FROM (
  SELECT
    *,
    'RRULE:FREQ='
      || CASE pattern
        WHEN 'daily' THEN 'DAILY'
        WHEN 'weekly' THEN 'WEEKLY'
        WHEN 'absoluteMonthly' THEN 'MONTHLY'
        WHEN 'relativeMonthly' THEN 'MONTHLY'
        WHEN 'absoluteYearly' THEN 'YEARLY'
        WHEN 'relativeYearly' THEN 'YEARLY'
      END || iif(pattern LIKE '%Yearly', ';BYMONTH=' || (recurrence ->> '$.pattern.month'), '')
      || iif(
        pattern LIKE 'absolute%',
        ';BYMONTHDAY=' || (recurrence ->> '$.pattern.dayOfMonth'),
        ''
      )
      || iif(
        pattern = 'weekly' OR pattern LIKE 'relative%',
        ';BYDAY=' || (
          SELECT group_concat(upper(substr(value, 1, 2)))
          FROM json_each(recurrence, '$.pattern.daysOfWeek')
        ),
        ''
      )
      || iif(
        pattern LIKE 'relative%',
        ';BYSETPOS=' || CASE ifnull(recurrence ->> '$.pattern.index', 'first')
          WHEN 'first' THEN 1
          WHEN 'second' THEN 2
          WHEN 'third' THEN 3
          WHEN 'fourth' THEN 4
          WHEN 'last' THEN -1
        END,
        ''
      ) || ';INTERVAL=' || ifnull(recurrence ->> '$.pattern.interval', 1) || ';WKST='
      || upper(substr(ifnull(recurrence ->> '$.pattern.firstDayOfWeek', 'sunday'), 1, 2))
      || CASE recurrence ->> '$.range.type'
        WHEN 'noEnd' THEN ''
        WHEN 'numbered' THEN ';COUNT=' || (recurrence ->> '$.range.numberOfOccurrences')
        WHEN 'endDate'
          THEN ';UNTIL=' || time_write(
            time_read(substr(recurrence ->> '$.range.endDate', 1, 10) || 'T23:59:59', zone),
            'UTC',
            '%Y%m%dT%H%M%SZ'
          )
      END AS rule
  FROM (
    SELECT
      event.*,
      trim(
        substr(iif(body_type = 'html', html_text(body), body), 1, 255),
        ' ' || char(10)
      ) AS preview,
      CASE
        WHEN series IS NOT NULL THEN 'exception'
        WHEN recurrence IS NOT NULL THEN 'seriesMaster'
        ELSE 'singleInstance'
      END AS type,
      iif(is_all_day, 'UTC', ifnull(
        (SELECT iana FROM zone WHERE name = start_zone),
        start_zone
      )) AS zone,
      recurrence ->> '$.pattern.type' AS pattern
    FROM event
  )
);

-- Events as they are shown.
CREATE VIEW shown AS
SELECT
  m.n,
  json_object(
    '@odata.etag', 'W/"' || change_key || '"',
    'id', m.id,
    'createdDateTime', time_write(created_s, 'UTC', '%Y-%m-%dT%H:%M:%S.0000000Z'),
    'lastModifiedDateTime', time_write(modified_s, 'UTC', '%Y-%m-%dT%H:%M:%S.0000000Z'),
    'changeKey', change_key,
    'categories', json(categories),
    'transactionId', NULL,
    'originalStartTimeZone', start_zone,
    'originalEndTimeZone', end_zone,
    'iCalUId', uid,
    'reminderMinutesBeforeStart', reminder_minutes,
    'isReminderOn', json(iif(is_reminder_on, 'true', 'false')),
    'hasAttachments', json('false'),
    'subject', subject,
    'bodyPreview', preview,
    'importance', importance,
    'sensitivity', sensitivity,
    'isAllDay', json(iif(is_all_day, 'true', 'false')),
    'isCancelled', json('false'),
    'isOrganizer', json('true'),
    'responseRequested', json('true'),
    'seriesMasterId', (SELECT id FROM event s WHERE s.n = m.series),
    'showAs', show_as,
    'type', type,
    'webLink', 'https://outlook.office365.example/owa/?itemid=' || replace(m.id, '=', '%3D')
      || '&exvsurl=1&path=/calendar/item',
    'onlineMeetingUrl', NULL,
    'isOnlineMeeting', json(iif(is_online, 'true', 'false')),
    'onlineMeetingProvider', iif(is_online, 'teamsForBusiness', 'unknown'),
    'allowNewTimeProposals', json('true'),
    'isDraft', json('false'),
    'hideAttendees', json('false'),
    'recurrence', json(recurrence),
    'onlineMeeting', iif(
      is_online,
      json_object(
        'joinUrl', 'https://teams.microsoft.example/l/meetup-join/' || substr(uid, 33, 24)
      ),
      NULL
    ),
    'responseStatus', json_object('response', 'organizer', 'time', '0001-01-01T00:00:00Z'),
    'body', json_object('contentType', body_type, 'content', body),
    'start', json_object(
      'dateTime', time_write(start_s, 'UTC', '%Y-%m-%dT%H:%M:%S.0000000'),
      'timeZone', 'UTC'
    ),
    'end', json_object(
      'dateTime', time_write(end_s, 'UTC', '%Y-%m-%dT%H:%M:%S.0000000'),
      'timeZone', 'UTC'
    ),
    'location', json_object(
      'displayName', ifnull(location, ''),
      'locationType', 'default',
      'uniqueId', ifnull(location, ''),
      'uniqueIdType', 'unknown'
    ),
    'locations', json(iif(
      location IS NULL,
      '[]',
      json_array(json_object(
        'displayName', location,
        'locationType', 'default',
        'uniqueId', location,
        'uniqueIdType', 'private'
      ))
    )),
    'attendees', (
      SELECT json_group_array(json_object(
        'type', type,
        'status', json_object('response', response, 'time', '0001-01-01T00:00:00Z'),
        'emailAddress', json_object('name', name, 'address', email)
      ))
      FROM (SELECT * FROM attendee WHERE event = m.n ORDER BY position)
    ),
    'organizer', json_object(
      'emailAddress', json_object('name', account.name, 'address', account.email)
    )
  ) AS item
FROM entry m, account;

CREATE VIEW shown_calendar AS
SELECT
  n,
  json_object(
    'id', id,
    'name', calendar.name,
    'color', 'auto',
    'hexColor', '',
    'isDefaultCalendar', json(iif(is_default, 'true', 'false')),
    'changeKey', change_key,
    'canShare', json('true'),
    'canViewPrivateItems', json('true'),
    'canEdit', json('true'),
    'allowedOnlineMeetingProviders', json('["teamsForBusiness"]'),
    'defaultOnlineMeetingProvider', 'teamsForBusiness',
    'isTallyingResponses', json(iif(is_default, 'true', 'false')),
    'isRemovable', json(iif(is_default, 'false', 'true')),
    'owner', json_object('name', account.name, 'address', account.email)
  ) AS item
FROM calendar, account;

-- What an account has before its first event.

INSERT INTO account VALUES ('maya.chen@larkspur.example', 'Maya Chen');
INSERT INTO calendar VALUES
  (1, 'AAMkAGQ4LarkspurCalendarMainAuAAAAAADcalendar0AAA=', 'Calendar', 'DwAAABYAAACLarkspur1', 1),
  (2, 'AAMkAGQ4LarkspurCalendarTeamAuAAAAAADteam0AAA=', 'Engineering', 'DwAAABYAAACLarkspur2', 0),
  (
    3, 'AAMkAGQ4LarkspurCalendarBirthAuAAAAAADbirthdays0AAA=', 'Birthdays', 'DwAAABYAAACLarkspur3',
    0
  );

-- include: common/people

INSERT INTO zone VALUES
  ('Coordinated Universal Time', 'UTC'),
  ('tzone://Microsoft/Utc', 'UTC'),
  ('GMT Standard Time', 'Europe/London'),
  ('Greenwich Standard Time', 'Atlantic/Reykjavik'),
  ('W. Europe Standard Time', 'Europe/Berlin'),
  ('Romance Standard Time', 'Europe/Paris'),
  ('Central Europe Standard Time', 'Europe/Budapest'),
  ('Central European Standard Time', 'Europe/Warsaw'),
  ('FLE Standard Time', 'Europe/Kyiv'),
  ('GTB Standard Time', 'Europe/Bucharest'),
  ('Turkey Standard Time', 'Europe/Istanbul'),
  ('Russian Standard Time', 'Europe/Moscow'),
  ('Israel Standard Time', 'Asia/Jerusalem'),
  ('Arabian Standard Time', 'Asia/Dubai'),
  ('India Standard Time', 'Asia/Kolkata'),
  ('SE Asia Standard Time', 'Asia/Bangkok'),
  ('China Standard Time', 'Asia/Shanghai'),
  ('Singapore Standard Time', 'Asia/Singapore'),
  ('Tokyo Standard Time', 'Asia/Tokyo'),
  ('Korea Standard Time', 'Asia/Seoul'),
  ('AUS Eastern Standard Time', 'Australia/Sydney'),
  ('New Zealand Standard Time', 'Pacific/Auckland'),
  ('South Africa Standard Time', 'Africa/Johannesburg'),
  ('W. Central Africa Standard Time', 'Africa/Lagos'),
  ('E. South America Standard Time', 'America/Sao_Paulo'),
  ('Atlantic Standard Time', 'America/Halifax'),
  ('Eastern Standard Time', 'America/New_York'),
  ('Central Standard Time', 'America/Chicago'),
  ('Mountain Standard Time', 'America/Denver'),
  ('US Mountain Standard Time', 'America/Phoenix'),
  ('Pacific Standard Time', 'America/Los_Angeles'),
  ('Alaskan Standard Time', 'America/Anchorage'),
  ('Hawaiian Standard Time', 'Pacific/Honolulu');

INSERT INTO property
SELECT 'event', value
FROM json_each('["id", "createdDateTime", "lastModifiedDateTime",
  "changeKey", "categories", "transactionId", "originalStartTimeZone", "originalEndTimeZone",
  "iCalUId", "reminderMinutesBeforeStart", "isReminderOn", "hasAttachments", "subject",
  "bodyPreview", "importance", "sensitivity", "isAllDay", "isCancelled", "isOrganizer",
  "responseRequested", "seriesMasterId", "showAs", "type", "webLink", "onlineMeetingUrl",
  "isOnlineMeeting", "onlineMeetingProvider", "allowNewTimeProposals", "isDraft", "hideAttendees",
  "recurrence", "onlineMeeting", "responseStatus", "body", "start", "end", "location", "locations",
  "attendees", "organizer"]')
UNION ALL
SELECT 'calendar', value
FROM json_each('["id", "name", "color", "hexColor", "isDefaultCalendar",
  "changeKey", "canShare", "canViewPrivateItems", "canEdit", "allowedOnlineMeetingProviders",
  "defaultOnlineMeetingProvider", "isTallyingResponses", "isRemovable", "owner"]')
UNION ALL
SELECT 'written', value
FROM json_each('["subject", "body", "start", "end", "location", "attendees",
  "isAllDay", "showAs", "importance", "sensitivity", "categories", "isOnlineMeeting",
  "onlineMeetingProvider", "isReminderOn", "reminderMinutesBeforeStart", "responseRequested",
  "allowNewTimeProposals", "hideAttendees", "transactionId", "recurrence"]');
