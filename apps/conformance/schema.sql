-- The fixtures are tables in the program (src/api/conformance): an instance has no content.
CREATE TABLE fixtures (id INTEGER PRIMARY KEY);
