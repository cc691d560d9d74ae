-- Ledger accounts, contacts, products, projects, hours and sales invoices. Beyond Klavis' format a
-- contact may have the other fields of the API (send_invoices_to_email and the like) and
-- "contact_people"; a time entry "started_at", a "contact" and a "project" (their names) and a
-- "user" (an e-mail address); an invoice a "contact", an "invoice_id", an "invoice_date" and a
-- "due_date", its lines a "product" (an identifier) and a "project". Dumps have these only where
-- they say something. An invoice without a contact goes to the first one, hours without a beginning
-- end now. Ids and times of creation are lost in a dump.

-- name: import
SELECT id AS me FROM user WHERE is_me;
SELECT 'a contact needs a company_name, a firstname or a lastname' AS error
FROM json_each(:args, '$.contacts')
WHERE type = 'object'
  AND trim(
    ifnull(value ->> 'company_name', '') || ifnull(value ->> 'firstname', '')
      || ifnull(value ->> 'lastname', '')
  )
    = ''
LIMIT 1;
SELECT 'project "' || (value ->> 'name') || '": state is active or archived' AS error
FROM json_each(:args, '$.projects')
WHERE value ->> 'state' NOT IN ('active', 'archived')
LIMIT 1;
SELECT 'sales invoice "' || (value ->> 'reference') || '": unknown state "' || (value ->> 'state')
  || '"' AS error
FROM json_each(:args, '$.sales_invoices')
WHERE value ->> 'state' NOT IN (
  'draft', 'open', 'scheduled', 'pending_payment', 'late', 'reminded', 'paid', 'uncollectible'
)
LIMIT 1;
SELECT 'sales invoice "' || (i.value ->> 'reference') || '": price and amount are numbers' AS error
FROM json_each(:args, '$.sales_invoices') i, json_each(i.value, '$.details') d
WHERE replace(d.value ->> 'price', '-', '') NOT GLOB '[0-9]*'
  OR replace(d.value ->> 'amount', '-', '') NOT GLOB '[0-9]*'
LIMIT 1;
SELECT 'time entry "' || (value ->> 'description') || '": '
  || iif(
    value ->> 'user' NOT IN (SELECT email FROM user),
    'there is no user "' || (value ->> 'user') || '"',
    'started_at is a time (ISO 8601)'
  ) AS error
FROM json_each(:args, '$.time_entries')
WHERE value ->> 'user' NOT IN (SELECT email FROM user)
  OR value ->> 'started_at' IS NOT NULL AND time_read(value ->> 'started_at', 'UTC') IS NULL
LIMIT 1;
INSERT INTO ledger_account
SELECT
  rand_text('4779{digits:14}'),
  (SELECT count(*) FROM ledger_account) + key + 1,
  value ->> 'rgs_code',
  value ->> 'name',
  value ->> 'account_type',
  value ->> 'account_id'
FROM json_each(:args, '$.ledger_accounts')
WHERE type = 'object'
ORDER BY key;
SELECT count(*) AS contacts_before FROM contact;
INSERT INTO contact
SELECT
  rand_text('4779{digits:14}'),
  :contacts_before + key + 1,
  ifnull(
    nullif(trim(value ->> 'company_name'), ''),
    trim(ifnull(value ->> 'firstname', '') || ' ' || ifnull(value ->> 'lastname', ''))
  ),
  json_remove(drop_nulls(value), '$.contact_people'),
  now(),
  now()
FROM json_each(:args, '$.contacts')
WHERE type = 'object'
ORDER BY key;
INSERT INTO contact_person
SELECT
  rand_text('4779{digits:14}'),
  (SELECT count(*) FROM contact_person) + row_number() OVER (ORDER BY c.key, p.key),
  (SELECT id FROM contact WHERE place = :contacts_before + c.key + 1),
  ifnull(p.value ->> 'firstname', ''),
  ifnull(p.value ->> 'lastname', ''),
  p.value ->> 'phone',
  p.value ->> 'email',
  p.value ->> 'department',
  now()
