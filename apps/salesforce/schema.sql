-- Salesforce: the objects of one org, all in one table, and what is known of their fields. The
-- names and the types of fields are in app.json, too, for queries.

CREATE TABLE object (
  place INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE COLLATE NOCASE,
  label TEXT NOT NULL,
  plural TEXT NOT NULL,
  prefix TEXT NOT NULL,
  is_writable INTEGER NOT NULL
);
INSERT INTO object VALUES
  (1, 'Account', 'Account', 'Accounts', '001', 1),
  (2, 'Contact', 'Contact', 'Contacts', '003', 1),
  (3, 'Opportunity', 'Opportunity', 'Opportunities', '006', 1),
  (4, 'Lead', 'Lead', 'Leads', '00Q', 1),
  (5, 'Case', 'Case', 'Cases', '500', 1),
  (6, 'Campaign', 'Campaign', 'Campaigns', '701', 1),
  (7, 'User', 'User', 'Users', '005', 0),
  (8, 'ContentDocument', 'Content Document', 'Content Documents', '069', 0),
  (9, 'ContentDocumentLink', 'Content Document Link', 'Content Document Links', '06A', 0),
  (10, 'Task', 'Task', 'Tasks', '00T', 0),
  (11, 'Event', 'Event', 'Events', '00U', 0),
  (12, 'CampaignMember', 'Campaign Member', 'Campaign Members', '00v', 0),
  (13, 'OpportunityLineItem', 'Opportunity Product', 'Opportunity Products', '00k', 0),
  (14, 'OpportunityHistory', 'Opportunity History', 'Opportunity Histories', '008', 0);

