import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createOutboundPolicy } from '../../src/outbound/address-guard.ts';
import type { Dialer } from '../../src/outbound/dial.ts';
import type { WebhookOutcome } from '../../src/outbound/post-webhook.ts';
import { postWebhook } from '../../src/outbound/post-webhook.ts';
import { createResolver } from '../../src/outbound/resolver.ts';
import {
  expiredCertificate,
  otherNameCertificate,
  receiverCertificate,
  testAuthority,
} from '../support/certificates.ts';
import type { Certificate } from '../support/certificates.ts';
import type { DnsAnswer } from '../support/dns-server.ts';
import { startDnsServer } from '../support/dns-server.ts';
import type { RawAnswer, RawReceiver } from '../support/raw-receiver.ts';
import { rawResponse, startRawReceiver } from '../support/raw-receiver.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

async function receiver(answer: RawAnswer, certificate?: Certificate): Promise<RawReceiver> {
  const started = await startRawReceiver(answer, certificate);
  closers.push(started.close);
  return started;
}

async function nameServer(answerFor: (name: string, questionNumber: number) => DnsAnswer) {
  const started = await startDnsServer(answerFor);
  closers.push(started.close);
  return started;
}

const loopback = createOutboundPolicy(['127.0.0.0/8', '::1/128']);

function dialer(overrides: Partial<Dialer> = {}): Dialer {
  return { policy: loopback, resolve: async () => ({ ok: false, problem: 'not_found' }), ...overrides };
}

const body = Buffer.from('{"eventKey":"sent"}');

function post(
  url: string,
  options: { dialer?: Dialer; timeoutMs?: number; body?: Buffer } = {},
): Promise<WebhookOutcome> {
  return postWebhook(
    options.dialer ?? dialer(),
    {
      url,
      headers: { 'Content-Type': 'application/json', 'X-Event-Key': 'sent' },
      body: options.body ?? body,
    },
    options.timeoutMs ?? 5000,
  );
}

const hang: RawAnswer = () => undefined;
const ok: RawAnswer = (socket) => void socket.end(rawResponse('200 OK', [], 'thanks'));

describe('the request', () => {
  it('is one POST with the given headers, the host and the exact bytes', async () => {
    const { port, connections } = await receiver(ok);
    const outcome = await post(`http://127.0.0.1:${port}/hook?a=1#part`);
    expect(outcome).toMatchObject({
      state: 'delivered',
      errorCode: null,
      responseStatus: 200,
      responseExcerpt: 'thanks',
    });
    expect(connections).toHaveLength(1);
    const [head = '', sentBody] = (connections[0] ?? '').split('\r\n\r\n');
    expect(head.split('\r\n')).toEqual(
      expect.arrayContaining([
        'POST /hook?a=1 HTTP/1.1',
        'Content-Type: application/json',
        'X-Event-Key: sent',
        `host: 127.0.0.1:${port}`,
        `content-length: ${body.length}`,
      ]),
    );
    expect(head).not.toMatch(/transfer-encoding|expect:|accept-encoding/i);
    expect(sentBody).toBe(body.toString());
  });

  it('reaches a receiver named localhost without asking a name server', async () => {
    const { port } = await receiver(ok);
    expect(await post(`http://localhost:${port}/`)).toMatchObject({ state: 'delivered' });
  });

  it('carries 256 KB', async () => {
    const { port, connections } = await receiver((socket) => {
      const answer = (): void => {
        if (connections[0]?.split('\r\n\r\n')[1]?.length === 262_144) socket.end(rawResponse('200 OK'));
      };
      socket.on('data', answer);
    });
    const outcome = await post(`http://127.0.0.1:${port}/`, { body: Buffer.alloc(262_144, 'x') });
    expect(outcome.state).toBe('delivered');
    expect(connections[0]?.split('\r\n\r\n')[1]).toHaveLength(262_144);
  });
});

