import type { AddressBlock, IpAddress } from './parse-address.ts';
import { blockContains, parseBlock } from './parse-address.ts';

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

/** Every IPv4 address that an IPv6 address may stand for; empty for IPv4 and for plain IPv6. */
export function embeddedIpv4(address: IpAddress): readonly IpAddress[] {
  if (address.family === 4) return [];
  const values = embeddings
    .filter(({ block }) => blockContains(block, address))
    .flatMap(({ extract }) => extract(address.value));
  if (isIsatap(address.value)) values.push(address.value & low32);
  return values.map((value) => ({ family: 4, value }));
}
