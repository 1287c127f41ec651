import { isIPv4, isIPv6 } from 'node:net';

/** An IP address as a number: 32 bits for family 4, 128 bits for family 6. Rules compare numbers, never text. */
export interface IpAddress {
  readonly family: 4 | 6;
  readonly value: bigint;
}

/** A block of addresses; `value` has no bits set outside its prefix. */
export interface AddressBlock extends IpAddress {
  readonly prefix: number;
}

const bitsOf = { 4: 32, 6: 128 } as const;

function ipv4Value(text: string): bigint {
  return text.split('.').reduce((value, octet) => (value << 8n) | BigInt(octet), 0n);
}

/** Returns the 16-bit groups on one side of `::`; a dotted quad at its end counts as two groups. */
function ipv6Groups(side: string): readonly bigint[] {
  if (side === '') return [];
  return side.split(':').flatMap((group) => {
    if (!group.includes('.')) return [BigInt(`0x${group}`)];
    const value = ipv4Value(group);
    return [value >> 16n, value & 0xffffn];
  });
}

function ipv6Value(text: string): bigint {
  const [left = '', right] = text.split('::');
  const head = ipv6Groups(left);
  const tail = right === undefined ? [] : ipv6Groups(right);
  const gap = Array.from({ length: 8 - head.length - tail.length }, () => 0n);
  return [...head, ...gap, ...tail].reduce((value, group) => (value << 16n) | group, 0n);
}

/** Reads a dotted quad or an IPv6 address without brackets; undefined for anything else, including addresses with a zone. */
export function parseAddress(text: string): IpAddress | undefined {
  if (isIPv4(text)) return { family: 4, value: ipv4Value(text) };
  if (!isIPv6(text) || text.includes('%')) return undefined;
  return { family: 6, value: ipv6Value(text) };
}

/** Reads `address/prefix`, or a single address as a block of one; undefined if malformed. */
export function parseBlock(text: string): AddressBlock | undefined {
  const [addressText = '', prefixText, ...rest] = text.trim().split('/');
  const address = parseAddress(addressText);
  if (address === undefined || rest.length > 0) return undefined;
  const bits = bitsOf[address.family];
  if (prefixText === undefined) return { ...address, prefix: bits };
  const prefix = Number(prefixText);
  if (!/^\d{1,3}$/.test(prefixText) || prefix > bits) return undefined;
  const hostBits = BigInt(bits - prefix);
  return { family: address.family, value: (address.value >> hostBits) << hostBits, prefix };
}

export function blockContains(block: AddressBlock, address: IpAddress): boolean {
  if (block.family !== address.family) return false;
  const hostBits = BigInt(bitsOf[block.family] - block.prefix);
  return address.value >> hostBits === block.value >> hostBits;
}
