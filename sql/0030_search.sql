-- A text as searches compare it: in small letters, without accents and other marks, in the simple form of wide and joined letters.
-- Written out, because the extension unaccent is not available to every role and is not immutable. No index of 1.0.0 changes.
CREATE FUNCTION search_text(given text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 10
RETURN CASE WHEN octet_length(given) = length(given) THEN lower(given)
  ELSE replace(replace(replace(replace(translate(
    lower(regexp_replace(normalize(given, NFKD), '[\u0300-\u036f]', '', 'g')),
    'øłđðıħŧ', 'olddiht'), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th') END;

-- The words of a search or a name. Punctuation is written out, because what a letter is depends on the database's locale.
CREATE FUNCTION search_words(given text) RETURNS SETOF text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  -- An index entry has at most 2,046 bytes.
  SELECT left(word, 32) FROM regexp_split_to_table(
    search_text(given), '[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u2000-\u206f\u3000-\u303f]+') AS word
  WHERE word <> '';
END;

-- What finds a contact besides the beginnings of its columns: each word, and of a word in a script without spaces its ends too.
-- Each entry begins with the workspace, so that a search reads no other workspace's.
CREATE FUNCTION contact_search_words(workspace_id int, names text) RETURNS tsvector
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1000
BEGIN ATOMIC
  SELECT array_to_tsvector(ARRAY(
    SELECT DISTINCT workspace_id || ':' || substr(word, begin)
    FROM search_words(names) AS word, generate_series(1, length(word)) AS begin
    WHERE begin = 1 OR word ~ '[\u0e00-\u0eff\u1000-\u11ff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]'));
END;

-- Contacts of the workspace who have a word that begins with each word given; NULL for a text without words.
CREATE FUNCTION contact_search_query(workspace_id int, given text) RETURNS tsquery
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  SELECT string_agg('''' || workspace_id || ':' || word || ''':*', ' & ')::tsquery FROM search_words(given) AS word;
END;
