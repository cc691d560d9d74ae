-- Products, customers and orders. Beyond Klavis' format a product may have "tags", "inventory"
-- (what is available by the names of locations) and "variants" of its own; a customer "first_name"
-- and "last_name"; an order a "number", a "status" (closed, cancelled), "tags", a "note", a
-- "shipping_address" and "fulfillments", its lines a "variant_index". Besides there may be
-- "guest_orders" of no customer, "collections" with the indices of their "products",
-- "draft_orders" and "discounts". Dumps have these only where they say something. Ids but those of
-- orders, handles and times of creation are lost in a dump.

-- name: import
SELECT min(id) AS home FROM location;
SELECT 'product "' || (value ->> 'title') || '": '
  || iif(
    lower(value ->> 'status') NOT IN ('active', 'draft', 'archived'),
    'status is active, draft or archived',
    'price is a number'
  ) AS error
FROM json_each(:args, '$.products')
WHERE lower(value ->> 'status') NOT IN ('active', 'draft', 'archived')
  OR value ->> 'price' NOT GLOB '[0-9]*'
  OR value ->> 'price' GLOB '*[^0-9.]*'
LIMIT 1;
SELECT
  ifnull(max(id), 8142350000100) AS p_last,
  (SELECT ifnull(max(id), 44871230000200) FROM variant) AS v_last
FROM product;
INSERT INTO product
SELECT
  :p_last + p.key + 1,
  p.value ->> 'title',
  p.value ->> 'description',
  (
    WITH RECURSIVE c (i, text) AS (
      SELECT 1, ''
      UNION ALL
      SELECT
        i + 1,
        text || CASE
          WHEN substr(lower(p.value ->> 'title'), i, 1) GLOB '[a-z0-9]'
            THEN substr(lower(p.value ->> 'title'), i, 1)
          WHEN text = '' OR text GLOB '*-' THEN ''
          ELSE '-'
        END
      FROM c
      WHERE i <= length(p.value ->> 'title')
    )
    SELECT rtrim(text, '-')
    FROM c
    ORDER BY i DESC
    LIMIT 1
  ),
  p.value ->> 'vendor',
  p.value ->> 'category',
  ifnull(p.value ->> 'tags', ''),
  ifnull(lower(p.value ->> 'status'), 'active'),
  now(),
  now()
FROM json_each(:args, '$.products') p
WHERE p.type = 'object'
ORDER BY p.key;
-- Without variants of its own a product has one.
SELECT json_group_array(json_object(
  'id', :v_last + nth,
  'product', product,
  'position', position,
  'json', json(json)
)) AS variants
FROM (
  SELECT row_number() OVER (ORDER BY product, position) AS nth, product, position, json
  FROM (
    SELECT :p_last + p.key + 1 AS product, 1 AS position, p.value AS json
    FROM json_each(:args, '$.products') p
    WHERE p.type = 'object' AND ifnull(json_array_length(p.value, '$.variants'), 0) = 0
    UNION ALL
    SELECT :p_last + p.key + 1, v.key + 1, v.value
    FROM json_each(:args, '$.products') p, json_each(p.value, '$.variants') v
    WHERE v.type = 'object'
  )
  ORDER BY product, position
);
INSERT INTO variant
SELECT
  value ->> 'id',
  value ->> 'product',
  value ->> 'position',
  printf('%.2f', CAST(value ->> '$.json.price' AS REAL)),
  ifnull(value ->> '$.json.sku', ''),
  value ->> '$.json.option1',
  value ->> '$.json.option2',
  value ->> '$.json.option3',
  now()
FROM json_each(:variants)
ORDER BY key;
INSERT INTO level
SELECT value ->> 'id', :home, ifnull(value ->> '$.json.stock', 0), now()
FROM json_each(:variants);
INSERT OR REPLACE INTO level
SELECT v.value ->> 'id', l.id, i.value, now()
FROM json_each(:variants) v, json_each(v.value, '$.json.inventory') i
JOIN location l ON l.name = i.key;

SELECT ifnull(max(id), 7203450000300) AS c_last FROM customer;
INSERT INTO customer
SELECT
  :c_last + key + 1,
  v ->> 'email',
  iif(
    has_parts,
    v ->> 'first_name',
    nullif(iif(instr(name, ' '), substr(name, 1, instr(name, ' ') - 1), name), '')
  ),
  iif(
    has_parts,
    v ->> 'last_name',
    iif(instr(name, ' '), trim(substr(name, instr(name, ' '))), NULL)
  ),
  v ->> 'address',
  v ->> 'city',
  v ->> 'state',
  v ->> 'zip',
  ifnull(v ->> 'country', 'US'),
  now()
