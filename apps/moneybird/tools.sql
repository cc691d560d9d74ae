-- The tools of Moneybird. Failures are told as an HTTP client does: a status and the address; what
-- the API says of a refused request stands below.

-- part: not_found
SELECT 'Client error ''404 Not Found'' for url ''https://moneybird.com/api/v2/' || :path
  || '.json''' || char(10) || 'For more information check: '
  || 'https://developer.mozilla.org/en-US/docs/Web/HTTP/Status/404' AS error
WHERE :found IS NULL;

-- part: refused
SELECT 'Client error ''' || :status || ''' for url ''https://moneybird.com/api/v2/' || :path
  || '.json''' || char(10) || json_object('error', json(:problem)) AS error
WHERE :problem IS NOT NULL;

-- part: begin
-- Of any tool: :path is set, and the administration looked for.
SELECT 'administration_id parameter is required' AS error WHERE :administration_id = '';
SELECT :administration_id || :path AS path;
SELECT id AS found FROM administration WHERE id = :administration_id;
-- include: not_found

-- part: page
SELECT iif(:page < 1, '"page must be 1 or more"', NULL) AS problem, '400 Bad Request' AS status;
-- include: refused
SELECT (ifnull(:page, 1) - 1) * 50 AS skip;

-- part: period
-- Dates from :since up to :until; NULL without a period.
SELECT
  CASE
    WHEN ifnull(:period, '') = '' THEN NULL
    WHEN instr(:period, '..') THEN substr(:period, 1, instr(:period, '..') - 1)
    ELSE :period
  END AS head,
  CASE
    WHEN ifnull(:period, '') = '' THEN NULL
    WHEN instr(:period, '..') THEN substr(:period, instr(:period, '..') + 2)
    ELSE :period
  END AS tail,
  CASE substr(:period, 1, 5)
    WHEN 'this_' THEN 0
    WHEN 'prev_' THEN -1
    WHEN 'next_' THEN 1
  END AS nth,
  CASE substr(:period, 6)
    WHEN 'month' THEN 1
    WHEN 'quarter' THEN 3
    WHEN 'year' THEN 12
  END AS months;
SELECT date(
  now(),
  'start of month',
  '-' || ((CAST(strftime('%m', now()) AS INTEGER) - 1) % :months) || ' months',
  (:nth * :months) || ' months'
) AS named;
SELECT
  CASE
    WHEN :named IS NOT NULL THEN :named
    WHEN :head GLOB '*[^0-9]*' THEN NULL
    WHEN length(:head) = 4 THEN :head || '-01-01'
    WHEN length(:head) = 6 THEN substr(:head, 1, 4) || '-' || substr(:head, 5) || '-01'
    WHEN length(:head) = 8
      THEN substr(:head, 1, 4) || '-' || substr(:head, 5, 2) || '-' || substr(:head, 7)
  END AS since,
  CASE
    WHEN :named IS NOT NULL THEN date(:named, :months || ' months', '-1 day')
    WHEN :tail GLOB '*[^0-9]*' THEN NULL
    WHEN length(:tail) = 4 THEN :tail || '-12-31'
    WHEN length(:tail) = 6
      THEN date(substr(:tail, 1, 4) || '-' || substr(:tail, 5) || '-01', '1 month', '-1 day')
    WHEN length(:tail) = 8
      THEN substr(:tail, 1, 4) || '-' || substr(:tail, 5, 2) || '-' || substr(:tail, 7)
  END AS until;
SELECT
  iif(
    :head IS NOT NULL
      AND (
        :since IS NULL
        OR :until IS NULL
        OR date(:since, '0 days') IS NOT :since
        OR date(:until, '0 days') IS NOT :until
      ),
    json_quote('Invalid period: ' || :period),
    NULL
  ) AS problem,
  '400 Bad Request' AS status;
-- include: refused

