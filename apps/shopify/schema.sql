-- Shopify: a shop with products, customers, orders, stock, collections, drafts and discounts. Ids
-- are numbers that go up; nothing is ever removed.

CREATE TABLE location (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  address1 TEXT NOT NULL,
  city TEXT NOT NULL,
  province TEXT NOT NULL,
  zip TEXT NOT NULL
);

CREATE TABLE product (
  id INTEGER PRIMARY KEY, -- from 8142350000101 on
  title TEXT NOT NULL,
  body_html TEXT,
  handle TEXT NOT NULL,
  vendor TEXT NOT NULL,
  product_type TEXT NOT NULL DEFAULT '',
  tags TEXT NOT NULL DEFAULT '',
  status TEXT NOT NULL DEFAULT 'active', -- or draft, archived
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
);

CREATE TABLE variant (
  id INTEGER PRIMARY KEY, -- from 44871230000201 on; the inventory item has a greater one
  product_id INTEGER NOT NULL REFERENCES product (id),
  position INTEGER NOT NULL,
  price TEXT NOT NULL,
  sku TEXT NOT NULL DEFAULT '',
  option1 TEXT, -- all NULL: the product has only one
  option2 TEXT,
  option3 TEXT,
  created_at TEXT NOT NULL,
  UNIQUE (product_id, position)
);

CREATE TABLE level (
  variant_id INTEGER NOT NULL REFERENCES variant (id),
  location_id INTEGER NOT NULL REFERENCES location (id),
  available INTEGER NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (variant_id, location_id)
) WITHOUT ROWID;

CREATE TABLE customer (
  id INTEGER PRIMARY KEY, -- from 7203450000301 on
  email TEXT COLLATE NOCASE,
  first_name TEXT,
  last_name TEXT,
  address1 TEXT,
  city TEXT,
  province TEXT,
  zip TEXT,
  country TEXT,
  created_at TEXT NOT NULL
);

CREATE TABLE "order" (
  number INTEGER PRIMARY KEY, -- from 1001 on; the id is a greater one
  customer_id INTEGER REFERENCES customer (id),
  financial_status TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'open', -- or closed, cancelled
  shipping_address TEXT, -- JSON
  tags TEXT NOT NULL DEFAULT '',
  note TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
);
CREATE INDEX order_customer ON "order" (customer_id);

CREATE TABLE draft_order (
  number INTEGER PRIMARY KEY, -- from 1 on; the id is a greater one
  customer_id INTEGER REFERENCES customer (id),
  status TEXT NOT NULL DEFAULT 'open', -- or invoice_sent, completed
  email TEXT,
  note TEXT,
  tags TEXT NOT NULL DEFAULT '',
  shipping_address TEXT, -- JSON
  billing_address TEXT, -- JSON
  created_at TEXT NOT NULL
);

-- Of an order or of a draft.
CREATE TABLE line (
  id INTEGER PRIMARY KEY, -- from 14502340000501 on
  order_number INTEGER REFERENCES "order" (number),
  draft_number INTEGER REFERENCES draft_order (number),
  variant_id INTEGER NOT NULL REFERENCES variant (id),
  quantity INTEGER NOT NULL
);
CREATE INDEX line_order ON line (order_number);
CREATE INDEX line_draft ON line (draft_number);

CREATE TABLE fulfillment (
  id INTEGER PRIMARY KEY, -- from 5101230000601 on
  order_number INTEGER NOT NULL REFERENCES "order" (number),
  location_id INTEGER NOT NULL REFERENCES location (id),
  tracking_number TEXT,
  tracking_company TEXT,
  tracking_url TEXT,
  created_at TEXT NOT NULL
);
CREATE INDEX fulfillment_order ON fulfillment (order_number);

CREATE TABLE sent_line (
  fulfillment_id INTEGER NOT NULL REFERENCES fulfillment (id),
  line_id INTEGER NOT NULL REFERENCES line (id),
  quantity INTEGER NOT NULL,
  PRIMARY KEY (fulfillment_id, line_id)
) WITHOUT ROWID;
CREATE INDEX sent_line_line ON sent_line (line_id);