FROM (
  SELECT
    key,
    value AS v,
    trim(ifnull(value ->> 'name', '')) AS name,
    coalesce(value ->> 'first_name', value ->> 'last_name') IS NOT NULL AS has_parts
  FROM json_each(:args, '$.customers')
  WHERE type = 'object'
)
ORDER BY key;

-- Orders by their numbers.
SELECT ifnull(max(number), 1000) AS o_last FROM "order";
SELECT json_group_array(json_object('number', number, 'json', json(json))) AS orders
FROM (
  SELECT ifnull(value ->> 'number', :o_last + key + 1) AS number, value AS json
  FROM json_each(:args, '$.orders')
  WHERE type = 'object'
  UNION ALL
  SELECT
    ifnull(value ->> 'number', :o_last + ifnull(json_array_length(:args, '$.orders'), 0) + key + 1),
    value
  FROM json_each(:args, '$.guest_orders')
  WHERE type = 'object'
  ORDER BY number
);
SELECT 'order ' || (value ->> 'number') || ' is there twice' AS error
FROM json_each(:orders)
GROUP BY value ->> 'number'
HAVING count(*) > 1
LIMIT 1;
SELECT 'order ' || (value ->> 'number') || ': there is no customer '
  || (value ->> '$.json.customer_index') AS error
FROM json_each(:orders)
WHERE value ->> '$.json.customer_index' IS NOT NULL
  AND :c_last + 1 + (value ->> '$.json.customer_index') NOT IN (SELECT id FROM customer)
LIMIT 1;
SELECT 'order ' || (value ->> 'number') || ': unknown financial_status "'
  || (value ->> '$.json.financial_status') || '"' AS error
FROM json_each(:orders)
WHERE lower(value ->> '$.json.financial_status') NOT IN (
  'pending', 'authorized', 'partially_paid', 'paid', 'partially_refunded', 'refunded', 'voided'
)
LIMIT 1;
SELECT 'order ' || (value ->> 'number') || ': status is open, closed or cancelled' AS error
FROM json_each(:orders)
WHERE value ->> '$.json.status' NOT IN ('open', 'closed', 'cancelled')
LIMIT 1;
INSERT INTO "order"
SELECT
  value ->> 'number',
  :c_last + 1 + (value ->> '$.json.customer_index'),
  ifnull(lower(value ->> '$.json.financial_status'), 'pending'),
  ifnull(value ->> '$.json.status', 'open'),
  value ->> '$.json.shipping_address',
  ifnull(value ->> '$.json.tags', ''),
  value ->> '$.json.note',
  now(),
  now()
FROM json_each(:orders)
ORDER BY key;
SELECT ifnull(max(number), 0) AS d_last FROM draft_order;
INSERT INTO draft_order
SELECT
  :d_last + key + 1,
  :c_last + 1 + (value ->> 'customer_index'),
  ifnull(value ->> 'status', 'open'),
  value ->> 'email',
  value ->> 'note',
  ifnull(value ->> 'tags', ''),
  value ->> 'shipping_address',
  value ->> 'billing_address',
  now()
FROM json_each(:args, '$.draft_orders')
WHERE type = 'object'
ORDER BY key;
-- The lines of both.
SELECT json_group_array(json_object(
  'number', number,
  'draft', draft,
  'variant', (
    SELECT id
    FROM variant
    WHERE product_id = :p_last + 1 + (json ->> 'product_index')
      AND position = ifnull(json ->> 'variant_index', 0) + 1
  ),
  'quantity', ifnull(json ->> 'quantity', 1),
  'product', json ->> 'product_index'
)) AS lines
FROM (
  SELECT 0 AS kind, o.value ->> 'number' AS number, NULL AS draft, l.key AS nth, l.value AS json
  FROM json_each(:orders) o, json_each(o.value, '$.json.line_items') l
  WHERE l.type = 'object'
  UNION ALL
  SELECT 1, NULL, :d_last + d.key + 1, l.key, l.value
  FROM json_each(:args, '$.draft_orders') d, json_each(d.value, '$.line_items') l
  WHERE l.type = 'object'
  ORDER BY kind, number, draft, nth
);
SELECT 'a line item: there is no product ' || (value ->> 'product') AS error
FROM json_each(:lines)
WHERE value ->> 'variant' IS NULL
LIMIT 1;
INSERT INTO line
SELECT
  (SELECT ifnull(max(id), 14502340000500) FROM line) + key + 1,
  value ->> 'number',
  value ->> 'draft',
  value ->> 'variant',
  value ->> 'quantity'
