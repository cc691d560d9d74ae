-- The shop of Larkspur Robotics. What the API writes as JSON is kept as JSON: "body" has what was
-- said of an object, "kind" what it is without, in the order in which it is shown.
CREATE TABLE kind (
  kind TEXT PRIMARY KEY,
  path TEXT NOT NULL,
  ids TEXT NOT NULL, -- the kind of its ids
  defaults TEXT NOT NULL
);
INSERT INTO kind VALUES
  ('product', '/products', 'post', '{"id":0,"name":"","slug":"","permalink":"","date_created":"",
   "date_created_gmt":"","date_modified":"","date_modified_gmt":"","type":"simple",
   "status":"publish","featured":false,"catalog_visibility":"visible","description":"",
   "short_description":"","sku":"","price":"","regular_price":"","sale_price":"",
   "date_on_sale_from":null,"date_on_sale_to":null,"on_sale":false,"purchasable":true,
   "total_sales":0,"virtual":false,"downloadable":false,"external_url":"","button_text":"",
   "tax_status":"taxable","tax_class":"","manage_stock":false,"stock_quantity":null,
   "backorders":"no","backorders_allowed":false,"backordered":false,"low_stock_amount":null,
   "sold_individually":false,"weight":"","dimensions":{"length":"","width":"","height":""},
   "shipping_required":true,"shipping_class":"","reviews_allowed":true,"average_rating":"0.00",
   "rating_count":0,"upsell_ids":[],"cross_sell_ids":[],"parent_id":0,"purchase_note":"",
   "categories":[],"tags":[],"images":[],"attributes":[],"default_attributes":[],
   "variations":[],"grouped_products":[],"menu_order":0,"stock_status":"instock",
   "meta_data":[]}'),
  ('variation', '/products', 'post', '{"id":0,"date_created":"","date_modified":"",
   "description":"","permalink":"","sku":"","price":"","regular_price":"","sale_price":"",
   "on_sale":false,"status":"publish","purchasable":true,"manage_stock":false,
   "stock_quantity":null,"stock_status":"instock","backorders":"no","low_stock_amount":null,
   "weight":"","image":null,"attributes":[],"menu_order":0,"meta_data":[],"parent_id":0}'),
  ('category', '/products/categories', 'term', '{"id":0,"name":"","slug":"","parent":0,
   "description":"","display":"default","image":null,"menu_order":0,"count":0}'),
  ('tag', '/products/tags', 'term', '{"id":0,"name":"","slug":"","description":"","count":0}'),
  ('review', '/products/reviews', 'comment', '{"id":0,"date_created":"","date_created_gmt":"",
   "product_id":0,"product_name":"","product_permalink":"","status":"approved","reviewer":"",
   "reviewer_email":"","review":"","rating":0,"verified":false}'),
  ('order', '/orders', 'post', '{"id":0,"parent_id":0,"status":"pending","currency":"USD",
   "version":"9.4.2","prices_include_tax":false,"date_created":"","date_modified":"",
   "discount_total":"0.00","discount_tax":"0.00","shipping_total":"0.00","shipping_tax":"0.00",
   "cart_tax":"0.00","total":"0.00","total_tax":"0.00","customer_id":0,"order_key":"",
   "billing":{"first_name":"","last_name":"","company":"","address_1":"","address_2":"",
   "city":"","state":"","postcode":"","country":"","email":"","phone":""},
   "shipping":{"first_name":"","last_name":"","company":"","address_1":"","address_2":"",
   "city":"","state":"","postcode":"","country":"","phone":""},"payment_method":"",
   "payment_method_title":"","transaction_id":"","created_via":"rest-api","customer_note":"",
   "date_completed":null,"date_paid":null,"number":"","meta_data":[],"line_items":[],
   "tax_lines":[],"shipping_lines":[],"fee_lines":[],"coupon_lines":[],"refunds":[],
   "needs_payment":false,"date_created_gmt":"","date_modified_gmt":"",
   "date_completed_gmt":null,"date_paid_gmt":null,"currency_symbol":"$"}'),
  ('customer', '/customers', 'user', '{"id":0,"date_created":"","date_created_gmt":"",
   "date_modified":"","date_modified_gmt":"","email":"","first_name":"","last_name":"",
   "role":"customer","username":"","billing":{"first_name":"","last_name":"","company":"",
   "address_1":"","address_2":"","city":"","postcode":"","country":"","state":"","email":"",
   "phone":""},"shipping":{"first_name":"","last_name":"","company":"","address_1":"",
   "address_2":"","city":"","postcode":"","country":"","state":"","phone":""},
   "is_paying_customer":false,"avatar_url":"","meta_data":[]}'),
  ('coupon', '/coupons', 'post', '{"id":0,"code":"","amount":"0.00","status":"publish",
   "date_created":"","date_created_gmt":"","date_modified":"","date_modified_gmt":"",
   "discount_type":"fixed_cart","description":"","date_expires":null,"usage_count":0,
   "individual_use":false,"product_ids":[],"excluded_product_ids":[],"usage_limit":null,
   "usage_limit_per_user":null,"limit_usage_to_x_items":null,"free_shipping":false,
   "product_categories":[],"excluded_product_categories":[],"exclude_sale_items":false,
   "minimum_amount":"0.00","maximum_amount":"0.00","email_restrictions":[],"used_by":[],
   "meta_data":[]}'),
  ('zone', '/shipping/zones', 'zone', '{"id":0,"name":"","order":0}'),
  ('rate', '/taxes', 'rate', '{"id":0,"country":"","state":"","postcode":"","city":"",
   "rate":"0.0000","name":"","priority":1,"compound":false,"shipping":true,"order":0,
   "class":"standard","postcodes":[],"cities":[]}'),
  ('webhook', '/webhooks', 'webhook', '{"id":0,"name":"","status":"active","topic":"",
   "resource":"","event":"","hooks":[],"delivery_url":"","date_created":"",
   "date_created_gmt":"","date_modified":"","date_modified_gmt":""}');