CREATE TABLE collection (
  id INTEGER PRIMARY KEY, -- from 455671200701 on
  type TEXT NOT NULL, -- custom, smart
  title TEXT NOT NULL,
  body_html TEXT,
  handle TEXT NOT NULL,
  sort_order TEXT NOT NULL,
  created_at TEXT NOT NULL
);

CREATE TABLE collect (
  collection_id INTEGER NOT NULL REFERENCES collection (id),
  product_id INTEGER NOT NULL REFERENCES product (id),
  PRIMARY KEY (collection_id, product_id)
) WITHOUT ROWID;

CREATE TABLE price_rule (
  id INTEGER PRIMARY KEY, -- from 1401230000901 on
  title TEXT NOT NULL,
  value_type TEXT NOT NULL,
  value TEXT NOT NULL,
  target_type TEXT NOT NULL,
  target_selection TEXT NOT NULL,
  allocation_method TEXT NOT NULL,
  starts_at TEXT NOT NULL,
  ends_at TEXT,
  once_per_customer INTEGER NOT NULL DEFAULT 0,
  usage_limit INTEGER,
  created_at TEXT NOT NULL
);

-- What the tools show: Klavis's names for products, customers and orders, the API's own elsewhere.
CREATE VIEW variant_view AS
SELECT
  v.*,
  v.id + 2050120000000 AS item_id,
  ifnull((SELECT sum(available) FROM level WHERE variant_id = v.id), 0) AS stock,
  ifnull(
    v.option1 || ifnull(' / ' || v.option2, '') || ifnull(' / ' || v.option3, ''),
    'Default Title'
  ) AS title
FROM variant v;

CREATE VIEW product_row AS
SELECT
  p.*,
  drop_nulls(json_object(
    'id', p.id,
    'title', p.title,
    'description', p.body_html,
    'handle', p.handle,
    'vendor', p.vendor,
    'category', p.product_type,
    'status', p.status,
    'tags', p.tags,
    'publishedAt', iif(p.status = 'active', p.created_at, NULL),
    'publishedScope', 'global',
    'createdAt', p.created_at,
    'updatedAt', p.updated_at,
    'price', f.price,
    'sku', f.sku,
    'stock', f.stock,
    'variants', (
      SELECT json_group_array(json(json))
      FROM (
        SELECT json_object(
          'id', v.id,
          'price', v.price,
          'sku', v.sku,
          'stock', v.stock,
          'inventoryPolicy', 'deny',
          'title', v.title,
          'position', v.position,
          'requiresShipping', json('true'),
          'taxable', json('true')
        ) AS json
        FROM variant_view v
        WHERE v.product_id = p.id
        ORDER BY v.position
      )
    ),
    'options', (
      SELECT json_group_array(json(json))
      FROM (
        SELECT json_object(
          'id', p.id * 10 + o.value,
          'name', iif(o.value = 1, 'Title', 'Option ' || o.value),
          'position', o.value,
          'values', json_group_array(DISTINCT o.name)
        ) AS json
        FROM (
          SELECT
            v.position,
            n.value,
            CASE n.value
              WHEN 1 THEN ifnull(v.option1, 'Default Title')
              WHEN 2 THEN v.option2
              ELSE v.option3
            END AS name
          FROM variant v, json_each('[1, 2, 3]') n
          WHERE v.product_id = p.id
          ORDER BY v.position
        ) o
        WHERE o.name IS NOT NULL
        GROUP BY o.value
        ORDER BY o.value
      )
    ),
    'images', json('[]')
  )) AS json
FROM product p
JOIN variant_view f ON f.product_id = p.id AND f.position = 1;

CREATE VIEW line_view AS
SELECT
  l.*,
  p.id AS product_id,
  p.title,
  p.vendor,
  v.title AS variant_title,
  v.price,
  v.sku,
  ifnull((SELECT sum(quantity) FROM sent_line WHERE line_id = l.id), 0) AS sent
FROM line l
JOIN variant_view v ON v.id = l.variant_id
JOIN product p ON p.id = v.product_id;

