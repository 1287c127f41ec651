-- What is stored twice must agree: a campaign's counters, reasons and totals with its recipients, its cost with its entries, a wallet's balance with its
-- ledger, what it reserves with the messages that have no outcome, and what it could not
-- collect with the single debts. One row per difference; no row: everything agrees.
-- It only reads, in one statement and therefore of one instant. `doctor` and the tests run it; by hand:
--   psql "$DATABASE_URL" -f sql/checks/books.sql
-- With `SET books.quick = on` it leaves out the recipients of campaigns that have ended with every outcome known.
WITH checked AS MATERIALIZED (
  SELECT campaign.id, campaign.status, total_contacts, total_contacts_skipped, claimed_position,
    -- Recipients that retention deletes, or deletes right now, count nowhere.
    archived_at IS NULL AS complete, preparation_status = 'READY' AS prepared,
    to_jsonb(campaign_counter) - 'campaign_id' - 'claimed_position' - 'charged' AS kept, campaign_counter.charged
  FROM campaign JOIN campaign_counter ON campaign_counter.campaign_id = campaign.id
  WHERE current_setting('books.quick', true) IS DISTINCT FROM 'on'
    OR status NOT IN ('COMPLETED', 'FAILED', 'CANCELLED') OR claimed + unknown > 0
), counted AS MATERIALIZED (
  SELECT campaign_id, state, reason, count(*) AS n, count(*) FILTER (WHERE sendable) AS sendable,
    sum(price) FILTER (WHERE settlement = 'reserved') AS reserved,
    count(*) FILTER (WHERE state = 'PENDING' AND position <= claimed_position) AS behind
  FROM recipient JOIN checked ON checked.id = campaign_id
  GROUP BY campaign_id, state, reason
), counters AS (
  SELECT coalesce(kept.id, found.id) AS id, coalesce(kept.state, found.state) AS what, coalesce(kept.n, 0) AS kept,
    coalesce(found.n, 0) AS found
  FROM (SELECT checked.id, key AS state, value::bigint AS n FROM checked, jsonb_each_text(checked.kept)) AS kept
  FULL JOIN (SELECT campaign_id AS id, lower(state) AS state, sum(n) AS n FROM counted GROUP BY 1, 2) AS found
    ON found.id = kept.id AND found.state = kept.state
), reasons AS (
  SELECT coalesce(kept.id, found.id) AS id, coalesce(kept.reason, found.reason) AS what, coalesce(kept.n, 0) AS kept,
    coalesce(found.n, 0) AS found
  FROM (SELECT campaign_id AS id, kind || ' ' || reason AS reason, count AS n FROM campaign_reason
    JOIN checked ON checked.id = campaign_id) AS kept
  FULL JOIN (
    SELECT campaign_id AS id, CASE state WHEN 'SKIPPED' THEN 'skipped ' ELSE 'failed ' END || reason AS reason, sum(n) AS n
    FROM counted WHERE reason IS NOT NULL AND state IN ('SKIPPED', 'FAILED', 'UNKNOWN') GROUP BY 1, 2
  ) AS found ON found.id = kept.id AND found.reason = kept.reason
), totals AS (
  SELECT checked.id, total_contacts, total_contacts_skipped, coalesce(sum(sendable), 0) AS sendable,
    coalesce(sum(n), 0) - coalesce(sum(sendable), 0) AS skipped, coalesce(sum(behind), 0) AS behind
  FROM checked LEFT JOIN counted ON counted.campaign_id = checked.id
  WHERE complete AND prepared GROUP BY checked.id, total_contacts, total_contacts_skipped
), owed AS (
  SELECT channel_id, sum(price) AS price FROM (
    SELECT channel_id, reserved AS price FROM counted JOIN campaign ON campaign.id = campaign_id WHERE reserved IS NOT NULL
    UNION ALL SELECT channel_id, price FROM message WHERE settlement = 'reserved'
  ) AS open GROUP BY channel_id
)
SELECT 'counters-differ-from-rows' AS kind, counters.id::text AS id, what, counters.kept::text AS stored, found::text AS found
FROM counters JOIN checked USING (id) WHERE complete AND counters.kept <> counters.found
UNION ALL
SELECT 'reasons-differ-from-rows', reasons.id::text, what, reasons.kept::text, found::text
FROM reasons JOIN checked USING (id) WHERE complete AND reasons.kept <> reasons.found
UNION ALL
SELECT 'totals-differ-from-rows', id::text, 'recipients and skipped', total_contacts || ' and ' || total_contacts_skipped,
  sendable || ' and ' || skipped
FROM totals WHERE total_contacts <> sendable OR total_contacts_skipped <> skipped
UNION ALL
SELECT 'recipients-stranded', totals.id::text, 'waiting for another attempt', queued::text, behind::text
FROM totals JOIN checked USING (id)
CROSS JOIN LATERAL (SELECT count(*) AS queued FROM recipient_retry WHERE campaign_id = totals.id) AS retries
WHERE queued <> behind AND status NOT IN ('COMPLETED', 'FAILED', 'CANCELLED')
UNION ALL
SELECT 'charged-differs-from-entries', checked.id::text, 'micro-units', charged::text, entries::text
FROM checked CROSS JOIN LATERAL (
  -- Entries of single messages name a campaign if 1.0.0 refunded a test message, which is no part of its cost.
  SELECT coalesce(-sum(amount), 0) AS entries FROM ledger_entry WHERE campaign_id = checked.id AND message_id IS NULL) AS ledger
WHERE charged <> entries
UNION ALL
SELECT 'ledger-differs-from-balance', channel_id::text, 'micro-units', balance::text, entries::text
FROM wallet CROSS JOIN LATERAL (
  SELECT coalesce(sum(amount), 0) AS entries FROM ledger_entry WHERE ledger_entry.channel_id = wallet.channel_id) AS ledger
WHERE balance <> entries
UNION ALL
SELECT 'reserved-differs-from-messages', channel_id::text, 'micro-units', reserved::text, coalesce(price, 0)::text
FROM wallet LEFT JOIN owed USING (channel_id) WHERE reserved <> coalesce(price, 0)
UNION ALL
SELECT 'uncollected-differs-from-debts', channel_id::text, 'micro-units', uncollected::text, debts::text
FROM wallet CROSS JOIN LATERAL (
  SELECT coalesce(sum(amount), 0) AS debts FROM uncollected WHERE uncollected.channel_id = wallet.channel_id) AS owing
WHERE uncollected <> debts
LIMIT 10000
