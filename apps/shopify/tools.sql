-- The tools of Shopify. Ids come as texts, cursors say where a page begins. What the API refuses is
-- told as Klavis's server words it: "GraphQL errors: " and the API's own errors.

-- part: not_found
SELECT 'GraphQL errors: "Not Found"' AS error WHERE :found IS NULL;

-- part: refused
SELECT 'GraphQL errors: ' || :problem AS error WHERE :problem IS NOT NULL;

-- part: page
SELECT
  min(CAST(ifnull(:limit, 50) AS INTEGER), 250) AS size,
  iif(ifnull(:cursor, '') = '', '{"skip":0}', CAST(unbase64(:cursor) AS TEXT)) AS mark;
SELECT iif(json_valid(:mark), :mark ->> 'skip', NULL) AS skip;
SELECT CASE
  WHEN typeof(:skip) <> 'integer' THEN '{"page_info":"Invalid value."}'
  WHEN :size < 1 THEN '{"limit":"Limit must be between 1 and 250"}'
END AS problem;
-- include: refused

-- part: pages
-- Cursors of the pages around :items, of :total in all.
SELECT drop_nulls(json_object(
  'previousCursor', iif(
    :skip > 0,
    base64(json_object('direction', 'previous', 'skip', max(:skip - :size, 0))),
    NULL
  ),
  'nextCursor', iif(
    :skip + :size < :total,
    base64(json_object('direction', 'next', 'skip', :skip + :size)),
    NULL
  )
)) AS pages;

-- part: list
-- include: pages
SELECT json_indent(drop_nulls(json_object(
  'items', json(:items),
  'count', json_array_length(:items),
  'pagination', iif(:pages = '{}', NULL, json(:pages))
))) AS result;

-- part: raw_list
-- The same as the API has it: below :name, with the header that leads on.
-- include: pages
SELECT '<https://larkspur.example/admin/api/2025-04/' || :name || '.json?limit=' || :size
  || '&page_info=' AS link;
SELECT drop_nulls(json_patch(
  json_object(:name, json(:items)),
  json_object(
    '_linkHeader', nullif(
      ifnull(:link || (:pages ->> 'previousCursor') || '>; rel="previous"', '')
        || iif(:pages ->> 'previousCursor' IS NULL OR :pages ->> 'nextCursor' IS NULL, '', ', ')
        || ifnull(:link || (:pages ->> 'nextCursor') || '>; rel="next"', ''),
      ''
    )
  )
)) AS result;

-- part: slug
-- What addresses call a :title.
SELECT '{"title":["Title is too long (maximum is 255 characters)"]}' AS problem
WHERE length(:title) > 255;
-- include: refused
WITH RECURSIVE c (i, text) AS (
  SELECT 1, ''
  UNION ALL
  SELECT
    i + 1,
    text || CASE
      WHEN substr(lower(:title), i, 1) GLOB '[a-z0-9]' THEN substr(lower(:title), i, 1)
      WHEN text = '' OR text GLOB '*-' THEN ''
      ELSE '-'
    END
  FROM c
  WHERE i <= length(:title)
)
SELECT rtrim(text, '-') AS slug
FROM c
ORDER BY i DESC
LIMIT 1;

-- part: lines
-- :line_items and :customer of an order or a draft.
SELECT 'Missing required argument: line_items' AS error
WHERE ifnull(json_array_length(:line_items), 0) = 0;
SELECT CASE
  WHEN v.id IS NULL
    THEN '{"line_items":["Variant ' || (l.value ->> 'variant_id') || ' does not exist"]}'
  ELSE '{"line_items":["Quantity must be a whole number greater than 0"]}'
END AS problem
FROM json_each(:line_items) l
LEFT JOIN variant v ON v.id = l.value ->> 'variant_id'
WHERE v.id IS NULL
  OR l.value ->> 'quantity' < 1
  OR CAST(l.value ->> 'quantity' AS INTEGER) <> l.value ->> 'quantity'
