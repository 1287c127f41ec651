#!/bin/sh
# Brings the schema of the Temporal server up to date; runs before every start and changes nothing when there is nothing to do.
# SQL_PASSWORD is read by the tool itself.
set -eu
tool="${TEMPORAL_SQL_TOOL:-temporal-sql-tool}"

run() {
  database=$1
  shift
  "$tool" --plugin postgres12_pgx --endpoint "$POSTGRES_HOST" --port "${POSTGRES_PORT:-5432}" --user temporal \
    --database "$database" "$@"
}

set_up() {
  run "$1" setup-schema --version 0.0
  run "$1" update-schema --schema-name "postgresql/v12/$2"
  echo "schema of $1 is up to date"
}

set_up temporal temporal
set_up temporal_visibility visibility
