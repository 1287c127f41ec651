/**
 * Claiming a batch: before any request leaves, one statement checks the epoch, takes the tokens, reserves the money and marks
 * the recipients CLAIMED. A CLAIMED recipient is never sent to again: if the process dies, it becomes UNKNOWN.
 *
 * The statement is a list of named CTEs. It locks wallet, counter and rate first, in the order of docs/architecture.md, so claims
 * of one channel run one after the other, and every later CTE sees the rows as they are once locked. The messaging limit and the
 * frequency cap count other rows, which the statement sees as they were when it began: their advisory locks are taken before it.
 */
import * as t from 'io-ts';
import { sql } from 'slonik';
import type { WorkspaceCap } from '../../domain/campaigns/frequency-cap.ts';
import { contactsByNumber, customFieldsNamed, MessageFields, messageFields } from '../contacts/contacts.ts';
import { isOverCap, lockCap } from '../contacts/frequency-cap.ts';
import { userIdOf } from '../contacts/user-ids.ts';
import type { Connection } from '../database/database.ts';
import { isLockHeld } from '../database/failure.ts';
import { claimPatience } from '../database/lock-patience.ts';
import { nullable, row } from '../database/row.ts';
import { priceIn } from '../wallet/wallets.ts';
import { openUntil, ratePerSecond, scheduledAt } from './channel-rate.ts';
import { countedPeople, lockQuota, personColumns, type RemainingQuota } from './messaging-limit.ts';

/** Present fields of changed contacts, by the position of their recipient. */
const ChangedContacts = t.record(t.string, MessageFields);
type ChangedContacts = Readonly<Partial<Record<string, MessageFields>>>;

/**
 * Current fields of `contact` if it may have changed after `locked.contacts_read_at`, else NULL. `updated_at` is the start of
 * the transaction that wrote it: one minute earlier includes changes that were committed late. The preparation's own contacts
 * are read again, too. A time of reading in the future means that the clock was set back: every contact may have changed then.
 */
const changedFields = (customFields: readonly string[] = []) => sql.fragment`CASE
  WHEN locked.contacts_read_at > now() OR contact.updated_at > locked.contacts_read_at - interval '1 minute'
  THEN ${messageFields(customFieldsNamed(customFields))} END`;

export interface ClaimRequest {
  /** New for every call: outcomes are recorded under it. */
  readonly claimId: string;
  /** The send step that claims; the claim returns whether it still holds its send slot. */
  readonly stepId: string;
  readonly campaignId: string;
  readonly channelId: string;
  /** Pausing, cancelling and starting raise the campaign's epoch; a claim under an older one gets nothing. */
  readonly epoch: number;
  /** Maximum number of recipients to claim. */
  readonly limit: number;
  /** Micro-units by recipient country; '' is every other country. */
  readonly prices: ReadonlyMap<string, bigint>;
  /** The template's category is MARKETING, which some people stopped and not the others; default true. */
  readonly isMarketing?: boolean;
  /** The business account has a messaging limit. */
  readonly limited?: boolean;
  /** The frequency cap that the messages have to keep; undefined if there is none. */
  readonly cap?: WorkspaceCap | undefined;
  /** The campaign's messages name contact fields: the claim returns contacts that changed after preparation. */
  readonly rendersAgain?: boolean;
  /** The custom fields that the messages name. */
  readonly customFields?: readonly string[];
  /** Look-ahead: no token is taken that falls due later than this from now. */
  readonly aheadMs: number;
  /** Epoch milliseconds on Postgres' clock: when the messages leave that the step has claimed before. */
  readonly notBefore: number;
  /** Messages a second that the step can send, if that is less than the channel's rate. */
  readonly perSecond: number;
  /** Time limit for the provider's response; until then no second probe of an open circuit is sent. */
  readonly answerWithinMs: number;
}

/** A claim scans at most 10,000 positions, so that a long run of skipped recipients does not slow it down. */
const maxScannedPositions = 10_000;
/** 15 ms: a message sent this late counts as on time; the response to the claim takes part of that time. */
const startsLateMs = 15;
/** 500 ms: consent is read as of the statement's begin, so a claim that waited longer for its locks takes nothing. */
const maxLockWaitMs = 500;

