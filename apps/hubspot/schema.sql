-- HubSpot: the objects of one account, their properties and what links them.

-- What an account has before any content, and what is said of failures.
CREATE TABLE property (
  place INTEGER PRIMARY KEY,
  kind TEXT NOT NULL, -- contacts, companies, deals, tickets, tasks, notes
  name TEXT NOT NULL,
  label TEXT NOT NULL,
  type TEXT NOT NULL, -- string, number, datetime, enumeration, bool
  field_type TEXT NOT NULL,
  options TEXT, -- of an enumeration: ' one two '
  is_read_only INTEGER NOT NULL DEFAULT 0,
  description TEXT, -- of those that the account added
  UNIQUE (kind, name)
);
INSERT INTO property (place, kind, name, label, type, field_type, options, is_read_only) VALUES
  (1, 'contacts', 'email', 'Email', 'string', 'text', NULL, 0),
  (2, 'contacts', 'firstname', 'First Name', 'string', 'text', NULL, 0),
  (3, 'contacts', 'lastname', 'Last Name', 'string', 'text', NULL, 0),
  (4, 'contacts', 'phone', 'Phone Number', 'string', 'phonenumber', NULL, 0),
  (5, 'contacts', 'mobilephone', 'Mobile Phone Number', 'string', 'phonenumber', NULL, 0),
  (6, 'contacts', 'company', 'Company Name', 'string', 'text', NULL, 0),
  (7, 'contacts', 'jobtitle', 'Job Title', 'string', 'text', NULL, 0),
  (8, 'contacts', 'website', 'Website URL', 'string', 'text', NULL, 0),
  (9, 'contacts', 'address', 'Street Address', 'string', 'text', NULL, 0),
  (10, 'contacts', 'city', 'City', 'string', 'text', NULL, 0),
  (11, 'contacts', 'state', 'State/Region', 'string', 'text', NULL, 0),
  (12, 'contacts', 'zip', 'Postal Code', 'string', 'text', NULL, 0),
  (13, 'contacts', 'country', 'Country/Region', 'string', 'text', NULL, 0),
  (14, 'contacts', 'salutation', 'Salutation', 'string', 'text', NULL, 0),
  (15, 'contacts', 'fax', 'Fax Number', 'string', 'phonenumber', NULL, 0),
  (16, 'contacts', 'industry', 'Industry', 'string', 'text', NULL, 0),
  (17, 'contacts', 'annualrevenue', 'Annual Revenue', 'string', 'text', NULL, 0),
  (
    18, 'contacts', 'numemployees', 'Number of Employees', 'enumeration', 'select',
    ' 1-5 5-25 25-50 50-100 100-500 500-1000 1000+ ', 0
  ),
  (19, 'contacts', 'date_of_birth', 'Date of birth', 'string', 'text', NULL, 0),
  (20, 'contacts', 'message', 'Message', 'string', 'textarea', NULL, 0),
  (21, 'contacts', 'hs_linkedin_url', 'LinkedIn URL', 'string', 'text', NULL, 0),
  (
    22,
    'contacts',
    'lifecyclestage',
    'Lifecycle Stage',
    'enumeration',
    'radio',
    ' subscriber lead marketingqualifiedlead salesqualifiedlead opportunity customer '
      || 'evangelist other ',
    0
  ),
  (
    23, 'contacts', 'hs_lead_status', 'Lead Status', 'enumeration', 'radio',
    ' NEW OPEN IN_PROGRESS OPEN_DEAL UNQUALIFIED ATTEMPTED_TO_CONTACT CONNECTED BAD_TIMING ', 0
  ),
  (24, 'contacts', 'hubspot_owner_id', 'Contact owner', 'enumeration', 'select', NULL, 0),
  (25, 'contacts', 'createdate', 'Create Date', 'datetime', 'date', NULL, 1),
  (26, 'contacts', 'lastmodifieddate', 'Last Modified Date', 'datetime', 'date', NULL, 1),
  (27, 'contacts', 'hs_object_id', 'Record ID', 'number', 'number', NULL, 1),
  (28, 'companies', 'name', 'Company name', 'string', 'text', NULL, 0),
  (29, 'companies', 'domain', 'Company Domain Name', 'string', 'text', NULL, 0),
  (30, 'companies', 'website', 'Website URL', 'string', 'text', NULL, 0),
  (31, 'companies', 'phone', 'Phone Number', 'string', 'phonenumber', NULL, 0),
  (32, 'companies', 'address', 'Street Address', 'string', 'text', NULL, 0),
  (33, 'companies', 'address2', 'Street Address 2', 'string', 'text', NULL, 0),
  (34, 'companies', 'city', 'City', 'string', 'text', NULL, 0),
  (35, 'companies', 'state', 'State/Region', 'string', 'text', NULL, 0),
  (36, 'companies', 'zip', 'Postal Code', 'string', 'text', NULL, 0),
  (37, 'companies', 'country', 'Country/Region', 'string', 'text', NULL, 0),
  (
    38,
    'companies',
    'industry',
    'Industry',
    'enumeration',
    'select',
    ' ACCOUNTING AIRLINES_AVIATION ALTERNATIVE_DISPUTE_RESOLUTION ALTERNATIVE_MEDICINE '
      || 'ANIMATION APPAREL_FASHION ARCHITECTURE_PLANNING ARTS_AND_CRAFTS AUTOMOTIVE '
      || 'AVIATION_AEROSPACE BANKING BIOTECHNOLOGY BROADCAST_MEDIA BUILDING_MATERIALS '
      || 'BUSINESS_SUPPLIES_AND_EQUIPMENT CAPITAL_MARKETS CHEMICALS CIVIC_SOCIAL_ORGANIZATION '
      || 'CIVIL_ENGINEERING COMMERCIAL_REAL_ESTATE COMPUTER_NETWORK_SECURITY COMPUTER_GAMES '
      || 'COMPUTER_HARDWARE COMPUTER_NETWORKING COMPUTER_SOFTWARE INTERNET CONSTRUCTION '
      || 'CONSUMER_ELECTRONICS CONSUMER_GOODS CONSUMER_SERVICES COSMETICS DAIRY DEFENSE_SPACE '
      || 'DESIGN EDUCATION_MANAGEMENT E_LEARNING ELECTRICAL_ELECTRONIC_MANUFACTURING '
      || 'ENTERTAINMENT ENVIRONMENTAL_SERVICES EVENTS_SERVICES EXECUTIVE_OFFICE '
      || 'FACILITIES_SERVICES FARMING FINANCIAL_SERVICES FINE_ART FISHERY FOOD_BEVERAGES '
      || 'FOOD_PRODUCTION FUND_RAISING FURNITURE GAMBLING_CASINOS GLASS_CERAMICS_CONCRETE '
      || 'GOVERNMENT_ADMINISTRATION GOVERNMENT_RELATIONS GRAPHIC_DESIGN '
      || 'HEALTH_WELLNESS_AND_FITNESS HIGHER_EDUCATION HOSPITAL_HEALTH_CARE HOSPITALITY '
      || 'HUMAN_RESOURCES IMPORT_AND_EXPORT INDIVIDUAL_FAMILY_SERVICES INDUSTRIAL_AUTOMATION '
      || 'INFORMATION_SERVICES INFORMATION_TECHNOLOGY_AND_SERVICES INSURANCE '
      || 'INTERNATIONAL_AFFAIRS INTERNATIONAL_TRADE_AND_DEVELOPMENT INVESTMENT_BANKING '
      || 'INVESTMENT_MANAGEMENT JUDICIARY LAW_ENFORCEMENT LAW_PRACTICE LEGAL_SERVICES '
      || 'LEGISLATIVE_OFFICE LEISURE_TRAVEL_TOURISM LIBRARIES LOGISTICS_AND_SUPPLY_CHAIN '
      || 'LUXURY_GOODS_JEWELRY MACHINERY MANAGEMENT_CONSULTING MARITIME MARKET_RESEARCH '
      || 'MARKETING_AND_ADVERTISING MECHANICAL_OR_INDUSTRIAL_ENGINEERING MEDIA_PRODUCTION '
      || 'MEDICAL_DEVICES MEDICAL_PRACTICE MENTAL_HEALTH_CARE MILITARY MINING_METALS '
      || 'MOTION_PICTURES_AND_FILM MUSEUMS_AND_INSTITUTIONS MUSIC NANOTECHNOLOGY NEWSPAPERS '
      || 'NON_PROFIT_ORGANIZATION_MANAGEMENT OIL_ENERGY ONLINE_MEDIA OUTSOURCING_OFFSHORING '
      || 'PACKAGE_FREIGHT_DELIVERY PACKAGING_AND_CONTAINERS PAPER_FOREST_PRODUCTS '
      || 'PERFORMING_ARTS PHARMACEUTICALS PHILANTHROPY PHOTOGRAPHY PLASTICS '
      || 'POLITICAL_ORGANIZATION PRIMARY_SECONDARY_EDUCATION PRINTING '
      || 'PROFESSIONAL_TRAINING_COACHING PROGRAM_DEVELOPMENT PUBLIC_POLICY '
      || 'PUBLIC_RELATIONS_AND_COMMUNICATIONS PUBLIC_SAFETY PUBLISHING RAILROAD_MANUFACTURE '
      || 'RANCHING REAL_ESTATE RECREATIONAL_FACILITIES_AND_SERVICES RELIGIOUS_INSTITUTIONS '
      || 'RENEWABLES_ENVIRONMENT RESEARCH RESTAURANTS RETAIL SECURITY_AND_INVESTIGATIONS '
      || 'SEMICONDUCTORS SHIPBUILDING SPORTING_GOODS SPORTS STAFFING_AND_RECRUITING '
      || 'SUPERMARKETS TELECOMMUNICATIONS TEXTILES THINK_TANKS TOBACCO '
      || 'TRANSLATION_AND_LOCALIZATION TRANSPORTATION_TRUCKING_RAILROAD UTILITIES '
      || 'VENTURE_CAPITAL_PRIVATE_EQUITY VETERINARY WAREHOUSING WHOLESALE WINE_AND_SPIRITS '
      || 'WIRELESS WRITING_AND_EDITING ',
    0
  ),
  (39, 'companies', 'numberofemployees', 'Number of Employees', 'number', 'number', NULL, 0),
  (40, 'companies', 'annualrevenue', 'Annual Revenue', 'number', 'number', NULL, 0),
  (41, 'companies', 'description', 'Description', 'string', 'textarea', NULL, 0),
  (42, 'companies', 'about_us', 'About Us', 'string', 'textarea', NULL, 0),
  (43, 'companies', 'founded_year', 'Year Founded', 'string', 'text', NULL, 0),
  (44, 'companies', 'is_public', 'Is Public', 'bool', 'booleancheckbox', NULL, 0),
  (45, 'companies', 'timezone', 'Time Zone', 'string', 'text', NULL, 0),
  (
    46, 'companies', 'type', 'Type', 'enumeration', 'radio',
    ' PROSPECT PARTNER RESELLER VENDOR OTHER ', 0
  ),
  (47, 'companies', 'linkedin_company_page', 'LinkedIn Company Page', 'string', 'text', NULL, 0),
  (
    48,
    'companies',
    'lifecyclestage',
    'Lifecycle Stage',
    'enumeration',
    'radio',
    ' subscriber lead marketingqualifiedlead salesqualifiedlead opportunity customer '
      || 'evangelist other ',
    0
  ),
  (
    49, 'companies', 'hs_lead_status', 'Lead Status', 'enumeration', 'radio',
    ' NEW OPEN IN_PROGRESS OPEN_DEAL UNQUALIFIED ATTEMPTED_TO_CONTACT CONNECTED BAD_TIMING ', 0
  ),
  (50, 'companies', 'hubspot_owner_id', 'Company owner', 'enumeration', 'select', NULL, 0),
  (51, 'companies', 'createdate', 'Create Date', 'datetime', 'date', NULL, 1),
  (52, 'companies', 'hs_lastmodifieddate', 'Last Modified Date', 'datetime', 'date', NULL, 1),
  (53, 'companies', 'hs_object_id', 'Record ID', 'number', 'number', NULL, 1),
  (54, 'deals', 'dealname', 'Deal Name', 'string', 'text', NULL, 0),
  (55, 'deals', 'amount', 'Amount', 'number', 'number', NULL, 0),
  (
    56,
    'deals',
    'dealstage',
    'Deal Stage',
    'enumeration',
    'radio',
    ' appointmentscheduled qualifiedtobuy presentationscheduled decisionmakerboughtin '
      || 'contractsent closedwon closedlost ',
    0
  ),
  (57, 'deals', 'pipeline', 'Pipeline', 'enumeration', 'select', ' default ', 0),
  (58, 'deals', 'closedate', 'Close Date', 'datetime', 'date', NULL, 0),
  (
    59, 'deals', 'dealtype', 'Deal Type', 'enumeration', 'radio', ' newbusiness existingbusiness ',
    0
  ),
  (60, 'deals', 'description', 'Deal Description', 'string', 'textarea', NULL, 0),
  (61, 'deals', 'hs_next_step', 'Next step', 'string', 'text', NULL, 0),
  (62, 'deals', 'hs_priority', 'Priority', 'enumeration', 'select', ' low medium high ', 0),
  (63, 'deals', 'closed_lost_reason', 'Closed Lost Reason', 'string', 'textarea', NULL, 0),
  (64, 'deals', 'closed_won_reason', 'Closed Won Reason', 'string', 'textarea', NULL, 0),
  (65, 'deals', 'hubspot_owner_id', 'Deal owner', 'enumeration', 'select', NULL, 0),
  (66, 'deals', 'createdate', 'Create Date', 'datetime', 'date', NULL, 1),
  (67, 'deals', 'hs_lastmodifieddate', 'Last Modified Date', 'datetime', 'date', NULL, 1),
  (68, 'deals', 'hs_object_id', 'Record ID', 'number', 'number', NULL, 1),
  (69, 'tickets', 'subject', 'Ticket name', 'string', 'text', NULL, 0),
  (70, 'tickets', 'content', 'Ticket description', 'string', 'textarea', NULL, 0),
  (71, 'tickets', 'hs_pipeline', 'Pipeline', 'enumeration', 'select', ' 0 ', 0),
  (72, 'tickets', 'hs_pipeline_stage', 'Ticket status', 'enumeration', 'select', ' 1 2 3 4 ', 0),
  (
    73, 'tickets', 'hs_ticket_priority', 'Priority', 'enumeration', 'select',
    ' LOW MEDIUM HIGH URGENT ', 0
  ),
  (
    74, 'tickets', 'hs_ticket_category', 'Category', 'enumeration', 'checkbox',
    ' PRODUCT_ISSUE BILLING_ISSUE FEATURE_REQUEST GENERAL_INQUIRY ', 0
  ),
  (75, 'tickets', 'hs_resolution', 'Resolution', 'string', 'textarea', NULL, 0),
  (76, 'tickets', 'source_type', 'Source', 'enumeration', 'select', ' CHAT EMAIL FORM PHONE ', 0),
  (77, 'tickets', 'hubspot_owner_id', 'Ticket owner', 'enumeration', 'select', NULL, 0),
  (78, 'tickets', 'createdate', 'Create date', 'datetime', 'date', NULL, 1),
  (79, 'tickets', 'hs_lastmodifieddate', 'Last modified date', 'datetime', 'date', NULL, 1),
  (80, 'tickets', 'hs_object_id', 'Record ID', 'number', 'number', NULL, 1),
  (81, 'tasks', 'hs_task_subject', 'Task Title', 'string', 'text', NULL, 0),
  (82, 'tasks', 'hs_task_body', 'Task Notes', 'string', 'html', NULL, 0),
  (
    83, 'tasks', 'hs_task_status', 'Task Status', 'enumeration', 'select',
    ' NOT_STARTED IN_PROGRESS WAITING COMPLETED DEFERRED ', 0
  ),
  (
    84, 'tasks', 'hs_task_priority', 'Priority', 'enumeration', 'select', ' NONE LOW MEDIUM HIGH ',
    0
  ),
  (85, 'tasks', 'hs_task_type', 'Task Type', 'enumeration', 'select', ' TODO EMAIL CALL ', 0),
  (86, 'tasks', 'hs_timestamp', 'Due date', 'datetime', 'date', NULL, 0),
  (87, 'tasks', 'hs_task_reminders', 'Reminders', 'string', 'text', NULL, 0),
  (88, 'tasks', 'hubspot_owner_id', 'Assigned to', 'enumeration', 'select', NULL, 0),
  (89, 'tasks', 'hs_createdate', 'Create date', 'datetime', 'date', NULL, 1),
  (90, 'tasks', 'hs_lastmodifieddate', 'Last modified date', 'datetime', 'date', NULL, 1),
  (91, 'tasks', 'hs_object_id', 'Record ID', 'number', 'number', NULL, 1),
  (92, 'notes', 'hs_note_body', 'Note body', 'string', 'html', NULL, 0),
  (93, 'notes', 'hs_timestamp', 'Activity date', 'datetime', 'date', NULL, 0),
  (94, 'notes', 'hubspot_owner_id', 'Activity assigned to', 'enumeration', 'select', NULL, 0),
  (95, 'notes', 'hs_createdate', 'Create date', 'datetime', 'date', NULL, 1),
  (96, 'notes', 'hs_lastmodifieddate', 'Last modified date', 'datetime', 'date', NULL, 1),
  (97, 'notes', 'hs_object_id', 'Record ID', 'number', 'number', NULL, 1);

