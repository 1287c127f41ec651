/**
 * Recording outcomes of sent messages: recipients, money and counters in one statement, in the lock order of
 * docs/architecture.md. A status callback may have arrived before the response to our request; its effects stay.
 */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { failedEvent, type ProviderError } from '../../domain/callbacks/message-status.ts';
import { statusBits } from '../../domain/campaigns/recipient.ts';
import type { VariablesSkip } from '../../domain/templates/recipient-variables.ts';
import type { BrakeOutcome } from '../../domain/sending/failure-brake.ts';
import { emitEvents } from '../webhooks/events.ts';
import { contactsByNumber, isErased } from '../contacts/contacts.ts';
import type { Connection } from '../database/database.ts';
import { type BrakeDecisions, countKnownOutcomes } from './failure-brake.ts';
import { learnIdsOfCampaignRecipients } from '../callbacks/identities.ts';
import { nullable, row, timestamp } from '../database/row.ts';

export type MessageOutcome =
  | {
      readonly kind: 'accepted';
      readonly providerMessageId: string;
      /** Further provider ids of the person, from the response. */
      readonly otherIds?: readonly string[];
    }
  /** `error` is absent if the provider gave no error. */
  | {
      readonly kind: 'failed';
      readonly reason: string;
      readonly detail: string;
      readonly error?: ProviderError;
      /** The provider refuses because the person has stopped such messages. */
      readonly optedOut?: boolean;
    }
  | { readonly kind: 'unknown'; readonly detail: string }
  /** Never sent: the contact's present fields leave a variable without a value, or make a text too long. */
  | { readonly kind: 'skipped'; readonly skip: VariablesSkip }
  /** Certainly not sent: PENDING again, to be claimed after `delayMs`. `attempted` counts it as an attempt. */
  | { readonly kind: 'released'; readonly delayMs: number; readonly attempted: boolean };

export interface RecipientOutcome {
  readonly position: number;
  /** The claim under which the message was sent. */
  readonly claimId: string;
  readonly outcome: MessageOutcome;
  /** The values that were sent, if the contact's fields changed after preparation. */
  readonly variables?: readonly string[];
}

/** Outcomes of one campaign, at most one for each position. */
export interface OutcomeBatch {
  readonly campaignId: string;
  readonly channelId: string;
  readonly outcomes: readonly RecipientOutcome[];
}

/**
 * Idempotent: recording the same outcomes twice changes nothing the second time, because a recorded recipient no longer
 * carries its claim. One statement, so that all of it is true or none, and a claim is closed with its last outcome. Opt-outs are
 * part of it: claims obey them from its commit on, and `applyWaitingOptOuts` changes the contacts.
 */
export async function recordOutcomes(database: Connection, batch: OutcomeBatch): Promise<RecordedOutcomes> {
  if (batch.outcomes.length === 0) return nothingToDo;
  const canFail = batch.outcomes.some(
    ({ outcome }) => outcome.kind === 'failed' || outcome.kind === 'released',
  );
  let recorded = nothingToDo;
  if (canFail) recorded = await database.transaction((transaction) => recordAndEmit(transaction, batch));
  else await database.query(recordStatement(batch));
  const learnt = batch.outcomes.flatMap(({ position, outcome }) =>
    outcome.kind === 'accepted'
      ? (outcome.otherIds ?? []).map((providerId) => ({ position, providerId }))
      : [],
  );
  // A statement of its own, so that a locked contact does not hold up the wallet. If it fails, status callbacks bring the ids.
  if (learnt.length > 0)
    await learnIdsOfCampaignRecipients(database, batch.campaignId, learnt).catch(() => undefined);
  return recorded;
}

/** What recording leaves to do after the commit. */
export interface RecordedOutcomes extends BrakeDecisions {
  /** Addresses of people who opted out and have no contact. */
  readonly strangers: readonly string[];
}

const nothingToDo: RecordedOutcomes = { strangers: [], braked: [], woken: [] };

