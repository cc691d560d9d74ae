-- name: price
-- include: known_product
SELECT json_object('price', :price) AS result;
