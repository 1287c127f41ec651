/**
 * X-API-Key → principal (Spec 5). An unknown key id and a wrong secret are rejected with the same message after the same HMAC,
 * so that neither shows which of them it was.
 */
import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Config } from '../../../config.ts';
import {
  hashSecret,
  looksLikeJwt,
  parseApiKey,
  pepperId,
  type Principal,
} from '../../../domain/workspaces/api-key.ts';
import { Unauthorized } from '../../../domain/error.ts';
import type { Logger } from '../../../telemetry/logger.ts';
import {
  findApiKeys,
  replaceKeyHash,
  touchApiKey,
  type ApiKey,
} from '../../../records/workspaces/api-keys.ts';
import type { Database } from '../../../records/database/database.ts';
import { groupCalls } from '../../../concurrency/group-calls.ts';
import type { Declaration } from '../endpoint.ts';
import type { RateLimiter } from './rate-limit.ts';
import { valuesOf } from '../state.ts';

/** `party`: the holder of the rate limit that a rejection counts against. */
export type Authenticator = (
  request: IncomingMessage,
  party: string,
  declaration: Pick<Declaration, 'access' | 'apiKeyOnly'>,
) => Promise<Principal>;

interface AuthenticatorOptions {
  readonly config: Pick<Config, 'keyPeppers'>;
  readonly database: Database;
  readonly logger: Logger;
  readonly now: () => Date;
  /** Takes a token of the party for a rejected credential; ahead for a lookup of a new key, which gets it back if it is valid. */
  readonly refusals: RateLimiter;
}

interface CachedKey {
  readonly key: Promise<ApiKey | undefined>;
  readonly staleAtMs: number;
}

// 4 s: a revocation takes effect within five seconds, of which one is left for the lookup.
const cacheMs = 4_000;
const mostCached = 10_000;
const mostFamiliar = 100_000;
const touchEveryMs = 5 * 60_000;
// Lookups run one at a time, so that a flood of unknown keys uses one connection.
const lookUps = { maxSize: 100, lanes: 1 };
const jwtRefusal = 'This endpoint is restricted to API key usage only';

export function createAuthenticator({
  config,
  database,
  logger,
  now,
  refusals,
}: AuthenticatorOptions): Authenticator {
  const peppers = new Map(config.keyPeppers.map((pepper) => [pepperId(pepper), pepper]));
  const [currentPepper = ''] = config.keyPeppers;
  const cache = new Map<string, CachedKey>();
  const touched = new Map<string, number>();
  const renewing = new Set<string>();
  // SHA-256 of the verified secret of each cached key: later requests need no HMAC.
  const proven = new WeakMap<ApiKey, Buffer>();

  // Ids of keys that were valid once: they need no refusal token, so a flood of invalid keys from the same address cannot lock them out.
  const familiar = new Set<string>();

  const find = groupCalls<string, ApiKey | undefined>(async (keyIds) => {
    const found = new Map((await findApiKeys(database, keyIds)).map((key) => [key.keyId, key]));
    return keyIds.map((keyId) => found.get(keyId));
  }, lookUps);

  const lookUp = (keyId: string, pay: () => void): Promise<ApiKey | undefined> => {
    const nowMs = now().getTime();
    const cached = cache.get(keyId);
    // An expiry beyond the maximum TTL means that the clock was set back: treat the entry as expired.
    if (cached !== undefined && cached.staleAtMs > nowMs && cached.staleAtMs <= nowMs + cacheMs)
      return cached.key;
    if (!familiar.has(keyId)) pay();
    const key = find(keyId);
    if (cache.size >= mostCached) cache.clear();
    cache.set(keyId, { key, staleAtMs: nowMs + cacheMs });
    // Failures and unknown keys are not cached: a new key works at once.
    const forget = () => {
      if (cache.get(keyId)?.key === key) cache.delete(keyId);
    };
    key.then((found) => {
      if (found !== undefined) return;
      forget();
      familiar.delete(keyId);
    }, forget);
    return key;
  };

  const noteUse = ({ keyId, lastUsedAt }: ApiKey): void => {
    const nowMs = now().getTime();
    const last = Math.max(lastUsedAt?.getTime() ?? 0, touched.get(keyId) ?? 0);
    if (nowMs - last < touchEveryMs) return;
    if (touched.size >= mostCached) touched.clear();
    touched.set(keyId, nowMs);
    touchApiKey(database, keyId).catch((error: unknown) => {
      logger.warn(
        { keyId, reason: error instanceof Error ? error.message : 'unknown' },
        'last use of a key not recorded',
      );
    });
  };

  /**
   * Rehashes the secret under the present pepper, which is possible only while a caller presents it. A failure is repeated
   * at the next use.
   */
  const renewHash = ({ keyId }: ApiKey, secret: string): void => {
    if (renewing.has(keyId)) return;
    renewing.add(keyId);
    const renewed = {
      keyId,
      secretHash: hashSecret(secret, currentPepper),
      pepperId: pepperId(currentPepper),
    };
    replaceKeyHash(database, renewed).then(
      () => {
        cache.delete(keyId);
        renewing.delete(keyId);
      },
      () => renewing.delete(keyId),
    );
  };

  /** Does the same work when there is no such key. */
  const isProof = (secret: string, key: ApiKey | undefined): key is ApiKey => {
    const given = hash('sha256', secret, 'buffer');
    const known = key === undefined ? undefined : proven.get(key);
    if (timingSafeEqual(given, known ?? Buffer.alloc(given.length))) return true;
    const pepper = key === undefined ? currentPepper : peppers.get(key.pepperId);
    const digest = hashSecret(secret, pepper ?? currentPepper);
    const matches = timingSafeEqual(digest, key?.secretHash ?? Buffer.alloc(digest.length));
    if (!matches || pepper === undefined || key === undefined) return false;
    if (pepper !== currentPepper) renewHash(key, secret);
    proven.set(key, given);
    return true;
  };

  return async (request, party, { access, apiKeyOnly }) => {
    let paid = 0;
    const pay = () => {
      if (paid === 0) refusals.take(party);
      paid = 1;
    };
    const credentials = credentialsOf(request);
    const [credential] = credentials.apiKeys;
    const parts =
      credential === undefined || credentials.apiKeys.length > 1 ? undefined : parseApiKey(credential);
    const key = parts === undefined ? undefined : await lookUp(parts.keyId, pay);
    if (parts === undefined || !isProof(parts.secret, key)) {
      pay();
      const given = [...credentials.apiKeys, ...credentials.bearer];
      throw apiKeyOnly && given.some(looksLikeJwt)
        ? new Unauthorized(jwtRefusal, 'jwt_not_allowed')
        : new Unauthorized();
    }
    if (paid > 0) refusals.charge(party, -paid);
    if (familiar.size >= mostFamiliar) familiar.clear();
    familiar.add(key.keyId);
    if (access === 'operator' && key.scope !== 'operator') throw new Unauthorized();
    if (access === 'channel' && key.scope === 'operator') throw new Unauthorized();
    noteUse(key);
    const { workspaceId, keyId, scope, channelId } = key;
    return { workspaceId, keyId, scope, channelId };
  };
}

function credentialsOf({ rawHeaders, headers }: IncomingMessage) {
  const apiKeys = valuesOf(rawHeaders, 'x-api-key');
  const bearer = /^bearer\s+(\S+)\s*$/i.exec(headers.authorization ?? '')?.[1];
  return { apiKeys, bearer: bearer === undefined ? [] : [bearer] };
}