LIMIT 1;
-- include: refused
SELECT iif(
  :customer IS NOT NULL AND NOT mail_is_address(:customer ->> 'email'),
  '{"customer":["Email is invalid"]}',
  NULL
) AS problem;
-- include: refused
-- Who is not known yet becomes a customer.
INSERT INTO customer
SELECT
  (SELECT ifnull(max(id), 7203450000300) + 1 FROM customer),
  :customer ->> 'email',
  nullif(:customer ->> 'first_name', ''),
  nullif(:customer ->> 'last_name', ''),
  :shipping_address ->> 'address1',
  :shipping_address ->> 'city',
  :shipping_address ->> 'province',
  :shipping_address ->> 'zip',
  ifnull(:shipping_address ->> 'country', 'US'),
  now()
WHERE :customer IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM customer WHERE email = :customer ->> 'email');
SELECT min(id) AS buyer FROM customer WHERE email = :customer ->> 'email';

-- name: shopify_list_products
-- include: page
SELECT '{' || json_quote(key) || ':"Invalid value."}' AS problem
FROM json_each(:args)
WHERE key GLOB '*_at_m??' AND value <> '' AND time_read(value, 'UTC') IS NULL
LIMIT 1;
-- include: refused
WITH p AS (
  SELECT p.id, p.json
  FROM product_row p
  WHERE (
    ifnull(:collection_id, '') = ''
    OR EXISTS (
      SELECT 1
      FROM collect c
      WHERE c.product_id = p.id AND c.collection_id = CAST(:collection_id AS INTEGER)
    )
  )
    AND (:status IS NULL OR p.status = :status)
    AND (ifnull(:vendor, '') = '' OR p.vendor = :vendor)
    AND (ifnull(:product_type, '') = '' OR p.product_type = :product_type)
    AND (ifnull(:since_id, '') = '' OR p.id > CAST(:since_id AS INTEGER))
    AND (
      ifnull(:created_at_min, '') = ''
      OR time_read(p.created_at, 'UTC') >= time_read(:created_at_min, 'UTC')
    )
    AND (
      ifnull(:created_at_max, '') = ''
      OR time_read(p.created_at, 'UTC') <= time_read(:created_at_max, 'UTC')
    )
    AND (
      ifnull(:updated_at_min, '') = ''
      OR time_read(p.updated_at, 'UTC') >= time_read(:updated_at_min, 'UTC')
    )
    AND (
      ifnull(:updated_at_max, '') = ''
      OR time_read(p.updated_at, 'UTC') <= time_read(:updated_at_max, 'UTC')
    )
)
SELECT (SELECT count(*) FROM p) AS total, json_group_array(json(json)) AS items
FROM (SELECT json FROM p ORDER BY id LIMIT :size OFFSET :skip);
-- include: list

-- name: shopify_get_product
SELECT 'Missing required argument: product_id' AS error WHERE :product_id = '';
SELECT id AS found FROM product WHERE id = CAST(:product_id AS INTEGER);
-- include: not_found
SELECT json_indent(json) AS result FROM product_row WHERE id = :found;

