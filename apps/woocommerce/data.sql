-- Products, customers and orders, which name the others by their places in the body. Beyond Klavis'
-- format these objects may have whatever the API lets one write ("sale_price", "customer_note"),
-- products "tags", "variations" and "reviews", orders "notes" and "refunds", items of orders
-- "variation_index", "name", "subtotal" and "total"; an order without a customer has a
-- customer_index of null. Besides there may be "categories" (parents by name), "coupons",
-- "zones" with "methods", "tax_rates", "webhooks" and "gateways". Dumps have these only where they
-- say something. Ids are lost in a dump, and times where none were given. The stock is what the
-- body says: orders in it have been taken out already.

-- name: import
-- null is as good as nothing.
SELECT json_patch('{}', :args) AS said;
SELECT 'orders/' || o.key || ': there is no customer ' || (o.value ->> 'customer_index') AS error
FROM json_each(:said, '$.orders') o
WHERE o.value ->> 'customer_index' >= ifnull(json_array_length(:said, '$.customers'), 0)
LIMIT 1;
SELECT 'orders/' || o.key || ': there is no product ' || (l.value ->> 'product_index') AS error
FROM json_each(:said, '$.orders') o, json_each(o.value, '$.line_items') l
WHERE l.value ->> 'product_index' >= ifnull(json_array_length(:said, '$.products'), 0)
LIMIT 1;
SELECT 'products: the SKU "' || sku || '" is there twice' AS error
FROM (
  SELECT value ->> 'sku' AS sku FROM json_each(:said, '$.products')
  UNION ALL
  SELECT body ->> 'sku' FROM object WHERE kind = 'product'
)
WHERE sku <> ''
GROUP BY sku
HAVING count(*) > 1
LIMIT 1;
SELECT 'customers: the address "' || mail || '" is there twice' AS error
FROM (
  SELECT lower(value ->> 'email') AS mail FROM json_each(:said, '$.customers')
  UNION ALL
  SELECT lower(body ->> 'email') FROM object WHERE kind = 'customer'
)
GROUP BY mail
HAVING count(*) > 1
LIMIT 1;
SELECT k.value || '/' || l.key || ': not a time: ' || (l.value ->> 'date_created') AS error
FROM json_each('["products","customers","orders"]') k, json_each(:said, '$.' || k.value) l
WHERE l.value ->> 'date_created' IS NOT NULL
  AND time_read(l.value ->> 'date_created', 'UTC') IS NULL
LIMIT 1;

-- Categories and tags.
INSERT INTO object
SELECT 'category', new_id('term'), json_remove(json_patch('{}', value), '$.parent'), now(), now()
FROM (
  SELECT value
  FROM json_each(:said, '$.categories')
  WHERE value ->> 'parent' IS NOT NULL
    OR lower(value ->> 'name') NOT IN (
      SELECT lower(body ->> 'name') FROM object WHERE kind = 'category'
    )
  ORDER BY key
);
INSERT INTO object
SELECT kind, new_id('term'), json_object('name', name), now(), now()
FROM (
  SELECT
    iif(k.value = 'tags', 'tag', 'category') AS kind,
    t.value ->> 'name' AS name,
    min(p.key * 1000 + t.key) AS place
  FROM
    json_each('["categories","tags"]') k,
    json_each(:said, '$.products') p,
    json_each(p.value, '$.' || k.value) t
  WHERE t.value ->> 'name' <> ''
    AND NOT EXISTS (
      SELECT 1
      FROM object o
      WHERE o.kind = iif(k.value = 'tags', 'tag', 'category')
        AND lower(o.body ->> 'name') = lower(t.value ->> 'name')
    )
  GROUP BY 1, lower(t.value ->> 'name')
  ORDER BY 1, place
);
UPDATE object
SET body = json_set(
  body,
  '$.parent', (
    SELECT min(p.id)
    FROM object p
    WHERE p.kind = 'category' AND lower(p.body ->> 'name') = lower(c.value ->> 'parent')
  )
)
FROM json_each(:said, '$.categories') c
WHERE object.kind = 'category'
  AND c.value ->> 'parent' IS NOT NULL
  AND object.body ->> 'parent' IS NULL
  AND lower(object.body ->> 'name') = lower(c.value ->> 'name');

