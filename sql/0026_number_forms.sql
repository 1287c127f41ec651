-- A person whose plan has changed may be stored under a former number, and the provider may know the person by it: Mexico 521…,
-- Brazil without the ninth digit, Argentina with and without the 9 … The functions follow src/domain/number-rules.ts; a test
-- compares them.

-- The two digits that have stood before these eight since 2021; NULL if nothing has.
CREATE FUNCTION ivorian_prefix(eight text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN CASE
  WHEN eight ~ '^(0[1-3]|4[0-3]|5[0-3]|7[0-3])' THEN '01'
  WHEN eight ~ '^(0[4-6]|4[4-6]|5[4-6]|6[4-6]|7[4-6]|8[4-6]|9[4-6])' THEN '05'
  WHEN eight ~ '^(0[7-9]|4[7-9]|5[7-9]|6[7-9]|7[7-9]|8[7-9]|9[78])' THEN '07'
  WHEN eight ~ '^2[0-3]8' THEN '21'
  WHEN eight ~ '^(2[0-4]|3[0-6])0' THEN '25'
  WHEN eight ~ '^(20[23]|21[2357]|22[45]|23[45]|24[3-5]|306|31[69]|3[23]7|347)' THEN '27'
END;

-- Every number, in digits, of the person with this one: first the identity, the same for all of them. In plpgsql, whose expressions
-- take microseconds, and most numbers have one form.
CREATE FUNCTION number_forms(number text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  person text := number;
  size int := length(number);
  formers text[] := '{}';
  vietnamese CONSTANT text := '120:70 121:79 122:77 126:76 128:78 123:83 124:84 125:85 127:81 129:82 162:32 163:33 164:34 165:35 '
    '166:36 167:37 168:38 169:39 186:56 188:58 199:59 ';
  place int;
BEGIN
  IF left(number, 2) IN ('52', '54', '55', '84') THEN
    CASE left(number, 2)
      WHEN '52' THEN
        IF size = 13 AND number LIKE '521%' THEN person := '52' || substr(number, 4); END IF;
        IF length(person) = 12 THEN formers := ARRAY['521' || substr(person, 3)]; END IF;
      WHEN '54' THEN
        IF size = 13 AND number LIKE '549%' THEN person := '54' || substr(number, 4); END IF;
        IF length(person) = 12 THEN formers := ARRAY['549' || substr(person, 3)]; END IF;
      WHEN '55' THEN
        IF size = 12 AND number ~ '^55[1-9][0-9][689]' THEN person := left(number, 4) || '9' || substr(number, 5); END IF;
        IF length(person) = 13 AND person ~ '^55[1-9][0-9]9[689]' THEN
          formers := ARRAY[left(person, 4) || substr(person, 6)];
        END IF;
      ELSE
        IF size = 12 THEN
          place := strpos(vietnamese, substr(number, 3, 3) || ':');
          IF place > 0 THEN person := '84' || substr(vietnamese, place + 4, 2) || substr(number, 6); END IF;
        END IF;
        IF length(person) = 11 THEN
          place := strpos(vietnamese, ':' || substr(person, 3, 2) || ' ');
          IF place > 0 THEN formers := ARRAY['84' || substr(vietnamese, place - 3, 3) || substr(person, 5)]; END IF;
        END IF;
    END CASE;
    RETURN person || formers;
  END IF;
  CASE left(number, 3)
    WHEN '225' THEN
      IF size = 11 THEN person := '225' || COALESCE(ivorian_prefix(substr(number, 4)), '') || substr(number, 4); END IF;
      IF length(person) = 13 AND substr(person, 4, 2) = ivorian_prefix(substr(person, 6)) THEN
        formers := ARRAY['225' || substr(person, 6)];
      END IF;
    WHEN '229' THEN
      IF size = 11 AND number ~ '^229[24569]' THEN person := '22901' || substr(number, 4); END IF;
      IF length(person) = 13 AND person ~ '^22901[24569]' THEN formers := ARRAY['229' || substr(person, 6)]; END IF;
    WHEN '237' THEN
      IF size = 11 AND number ~ '^237[579]' THEN person := '2376' || substr(number, 4);
      ELSIF size = 11 AND number ~ '^237(22|33)' THEN person := '2372' || substr(number, 4);
      END IF;
      IF length(person) = 12 AND person ~ '^237(6[579]|222|233)' THEN formers := ARRAY['237' || substr(person, 5)]; END IF;
    WHEN '241' THEN
      IF number ~ '^2410?[256][0-9]{6}$' THEN person := '2416' || right(number, 7);
      ELSIF number ~ '^2410?[47][0-9]{6}$' THEN person := '2417' || right(number, 7);
      ELSIF number ~ '^24101[0-9]{6}$' THEN person := '24111' || right(number, 6);
      END IF;
      IF length(person) = 11 AND person ~ '^241(6[256]|7[47])' THEN
        formers := ARRAY['2410' || right(person, 7), '241' || right(person, 7)];
      ELSIF length(person) = 11 AND person LIKE '24111%' THEN formers := ARRAY['24101' || right(person, 6)];
      END IF;
    WHEN '377', '386', '383' THEN
      IF size = 11 AND number ~ '^(3774[456]|38649)' THEN person := '383' || substr(number, 4); END IF;
      IF length(person) = 11 AND person ~ '^3834[456]' THEN formers := ARRAY['377' || substr(person, 4)];
      ELSIF length(person) = 11 AND person LIKE '38349%' THEN formers := ARRAY['386' || substr(person, 4)];
      END IF;
    WHEN '972', '970' THEN
      IF size = 12 AND number ~ '^9725[69]' THEN person := '970' || substr(number, 4); END IF;
      IF length(person) = 12 AND person ~ '^9705[69]' THEN formers := ARRAY['972' || substr(person, 4)]; END IF;
    ELSE NULL;
  END CASE;
  RETURN person || formers;
END $$;

-- The identity of a number that has several forms; NULL for all other numbers.
CREATE FUNCTION number_identity(number text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  forms text[] := number_forms(number);
BEGIN
  RETURN CASE WHEN cardinality(forms) > 1 THEN forms[1] END;
END $$;

-- number_identity(phone_number), so that two requests at a time cannot create a person twice under two numbers. NULL in rows that
-- 1.0.0 writes, and in the younger one of two contacts who were stored before: people are never merged. Look-ups go by
-- phone_number = ANY (number_forms(…)), which finds those too.
ALTER TABLE contact ADD COLUMN identity text COLLATE "C";

-- A number in another form stays the same person's, whose ids at the provider remain. For 1.0.0, which knows no identity, a new number
-- takes the identity of the old one away.
CREATE OR REPLACE FUNCTION change_number() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  -- Each number once, however often a contact changes between two.
  former text[] := array_remove(OLD.former_numbers, OLD.phone_number) || OLD.phone_number;
BEGIN
  IF NEW.phone_number IS NULL OR NEW.phone_number <> ALL (number_forms(OLD.phone_number)) THEN
    DELETE FROM contact_identity WHERE contact_id = OLD.id AND provider_id ~ '^[0-9]+$';
  ELSE
    -- For 1.0.0, which looks for this number alone.
    INSERT INTO contact_identity (workspace_id, provider_id, contact_id) VALUES (OLD.workspace_id, OLD.phone_number, OLD.id)
    ON CONFLICT DO NOTHING;
  END IF;
  IF NEW.identity IS DISTINCT FROM number_identity(NEW.phone_number) THEN NEW.identity := NULL; END IF;
  NEW.former_numbers := CASE WHEN NEW.erased_at IS NULL THEN former[cardinality(former) - 19:] END;
  RETURN NEW;
END $$;
