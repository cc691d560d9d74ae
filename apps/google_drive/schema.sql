-- Files and folders. What is at the top of My Drive has account.root as its parent, what is at the
-- top of a shared drive the id of that; drive_id says which shared drive a file is in at all.

CREATE TABLE account (email TEXT PRIMARY KEY, name TEXT NOT NULL, root TEXT NOT NULL);

CREATE TABLE person (email TEXT PRIMARY KEY, name TEXT NOT NULL);

CREATE TABLE drive (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  request_id TEXT UNIQUE,
  created_ms INTEGER NOT NULL
);

CREATE TABLE file (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  mime_type TEXT NOT NULL,
  description TEXT,
  parent TEXT,
  drive_id TEXT REFERENCES drive (id),
  owner TEXT NOT NULL,
  content TEXT,
  size INTEGER, -- bytes; what Google's own editors made has none
  created_ms INTEGER NOT NULL,
  modified_ms INTEGER NOT NULL,
  given TEXT, -- of the times: those that whoever imported it gave, for the dump
  trashed INTEGER NOT NULL DEFAULT 0,
  starred INTEGER NOT NULL DEFAULT 0,
  shared_with_me INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX file_parent ON file (parent);
CREATE INDEX file_name ON file (name);
CREATE INDEX file_modified ON file (modified_ms);

CREATE VIRTUAL TABLE fts_file USING fts5 (
  name,
  content,
  description,
  tokenize = 'unicode61 remove_diacritics 2'
);

-- Documents as the tools give them. A text is Markdown: lines that begin with #, ## or ### are
-- headings, those that begin with "- " are items.
CREATE VIEW document AS
SELECT
  n,
  id,
  name,
  '---' || char(10) || 'title: ' || name || char(10) || 'documentId: ' || id || char(10) || '---'
    || char(10) || ifnull(content, '') AS markdown,
  '<html><head><title>' || replace(replace(replace(name, '&', '&amp;'), '<', '&lt;'), '>', '&gt;')
    || '</title><meta name="documentId" content="' || id || '"></head><body>'
    || (
      SELECT ifnull(
        group_concat(
          CASE
            WHEN line = '' THEN ''
            WHEN line GLOB '# *' THEN '<h1>' || substr(line, 3) || '</h1>'
            WHEN line GLOB '## *' THEN '<h2>' || substr(line, 4) || '</h2>'
            WHEN line GLOB '### *' THEN '<h3>' || substr(line, 5) || '</h3>'
            WHEN line GLOB '- *' THEN '<ul><li>' || substr(line, 3) || '</li></ul>'
            ELSE '<p>' || line || '</p>'
          END,
          ''
        ),
        ''
      )
      FROM (
        SELECT replace(replace(replace(value, '&', '&amp;'), '<', '&lt;'), '>', '&gt;') AS line
        FROM json_each(
          '['
            || replace(
              json_quote(replace(replace(ifnull(content, ''), char(13), ''), char(10), char(30))),
              '\u001e',
              '","'
            ) || ']'
        )
        ORDER BY key
      )
    ) || '</body></html>' AS html
FROM file;

-- What an account has before its first file.

INSERT INTO account VALUES ('maya.chen@larkspur.example', 'Maya Chen', '0AKm4yaCh3nRtUk9PVA');
-- include: common/people
INSERT INTO drive VALUES ('0AHlarkspurEng4Uk9PVA', 'Larkspur Engineering', NULL, 1735689600000);
