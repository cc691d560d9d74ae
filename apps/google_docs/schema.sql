-- Documents of plain text: the tools neither read nor write more than paragraphs.
CREATE TABLE account (email TEXT PRIMARY KEY, name TEXT NOT NULL);
INSERT INTO account VALUES ('maya.chen@larkspur.example', 'Maya Chen');

CREATE TABLE document (
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  content TEXT NOT NULL, -- without the line end that closes every document
  revision TEXT NOT NULL, -- other after every change
  created TEXT NOT NULL,
  modified TEXT NOT NULL,
  rank INTEGER NOT NULL UNIQUE -- the larger, the newer
);
CREATE INDEX document_modified ON document (modified, rank);
