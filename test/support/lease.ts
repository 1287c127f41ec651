/** Claims recipients and returns the tokens that the claim got from the channel's schedule. There must be enough recipients. */
import { randomUUID } from 'node:crypto';
import { claimBatch, type Tokens } from '../../src/records/sending/claim-batch.ts';
import type { Connection } from '../../src/records/database/database.ts';
import { anyTokens, messagePrice, type SeededCampaign } from './campaign-factory.ts';

export interface Lease extends Tokens {
  readonly granted: number;
  readonly isFailing: boolean;
  /** Milliseconds until the first token that could not be taken falls due. */
  readonly dueInMs: number;
}

export async function lease(
  connection: Connection,
  seeded: SeededCampaign,
  { wanted = 50, aheadMs = 400 } = {},
): Promise<Lease> {
  const claim = await claimBatch(connection, {
    ...anyTokens,
    ...seeded,
    claimId: randomUUID(),
    epoch: 0,
    limit: wanted,
    prices: new Map([['', messagePrice]]),
    aheadMs,
  });
  if (claim.kind === 'batch') return { ...claim, granted: claim.recipients.length, dueInMs: 0 };
  if (claim.kind !== 'rate_limited') throw new Error(`The claim took no token: ${claim.kind}`);
  const { isFailing, waitMs } = claim;
  return { granted: 0, isFailing, dueInMs: waitMs, dueAt: 0, now: 0, spacingMs: 0, isProbe: false };
}
