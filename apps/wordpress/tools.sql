-- part: find_site
SELECT id AS site_id FROM site WHERE CAST(id AS TEXT) = :site OR slug = lower(:site);
SELECT 'WordPress API error: HTTP error 404: {"error":"unknown_blog","message":"Unknown blog"}'
  AS error
WHERE :site_id IS NULL;

-- part: check_status
-- A post that is to appear later, but says not when, appears at once.
SELECT iif(:status = 'future', 'publish', nullif(:status, '')) AS new_status;
SELECT 'WordPress API error: HTTP error 400: {"error":"invalid_input","message":"Invalid request '
  || 'input"}' AS error
WHERE :new_status NOT IN ('draft', 'publish', 'private', 'pending', 'trash');

-- name: wordpress_create_post
SELECT 'WordPress API error: Site, title, and content are required for creating a post' AS error
WHERE ifnull(:site, '') = '' OR ifnull(:title, '') = '' OR ifnull(:content, '') = '';
-- include: find_site
-- include: check_status
INSERT INTO post (id, title, content, status, date, is_dated, modified)
SELECT
  new_id('post'),
  :title,
  :content,
  ifnull(:new_status, 'draft'),
  now(),
  ifnull(:new_status, 'draft') IN ('publish', 'private'),
  now()
RETURNING id;
UPDATE post SET slug = n.slug FROM next_slug n WHERE n.id = post.id;
SELECT shown AS result FROM shown_post WHERE id = :id;

-- name: wordpress_get_posts
SELECT 'WordPress API error: Site is required for getting posts' AS error
WHERE ifnull(:site, '') = '';
-- include: find_site
SELECT 'WordPress API error: HTTP error 400: {"error":"invalid_number","message":"The NUMBER '
  || 'parameter must be less than or equal to 100."}' AS error
WHERE :number > 100;
SELECT
  CAST(
    CASE WHEN ifnull(:number, 0) = 0 THEN 10 WHEN :number < 1 THEN 20 ELSE :number END AS INTEGER
  ) AS per_page,
  CAST(max(1, ifnull(:page, 1)) AS INTEGER) AS nth;
SELECT json_object(
  'totalCount', (SELECT count(*) FROM post WHERE status = 'publish'),
  'posts', json_group_array(json(shown))
) AS result
FROM (
  SELECT json_remove(shown, '$.siteId') AS shown
  FROM shown_post
  WHERE status = 'publish'
  ORDER BY date DESC, id DESC
  LIMIT :per_page OFFSET (:nth - 1) * :per_page
);

-- name: wordpress_update_post
SELECT 'WordPress API error: Site and Post ID are required for updating a post' AS error
WHERE ifnull(:site, '') = '' OR ifnull(:postId, 0) = 0;
-- include: find_site
SELECT id FROM post WHERE id = :postId;
SELECT 'WordPress API error: HTTP error 404: {"error":"unknown_post","message":"Unknown post"}'
  AS error
WHERE :id IS NULL;
-- include: check_status
UPDATE post
SET
  title = ifnull(nullif(:title, ''), title),
  content = ifnull(nullif(:content, ''), content),
  status = ifnull(:new_status, status),
  modified = now(),
  date = iif(NOT is_dated AND :new_status IN ('publish', 'private'), now(), date),
  is_dated = is_dated OR ifnull(:new_status IN ('publish', 'private'), 0)
WHERE id = :id;
UPDATE post SET slug = n.slug FROM next_slug n WHERE n.id = post.id;
SELECT shown AS result FROM shown_post WHERE id = :id;

-- name: wordpress_get_top_posts
SELECT 'WordPress API error: Site is required for getting top posts' AS error
WHERE ifnull(:site, '') = '';
-- include: find_site
SELECT json_object(
  'date', substr(now(), 1, 10),
  'period', 'day',
  'posts', json_group_array(json(item))
) AS result
FROM (
  SELECT json_object('id', p.id, 'title', p.title, 'url', u.url, 'views', p.views) AS item
  FROM post p
  JOIN url_of u ON u.id = p.id
  WHERE p.views > 0 AND p.status = 'publish'
  ORDER BY p.views DESC, p.id DESC
  LIMIT 10
);

-- name: wordpress_get_site_info
SELECT 'WordPress API error: Site identifier is required' AS error WHERE ifnull(:site, '') = '';
-- include: find_site
SELECT json_object(
  'id', id,
  'name', name,
  'description', description,
  'url', 'https://' || slug,
  'slug', slug,
  'isPrivate', json('false'),
  'isComingSoon', json('false'),
  'language', 'en',
  'postCount', (SELECT count(*) FROM post WHERE status = 'publish'),
  'subscriberCount', n_subscribers,
  'iconUrl', icon,
  'logoUrl', '',
  'isJetpack', json('false'),
  'isMultisite', json('true'),
  'ownerId', (SELECT id FROM author),
  'plan', json_object('id', 1009, 'name', 'Personal', 'slug', 'personal-bundle')
) AS result
FROM site
WHERE id = :site_id;

-- name: wordpress_get_site_stats
SELECT 'WordPress API error: Site identifier is required' AS error WHERE ifnull(:site, '') = '';
-- include: find_site
SELECT ifnull(sum(views), 0) AS views FROM post WHERE status = 'publish';
-- Every other view is a visitor of its own.
SELECT json_object(
  'visitors', n_visitors + (:views + 1) / 2,
  'views', n_views + :views,
  'visitorsToday', (:views + 1) / 2,
  'viewsToday', :views,
  'viewsBestDay', iif(:views > best_day_views, substr(now(), 1, 10), best_day),
  'viewsBestDayTotal', max(:views, best_day_views),
  'postCount', (SELECT count(*) FROM post WHERE status = 'publish'),
  'commentCount', 0,
  'followers', n_subscribers
) AS result
FROM site
WHERE id = :site_id;

-- name: wordpress_get_user_sites
SELECT json_object(
  'sites', json_group_array(json_object(
    'id', id,
    'name', name,
    'description', description,
    'url', 'https://' || slug,
    'slug', slug,
    'isPrivate', json('false'),
    'isVisible', json('true'),
    'iconUrl', icon,
    'plan', json_object('name', 'Personal', 'slug', 'personal-bundle')
  ))
) AS result
FROM site;
