import { afterEach, describe, expect, it } from 'vitest';
import { createResolver } from '../../src/outbound/resolver.ts';
import type { DnsAnswer, DnsServer } from '../support/dns-server.ts';
import { startDnsServer } from '../support/dns-server.ts';

let server: DnsServer | undefined;
afterEach(() => server?.close());

async function resolverWith(
  answerFor: (name: string, questionNumber: number) => DnsAnswer,
  timeoutMs = 5_000,
) {
  server = await startDnsServer(answerFor);
  const clock = { ms: 0 };
  const resolve = createResolver({ servers: [server.address], timeoutMs, now: () => clock.ms });
  return { resolve, clock, server };
}

describe('createResolver', () => {
  it('answers with the addresses of both families', async () => {
    const { resolve } = await resolverWith(() => ({ addresses: ['192.0.2.1', '192.0.2.2', '2001:db8::1'] }));
    const result = await resolve('host.test');
    expect(result.ok && [...result.addresses].sort()).toEqual(['192.0.2.1', '192.0.2.2', '2001:db8::1']);
  });

  it('says not_found when the name does not exist', async () => {
    const { resolve } = await resolverWith(() => ({ failure: 'not_found' }));
    expect(await resolve('host.test')).toEqual({ ok: false, problem: 'not_found' });
  });

  it('says not_found when the name has no address', async () => {
    const { resolve } = await resolverWith(() => ({ addresses: [] }));
    expect(await resolve('host.test')).toEqual({ ok: false, problem: 'not_found' });
  });

  it('says dns_error when the server fails', async () => {
    const { resolve } = await resolverWith(() => ({ failure: 'server_failure' }));
    expect(await resolve('host.test')).toEqual({ ok: false, problem: 'dns_error' });
  });

  it('says dns_timeout when no server answers', async () => {
    const { resolve, server: dns } = await resolverWith(() => ({ failure: 'silence' }), 100);
    expect(await resolve('host.test')).toEqual({ ok: false, problem: 'dns_timeout' });
    // One try of the name within this limit; the default of 3 s allows three.
    expect([...dns.questions].sort()).toEqual(['A host.test', 'AAAA host.test']);
  });

  it('does not wait for the family that stays silent', async () => {
    server = await startDnsServer((_name, questionNumber) =>
      questionNumber === 1 ? { addresses: ['192.0.2.1', '2001:db8::1'] } : { failure: 'silence' },
    );
    const resolve = createResolver({ servers: [server.address], timeoutMs: 3000 });
    const result = await resolve('host.test');
    expect(result.ok && result.addresses).toHaveLength(1);
  });

  it('asks once for simultaneous look-ups of a name', async () => {
    const { resolve, server: dns } = await resolverWith(() => ({ addresses: ['192.0.2.1'] }));
    await Promise.all(Array.from({ length: 20 }, () => resolve('host.test')));
    expect([...dns.questions].sort()).toEqual(['A host.test', 'AAAA host.test']);
  });

  it('keeps an answer for its time to live, and not longer', async () => {
    const {
      resolve,
      clock,
      server: dns,
    } = await resolverWith(() => ({
      addresses: ['192.0.2.1'],
      ttlSeconds: 10,
    }));
    await resolve('host.test');
    clock.ms = 9999;
    await resolve('host.test');
    expect(dns.questions).toHaveLength(2);
    clock.ms = 10_000;
    await resolve('host.test');
    expect(dns.questions).toHaveLength(4);
  });

  it('keeps no answer for longer than half a minute, whatever its time to live', async () => {
    const {
      resolve,
      clock,
      server: dns,
    } = await resolverWith(() => ({
      addresses: ['192.0.2.1'],
      ttlSeconds: 86_400,
    }));
    await resolve('host.test');
    clock.ms = 30_000;
    await resolve('host.test');
    expect(dns.questions).toHaveLength(4);
  });

  it('refuses an answer of more than 256 addresses', async () => {
    const addresses = Array.from({ length: 260 }, (_, index) => `2001:db8::${index + 1}`);
    const { resolve } = await resolverWith(() => ({ addresses }));
    expect(await resolve('host.test')).toEqual({ ok: false, problem: 'dns_error' });
  });
});
