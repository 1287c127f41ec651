-- What an operator does not look at is not kept: a condition `exists` could carry a value of any size, which every list and
-- every audience read again. Rows of the segments alone; nobody waits for them but their own next change.
UPDATE segment SET conditions = (
  SELECT jsonb_agg(CASE WHEN condition ->> 'operator' IN ('exists', 'not_exists') THEN condition - 'value' ELSE condition END
    ORDER BY place)
  FROM jsonb_array_elements(conditions) WITH ORDINALITY AS given (condition, place))
WHERE conditions @? '$[*] ? ((@.operator == "exists" || @.operator == "not_exists") && exists(@.value))';
