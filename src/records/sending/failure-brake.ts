/**
 * The failure brake of a campaign (domain/sending/failure-brake.ts) and its gate. Its row is written by whoever holds the campaign's
 * row of campaign_counter locked, so that answers, callbacks, pauses and starts never overwrite each other.
 *
 * The brake decides in the transaction that moves the recipients, which must not lock the campaign: that lock comes first in the
 * order of docs/architecture.md. The pause follows in its own transaction. If the process dies in between, the next known outcome
 * or the next step makes up for it.
 */
import * as t from 'io-ts';
import { sql } from 'slonik';
import { oneOf } from '../../codecs/struct.ts';
import {
  type BrakeCounts,
  brakeRules,
  countOutcomes,
  failureBrakeSettings,
  failureSources,
  judgeProbe,
  type BrakeOutcome,
  nothingCounted,
  type PauseEvidence,
  smallestBraked,
} from '../../domain/sending/failure-brake.ts';
import { enqueueRefreshes } from '../campaigns/workflow-outbox.ts';
import type { Connection, Database } from '../database/database.ts';
import { nothing, row } from '../database/row.ts';

export const Evidence = t.type({
  rule: oneOf(brakeRules),
  reason: t.string,
  source: oneOf(failureSources),
  failed: t.number,
  of: t.number,
  first_at: t.string,
  last_at: t.string,
  details: t.readonlyArray(t.string),
  recipient_ids: t.readonlyArray(t.string),
});

/** Of a row of `campaign`. A process of 1.0.0 that starts the campaign leaves the column as it is. */
export const pauseEvidence = sql.fragment`CASE WHEN pause_reason = 'FAILURES' THEN pause_evidence END`;

/** What a changed category costs (domain/campaigns/reasons.ts); stored in the same column. Amounts are decimal strings. */
export const StoredPriceChange = t.type({
  category_before: t.string,
  category: t.string,
  country: t.string,
  price_before: t.string,
  price: t.string,
});
export const priceChange = sql.fragment`CASE WHEN pause_reason = 'PRICE_RAISED' THEN pause_evidence END`;

/** A slow start sends this many messages before it waits. */
export const slowStartSize = 50;
/** The gate opens when this share of the statuses is known, or this long after its last message. */
const gateShare = 0.8;
const gateSeconds = 60;

/** Known outcomes of one campaign, in the order in which they became known. */
export interface CampaignOutcomes {
  readonly campaignId: string;
  readonly outcomes: readonly BrakeOutcome[];
}

export interface BrakeDecisions {
  /** Running campaigns that must be paused now: `pauseBraked`. */
  readonly braked: readonly string[];
  /** Campaigns that need not wait for statuses any longer; a message for the workflow of each is in the outbox. */
  readonly woken: readonly string[];
}

const nothingDecided: BrakeDecisions = { braked: [], woken: [] };

const Counted = row(
  t.type({
    id: t.string,
    is_running: t.boolean,
    setting: oneOf(failureBrakeSettings),
    counts: t.UnknownRecord,
    ignored: t.array(t.string),
    is_decided: t.boolean,
    is_probe: t.boolean,
    gate_passed: t.boolean,
  }),
);

const knownSince = sql.fragment`(delivered + read + failed - gate_known)`;
const isGatePassed = sql.fragment`(${knownSince} >= ${gateShare}::float8 * gate_size)`;

/**
 * Counts known outcomes, and decides. The caller has moved their recipients and so holds the campaigns' counters. A campaign
 * without pending recipients has nothing left to save: it costs one read.
 */