-- name: moneybird_list_administrations
SELECT json_group_array(json_object(
  'id', id,
  'name', name,
  'language', 'en',
  'currency', 'EUR',
  'country', 'NL',
  'time_zone', 'Europe/Amsterdam',
  'access', 'user',
  'suspended', json('false'),
  'period_locked_until', NULL,
  'period_start_date', '2024-01-01'
)) AS result
FROM administration;

-- name: moneybird_list_contacts
SELECT '/contacts' AS path;
-- include: begin
-- include: page
SELECT json_group_array(json(json)) AS result
FROM (
  SELECT c.json
  FROM contact_row c
  WHERE ifnull(:query, '') = ''
    OR instr(lower(c.name), lower(:query))
    OR EXISTS (
      SELECT 1 FROM json_each(c.data) WHERE type = 'text' AND instr(lower(value), lower(:query))
    )
    OR EXISTS (
      SELECT 1
      FROM contact_person p
      WHERE p.contact_id = c.id
        AND (
          instr(lower(p.firstname || ' ' || p.lastname), lower(:query))
          OR instr(lower(p.email), lower(:query))
        )
    )
  ORDER BY c.place
  LIMIT 50 OFFSET :skip
);

-- name: moneybird_get_contact
SELECT 'administration_id and contact_id parameters are required' AS error
WHERE :contact_id = '' OR :administration_id = '';
SELECT '/contacts/' || :contact_id AS path;
-- include: begin
SELECT id AS found FROM contact WHERE id = :contact_id;
-- include: not_found
SELECT json AS result FROM contact_row WHERE id = :found;

-- name: moneybird_create_contact
SELECT 'administration_id and contact_data parameters are required' AS error
WHERE :administration_id = '' OR :contact_data = '{}';
SELECT '/contacts' AS path;
-- include: begin
SELECT
  iif(ifnull(:contact_data -> 'contact', '{}') = '{}', '"contact is missing"', NULL) AS problem,
  '400 Bad Request' AS status;
-- include: refused
-- Fields that contacts do not have are passed over.
SELECT ifnull(json_group_object(key, CAST(value AS TEXT)), '{}') AS data
FROM json_each(:contact_data, '$.contact')
WHERE type IN ('text', 'integer', 'real')
  AND value <> ''
  AND key IN (
    'company_name', 'firstname', 'lastname', 'address1', 'address2', 'zipcode', 'city', 'country',
    'phone', 'customer_id', 'tax_number', 'chamber_of_commerce', 'bank_account',
    'send_invoices_to_attention', 'send_invoices_to_email', 'send_estimates_to_attention',
    'send_estimates_to_email', 'sepa_iban', 'sepa_iban_account_name', 'sepa_bic', 'sepa_mandate_id'
  );
SELECT trim(ifnull(
  :data ->> 'company_name',
  ifnull(:data ->> 'firstname', '') || ' ' || ifnull(:data ->> 'lastname', '')
)) AS name;
SELECT
  CASE
    WHEN :name = ''
      THEN json_object(
        'company_name', json_array('can''t be blank'),
        'firstname', json_array('can''t be blank'),
        'lastname', json_array('can''t be blank')
      )
    WHEN :data ->> 'send_invoices_to_email' IS NOT NULL
        AND NOT mail_is_address(:data ->> 'send_invoices_to_email')
      THEN json_object('send_invoices_to_email', json_array('is invalid'))
    WHEN :data ->> 'country' NOT GLOB '[A-Za-z][A-Za-z]'
      THEN json_object('country', json_array('is not included in the list'))
    WHEN :data ->> 'customer_id' IN (
        SELECT ifnull(data ->> 'customer_id', CAST(place AS TEXT)) FROM contact
      )
      THEN json_object('customer_id', json_array('has already been taken'))
  END AS problem,
  '422 Unprocessable Entity' AS status;