const seconds = (ms: number) => sql.fragment`make_interval(secs => ${ms / 1_000}::float8)`;

// Returned as one array per column: field names repeated for every recipient would double the size of the result.
const Columns = t.type({
  position: t.array(t.number),
  id: t.array(t.string),
  to: t.array(t.string),
  country: t.array(t.string),
  variables: t.array(nullable(t.array(t.string))),
  attempts: t.array(t.number),
});

const ClaimRow = row(
  t.type({
    kind: t.keyof({
      batch: null,
      rate_limited: null,
      quota: null,
      unaffordable: null,
      max_cost: null,
      empty: null,
    }),
    /** Instants are epoch milliseconds on Postgres' clock. */
    now: t.number,
    due_at: t.number,
    spacing_ms: t.number,
    is_probe: t.boolean,
    is_failing: t.boolean,
    others_wait: t.boolean,
    slot_lost: t.boolean,
    available: t.bigint,
    budget: nullable(t.bigint),
    pending: nullable(t.number),
    /** 0: more positions are to be scanned at once. NULL: no recipient is left. */
    retry_in_ms: nullable(t.number),
    recipients: nullable(Columns),
    changed_contacts: nullable(ChangedContacts),
  }),
);

/**
 * Micro-units that the campaign's `max_cost` leaves; NULL without one. A message without an outcome counts with the highest price:
 * the sum of the reservations is not kept for each campaign. For a row of `campaign` joined with its counter.
 */
export const budgetOf = (prices: ReadonlyMap<string, bigint>) => sql.fragment`
  (campaign.max_cost - campaign_counter.charged - (campaign_counter.claimed + campaign_counter.unknown) *
    ${[...prices.values()].reduce((most, price) => (price > most ? price : most), 0n)}::bigint)`;

const Spending = row(t.type({ budget: nullable(t.bigint), claimed: t.number }));

/** Locks the counter. `claimed`: messages whose outcome may still give money back. */
export async function lockBudget(
  transaction: Connection,
  campaignId: string,
  prices: ReadonlyMap<string, bigint>,
): Promise<{ readonly budget: bigint | null; readonly claimed: number }> {
  return transaction.one(sql.type(Spending)`
    SELECT ${budgetOf(prices)} AS budget, claimed FROM campaign JOIN campaign_counter ON campaign_counter.campaign_id = campaign.id
    WHERE campaign.id = ${campaignId} FOR NO KEY UPDATE OF campaign_counter`);
}

/**
 * Locks wallet, counter and rate. KEY SHARE on the campaign reads its newest version without making a pause wait; no row
 * comes back if the campaign is no longer RUNNING under this epoch, the channel is blocked, or the claim does not know of its
 * messaging limit.
 */
const locked = (
  { campaignId, channelId, epoch, perSecond, notBefore, prices }: ClaimRequest,
  quota: RemainingQuota | null,
) => sql.fragment`
  patience AS MATERIALIZED (SELECT ${claimPatience} AS patience), books AS MATERIALIZED (
    SELECT campaign.workspace_id, contacts_read_at, claimed_position, total_contacts + total_contacts_skipped AS last_position,
      claimed_position + ${maxScannedPositions}::int AS scanned_up_to, wallet.balance, wallet.reserved,
      wallet.balance - wallet.reserved AS available, ${budgetOf(prices)} AS budget,
      times_opened > 0 AS is_open, failure_count > 0 AS is_failing, least(${ratePerSecond}, ${perSecond}::float8) AS rate,
      greatest(${scheduledAt}, to_timestamp(${notBefore / 1_000}::float8), CASE WHEN times_opened > 0 THEN ${openUntil} END) AS free_at
    FROM campaign JOIN campaign_counter ON campaign_counter.campaign_id = campaign.id
    JOIN wallet USING (channel_id) JOIN channel_rate USING (channel_id) JOIN channel ON channel.id = channel_id
    CROSS JOIN patience
    WHERE campaign.id = ${campaignId} AND channel_id = ${channelId} AND campaign.status = 'RUNNING' AND epoch = ${epoch}
    FOR UPDATE OF wallet FOR UPDATE OF campaign_counter FOR UPDATE OF channel_rate FOR KEY SHARE OF campaign
  ), locked AS MATERIALIZED (
    SELECT books.* FROM books CROSS JOIN LATERAL present_channel(${channelId}) AS present
    WHERE present.active AND (${quota !== null} OR NOT present.limited)
  )`;