CREATE TABLE field (
  place INTEGER PRIMARY KEY,
  object TEXT NOT NULL,
  name TEXT NOT NULL COLLATE NOCASE,
  label TEXT NOT NULL,
  type TEXT NOT NULL,
  length INTEGER NOT NULL,
  is_required INTEGER NOT NULL,
  is_read_only INTEGER NOT NULL,
  refers TEXT, -- the object that it names
  options TEXT, -- with ';' between them
  UNIQUE (object, name)
);
INSERT INTO field VALUES
  (1, 'Account', 'Id', 'Account ID', 'id', 18, 0, 1, NULL, NULL),
  (2, 'Account', 'Name', 'Account Name', 'string', 255, 1, 0, NULL, NULL),
  (
    3,
    'Account',
    'Type',
    'Account Type',
    'picklist',
    255,
    0,
    0,
    NULL,
    'Prospect;Customer - Direct;Customer - Channel;Channel Partner / Reseller;'
      || 'Installation Partner;Technology Partner;Other'
  ),
  (4, 'Account', 'ParentId', 'Parent Account ID', 'reference', 18, 0, 0, 'Account', NULL),
  (5, 'Account', 'BillingStreet', 'Billing Street', 'textarea', 255, 0, 0, NULL, NULL),
  (6, 'Account', 'BillingCity', 'Billing City', 'string', 40, 0, 0, NULL, NULL),
  (7, 'Account', 'BillingState', 'Billing State/Province', 'string', 80, 0, 0, NULL, NULL),
  (8, 'Account', 'BillingPostalCode', 'Billing Zip/Postal Code', 'string', 20, 0, 0, NULL, NULL),
  (9, 'Account', 'BillingCountry', 'Billing Country', 'string', 80, 0, 0, NULL, NULL),
  (10, 'Account', 'ShippingStreet', 'Shipping Street', 'textarea', 255, 0, 0, NULL, NULL),
  (11, 'Account', 'ShippingCity', 'Shipping City', 'string', 40, 0, 0, NULL, NULL),
  (12, 'Account', 'ShippingState', 'Shipping State/Province', 'string', 80, 0, 0, NULL, NULL),
  (13, 'Account', 'ShippingPostalCode', 'Shipping Zip/Postal Code', 'string', 20, 0, 0, NULL, NULL),
  (14, 'Account', 'ShippingCountry', 'Shipping Country', 'string', 80, 0, 0, NULL, NULL),
  (15, 'Account', 'Phone', 'Account Phone', 'phone', 40, 0, 0, NULL, NULL),
  (16, 'Account', 'Fax', 'Account Fax', 'phone', 40, 0, 0, NULL, NULL),
  (17, 'Account', 'AccountNumber', 'Account Number', 'string', 40, 0, 0, NULL, NULL),
  (18, 'Account', 'Website', 'Website', 'url', 255, 0, 0, NULL, NULL),
  (
    19,
    'Account',
    'Industry',
    'Industry',
    'picklist',
    255,
    0,
    0,
    NULL,
    'Agriculture;Apparel;Banking;Biotechnology;Chemicals;Communications;'
      || 'Construction;Consulting;Education;Electronics;Energy;Engineering;'
      || 'Entertainment;Environmental;Finance;Food & Beverage;Government;Healthcare;'
      || 'Hospitality;Insurance;Machinery;Manufacturing;Media;Not For Profit;Recreation;'
      || 'Retail;Shipping;Technology;Telecommunications;Transportation;Utilities;Other'
  ),
  (20, 'Account', 'AnnualRevenue', 'Annual Revenue', 'currency', 0, 0, 0, NULL, NULL),
  (21, 'Account', 'NumberOfEmployees', 'Employees', 'int', 0, 0, 0, NULL, NULL),
  (
    22, 'Account', 'Ownership', 'Ownership', 'picklist', 255, 0, 0, NULL,
    'Public;Private;Subsidiary;Other'
  ),
  (23, 'Account', 'Description', 'Account Description', 'textarea', 32000, 0, 0, NULL, NULL),
  (24, 'Account', 'Rating', 'Account Rating', 'picklist', 255, 0, 0, NULL, 'Hot;Warm;Cold'),
  (
    25, 'Account', 'AccountSource', 'Account Source', 'picklist', 255, 0, 0, NULL,
    'Web;Phone Inquiry;Partner Referral;Purchased List;Other'
  ),
  (26, 'Account', 'IsDeleted', 'Deleted', 'boolean', 0, 0, 1, NULL, NULL),
  (27, 'Account', 'OwnerId', 'Owner ID', 'reference', 18, 0, 0, 'User', NULL),
  (28, 'Account', 'CreatedDate', 'Created Date', 'datetime', 0, 0, 1, NULL, NULL),
  (29, 'Account', 'CreatedById', 'Created By ID', 'reference', 18, 0, 1, 'User', NULL),
  (30, 'Account', 'LastModifiedDate', 'Last Modified Date', 'datetime', 0, 0, 1, NULL, NULL),
  (31, 'Account', 'LastModifiedById', 'Last Modified By ID', 'reference', 18, 0, 1, 'User', NULL),
  (32, 'Account', 'SystemModstamp', 'System Modstamp', 'datetime', 0, 0, 1, NULL, NULL),
  (33, 'Contact', 'Id', 'Contact ID', 'id', 18, 0, 1, NULL, NULL),
  (34, 'Contact', 'AccountId', 'Account ID', 'reference', 18, 0, 0, 'Account', NULL),
  (35, 'Contact', 'LastName', 'Last Name', 'string', 80, 1, 0, NULL, NULL),
  (36, 'Contact', 'FirstName', 'First Name', 'string', 40, 0, 0, NULL, NULL),
  (37, 'Contact', 'Salutation', 'Salutation', 'picklist', 40, 0, 0, NULL, 'Mr.;Ms.;Mrs.;Dr.;Prof.'),
  (38, 'Contact', 'Name', 'Full Name', 'string', 121, 0, 1, NULL, NULL),
  (39, 'Contact', 'MailingStreet', 'Mailing Street', 'textarea', 255, 0, 0, NULL, NULL),
  (40, 'Contact', 'MailingCity', 'Mailing City', 'string', 40, 0, 0, NULL, NULL),
  (41, 'Contact', 'MailingState', 'Mailing State/Province', 'string', 80, 0, 0, NULL, NULL),
  (42, 'Contact', 'MailingPostalCode', 'Mailing Zip/Postal Code', 'string', 20, 0, 0, NULL, NULL),
  (43, 'Contact', 'MailingCountry', 'Mailing Country', 'string', 80, 0, 0, NULL, NULL),
  (44, 'Contact', 'Phone', 'Business Phone', 'phone', 40, 0, 0, NULL, NULL),
  (45, 'Contact', 'Fax', 'Business Fax', 'phone', 40, 0, 0, NULL, NULL),
  (46, 'Contact', 'MobilePhone', 'Mobile Phone', 'phone', 40, 0, 0, NULL, NULL),
  (47, 'Contact', 'HomePhone', 'Home Phone', 'phone', 40, 0, 0, NULL, NULL),
  (48, 'Contact', 'ReportsToId', 'Reports To ID', 'reference', 18, 0, 0, 'Contact', NULL),
  (49, 'Contact', 'Email', 'Email', 'email', 80, 0, 0, NULL, NULL),
  (50, 'Contact', 'Title', 'Title', 'string', 128, 0, 0, NULL, NULL),
  (51, 'Contact', 'Department', 'Department', 'string', 80, 0, 0, NULL, NULL),
  (
    52, 'Contact', 'LeadSource', 'Lead Source', 'picklist', 255, 0, 0, NULL,
    'Web;Phone Inquiry;Partner Referral;Purchased List;Other'
  ),
  (53, 'Contact', 'Birthdate', 'Birthdate', 'date', 0, 0, 0, NULL, NULL),
  (54, 'Contact', 'Description', 'Contact Description', 'textarea', 32000, 0, 0, NULL, NULL),
  (55, 'Contact', 'IsDeleted', 'Deleted', 'boolean', 0, 0, 1, NULL, NULL),
  (56, 'Contact', 'OwnerId', 'Owner ID', 'reference', 18, 0, 0, 'User', NULL),
  (57, 'Contact', 'CreatedDate', 'Created Date', 'datetime', 0, 0, 1, NULL, NULL),
  (58, 'Contact', 'CreatedById', 'Created By ID', 'reference', 18, 0, 1, 'User', NULL),
  (59, 'Contact', 'LastModifiedDate', 'Last Modified Date', 'datetime', 0, 0, 1, NULL, NULL),
  (60, 'Contact', 'LastModifiedById', 'Last Modified By ID', 'reference', 18, 0, 1, 'User', NULL),
  (61, 'Contact', 'SystemModstamp', 'System Modstamp', 'datetime', 0, 0, 1, NULL, NULL),
  (62, 'Opportunity', 'Id', 'Opportunity ID', 'id', 18, 0, 1, NULL, NULL),
  (63, 'Opportunity', 'AccountId', 'Account ID', 'reference', 18, 0, 0, 'Account', NULL),
  (64, 'Opportunity', 'Name', 'Name', 'string', 120, 1, 0, NULL, NULL),
  (65, 'Opportunity', 'Description', 'Description', 'textarea', 32000, 0, 0, NULL, NULL),
  (
    66,
    'Opportunity',
    'StageName',
    'Stage',
    'picklist',
    255,
    1,
    0,
    NULL,
    'Prospecting;Qualification;Needs Analysis;Value Proposition;Id. Decision Makers;'
      || 'Perception Analysis;Proposal/Price Quote;Negotiation/Review;Closed Won;' || 'Closed Lost'
  ),
  (67, 'Opportunity', 'Amount', 'Amount', 'currency', 0, 0, 0, NULL, NULL),
  (68, 'Opportunity', 'Probability', 'Probability (%)', 'percent', 0, 0, 0, NULL, NULL),
  (69, 'Opportunity', 'ExpectedRevenue', 'Expected Amount', 'currency', 0, 0, 1, NULL, NULL),
  (70, 'Opportunity', 'CloseDate', 'Close Date', 'date', 0, 1, 0, NULL, NULL),
  (
    71,
    'Opportunity',
    'Type',
    'Opportunity Type',
    'picklist',
    255,
    0,
    0,
    NULL,
    'Existing Customer - Upgrade;Existing Customer - Replacement;'
      || 'Existing Customer - Downgrade;New Customer'
  ),
  (72, 'Opportunity', 'NextStep', 'Next Step', 'string', 255, 0, 0, NULL, NULL),
  (
    73, 'Opportunity', 'LeadSource', 'Lead Source', 'picklist', 255, 0, 0, NULL,
    'Web;Phone Inquiry;Partner Referral;Purchased List;Other'
  ),
  (74, 'Opportunity', 'IsClosed', 'Closed', 'boolean', 0, 0, 1, NULL, NULL),
  (75, 'Opportunity', 'IsWon', 'Won', 'boolean', 0, 0, 1, NULL, NULL),
  (
    76, 'Opportunity', 'ForecastCategoryName', 'Forecast Category', 'picklist', 255, 0, 1, NULL,
    'Omitted;Pipeline;Best Case;Commit;Closed'
  ),
  (77, 'Opportunity', 'CampaignId', 'Campaign ID', 'reference', 18, 0, 0, 'Campaign', NULL),
  (78, 'Opportunity', 'IsDeleted', 'Deleted', 'boolean', 0, 0, 1, NULL, NULL),
  (79, 'Opportunity', 'OwnerId', 'Owner ID', 'reference', 18, 0, 0, 'User', NULL),
  (80, 'Opportunity', 'CreatedDate', 'Created Date', 'datetime', 0, 0, 1, NULL, NULL),
  (81, 'Opportunity', 'CreatedById', 'Created By ID', 'reference', 18, 0, 1, 'User', NULL),
  (82, 'Opportunity', 'LastModifiedDate', 'Last Modified Date', 'datetime', 0, 0, 1, NULL, NULL),
  (
    83, 'Opportunity', 'LastModifiedById', 'Last Modified By ID', 'reference', 18, 0, 1, 'User',
    NULL
  ),
  (84, 'Opportunity', 'SystemModstamp', 'System Modstamp', 'datetime', 0, 0, 1, NULL, NULL),
  (85, 'Lead', 'Id', 'Lead ID', 'id', 18, 0, 1, NULL, NULL),
  (86, 'Lead', 'LastName', 'Last Name', 'string', 80, 1, 0, NULL, NULL),
  (87, 'Lead', 'FirstName', 'First Name', 'string', 40, 0, 0, NULL, NULL),
  (88, 'Lead', 'Salutation', 'Salutation', 'picklist', 40, 0, 0, NULL, 'Mr.;Ms.;Mrs.;Dr.;Prof.'),
  (89, 'Lead', 'Name', 'Full Name', 'string', 121, 0, 1, NULL, NULL),
  (90, 'Lead', 'Title', 'Title', 'string', 128, 0, 0, NULL, NULL),
  (91, 'Lead', 'Company', 'Company', 'string', 255, 1, 0, NULL, NULL),
  (92, 'Lead', 'Street', 'Street', 'textarea', 255, 0, 0, NULL, NULL),
  (93, 'Lead', 'City', 'City', 'string', 40, 0, 0, NULL, NULL),
  (94, 'Lead', 'State', 'State/Province', 'string', 80, 0, 0, NULL, NULL),
  (95, 'Lead', 'PostalCode', 'Zip/Postal Code', 'string', 20, 0, 0, NULL, NULL),
  (96, 'Lead', 'Country', 'Country', 'string', 80, 0, 0, NULL, NULL),
  (97, 'Lead', 'Phone', 'Phone', 'phone', 40, 0, 0, NULL, NULL),
  (98, 'Lead', 'MobilePhone', 'Mobile Phone', 'phone', 40, 0, 0, NULL, NULL),
  (99, 'Lead', 'Fax', 'Fax', 'phone', 40, 0, 0, NULL, NULL),
  (100, 'Lead', 'Email', 'Email', 'email', 80, 0, 0, NULL, NULL),
  (101, 'Lead', 'Website', 'Website', 'url', 255, 0, 0, NULL, NULL),
  (102, 'Lead', 'Description', 'Description', 'textarea', 32000, 0, 0, NULL, NULL),
  (
    103, 'Lead', 'LeadSource', 'Lead Source', 'picklist', 255, 0, 0, NULL,
    'Web;Phone Inquiry;Partner Referral;Purchased List;Other'
  ),
  (
    104,
    'Lead',
    'Status',
    'Status',
    'picklist',
    255,
    0,
    0,
    NULL,
    'Open - Not Contacted;Working - Contacted;Closed - Converted;' || 'Closed - Not Converted'
  ),
  (
    105,
    'Lead',
    'Industry',
    'Industry',
    'picklist',
    255,
    0,
    0,
    NULL,
    'Agriculture;Apparel;Banking;Biotechnology;Chemicals;Communications;'
      || 'Construction;Consulting;Education;Electronics;Energy;Engineering;'
      || 'Entertainment;Environmental;Finance;Food & Beverage;Government;Healthcare;'
      || 'Hospitality;Insurance;Machinery;Manufacturing;Media;Not For Profit;Recreation;'
      || 'Retail;Shipping;Technology;Telecommunications;Transportation;Utilities;Other'
  ),
  (106, 'Lead', 'Rating', 'Rating', 'picklist', 255, 0, 0, NULL, 'Hot;Warm;Cold'),
  (107, 'Lead', 'AnnualRevenue', 'Annual Revenue', 'currency', 0, 0, 0, NULL, NULL),
  (108, 'Lead', 'NumberOfEmployees', 'Employees', 'int', 0, 0, 0, NULL, NULL),
  (109, 'Lead', 'IsConverted', 'Converted', 'boolean', 0, 0, 1, NULL, NULL),
  (110, 'Lead', 'ConvertedDate', 'Converted Date', 'date', 0, 0, 1, NULL, NULL),
  (
    111, 'Lead', 'ConvertedAccountId', 'Converted Account ID', 'reference', 18, 0, 1, 'Account',
    NULL
  ),
  (
    112, 'Lead', 'ConvertedContactId', 'Converted Contact ID', 'reference', 18, 0, 1, 'Contact',
    NULL
  ),
  (
    113, 'Lead', 'ConvertedOpportunityId', 'Converted Opportunity ID', 'reference', 18, 0, 1,
    'Opportunity', NULL
  ),
  (114, 'Lead', 'IsDeleted', 'Deleted', 'boolean', 0, 0, 1, NULL, NULL),
  (115, 'Lead', 'OwnerId', 'Owner ID', 'reference', 18, 0, 0, 'User', NULL),
  (116, 'Lead', 'CreatedDate', 'Created Date', 'datetime', 0, 0, 1, NULL, NULL),
  (117, 'Lead', 'CreatedById', 'Created By ID', 'reference', 18, 0, 1, 'User', NULL),
  (118, 'Lead', 'LastModifiedDate', 'Last Modified Date', 'datetime', 0, 0, 1, NULL, NULL),
  (119, 'Lead', 'LastModifiedById', 'Last Modified By ID', 'reference', 18, 0, 1, 'User', NULL),
  (120, 'Lead', 'SystemModstamp', 'System Modstamp', 'datetime', 0, 0, 1, NULL, NULL),
  (121, 'Case', 'Id', 'Case ID', 'id', 18, 0, 1, NULL, NULL),
  (122, 'Case', 'CaseNumber', 'Case Number', 'string', 30, 0, 1, NULL, NULL),
  (123, 'Case', 'ContactId', 'Contact ID', 'reference', 18, 0, 0, 'Contact', NULL),
  (124, 'Case', 'AccountId', 'Account ID', 'reference', 18, 0, 0, 'Account', NULL),
  (125, 'Case', 'ParentId', 'Parent Case ID', 'reference', 18, 0, 0, 'Case', NULL),
  (126, 'Case', 'SuppliedName', 'Name', 'string', 80, 0, 0, NULL, NULL),
  (127, 'Case', 'SuppliedEmail', 'Email Address', 'email', 80, 0, 0, NULL, NULL),
  (128, 'Case', 'SuppliedPhone', 'Phone', 'string', 40, 0, 0, NULL, NULL),
  (129, 'Case', 'SuppliedCompany', 'Company', 'string', 80, 0, 0, NULL, NULL),
  (
    130, 'Case', 'Type', 'Case Type', 'picklist', 255, 0, 0, NULL,
    'Mechanical;Electrical;Electronic;Structural;Other'
  ),
  (131, 'Case', 'Status', 'Status', 'picklist', 255, 0, 0, NULL, 'New;Working;Escalated;Closed'),
  (
    132,
    'Case',
    'Reason',
    'Case Reason',
    'picklist',
    255,
    0,
    0,
    NULL,
    'Installation;Equipment Complexity;Performance;Breakdown;Equipment Design;' || 'Feedback;Other'
  ),
  (133, 'Case', 'Origin', 'Case Origin', 'picklist', 255, 0, 0, NULL, 'Phone;Email;Web'),
  (134, 'Case', 'Subject', 'Subject', 'string', 255, 0, 0, NULL, NULL),
  (135, 'Case', 'Priority', 'Priority', 'picklist', 255, 0, 0, NULL, 'High;Medium;Low'),
  (136, 'Case', 'Description', 'Description', 'textarea', 32000, 0, 0, NULL, NULL),
  (137, 'Case', 'IsClosed', 'Closed', 'boolean', 0, 0, 1, NULL, NULL),
  (138, 'Case', 'ClosedDate', 'Closed Date', 'datetime', 0, 0, 1, NULL, NULL),
  (139, 'Case', 'IsEscalated', 'Escalated', 'boolean', 0, 0, 0, NULL, NULL),
  (140, 'Case', 'IsDeleted', 'Deleted', 'boolean', 0, 0, 1, NULL, NULL),
  (141, 'Case', 'OwnerId', 'Owner ID', 'reference', 18, 0, 0, 'User', NULL),
  (142, 'Case', 'CreatedDate', 'Created Date', 'datetime', 0, 0, 1, NULL, NULL),
  (143, 'Case', 'CreatedById', 'Created By ID', 'reference', 18, 0, 1, 'User', NULL),
  (144, 'Case', 'LastModifiedDate', 'Last Modified Date', 'datetime', 0, 0, 1, NULL, NULL),
  (145, 'Case', 'LastModifiedById', 'Last Modified By ID', 'reference', 18, 0, 1, 'User', NULL),
  (146, 'Case', 'SystemModstamp', 'System Modstamp', 'datetime', 0, 0, 1, NULL, NULL),
  (147, 'Campaign', 'Id', 'Campaign ID', 'id', 18, 0, 1, NULL, NULL),
  (148, 'Campaign', 'Name', 'Name', 'string', 80, 1, 0, NULL, NULL),
  (149, 'Campaign', 'ParentId', 'Parent Campaign ID', 'reference', 18, 0, 0, 'Campaign', NULL),
  (
    150,
    'Campaign',
    'Type',
    'Type',
    'picklist',
    255,
    0,
    0,
    NULL,
    'Conference;Webinar;Trade Show;Public Relations;Partners;Referral Program;'
      || 'Advertisement;Banner Ads;Direct Mail;Email;Telemarketing;Other'
  ),
  (
    151, 'Campaign', 'Status', 'Status', 'picklist', 255, 0, 0, NULL,
    'Planned;In Progress;Completed;Aborted'
  ),
  (152, 'Campaign', 'StartDate', 'Start Date', 'date', 0, 0, 0, NULL, NULL),
  (153, 'Campaign', 'EndDate', 'End Date', 'date', 0, 0, 0, NULL, NULL),
  (154, 'Campaign', 'ExpectedRevenue', 'Expected Revenue', 'currency', 0, 0, 0, NULL, NULL),
  (155, 'Campaign', 'BudgetedCost', 'Budgeted Cost', 'currency', 0, 0, 0, NULL, NULL),
  (156, 'Campaign', 'ActualCost', 'Actual Cost', 'currency', 0, 0, 0, NULL, NULL),
  (157, 'Campaign', 'ExpectedResponse', 'Expected Response (%)', 'percent', 0, 0, 0, NULL, NULL),
  (158, 'Campaign', 'NumberSent', 'Num Sent', 'double', 0, 0, 0, NULL, NULL),
  (159, 'Campaign', 'IsActive', 'Active', 'boolean', 0, 0, 0, NULL, NULL),
  (160, 'Campaign', 'Description', 'Description', 'textarea', 32000, 0, 0, NULL, NULL),
  (161, 'Campaign', 'NumberOfLeads', 'Leads in Campaign', 'int', 0, 0, 1, NULL, NULL),
  (
    162, 'Campaign', 'NumberOfConvertedLeads', 'Converted Leads in Campaign', 'int', 0, 0, 1, NULL,
    NULL
  ),
  (163, 'Campaign', 'NumberOfContacts', 'Contacts in Campaign', 'int', 0, 0, 1, NULL, NULL),
  (164, 'Campaign', 'NumberOfResponses', 'Responses in Campaign', 'int', 0, 0, 1, NULL, NULL),
  (
    165, 'Campaign', 'NumberOfOpportunities', 'Opportunities in Campaign', 'int', 0, 0, 1, NULL,
    NULL
  ),
  (
    166, 'Campaign', 'NumberOfWonOpportunities', 'Won Opportunities in Campaign', 'int', 0, 0, 1,
    NULL, NULL
  ),
  (
    167, 'Campaign', 'AmountAllOpportunities', 'Value Opportunities in Campaign', 'currency', 0, 0,
    1, NULL, NULL
  ),
  (
    168, 'Campaign', 'AmountWonOpportunities', 'Value Won Opportunities in Campaign', 'currency', 0,
    0, 1, NULL, NULL
  ),
  (169, 'Campaign', 'IsDeleted', 'Deleted', 'boolean', 0, 0, 1, NULL, NULL),
  (170, 'Campaign', 'OwnerId', 'Owner ID', 'reference', 18, 0, 0, 'User', NULL),
  (171, 'Campaign', 'CreatedDate', 'Created Date', 'datetime', 0, 0, 1, NULL, NULL),
  (172, 'Campaign', 'CreatedById', 'Created By ID', 'reference', 18, 0, 1, 'User', NULL),
  (173, 'Campaign', 'LastModifiedDate', 'Last Modified Date', 'datetime', 0, 0, 1, NULL, NULL),
  (174, 'Campaign', 'LastModifiedById', 'Last Modified By ID', 'reference', 18, 0, 1, 'User', NULL),
  (175, 'Campaign', 'SystemModstamp', 'System Modstamp', 'datetime', 0, 0, 1, NULL, NULL),
  (176, 'User', 'Id', 'User ID', 'id', 18, 0, 1, NULL, NULL),
  (177, 'User', 'Username', 'Username', 'string', 80, 0, 1, NULL, NULL),
  (178, 'User', 'LastName', 'Last Name', 'string', 80, 0, 1, NULL, NULL),
  (179, 'User', 'FirstName', 'First Name', 'string', 40, 0, 1, NULL, NULL),
  (180, 'User', 'Name', 'Full Name', 'string', 121, 0, 1, NULL, NULL),
  (181, 'User', 'Email', 'Email', 'email', 128, 0, 1, NULL, NULL),
  (182, 'User', 'Title', 'Title', 'string', 80, 0, 1, NULL, NULL),
  (183, 'User', 'Alias', 'Alias', 'string', 8, 0, 1, NULL, NULL),
  (184, 'User', 'IsActive', 'Active', 'boolean', 0, 0, 1, NULL, NULL),
  (185, 'User', 'CreatedDate', 'Created Date', 'datetime', 0, 0, 1, NULL, NULL),
  (186, 'User', 'LastModifiedDate', 'Last Modified Date', 'datetime', 0, 0, 1, NULL, NULL),
  (187, 'ContentDocument', 'Id', 'ContentDocument ID', 'id', 18, 0, 1, NULL, NULL),
  (188, 'ContentDocument', 'Title', 'Title', 'string', 255, 0, 1, NULL, NULL),
  (189, 'ContentDocument', 'FileType', 'File Type', 'string', 20, 0, 1, NULL, NULL),
  (190, 'ContentDocument', 'FileExtension', 'File Extension', 'string', 40, 0, 1, NULL, NULL),
  (191, 'ContentDocument', 'ContentSize', 'Size', 'int', 0, 0, 1, NULL, NULL),
  (
    192, 'ContentDocument', 'LatestPublishedVersionId', 'Latest Published Version ID', 'reference',
    18, 0, 1, NULL, NULL
  ),
  (193, 'ContentDocument', 'IsDeleted', 'Deleted', 'boolean', 0, 0, 1, NULL, NULL),
  (194, 'ContentDocument', 'OwnerId', 'Owner ID', 'reference', 18, 0, 0, 'User', NULL),
  (195, 'ContentDocument', 'CreatedDate', 'Created Date', 'datetime', 0, 0, 1, NULL, NULL),
  (196, 'ContentDocument', 'CreatedById', 'Created By ID', 'reference', 18, 0, 1, 'User', NULL),
  (
    197, 'ContentDocument', 'LastModifiedDate', 'Last Modified Date', 'datetime', 0, 0, 1, NULL,
    NULL
  ),
  (
    198, 'ContentDocument', 'LastModifiedById', 'Last Modified By ID', 'reference', 18, 0, 1,
    'User', NULL
  ),
  (199, 'ContentDocument', 'SystemModstamp', 'System Modstamp', 'datetime', 0, 0, 1, NULL, NULL),
  (200, 'ContentDocumentLink', 'Id', 'ContentDocumentLink ID', 'id', 18, 0, 1, NULL, NULL),
  (
    201, 'ContentDocumentLink', 'LinkedEntityId', 'Linked Entity ID', 'reference', 18, 0, 1, NULL,
    NULL
  ),
  (
    202, 'ContentDocumentLink', 'ContentDocumentId', 'ContentDocument ID', 'reference', 18, 0, 1,
    'ContentDocument', NULL
  ),
  (203, 'ContentDocumentLink', 'ShareType', 'Share Type', 'picklist', 40, 0, 1, NULL, 'V;C;I'),
  (
    204, 'ContentDocumentLink', 'SystemModstamp', 'System Modstamp', 'datetime', 0, 0, 1, NULL, NULL
  ),
  (205, 'Task', 'Id', 'Activity ID', 'id', 18, 0, 1, NULL, NULL),
  (206, 'Task', 'WhoId', 'Name ID', 'reference', 18, 0, 0, NULL, NULL),
  (207, 'Task', 'WhatId', 'Related To ID', 'reference', 18, 0, 0, NULL, NULL),
  (208, 'Task', 'AccountId', 'Account ID', 'reference', 18, 0, 1, 'Account', NULL),
  (
    209, 'Task', 'Subject', 'Subject', 'combobox', 255, 0, 0, NULL,
    'Call;Email;Send Letter;Send Quote;Other'
  ),
  (210, 'Task', 'ActivityDate', 'Due Date Only', 'date', 0, 0, 0, NULL, NULL),
  (
    211, 'Task', 'Status', 'Status', 'picklist', 255, 1, 0, NULL,
    'Not Started;In Progress;Completed;Waiting on someone else;Deferred'
  ),
  (212, 'Task', 'Priority', 'Priority', 'picklist', 255, 1, 0, NULL, 'High;Normal;Low'),
  (213, 'Task', 'Description', 'Description', 'textarea', 32000, 0, 0, NULL, NULL),
  (214, 'Task', 'IsClosed', 'Closed', 'boolean', 0, 0, 1, NULL, NULL),
  (
    215, 'Task', 'TaskSubtype', 'Task Subtype', 'picklist', 40, 0, 0, NULL,
    'Task;Email;Call;ListEmail;Cadence;LinkedIn'
  ),
  (216, 'Task', 'IsDeleted', 'Deleted', 'boolean', 0, 0, 1, NULL, NULL),
  (217, 'Task', 'OwnerId', 'Owner ID', 'reference', 18, 0, 0, 'User', NULL),
  (218, 'Task', 'CreatedDate', 'Created Date', 'datetime', 0, 0, 1, NULL, NULL),
  (219, 'Task', 'CreatedById', 'Created By ID', 'reference', 18, 0, 1, 'User', NULL),
  (220, 'Task', 'LastModifiedDate', 'Last Modified Date', 'datetime', 0, 0, 1, NULL, NULL),
  (221, 'Task', 'LastModifiedById', 'Last Modified By ID', 'reference', 18, 0, 1, 'User', NULL),
  (222, 'Task', 'SystemModstamp', 'System Modstamp', 'datetime', 0, 0, 1, NULL, NULL),
  (223, 'Event', 'Id', 'Activity ID', 'id', 18, 0, 1, NULL, NULL),
  (224, 'Event', 'WhoId', 'Name ID', 'reference', 18, 0, 0, NULL, NULL),
  (225, 'Event', 'WhatId', 'Related To ID', 'reference', 18, 0, 0, NULL, NULL),
  (226, 'Event', 'AccountId', 'Account ID', 'reference', 18, 0, 1, 'Account', NULL),
  (
    227, 'Event', 'Subject', 'Subject', 'combobox', 255, 0, 0, NULL,
    'Call;Email;Meeting;Send Letter/Quote;Other'
  ),
  (228, 'Event', 'Location', 'Location', 'string', 255, 0, 0, NULL, NULL),
  (229, 'Event', 'IsAllDayEvent', 'All-Day Event', 'boolean', 0, 0, 0, NULL, NULL),
  (230, 'Event', 'StartDateTime', 'Start Date Time', 'datetime', 0, 0, 0, NULL, NULL),
  (231, 'Event', 'EndDateTime', 'End Date Time', 'datetime', 0, 0, 0, NULL, NULL),
  (232, 'Event', 'ActivityDate', 'Due Date Only', 'date', 0, 0, 0, NULL, NULL),
  (233, 'Event', 'DurationInMinutes', 'Duration', 'int', 0, 0, 0, NULL, NULL),
  (234, 'Event', 'Description', 'Description', 'textarea', 32000, 0, 0, NULL, NULL),
  (235, 'Event', 'IsDeleted', 'Deleted', 'boolean', 0, 0, 1, NULL, NULL),
  (236, 'Event', 'OwnerId', 'Owner ID', 'reference', 18, 0, 0, 'User', NULL),
  (237, 'Event', 'CreatedDate', 'Created Date', 'datetime', 0, 0, 1, NULL, NULL),
  (238, 'Event', 'CreatedById', 'Created By ID', 'reference', 18, 0, 1, 'User', NULL),
  (239, 'Event', 'LastModifiedDate', 'Last Modified Date', 'datetime', 0, 0, 1, NULL, NULL),
  (240, 'Event', 'LastModifiedById', 'Last Modified By ID', 'reference', 18, 0, 1, 'User', NULL),
  (241, 'Event', 'SystemModstamp', 'System Modstamp', 'datetime', 0, 0, 1, NULL, NULL),
  (242, 'CampaignMember', 'Id', 'Campaign Member ID', 'id', 18, 0, 1, NULL, NULL),
  (243, 'CampaignMember', 'CampaignId', 'Campaign ID', 'reference', 18, 1, 0, 'Campaign', NULL),
  (244, 'CampaignMember', 'LeadId', 'Lead ID', 'reference', 18, 0, 0, 'Lead', NULL),
  (245, 'CampaignMember', 'ContactId', 'Contact ID', 'reference', 18, 0, 0, 'Contact', NULL),
  (246, 'CampaignMember', 'Status', 'Status', 'picklist', 40, 0, 0, NULL, 'Sent;Responded'),
  (247, 'CampaignMember', 'HasResponded', 'Responded', 'boolean', 0, 0, 1, NULL, NULL),
  (
    248, 'CampaignMember', 'FirstRespondedDate', 'First Responded Date', 'date', 0, 0, 1, NULL, NULL
  ),
  (249, 'CampaignMember', 'IsDeleted', 'Deleted', 'boolean', 0, 0, 1, NULL, NULL),
  (250, 'CampaignMember', 'CreatedDate', 'Created Date', 'datetime', 0, 0, 1, NULL, NULL),
  (251, 'CampaignMember', 'CreatedById', 'Created By ID', 'reference', 18, 0, 1, 'User', NULL),
  (
    252, 'CampaignMember', 'LastModifiedDate', 'Last Modified Date', 'datetime', 0, 0, 1, NULL, NULL
  ),
  (
    253, 'CampaignMember', 'LastModifiedById', 'Last Modified By ID', 'reference', 18, 0, 1, 'User',
    NULL
  ),
  (254, 'CampaignMember', 'SystemModstamp', 'System Modstamp', 'datetime', 0, 0, 1, NULL, NULL),
  (255, 'OpportunityLineItem', 'Id', 'Line Item ID', 'id', 18, 0, 1, NULL, NULL),
  (
    256, 'OpportunityLineItem', 'OpportunityId', 'Opportunity ID', 'reference', 18, 1, 0,
    'Opportunity', NULL
  ),
  (257, 'OpportunityLineItem', 'Name', 'Opportunity Product Name', 'string', 376, 0, 1, NULL, NULL),
  (258, 'OpportunityLineItem', 'ProductCode', 'Product Code', 'string', 255, 0, 1, NULL, NULL),
  (259, 'OpportunityLineItem', 'Quantity', 'Quantity', 'double', 0, 1, 0, NULL, NULL),
  (260, 'OpportunityLineItem', 'UnitPrice', 'Sales Price', 'currency', 0, 0, 0, NULL, NULL),
  (261, 'OpportunityLineItem', 'TotalPrice', 'Total Price', 'currency', 0, 0, 0, NULL, NULL),
  (262, 'OpportunityLineItem', 'ListPrice', 'List Price', 'currency', 0, 0, 1, NULL, NULL),
  (263, 'OpportunityLineItem', 'ServiceDate', 'Date', 'date', 0, 0, 0, NULL, NULL),
  (264, 'OpportunityLineItem', 'Description', 'Line Description', 'string', 255, 0, 0, NULL, NULL),
  (265, 'OpportunityLineItem', 'IsDeleted', 'Deleted', 'boolean', 0, 0, 1, NULL, NULL),
  (266, 'OpportunityLineItem', 'CreatedDate', 'Created Date', 'datetime', 0, 0, 1, NULL, NULL),
  (267, 'OpportunityLineItem', 'CreatedById', 'Created By ID', 'reference', 18, 0, 1, 'User', NULL),
  (
    268, 'OpportunityLineItem', 'LastModifiedDate', 'Last Modified Date', 'datetime', 0, 0, 1, NULL,
    NULL
  ),
  (
    269, 'OpportunityLineItem', 'LastModifiedById', 'Last Modified By ID', 'reference', 18, 0, 1,
    'User', NULL
  ),
  (
    270, 'OpportunityLineItem', 'SystemModstamp', 'System Modstamp', 'datetime', 0, 0, 1, NULL, NULL
  ),
  (271, 'OpportunityHistory', 'Id', 'Opportunity History ID', 'id', 18, 0, 1, NULL, NULL),
  (
    272, 'OpportunityHistory', 'OpportunityId', 'Opportunity ID', 'reference', 18, 0, 1,
    'Opportunity', NULL
  ),
  (273, 'OpportunityHistory', 'StageName', 'Stage Name', 'picklist', 255, 0, 1, NULL, NULL),
  (274, 'OpportunityHistory', 'Amount', 'Amount', 'currency', 0, 0, 1, NULL, NULL),
  (
    275, 'OpportunityHistory', 'ExpectedRevenue', 'Expected Revenue', 'currency', 0, 0, 1, NULL,
    NULL
  ),
  (276, 'OpportunityHistory', 'Probability', 'Probability', 'percent', 0, 0, 1, NULL, NULL),
  (277, 'OpportunityHistory', 'CloseDate', 'Close Date', 'date', 0, 0, 1, NULL, NULL),
  (278, 'OpportunityHistory', 'IsDeleted', 'Deleted', 'boolean', 0, 0, 1, NULL, NULL),
  (279, 'OpportunityHistory', 'CreatedDate', 'Created Date', 'datetime', 0, 0, 1, NULL, NULL),
  (280, 'OpportunityHistory', 'CreatedById', 'Created By ID', 'reference', 18, 0, 1, 'User', NULL),
  (281, 'OpportunityHistory', 'SystemModstamp', 'System Modstamp', 'datetime', 0, 0, 1, NULL, NULL);

