-- Schedules in the order of their numbers, which are made anew. Of several that are the default the
-- last one is it. Without hours a schedule is Monday to Friday, 09:00 to 17:00.

-- name: import
SELECT json_group_array(json_object('id', new_id('schedule'), 'schedule', json(value))) AS made
FROM (SELECT value FROM json_each(:args, '$.schedules') WHERE type = 'object' ORDER BY key);
INSERT INTO schedule
SELECT
  value ->> 'id',
  value ->> '$.schedule.name',
  value ->> '$.schedule.timeZone',
  ifnull(
    (
      SELECT json_group_array(json_object(
        'days', a.value -> 'days',
        'startTime', a.value ->> 'startTime',
        'endTime', a.value ->> 'endTime'
      ))
      FROM json_each(m.value, '$.schedule.availability') a
      WHERE a.type = 'object'
      HAVING count(*) > 0
    ),
    '[{"days":["Monday","Tuesday","Wednesday","Thursday","Friday"],'
      || '"startTime":"09:00","endTime":"17:00"}]'
  ),
  (
    SELECT json_group_array(json_object(
      'date', o.value ->> 'date',
      'startTime', o.value ->> 'startTime',
      'endTime', o.value ->> 'endTime'
    ))
    FROM json_each(m.value, '$.schedule.overrides') o
    WHERE o.type = 'object'
  )
FROM json_each(:made) m
ORDER BY m.key;
UPDATE account
SET default_id = ifnull((
  SELECT value ->> 'id'
  FROM json_each(:made)
  WHERE value ->> '$.schedule.isDefault'
  ORDER BY key DESC
  LIMIT 1
), default_id);
SELECT json_object('schedules', json_array_length(:made)) AS result;

-- name: export
SELECT json_object('schedules', json_group_array(json(item))) AS result
FROM (SELECT json_remove(shown, '$.id', '$.ownerId') AS item FROM shown ORDER BY id);
