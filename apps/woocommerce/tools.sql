-- The tools of WooCommerce: the REST API's objects. What it refuses is told as the server does,
-- with the API's message and status; of a 404 it tells only the path.

-- part: paging
SELECT 'Error: WooCommerce API error: Invalid parameter(s): ' || iif(:page < 1, 'page', 'per_page')
  || ' (Status: 400)' AS error
WHERE :page < 1 OR :perPage NOT BETWEEN 1 AND 100;
SELECT
  CAST(ifnull(:perPage, 10) AS INTEGER) AS n_shown,
  CAST((ifnull(:page, 1) - 1) * ifnull(:perPage, 10) AS INTEGER) AS n_before;

-- part: find
-- :kind, :id
SELECT o.id AS found, o.body AS old FROM object o WHERE o.kind = :kind AND o.id = :id;
SELECT 'Error: WooCommerce API endpoint not found. Please check if WooCommerce is installed and '
  || 'REST API is enabled. URL: ' || path || '/' || :id AS error
FROM kind
WHERE kind = :kind AND :found IS NULL;

-- part: get
-- include: find
SELECT shown AS result FROM shown WHERE kind = :kind AND id = :found;

-- part: write
-- :kind, :inputs: [{"op", "id", "data"}]; gives :checked, the same with "error" and new ids.
WITH input AS MATERIALIZED (
  SELECT key AS n, value ->> 'op' AS op, value ->> 'id' AS id, value -> 'data' AS data
  FROM json_each(:inputs)
),
wrong AS MATERIALIZED (
  SELECT i.n, group_concat(f.name, ', ') AS names
  FROM input i, json_each(i.data) j
  JOIN field f ON f.kind = :kind AND f.name = j.key
  WHERE j.type <> 'null'
    AND (
      NOT CASE f.type
        WHEN 'string' THEN j.type = 'text'
        WHEN 'boolean' THEN j.type IN ('true', 'false') OR j.value IN ('true', 'false')
        WHEN 'integer' THEN j.type = 'integer' OR j.value <> '' AND j.value NOT GLOB '*[^0-9]*'
        ELSE j.type = f.type
      END
      OR f.options IS NOT NULL AND instr(f.options, ' ' || j.value || ' ') = 0
      OR f.name IN (
        'line_items', 'shipping_lines', 'fee_lines', 'coupon_lines', 'meta_data', 'categories',
        'tags', 'images'
      )
        AND EXISTS (SELECT 1 FROM json_each(i.data, '$.' || f.name) l WHERE l.type <> 'object')
      OR f.name = 'email' AND NOT mail_is_address(j.value)
      OR f.name IN ('regular_price', 'sale_price', 'amount') AND j.value GLOB '*[^0-9.]*'
      OR f.name GLOB 'date_*' AND j.value <> '' AND time_read(j.value, 'UTC') IS NULL
    )
  GROUP BY i.n
),
item AS (
  SELECT
    i.n,
    l.value ->> 'id' AS line,
    l.value ->> 'product_id' AS product,
    ifnull(l.value ->> 'variation_id', 0) AS variation
  FROM input i, json_each(i.data, '$.line_items') l
  WHERE :kind = 'order' AND json_type(i.data, '$.line_items') = 'array'
),
used AS (
  SELECT i.n, lower(c.value ->> 'code') AS code
  FROM input i, json_each(i.data, '$.coupon_lines') c
  WHERE :kind = 'order' AND json_type(i.data, '$.coupon_lines') = 'array'
),
fault AS (
  SELECT
    i.n,
    CASE
      WHEN op = 'update'
          AND NOT EXISTS (SELECT 1 FROM object o WHERE o.kind = :kind AND o.id = i.id)
        THEN json_array(
          'woocommerce_rest_' || :kind || '_invalid_id',
          iif(:kind = 'customer', 'Invalid resource ID.', 'Invalid ID.'),
          400
        )
      WHEN w.n IS NOT NULL
        THEN json_array('rest_invalid_param', 'Invalid parameter(s): ' || w.names, 400)
      WHEN :kind = 'product'
          AND data ->> 'sku' <> ''
          AND (
            EXISTS (
              SELECT 1 FROM object o WHERE o.body ->> 'sku' = data ->> 'sku' AND o.id IS NOT i.id
            )
            OR EXISTS (
              SELECT 1 FROM input b WHERE b.n < i.n AND b.data ->> 'sku' = i.data ->> 'sku'
            )
          )
        THEN json_array('product_invalid_sku', 'Invalid or duplicated SKU.', 400)
      WHEN :kind = 'coupon' AND op = 'create' AND ifnull(data ->> 'code', '') = ''
        THEN json_array('rest_missing_callback_param', 'Missing parameter(s): code', 400)
      WHEN :kind = 'coupon'
          AND EXISTS (
            SELECT 1
            FROM object o
            WHERE o.kind = 'coupon'
              AND o.id IS NOT i.id
              AND o.body ->> 'code' = lower(data ->> 'code')
          )
        THEN json_array(
          'woocommerce_rest_coupon_code_already_exists', 'The coupon code already exists', 400
        )
      WHEN :kind = 'coupon'
          AND data ->> 'discount_type' = 'percent'
          AND CAST(data ->> 'amount' AS REAL) > 100
        THEN json_array('coupon_invalid_amount', 'Invalid discount amount.', 400)
      WHEN :kind = 'customer' AND op = 'create' AND ifnull(data ->> 'email', '') = ''
        THEN json_array('rest_missing_callback_param', 'Missing parameter(s): email', 400)
      WHEN :kind = 'customer'
          AND EXISTS (
            SELECT 1
            FROM object o
            WHERE o.kind = 'customer'
              AND o.id IS NOT i.id
              AND lower(o.body ->> 'email') = lower(data ->> 'email')
          )
        THEN iif(
          op = 'update',
          json_array('woocommerce_rest_customer_invalid_email', 'Email address is invalid.', 400),
          json_array(
            'registration-error-email-exists',
            'An account is already registered with ' || (data ->> 'email')
              || '. Please log in or use a different email address.',
            400
          )
        )
      WHEN :kind = 'customer'
          AND op = 'update'
          AND data ->> 'username' IS NOT NULL
          AND data ->> 'username' IS NOT (
            SELECT o.body ->> 'username' FROM object o WHERE o.kind = 'customer' AND o.id = i.id
          )
        THEN json_array(
          'woocommerce_rest_customer_invalid_argument', 'Username isn''t editable.', 400
        )
      WHEN :kind = 'customer'
          AND EXISTS (
            SELECT 1
            FROM object o
            WHERE o.kind = 'customer'
              AND o.id IS NOT i.id
              AND o.body ->> 'username' = data ->> 'username'
          )
        THEN json_array(
          'registration-error-username-exists',
          'An account is already registered with that username. Please choose another.', 400
        )
      WHEN :kind = 'order'
          AND ifnull(data ->> 'customer_id', 0) <> 0
          AND NOT EXISTS (
            SELECT 1 FROM object o WHERE o.kind = 'customer' AND o.id = data ->> 'customer_id'
          )
        THEN json_array('woocommerce_rest_invalid_customer_id', 'Customer ID is invalid.', 400)
      WHEN EXISTS (SELECT 1 FROM item WHERE item.n = i.n AND line IS NULL AND product IS NULL)
        THEN json_array(
          'woocommerce_rest_required_product_reference', 'Product ID or SKU is required.', 400
        )
      WHEN EXISTS (
          SELECT 1
          FROM item
          WHERE item.n = i.n
            AND line IS NULL
            AND product NOT IN (SELECT id FROM object WHERE kind = 'product')
        )
        THEN json_array('order_item_product_invalid_product_id', 'Invalid product ID', 400)
      WHEN EXISTS (
          SELECT 1
          FROM item
          WHERE item.n = i.n
            AND line IS NULL
            AND variation <> 0
            AND variation NOT IN (
              SELECT id FROM object WHERE kind = 'variation' AND body ->> 'parent_id' = product
            )
        )
        THEN json_array('order_item_product_invalid_variation_id', 'Invalid variation ID', 400)
      WHEN EXISTS (
          SELECT 1
          FROM item
          WHERE item.n = i.n
            AND line IS NOT NULL
            AND line NOT IN (SELECT l.id FROM line l WHERE l.order_id = i.id)
        )
        THEN json_array(
          'woocommerce_rest_invalid_item_id',
          'Order item ID provided is not associated with order.', 400
        )
      ELSE (
        SELECT json_array(
          'woocommerce_rest_invalid_coupon',
          CASE
            WHEN c.id IS NULL OR c.body ->> 'status' = 'trash'
              THEN 'Coupon "' || u.code || '" does not exist!'
            WHEN c.body ->> 'date_expires' < strftime('%Y-%m-%dT%H:%M:%S', now())
              THEN 'This coupon has expired.'
            WHEN ifnull(c.body ->> 'usage_count', 0) >= c.body ->> 'usage_limit'
              THEN 'Coupon usage limit has been reached.'
          END,
          400
        )
        FROM used u
        LEFT JOIN object c ON c.kind = 'coupon' AND c.body ->> 'code' = u.code
        WHERE u.n = i.n
          AND (
            c.id IS NULL
            OR c.body ->> 'status' = 'trash'
            OR c.body ->> 'date_expires' < strftime('%Y-%m-%dT%H:%M:%S', now())
            OR ifnull(c.body ->> 'usage_count', 0) >= c.body ->> 'usage_limit'
          )
        LIMIT 1
      )
    END AS error
  FROM input i
  LEFT JOIN wrong w ON w.n = i.n
)
SELECT json_group_array(json_object(
  'op', op,
  'error', json(error),
  'id', CASE WHEN op = 'create' AND error IS NULL THEN CAST(new_id(ids) AS INTEGER) ELSE id END,
  'data', (
    SELECT json_group_object(f.name, json(CASE
      WHEN f.name = 'meta_data' AND json_type(data, '$.meta_data') = 'array'
        THEN (
          SELECT json_group_array(json(m))
          FROM (
            SELECT old.value AS m
            FROM object o, json_each(o.body, '$.meta_data') old
            WHERE o.kind = :kind
              AND o.id = x.id
              AND old.value ->> 'key' NOT IN (
                SELECT value ->> 'key' FROM json_each(data, '$.meta_data')
              )
            UNION ALL
            SELECT json_object(
              'id', ifnull(value ->> 'id', CAST(new_id('meta') AS INTEGER)),
              'key', value ->> 'key',
              'value', json(value -> 'value')
            )
            FROM json_each(data, '$.meta_data')
          )
        )
      WHEN f.name = 'images' AND json_type(data, '$.images') = 'array'
        THEN (
          SELECT json_group_array(json_object(
            'id', ifnull(value ->> 'id', CAST(new_id('post') AS INTEGER)),
            'src', ifnull(value ->> 'src', ''),
            'name', ifnull(value ->> 'name', ''),
            'alt', ifnull(value ->> 'alt', '')
          ))
          FROM json_each(data, '$.images')
        )
      WHEN f.name IN ('shipping_lines', 'fee_lines') AND json_type(data, '$.' || f.name) = 'array'
        THEN (
          SELECT json_group_array(json_patch(
            json_object(
              'id', ifnull(value ->> 'id', CAST(new_id('line') AS INTEGER)),
              'total', '0.00',
              'total_tax', '0.00'
            ),
            value
          ))
          FROM json_each(data, '$.' || f.name)
        )
      WHEN f.type = 'integer' AND json_type(data, '$.' || f.name) = 'text'
        THEN CAST(data ->> f.name AS INTEGER)
      WHEN f.type = 'boolean' AND json_type(data, '$.' || f.name) = 'text' THEN data ->> f.name
      WHEN f.name = 'code' THEN json_quote(lower(data ->> 'code'))
      ELSE data -> f.name
    END))
    FROM field f
    WHERE f.kind = :kind AND data -> f.name IS NOT NULL AND error IS NULL
  )
)) AS checked
FROM (
  SELECT i.*, fault.error, k.ids
  FROM input i
  JOIN fault ON fault.n = i.n
  JOIN kind k ON k.kind = :kind
  ORDER BY i.n
) x;
INSERT INTO object
SELECT
  :kind,
  value ->> 'id',
  json_remove(
    json_patch('{}', value -> 'data'),
    '$.categories',
    '$.tags',
    '$.line_items',
    '$.coupon_lines',
    '$.set_paid',
    '$.password'
  ),
  now(),
  now()