-- include: refused
INSERT INTO contact VALUES (
  new_id('entity'),
  (SELECT ifnull(max(place), 0) + 1 FROM contact),
  :name,
  iif(:data ->> 'country' IS NULL, :data, json_set(:data, '$.country', upper(:data ->> 'country'))),
  now(),
  now()
)
RETURNING id AS new_contact;
SELECT json AS result FROM contact_row WHERE id = :new_contact;

-- name: moneybird_create_contact_person
SELECT 'administration_id, contact_id, and contact_person_data parameters are required' AS error
WHERE :administration_id = '' OR :contact_id = '' OR :contact_person_data = '{}';
SELECT '/contacts/' || :contact_id || '/contact_people' AS path;
-- include: begin
SELECT id AS found FROM contact WHERE id = :contact_id;
-- include: not_found
SELECT
  iif(
    ifnull(:contact_person_data -> 'contact_person', '{}') = '{}',
    '"contact_person is missing"',
    NULL
  ) AS problem,
  '400 Bad Request' AS status;
-- include: refused
SELECT
  trim(ifnull(:contact_person_data ->> '$.contact_person.firstname', '')) AS firstname,
  trim(ifnull(:contact_person_data ->> '$.contact_person.lastname', '')) AS lastname,
  nullif(:contact_person_data ->> '$.contact_person.email', '') AS email;
SELECT
  CASE
    WHEN :firstname = '' OR :lastname = ''
      THEN drop_nulls(json_object(
        'firstname', iif(:firstname = '', json_array('can''t be blank'), NULL),
        'lastname', iif(:lastname = '', json_array('can''t be blank'), NULL)
      ))
    WHEN :email IS NOT NULL AND NOT mail_is_address(:email)
      THEN json_object('email', json_array('is invalid'))
  END AS problem,
  '422 Unprocessable Entity' AS status;
-- include: refused
INSERT INTO contact_person VALUES (
  new_id('entity'),
  (SELECT ifnull(max(place), 0) + 1 FROM contact_person),
  :found,
  :firstname,
  :lastname,
  nullif(:contact_person_data ->> '$.contact_person.phone', ''),
  :email,
  nullif(:contact_person_data ->> '$.contact_person.department', ''),
  now()
)
RETURNING id AS new_person;
UPDATE contact SET updated_at = now() WHERE id = :found;
SELECT json AS result FROM person_row WHERE id = :new_person;

-- name: moneybird_list_sales_invoices
SELECT '/sales_invoices' AS path;
-- include: begin
-- include: page
-- include: period
-- Several states have | between them.
SELECT '["' || replace(replace(:state, '"', ''), '|', '","') || '"]' AS states;
SELECT
  CASE
    WHEN EXISTS (
        SELECT 1
        FROM json_each(:states)
        WHERE value NOT IN (
          'all', 'draft', 'open', 'scheduled', 'pending_payment', 'late', 'reminded', 'paid',
          'uncollectible'
        )
      )
        AND :state <> ''
      THEN json_quote('Invalid filter: state:' || :state)
    WHEN :created_after <> '' AND time_read(:created_after, 'UTC') IS NULL
      THEN json_quote('Invalid time: ' || :created_after)
    WHEN :updated_after <> '' AND time_read(:updated_after, 'UTC') IS NULL
      THEN json_quote('Invalid time: ' || :updated_after)
  END AS problem,
  '400 Bad Request' AS status;
-- include: refused
SELECT json_group_array(json(json)) AS result
FROM (
  SELECT json
  FROM invoice_row
  WHERE (ifnull(:state, '') IN ('', 'all') OR state IN (SELECT value FROM json_each(:states)))
    AND (ifnull(:contact_id, '') = '' OR contact_id = :contact_id)
    AND (:since IS NULL OR ifnull(invoice_date, date(created_at)) BETWEEN :since AND :until)
    AND (
      ifnull(:created_after, '') = ''
      OR time_read(created_at, 'UTC') > time_read(:created_after, 'UTC')
    )
    AND (
      ifnull(:updated_after, '') = ''
      OR time_read(updated_at, 'UTC') > time_read(:updated_after, 'UTC')
    )
  ORDER BY place DESC
  LIMIT 50 OFFSET :skip
);