-- Products with their variations and reviews.
SELECT json_group_array(json_object(
  'id', CAST(new_id('post') AS INTEGER),
  'body', json_patch('{}', value)
)) AS products
FROM (SELECT value FROM json_each(:said, '$.products') ORDER BY key);
INSERT INTO object
SELECT
  'product',
  value ->> 'id',
  json_remove(
    json_set(
      json_insert(json_patch('{}', value -> 'body'), '$.manage_stock', json('true')),
      '$.images', (
        SELECT json_group_array(json_set(i.value, '$.id', CAST(new_id('post') AS INTEGER)))
        FROM json_each(p.value, '$.body.images') i
      )
    ),
    '$.categories',
    '$.tags',
    '$.variations',
    '$.reviews'
  ),
  now(),
  now()
FROM json_each(:products) p;
INSERT OR IGNORE INTO product_term
SELECT
  p.value ->> 'id',
  ifnull(
    (
      SELECT min(o.id)
      FROM object o
      WHERE o.kind = k.value ->> 1 AND lower(o.body ->> 'name') = lower(t.value ->> 'name')
    ),
    (SELECT o.id FROM object o WHERE o.kind = k.value ->> 1 AND o.id = t.value ->> 'id')
  ) AS term
FROM
  json_each(:products) p,
  json_each('[["categories","category"],["tags","tag"]]') k,
  json_each(p.value, '$.body.' || (k.value ->> 0)) t
WHERE term IS NOT NULL;
INSERT OR IGNORE INTO product_term
SELECT value ->> 'id', 15
FROM json_each(:products)
WHERE value ->> 'id' NOT IN (
  SELECT product_id FROM product_term JOIN object o ON o.kind = 'category' AND o.id = term_id
);
INSERT INTO object
SELECT
  'variation',
  new_id('post'),
  json_set(json_patch('{}', v), '$.parent_id', parent),
  now(),
  now()
FROM (
  SELECT p.value ->> 'id' AS parent, v.value AS v
  FROM json_each(:products) p, json_each(p.value, '$.body.variations') v
  ORDER BY p.key, v.key
);
INSERT INTO object
SELECT
  'review',
  new_id('comment'),
  json_set(json_patch('{}', r), '$.product_id', product),
  now(),
  now()
FROM (
  SELECT p.value ->> 'id' AS product, r.value AS r
  FROM json_each(:products) p, json_each(p.value, '$.body.reviews') r
  ORDER BY p.key, r.key
);

-- Customers.
SELECT json_group_array(json_object(
  'id', CAST(new_id('user') AS INTEGER),
  'body', json_patch('{}', value)
)) AS customers
FROM (SELECT value FROM json_each(:said, '$.customers') ORDER BY key);
INSERT INTO object
SELECT
  'customer',
  value ->> 'id',
  json_insert(
    json_patch('{}', value -> 'body'),
    '$.username', substr(value ->> '$.body.email', 1, instr(value ->> '$.body.email', '@') - 1)
  ),
  now(),
  now()
FROM json_each(:customers);