FROM json_each(:checked)
WHERE value ->> 'op' = 'create' AND value ->> 'error' IS NULL;
-- What was paid when it came stays paid at that time.
UPDATE object
SET body = json_set(
  body,
  '$.date_paid', strftime('%Y-%m-%dT%H:%M:%S', ifnull(body ->> 'date_created', created))
)
WHERE kind = 'order'
  AND :kind = 'order'
  AND body ->> 'status' IN ('processing', 'completed')
  AND body ->> 'date_paid' IS NULL
  AND id IN (
    SELECT value ->> 'id'
    FROM json_each(:checked)
    WHERE value ->> 'op' = 'update' AND value ->> 'error' IS NULL
  );
UPDATE object
SET
  body = json_remove(
    json_patch(body, j.value -> 'data'),
    '$.categories',
    '$.tags',
    '$.line_items',
    iif(j.value -> '$.data.coupon_lines' IS NULL, '$.set_paid', '$.coupon_lines'),
    '$.set_paid',
    '$.password'
  ),
  modified = now()
FROM json_each(:checked) j
WHERE j.value ->> 'op' = 'update'
  AND j.value ->> 'error' IS NULL
  AND object.kind = :kind
  AND object.id = j.value ->> 'id';

-- part: write_terms
-- The categories and tags of products. One without a category is in the first.
DELETE FROM product_term
WHERE (product_id, term_id) IN (
  SELECT j.value ->> 'id', o.id
  FROM json_each(:checked) j, object o
  WHERE j.value ->> 'error' IS NULL
    AND (
      o.kind = 'category' AND json_type(j.value, '$.data.categories') = 'array'
      OR o.kind = 'tag' AND json_type(j.value, '$.data.tags') = 'array'
    )
);
INSERT OR IGNORE INTO product_term
SELECT j.value ->> 'id', o.id
FROM
  json_each(:checked) j,
  json_each('[["category","$.data.categories"],["tag","$.data.tags"]]') k,
  json_each(j.value, k.value ->> 1) t
JOIN object o ON o.kind = k.value ->> 0 AND o.id = t.value ->> 'id'
WHERE j.value ->> 'error' IS NULL;
INSERT OR IGNORE INTO product_term
SELECT value ->> 'id', 15
FROM json_each(:checked) j
WHERE value ->> 'error' IS NULL
  AND NOT EXISTS (
    SELECT 1
    FROM product_term x
    JOIN object o ON o.kind = 'category' AND o.id = x.term_id
    WHERE x.product_id = j.value ->> 'id'
  );

-- part: write_lines
-- The items of orders, their discounts, and what follows from their status.
DELETE FROM line
WHERE id IN (
  SELECT l.value ->> 'id'
  FROM json_each(:checked) j, json_each(j.value, '$.data.line_items') l
  WHERE l.value ->> 'quantity' = 0
);
UPDATE line
SET
  quantity = n.quantity,
  subtotal = ifnull(n.subtotal, line.subtotal * n.quantity / max(line.quantity, 1)),
  total = ifnull(n.total, line.total * n.quantity / max(line.quantity, 1))
FROM (
  SELECT
    o.id,
    ifnull(l.value ->> 'quantity', o.quantity) AS quantity,
    CAST(l.value ->> 'subtotal' AS REAL) AS subtotal,
    CAST(l.value ->> 'total' AS REAL) AS total
  FROM json_each(:checked) j, json_each(j.value, '$.data.line_items') l
  JOIN line o ON o.id = l.value ->> 'id'
) n
WHERE n.id = line.id;
INSERT INTO line (id, order_id, product_id, variation_id, name, quantity, subtotal, total, meta)
SELECT
  new_id('line'),
  order_id,
  product,
  variation,
  name,
  quantity,
  ifnull(subtotal, ifnull(total, price * quantity)),
  ifnull(total, ifnull(subtotal, price * quantity)),
  ifnull(meta, '[]')
