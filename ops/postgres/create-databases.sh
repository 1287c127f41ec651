#!/bin/sh
# Runs once, when the data folder of Postgres is new: an owner and a database of its own for the product and for Temporal. The
# product's processes have a role that owns nothing; `admin migrate` gives it its rights.
set -eu
psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --username "${POSTGRES_USER:-postgres}" --dbname postgres \
  --set owner="$DATABASE_OWNER_PASSWORD" --set product="$DATABASE_PASSWORD" --set temporal="$TEMPORAL_DATABASE_PASSWORD" <<'SQL'
CREATE ROLE messaging_owner LOGIN PASSWORD :'owner';
CREATE ROLE messaging LOGIN PASSWORD :'product';
-- For the gauge of the oldest transaction, whoever began it.
GRANT pg_read_all_stats TO messaging;
CREATE DATABASE messaging OWNER messaging_owner;
CREATE ROLE temporal LOGIN PASSWORD :'temporal';
CREATE DATABASE temporal OWNER temporal;
CREATE DATABASE temporal_visibility OWNER temporal;
SQL
