-- QuickBooks Online: accounts, customers, vendors, invoices and payments, kept as the objects that
-- its API shows. Balances are written when something is posted, not calculated when read.

CREATE TABLE thing (
  kind TEXT NOT NULL REFERENCES kind (name),
  id TEXT NOT NULL,
  data TEXT NOT NULL, -- JSON
  PRIMARY KEY (kind, id)
) WITHOUT ROWID;
CREATE INDEX thing_name ON thing (data ->> 'DisplayName');

CREATE TABLE kind (
  name TEXT PRIMARY KEY,
  list TEXT NOT NULL, -- in bodies and dumps
  family TEXT NOT NULL, -- which kinds have their ids from the same sequence
  first TEXT NOT NULL -- JSON: what a new one has unless told otherwise
) WITHOUT ROWID;
INSERT INTO kind VALUES
  ('Account', 'accounts', 'account', '{"SubAccount": false, "Active": true, "CurrentBalance": 0.0,
    "CurrencyRef": {"value": "USD"}}'),
  ('Customer', 'customers', 'name', '{"Taxable": false, "Job": false, "BillWithParent": false,
    "Active": true, "PreferredDeliveryMethod": "None",
    "CurrencyRef": {"value": "USD"}}'),
  ('Vendor', 'vendors', 'name', '{"Balance": 0.0, "Active": true, "Vendor1099": false,
    "CurrencyRef": {"value": "USD"}}'),
  ('Invoice', 'invoices', 'transaction', '{"Deposit": 0.0, "PrintStatus": "NeedToPrint",
    "EmailStatus": "NotSet", "Line": [],
    "CurrencyRef": {"value": "USD"}}'),
  ('Payment', 'payments', 'transaction', '{"ProcessPayment": false, "Line": [],
    "CurrencyRef": {"value": "USD"}}');