FROM (
  SELECT
    j.value ->> 'id' AS order_id,
    p.id AS product,
    ifnull(l.value ->> 'variation_id', 0) AS variation,
    ifnull(l.value ->> 'name', p.body ->> 'name') AS name,
    ifnull(l.value ->> 'quantity', 1) AS quantity,
    CAST(l.value ->> 'subtotal' AS REAL) AS subtotal,
    CAST(l.value ->> 'total' AS REAL) AS total,
    l.value -> 'meta_data' AS meta,
    (
      SELECT ifnull(CAST(price AS REAL), 0)
      FROM price_of
      WHERE kind = iif(ifnull(l.value ->> 'variation_id', 0), 'variation', 'product')
        AND id = ifnull(nullif(l.value ->> 'variation_id', 0), p.id)
    ) AS price
  FROM json_each(:checked) j, json_each(j.value, '$.data.line_items') l
  JOIN object p ON p.kind = 'product' AND p.id = l.value ->> 'product_id'
  WHERE l.value ->> 'id' IS NULL
  ORDER BY j.key, l.key
);
SELECT 'Error: WooCommerce API error: The ' || iif(spent < low, 'minimum', 'maximum')
  || ' spend for this coupon is $' || printf('%.2f', iif(spent < low, low, high))
  || '. (Status: 400)' AS error
FROM (
  SELECT
    ifnull(CAST(c.body ->> 'minimum_amount' AS REAL), 0) AS low,
    ifnull(CAST(c.body ->> 'maximum_amount' AS REAL), 0) AS high,
    (SELECT ifnull(sum(subtotal), 0) FROM line WHERE order_id = j.value ->> 'id') AS spent
  FROM json_each(:checked) j, json_each(j.value, '$.data.coupon_lines') cl
  JOIN object c ON c.kind = 'coupon' AND c.body ->> 'code' = lower(cl.value ->> 'code')
)
WHERE spent < low OR high > 0 AND spent > high
LIMIT 1;
-- What each coupon takes off each item.
WITH share AS (
  SELECT
    l.id AS line,
    l.order_id,
    c.id AS coupon,
    c.body ->> 'code' AS code,
    cl.key AS place,
    min(
      l.subtotal,
      CASE c.body ->> 'discount_type'
        WHEN 'percent' THEN l.subtotal * CAST(c.body ->> 'amount' AS REAL) / 100
        WHEN 'fixed_product' THEN CAST(c.body ->> 'amount' AS REAL) * l.quantity
        ELSE CAST(c.body ->> 'amount' AS REAL) * l.subtotal / (
          SELECT max(sum(subtotal), 0.01) FROM line WHERE order_id = l.order_id
        )
      END
    ) AS off
  FROM json_each(:checked) j, json_each(j.value, '$.data.coupon_lines') cl
  JOIN object c ON c.kind = 'coupon' AND c.body ->> 'code' = lower(cl.value ->> 'code')
  JOIN line l ON l.order_id = j.value ->> 'id'
  WHERE (
    ifnull(json_array_length(c.body, '$.product_ids'), 0) = 0
    OR l.product_id IN (SELECT value FROM json_each(c.body, '$.product_ids'))
  )
    AND l.product_id NOT IN (SELECT value FROM json_each(c.body, '$.excluded_product_ids'))
    AND (
      ifnull(json_array_length(c.body, '$.product_categories'), 0) = 0
      OR l.product_id IN (
        SELECT product_id
        FROM product_term
        WHERE term_id IN (SELECT value FROM json_each(c.body, '$.product_categories'))
      )
    )
    AND l.product_id NOT IN (
      SELECT product_id
      FROM product_term
      WHERE term_id IN (SELECT value FROM json_each(c.body, '$.excluded_product_categories'))
    )
    AND NOT (
      ifnull(c.body ->> 'exclude_sale_items', 0)
      AND (
        SELECT is_sale
        FROM price_of
        WHERE kind = iif(l.variation_id, 'variation', 'product')
          AND id = iif(l.variation_id, l.variation_id, l.product_id)
      )
    )
)
SELECT json_group_array(json_array(line, order_id, coupon, code, off)) AS shares
FROM (SELECT * FROM share ORDER BY order_id, place, line);
UPDATE line
SET total = max(0, round(subtotal - s.off, 2))
FROM (SELECT value ->> 0 AS id, sum(value ->> 4) AS off FROM json_each(:shares) GROUP BY 1) s
WHERE s.id = line.id;
SELECT json_group_array(json_object(
  'order', order_id,
  'line', json_object(
    'id', CAST(new_id('line') AS INTEGER),
    'code', code,
    'discount', printf('%.2f', off),
    'discount_tax', '0.00',
    'meta_data', json('[]')
  )
)) AS coupon_lines
FROM (
  SELECT value ->> 1 AS order_id, value ->> 3 AS code, sum(value ->> 4) AS off
  FROM json_each(:shares)
  GROUP BY 1, 2
  ORDER BY min(key)
);
UPDATE object
SET body = json_set(
  body,
  '$.coupon_lines', (
    SELECT json_group_array(json(value -> 'line'))
    FROM json_each(:coupon_lines)
    WHERE value ->> 'order' = object.id
  )
)
WHERE kind = 'order' AND id IN (SELECT value ->> 'order' FROM json_each(:coupon_lines));
UPDATE object
SET body = json_set(body, '$.usage_count', ifnull(body ->> 'usage_count', 0) + s.n)
FROM (
  SELECT value ->> 2 AS id, count(DISTINCT value ->> 1) AS n FROM json_each(:shares) GROUP BY 1
) s
WHERE kind = 'coupon' AND object.id = s.id;
UPDATE object
SET body = json_set(body, '$.status', 'processing')
WHERE kind = 'order'
  AND ifnull(body ->> 'status', 'pending') IN ('pending', 'on-hold', 'failed')
  AND id IN (
    SELECT value ->> 'id'
    FROM json_each(:checked)
    WHERE value ->> '$.data.set_paid' AND value ->> 'error' IS NULL
  );
UPDATE object
SET body = json_set(body, '$.date_paid', strftime('%Y-%m-%dT%H:%M:%S', now()))
WHERE kind = 'order'
  AND body ->> 'status' IN ('processing', 'completed')
  AND body ->> 'date_paid' IS NULL
  AND id IN (
    SELECT value ->> 'id'
    FROM json_each(:checked)
    WHERE value ->> '$.data.status' IS NOT NULL OR value ->> '$.data.set_paid'
  );
UPDATE object
SET body = json_set(body, '$.date_completed', strftime('%Y-%m-%dT%H:%M:%S', now()))
WHERE kind = 'order'
  AND body ->> 'status' = 'completed'
  AND body ->> 'date_completed' IS NULL
  AND id IN (
    SELECT value ->> 'id' FROM json_each(:checked) WHERE value ->> '$.data.status' IS NOT NULL
  );
SELECT json_group_array(json_object(
  'line', l.id,
  'kind', iif(l.variation_id, 'variation', 'product'),
  'id', iif(l.variation_id, l.variation_id, l.product_id),
  'change', iif(l.is_taken, l.quantity, -l.quantity)
)) AS moves
FROM line l
JOIN object o ON o.kind = 'order' AND o.id = l.order_id
WHERE l.order_id IN (SELECT value ->> 'id' FROM json_each(:checked))
  AND iif(
    l.is_taken,
    o.body ->> 'status' IN ('cancelled', 'pending'),
    o.body ->> 'status' IN ('processing', 'completed', 'on-hold')
  );
UPDATE object
SET body = json_set(body, '$.stock_quantity', ifnull(body ->> 'stock_quantity', 0) + m.change)
FROM (
  SELECT value ->> 'kind' AS kind, value ->> 'id' AS id, sum(value ->> 'change') AS change
  FROM json_each(:moves)
  GROUP BY 1, 2
) m
WHERE object.kind = m.kind AND object.id = m.id AND object.body ->> 'manage_stock';
UPDATE line
SET is_taken = NOT is_taken
WHERE id IN (SELECT value ->> 'line' FROM json_each(:moves));