-- Coupons, zones and the rest.
INSERT INTO object
SELECT kind, new_id(ids), body, now(), now()
FROM (
  SELECT k.kind, k.ids, json_remove(json_patch('{}', l.value), '$.methods') AS body
  FROM json_each('{"coupons":"coupon","tax_rates":"rate","webhooks":"webhook"}') j
  JOIN kind k ON k.kind = j.value, json_each(:said, '$.' || j.key) l
  ORDER BY k.kind, l.key
);
UPDATE object
SET body = json_set(
  body,
  '$.product_ids', (
    SELECT json_group_array((
      SELECT p.value ->> 'id' FROM json_each(:products) p WHERE p.key = i.value
    ))
    FROM json_each(object.body, '$.product_indexes') i
  )
)
WHERE kind = 'coupon' AND body -> 'product_indexes' IS NOT NULL;
UPDATE object
SET body = json_set(
  body,
  '$.excluded_product_ids', (
    SELECT json_group_array((
      SELECT p.value ->> 'id' FROM json_each(:products) p WHERE p.key = i.value
    ))
    FROM json_each(object.body, '$.excluded_product_indexes') i
  )
)
WHERE kind = 'coupon' AND body -> 'excluded_product_indexes' IS NOT NULL;
UPDATE object
SET body = json_remove(body, '$.product_indexes', '$.excluded_product_indexes')
WHERE kind = 'coupon';
SELECT json_group_array(json_object(
  'id', CAST(new_id('zone') AS INTEGER),
  'body', json_patch('{}', value)
)) AS zones
FROM (
  SELECT value FROM json_each(:said, '$.zones') WHERE value ->> 'name' IS NOT NULL ORDER BY key
);
INSERT INTO object
SELECT
  'zone',
  value ->> 'id',
  json_remove(json_patch('{}', value -> 'body'), '$.methods'),
  now(),
  now()
FROM json_each(:zones);
INSERT INTO method
SELECT
  new_id('method'),
  zone,
  m ->> 'method_id',
  ifnull(m ->> 'enabled', 1),
  ifnull(m -> 'settings', '{}')
FROM (
  SELECT z.value ->> 'id' AS zone, m.value AS m, z.key AS place, m.key AS nth
  FROM json_each(:zones) z, json_each(z.value, '$.body.methods') m
  UNION ALL
  SELECT 0, m.value, -1, m.key
  FROM json_each(:said, '$.zones') z, json_each(z.value, '$.methods') m
  WHERE z.value ->> 'name' IS NULL
  ORDER BY 3, 4
)
WHERE m ->> 'method_id' IN (SELECT id FROM method_type);
UPDATE gateway
SET
  title = ifnull(g.value ->> 'title', title),
  is_changed = 1,
  description = ifnull(g.value ->> 'description', description),
  is_enabled = ifnull(g.value ->> 'enabled', is_enabled),
  settings = json_patch(settings, ifnull(g.value -> 'settings', '{}'))
FROM json_each(:said, '$.gateways') g
WHERE gateway.id = g.value ->> 'id';

-- Orders.
SELECT json_group_array(json_object(
  'id', CAST(new_id('post') AS INTEGER),
  'body', json_patch('{}', value)
)) AS orders
FROM (SELECT value FROM json_each(:said, '$.orders') ORDER BY key);
WITH said AS MATERIALIZED (
  SELECT
    value ->> 'id' AS id,
    value -> 'body' AS body,
    :customers ->> ('$[' || (value ->> '$.body.customer_index') || '].id') AS customer
  FROM json_each(:orders)
)
INSERT INTO object
SELECT
  'order',
  s.id,
  json_remove(
    json_insert(
      json_patch('{}', s.body),
      '$.status', 'pending',
      '$.payment_method', 'bacs',
      '$.payment_method_title', 'Direct Bank Transfer',
      '$.customer_id', ifnull(s.customer, 0),
      '$.billing', json(ifnull(a.billing, '{}')),
      '$.shipping', json(ifnull(a.shipping, '{}'))
    ),
    '$.customer_index',
    '$.line_items',
    '$.notes',
    '$.refunds'
  ),
  now(),
  now()