-- name: moneybird_get_sales_invoice
SELECT 'administration_id and invoice_id parameters are required' AS error
WHERE :administration_id = '' OR :invoice_id = '';
SELECT '/sales_invoices/' || :invoice_id AS path;
-- include: begin
SELECT id AS found FROM sales_invoice WHERE id = :invoice_id;
-- include: not_found
SELECT json AS result FROM invoice_row WHERE id = :found;

-- name: moneybird_create_sales_invoice
SELECT 'administration_id and invoice_data parameters are required' AS error
WHERE :administration_id = '' OR :invoice_data = '{}';
SELECT '/sales_invoices' AS path;
-- include: begin
SELECT
  iif(
    ifnull(:invoice_data -> 'sales_invoice', '{}') = '{}',
    '"sales_invoice is missing"',
    NULL
  ) AS problem,
  '400 Bad Request' AS status;
-- include: refused
SELECT id AS contact FROM contact WHERE id = :invoice_data ->> '$.sales_invoice.contact_id';
SELECT
  nullif(:invoice_data ->> '$.sales_invoice.invoice_date', '') AS invoice_date,
  nullif(:invoice_data ->> '$.sales_invoice.due_date', '') AS due_date,
  upper(nullif(:invoice_data ->> '$.sales_invoice.currency', '')) AS currency,
  ifnull(:invoice_data ->> '$.sales_invoice.prices_are_incl_tax', 0) AS is_incl;
-- The lines; a product says what they do not.
SELECT json_group_array(json_object(
  'description', ifnull(l.value ->> 'description', p.description),
  'price', ifnull(CAST(l.value ->> 'price' AS TEXT), p.price),
  'amount', ifnull(nullif(CAST(l.value ->> 'amount' AS TEXT), ''), '1'),
  'product_id', l.value ->> 'product_id',
  'project_id', l.value ->> 'project_id'
)) AS lines
FROM json_each(:invoice_data, '$.sales_invoice.details_attributes') l
LEFT JOIN product p ON p.id = l.value ->> 'product_id';
SELECT
  CASE
    WHEN ifnull(:invoice_data ->> '$.sales_invoice.contact_id', '') = ''
      THEN json_object('contact', json_array('can''t be blank'))
    WHEN :contact IS NULL THEN json_object('contact_id', json_array('is invalid'))
    WHEN :lines = '[]' THEN json_object('details', json_array('can''t be blank'))
    WHEN date(:invoice_date, '0 days') IS NOT :invoice_date
      THEN json_object('invoice_date', json_array('is invalid'))
    WHEN date(:due_date, '0 days') IS NOT :due_date
      THEN json_object('due_date', json_array('is invalid'))
    WHEN :due_date < :invoice_date
      THEN json_object('due_date', json_array('must be on or after the invoice date'))
    WHEN :currency NOT GLOB '[A-Z][A-Z][A-Z]'
      THEN json_object('currency', json_array('is not included in the list'))
  END AS problem,
  '422 Unprocessable Entity' AS status;
-- include: refused
SELECT
  CASE
    WHEN ifnull(value ->> 'description', '') = ''
      THEN json_object('details.description', json_array('can''t be blank'))
    WHEN ifnull(value ->> 'price', '') = ''
      THEN json_object('details.price', json_array('can''t be blank'))
    WHEN replace(value ->> 'price', '-', '') NOT GLOB '[0-9]*'
        OR replace(value ->> 'price', '-', '') GLOB '*[^0-9.,]*'
      THEN json_object('details.price', json_array('is not a number'))
    WHEN replace(value ->> 'amount', '-', '') NOT GLOB '[0-9]*'
      THEN json_object('details.amount', json_array('is not a number'))
    WHEN value ->> 'product_id' NOT IN (SELECT id FROM product)
      THEN json_object('details.product_id', json_array('is invalid'))
    WHEN value ->> 'project_id' NOT IN (SELECT id FROM project)
      THEN json_object('details.project_id', json_array('is invalid'))
  END AS problem,
  '422 Unprocessable Entity' AS status