/**
 * How many tokens the schedule grants, and when the first falls due: none beyond the look-ahead or after a long wait for the
 * locks, one while the circuit is open, because that message is the probe.
 */
const lease = ({ aheadMs, limit }: ClaimRequest) => sql.fragment`
  lease AS MATERIALIZED (
    SELECT now, due_at,
      CASE WHEN due_at > now + ${seconds(aheadMs)} OR now > statement_timestamp() + ${seconds(maxLockWaitMs)} THEN 0
        WHEN is_open THEN 1 ELSE ${limit}::int END AS granted
    FROM (SELECT is_open, clock_timestamp() AS now,
      greatest(free_at, clock_timestamp() - ${seconds(startsLateMs)}) AS due_at FROM locked) AS due
  )`;

/**
 * Recipients whose retry is due, while the circuit is open or while it is not. Locking a retry leaves out those that an earlier
 * claim deleted after this statement's snapshot. OFFSET 0 keeps each lookup by key: without statistics a join would read the
 * whole campaign.
 */
const dueRetries = ({ campaignId, limit }: ClaimRequest, isOpen: boolean) => sql.fragment`
  (SELECT * FROM (
    SELECT due.position, due.country, due.contact_id, due.phone_number
    FROM recipient_retry CROSS JOIN LATERAL (
      SELECT position, country, contact_id, phone_number FROM recipient
      WHERE campaign_id = recipient_retry.campaign_id AND position = recipient_retry.position AND state = 'PENDING' OFFSET 0
    ) AS due
    WHERE recipient_retry.campaign_id = ${campaignId} AND recipient_retry.not_before <= now()
      AND (SELECT is_open FROM locked) = ${isOpen}
    ORDER BY recipient_retry.not_before LIMIT ${limit} FOR UPDATE OF recipient_retry
  ) AS retries)`;

/**
 * Recipients that may be claimed: those whose retry is due, then those after `claimed_position`. A probe goes to somebody new
 * first: recipients that always fail would otherwise keep the circuit open.
 */
const waitingRecipients = (request: ClaimRequest) => sql.fragment`
  ${dueRetries(request, false)}
  UNION ALL
  (SELECT recipient.position, recipient.country, recipient.contact_id, recipient.phone_number FROM recipient
    WHERE recipient.campaign_id = ${request.campaignId} AND recipient.state = 'PENDING'
      AND recipient.position > (SELECT claimed_position FROM locked)
      AND recipient.position <= (SELECT scanned_up_to FROM locked)
    ORDER BY recipient.position LIMIT ${request.limit})
  UNION ALL
  ${dueRetries(request, true)}`;

/**
 * The recipient's contact as it is now. `obstacle`: why the recipient is skipped although it was prepared, because the contact
 * was deleted or opted out since, or gave its number up and the next owner of the number opted out, or another contact of the same
 * person opted out, or the frequency cap is reached; opt-outs that wait for a locked contact count. One that was restored or opted
 * in again is sent to. `changed`: its fields, if it changed. OFFSET 0 keeps one lookup each: without statistics a join would read all
 * contacts. The owners are a scalar subquery for the same reason.
 */