-- Which member of a body is which field.
CREATE TABLE body (
  place INTEGER PRIMARY KEY,
  object TEXT NOT NULL,
  path TEXT NOT NULL,
  field TEXT NOT NULL
);
INSERT INTO body VALUES
  (1, 'Account', '$.name', 'Name'),
  (2, 'Account', '$.industry', 'Industry'),
  (3, 'Account', '$.type', 'Type'),
  (4, 'Account', '$.phone', 'Phone'),
  (5, 'Account', '$.website', 'Website'),
  (6, 'Account', '$.revenue', 'AnnualRevenue'),
  (7, 'Account', '$.employees', 'NumberOfEmployees'),
  (8, 'Account', '$.address.street', 'BillingStreet'),
  (9, 'Account', '$.address.city', 'BillingCity'),
  (10, 'Account', '$.address.state', 'BillingState'),
  (11, 'Account', '$.address.postal_code', 'BillingPostalCode'),
  (12, 'Account', '$.address.country', 'BillingCountry'),
  (13, 'Account', '$.description', 'Description'),
  (14, 'Account', '$.rating', 'Rating'),
  (15, 'Contact', '$.first_name', 'FirstName'),
  (16, 'Contact', '$.last_name', 'LastName'),
  (17, 'Contact', '$.email', 'Email'),
  (18, 'Contact', '$.phone', 'Phone'),
  (19, 'Contact', '$.mobile', 'MobilePhone'),
  (20, 'Contact', '$.title', 'Title'),
  (21, 'Contact', '$.department', 'Department'),
  (22, 'Contact', '$.account_id', 'AccountId'),
  (23, 'Contact', '$.address.street', 'MailingStreet'),
  (24, 'Contact', '$.address.city', 'MailingCity'),
  (25, 'Contact', '$.address.state', 'MailingState'),
  (26, 'Contact', '$.address.postal_code', 'MailingPostalCode'),
  (27, 'Contact', '$.address.country', 'MailingCountry'),
  (28, 'Contact', '$.description', 'Description'),
  (29, 'Contact', '$.source', 'LeadSource'),
  (30, 'Opportunity', '$.name', 'Name'),
  (31, 'Opportunity', '$.stage', 'StageName'),
  (32, 'Opportunity', '$.close_date', 'CloseDate'),
  (33, 'Opportunity', '$.amount', 'Amount'),
  (34, 'Opportunity', '$.probability', 'Probability'),
  (35, 'Opportunity', '$.account_id', 'AccountId'),
  (36, 'Opportunity', '$.type', 'Type'),
  (37, 'Opportunity', '$.source', 'LeadSource'),
  (38, 'Opportunity', '$.next_step', 'NextStep'),
  (39, 'Opportunity', '$.description', 'Description'),
  (40, 'Lead', '$.first_name', 'FirstName'),
  (41, 'Lead', '$.last_name', 'LastName'),
  (42, 'Lead', '$.company', 'Company'),
  (43, 'Lead', '$.email', 'Email'),
  (44, 'Lead', '$.phone', 'Phone'),
  (45, 'Lead', '$.mobile', 'MobilePhone'),
  (46, 'Lead', '$.title', 'Title'),
  (47, 'Lead', '$.status', 'Status'),
  (48, 'Lead', '$.source', 'LeadSource'),
  (49, 'Lead', '$.industry', 'Industry'),
  (50, 'Lead', '$.rating', 'Rating'),
  (51, 'Lead', '$.address.street', 'Street'),
  (52, 'Lead', '$.address.city', 'City'),
  (53, 'Lead', '$.address.state', 'State'),
  (54, 'Lead', '$.address.postal_code', 'PostalCode'),
  (55, 'Lead', '$.address.country', 'Country'),
  (56, 'Lead', '$.website', 'Website'),
  (57, 'Lead', '$.description', 'Description'),
  (58, 'Lead', '$.employees', 'NumberOfEmployees'),
  (59, 'Lead', '$.revenue', 'AnnualRevenue'),
  (60, 'Case', '$.subject', 'Subject'),
  (61, 'Case', '$.status', 'Status'),
  (62, 'Case', '$.priority', 'Priority'),
  (63, 'Case', '$.origin', 'Origin'),
  (64, 'Case', '$.type', 'Type'),
  (65, 'Case', '$.reason', 'Reason'),
  (66, 'Case', '$.account_id', 'AccountId'),
  (67, 'Case', '$.contact_id', 'ContactId'),
  (68, 'Case', '$.description', 'Description'),
  (69, 'Case', '$.customer_email', 'SuppliedEmail'),
  (70, 'Case', '$.customer_name', 'SuppliedName'),
  (71, 'Case', '$.customer_phone', 'SuppliedPhone'),
  (72, 'Campaign', '$.name', 'Name'),
  (73, 'Campaign', '$.type', 'Type'),
  (74, 'Campaign', '$.status', 'Status'),
  (75, 'Campaign', '$.start_date', 'StartDate'),
  (76, 'Campaign', '$.end_date', 'EndDate'),
  (77, 'Campaign', '$.expected_revenue', 'ExpectedRevenue'),
  (78, 'Campaign', '$.budget', 'BudgetedCost'),
  (79, 'Campaign', '$.actual_cost', 'ActualCost'),
  (80, 'Campaign', '$.description', 'Description'),
  (81, 'Campaign', '$.active', 'IsActive');

