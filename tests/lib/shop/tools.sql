-- name: get_order
SELECT id, product, quantity, ticket, created FROM orders WHERE id = :order_id;
SELECT 'order ' || :order_id || ' does not exist' AS error WHERE :id IS NULL;
SELECT json_object(
  'id', :id,
  'product', :product,
  'quantity', :quantity,
  'total', :quantity * price,
  'ticket', :ticket,
  'created', :created
) AS result
FROM product
WHERE name = :product;

-- name: create_order
SELECT stock FROM product WHERE name = :product;
SELECT 'no such product: ' || :product AS error WHERE :stock IS NULL;
UPDATE product SET stock = stock - :quantity WHERE name = :product;
SELECT 'only ' || :stock || ' left' AS error WHERE :stock < :quantity;
INSERT INTO orders VALUES (new_id('order'), :product, :quantity, new_id('ticket'), now())
RETURNING id, ticket;
SELECT json_object('id', :id, 'ticket', :ticket) AS result;

-- name: find_products
SELECT json_group_array(name) AS result
FROM (SELECT name FROM product WHERE {{words :query}} ORDER BY name LIMIT ifnull(:limit, 10));

-- part: known_product
SELECT stock, price FROM product WHERE name = :product;
SELECT 'no such product: ' || :product AS error WHERE :stock IS NULL;