FROM json_each(:args, '$.contacts') c, json_each(c.value, '$.contact_people') p
WHERE p.type = 'object'
ORDER BY c.key, p.key;
INSERT INTO product
SELECT
  rand_text('4779{digits:14}'),
  (SELECT count(*) FROM product) + key + 1,
  value ->> 'title',
  value ->> 'description',
  value ->> 'identifier',
  value ->> 'price',
  value ->> 'currency',
  value ->> 'frequency',
  value ->> 'frequency_type',
  now()
FROM json_each(:args, '$.products')
WHERE type = 'object'
ORDER BY key;
INSERT INTO project
SELECT
  rand_text('4779{digits:14}'),
  (SELECT count(*) FROM project) + key + 1,
  value ->> 'name',
  ifnull(value ->> 'state', 'active'),
  value ->> 'budget'
FROM json_each(:args, '$.projects')
WHERE type = 'object'
ORDER BY key;
SELECT 'there is no contact "' || name || '"' AS error
FROM (
  SELECT value ->> 'contact' AS name FROM json_each(:args, '$.time_entries')
  UNION ALL
  SELECT value ->> 'contact' FROM json_each(:args, '$.sales_invoices')
)
WHERE name NOT IN (SELECT name FROM contact)
LIMIT 1;
SELECT 'there is no project "' || (value ->> 'project') || '"' AS error
FROM json_each(:args, '$.time_entries')
WHERE value ->> 'project' NOT IN (SELECT name FROM project)
LIMIT 1;
INSERT INTO time_entry
SELECT
  rand_text('4779{digits:14}'),
  (SELECT count(*) FROM time_entry) + t.key + 1,
  t.value ->> 'description',
  t.value ->> 'hours',
  ifnull(t.value ->> 'billable', 1),
  ifnull(
    t.value ->> 'started_at',
    time_write(
      time_read(now(), 'UTC') - CAST(round((t.value ->> 'hours') * 3600) AS INTEGER),
      'UTC',
      '%Y-%m-%dT%H:%M:%S.000Z'
    )
  ),
  t.value ->> 'started_at' IS NOT NULL,
  (SELECT c.id FROM contact c WHERE c.name = t.value ->> 'contact' ORDER BY c.place LIMIT 1),
  (SELECT p.id FROM project p WHERE p.name = t.value ->> 'project' ORDER BY p.place LIMIT 1),
  ifnull((SELECT u.id FROM user u WHERE u.email = t.value ->> 'user'), :me),
  now()
FROM json_each(:args, '$.time_entries') t
WHERE t.type = 'object'
ORDER BY t.key;
-- Whoever is no draft has a number and a date.
SELECT count(*) AS invoices_before FROM sales_invoice;
INSERT INTO sales_invoice
SELECT
  rand_text('4779{digits:14}'),
  :invoices_before + key + 1,
  (
    SELECT c.id
    FROM contact c
    WHERE v ->> 'contact' IS NULL OR c.name = v ->> 'contact'
    ORDER BY c.place
    LIMIT 1
  ),
  iif(
    state = 'draft',
    NULL,
    ifnull(
      v ->> 'invoice_id',
      strftime('%Y', now()) || '-' || printf('%04d', sum(state <> 'draft') OVER (ORDER BY key))
    )
  ),
  nullif(v ->> 'reference', ''),
  state,
  ifnull(v ->> 'currency', 'EUR'),
  ifnull(v ->> 'prices_are_incl_tax', 0),
  ifnull(v ->> 'invoice_date', iif(state = 'draft', NULL, date(now()))),
  ifnull(v ->> 'due_date', date(ifnull(v ->> 'invoice_date', now()), '14 days')),
  now(),
  now()
FROM (
  SELECT key, value AS v, ifnull(value ->> 'state', 'draft') AS state
  FROM json_each(:args, '$.sales_invoices')
  WHERE type = 'object'
)
ORDER BY key;
INSERT INTO detail
SELECT
  rand_text('4779{digits:14}'),
  (SELECT id FROM sales_invoice WHERE place = :invoices_before + i.key + 1),
  d.key,
  d.value ->> 'description',
  d.value ->> 'price',
  d.value ->> 'amount',
  (SELECT p.id FROM product p WHERE p.identifier = d.value ->> 'product' ORDER BY p.place LIMIT 1),
  (SELECT p.id FROM project p WHERE p.name = d.value ->> 'project' ORDER BY p.place LIMIT 1)
