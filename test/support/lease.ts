/** What a claim gets of a channel's schedule; it claims people with it, of whom there must be enough. */
import { randomUUID } from 'node:crypto';
import { claimPage, type Tokens } from '../../src/records/sending/claims.ts';
import type { Connection } from '../../src/records/database/database.ts';
import { anyTokens, messagePrice, type SeededCampaign } from './campaign-factory.ts';

export interface Lease extends Tokens {
  readonly granted: number;
  readonly troubled: boolean;
  /** Until the first token that was not to be had falls due. */
  readonly dueInMs: number;
}

export async function lease(
  connection: Connection,
  seeded: SeededCampaign,
  { wanted = 50, aheadMs = 400 } = {},
): Promise<Lease> {
  const claim = await claimPage(connection, {
    ...anyTokens,
    ...seeded,
    claimId: randomUUID(),
    epoch: 0,
    limit: wanted,
    prices: new Map([['', messagePrice]]),
    aheadMs,
  });
  if (claim.kind === 'page') return { ...claim, granted: claim.recipients.length, dueInMs: 0 };
  if (claim.kind !== 'early') throw new Error(`Nobody is left to lease a token for: ${claim.kind}`);
  const { troubled, dueInMs } = claim;
  return { granted: 0, troubled, dueInMs, dueAt: 0, now: 0, spacingMs: 0, tries: false };
}
