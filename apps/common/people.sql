-- The people of Larkspur Robotics, for a table person (email, name).
INSERT INTO person VALUES
  ('maya.chen@larkspur.example', 'Maya Chen'),
  ('tomas.rivera@larkspur.example', 'Tomás Rivera'),
  ('aisha.okafor@larkspur.example', 'Aisha Okafor'),
  ('jonas.lindqvist@larkspur.example', 'Jonas Lindqvist'),
  ('priya.nair@larkspur.example', 'Priya Nair'),
  ('daniel.kim@larkspur.example', 'Daniel Kim'),
  ('sofia.marchetti@larkspur.example', 'Sofia Marchetti'),
  ('ben.adeyemi@larkspur.example', 'Ben Adeyemi'),
  ('hana.suzuki@larkspur.example', 'Hana Suzuki'),
  ('oliver.grant@larkspur.example', 'Oliver Grant');