-- part: refuse
SELECT 'Error: WooCommerce API error: ' || (value ->> '$.error[1]') || ' (Status: '
  || (value ->> '$.error[2]') || ')' AS error
FROM json_each(:checked)
WHERE value ->> 'error' IS NOT NULL;

-- part: answer
-- include: refuse
SELECT shown AS result
FROM shown
WHERE kind = :kind AND id = (SELECT value ->> 'id' FROM json_each(:checked));

-- part: forget
-- :kind, :ids: these are deleted with what belongs to them.
DELETE FROM product_term
WHERE :kind = 'product' AND product_id IN (SELECT value FROM json_each(:ids));
DELETE FROM object
WHERE :kind = 'product'
  AND kind = 'variation'
  AND body ->> 'parent_id' IN (SELECT value FROM json_each(:ids));
DELETE FROM object
WHERE :kind = 'product'
  AND kind = 'review'
  AND body ->> 'product_id' IN (SELECT value FROM json_each(:ids));
DELETE FROM line WHERE :kind = 'order' AND order_id IN (SELECT value FROM json_each(:ids));
DELETE FROM note WHERE :kind = 'order' AND order_id IN (SELECT value FROM json_each(:ids));
DELETE FROM refund WHERE :kind = 'order' AND order_id IN (SELECT value FROM json_each(:ids));
DELETE FROM object WHERE kind = :kind AND id IN (SELECT value FROM json_each(:ids));

-- part: delete
-- :kind, :id, :gone: whether it is deleted for good
-- include: find
SELECT 'Error: WooCommerce API error: The ' || :kind
  || ' has already been deleted. (Status: 410)' AS error
WHERE NOT :gone AND :old ->> 'status' = 'trash';
UPDATE object
SET body = json_set(body, '$.status', 'trash'), modified = now()
WHERE kind = :kind AND id = :found AND NOT :gone;
SELECT shown AS last FROM shown WHERE kind = :kind AND id = :found;
SELECT json_array(:found) AS ids WHERE :gone;
-- include: forget
SELECT :last AS result;

-- part: batch
-- :kind; gives :inputs
SELECT 'Error: WooCommerce API error: Unable to accept more than 100 items for this request. '
  || '(Status: 413)' AS error
WHERE ifnull(json_array_length(:create), 0) + ifnull(json_array_length(:update), 0)
  + ifnull(json_array_length(:delete), 0)
  > 100;
SELECT json_group_array(json_object('op', op, 'id', id, 'data', json(data))) AS inputs
FROM (
  SELECT 'create' AS op, NULL AS id, value AS data, 0 AS part, key
  FROM json_each(ifnull(:create, '[]'))
  UNION ALL
  SELECT 'update', ifnull(value ->> 'id', 0), value, 1, key
  FROM json_each(ifnull(:update, '[]'))
  ORDER BY 4, 5
);

-- part: batch_end
SELECT
  json_group_array(json(ifnull(
    (SELECT shown FROM shown WHERE kind = :kind AND id = d.value),
    json_object(
      'id', d.value,
      'error', json_object(
        'code', 'woocommerce_rest_' || :kind || '_invalid_id',
        'message', 'Invalid ID.',
        'data', json_object('status', 404)
      )
    )
  ))) AS deleted,
  :delete AS ids
FROM json_each(ifnull(:delete, '[]')) d;
SELECT json_group_array(json_object(
  'op', c.value ->> 'op',
  'shown', json(ifnull(s.shown, json_object(
    'id', ifnull(c.value ->> 'id', 0),
    'error', json_object(
      'code', c.value ->> '$.error[0]',
      'message', c.value ->> '$.error[1]',
      'data', json_object('status', c.value ->> '$.error[2]')
    )
  )))
)) AS written
FROM json_each(:checked) c
LEFT JOIN shown s ON s.kind = :kind AND s.id = c.value ->> 'id' AND c.value ->> 'error' IS NULL;
-- include: forget
SELECT drop_nulls(json_object(
  'create', iif(
    :create IS NULL,
    NULL,
    json((
      SELECT json_group_array(json(value -> 'shown'))
      FROM json_each(:written)
      WHERE value ->> 'op' = 'create'
    ))
  ),
  'update', iif(
    :update IS NULL,
    NULL,
    json((
      SELECT json_group_array(json(value -> 'shown'))
      FROM json_each(:written)
      WHERE value ->> 'op' = 'update'
    ))
  ),
  'delete', iif(:delete IS NULL, NULL, json(:deleted))
)) AS result;

-- part: period
-- :from_day and :to_day of a report; NULL: without an end.
SELECT 'Error: WooCommerce API error: Invalid parameter(s): '
  || iif(time_read(:dateMin, 'UTC') IS NULL AND :dateMin IS NOT NULL, 'date_min', 'date_max')
  || ' (Status: 400)' AS error
WHERE :dateMin IS NOT NULL AND time_read(:dateMin, 'UTC') IS NULL
  OR :dateMax IS NOT NULL AND time_read(:dateMax, 'UTC') IS NULL;
SELECT
  CASE
    WHEN :dateMin IS NOT NULL THEN substr(:dateMin, 1, 10)
    WHEN :dateMax IS NOT NULL THEN NULL
    WHEN :period = 'week' THEN date(now(), '-6 days')
    WHEN :period = 'month' THEN date(now(), 'start of month')
    WHEN :period = 'last_month' THEN date(now(), 'start of month', '-1 month')
    WHEN :period = 'year' THEN date(now(), 'start of year')
  END AS from_day,
  CASE
    WHEN :dateMax IS NOT NULL THEN substr(:dateMax, 1, 10)
    WHEN :dateMin IS NOT NULL THEN NULL
    WHEN :period = 'last_month' THEN date(now(), 'start of month', '-1 day')
  END AS to_day;

-- ---- products ----

-- name: woo_products_list
-- include: paging
SELECT json_group_array(json(shown)) AS result
FROM (
  SELECT p.shown
  FROM shown_product p
  WHERE iif(:status IS NULL, p.status <> 'trash', p.status = :status)
    AND (
      ifnull(:search, '') = ''
      OR NOT EXISTS (
        SELECT 1
        FROM json_each('[' || replace(json_quote(lower(:search)), ' ', '","') || ']')
        WHERE instr(
          lower(
            p.name || ' ' || ifnull(p.body ->> 'description', '') || ' '
              || ifnull(p.body ->> 'short_description', '') || ' ' || ifnull(p.body ->> 'sku', '')
          ),
          value
        )
          = 0
      )
    )
    AND (
      :category IS NULL
      OR EXISTS (
        SELECT 1
        FROM product_term x
        JOIN object c ON c.kind = 'category' AND c.id = x.term_id
        WHERE x.product_id = p.id
          AND (
            instr(',' || replace(:category, ' ', '') || ',', ',' || c.id || ',')
            OR instr(',' || replace(:category, ' ', '') || ',', ',' || (c.body ->> 'parent') || ',')
          )
      )
    )
    AND (
      :tag IS NULL
      OR EXISTS (
        SELECT 1
        FROM product_term x
        WHERE x.product_id = p.id
          AND instr(',' || replace(:tag, ' ', '') || ',', ',' || x.term_id || ',')
      )
    )
    AND (:sku IS NULL OR instr(',' || :sku || ',', ',' || (p.body ->> 'sku') || ','))
    AND (:featured IS NULL OR ifnull(p.body ->> 'featured', 0) = :featured)
    AND (:onSale IS NULL OR p.is_sale = :onSale)
    AND (:minPrice IS NULL OR p.price <> '' AND CAST(p.price AS REAL) >= CAST(:minPrice AS REAL))
    AND (:maxPrice IS NULL OR p.price <> '' AND CAST(p.price AS REAL) <= CAST(:maxPrice AS REAL))
    AND (:stockStatus IS NULL OR p.stock_status = :stockStatus)
  ORDER BY
    CASE
      WHEN :order = 'asc'
        THEN CASE :orderby
          WHEN 'title' THEN lower(p.name)
          WHEN 'slug' THEN p.slug
          WHEN 'price' THEN CAST(p.price AS REAL)
          WHEN 'popularity' THEN p.shown ->> 'total_sales'
          WHEN 'rating' THEN p.shown ->> 'average_rating'
          WHEN 'id' THEN p.id
          WHEN 'include' THEN p.id
          ELSE p.created
        END
    END,
    CASE
      WHEN ifnull(:order, 'desc') = 'desc'
        THEN CASE :orderby
          WHEN 'title' THEN lower(p.name)
          WHEN 'slug' THEN p.slug
          WHEN 'price' THEN CAST(p.price AS REAL)
          WHEN 'popularity' THEN p.shown ->> 'total_sales'
          WHEN 'rating' THEN p.shown ->> 'average_rating'
          WHEN 'id' THEN p.id
          WHEN 'include' THEN p.id
          ELSE p.created
        END
    END DESC,
    iif(:order = 'asc', p.id, -p.id)
  LIMIT :n_shown OFFSET :n_before
);

