-- Calendars and their events. Times are seconds since 1970 in UTC. Of a recurring event there is
-- one row; a single date of it that was changed is a row of its own (recurring_id) and an EXDATE of
-- the other one.

CREATE TABLE account (email TEXT PRIMARY KEY, name TEXT NOT NULL, timezone TEXT NOT NULL);

CREATE TABLE calendar (
  id TEXT PRIMARY KEY,
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  description TEXT,
  location TEXT,
  timezone TEXT NOT NULL,
  is_hidden INTEGER NOT NULL DEFAULT 0,
  is_deleted INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE event (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  calendar TEXT NOT NULL REFERENCES calendar (id),
  title TEXT NOT NULL,
  description TEXT,
  location TEXT,
  visibility TEXT, -- NULL: the calendar's
  start_s INTEGER NOT NULL,
  end_s INTEGER NOT NULL, -- of the first time, when it recurs
  days INTEGER, -- how many, when it takes all day; start_s is midnight
  timezone TEXT, -- NULL: the calendar's
  recurrence TEXT, -- JSON array of RRULE, EXDATE and RDATE
  recurring_id TEXT,
  meeting_link TEXT,
  creator TEXT NOT NULL,
  created TEXT NOT NULL,
  updated TEXT NOT NULL
);
CREATE INDEX event_time ON event (calendar, start_s);
CREATE INDEX event_recurring ON event (recurring_id);

CREATE TABLE attendee (
  event INTEGER NOT NULL REFERENCES event (n) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  email TEXT NOT NULL COLLATE NOCASE,
  name TEXT,
  response TEXT NOT NULL, -- needsAction, declined, tentative, accepted
  is_optional INTEGER NOT NULL DEFAULT 0,
  comment TEXT,
  PRIMARY KEY (event, email)
) WITHOUT ROWID;
CREATE INDEX attendee_email ON attendee (email);

-- include: common/contacts
CREATE INDEX contact_email ON contact (email);

-- Events with what is shown of them.
CREATE VIEW shown AS
SELECT
  event.*,
  ifnull(event.timezone, calendar.timezone) AS zone,
  'https://calendar.google.example/calendar/event?eid=' || rtrim(
    base64(event.id || ' ' || event.calendar),
    '='
  ) AS link,
  event.calendar AS organizer,
  iif(event.calendar = event.creator, NULL, calendar.name) AS organizer_name,
  (
    SELECT json_group_array(json(item))
    FROM (
      SELECT drop_nulls(json_object(
        'email', a.email,
        'name', ifnull(a.name, (SELECT name FROM contact WHERE contact.email = a.email LIMIT 1)),
        'responseStatus', a.response,
        'isOrganizer', iif(a.email = event.calendar, json('true'), NULL),
        'isSelf', iif(a.email IN (SELECT email FROM account), json('true'), NULL),
        'isOptional', iif(a.is_optional, json('true'), NULL),
        'comment', a.comment
      )) AS item
      FROM attendee a
      WHERE a.event = event.n
      ORDER BY a.position
    )
    HAVING count(*) > 0
  ) AS attendees
FROM event
JOIN calendar ON calendar.id = event.calendar;

-- What an account has before its first event.

INSERT INTO account VALUES ('maya.chen@larkspur.example', 'Maya Chen', 'Europe/Lisbon');
INSERT INTO calendar VALUES
  (
    'maya.chen@larkspur.example', 1, 'maya.chen@larkspur.example', NULL, NULL, 'Europe/Lisbon', 0, 0
  ),
  (
    'c_larkspureng@group.calendar.google.example', 2, 'Larkspur Engineering',
    'Releases, freezes and visitors', 'Lisbon', 'UTC', 0, 0
  ),
  (
    'c_oncall@group.calendar.google.example', 3, 'On-call', 'Who is on call for Harbor', NULL,
    'UTC', 0, 0
  ),
  (
    'en.portuguese#holiday@group.v.calendar.google.example', 4, 'Holidays in Portugal',
    'Holidays and observances in Portugal', NULL, 'Europe/Lisbon', 0, 0
  ),
  (
    'c_birthdays@group.v.calendar.google.example', 5, 'Birthdays', NULL, NULL, 'Europe/Lisbon', 1, 0
  ),
  (
    'c_offsite2025@group.calendar.google.example', 6, 'Offsite 2025', NULL, NULL, 'Europe/Lisbon',
    0, 1
  );

-- Events that were deleted: to delete one again is another failure than to delete what never was.
CREATE TABLE gone (
  calendar TEXT NOT NULL,
  id TEXT NOT NULL,
  PRIMARY KEY (calendar, id)
) WITHOUT ROWID;
