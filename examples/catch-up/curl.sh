#!/bin/sh
# Prints every event since the last run. Needs BASE_URL, API_KEY and CURSOR_FILE.
set -eu

cursor=$(cat "$CURSOR_FILE" 2>/dev/null || true)
head=$(mktemp)
trap 'rm -f "$head"' EXIT

while :; do
  lines=$(curl -sS --fail-with-body -D "$head" -H "X-API-Key: $API_KEY" -H 'Accept: application/x-ndjson' \
    "$BASE_URL/api/events?limit=1000${cursor:+&after=$cursor}") || { printf '%s\n' "$lines" >&2; exit 1; }
  next=$(tr -d '\r' < "$head" | sed -n 's/^[Xx]-[Nn]ext-[Cc]ursor: //p')
  # Skip ids that the webhook brought already.
  printf '%s\n' "$lines" | sed -n 's/^{"id":"\([^"]*\)".*"body":{"eventKey"[ ]*:[ ]*"\([^"]*\)".*/\1 \2/p'
  printf '%s' "$next" > "$CURSOR_FILE"
  [ "$next" != "$cursor" ] || break
  cursor=$next
done