const contactNow = ({ rendersAgain, customFields, isMarketing = true, cap }: ClaimRequest) => {
  const mayReceive = isMarketing
    ? sql.fragment`contact.subscribed`
    : sql.fragment`(contact.subscribed OR contact.consent <> 'none')`;
  const overCap =
    cap === undefined
      ? sql.fragment``
      : sql.fragment` WHEN ${isOverCap(cap, sql.fragment`waiting.contact_id`)} THEN 'FREQUENCY_CAP'`;
  const stopCounts = isMarketing ? sql.fragment`true` : sql.fragment`NOT stop.marketing_only`;
  // Of the innermost table `contact`.
  const isStopped = sql.fragment`(NOT ${mayReceive} OR EXISTS (
      SELECT FROM waiting_opt_out AS stop
      WHERE stop.workspace_id = contact.workspace_id AND stop.contact_id = contact.id AND ${stopCounts}))`;
  return sql.fragment`
  SELECT CASE WHEN contact.deleted_at IS NOT NULL THEN 'CONTACT_DELETED' WHEN ${isStopped}
      OR CASE WHEN contact.phone_number IS DISTINCT FROM waiting.phone_number OR number_identity(waiting.phone_number) IS NOT NULL
        THEN COALESCE((SELECT bool_or(${isStopped})
          FROM ${contactsByNumber(sql.fragment`locked.workspace_id`, sql.fragment`number_forms(waiting.phone_number)`)}), false)
        ELSE false END
    THEN 'UNSUBSCRIBED'${overCap} END AS obstacle,
    ${rendersAgain === true ? changedFields(customFields) : sql.fragment`NULL::jsonb`} AS changed
  FROM contact WHERE contact.workspace_id = locked.workspace_id AND contact.id = waiting.contact_id OFFSET 0`;
};

/** Takes as many waiting recipients as there are tokens, and adds price, obstacle and use of the messaging limit to each. */
const candidates = (request: ClaimRequest, quota: RemainingQuota | null) => {
  const person = {
    phoneNumber: sql.fragment`waiting.phone_number`,
    contactId: sql.fragment`waiting.contact_id`,
  };
  const known =
    quota === null
      ? sql.fragment`SELECT 0::bigint AS person, false AS outside, false AS newcomer`
      : personColumns({ ...person, accountId: quota.accountId, channelId: request.channelId });
  return sql.fragment`
  candidate AS MATERIALIZED (
    SELECT position, country, ${priceIn(request.prices, sql.fragment`country`)} AS price, obstacle, changed, person, outside, newcomer
    FROM (${waitingRecipients(request)}) AS waiting CROSS JOIN locked CROSS JOIN LATERAL (${known}) AS known
    LEFT JOIN LATERAL (${contactNow(request)}) AS contact_now ON true
    LIMIT (SELECT granted FROM lease)
  )`;
};

/** Keeps the candidates before the first one that the wallet or the messaging limit does not cover. */
const affordable = ({ limit }: ClaimRequest, quota: RemainingQuota | null) => sql.fragment`
  affordable AS MATERIALIZED (
    SELECT position, obstacle FROM (
      SELECT position, obstacle, sum(CASE WHEN obstacle IS NULL THEN price ELSE 0 END) OVER so_far AS total,
        count(*) FILTER (WHERE obstacle IS NULL AND newcomer) OVER so_far AS newcomers FROM candidate
      WINDOW so_far AS (ORDER BY position ROWS UNBOUNDED PRECEDING)
    ) AS running_total WHERE total <= (SELECT least(available, budget) FROM locked) AND newcomers <= ${quota?.people ?? limit}
  )`;

const address = sql.fragment`CASE WHEN phone_number IS NULL
  THEN ${userIdOf(sql.fragment`(SELECT workspace_id FROM locked)`, sql.fragment`recipient.contact_id`)} ELSE phone_number END`;

/**
 * PENDING → CLAIMED with the price reserved, and PENDING → SKIPPED for those with an obstacle. Positions are compared with an
 * array: without statistics a join would compare the batch with every recipient of the campaign.
 */
const claimed = (request: ClaimRequest) => sql.fragment`
  claimed AS (
    UPDATE recipient SET state = 'CLAIMED', claim_id = ${request.claimId}, price = ${priceIn(request.prices, sql.fragment`country`)},
      settlement = 'reserved', attempts = attempts + 1, updated_at = now()
    WHERE campaign_id = ${request.campaignId} AND position = ANY(ARRAY(SELECT position FROM affordable WHERE obstacle IS NULL))
      AND state = 'PENDING'
    RETURNING position, id, ${address} AS "to", country, variables, attempts, price
  ), obstacles AS MATERIALIZED (
    SELECT jsonb_object_agg(position, obstacle) AS by_position FROM affordable WHERE obstacle IS NOT NULL
  ), skipped AS (
    UPDATE recipient SET state = 'SKIPPED', sendable = false, reason = obstacles.by_position ->> position::text, updated_at = now()
    FROM obstacles
    WHERE campaign_id = ${request.campaignId} AND position = ANY(ARRAY(SELECT position FROM affordable WHERE obstacle IS NOT NULL))
      AND state = 'PENDING'
    RETURNING reason
  ), retried AS (
    DELETE FROM recipient_retry
    WHERE campaign_id = ${request.campaignId} AND position = ANY(ARRAY(SELECT position FROM affordable))
  )`;