CREATE TABLE stage (id TEXT PRIMARY KEY, label TEXT NOT NULL);
INSERT INTO stage VALUES
  ('appointmentscheduled', 'Appointment Scheduled'),
  ('qualifiedtobuy', 'Qualified To Buy'),
  ('presentationscheduled', 'Presentation Scheduled'),
  ('decisionmakerboughtin', 'Decision Maker Bought-In'),
  ('contractsent', 'Contract Sent'),
  ('closedwon', 'Closed Won'),
  ('closedlost', 'Closed Lost');

-- Which member of a body is which property.
CREATE TABLE field (
  place INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  property TEXT NOT NULL,
  is_required INTEGER NOT NULL
);
INSERT INTO field VALUES
  (1, 'contacts', 'first_name', 'firstname', 1),
  (2, 'contacts', 'last_name', 'lastname', 1),
  (3, 'contacts', 'email_address', 'email', 1),
  (4, 'contacts', 'phone_number', 'phone', 0),
  (5, 'contacts', 'job_title', 'jobtitle', 0),
  (6, 'companies', 'company_name', 'name', 1),
  (7, 'companies', 'website_domain', 'domain', 0),
  (8, 'companies', 'industry', 'industry', 0),
  (9, 'companies', 'city', 'city', 0),
  (10, 'companies', 'state_region', 'state', 0),
  (11, 'companies', 'country', 'country', 0),
  (12, 'companies', 'phone_number', 'phone', 0),
  (13, 'companies', 'employee_count', 'numberofemployees', 0),
  (14, 'companies', 'yearly_revenue', 'annualrevenue', 0),
  (15, 'deals', 'title', 'dealname', 1),
  (16, 'deals', 'value', 'amount', 0),
  (17, 'deals', 'stage', 'dealstage', 0),
  (18, 'deals', 'pipeline', 'pipeline', 0),
  (19, 'deals', 'expected_close_date', 'closedate', 0),
  (20, 'tickets', 'title', 'subject', 1),
  (21, 'tickets', 'description', 'content', 0),
  (22, 'tickets', 'pipeline', 'hs_pipeline', 0),
  (23, 'tickets', 'workflow_stage', 'hs_pipeline_stage', 0),
  (24, 'tickets', 'priority_level', 'hs_ticket_priority', 0),
  (25, 'tasks', 'title', 'hs_task_subject', 1),
  (26, 'tasks', 'description', 'hs_task_body', 0),
  (27, 'tasks', 'task_status', 'hs_task_status', 0),
  (28, 'tasks', 'priority_level', 'hs_task_priority', 0),
  (29, 'tasks', 'deadline', 'hs_timestamp', 0);