-- Which member of an answer is which field; without one it is an address, whose fields begin with
-- the prefix, or the whole name of a person.
CREATE TABLE rule (
  place INTEGER PRIMARY KEY,
  object TEXT NOT NULL,
  name TEXT NOT NULL,
  path TEXT,
  prefix TEXT
);
INSERT INTO rule VALUES
  (1, 'Account', 'accountId', 'Id', NULL),
  (2, 'Account', 'name', 'Name', NULL),
  (3, 'Account', 'industry', 'Industry', NULL),
  (4, 'Account', 'type', 'Type', NULL),
  (5, 'Account', 'phone', 'Phone', NULL),
  (6, 'Account', 'fax', 'Fax', NULL),
  (7, 'Account', 'website', 'Website', NULL),
  (8, 'Account', 'annualRevenue', 'AnnualRevenue', NULL),
  (9, 'Account', 'employees', 'NumberOfEmployees', NULL),
  (10, 'Account', 'description', 'Description', NULL),
  (11, 'Account', 'rating', 'Rating', NULL),
  (12, 'Account', 'billingAddress', NULL, 'Billing'),
  (13, 'Account', 'shippingAddress', NULL, 'Shipping'),
  (14, 'Account', 'ownerId', 'OwnerId', NULL),
  (15, 'Account', 'dateCreated', 'CreatedDate', NULL),
  (16, 'Account', 'dateModified', 'LastModifiedDate', NULL),
  (17, 'Contact', 'contactId', 'Id', NULL),
  (18, 'Contact', 'firstName', 'FirstName', NULL),
  (19, 'Contact', 'lastName', 'LastName', NULL),
  (20, 'Contact', 'fullName', NULL, NULL),
  (21, 'Contact', 'email', 'Email', NULL),
  (22, 'Contact', 'phone', 'Phone', NULL),
  (23, 'Contact', 'mobilePhone', 'MobilePhone', NULL),
  (24, 'Contact', 'title', 'Title', NULL),
  (25, 'Contact', 'department', 'Department', NULL),
  (26, 'Contact', 'accountId', 'AccountId', NULL),
  (27, 'Contact', 'accountName', 'Account.Name', NULL),
  (28, 'Contact', 'mailingAddress', NULL, 'Mailing'),
  (29, 'Contact', 'birthdate', 'Birthdate', NULL),
  (30, 'Contact', 'leadSource', 'LeadSource', NULL),
  (31, 'Contact', 'ownerId', 'OwnerId', NULL),
  (32, 'Contact', 'dateCreated', 'CreatedDate', NULL),
  (33, 'Contact', 'dateModified', 'LastModifiedDate', NULL),
  (34, 'Opportunity', 'opportunityId', 'Id', NULL),
  (35, 'Opportunity', 'name', 'Name', NULL),
  (36, 'Opportunity', 'stage', 'StageName', NULL),
  (37, 'Opportunity', 'amount', 'Amount', NULL),
  (38, 'Opportunity', 'closeDate', 'CloseDate', NULL),
  (39, 'Opportunity', 'probability', 'Probability', NULL),
  (40, 'Opportunity', 'accountId', 'AccountId', NULL),
  (41, 'Opportunity', 'accountName', 'Account.Name', NULL),
  (42, 'Opportunity', 'type', 'Type', NULL),
  (43, 'Opportunity', 'leadSource', 'LeadSource', NULL),
  (44, 'Opportunity', 'description', 'Description', NULL),
  (45, 'Opportunity', 'nextStep', 'NextStep', NULL),
  (46, 'Opportunity', 'ownerId', 'OwnerId', NULL),
  (47, 'Opportunity', 'dateCreated', 'CreatedDate', NULL),
  (48, 'Opportunity', 'dateModified', 'LastModifiedDate', NULL),
  (49, 'Lead', 'leadId', 'Id', NULL),
  (50, 'Lead', 'firstName', 'FirstName', NULL),
  (51, 'Lead', 'lastName', 'LastName', NULL),
  (52, 'Lead', 'fullName', NULL, NULL),
  (53, 'Lead', 'email', 'Email', NULL),
  (54, 'Lead', 'phone', 'Phone', NULL),
  (55, 'Lead', 'mobilePhone', 'MobilePhone', NULL),
  (56, 'Lead', 'company', 'Company', NULL),
  (57, 'Lead', 'title', 'Title', NULL),
  (58, 'Lead', 'status', 'Status', NULL),
  (59, 'Lead', 'leadSource', 'LeadSource', NULL),
  (60, 'Lead', 'industry', 'Industry', NULL),
  (61, 'Lead', 'rating', 'Rating', NULL),
  (62, 'Lead', 'address', NULL, ''),
  (63, 'Lead', 'website', 'Website', NULL),
  (64, 'Lead', 'description', 'Description', NULL),
  (65, 'Lead', 'employees', 'NumberOfEmployees', NULL),
  (66, 'Lead', 'annualRevenue', 'AnnualRevenue', NULL),
  (67, 'Lead', 'ownerId', 'OwnerId', NULL),
  (68, 'Lead', 'dateCreated', 'CreatedDate', NULL),
  (69, 'Lead', 'dateModified', 'LastModifiedDate', NULL),
  (70, 'Case', 'caseId', 'Id', NULL),
  (71, 'Case', 'caseNumber', 'CaseNumber', NULL),
  (72, 'Case', 'subject', 'Subject', NULL),
  (73, 'Case', 'description', 'Description', NULL),
  (74, 'Case', 'status', 'Status', NULL),
  (75, 'Case', 'priority', 'Priority', NULL),
  (76, 'Case', 'type', 'Type', NULL),
  (77, 'Case', 'reason', 'Reason', NULL),
  (78, 'Case', 'origin', 'Origin', NULL),
  (79, 'Case', 'accountId', 'AccountId', NULL),
  (80, 'Case', 'accountName', 'Account.Name', NULL),
  (81, 'Case', 'contactId', 'ContactId', NULL),
  (82, 'Case', 'contactName', 'Contact.Name', NULL),
  (83, 'Case', 'contactEmail', 'Contact.Email', NULL),
  (84, 'Case', 'contactPhone', 'Contact.Phone', NULL),
  (85, 'Case', 'suppliedName', 'SuppliedName', NULL),
  (86, 'Case', 'suppliedEmail', 'SuppliedEmail', NULL),
  (87, 'Case', 'suppliedPhone', 'SuppliedPhone', NULL),
  (88, 'Case', 'suppliedCompany', 'SuppliedCompany', NULL),
  (89, 'Case', 'ownerId', 'OwnerId', NULL),
  (90, 'Case', 'dateCreated', 'CreatedDate', NULL),
  (91, 'Case', 'dateModified', 'LastModifiedDate', NULL),
  (92, 'Case', 'dateClosed', 'ClosedDate', NULL),
  (93, 'Campaign', 'campaignId', 'Id', NULL),
  (94, 'Campaign', 'name', 'Name', NULL),
  (95, 'Campaign', 'type', 'Type', NULL),
  (96, 'Campaign', 'status', 'Status', NULL),
  (97, 'Campaign', 'startDate', 'StartDate', NULL),
  (98, 'Campaign', 'endDate', 'EndDate', NULL),
  (99, 'Campaign', 'isActive', 'IsActive', NULL),
  (100, 'Campaign', 'description', 'Description', NULL),
  (101, 'Campaign', 'budgetedCost', 'BudgetedCost', NULL),
  (102, 'Campaign', 'actualCost', 'ActualCost', NULL),
  (103, 'Campaign', 'expectedRevenue', 'ExpectedRevenue', NULL),
  (104, 'Campaign', 'expectedResponse', 'ExpectedResponse', NULL),
  (105, 'Campaign', 'numberSent', 'NumberSent', NULL),
  (106, 'Campaign', 'numberOfLeads', 'NumberOfLeads', NULL),
  (107, 'Campaign', 'numberOfConvertedLeads', 'NumberOfConvertedLeads', NULL),
  (108, 'Campaign', 'numberOfContacts', 'NumberOfContacts', NULL),
  (109, 'Campaign', 'numberOfResponses', 'NumberOfResponses', NULL),
  (110, 'Campaign', 'numberOfOpportunities', 'NumberOfOpportunities', NULL),
  (111, 'Campaign', 'numberOfWonOpportunities', 'NumberOfWonOpportunities', NULL),
  (112, 'Campaign', 'amountAllOpportunities', 'AmountAllOpportunities', NULL),
  (113, 'Campaign', 'amountWonOpportunities', 'AmountWonOpportunities', NULL),
  (114, 'Campaign', 'ownerId', 'OwnerId', NULL),
  (115, 'Campaign', 'dateCreated', 'CreatedDate', NULL),
  (116, 'Campaign', 'dateModified', 'LastModifiedDate', NULL);