/** Records, emits the event `failed` of each message that ends here, and counts it for the failure brake, in the same transaction. */
async function recordAndEmit(transaction: Connection, batch: OutcomeBatch): Promise<RecordedOutcomes> {
  const failed = await transaction.any(recordStatement(batch));
  const [first] = failed;
  if (first === undefined) return nothingToDo;
  const outcomes = new Map(batch.outcomes.map(({ position, outcome }) => [position, outcome]));
  const events = failed.map(({ position, at, isStranger: _, ...message }) => {
    const outcome = outcomes.get(position);
    const error = outcome?.kind === 'failed' ? (outcome.error ?? null) : null;
    return failedEvent({ ...message, campaignId: batch.campaignId, source: 'campaign', error }, at);
  });
  await emitEvents(transaction, first.workspaceId, events);
  // In the order of their answers.
  const byPosition = new Map(failed.map((recipient) => [recipient.position, recipient]));
  const known = batch.outcomes.flatMap(({ position, outcome }): readonly BrakeOutcome[] => {
    if (outcome.kind === 'accepted') return [{ kind: 'accepted' }];
    const recipient = byPosition.get(position);
    if (recipient === undefined) return [];
    const { id: recipientId, reason, detail } = recipient;
    return [{ kind: 'failed', failure: { reason, detail, source: 'answer', recipientId } }];
  });
  const decisions = await countKnownOutcomes(transaction, [
    { campaignId: batch.campaignId, outcomes: known },
  ]);
  return { ...decisions, strangers: failed.filter(({ isStranger }) => isStranger).map(({ to }) => to) };
}

const FailedRecipient = row(
  t.type({
    id: t.string,
    position: t.number,
    providerMessageId: nullable(t.string),
    to: t.string,
    contactId: nullable(t.string),
    reason: t.string,
    detail: nullable(t.string),
    workspaceId: t.number,
    phoneNumberId: t.string,
    at: timestamp,
    /** Opted out, and has no contact. */
    isStranger: t.boolean,
  }),
);

