-- part: check_schedule
-- What the API refuses; the server has one sentence for all of it. Only the known members stay.
SELECT 'Unexpected error occurred' AS error
WHERE :name = '' OR NOT zone_exists(ifnull(:timeZone, 'UTC'));
SELECT 'Unexpected error occurred' AS error
FROM json_each(ifnull(:availability, '[]')) a
WHERE ifnull(json_array_length(a.value, '$.days'), 0) = 0
  OR ifnull(a.value ->> 'startTime', '') NOT GLOB '[0-2][0-9]:[0-5][0-9]'
  OR ifnull(a.value ->> 'endTime', '') NOT GLOB '[0-2][0-9]:[0-5][0-9]'
  OR max(a.value ->> 'startTime', a.value ->> 'endTime') > '23:59'
  OR EXISTS (
    SELECT 1
    FROM json_each(a.value, '$.days') d
    WHERE d.value NOT IN (
      'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'
    )
  )
LIMIT 1;
SELECT 'Unexpected error occurred' AS error
FROM json_each(ifnull(:overrides, '[]')) o
WHERE ifnull(time_is_date(o.value ->> 'date'), 0) = 0
  OR ifnull(o.value ->> 'startTime', '') NOT GLOB '[0-2][0-9]:[0-5][0-9]'
  OR ifnull(o.value ->> 'endTime', '') NOT GLOB '[0-2][0-9]:[0-5][0-9]'
  OR max(o.value ->> 'startTime', o.value ->> 'endTime') > '23:59'
LIMIT 1;
SELECT
  (
    SELECT json_group_array(json_object(
      'days', value -> 'days',
      'startTime', value ->> 'startTime',
      'endTime', value ->> 'endTime'
    ))
    FROM json_each(:availability)
    HAVING count(*) > 0
  ) AS hours,
  (
    SELECT json_group_array(json_object(
      'date', value ->> 'date',
      'startTime', value ->> 'startTime',
      'endTime', value ->> 'endTime'
    ))
    FROM json_each(:overrides)
    HAVING count(*) > 0
  ) AS exceptions;

-- part: find_schedule
SELECT 'Missing required: schedule_id' AS error WHERE :schedule_id = 0;
SELECT id FROM schedule WHERE id = :schedule_id;
SELECT 'Unexpected error occurred' AS error WHERE :id IS NULL;

-- name: cal_get_all_schedules
SELECT json_object('status', 'success', 'data', json_group_array(json(shown))) AS result
FROM (SELECT shown FROM shown ORDER BY id);

-- name: cal_create_a_schedule
-- include: check_schedule
INSERT INTO schedule
SELECT
  new_id('schedule'),
  :name,
  :timeZone,
  ifnull(
    :hours,
    '[{"days":["Monday","Tuesday","Wednesday","Thursday","Friday"],'
      || '"startTime":"09:00","endTime":"17:00"}]'
  ),
  ifnull(:exceptions, '[]')
RETURNING id;
UPDATE account SET default_id = :id WHERE :isDefault;
SELECT json_object('status', 'success', 'data', json(shown)) AS result FROM shown WHERE id = :id;

-- name: cal_update_a_schedule
-- include: find_schedule
-- include: check_schedule
UPDATE schedule
SET
  name = ifnull(:name, name),
  time_zone = ifnull(:timeZone, time_zone),
  availability = ifnull(:hours, availability),
  overrides = ifnull(:exceptions, overrides)
WHERE id = :id;
UPDATE account SET default_id = :id WHERE :isDefault;
SELECT json_object('status', 'success', 'data', json(shown)) AS result FROM shown WHERE id = :id;

-- name: cal_get_default_schedule
SELECT json_object(
  'status', 'success',
  'data', (SELECT json(shown) FROM shown JOIN account ON default_id = shown.id)
) AS result;

-- name: cal_get_schedule
-- include: find_schedule
SELECT json_object('status', 'success', 'data', json(shown)) AS result FROM shown WHERE id = :id;

-- name: cal_delete_a_schedule
-- include: find_schedule
DELETE FROM schedule WHERE id = :id;
UPDATE account SET default_id = NULL WHERE default_id = :id;
SELECT json_object('status', 'success') AS result;
