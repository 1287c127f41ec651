-- Category of the messages at the time of the booking; NULL in entries of earlier releases, of recharges and of adjustments.
ALTER TABLE ledger_entry ADD COLUMN category text;