-- What may be written, and the types that the API takes; what is not here it ignores.
CREATE TABLE field (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  type TEXT NOT NULL,
  options TEXT, -- ' one two '
  PRIMARY KEY (kind, name)
) WITHOUT ROWID;
INSERT INTO field
SELECT 'product', value, 'string', NULL
FROM json_each('["name","slug","description",
  "short_description","sku","regular_price","sale_price","date_on_sale_from","date_on_sale_to",
  "external_url","button_text","weight","shipping_class","purchase_note","date_created",
  "tax_class"]')
UNION ALL
SELECT 'product', value, 'boolean', NULL
FROM json_each('["featured","virtual",
  "downloadable","manage_stock","sold_individually","reviews_allowed"]')
UNION ALL
SELECT 'product', value, 'integer', NULL
FROM json_each('["stock_quantity",
  "low_stock_amount","parent_id","menu_order"]')
UNION ALL
SELECT 'product', value, 'array', NULL
FROM json_each('["upsell_ids","cross_sell_ids",
  "categories","tags","images","attributes","default_attributes","grouped_products",
  "meta_data"]')
UNION ALL
SELECT 'order', value, 'string', NULL
FROM json_each('["currency","payment_method",
  "payment_method_title","transaction_id","customer_note","created_via"]')
UNION ALL
SELECT 'order', value, 'array', NULL
FROM json_each('["line_items","shipping_lines",
  "fee_lines","coupon_lines","meta_data"]')
UNION ALL
SELECT 'customer', value, 'string', NULL
FROM json_each('["email","first_name",
  "last_name","username","password"]')
UNION ALL
SELECT kind.value, j.value, 'object', NULL
FROM json_each('["order","customer"]') kind, json_each('["billing","shipping"]') j
UNION ALL
SELECT 'coupon', value, 'string', NULL
FROM json_each('["code","amount","description",
  "date_expires","minimum_amount","maximum_amount"]')
UNION ALL
SELECT 'coupon', value, 'boolean', NULL
FROM json_each('["individual_use",
  "free_shipping","exclude_sale_items"]')
UNION ALL
SELECT 'coupon', value, 'integer', NULL
FROM json_each('["usage_limit",
  "usage_limit_per_user","limit_usage_to_x_items"]')
UNION ALL
SELECT 'coupon', value, 'array', NULL
FROM json_each('["product_ids",
  "excluded_product_ids","product_categories","excluded_product_categories",
  "email_restrictions","meta_data"]');
INSERT INTO field VALUES
  ('product', 'type', 'string', ' simple grouped external variable '),
  ('product', 'status', 'string', ' draft pending private publish future '),
  ('product', 'catalog_visibility', 'string', ' visible catalog search hidden '),
  ('product', 'tax_status', 'string', ' taxable shipping none '),
  ('product', 'stock_status', 'string', ' instock outofstock onbackorder '),
  ('product', 'backorders', 'string', ' no notify yes '),
  ('product', 'dimensions', 'object', NULL),
  ('order', 'status', 'string', ' pending processing on-hold completed cancelled refunded failed '),
  ('order', 'customer_id', 'integer', NULL),
  ('order', 'parent_id', 'integer', NULL),
  ('order', 'set_paid', 'boolean', NULL),
  ('customer', 'meta_data', 'array', NULL),
  ('coupon', 'status', 'string', ' draft pending private publish '),
  ('coupon', 'discount_type', 'string', ' percent fixed_cart fixed_product ');

