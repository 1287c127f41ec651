-- What the provider says of an account, its numbers and its templates, and what an operator has to see of it.
-- Nullable and without a default: no row is rewritten, and processes of the release before write the tables as they did.

-- The provider's restriction of an account ends by itself.
ALTER TABLE channel ADD COLUMN blocked_until timestamptz;

-- Different people in 24 hours, over all numbers of the account; NULL: no limit.
ALTER TABLE business_account ADD COLUMN messaging_limit integer CHECK (messaging_limit > 0);
-- By the provider's clock: when it told the limit. Its callbacks come late, twice and in any order.
ALTER TABLE business_account ADD COLUMN messaging_limit_told_at timestamptz;
-- The last thing the provider told of the account: {"field", "event", "at", ...}.
ALTER TABLE business_account ADD COLUMN notice jsonb;

-- The category that the provider has announced, and when it takes effect.
ALTER TABLE template ADD COLUMN upcoming_category text;
ALTER TABLE template ADD COLUMN upcoming_category_at timestamptz;
