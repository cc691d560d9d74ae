-- Lists of objects; which of their members is which field, says the table "body". An "account_id"
-- or a "contact_id" is an id, or the name of an account or a contact. Beyond Klavis' format an
-- object may have an "id", which is kept where it can be, and "fields": further ones by their API
-- names. Besides the lists there may be "files" ("id", "title", "type", "size", "owner", "created"
-- and "linked_to", ids or names), and "tasks", "events", "campaign_members" and
-- "opportunity_products", which have nothing but an "id" and "fields". Dumps have ids, and the
-- others where they say something. The times of creation and of changes have no place in it: they
-- are lost in a dump, unless "fields" of the body said a CreatedDate.

-- name: import
SELECT (SELECT time FROM clock) AS time, (SELECT id FROM me) AS me;
SELECT k.value || ': there is no field ' || f.key AS error
FROM
  json_each(
    '{"accounts":"Account","contacts":"Contact","opportunities":"Opportunity",'
      || '"leads":"Lead","cases":"Case","campaigns":"Campaign","tasks":"Task","events":"Event",'
      || '"campaign_members":"CampaignMember","opportunity_products":"OpportunityLineItem"}'
  ) k,
  json_each(:args, '$.' || k.key) l,
  json_each(l.value, '$.fields') f
WHERE NOT EXISTS (SELECT 1 FROM field WHERE object = k.value AND name = f.key)
LIMIT 1;
-- Everything with its new id.
WITH item AS (
  SELECT k.value AS object, k.id AS part, l.key AS nth, l.value AS body, l.value ->> 'id' AS given
  FROM
    json_each(
      '{"accounts":"Account","contacts":"Contact","campaigns":"Campaign",'
        || '"opportunities":"Opportunity","leads":"Lead","cases":"Case","tasks":"Task",'
        || '"events":"Event","campaign_members":"CampaignMember",'
        || '"opportunity_products":"OpportunityLineItem"}'
    ) k,
    json_each(:args, '$.' || k.key) l
  WHERE l.type = 'object'
),
named AS (
  SELECT
    *,
    length(given) = 18
      AND given NOT GLOB '*[^A-Za-z0-9]*'
      AND substr(given, 1, 3) = (SELECT prefix FROM object WHERE name = item.object)
      AND NOT EXISTS (SELECT 1 FROM record WHERE id = given)
      AND row_number() OVER (PARTITION BY given ORDER BY part, nth) = 1 AS is_kept
  FROM item
)
SELECT json_group_array(json_object(
  'id', iif(is_kept, given, new_id(object)),
  'given', given,
  'object', object,
  'body', json(body)
)) AS items
FROM (SELECT * FROM named ORDER BY part, nth);
INSERT INTO record
SELECT
  i.value ->> 'id',
  i.value ->> 'object',
  (SELECT ifnull(max(place), 0) FROM record) + i.key + 1,
  json_patch(
    json_patch(
      json_patch(
        json_object(
          'Id', i.value ->> 'id',
          'IsDeleted', json('false'),
          'OwnerId', :me,
          'CreatedDate', :time,
          'CreatedById', :me,
          'LastModifiedDate', :time,
          'LastModifiedById', :me,
          'SystemModstamp', :time
        ),
        CASE i.value ->> 'object'
          WHEN 'Lead' THEN '{"Status":"Open - Not Contacted","IsConverted":false}'
          WHEN 'Case'
            THEN json_object(
              'Status', 'New',
              'Priority', 'Medium',
              'IsEscalated', json('false'),
              'CaseNumber', printf(
                '%08d',
                (
                    SELECT max(ifnull(max(CAST(fields ->> 'CaseNumber' AS INTEGER)), 0), 1000)
                    FROM record
                    WHERE object = 'Case'
                  ) + i.key + 1
                  - (SELECT min(key) FROM json_each(:items) WHERE value ->> 'object' = 'Case')
              )
            )
          WHEN 'Campaign'
            THEN '{"Status":"Planned","IsActive":false,"NumberOfLeads":0,'
              || '"NumberOfConvertedLeads":0,"NumberOfContacts":0,"NumberOfResponses":0}'
          WHEN 'Task'
            THEN '{"Status":"Not Started","Priority":"Normal","IsClosed":false,'
              || '"TaskSubtype":"Task"}'
          WHEN 'Event' THEN '{"IsAllDayEvent":false}'
          WHEN 'CampaignMember' THEN '{"Status":"Sent","HasResponded":false}'
          ELSE '{}'
        END
      ),
      ifnull((
        SELECT json_group_object(f.name, json(i.value -> '$.body.fields' -> j.key))
        FROM json_each(i.value, '$.body.fields') j
        JOIN field f ON f.object = i.value ->> 'object' AND f.name = j.key
      ), '{}')
    ),
    (
      SELECT json_group_object(field, json(value))
      FROM (
        SELECT
          b.field,
          CASE
            WHEN b.field IN (
                'AnnualRevenue', 'Amount', 'Probability', 'BudgetedCost', 'ActualCost',
                'ExpectedRevenue'
              )
              THEN json_quote(CAST(i.value -> 'body' ->> b.path AS REAL))
            ELSE i.value -> 'body' -> b.path
          END AS value
        FROM body b
        WHERE b.object = i.value ->> 'object' AND i.value -> 'body' ->> b.path <> ''
        ORDER BY b.place
      )
    )
  )