-- name: woo_products_get
SELECT 'product' AS kind, :productId AS id;
-- include: get

-- name: woo_products_create
SELECT
  'product' AS kind,
  json_array(json_object('op', 'create', 'data', json(:productData))) AS inputs;
-- include: write
-- include: write_terms
-- include: answer

-- name: woo_products_update
SELECT
  'product' AS kind,
  json_array(json_object('op', 'update', 'id', :productId, 'data', json(:productData))) AS inputs;
-- include: write
-- include: write_terms
-- include: answer

-- name: woo_products_delete
SELECT 'product' AS kind, :productId AS id, ifnull(:force, 0) AS gone;
-- include: delete

-- name: woo_products_batch_update
SELECT 'product' AS kind;
-- include: batch
-- include: write
-- include: write_terms
-- include: batch_end

-- name: woo_products_variations_list
SELECT 'product' AS kind, :productId AS id;
-- include: find
-- include: paging
SELECT json_group_array(json(shown)) AS result
FROM (
  SELECT shown
  FROM shown_variation
  WHERE product_id = :found
  ORDER BY id
  LIMIT :n_shown OFFSET :n_before
);

-- name: woo_products_categories_list
-- include: paging
SELECT json_group_array(json(shown)) AS result
FROM (
  SELECT shown
  FROM shown_term
  WHERE kind = 'category'
    AND (:search IS NULL OR instr(lower(body ->> 'name'), lower(:search)))
    AND (:parent IS NULL OR full ->> 'parent' = :parent)
    AND (NOT ifnull(:hideEmpty, 0) OR n > 0)
  ORDER BY lower(body ->> 'name'), id
  LIMIT :n_shown OFFSET :n_before
);

-- name: woo_products_categories_create
SELECT 'Error: WooCommerce API error: Missing parameter(s): name (Status: 400)' AS error
WHERE ifnull(:categoryData ->> 'name', '') = '';
SELECT 'Error: WooCommerce API error: Parent term does not exist. (Status: 400)' AS error
WHERE ifnull(:categoryData ->> 'parent', 0) <> 0
  AND NOT EXISTS (SELECT 1 FROM object WHERE kind = 'category' AND id = :categoryData ->> 'parent');
SELECT 'Error: WooCommerce API error: A term with the name provided already exists with this '
  || 'parent. (Status: 400)' AS error
FROM object
WHERE kind = 'category'
  AND lower(body ->> 'name') = lower(:categoryData ->> 'name')
  AND ifnull(body ->> 'parent', 0) = ifnull(:categoryData ->> 'parent', 0)
LIMIT 1;
INSERT INTO object
SELECT
  'category',
  new_id('term'),
  drop_nulls(json_object(
    'name', :categoryData ->> 'name',
    'slug', :categoryData ->> 'slug',
    'parent', nullif(:categoryData ->> 'parent', 0),
    'description', :categoryData ->> 'description',
    'display', :categoryData ->> 'display',
    'image', json(:categoryData -> 'image'),
    'menu_order', ifnull(:categoryData ->> 'menu_order', :categoryData ->> 'menuOrder')
  )),
  now(),
  now()
RETURNING id AS new_term;
SELECT shown AS result FROM shown_term WHERE id = :new_term;

-- name: woo_products_tags_list
-- include: paging
SELECT json_group_array(json(shown)) AS result
FROM (
  SELECT shown
  FROM shown_term
  WHERE kind = 'tag'
    AND (:search IS NULL OR instr(lower(body ->> 'name'), lower(:search)))
    AND (NOT ifnull(:hideEmpty, 0) OR n > 0)
  ORDER BY lower(body ->> 'name'), id
  LIMIT :n_shown OFFSET :n_before
);

-- name: woo_products_reviews_list
-- include: paging
SELECT json_group_array(json(shown)) AS result
FROM (
  SELECT json_set(
    r.full,
    '$.id', r.id,
    '$.date_created', r.created,
    '$.date_created_gmt', r.created,
    '$.product_name', p.name,
    '$.product_permalink', p.shown ->> 'permalink'
  ) AS shown
  FROM doc r
  JOIN shown_product p ON p.id = r.body ->> 'product_id'
  WHERE r.kind = 'review'
    AND (:productId IS NULL OR p.id = :productId)
    AND (:status = 'all' OR r.full ->> 'status' = ifnull(:status, 'approved'))
  ORDER BY r.created DESC, r.id DESC
  LIMIT :n_shown OFFSET :n_before
);

-- ---- orders ----

-- name: woo_orders_list
-- include: paging
SELECT 'Error: WooCommerce API error: Invalid parameter(s): '
  || iif(:dateAfter IS NOT NULL AND time_read(:dateAfter, 'UTC') IS NULL, 'after', 'before')
  || ' (Status: 400)' AS error
WHERE :dateAfter IS NOT NULL AND time_read(:dateAfter, 'UTC') IS NULL
  OR :dateBefore IS NOT NULL AND time_read(:dateBefore, 'UTC') IS NULL;
SELECT json_group_array(json(shown)) AS result
FROM (
  SELECT o.shown
  FROM shown_order o
  WHERE iif(
    ifnull(json_array_length(:status), 0) = 0,
    o.status <> 'trash',
    o.status IN (SELECT value FROM json_each(:status))
  )
    AND (:customer IS NULL OR ifnull(o.body ->> 'customer_id', 0) = :customer)
    AND (
      :product IS NULL
      OR EXISTS (SELECT 1 FROM line l WHERE l.order_id = o.id AND l.product_id = :product)
    )
    AND (:dateAfter IS NULL OR time_read(o.created, 'UTC') > time_read(:dateAfter, 'UTC'))
    AND (:dateBefore IS NULL OR time_read(o.created, 'UTC') < time_read(:dateBefore, 'UTC'))
  ORDER BY
    CASE
      WHEN :order = 'asc' THEN iif(ifnull(:orderby, 'date') IN ('date', 'title'), o.created, o.id)
    END,
    CASE
      WHEN ifnull(:order, 'desc') = 'desc'
        THEN iif(ifnull(:orderby, 'date') IN ('date', 'title'), o.created, o.id)
    END DESC,
    iif(:order = 'asc', o.id, -o.id)
  LIMIT :n_shown OFFSET :n_before
);

-- name: woo_orders_get
SELECT 'order' AS kind, :orderId AS id;
-- include: get

-- name: woo_orders_create
SELECT 'order' AS kind, json_array(json_object('op', 'create', 'data', json(:orderData))) AS inputs;
-- include: write
-- include: write_lines
-- include: answer

-- name: woo_orders_update
SELECT
  'order' AS kind,
  json_array(json_object('op', 'update', 'id', :orderId, 'data', json(:orderData))) AS inputs;
-- include: write
-- include: refuse
-- include: write_lines
-- include: answer

-- name: woo_orders_delete
SELECT 'order' AS kind, :orderId AS id, ifnull(:force, 0) AS gone;
-- include: delete

-- name: woo_orders_batch_update
SELECT 'order' AS kind;
-- include: batch
-- include: write
-- include: write_lines
-- include: batch_end

