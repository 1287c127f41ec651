-- What is written with a campaign is tied to it by foreign keys again: campaigns are created one by one, and the statements that many
-- shared, for which the triggers of 0015 stood in, are gone. Rows that are there already are checked by 0051.

ALTER TABLE campaign_counter ADD CONSTRAINT campaign_counter_campaign_id_fkey
  FOREIGN KEY (campaign_id) REFERENCES campaign (id) ON DELETE CASCADE NOT VALID;
ALTER TABLE campaign_input ADD CONSTRAINT campaign_input_campaign_id_fkey
  FOREIGN KEY (campaign_id) REFERENCES campaign (id) ON DELETE CASCADE NOT VALID;
ALTER TABLE workflow_command ADD CONSTRAINT workflow_command_campaign_id_fkey
  FOREIGN KEY (campaign_id) REFERENCES campaign (id) ON DELETE CASCADE NOT VALID;

DROP TRIGGER campaign_counter_campaign ON campaign_counter;
DROP TRIGGER campaign_counter_stays ON campaign_counter;
DROP TRIGGER campaign_input_campaign ON campaign_input;
DROP TRIGGER campaign_input_stays ON campaign_input;
DROP TRIGGER workflow_command_campaign ON workflow_command;
DROP TRIGGER workflow_command_stays ON workflow_command;
DROP TRIGGER campaign_rows ON campaign;
DROP FUNCTION require_campaign();
DROP FUNCTION delete_campaign_rows();