FROM json_each(:items) i
ORDER BY i.key;
UPDATE record
SET fields = json_patch(fields, json_object(
  'Probability', (SELECT CAST(probability AS REAL) FROM stage WHERE name = fields ->> 'StageName')
))
WHERE object = 'Opportunity'
  AND fields ->> 'Probability' IS NULL
  AND id IN (SELECT value ->> 'id' FROM json_each(:items));
UPDATE record
SET fields = json_patch(fields, (SELECT d.fields FROM derived d WHERE d.id = record.id))
WHERE id IN (SELECT value ->> 'id' FROM json_each(:items));
-- What they name: an id of the body, an id that there is, or a name.
SELECT json_group_array(json_object('id', id, 'field', field, 'text', text, 'to', found)) AS links
FROM (
  SELECT
    r.id,
    f.name AS field,
    r.fields ->> f.name AS text,
    coalesce(
      (
        SELECT value ->> 'id'
        FROM json_each(:items)
        WHERE value ->> 'given' = r.fields ->> f.name AND value ->> 'object' = f.refers
      ),
      (SELECT t.id FROM record t WHERE t.id = r.fields ->> f.name AND t.object = f.refers),
      (
        SELECT t.id
        FROM record t
        WHERE t.object = f.refers AND t.fields ->> 'Name' = r.fields ->> f.name
        ORDER BY t.place DESC
        LIMIT 1
      )
    ) AS found
  FROM json_each(:items) i
  JOIN record r ON r.id = i.value ->> 'id'
  JOIN field f ON f.object = r.object AND f.refers IS NOT NULL
  WHERE r.fields ->> f.name IS NOT NULL
);
SELECT (value ->> 'field') || ': there is no "' || (value ->> 'text') || '"' AS error
FROM json_each(:links)
WHERE value ->> 'to' IS NULL
LIMIT 1;
UPDATE record
SET fields = json_patch(
  fields,
  (
    SELECT json_group_object(value ->> 'field', value ->> 'to')
    FROM json_each(:links)
    WHERE value ->> 'id' = record.id
  )
)
WHERE id IN (SELECT value ->> 'id' FROM json_each(:links));
UPDATE record
SET fields = json_patch(fields, (SELECT s.fields FROM campaign_sum s WHERE s.id = record.id))
WHERE object = 'Campaign';
-- Files.
SELECT json_group_array(json_object(
  'id', iif(
    length(given) = 18
      AND given GLOB '069*'
      AND given NOT GLOB '*[^A-Za-z0-9]*'
      AND NOT EXISTS (SELECT 1 FROM record WHERE id = given),
    given,
    new_id('ContentDocument')
  ),
  'version', new_id('ContentVersion'),
  'body', json(value)
)) AS files
FROM (
  SELECT value, value ->> 'id' AS given
  FROM json_each(:args, '$.files')
  WHERE type = 'object'
  ORDER BY key
);
INSERT INTO record
SELECT
  value ->> 'id',
  'ContentDocument',
  (SELECT ifnull(max(place), 0) FROM record) + key + 1,
  drop_nulls(json_object(
    'Id', value ->> 'id',
    'Title', ifnull(value ->> '$.body.title', ''),
    'FileType', ifnull(value ->> '$.body.type', 'UNKNOWN'),
    'FileExtension', lower(value ->> '$.body.type'),
    'ContentSize', ifnull(value ->> '$.body.size', 0),
    'LatestPublishedVersionId', value ->> 'version',
    'IsDeleted', json('false'),
    'OwnerId', ifnull((
      SELECT id
      FROM record
      WHERE object = 'User'
        AND value ->> '$.body.owner' IN (id, fields ->> 'Name', fields ->> 'Email')
    ), :me),
    'CreatedDate', ifnull(value ->> '$.body.created', :time),
    'CreatedById', :me,
    'LastModifiedDate', ifnull(value ->> '$.body.created', :time),
    'LastModifiedById', :me,
    'SystemModstamp', :time
  ))