-- name: woo_orders_notes_create
SELECT 'order' AS kind, :orderId AS id;
SELECT o.id AS found FROM object o WHERE o.kind = 'order' AND o.id = :orderId;
SELECT 'Error: WooCommerce API endpoint not found. Please check if WooCommerce is installed and '
  || 'REST API is enabled. URL: /orders/' || :orderId || '/notes' AS error
WHERE :found IS NULL;
SELECT 'Error: WooCommerce API error: Missing parameter(s): note (Status: 400)' AS error
WHERE :note = '';
INSERT INTO note VALUES (
  new_id('comment'),
  :orderId,
  'admin',
  :note,
  ifnull(:customerNote, 0),
  now()
)
RETURNING id AS new_note;
SELECT json_object(
  'id', id,
  'author', author,
  'date_created', strftime('%Y-%m-%dT%H:%M:%S', created),
  'date_created_gmt', strftime('%Y-%m-%dT%H:%M:%S', created),
  'note', text,
  'customer_note', json(iif(is_for_customer, 'true', 'false'))
) AS result
FROM note
WHERE id = :new_note;

-- name: woo_orders_refunds_create
SELECT o.id AS found, o.total - o.refunded AS rest, o.body ->> 'payment_method' AS gateway
FROM shown_order o
WHERE o.id = :orderId;
SELECT 'Error: WooCommerce API endpoint not found. Please check if WooCommerce is installed and '
  || 'REST API is enabled. URL: /orders/' || :orderId || '/refunds' AS error
WHERE :found IS NULL;
SELECT round(
  CAST(
    ifnull(
      :amount,
      (SELECT sum(value ->> 'refund_total') FROM json_each(ifnull(:lineItems, '[]')))
    ) AS REAL
  ),
  2
) AS amount_back;
SELECT 'Error: WooCommerce API error: ' || CASE
  WHEN ifnull(:amount_back, 0) <= 0
    THEN 'Refund amount must be greater than zero.' || ' (Status: 400)'
  WHEN :amount_back > :rest + 0.001 THEN 'Invalid refund amount. (Status: 500)'
  WHEN l.value IS NOT NULL
    THEN 'Order item ID provided is not associated with order.' || ' (Status: 400)'
  ELSE 'The payment gateway for this order does not support automatic refunds.' || ' (Status: 500)'
END AS error
FROM (SELECT 1)
LEFT JOIN json_each(ifnull(:lineItems, '[]')) l
  ON l.value ->> 'id' NOT IN (SELECT id FROM line WHERE order_id = :found)
WHERE ifnull(:amount_back, 0) <= 0
  OR :amount_back > :rest + 0.001
  OR l.value IS NOT NULL
  OR :refundPayment;
INSERT INTO refund VALUES (
  new_id('post'),
  :found,
  :amount_back,
  ifnull(:reason, ''),
  ifnull(:lineItems, '[]'),
  now()
)
RETURNING id AS new_refund;
UPDATE object
SET body = json_set(body, '$.status', 'refunded'), modified = now()
WHERE kind = 'order' AND id = :found AND :rest - :amount_back < 0.005;
SELECT json_object(
  'id', r.id,
  'parent_id', r.order_id,
  'date_created', strftime('%Y-%m-%dT%H:%M:%S', r.created),
  'date_created_gmt', strftime('%Y-%m-%dT%H:%M:%S', r.created),
  'amount', printf('%.2f', r.amount),
  'reason', r.reason,
  'refunded_by', 1,
  'refunded_payment', json('false'),
  'meta_data', json('[]'),
  'line_items', (
    SELECT json_group_array(json_object(
      'id', l.id,
      'name', l.name,
      'product_id', l.product_id,
      'variation_id', l.variation_id,
      'quantity', 0,
      'total', printf('%.2f', - (j.value ->> 'refund_total'))
    ))
    FROM json_each(r.lines) j
    JOIN line l ON l.id = j.value ->> 'id'
  ),
  'shipping_lines', json('[]'),
  'tax_lines', json('[]'),
  'fee_lines', json('[]')
) AS result
FROM refund r
WHERE r.id = :new_refund;

-- ---- customers ----

-- name: woo_customers_list
-- include: paging
SELECT json_group_array(json(shown)) AS result
FROM (
  SELECT c.shown
  FROM shown_customer c
  WHERE (:role = 'all' OR c.role = ifnull(:role, 'customer'))
    AND (:email IS NULL OR lower(c.body ->> 'email') = lower(:email))
    AND (
      :search IS NULL
      OR instr(
        lower(c.name || ' ' || (c.body ->> 'email') || ' ' || ifnull(c.body ->> 'username', '')),
        lower(:search)
      )
    )
  ORDER BY
    CASE
      WHEN ifnull(:order, 'asc') = 'asc'
        THEN CASE ifnull(:orderby, 'name')
          WHEN 'name' THEN lower(c.name)
          WHEN 'registered_date' THEN c.created
          ELSE c.id
        END
    END,
    CASE
      WHEN :order = 'desc'
        THEN CASE ifnull(:orderby, 'name')
          WHEN 'name' THEN lower(c.name)
          WHEN 'registered_date' THEN c.created
          ELSE c.id
        END
    END DESC,
    c.id
  LIMIT :n_shown OFFSET :n_before
);

-- name: woo_customers_get
SELECT 'customer' AS kind, :customerId AS id;
-- include: get

-- name: woo_customers_create
SELECT
  'customer' AS kind,
  json_array(json_object(
    'op', 'create',
    'data', json_patch(
      json_object(
        'username', substr(:customerData ->> 'email', 1, instr(:customerData ->> 'email', '@') - 1)
      ),
      :customerData
    )
  )) AS inputs;
-- include: write
-- include: answer

-- name: woo_customers_update
SELECT
  'customer' AS kind,
  json_array(json_object('op', 'update', 'id', :customerId, 'data', json(:customerData))) AS inputs;
-- include: write
-- include: answer

-- ---- coupons ----

-- name: woo_coupons_list
-- include: paging
SELECT json_group_array(json(shown)) AS result
FROM (
  SELECT shown
  FROM shown_coupon
  WHERE status <> 'trash'
    AND (:code IS NULL OR code = lower(:code))
    AND (
      :search IS NULL
      OR instr(code || ' ' || lower(ifnull(body ->> 'description', '')), lower(:search))
    )
  ORDER BY created DESC, id DESC
  LIMIT :n_shown OFFSET :n_before
);

-- name: woo_coupons_get
SELECT 'coupon' AS kind, :couponId AS id;
-- include: get

-- name: woo_coupons_create
SELECT
  'coupon' AS kind,
  json_array(json_object('op', 'create', 'data', json(:couponData))) AS inputs;
-- include: write
-- include: answer

-- name: woo_coupons_update
SELECT
  'coupon' AS kind,
  json_array(json_object('op', 'update', 'id', :couponId, 'data', json(:couponData))) AS inputs;
-- include: write
-- include: answer

-- name: woo_coupons_delete
SELECT 'coupon' AS kind, :couponId AS id, ifnull(:force, 1) AS gone;
-- include: delete

-- ---- reports ----

-- name: woo_reports_sales
-- include: period
SELECT
  iif(:from_day IS NULL AND :to_day IS NULL, date(now(), '-6 days'), :from_day) AS first_day,
  :to_day AS last_day;