/**
 * The changes of the books, in the lock order: wallet, counter, reasons, rate; and the row of the open claim, without which a
 * crash would leave the batch CLAIMED for ever. They add up: pending falls by what claimed and skipped rise, reserved rises by the prices.
 */
const changes = ({ campaignId, channelId, claimId, epoch, answerWithinMs }: ClaimRequest) => sql.fragment`
  total AS (
    SELECT count(*)::int AS size, min(position) AS first_position, max(position) AS last_position,
      sum(price)::bigint AS price, (SELECT count(*) FROM skipped)::int AS skipped FROM claimed
  ), reserved AS (
    -- Sets balance as well: Postgres first checks the constraints on a row made from this statement's older snapshot.
    UPDATE wallet SET balance = locked.balance, reserved = locked.reserved + total.price, updated_at = now()
    FROM total CROSS JOIN locked WHERE total.size > 0 AND wallet.channel_id = ${channelId}
  ), reached AS (
    -- With tokens left over, every position that was scanned is done; otherwise the last one that was claimed or skipped.
    SELECT CASE
      WHEN (SELECT count(*) FROM candidate) < granted AND (SELECT count(*) FROM affordable) = (SELECT count(*) FROM candidate)
        -- A probe takes a retry only after it found nobody new.
        OR is_open AND (SELECT max(position) FROM affordable) <= claimed_position
      THEN least(scanned_up_to, last_position) ELSE (SELECT max(position) FROM affordable) END AS position
    FROM locked CROSS JOIN lease
  ), counted AS (
    UPDATE campaign_counter SET claimed_position = greatest(claimed_position, reached.position),
      pending = pending - total.size - total.skipped, claimed = claimed + total.size, skipped = campaign_counter.skipped + total.skipped
    FROM total CROSS JOIN reached
    WHERE campaign_id = ${campaignId} AND (total.size + total.skipped > 0 OR reached.position > claimed_position)
    RETURNING pending
  ), explained AS (
    INSERT INTO campaign_reason (campaign_id, kind, reason, count)
    SELECT ${campaignId}, 'skipped', reason, count(*) FROM skipped GROUP BY reason ORDER BY reason
    ON CONFLICT (campaign_id, kind, reason) DO UPDATE SET count = campaign_reason.count + excluded.count
  ), scheduled AS (
    UPDATE channel_rate SET next_at = due_at + make_interval(secs => size / rate),
      probed_at = CASE WHEN is_open THEN now ELSE probed_at END,
      open_until = CASE WHEN is_open THEN now + ${seconds(answerWithinMs)} ELSE open_until END
    FROM locked CROSS JOIN lease CROSS JOIN total WHERE channel_rate.channel_id = ${channelId} AND size > 0
  ), opened AS (
    INSERT INTO campaign_claim (id, campaign_id, epoch, open, first_position, last_position)
    SELECT ${claimId}, ${campaignId}, ${epoch}::int, size, first_position, last_position FROM total WHERE size > 0
  )`;

/**
 * The result of the claim: the first that holds, because each excludes those after it. A wallet that is empty comes before a
 * limit that is used up: the campaign is paused instead of waiting for a day.
 */
const claimKind = sql.fragment`CASE
  WHEN (SELECT size FROM total) > 0 THEN 'batch'
  WHEN granted = 0 THEN 'rate_limited'
  WHEN NOT EXISTS (SELECT FROM candidate) OR (SELECT skipped FROM total) > 0 THEN 'empty'
  WHEN (SELECT price FROM candidate ORDER BY position LIMIT 1) > available THEN 'unaffordable'
  WHEN (SELECT price FROM candidate ORDER BY position LIMIT 1) > budget THEN 'max_cost'
  ELSE 'quota' END`;

