-- Posts, the oldest first. Besides what Klavis's format names, a post may have "views", those of
-- today. Lost in a dump: numbers of posts, when they were changed, and dates of drafts that were
-- not given. Addresses are made anew of the titles.

-- name: import
SELECT 'posts/' || key || ': not a time: ' || (value ->> 'publish_date') AS error
FROM json_each(:args, '$.posts')
WHERE value ->> 'publish_date' IS NOT NULL AND time_read(value ->> 'publish_date', 'UTC') IS NULL
LIMIT 1;
SELECT json_group_array(json_object('id', new_id('post'), 'post', json(value))) AS posts
FROM (SELECT value FROM json_each(:args, '$.posts') WHERE type = 'object' ORDER BY key);
INSERT INTO post
SELECT
  value ->> 'id',
  value ->> '$.post.title',
  value ->> '$.post.content',
  ifnull(value ->> '$.post.status', 'draft'),
  NULL,
  value ->> '$.post.summary',
  value ->> '$.post.image',
  value ->> '$.post.format',
  ifnull(
    strftime(
      '%Y-%m-%dT%H:%M:%S.000Z',
      time_read(value ->> '$.post.publish_date', 'UTC'),
      'unixepoch'
    ),
    now()
  ),
  value ->> '$.post.publish_date' IS NOT NULL
    OR ifnull(value ->> '$.post.status', 'draft') IN ('publish', 'private'),
  now(),
  ifnull(max(0, CAST(value ->> '$.post.views' AS INTEGER)), 0)
FROM json_each(:posts)
ORDER BY key;
WITH said AS MATERIALIZED (
  SELECT
    value ->> 'id' AS id,
    value -> '$.post.categories' AS categories,
    value -> '$.post.tags' AS tags
  FROM json_each(:posts)
)
SELECT json_group_array(json_object(
  'post', id,
  'kind', kind,
  'name', name,
  'position', position
)) AS terms
FROM (
  SELECT said.id, 'category' AS kind, t.value AS name, t.key AS position
  FROM said, json_each(categories) t
  UNION ALL
  SELECT said.id, 'tag', t.value, t.key FROM said, json_each(tags) t
);
INSERT OR IGNORE INTO term
SELECT new_id('term'), kind, name
FROM (
  SELECT value ->> 'kind' AS kind, value ->> 'name' AS name, min(key) AS place
  FROM json_each(:terms)
  WHERE (value ->> 'kind', value ->> 'name') NOT IN (SELECT kind, name FROM term)
  GROUP BY value ->> 'kind', lower(value ->> 'name')
  ORDER BY place
);
INSERT OR IGNORE INTO post_term
SELECT t.value ->> 'post', term.id, t.value ->> 'position'
FROM json_each(:terms) t
JOIN term ON term.kind = t.value ->> 'kind' AND term.name = t.value ->> 'name';
UPDATE post SET slug = n.slug FROM next_slug n WHERE n.id = post.id;
SELECT json_object('posts', json_array_length(:posts)) AS result;

-- name: export
SELECT json_object('posts', json_group_array(json(item))) AS result
FROM (
  SELECT drop_nulls(json_object(
    'title', title,
    'content', content,
    'status', status,
    'summary', summary,
    'categories', (
      SELECT json_group_array(name)
      FROM (
        SELECT name
        FROM post_term
        JOIN term ON term.id = term_id
        WHERE post_id = post.id AND kind = 'category'
        ORDER BY position
      )
    ),
    'tags', (
      SELECT json_group_array(name)
      FROM (
        SELECT name
        FROM post_term
        JOIN term ON term.id = term_id
        WHERE post_id = post.id AND kind = 'tag'
        ORDER BY position
      )
    ),
    'image', image,
    'publish_date', iif(is_dated, strftime('%Y-%m-%dT%H:%M:%SZ', date), NULL),
    'format', format,
    'views', nullif(views, 0)
  )) AS item
  FROM post
  ORDER BY id
);
