-- name: calculate
SELECT calc(:expression) AS answer;
SELECT 'Error executing tool calculate: ' || (:answer ->> 'error') AS error
WHERE :answer ->> 'error' IS NOT NULL;
SELECT :answer ->> 'result' AS result;