export async function countKnownOutcomes(
  transaction: Connection,
  batches: readonly CampaignOutcomes[],
): Promise<BrakeDecisions> {
  const known = batches.filter(({ outcomes }) => outcomes.length > 0);
  if (known.length === 0) return nothingDecided;
  const ids = known.map(({ campaignId }) => campaignId);
  // OFFSET 0 keeps the lookups by key: without statistics joins would read every campaign.
  const found = await transaction.any(sql.type(Counted)`
    SELECT present.* FROM unnest(${sql.array(ids, 'uuid')}) AS given (id) CROSS JOIN LATERAL (
      SELECT campaign.id, campaign.status = 'RUNNING' AS is_running, failure_brake AS setting,
        coalesce(counts, '{}') AS counts, coalesce(ignored, '{}') AS ignored, evidence IS NOT NULL AS is_decided,
        coalesce(gate_is_probe, false) AS is_probe, coalesce(gate_since IS NOT NULL AND ${isGatePassed}, false) AS gate_passed
      FROM campaign JOIN campaign_counter ON campaign_counter.campaign_id = campaign.id
      JOIN workspace ON workspace.id = campaign.workspace_id
      LEFT JOIN campaign_brake ON campaign_brake.campaign_id = campaign.id
      WHERE campaign.id = given.id AND pending > 0 AND total_contacts >= ${smallestBraked} AND failure_brake <> 'off'
        AND campaign.status IN ('RUNNING', 'PAUSED') AND pause_reason IS DISTINCT FROM 'FAILURES'
      OFFSET 0
    ) AS present`);
  if (found.length === 0) return nothingDecided;
  const outcomesOf = new Map(known.map(({ campaignId, outcomes }) => [campaignId, outcomes]));
  const now = new Date();
  const decided = found.map((brake) => {
    const { id, setting, ignored } = brake;
    const before = countsOf(brake.counts);
    if (brake.is_decided || setting === 'off') return { ...brake, counts: before, evidence: undefined };
    const judged = countOutcomes(before, outcomesOf.get(id) ?? [], { setting, ignored, now });
    const evidence =
      judged.evidence ?? (brake.gate_passed && brake.is_probe ? judgeProbe(judged.counts) : undefined);
    return { ...brake, counts: judged.counts, evidence };
  });
  await saveCounts(transaction, decided);
  const passed = (brake: (typeof decided)[number]) => brake.gate_passed && brake.evidence === undefined;
  const woken = decided.filter(passed).map(({ id }) => id);
  if (woken.length > 0) await enqueueRefreshes(transaction, woken);
  const braked = decided.filter(
    ({ is_running, is_decided, evidence }) => is_running && (is_decided || evidence !== undefined),
  );
  return { braked: braked.map(({ id }) => id), woken };
}

const countsOf = (stored: unknown): BrakeCounts => ({
  ...nothingCounted,
  ...(stored as Partial<BrakeCounts>),
});

interface DecidedBrake {
  readonly id: string;
  readonly counts: BrakeCounts;
  readonly evidence: PauseEvidence | undefined;
  readonly gate_passed: boolean;
}

async function saveCounts(transaction: Connection, brakes: readonly DecidedBrake[]): Promise<void> {
  const rows = brakes.map(({ id, counts, evidence, gate_passed: isPassed }) => [
    id,
    JSON.stringify(counts),
    evidence === undefined ? null : JSON.stringify(evidence),
    isPassed,
  ]);
  await transaction.query(sql.type(nothing)`
    WITH given AS (SELECT * FROM ${sql.unnest(rows, ['uuid', 'jsonb', 'jsonb', 'bool'])} AS brake (id, counts, evidence, is_passed))
    INSERT INTO campaign_brake AS brake (campaign_id, counts, evidence)
    SELECT id, counts, evidence FROM given
    ON CONFLICT (campaign_id) DO UPDATE SET counts = excluded.counts, evidence = coalesce(brake.evidence, excluded.evidence),
      gate_size = CASE WHEN (SELECT is_passed FROM given WHERE given.id = brake.campaign_id) THEN NULL ELSE brake.gate_size END`);
}

/** Locks the campaign's counter, which protects the row of its brake. The caller holds the campaign, if it locks it at all. */
async function lockCounter(transaction: Connection, campaignId: string): Promise<void> {
  await transaction.query(sql.type(nothing)`
    SELECT FROM campaign_counter WHERE campaign_id = ${campaignId} FOR NO KEY UPDATE`);
}

const Taken = row(t.type({ evidence: Evidence }));

/** Takes what the brake has decided, for the pause; null if it has decided nothing. The caller holds the campaign. */
export async function takeEvidence(
  transaction: Connection,
  campaignId: string,
): Promise<PauseEvidence | null> {
  await lockCounter(transaction, campaignId);
  const taken = await transaction.maybeOne(sql.type(Taken)`
    UPDATE campaign_brake SET evidence = NULL, counts = '{}', gate_size = NULL
    WHERE campaign_id = ${campaignId} AND evidence IS NOT NULL
    RETURNING old.evidence`);
  return taken?.evidence ?? null;
}

export interface BrakeRelease {
  /** A reason that no longer pauses the campaign. */
  readonly ignore?: string | undefined;
  /** Send this many messages, then wait for their statuses and judge them. */
  readonly probe?: number | undefined;
}

const sentSoFar = sql.fragment`(claimed + accepted + sent + delivered + read + failed + unknown)`;

