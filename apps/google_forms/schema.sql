-- Forms, their items and what people answered. The account is Maya Chen's.
CREATE TABLE form (
  id TEXT PRIMARY KEY,
  n INTEGER NOT NULL UNIQUE, -- the order in which they were made
  is_named INTEGER NOT NULL DEFAULT 0, -- the id was given by whoever filled the account
  responder_id TEXT NOT NULL, -- of the address where it is answered
  title TEXT NOT NULL,
  description TEXT,
  is_quiz INTEGER NOT NULL DEFAULT 0,
  revision INTEGER NOT NULL DEFAULT 1 -- one more with every change
);

CREATE TABLE item (
  id TEXT PRIMARY KEY,
  form_id TEXT NOT NULL REFERENCES form (id),
  position INTEGER NOT NULL, -- from the first on; there may be gaps
  question_id TEXT, -- NULL: a section header
  title TEXT NOT NULL,
  description TEXT,
  is_required INTEGER NOT NULL DEFAULT 0,
  kind TEXT, -- of a question: short_text, paragraph, multiple_choice, checkbox, dropdown, scale, …
  options TEXT, -- texts as JSON
  scale_low INTEGER,
  scale_high INTEGER,
  scale_low_label TEXT,
  scale_high_label TEXT,
  include_year INTEGER,
  include_time INTEGER,
  UNIQUE (form_id, position)
);
CREATE INDEX item_question ON item (question_id);

CREATE TABLE response (
  id TEXT PRIMARY KEY,
  form_id TEXT NOT NULL REFERENCES form (id),
  n INTEGER NOT NULL UNIQUE,
  email TEXT, -- NULL: not collected
  submitted TEXT NOT NULL,
  is_dated INTEGER NOT NULL -- the time was given by whoever filled the account
);
CREATE INDEX response_form ON response (form_id, n);

CREATE TABLE answer (
  response_id TEXT NOT NULL REFERENCES response (id),
  question_id TEXT NOT NULL,
  value TEXT NOT NULL, -- texts as JSON, of a checkbox several
  PRIMARY KEY (response_id, question_id)
) WITHOUT ROWID;

-- ---- as the API shows them; what is false or empty is left out there ----

CREATE VIEW raw_item AS
SELECT
  form_id,
  position,
  drop_nulls(json_object(
    'itemId', id,
    'title', nullif(title, ''),
    'description', description,
    'textItem', iif(question_id IS NULL, json('{}'), NULL),
    'questionItem', iif(
      question_id IS NULL,
      NULL,
      json_object(
        'question', drop_nulls(json_object(
          'questionId', question_id,
          'required', iif(is_required, json('true'), NULL),
          'textQuestion', CASE kind
            WHEN 'short_text' THEN json('{}')
            WHEN 'paragraph' THEN json('{"paragraph":true}')
          END,
          'choiceQuestion', iif(
            kind NOT IN ('multiple_choice', 'checkbox', 'dropdown'),
            NULL,
            json_object(
              'type', CASE kind
                WHEN 'checkbox' THEN 'CHECKBOX'
                WHEN 'dropdown' THEN 'DROP_DOWN'
                ELSE 'RADIO'
              END,
              'options', (
                SELECT json_group_array(json_object('value', value))
                FROM json_each(ifnull(options, '[]'))
              )
            )
          ),
          'scaleQuestion', iif(
            kind <> 'scale',
            NULL,
            drop_nulls(json_object(
              'low', nullif(ifnull(scale_low, 1), 0),
              'high', ifnull(scale_high, 5),
              'lowLabel', scale_low_label,
              'highLabel', scale_high_label
            ))
          ),
          'dateQuestion', iif(
            kind <> 'date',
            NULL,
            drop_nulls(json_object(
              'includeYear', iif(ifnull(include_year, 1), json('true'), NULL),
              'includeTime', iif(include_time, json('true'), NULL)
            ))
          ),
          'timeQuestion', iif(kind <> 'time', NULL, json('{}'))
        ))
      )
    )
  )) AS raw
FROM item;