-- Which member of an answer is which property.
CREATE TABLE rule (
  place INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  property TEXT NOT NULL
);
INSERT INTO rule VALUES
  (1, 'contacts', 'id', 'hs_object_id'),
  (2, 'contacts', 'email', 'email'),
  (3, 'contacts', 'firstName', 'firstname'),
  (4, 'contacts', 'lastName', 'lastname'),
  (5, 'contacts', 'phone', 'phone'),
  (6, 'contacts', 'mobilePhone', 'mobilephone'),
  (7, 'contacts', 'company', 'company'),
  (8, 'contacts', 'jobTitle', 'jobtitle'),
  (9, 'contacts', 'website', 'website'),
  (10, 'contacts', 'address', 'address'),
  (11, 'contacts', 'city', 'city'),
  (12, 'contacts', 'state', 'state'),
  (13, 'contacts', 'postalCode', 'zip'),
  (14, 'contacts', 'country', 'country'),
  (15, 'contacts', 'lifecycleStage', 'lifecyclestage'),
  (16, 'contacts', 'leadStatus', 'hs_lead_status'),
  (17, 'contacts', 'ownerId', 'hubspot_owner_id'),
  (18, 'contacts', 'createdAt', 'createdate'),
  (19, 'contacts', 'updatedAt', 'lastmodifieddate'),
  (20, 'companies', 'id', 'hs_object_id'),
  (21, 'companies', 'name', 'name'),
  (22, 'companies', 'domain', 'domain'),
  (23, 'companies', 'website', 'website'),
  (24, 'companies', 'phone', 'phone'),
  (25, 'companies', 'address', 'address'),
  (26, 'companies', 'city', 'city'),
  (27, 'companies', 'state', 'state'),
  (28, 'companies', 'postalCode', 'zip'),
  (29, 'companies', 'country', 'country'),
  (30, 'companies', 'industry', 'industry'),
  (31, 'companies', 'employeeCount', 'numberofemployees'),
  (32, 'companies', 'annualRevenue', 'annualrevenue'),
  (33, 'companies', 'description', 'description'),
  (34, 'companies', 'type', 'type'),
  (35, 'companies', 'lifecycleStage', 'lifecyclestage'),
  (36, 'companies', 'leadStatus', 'hs_lead_status'),
  (37, 'companies', 'ownerId', 'hubspot_owner_id'),
  (38, 'companies', 'createdAt', 'createdate'),
  (39, 'companies', 'updatedAt', 'hs_lastmodifieddate'),
  (40, 'deals', 'id', 'hs_object_id'),
  (41, 'deals', 'name', 'dealname'),
  (42, 'deals', 'amount', 'amount'),
  (43, 'deals', 'stage', 'dealstage'),
  (44, 'deals', 'stageLabel', 'dealstage_label'),
  (45, 'deals', 'pipeline', 'pipeline'),
  (46, 'deals', 'closeDate', 'closedate'),
  (47, 'deals', 'dealType', 'dealtype'),
  (48, 'deals', 'description', 'description'),
  (49, 'deals', 'ownerId', 'hubspot_owner_id'),
  (50, 'deals', 'createdAt', 'createdate'),
  (51, 'deals', 'updatedAt', 'hs_lastmodifieddate'),
  (52, 'tickets', 'id', 'hs_object_id'),
  (53, 'tickets', 'subject', 'subject'),
  (54, 'tickets', 'content', 'content'),
  (55, 'tickets', 'status', 'hs_ticket_status'),
  (56, 'tickets', 'priority', 'hs_ticket_priority'),
  (57, 'tickets', 'category', 'hs_ticket_category'),
  (58, 'tickets', 'pipeline', 'hs_pipeline'),
  (59, 'tickets', 'pipelineStage', 'hs_pipeline_stage'),
  (60, 'tickets', 'ownerId', 'hubspot_owner_id'),
  (61, 'tickets', 'createdAt', 'createdate'),
  (62, 'tickets', 'updatedAt', 'hs_lastmodifieddate'),
  (63, 'tasks', 'id', 'hs_object_id'),
  (64, 'tasks', 'subject', 'hs_task_subject'),
  (65, 'tasks', 'body', 'hs_task_body'),
  (66, 'tasks', 'status', 'hs_task_status'),
  (67, 'tasks', 'priority', 'hs_task_priority'),
  (68, 'tasks', 'type', 'hs_task_type'),
  (69, 'tasks', 'timestamp', 'hs_timestamp'),
  (70, 'tasks', 'ownerId', 'hubspot_owner_id');
