#!/bin/sh
# Makes the namespace and the search attributes of the campaigns. Where they are there, it changes only the retention, and that
# only to a TEMPORAL_RETENTION that is set.
# TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE are read by the tool itself.
set -eu
retention="${TEMPORAL_RETENTION:-72h}"

for attempt in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
  # Its port is open before its parts have found each other.
  if temporal operator cluster health >/dev/null 2>&1; then break; fi
  echo "the server is not healthy yet (attempt $attempt)"
  sleep 2
done

if ! temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1; then
  temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention "$retention"
elif [ -n "${TEMPORAL_RETENTION:-}" ]; then
  temporal operator namespace update --namespace "$TEMPORAL_NAMESPACE" --retention "$retention"
fi

known=''
for attempt in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
  # A new namespace is not known to every part of the server at once.
  if known=$(temporal operator search-attribute list --namespace "$TEMPORAL_NAMESPACE" 2>/dev/null); then break; fi
  echo "the namespace is not usable yet (attempt $attempt)"
  sleep 2
done

add() {
  if echo "$known" | grep -qw "$1"; then return; fi
  temporal operator search-attribute create --namespace "$TEMPORAL_NAMESPACE" --name "$1" --type "$2"
}

add WorkspaceId Int
add CampaignStatus Keyword
add PauseReason Keyword
echo "namespace $TEMPORAL_NAMESPACE is ready"
