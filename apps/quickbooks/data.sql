-- Lists of objects as the API has them, or with the names that the tools give their members
-- ("display_name" for "DisplayName"). Ids, numbers, dates and sums that are not told are made; a
-- customer may be named instead of "CustomerRef.value". What has the id of one that is there
-- changes that one. Dumps have everything.

-- name: import
INSERT INTO draft
SELECT k.name, o.key, o.value
FROM kind k
JOIN json_each(:args, '$.' || k.list) o
WHERE o.type = 'object';
SELECT json_group_object(k.list, (SELECT count(*) FROM draft WHERE kind = k.name)) AS counts
FROM kind k;
INSERT INTO ready SELECT kind, place, id, json_set(data, '$.Id', id) FROM draft_thing;
SELECT k.list || '/' || d.place || ': needs a name' AS error
FROM draft d
JOIN kind k ON k.name = d.kind
LEFT JOIN ready t ON t.kind = d.kind AND t.place = d.place
WHERE d.kind IN ('Account', 'Customer', 'Vendor')
  AND ifnull(t.data ->> 'DisplayName', t.data ->> 'Name') IS NULL
ORDER BY k.list, d.place
LIMIT 1;
SELECT k.list || '/' || max(t.place) || ': the id ' || t.id || ' is there twice' AS error
FROM ready t
JOIN kind k ON k.name = t.kind
GROUP BY t.kind, t.id
HAVING count(*) > 1
LIMIT 1;
INSERT OR REPLACE INTO thing SELECT kind, id, data FROM ready;
DELETE FROM ready;
DELETE FROM draft;
UPDATE thing
SET data = json_set(
  data,
  '$.CustomerRef.value', (
    SELECT c.id
    FROM thing c
    WHERE +c.kind = 'Customer' AND c.data ->> 'DisplayName' = thing.data ->> '$.CustomerRef.name'
  )
)
WHERE kind IN ('Invoice', 'Payment') AND data ->> '$.CustomerRef.value' IS NULL;
SELECT k.list || ': ' || t.id || ' is of a customer that there is not: '
  || coalesce(t.data ->> '$.CustomerRef.value', t.data ->> '$.CustomerRef.name', '') AS error
FROM thing t
JOIN kind k ON k.name = t.kind
LEFT JOIN thing c ON c.kind = 'Customer' AND c.id = t.data ->> '$.CustomerRef.value'
WHERE t.kind IN ('Invoice', 'Payment') AND c.id IS NULL
ORDER BY k.list, CAST(t.id AS INTEGER)
LIMIT 1;
UPDATE thing
SET data = json_set(
  data,
  '$.CustomerRef.name', (
    SELECT c.data ->> 'DisplayName'
    FROM thing c
    WHERE c.kind = 'Customer' AND c.id = thing.data ->> '$.CustomerRef.value'
  )
)
WHERE kind IN ('Invoice', 'Payment');
UPDATE thing
SET data = json_set(
  thing.data,
  '$.Balance', round(
    (thing.data ->> 'TotalAmt') - ifnull(thing.data ->> 'Deposit', 0.0) - x.paid,
    2
  )
)
FROM (
  SELECT t.id, ifnull(a.paid, 0.0) AS paid
  FROM thing t
  LEFT JOIN (
    SELECT txn_id, sum(amount) AS paid FROM applied WHERE txn_type = 'Invoice' GROUP BY txn_id
  ) a
    ON a.txn_id = t.id
  WHERE t.kind = 'Invoice' AND t.data ->> 'Balance' IS NULL
) x
WHERE thing.kind = 'Invoice' AND thing.id = x.id;
UPDATE thing
SET data = json_set(thing.data, '$.Balance', x.owed)
FROM (
  SELECT
    data ->> '$.CustomerRef.value' AS customer,
    round(sum(iif(kind = 'Invoice', data ->> 'Balance', - (data ->> 'UnappliedAmt'))), 2) AS owed
  FROM thing
  WHERE kind IN ('Invoice', 'Payment')
  GROUP BY 1
) x
WHERE thing.kind = 'Customer' AND thing.id = x.customer AND thing.data ->> 'Balance' IS NULL;
UPDATE thing
SET data = json_set(data, '$.Balance', 0.0)
WHERE kind = 'Customer' AND data ->> 'Balance' IS NULL;
UPDATE thing
SET data = json_set(data, '$.BalanceWithJobs', data -> 'Balance')
WHERE kind = 'Customer' AND data ->> 'BalanceWithJobs' IS NULL;
SELECT :counts AS result;

-- name: export
SELECT json_group_object(list, json(objects)) AS result
FROM (
  SELECT
    k.list,
    (
      SELECT json_group_array(json(data))
      FROM (
        SELECT (
          SELECT json_group_object(key, json(value))
          FROM (SELECT m.key, t.data -> m.fullkey AS value FROM json_each(t.data) m ORDER BY m.key)
        ) AS data
        FROM thing t
        WHERE t.kind = k.name
        ORDER BY CAST(t.id AS INTEGER), t.id
      )
    ) AS objects
  FROM kind k
);