-- name: shopify_create_product
SELECT 'Missing required argument: title' AS error WHERE trim(:title) = '';
SELECT iif(ifnull(json_array_length(:variants), 0) = 0, '[{"price":"0.00"}]', :variants) AS list;
SELECT '{"variants":["Price must be a number greater than or equal to 0"]}' AS problem
FROM json_each(:list)
WHERE value ->> 'price' NOT GLOB '[0-9]*' OR value ->> 'price' GLOB '*[^0-9.]*'
LIMIT 1;
-- include: refused
SELECT json_object('base', json_array('The variant ''' || title || ''' already exists.')) AS problem
FROM (
  SELECT ifnull(nullif(value ->> 'option1', ''), 'Default Title')
    || ifnull(' / ' || nullif(value ->> 'option2', ''), '')
    || ifnull(' / ' || nullif(value ->> 'option3', ''), '') AS title
  FROM json_each(:list)
)
GROUP BY title
HAVING count(*) > 1
LIMIT 1;
-- include: refused
-- include: slug
SELECT count(*) AS same FROM product WHERE handle = :slug OR handle GLOB :slug || '-[0-9]*';
INSERT INTO product VALUES (
  (SELECT ifnull(max(id), 8142350000100) + 1 FROM product),
  :title,
  nullif(:body_html, ''),
  :slug || iif(:same > 0, '-' || :same, ''),
  ifnull(nullif(:vendor, ''), 'Larkspur'),
  ifnull(:product_type, ''),
  ifnull(:tags, ''),
  ifnull(:status, 'active'),
  now(),
  now()
)
RETURNING id AS new_product;
SELECT ifnull(max(id), 44871230000200) + 1 AS first_variant FROM variant;
INSERT INTO variant
SELECT
  :first_variant + key,
  :new_product,
  key + 1,
  printf('%.2f', CAST(value ->> 'price' AS REAL)),
  ifnull(value ->> 'sku', ''),
  ifnull(
    nullif(nullif(value ->> 'option1', ''), 'Default Title'),
    iif(nullif(value ->> 'option2', '') IS NULL, NULL, 'Default Title')
  ),
  nullif(value ->> 'option2', ''),
  nullif(value ->> 'option3', ''),
  now()
FROM json_each(:list)
ORDER BY key;
INSERT INTO level
SELECT
  :first_variant + l.key,
  (SELECT min(id) FROM location),
  CAST(ifnull(l.value ->> 'inventory_quantity', 0) AS INTEGER),
  now()
FROM json_each(:list) l;
SELECT json_indent(json) AS result FROM product_row WHERE id = :new_product;

-- name: shopify_update_product
SELECT 'Missing required argument: product_id' AS error WHERE :product_id = '';
SELECT id AS found FROM product WHERE id = CAST(:product_id AS INTEGER);
-- include: not_found
SELECT iif(trim(:title) = '', '{"title":["can''t be blank"]}', NULL) AS problem;
-- include: refused
UPDATE product
SET
  title = ifnull(:title, title),
  body_html = iif(:body_html IS NULL, body_html, nullif(:body_html, '')),
  vendor = ifnull(nullif(:vendor, ''), vendor),
  product_type = ifnull(:product_type, product_type),
  tags = ifnull(:tags, tags),
  status = ifnull(:status, status),
  updated_at = now()
WHERE id = :found;
SELECT json_indent(json) AS result FROM product_row WHERE id = :found;

-- name: shopify_list_orders
-- include: page
WITH o AS (SELECT number, json FROM order_row WHERE ifnull(:status, 'any') IN ('any', status))
SELECT (SELECT count(*) FROM o) AS total, json_group_array(json(json)) AS items
FROM (SELECT json FROM o ORDER BY number DESC LIMIT :size OFFSET :skip);
-- include: list

-- name: shopify_get_order
SELECT 'Missing required argument: order_id' AS error WHERE :order_id = '';
SELECT number AS found FROM order_view WHERE id = CAST(:order_id AS INTEGER);
-- include: not_found
SELECT json_indent(json) AS result FROM order_row WHERE number = :found;

-- name: shopify_create_order
-- include: lines
INSERT INTO "order" (
  number, customer_id, financial_status, shipping_address, created_at, updated_at
) VALUES (
  (SELECT ifnull(max(number), 1000) + 1 FROM "order"),
  :buyer,
  'paid',
  :shipping_address,
  now(),
  now()
)
RETURNING number AS new_order;
INSERT INTO line (id, order_number, variant_id, quantity)
SELECT
  (SELECT ifnull(max(id), 14502340000500) FROM line) + key + 1,
  :new_order,
  value ->> 'variant_id',
  CAST(value ->> 'quantity' AS INTEGER)
FROM json_each(:line_items)
ORDER BY key;
SELECT json_indent(json) AS result FROM order_row WHERE number = :new_order;

-- name: shopify_list_customers
-- include: page
SELECT (SELECT count(*) FROM customer) AS total, json_group_array(json(json)) AS items
FROM (SELECT json FROM customer_row ORDER BY id LIMIT :size OFFSET :skip);
-- include: list

-- name: shopify_get_customer
SELECT 'Missing required argument: customer_id' AS error WHERE :customer_id = '';
SELECT id AS found FROM customer WHERE id = CAST(:customer_id AS INTEGER);
-- include: not_found
SELECT json_indent(json) AS result FROM customer_row WHERE id = :found;

-- name: shopify_list_collections
-- include: page
SELECT json_object(
  'custom_collections', (
    SELECT json_group_array(json(json))
    FROM (
      SELECT json
      FROM collection_row
      WHERE type = 'custom' AND (ifnull(:title, '') = '' OR title = :title)
      ORDER BY id
      LIMIT :size OFFSET :skip
    )
  ),
  'smart_collections', (
    SELECT json_group_array(json(json))
    FROM (
      SELECT json
      FROM collection_row
      WHERE type = 'smart' AND (ifnull(:title, '') = '' OR title = :title)
      ORDER BY id
      LIMIT :size OFFSET :skip
    )
  )
) AS result;

-- name: shopify_get_collection
SELECT 'Missing required argument: collection_id' AS error WHERE :collection_id = '';
SELECT id AS found
FROM collection
WHERE id = CAST(:collection_id AS INTEGER) AND type = ifnull(:type, 'custom');
-- include: not_found
SELECT json_object(type || '_collection', json(json)) AS result
FROM collection_row
WHERE id = :found;

-- name: shopify_create_collection
SELECT 'Missing required argument: title' AS error WHERE trim(:title) = '';
-- include: slug
SELECT count(*) AS same FROM collection WHERE handle = :slug OR handle GLOB :slug || '-[0-9]*';
INSERT INTO collection VALUES (
  (SELECT ifnull(max(id), 455671200700) + 1 FROM collection),
  ifnull(:collection_type, 'custom'),
  :title,
  nullif(:body_html, ''),
  :slug || iif(:same > 0, '-' || :same, ''),
  ifnull(:sort_order, 'best-selling'),
  now()
)
RETURNING id AS new_collection;
SELECT json_object(type || '_collection', json(json)) AS result
FROM collection_row
WHERE id = :new_collection;

-- name: shopify_list_locations
SELECT json_object('locations', json_group_array(json(json))) AS result
FROM (SELECT json FROM location_row ORDER BY id);

-- name: shopify_get_location
SELECT 'Missing required argument: location_id' AS error WHERE :location_id = '';
SELECT id AS found FROM location WHERE id = CAST(:location_id AS INTEGER);
-- include: not_found
SELECT json_object('location', json(json)) AS result FROM location_row WHERE id = :found;

-- name: shopify_list_inventory_items
-- include: page
-- Words of which all have to be true.
SELECT '["' || replace(replace(replace(trim(ifnull(:query, '')), '\', ''), '"', ''), ' ', '","')
  || '"]' AS words;
SELECT json_array(json_object('message', 'Invalid search term: ' || value)) AS problem
FROM json_each(:words)
WHERE value IN ('OR', 'NOT')
  OR value GLOB '-*'
  OR value GLOB '(*'
  OR instr(value, ':')
    AND value NOT GLOB 'sku:?*'
    AND value NOT GLOB 'id:[0-9]*'
    AND value NOT IN ('tracked:true', 'tracked:false')
LIMIT 1;
-- include: refused
WITH i AS (
  SELECT v.id, v.item_id, v.sku, v.created_at
  FROM variant_view v
  WHERE NOT EXISTS (
    SELECT 1
    FROM json_each(:words) w
    WHERE w.value NOT IN ('', 'AND')
      AND NOT CASE
        WHEN w.value GLOB 'sku:*' THEN lower(v.sku) GLOB lower(substr(w.value, 5))
        WHEN w.value GLOB 'id:*' THEN v.item_id = CAST(substr(w.value, 4) AS INTEGER)
        WHEN w.value GLOB 'tracked:*' THEN w.value = 'tracked:true'
        ELSE instr(lower(v.sku), lower(w.value))
      END
  )
)
SELECT (SELECT count(*) FROM i) AS total, count(*) AS shown, json_group_array(json(json)) AS items
FROM (
  SELECT json_object(
    'id', 'gid://shopify/InventoryItem/' || i.item_id,
    'sku', i.sku,
    'tracked', json('true'),
    'requiresShipping', json('true'),
    'createdAt', i.created_at,
    'updatedAt', ifnull((SELECT max(updated_at) FROM level WHERE variant_id = i.id), i.created_at),
    'unitCost', NULL,
    'countryCodeOfOrigin', NULL,
    'harmonizedSystemCode', NULL,
    'inventoryLevels', json_object(
      'nodes', (
        SELECT json_group_array(json_object(
          'id', 'gid://shopify/InventoryLevel/' || l.location_id || '?inventory_item_id='
            || i.item_id,
          'quantities', json_array(
            json_object('name', 'available', 'quantity', l.available),
            json_object('name', 'incoming', 'quantity', 0),
            json_object('name', 'committed', 'quantity', 0),
            json_object('name', 'reserved', 'quantity', 0),
            json_object('name', 'on_hand', 'quantity', l.available)
          ),
          'location', json_object('id', 'gid://shopify/Location/' || l.location_id, 'name', o.name)
        ))
        FROM level l
        JOIN location o ON o.id = l.location_id
        WHERE l.variant_id = i.id
      )
    )
  ) AS json
  FROM i
  ORDER BY i.id
  LIMIT :size OFFSET :skip
);
SELECT json_object(
  'inventoryItems', json_object(
    'pageInfo', json_object(
      'hasNextPage', json(iif(:skip + :shown < :total, 'true', 'false')),
      'hasPreviousPage', json(iif(:skip > 0, 'true', 'false')),
      'startCursor', iif(:shown > 0, base64(json_object('skip', :skip + 1)), NULL),
      'endCursor', iif(:shown > 0, base64(json_object('skip', :skip + :shown)), NULL)
    ),
    'nodes', json(:items)
  )
) AS result;

-- name: shopify_get_inventory_levels
SELECT min(CAST(ifnull(:limit, 50) AS INTEGER), 250) AS size;
SELECT CASE
  WHEN ifnull(:inventory_item_ids, '') = '' AND ifnull(:location_ids, '') = ''
    THEN '"inventory_item_ids or location_ids must be given"'
  WHEN :inventory_item_ids GLOB '*[^0-9, ]*' OR :location_ids GLOB '*[^0-9, ]*'
    THEN '"Ids must be numbers with commas between them"'
  WHEN :size < 1 THEN '{"limit":"Limit must be between 1 and 250"}'
END AS problem;
-- include: refused
SELECT json_object('inventory_levels', json_group_array(json(json))) AS result
FROM (
  SELECT json
  FROM level_row
  WHERE (
    ifnull(:inventory_item_ids, '') = ''
    OR instr(',' || replace(:inventory_item_ids, ' ', '') || ',', ',' || item_id || ',')
  )
    AND (
      ifnull(:location_ids, '') = ''
      OR instr(',' || replace(:location_ids, ' ', '') || ',', ',' || location_id || ',')
    )
  ORDER BY item_id, location_id
  LIMIT :size
);

-- name: shopify_adjust_inventory
SELECT 'Missing required arguments: location_id, inventory_item_id, available_adjustment' AS error
WHERE :location_id = '' OR :inventory_item_id = '';
SELECT v.id AS found, l.id AS location
FROM variant_view v
JOIN location l
WHERE v.item_id = CAST(:inventory_item_id AS INTEGER) AND l.id = CAST(:location_id AS INTEGER);
-- include: not_found
SELECT iif(
  CAST(:available_adjustment AS INTEGER) <> :available_adjustment,
  '{"available_adjustment":"must be a whole number"}',
  NULL
) AS problem;
-- include: refused
INSERT INTO level VALUES (:found, :location, CAST(:available_adjustment AS INTEGER), now())
ON CONFLICT DO UPDATE SET available = available + excluded.available, updated_at = now();
SELECT json_object('inventory_level', json(json)) AS result
FROM level_row
WHERE variant_id = :found AND location_id = :location;

-- name: shopify_list_fulfillments
SELECT 'Missing required argument: order_id' AS error WHERE :order_id = '';
SELECT number AS found FROM order_view WHERE id = CAST(:order_id AS INTEGER);
-- include: not_found
SELECT json_object('fulfillments', json_group_array(json(json))) AS result
FROM (SELECT json FROM fulfillment_raw WHERE order_number = :found ORDER BY id);

-- name: shopify_create_fulfillment
SELECT 'Missing required argument: order_id' AS error WHERE :order_id = '';
SELECT number AS found, status FROM order_view WHERE id = CAST(:order_id AS INTEGER);
-- include: not_found
SELECT id AS location
FROM location
WHERE ifnull(:location_id, '') = '' OR id = CAST(:location_id AS INTEGER)
ORDER BY id
LIMIT 1;
-- All that is left, or what was asked for.
SELECT json_group_array(json_object('line', line, 'quantity', quantity)) AS parts
FROM (
  SELECT id AS line, quantity - sent AS quantity
  FROM line_view
  WHERE order_number = :found AND sent < quantity AND ifnull(json_array_length(:line_items), 0) = 0
  UNION ALL
  SELECT CAST(value ->> 'id' AS INTEGER), sum(value ->> 'quantity')
  FROM json_each(:line_items)
  GROUP BY 1
  ORDER BY line
);
SELECT CASE
  WHEN :status = 'cancelled' THEN '{"base":["The order is cancelled"]}'
  WHEN :location IS NULL THEN '{"location_id":["is invalid"]}'
  WHEN :parts = '[]' THEN '{"base":["All line items are already fulfilled"]}'
END AS problem;
-- include: refused
SELECT iif(
  l.id IS NULL,
  '{"line_items":["Line item ' || (p.value ->> 'line') || ' is not of this order"]}',
  '{"line_items":["Quantity of line item ' || l.id || ' must be from 1 to ' || (l.quantity - l.sent)
    || '"]}'
) AS problem
FROM json_each(:parts) p
LEFT JOIN line_view l ON l.id = p.value ->> 'line' AND l.order_number = :found
WHERE l.id IS NULL
  OR p.value ->> 'quantity' NOT BETWEEN 1 AND l.quantity - l.sent
  OR CAST(p.value ->> 'quantity' AS INTEGER) <> p.value ->> 'quantity'
LIMIT 1;
-- include: refused
INSERT INTO fulfillment VALUES (
  (SELECT ifnull(max(id), 5101230000600) + 1 FROM fulfillment),
  :found,
  :location,
  nullif(:tracking_number, ''),
  nullif(:tracking_company, ''),
  nullif(:tracking_url, ''),
  now()
)
RETURNING id AS new_fulfillment;
INSERT INTO sent_line
SELECT :new_fulfillment, value ->> 'line', CAST(value ->> 'quantity' AS INTEGER)
FROM json_each(:parts);
UPDATE "order" SET updated_at = now() WHERE number = :found;
SELECT json_object('fulfillment', json(json)) AS result
FROM fulfillment_raw
WHERE id = :new_fulfillment;

-- name: shopify_list_draft_orders
-- include: page
WITH d AS (SELECT number, json FROM draft_row WHERE :status IS NULL OR status = :status)
SELECT
  'draft_orders' AS name,
  (SELECT count(*) FROM d) AS total,
  json_group_array(json(json)) AS items
FROM (SELECT json FROM d ORDER BY number DESC LIMIT :size OFFSET :skip);
-- include: raw_list

-- name: shopify_get_draft_order
SELECT 'Missing required argument: draft_order_id' AS error WHERE :draft_order_id = '';
SELECT id AS found FROM draft_row WHERE id = CAST(:draft_order_id AS INTEGER);
-- include: not_found
SELECT json_object('draft_order', json(json)) AS result FROM draft_row WHERE id = :found;

-- name: shopify_create_draft_order
SELECT iif(
  :email <> '' AND NOT mail_is_address(:email),
  '{"email":["is invalid"]}',
  NULL
) AS problem;
-- include: refused
-- include: lines
INSERT INTO draft_order VALUES (
  (SELECT ifnull(max(number), 0) + 1 FROM draft_order),
  :buyer,
  'open',
  nullif(:email, ''),
  nullif(:note, ''),
  ifnull(:tags, ''),
  :shipping_address,
  :billing_address,
  now()
)
RETURNING number AS new_draft;
INSERT INTO line (id, draft_number, variant_id, quantity)
SELECT
  (SELECT ifnull(max(id), 14502340000500) FROM line) + key + 1,
  :new_draft,
  value ->> 'variant_id',
  CAST(value ->> 'quantity' AS INTEGER)
FROM json_each(:line_items)
ORDER BY key;
SELECT json_object('draft_order', json(json)) AS result FROM draft_row WHERE number = :new_draft;

-- name: shopify_list_discounts
-- include: page
SELECT
  'price_rules' AS name,
  (SELECT count(*) FROM price_rule) AS total,
  json_group_array(json(json)) AS items
FROM (SELECT json FROM price_rule_row ORDER BY id LIMIT :size OFFSET :skip);
-- include: raw_list

-- name: shopify_get_discount
SELECT 'Missing required argument: price_rule_id' AS error WHERE :price_rule_id = '';
SELECT id AS found FROM price_rule WHERE id = CAST(:price_rule_id AS INTEGER);
-- include: not_found
SELECT json_object('price_rule', json(json)) AS result FROM price_rule_row WHERE id = :found;

-- name: shopify_create_discount
SELECT 'Missing required arguments: title, value_type, value, target_type, target_selection'
  AS error
WHERE :title = '' OR :value = '';
SELECT ifnull(nullif(:starts_at, ''), now()) AS starts, nullif(:ends_at, '') AS ends;
SELECT CASE
  WHEN substr(:value, 1 + (:value GLOB '-*')) NOT GLOB '[0-9]*'
      OR substr(:value, 1 + (:value GLOB '-*')) GLOB '*[^0-9.]*'
    THEN '{"value":["is not a number"]}'
  WHEN CAST(:value AS REAL) > 0 THEN '{"value":["must be less than or equal to 0"]}'
  WHEN :value_type = 'percentage' AND CAST(:value AS REAL) < -100
    THEN '{"value":["must be between -100 and 0"]}'
  WHEN :target_type = 'shipping_line' AND :allocation_method = 'across'
    THEN '{"allocation_method":["must be each when target_type is shipping_line"]}'
  WHEN time_read(:starts, 'UTC') IS NULL THEN '{"starts_at":["is invalid"]}'
  WHEN :ends IS NOT NULL AND time_read(:ends, 'UTC') IS NULL THEN '{"ends_at":["is invalid"]}'
  WHEN time_read(:ends, 'UTC') <= time_read(:starts, 'UTC')
    THEN '{"ends_at":["must be after starts_at"]}'
  WHEN :usage_limit < 1 THEN '{"usage_limit":["must be greater than 0"]}'
END AS problem;
-- include: refused
INSERT INTO price_rule VALUES (
  (SELECT ifnull(max(id), 1401230000900) + 1 FROM price_rule),
  :title,
  :value_type,
  CAST(CAST(:value AS REAL) AS TEXT),
  :target_type,
  :target_selection,
  ifnull(:allocation_method, iif(:target_type = 'shipping_line', 'each', 'across')),
  :starts,
  :ends,
  ifnull(:once_per_customer, 0),
  CAST(:usage_limit AS INTEGER),
  now()
)
RETURNING id AS new_rule;
SELECT json_object('price_rule', json(json)) AS result FROM price_rule_row WHERE id = :new_rule;
