-- The tools of Salesforce. Lists are queries in SOQL, as the server makes them; what a write is
-- refused for, is told as its Python client does.

-- part: show
-- :object, :fields, :limit and :wanted, {CONDITION: what is asked for}: it stands where the '?' is,
-- and for the time of day where it has one; what is empty or null is not asked for.
SELECT 'SELECT '
  || iif(
    json_array_length(:fields) > 0,
    (SELECT group_concat(value, ', ') FROM json_each(:fields)),
    (
      SELECT group_concat(one, ', ')
      FROM (
        SELECT r.path AS one FROM rule r WHERE r.object = :object AND r.path IS NOT NULL
        UNION ALL
        SELECT r.prefix || p.value
        FROM rule r, json_each('["Street","City","State","PostalCode",' || '"Country"]') p
        WHERE r.object = :object AND r.prefix IS NOT NULL
      )
    )
  ) || ' FROM ' || :object
  || ifnull((
    SELECT ' WHERE ' || group_concat(
      replace(
        iif(
          instr(value, 'T') > 0,
          replace(replace(key, '?T00:00:00Z', '?'), '?T23:59:59Z', '?'),
          key
        ),
        '?',
        replace(replace(value, '\', '\\'), '''', '\''')
      ),
      ' AND '
    )
    FROM json_each(:wanted)
    WHERE value <> ''
  ), '') || ' ORDER BY CreatedDate DESC LIMIT ' || :limit AS soql;
SELECT {{soql :soql}} AS raw;
SELECT json_object(
  'totalSize', :raw -> 'totalSize',
  'done', json('true'),
  'records', json_group_array(json(json))
) AS result
FROM (
  SELECT (
    SELECT json_group_object(name, json(value))
    FROM (
      SELECT
        r.name,
        CASE
          WHEN r.path IS NOT NULL THEN i.value -> ('$.' || r.path)
          WHEN r.prefix IS NULL
            THEN json_quote(nullif(
              trim(
                ifnull(i.value ->> 'FirstName', '') || ' ' || ifnull(i.value ->> 'LastName', '')
              ),
              ''
            ))
          ELSE nullif(
            drop_nulls(json_object(
              'street', i.value ->> (r.prefix || 'Street'),
              'city', i.value ->> (r.prefix || 'City'),
              'state', i.value ->> (r.prefix || 'State'),
              'postalCode', i.value ->> (r.prefix || 'PostalCode'),
              'country', i.value ->> (r.prefix || 'Country')
            )),
            '{}'
          )
        END AS value
      FROM rule r
      WHERE r.object = :object
      ORDER BY r.place
    )
    WHERE value IS NOT NULL AND value <> 'null'
  ) AS json
  FROM json_each(:raw, '$.records') i
  ORDER BY i.key
);

-- part: refuse
-- :why, :code, :names (JSON), :object, :id and :action; nothing when there is no :why
SELECT json_indent(json_object(
  'success', json('false'),
  'error', 'Salesforce API Error: Malformed request '
    || 'https://larkspur.my.salesforce.example/services/data/v59.0/sobjects/' || :object || '/'
    || ifnull(:id, '') || '. Response content: [{''message'': ' || json_quote(:why)
    || ', ''errorCode'': ''' || :code || ''', ''fields'': ' || replace(:names, '"', '''') || '}]',
  'message', 'Failed to ' || :action || ' ' || :object
)) AS error
WHERE :why IS NOT NULL;

-- part: find
-- :object, :id, :action
SELECT id AS found, fields AS old FROM record WHERE object = :object AND id = :id;
SELECT json_indent(json_object(
  'success', json('false'),
  'error', 'Salesforce API Error: Resource ' || :object || ' Not Found. Response content: '
    || '[{''errorCode'': ''NOT_FOUND'', ''message'': ''The requested resource does not '
    || 'exist''}]',
  'message', 'Failed to ' || :action || ' ' || :object
)) AS error
WHERE :found IS NULL;

-- part: check
-- :object, :input, :id and :action; gives :values, names and values, null for what is cleared.
WITH given AS (
  SELECT
    j.id AS nth,
    j.key,
    j.type AS shape,
    f.name,
    f.label,
    f.type,
    f.length,
    f.is_required,
    f.is_read_only,
    f.refers,
    CASE j.type
      WHEN 'true' THEN 'true'
      WHEN 'false' THEN 'false'
      WHEN 'null' THEN ''
      ELSE CAST(j.value AS TEXT)
    END AS text
  FROM json_each(:input) j
  LEFT JOIN field f ON f.object = :object AND f.name = j.key
),
read AS (
  SELECT
    *,
    CASE WHEN type IN ('currency', 'double', 'percent', 'int') THEN 'number' ELSE type END AS sort,
    CASE WHEN json_valid(text) THEN json_type(text) END AS parsed
  FROM given
),
checked AS (
  SELECT
    *,
    CASE
      WHEN name IS NULL THEN 'INVALID_FIELD'
      WHEN is_read_only THEN 'INVALID_FIELD_FOR_INSERT_UPDATE'
      WHEN shape IN ('array', 'object') THEN 'JSON_PARSER_ERROR'
      WHEN text = '' THEN iif(is_required, 'REQUIRED_FIELD_MISSING', NULL)
      WHEN sort = 'number'
        THEN iif(ifnull(parsed, '') IN ('integer', 'real'), NULL, 'JSON_PARSER_ERROR')
      WHEN sort = 'boolean' THEN iif(text IN ('true', 'false'), NULL, 'JSON_PARSER_ERROR')
      WHEN sort = 'date' THEN iif(time_read(text, 'UTC') IS NULL, 'JSON_PARSER_ERROR', NULL)
      WHEN sort = 'email' AND NOT mail_is_address(text) THEN 'INVALID_EMAIL_ADDRESS'
      WHEN sort = 'reference' AND (length(text) <> 18 OR text GLOB '*[^A-Za-z0-9]*')
        THEN 'MALFORMED_ID'
      WHEN sort = 'reference'
          AND NOT EXISTS (SELECT 1 FROM record r WHERE r.id = text AND r.object = refers)
        THEN 'INVALID_CROSS_REFERENCE_KEY'
      WHEN length > 0 AND length(text) > length THEN 'STRING_TOO_LONG'
    END AS code
  FROM read
),
bad AS (
  SELECT
    code,
    json_array(name) AS names,
    CASE code
      WHEN 'INVALID_FIELD' THEN 'No such column ''' || key || ''' on sobject of type ' || :object
      WHEN 'INVALID_FIELD_FOR_INSERT_UPDATE'
        THEN 'Unable to create/update fields: ' || name
          || '. Please check the security settings of this field and verify that it is '
          || 'read/write for your profile or permission set.'
      WHEN 'JSON_PARSER_ERROR'
        THEN 'Cannot deserialize instance of ' || type || ' from VALUE_STRING value ' || text
          || ' or request may be missing a required field at [line:1, column:1]'
      WHEN 'REQUIRED_FIELD_MISSING' THEN 'Required fields are missing: [' || name || ']'
      WHEN 'INVALID_EMAIL_ADDRESS' THEN label || ': invalid email address: ' || text
      WHEN 'MALFORMED_ID' THEN label || ': id value of incorrect type: ' || text
      WHEN 'INVALID_CROSS_REFERENCE_KEY' THEN 'invalid cross reference id'
      ELSE label || ': data value too large: ' || text || ' (max length=' || length || ')'
    END AS why
  FROM checked
  WHERE code IS NOT NULL
  ORDER BY nth
  LIMIT 1
)
SELECT
  (SELECT code FROM bad) AS code,
  (SELECT why FROM bad) AS why,
  (SELECT iif(code IN ('INVALID_FIELD', 'JSON_PARSER_ERROR'), '[]', names) FROM bad) AS names,
  json_group_object(
    ifnull(name, ''),
    json(CASE
      WHEN text = '' OR code IS NOT NULL THEN 'null'
      WHEN sort = 'boolean' THEN text
      WHEN type = 'int' THEN json_quote(CAST(text AS INTEGER))
      WHEN sort = 'number' THEN json_quote(CAST(text AS REAL))
      WHEN sort = 'date' THEN json_quote(substr(text, 1, 10))
      ELSE json_quote(text)
    END)
  ) AS "values"
FROM checked;
-- include: refuse
-- A new stage has its own probability.
SELECT json_patch(:values, ifnull((
  SELECT json_object('Probability', CAST(s.probability AS REAL))
  FROM stage s
  WHERE s.name = :values ->> 'StageName' AND json_type(:values, '$.Probability') IS NULL
), '{}')) AS "values"
WHERE :object = 'Opportunity' AND :values ->> 'StageName' IS NOT NULL
UNION ALL
SELECT :values LIMIT 1;

-- part: sums
UPDATE record
SET fields = json_patch(fields, (SELECT s.fields FROM campaign_sum s WHERE s.id = record.id))
WHERE object = 'Campaign';

-- part: derive
-- :new_record
UPDATE record
SET fields = json_patch(fields, (SELECT d.fields FROM derived d WHERE d.id = record.id))
WHERE id = :new_record;
-- include: sums

-- part: insert
-- :object ('none': nothing is done), :values; gives :new_record
SELECT
  iif(:object = 'none', NULL, new_id(:object)) AS new_record,
  (SELECT time FROM clock) AS time,
  (SELECT id FROM me) AS me;
INSERT INTO record
SELECT
  :new_record,
  :object,
  (SELECT ifnull(max(place), 0) + 1 FROM record),
  json_patch(
    json_patch(
      json_object(
        'Id', :new_record,
        'IsDeleted', json('false'),
        'OwnerId', :me,
        'CreatedDate', :time,
        'CreatedById', :me,
        'LastModifiedDate', :time,
        'LastModifiedById', :me,
        'SystemModstamp', :time
      ),
      CASE :object
        WHEN 'Lead' THEN '{"Status":"Open - Not Contacted","IsConverted":false}'
        WHEN 'Case'
          THEN json_object(
            'Status', 'New',
            'Priority', 'Medium',
            'IsEscalated', json('false'),
            'CaseNumber', printf(
              '%08d',
              (
                SELECT max(ifnull(max(CAST(fields ->> 'CaseNumber' AS INTEGER)), 0), 1000) + 1
                FROM record
                WHERE object = 'Case'
              )
            )
          )
        WHEN 'Campaign'
          THEN '{"Status":"Planned","IsActive":false,"NumberOfLeads":0,'
            || '"NumberOfConvertedLeads":0,"NumberOfContacts":0,"NumberOfResponses":0}'
        ELSE '{}'
      END
    ),
    json_patch('{}', :values)
  )
WHERE :new_record IS NOT NULL;
-- include: derive

-- part: converted
-- :old, :object, :id, :action
SELECT
  iif(:old ->> 'IsConverted', 'cannot reference converted lead', NULL) AS why,
  'CANNOT_UPDATE_CONVERTED_LEAD' AS code,
  '[]' AS names;
-- include: refuse

-- part: create
-- :object, :input, :needed (JSON)
SELECT json_indent(json_object(
  'success', json('false'),
  'error', 'Required fields missing: ' || group_concat(value, ', '),
  'message', 'Failed to create ' || :object
)) AS error
FROM json_each(:needed)
WHERE NOT EXISTS (SELECT 1 FROM json_each(:input) j WHERE lower(j.key) = lower(json_each.value))
HAVING count(*) > 0;
SELECT NULL AS id, 'create' AS action;
-- include: check
-- include: insert
SELECT json_object(
  'success', json('true'),
  'id', :new_record,
  'message', :object || ' created successfully',
  'object_type', :object,
  'data', json(:input)
) AS result;

-- part: update
-- :object, :id, :input
SELECT 'update' AS action;
-- include: find
-- include: converted
-- include: check
UPDATE record
SET fields = json_patch(
  json_patch(fields, :values),
  json_object(
    'LastModifiedDate', (SELECT time FROM clock),
    'LastModifiedById', (SELECT id FROM me),
    'SystemModstamp', (SELECT time FROM clock)
  )
)
WHERE id = :found;
SELECT :found AS new_record;
-- include: derive
SELECT json_object(
  'success', json('true'),
  'id', :id,
  'message', :object || ' updated successfully',
  'object_type', :object,
  'data', json(:input)
) AS result;

-- part: delete
-- :object, :id
SELECT 'delete' AS action;
-- include: find
SELECT
  'Your attempt to delete ' || (:old ->> 'Name') || ' could not be completed because it is '
    || 'associated with the following ' || what || '.: ' || group_concat(name, ', ') AS why,
  'DELETE_FAILED' AS code,
  '[]' AS names
FROM (
  SELECT 'cases' AS what, fields ->> 'CaseNumber' AS name, place
  FROM record
  WHERE object = 'Case'
    AND :object IN ('Account', 'Contact')
    AND :found IN (fields ->> 'AccountId', fields ->> 'ContactId')
  UNION ALL
  SELECT 'opportunities', fields ->> 'Name', place
  FROM record
  WHERE object = 'Opportunity'
    AND :object = 'Account'
    AND fields ->> 'AccountId' = :found
    AND fields ->> 'IsWon'
)
GROUP BY what
ORDER BY what
LIMIT 1;
-- include: refuse
DELETE FROM record
WHERE id = :found
  OR object IN ('Contact', 'Opportunity') AND fields ->> 'AccountId' = :found
  OR object = 'ContentDocumentLink' AND fields ->> 'LinkedEntityId' = :found;
-- What named it, names nothing.
UPDATE record
SET fields = json_remove(
  fields,
  '$.' || (SELECT key FROM json_each(record.fields) WHERE value = :found LIMIT 1)
)
WHERE object <> 'User' AND EXISTS (SELECT 1 FROM json_each(record.fields) WHERE value = :found);
-- include: sums
SELECT json_object(
  'success', json('true'),
  'id', :id,
  'message', :object || ' deleted successfully',
  'object_type', :object
) AS result;

-- name: salesforce_get_accounts
SELECT
  'Account' AS object,
  json_object(
    'Name LIKE ''%?%''', :name_contains,
    'Industry = ''?''', :industry,
    'Type = ''?''', :account_type,
    'CreatedDate >= ?T00:00:00Z', :created_date_from,
    'CreatedDate <= ?T23:59:59Z', :created_date_to
  ) AS wanted;
-- include: show

-- name: salesforce_create_account
SELECT 'Account' AS object, :account_data AS input, '["Name"]' AS needed;
-- include: create

-- name: salesforce_update_account
SELECT 'Account' AS object, :account_id AS id, :account_data AS input;
-- include: update

-- name: salesforce_delete_account
SELECT 'Account' AS object, :account_id AS id;
-- include: delete

-- name: salesforce_get_contacts
SELECT
  'Contact' AS object,
  json_object(
    'AccountId = ''?''', :account_id,
    '(FirstName LIKE ''%?%'' OR LastName LIKE ''%?%'' OR Name LIKE ''%?%'')', :name_contains,
    'Email LIKE ''%?%''', :email_contains,
    'Title LIKE ''%?%''', :title_contains,
    'CreatedDate >= ?T00:00:00Z', :created_date_from,
    'CreatedDate <= ?T23:59:59Z', :created_date_to
  ) AS wanted;
-- include: show

-- name: salesforce_create_contact
SELECT 'Contact' AS object, :contact_data AS input, '["LastName"]' AS needed;
-- include: create

-- name: salesforce_update_contact
SELECT 'Contact' AS object, :contact_id AS id, :contact_data AS input;
-- include: update

-- name: salesforce_delete_contact
SELECT 'Contact' AS object, :contact_id AS id;
-- include: delete

-- name: salesforce_get_opportunities
SELECT
  'Opportunity' AS object,
  json_object(
    'AccountId = ''?''', :account_id,
    'StageName = ''?''', :stage,
    'Name LIKE ''%?%''', :name_contains,
    'Account.Name LIKE ''%?%''', :account_name_contains,
    'CreatedDate >= ?T00:00:00Z', :created_date_from,
    'CreatedDate <= ?T23:59:59Z', :created_date_to,
    'CloseDate >= ?', :close_date_from,
    'CloseDate <= ?', :close_date_to
  ) AS wanted;
-- include: show

-- name: salesforce_create_opportunity
SELECT
  'Opportunity' AS object, :opportunity_data AS input,
  '["Name", "StageName", "CloseDate"]' AS needed;
-- include: create

-- name: salesforce_update_opportunity
SELECT
  'Opportunity' AS object,
  :opportunity_id AS id,
  drop_nulls(json_object(
    'CloseDate', :closed_date,
    'StageName', :stage,
    'Amount', :amount,
    'NextStep', :next_step,
    'Description', :description,
    'OwnerId', :owner_id,
    'AccountId', :account_id
  )) AS input;
SELECT json_indent(json_object(
  'success', json('false'),
  'error', 'No fields provided to update',
  'message', 'Failed to update Opportunity'
)) AS error
WHERE :input = '{}';
-- include: update

-- name: salesforce_delete_opportunity
SELECT 'Opportunity' AS object, :opportunity_id AS id;
-- include: delete

-- name: salesforce_get_leads
SELECT
  'Lead' AS object,
  json_object(
    'Status = ''?''', :status,
    '(FirstName LIKE ''%?%'' OR LastName LIKE ''%?%'' OR Name LIKE ''%?%'')', :name_contains,
    'Company LIKE ''%?%''', :company_contains,
    'Email LIKE ''%?%''', :email_contains,
    'Industry = ''?''', :industry,
    'CreatedDate >= ?T00:00:00Z', :created_date_from,
    'CreatedDate <= ?T23:59:59Z', :created_date_to
  ) AS wanted;
-- include: show

-- name: salesforce_create_lead
SELECT 'Lead' AS object, :lead_data AS input, '["LastName", "Company"]' AS needed;
-- include: create

-- name: salesforce_update_lead
SELECT 'Lead' AS object, :lead_id AS id, :lead_data AS input;
-- include: update

-- name: salesforce_delete_lead
SELECT 'Lead' AS object, :lead_id AS id;
-- include: delete

-- name: salesforce_get_cases
SELECT
  'Case' AS object,
  json_object(
    'AccountId = ''?''', :account_id,
    'Status = ''?''', :status,
    'Priority = ''?''', :priority,
    'Subject LIKE ''%?%''', :subject_contains,
    'Type = ''?''', :case_type,
    'CreatedDate >= ?T00:00:00Z', :created_date_from,
    'CreatedDate <= ?T23:59:59Z', :created_date_to,
    'ClosedDate >= ?T00:00:00Z', :closed_date_from,
    'ClosedDate <= ?T23:59:59Z', :closed_date_to
  ) AS wanted;
-- include: show

-- name: salesforce_create_case
SELECT 'Case' AS object, :case_data AS input, '["Subject"]' AS needed;
-- include: create

-- name: salesforce_update_case
SELECT 'Case' AS object, :case_id AS id, :case_data AS input;
-- include: update

-- name: salesforce_delete_case
SELECT 'Case' AS object, :case_id AS id;
-- include: delete

-- name: salesforce_get_campaigns
SELECT
  'Campaign' AS object,
  json_object(
    'Status = ''?''', :status,
    'Type = ''?''', :type_filter,
    'CreatedDate >= ?T00:00:00Z', :created_date_from,
    'CreatedDate <= ?T23:59:59Z', :created_date_to,
    'StartDate >= ?', :start_date_from,
    'StartDate <= ?', :start_date_to,
    'EndDate >= ?', :end_date_from,
    'EndDate <= ?', :end_date_to
  ) AS wanted;
-- include: show

-- name: salesforce_create_campaign
SELECT 'Campaign' AS object, :campaign_data AS input, '["Name"]' AS needed;
-- include: create

-- name: salesforce_update_campaign
SELECT 'Campaign' AS object, :campaign_id AS id, :campaign_data AS input;
-- include: update

-- name: salesforce_delete_campaign
SELECT 'Campaign' AS object, :campaign_id AS id;
-- include: delete

-- name: salesforce_convert_lead
SELECT
  'Lead' AS object,
  :lead_id AS id,
  'convert' AS action,
  ifnull(nullif(:conversion_data, '{}'), '{"doNotCreateOpportunity":true}') AS how;
-- include: find
-- include: converted
SELECT 'Unrecognized field "' || key || '"' AS why, 'JSON_PARSER_ERROR' AS code, '[]' AS names
FROM json_each(:how)
WHERE key NOT IN (
  'accountId', 'contactId', 'convertedStatus', 'doNotCreateOpportunity', 'opportunityName',
  'ownerId', 'overwriteLeadSource', 'sendNotificationEmail'
)
LIMIT 1;
-- include: refuse
SELECT 'invalid cross reference id' AS why, 'INVALID_CROSS_REFERENCE_KEY' AS code, '[]' AS names
FROM (
  SELECT :how ->> 'accountId' AS id, 'Account' AS object
  UNION ALL
  SELECT :how ->> 'contactId', 'Contact'
  UNION ALL
  SELECT :how ->> 'ownerId', 'User'
) w
WHERE w.id IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM record r WHERE r.id = w.id AND r.object = w.object)
LIMIT 1;
-- include: refuse
SELECT
  :how ->> 'ownerId' AS owner,
  :how ->> 'accountId' AS account,
  :how ->> 'contactId' AS contact;
-- The account; where there is one, nothing is inserted.
SELECT
  iif(:account IS NULL, 'Account', 'none') AS object,
  drop_nulls(json_object(
    'Name', :old -> 'Company',
    'Phone', :old ->> 'Phone',
    'Website', :old ->> 'Website',
    'Industry', :old ->> 'Industry',
    'NumberOfEmployees', :old -> 'NumberOfEmployees',
    'AnnualRevenue', :old -> 'AnnualRevenue',
    'AccountSource', :old ->> 'LeadSource',
    'BillingStreet', :old ->> 'Street',
    'BillingCity', :old ->> 'City',
    'BillingState', :old ->> 'State',
    'BillingPostalCode', :old ->> 'PostalCode',
    'BillingCountry', :old ->> 'Country',
    'OwnerId', :owner
  )) AS "values";
-- include: insert
SELECT ifnull(:account, :new_record) AS account;
SELECT
  iif(:contact IS NULL, 'Contact', 'none') AS object,
  drop_nulls(json_object(
    'FirstName', :old ->> 'FirstName',
    'LastName', :old ->> 'LastName',
    'Salutation', :old ->> 'Salutation',
    'Email', :old ->> 'Email',
    'Phone', :old ->> 'Phone',
    'MobilePhone', :old ->> 'MobilePhone',
    'Title', :old ->> 'Title',
    'LeadSource', :old ->> 'LeadSource',
    'AccountId', :account,
    'MailingStreet', :old ->> 'Street',
    'MailingCity', :old ->> 'City',
    'MailingState', :old ->> 'State',
    'MailingPostalCode', :old ->> 'PostalCode',
    'MailingCountry', :old ->> 'Country',
    'Description', :old ->> 'Description',
    'OwnerId', :owner
  )) AS "values";
-- include: insert
SELECT ifnull(:contact, :new_record) AS contact;
-- An opportunity closes with the quarter.
SELECT
  iif(ifnull(:how ->> 'doNotCreateOpportunity', 0), 'none', 'Opportunity') AS object,
  drop_nulls(json_object(
    'Name', ifnull(:how ->> 'opportunityName', (:old ->> 'Company') || '-'),
    'StageName', 'Prospecting',
    'Probability', 10.0,
    'AccountId', :account,
    'LeadSource', :old ->> 'LeadSource',
    'OwnerId', :owner,
    'CloseDate', date(
      now(),
      'start of month',
      - ((strftime('%m', now()) - 1) % 3) || ' months',
      '3 months',
      '-1 days'
    )
  )) AS "values";
-- include: insert
SELECT :new_record AS opportunity;
UPDATE record
SET fields = json_patch(fields, drop_nulls(json_object(
  'Status', ifnull(:how ->> 'convertedStatus', 'Closed - Converted'),
  'IsConverted', json('true'),
  'ConvertedDate', date(now()),
  'ConvertedAccountId', :account,
  'ConvertedContactId', :contact,
  'ConvertedOpportunityId', :opportunity,
  'LastModifiedDate', (SELECT time FROM clock),
  'SystemModstamp', (SELECT time FROM clock)
)))
WHERE id = :found;
SELECT json_object(
  'success', json('true'),
  'message', 'Lead converted successfully',
  'conversion_details', json_object(
    'lead_id', :lead_id,
    'account_id', :account,
    'contact_id', :contact,
    'opportunity_id', :opportunity
  )
) AS result;

-- part: files
-- :soql, of content documents; gives :files
SELECT {{soql :soql}} AS raw;
SELECT json_group_array(json(json)) AS files
FROM (
  SELECT drop_nulls(json_object(
    'fileId', f.value ->> 'Id',
    'title', f.value ->> 'Title',
    'fileType', f.value ->> 'FileType',
    'contentSize', f.value -> 'ContentSize',
    'ownerName', f.value ->> '$.Owner.Name',
    'latestVersionId', f.value ->> 'LatestPublishedVersionId',
    'dateCreated', f.value ->> 'CreatedDate',
    'dateModified', f.value ->> 'LastModifiedDate'
  )) AS json
  FROM json_each(:raw, '$.records') f
  ORDER BY f.key
);

-- name: salesforce_get_attachments
SELECT json_indent(json_object(
  'success', json('false'),
  'error', 'Salesforce API Error: Malformed request '
    || 'https://larkspur.my.salesforce.example/services/data/v59.0/query/. Response '
    || 'content: [{''message'': ' || json_quote('invalid ID field: ' || :record_id)
    || ', ''errorCode'': ''INVALID_QUERY_FILTER_OPERATOR''}]',
  'message', 'Failed to get attachments for record ' || :record_id
)) AS error
WHERE length(:record_id) NOT IN (15, 18) OR :record_id GLOB '*[^A-Za-z0-9]*';
SELECT 'SELECT Id, Title, FileType, ContentSize, CreatedDate, LastModifiedDate, Owner.Name, '
  || 'LatestPublishedVersionId FROM ContentDocument WHERE Id IN (SELECT ContentDocumentId '
  || 'FROM ContentDocumentLink WHERE LinkedEntityId = ''' || :record_id
  || ''') ORDER BY CreatedDate DESC LIMIT ' || :limit AS soql;
-- include: files
SELECT json_object(
  'success', json('true'),
  'recordId', :record_id,
  'files', json(:files),
  'totalCount', json_array_length(:files)
) AS result;

-- name: salesforce_search_attachments
SELECT 'SELECT Id, Title, FileType, ContentSize, CreatedDate, LastModifiedDate, Owner.Name, '
  || 'LatestPublishedVersionId FROM ContentDocument WHERE Title LIKE ''%'
  || replace(replace(:query, '\', '\\'), '''', '\''') || '%'' ORDER BY CreatedDate DESC LIMIT '
  || :limit AS soql;
-- include: files
SELECT json_object(
  'success', json('true'),
  'query', :query,
  'files', json(:files),
  'totalCount', json_array_length(:files)
) AS result;

-- name: salesforce_get_attachment_temporary_download_url
SELECT id AS found FROM record WHERE object = 'ContentDocument' AND id = :attachment_id;
SELECT json_indent(json_object(
  'success', json('false'),
  'error', 'ContentDocument with ID ' || :attachment_id || ' not found'
)) AS error
WHERE :found IS NULL;
SELECT 'SELECT Id, Title, FileType, ContentSize, CreatedDate, LastModifiedDate, Owner.Name, '
  || 'LatestPublishedVersionId FROM ContentDocument WHERE Id = ''' || :found || '''' AS soql;
-- include: files
SELECT json_patch(
  json_object('success', json('true')),
  json_patch(
    :files -> 0,
    json_object(
      'downloadUrl', 'https://larkspur.file.force.example/sfc/dist/version/download/?ids=' || (
        :files ->> '$[0].latestVersionId'
      ),
      'publicUrl', 'https://larkspur.file.force.example/sfc/p/' || :found,
      'expiresAt', strftime('%Y-%m-%dT%H:%M:%S.000+0000', now(), '+1 hours'),
      'note', 'The link is public and expires in 1 hour.'
    )
  )
) AS result;

-- name: salesforce_query
SELECT {{soql :query}} AS result;

-- name: salesforce_describe_object
SELECT name AS object FROM object WHERE name = :object_name;
SELECT 'Error: Resource ' || :object_name || ' Not Found. Response content: [{''errorCode'': '
  || '''NOT_FOUND'', ''message'': ''The requested resource does not exist''}]' AS error
