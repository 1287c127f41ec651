/** The cookie of the dashboard → principal. A session has the rights of its keys, which are looked up at every request. */
import type { Config } from '../../../config.ts';
import { Unauthorized } from '../../../domain/error.ts';
import { hashSessionSecret } from '../../../domain/workspaces/api-key.ts';
import type { Database } from '../../../records/database/database.ts';
import {
  endSession,
  findSession,
  type OperatorSession,
} from '../../../records/workspaces/operator-sessions.ts';
import type { Authenticator } from './authenticate.ts';
import { HttpProblem } from '../error-envelope.ts';
import type { RateLimiter } from './rate-limit.ts';

type Settings = Pick<Config, 'production' | 'host' | 'publicUrl'>;
type Header = (name: string) => string | undefined;

export interface SessionOptions {
  readonly config: Settings;
  readonly database: Database;
  /** Rate limit of an address for credentials that are rejected or unknown to this process. */
  readonly refusals: RateLimiter;
}

const loopback = /^(?:127\.\d+\.\d+\.\d+|::1|localhost)$/;
const isLocal = ({ production, host }: Settings): boolean => !production && loopback.test(host);

/** The prefix `__Host-` binds the cookie to this host and to TLS; without TLS, on a developer's machine, it is left out. */
const cookieName = (config: Settings): string => (isLocal(config) ? 'session' : '__Host-session');

/** Returns the Set-Cookie header; an empty value deletes the cookie. */
export function sessionCookie(config: Settings, value: string): string {
  const secure = isLocal(config) ? '' : '; Secure';
  const end = value === '' ? '; Max-Age=0' : '';
  return `${cookieName(config)}=${value}; Path=/; HttpOnly; SameSite=Strict${secure}${end}`;
}

/**
 * Rejects requests that another site made the browser send, even with a valid cookie. Browsers name the origin of a request in a
 * header that pages cannot change.
 */
export function requireOwnOrigin({ publicUrl }: Settings, header: Header): void {
  const site = header('sec-fetch-site');
  if (site === 'same-origin') return;
  const origin = site === undefined ? header('origin') : undefined;
  const own = publicUrl === undefined ? [] : [new URL(publicUrl).origin];
  const host = header('host');
  if (host !== undefined) own.push(`http://${host}`, `https://${host}`);
  if (origin === undefined || !own.includes(origin)) {
    throw new HttpProblem(403, 'Only the page of this service may ask this');
  }
}

/** Returns the hash of the request's session secret; undefined without one. */
export function sessionOf(config: Settings, header: Header): Buffer | undefined {
  const wanted = `${cookieName(config)}=`;
  const values = (header('cookie') ?? '')
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(wanted))
    .map((part) => part.slice(wanted.length));
  // With two cookies of this name, another page has set one of them, so neither is used.
  const [value, ...others] = values;
  return value === undefined || others.length > 0 ? undefined : hashSessionSecret(value);
}

export type FoundSession = OperatorSession & { readonly idHash: Buffer };

export interface SessionGuard {
  /** Throws Unauthorized, and HttpProblem 429 for a party that has presented too many invalid cookies. */
  readonly require: (header: Header, party: string) => Promise<FoundSession>;
  /** Ends the session of the request, if it has one. */
  readonly end: (header: Header, party: string) => Promise<void>;
}

const mostFamiliar = 10_000;

/**
 * A cookie that this process has not yet seen valid costs its address a refusal token before Postgres is asked; a valid one
 * gets the token back. A flood of invented cookies thus neither reaches Postgres nor locks out signed-in users.
 */
export function createSessionGuard({ config, database, refusals }: SessionOptions): SessionGuard {
  const familiar = new Set<string>();

  const lookUp = async <T>(
    { idHash, party }: { readonly idHash: Buffer; readonly party: string },
    ask: () => Promise<T | undefined>,
  ): Promise<T | undefined> => {
    const name = idHash.toString('base64');
    const isFamiliar = familiar.has(name);
    if (!isFamiliar) refusals.take(party);
    const found = await ask();
    if (found === undefined) {
      familiar.delete(name);
      if (isFamiliar) refusals.take(party);
      return undefined;
    }
    if (!isFamiliar) refusals.charge(party, -1);
    if (familiar.size >= mostFamiliar) familiar.clear();
    familiar.add(name);
    return found;
  };

  return {
    async require(header, party) {
      requireOwnOrigin(config, header);
      const idHash = sessionOf(config, header);
      if (idHash === undefined) {
        refusals.take(party);
        throw new Unauthorized();
      }
      const keepsAlive = !isAutomatic(header);
      const session = await lookUp({ idHash, party }, () => findSession(database, { idHash, keepsAlive }));
      if (session === undefined) throw new Unauthorized();
      return { ...session, idHash };
    },
    async end(header, party) {
      requireOwnOrigin(config, header);
      const idHash = sessionOf(config, header);
      if (idHash === undefined) return;
      await lookUp({ idHash, party }, () => endSession(database, idHash));
      familiar.delete(idHash.toString('base64'));
    },
  };
}

/** Requests that an idle page repeats automatically do not extend its session. */
const isAutomatic = (header: Header): boolean =>
  header('x-automatic') !== undefined || header('accept')?.includes('text/event-stream') === true;

export function createSessionAuthenticator(guard: SessionGuard): Authenticator {
  return async (request, party, { access }) => {
    const session = await guard.require((name) => {
      const value = request.headers[name];
      return Array.isArray(value) ? value.join('; ') : value;
    }, party);
    const { workspaceId, keyId, scope, channelId, operatorKeyId } = session;
    if (access === 'operator' && scope !== 'operator') {
      if (operatorKeyId === null) throw new Unauthorized();
      return { workspaceId, keyId: operatorKeyId, scope: 'operator', channelId: null };
    }
    if (access === 'channel' && scope === 'operator') throw new Unauthorized();
    return { workspaceId, keyId, scope, channelId };
  };
}