FROM json_each(:files)
ORDER BY key;
SELECT json_group_array(json_object(
  'link', new_id('ContentDocumentLink'),
  'file', file,
  'text', text,
  'to', found
)) AS links
FROM (
  SELECT
    f.value ->> 'id' AS file,
    t.value AS text,
    coalesce(
      (SELECT value ->> 'id' FROM json_each(:items) WHERE value ->> 'given' = t.value),
      (SELECT id FROM record WHERE id = t.value),
      (
        SELECT id
        FROM record
        WHERE t.value IN (fields ->> 'Name', fields ->> 'Subject')
        ORDER BY place DESC
        LIMIT 1
      )
    ) AS found
  FROM json_each(:files) f, json_each(f.value, '$.body.linked_to') t
  ORDER BY f.key, t.key
);
SELECT 'files: there is no "' || (value ->> 'text') || '"' AS error
FROM json_each(:links)
WHERE value ->> 'to' IS NULL
LIMIT 1;
INSERT INTO record
SELECT
  value ->> 'link',
  'ContentDocumentLink',
  (SELECT ifnull(max(place), 0) FROM record) + key + 1,
  json_object(
    'Id', value ->> 'link',
    'LinkedEntityId', value ->> 'to',
    'ContentDocumentId', value ->> 'file',
    'ShareType', 'V',
    'SystemModstamp', :time
  )
FROM json_each(:links)
ORDER BY key;
SELECT json_group_object(name, n) AS result
FROM (
  SELECT lower(replace(o.plural, ' ', '_')) AS name, count(*) AS n
  FROM json_each(:items) i
  JOIN object o ON o.name = i.value ->> 'object'
  GROUP BY o.place
  ORDER BY o.place
);

