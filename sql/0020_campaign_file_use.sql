-- When a campaign was last created from the file; NULL: never, or by a release that did not record it.
ALTER TABLE campaign_file ADD COLUMN used_at timestamptz;
