import type { AddressBlock } from './parse-address.ts';
import { parseBlock } from './parse-address.ts';

function blocks(texts: readonly string[]): readonly AddressBlock[] {
  return texts.map((text) => {
    const block = parseBlock(text);
    if (block === undefined) throw new Error(`not an address block: ${text}`);
    return block;
  });
}

/** IANA's IPv4 special-purpose registry, multicast and reserved space, and one cloud's internal server. */
export const refusedIpv4 = blocks([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  // Internal server of a cloud: its address looks public, but answers only inside that cloud.
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]);

/** The only IPv6 space that is assigned for global unicast; every address outside it is refused. */
export const globalIpv6 = blocks(['2000::/3']);

/** Special-purpose blocks inside 2000::/3 (IANA's IPv6 special-purpose registry). */
export const refusedIpv6 = blocks([
  // Protocol assignments: Teredo, benchmarking, ORCHID, drone identifiers, anycast services.
  '2001::/23',
  '2001:db8::/32',
  // 6to4: wraps an IPv4 address and is retired.
  '2002::/16',
  '2620:4f:8000::/48',
  '3fff::/20',
]);

/** NAT64's well-known prefix, by which an IPv6-only host reaches IPv4; the embedded IPv4 address is checked. */
export const nat64 = blocks(['64:ff9b::/96']);

/** Addresses that answer with credentials on some cloud: refused even when an allow-list covers them. */
export const metadataAddresses = blocks([
  '100.100.100.200',
  '168.63.129.16',
  '169.254.169.253',
  '169.254.169.254',
  '169.254.170.2',
  '169.254.170.23',
  '192.0.0.192',
  'fd00:ec2::23',
  'fd00:ec2::253',
  'fd00:ec2::254',
  'fd20:ce::254',
]);