CREATE TABLE account_type (name TEXT PRIMARY KEY, classification TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO account_type VALUES
  ('Bank', 'Asset'),
  ('Other Current Asset', 'Asset'),
  ('Fixed Asset', 'Asset'),
  ('Other Asset', 'Asset'),
  ('Accounts Receivable', 'Asset'),
  ('Equity', 'Equity'),
  ('Expense', 'Expense'),
  ('Other Expense', 'Expense'),
  ('Cost of Goods Sold', 'Expense'),
  ('Accounts Payable', 'Liability'),
  ('Credit Card', 'Liability'),
  ('Long Term Liability', 'Liability'),
  ('Other Current Liability', 'Liability'),
  ('Income', 'Revenue'),
  ('Other Income', 'Revenue');

-- What the tools call a member of an object, or a part of a member.
CREATE TABLE field (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  member TEXT NOT NULL,
  part TEXT,
  PRIMARY KEY (kind, name)
) WITHOUT ROWID;
INSERT INTO field
SELECT k.value, w.column2, w.column3, w.column4
FROM (
  VALUES
    ('Account', 'name', 'Name', NULL),
    ('Account', 'type', 'AccountType', NULL),
    ('Account', 'description', 'Description', NULL),
    ('Account', 'balance', 'CurrentBalance', NULL),
    ('Account', 'classification', 'Classification', NULL),
    ('Customer Vendor', 'display_name', 'DisplayName', NULL),
    ('Customer Vendor', 'first_name', 'GivenName', NULL),
    ('Customer Vendor', 'middle_name', 'MiddleName', NULL),
    ('Customer Vendor', 'last_name', 'FamilyName', NULL),
    ('Customer Vendor', 'company', 'CompanyName', NULL),
    ('Customer Vendor', 'email', 'PrimaryEmailAddr', 'Address'),
    ('Customer Vendor', 'phone', 'PrimaryPhone', 'FreeFormNumber'),
    ('Customer Vendor', 'website', 'WebAddr', 'URI'),
    ('Customer Vendor', 'balance', 'Balance', NULL),
    ('Customer', 'notes', 'Notes', NULL),
    ('Customer', 'is_taxable', 'Taxable', NULL),
    ('Customer', 'bill_with_parent', 'BillWithParent', NULL),
    ('Customer Payment', 'payment_method_id', 'PaymentMethodRef', 'value'),
    ('Customer', 'tax_code_id', 'DefaultTaxCodeRef', 'value'),
    ('Customer', 'open_balance_date', 'OpenBalanceDate', NULL),
    ('Customer Invoice', 'billing_street', 'BillAddr', 'Line1'),
    ('Customer Invoice', 'billing_street2', 'BillAddr', 'Line2'),
    ('Customer Invoice', 'billing_city', 'BillAddr', 'City'),
    ('Customer Invoice', 'billing_state', 'BillAddr', 'CountrySubDivisionCode'),
    ('Customer Invoice', 'billing_postal_code', 'BillAddr', 'PostalCode'),
    ('Customer Invoice', 'billing_country', 'BillAddr', 'Country'),
    ('Customer Invoice', 'shipping_street', 'ShipAddr', 'Line1'),
    ('Customer Invoice', 'shipping_street2', 'ShipAddr', 'Line2'),
    ('Customer Invoice', 'shipping_city', 'ShipAddr', 'City'),
    ('Customer Invoice', 'shipping_state', 'ShipAddr', 'CountrySubDivisionCode'),
    ('Customer Invoice', 'shipping_postal_code', 'ShipAddr', 'PostalCode'),
    ('Customer Invoice', 'shipping_country', 'ShipAddr', 'Country'),
    ('Vendor', 'check_name', 'PrintOnCheckName', NULL),
    ('Vendor', 'is_1099_vendor', 'Vendor1099', NULL),
    ('Vendor', 'cost_rate', 'CostRate', NULL),
    ('Vendor', 'bill_rate', 'BillRate', NULL),
    ('Vendor', 'tax_id', 'TaxIdentifier', NULL),
    ('Vendor', 'account_number', 'AcctNum', NULL),
    ('Vendor', 'street', 'BillAddr', 'Line1'),
    ('Vendor', 'street2', 'BillAddr', 'Line2'),
    ('Vendor', 'city', 'BillAddr', 'City'),
    ('Vendor', 'state', 'BillAddr', 'CountrySubDivisionCode'),
    ('Vendor', 'postal_code', 'BillAddr', 'PostalCode'),
    ('Vendor', 'country', 'BillAddr', 'Country'),
    ('Account Customer Vendor', 'is_active', 'Active', NULL),
    ('Invoice', 'invoice_number', 'DocNumber', NULL),
    ('Invoice', 'line_items', 'Line', NULL),
    ('Invoice', 'ship_date', 'ShipDate', NULL),
    ('Invoice', 'due_date', 'DueDate', NULL),
    ('Invoice', 'customer_memo', 'CustomerMemo', 'value'),
    ('Invoice', 'bill_email', 'BillEmail', 'Address'),
    ('Invoice', 'bill_email_cc', 'BillEmailCc', 'Address'),
    ('Invoice', 'tracking_number', 'TrackingNum', NULL),
    ('Invoice', 'deposit', 'Deposit', NULL),
    ('Invoice', 'ship_method_id', 'ShipMethodRef', 'value'),
    ('Invoice', 'total', 'TotalAmt', NULL),
    ('Invoice', 'balance_due', 'Balance', NULL),
    ('Invoice', 'email_status', 'EmailStatus', NULL),
    ('Invoice Payment', 'customer_id', 'CustomerRef', 'value'),
    ('Invoice Payment', 'customer_name', 'CustomerRef', 'name'),
    ('Invoice Payment', 'date', 'TxnDate', NULL),
    ('Invoice Payment', 'exchange_rate', 'ExchangeRate', NULL),
    ('Invoice Payment', 'private_note', 'PrivateNote', NULL),
    ('Payment', 'amount', 'TotalAmt', NULL),
    ('Payment', 'reference_number', 'PaymentRefNum', NULL),
    ('Payment', 'deposit_account_id', 'DepositToAccountRef', 'value'),
    ('Payment', 'unapplied_amount', 'UnappliedAmt', NULL),
    ('Account Customer Vendor Invoice Payment', 'currency', 'CurrencyRef', 'value'),
    ('Account Customer Vendor Invoice Payment', 'id', 'Id', NULL),
    ('Account Customer Vendor Invoice Payment', 'created_at', 'MetaData', 'CreateTime'),
    ('Account Customer Vendor Invoice Payment', 'updated_at', 'MetaData', 'LastUpdatedTime')
) w
JOIN json_each('["' || replace(w.column1, ' ', '","') || '"]') k;

CREATE VIEW clock AS
SELECT
  time_write(time_read(now(), 'UTC'), 'America/Los_Angeles', '%Y-%m-%dT%H:%M:%S%:') AS time,
  time_write(time_read(now(), 'UTC'), 'America/Los_Angeles', '%Y-%m-%d') AS today;

-- What was asked for, of a tool or in a body, and step by step what it makes: members with their
-- names, all members, then ids, sums and dates. Empty between calls.
CREATE TABLE draft (
  kind TEXT NOT NULL REFERENCES kind (name),
  place INTEGER NOT NULL,
  data TEXT NOT NULL, -- JSON
  PRIMARY KEY (kind, place)
) WITHOUT ROWID;

CREATE VIEW draft_member AS
SELECT
  d.kind,
  d.place,
  ifnull(f.member, m.key) AS member,
  f.part,
  CASE
    WHEN m.key = 'line_items'
      THEN (
        SELECT json_group_array(drop_nulls(json_object(
          'Id', nullif(l.value ->> 'line_id', ''),
          'Description', nullif(l.value ->> 'description', ''),
          'Amount', l.value -> 'amount',
          'DetailType', CASE l.value ->> 'type'
            WHEN 'description_only' THEN 'DescriptionOnly'
            WHEN 'discount' THEN 'DiscountLineDetail'
            WHEN 'subtotal' THEN 'SubTotalLineDetail'
            ELSE 'SalesItemLineDetail'
          END,
          'SalesItemLineDetail', iif(
            ifnull(l.value ->> 'type', '') IN ('description_only', 'discount', 'subtotal'),
            NULL,
            json(drop_nulls(json_object(
              'ItemRef', json(iif(
                l.value ->> 'item_id' <> '',
                drop_nulls(json_object(
                  'value', l.value ->> 'item_id',
                  'name', l.value ->> 'item_name'
                )),
                NULL
              )),
              'Qty', l.value -> 'quantity',
              'UnitPrice', l.value -> 'unit_price',
              'DiscountRate', l.value -> 'discount_rate',
              'DiscountAmt', l.value -> 'discount_amount',
              'ServiceDate', nullif(l.value ->> 'service_date', ''),
              'TaxCodeRef', json(iif(
                l.value ->> 'tax_code_id' <> '',
                json_object('value', l.value ->> 'tax_code_id'),
                NULL
              ))
            )))
          ),
          'DiscountLineDetail', json(iif(
            l.value ->> 'type' = 'discount',
            drop_nulls(json_object(
              'PercentBased', l.value -> 'is_percent',
              'DiscountPercent', l.value -> 'discount_percent'
            )),
            NULL
          ))
        )))
        FROM json_each(m.value) l
      )
    WHEN m.value IS NULL OR m.value = '' THEN 'null'
    ELSE d.data -> m.fullkey
  END AS value
FROM draft d
JOIN json_each(d.data) m
LEFT JOIN field f ON f.kind = d.kind AND f.name = m.key;

CREATE VIEW draft_object AS
SELECT o.kind, o.place, json_patch(k.first, json_patch(ifnull(t.data, '{}'), o.data)) AS data
FROM (
  SELECT kind, place, json_group_object(member, json(value)) AS data
  FROM (
    SELECT
      kind,
      place,
      member,
      CASE
        WHEN max(part) IS NULL THEN max(value)
        WHEN max(part = 'value')
            AND NOT max(
              part = 'name'
            ) -- not its old name
          THEN json_insert(json_group_object(part, json(value)), '$.name', NULL)
        ELSE json_group_object(part, json(value))
      END AS value
    FROM draft_member
    GROUP BY kind, place, member
  )
  GROUP BY kind, place
) o
JOIN kind k ON k.name = o.kind
LEFT JOIN thing t ON t.kind = o.kind AND t.id = o.data ->> 'Id';

-- As it will be kept.
CREATE VIEW draft_thing AS
SELECT
  d.kind,
  d.place,
  d.id,
  json_patch(
    json_object(
      'Id', d.id,
      'SyncToken', '0',
      'domain', 'QBO',
      'MetaData', json_object('CreateTime', clock.time, 'LastUpdatedTime', clock.time)
    ),
    json_patch(
      d.data,
      CASE
        WHEN d.kind = 'Account'
          THEN json_object(
            'FullyQualifiedName', iif(
              d.data -> 'ParentRef' IS NULL,
              d.data ->> 'Name',
              d.data ->> 'FullyQualifiedName'
            ),
            'Classification', ifnull(
              (SELECT classification FROM account_type WHERE name = d.data ->> 'AccountType'),
              d.data ->> 'Classification'
            ),
            'CurrentBalanceWithSubAccounts', ifnull(
              d.data ->> 'CurrentBalanceWithSubAccounts',
              d.data ->> 'CurrentBalance'
            )
          )
        WHEN d.kind IN ('Customer', 'Vendor')
          THEN json_object(
            'DisplayName', d.name,
            'FullyQualifiedName', iif(
              d.kind = 'Vendor' OR d.data -> 'ParentRef' IS NOT NULL,
              d.data ->> 'FullyQualifiedName',
              d.name
            ),
            'PrintOnCheckName', ifnull(
              d.data ->> 'PrintOnCheckName',
              ifnull(d.data ->> 'CompanyName', d.name)
            )
          )
        WHEN d.kind = 'Invoice'
          THEN json_object(
            'DocNumber', d.number,
            'TxnDate', ifnull(d.data ->> 'TxnDate', clock.today),
            'DueDate', ifnull(
              d.data ->> 'DueDate',
              date(ifnull(d.data ->> 'TxnDate', clock.today), '+30 days')
            ),
            'Line', json(iif(
              d.sums ->> 'subtotal' IS NULL,
              '[]',
              json_insert(
                d.sums -> 'lines',
                '$[#]', json_object(
                  'Amount', d.sums -> 'subtotal',
                  'DetailType', 'SubTotalLineDetail',
                  'SubTotalLineDetail', json('{}')
                )
              )
            )),
            'TotalAmt', coalesce(d.data ->> 'TotalAmt', d.sums ->> 'total', 0.0)
          )
        ELSE json_object(
          'TxnDate', ifnull(d.data ->> 'TxnDate', clock.today),
          'UnappliedAmt', ifnull(
            d.data ->> 'UnappliedAmt',
            round(
              (d.data ->> 'TotalAmt')
                - ifnull((
                  SELECT sum(l.value ->> 'Amount')
                  FROM json_each(d.data, '$.Line') l
                  WHERE l.value -> 'LinkedTxn' IS NOT NULL
                ), 0.0),
              2
            )
          )
        )
      END
    )
  ) AS data
FROM (
  SELECT
    o.kind,
    o.place,
    o.data,
    ifnull(
      o.data ->> 'Id',
      CAST(
        f.last + row_number() OVER (
          PARTITION BY k.family, o.data ->> 'Id' IS NULL ORDER BY o.kind, o.place
        ) AS TEXT
      )
    ) AS id,
    ifnull(
      o.data ->> 'DocNumber',
      CAST(
        n.last + row_number() OVER (
          PARTITION BY o.kind, o.data ->> 'DocNumber' IS NULL ORDER BY o.place
        ) AS TEXT
      )
    ) AS number,
    coalesce(
      o.data ->> 'DisplayName',
      nullif(
        trim(replace(
          ifnull(o.data ->> 'GivenName', '') || ' ' || ifnull(o.data ->> 'MiddleName', '') || ' '
            || ifnull(o.data ->> 'FamilyName', ''),
          '  ',
          ' '
        )),
        ''
      ),
      o.data ->> 'CompanyName'
    ) AS name,
    -- Of an invoice: the lines without the subtotal, and what they are together.
    iif(
      o.kind = 'Invoice',
      (
        SELECT json_object(
          'subtotal', round(sum(amount * (type = 'SalesItemLineDetail')), 2),
          'total', round(
            sum(CASE type
              WHEN 'SalesItemLineDetail' THEN amount
              WHEN 'DiscountLineDetail' THEN -amount
              ELSE 0
            END),
            2
          ),
          'lines', json_group_array(json(iif(
            type = 'DescriptionOnly',
            line,
            json_set(line, '$.Amount', round(amount * 1.0, 2))
          )))
        )
        FROM (
          SELECT
            json_patch(
              json_object('Id', CAST(l.key + 1 AS TEXT), 'LineNum', l.key + 1),
              l.value
            ) AS line,
            ifnull(l.value ->> 'DetailType', 'SalesItemLineDetail') AS type,
            iif(
              l.value ->> '$.DiscountLineDetail.PercentBased',
              (
                SELECT sum(s.value ->> 'Amount')
                FROM json_each(o.data, '$.Line') s
                WHERE s.value ->> 'DetailType' = 'SalesItemLineDetail'
              ) * (l.value ->> '$.DiscountLineDetail.DiscountPercent') / 100.0,
              l.value ->> 'Amount'
            ) AS amount
          FROM json_each(o.data, '$.Line') l
          WHERE ifnull(l.value ->> 'DetailType', '') <> 'SubTotalLineDetail'
        )
      ),
      NULL
    ) AS sums
  FROM draft_object o
  JOIN kind k ON k.name = o.kind
  JOIN (
    SELECT family, max(id) AS last
    FROM (
      SELECT family, 0 AS id FROM kind
      UNION ALL
      SELECT family, CAST(id AS INTEGER) FROM thing JOIN kind ON name = kind
      UNION ALL
      SELECT family, CAST(data ->> 'Id' AS INTEGER) FROM draft_object JOIN kind ON name = kind
    )
    GROUP BY family
  ) f
    ON f.family = k.family
  JOIN (
    SELECT max(1000, ifnull(max(CAST(data ->> 'DocNumber' AS INTEGER)), 0)) AS last
    FROM (
      SELECT data FROM thing WHERE kind = 'Invoice'
      UNION ALL
      SELECT data FROM draft_object WHERE kind = 'Invoice'
    )
  ) n
) d
JOIN clock;

-- Rows of it, where they are many.
CREATE TABLE ready (
  kind TEXT NOT NULL,
  place INTEGER NOT NULL,
  id TEXT NOT NULL,
  data TEXT NOT NULL,
  PRIMARY KEY (kind, place)
) WITHOUT ROWID;

-- What the tools show.
CREATE VIEW address AS
SELECT
  t.kind,
  t.id,
  a.key AS member,
  json(nullif(
    drop_nulls(json_object(
      'street', a.value -> 'Line1',
      'street2', a.value -> 'Line2',
      'city', a.value -> 'City',
      'state', a.value -> 'CountrySubDivisionCode',
      'postal_code', a.value -> 'PostalCode',
      'country', a.value -> 'Country'
    )),
    '{}'
  )) AS json
FROM thing t
JOIN json_each(t.data) a
WHERE a.key IN ('BillAddr', 'ShipAddr') AND a.type = 'object';

CREATE VIEW person AS
SELECT
  kind,
  id,
  json(nullif(
    drop_nulls(json_object(
      'first', data -> 'GivenName',
      'middle', data -> 'MiddleName',
      'last', data -> 'FamilyName',
      'title', data -> 'Title',
      'suffix', data -> 'Suffix'
    )),
    '{}'
  )) AS name,
  json(nullif(
    drop_nulls(json_object(
      'email', data -> '$.PrimaryEmailAddr.Address',
      'phone', data -> '$.PrimaryPhone.FreeFormNumber',
      'mobile', data -> '$.Mobile.FreeFormNumber',
      'fax', data -> '$.Fax.FreeFormNumber',
      'website', data -> '$.WebAddr.URI'
    )),
    '{}'
  )) AS contact,
  (
    SELECT json FROM address a WHERE a.kind = t.kind AND a.id = t.id AND member = 'BillAddr'
  ) AS billing,
  (
    SELECT json FROM address a WHERE a.kind = t.kind AND a.id = t.id AND member = 'ShipAddr'
  ) AS shipping
FROM thing t;

CREATE VIEW account_row AS
SELECT
  id,
  data,
  drop_nulls(json_object(
    'id', id,
    'name', data -> 'Name',
    'full_name', data -> 'FullyQualifiedName',
    'description', data -> 'Description',
    'type', data -> 'AccountType',
    'classification', data -> 'Classification',
    'is_active', data -> 'Active',
    'balance', data -> 'CurrentBalance',
    'currency', data -> '$.CurrencyRef.value',
    'created_at', data -> '$.MetaData.CreateTime',
    'updated_at', data -> '$.MetaData.LastUpdatedTime'
  )) AS json
FROM thing
WHERE kind = 'Account';

CREATE VIEW customer_row AS
SELECT
  t.id,
  t.data,
  drop_nulls(json_object(
    'id', t.id,
    'display_name', data -> 'DisplayName',
    'company', data -> 'CompanyName',
    'full_name', data -> 'FullyQualifiedName',
    'name', json(p.name),
    'contact', json(p.contact),
    'billing_address', json(p.billing),
    'shipping_address', json(p.shipping),
    'balance', data -> 'Balance',
    'balance_with_jobs', data -> 'BalanceWithJobs',
    'open_balance_date', data -> 'OpenBalanceDate',
    'is_active', data -> 'Active',
    'is_taxable', data -> 'Taxable',
    'is_job', data -> 'Job',
    'is_project', data -> 'IsProject',
    'bill_with_parent', data -> 'BillWithParent',
    'currency', data -> '$.CurrencyRef.value',
    'payment_method', ifnull(
      data ->> '$.PaymentMethodRef.name',
      data ->> '$.PaymentMethodRef.value'
    ),
    'notes', data -> 'Notes',
    'parent_id', data -> '$.ParentRef.value',
    'parent_name', data -> '$.ParentRef.name',
    'created_at', data -> '$.MetaData.CreateTime',
    'updated_at', data -> '$.MetaData.LastUpdatedTime'
  )) AS json
FROM thing t
JOIN person p ON p.kind = 'Customer' AND p.id = t.id
WHERE t.kind = 'Customer';

CREATE VIEW vendor_row AS
SELECT
  t.id,
  t.data,
  drop_nulls(json_object(
    'id', t.id,
    'display_name', data -> 'DisplayName',
    'company', data -> 'CompanyName',
    'check_name', data -> 'PrintOnCheckName',
    'name', json(p.name),
    'contact', json(p.contact),
    'address', json(p.billing),
    'balance', data -> 'Balance',
    'cost_rate', data -> 'CostRate',
    'bill_rate', data -> 'BillRate',
    'is_active', data -> 'Active',
    'is_1099_vendor', data -> 'Vendor1099',
    'tax_id', data -> 'TaxIdentifier',
    'business_number', data -> 'BusinessNumber',
    'account_number', data -> 'AcctNum',
    'currency', data -> '$.CurrencyRef.value',
    'payment_terms', ifnull(data ->> '$.TermRef.name', data ->> '$.TermRef.value'),
    'created_at', data -> '$.MetaData.CreateTime',
    'updated_at', data -> '$.MetaData.LastUpdatedTime'
  )) AS json
FROM thing t
JOIN person p ON p.kind = 'Vendor' AND p.id = t.id
WHERE t.kind = 'Vendor';

CREATE VIEW invoice_row AS
SELECT
  t.id,
  t.data,
  drop_nulls(json_object(
    'id', t.id,
    'invoice_number', data -> 'DocNumber',
    'customer_id', data -> '$.CustomerRef.value',
    'customer_name', data -> '$.CustomerRef.name',
    'date', data -> 'TxnDate',
    'due_date', data -> 'DueDate',
    'ship_date', data -> 'ShipDate',
    'total', data -> 'TotalAmt',
    'balance_due', data -> 'Balance',
    'deposit', data -> 'Deposit',
    'email_status', data -> 'EmailStatus',
    'print_status', data -> 'PrintStatus',
    'customer_memo', data -> '$.CustomerMemo.value',
    'private_note', data -> 'PrivateNote',
    'tracking_number', data -> 'TrackingNum',
    'ship_method', ifnull(data ->> '$.ShipMethodRef.name', data ->> '$.ShipMethodRef.value'),
    'currency', data -> '$.CurrencyRef.value',
    'exchange_rate', data -> 'ExchangeRate',
    'link', data -> 'InvoiceLink',
    'billing_address', json(p.billing),
    'shipping_address', json(p.shipping),
    'line_items', json(nullif((
      SELECT json_group_array(drop_nulls(json_object(
        'amount', l.value -> 'Amount',
        'type', lower(replace(
          replace(ifnull(l.value ->> 'DetailType', 'SalesItemLineDetail'), 'LineDetail', ''),
          'Line',
          ''
        )),
        'description', l.value -> 'Description',
        'item_id', l.value -> '$.SalesItemLineDetail.ItemRef.value',
        'item_name', l.value -> '$.SalesItemLineDetail.ItemRef.name',
        'quantity', l.value -> '$.SalesItemLineDetail.Qty',
        'unit_price', l.value -> '$.SalesItemLineDetail.UnitPrice',
        'service_date', l.value -> '$.SalesItemLineDetail.ServiceDate',
        'discount_percent', l.value -> '$.DiscountLineDetail.DiscountPercent',
        'is_percent', l.value -> '$.DiscountLineDetail.PercentBased'
      )))
      FROM json_each(t.data, '$.Line') l
      WHERE l.value -> 'Amount' IS NOT NULL
    ), '[]')),
    'created_at', data -> '$.MetaData.CreateTime',
    'updated_at', data -> '$.MetaData.LastUpdatedTime'
  )) AS json
FROM thing t
JOIN person p ON p.kind = 'Invoice' AND p.id = t.id
WHERE t.kind = 'Invoice';

-- What payments paid.
CREATE VIEW applied AS
SELECT
  t.id AS payment_id,
  l.key AS line,
  l.value ->> 'Amount' AS amount,
  x.value ->> 'TxnId' AS txn_id,
  x.value ->> 'TxnType' AS txn_type
FROM thing t
JOIN json_each(t.data, '$.Line') l
JOIN json_each(l.value, '$.LinkedTxn') x
WHERE t.kind = 'Payment';

CREATE VIEW payment_row AS
SELECT
  t.id,
  t.data,
  drop_nulls(json_object(
    'id', t.id,
    'reference_number', data -> 'PaymentRefNum',
    'customer_id', data -> '$.CustomerRef.value',
    'customer_name', data -> '$.CustomerRef.name',
    'date', data -> 'TxnDate',
    'amount', data -> 'TotalAmt',
    'unapplied_amount', data -> 'UnappliedAmt',
    'payment_method', ifnull(
      data ->> '$.PaymentMethodRef.name',
      data ->> '$.PaymentMethodRef.value'
    ),
    'deposit_account', ifnull(
      data ->> '$.DepositToAccountRef.name',
      data ->> '$.DepositToAccountRef.value'
    ),
    'currency', data -> '$.CurrencyRef.value',
    'exchange_rate', data -> 'ExchangeRate',
    'private_note', data -> 'PrivateNote',
    'applied_to', json(nullif((
      SELECT json_group_array(json_object(
        'amount', amount,
        'transaction_id', txn_id,
        'transaction_type', txn_type
      ))
      FROM applied
      WHERE payment_id = t.id
    ), '[]')),
    'created_at', data -> '$.MetaData.CreateTime',
    'updated_at', data -> '$.MetaData.LastUpdatedTime'
  )) AS json
FROM thing t
WHERE kind = 'Payment';

CREATE VIEW thing_row AS
SELECT 'Account' AS kind, id, data, json, lower(data ->> 'FullyQualifiedName') AS rank
FROM account_row
UNION ALL
SELECT 'Customer', id, data, json, lower(data ->> 'DisplayName') FROM customer_row
UNION ALL
SELECT 'Vendor', id, data, json, lower(data ->> 'DisplayName') FROM vendor_row
UNION ALL -- the last ones first
SELECT 'Invoice', id, data, json, printf('%012d', 999999999999 - CAST(id AS INTEGER))
FROM invoice_row
UNION ALL
SELECT 'Payment', id, data, json, printf('%012d', 999999999999 - CAST(id AS INTEGER))
FROM payment_row;

-- Arguments of searches and what they are compared with. "class" knows income by two names.
CREATE TABLE filter (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  path TEXT NOT NULL,
  how TEXT NOT NULL, -- has, is, from, to, after, before, class
  PRIMARY KEY (kind, name)
) WITHOUT ROWID;
INSERT INTO filter
SELECT k.value, w.column2, w.column3, w.column4
FROM (
  VALUES
    ('Customer Vendor', 'display_name', 'DisplayName', 'has'),
    ('Customer Vendor', 'first_name', 'GivenName', 'has'),
    ('Customer Vendor', 'last_name', 'FamilyName', 'has'),
    ('Customer Vendor', 'company', 'CompanyName', 'has'),
    ('Customer Vendor', 'email', '$.PrimaryEmailAddr.Address', 'has'),
    ('Customer Vendor', 'phone', '$.PrimaryPhone.FreeFormNumber', 'has'),
    ('Vendor', 'name', 'DisplayName', 'has'),
    ('Vendor', 'is_1099_vendor', 'Vendor1099', 'is'),
    ('Vendor', 'account_number', 'AcctNum', 'is'),
    ('Account', 'name', 'Name', 'has'),
    ('Account', 'classification', 'Classification', 'class'),
    ('Account', 'type', 'AccountType', 'is'),
    ('Account Customer', 'currency', '$.CurrencyRef.value', 'is'),
    ('Account', 'created_after', '$.MetaData.CreateTime', 'after'),
    ('Account', 'created_before', '$.MetaData.CreateTime', 'before'),
    ('Account', 'updated_after', '$.MetaData.LastUpdatedTime', 'after'),
    ('Account', 'updated_before', '$.MetaData.LastUpdatedTime', 'before'),
    ('Customer', 'is_taxable', 'Taxable', 'is'),
    ('Customer Invoice', 'billing_city', '$.BillAddr.City', 'is'),
    ('Customer Invoice', 'billing_state', '$.BillAddr.CountrySubDivisionCode', 'is'),
    ('Customer', 'billing_postal_code', '$.BillAddr.PostalCode', 'is'),
    ('Customer', 'billing_country', '$.BillAddr.Country', 'is'),
    ('Customer Invoice', 'shipping_city', '$.ShipAddr.City', 'is'),
    ('Customer Invoice', 'shipping_state', '$.ShipAddr.CountrySubDivisionCode', 'is'),
    ('Customer', 'shipping_postal_code', '$.ShipAddr.PostalCode', 'is'),
    ('Customer', 'shipping_country', '$.ShipAddr.Country', 'is'),
    ('Customer Invoice', 'min_balance', 'Balance', 'from'),
    ('Customer Invoice', 'max_balance', 'Balance', 'to'),
    ('Invoice Payment', 'customer_id', '$.CustomerRef.value', 'is'),
    ('Invoice Payment', 'customer_name', '$.CustomerRef.name', 'has'),
    ('Invoice', 'invoice_number', 'DocNumber', 'is'),
    ('Payment', 'reference_number', 'PaymentRefNum', 'is'),
    ('Invoice Payment', 'date_from', 'TxnDate', 'from'),
    ('Invoice Payment', 'date_to', 'TxnDate', 'to'),
    ('Invoice', 'due_date_from', 'DueDate', 'from'),
    ('Invoice', 'due_date_to', 'DueDate', 'to'),
    ('Invoice Payment', 'min_amount', 'TotalAmt', 'from'),
    ('Invoice Payment', 'max_amount', 'TotalAmt', 'to'),
    ('Payment', 'min_unapplied', 'UnappliedAmt', 'from'),
    ('Payment', 'max_unapplied', 'UnappliedAmt', 'to'),
    ('Payment', 'payment_method_id', '$.PaymentMethodRef.value', 'is'),
    ('Payment', 'deposit_account_id', '$.DepositToAccountRef.value', 'is')
) w
JOIN json_each('["' || replace(w.column1, ' ', '","') || '"]') k;
