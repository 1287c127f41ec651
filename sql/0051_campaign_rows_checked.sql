-- Reads the tables without holding up anybody who reads or writes them.
ALTER TABLE campaign_counter VALIDATE CONSTRAINT campaign_counter_campaign_id_fkey;
ALTER TABLE campaign_input VALIDATE CONSTRAINT campaign_input_campaign_id_fkey;
ALTER TABLE workflow_command VALIDATE CONSTRAINT workflow_command_campaign_id_fkey;
