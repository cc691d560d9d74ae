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

CREATE TABLE contact (
  n INTEGER PRIMARY KEY,
  source TEXT NOT NULL, -- personal, other, directory
  resource TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  first_name TEXT NOT NULL,
  last_name TEXT NOT NULL,
  email TEXT NOT NULL,
  phone TEXT,
  organization TEXT,
  title TEXT
);
CREATE INDEX contact_email ON contact (email);
CREATE VIRTUAL TABLE fts_contact USING fts5 (
  name, email, phone, organization, title, tokenize = 'unicode61 remove_diacritics 2'
);

-- Events with what is shown of them.
CREATE VIEW shown AS
SELECT event.*, ifnull(event.timezone, calendar.timezone) AS zone,
       'https://calendar.google.example/calendar/event?eid='
       || rtrim(base64(event.id || ' ' || event.calendar), '=') AS link,
       event.calendar AS organizer,
       iif(event.calendar = event.creator, NULL, calendar.name) AS organizer_name,
       (SELECT json_group_array(json(item))
        FROM (SELECT drop_nulls(json_object(
                       'email', a.email,
                       'name', ifnull(a.name, (SELECT name FROM contact
                                               WHERE contact.email = a.email LIMIT 1)),
                       'responseStatus', a.response,
                       'isOrganizer', iif(a.email = event.calendar, json('true'), NULL),
                       'isSelf', iif(a.email IN (SELECT email FROM account), json('true'), NULL),
                       'isOptional', iif(a.is_optional, json('true'), NULL),
                       'comment', a.comment)) AS item
              FROM attendee a WHERE a.event = event.n ORDER BY a.position)
        HAVING count(*) > 0) AS attendees
FROM event JOIN calendar ON calendar.id = event.calendar;

-- What an account has before its first event.

INSERT INTO account VALUES ('maya.chen@larkspur.example', 'Maya Chen', 'Europe/Lisbon');
INSERT INTO calendar VALUES
  ('maya.chen@larkspur.example', 1, 'maya.chen@larkspur.example', NULL, NULL, 'Europe/Lisbon', 0,
   0),
  ('c_larkspureng@group.calendar.google.example', 2, 'Larkspur Engineering',
   'Releases, freezes and visitors', 'Lisbon', 'UTC', 0, 0),
  ('c_oncall@group.calendar.google.example', 3, 'On-call', 'Who is on call for Harbor', NULL, 'UTC',
   0, 0),
  ('en.portuguese#holiday@group.v.calendar.google.example', 4, 'Holidays in Portugal',
   'Holidays and observances in Portugal', NULL, 'Europe/Lisbon', 0, 0),
  ('c_birthdays@group.v.calendar.google.example', 5, 'Birthdays', NULL, NULL, 'Europe/Lisbon', 1,
   0),
  ('c_offsite2025@group.calendar.google.example', 6, 'Offsite 2025', NULL, NULL, 'Europe/Lisbon', 0,
   1);

INSERT INTO contact (source, resource, name, first_name, last_name, email, phone, organization,
                     title)
VALUES
  ('directory', 'people/100000000000000000001', 'Maya Chen', 'Maya', 'Chen',
   'maya.chen@larkspur.example', '+351 21 555 0101', 'Larkspur Robotics', 'Engineering Manager'),
  ('directory', 'people/100000000000000000002', 'Tomás Rivera', 'Tomás', 'Rivera',
   'tomas.rivera@larkspur.example', '+351 21 555 0102', 'Larkspur Robotics',
   'Senior Firmware Engineer'),
  ('directory', 'people/100000000000000000003', 'Aisha Okafor', 'Aisha', 'Okafor',
   'aisha.okafor@larkspur.example', '+351 21 555 0103', 'Larkspur Robotics', 'Backend Engineer'),
  ('directory', 'people/100000000000000000004', 'Jonas Lindqvist', 'Jonas', 'Lindqvist',
   'jonas.lindqvist@larkspur.example', '+46 8 555 0104', 'Larkspur Robotics',
   'Site Reliability Engineer'),
  ('directory', 'people/100000000000000000005', 'Priya Nair', 'Priya', 'Nair',
   'priya.nair@larkspur.example', '+351 21 555 0105', 'Larkspur Robotics', 'Product Manager'),
  ('directory', 'people/100000000000000000006', 'Daniel Kim', 'Daniel', 'Kim',
   'daniel.kim@larkspur.example', '+351 21 555 0106', 'Larkspur Robotics', 'QA Lead'),
  ('directory', 'people/100000000000000000007', 'Sofia Marchetti', 'Sofia', 'Marchetti',
   'sofia.marchetti@larkspur.example', '+39 02 555 0107', 'Larkspur Robotics', 'Designer'),
  ('directory', 'people/100000000000000000008', 'Ben Adeyemi', 'Ben', 'Adeyemi',
   'ben.adeyemi@larkspur.example', '+44 20 5550 0108', 'Larkspur Robotics', 'Support Lead'),
  ('directory', 'people/100000000000000000009', 'Hana Suzuki', 'Hana', 'Suzuki',
   'hana.suzuki@larkspur.example', '+351 21 555 0109', 'Larkspur Robotics', 'Data Scientist'),
  ('directory', 'people/100000000000000000010', 'Oliver Grant', 'Oliver', 'Grant',
   'oliver.grant@larkspur.example', '+44 20 5550 0110', 'Larkspur Robotics', 'CFO'),
  ('personal', 'people/c2001', 'Elena Petrova', 'Elena', 'Petrova',
   'elena.petrova@northwind-logistics.example', '+49 30 555 0201', 'Northwind Logistics',
   'Operations Director'),
  ('personal', 'people/c2002', 'Marcus Webb', 'Marcus', 'Webb',
   'marcus@brightpath-parts.example', '+1 415 555 0202', 'Brightpath Parts', 'Account Manager'),
  ('personal', 'people/c2003', 'Tomás Rivera', 'Tomás', 'Rivera',
   'tomas.rivera@larkspur.example', '+351 91 555 0102', 'Larkspur Robotics',
   'Senior Firmware Engineer'),
  ('other', 'otherContacts/c3001', 'Lisbon Harbour Hotel', 'Lisbon Harbour', 'Hotel',
   'events@lisbon-harbour-hotel.example', '+351 21 555 0301', NULL, NULL),
  ('other', 'otherContacts/c3002', 'Northwind Service Desk', 'Northwind', 'Service Desk',
   'servicedesk@northwind-logistics.example', NULL, NULL, NULL);
INSERT INTO fts_contact (rowid, name, email, phone, organization, title)
SELECT n, name, email, phone, organization, title FROM contact;
