-- A text as searches compare it: in small letters, without accents and other marks, in the simple form of wide and joined letters.
-- Written out, because the extension unaccent is not available to every role and is not immutable. No index of 1.0.0 changes.
CREATE FUNCTION search_text(given text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN octet_length(given) = length(given) THEN lower(given)
  ELSE replace(replace(replace(replace(translate(
    lower(regexp_replace(normalize(given, NFKD), '[\u0300-\u036f]', '', 'g')),
    'øłđðıħŧ', 'olddiht'), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th') END;

-- The words of a search or a name. Punctuation is written out, because what a letter is depends on the database's locale.
CREATE FUNCTION search_words(given text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN array_remove(regexp_split_to_array(public.search_text(given),
  '[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u2000-\u206f\u3000-\u303f]+'), '');

-- What finds a contact besides the beginnings of its columns: each word, and of a word in a script without spaces its ends too.
-- Each entry begins with the workspace, so that a search reads no other workspace's. In plpgsql, whose expressions take
-- microseconds: an import calls it for each name, and an SQL function of several rows takes a millisecond.
CREATE FUNCTION contact_search_words(workspace_id int, names text) RETURNS tsvector
  LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1000 AS $$
DECLARE
  word text;
  entries text[] := '{}';
BEGIN
  FOREACH word IN ARRAY public.search_words(names) LOOP
    -- An index entry has at most 2,046 bytes.
    word := left(word, 32);
    entries := entries || (workspace_id || ':' || word);
    IF octet_length(word) > length(word) AND word ~ '[\u0e00-\u0eff\u1000-\u11ff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]' THEN
      FOR place IN 2..length(word) LOOP
        entries := entries || (workspace_id || ':' || substr(word, place));
      END LOOP;
    END IF;
  END LOOP;
  RETURN array_to_tsvector(entries);
END $$;

-- Contacts of the workspace who have a word that begins with each word given; NULL for a text without words.
CREATE FUNCTION contact_search_query(workspace_id int, given text) RETURNS tsquery
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  SELECT string_agg('''' || workspace_id || ':' || left(word, 32) || ''':*', ' & ')::tsquery
  FROM unnest(public.search_words(given)) AS word;
END;
