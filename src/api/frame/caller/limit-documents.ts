/** Charges documents that need no key to the client's address by their size, so that bulk downloads cannot starve other clients. */
import type { Middleware } from 'koa';
import type { FrameState } from '../state.ts';
import { limitedParty, type AddressReader } from './client-address.ts';
import { createRateLimiter } from './rate-limit.ts';

const pieceBytes = 64 * 1024;
/** 8 MiB a second, 32 MiB at once. */
const pieces = { perSecond: 128, burst: 512 };

export function limitDocuments(addressOf: AddressReader): Middleware<FrameState> {
  const limiter = createRateLimiter(pieces);
  return async (ctx, next) => {
    await next();
    if (ctx.state.principal !== undefined || !(ctx.length > pieceBytes)) return;
    const party = limitedParty(addressOf(ctx.req));
    limiter.take(party);
    limiter.charge(party, ctx.length / pieceBytes - 1);
  };
}