/** Lets a campaign go on: what was counted counts no more. The caller holds the campaign. */
export async function releaseBrake(
  transaction: Connection,
  campaignId: string,
  { ignore, probe }: BrakeRelease,
): Promise<void> {
  await lockCounter(transaction, campaignId);
  await transaction.query(sql.type(nothing)`
    INSERT INTO campaign_brake AS brake (campaign_id, ignored, gate_size, gate_is_probe, gate_sent, gate_known)
    SELECT campaign_id, array_remove(ARRAY[${ignore ?? null}::text], NULL), ${probe ?? null}::int4, ${probe !== undefined},
      ${sentSoFar}, delivered + read + failed
    FROM campaign_counter WHERE campaign_id = ${campaignId}
    ON CONFLICT (campaign_id) DO UPDATE SET counts = '{}', evidence = NULL,
      ignored = array_cat(array_remove(brake.ignored, ${ignore ?? null}::text), excluded.ignored), gate_size = excluded.gate_size,
      gate_is_probe = excluded.gate_is_probe, gate_sent = excluded.gate_sent, gate_known = excluded.gate_known, gate_since = NULL`);
}

/**
 * Makes a campaign that begins send its first messages alone, if a media link is in its message or its template has delivered
 * nothing in a day. The caller holds the campaign.
 */
export async function startSlowly(transaction: Connection, campaignId: string): Promise<void> {
  await transaction.query(sql.type(nothing)`
    INSERT INTO campaign_brake (campaign_id, gate_size)
    SELECT campaign.id, ${slowStartSize}::int4 FROM campaign JOIN workspace ON workspace.id = campaign.workspace_id
    WHERE campaign.id = ${campaignId} AND total_contacts > ${slowStartSize} AND failure_brake <> 'off'
      AND (jsonb_path_exists(message_plan, '$.**.link') OR NOT EXISTS (
        SELECT FROM template_delivery
        WHERE template_delivery.template_id = campaign.template_id AND delivered_at > now() - interval '24 hours'))
    ON CONFLICT (campaign_id) DO NOTHING`);
}

export type GateState =
  /** `left`: messages that may leave before it waits again; null: as many as there are. */
  | { readonly kind: 'open'; readonly left: number | null }
  /** The outcomes of the probe say that the campaign pauses. */
  | { readonly kind: 'braked' }
  | { readonly kind: 'closed'; readonly waitMs: number };

const Gate = row(
  t.type({
    counts: t.UnknownRecord,
    is_decided: t.boolean,
    is_probe: t.boolean,
    is_passed: t.boolean,
    /** Messages that may still leave before it waits. */
    left: t.number,
    wait_ms: t.number,
  }),
);

/** How many more messages may leave; NULL: the gate is open. For a row of `campaign_brake` joined with its counter. */
export const gateLeft = sql.fragment`(gate_size - (${sentSoFar} - gate_sent))`;
export const gateOpensAt = sql.fragment`(gate_since + make_interval(secs => ${gateSeconds}))`;

/** Call it when the messages before the gate have left and their answers are recorded: opens it, or says how long it stays closed. */
export function passGate(database: Database, campaignId: string): Promise<GateState> {
  return database.transaction(async (transaction) => {
    await lockCounter(transaction, campaignId);
    const gate = await transaction.maybeOne(sql.type(Gate)`
      UPDATE campaign_brake SET gate_since = CASE WHEN ${gateLeft} <= 0 THEN coalesce(gate_since, now()) END
      FROM campaign_counter
      WHERE campaign_brake.campaign_id = ${campaignId} AND campaign_counter.campaign_id = ${campaignId} AND gate_size IS NOT NULL
      RETURNING counts, evidence IS NOT NULL AS is_decided, gate_is_probe AS is_probe, ${isGatePassed} AS is_passed, ${gateLeft} AS left,
        coalesce(extract(epoch FROM ${gateOpensAt} - now()), 0)::float8 * 1000 AS wait_ms`);
    if (gate === null) return { kind: 'open', left: null };
    if (gate.left > 0) return { kind: 'open', left: gate.left };
    if (gate.is_decided) return { kind: 'braked' };
    if (!gate.is_passed && gate.wait_ms > 0) return { kind: 'closed', waitMs: Math.ceil(gate.wait_ms) };
    const evidence = gate.is_probe ? judgeProbe(countsOf(gate.counts)) : undefined;
    await transaction.query(sql.type(nothing)`
      UPDATE campaign_brake SET gate_size = NULL, evidence = ${evidence === undefined ? null : JSON.stringify(evidence)}::jsonb
      WHERE campaign_id = ${campaignId}`);
    return evidence === undefined ? { kind: 'open', left: null } : { kind: 'braked' };
  });
}

export const isBraked = sql.fragment`(campaign_brake.evidence IS NOT NULL)`;
