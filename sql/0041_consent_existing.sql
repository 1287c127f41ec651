-- Opt-outs of 1.0.0 that were a setting in the provider's app, or a refusal because of it: they concern MARKETING only. 1.0.0 did not
-- record which it was, but a typed word left an inbound message with the same time. Where older messages of the workspace are gone,
-- nothing can be told, and the opt-out stays one from everything, as does one by the API.
UPDATE contact SET stop_all = false, stop_marketing = true, stop_marketing_at = contact.consent_at
FROM (
  SELECT DISTINCT ON (contact_id) contact_id, workspace_id, subscribed, source, at FROM contact_consent ORDER BY contact_id, id DESC
) AS latest
WHERE contact.workspace_id = latest.workspace_id AND contact.id = latest.contact_id
  AND latest.source = 'person' AND NOT latest.subscribed
  AND NOT contact.subscribed AND contact.consent_at = latest.at AND contact.erased_at IS NULL AND contact.stop_all IS NULL
  AND EXISTS (SELECT FROM message WHERE message.workspace_id = latest.workspace_id AND message.created_at < latest.at)
  AND NOT EXISTS (
    SELECT FROM message WHERE message.contact_id = latest.contact_id AND direction = 'inbound'
      -- Without a time of the provider, the opt-out has ours.
      AND (provider_timestamp = latest.at OR abs(extract(epoch FROM message.created_at - latest.at)) < 10));