function claimStatement(request: ClaimRequest, quota: RemainingQuota | null) {
  const { campaignId, channelId, stepId } = request;
  const reached = sql.fragment`SELECT person FROM candidate WHERE outside AND position IN (SELECT position FROM claimed)`;
  const quotaUse =
    quota === null ? sql.fragment`` : sql.fragment`, ${countedPeople(quota.accountId, reached)}`;
  return sql.type(ClaimRow)`
    WITH ${locked(request, quota)}, ${lease(request)}, ${candidates(request, quota)}, ${affordable(request, quota)},
      ${claimed(request)}${quotaUse}, ${changes(request)}
    SELECT ${claimKind} AS kind, available, budget, is_open AS is_probe, is_failing, (1000 / rate)::float8 AS spacing_ms,
      extract(epoch FROM due_at)::float8 * 1000 AS due_at, extract(epoch FROM now)::float8 * 1000 AS now,
      EXISTS (SELECT FROM slot_queue WHERE channel_id = ${channelId} AND waiting AND campaign_id <> ${campaignId}) AS others_wait,
      NOT EXISTS (SELECT FROM send_slot WHERE channel_id = ${channelId} AND step_id = ${stepId}) AS slot_lost,
      (SELECT pending FROM counted) AS pending,
      CASE WHEN scanned_up_to < last_position OR (SELECT skipped FROM total) > 0 THEN 0
        ELSE (SELECT extract(epoch FROM min(not_before) - now())::float8 * 1000
          FROM recipient_retry WHERE campaign_id = ${campaignId}) END AS retry_in_ms,
      (SELECT json_build_object('position', array_agg(position), 'id', array_agg(id), 'to', array_agg("to"),
        'country', array_agg(country), 'variables', json_agg(variables), 'attempts', array_agg(attempts))
        FROM (SELECT * FROM claimed ORDER BY position) AS ordered HAVING count(*) > 0) AS recipients,
      (SELECT jsonb_object_agg(position, changed) FROM candidate WHERE changed IS NOT NULL) AS changed_contacts
    FROM locked CROSS JOIN lease`;
}

export interface ClaimedRecipient {
  readonly claimId: string;
  readonly position: number;
  readonly id: string;
  /** E.164 digits, or the provider's id of a person without a number. */
  readonly to: string;
  /** ISO 3166 alpha-2, or ''. */
  readonly country: string;
  readonly variables: readonly string[] | null;
  /** This attempt included. */
  readonly attempts: number;
  /** Set if the contact changed after preparation: its fields as they are now. */
  readonly changedContact?: MessageFields | undefined;
}

/** Instants are epoch milliseconds on Postgres' clock. */
export interface Tokens {
  /** When the first message may leave. */
  readonly dueAt: number;
  /** Between one message and the next. */
  readonly spacingMs: number;
  /** When the claim was made. */
  readonly now: number;
  /** The circuit is open, and this one message probes whether it may close. */
  readonly isProbe: boolean;
}

export interface ClaimedBatch extends Tokens {
  readonly kind: 'batch';
  readonly recipients: readonly ClaimedRecipient[];
  /** Recipients of the campaign that are PENDING after the claim. */
  readonly pending: number;
}

/** State of the channel and the send slot that every claim returns. */
interface ChannelView {
  /** The provider's latest responses on this channel were failures. */
  readonly isFailing: boolean;
  /** Another campaign waits for a send slot. */
  readonly othersWait: boolean;
  /** Another step has acquired the send slot. */
  readonly slotLost: boolean;
}

export type Claim = ChannelView &
  (
    | ClaimedBatch
    /** The campaign or its account changed since the step began: paused, cancelled, started again, blocked, or limited. */
    | { readonly kind: 'stale_epoch' }
    /** Another transaction keeps wallet, counter, rate or a recipient locked. */
    | { readonly kind: 'locked' }
    /** The next token falls due in `waitMs`, beyond the look-ahead; or at once, after a wait for locks. */
    | { readonly kind: 'rate_limited'; readonly waitMs: number }
    /** The messaging limit is used up; the next person can be messaged after `waitMs`. */
    | { readonly kind: 'quota'; readonly waitMs: number }
    /** The wallet does not cover the next message with the micro-units that are `available`. */
    | { readonly kind: 'unaffordable'; readonly available: bigint }
    /** The next message would cost more than the micro-units that `max_cost` leaves. */
    | { readonly kind: 'max_cost'; readonly budget: bigint }
    /** No recipient can be claimed until the first retry is due in `waitMs`; null: none is left. */
    | { readonly kind: 'empty'; readonly waitMs: number | null }
  );