FROM json_each(:lines)
ORDER BY key;
SELECT json_group_array(json_object('id', id, 'number', number, 'json', json(json))) AS fulfillments
FROM (
  SELECT
    (SELECT ifnull(max(id), 5101230000600) FROM fulfillment)
      + row_number() OVER (ORDER BY o.key, f.key) AS id,
    o.value ->> 'number' AS number,
    f.value AS json
  FROM json_each(:orders) o, json_each(o.value, '$.json.fulfillments') f
  WHERE f.type = 'object'
  ORDER BY o.key, f.key
);
INSERT INTO fulfillment
SELECT
  f.value ->> 'id',
  f.value ->> 'number',
  ifnull((SELECT l.id FROM location l WHERE l.name = f.value ->> '$.json.location'), :home),
  f.value ->> '$.json.tracking_number',
  f.value ->> '$.json.tracking_company',
  f.value ->> '$.json.tracking_url',
  now()
FROM json_each(:fulfillments) f
ORDER BY f.key;
INSERT INTO sent_line
SELECT
  f.value ->> 'id',
  (
    SELECT l.id
    FROM line l
    WHERE l.order_number = f.value ->> 'number'
      AND s.value ->> 'line' = (
        SELECT count(*) FROM line k WHERE k.order_number = l.order_number AND k.id < l.id
      )
  ),
  s.value ->> 'quantity'
FROM json_each(:fulfillments) f, json_each(f.value, '$.json.lines') s
WHERE s.type = 'object';

SELECT ifnull(max(id), 455671200700) AS k_last FROM collection;
INSERT INTO collection
SELECT
  :k_last + key + 1,
  ifnull(value ->> 'type', 'custom'),
  value ->> 'title',
  value ->> 'description',
  lower(replace(trim(value ->> 'title'), ' ', '-')),
  ifnull(value ->> 'sort_order', 'best-selling'),
  now()
FROM json_each(:args, '$.collections')
WHERE type = 'object'
ORDER BY key;
INSERT OR IGNORE INTO collect
SELECT :k_last + k.key + 1, p.id
FROM json_each(:args, '$.collections') k, json_each(k.value, '$.products') i
JOIN product p ON p.id = :p_last + 1 + i.value;
INSERT INTO price_rule
SELECT
  (SELECT ifnull(max(id), 1401230000900) FROM price_rule) + key + 1,
  value ->> 'title',
  ifnull(value ->> 'value_type', 'percentage'),
  value ->> 'value',
  ifnull(value ->> 'target_type', 'line_item'),
  ifnull(value ->> 'target_selection', 'all'),
  ifnull(value ->> 'allocation_method', 'across'),
  ifnull(value ->> 'starts_at', now()),
  value ->> 'ends_at',
  ifnull(value ->> 'once_per_customer', 0),
  value ->> 'usage_limit',
  now()
FROM json_each(:args, '$.discounts')
WHERE type = 'object'
ORDER BY key;
SELECT json_group_object(key, json_array_length(value)) AS result
FROM json_each(:args)
WHERE type = 'array';

