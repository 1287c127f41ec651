-- The provider's time of the latest report, so that one that comes late or again changes nothing.
-- Of whether the account may send:
ALTER TABLE business_account ADD COLUMN block_reported_at timestamptz;
-- Of the template's category, in whole seconds; a sync is a report as well.
ALTER TABLE template ADD COLUMN category_reported_at timestamptz;
