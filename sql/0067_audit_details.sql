-- What an action changed, as texts by name, such as {"amount": "1000"}; NULL: nothing to say, or recorded before this column existed.
ALTER TABLE audit_entry ADD COLUMN details jsonb;
