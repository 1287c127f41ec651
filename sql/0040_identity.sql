-- The name that a person chose at the provider, who may hide the number; '' without one.
ALTER TABLE contact ADD COLUMN username text NOT NULL DEFAULT '';

-- For every process that erases people, those of 1.0.0 too.
CREATE FUNCTION clear_erased_contact() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.username := '';
  RETURN NEW;
END $$;
CREATE TRIGGER contact_erased BEFORE UPDATE OF erased_at ON contact
  FOR EACH ROW WHEN (NEW.erased_at IS NOT NULL) EXECUTE FUNCTION clear_erased_contact();