describe('a response', () => {
  it.each(['200 OK', '201 Created', '202 Accepted', '204 No Content', '299 Fine'])(
    'of %s is a delivery',
    async (status) => {
      const { port } = await receiver((socket) => void socket.end(`HTTP/1.1 ${status}\r\n\r\n`));
      const outcome = await post(`http://127.0.0.1:${port}/`);
      expect(outcome).toMatchObject({ state: 'delivered', responseStatus: Number(status.slice(0, 3)) });
    },
  );

  it.each([
    ['300 Choices', 'redirect'],
    ['301 Moved', 'redirect'],
    ['302 Found', 'redirect'],
    ['304 Not Modified', 'redirect'],
    ['307 Temporary', 'redirect'],
    ['308 Permanent', 'redirect'],
    ['400 Bad', 'non_2xx'],
    ['404 Not Found', 'non_2xx'],
    ['410 Gone', 'non_2xx'],
    ['500 Error', 'non_2xx'],
    ['503 Busy', 'non_2xx'],
    ['999 Odd', 'non_2xx'],
  ])('of %s is a failure: %s', async (status, errorCode) => {
    const { port, connections } = await receiver((socket) => {
      socket.end(rawResponse(status, [`location: http://127.0.0.1:${socket.localPort}/elsewhere`]));
    });
    const outcome = await post(`http://127.0.0.1:${port}/`);
    expect(outcome).toMatchObject({ state: 'failed', errorCode, responseStatus: Number(status.slice(0, 3)) });
    expect(connections).toHaveLength(1);
  });

  it.each(['100 Continue', '102 Processing', '103 Early Hints'])('of %s is skipped', async (status) => {
    const { port } = await receiver((socket) => {
      socket.end(`HTTP/1.1 ${status}\r\n\r\n${rawResponse('200 OK')}`);
    });
    expect(await post(`http://127.0.0.1:${port}/`)).toMatchObject({
      state: 'delivered',
      responseStatus: 200,
    });
  });

  it('of 101 is a failure', async () => {
    const { port } = await receiver((socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n');
    });
    const outcome = await post(`http://127.0.0.1:${port}/`);
    expect(outcome).toMatchObject({ state: 'failed', errorCode: 'protocol_error', responseStatus: 101 });
  });

  it.each([
    ['that is no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['with two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx'],
    ['with 100 KB of headers', `HTTP/1.1 200 OK\r\nx-long: ${'x'.repeat(100_000)}\r\n\r\n`],
  ])('%s is a protocol error', async (_what, bytes) => {
    const { port } = await receiver((socket) => void socket.end(bytes));
    expect(await post(`http://127.0.0.1:${port}/`)).toMatchObject({
      state: 'failed',
      errorCode: 'protocol_error',
    });
  });

  it('with an endless body is a delivery with the first 16 KiB', async () => {
    const { port } = await receiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      const flood = (): void => {
        while (!socket.destroyed && socket.write('x'.repeat(65_536)));
      };
      socket.on('drain', flood);
      flood();
    });
    const outcome = await post(`http://127.0.0.1:${port}/`);
    expect(outcome.state).toBe('delivered');
    expect(outcome.responseExcerpt).toBe('x'.repeat(16_384));
  });

  it('with a dripping body is a delivery that ends with the time limit', async () => {
    const { port } = await receiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      const drip = setInterval(() => socket.write('.'), 20);
      socket.on('close', () => clearInterval(drip));
    });
    const startedAt = performance.now();
    const timeoutMs = 1_500;
    const outcome = await post(`http://127.0.0.1:${port}/`, { timeoutMs });
    expect(outcome).toMatchObject({ state: 'delivered', responseStatus: 200 });
    expect(outcome.responseExcerpt).toMatch(/^\.{2,}$/);
    expect(outcome.durationMs).toBeLessThan(timeoutMs);
    expect(performance.now() - startedAt).toBeGreaterThan(timeoutMs - 50);
  });

  it('whose body is cut off is still a delivery', async () => {
    const { port } = await receiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\npart', () => {
        setTimeout(() => socket.destroy(), 50);
      });
    });
    expect(await post(`http://127.0.0.1:${port}/`)).toMatchObject({
      state: 'delivered',
      responseExcerpt: 'part',
    });
  });

  it('that comes before the body was read is a delivery', async () => {
    const { port } = await receiver((socket) => {
      socket.pause();
      socket.write(rawResponse('200 OK'));
    });
    const outcome = await post(`http://127.0.0.1:${port}/`, { body: Buffer.alloc(262_144, 'x') });
    expect(outcome.state).toBe('delivered');
  });

  it('leaves no NUL and no broken character in the excerpt', async () => {
    const { port } = await receiver((socket) => {
      socket.end(
        Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\n\r\na\0b`), Buffer.from([0xff, 0xe2, 0x82])]),
      );
    });
    expect((await post(`http://127.0.0.1:${port}/`)).responseExcerpt).toBe('ab\ufffd');
  });
});

describe('a receiver', () => {
  it('that never answers costs the time limit and no more', async () => {
    const { port, connections } = await receiver(hang);
    // Without the limit it would wait for ever.
    const outcome = await post(`http://127.0.0.1:${port}/`, { timeoutMs: 1_000 });
    expect(outcome).toMatchObject({ state: 'failed', errorCode: 'timeout', responseStatus: null });
    expect(connections).toHaveLength(1);
  });

  it('that drips its headers times out', async () => {
    const { port } = await receiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const drip = setInterval(() => socket.write('x'), 20);
      socket.on('close', () => clearInterval(drip));
    });
    expect(await post(`http://127.0.0.1:${port}/`, { timeoutMs: 300 })).toMatchObject({
      errorCode: 'timeout',
    });
  });

  it('that resets the connection gets no second request', async () => {
    const { port, connections } = await receiver((socket) => void socket.resetAndDestroy());
    expect(await post(`http://127.0.0.1:${port}/`)).toMatchObject({ errorCode: 'connection_reset' });
    expect(connections).toHaveLength(1);
  });

  it('that closes the connection without an answer is a reset', async () => {
    const { port, connections } = await receiver((socket) => void socket.end());
    expect(await post(`http://127.0.0.1:${port}/`)).toMatchObject({ errorCode: 'connection_reset' });
    expect(connections).toHaveLength(1);
  });

  it('that does not listen refuses', async () => {
    const { port, close } = await startRawReceiver(ok);
    await close();
    expect(await post(`http://127.0.0.1:${port}/`)).toMatchObject({ errorCode: 'connection_refused' });
  });

  it('that closes its connection after every answer is reached again and again', async () => {
    const { port, connections } = await receiver(ok);
    for (let turn = 0; turn < 20; turn += 1) {
      expect(await post(`http://127.0.0.1:${port}/`)).toMatchObject({ state: 'delivered' });
    }
    expect(connections).toHaveLength(20);
  });
});

