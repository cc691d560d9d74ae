-- part: find_form
SELECT id, title, description, responder_id, is_quiz, revision FROM form WHERE id = :formId;
SELECT 'Error: MCP error -32603: ' || :failed || 'Requested entity was not found.' AS error
WHERE :id IS NULL;

-- part: check_texts
-- The API refuses line breaks in what is shown as one line, and choices that are none.
SELECT 'Error: MCP error -32603: ' || :failed
  || 'Invalid requests[0].createItem: Displayed text cannot contain newlines' AS error
WHERE instr(:questionTitle, char(10)) > 0
  OR EXISTS (SELECT 1 FROM json_each(ifnull(:options, '[]')) WHERE instr(value, char(10)) > 0);
SELECT 'Error: MCP error -32603: ' || :failed
  || 'Invalid requests[0].createItem: Choice questions must have at least one option' AS error
WHERE json_array_length(:options) = 0;
SELECT 'Error: MCP error -32603: ' || :failed
  || 'Invalid requests[0].createItem: Option values cannot be empty' AS error
FROM json_each(ifnull(:options, '[]'))
WHERE value = ''
LIMIT 1;
SELECT 'Error: MCP error -32603: ' || :failed
  || 'Invalid requests[0].createItem: Duplicate option value: ' || value AS error
FROM json_each(ifnull(:options, '[]'))
GROUP BY value
HAVING count(*) > 1
LIMIT 1;

-- part: add_question
-- In front of what is there, as the server has it.
INSERT INTO item (id, form_id, position, question_id, title, is_required, kind, options)
SELECT
  new_id('item'),
  :id,
  (SELECT ifnull(min(position), 0) - 1 FROM item WHERE form_id = :id),
  new_id('question'),
  :questionTitle,
  ifnull(:required, 0),
  :kind,
  :options;
UPDATE form SET revision = revision + 1 WHERE id = :id;

-- name: create_form
SELECT 'Error: MCP error -32602: Title is required' AS error WHERE ifnull(:title, '') = '';
SELECT 'Error: MCP error -32603: Failed to create form: Displayed text cannot contain newlines'
  AS error
WHERE instr(:title, char(10)) > 0;
INSERT INTO form (id, n, responder_id, title, description)
SELECT new_id('form'), ifnull(max(n), 0) + 1, new_id('responder'), :title, nullif(:description, '')
FROM form
WHERE true
RETURNING id;
SELECT json_object(
  'formId', :id,
  'title', :title,
  'description', ifnull(:description, ''),
  'responderUri', 'https://docs.google.com/forms/d/' || :id || '/viewform'
) AS result;

-- name: add_text_question
SELECT 'Error: MCP error -32602: Form ID and question title are required' AS error
WHERE ifnull(:formId, '') = '' OR ifnull(:questionTitle, '') = '';
SELECT 'Failed to add text question: ' AS failed, 'short_text' AS kind, NULL AS options;
-- include: find_form
-- include: check_texts
-- include: add_question
SELECT json_object(
  'success', json('true'),
  'message', 'Text question added successfully',
  'questionTitle', :questionTitle,
  'required', json(iif(:required, 'true', 'false'))
) AS result;

-- name: add_multiple_choice_question
SELECT 'Error: MCP error -32602: Form ID, question title, and options array are required' AS error
WHERE ifnull(:formId, '') = '' OR ifnull(:questionTitle, '') = '' OR :options IS NULL;
SELECT 'Failed to add multiple choice question: ' AS failed, 'multiple_choice' AS kind;
-- include: find_form
-- include: check_texts
-- include: add_question
SELECT json_object(
  'success', json('true'),
  'message', 'Multiple choice question added successfully',
  'questionTitle', :questionTitle,
  'options', json(:options),
  'required', json(iif(:required, 'true', 'false'))
) AS result;

-- name: get_form
SELECT 'Error: MCP error -32602: Form ID is required' AS error WHERE ifnull(:formId, '') = '';
SELECT 'Failed to get form: ' AS failed;
-- include: find_form
SELECT drop_nulls(json_object(
  'formId', :id,
  'info', drop_nulls(json_object(
    'title', :title,
    'description', :description,
    'documentTitle', :title
  )),
  'settings', drop_nulls(json_object(
    'quizSettings', iif(:is_quiz, json('{"isQuiz":true}'), NULL),
    'emailCollectionType', iif(
      (SELECT count(email) FROM response WHERE form_id = :id) > 0,
      'RESPONDER_INPUT',
      'DO_NOT_COLLECT'
    )
  )),
  'revisionId', printf('%08x', :revision),
  'responderUri', 'https://docs.google.com/forms/d/e/' || :responder_id || '/viewform',
  'items', (
    SELECT json(nullif(json_group_array(json(raw)), '[]'))
    FROM (SELECT raw FROM raw_item WHERE form_id = :id ORDER BY position)
  ),
  'publishSettings', json('{"publishState":{"isPublished":true,"isAcceptingResponses":true}}')
)) AS result;

-- name: get_form_responses
SELECT 'Error: MCP error -32602: Form ID is required' AS error WHERE ifnull(:formId, '') = '';
SELECT 'Failed to get form responses: ' AS failed;
-- include: find_form
SELECT iif(count(*) = 0, '{}', json_object('responses', json_group_array(json(item)))) AS result
FROM (
  SELECT drop_nulls(json_object(
    'formId', form_id,
    'responseId', id,
    'createTime', submitted,
    'lastSubmittedTime', submitted,
    'respondentEmail', email,
    'answers', (
      SELECT json(nullif(json_group_object(question_id, json(item)), '{}'))
      FROM (
        SELECT
          a.question_id,
          json_object(
            'questionId', a.question_id,
            'textAnswers', json_object(
              'answers', (
                SELECT json_group_array(json_object('value', value)) FROM json_each(a.value)
              )
            )
          ) AS item
        FROM answer a
        JOIN item i ON i.question_id = a.question_id
        WHERE a.response_id = r.id
        ORDER BY i.position
      )
    )
  )) AS item
  FROM response r
  WHERE form_id = :id
  ORDER BY n
);