-- A line as the API has it.
CREATE VIEW line_raw AS
SELECT
  l.*,
  json_object(
    'id', l.id,
    'variant_id', l.variant_id,
    'product_id', l.product_id,
    'title', l.title,
    'variant_title', nullif(l.variant_title, 'Default Title'),
    'sku', l.sku,
    'vendor', l.vendor,
    'quantity', l.quantity,
    'requires_shipping', json('true'),
    'taxable', json('true'),
    'gift_card', json('false'),
    'fulfillment_service', 'manual',
    'name', l.title || iif(l.variant_title = 'Default Title', '', ' - ' || l.variant_title),
    'price', l.price
  ) AS json
FROM line_view l;

CREATE VIEW order_view AS
SELECT
  o.*,
  o.number + 5612340000400 AS id,
  '#' || o.number AS name,
  s.total,
  CASE
    WHEN s.sent = 0 THEN NULL
    WHEN s.sent < s.quantity THEN 'partial'
    ELSE 'fulfilled'
  END AS fulfillment_status
FROM "order" o
JOIN (
  SELECT
    o.number,
    printf('%.2f', ifnull(sum(l.quantity * CAST(l.price AS REAL)), 0)) AS total,
    ifnull(sum(l.sent), 0) AS sent,
    ifnull(sum(l.quantity), 0) AS quantity
  FROM "order" o
  LEFT JOIN line_view l ON l.order_number = o.number
  GROUP BY o.number
) s
  ON s.number = o.number;

CREATE VIEW customer_row AS
SELECT
  c.*,
  drop_nulls(json_object(
    'id', c.id,
    'email', c.email,
    'firstName', c.first_name,
    'lastName', c.last_name,
    'name', nullif(trim(ifnull(c.first_name, '') || ' ' || ifnull(c.last_name, '')), ''),
    'ordersCount', (SELECT count(*) FROM "order" WHERE customer_id = c.id),
    'totalSpent', (
      SELECT printf('%.2f', ifnull(sum(CAST(total AS REAL)), 0))
      FROM order_view
      WHERE customer_id = c.id
        AND status <> 'cancelled'
        AND financial_status IN ('paid', 'partially_refunded')
    ),
    'state', 'disabled',
    'verifiedEmail', json('true'),
    'taxExempt', json('false'),
    'tags', '',
    'lastOrderId', o.id,
    'lastOrderName', o.name,
    'createdAt', c.created_at,
    'updatedAt', ifnull(o.created_at, c.created_at),
    'address', c.address1,
    'city', c.city,
    'province', c.province,
    'zip', c.zip,
    'country', iif(a.json IS NULL, NULL, c.country),
    'defaultAddress', json(a.json),
    'addresses', iif(a.json IS NULL, json('[]'), json_array(json(a.json)))
  )) AS json
FROM customer c
LEFT JOIN order_view o ON o.number = (SELECT max(number) FROM "order" WHERE customer_id = c.id)
JOIN (
  SELECT
    id,
    iif(
      coalesce(address1, city, province, zip) IS NULL,
      NULL,
      drop_nulls(json_object(
        'address', address1,
        'city', city,
        'state', province,
        'zip', zip,
        'country', country,
        'countryCode', iif(country GLOB '[A-Z][A-Z]', country, NULL)
      ))
    ) AS json
  FROM customer
) a
  ON a.id = c.id;

-- A fulfillment as the API has it.
CREATE VIEW fulfillment_raw AS
SELECT
  f.*,
  json_object(
    'id', f.id,
    'order_id', o.id,
    'status', 'success',
    'created_at', f.created_at,
    'service', 'manual',
    'updated_at', f.created_at,
    'tracking_company', f.tracking_company,
    'shipment_status', NULL,
    'location_id', f.location_id,
    'line_items', (
      SELECT json_group_array(json(json))
      FROM (
        SELECT json_set(l.json, '$.quantity', s.quantity) AS json
        FROM sent_line s
        JOIN line_raw l ON l.id = s.line_id
        WHERE s.fulfillment_id = f.id
        ORDER BY l.id
      )
    ),
    'tracking_number', f.tracking_number,
    'tracking_numbers', iif(f.tracking_number IS NULL, json('[]'), json_array(f.tracking_number)),
    'tracking_url', f.tracking_url,
    'tracking_urls', iif(f.tracking_url IS NULL, json('[]'), json_array(f.tracking_url)),
    'receipt', json('{}'),
    'name', o.name || '.'
      || (
        SELECT count(*) FROM fulfillment g WHERE g.order_number = f.order_number AND g.id <= f.id
      ),
    'admin_graphql_api_id', 'gid://shopify/Fulfillment/' || f.id
  ) AS json