FROM said s
LEFT JOIN address_of a ON a.id = s.customer;
INSERT INTO line (
  id, order_id, product_id, variation_id, name, quantity, subtotal, total, meta, is_taken
)
SELECT
  new_id('line'),
  order_id,
  ifnull(product, 0),
  ifnull(variation, 0),
  ifnull(l ->> 'name', ifnull(said, '')),
  quantity,
  ifnull(CAST(l ->> 'subtotal' AS REAL), price * quantity),
  ifnull(CAST(l ->> 'total' AS REAL), price * quantity),
  ifnull(l -> 'meta_data', '[]'),
  status IN ('processing', 'completed', 'on-hold', 'refunded')
FROM (
  SELECT
    x.*,
    (SELECT body ->> 'name' FROM object WHERE kind = 'product' AND id = x.product) AS said,
    ifnull((
      SELECT CAST(price AS REAL)
      FROM price_of
      WHERE kind = iif(x.variation IS NULL, 'product', 'variation')
        AND id = ifnull(x.variation, x.product)
    ), 0) AS price
  FROM (
    SELECT
      o.value ->> 'id' AS order_id,
      l.value AS l,
      o.key AS nth,
      l.key AS place,
      ifnull(o.value ->> '$.body.status', 'pending') AS status,
      ifnull(l.value ->> 'quantity', 1) AS quantity,
      :products ->> ('$[' || (l.value ->> 'product_index') || '].id') AS product,
      (
        SELECT v.id
        FROM object v
        WHERE v.kind = 'variation'
          AND v.body ->> 'parent_id' = :products ->> (
            '$[' || (l.value ->> 'product_index') || '].id'
          )
          AND (
            SELECT count(*)
            FROM object b
            WHERE b.kind = 'variation'
              AND b.id < v.id
              AND b.body ->> 'parent_id' = v.body ->> 'parent_id'
          )
            = l.value ->> 'variation_index'
      ) AS variation
    FROM json_each(:orders) o, json_each(o.value, '$.body.line_items') l
  ) x
  ORDER BY nth, place
);
INSERT INTO note
SELECT
  new_id('comment'),
  order_id,
  ifnull(n ->> 'author', 'admin'),
  ifnull(n ->> 'note', ''),
  ifnull(n ->> 'customer_note', 0),
  now()
FROM (
  SELECT o.value ->> 'id' AS order_id, n.value AS n
  FROM json_each(:orders) o, json_each(o.value, '$.body.notes') n
  ORDER BY o.key, n.key
);
INSERT INTO refund
SELECT
  new_id('post'),
  order_id,
  CAST(r ->> 'amount' AS REAL),
  ifnull(r ->> 'reason', ''),
  '[]',
  now()
FROM (
  SELECT o.value ->> 'id' AS order_id, r.value AS r
  FROM json_each(:orders) o, json_each(o.value, '$.body.refunds') r
  ORDER BY o.key, r.key
);
SELECT json_object(
  'products', json_array_length(:products),
  'customers', json_array_length(:customers),
  'orders', json_array_length(:orders)
) AS result;

