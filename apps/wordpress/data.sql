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
SELECT value ->> 'id', value ->> '$.post.title', value ->> '$.post.content',
       ifnull(value ->> '$.post.status', 'draft'), NULL, value ->> '$.post.summary',
       value ->> '$.post.image', value ->> '$.post.format',
       ifnull(strftime('%Y-%m-%dT%H:%M:%S.000Z',
                       time_read(value ->> '$.post.publish_date', 'UTC'), 'unixepoch'), now()),
       value ->> '$.post.publish_date' IS NOT NULL
         OR ifnull(value ->> '$.post.status', 'draft') IN ('publish', 'private'),
       now(), ifnull(value ->> '$.post.views', 0)
FROM json_each(:posts) ORDER BY key;
INSERT OR IGNORE INTO term
SELECT new_id('term'), kind, name
FROM (SELECT kind, name, min(place) AS place
      FROM (SELECT 'category' AS kind, t.value AS name, p.key * 1000 + t.key AS place
            FROM json_each(:posts) p, json_each(p.value, '$.post.categories') t
            UNION ALL
            SELECT 'tag', t.value, 1000000000 + p.key * 1000 + t.key
            FROM json_each(:posts) p, json_each(p.value, '$.post.tags') t)
      WHERE (kind, name) NOT IN (SELECT kind, name FROM term)
      GROUP BY kind, lower(name) ORDER BY place);
INSERT OR IGNORE INTO post_term
SELECT p.value ->> 'id', term.id, t.key
FROM json_each(:posts) p, json_each(p.value, '$.post.categories') t
JOIN term ON kind = 'category' AND name = t.value
UNION ALL
SELECT p.value ->> 'id', term.id, t.key
FROM json_each(:posts) p, json_each(p.value, '$.post.tags') t
JOIN term ON kind = 'tag' AND name = t.value;
UPDATE post SET slug = n.slug FROM next_slug n WHERE n.id = post.id;
SELECT json_object('posts', json_array_length(:posts)) AS result;

-- name: export
SELECT json_object('posts', json_group_array(json(item))) AS result
FROM (SELECT drop_nulls(json_object(
               'title', title, 'content', content, 'status', status, 'summary', summary,
               'categories', (SELECT json_group_array(name)
                              FROM (SELECT name FROM post_term JOIN term ON term.id = term_id
                                    WHERE post_id = post.id AND kind = 'category'
                                    ORDER BY position)),
               'tags', (SELECT json_group_array(name)
                        FROM (SELECT name FROM post_term JOIN term ON term.id = term_id
                              WHERE post_id = post.id AND kind = 'tag' ORDER BY position)),
               'image', image,
               'publish_date', iif(is_dated, strftime('%Y-%m-%dT%H:%M:%SZ', date), NULL),
               'format', format, 'views', nullif(views, 0))) AS item
      FROM post ORDER BY id);