FROM fulfillment f
JOIN order_view o ON o.number = f.order_number;

CREATE VIEW order_row AS
SELECT
  o.number,
  o.id,
  o.status,
  drop_nulls(json_object(
    'id', o.id,
    'name', o.name,
    'orderNumber', o.number,
    'confirmationNumber', printf('LK%07d', o.number * 7919 % 10000000),
    'orderStatusUrl', 'https://larkspur.example/orders/' || o.id,
    'email', c.email,
    'createdAt', o.created_at,
    'updatedAt', o.updated_at,
    'processedAt', o.created_at,
    'closedAt', iif(o.status = 'closed', o.updated_at, NULL),
    'cancelledAt', iif(o.status = 'cancelled', o.updated_at, NULL),
    'cancelReason', iif(o.status = 'cancelled', 'customer', NULL),
    'financialStatus', o.financial_status,
    'fulfillmentStatus', o.fulfillment_status,
    'totalPrice', o.total,
    'subtotalPrice', o.total,
    'totalTax', '0.00',
    'totalDiscounts', '0.00',
    'totalShippingPrice', '0.00',
    'currency', 'USD',
    'tags', o.tags,
    'note', o.note,
    'customerId', c.id,
    'customer', iif(
      c.id IS NULL,
      NULL,
      json(drop_nulls(json_object(
        'id', c.id,
        'email', c.email,
        'firstName', c.first_name,
        'lastName', c.last_name
      )))
    ),
    'lineItems', (
      SELECT json_group_array(json(json))
      FROM (
        SELECT json_object(
          'id', l.id,
          'productId', l.product_id,
          'variantId', l.variant_id,
          'title', l.title,
          'quantity', l.quantity,
          'price', l.price,
          'sku', l.sku,
          'totalDiscount', '0.00'
        ) AS json
        FROM line_view l
        WHERE l.order_number = o.number
        ORDER BY l.id
      )
    ),
    'shippingAddress', iif(
      o.shipping_address IS NULL,
      NULL,
      json(drop_nulls(json_object(
        'address', o.shipping_address ->> 'address1',
        'city', o.shipping_address ->> 'city',
        'state', o.shipping_address ->> 'province',
        'zip', o.shipping_address ->> 'zip',
        'country', o.shipping_address ->> 'country',
        'countryCode', iif(
          o.shipping_address ->> 'country' GLOB '[A-Z][A-Z]',
          o.shipping_address ->> 'country',
          NULL
        )
      )))
    ),
    'fulfillments', (
      SELECT json_group_array(json(json))
      FROM (
        SELECT drop_nulls(json_object(
          'id', f.id,
          'status', 'success',
          'trackingNumber', f.tracking_number,
          'trackingUrl', f.tracking_url,
          'trackingCompany', f.tracking_company,
          'createdAt', f.created_at,
          'updatedAt', f.created_at
        )) AS json
        FROM fulfillment f
        WHERE f.order_number = o.number
        ORDER BY f.id
      )
    ),
    'refunds', json('[]'),
    'discountCodes', json('[]')
  )) AS json
FROM order_view o
LEFT JOIN customer c ON c.id = o.customer_id;