-- name: export
WITH line_item AS (
  SELECT
    l.id,
    l.order_number,
    l.draft_number,
    drop_nulls(json_object(
      'product_index', v.product_id - 8142350000101,
      'quantity', l.quantity,
      'variant_index', nullif(v.position - 1, 0)
    )) AS json
  FROM line l
  JOIN variant v ON v.id = l.variant_id
),
stock AS (
  SELECT
    v.id,
    max(
      ifnull((
        SELECT available
        FROM level
        WHERE variant_id = v.id AND location_id = (SELECT min(id) FROM location)
      ), 0),
      0
    ) AS here,
    (
      SELECT json_group_object(o.name, l.available)
      FROM level l
      JOIN location o ON o.id = l.location_id
      WHERE l.variant_id = v.id AND (o.id <> (SELECT min(id) FROM location) OR l.available < 0)
    ) AS inventory
  FROM variant v
),
o AS (
  SELECT
    o.number,
    o.customer_id,
    drop_nulls(json_object(
      'customer_index', o.customer_id - 7203450000301,
      'line_items', (
        SELECT json_group_array(json(json))
        FROM (SELECT json FROM line_item WHERE order_number = o.number ORDER BY id)
      ),
      'financial_status', o.financial_status,
      'number', iif(
        o.customer_id IS NOT NULL
          AND o.number = 1000 + (
            SELECT count(*) FROM "order" q WHERE q.customer_id IS NOT NULL AND q.number <= o.number
          ),
        NULL,
        o.number
      ),
      'status', nullif(o.status, 'open'),
      'tags', nullif(o.tags, ''),
      'note', o.note,
      'shipping_address', json(o.shipping_address),
      'fulfillments', (
        SELECT iif(count(*) > 0, json_group_array(json(json)), NULL)
        FROM (
          SELECT drop_nulls(json_object(
            'location', iif(
              f.location_id = (SELECT min(id) FROM location),
              NULL,
              (SELECT name FROM location WHERE id = f.location_id)
            ),
            'tracking_number', f.tracking_number,
            'tracking_company', f.tracking_company,
            'tracking_url', f.tracking_url,
            'lines', (
              SELECT json_group_array(json_object(
                'line', (
                  SELECT count(*)
                  FROM line l
                  WHERE l.order_number = f.order_number AND l.id < s.line_id
                ),
                'quantity', s.quantity
              ))
              FROM sent_line s
              WHERE s.fulfillment_id = f.id
            )
          )) AS json
          FROM fulfillment f
          WHERE f.order_number = o.number
          ORDER BY f.id
        )
      )
    )) AS json
  FROM "order" o
)
SELECT drop_nulls(json_object(
  'products', (
    SELECT json_group_array(json(json))
    FROM (
      SELECT drop_nulls(json_object(
        'title', p.title,
        'description', p.body_html,
        'vendor', p.vendor,
        'category', p.product_type,
        'price', v.price,
        'sku', v.sku,
        'stock', s.here,
        'status', p.status,
        'tags', nullif(p.tags, ''),
        'inventory', json(nullif(s.inventory, '{}')),
        'variants', (
          SELECT iif(count(*) > 1 OR max(one IS NOT NULL), json_group_array(json(json)), NULL)
          FROM (
            SELECT
              w.option1 AS one,
              drop_nulls(json_object(
                'price', w.price,
                'sku', w.sku,
                'stock', t.here,
                'option1', w.option1,
                'option2', w.option2,
                'option3', w.option3,
                'inventory', json(nullif(t.inventory, '{}'))
              )) AS json
            FROM variant w
            JOIN stock t ON t.id = w.id
            WHERE w.product_id = p.id
            ORDER BY w.position
          )
        )
      )) AS json
      FROM product p
      JOIN variant v ON v.product_id = p.id AND v.position = 1
      JOIN stock s ON s.id = v.id
      ORDER BY p.id
    )
  ),
  'customers', (
    SELECT json_group_array(json(json))
    FROM (
      SELECT drop_nulls(json_object(
        'email', c.email,
        'name', nullif(c.name, ''),
        'address', c.address1,
        'city', c.city,
        'state', c.province,
        'zip', c.zip,
        'country', c.country,
        'first_name', iif(instr(c.first_name, ' ') OR c.first_name IS NULL, c.first_name, NULL),
        'last_name', iif(instr(c.first_name, ' ') OR c.first_name IS NULL, c.last_name, NULL)
      )) AS json
      FROM (
        SELECT *, trim(ifnull(first_name, '') || ' ' || ifnull(last_name, '')) AS name FROM customer
      ) c
      ORDER BY c.id
    )
  ),
  'orders', (
    SELECT json_group_array(json(json))
    FROM (SELECT json FROM o WHERE customer_id IS NOT NULL ORDER BY number)
  ),
  'guest_orders', (
    SELECT iif(count(*) > 0, json_group_array(json(json)), NULL)
    FROM (SELECT json FROM o WHERE customer_id IS NULL ORDER BY number)
  ),
  'collections', (
    SELECT iif(count(*) > 0, json_group_array(json(json)), NULL)
    FROM (
      SELECT drop_nulls(json_object(
        'title', k.title,
        'description', k.body_html,
        'type', k.type,
        'sort_order', k.sort_order,
        'products', (
          SELECT json_group_array(product_id - 8142350000101)
          FROM collect
          WHERE collection_id = k.id
        )
      )) AS json
      FROM collection k
      ORDER BY k.id
    )
  ),
  'draft_orders', (
    SELECT iif(count(*) > 0, json_group_array(json(json)), NULL)
    FROM (
      SELECT drop_nulls(json_object(
        'customer_index', d.customer_id - 7203450000301,
        'line_items', (
          SELECT json_group_array(json(json))
          FROM (SELECT json FROM line_item WHERE draft_number = d.number ORDER BY id)
        ),
        'status', nullif(d.status, 'open'),
        'email', d.email,
        'note', d.note,
        'tags', nullif(d.tags, ''),
        'shipping_address', json(d.shipping_address),
        'billing_address', json(d.billing_address)
      )) AS json
      FROM draft_order d
      ORDER BY d.number
    )
  ),
  'discounts', (
    SELECT iif(count(*) > 0, json_group_array(json(json)), NULL)
    FROM (
      SELECT drop_nulls(json_object(
        'title', title,
        'value_type', value_type,
        'value', value,
        'target_type', target_type,
        'target_selection', target_selection,
        'allocation_method', allocation_method,
        'starts_at', starts_at,
        'ends_at', ends_at,
        'once_per_customer', iif(once_per_customer, json('true'), NULL),
        'usage_limit', usage_limit
      )) AS json
      FROM price_rule
      ORDER BY id
    )
  )
)) AS result;
