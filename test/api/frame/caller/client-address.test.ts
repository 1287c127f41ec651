import type { IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import { createAddressReader } from '../../../../src/api/frame/caller/client-address.ts';

const request = (remoteAddress: string, forwarded?: string) =>
  ({
    socket: { remoteAddress },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  }) as unknown as IncomingMessage;

it('ignores an X-Forwarded-For that no trusted proxy wrote, and warns once', () => {
  const strangers: string[] = [];
  const addressOf = createAddressReader(['10.0.0.0/8'], (address) => strangers.push(address));
  expect(addressOf(request('10.1.2.3', '203.0.113.7'))).toBe('203.0.113.7');
  expect(addressOf(request('192.168.1.1'))).toBe('192.168.1.1');
  expect(strangers).toEqual([]);
  expect(addressOf(request('::ffff:192.168.1.1', '203.0.113.7'))).toBe('192.168.1.1');
  expect(addressOf(request('192.168.1.2', '203.0.113.7'))).toBe('192.168.1.2');
  expect(strangers).toEqual(['192.168.1.1']);
});

it.each([
  ['one proxy', '203.0.113.7'],
  ['a chain of proxies', '203.0.113.7, 10.0.0.2, 10.0.0.3'],
  ['an address that the client wrote itself', '192.0.2.1, 203.0.113.7, 10.0.0.2'],
  ['a trusted address that the client wrote itself', '10.0.0.9, 203.0.113.7, 10.0.0.2'],
])('finds the last address that is no proxy, behind %s', (_, forwarded) => {
  const addressOf = createAddressReader(['10.0.0.0/8'], () => undefined);
  expect(addressOf(request('10.1.2.3', forwarded))).toBe('203.0.113.7');
});
