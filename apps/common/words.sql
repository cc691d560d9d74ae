-- :query as :words, an array of its different words in lower case. Letters and digits of other
-- alphabets stay; what is between words becomes a space.
WITH RECURSIVE spaced (i, text) AS (
  SELECT 1, lower(:query)
  UNION ALL
  SELECT i + 1, replace(text, substr('.,;:!?()[]{}<>"''`*~|/\_=+-&%$#@' || char(10, 9), i, 1), ' ')
  FROM spaced
  WHERE i <= 34
)
SELECT json_group_array(DISTINCT w.value) AS words
FROM json_each(
  '[' || replace(json_quote((SELECT text FROM spaced ORDER BY i DESC LIMIT 1)), ' ', '","') || ']'
) w
WHERE NOT text_match(w.value, '');
