-- What has always been so, said to Postgres: for new rows at once, for the old ones in 0025.
-- (Not of campaign_reason: its rows are written as differences, which a check refuses before they are added up.)
ALTER TABLE campaign_counter ADD CONSTRAINT campaign_counter_not_negative CHECK (
  least(claimed_position, pending, claimed, accepted, sent, delivered, read, failed, unknown, cancelled, skipped) >= 0) NOT VALID;
ALTER TABLE recipient ADD CONSTRAINT recipient_price_not_negative CHECK (price >= 0) NOT VALID;
ALTER TABLE recipient ADD CONSTRAINT recipient_sendable_unless_skipped CHECK (sendable = (state <> 'SKIPPED')) NOT VALID;
ALTER TABLE message ADD CONSTRAINT message_price_not_negative CHECK (price >= 0) NOT VALID;
ALTER TABLE ledger_entry ADD CONSTRAINT ledger_entry_sign CHECK (
  CASE kind WHEN 'charge' THEN amount < 0 WHEN 'recharge' THEN amount > 0 WHEN 'refund' THEN amount > 0 ELSE true END) NOT VALID;
ALTER TABLE ledger_entry ADD CONSTRAINT ledger_entry_workspace
  FOREIGN KEY (workspace_id, channel_id) REFERENCES channel (workspace_id, id) NOT VALID;
ALTER TABLE message ADD CONSTRAINT message_contact
  FOREIGN KEY (workspace_id, contact_id) REFERENCES contact (workspace_id, id) NOT VALID;
ALTER TABLE message ADD CONSTRAINT message_conversation
  FOREIGN KEY (workspace_id, conversation_id) REFERENCES conversation (workspace_id, id) NOT VALID;
ALTER TABLE message ADD CONSTRAINT message_campaign
  FOREIGN KEY (workspace_id, campaign_id) REFERENCES campaign (workspace_id, id) NOT VALID;
ALTER TABLE message ADD CONSTRAINT message_template
  FOREIGN KEY (workspace_id, template_id) REFERENCES template (workspace_id, id) NOT VALID;
-- A trigger for rows does not see TRUNCATE.
CREATE TRIGGER ledger_entry_stays BEFORE TRUNCATE ON ledger_entry FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