/** Claims up to `limit` recipients: those whose retry is due first, then the next ones by position. */
export async function claimBatch(connection: Connection, request: ClaimRequest): Promise<Claim> {
  try {
    const { channelId, limited = false, cap } = request;
    if (!limited && cap === undefined) return await claim(connection, request, null);
    return await connection.transaction(async (transaction) => {
      if (cap !== undefined) await lockCap(transaction, cap);
      const quota = limited ? await lockQuota(transaction, channelId, { isClaim: true }) : null;
      return claim(transaction, request, quota);
    });
  } catch (error) {
    if (!isLockHeld(error)) throw error;
    return { kind: 'locked', ...noView };
  }
}

const noView: ChannelView = { isFailing: false, othersWait: false, slotLost: false };

async function claim(
  connection: Connection,
  request: ClaimRequest,
  quota: RemainingQuota | null,
): Promise<Claim> {
  const found = await connection.maybeOne(claimStatement(request, quota));
  if (found === null) return { kind: 'stale_epoch', ...noView };
  const { kind, now, due_at: dueAt, recipients: columns } = found;
  const view = { isFailing: found.is_failing, othersWait: found.others_wait, slotLost: found.slot_lost };
  switch (kind) {
    case 'batch': {
      const changed = found.changed_contacts ?? {};
      const recipients = columns === null ? [] : recipientsOf(request.claimId, columns, changed);
      const tokens = { now, dueAt, spacingMs: found.spacing_ms, isProbe: found.is_probe };
      return { ...view, ...tokens, kind, recipients, pending: found.pending ?? 0 };
    }
    case 'rate_limited':
      return { ...view, kind, waitMs: dueAt - now };
    case 'quota':
      return { ...view, kind, waitMs: quota?.moreInMs ?? 0 };
    case 'unaffordable':
      return { ...view, kind, available: found.available };
    case 'max_cost':
      return { ...view, kind, budget: found.budget ?? 0n };
    case 'empty':
      return { ...view, kind, waitMs: found.retry_in_ms };
  }
}

function recipientsOf(
  claimId: string,
  columns: t.TypeOf<typeof Columns>,
  changed: ChangedContacts,
): readonly ClaimedRecipient[] {
  const { id, to, country, variables, attempts } = columns;
  return columns.position.map((position, at) => ({
    claimId,
    position,
    id: id[at] ?? '',
    to: to[at] ?? '',
    country: country[at] ?? '',
    variables: variables[at] ?? null,
    attempts: attempts[at] ?? 1,
    changedContact: changed[position],
  }));
}

const Position = row(t.type({ position: t.number }));

/** Positions that are CLAIMED under a claim. OFFSET 0 keeps the lookup by range: without statistics a join reads the campaign. */
export const listClaimed = (
  connection: Connection,
  { campaignId, claimId }: Pick<ClaimRequest, 'campaignId' | 'claimId'>,
): Promise<readonly number[]> =>
  connection.anyFirst(sql.type(Position)`
    SELECT claimed.position FROM campaign_claim CROSS JOIN LATERAL (
      SELECT position FROM recipient
      WHERE campaign_id = ${campaignId} AND claim_id = campaign_claim.id AND state = 'CLAIMED'
        AND position BETWEEN campaign_claim.first_position AND campaign_claim.last_position
      ORDER BY position OFFSET 0
    ) AS claimed
    WHERE campaign_claim.id = ${claimId}`);

const Count = row(t.type({ open: t.number }));

/** Open claims of every campaign that is paid from the wallet of the channel. */
export async function countOpenClaims(connection: Connection, channelId: string): Promise<number> {
  const { open } = await connection.one(sql.type(Count)`
    SELECT count(*)::int AS open FROM campaign_claim
    WHERE campaign_id IN (SELECT id FROM campaign WHERE channel_id = ${channelId})`);
  return open;
}