CREATE TABLE object (
  kind TEXT NOT NULL REFERENCES kind (kind),
  id INTEGER NOT NULL,
  body TEXT NOT NULL,
  created TEXT NOT NULL,
  modified TEXT NOT NULL,
  PRIMARY KEY (kind, id)
);
CREATE INDEX object_sku ON object (body ->> 'sku');
CREATE INDEX object_parent ON object (kind, body ->> 'parent_id');
CREATE INDEX object_customer ON object (kind, body ->> 'customer_id');
CREATE INDEX object_product ON object (kind, body ->> 'product_id');
CREATE INDEX object_name ON object (kind, lower(body ->> 'name'));
CREATE INDEX object_mail ON object (kind, lower(body ->> 'email'));
CREATE INDEX object_code ON object (kind, body ->> 'code');
INSERT INTO object VALUES (
  'category', 15, '{"name":"Uncategorized"}', '2025-06-02T08:00:00.000Z', '2025-06-02T08:00:00.000Z'
);

-- The items of orders.
CREATE TABLE line (
  id INTEGER PRIMARY KEY,
  order_id INTEGER NOT NULL,
  product_id INTEGER NOT NULL,
  variation_id INTEGER NOT NULL DEFAULT 0,
  name TEXT NOT NULL,
  quantity INTEGER NOT NULL,
  subtotal REAL NOT NULL,
  total REAL NOT NULL,
  meta TEXT NOT NULL DEFAULT '[]',
  is_taken INTEGER NOT NULL DEFAULT 0 -- out of the stock
);
CREATE INDEX line_order ON line (order_id);
CREATE INDEX line_product ON line (product_id);

-- Which products are in which categories and tags.
CREATE TABLE product_term (
  product_id INTEGER NOT NULL,
  term_id INTEGER NOT NULL,
  PRIMARY KEY (product_id, term_id)
) WITHOUT ROWID;
CREATE INDEX product_term_term ON product_term (term_id);

CREATE TABLE note (
  id INTEGER PRIMARY KEY,
  order_id INTEGER NOT NULL,
  author TEXT NOT NULL,
  text TEXT NOT NULL,
  is_for_customer INTEGER NOT NULL,
  created TEXT NOT NULL
);
CREATE INDEX note_order ON note (order_id);

CREATE TABLE refund (
  id INTEGER PRIMARY KEY,
  order_id INTEGER NOT NULL,
  amount REAL NOT NULL,
  reason TEXT NOT NULL,
  lines TEXT NOT NULL,
  created TEXT NOT NULL
);
CREATE INDEX refund_order ON refund (order_id);

CREATE TABLE method_type (
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  description TEXT NOT NULL,
  settings TEXT NOT NULL -- names, labels and defaults
);
INSERT INTO method_type VALUES
  (
    'flat_rate', 'Flat rate', 'Charges a fixed rate for shipping.',
    '[["title","Name","Flat rate"],["tax_status","Tax status","taxable"],["cost","Cost","0"]]'
  ),
  (
    'free_shipping',
    'Free shipping',
    'Ships without charge, from an amount or with a coupon.',
    '[["title","Name","Free shipping"],["requires","Requires",""],
     ["min_amount","Minimum order amount","0"]]'
  ),
  (
    'local_pickup',
    'Local pickup',
    'Customers fetch their orders themselves.',
    '[["title","Name","Local pickup"],["tax_status","Tax status","taxable"],
     ["cost","Cost","0"]]'
  );
CREATE TABLE method (
  id INTEGER PRIMARY KEY,
  zone_id INTEGER NOT NULL,
  type TEXT NOT NULL REFERENCES method_type (id),
  is_enabled INTEGER NOT NULL,
  settings TEXT NOT NULL -- those that were said
);
CREATE INDEX method_zone ON method (zone_id);

