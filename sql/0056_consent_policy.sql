-- Whether campaigns to a CSV skip people who are no contacts: their consent is recorded nowhere. 'marketing': those of category MARKETING do.
ALTER TABLE workspace ADD COLUMN require_consent text NOT NULL DEFAULT 'off'
  CHECK (require_consent IN ('off', 'marketing', 'all'));
