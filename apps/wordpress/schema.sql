-- The blog of Larkspur Robotics, written by Maya Chen, and its posts.
CREATE TABLE site (
  id INTEGER PRIMARY KEY,
  slug TEXT NOT NULL, -- its domain
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  icon TEXT NOT NULL,
  n_subscribers INTEGER NOT NULL,
  n_visitors INTEGER NOT NULL, -- until yesterday
  n_views INTEGER NOT NULL,
  best_day TEXT NOT NULL,
  best_day_views INTEGER NOT NULL
);
INSERT INTO site VALUES (
  238417705, 'blog.larkspur.example', 'Larkspur Robotics Blog', 'Robots that find their way',
  'https://blog.larkspur.example/wp-content/uploads/2024/03/larkspur-icon.png', 184, 9120, 21677,
  '2025-12-02', 642
);

CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL, login TEXT NOT NULL);
INSERT INTO author VALUES (251830449, 'Maya Chen', 'mayachenlarkspur');

CREATE TABLE post (
  id INTEGER PRIMARY KEY,
  title TEXT NOT NULL,
  content TEXT NOT NULL,
  status TEXT NOT NULL, -- draft, publish, private, pending, trash
  slug TEXT, -- NULL until it is published
  summary TEXT,
  image TEXT,
  format TEXT,
  date TEXT NOT NULL,
  is_dated INTEGER NOT NULL, -- 0: a draft, whose date becomes the one when it is published
  modified TEXT NOT NULL,
  views INTEGER NOT NULL DEFAULT 0 -- of today
);
CREATE INDEX post_date ON post (status, date, id);
CREATE INDEX post_slug ON post (slug);

CREATE TABLE term (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL, -- category, tag
  name TEXT NOT NULL COLLATE NOCASE,
  UNIQUE (kind, name)
);
INSERT INTO term VALUES (1, 'category', 'Uncategorized');

CREATE TABLE post_term (
  post_id INTEGER NOT NULL REFERENCES post (id),
  term_id INTEGER NOT NULL REFERENCES term (id),
  position INTEGER NOT NULL,
  PRIMARY KEY (post_id, term_id)
) WITHOUT ROWID;
CREATE INDEX post_term_term ON post_term (term_id);

-- The terms of each post; one without a category is in Uncategorized.
CREATE VIEW term_of AS
SELECT post_id, term_id FROM post_term
UNION ALL
SELECT id, 1
FROM post
WHERE NOT EXISTS (
  SELECT 1
  FROM post_term
  JOIN term ON term.id = term_id
  WHERE post_id = post.id AND kind = 'category'
);

