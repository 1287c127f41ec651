/** The cookie of the dashboard → principal. A session has the rights of its keys, which are looked up at every request. */
import type { Config } from '../../../config.ts';
import { Unauthorized } from '../../../domain/error.ts';
import { hashSessionSecret } from '../../../domain/workspaces/session-secret.ts';
import type { Database } from '../../../records/database/database.ts';
import { findSession, type OperatorSession } from '../../../records/workspaces/operator-sessions.ts';
import type { Authenticator } from './authenticate.ts';
import { HttpProblem } from '../http-problem.ts';

type Settings = Pick<Config, 'production' | 'host' | 'publicUrl'>;
type Header = (name: string) => string | undefined;

export interface SessionOptions {
  readonly config: Settings;
  readonly database: Database;
}

const loopback = /^(?:127\.\d+\.\d+\.\d+|::1|localhost)$/;
const isLocal = ({ production, host }: Settings): boolean => !production && loopback.test(host);

/** `__Host-` binds it to this host and to TLS; on the own machine there is none. */
const cookieName = (config: Settings): string => (isLocal(config) ? 'session' : '__Host-session');

/** The Set-Cookie header; an empty value takes the cookie back. */
export function sessionCookie(config: Settings, value: string): string {
  const secure = isLocal(config) ? '' : '; Secure';
  const end = value === '' ? '; Max-Age=0' : '';
  return `${cookieName(config)}=${value}; Path=/; HttpOnly; SameSite=Strict${secure}${end}`;
}

/**
 * Browsers say from where a request comes, and no page can change it: what another site made the browser send is refused,
 * whatever cookie it carries.
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

/** The hash of the session that the request carries; undefined where it carries none. */
export function sessionOf(config: Settings, header: Header): Buffer | undefined {
  const wanted = `${cookieName(config)}=`;
  const values = (header('cookie') ?? '')
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(wanted))
    .map((part) => part.slice(wanted.length));
  // Two of one name: somebody else has set one.
  const [value, ...others] = values;
  return value === undefined || others.length > 0 ? undefined : hashSessionSecret(value);
}

/** Throws Unauthorized. */
export async function requireSession(
  { config, database }: SessionOptions,
  header: Header,
): Promise<OperatorSession & { readonly idHash: Buffer }> {
  requireOwnOrigin(config, header);
  const idHash = sessionOf(config, header);
  const session = idHash === undefined ? undefined : await findSession(database, idHash);
  if (idHash === undefined || session === undefined) throw new Unauthorized();
  return { ...session, idHash };
}

export function createSessionAuthenticator(options: SessionOptions): Authenticator {
  return async (request, _party, { access }) => {
    const session = await requireSession(options, (name) => {
      const value = request.headers[name];
      return Array.isArray(value) ? value.join('; ') : value;
    });
    const { workspaceId, keyId, scope, channelId, operatorKeyId } = session;
    if (access === 'operator' && scope !== 'operator') {
      if (operatorKeyId === null) throw new Unauthorized();
      return { workspaceId, keyId: operatorKeyId, scope: 'operator', channelId: null };
    }
    if (access === 'channel' && scope === 'operator') throw new Unauthorized();
    return { workspaceId, keyId, scope, channelId };
  };
}