CREATE INDEX rule_kind ON rule (kind, place);

-- Names that are often taken for those of properties.
CREATE TABLE mistake (kind TEXT NOT NULL, wrong TEXT NOT NULL, name TEXT NOT NULL);
INSERT INTO mistake VALUES
  ('contacts', 'first_name', 'firstname'),
  ('contacts', 'last_name', 'lastname'),
  ('contacts', 'full_name', 'firstname'),
  ('contacts', 'mobile', 'mobilephone'),
  ('contacts', 'mobile_phone', 'mobilephone'),
  ('contacts', 'job_title', 'jobtitle'),
  ('contacts', 'postal_code', 'zip'),
  ('contacts', 'postalcode', 'zip'),
  ('contacts', 'zipcode', 'zip'),
  ('companies', 'postal_code', 'zip'),
  ('companies', 'postalcode', 'zip'),
  ('companies', 'zipcode', 'zip'),
  ('companies', 'num_of_employees', 'numberofemployees'),
  ('companies', 'num_employees', 'numberofemployees'),
  ('companies', 'employee_count', 'numberofemployees'),
  ('companies', 'employees', 'numberofemployees'),
  ('companies', 'company_name', 'name'),
  ('companies', 'annual_revenue', 'annualrevenue'),
  ('companies', 'web_site', 'website'),
  ('companies', 'url', 'website'),
  ('deals', 'deal_name', 'dealname'),
  ('deals', 'name', 'dealname'),
  ('deals', 'deal_amount', 'amount'),
  ('deals', 'value', 'amount'),
  ('deals', 'deal_stage', 'dealstage'),
  ('deals', 'stage', 'dealstage'),
  ('deals', 'close_date', 'closedate'),
  ('deals', 'deal_type', 'dealtype');

