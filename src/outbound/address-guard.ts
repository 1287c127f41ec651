import { parseUrl } from '../domain/parse-url.ts';
import {
  type AddressBlock,
  blockContains,
  type IpAddress,
  parseAddress,
  parseBlock,
} from './parse-address.ts';

/** Networks that outbound requests may reach in addition to the public internet (`OUTBOUND_ALLOW_CIDRS`). */
export interface OutboundPolicy {
  readonly allow: readonly AddressBlock[];
}

export type TargetUrlProblem =
  | 'malformed'
  | 'too_long'
  | 'scheme_not_allowed'
  | 'credentials_not_allowed'
  | 'port_not_allowed'
  | 'blocked_address';

export type TargetUrlCheck =
  | { readonly ok: true; readonly url: URL }
  | { readonly ok: false; readonly problem: TargetUrlProblem };

const maxUrlLength = 2048;

/** Parses the CIDR blocks of the setting. Throws an Error that names the first invalid one. */
export function createOutboundPolicy(allowCidrs: readonly string[]): OutboundPolicy {
  const allow = allowCidrs.map((text) => {
    const block = parseBlock(text);
    if (block === undefined) throw new Error(`not a CIDR block: ${text}`);
    return block;
  });
  return { allow };
}

function within(blocks: readonly AddressBlock[], address: IpAddress): boolean {
  return blocks.some((block) => blockContains(block, address));
}

function isMetadata(address: IpAddress): boolean {
  return [address, ...embeddedIpv4(address)].some((candidate) => within(metadataAddresses, candidate));
}

function isPublic(address: IpAddress): boolean {
  if (address.family === 4) return !within(refusedIpv4, address);
  const embedded = embeddedIpv4(address);
  if (within(nat64, address)) return embedded.every(isPublic);
  // An address that embeds an IPv4 address (ISATAP under a public prefix) is public only if the embedded address is.
  return within(globalIpv6, address) && !within(refusedIpv6, address) && embedded.every(isPublic);
}

/** Returns whether a request may be sent to this address (text form, IPv6 without brackets). */
export function isAddressAllowed(text: string, policy: OutboundPolicy): boolean {
  const address = parseAddress(text);
  if (address === undefined || isMetadata(address)) return false;
  return within(policy.allow, address) || isPublic(address);
}

/** The host of a parsed URL as `net.connect` takes it: an IPv6 literal without its brackets. */
export function dialableHost(url: URL): string {
  return url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
}

/** RFC 6761: `localhost` and every name below it mean this machine, so no name server is asked. */
export function isLocalhost(host: string): boolean {
  const name = host.endsWith('.') ? host.slice(0, -1) : host;
  return name === 'localhost' || name.endsWith('.localhost');
}

/** Returns the loopback addresses that this policy allows for `localhost`; empty if it is refused. */
export function localhostAddresses(policy: OutboundPolicy): readonly string[] {
  return ['127.0.0.1', '::1'].filter((address) => isAddressAllowed(address, policy));
}

/** Checks a literal address. Names pass here: the addresses they resolve to are checked when they are dialled. */
function isHostAllowed(host: string, policy: OutboundPolicy): boolean {
  if (isLocalhost(host)) return localhostAddresses(policy).length > 0;
  return parseAddress(host) === undefined || isAddressAllowed(host, policy);
}

/**
 * Checks a URL before it is stored and again before it is dialled. The WHATWG parser converts octal, hexadecimal, full-width and
 * percent-encoded hosts to one spelling, so no other spelling passes the check.
 */