CREATE TABLE gateway (
  id TEXT PRIMARY KEY,
  place INTEGER NOT NULL,
  title TEXT NOT NULL,
  description TEXT NOT NULL,
  is_enabled INTEGER NOT NULL,
  method_title TEXT NOT NULL,
  method_description TEXT NOT NULL,
  supports TEXT NOT NULL,
  settings TEXT NOT NULL,
  is_changed INTEGER NOT NULL DEFAULT 0
);
INSERT INTO gateway VALUES
  (
    'bacs', 0, 'Direct bank transfer', 'Please use the number of the order as the reference.', 1,
    'Direct bank transfer', 'Payments by wire, checked by hand.', '["products"]',
    '{"instructions":""}', 0
  ),
  (
    'cheque', 1, 'Check payments', 'Please send a check to the address of the shop.', 0,
    'Check payments', 'Payments by check, checked by hand.', '["products"]', '{"instructions":""}',
    0
  ),
  (
    'cod', 2, 'Cash on delivery', 'Pay with cash upon delivery.', 1, 'Cash on delivery',
    'Payment when the goods arrive.', '["products"]',
    '{"instructions":"Pay with cash upon delivery.","enable_for_virtual":"yes"}', 0
  );

CREATE TABLE tax_class (slug TEXT PRIMARY KEY, name TEXT NOT NULL);
INSERT INTO tax_class VALUES
  ('standard', 'Standard rate'),
  ('reduced-rate', 'Reduced rate'),
  ('zero-rate', 'Zero rate');

CREATE TABLE order_status (slug TEXT PRIMARY KEY, name TEXT NOT NULL);
INSERT INTO order_status VALUES
  ('pending', 'Pending payment'),
  ('processing', 'Processing'),
  ('on-hold', 'On hold'),
  ('completed', 'Completed'),
  ('cancelled', 'Cancelled'),
  ('refunded', 'Refunded'),
  ('failed', 'Failed');

CREATE TABLE system_tool (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  action TEXT NOT NULL,
  description TEXT NOT NULL,
  message TEXT NOT NULL
);
INSERT INTO system_tool VALUES
  (
    'clear_transients', 'WooCommerce transients', 'Clear transients',
    'Clears the cache of products and the shop.', 'Product transients cleared'
  ),
  (
    'clear_expired_transients', 'Expired transients', 'Clear transients',
    'Clears all transients of WordPress that are past their time.', '0 transients rows cleared'
  ),
  (
    'clear_orphaned_variations', 'Orphaned variations', 'Delete orphaned variations',
    'Deletes all variations that have no product.', '0 orphaned variations deleted'
  ),
  (
    'add_order_indexes', 'Order address indexes', 'Index orders',
    'Adds the addresses of orders to the index, so that they are found.',
    'Order address indexes updated'
  ),
  (
    'recount_terms', 'Term counts', 'Recount terms',
    'Counts the products of categories and tags again.', 'Terms successfully recounted'
  ),
  (
    'reset_roles', 'Capabilities', 'Reset capabilities',
    'Gives the roles of the shop their capabilities back.', 'Roles successfully reset'
  ),
  (
    'clear_sessions', 'Clear customer sessions', 'Clear',
    'Deletes the sessions of all customers, and with them their carts.',
    'Deleted all active sessions, and 0 saved carts.'
  ),
  (
    'clear_template_cache', 'Clear template cache', 'Clear', 'Empties the cache of templates.',
    'Template cache cleared.'
  ),
  (
    'clear_system_status_theme_info_cache', 'Clear system status theme info cache', 'Clear',
    'Empties what the status page knows of the theme.', 'System status theme info cache cleared.'
  );

CREATE TABLE setting_group (id TEXT PRIMARY KEY, place INTEGER NOT NULL, label TEXT NOT NULL);
INSERT INTO setting_group VALUES
  ('general', 1, 'General'),
  ('products', 2, 'Products'),
  ('tax', 3, 'Tax'),
  ('shipping', 4, 'Shipping'),
  ('checkout', 5, 'Payments'),
  ('account', 6, 'Accounts & Privacy'),
  ('email', 7, 'Emails'),
  ('integration', 8, 'Integration'),
  ('advanced', 9, 'Advanced');
