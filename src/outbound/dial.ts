import net from 'node:net';
import tls from 'node:tls';
import type { OutboundPolicy } from './address-guard.ts';
import { dialableHost, isAddressAllowed, isLocalhost, localhostAddresses } from './address-guard.ts';
import { parseAddress } from './parse-address.ts';
import type { ResolveHost } from './resolver.ts';
import { Failure } from '../domain/error.ts';

/** Why a connection failed, as the error code of a delivery; `name_not_found` is a kind of `dns_error`. */
export type DialProblem =
  | 'blocked_address'
  | 'name_not_found'
  | 'dns_error'
  | 'dns_timeout'
  | 'connection_refused'
  | 'connection_reset'
  | 'tls_error'
  | 'timeout';

export class DialError extends Failure {
  readonly problem: DialProblem;
  constructor(problem: DialProblem, cause?: unknown) {
    super(`no connection: ${problem}`, { cause });
    this.problem = problem;
  }
}

export interface Dialer {
  readonly policy: OutboundPolicy;
  readonly resolve: ResolveHost;
  /** Certificate authorities in addition to those that Node trusts. Certificates are always verified. */
  readonly extraAuthorities?: readonly string[];
}

/** How long to try one of several addresses before trying the next one. */
const attemptTimeoutMs = 1000;

/** Resolves to the addresses of a host that may be dialled, all of them checked against the policy. */
async function vettedAddresses(dialer: Dialer, host: string): Promise<readonly string[]> {
  if (isLocalhost(host)) {
    const addresses = localhostAddresses(dialer.policy);
    if (addresses.length === 0) throw new DialError('blocked_address');
    return addresses;
  }
  if (parseAddress(host) !== undefined) {
    if (!isAddressAllowed(host, dialer.policy)) throw new DialError('blocked_address');
    return [host];
  }
  const answer = await dialer.resolve(host);
  if (!answer.ok) throw new DialError(answer.problem === 'not_found' ? 'name_not_found' : answer.problem);
  // Reject all addresses if one is forbidden: such a name is an attack or a mistake.
  const allAllowed = answer.addresses.every((address) => isAddressAllowed(address, dialer.policy));
  if (!allAllowed) throw new DialError('blocked_address');
  return answer.addresses;
}

function tcpProblem(error: unknown): DialProblem {
  const first = error instanceof AggregateError ? error.errors[0] : error;
  const code = (first as NodeJS.ErrnoException | undefined)?.code;
  if (code === 'ETIMEDOUT') return 'timeout';
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'connection_reset';
  return 'connection_refused';
}

function tlsProblem(error: unknown): DialProblem {
  return (error as NodeJS.ErrnoException).code === 'ECONNRESET' ? 'connection_reset' : 'tls_error';
}

interface Establishing {
  readonly socket: net.Socket;
  readonly event: 'connect' | 'secureConnect';
  readonly problemOf: (error: unknown) => DialProblem;
  readonly signal: AbortSignal;
}

/** Resolves when the socket emits `event`; otherwise destroys the socket and rejects with a DialError. */
function established({ socket, event, problemOf, signal }: Establishing): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (problem?: DialError): void => {
      socket.off(event, onReady).off('error', onError).off('close', onClose);
      signal.removeEventListener('abort', onAbort);
      if (problem === undefined) return resolve();
      // Ignore errors of a socket that is being closed.
      socket.on('error', () => undefined).destroy();
      reject(problem);
    };
    const onReady = (): void => settle();
    const onError = (error: unknown): void => settle(new DialError(problemOf(error), error));
    const onClose = (): void => settle(new DialError('connection_reset'));
    const onAbort = (): void => settle(new DialError('timeout'));
    socket.once(event, onReady).once('error', onError).once('close', onClose);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
}

function connectTo(addresses: readonly string[], host: string, port: number): net.Socket {
  return net.connect({
    host,
    port,
    noDelay: true,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: attemptTimeoutMs,
    // Returns the checked addresses, so that the name is not looked up again. Not called for a literal address.
    lookup: (_name, _options, callback) => {
      callback(
        null,
        addresses.map((address) => ({ address, family: net.isIP(address) })),
      );
    },
  });
}

/** Compares addresses by value, because the system may spell an address differently from the name server. */
function isOneOf(addresses: readonly string[], remote: string | undefined): boolean {
  const dialled = remote === undefined ? undefined : parseAddress(remote);
  return addresses.some((address) => {
    const vetted = parseAddress(address);
    return vetted?.family === dialled?.family && vetted?.value === dialled?.value;
  });
}

async function secured(
  socket: net.Socket,
  dialer: Dialer,
  host: string,
  signal: AbortSignal,
): Promise<net.Socket> {
  const secure = tls.connect({
    socket,
    // Certificates are checked against the host of the URL; SNI carries names only.
    host,
    ...(net.isIP(host) === 0 && { servername: host.replace(/\.$/, '') }),
    ALPNProtocols: ['http/1.1'],
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true,
    ...(dialer.extraAuthorities !== undefined && {
      ca: [...tls.rootCertificates, ...dialer.extraAuthorities],
    }),
  });
  await established({ socket: secure, event: 'secureConnect', problemOf: tlsProblem, signal });
  secure.on('error', () => undefined);
  return secure;
}

/**
 * Opens a new connection for one request, only to an address that has just been checked. Rejects with a DialError. The signal
 * aborts it at any stage.
 */
export async function dial(dialer: Dialer, url: URL, signal: AbortSignal): Promise<net.Socket> {
  const host = dialableHost(url);
  const addresses = await orAbort(vettedAddresses(dialer, host), signal);
  const isSecure = url.protocol === 'https:';
  const port = url.port === '' ? defaultPort(isSecure) : Number(url.port);
  const socket = connectTo(addresses, host, port);
  await established({ socket, event: 'connect', problemOf: tcpProblem, signal });
  if (!isOneOf(addresses, socket.remoteAddress)) {
    socket.destroy();
    throw new DialError(socket.remoteAddress === undefined ? 'connection_reset' : 'blocked_address');
  }
  // The caller adds its own listeners; an error after it has removed them must not end the process.
  socket.on('error', () => undefined);
  return isSecure ? secured(socket, dialer, host, signal) : socket;
}

const defaultPort = (isSecure: boolean): number => (isSecure ? 443 : 80);

/** Rejects when `signal` aborts, without waiting for `work`. */
function orAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(new DialError('timeout'));
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
