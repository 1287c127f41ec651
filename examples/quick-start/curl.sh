#!/bin/sh
# Sends a campaign to two numbers and prints what happened to each. Needs BASE_URL and API_KEY.
set -eu

# Ends with the service's message where it refuses.
api() { answer=$(curl -sS --fail-with-body -H "X-API-Key: $API_KEY" "$@") || { printf '%s\n' "$answer" >&2; exit 1; }; }
first() { printf '%s' "$answer" | grep -o "\"$1\":\"$2*\"" | head -n 1 | cut -d '"' -f 4; }

api "$BASE_URL/api/templates?search=hello_campaign&language=en_US&status=APPROVED"
template=$(first id '[^"]')

# The same Idempotency-Key never creates a second campaign, so this request can be repeated.
api "$BASE_URL/api/campaigns/auto-trigger" \
  -H 'Content-Type: application/json' -H "Idempotency-Key: quick-start-$$-$(date +%s)" \
  -d "{\"name\": \"Spring offer\", \"template_id\": \"$template\", \"contact_selection_type\": \"quick_contacts\",
       \"quick_contacts\": [\"+4915112345678,Ada\", \"+4915166131026,Grace\"], \"send_type\": \"IMMEDIATE\"}"
campaign=$(first id '[^"]')

while :; do
  api "$BASE_URL/api/campaigns/$campaign"
  status=$(first status '[A-Z]')
  case $status in DRAFT | SCHEDULED | RUNNING) sleep 1 ;; *) break ;; esac
done

echo "$status"
api -H 'Accept: text/csv' "$BASE_URL/api/campaigns/$campaign/recipients"
printf '%s\n' "$answer"
