-- What is written with a campaign is tied to it by the statement, like its recipients (0010): a foreign key looks every new
-- campaign up once for each of these tables and locks it, and a connection that planned this look-up while there were hardly any
-- campaigns reads all of them from then on (docs/decisions/0021-campaign-creation.md).

-- One by one and by the index (OFFSET 0 keeps it from becoming a join), however few campaigns there are when a connection plans
-- it: it keeps the plan while the table grows. The campaign is not locked: whoever writes these rows has written or locked it
-- in the same transaction.
CREATE FUNCTION require_campaign() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
  IF EXISTS (SELECT FROM inserted
             WHERE NOT EXISTS (SELECT FROM campaign WHERE campaign.id = inserted.campaign_id OFFSET 0)) THEN
    RAISE foreign_key_violation USING MESSAGE = format('A row of "%s" must belong to a campaign', TG_TABLE_NAME),
      TABLE = TG_TABLE_NAME, CONSTRAINT = TG_NAME;
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER campaign_counter_campaign AFTER INSERT ON campaign_counter REFERENCING NEW TABLE AS inserted
  FOR EACH STATEMENT EXECUTE FUNCTION require_campaign();
CREATE TRIGGER campaign_input_campaign AFTER INSERT ON campaign_input REFERENCING NEW TABLE AS inserted
  FOR EACH STATEMENT EXECUTE FUNCTION require_campaign();
CREATE TRIGGER workflow_command_campaign AFTER INSERT ON workflow_command REFERENCING NEW TABLE AS inserted
  FOR EACH STATEMENT EXECUTE FUNCTION require_campaign();

CREATE TRIGGER campaign_counter_stays BEFORE UPDATE OF campaign_id ON campaign_counter
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_statement('a counter stays with its campaign');
CREATE TRIGGER campaign_input_stays BEFORE UPDATE OF campaign_id ON campaign_input
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_statement('an input stays with its campaign');
CREATE TRIGGER workflow_command_stays BEFORE UPDATE OF campaign_id ON workflow_command
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_statement('a command stays with its campaign');

CREATE FUNCTION delete_campaign_rows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM workflow_command USING deleted WHERE workflow_command.campaign_id = deleted.id;
  DELETE FROM campaign_input USING deleted WHERE campaign_input.campaign_id = deleted.id;
  DELETE FROM campaign_counter USING deleted WHERE campaign_counter.campaign_id = deleted.id;
  RETURN NULL;
END $$;
CREATE TRIGGER campaign_rows AFTER DELETE ON campaign REFERENCING OLD TABLE AS deleted
  FOR EACH STATEMENT EXECUTE FUNCTION delete_campaign_rows();

ALTER TABLE campaign_counter DROP CONSTRAINT campaign_counter_campaign_id_fkey;
ALTER TABLE campaign_input DROP CONSTRAINT campaign_input_campaign_id_fkey;
ALTER TABLE workflow_command DROP CONSTRAINT workflow_command_campaign_id_fkey;