-- How objects are linked: the number of the plain kind, and of "Primary".
CREATE TABLE link_type (
  from_kind TEXT NOT NULL,
  to_kind TEXT NOT NULL,
  plain INTEGER NOT NULL,
  main INTEGER,
  PRIMARY KEY (from_kind, to_kind)
);
INSERT INTO link_type VALUES
  ('contacts', 'companies', 279, 1),
  ('companies', 'contacts', 280, 2),
  ('deals', 'contacts', 3, NULL),
  ('contacts', 'deals', 4, NULL),
  ('deals', 'companies', 341, 5),
  ('companies', 'deals', 342, 6),
  ('contacts', 'tickets', 15, NULL),
  ('tickets', 'contacts', 16, NULL),
  ('tickets', 'companies', 339, 26),
  ('companies', 'tickets', 340, 25),
  ('deals', 'tickets', 27, NULL),
  ('tickets', 'deals', 28, NULL),
  ('contacts', 'contacts', 449, NULL),
  ('companies', 'companies', 450, NULL),
  ('deals', 'deals', 451, NULL),
  ('tickets', 'tickets', 452, NULL),
  ('notes', 'contacts', 202, NULL),
  ('notes', 'companies', 190, NULL),
  ('notes', 'deals', 214, NULL),
  ('notes', 'tickets', 228, NULL);

