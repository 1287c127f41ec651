-- How many messages a contact gets at most: {"messages", "days", "categories"}. NULL: no limit.
ALTER TABLE workspace ADD COLUMN frequency_cap jsonb;
-- An operator exempted the campaign from it.
ALTER TABLE campaign ADD COLUMN ignore_frequency_cap boolean NOT NULL DEFAULT false;