WHERE :object IS NULL;
SELECT json_object(
  'name', o.name,
  'label', o.label,
  'labelPlural', o.plural,
  'keyPrefix', o.prefix,
  'isCustom', json('false'),
  'isQueryable', json('true'),
  'isSearchable', json('true'),
  'isCreateable', json(iif(o.is_writable, 'true', 'false')),
  'isUpdateable', json(iif(o.is_writable, 'true', 'false')),
  'isDeletable', json(iif(o.is_writable, 'true', 'false')),
  'isTriggerable', json('true'),
  'fields', (
    SELECT json_group_array(json(json))
    FROM (
      SELECT drop_nulls(json_object(
        'name', f.name,
        'label', f.label,
        'type', f.type,
        'length', f.length,
        'precision', iif(f.type IN ('currency', 'double', 'percent'), 18, 0),
        'scale', iif(f.type = 'currency', 2, 0),
        'isRequired', json(iif(f.is_required, 'true', 'false')),
        'isCustom', json('false'),
        'isUnique', json(iif(f.name IN ('Id', 'CaseNumber', 'Username'), 'true', 'false')),
        'isExternalId', json('false'),
        'isCalculated', json('false'),
        'isAutoNumber', json(iif(f.name = 'CaseNumber', 'true', 'false')),
        'picklistValues', iif(
          f.options IS NULL,
          NULL,
          json('["' || replace(f.options, ';', '","') || '"]')
        ),
        'referenceTo', iif(f.refers IS NULL, NULL, json_array(f.refers)),
        'relationshipName', iif(f.refers IS NULL, NULL, substr(f.name, 1, length(f.name) - 2))
      )) AS json
      FROM field f
      WHERE f.object = o.name
      ORDER BY f.place
    )
  )
) AS result
FROM object o
WHERE o.name = :object;
