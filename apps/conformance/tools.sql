-- The program answers for an instance itself; this one is here so that the app can be checked.

-- name: test_simple_text
SELECT 'This is a simple text response for testing.' AS result;
