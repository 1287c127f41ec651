-- no-transaction
-- Each reads its table while others write it.
ALTER TABLE campaign_counter VALIDATE CONSTRAINT campaign_counter_not_negative;
ALTER TABLE recipient VALIDATE CONSTRAINT recipient_price_not_negative;
ALTER TABLE recipient VALIDATE CONSTRAINT recipient_sendable_unless_skipped;
ALTER TABLE message VALIDATE CONSTRAINT message_price_not_negative;
ALTER TABLE ledger_entry VALIDATE CONSTRAINT ledger_entry_sign;
ALTER TABLE ledger_entry VALIDATE CONSTRAINT ledger_entry_workspace;
ALTER TABLE message VALIDATE CONSTRAINT message_contact;
ALTER TABLE message VALIDATE CONSTRAINT message_conversation;
ALTER TABLE message VALIDATE CONSTRAINT message_campaign;
ALTER TABLE message VALIDATE CONSTRAINT message_template;