CREATE INDEX rule_object ON rule (object, place);

CREATE TABLE stage (
  place INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE COLLATE NOCASE,
  probability INTEGER NOT NULL,
  is_closed INTEGER NOT NULL,
  is_won INTEGER NOT NULL,
  forecast TEXT NOT NULL
);
INSERT INTO stage VALUES
  (1, 'Prospecting', 10, 0, 0, 'Pipeline'),
  (2, 'Qualification', 10, 0, 0, 'Pipeline'),
  (3, 'Needs Analysis', 20, 0, 0, 'Pipeline'),
  (4, 'Value Proposition', 50, 0, 0, 'Pipeline'),
  (5, 'Id. Decision Makers', 60, 0, 0, 'Pipeline'),
  (6, 'Perception Analysis', 70, 0, 0, 'Pipeline'),
  (7, 'Proposal/Price Quote', 75, 0, 0, 'Pipeline'),
  (8, 'Negotiation/Review', 90, 0, 0, 'Pipeline'),
  (9, 'Closed Won', 100, 1, 1, 'Closed'),
  (10, 'Closed Lost', 0, 1, 0, 'Omitted');

-- The content.
CREATE TABLE record (
  id TEXT PRIMARY KEY,
  object TEXT NOT NULL,
  place INTEGER NOT NULL, -- in the order of creation
  fields TEXT NOT NULL -- JSON, without those that have no value
);
CREATE INDEX record_object ON record (object, place);
INSERT INTO record VALUES
  (
    '005Ws00000LARK1IAV',
    'User',
    -9,
    '{"Id":"005Ws00000LARK1IAV","Username":"maya.chen@larkspur.example","LastName":"Chen"'
      || ',"FirstName":"Maya","Name":"Maya Chen","Email":"maya.chen@larkspur.example","Title":'
      || '"Engineering Manager","Alias":"mchen","IsActive":true,"CreatedDate":"2024-03-01T08:0'
      || '0:00.000+0000","LastModifiedDate":"2024-03-01T08:00:00.000+0000"}'
  ),
  (
    '005Ws00000LARK2IAV',
    'User',
    -8,
    '{"Id":"005Ws00000LARK2IAV","Username":"ben.adeyemi@larkspur.example","LastName":"Ade'
      || 'yemi","FirstName":"Ben","Name":"Ben Adeyemi","Email":"ben.adeyemi@larkspur.example",'
      || '"Title":"Support Lead","Alias":"badeyemi","IsActive":true,"CreatedDate":"2024-03-01T'
      || '08:00:00.000+0000","LastModifiedDate":"2024-03-01T08:00:00.000+0000"}'
  ),
  (
    '005Ws00000LARK3IAV',
    'User',
    -7,
    '{"Id":"005Ws00000LARK3IAV","Username":"priya.nair@larkspur.example","LastName":"Nair'
      || '","FirstName":"Priya","Name":"Priya Nair","Email":"priya.nair@larkspur.example","Tit'
      || 'le":"Product Manager","Alias":"pnair","IsActive":true,"CreatedDate":"2024-03-01T08:0'
      || '0:00.000+0000","LastModifiedDate":"2024-03-01T08:00:00.000+0000"}'
  ),
  (
    '005Ws00000LARK4IAV',
    'User',
    -6,
    '{"Id":"005Ws00000LARK4IAV","Username":"oliver.grant@larkspur.example","LastName":"Gr'
      || 'ant","FirstName":"Oliver","Name":"Oliver Grant","Email":"oliver.grant@larkspur.examp'
      || 'le","Title":"CFO","Alias":"ogrant","IsActive":true,"CreatedDate":"2024-03-01T08:00:0'
      || '0.000+0000","LastModifiedDate":"2024-03-01T08:00:00.000+0000"}'
  ),
  (
    '005Ws00000LARK5IAV',
    'User',
    -5,
    '{"Id":"005Ws00000LARK5IAV","Username":"sofia.marchetti@larkspur.example","LastName":'
      || '"Marchetti","FirstName":"Sofia","Name":"Sofia Marchetti","Email":"sofia.marchetti@la'
      || 'rkspur.example","Title":"Designer","Alias":"smarche","IsActive":true,"CreatedDate":"'
      || '2024-03-01T08:00:00.000+0000","LastModifiedDate":"2024-03-01T08:00:00.000+0000"}'
  );

