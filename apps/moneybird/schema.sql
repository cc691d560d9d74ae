-- Moneybird: an administration with contacts, products, projects, hours and sales invoices.

CREATE TABLE administration (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  tax_rate_id TEXT NOT NULL, -- of 21 %, which all lines have
  ledger_account_id TEXT NOT NULL -- that revenue goes to
);

CREATE TABLE user (
  id TEXT PRIMARY KEY,
  place INTEGER NOT NULL,
  name TEXT NOT NULL,
  email TEXT NOT NULL UNIQUE,
  is_me INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE financial_account (
  id TEXT PRIMARY KEY,
  place INTEGER NOT NULL,
  type TEXT NOT NULL,
  name TEXT NOT NULL,
  identifier TEXT
);

CREATE TABLE ledger_account (
  id TEXT PRIMARY KEY,
  place INTEGER NOT NULL,
  rgs_code TEXT,
  name TEXT NOT NULL,
  account_type TEXT NOT NULL,
  account_id TEXT
);

CREATE TABLE contact (
  id TEXT PRIMARY KEY,
  place INTEGER NOT NULL, -- in the order of creation
  name TEXT NOT NULL, -- of the company, or of the person
  data TEXT NOT NULL, -- JSON: the fields that were given
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
);
CREATE INDEX contact_place ON contact (place);

CREATE TABLE contact_person (
  id TEXT PRIMARY KEY,
  place INTEGER NOT NULL,
  contact_id TEXT NOT NULL REFERENCES contact (id),
  firstname TEXT NOT NULL,
  lastname TEXT NOT NULL,
  phone TEXT,
  email TEXT,
  department TEXT,
  created_at TEXT NOT NULL
);
CREATE INDEX contact_person_contact ON contact_person (contact_id);

CREATE TABLE product (
  id TEXT PRIMARY KEY,
  place INTEGER NOT NULL,
  title TEXT NOT NULL,
  description TEXT NOT NULL,
  identifier TEXT NOT NULL,
  price TEXT NOT NULL, -- as it was given
  currency TEXT NOT NULL,
  frequency INTEGER,
  frequency_type TEXT,
  created_at TEXT NOT NULL
);

CREATE TABLE project (
  id TEXT PRIMARY KEY,
  place INTEGER NOT NULL,
  name TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'active', -- or archived
  budget NUMERIC
);

CREATE TABLE time_entry (
  id TEXT PRIMARY KEY,
  place INTEGER NOT NULL,
  description TEXT NOT NULL,
  hours NUMERIC NOT NULL,
  is_billable INTEGER NOT NULL DEFAULT 1,
  started_at TEXT NOT NULL,
  is_timed INTEGER NOT NULL DEFAULT 0, -- started_at was given
  contact_id TEXT REFERENCES contact (id),
  project_id TEXT REFERENCES project (id),
  user_id TEXT NOT NULL REFERENCES user (id),
  created_at TEXT NOT NULL
);

CREATE TABLE sales_invoice (
  id TEXT PRIMARY KEY,
  place INTEGER NOT NULL, -- in the order of creation
  contact_id TEXT REFERENCES contact (id),
  invoice_id TEXT, -- NULL for drafts
  reference TEXT,
  state TEXT NOT NULL DEFAULT 'draft',
  currency TEXT NOT NULL DEFAULT 'EUR',
  prices_are_incl_tax INTEGER NOT NULL DEFAULT 0,
  invoice_date TEXT,
  due_date TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
);
CREATE INDEX sales_invoice_place ON sales_invoice (place);

CREATE TABLE detail (
  id TEXT PRIMARY KEY,
  invoice_id TEXT NOT NULL REFERENCES sales_invoice (id),
  place INTEGER NOT NULL,
  description TEXT NOT NULL,
  price TEXT NOT NULL, -- as it was given,
  amount TEXT NOT NULL, -- also "2 x" and "1:30"
  product_id TEXT REFERENCES product (id),
  project_id TEXT REFERENCES project (id)
);
CREATE INDEX detail_invoice ON detail (invoice_id);

-- What the tools show.
CREATE VIEW person_row AS
SELECT
  p.contact_id,
  p.id,
  p.place,
  json_object(
    'id', p.id,
    'contact_id', p.contact_id,
    'administration_id', CAST(a.id AS INTEGER),
    'firstname', p.firstname,
    'lastname', p.lastname,
    'phone', p.phone,
    'email', p.email,
    'department', p.department,
    'created_at', p.created_at,
    'updated_at', p.created_at,
    'version', unixepoch(p.created_at)
  ) AS json
FROM contact_person p
JOIN administration a;

CREATE VIEW contact_short AS
SELECT
  c.id,
  c.place,
  c.name,
  c.data,
  json_patch(
    json_object(
      'id', c.id,
      'administration_id', CAST(a.id AS INTEGER),
      'company_name', '',
      'firstname', '',
      'lastname', '',
      'address1', '',
      'address2', '',
      'zipcode', '',
      'city', '',
      'country', 'NL',
      'phone', '',
      'delivery_method', 'Email',
      'customer_id', CAST(c.place AS TEXT),
      'tax_number', '',
      'chamber_of_commerce', '',
      'bank_account', '',
      'attention', '',
      'email', ifnull(c.data ->> 'send_invoices_to_email', ''),
      'email_ubl', json('false'),
      'send_invoices_to_attention', '',
      'send_invoices_to_email', '',
      'send_estimates_to_attention', '',
      'send_estimates_to_email', '',
      'sepa_active', json('false'),
      'sepa_iban', '',
      'sepa_iban_account_name', '',
      'sepa_bic', '',
      'sepa_mandate_id', '',
      'sepa_mandate_date', NULL,
      'sepa_sequence_type', 'RCUR',
      'tax_number_validated_at', NULL,
      'tax_number_valid', NULL,
      'invoice_workflow_id', NULL,
      'estimate_workflow_id', NULL,
      'created_at', c.created_at,
      'updated_at', c.updated_at,
      'version', unixepoch(c.updated_at)
    ),
    c.data
  ) AS json
FROM contact c
JOIN administration a;

CREATE VIEW contact_row AS
SELECT
  c.id,
  c.place,
  c.name,
  c.data,
  json_set(
    c.json,
    '$.notes', json('[]'),
    '$.custom_fields', json('[]'),
    '$.contact_people', (
      SELECT json_group_array(json(json))
      FROM (SELECT json FROM person_row WHERE contact_id = c.id ORDER BY place)
    ),
    '$.archived', json('false')
  ) AS json
FROM contact_short c;

CREATE VIEW product_row AS
SELECT
  p.*,
  json_object(
    'id', p.id,
    'administration_id', CAST(a.id AS INTEGER),
    'description', p.description,
    'title', p.title,
    'identifier', p.identifier,
    'price', CAST(CAST(replace(p.price, ',', '.') AS REAL) AS TEXT),
    'currency', p.currency,
    'frequency', p.frequency,
    'frequency_type', p.frequency_type,
    'tax_rate_id', a.tax_rate_id,
    'ledger_account_id', a.ledger_account_id,
    'created_at', p.created_at,
    'updated_at', p.created_at
  ) AS json
FROM product p
JOIN administration a;

CREATE VIEW project_row AS
SELECT
  id,
  place,
  state,
  json_object('id', id, 'name', name, 'state', state, 'budget', budget) AS json
FROM project;

CREATE VIEW time_entry_row AS
SELECT
  t.*,
  json_object(
    'id', t.id,
    'administration_id', CAST(a.id AS INTEGER),
    'user_id', t.user_id,
    'started_at', time_write(time_read(t.started_at, 'UTC'), 'UTC', '%Y-%m-%dT%H:%M:%S.000Z'),
    'ended_at', time_write(
      time_read(t.started_at, 'UTC') + CAST(round(t.hours * 3600) AS INTEGER),
      'UTC',
      '%Y-%m-%dT%H:%M:%S.000Z'
    ),
    'description', t.description,
    'paused_duration', 0,
    'billable', json(iif(t.is_billable, 'true', 'false')),
    'created_at', t.created_at,
    'updated_at', t.created_at,
    'contact_id', t.contact_id,
    'project_id', t.project_id,
    'contact', json((SELECT json FROM contact_short WHERE id = t.contact_id)),
    'detail', NULL,
    'user', json_object(
      'id', u.id,
      'administration_id', CAST(a.id AS INTEGER),
      'name', u.name,
      'email', u.email,
      'language', 'en',
      'user_type', iif(u.is_me, 'owner', 'user')
    ),
    'project', json((SELECT json FROM project_row WHERE id = t.project_id)),
    'events', json('[]'),
    'notes', json('[]')
  ) AS json
FROM time_entry t
JOIN administration a
JOIN user u ON u.id = t.user_id;

CREATE VIEW detail_sum AS
SELECT
  d.*,
  CAST(replace(d.price, ',', '.') AS REAL) AS price_number,
  q.number,
  round(CAST(replace(d.price, ',', '.') AS REAL) * q.number, 2) AS total
FROM detail d
JOIN (
  SELECT
    id,
    CAST(replace(amount, ',', '.') AS REAL)
      + iif(
        instr(amount, ':'),
        CAST(substr(amount, instr(amount, ':') + 1) AS REAL) / 60,
        0
      ) AS number
  FROM detail
) q
  ON q.id = d.id;

CREATE VIEW invoice_sum AS
SELECT
  i.*,
  iif(i.prices_are_incl_tax, round(s.total / 1.21, 2), s.total) AS excl,
  iif(i.prices_are_incl_tax, s.total, round(s.total * 1.21, 2)) AS incl
FROM sales_invoice i
JOIN (
  SELECT i.id, round(ifnull(sum(d.total), 0.0), 2) AS total
  FROM sales_invoice i
  LEFT JOIN detail_sum d ON d.invoice_id = i.id
  GROUP BY i.id
) s
  ON s.id = i.id;

CREATE VIEW invoice_row AS
SELECT
  i.id,
  i.place,
  i.state,
  i.contact_id,
  i.invoice_date,
  i.created_at,
  i.updated_at,
  json_object(
    'id', i.id,
    'administration_id', CAST(a.id AS INTEGER),
    'contact_id', i.contact_id,
    'contact', json((SELECT json FROM contact_short WHERE id = i.contact_id)),
    'contact_person_id', NULL,
    'invoice_id', i.invoice_id,
    'draft_id', iif(i.invoice_id IS NULL, i.place, NULL),
    'state', i.state,
    'invoice_date', i.invoice_date,
    'due_date', i.due_date,
    'payment_conditions', 'Please pay within 14 days.',
    'reference', i.reference,
    'language', 'en',
    'currency', i.currency,
    'discount', '0.0',
    'paused', json('false'),
    'paid_at', iif(i.state = 'paid', ifnull(i.invoice_date, date(i.updated_at)), NULL),
    'sent_at', iif(i.invoice_id IS NULL, NULL, i.invoice_date),
    'created_at', i.created_at,
    'updated_at', i.updated_at,
    'version', unixepoch(i.updated_at),
    'details', (
      SELECT json_group_array(json(json))
      FROM (
        SELECT json_object(
          'id', d.id,
          'administration_id', CAST(a.id AS INTEGER),
          'tax_rate_id', a.tax_rate_id,
          'ledger_account_id', a.ledger_account_id,
          'project_id', d.project_id,
          'product_id', d.product_id,
          'amount', d.amount,
          'amount_decimal', CAST(d.number AS TEXT),
          'description', d.description,
          'price', CAST(d.price_number AS TEXT),
          'period', NULL,
          'row_order', d.place,
          'total_price_excl_tax_with_discount', CAST(
            iif(i.prices_are_incl_tax, round(d.total / 1.21, 2), d.total) AS TEXT
          ),
          'created_at', i.created_at,
          'updated_at', i.updated_at
        ) AS json
        FROM detail_sum d
        WHERE d.invoice_id = i.id
        ORDER BY d.place
      )
    ),
    'payments', json(iif(
      i.state = 'paid',
      json_array(json_object(
        'administration_id', CAST(a.id AS INTEGER),
        'invoice_type', 'SalesInvoice',
        'invoice_id', i.id,
        'price', CAST(i.incl AS TEXT),
        'price_base', CAST(i.incl AS TEXT),
        'payment_date', ifnull(i.invoice_date, date(i.updated_at))
      )),
      '[]'
    )),
    'total_paid', iif(i.state = 'paid', CAST(i.incl AS TEXT), '0.0'),
    'total_unpaid', iif(i.state = 'paid', '0.0', CAST(i.incl AS TEXT)),
    'prices_are_incl_tax', json(iif(i.prices_are_incl_tax, 'true', 'false')),
    'total_price_excl_tax', CAST(i.excl AS TEXT),
    'total_price_excl_tax_base', CAST(i.excl AS TEXT),
    'total_price_incl_tax', CAST(i.incl AS TEXT),
    'total_price_incl_tax_base', CAST(i.incl AS TEXT),
    'total_discount', '0.0',
    'url', 'https://moneybird.example/' || a.id || '/sales_invoices/' || i.id,
    'custom_fields', json('[]'),
    'notes', json('[]'),
    'attachments', json('[]'),
    'events', json_array(json_object(
      'administration_id', CAST(a.id AS INTEGER),
      'user_id', u.id,
      'action', 'sales_invoice_created',
      'created_at', i.created_at,
      'updated_at', i.created_at
    )),
    'tax_totals', json_array(json_object(
      'tax_rate_id', a.tax_rate_id,
      'taxable_amount', CAST(i.excl AS TEXT),
      'taxable_amount_base', CAST(i.excl AS TEXT),
      'tax_amount', CAST(round(i.incl - i.excl, 2) AS TEXT),
      'tax_amount_base', CAST(round(i.incl - i.excl, 2) AS TEXT)
    ))
  ) AS json
FROM invoice_sum i
JOIN administration a
JOIN user u ON u.is_me;

-- The company.
INSERT INTO administration VALUES (
  '477900186420753118', 'Larkspur B.V.', '477900186424114935', '477900186424981204'
);

INSERT INTO user (id, place, name, email, is_me) VALUES
  ('477900186431200101', 1, 'Maya Chen', 'maya.chen@larkspur.example', 1),
  ('477900186431200102', 2, 'Tomás Rivera', 'tomas.rivera@larkspur.example', 0),
  ('477900186431200103', 3, 'Aisha Okafor', 'aisha.okafor@larkspur.example', 0),
  ('477900186431200104', 4, 'Ben Adeyemi', 'ben.adeyemi@larkspur.example', 0),
  ('477900186431200105', 5, 'Sofia Marchetti', 'sofia.marchetti@larkspur.example', 0);

INSERT INTO financial_account VALUES
  ('477900186440310201', 1, 'BankAccount', 'Current account', 'NL91ABNA0417164300'),
  ('477900186440310202', 2, 'BankAccount', 'Savings account', 'NL02RABO0123456789'),
  ('477900186440310203', 3, 'CashAccount', 'Petty cash', NULL);
