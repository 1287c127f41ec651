-- What decides whether a channel may send, and how, as committed before the call. VOLATILE: a statement that waited for a lock sees
-- what was committed meanwhile, which its own snapshot leaves out.
CREATE FUNCTION present_channel(id uuid) RETURNS TABLE (active boolean, limited boolean) LANGUAGE sql VOLATILE ROWS 1 AS $$
  SELECT channel.status = 'active', messaging_limit IS NOT NULL
  FROM channel JOIN business_account ON business_account.id = business_account_id WHERE channel.id = present_channel.id
$$;
