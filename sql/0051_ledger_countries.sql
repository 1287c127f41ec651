-- Micro-units by country of the recipients (ISO 3166 alpha-2; '' if unknown); they add up to the amount. NULL: not known, as in
-- entries of earlier releases, of recharges, and of what was collected later.
ALTER TABLE ledger_entry ADD COLUMN countries jsonb;
