-- no-transaction
-- Of two processes that create a person at the same time under two numbers, one finds the other's contact. Partial: an import of
-- numbers with one form does not write it.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS contact_identity_number ON contact (workspace_id, identity)
  WHERE identity IS NOT NULL;

-- Gives contacts of 1.0.0 their identity, and those under a former number the present one. If another contact of the person has any of
-- the numbers, both keep theirs, and the older one has the identity. A batch at a time: a run that was ended begins where it stopped, and
-- contacts that others have locked or take meanwhile are left for the next pass. Who is left after the last one is found by the forms.
DO $$
DECLARE
  place int;
  prefix text;
  after_number text;
  seen text;
  batch uuid[];
  left_over int;
BEGIN
  FOR pass IN 1..5 LOOP
    left_over := 0;
    FOR place IN SELECT id FROM workspace ORDER BY id LOOP
      FOREACH prefix IN ARRAY ARRAY['52', '54', '55', '84', '225', '229', '237', '241', '377', '383', '386', '970', '972'] LOOP
        after_number := prefix;
        LOOP
          -- ':' follows '9' in the collation "C".
          SELECT max(phone_number), array_agg(id) FILTER (WHERE identity IS NULL AND number_identity(phone_number) IS NOT NULL)
          INTO seen, batch FROM (
            SELECT id, phone_number, identity FROM contact
            WHERE workspace_id = place AND phone_number > after_number AND phone_number < prefix || ':'
            ORDER BY phone_number LIMIT 1000
          ) AS contacts;
          EXIT WHEN seen IS NULL;
          after_number := seen;
          CONTINUE WHEN batch IS NULL;
          BEGIN
            WITH waiting AS MATERIALIZED (
              SELECT id, phone_number, created_at FROM contact
              WHERE workspace_id = place AND id = ANY (batch) AND phone_number IS NOT NULL AND identity IS NULL
              ORDER BY id FOR UPDATE SKIP LOCKED
            ), known AS MATERIALIZED (
              SELECT waiting.id, number_identity(waiting.phone_number) AS person,
                (SELECT count(*) FROM contact AS other WHERE other.workspace_id = place
                  AND other.phone_number = ANY (number_forms(waiting.phone_number)) AND other.id <> waiting.id) AS others,
                (SELECT count(*) FROM contact AS other WHERE other.workspace_id = place
                  AND other.phone_number = ANY (number_forms(waiting.phone_number))
                  AND (other.created_at, other.id) < (waiting.created_at, waiting.id)) AS older
              FROM waiting
            )
            UPDATE contact SET identity = known.person,
              -- Both numbers of Argentina and of the Palestinian territories are in use. 1.0.0 looks for the number alone: somebody who
              -- opted out keeps it, and is found by the forms.
              phone_number = CASE WHEN others > 0 OR NOT subscribed OR person ~ '^(54|970)' THEN phone_number ELSE person END,
              country_code = CASE WHEN others > 0 OR NOT subscribed OR person ~ '^(54|970)' OR person = phone_number THEN country_code
                WHEN left(person, 2) IN ('52', '55', '84') THEN left(person, 2) ELSE left(person, 3) END,
              country = CASE WHEN others > 0 OR NOT subscribed OR person ~ '^(54|970)' OR person = phone_number THEN country
                WHEN person LIKE '52%' THEN 'MX' WHEN person LIKE '55%' THEN 'BR' WHEN person LIKE '84%' THEN 'VN'
                WHEN person LIKE '225%' THEN 'CI' WHEN person LIKE '229%' THEN 'BJ' WHEN person LIKE '237%' THEN 'CM'
                WHEN person LIKE '241%' THEN 'GA' ELSE 'XK' END
            FROM known WHERE contact.workspace_id = place AND contact.id = known.id AND known.person IS NOT NULL AND older = 0;
          EXCEPTION WHEN unique_violation OR deadlock_detected THEN
            left_over := left_over + 1;
          END;
          COMMIT;
        END LOOP;
      END LOOP;
    END LOOP;
    EXIT WHEN left_over = 0 AND pass > 1;
  END LOOP;
END $$;
