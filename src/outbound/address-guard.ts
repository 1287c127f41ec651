import { globalIpv6, metadataAddresses, nat64, refusedIpv4, refusedIpv6 } from './address-ranges.ts';
import { embeddedIpv4 } from './embedded-ipv4.ts';
import type { AddressBlock, IpAddress } from './parse-address.ts';
import { blockContains, parseAddress, parseBlock } from './parse-address.ts';

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

/** Decodes the CIDRs of a setting. Throws an Error that names the first text that is not a CIDR block. */
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
  // An address that embeds an IPv4 address (ISATAP under a public prefix) is public only if that one is.
  return within(globalIpv6, address) && !within(refusedIpv6, address) && embedded.every(isPublic);
}

/** Whether a request may be sent to this very address (text form, IPv6 without brackets). */
export function isAddressAllowed(text: string, policy: OutboundPolicy): boolean {
  const address = parseAddress(text);
  if (address === undefined || isMetadata(address)) return false;
  return within(policy.allow, address) || isPublic(address);
}

/** The host of a parsed URL as `net.connect` takes it: an IPv6 literal without its brackets. */
export function dialableHost(url: URL): string {
  return url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
}

/** RFC 6761: `localhost` and every name below it are this machine; no name server is asked. */
export function isLocalhost(host: string): boolean {
  const name = host.endsWith('.') ? host.slice(0, -1) : host;
  return name === 'localhost' || name.endsWith('.localhost');
}

/** The loopback addresses `localhost` may stand for under this policy; empty when it is refused. */
export function localhostAddresses(policy: OutboundPolicy): readonly string[] {
  return ['127.0.0.1', '::1'].filter((address) => isAddressAllowed(address, policy));
}

/** Checks a literal address. A name passes here: the addresses it resolves to are checked when it is dialled. */
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
  // The parser drops these characters silently: the stored URL would differ from the one that is dialled.
  // oxlint-disable-next-line no-control-regex -- control characters are what this looks for
  if (/[\u0000-\u0020\u007f]/.test(text) || !URL.canParse(text)) return { ok: false, problem: 'malformed' };
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return { ok: false, problem: 'scheme_not_allowed' };
  // Read from the text: the parser hides an empty user name.
  if (/^[^:]+:[\\/]*[^\\/?#]*@/.test(text)) return { ok: false, problem: 'credentials_not_allowed' };
  if (url.port === '0') return { ok: false, problem: 'port_not_allowed' };
  if (!isHostAllowed(dialableHost(url), policy)) return { ok: false, problem: 'blocked_address' };
  return { ok: true, url };
}

/** A sentence per problem for the caller's error message; starts with the field's name. */
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