WITH sold AS MATERIALIZED (
  SELECT
    o.id,
    substr(o.created, 1, 10) AS day,
    s.total,
    s.shipping,
    s.discount,
    s.refunded,
    nullif(ifnull(o.body ->> 'customer_id', 0), 0) AS customer,
    (SELECT ifnull(sum(quantity), 0) FROM line WHERE order_id = o.id) AS items
  FROM doc o
  JOIN order_sum s ON s.id = o.id
  WHERE o.kind = 'order'
    AND o.full ->> 'status' IN ('completed', 'processing', 'on-hold')
    AND (:first_day IS NULL OR substr(o.created, 1, 10) >= :first_day)
    AND (:last_day IS NULL OR substr(o.created, 1, 10) <= :last_day)
),
days AS (
  SELECT json_group_object(day, json(entry)) AS totals, count(*) AS n
  FROM (
    SELECT
      day,
      json_object(
        'sales', printf('%.2f', sum(total)),
        'orders', count(*),
        'items', sum(items),
        'tax', '0.00',
        'shipping', printf('%.2f', sum(shipping)),
        'discount', printf('%.2f', sum(discount)),
        'customers', count(DISTINCT customer)
      ) AS entry
    FROM sold
    GROUP BY day
    ORDER BY day
  )
)
SELECT json_array(json_object(
  'total_sales', printf('%.2f', ifnull(sum(total - refunded), 0)),
  'net_sales', printf('%.2f', ifnull(sum(total - refunded - shipping), 0)),
  'average_sales', printf('%.2f', ifnull(sum(total - refunded) / max((SELECT n FROM days), 1), 0)),
  'total_orders', count(*),
  'total_items', ifnull(sum(items), 0),
  'total_tax', '0.00',
  'total_shipping', printf('%.2f', ifnull(sum(shipping), 0)),
  'total_refunds', round(ifnull(sum(refunded), 0), 2),
  'total_discount', printf('%.2f', ifnull(sum(discount), 0)),
  'totals_grouped_by', 'day',
  'totals', json((SELECT totals FROM days)),
  'total_customers', count(DISTINCT customer)
)) AS result
FROM sold;

-- name: woo_reports_top_sellers
-- include: paging
-- include: period
SELECT
  iif(:from_day IS NULL AND :to_day IS NULL, date(now(), '-6 days'), :from_day) AS first_day,
  :to_day AS last_day;
SELECT json_group_array(json(item)) AS result
FROM (
  SELECT json_object(
    'name', ifnull((
      SELECT body ->> 'name' FROM object WHERE kind = 'product' AND id = product_id
    ), name),
    'product_id', product_id,
    'quantity', sum(quantity)
  ) AS item
  FROM sale
  WHERE (:first_day IS NULL OR substr(created, 1, 10) >= :first_day)
    AND (:last_day IS NULL OR substr(created, 1, 10) <= :last_day)
  GROUP BY product_id
  ORDER BY sum(quantity) DESC, product_id
  LIMIT :n_shown OFFSET :n_before
);

-- name: woo_reports_customers
-- include: period
SELECT json_array(
  json_object('slug', 'paying', 'name', 'Paying customer', 'total', ifnull(sum(paid), 0)),
  json_object(
    'slug', 'non_paying',
    'name', 'Non-paying customer',
    'total', ifnull(sum(NOT paid), 0)
  )
) AS result
FROM (
  SELECT shown ->> 'is_paying_customer' AS paid
  FROM shown_customer
  WHERE role = 'customer'
    AND (:from_day IS NULL OR substr(created, 1, 10) >= :from_day)
    AND (:to_day IS NULL OR substr(created, 1, 10) <= :to_day)
);

-- name: woo_reports_orders
-- include: period
SELECT json_group_array(json_object(
  'slug', slug,
  'name', name,
  'total', (
    SELECT count(*)
    FROM doc o
    WHERE o.kind = 'order'
      AND o.full ->> 'status' = s.slug
      AND (:from_day IS NULL OR substr(o.created, 1, 10) >= :from_day)
      AND (:to_day IS NULL OR substr(o.created, 1, 10) <= :to_day)
  )
)) AS result
FROM (SELECT * FROM order_status ORDER BY rowid) s;

-- name: woo_reports_products
-- include: paging
-- include: period
SELECT json_group_array(json_object(
  'slug', slug,
  'name', name,
  'total', (
    SELECT count(*)
    FROM doc p
    WHERE p.kind = 'product'
      AND p.full ->> 'type' = s.slug
      AND p.full ->> 'status' <> 'trash'
      AND (:from_day IS NULL OR substr(p.created, 1, 10) >= :from_day)
      AND (:to_day IS NULL OR substr(p.created, 1, 10) <= :to_day)
  )
)) AS result
FROM (
  SELECT column1 AS slug, column2 AS name
  FROM (
    VALUES
      ('external', 'External/Affiliate product'),
      ('grouped', 'Grouped product'),
      ('simple', 'Simple product'),
      ('variable', 'Variable product')
  )
  LIMIT :n_shown OFFSET :n_before
) s;

-- part: stock
-- :only_low
SELECT json_group_array(json(item)) AS result
FROM (
  SELECT json_object(
    'id', s.id,
    'parent_id', d.full ->> 'parent_id',
    'name', ifnull(
      d.full ->> 'name',
      (SELECT body ->> 'name' FROM object WHERE kind = 'product' AND id = d.full ->> 'parent_id')
    ),
    'sku', d.full ->> 'sku',
    'stock_status', s.status,
    'stock_quantity', s.quantity,
    'manage_stock', json(iif(d.full ->> 'manage_stock', 'true', 'false')),
    'low_stock_amount', s.low
  ) AS item
  FROM stock_of s
  JOIN doc d ON d.kind = s.kind AND d.id = s.id
  WHERE d.full ->> 'status' <> 'trash' AND (NOT :only_low OR s.quantity <= s.low)
  ORDER BY s.quantity IS NULL, s.quantity, s.id
  LIMIT :n_shown OFFSET :n_before
);

-- name: woo_reports_stock
SELECT 0 AS only_low;
-- include: paging
-- include: stock

-- name: woo_reports_low_stock
SELECT 1 AS only_low;
-- include: paging
-- include: stock

-- ---- shipping and taxes ----

-- name: woo_shipping_zones_list
SELECT json_group_array(json(shown)) AS result
FROM (
  SELECT
    '{"id":0,"name":"Locations not covered by your other zones","order":0}' AS shown, -1 AS place,
    0 AS id
  UNION ALL
  SELECT json_set(full, '$.id', id), full ->> 'order', id FROM doc WHERE kind = 'zone' ORDER BY 2, 3
);

-- part: find_zone
SELECT id AS found FROM object WHERE kind = 'zone' AND id = :zoneId
UNION ALL
SELECT 0 WHERE :zoneId = 0;
SELECT 'Error: WooCommerce API endpoint not found. Please check if WooCommerce is installed and '
  || 'REST API is enabled. URL: /shipping/zones/' || :zoneId || :path AS error
WHERE :found IS NULL;

-- name: woo_shipping_zones_get
SELECT '' AS path;
-- include: find_zone
SELECT json_set(full, '$.id', id) AS result FROM doc WHERE kind = 'zone' AND id = :found
UNION ALL
SELECT '{"id":0,"name":"Locations not covered by your other zones","order":0}' WHERE :found = 0;

-- name: woo_shipping_zones_create
SELECT 'Error: WooCommerce API error: Missing parameter(s): name (Status: 400)' AS error
WHERE trim(:name) = '';
INSERT INTO object
SELECT 'zone', new_id('zone'), drop_nulls(json_object('name', :name, 'order', :order)), now(), now()
RETURNING id AS new_zone;
SELECT json_set(full, '$.id', id) AS result FROM doc WHERE kind = 'zone' AND id = :new_zone;

-- name: woo_shipping_zones_update
SELECT '' AS path;
-- include: find_zone
SELECT 'Error: WooCommerce API access forbidden. Please check your API key permissions.' AS error
WHERE :found = 0;
UPDATE object
SET
  body = json_patch(body, drop_nulls(json_object('name', :name, 'order', :order))),
  modified = now()
WHERE kind = 'zone' AND id = :found;
SELECT json_set(full, '$.id', id) AS result FROM doc WHERE kind = 'zone' AND id = :found;

-- name: woo_shipping_zone_methods_list
SELECT '/methods' AS path;
-- include: find_zone
SELECT json_group_array(json(shown)) AS result
FROM (SELECT shown FROM shown_method WHERE zone_id = :found ORDER BY id);

-- name: woo_shipping_zone_methods_create
SELECT '/methods' AS path;
-- include: find_zone
SELECT 'Error: WooCommerce API error: Resource cannot be created. (Status: 500)' AS error
WHERE :methodId NOT IN (SELECT id FROM method_type);
INSERT INTO method VALUES (
  new_id('method'),
  :found,
  :methodId,
  ifnull(:enabled, 1),
  ifnull(:settings, '{}')
)
RETURNING id AS new_method;
SELECT shown AS result FROM shown_method WHERE id = :new_method;

