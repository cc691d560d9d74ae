-- name: import
INSERT INTO product
SELECT value ->> 'name', value ->> 'price', value ->> 'stock'
FROM json_each(:args, '$.products');
SELECT json_object('products', count(*)) AS result FROM product;

-- name: export
SELECT json_object(
  'products', json_group_array(json_object('name', name, 'price', price, 'stock', stock))
) AS result
FROM (SELECT * FROM product ORDER BY name);
