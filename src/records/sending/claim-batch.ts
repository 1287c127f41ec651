/**
 * Claiming a page: before any request leaves, one statement checks the epoch, leases the tokens, reserves the money and marks
 * the recipients. A crash after it leaves them CLAIMED, and CLAIMED is never sent again blindly.
 */
import { sql } from 'slonik';
import * as t from 'io-ts';
import type { Connection } from '../database/database.ts';
import { row } from '../database/row.ts';
import { claimStatement, type Columns } from './claim-statement.ts';
import { lockQuota, type Room } from './messaging-limit.ts';

export interface ClaimRequest extends TokenRequest {
  /** New for every call: outcomes are recorded under it. */
  readonly claimId: string;
  /** The send step that claims; tells whether it still holds its send slot. */
  readonly stepId: string;
  readonly campaignId: string;
  readonly channelId: string;
  /** A campaign whose epoch is another by now has been paused or cancelled since. */
  readonly epoch: number;
  readonly limit: number;
  /** Micro-units by recipient country; '' is every other country. */
  readonly prices: ReadonlyMap<string, bigint>;
  /** The business account has a messaging limit. */
  readonly limited?: boolean;
}

export interface TokenRequest {
  /** No tokens are leased that fall due later than so long from now. */
  readonly aheadMs: number;
  /** Epoch milliseconds on Postgres' clock: what the step has leased before leaves until then. */
  readonly notBefore: number;
  /** Messages a second that the step can send, where the channel might more. */
  readonly perSecond: number;
  /** How long an answer may take: so long the one message that tries a held channel has it to itself. */
  readonly answerWithinMs: number;
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
}

/** Instants are epoch milliseconds on Postgres' clock. */
export interface Tokens {
  /** When the first message may leave. */
  readonly dueAt: number;
  /** Between one message and the next. */
  readonly spacingMs: number;
  /** When the claim was made. */
  readonly now: number;
  /** This one message tries whether the trouble of a held channel is over. */
  readonly isProbe: boolean;
}

/** What a claim has seen of the channel. */
interface Seen {
  /** Troubled answers stand against the channel. */
  readonly isFailing: boolean;
  /** Another campaign waits for its turn. */
  readonly othersWait: boolean;
  /** Another step has taken over. */
  readonly slotLost: boolean;
}

export type Claim = Seen &
  (
    | (Tokens & {
        readonly kind: 'batch';
        readonly recipients: readonly ClaimedRecipient[];
        /** How many are left to be claimed after it. */
        readonly pending: number;
      })
    /** The campaign is not what it was: paused, cancelled, started again. */
    | { readonly kind: 'stale_epoch' }
    /** No token falls due for so long. */
    | { readonly kind: 'rate_limited'; readonly dueInMs: number }
    /** The wallet does not cover the next message with the micro-units that are `available`. */
    | { readonly kind: 'unaffordable'; readonly available: bigint }
    /** The messaging limit has no room for the next person until `moreInMs` from now. */
    | { readonly kind: 'quota'; readonly moreInMs: number }
    /** Nobody can be claimed now. `retryInMs`: until the first delayed recipient is due, null when there is none. */
    | { readonly kind: 'empty'; readonly retryInMs: number | null }
  );

/** At most `limit` recipients: first those whose retry is due, then the next ones behind `claimed_position`. */
export function claimBatch(connection: Connection, request: ClaimRequest): Promise<Claim> {
  if (request.limited !== true) return claim(connection, request, null);
  return connection.transaction(async (transaction) =>
    claim(transaction, request, await lockQuota(transaction, request.channelId)),
  );
}

async function claim(connection: Connection, request: ClaimRequest, room: Room | null): Promise<Claim> {
  const page = await connection.maybeOne(claimStatement(request, room));
  if (page === null) return { kind: 'stale_epoch', isFailing: false, othersWait: false, slotLost: false };
  const seen = { isFailing: page.is_failing, othersWait: page.others_wait, slotLost: page.slot_lost };
  const { granted, recipients, skipped, due_at: dueAt, spacing_ms: spacingMs, now, held: isProbe } = page;
  if (recipients !== null) {
    const claimed = { recipients: recipientsOf(request.claimId, recipients), pending: page.pending ?? 0 };
    return { ...seen, kind: 'batch', ...claimed, dueAt, spacingMs, now, isProbe };
  }
  if (granted === 0) return { ...seen, kind: 'rate_limited', dueInMs: dueAt - now };
  if (page.outside_room && room !== null) return { ...seen, kind: 'quota', moreInMs: room.moreInMs };
  if (page.candidates > 0 && skipped === 0)
    return { ...seen, kind: 'unaffordable', available: page.available };
  return { ...seen, kind: 'empty', retryInMs: page.more || skipped > 0 ? 0 : page.retry_in_ms };
}

function recipientsOf(claimId: string, columns: t.TypeOf<typeof Columns>): readonly ClaimedRecipient[] {
  const { id, to, country, variables, attempts } = columns;
  return columns.position.map((position, at) => ({
    claimId,
    position,
    id: id[at] ?? '',
    to: to[at] ?? '',
    country: country[at] ?? '',
    variables: variables[at] ?? null,
    attempts: attempts[at] ?? 1,
  }));
}

const Count = row(t.type({ open: t.number }));

/** Open claims of every campaign that is paid from the wallet of the channel. */
export async function countOpenClaims(connection: Connection, channelId: string): Promise<number> {
  const { open } = await connection.one(sql.type(Count)`
    SELECT count(*)::int AS open FROM campaign_claim
    WHERE campaign_id IN (SELECT id FROM campaign WHERE channel_id = ${channelId})`);
  return open;
}