CREATE TABLE setting (
  id TEXT PRIMARY KEY,
  group_id TEXT NOT NULL REFERENCES setting_group (id),
  label TEXT NOT NULL,
  type TEXT NOT NULL,
  "default" TEXT NOT NULL,
  value TEXT NOT NULL
);
INSERT INTO setting VALUES
  ('woocommerce_store_address', 'general', 'Address line 1', 'text', '', '12 Harbour Street'),
  ('woocommerce_store_city', 'general', 'City', 'text', '', 'Oakland'),
  ('woocommerce_default_country', 'general', 'Country / State', 'select', 'US:CA', 'US:CA'),
  ('woocommerce_store_postcode', 'general', 'Postcode / ZIP', 'text', '', '94607'),
  ('woocommerce_calc_taxes', 'general', 'Enable taxes', 'checkbox', 'no', 'no'),
  ('woocommerce_enable_coupons', 'general', 'Enable coupons', 'checkbox', 'yes', 'yes'),
  ('woocommerce_currency', 'general', 'Currency', 'select', 'USD', 'USD'),
  ('woocommerce_price_num_decimals', 'general', 'Number of decimals', 'number', '2', '2'),
  ('woocommerce_weight_unit', 'products', 'Weight unit', 'select', 'kg', 'kg'),
  ('woocommerce_dimension_unit', 'products', 'Dimensions unit', 'select', 'cm', 'cm'),
  ('woocommerce_enable_reviews', 'products', 'Enable reviews', 'checkbox', 'yes', 'yes'),
  ('woocommerce_manage_stock', 'products', 'Manage stock', 'checkbox', 'yes', 'yes'),
  ('woocommerce_notify_low_stock_amount', 'products', 'Low stock threshold', 'number', '2', '2'),
  ('woocommerce_notify_no_stock_amount', 'products', 'Out of stock threshold', 'number', '0', '0'),
  ('woocommerce_prices_include_tax', 'tax', 'Prices entered with tax', 'radio', 'no', 'no'),
  ('woocommerce_tax_based_on', 'tax', 'Calculate tax based on', 'select', 'shipping', 'shipping'),
  ('woocommerce_tax_display_shop', 'tax', 'Display prices in the shop', 'select', 'excl', 'excl'),
  ('woocommerce_enable_shipping_calc', 'shipping', 'Calculations', 'checkbox', 'yes', 'yes'),
  (
    'woocommerce_ship_to_destination', 'shipping', 'Shipping destination', 'radio', 'billing',
    'billing'
  ),
  ('woocommerce_enable_guest_checkout', 'account', 'Guest checkout', 'checkbox', 'yes', 'yes'),
  (
    'woocommerce_enable_signup_and_login_from_checkout', 'account', 'Account creation', 'checkbox',
    'no', 'no'
  ),
  ('woocommerce_email_from_name', 'email', '"From" name', 'text', '', 'Larkspur Shop'),
  (
    'woocommerce_email_from_address', 'email', '"From" address', 'email', '',
    'shop@larkspur.example'
  ),
  ('woocommerce_force_ssl_checkout', 'advanced', 'Force secure checkout', 'checkbox', 'no', 'no'),
  ('woocommerce_allow_tracking', 'advanced', 'Enable tracking', 'checkbox', 'no', 'no');

-- ---- as the tools show them ----

