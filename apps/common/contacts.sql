-- People that an account of Google knows: of its own, of its organisation, and others. For the
-- schema; common/search_contacts finds them.

CREATE TABLE contact (
  n INTEGER PRIMARY KEY,
  source TEXT NOT NULL, -- personal, other, directory
  resource TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  first_name TEXT NOT NULL,
  last_name TEXT NOT NULL,
  email TEXT NOT NULL,
  phone TEXT,
  organization TEXT,
  title TEXT
);
CREATE VIRTUAL TABLE fts_contact USING fts5 (
  name,
  email,
  phone,
  organization,
  title,
  tokenize = 'unicode61 remove_diacritics 2'
);

INSERT INTO contact (
  source, resource, name, first_name, last_name, email, phone, organization, title
) VALUES
  (
    'directory', 'people/100000000000000000001', 'Maya Chen', 'Maya', 'Chen',
    'maya.chen@larkspur.example', '+351 21 555 0101', 'Larkspur Robotics', 'Engineering Manager'
  ),
  (
    'directory', 'people/100000000000000000002', 'Tomás Rivera', 'Tomás', 'Rivera',
    'tomas.rivera@larkspur.example', '+351 21 555 0102', 'Larkspur Robotics',
    'Senior Firmware Engineer'
  ),
  (
    'directory', 'people/100000000000000000003', 'Aisha Okafor', 'Aisha', 'Okafor',
    'aisha.okafor@larkspur.example', '+351 21 555 0103', 'Larkspur Robotics', 'Backend Engineer'
  ),
  (
    'directory', 'people/100000000000000000004', 'Jonas Lindqvist', 'Jonas', 'Lindqvist',
    'jonas.lindqvist@larkspur.example', '+46 8 555 0104', 'Larkspur Robotics',
    'Site Reliability Engineer'
  ),
  (
    'directory', 'people/100000000000000000005', 'Priya Nair', 'Priya', 'Nair',
    'priya.nair@larkspur.example', '+351 21 555 0105', 'Larkspur Robotics', 'Product Manager'
  ),
  (
    'directory', 'people/100000000000000000006', 'Daniel Kim', 'Daniel', 'Kim',
    'daniel.kim@larkspur.example', '+351 21 555 0106', 'Larkspur Robotics', 'QA Lead'
  ),
  (
    'directory', 'people/100000000000000000007', 'Sofia Marchetti', 'Sofia', 'Marchetti',
    'sofia.marchetti@larkspur.example', '+39 02 555 0107', 'Larkspur Robotics', 'Designer'
  ),
  (
    'directory', 'people/100000000000000000008', 'Ben Adeyemi', 'Ben', 'Adeyemi',
    'ben.adeyemi@larkspur.example', '+44 20 5550 0108', 'Larkspur Robotics', 'Support Lead'
  ),
  (
    'directory', 'people/100000000000000000009', 'Hana Suzuki', 'Hana', 'Suzuki',
    'hana.suzuki@larkspur.example', '+351 21 555 0109', 'Larkspur Robotics', 'Data Scientist'
  ),
  (
    'directory', 'people/100000000000000000010', 'Oliver Grant', 'Oliver', 'Grant',
    'oliver.grant@larkspur.example', '+44 20 5550 0110', 'Larkspur Robotics', 'CFO'
  ),
  (
    'personal', 'people/c2001', 'Elena Petrova', 'Elena', 'Petrova',
    'elena.petrova@northwind-logistics.example', '+49 30 555 0201', 'Northwind Logistics',
    'Operations Director'
  ),
  (
    'personal', 'people/c2002', 'Marcus Webb', 'Marcus', 'Webb', 'marcus@brightpath-parts.example',
    '+1 415 555 0202', 'Brightpath Parts', 'Account Manager'
  ),
  (
    'personal', 'people/c2003', 'Tomás Rivera', 'Tomás', 'Rivera', 'tomas.rivera@larkspur.example',
    '+351 91 555 0102', 'Larkspur Robotics', 'Senior Firmware Engineer'
  ),
  (
    'other', 'otherContacts/c3001', 'Lisbon Harbour Hotel', 'Lisbon Harbour', 'Hotel',
    'events@lisbon-harbour-hotel.example', '+351 21 555 0301', NULL, NULL
  ),
  (
    'other', 'otherContacts/c3002', 'Northwind Service Desk', 'Northwind', 'Service Desk',
    'servicedesk@northwind-logistics.example', NULL, NULL, NULL
  );
INSERT INTO fts_contact (rowid, name, email, phone, organization, title)
SELECT n, name, email, phone, organization, title
FROM contact;