-- What stands before the JSON of a failure.
CREATE TABLE failure (code INTEGER PRIMARY KEY, text TEXT NOT NULL);
INSERT INTO failure
SELECT
  code,
  '(' || code || ')' || char(10) || 'Reason: ' || reason || char(10)
    || 'HTTP response headers: HTTPHeaderDict({''Content-Type'': '
    || '''application/json;charset=utf-8''})' || char(10) || 'HTTP response body: '
FROM (
  SELECT 400 AS code, 'Bad Request' AS reason
  UNION ALL
  SELECT 404, 'Not Found'
  UNION ALL
  SELECT 409, 'Conflict'
);

-- The content.
CREATE TABLE object (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  place INTEGER NOT NULL, -- in the order of creation
  properties TEXT NOT NULL, -- JSON: names and texts
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
);
CREATE INDEX object_kind ON object (kind, place);
CREATE UNIQUE INDEX object_email ON object (properties ->> 'email') WHERE kind = 'contacts';

CREATE TABLE link (
  from_id TEXT NOT NULL REFERENCES object (id) ON DELETE CASCADE,
  to_id TEXT NOT NULL REFERENCES object (id) ON DELETE CASCADE,
  place INTEGER NOT NULL,
  is_main INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (from_id, to_id)
) WITHOUT ROWID;
CREATE INDEX link_to ON link (to_id);

-- Both ways.
CREATE VIEW linked AS
SELECT from_id, to_id, place, is_main FROM link
UNION ALL
SELECT to_id, from_id, place, is_main FROM link WHERE from_id <> to_id;

-- With the properties that HubSpot keeps itself.
CREATE VIEW record AS
SELECT
  o.id,
  o.kind,
  o.place,
  json_patch(o.properties, json_object(
    'hs_object_id', o.id,
    iif(o.kind IN ('tasks', 'notes'), 'hs_createdate', 'createdate'), o.created_at,
    iif(o.kind = 'contacts', 'lastmodifieddate', 'hs_lastmodifieddate'), o.updated_at,
    'dealstage_label', (SELECT label FROM stage WHERE id = o.properties ->> 'dealstage')
  )) AS properties
FROM object o;

-- What the tools show.
CREATE VIEW shown AS
SELECT
  r.id,
  r.kind,
  r.place,
  (
    SELECT json_group_object(name, value)
    FROM (
      SELECT f.name, r.properties ->> f.property AS value
      FROM rule f
      WHERE f.kind = r.kind
      ORDER BY f.place
    )
    WHERE value IS NOT NULL
  ) AS json
FROM record r;

-- For checkers.
CREATE VIEW contact AS
SELECT
  id,
  properties ->> 'email' AS email,
  properties ->> 'firstname' AS firstname,
  properties ->> 'lastname' AS lastname,
  properties
FROM object
WHERE kind = 'contacts';
CREATE VIEW company AS
SELECT id, properties ->> 'name' AS name, properties ->> 'domain' AS domain, properties
FROM object
WHERE kind = 'companies';
CREATE VIEW deal AS
SELECT
  id,
  properties ->> 'dealname' AS dealname,
  properties ->> 'amount' AS amount,
  properties ->> 'dealstage' AS dealstage,
  properties
FROM object
WHERE kind = 'deals';
CREATE VIEW ticket AS
SELECT
  id,
  properties ->> 'subject' AS subject,
  properties ->> 'hs_pipeline_stage' AS stage,
  properties
FROM object
WHERE kind = 'tickets';
CREATE VIEW task AS
SELECT
  id,
  properties ->> 'hs_task_subject' AS subject,
  properties ->> 'hs_task_status' AS status,
  properties
FROM object
WHERE kind = 'tasks';