describe('TLS', () => {
  const trusting = dialer({ extraAuthorities: [testAuthority] });

  it('delivers when the certificate is good', async () => {
    const { port } = await receiver(ok, receiverCertificate);
    expect(await post(`https://127.0.0.1:${port}/`, { dialer: trusting })).toMatchObject({
      state: 'delivered',
    });
    expect(await post(`https://localhost:${port}/`, { dialer: trusting })).toMatchObject({
      state: 'delivered',
    });
  });

  it.each([
    ['an authority nobody knows', receiverCertificate, dialer()],
    ['another name', otherNameCertificate, trusting],
    ['an expired certificate', expiredCertificate, trusting],
  ])('fails for %s, before a byte of the request is sent', async (_what, certificate, by) => {
    const { port, connections } = await receiver(ok, certificate);
    expect(await post(`https://127.0.0.1:${port}/`, { dialer: by })).toMatchObject({
      errorCode: 'tls_error',
    });
    expect(connections.join('')).toBe('');
  });

  it('fails when the receiver speaks plain HTTP', async () => {
    const { port } = await receiver((socket) => void socket.end(rawResponse('400 Bad Request')));
    expect(await post(`https://127.0.0.1:${port}/`, { dialer: trusting })).toMatchObject({
      errorCode: 'tls_error',
    });
  });

  it('times out when the receiver never shakes hands', async () => {
    const { port } = await receiver(hang);
    const outcome = await post(`https://127.0.0.1:${port}/`, { dialer: trusting, timeoutMs: 300 });
    expect(outcome).toMatchObject({ errorCode: 'timeout' });
  });
});