CREATE TABLE me (id TEXT NOT NULL REFERENCES record (id));
INSERT INTO me VALUES ('005Ws00000LARK1IAV');

-- Times as Salesforce writes them.
CREATE VIEW clock AS SELECT replace(now(), 'Z', '+0000') AS time;

-- What follows from the other fields.
CREATE VIEW derived AS
SELECT
  r.id,
  CASE
    WHEN r.object IN ('Contact', 'Lead')
      THEN json_object(
        'Name', trim(ifnull(r.fields ->> 'FirstName', '') || ' ' || (r.fields ->> 'LastName'))
      )
    WHEN r.object = 'Opportunity'
      THEN json_object(
        'IsClosed', json(iif(ifnull(s.is_closed, 0), 'true', 'false')),
        'IsWon', json(iif(ifnull(s.is_won, 0), 'true', 'false')),
        'ForecastCategoryName', ifnull(s.forecast, 'Pipeline'),
        'ExpectedRevenue', (r.fields ->> 'Amount') * ifnull(r.fields ->> 'Probability', 0) / 100
      )
    WHEN r.object = 'Case'
      THEN json_object(
        'IsClosed', json(iif(r.fields ->> 'Status' LIKE 'Closed%', 'true', 'false')),
        'ClosedDate', iif(
          r.fields ->> 'Status' LIKE 'Closed%',
          ifnull(r.fields ->> 'ClosedDate', (SELECT time FROM clock)),
          NULL
        )
      )
    ELSE '{}'
  END AS fields