-- name: woo_tax_rates_list
-- include: paging
SELECT json_group_array(json(shown)) AS result
FROM (
  SELECT json_set(full, '$.id', id) AS shown
  FROM doc
  WHERE kind = 'rate' AND (:taxClass IS NULL OR full ->> 'class' = :taxClass)
  ORDER BY id
  LIMIT :n_shown OFFSET :n_before
);

-- name: woo_tax_rates_get
SELECT 'rate' AS kind, :rateId AS id;
-- include: find
SELECT json_set(full, '$.id', id) AS result FROM doc WHERE kind = 'rate' AND id = :found;

-- name: woo_tax_rates_create
SELECT 'Error: WooCommerce API error: Invalid parameter(s): '
  || iif(:rate = '' OR :rate GLOB '*[^0-9.]*', 'rate', 'class') || ' (Status: 400)' AS error
WHERE :rate = ''
  OR :rate GLOB '*[^0-9.]*'
  OR ifnull(:class, 'standard') NOT IN (SELECT slug FROM tax_class);
INSERT INTO object
SELECT
  'rate',
  new_id('rate'),
  drop_nulls(json_object(
    'country', upper(:country),
    'state', upper(:state),
    'rate', printf('%.4f', CAST(:rate AS REAL)),
    'name', :name,
    'priority', :priority,
    'compound', json(iif(:compound, 'true', NULL)),
    'shipping', json(iif(ifnull(:shipping, 1), NULL, 'false')),
    'class', :class
  )),
  now(),
  now()
RETURNING id AS new_rate;
SELECT json_set(full, '$.id', id) AS result FROM doc WHERE kind = 'rate' AND id = :new_rate;

-- name: woo_tax_classes_list
SELECT json_group_array(json_object('slug', slug, 'name', name)) AS result
FROM (SELECT * FROM tax_class ORDER BY rowid);

-- ---- the system ----

-- name: woo_system_status
SELECT json_object(
  'environment', json_object(
    'home_url', 'https://shop.larkspur.example',
    'site_url', 'https://shop.larkspur.example',
    'version', '9.4.2',
    'wp_version', '6.7.1',
    'wp_multisite', json('false'),
    'wp_memory_limit', 268435456,
    'wp_debug_mode', json('false'),
    'wp_cron', json('true'),
    'language', 'en_US',
    'server_info', 'nginx/1.26.2',
    'php_version', '8.2.26',
    'mysql_version', '8.0.40',
    'default_timezone', 'UTC'
  ),
  'database', json_object('wc_database_version', '9.4.2', 'database_prefix', 'wp_'),
  'active_plugins', json_array(json_object(
    'plugin', 'woocommerce/woocommerce.php',
    'name', 'WooCommerce',
    'version', '9.4.2',
    'author_name', 'Automattic',
    'network_activated', json('false')
  )),
  'theme', json_object('name', 'Storefront', 'version', '4.6.0', 'is_child_theme', json('false')),
  'settings', json_object(
    'api_enabled', json('false'),
    'force_ssl', json('false'),
    'currency', 'USD',
    'currency_symbol', '&#36;',
    'currency_position', 'left',
    'thousand_separator', ',',
    'decimal_separator', '.',
    'number_of_decimals', 2
  ),
  'security', json_object('secure_connection', json('true'), 'hide_errors', json('true')),
  'pages', json('[]'),
  'post_type_counts', json_array(
    json_object(
      'type', 'product',
      'count', (SELECT CAST(count(*) AS TEXT) FROM object WHERE kind = 'product')
    ),
    json_object(
      'type', 'shop_order',
      'count', (SELECT CAST(count(*) AS TEXT) FROM object WHERE kind = 'order')
    ),
    json_object(
      'type', 'shop_coupon',
      'count', (SELECT CAST(count(*) AS TEXT) FROM object WHERE kind = 'coupon')
    )
  )
) AS result;

-- name: woo_system_tools_list
SELECT json_group_array(json_object(
  'id', id,
  'name', name,
  'action', action,
  'description', description
)) AS result
FROM (SELECT * FROM system_tool ORDER BY rowid);

-- name: woo_system_tools_run
SELECT json_object(
  'id', id,
  'name', name,
  'action', action,
  'description', description,
  'success', json('true'),
  'message', message
) AS result
FROM system_tool
WHERE id = :toolId;

-- name: woo_settings_list
SELECT json_group_array(json_object(
  'id', id,
  'label', label,
  'description', '',
  'parent_id', '',
  'sub_groups', json('[]')
)) AS result
FROM (SELECT * FROM setting_group ORDER BY place);

-- name: woo_settings_get
SELECT 'Error: WooCommerce API endpoint not found. Please check if WooCommerce is installed and '
  || 'REST API is enabled. URL: /settings/' || :groupId AS error
WHERE :groupId NOT IN (SELECT id FROM setting_group);
SELECT json_group_array(json_object(
  'id', id,
  'label', label,
  'description', '',
  'type', type,
  'default', "default",
  'value', value,
  'group_id', group_id
)) AS result
FROM (SELECT * FROM setting WHERE group_id = :groupId ORDER BY rowid);

-- name: woo_payment_gateways_list
SELECT json_group_array(json(shown)) AS result
FROM (SELECT shown FROM shown_gateway ORDER BY place);

-- part: find_gateway
SELECT 'Error: WooCommerce API endpoint not found. Please check if WooCommerce is installed and '
  || 'REST API is enabled. URL: /payment_gateways/' || :gatewayId AS error
WHERE :gatewayId NOT IN (SELECT id FROM gateway);

-- name: woo_payment_gateways_get
-- include: find_gateway
SELECT shown AS result FROM shown_gateway WHERE id = :gatewayId;

-- name: woo_payment_gateways_update
-- include: find_gateway
SELECT 'Error: WooCommerce API error: An invalid setting value was passed. (Status: 400)' AS error
FROM json_each(ifnull(:settings, '{}'))
WHERE type IN ('array', 'object')
LIMIT 1;
UPDATE gateway
SET
  is_enabled = ifnull(:enabled, is_enabled),
  title = ifnull(:title, ifnull(:settings ->> 'title', title)),
  description = ifnull(:description, description),
  is_changed = 1,
  settings = json_remove(json_patch(settings, ifnull(:settings, '{}')), '$.title')
WHERE id = :gatewayId;
SELECT shown AS result FROM shown_gateway WHERE id = :gatewayId;

-- part: webhook
SELECT json_group_array(json(shown)) AS shown_hooks
FROM (
  SELECT json_remove(
    json_set(
      full,
      '$.id', id,
      '$.resource', substr(full ->> 'topic', 1, instr(full ->> 'topic', '.') - 1),
      '$.event', substr(full ->> 'topic', instr(full ->> 'topic', '.') + 1),
      '$.date_created', created,
      '$.date_created_gmt', created,
      '$.date_modified', modified,
      '$.date_modified_gmt', modified
    ),
    '$.secret'
  ) AS shown
  FROM doc
  WHERE kind = 'webhook'
    AND (:status IS NULL OR full ->> 'status' = :status)
    AND (:new_hook IS NULL OR id = :new_hook)
  ORDER BY id DESC
  LIMIT :n_shown OFFSET :n_before
);

-- name: woo_webhooks_list
-- include: paging
SELECT NULL AS new_hook;
-- include: webhook
SELECT :shown_hooks AS result;

-- name: woo_webhooks_create
SELECT 'Error: WooCommerce API error: Webhook delivery URL must be a valid URL starting with '
  || 'http:// or https://. (Status: 400)' AS error
WHERE lower(:delivery_url) NOT GLOB 'http://?*' AND lower(:delivery_url) NOT GLOB 'https://?*';
INSERT INTO object
SELECT
  'webhook',
  new_id('webhook'),
  drop_nulls(json_object(
    'name', :name,
    'topic', :topic,
    'delivery_url', :delivery_url,
    'status', :status,
    'secret', :secret
  )),
  now(),
  now()
RETURNING id AS new_hook;
SELECT 1 AS n_shown, 0 AS n_before;
-- include: webhook
SELECT :shown_hooks -> 0 AS result;
