-- Schedules: when Maya Chen can be booked.
CREATE TABLE schedule (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  time_zone TEXT NOT NULL,
  availability TEXT NOT NULL, -- [{"days", "startTime", "endTime"}]
  overrides TEXT NOT NULL -- [{"date", "startTime", "endTime"}]
);

CREATE TABLE account (
  id INTEGER PRIMARY KEY,
  default_id INTEGER -- of the schedule that counts where no other is named
);
INSERT INTO account VALUES (1047722, NULL);

-- As the API shows them.
CREATE VIEW shown AS
SELECT
  s.id,
  json_object(
    'id', s.id,
    'ownerId', a.id,
    'name', s.name,
    'timeZone', s.time_zone,
    'availability', json(s.availability),
    'isDefault', json(iif(a.default_id IS s.id, 'true', 'false')),
    'overrides', json(s.overrides)
  ) AS shown
FROM schedule s, account a;