FROM record r
LEFT JOIN stage s ON s.name = r.fields ->> 'StageName';

-- The opportunities of campaigns.
CREATE VIEW campaign_sum AS
SELECT
  c.id,
  json_object(
    'NumberOfOpportunities', count(o.id),
    'NumberOfWonOpportunities', ifnull(sum(won), 0),
    'AmountAllOpportunities', ifnull(sum(amount), 0.0),
    'AmountWonOpportunities', ifnull(sum(amount) FILTER (WHERE won), 0.0)
  ) AS fields
FROM record c
LEFT JOIN (
  SELECT
    id,
    fields ->> 'CampaignId' AS campaign,
    fields ->> 'IsWon' AS won,
    fields ->> 'Amount' AS amount
  FROM record
  WHERE object = 'Opportunity'
) o
  ON o.campaign = c.id
WHERE c.object = 'Campaign'
GROUP BY c.id;

-- What a deal was at each change of its stage, amount or date.
CREATE TRIGGER opportunity_begun AFTER INSERT ON record WHEN NEW.object = 'Opportunity' BEGIN
  INSERT INTO record
  SELECT
    printf(
      '008Ws00%08dIAW',
      (
        SELECT ifnull(max(CAST(substr(id, 8, 8) AS INTEGER)), 0) + 1
        FROM record
        WHERE object = 'OpportunityHistory'
      )
    ),
    'OpportunityHistory',
    (SELECT max(place) + 1 FROM record),
    '{}';
  UPDATE record
  SET fields = drop_nulls(json_object(
    'Id', id,
    'OpportunityId', NEW.id,
    'StageName', NEW.fields ->> 'StageName',
    'Amount', NEW.fields -> 'Amount',
    'Probability', ifnull(
      NEW.fields ->> 'Probability',
      (SELECT CAST(probability AS REAL) FROM stage WHERE name = NEW.fields ->> 'StageName')
    ),
    'CloseDate', NEW.fields ->> 'CloseDate',
    'IsDeleted', json('false'),
    'CreatedDate', NEW.fields ->> 'CreatedDate',
    'CreatedById', NEW.fields ->> 'CreatedById',
    'SystemModstamp', NEW.fields ->> 'CreatedDate'
  ))
  WHERE object = 'OpportunityHistory' AND fields = '{}';
