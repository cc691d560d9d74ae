-- The tool that finds contacts (common/contacts).
SELECT 'Request contains an invalid argument.' AS error
WHERE :pageSize < 1 OR (:pageToken IS NOT NULL AND :pageToken NOT GLOB 'people-[0-9]*');
SELECT
  min(CAST(:pageSize AS INTEGER), 30) AS few,
  min(CAST(:pageSize AS INTEGER), 500) AS many,
  CAST(ifnull(substr(:pageToken, 8), 0) AS INTEGER) AS skip;
SELECT
  json_group_array(json(person)) FILTER (WHERE source = 'personal' AND place <= :few) AS personal,
  json_group_array(json(person)) FILTER (WHERE source = 'other' AND place <= :few) AS other,
  json_group_array(json(person)) FILTER (
    WHERE source = 'directory' AND place > :skip AND place <= :skip + :many
  ) AS directory,
  count(*) FILTER (WHERE source = 'directory') AS n_directory
FROM (
  SELECT
    source,
    row_number() OVER (PARTITION BY source ORDER BY n) AS place,
    json_object(
      'resourceName', resource,
      'displayName', name,
      'firstName', first_name,
      'lastName', last_name,
      'contactType', source,
      'emailAddresses', json_array(json_object(
        'email', email,
        'type', iif(source = 'other', 'other', 'work')
      )),
      'phoneNumbers', iif(
        phone IS NULL,
        json_array(),
        json_array(json_object('number', phone, 'type', iif(source = 'other', 'other', 'work')))
      ),
      'organizations', iif(
        organization IS NULL,
        json_array(),
        json_array(json_object('name', organization, 'title', title))
      )
    ) AS person
  FROM contact
  WHERE n IN (SELECT rowid FROM fts_contact WHERE fts_contact MATCH fts_prefixes(:query))
    AND NOT (source = 'directory' AND :directorySources = 'DOMAIN_CONTACTS')
  ORDER BY n
);
SELECT
  iif(:n_directory > :skip + :many, 'people-' || (:skip + :many), NULL) AS next,
  CASE :contactType
    WHEN 'personal' THEN :personal
    WHEN 'other' THEN :other
    ELSE :directory
  END AS one;
SELECT CASE
  WHEN :contactType = 'all'
    THEN json_object(
      'message', 'Found contacts matching "' || :query || '" from all sources',
      'query', :query,
      'contactType', 'all',
      'personal', json_object(
        'resultCount', json_array_length(:personal),
        'contacts', json(:personal)
      ),
      'other', json_object('resultCount', json_array_length(:other), 'contacts', json(:other)),
      'directory', drop_nulls(json_object(
        'resultCount', json_array_length(:directory),
        'nextPageToken', :next,
        'contacts', json(:directory)
      ))
    )
  ELSE drop_nulls(json_object(
    'message', 'Found ' || json_array_length(:one) || ' ' || :contactType
      || ' contact(s) matching "' || :query || '"',
    'query', :query,
    'contactType', :contactType,
    'resultCount', json_array_length(:one),
    'nextPageToken', iif(:contactType = 'directory', :next, NULL),
    'contacts', json(:one)
  ))
END AS result;
