-- The tools of QuickBooks. What the API refuses is told with its fault, as Python shows it; objects
-- of one kind are lines "name: value", invoices and lists JSON.

-- part: refuse
-- :fault is its code, message and detail; :path what was asked.
SELECT 'Error executing tool ' || :tool || ': Error: Client error ''400 Bad Request'' for url '
  || '''https://quickbooks.api.intuit.com/v3/company/9341453207862215/' || :path
  || iif(instr(:path, '?'), '&', '?') || 'minorversion=75''' || char(10)
  || 'For more information check: '
  || 'https://developer.mozilla.org/en-US/docs/Web/HTTP/Status/400, Status code: 400, '
  || 'Response: {''Fault'': {''Error'': [{''Message'': ''' || (:fault ->> 1) || ''', ''Detail'': '
  || iif(
    instr(:fault ->> 2, '''') AND NOT instr(:fault ->> 2, '"'),
    '"' || (:fault ->> 2) || '"',
    '''' || replace(:fault ->> 2, '''', '\''') || ''''
  ) || ', ''code'': ''' || (:fault ->> 0) || ''', ''element'': ''''}], ''type'': '''
  || iif(:fault ->> 0 = '4001', 'SystemFault', 'ValidationFault') || '''}, ''time'': ''' || time
  || '''}' AS error
FROM clock
WHERE :fault IS NOT NULL;

-- part: find
-- The object :id of :kind.
SELECT 'Error executing tool ' || :tool || ': id is required for updating '
  || CASE :kind
    WHEN 'Account' THEN 'an account'
    WHEN 'Invoice' THEN 'an invoice'
    ELSE 'a ' || lower(:kind)
  END AS error
WHERE :id = '';
SELECT
  lower(:kind) || '/' || :id AS path,
  iif(
    NOT EXISTS (SELECT 1 FROM thing WHERE kind = :kind AND id = :id),
    json_array(
      '610',
      'Object Not Found',
      'Object Not Found : Something you''re trying to '
        || 'use has been made inactive. Check the fields with accounts, customers, items, '
        || 'vendors or employees.'
    ),
    NULL
  ) AS fault;
-- include: refuse
SELECT data AS old FROM thing WHERE kind = :kind AND id = :id;
SELECT lower(:kind) AS path;

-- part: show
-- :json as Python shows the members of a dictionary.
SELECT group_concat(
  name || ': '
    || CASE type
      WHEN 'text' THEN value
      WHEN 'true' THEN 'True'
      WHEN 'false' THEN 'False'
      WHEN 'object'
        THEN '{'
          || (
            SELECT group_concat(
              '''' || v.key || ''': '
                || CASE v.type
                  WHEN 'text'
                    THEN iif(
                      instr(v.value, '''') AND NOT instr(v.value, '"'),
                      '"' || replace(v.value, '\', '\\') || '"',
                      '''' || replace(replace(v.value, '\', '\\'), '''', '\''') || ''''
                    )
                  ELSE v.value
                END,
              ', '
            )
            FROM json_each(m.value) v
          ) || '}'
      WHEN 'array'
        THEN '['
          || (
            SELECT group_concat(
              '{''amount'': ' || (x.value ->> 'amount') || ', ''transaction_id'': '''
                || (x.value ->> 'transaction_id') || ''', ''transaction_type'': '''
                || (x.value ->> 'transaction_type') || '''}',
              ', '
            )
            FROM json_each(m.value) x
          ) || ']'
      ELSE value
    END,
  char(10)
) AS result
FROM (SELECT key AS name, type, value FROM json_each(:json)) m;

-- part: take
-- What is :asked becomes the draft, without arguments that there are not.
SELECT json_array(
  '2050',
  'String Too Long',
  'String length exceeds 4000 characters: ' || key
) AS fault
FROM json_each(:asked)
WHERE type = 'text' AND length(value) > 4000
LIMIT 1;
-- include: refuse
INSERT INTO draft
SELECT :kind, 0, json_group_object(a.key, json(:asked -> a.fullkey))
FROM json_each(:asked) a
JOIN field f ON f.kind = :kind AND f.name = a.key;

-- part: keep
-- The draft becomes the object, or changes it.
SELECT id AS new_id FROM draft_thing;
INSERT OR REPLACE INTO thing
SELECT
  kind,
  id,
  iif(
    :old IS NULL,
    data,
    json_set(
      data,
      '$.SyncToken', CAST((data ->> 'SyncToken') + 1 AS TEXT),
      '$.MetaData.LastUpdatedTime', (SELECT time FROM clock)
    )
  )
FROM draft_thing;
DELETE FROM draft;

-- part: post
-- :delta is owed more by :customer.
UPDATE thing
SET data = json_set(
  data,
  '$.Balance', round(ifnull(data ->> 'Balance', 0.0) + :delta, 2),
  '$.BalanceWithJobs', round(ifnull(data ->> 'BalanceWithJobs', data ->> 'Balance') + :delta, 2)
)
WHERE kind = 'Customer' AND id = :customer AND :delta <> 0;
UPDATE thing
SET data = json_set(
  data,
  '$.CurrentBalance', round((data ->> 'CurrentBalance') + :delta, 2),
  '$.CurrentBalanceWithSubAccounts', round((data ->> 'CurrentBalanceWithSubAccounts') + :delta, 2)
)
WHERE kind = 'Account'
  AND :delta <> 0
  AND id = (
    SELECT id
    FROM thing
    WHERE kind = 'Account' AND data ->> 'AccountType' = 'Accounts Receivable'
    ORDER BY CAST(id AS INTEGER)
    LIMIT 1
  );

-- part: deposit
-- :delta more is on the account :account.
UPDATE thing
SET data = json_set(
  data,
  '$.CurrentBalance', round((data ->> 'CurrentBalance') + :delta, 2),
  '$.CurrentBalanceWithSubAccounts', round((data ->> 'CurrentBalanceWithSubAccounts') + :delta, 2)
)
WHERE kind = 'Account' AND id = :account AND :delta <> 0;

-- part: page
SELECT ifnull(:max_results, 100) AS n, ifnull(:first, 1) AS first, 'query' AS path;
SELECT CASE
  WHEN :first < 1
    THEN json_array(
      '4001',
      'Invalid query',
      'QueryValidationError: value ' || :first || ' is too small. Min allowed value is 1'
    )
  WHEN :n < 0
    THEN json_array(
      '4001',
      'Invalid query',
      'QueryValidationError: value ' || :n || ' is too small. Min allowed value is 0'
    )
  WHEN :n > 1000
    THEN json_array(
      '4001',
      'Invalid query',
      'QueryValidationError: value ' || :n || ' is too large. Max allowed value is 1000'
    )
  ELSE (
    SELECT json_array('4001', 'Invalid query', 'QueryParserError: Invalid date value: ' || a.value)
    FROM json_each(:args) a
    WHERE (
      a.key LIKE '%date\_from' ESCAPE '\'
      OR a.key LIKE '%date\_to' ESCAPE '\'
      OR a.key LIKE '%\_after' ESCAPE '\'
      OR a.key LIKE '%\_before' ESCAPE '\'
    )
      AND a.value <> ''
      AND time_read(a.value, 'America/Los_Angeles') IS NULL
  )
END AS fault;
-- include: refuse

-- part: check_name
-- Customers and vendors have no name twice.
SELECT iif(
  EXISTS (
    SELECT 1
    FROM draft_thing d
    JOIN thing t
      ON t.kind IN ('Customer', 'Vendor')
        AND (t.kind, t.id) <> (d.kind, d.id)
        AND lower(t.data ->> 'DisplayName') = lower(d.data ->> 'DisplayName')
  ),
  json_array(
    '6240',
    'Duplicate Name Exists Error',
    'The name supplied already exists. : Another customer, vendor or employee is '
      || 'already using this name. Please use a different name.'
  ),
  NULL
) AS fault;
-- include: refuse
SELECT CASE
  WHEN data ->> '$.PrimaryEmailAddr.Address' IS NOT NULL
      AND NOT mail_is_address(data ->> '$.PrimaryEmailAddr.Address')
    THEN json_array(
      '2210',
      'Invalid Email Address format',
      'Email Address does not conform to the syntax rules of RFC 822.: ' || (
        data ->> '$.PrimaryEmailAddr.Address'
      )
    )
  WHEN instr(data ->> 'DisplayName', ':')
    THEN json_array(
      '2040', 'Invalid String', 'String contains characters that are not supported: DisplayName'
    )
  WHEN length(data ->> 'DisplayName') > 500
    THEN json_array('2050', 'String Too Long', 'String length exceeds 500 characters: DisplayName')
  WHEN data ->> 'OpenBalanceDate' IS NOT NULL AND time_is_date(data ->> 'OpenBalanceDate') IS NOT 1
    THEN json_array('2030', 'Invalid Date', 'Date value is not valid: OpenBalanceDate')
END AS fault
FROM draft_thing;
-- include: refuse

-- part: rename
-- What names the customer :new_id.
UPDATE thing
SET data = json_set(
  data,
  '$.CustomerRef.name', (
    SELECT c.data ->> 'DisplayName' FROM thing c WHERE c.kind = 'Customer' AND c.id = :new_id
  )
)
WHERE kind IN ('Invoice', 'Payment') AND data ->> '$.CustomerRef.value' = :new_id;

-- part: check_customer
-- That the draft is of a customer, whose name it gets.
SELECT CASE
  WHEN d.data ->> '$.CustomerRef.value' IS NULL
    THEN json_array(
      '2020', 'Required param missing, need to supply the required value for the API',
      'Required parameter CustomerRef is missing in the request'
    )
  WHEN c.id IS NULL
    THEN json_array(
      '2500',
      'Invalid Reference Id',
      'Invalid Reference Id : Names element id ' || (d.data ->> '$.CustomerRef.value')
        || ' not found'
    )
  WHEN NOT c.data ->> 'Active' AND ifnull(:old ->> '$.CustomerRef.value', '') <> c.id
    THEN json_array(
      '610',
      'Object Not Found',
      'Object Not Found : Something you''re trying to use '
        || 'has been made inactive. Check the fields with accounts, customers, items, vendors '
        || 'or employees.'
    )
END AS fault
FROM draft_thing d
LEFT JOIN thing c ON c.kind = 'Customer' AND c.id = d.data ->> '$.CustomerRef.value';
-- include: refuse
UPDATE draft
SET data = json_set(
  data,
  '$.customer_name', (
    SELECT c.data ->> 'DisplayName'
    FROM draft_thing d
    JOIN thing c ON c.kind = 'Customer' AND c.id = d.data ->> '$.CustomerRef.value'
  )
);
SELECT (
  SELECT json_array('2030', 'Invalid Date', 'Date value is not valid: ' || m.key || ' ' || m.value)
  FROM draft_thing d
  JOIN json_each(d.data) m
  WHERE m.key IN ('TxnDate', 'DueDate', 'ShipDate') AND time_is_date(m.value) IS NOT 1
) AS fault;
-- include: refuse

-- part: check_lines
SELECT (
  SELECT CASE
    WHEN d.data ->> '$.Line[0]' IS NULL
      THEN json_array(
        '2020', 'Required param missing, need to supply the required value for the API',
        'Required parameter Line is missing in the request'
      )
    WHEN w.supplied IS NOT NULL
      THEN json_array(
        '6070',
        'Amount calculation incorrect in the request',
        'Business Validation Error: Amount is not equal to UnitPrice * Qty. ' || 'Supplied value:'
          || w.supplied
      )
    WHEN d.data ->> 'TotalAmt' < 0
      THEN json_array(
        '6000', 'A business validation error has occurred while processing your request',
        'Business Validation Error: Transaction amount must be 0 or greater.'
      )
  END
  FROM draft_thing d
  LEFT JOIN (
    SELECT l.value ->> 'Amount' AS supplied
    FROM draft_thing x
    JOIN json_each(x.data, '$.Line') l
    WHERE abs(
      (l.value ->> 'Amount')
        - (l.value ->> '$.SalesItemLineDetail.Qty') * (
          l.value ->> '$.SalesItemLineDetail.UnitPrice'
        )
    )
      > 0.005
    LIMIT 1
  ) w
) AS fault;
-- include: refuse

-- part: unlink
-- The invoice :id is paid by no payment any more.
UPDATE thing
SET data = json_set(
  data,
  '$.UnappliedAmt', round(
    (data ->> 'UnappliedAmt')
      + (
        SELECT sum(amount)
        FROM applied
        WHERE payment_id = thing.id AND txn_id = :id AND txn_type = 'Invoice'
      ),
    2
  ),
  '$.Line', json((
    SELECT json_group_array(json(l.value))
    FROM json_each(thing.data, '$.Line') l
    WHERE NOT EXISTS (
      SELECT 1
      FROM json_each(l.value, '$.LinkedTxn') x
      WHERE x.value ->> 'TxnId' = :id AND x.value ->> 'TxnType' = 'Invoice'
    )
  ))
)
WHERE kind = 'Payment'
  AND id IN (SELECT payment_id FROM applied WHERE txn_id = :id AND txn_type = 'Invoice');

-- part: unpay
-- What the payment :id paid is open again, and the customer owes it.
UPDATE thing
SET data = json_set(
  data,
  '$.Balance', round(
    (data ->> 'Balance')
      + (
        SELECT sum(amount)
        FROM applied
        WHERE payment_id = :id AND txn_id = thing.id AND txn_type = 'Invoice'
      ),
    2
  )
)
WHERE kind = 'Invoice'
  AND id IN (SELECT txn_id FROM applied WHERE payment_id = :id AND txn_type = 'Invoice');
SELECT :old ->> '$.CustomerRef.value' AS customer, :old ->> 'TotalAmt' AS delta;
-- include: post
SELECT :old ->> '$.DepositToAccountRef.value' AS account, - (:old ->> 'TotalAmt') AS delta;
-- include: deposit

-- part: own
-- The invoice :id is owed by :customer no more.
SELECT
  :old ->> '$.CustomerRef.value' AS customer,
  ifnull(:old ->> 'Deposit', 0) - (:old ->> 'TotalAmt') AS delta;
-- include: post

-- part: mail
-- To whom :id is sent.
SELECT coalesce(nullif(:send_to, ''), :old ->> '$.BillEmail.Address') AS address;
SELECT :path || '/' || :id || '/send' || iif(:send_to <> '', '?sendTo=' || :send_to, '') AS path;
SELECT CASE
  WHEN :address IS NULL
    THEN json_array(
      '2020', 'Required param missing, need to supply the required value for the API',
      'Required parameter Email Address is missing in the request'
    )
  WHEN NOT mail_is_address(:address)
    THEN json_array(
      '2210',
      'Invalid Email Address format',
      'Email Address does not conform to the syntax rules of RFC 822.: ' || :address
    )
END AS fault;
-- include: refuse

-- part: check_account
SELECT CASE
  WHEN data ->> 'Name' IS NULL OR trim(data ->> 'Name') = ''
    THEN json_array(
      '2020', 'Required param missing, need to supply the required value for the API',
      'Required parameter Name is missing in the request'
    )
  WHEN instr(data ->> 'Name', ':') OR instr(data ->> 'Name', '"')
    THEN json_array(
      '6000', 'A business validation error has occurred while processing your request',
      'Business Validation Error: An account name cannot contain a colon or a quote.'
    )
  WHEN data ->> 'AccountType' IS NULL
    THEN json_array(
      '2020', 'Required param missing, need to supply the required value for the API',
      'Required parameter AccountType is missing in the request'
    )
  WHEN data ->> 'AccountType' NOT IN (SELECT name FROM account_type)
    THEN json_array(
      '2010',
      'Request has invalid or unsupported property',
      'Property Name:AccountType specified is unsupported or invalid: ' || (data ->> 'AccountType')
    )
  WHEN EXISTS (
      SELECT 1
      FROM thing t
      WHERE t.kind = 'Account'
        AND t.id <> d.id
        AND lower(t.data ->> 'Name') = lower(d.data ->> 'Name')
    )
    THEN json_array(
      '6240', 'Duplicate Name Exists Error', 'The name supplied already exists. : null'
    )
END AS fault
FROM draft_thing d;
-- include: refuse

-- name: quickbooks_create_account
SELECT
  'quickbooks_create_account' AS tool,
  'Account' AS kind,
  'account' AS path,
  json_remove(:args, '$.id') AS asked,
  NULL AS old;
-- include: take
-- include: check_account
-- include: keep
SELECT json FROM account_row WHERE id = :new_id;
-- include: show

-- name: quickbooks_update_account
SELECT 'quickbooks_update_account' AS tool, 'Account' AS kind;
-- include: find
SELECT :args AS asked;
-- include: take
-- include: check_account
-- include: keep
SELECT json FROM account_row WHERE id = :new_id;
-- include: show

-- name: quickbooks_get_account
SELECT 'quickbooks_get_account' AS tool, 'Account' AS kind;
-- include: find
SELECT json FROM account_row WHERE id = :id;
-- include: show

-- name: quickbooks_get_customer
SELECT 'quickbooks_get_customer' AS tool, 'Customer' AS kind;
-- include: find
SELECT json FROM customer_row WHERE id = :id;
-- include: show

-- name: quickbooks_get_vendor
SELECT 'quickbooks_get_vendor' AS tool, 'Vendor' AS kind;
-- include: find
SELECT json FROM vendor_row WHERE id = :id;
-- include: show

-- name: quickbooks_get_invoice
SELECT 'quickbooks_get_invoice' AS tool, 'Invoice' AS kind;
-- include: find
SELECT json AS result FROM invoice_row WHERE id = :id;

-- name: quickbooks_get_payment
SELECT 'quickbooks_get_payment' AS tool, 'Payment' AS kind;
-- include: find
SELECT json FROM payment_row WHERE id = :id;
-- include: show

-- name: quickbooks_create_customer
SELECT
  'quickbooks_create_customer' AS tool,
  'Customer' AS kind,
  'customer' AS path,
  json_remove(:args, '$.id') AS asked,
  NULL AS old;
SELECT 'Error executing tool ' || :tool || ': At least one of: display_name, first_name, '
  || 'last_name, middle_name must be provided.' AS error
WHERE coalesce(
  nullif(trim(:display_name), ''),
  nullif(trim(:first_name), ''),
  nullif(trim(:last_name), ''),
  nullif(trim(:middle_name), '')
)
  IS NULL;
-- include: take
-- include: check_name
-- include: keep
UPDATE thing
SET data = json_set(
  data,
  '$.Balance', round(ifnull(data ->> 'Balance', 0.0), 2),
  '$.BalanceWithJobs', round(ifnull(data ->> 'Balance', 0.0), 2)
)
WHERE kind = 'Customer' AND id = :new_id;
SELECT json FROM customer_row WHERE id = :new_id;
-- include: show

-- name: quickbooks_update_customer
SELECT 'quickbooks_update_customer' AS tool, 'Customer' AS kind;
-- include: find
-- A balance comes from what was posted.
SELECT json_remove(:args, '$.balance') AS asked;
-- include: take
-- include: check_name
-- include: keep
-- include: rename
SELECT json FROM customer_row WHERE id = :new_id;
-- include: show

-- name: quickbooks_activate_customer
SELECT 'quickbooks_activate_customer' AS tool, 'Customer' AS kind;
-- include: find
INSERT INTO draft VALUES ('Customer', 0, json_object('Id', :id, 'Active', json('true')));
-- include: keep
SELECT json FROM customer_row WHERE id = :new_id;
-- include: show

-- name: quickbooks_deactivate_customer
SELECT 'quickbooks_deactivate_customer' AS tool, 'Customer' AS kind;
-- include: find
INSERT INTO draft VALUES ('Customer', 0, json_object('Id', :id, 'Active', json('false')));
-- include: keep
SELECT json FROM customer_row WHERE id = :new_id;
-- include: show

-- name: quickbooks_create_vendor
SELECT
  'quickbooks_create_vendor' AS tool,
  'Vendor' AS kind,
  'vendor' AS path,
  json_remove(:args, '$.id') AS asked,
  NULL AS old;
SELECT 'Error executing tool ' || :tool || ': At least one of: display_name, first_name, '
  || 'last_name, middle_name, company must be provided.' AS error
WHERE coalesce(
  nullif(trim(:display_name), ''),
  nullif(trim(:first_name), ''),
  nullif(trim(:last_name), ''),
  nullif(trim(:middle_name), ''),
  nullif(trim(:company), '')
)
  IS NULL;
-- include: take
-- include: check_name
-- include: keep
SELECT json FROM vendor_row WHERE id = :new_id;
-- include: show

-- name: quickbooks_update_vendor
SELECT 'quickbooks_update_vendor' AS tool, 'Vendor' AS kind;
-- include: find
-- A balance comes from what was posted.
SELECT json_remove(:args, '$.balance') AS asked;
-- include: take
-- include: check_name
-- include: keep
SELECT json FROM vendor_row WHERE id = :new_id;
-- include: show

-- name: quickbooks_activate_vendor
SELECT 'quickbooks_activate_vendor' AS tool, 'Vendor' AS kind;
-- include: find
INSERT INTO draft VALUES ('Vendor', 0, json_object('Id', :id, 'Active', json('true')));
-- include: keep
SELECT json FROM vendor_row WHERE id = :new_id;
-- include: show

-- name: quickbooks_deactivate_vendor
SELECT 'quickbooks_deactivate_vendor' AS tool, 'Vendor' AS kind;
-- include: find
INSERT INTO draft VALUES ('Vendor', 0, json_object('Id', :id, 'Active', json('false')));
-- include: keep
SELECT json FROM vendor_row WHERE id = :new_id;
-- include: show

-- name: quickbooks_create_invoice
SELECT
  'quickbooks_create_invoice' AS tool,
  'Invoice' AS kind,
  'invoice' AS path,
  json_remove(:args, '$.id') AS asked,
  NULL AS old;
-- include: take
-- include: check_customer
-- include: check_lines
-- The addresses of the customer are those of the invoice.
UPDATE draft
SET data = (
  SELECT json_patch(
    json_patch('{}', drop_nulls(json_object(
      'BillEmail', c.data -> 'PrimaryEmailAddr',
      'BillAddr', c.data -> 'BillAddr',
      'ShipAddr', c.data -> 'ShipAddr'
    ))),
    draft.data
  )
  FROM thing c
  WHERE c.kind = 'Customer' AND c.id = draft.data ->> 'customer_id'
);
-- include: keep
UPDATE thing
SET data = json_set(
  data,
  '$.Balance', round((data ->> 'TotalAmt') - ifnull(data ->> 'Deposit', 0.0), 2)
)
WHERE kind = 'Invoice' AND id = :new_id
RETURNING data ->> '$.CustomerRef.value' AS customer, data ->> 'Balance' AS delta;
-- include: post
SELECT json AS result FROM invoice_row WHERE id = :new_id;

-- name: quickbooks_update_invoice
SELECT 'quickbooks_update_invoice' AS tool, 'Invoice' AS kind;
-- include: find
SELECT iif(:line_items IS NULL, :args, json_set(:args, '$.total', NULL)) AS asked;
-- include: take
-- include: check_customer
-- include: check_lines
SELECT iif(
  EXISTS (
    SELECT 1
    FROM thing t
    WHERE t.kind = 'Invoice' AND t.id <> :id AND t.data ->> 'DocNumber' = :invoice_number
  ),
  json_array(
    '6140',
    'Duplicate Document Number Error',
    'Duplicate Document Number Error : You must specify a different number. This '
      || 'number has already been used.'
  ),
  NULL
) AS fault;
-- include: refuse
-- include: own
-- include: keep
UPDATE thing
SET data = json_set(
  data,
  '$.Balance', round(
    (:old ->> 'Balance') + (data ->> 'TotalAmt') - ifnull(data ->> 'Deposit', 0.0)
      - (:old ->> 'TotalAmt') + ifnull(:old ->> 'Deposit', 0.0),
    2
  )
)
WHERE kind = 'Invoice' AND id = :id
RETURNING
  data ->> '$.CustomerRef.value' AS customer,
  (data ->> 'TotalAmt') - ifnull(data ->> 'Deposit', 0.0) AS delta;
-- include: post
SELECT json AS result FROM invoice_row WHERE id = :id;

-- name: quickbooks_delete_invoice
SELECT 'quickbooks_delete_invoice' AS tool, 'Invoice' AS kind;
-- include: find
-- include: unlink
-- include: own
DELETE FROM thing WHERE kind = 'Invoice' AND id = :id;
SELECT json_object(
  'Invoice', json_object('domain', 'QBO', 'status', 'Deleted', 'Id', :id),
  'time', time
) AS result
FROM clock;

-- name: quickbooks_void_invoice
SELECT 'quickbooks_void_invoice' AS tool, 'Invoice' AS kind;
-- include: find
-- include: unlink
-- include: own
INSERT INTO draft VALUES ('Invoice', 0, json_object('Id', :id));
-- include: keep
UPDATE thing
SET data = json_set(
  data,
  '$.TotalAmt', 0.0,
  '$.Balance', 0.0,
  '$.Deposit', 0.0,
  '$.PrivateNote', 'Voided' || ifnull(' - ' || nullif(data ->> 'PrivateNote', 'Voided'), ''),
  '$.Line', json((
    SELECT json_group_array(json(iif(
      l.value ->> '$.SalesItemLineDetail.Qty' IS NULL,
      json_set(l.value, '$.Amount', 0.0),
      json_set(l.value, '$.Amount', 0.0, '$.SalesItemLineDetail.Qty', 0)
    )))
    FROM json_each(thing.data, '$.Line') l
  ))
)
WHERE kind = 'Invoice' AND id = :id;
SELECT json AS result FROM invoice_row WHERE id = :id;

-- name: quickbooks_send_invoice
SELECT 'quickbooks_send_invoice' AS tool, 'Invoice' AS kind;
-- include: find
-- include: mail
INSERT INTO draft
SELECT
  'Invoice',
  0,
  json_object(
    'Id', :id,
    'EmailStatus', 'EmailSent',
    'bill_email', :address,
    'DeliveryInfo', json_object('DeliveryType', 'Email', 'DeliveryTime', time)
  )
FROM clock;
-- include: keep
SELECT json AS result FROM invoice_row WHERE id = :id;

-- part: check_payment
SELECT CASE
  WHEN data ->> 'TotalAmt' < 0
    THEN json_array(
      '2090',
      'Invalid Number',
      'Number: ' || (data ->> 'TotalAmt') || ' specified is invalid. : TotalAmt'
    )
  WHEN data ->> '$.DepositToAccountRef.value' IS NOT NULL
      AND NOT EXISTS (
        SELECT 1
        FROM thing a
        WHERE a.kind = 'Account'
          AND a.id = d.data ->> '$.DepositToAccountRef.value'
          AND a.data ->> 'AccountType' IN ('Bank', 'Other Current Asset')
      )
    THEN json_array(
      '2500',
      'Invalid Reference Id',
      'Invalid Reference Id : Accounts element id ' || (data ->> '$.DepositToAccountRef.value')
        || ' not found'
    )
END AS fault
FROM draft_thing d;
-- include: refuse
SELECT a.id AS account, a.data ->> 'Name' AS account_name
FROM draft_thing d
JOIN thing a
  ON a.kind = 'Account'
    AND a.id = ifnull(
      d.data ->> '$.DepositToAccountRef.value',
      (
        SELECT id
        FROM thing
        WHERE kind = 'Account' AND data ->> 'Name' IN ('Undeposited Funds', 'Payments to deposit')
        ORDER BY CAST(id AS INTEGER)
        LIMIT 1
      )
    );
UPDATE draft
SET data = json_set(
  data,
  '$.DepositToAccountRef', json_object('value', :account, 'name', :account_name)
)
WHERE :account IS NOT NULL;

-- name: quickbooks_create_payment
SELECT
  'quickbooks_create_payment' AS tool,
  'Payment' AS kind,
  'payment' AS path,
  json_set(json_remove(:args, '$.id'), '$.amount', round(:amount * 1.0, 2)) AS asked,
  NULL AS old;
-- include: take
-- include: check_customer
-- include: check_payment
-- include: keep
SELECT :amount AS delta;
-- include: deposit
SELECT -:amount AS delta, :customer_id AS customer;
-- include: post
SELECT json FROM payment_row WHERE id = :new_id;
-- include: show

-- name: quickbooks_update_payment
SELECT 'quickbooks_update_payment' AS tool, 'Payment' AS kind;
-- include: find
SELECT round(ifnull(:amount, :old ->> 'TotalAmt') * 1.0, 2) AS sum;
SELECT round((:old ->> 'UnappliedAmt') + :sum - (:old ->> 'TotalAmt'), 2) AS rest;
SELECT CASE
  WHEN :rest < 0
    THEN json_array(
      '6000',
      'A business validation error has occurred while processing your request',
      'Business Validation Error: The amount of a payment cannot be less than what it '
        || 'is applied to.'
    )
  WHEN :customer_id <> :old ->> '$.CustomerRef.value'
      AND EXISTS (SELECT 1 FROM applied WHERE payment_id = :id)
    THEN json_array(
      '6000',
      'A business validation error has occurred while processing your request',
      'Business Validation Error: The customer of a payment that is applied to '
        || 'transactions cannot be changed.'
    )
END AS fault;
-- include: refuse
SELECT json_set(
  json_remove(:args, '$.deposit_account_id'),
  '$.amount', :sum,
  '$.unapplied_amount', :rest
) AS asked;
-- include: take
UPDATE draft
SET data = json_set(
  data,
  '$.DepositToAccountRef', json_object('value', :deposit_account_id, 'name', NULL)
)
WHERE :deposit_account_id <> '';
-- include: check_customer
-- include: check_payment
-- include: keep
SELECT :sum AS delta;
-- include: deposit
SELECT :old ->> '$.DepositToAccountRef.value' AS account, - (:old ->> 'TotalAmt') AS delta;
-- include: deposit
SELECT :old ->> '$.CustomerRef.value' AS customer, :old ->> 'TotalAmt' AS delta;
-- include: post
SELECT data ->> '$.CustomerRef.value' AS customer, -:sum AS delta
FROM thing
WHERE kind = 'Payment' AND id = :id;
-- include: post
SELECT json FROM payment_row WHERE id = :id;
-- include: show

-- name: quickbooks_delete_payment
SELECT 'quickbooks_delete_payment' AS tool, 'Payment' AS kind;
-- include: find
-- include: unpay
DELETE FROM thing WHERE kind = 'Payment' AND id = :id;
SELECT json_object(
  'Payment', json_object('domain', 'QBO', 'status', 'Deleted', 'Id', :id),
  'time', time
) AS json
FROM clock;
-- include: show

-- name: quickbooks_void_payment
SELECT 'quickbooks_void_payment' AS tool, 'Payment' AS kind;
-- include: find
-- include: unpay
INSERT INTO draft VALUES (
  'Payment',
  0,
  json_object(
    'Id', :id,
    'TotalAmt', 0.0,
    'UnappliedAmt', 0.0,
    'Line', json('[]'),
    'PrivateNote', 'Voided' || ifnull(' - ' || nullif(:old ->> 'PrivateNote', 'Voided'), '')
  )
);
-- include: keep
SELECT json FROM payment_row WHERE id = :id;
-- include: show

-- name: quickbooks_send_payment
SELECT 'quickbooks_send_payment' AS tool, 'Payment' AS kind;
-- include: find
-- include: mail
INSERT INTO draft
SELECT
  'Payment',
  0,
  json_object(
    'Id', :id,
    'EmailStatus', 'EmailSent',
    'BillEmail', json_object('Address', :address),
    'DeliveryInfo', json_object('DeliveryType', 'Email', 'DeliveryTime', time)
  )
FROM clock;
-- include: keep
SELECT json FROM payment_row WHERE id = :id;
-- include: show

-- part: search
-- Those of :kind that everything :asked fits, see filter. Without :active all, else the (in)active.
SELECT iif(count(*), json_group_array(json(json)), 'No results found.') AS result
FROM (
  SELECT r.json
  FROM thing_row r
  WHERE r.kind = :kind
    AND (:active IS NULL OR r.data ->> 'Active' = :active)
    AND NOT EXISTS (
      SELECT 1
      FROM json_each(:asked) a
      JOIN filter f ON f.kind = :kind AND f.name = a.key
      WHERE a.value <> ''
        AND NOT ifnull(
          CASE f.how
            WHEN 'has' THEN instr(lower(r.data ->> f.path), lower(a.value))
            WHEN 'is' THEN lower(r.data ->> f.path) = lower(a.value)
            WHEN 'from' THEN r.data ->> f.path >= a.value
            WHEN 'to' THEN r.data ->> f.path <= a.value
            WHEN 'after'
              THEN time_read(r.data ->> f.path, 'UTC') >= time_read(a.value, 'America/Los_Angeles')
            WHEN 'before'
              THEN time_read(r.data ->> f.path, 'UTC') <= time_read(a.value, 'America/Los_Angeles')
            ELSE lower(r.data ->> f.path) = iif(
              lower(a.value) = 'income',
              'revenue',
              lower(a.value)
            )
          END,
          0
        )
    )
  ORDER BY r.rank, r.id
  LIMIT :n OFFSET :first - 1
);

-- name: quickbooks_list_accounts
-- Its type is a classification, or else a type.
SELECT iif(
  lower(:type) = 'income'
    OR lower(:type) NOT IN (SELECT lower(name) FROM account_type)
    OR lower(:type) IN (SELECT lower(classification) FROM account_type),
  json_remove(json_set(:args, '$.classification', :type), '$.type'),
  :args
) AS asked;
SELECT
  'quickbooks_list_accounts' AS tool,
  'Account' AS kind,
  1 AS first,
  iif(ifnull(:active_only, 1), 1, NULL) AS active;
-- include: page
-- include: search

-- name: quickbooks_list_customers
SELECT
  'quickbooks_list_customers' AS tool,
  'Customer' AS kind,
  1 AS first,
  iif(ifnull(:active_only, 1), 1, NULL) AS active,
  :args AS asked;
-- include: page
-- include: search

-- name: quickbooks_list_vendors
SELECT
  'quickbooks_list_vendors' AS tool,
  'Vendor' AS kind,
  1 AS first,
  iif(ifnull(:active_only, 1), 1, NULL) AS active,
  :args AS asked;
-- include: page
-- include: search

-- name: quickbooks_list_invoices
SELECT
  'quickbooks_list_invoices' AS tool, 'Invoice' AS kind, :start_position AS first, NULL AS active,
  :args AS asked;
-- include: page
-- include: search

-- name: quickbooks_list_payments
SELECT
  'quickbooks_list_payments' AS tool, 'Payment' AS kind, :start_position AS first, NULL AS active,
  :args AS asked;
-- include: page
-- include: search

-- name: quickbooks_search_accounts
SELECT
  'quickbooks_search_accounts' AS tool,
  'Account' AS kind,
  :start_position AS first,
  ifnull(:is_active, 1) AS active,
  :args AS asked;
-- include: page
-- include: search

-- name: quickbooks_search_customers
SELECT
  'quickbooks_search_customers' AS tool,
  'Customer' AS kind,
  :start_position AS first,
  ifnull(:is_active, 1) AS active,
  :args AS asked;
-- include: page
-- include: search

-- name: quickbooks_search_vendors
SELECT
  'quickbooks_search_vendors' AS tool,
  'Vendor' AS kind,
  :start_position AS first,
  ifnull(:is_active, 1) AS active,
  :args AS asked;
-- include: page
-- include: search

-- name: quickbooks_search_invoices
SELECT
  'quickbooks_search_invoices' AS tool, 'Invoice' AS kind, :start_position AS first, NULL AS active,
  :args AS asked;
-- include: page
-- include: search

-- name: quickbooks_search_payments
SELECT
  'quickbooks_search_payments' AS tool, 'Payment' AS kind, :start_position AS first, NULL AS active,
  :args AS asked;
-- include: page
-- include: search