describe('the guard', () => {
  const strict = createOutboundPolicy([]);

  async function named(answerFor: (name: string, questionNumber: number) => DnsAnswer, policy = loopback) {
    const dns = await nameServer(answerFor);
    return dialer({ policy, resolve: createResolver({ servers: [dns.address], timeoutMs: 1_500 }) });
  }

  it.each(['http://127.0.0.1', 'http://localhost', 'http://[::ffff:127.0.0.1]', 'http://2130706433'])(
    'does not connect to %s when nothing is allowed',
    async (origin) => {
      const { port, connections } = await receiver(ok);
      const outcome = await post(`${origin}:${port}/`, { dialer: dialer({ policy: strict }) });
      expect(outcome).toMatchObject({ state: 'failed', errorCode: 'blocked_address', responseStatus: null });
      expect(connections).toHaveLength(0);
    },
  );

  it('reaches a name through the name server it was given', async () => {
    const { port, connections } = await receiver(ok);
    const outcome = await post(`http://receiver.test:${port}/`, {
      dialer: await named(() => ({ addresses: ['127.0.0.1'] })),
    });
    expect(outcome.state).toBe('delivered');
    expect(connections[0]).toContain(`host: receiver.test:${port}`);
  });

  it('checks the certificate against the name, not the address', async () => {
    const { port } = await receiver(ok, receiverCertificate);
    const by = { ...(await named(() => ({ addresses: ['127.0.0.1'] }))), extraAuthorities: [testAuthority] };
    expect(await post(`https://receiver.test:${port}/`, { dialer: by })).toMatchObject({
      state: 'delivered',
    });
    expect(await post(`https://other.test:${port}/`, { dialer: by })).toMatchObject({
      errorCode: 'tls_error',
    });
  });

  it.each([
    ['a private address', ['10.0.0.1']],
    ['the loopback', ['127.0.0.1']],
    ['a mapped address', ['::ffff:7f00:1']],
    ['the metadata service', ['169.254.169.254']],
    ['good addresses and one bad one', ['93.184.215.14', '2606:4700:4700::1111', '192.168.0.1']],
  ])('does not connect to a name that stands for %s', async (_what, addresses) => {
    const { port, connections } = await receiver(ok);
    const by = await named(() => ({ addresses }), strict);
    expect(await post(`http://receiver.test:${port}/`, { dialer: by })).toMatchObject({
      errorCode: 'blocked_address',
    });
    expect(connections).toHaveLength(0);
  });

  it('checks every answer of the name server again when a name is bound to another address', async () => {
    const { port, connections } = await receiver(ok);
    const policy = createOutboundPolicy(['127.0.0.2/32']);
    const by = await named(
      (_name, number) => ({ addresses: [number <= 2 ? '127.0.0.2' : '127.0.0.1'] }),
      policy,
    );
    // The first address has no listener; the second one must not be tried.
    expect(await post(`http://rebind.test:${port}/`, { dialer: by })).toMatchObject({
      errorCode: 'connection_refused',
    });
    expect(await post(`http://rebind.test:${port}/`, { dialer: by })).toMatchObject({
      errorCode: 'blocked_address',
    });
    expect(connections).toHaveLength(0);
  });

  it('dials the address that was vetted, whatever the name says a moment later', async () => {
    const { port, connections } = await receiver(ok);
    const by = await named((_name, number) => ({ addresses: [number <= 2 ? '127.0.0.1' : '10.0.0.1'] }));
    expect(await post(`http://rebind.test:${port}/`, { dialer: by })).toMatchObject({ state: 'delivered' });
    expect(connections).toHaveLength(1);
  });

  it.each([
    ['not_found', 'dns_error'],
    ['server_failure', 'dns_error'],
    ['silence', 'dns_timeout'],
  ] as const)('reports %s of the name server as %s', async (failure, errorCode) => {
    const by = await named(() => ({ failure }));
    expect(await post('http://receiver.test/', { dialer: by })).toMatchObject({ state: 'failed', errorCode });
  });

  it('counts the look-up into the time limit', async () => {
    const dns = await nameServer(() => ({ failure: 'silence' }));
    const by = dialer({ resolve: createResolver({ servers: [dns.address], timeoutMs: 20_000 }) });
    const outcome = await post('http://receiver.test/', { dialer: by, timeoutMs: 100 });
    // A look-up that was waited for would end as dns_timeout.
    expect(outcome).toMatchObject({ errorCode: 'timeout' });
  });

  it('tries the next vetted address when the first one refuses', async () => {
    const { port } = await receiver(ok);
    const by = await named(() => ({ addresses: ['127.0.0.3', '127.0.0.1'] }));
    expect(await post(`http://receiver.test:${port}/`, { dialer: by })).toMatchObject({ state: 'delivered' });
  });
});

describe('many receivers that hang', () => {
  it('do not delay one that answers', async () => {
    const server = createServer((socket) => void socket.on('error', () => undefined));
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const hangingPort = (server.address() as { port: number }).port;
    const { port } = await receiver(ok);
    let ended = 0;
    const hanging = Array.from({ length: 500 }, () =>
      post(`http://127.0.0.1:${hangingPort}/`, { timeoutMs: 8_000 }).finally(() => {
        ended += 1;
      }),
    );
    const healthy = await Promise.all(
      Array.from({ length: 20 }, () => post(`http://127.0.0.1:${port}/`, { timeoutMs: 8_000 })),
    );
    expect(healthy.map(({ state }) => state)).toEqual(healthy.map(() => 'delivered'));
    expect(ended).toBe(0);
    const outcomes = await Promise.all(hanging);
    server.close();
    expect(outcomes.every(({ errorCode }) => errorCode === 'timeout')).toBe(true);
  });
});
