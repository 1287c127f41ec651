/**
 * Claiming a batch: before any request leaves, one statement checks the epoch, takes the tokens, reserves the money and marks
 * the recipients CLAIMED. A CLAIMED recipient is never sent to again: if the process dies, it becomes UNKNOWN.
 */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { isLockHeld } from '../database/failure.ts';
import { row } from '../database/row.ts';
import type { MessageFields } from '../contacts/message-fields.ts';
import type { ChangedContacts } from './changed-contacts.ts';
import type { ClaimRequest } from './claim-request.ts';
import { claimStatement, type Columns } from './claim-statement.ts';
import { lockQuota, type RemainingQuota } from './messaging-limit.ts';

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
  /** The last answers of the provider on this channel were failures. */
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
    /** No recipient can be claimed until the first retry is due in `waitMs`; null: none is left. */
    | { readonly kind: 'empty'; readonly waitMs: number | null }
  );

/** Claims up to `limit` recipients: those whose retry is due first, then the next ones by position. */
export async function claimBatch(connection: Connection, request: ClaimRequest): Promise<Claim> {
  try {
    if (request.limited !== true) return await claim(connection, request, null);
    return await connection.transaction(async (transaction) =>
      claim(transaction, request, await lockQuota(transaction, request.channelId, { isClaim: true })),
    );
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