-- For posts that are published and have none, the title as a part of the address: small letters and
-- digits, hyphens for the rest; of the same name the second gets -2.
CREATE VIEW next_slug AS
WITH named AS MATERIALIZED (
  SELECT
    id,
    (
      WITH RECURSIVE walk (i, slug, c, text, marks) AS (
        SELECT
          0,
          '',
          ' ',
          lower(html_text(p.title)),
          'áàâäãåéèêëíìîïóòôöõúùûüçñÁÀÂÄÃÅÉÈÊËÍÌÎÏÓÒÔÖÕÚÙÛÜÇÑ'
        UNION ALL
        SELECT
          i + 1,
          slug || CASE
            WHEN c GLOB '[a-z0-9]' THEN c
            WHEN c IN ('''', '’', '"') THEN ''
            WHEN instr(marks, c) > 0
              THEN substr('aaaaaaeeeeiiiiooooouuuucn', (instr(marks, c) - 1) % 25 + 1, 1)
            WHEN slug = '' OR slug GLOB '*-' THEN ''
            ELSE '-'
          END,
          substr(text, i + 1, 1),
          text,
          marks
        FROM walk
        WHERE c <> ''
      )
      SELECT ifnull(nullif(rtrim(slug, '-'), ''), CAST(p.id AS TEXT))
      FROM walk
      ORDER BY i DESC
      LIMIT 1
    ) AS base
  FROM post p
  WHERE slug IS NULL AND status IN ('publish', 'private')
)
SELECT id, base || iif(nth = 1, '', '-' || nth) AS slug
FROM (
  SELECT
    id,
    base,
    (
        SELECT count(*)
        FROM post o
        WHERE o.slug = base
          OR o.slug > base || '-' AND o.slug < base || '-:' AND o.slug GLOB '*-[0-9]*'
      ) + row_number() OVER (PARTITION BY base ORDER BY id) AS nth
  FROM named
);

-- The first 55 words of what is in a post.
CREATE VIEW excerpt_of AS
SELECT
  id,
  ifnull(
    summary,
    (
      WITH RECURSIVE word (n, text, rest) AS (
        SELECT 0, '', trim(replace(html_text(p.content), char(10), ' '))
        UNION ALL
        SELECT
          n + 1,
          text || iif(n = 0, '', ' ') || substr(rest || ' ', 1, instr(rest || ' ', ' ') - 1),
          ltrim(substr(rest, instr(rest || ' ', ' ')))
        FROM word
        WHERE rest <> '' AND n < 55
      )
      SELECT text || iif(rest = '', '', ' […]')
      FROM word
      ORDER BY n DESC
      LIMIT 1
    )
  ) AS text
FROM post p;

-- ---- as the tools show them ----

CREATE VIEW url_of AS
SELECT
  p.id,
  'https://' || s.slug
    || iif(
      p.slug IS NULL OR p.status NOT IN ('publish', 'private'),
      '/?p=' || p.id,
      strftime('/%Y/%m/%d/', p.date) || p.slug || '/'
    ) AS url
FROM post p, site s;

CREATE VIEW shown_post AS
SELECT
  p.id,
  p.status,
  p.date,
  json_object(
    'id', p.id,
    'siteId', s.id,
    'title', p.title,
    'content', iif(
      ltrim(p.content) GLOB '<*',
      p.content,
      '<p>' || replace(trim(p.content), char(10, 10), '</p>' || char(10) || '<p>') || '</p>'
        || char(10)
    ),
    'excerpt', '<p>' || (SELECT text FROM excerpt_of WHERE id = p.id) || '</p>' || char(10),
    'slug', ifnull(p.slug, ''),
    'status', p.status,
    'type', 'post',
    'url', (SELECT url FROM url_of WHERE id = p.id),
    'shortUrl', printf('https://wp.me/pg8nUd-%x', p.id),
    'createdAt', strftime('%Y-%m-%dT%H:%M:%S+00:00', p.date),
    'modifiedAt', strftime('%Y-%m-%dT%H:%M:%S+00:00', p.modified),
    'likeCount', 0,
    'commentCount', 0,
    'commentsOpen', json('true'),
    'featuredImage', ifnull(p.image, ''),
    'format', ifnull(p.format, 'standard'),
    'author', (
      SELECT json_object(
        'id', id,
        'name', name,
        'url', 'https://' || s.slug,
        'avatarUrl', 'https://0.gravatar.com/avatar/' || login || '?s=96&d=identicon&r=G',
        'profileUrl', 'https://gravatar.com/' || login
      )
      FROM author
    ),
    'categories', (
      SELECT json_group_array(json(term))
      FROM (SELECT term FROM shown_term WHERE post_id = p.id AND kind = 'category' ORDER BY name)
    ),
    'tags', (
      SELECT json_group_array(json(term))
      FROM (SELECT term FROM shown_term WHERE post_id = p.id AND kind = 'tag' ORDER BY name)
    )
  ) AS shown
FROM post p, site s;

CREATE VIEW shown_term AS
SELECT
  x.post_id,
  t.kind,
  t.name,
  json_object(
    'id', t.id,
    'name', t.name,
    'slug', replace(replace(lower(t.name), ' ', '-'), '.', '-'),
    'postCount', (
      SELECT count(*)
      FROM term_of o
      JOIN post ON post.id = o.post_id
      WHERE o.term_id = t.id AND post.status = 'publish'
    )
  ) AS term
FROM term_of x
JOIN term t ON t.id = x.term_id;
