import { createSocket } from 'node:dgram';
import type { AddressInfo } from 'node:net';

export interface DnsAnswer {
  /** A and AAAA records, each returned for queries of its family. */
  readonly addresses?: readonly string[];
  readonly ttlSeconds?: number;
  /** NXDOMAIN, SERVFAIL, or no answer at all. */
  readonly failure?: 'not_found' | 'server_failure' | 'silence';
}

export interface DnsServer {
  /** `127.0.0.1:port`, as the resolver takes it. */
  readonly address: string;
  /** Every question so far as `A name` or `AAAA name`. */
  readonly questions: readonly string[];
  readonly close: () => Promise<void>;
}

const typeA = 1;
const typeAaaa = 28;
const responseCodes = { not_found: 3, server_failure: 2 } as const;

function readName(packet: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let offset = 12;
  for (let length = packet.readUInt8(offset); length > 0; length = packet.readUInt8(offset)) {
    labels.push(packet.toString('ascii', offset + 1, offset + 1 + length));
    offset += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), end: offset + 1 };
}

function addressBytes(address: string): Buffer {
  if (!address.includes(':')) return Buffer.from(address.split('.').map(Number));
  const [left = '', right = ''] = address.split('::');
  const groups = (side: string): string[] => (side === '' ? [] : side.split(':'));
  const gap = Array.from({ length: 8 - groups(left).length - groups(right).length }, () => '0');
  const all = address.includes('::') ? [...groups(left), ...gap, ...groups(right)] : groups(left);
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex');
}

function record(type: number, address: string, ttlSeconds: number): Buffer {
  const data = addressBytes(address);
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(ttlSeconds, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function respond(query: Buffer, type: number, questionEnd: number, answer: DnsAnswer): Buffer {
  const wanted = (answer.addresses ?? []).filter((address) => address.includes(':') === (type === typeAaaa));
  const isFailure = answer.failure === 'not_found' || answer.failure === 'server_failure';
  const head = Buffer.alloc(12);
  query.copy(head, 0, 0, 2);
  head.writeUInt16BE(0x8180 | (isFailure ? responseCodes[answer.failure] : 0), 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(isFailure ? 0 : wanted.length, 6);
  const records = isFailure ? [] : wanted.map((address) => record(type, address, answer.ttlSeconds ?? 0));
  return Buffer.concat([head, query.subarray(12, questionEnd), ...records]);
}

/** A name server on loopback that answers A and AAAA questions as the test says, anew for every question. */
export async function startDnsServer(
  answerFor: (name: string, questionNumber: number) => DnsAnswer,
): Promise<DnsServer> {
  const questions: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (query, peer) => {
    const { name, end } = readName(query);
    const type = query.readUInt16BE(end);
    questions.push(`${type === typeA ? 'A' : 'AAAA'} ${name}`);
    const answer = answerFor(name, questions.filter((question) => question.endsWith(` ${name}`)).length);
    if (answer.failure !== 'silence')
      socket.send(respond(query, type, end + 4, answer), peer.port, peer.address);
  });
  await new Promise<void>((resolve) => {
    socket.bind(0, '127.0.0.1', resolve);
  });
  const { port } = socket.address() as AddressInfo;
  return {
    address: `127.0.0.1:${port}`,
    questions,
    close: () =>
      new Promise((resolve) => {
        socket.close(() => resolve());
      }),
  };
}
