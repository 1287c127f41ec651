-- A foreign key looks its parent up, and locks it, once for every row: a third of the time of a bulk load, for one and the
-- same parent. Here the same promises are kept once per statement (docs/decisions/0006-bulk-loads.md).

CREATE FUNCTION refuse_statement() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE restrict_violation USING MESSAGE = format('%s on "%s" is refused: %s', TG_OP, TG_TABLE_NAME, TG_ARGV[0]);
END $$;

-- Workspaces stay (and keep their ids), so that who has seen one need not lock it.
CREATE TRIGGER workspace_stays BEFORE DELETE OR UPDATE OF id ON workspace
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_statement('workspaces stay');

CREATE FUNCTION require_contact_workspace() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM (SELECT DISTINCT workspace_id FROM inserted) AS given
             WHERE NOT EXISTS (SELECT FROM workspace WHERE workspace.id = given.workspace_id)) THEN
    RAISE foreign_key_violation USING MESSAGE = 'A contact must belong to a workspace', TABLE = 'contact',
      CONSTRAINT = 'contact_workspace';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER contact_workspace AFTER INSERT ON contact REFERENCING NEW TABLE AS inserted
  FOR EACH STATEMENT EXECUTE FUNCTION require_contact_workspace();
CREATE TRIGGER contact_workspace_stays BEFORE UPDATE OF workspace_id ON contact
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_statement('a contact stays in its workspace');
ALTER TABLE contact DROP CONSTRAINT contact_workspace_id_fkey;

-- The campaign's row is locked as a foreign key would lock it: nobody deletes it until the recipients are committed.
CREATE FUNCTION require_recipient_campaign() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  wanted uuid;
BEGIN
  FOR wanted IN SELECT DISTINCT campaign_id FROM inserted LOOP
    PERFORM FROM campaign WHERE id = wanted FOR KEY SHARE;
    IF NOT FOUND THEN
      RAISE foreign_key_violation USING MESSAGE = 'A recipient must belong to a campaign', TABLE = 'recipient',
        CONSTRAINT = 'recipient_campaign';
    END IF;
  END LOOP;
  RETURN NULL;
END $$;
CREATE TRIGGER recipient_campaign AFTER INSERT ON recipient REFERENCING NEW TABLE AS inserted
  FOR EACH STATEMENT EXECUTE FUNCTION require_recipient_campaign();
CREATE TRIGGER recipient_campaign_stays BEFORE UPDATE OF campaign_id ON recipient
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_statement('a recipient stays in its campaign');

CREATE FUNCTION delete_campaign_recipients() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM recipient USING deleted WHERE recipient.campaign_id = deleted.id;
  RETURN NULL;
END $$;
CREATE TRIGGER campaign_recipients AFTER DELETE ON campaign REFERENCING OLD TABLE AS deleted
  FOR EACH STATEMENT EXECUTE FUNCTION delete_campaign_recipients();
CREATE TRIGGER campaign_stays BEFORE UPDATE OF id ON campaign
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_statement('a campaign keeps its id');
ALTER TABLE recipient DROP CONSTRAINT recipient_campaign_id_fkey;

-- The same rule as ^[0-9]{5,15}$ at a quarter of its price. Rows that passed the one pass the other.
ALTER TABLE contact ADD CONSTRAINT contact_phone_number_digits
  CHECK (ltrim(phone_number, '0123456789') = '' AND octet_length(phone_number) BETWEEN 5 AND 15) NOT VALID;
ALTER TABLE contact DROP CONSTRAINT contact_phone_number_check;
