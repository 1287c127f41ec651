-- Bounds of an erasure: a contact keeps the last 20 of its former numbers: each change of a number writes all of them
-- again, and each is searched for.

-- Replaced for every process that changes numbers, those of 1.0.0 too.
CREATE OR REPLACE FUNCTION change_number() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  -- Each number once, however often a contact changes between two.
  former text[] := array_remove(OLD.former_numbers, OLD.phone_number) || OLD.phone_number;
BEGIN
  DELETE FROM contact_identity WHERE contact_id = OLD.id AND provider_id ~ '^[0-9]+$';
  NEW.former_numbers := CASE WHEN NEW.erased_at IS NULL THEN former[cardinality(former) - 19:] END;
  RETURN NEW;
END $$;

-- Few contacts have more. Each is locked until this file is committed, and no table is.
UPDATE contact SET former_numbers = former_numbers[cardinality(former_numbers) - 19:]
WHERE cardinality(former_numbers) > 20;
-- The same for erasures under way: an erasure searches every stored callback for each of the numbers.
UPDATE erasure SET former_numbers = former_numbers[cardinality(former_numbers) - 19:]
WHERE cardinality(former_numbers) > 20;

-- How often the slices of this erasure were halved because a step took too long.
ALTER TABLE erasure ADD COLUMN halvings smallint NOT NULL DEFAULT 0;