CREATE VIEW draft_row AS
SELECT
  d.number,
  d.number + 1123450000800 AS id,
  d.status,
  json_object(
    'id', d.number + 1123450000800,
    'note', d.note,
    'email', ifnull(d.email, c.email),
    'taxes_included', json('false'),
    'currency', 'USD',
    'invoice_sent_at', iif(d.status = 'invoice_sent', d.created_at, NULL),
    'created_at', d.created_at,
    'updated_at', d.created_at,
    'tax_exempt', json('false'),
    'completed_at', iif(d.status = 'completed', d.created_at, NULL),
    'name', '#D' || d.number,
    'status', d.status,
    'line_items', (
      SELECT json_group_array(json(json))
      FROM (SELECT json FROM line_raw WHERE draft_number = d.number ORDER BY id)
    ),
    'shipping_address', json(d.shipping_address),
    'billing_address', json(d.billing_address),
    'invoice_url', 'https://larkspur.example/invoices/' || (d.number + 1123450000800),
    'applied_discount', NULL,
    'order_id', NULL,
    'shipping_line', NULL,
    'tax_lines', json('[]'),
    'tags', d.tags,
    'note_attributes', json('[]'),
    'total_price', t.total,
    'subtotal_price', t.total,
    'total_tax', '0.00',
    'admin_graphql_api_id', 'gid://shopify/DraftOrder/' || (d.number + 1123450000800),
    'customer', iif(
      c.id IS NULL,
      NULL,
      json(json_object(
        'id', c.id,
        'email', c.email,
        'first_name', c.first_name,
        'last_name', c.last_name
      ))
    )
  ) AS json
FROM draft_order d
LEFT JOIN customer c ON c.id = d.customer_id
JOIN (
  SELECT d.number, printf('%.2f', ifnull(sum(l.quantity * CAST(l.price AS REAL)), 0)) AS total
  FROM draft_order d
  LEFT JOIN line_view l ON l.draft_number = d.number
  GROUP BY d.number
) t
  ON t.number = d.number;

CREATE VIEW collection_row AS
SELECT
  c.id,
  c.type,
  c.title,
  json_patch(
    json_object(
      'id', c.id,
      'handle', c.handle,
      'title', c.title,
      'updated_at', c.created_at,
      'body_html', c.body_html,
      'published_at', c.created_at,
      'sort_order', c.sort_order,
      'template_suffix', NULL,
      'published_scope', 'web',
      'admin_graphql_api_id', 'gid://shopify/Collection/' || c.id
    ),
    iif(c.type = 'smart', '{"disjunctive":false,"rules":[]}', '{}')
  ) AS json
FROM collection c;

CREATE VIEW location_row AS
SELECT
  id,
  json_object(
    'id', id,
    'name', name,
    'address1', address1,
    'address2', NULL,
    'city', city,
    'zip', zip,
    'province', province,
    'country', 'US',
    'phone', NULL,
    'created_at', '2024-01-02T08:00:00.000Z',
    'updated_at', '2024-01-02T08:00:00.000Z',
    'country_code', 'US',
    'country_name', 'United States',
    'legacy', json('false'),
    'active', json('true'),
    'admin_graphql_api_id', 'gid://shopify/Location/' || id
  ) AS json
FROM location;

CREATE VIEW level_row AS
SELECT
  v.item_id,
  l.location_id,
  l.variant_id,
  json_object(
    'inventory_item_id', v.item_id,
    'location_id', l.location_id,
    'available', l.available,
    'updated_at', l.updated_at,
    'admin_graphql_api_id', 'gid://shopify/InventoryLevel/' || l.location_id
      || '?inventory_item_id=' || v.item_id
  ) AS json
FROM level l
JOIN variant_view v ON v.id = l.variant_id;

CREATE VIEW price_rule_row AS
SELECT
  id,
  json_object(
    'id', id,
    'value_type', value_type,
    'value', value,
    'customer_selection', 'all',
    'target_type', target_type,
    'target_selection', target_selection,
    'allocation_method', allocation_method,
    'allocation_limit', NULL,
    'once_per_customer', json(iif(once_per_customer, 'true', 'false')),
    'usage_limit', usage_limit,
    'starts_at', starts_at,
    'ends_at', ends_at,
    'created_at', created_at,
    'updated_at', created_at,
    'entitled_product_ids', json('[]'),
    'entitled_variant_ids', json('[]'),
    'entitled_collection_ids', json('[]'),
    'entitled_country_ids', json('[]'),
    'title', title,
    'admin_graphql_api_id', 'gid://shopify/PriceRule/' || id
  ) AS json
FROM price_rule;

-- The shop.
INSERT INTO location VALUES
  (71203450101, 'Larkspur Warehouse', '12 Foundry Lane', 'Portland', 'OR', '97209'),
  (71203450102, 'Larkspur Showroom', '480 Alder Street', 'Portland', 'OR', '97205');
