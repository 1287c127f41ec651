-- The custom fields that contacts of a workspace have had; written when a field is first seen, and by the API.
CREATE TABLE contact_field (
  workspace_id integer NOT NULL REFERENCES workspace (id),
  -- The key in contact.custom_fields.
  id text NOT NULL,
  -- How conditions compare the values; guessed from the first values, then changed by the API alone.
  type text NOT NULL CHECK (type IN ('text', 'number', 'date', 'boolean')),
  -- Contacts that have the field, at the time counted_at.
  count integer NOT NULL DEFAULT 0,
  counted_at timestamptz,
  PRIMARY KEY (workspace_id, id)
);

-- The number that the text of a custom field holds, also with thousands separators or a decimal comma; NULL if it holds none, or
-- could be two: 5,000 is five thousand or five.
CREATE FUNCTION custom_number(given text) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN CASE
  WHEN btrim(given) ~ '^[+-]?\d{1,15}(\.\d{1,15})?$' THEN btrim(given)::numeric
  WHEN length(given) > 40 THEN NULL
  WHEN btrim(given) ~ '^[+-]?\d{1,3}(\.\d{3})+,\d{1,15}$' THEN replace(replace(btrim(given), '.', ''), ',', '.')::numeric
  WHEN btrim(given) ~ '^[+-]?\d{1,3}(,\d{3})+\.\d{1,15}$' THEN replace(btrim(given), ',', '')::numeric
  WHEN btrim(given) ~ '^[+-]?\d{1,3}((\.\d{3}){2,4}|(,\d{3}){2,4})$' THEN translate(btrim(given), '.,', '')::numeric
  WHEN btrim(given) ~ '^[+-]?\d{1,15},\d{1,15}$' AND btrim(given) !~ ',\d{3}$' THEN replace(btrim(given), ',', '.')::numeric
END;

-- The time that the text of a custom field holds: ISO 8601, or a day such as 31.12.2026; without a time zone it is UTC. NULL for any
-- other text.
CREATE FUNCTION custom_date(given text) RETURNS timestamptz LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE AS $$
DECLARE
  written text := btrim(given);
BEGIN
  IF written ~ '^\d{1,2}\.\d{1,2}\.\d{4}$' THEN
    written := regexp_replace(written, '^(\d{1,2})\.(\d{1,2})\.(\d{4})$', '\3-\2-\1');
  ELSIF written !~ '^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d(:?\d\d)?)?)?$' THEN
    RETURN NULL;
  END IF;
  IF written !~ ':.*(Z|[+-]\d\d(:?\d\d)?)$' THEN written := written || ' UTC'; END IF;
  RETURN CASE WHEN pg_input_is_valid(written, 'timestamptz') THEN written::timestamptz END;
END $$;
