/** Whom a request comes from, by address: what its own headers say counts only where a proxy of ours wrote it. */
import type { IncomingMessage } from 'node:http';
import { blockContains, parseAddress, parseBlock } from '../../../outbound/parse-address.ts';

export type AddressReader = (request: Pick<IncomingMessage, 'socket' | 'headers'>) => string;

/** Whether an address is one of our own proxies; `trusted`: their networks in CIDR form. */
export function createProxyTest(trusted: readonly string[]): (address: string) => boolean {
  const proxies = trusted.map(parseBlock).filter((block) => block !== undefined);
  return (text) => {
    const address = parseAddress(withoutMapping(text));
    return address !== undefined && proxies.some((block) => blockContains(block, address));
  };
}

/**
 * Each trusted proxy adds the address it was called from to X-Forwarded-For. `onStranger` is called for the first request
 * whose header comes from an address that is no trusted proxy: it is ignored, and behind a proxy nobody named all callers
 * share that proxy's limits.
 */
export function createAddressReader(
  trusted: readonly string[],
  onStranger: (address: string) => void = () => undefined,
): AddressReader {
  const isProxy = createProxyTest(trusted);
  let hasTold = false;
  return ({ socket, headers }) => {
    let caller = withoutMapping(socket.remoteAddress ?? '');
    if (!hasTold && headers['x-forwarded-for'] !== undefined && !isProxy(caller)) {
      hasTold = true;
      onStranger(caller);
    }
    const forwarded = [headers['x-forwarded-for'] ?? ''].flat().join(',').split(',');
    // From the nearest hop on: what stands before the first stranger is the stranger's own invention.
    for (const hop of forwarded.toReversed().map((text) => withoutMapping(text.trim()))) {
      if (!isProxy(caller) || parseAddress(hop) === undefined) break;
      caller = hop;
    }
    return caller;
  };
}

/** Whom a limit binds: an address, of IPv6 the whole network that one customer of a provider gets. */
export function limitedParty(address: string): string {
  const bare = withoutMapping(address);
  const parsed = parseAddress(bare);
  return parsed?.family === 6 ? `${(parsed.value >> 64n).toString(16)}::/64` : bare;
}

/** IPv4 as IPv4, also where the socket takes both families. */
function withoutMapping(address: string): string {
  return address.toLowerCase().startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}