export function checkTargetUrl(text: string, policy: OutboundPolicy): TargetUrlCheck {
  if (text.length > maxUrlLength) return { ok: false, problem: 'too_long' };
  // The parser silently drops these characters, so the stored URL would differ from the one that is dialled.
  // oxlint-disable-next-line no-control-regex -- control characters are what this looks for
  const url = /[\u0000-\u0020\u007f]/.test(text) ? undefined : parseUrl(text);
  if (url === undefined) return { ok: false, problem: 'malformed' };
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return { ok: false, problem: 'scheme_not_allowed' };
  // This checks the text because the parser hides an empty user name.
  if (/^[^:]+:[\\/]*[^\\/?#]*@/.test(text)) return { ok: false, problem: 'credentials_not_allowed' };
  if (url.port === '0') return { ok: false, problem: 'port_not_allowed' };
  if (!isHostAllowed(dialableHost(url), policy)) return { ok: false, problem: 'blocked_address' };
  return { ok: true, url };
}

/** Returns a sentence for the caller's error message; it starts with the field's name. */
export function targetUrlMessage(field: string, problem: TargetUrlProblem): string {
  const messages: Record<TargetUrlProblem, string> = {
    malformed: `${field} must be a valid URL, such as https://example.com/path`,
    too_long: `${field} must be at most ${maxUrlLength} characters long`,
    scheme_not_allowed: `${field} must use http or https`,
    credentials_not_allowed: `${field} must not contain a user name or password`,
    port_not_allowed: `${field} must use a port from 1 to 65535`,
    blocked_address: `${field} must not point to a private or reserved address`,
  };
  return messages[problem];
}

function parseBlocks(texts: readonly string[]): readonly AddressBlock[] {
  return texts.map((text) => {
    const block = parseBlock(text);
    if (block === undefined) throw new Error(`not an address block: ${text}`);
    return block;
  });
}

/** IANA's IPv4 special-purpose registry, multicast and reserved space, and Azure WireServer. */
const refusedIpv4 = parseBlocks([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  // Azure WireServer: the address looks public but is reachable only inside Azure.
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

/** The only IPv6 range assigned for global unicast; every address outside it is refused. */
const globalIpv6 = parseBlocks(['2000::/3']);

/** Special-purpose blocks inside 2000::/3 (IANA's IPv6 special-purpose registry). */
const refusedIpv6 = parseBlocks([
  // Protocol assignments: Teredo, benchmarking, ORCHID, drone identifiers, anycast services.
  '2001::/23',
  '2001:db8::/32',
  // 6to4: wraps an IPv4 address and is retired.
  '2002::/16',
  '2620:4f:8000::/48',
  '3fff::/20',
]);

/** NAT64's well-known prefix, through which an IPv6-only host reaches IPv4. The embedded IPv4 address is checked. */
const nat64 = parseBlocks(['64:ff9b::/96']);

/** Addresses that hand out credentials on some cloud: refused even if an allow-list covers them. */
const metadataAddresses = parseBlocks([
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

const low32 = 0xffff_ffffn;

interface Embedding {
  readonly block: AddressBlock;
  readonly extract: (value: bigint) => readonly bigint[];
}

function embedding(block: string, extract: Embedding['extract']): Embedding {
  const parsed = parseBlock(block);
  if (parsed === undefined) throw new Error(`not an address block: ${block}`);
  return { block: parsed, extract };
}

const lastBits: Embedding['extract'] = (value) => [value & low32];

const embeddings: readonly Embedding[] = [
  // Compatible (RFC 4291), mapped (RFC 4291) and translated (SIIT, RFC 2765).
  embedding('::/96', lastBits),
  embedding('::ffff:0:0/96', lastBits),
  embedding('::ffff:0:0:0/96', lastBits),
  // NAT64: the well-known prefix, and the local one with the address at each position that RFC 6052 allows in a /48.
  embedding('64:ff9b::/96', lastBits),
  embedding('64:ff9b:1::/48', (value) => [
    value & low32,
    ((value >> 48n) & 0xffff_0000n) | ((value >> 40n) & 0xffffn),
    (value >> 24n) & low32,
  ]),
  // 6to4 (RFC 3056).
  embedding('2002::/16', (value) => [(value >> 80n) & low32]),
  // Teredo (RFC 4380): the server in clear, the client inverted.
  embedding('2001::/32', (value) => [(value >> 64n) & low32, ~value & low32]),
];

/** ISATAP (RFC 5214) puts the address behind a marker in the interface identifier of any prefix. */
function isIsatap(value: bigint): boolean {
  const marker = (value >> 32n) & low32;
  return marker === 0x0000_5efen || marker === 0x0200_5efen;
}

/** Returns every IPv4 address that an IPv6 address may stand for; empty for IPv4 and plain IPv6. */
function embeddedIpv4(address: IpAddress): readonly IpAddress[] {
  if (address.family === 4) return [];
  const values = embeddings
    .filter(({ block }) => blockContains(block, address))
    .flatMap(({ extract }) => extract(address.value));
  if (isIsatap(address.value)) values.push(address.value & low32);
  return values.map((value) => ({ family: 4, value }));
}
