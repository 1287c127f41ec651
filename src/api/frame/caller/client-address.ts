/** Finds the client address of a request. X-Forwarded-For counts only where a trusted proxy wrote it. */
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
 * Each trusted proxy appends the address it was called from to X-Forwarded-For. The header of any other peer is ignored, and
 * `onStranger` is called once: behind a proxy that is not configured, all clients share the limits of that proxy.
 */
export function createAddressReader(
  trusted: readonly string[],
  onStranger: (address: string) => void = () => undefined,
): AddressReader {
  const isProxy = createProxyTest(trusted);
  let hasReported = false;
  return ({ socket, headers }) => {
    let caller = withoutMapping(socket.remoteAddress ?? '');
    if (!hasReported && headers['x-forwarded-for'] !== undefined && !isProxy(caller)) {
      hasReported = true;
      onStranger(caller);
    }
    const forwarded = [headers['x-forwarded-for'] ?? ''].flat().join(',').split(',');
    // Reads from the nearest hop outwards: the first untrusted address may have forged the entries before it.
    for (const hop of forwarded.toReversed().map((text) => withoutMapping(text.trim()))) {
      if (!isProxy(caller) || parseAddress(hop) === undefined) break;
      caller = hop;
    }
    return caller;
  };
}

/** The key of a rate limit: an IPv4 address, or the /64 network of an IPv6 address, which one customer usually gets whole. */
export function limitedParty(address: string): string {
  const bare = withoutMapping(address);
  const parsed = parseAddress(bare);
  return parsed?.family === 6 ? `${(parsed.value >> 64n).toString(16)}::/64` : bare;
}

/** Converts an IPv4 address that a dual-stack socket shows as IPv6 (`::ffff:192.0.2.1`) to plain IPv4. */
function withoutMapping(address: string): string {
  return address.toLowerCase().startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}