FROM json_each(:args, '$.sales_invoices') i, json_each(i.value, '$.details') d
WHERE d.type = 'object'
ORDER BY i.key, d.key;
SELECT json_group_object(key, json_array_length(value)) AS result
FROM json_each(:args)
WHERE type = 'array';

-- name: export
SELECT json_object(
  'ledger_accounts', (
    SELECT json_group_array(json(json))
    FROM (
      SELECT drop_nulls(json_object(
        'rgs_code', rgs_code,
        'name', name,
        'account_type', account_type,
        'account_id', account_id
      )) AS json
      FROM ledger_account
      ORDER BY place
    )
  ),
  'contacts', (
    SELECT json_group_array(json(json))
    FROM (
      SELECT json_patch(c.data, drop_nulls(json_object(
        'contact_people', (
          SELECT iif(count(*) > 0, json_group_array(json(json)), NULL)
          FROM (
            SELECT drop_nulls(json_object(
              'firstname', p.firstname,
              'lastname', p.lastname,
              'phone', p.phone,
              'email', p.email,
              'department', p.department
            )) AS json
            FROM contact_person p
            WHERE p.contact_id = c.id
            ORDER BY p.place
          )
        )
      ))) AS json
      FROM contact c
      ORDER BY c.place
    )
  ),
  'products', (
    SELECT json_group_array(json(json))
    FROM (
      SELECT drop_nulls(json_object(
        'description', description,
        'title', title,
        'price', price,
        'currency', currency,
        'identifier', identifier,
        'frequency', frequency,
        'frequency_type', frequency_type
      )) AS json
      FROM product
      ORDER BY place
    )
  ),
  'projects', (
    SELECT json_group_array(json(json))
    FROM (
      SELECT drop_nulls(json_object('name', name, 'state', state, 'budget', budget)) AS json
      FROM project
      ORDER BY place
    )
  ),
  'time_entries', (
    SELECT json_group_array(json(json))
    FROM (
      SELECT drop_nulls(json_object(
        'description', t.description,
        'hours', t.hours,
        'billable', json(iif(t.is_billable, 'true', 'false')),
        'started_at', iif(t.is_timed, t.started_at, NULL),
        'contact', c.name,
        'project', p.name,
        'user', iif(u.is_me, NULL, u.email)
      )) AS json
      FROM time_entry t
      LEFT JOIN contact c ON c.id = t.contact_id
      LEFT JOIN project p ON p.id = t.project_id
      JOIN user u ON u.id = t.user_id
      ORDER BY t.place
    )
  ),
  'sales_invoices', (
    SELECT json_group_array(json(json))
    FROM (
      SELECT drop_nulls(json_object(
        'reference', ifnull(i.reference, ''),
        'currency', i.currency,
        'prices_are_incl_tax', json(iif(i.prices_are_incl_tax, 'true', 'false')),
        'state', i.state,
        'details', (
          SELECT json_group_array(json(json))
          FROM (
            SELECT drop_nulls(json_object(
              'description', d.description,
              'price', d.price,
              'amount', d.amount,
              'product', p.identifier,
              'project', q.name
            )) AS json
            FROM detail d
            LEFT JOIN product p ON p.id = d.product_id
            LEFT JOIN project q ON q.id = d.project_id
            WHERE d.invoice_id = i.id
            ORDER BY d.place
          )
        ),
        'contact', iif(c.place = 1, NULL, c.name),
        'invoice_id', i.invoice_id,
        'invoice_date', i.invoice_date,
        'due_date', i.due_date
      )) AS json
      FROM sales_invoice i
      LEFT JOIN contact c ON c.id = i.contact_id
      ORDER BY i.place
    )
  )
) AS result;