-- name: export
WITH product AS MATERIALIZED (
  SELECT id, body, row_number() OVER (ORDER BY id) - 1 AS place FROM object WHERE kind = 'product'
),
customer AS MATERIALIZED (
  SELECT id, body, row_number() OVER (ORDER BY id) - 1 AS place
  FROM object
  WHERE kind = 'customer' AND ifnull(body ->> 'role', '') <> 'administrator'
),
variation AS MATERIALIZED (
  SELECT
    id,
    body ->> 'parent_id' AS product_id,
    body,
    row_number() OVER (PARTITION BY body ->> 'parent_id' ORDER BY id) - 1 AS place
  FROM object
  WHERE kind = 'variation'
),
term AS MATERIALIZED (
  SELECT x.product_id, o.kind, o.body ->> 'name' AS name
  FROM product_term x
  JOIN object o ON o.kind IN ('category', 'tag') AND o.id = x.term_id
  WHERE o.id <> 15
  ORDER BY o.body ->> 'name'
),
item AS MATERIALIZED (
  SELECT
    l.order_id,
    l.id,
    drop_nulls(json_object(
      'variation_index', v.place,
      'quantity', l.quantity,
      'name', iif(l.name IS p.body ->> 'name', NULL, l.name),
      'subtotal', iif(
        abs(l.subtotal - l.quantity * ifnull(CAST(c.price AS REAL), 0)) < 0.004,
        NULL,
        printf('%.2f', l.subtotal)
      ),
      'total', iif(
        abs(l.total - l.quantity * ifnull(CAST(c.price AS REAL), 0)) < 0.004,
        NULL,
        printf('%.2f', l.total)
      ),
      'meta_data', iif(l.meta = '[]', NULL, json(l.meta))
    )) AS item,
    p.place
  FROM line l
  LEFT JOIN product p ON p.id = l.product_id
  LEFT JOIN variation v ON v.id = l.variation_id AND v.product_id = l.product_id
  LEFT JOIN price_of c
    ON c.kind = iif(v.id IS NULL, 'product', 'variation') AND c.id = ifnull(v.id, p.id)
  ORDER BY l.id
),
entry AS MATERIALIZED (
  SELECT
    'products' AS list,
    p.place,
    json_patch(
      json_insert(json_remove(body, '$.images'), '$.manage_stock', json('false')),
      drop_nulls(json_object(
        'categories', json(nullif((
          SELECT json_group_array(json_object('name', name))
          FROM term
          WHERE product_id = p.id AND kind = 'category'
        ), '[]')),
        'tags', json(nullif((
          SELECT json_group_array(json_object('name', name))
          FROM term
          WHERE product_id = p.id AND kind = 'tag'
        ), '[]')),
        'images', json(nullif((
          SELECT json_group_array(json_remove(value, '$.id')) FROM json_each(p.body, '$.images')
        ), '[]')),
        'variations', json(nullif((
          SELECT json_group_array(json_remove(v.body, '$.parent_id'))
          FROM variation v
          WHERE v.product_id = p.id
        ), '[]')),
        'reviews', json(nullif((
          SELECT json_group_array(json_remove(body, '$.product_id'))
          FROM (
            SELECT r.body
            FROM object r
            WHERE r.kind = 'review' AND r.body ->> 'product_id' = +p.id
            ORDER BY r.id
          )
        ), '[]'))
      ))
    ) AS entry
  FROM product p
  UNION ALL
  SELECT 'customers', place, body FROM customer
  UNION ALL
  SELECT
    'orders',
    o.id,
    json_set(
      json_patch(
        json_insert(
          json_remove(
            o.body,
            '$.customer_id',
            iif(o.body -> 'billing' = ifnull(a.billing, '{}'), '$.billing', '$.customer_id'),
            iif(o.body -> 'shipping' = ifnull(a.shipping, '{}'), '$.shipping', '$.customer_id')
          ),
          '$.status', 'pending',
          '$.payment_method', '',
          '$.payment_method_title', ''
        ),
        drop_nulls(json_object(
          'notes', json(nullif((
            SELECT json_group_array(json_object(
              'note', text,
              'customer_note', json(iif(is_for_customer, 'true', 'false')),
              'author', author
            ))
            FROM note
            WHERE order_id = o.id
          ), '[]')),
          'refunds', json(nullif((
            SELECT json_group_array(json_object('amount', printf('%.2f', amount), 'reason', reason))
            FROM refund
            WHERE order_id = o.id
          ), '[]'))
        ))
      ),
      '$.customer_index', c.place,
      '$.line_items', (
        SELECT json_group_array(json_set(i.item, '$.product_index', i.place))
        FROM (SELECT * FROM item WHERE order_id = o.id ORDER BY id) i
      )
    )
  FROM object o
  LEFT JOIN customer c ON c.id = o.body ->> 'customer_id'
  LEFT JOIN address_of a ON a.id = c.id
  WHERE o.kind = 'order'
),
-- Members in the order of Klavis' format, others behind them by name.
sorted AS MATERIALIZED (
  SELECT
    list,
    place,
    (
      SELECT json_group_object(key, json(member))
      FROM (
        SELECT
          j.key,
          e.entry -> j.fullkey AS member,
          instr(
            ' email first_name last_name name username description short_description '
              || 'type regular_price sku stock_quantity customer_index line_items status '
              || 'manage_stock categories images payment_method payment_method_title '
              || 'billing shipping ',
            ' ' || j.key || ' '
          ) AS known
        FROM json_each(e.entry) j
        ORDER BY known = 0, known, j.key
      )
    ) AS entry
  FROM entry e
)
SELECT drop_nulls(json_object(
  'products', (
    SELECT json_group_array(json(entry))
    FROM (SELECT entry FROM sorted WHERE list = 'products' ORDER BY place)
  ),
  'customers', (
    SELECT json_group_array(json(entry))
    FROM (SELECT entry FROM sorted WHERE list = 'customers' ORDER BY place)
  ),
  'orders', (
    SELECT json_group_array(json(entry))
    FROM (SELECT entry FROM sorted WHERE list = 'orders' ORDER BY place)
  ),
  'categories', json(nullif((
    SELECT json_group_array(json(iif(
      p.id IS NULL,
      o.body,
      json_set(json_remove(o.body, '$.parent'), '$.parent', p.body ->> 'name')
    )))
    FROM (SELECT * FROM object WHERE kind = 'category' AND id <> 15 ORDER BY id) o
    LEFT JOIN object p ON p.kind = 'category' AND p.id = o.body ->> 'parent'
    WHERE o.body <> json_object('name', o.body ->> 'name')
      OR o.id NOT IN (SELECT term_id FROM product_term)
  ), '[]')),
  'coupons', json(nullif((
    SELECT json_group_array(json_remove(
      json_patch(body, drop_nulls(json_object(
        'product_indexes', json(nullif((
          SELECT json_group_array(p.place)
          FROM json_each(o.body, '$.product_ids') i
          JOIN product p ON p.id = i.value
        ), '[]')),
        'excluded_product_indexes', json(nullif((
          SELECT json_group_array(p.place)
          FROM json_each(o.body, '$.excluded_product_ids') i
          JOIN product p ON p.id = i.value
        ), '[]'))
      ))),
      '$.product_ids',
      '$.excluded_product_ids'
    ))
    FROM (SELECT * FROM object WHERE kind = 'coupon' ORDER BY id) o
  ), '[]')),
  'zones', json(nullif((
    SELECT json_group_array(json(zone))
    FROM (
      SELECT json_patch(z.body, drop_nulls(json_object(
        'methods', json(nullif((
          SELECT json_group_array(json_object(
            'method_id', type,
            'enabled', json(iif(is_enabled, 'true', 'false')),
            'settings', json(settings)
          ))
          FROM method
          WHERE zone_id = z.id
        ), '[]'))
      ))) AS zone
      FROM (
        SELECT 0 AS id, '{}' AS body
        UNION ALL
        SELECT id, body FROM object WHERE kind = 'zone' ORDER BY 1
      ) z
      WHERE z.id <> 0 OR EXISTS (SELECT 1 FROM method WHERE zone_id = 0)
    )
  ), '[]')),
  'tax_rates', json(nullif((
    SELECT json_group_array(json(body))
    FROM (SELECT body FROM object WHERE kind = 'rate' ORDER BY id)
  ), '[]')),
  'webhooks', json(nullif((
    SELECT json_group_array(json(body))
    FROM (SELECT body FROM object WHERE kind = 'webhook' ORDER BY id)
  ), '[]')),
  'gateways', json(nullif((
    SELECT json_group_array(json_object(
      'id', id,
      'title', title,
      'description', description,
      'enabled', json(iif(is_enabled, 'true', 'false')),
      'settings', json(settings)
    ))
    FROM (SELECT * FROM gateway WHERE is_changed ORDER BY place)
  ), '[]'))
)) AS result;