-- name: export
WITH item AS (
  SELECT
    r.object,
    r.place,
    json_patch(
      json_object('id', r.id),
      json_patch(
        (
          SELECT json_group_object(substr(path, 3), json(value))
          FROM (
            SELECT
              b.path,
              iif(
                b.field = 'Probability',
                json_quote(CAST(r.fields ->> b.field AS INTEGER)),
                r.fields -> b.field
              ) AS value
            FROM body b
            WHERE b.object = r.object
              AND b.path NOT LIKE '$.address.%'
              AND r.fields ->> b.field IS NOT NULL
            ORDER BY b.place
          )
        ),
        drop_nulls(json_object(
          'address', (
            SELECT iif(count(*) > 0, json_group_object(substr(path, 11), value), NULL)
            FROM (
              SELECT b.path, r.fields ->> b.field AS value
              FROM body b
              WHERE b.object = r.object
                AND b.path LIKE '$.address.%'
                AND r.fields ->> b.field IS NOT NULL
              ORDER BY b.place
            )
          ),
          'fields', (
            SELECT iif(count(*) > 0, json_group_object(key, json(value)), NULL)
            FROM (
              SELECT j.key, r.fields -> j.key AS value
              FROM json_each(r.fields) j
              WHERE NOT EXISTS (SELECT 1 FROM body b WHERE b.object = r.object AND b.field = j.key)
                AND j.key NOT IN (
                  'Id', 'IsDeleted', 'CreatedDate', 'CreatedById', 'SystemModstamp',
                  'LastModifiedDate', 'LastModifiedById', 'IsClosed', 'IsWon',
                  'ForecastCategoryName', 'ExpectedRevenue'
                )
                AND (j.key <> 'Name' OR r.object = 'OpportunityLineItem')
                AND j.key NOT LIKE 'NumberOf%'
                AND j.key NOT LIKE 'Amount%'
                AND NOT (j.key = 'OwnerId' AND j.value = (SELECT id FROM me))
                AND NOT (
                  j.key IN ('IsConverted', 'IsEscalated', 'IsAllDayEvent', 'HasResponded')
                  AND NOT j.value
                )
              ORDER BY j.key
            )
          )
        ))
      )
    ) AS json
  FROM record r
)
SELECT drop_nulls(json_object(
  'accounts', (
    SELECT json_group_array(json(json))
    FROM (SELECT json FROM item WHERE object = 'Account' ORDER BY place)
  ),
  'contacts', (
    SELECT json_group_array(json(json))
    FROM (SELECT json FROM item WHERE object = 'Contact' ORDER BY place)
  ),
  'opportunities', (
    SELECT json_group_array(json(json))
    FROM (SELECT json FROM item WHERE object = 'Opportunity' ORDER BY place)
  ),
  'leads', (
    SELECT json_group_array(json(json))
    FROM (SELECT json FROM item WHERE object = 'Lead' ORDER BY place)
  ),
  'cases', (
    SELECT json_group_array(json(json))
    FROM (SELECT json FROM item WHERE object = 'Case' ORDER BY place)
  ),
  'campaigns', (
    SELECT json_group_array(json(json))
    FROM (SELECT json FROM item WHERE object = 'Campaign' ORDER BY place)
  ),
  'tasks', (
    SELECT iif(count(*) > 0, json_group_array(json(json)), NULL)
    FROM (SELECT json FROM item WHERE object = 'Task' ORDER BY place)
  ),
  'events', (
    SELECT iif(count(*) > 0, json_group_array(json(json)), NULL)
    FROM (SELECT json FROM item WHERE object = 'Event' ORDER BY place)
  ),
  'campaign_members', (
    SELECT iif(count(*) > 0, json_group_array(json(json)), NULL)
    FROM (SELECT json FROM item WHERE object = 'CampaignMember' ORDER BY place)
  ),
  'opportunity_products', (
    SELECT iif(count(*) > 0, json_group_array(json(json)), NULL)
    FROM (SELECT json FROM item WHERE object = 'OpportunityLineItem' ORDER BY place)
  ),
  'files', (
    SELECT iif(count(*) > 0, json_group_array(json(json)), NULL)
    FROM (
      SELECT drop_nulls(json_object(
        'id', d.id,
        'title', d.fields ->> 'Title',
        'type', d.fields ->> 'FileType',
        'size', d.fields -> 'ContentSize',
        'created', d.fields ->> 'CreatedDate',
        'owner', iif(d.fields ->> 'OwnerId' = (SELECT id FROM me), NULL, d.fields ->> 'OwnerId'),
        'linked_to', (
          SELECT iif(count(*) > 0, json_group_array(too), NULL)
          FROM (
            SELECT l.fields ->> 'LinkedEntityId' AS too
            FROM record l
            WHERE l.object = 'ContentDocumentLink' AND l.fields ->> 'ContentDocumentId' = d.id
            ORDER BY l.place
          )
        )
      )) AS json
      FROM record d
      WHERE d.object = 'ContentDocument'
      ORDER BY d.place
    )
  )
)) AS result;
