-- Besides what Klavis's format names, a form may have "form_id" (else one is made) and "responses":
-- [{"respondent_email", "submitted_at" (RFC 3339), "answers": {QUESTION: TEXT or [TEXT]}}], the
-- questions by their titles. Both are dumped when given. Ids of items are made anew.

-- name: import
SELECT 'forms/' || f.key || ': there is a form ' || (f.value ->> 'form_id') AS error
FROM json_each(:args, '$.forms') f
WHERE f.type = 'object'
  AND f.value ->> 'form_id' IN (
    SELECT id FROM form
    UNION ALL
    SELECT e.value ->> 'form_id' FROM json_each(:args, '$.forms') e WHERE e.key < f.key
  )
LIMIT 1;
SELECT 'forms/' || f.key || '/responses: not a list of objects with answers' AS error
FROM json_each(:args, '$.forms') f
WHERE ifnull(json_type(f.value, '$.responses'), 'null') NOT IN ('null', 'array')
  OR EXISTS (
    SELECT 1
    FROM json_each(f.value, '$.responses') r
    WHERE r.type <> 'object'
      OR ifnull(json_type(r.value, '$.answers'), 'null') NOT IN ('null', 'object')
  )
LIMIT 1;
SELECT 'forms/' || f.key || '/responses/' || r.key || ': not a time: '
  || (r.value ->> 'submitted_at') AS error
FROM json_each(:args, '$.forms') f, json_each(f.value, '$.responses') r
WHERE r.value ->> 'submitted_at' IS NOT NULL
  AND time_read(r.value ->> 'submitted_at', 'UTC') IS NULL
LIMIT 1;
SELECT ifnull(max(n), 0) AS base FROM form;
SELECT ifnull(max(n), 0) AS n_responses FROM response;
INSERT INTO form (id, n, is_named, responder_id, title, description, is_quiz)
SELECT
  ifnull(f.value ->> 'form_id', new_id('form')),
  :base + 1 + f.key,
  f.value ->> 'form_id' IS NOT NULL,
  new_id('responder'),
  f.value ->> 'title',
  nullif(f.value ->> 'description', ''),
  ifnull(f.value ->> 'is_quiz', 0)
FROM json_each(:args, '$.forms') f
WHERE f.type = 'object'
ORDER BY f.key;
INSERT INTO item
SELECT
  new_id('item'),
  form.id,
  i.key,
  iif(i.value ->> 'item_type' = 'question', new_id('question'), NULL),
  ifnull(i.body ->> 'title', ''),
  nullif(i.body ->> 'description', ''),
  ifnull(i.body ->> 'required', 0),
  iif(i.value ->> 'item_type' = 'question', ifnull(i.body ->> 'question_type', 'short_text'), NULL),
  (
    SELECT json_group_array(o.value ->> 'value')
    FROM json_each(i.body, '$.options') o
    WHERE o.type = 'object'
    HAVING count(*) > 0
  ),
  i.body ->> 'scale_low',
  i.body ->> 'scale_high',
  i.body ->> 'scale_low_label',
  i.body ->> 'scale_high_label',
  i.body ->> 'include_year',
  i.body ->> 'include_time'
FROM (
  SELECT f.key AS form, x.key, x.value, ifnull(x.value -> (x.value ->> 'item_type'), '{}') AS body
  FROM json_each(:args, '$.forms') f, json_each(f.value, '$.items') x
  WHERE f.type = 'object' AND x.type = 'object'
) i
JOIN form ON form.n = :base + 1 + i.form
ORDER BY form.n, i.key;
SELECT 'forms/' || f.key || '/responses/' || r.key || ': there is no question ' || a.key AS error
FROM
  json_each(:args, '$.forms') f,
  json_each(f.value, '$.responses') r,
  json_each(r.value, '$.answers') a
JOIN form ON form.n = :base + 1 + f.key
WHERE NOT EXISTS (
  SELECT 1 FROM item WHERE form_id = form.id AND title = a.key AND question_id IS NOT NULL
)
LIMIT 1;
INSERT INTO response
SELECT
  new_id('response'),
  form.id,
  :n_responses + row_number() OVER (ORDER BY f.key, r.key),
  r.value ->> 'respondent_email',
  ifnull(r.value ->> 'submitted_at', now()),
  r.value ->> 'submitted_at' IS NOT NULL
FROM json_each(:args, '$.forms') f, json_each(f.value, '$.responses') r
JOIN form ON form.n = :base + 1 + f.key
WHERE r.type = 'object';
INSERT INTO answer
SELECT
  response.id,
  (
    SELECT question_id
    FROM item
    WHERE form_id = response.form_id AND title = a.key AND question_id IS NOT NULL
    ORDER BY position
    LIMIT 1
  ),
  iif(a.type = 'array', a.value, json_array(CAST(a.value AS TEXT)))
FROM (
  SELECT value, row_number() OVER (ORDER BY form, place) AS nth
  FROM (
    SELECT f.key AS form, r.key AS place, r.value
    FROM json_each(:args, '$.forms') f, json_each(f.value, '$.responses') r
    WHERE r.type = 'object'
  )
) x
JOIN response ON response.n = :n_responses + x.nth, json_each(x.value, '$.answers') a;
SELECT json_object('forms', json_array_length(:args, '$.forms')) AS result;

-- name: export
SELECT json_object('forms', json_group_array(json(item))) AS result
FROM (
  SELECT drop_nulls(json_object(
    'form_id', iif(is_named, f.id, NULL),
    'title', f.title,
    'description', f.description,
    'is_quiz', json(iif(f.is_quiz, 'true', 'false')),
    'items', (
      SELECT json_group_array(json(item))
      FROM (
        SELECT iif(
          question_id IS NULL,
          json_object(
            'item_type', 'section_header',
            'section_header', drop_nulls(json_object('title', title, 'description', description))
          ),
          json_object(
            'item_type', 'question',
            'question', drop_nulls(json_object(
              'title', title,
              'description', description,
              'required', json(iif(is_required, 'true', 'false')),
              'question_type', kind,
              'options', (
                SELECT json_group_array(json_object('value', value))
                FROM json_each(i.options)
                HAVING count(*) > 0
              ),
              'scale_low', scale_low,
              'scale_high', scale_high,
              'scale_low_label', scale_low_label,
              'scale_high_label', scale_high_label,
              'include_year', json(iif(include_year, 'true', iif(include_year = 0, 'false', NULL))),
              'include_time', json(iif(include_time, 'true', iif(include_time = 0, 'false', NULL)))
            ))
          )
        ) AS item
        FROM item i
        WHERE form_id = f.id
        ORDER BY position
      )
    ),
    'responses', (
      SELECT json(nullif(json_group_array(json(item)), '[]'))
      FROM (
        SELECT drop_nulls(json_object(
          'respondent_email', email,
          'submitted_at', iif(is_dated, submitted, NULL),
          'answers', (
            SELECT json_group_object(title, iif(
              json_array_length(value) = 1,
              value -> 0,
              json(value)
            ))
            FROM (
              SELECT i.title, a.value
              FROM answer a
              JOIN item i ON i.question_id = a.question_id
              WHERE a.response_id = r.id
              ORDER BY i.position
            )
          )
        )) AS item
        FROM response r
        WHERE form_id = f.id
        ORDER BY n
      )
    )
  )) AS item
  FROM form f
  ORDER BY n
);
