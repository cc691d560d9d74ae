-- People that a body names and the product does not know yet: :strangers, an array of mail
-- addresses, logins and names (or nulls), as :newcomers, [{"email", "login", "name"}], each once.
-- Of an address the name is what stands before the "@": "zoe.park@example.com" is Zoe Park.
SELECT json_group_array(json_object('email', email, 'login', login, 'name', name)) AS newcomers
FROM (
  SELECT
    iif(mail_is_address(who), who, replace(lower(who), ' ', '.') || '@larkspur.example') AS email,
    iif(mail_is_address(who), who, replace(lower(who), ' ', '.')) AS login,
    iif(
      mail_is_address(who),
      upper(substr(who, 1, 1))
        || iif(
          instr(box, '.') > 1 AND instr(box, '.') < length(box),
          substr(box, 2, instr(box, '.') - 2) || ' ' || upper(substr(box, instr(box, '.') + 1, 1))
            || substr(box, instr(box, '.') + 2),
          substr(box, 2)
        ),
      who
    ) AS name
  FROM (
    SELECT DISTINCT value AS who, substr(value, 1, instr(value, '@') - 1) AS box
    FROM json_each(:strangers)
    WHERE type = 'text' AND trim(value) <> '' AND length(value) <= 200
  )
  GROUP BY email
  ORDER BY email
);
