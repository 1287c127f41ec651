-- The provider's ids of people beside those of the contact itself: numbers as it writes them (Mexico 521…, Brazil without the
-- ninth digit) and business-scoped user ids. Digits alone are a number.
CREATE TABLE contact_identity (
  workspace_id integer NOT NULL,
  provider_id text COLLATE "C" NOT NULL CHECK (provider_id <> ''),
  contact_id uuid NOT NULL,
  learned_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, provider_id),
  FOREIGN KEY (workspace_id, contact_id) REFERENCES contact (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX contact_identity_contact ON contact_identity (contact_id);

-- Who changes the number leaves its forms to whoever has it next.
CREATE FUNCTION forget_numbers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM contact_identity WHERE contact_id = OLD.id AND provider_id ~ '^[0-9]+$';
  RETURN NULL;
END $$;
CREATE TRIGGER contact_number_changed AFTER UPDATE OF phone_number ON contact
  FOR EACH ROW WHEN (OLD.phone_number IS NOT NULL AND OLD.phone_number IS DISTINCT FROM NEW.phone_number)
  EXECUTE FUNCTION forget_numbers();