FROM json_each(:lines)
WHERE problem IS NOT NULL
LIMIT 1;
-- include: refused
INSERT INTO sales_invoice VALUES (
  new_id('entity'),
  (SELECT ifnull(max(place), 0) + 1 FROM sales_invoice),
  :contact,
  NULL,
  nullif(:invoice_data ->> '$.sales_invoice.reference', ''),
  'draft',
  ifnull(:currency, 'EUR'),
  iif(:is_incl IN (1, 'true'), 1, 0),
  :invoice_date,
  ifnull(:due_date, date(ifnull(:invoice_date, now()), '14 days')),
  now(),
  now()
)
RETURNING id AS new_invoice;
INSERT INTO detail
SELECT
  new_id('entity'),
  :new_invoice,
  key,
  value ->> 'description',
  value ->> 'price',
  value ->> 'amount',
  value ->> 'product_id',
  value ->> 'project_id'
FROM json_each(:lines)
ORDER BY key;
SELECT json AS result FROM invoice_row WHERE id = :new_invoice;

-- name: moneybird_list_financial_accounts
SELECT '/financial_accounts' AS path;
-- include: begin
SELECT json_group_array(json(json)) AS result
FROM (
  SELECT json_object(
    'id', f.id,
    'administration_id', CAST(a.id AS INTEGER),
    'type', f.type,
    'name', f.name,
    'identifier', f.identifier,
    'currency', 'EUR',
    'provider', NULL,
    'active', json('true'),
    'created_at', '2024-01-02T08:00:00.000Z',
    'updated_at', '2024-01-02T08:00:00.000Z'
  ) AS json
  FROM financial_account f
  JOIN administration a
  ORDER BY f.place
);

-- name: moneybird_list_products
SELECT '/products' AS path;
-- include: begin
-- include: page
SELECT json_group_array(json(json)) AS result
FROM (
  SELECT json
  FROM product_row
  WHERE ifnull(:query, '') = ''
    OR instr(lower(title), lower(:query))
    OR instr(lower(description), lower(:query))
    OR instr(lower(identifier), lower(:query))
  ORDER BY place
  LIMIT 50 OFFSET :skip
);

-- name: moneybird_list_projects
SELECT '/projects' AS path;
-- include: begin
-- include: page
SELECT
  iif(
    ifnull(:state, '') NOT IN ('', 'all', 'active', 'archived'),
    json_quote('Invalid filter: state:' || :state),
    NULL
  ) AS problem,
  '400 Bad Request' AS status;
-- include: refused
SELECT json_group_array(json(json)) AS result
FROM (
  SELECT json
  FROM project_row
  WHERE ifnull(:state, '') IN ('', 'all', state)
  ORDER BY place
  LIMIT 50 OFFSET :skip
);

-- name: moneybird_list_time_entries
SELECT '/time_entries' AS path;
-- include: begin
-- include: page
-- include: period
SELECT json_group_array(json(json)) AS result
FROM (
  SELECT json
  FROM time_entry_row
  WHERE (:since IS NULL OR date(started_at) BETWEEN :since AND :until)
    AND (ifnull(:contact_id, '') = '' OR contact_id = :contact_id)
    AND (ifnull(:project_id, '') = '' OR project_id = :project_id)
    AND (ifnull(:user_id, '') = '' OR user_id = :user_id)
  ORDER BY started_at DESC, place DESC
  LIMIT 50 OFFSET :skip
);