END;
CREATE TRIGGER deal_changed AFTER UPDATE OF fields ON record WHEN NEW.object = 'Opportunity' BEGIN
  INSERT INTO record
  SELECT
    printf(
      '008Ws00%08dIAW',
      (
        SELECT ifnull(max(CAST(substr(id, 8, 8) AS INTEGER)), 0) + 1
        FROM record
        WHERE object = 'OpportunityHistory'
      )
    ),
    'OpportunityHistory',
    (SELECT max(place) + 1 FROM record),
    '{}'
  WHERE OLD.fields ->> 'StageName' IS NOT NEW.fields ->> 'StageName'
    OR OLD.fields ->> 'Amount' IS NOT NEW.fields ->> 'Amount'
    OR OLD.fields ->> 'CloseDate' IS NOT NEW.fields ->> 'CloseDate';
  UPDATE record
  SET fields = drop_nulls(json_object(
    'Id', id,
    'OpportunityId', NEW.id,
    'StageName', NEW.fields ->> 'StageName',
    'Amount', NEW.fields -> 'Amount',
    'Probability', ifnull(
      NEW.fields ->> 'Probability',
      (SELECT CAST(probability AS REAL) FROM stage WHERE name = NEW.fields ->> 'StageName')
    ),
    'CloseDate', NEW.fields ->> 'CloseDate',
    'IsDeleted', json('false'),
    'CreatedDate', (SELECT time FROM clock),
    'CreatedById', (SELECT id FROM me),
    'SystemModstamp', (SELECT time FROM clock)
  ))
  WHERE object = 'OpportunityHistory' AND fields = '{}';
END;
CREATE TRIGGER opportunity_gone AFTER DELETE ON record WHEN OLD.object = 'Opportunity' BEGIN
  DELETE FROM record
  WHERE object IN ('OpportunityHistory', 'OpportunityLineItem')
    AND fields ->> 'OpportunityId' = OLD.id;
END;
