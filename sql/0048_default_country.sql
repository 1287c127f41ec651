-- ISO 3166 alpha-2: numbers that name no country are read as this country's. NULL: they are international.
ALTER TABLE workspace ADD COLUMN default_country text CHECK (default_country ~ '^[A-Z]{2}$');