CREATE VIEW doc AS
SELECT
  o.kind,
  o.id,
  o.body,
  json_patch(k.defaults, o.body) AS full,
  strftime('%Y-%m-%dT%H:%M:%S', ifnull(o.body ->> 'date_created', o.created)) AS created,
  strftime('%Y-%m-%dT%H:%M:%S', o.modified) AS modified,
  ifnull(
    nullif(o.body ->> 'slug', ''),
    replace(
      replace(
        replace(
          replace(
            replace(
              replace(
                replace(replace(replace(lower(o.body ->> 'name'), ',', ''), '.', '-'), '''', ''),
                '"',
                ''
              ),
              '(',
              ''
            ),
            ')',
            ''
          ),
          ' & ',
          '-'
        ),
        '/',
        '-'
      ),
      ' ',
      '-'
    )
  ) AS slug
FROM object o
JOIN kind k ON k.kind = o.kind;

CREATE VIEW stock_of AS
SELECT
  id,
  kind,
  CASE
    WHEN ifnull(full ->> 'manage_stock', 0) = 0 THEN full ->> 'stock_status'
    WHEN ifnull(full ->> 'stock_quantity', 0) > 0 THEN 'instock'
    WHEN full ->> 'backorders' = 'no' THEN 'outofstock'
    ELSE 'onbackorder'
  END AS status,
  iif(full ->> 'manage_stock', ifnull(full ->> 'stock_quantity', 0), NULL) AS quantity,
  ifnull(
    full ->> 'low_stock_amount',
    (SELECT CAST(value AS INTEGER) FROM setting WHERE id = 'woocommerce_notify_low_stock_amount')
  ) AS low
FROM doc
WHERE kind IN ('product', 'variation');

-- What it costs now. A variable product costs what its cheapest variation does.
CREATE VIEW own_price AS
SELECT
  id,
  kind,
  full,
  full ->> 'sale_price' <> ''
    AND CAST(full ->> 'sale_price' AS REAL) < CAST(full ->> 'regular_price' AS REAL)
    AND ifnull(full ->> 'date_on_sale_from', '') <= strftime('%Y-%m-%dT%H:%M:%S', now())
    AND ifnull(full ->> 'date_on_sale_to', '9') >= strftime('%Y-%m-%dT%H:%M:%S', now()) AS is_sale
FROM doc
WHERE kind IN ('product', 'variation');
CREATE VIEW price_of AS
SELECT
  p.id,
  p.kind,
  p.is_sale,
  CASE
    WHEN p.full ->> 'type' = 'variable'
      THEN ifnull((
        SELECT iif(v.is_sale, v.full ->> 'sale_price', v.full ->> 'regular_price')
        FROM object o
        JOIN own_price v ON v.kind = o.kind AND v.id = o.id
        WHERE o.kind = 'variation' AND o.body ->> 'parent_id' = +p.id
        ORDER BY CAST(iif(v.is_sale, v.full ->> 'sale_price', v.full ->> 'regular_price') AS REAL)
        LIMIT 1
      ), '')
    ELSE iif(p.is_sale, p.full ->> 'sale_price', p.full ->> 'regular_price')
  END AS price
FROM own_price p;

-- Orders that count as sales, with what is in them.
CREATE VIEW sale AS
SELECT l.*, o.created
FROM line l
JOIN doc o ON o.kind = 'order' AND o.id = l.order_id
WHERE o.full ->> 'status' IN ('completed', 'processing', 'on-hold');

CREATE VIEW shown_product AS
SELECT
  d.id,
  d.body,
  d.created,
  d.slug,
  d.full ->> 'status' AS status,
  d.full ->> 'name' AS name,
  p.price,
  p.is_sale,
  s.status AS stock_status,
  json_set(
    d.full,
    '$.id', d.id,
    '$.slug', d.slug,
    '$.permalink', 'https://shop.larkspur.example/product/' || d.slug || '/',
    '$.date_created', d.created,
    '$.date_created_gmt', d.created,
    '$.date_modified', d.modified,
    '$.date_modified_gmt', d.modified,
    '$.price', p.price,
    '$.on_sale', json(iif(p.is_sale, 'true', 'false')),
    '$.purchasable', json(iif(
      p.price <> '' AND d.full ->> 'type' IN ('simple', 'variable'),
      'true',
      'false'
    )),
    '$.total_sales', (SELECT ifnull(sum(quantity), 0) FROM sale WHERE product_id = d.id),
    '$.stock_quantity', s.quantity,
    '$.stock_status', s.status,
    '$.backorders_allowed', json(iif(d.full ->> 'backorders' = 'no', 'false', 'true')),
    '$.backordered', json(iif(s.status = 'onbackorder', 'true', 'false')),
    '$.average_rating', (
      SELECT printf('%.2f', ifnull(avg(body ->> 'rating'), 0))
      FROM object
      WHERE kind = 'review' AND body ->> 'product_id' = +d.id
    ),
    '$.rating_count', (
      SELECT count(*) FROM object WHERE kind = 'review' AND body ->> 'product_id' = +d.id
    ),
    '$.categories', (
      SELECT json_group_array(json_object('id', t.id, 'name', t.body ->> 'name', 'slug', t.slug))
      FROM product_term x
      JOIN doc t ON t.kind = 'category' AND t.id = x.term_id
      WHERE x.product_id = d.id
    ),
    '$.tags', (
      SELECT json_group_array(json_object('id', t.id, 'name', t.body ->> 'name', 'slug', t.slug))
      FROM product_term x
      JOIN doc t ON t.kind = 'tag' AND t.id = x.term_id
      WHERE x.product_id = d.id
    ),
    '$.variations', (
      SELECT json_group_array(id)
      FROM object
      WHERE kind = 'variation' AND body ->> 'parent_id' = +d.id
    )
  ) AS shown
FROM doc d
JOIN price_of p ON p.kind = d.kind AND p.id = d.id
JOIN stock_of s ON s.kind = d.kind AND s.id = d.id
WHERE d.kind = 'product';

CREATE VIEW shown_variation AS
SELECT
  d.id,
  d.body ->> 'parent_id' AS product_id,
  json_set(
    d.full,
    '$.id', d.id,
    '$.date_created', d.created,
    '$.date_modified', d.modified,
    '$.permalink', 'https://shop.larkspur.example/?p=' || d.id,
    '$.price', p.price,
    '$.on_sale', json(iif(p.is_sale, 'true', 'false')),
    '$.stock_quantity', s.quantity,
    '$.stock_status', s.status
  ) AS shown
FROM doc d
JOIN price_of p ON p.kind = d.kind AND p.id = d.id
JOIN stock_of s ON s.kind = d.kind AND s.id = d.id
WHERE d.kind = 'variation';

CREATE VIEW shown_term AS
SELECT *, json_set(full, '$.id', id, '$.slug', slug, '$.count', n) AS shown
FROM (
  SELECT
    d.*,
    (
      SELECT count(*)
      FROM product_term x
      JOIN doc p ON p.kind = 'product' AND p.id = x.product_id
      WHERE x.term_id = d.id AND p.full ->> 'status' = 'publish'
    ) AS n
  FROM doc d
  WHERE d.kind IN ('category', 'tag')
);

CREATE VIEW order_sum AS
SELECT
  id,
  ifnull(items, 0) AS items,
  ifnull(discount, 0) AS discount,
  shipping,
  ifnull(items, 0) + shipping + fees AS total,
  refunded
FROM (
  SELECT
    o.id,
    (SELECT sum(total) FROM line WHERE order_id = o.id) AS items,
    (SELECT sum(subtotal - total) FROM line WHERE order_id = o.id) AS discount,
    (
      SELECT ifnull(sum(CAST(value ->> 'total' AS REAL)), 0)
      FROM json_each(o.body, '$.shipping_lines')
    ) AS shipping,
    (
      SELECT ifnull(sum(CAST(value ->> 'total' AS REAL)), 0) FROM json_each(o.body, '$.fee_lines')
    ) AS fees,
    (SELECT ifnull(sum(amount), 0) FROM refund WHERE order_id = o.id) AS refunded
  FROM object o
  WHERE o.kind = 'order'
);

CREATE VIEW shown_line AS
SELECT
  l.id,
  l.order_id,
  json_object(
    'id', l.id,
    'name', l.name,
    'product_id', l.product_id,
    'variation_id', l.variation_id,
    'quantity', l.quantity,
    'tax_class', '',
    'subtotal', printf('%.2f', l.subtotal),
    'subtotal_tax', '0.00',
    'total', printf('%.2f', l.total),
    'total_tax', '0.00',
    'taxes', json('[]'),
    'meta_data', json(l.meta),
    'sku', ifnull((
      SELECT body ->> 'sku'
      FROM object
      WHERE kind = iif(l.variation_id, 'variation', 'product')
        AND id = iif(l.variation_id, l.variation_id, l.product_id)
    ), ''),
    'price', iif(l.quantity = 0, 0, round(l.total / l.quantity, 2)),
    'image', (
      SELECT json_object(
        'id', body ->> '$.images[0].id',
        'src', ifnull(body ->> '$.images[0].src', '')
      )
      FROM object
      WHERE kind = 'product' AND id = l.product_id
    ),
    'parent_name', NULL
  ) AS shown
FROM line l;

CREATE VIEW shown_order AS
SELECT
  d.id,
  d.body,
  d.created,
  d.full ->> 'status' AS status,
  s.total,
  s.refunded,
  json_remove(
    json_set(
      d.full,
      '$.id', d.id,
      '$.number', CAST(d.id AS TEXT),
      '$.order_key', printf('wc_order_%010x', d.id * 2654435761 % 1099511627776),
      '$.date_created', d.created,
      '$.date_created_gmt', d.created,
      '$.date_modified', d.modified,
      '$.date_modified_gmt', d.modified,
      '$.date_paid', paid,
      '$.date_paid_gmt', paid,
      '$.date_completed', done,
      '$.date_completed_gmt', done,
      '$.discount_total', printf('%.2f', s.discount),
      '$.shipping_total', printf('%.2f', s.shipping),
      '$.total', printf('%.2f', s.total),
      '$.needs_payment', json(iif(
        d.full ->> 'status' IN ('pending', 'failed') AND s.total > 0,
        'true',
        'false'
      )),
      '$.line_items', (SELECT json_group_array(json(shown)) FROM shown_line WHERE order_id = d.id),
      '$.refunds', (
        SELECT json_group_array(json_object(
          'id', id,
          'reason', reason,
          'total', '-' || printf('%.2f', amount)
        ))
        FROM refund
        WHERE order_id = d.id
      )
    ),
    '$.set_paid'
  ) AS shown
FROM (
  SELECT
    *,
    ifnull(
      body ->> 'date_paid',
      iif(full ->> 'status' IN ('processing', 'completed'), created, NULL)
    ) AS paid,
    ifnull(body ->> 'date_completed', iif(full ->> 'status' = 'completed', created, NULL)) AS done
  FROM doc
  WHERE kind = 'order'
) d
JOIN order_sum s ON s.id = d.id;

CREATE VIEW shown_customer AS
SELECT
  d.id,
  d.body,
  d.created,
  d.full ->> 'role' AS role,
  d.full ->> 'first_name' || ' ' || (d.full ->> 'last_name') AS name,
  json_remove(
    json_set(
      d.full,
      '$.id', d.id,
      '$.date_created', d.created,
      '$.date_created_gmt', d.created,
      '$.date_modified', d.modified,
      '$.date_modified_gmt', d.modified,
      '$.is_paying_customer', json(iif(
        EXISTS (
          SELECT 1
          FROM object o
          WHERE o.kind = 'order'
            AND o.body ->> 'customer_id' = +d.id
            AND o.body ->> 'status' IN ('processing', 'completed')
        ),
        'true',
        'false'
      )),
      '$.avatar_url', 'https://secure.gravatar.com/avatar/?s=96&d=mm&r=g'
    ),
    '$.password'
  ) AS shown
FROM doc d
WHERE d.kind = 'customer';

CREATE VIEW shown_coupon AS
SELECT
  d.id,
  d.body,
  d.created,
  d.full ->> 'status' AS status,
  d.body ->> 'code' AS code,
  json_set(
    d.full,
    '$.id', d.id,
    '$.amount', printf('%.2f', CAST(d.full ->> 'amount' AS REAL)),
    '$.minimum_amount', printf('%.2f', CAST(d.full ->> 'minimum_amount' AS REAL)),
    '$.maximum_amount', printf('%.2f', CAST(d.full ->> 'maximum_amount' AS REAL)),
    '$.date_created', d.created,
    '$.date_created_gmt', d.created,
    '$.date_modified', d.modified,
    '$.date_modified_gmt', d.modified
  ) AS shown
FROM doc d
WHERE d.kind = 'coupon';

-- The products and so on by their kind, as they are shown.
CREATE VIEW shown AS
SELECT 'product' AS kind, id, shown FROM shown_product
UNION ALL
SELECT 'order', id, shown FROM shown_order
UNION ALL
SELECT 'customer', id, shown FROM shown_customer
UNION ALL
SELECT 'coupon', id, shown FROM shown_coupon;

CREATE VIEW shown_method AS
SELECT
  m.id,
  m.zone_id,
  json_object(
    'instance_id', m.id,
    'title', ifnull(m.settings ->> 'title', t.title),
    'order', (SELECT count(*) FROM method o WHERE o.zone_id = m.zone_id AND o.id <= m.id),
    'enabled', json(iif(m.is_enabled, 'true', 'false')),
    'method_id', t.id,
    'method_title', t.title,
    'method_description', t.description,
    'settings', (
      SELECT json_group_object(
        value ->> 0,
        json_object(
          'id', value ->> 0,
          'label', value ->> 1,
          'description', '',
          'type', 'text',
          'value', ifnull(CAST(m.settings ->> (value ->> 0) AS TEXT), value ->> 2),
          'default', value ->> 2,
          'tip', '',
          'placeholder', ''
        )
      )
      FROM json_each(t.settings)
    )
  ) AS shown
FROM method m
JOIN method_type t ON t.id = m.type;

CREATE VIEW shown_gateway AS
SELECT
  id,
  place,
  json_object(
    'id', id,
    'title', title,
    'description', description,
    'order', place,
    'enabled', json(iif(is_enabled, 'true', 'false')),
    'method_title', method_title,
    'method_description', method_description,
    'method_supports', json(supports),
    'settings', (
      SELECT json_group_object(name, json_object(
        'id', name,
        'label', name,
        'description', '',
        'type', 'text',
        'value', value,
        'default', '',
        'tip', '',
        'placeholder', ''
      ))
      FROM (
        SELECT 'title' AS name, title AS value
        UNION ALL
        SELECT key, CAST(value AS TEXT) FROM json_each(settings)
      )
    )
  ) AS shown
FROM gateway;

INSERT INTO object VALUES (
  'customer',
  1,
  '{"email":"shop@larkspur.example","username":"admin",
  "first_name":"Maya","last_name":"Chen","role":"administrator"}',
  '2025-06-02T08:00:00.000Z',
  '2025-06-02T08:00:00.000Z'
);

-- The addresses that orders of a customer have unless they say others.
CREATE VIEW address_of AS
SELECT
  id,
  json_patch(
    drop_nulls(json_object(
      'first_name', body ->> 'first_name',
      'last_name', body ->> 'last_name',
      'email', body ->> 'email'
    )),
    ifnull(body -> 'billing', '{}')
  ) AS billing,
  json_patch(
    drop_nulls(json_object('first_name', body ->> 'first_name', 'last_name', body ->> 'last_name')),
    ifnull(body -> 'shipping', '{}')
  ) AS shipping
FROM object
WHERE kind = 'customer';