/** Each CTE that locks rows reads from the one before it, which fixes the order of the locks. */
function recordStatement({ campaignId, channelId, outcomes }: OutcomeBatch) {
  const positions = outcomes.map(({ position }) => position).toSorted((a, b) => a - b);
  const byPosition = Object.fromEntries(outcomes.map((one) => [one.position, resultOf(one)]));
  // Read by key from one JSON object, never joined: without statistics Postgres would join all recipients of the campaign.
  const result = (field: string) =>
    sql.fragment`(given.by_position -> recipient.position::text ->> ${sql.literalValue(field)})`;
  const open = sql.fragment`(recipient.state = 'CLAIMED' OR (recipient.state = 'UNKNOWN' AND ${result('state')} <> 'UNKNOWN'))`;
  // Released after its claim expired: the campaign may have ended meanwhile, so it fails instead of waiting again.
  const late = sql.fragment`(recipient.state = 'UNKNOWN' AND ${result('state')} = 'PENDING')`;
  const erased = isErased({
    phoneNumber: sql.fragment`recipient.phone_number`,
    workspaceId: sql.fragment`(SELECT workspace_id FROM channel WHERE id = ${channelId})`,
    contactId: sql.fragment`recipient.contact_id`,
  });
  return sql.type(FailedRecipient)`
    WITH given AS MATERIALIZED (
      SELECT ${JSON.stringify(byPosition)}::jsonb AS by_position
    ), updated AS (
      UPDATE recipient SET
        state = CASE WHEN NOT ${open} THEN recipient.state WHEN ${late} THEN 'FAILED' ELSE ${result('state')} END,
        reason = CASE WHEN NOT ${open} THEN recipient.reason WHEN ${late} THEN 'PROVIDER_UNREACHABLE' ELSE ${result('reason')} END,
        reason_detail = CASE WHEN NOT ${open} THEN recipient.reason_detail
          WHEN ${late} THEN 'Not sent: released after the grace period' ELSE ${result('detail')} END,
        settlement = CASE
          WHEN recipient.settlement <> 'reserved' OR NOT ${open} THEN recipient.settlement
          WHEN ${result('state')} = 'ACCEPTED' THEN 'charged'
          WHEN ${result('state')} = 'UNKNOWN' THEN 'reserved'
          ELSE 'none' END,
        provider_message_id = COALESCE(recipient.provider_message_id, CASE WHEN NOT ${erased} THEN ${result('pmid')} END),
        claim_id = NULL,
        sendable = recipient.sendable AND NOT (${open} AND ${result('state')} = 'SKIPPED'),
        -- An erasure has set them to NULL: they stay so.
        variables = CASE WHEN recipient.variables IS NOT NULL AND ${result('variables')} IS NOT NULL
          THEN ARRAY(SELECT jsonb_array_elements_text(given.by_position -> recipient.position::text -> 'variables'))
          ELSE recipient.variables END,
        accepted_at = CASE WHEN ${open} AND ${result('state')} = 'ACCEPTED' THEN now() ELSE recipient.accepted_at END,
        -- The event of the failure is emitted here, not by a later status.
        statuses_seen = recipient.statuses_seen | CASE
          WHEN ${open} AND (${late} OR ${result('state')} = 'FAILED') THEN ${statusBits.failed}::int2 ELSE 0::int2 END,
        attempts = recipient.attempts - CASE WHEN ${open} AND ${result('attempted')} = 'false' THEN 1 ELSE 0 END,
        updated_at = now()
      FROM given
      WHERE recipient.campaign_id = ${campaignId} AND recipient.position = ANY (${sql.array(positions, 'int4')})
        AND recipient.claim_id = ${result('claim')}::uuid
      RETURNING recipient.id, recipient.position, old.claim_id, old.state AS old_state, new.state AS new_state,
        (old.state = 'CLAIMED' OR (old.state = 'UNKNOWN' AND new.state <> 'UNKNOWN')) AS open, recipient.price, recipient.country,
        old.settlement AS old_settlement, new.settlement AS new_settlement,
        CASE WHEN new.provider_message_id IS NOT NULL THEN ${result('pmid')} END AS pmid,
        ${result('delay_ms')}::float8 AS delay_ms, ${result('opted_out')} = 'true' AS opted_out, new.reason, new.reason_detail, new.provider_message_id,
        new.phone_number, new.contact_id
    ), total AS (
      SELECT
        count(*) FILTER (WHERE open AND old_state = 'CLAIMED')::int AS was_claimed,
        count(*) FILTER (WHERE open AND old_state = 'UNKNOWN')::int AS was_unknown,
        count(*) FILTER (WHERE open AND new_state = 'ACCEPTED')::int AS accepted,
        count(*) FILTER (WHERE open AND new_state = 'FAILED')::int AS failed,
        count(*) FILTER (WHERE open AND new_state = 'UNKNOWN')::int AS unknown,
        count(*) FILTER (WHERE open AND new_state = 'PENDING')::int AS released,
        count(*) FILTER (WHERE open AND new_state = 'SKIPPED')::int AS skipped,
        COALESCE(sum(price) FILTER (WHERE old_settlement = 'reserved' AND new_settlement = 'charged'), 0)::bigint AS charged,
        COALESCE(sum(price) FILTER (WHERE old_settlement = 'reserved' AND new_settlement = 'none'), 0)::bigint AS freed
      FROM updated
    ), identified AS (
      INSERT INTO provider_message (hash, recipient_id)
      SELECT hashtextextended(pmid, 0), id FROM updated WHERE pmid IS NOT NULL
    ), delayed AS (
      INSERT INTO recipient_retry (campaign_id, position, not_before)
      SELECT ${campaignId}::uuid, position, now() + make_interval(secs => COALESCE(delay_ms, 0) / 1000)
      FROM updated WHERE open AND new_state = 'PENDING'
      ON CONFLICT (campaign_id, position) DO NOTHING
    ), settled_wallet AS (
      UPDATE wallet SET reserved = reserved - total.charged - total.freed, balance = balance - total.charged,
        updated_at = now()
      FROM total WHERE wallet.channel_id = ${channelId} AND total.charged + total.freed > 0
      RETURNING wallet.channel_id, wallet.workspace_id, total.charged, total.accepted
    ), charge AS (
      INSERT INTO ledger_entry (channel_id, workspace_id, kind, amount, campaign_id, message_count, category, countries)
      SELECT channel_id, workspace_id, 'charge', -charged, ${campaignId}, accepted,
        (SELECT category FROM template WHERE id = (SELECT template_id FROM campaign WHERE id = ${campaignId})), (
        SELECT jsonb_object_agg(country, amount) FROM (
          SELECT country, -sum(price) AS amount FROM updated
          WHERE old_settlement = 'reserved' AND new_settlement = 'charged' GROUP BY country
        ) AS by_country)
      FROM settled_wallet WHERE charged > 0
    ), counted AS (
      UPDATE campaign_counter SET
        claimed = claimed - total.was_claimed,
        unknown = campaign_counter.unknown - total.was_unknown + total.unknown,
        accepted = campaign_counter.accepted + total.accepted,
        failed = campaign_counter.failed + total.failed,
        pending = pending + total.released,
        skipped = campaign_counter.skipped + total.skipped,
        charged = campaign_counter.charged + total.charged
      FROM total CROSS JOIN (SELECT count(*) FROM settled_wallet) AS settled
      WHERE campaign_id = ${campaignId} AND total.was_claimed + total.was_unknown > 0
      RETURNING campaign_id
    ), explained AS (
      INSERT INTO campaign_reason (campaign_id, kind, reason, count)
      SELECT counted.campaign_id, change.kind, change.reason, sum(change.by) FROM counted CROSS JOIN (
        SELECT 'failed' AS kind, reason, 1 AS by FROM updated WHERE open AND new_state IN ('FAILED', 'UNKNOWN')
        UNION ALL
        SELECT 'failed', 'OUTCOME_UNKNOWN', -1 FROM updated WHERE open AND old_state = 'UNKNOWN'
        UNION ALL
        SELECT 'skipped', reason, 1 FROM updated WHERE open AND new_state = 'SKIPPED'
      ) AS change
      GROUP BY counted.campaign_id, change.kind, change.reason ORDER BY change.kind, change.reason
      ON CONFLICT (campaign_id, kind, reason) DO UPDATE SET count = campaign_reason.count + excluded.count
    ), opting_out AS (
      SELECT updated.id, channel.workspace_id, COALESCE(updated.contact_id, (
        SELECT contact.id
        FROM ${contactsByNumber(sql.fragment`channel.workspace_id`, sql.fragment`number_forms(updated.phone_number)`)}
        ORDER BY contact.phone_number = updated.phone_number DESC LIMIT 1)) AS person_id
      FROM updated JOIN channel ON channel.id = ${channelId}
      WHERE open AND new_state = 'FAILED' AND opted_out
    ), opted_out AS (
      INSERT INTO waiting_opt_out (workspace_id, contact_id, marketing_only)
      SELECT workspace_id, person_id, true FROM opting_out WHERE person_id IS NOT NULL ORDER BY person_id
      ON CONFLICT DO NOTHING
    ), timed AS (
      INSERT INTO campaign_minute (campaign_id, at, accepted, failed, charged)
      SELECT counted.campaign_id, date_trunc('minute', now()), total.accepted, total.failed, total.charged
      FROM counted CROSS JOIN total
      WHERE total.accepted + total.failed > 0
      ON CONFLICT (campaign_id, at) DO UPDATE SET accepted = campaign_minute.accepted + excluded.accepted,
        failed = campaign_minute.failed + excluded.failed, charged = campaign_minute.charged + excluded.charged
    ), recorded AS (
      SELECT claim_id AS id, count(*)::int AS count FROM updated CROSS JOIN (SELECT count(*) FROM counted) AS written
      WHERE claim_id IS NOT NULL GROUP BY claim_id
    ), closed AS (
      DELETE FROM campaign_claim USING recorded WHERE campaign_claim.id = recorded.id AND open <= recorded.count
    ), lowered AS (
      UPDATE campaign_claim SET open = open - recorded.count
      FROM recorded WHERE campaign_claim.id = recorded.id AND open > recorded.count
    )
    SELECT updated.id, position, provider_message_id AS "providerMessageId", contact_id AS "contactId", reason,
      reason_detail AS detail, channel.workspace_id AS "workspaceId", channel.phone_number_id AS "phoneNumberId", now() AS at,
      COALESCE(phone_number, (SELECT provider_user_id FROM contact
        WHERE contact.workspace_id = channel.workspace_id AND contact.id = contact_id), '') AS to,
      EXISTS (SELECT FROM opting_out WHERE opting_out.id = updated.id AND person_id IS NULL) AS "isStranger"
    FROM updated CROSS JOIN (SELECT * FROM channel WHERE id = ${channelId}) AS channel
    WHERE open AND new_state = 'FAILED'`;
}

function resultOf({ claimId: claim, outcome, variables }: RecipientOutcome) {
  switch (outcome.kind) {
    case 'accepted':
      return { claim, variables, state: 'ACCEPTED', pmid: outcome.providerMessageId };
    case 'failed':
      return {
        claim,
        variables,
        state: 'FAILED',
        reason: outcome.reason,
        detail: outcome.detail,
        opted_out: outcome.optedOut,
      };
    case 'unknown':
      return { claim, variables, state: 'UNKNOWN', reason: 'OUTCOME_UNKNOWN', detail: outcome.detail };
    case 'skipped':
      return {
        claim,
        state: 'SKIPPED',
        reason: outcome.skip.reason,
        detail: outcome.skip.detail,
        attempted: false,
      };
    case 'released':
      return { claim, state: 'PENDING', delay_ms: outcome.delayMs, attempted: outcome.attempted };
  }
}
