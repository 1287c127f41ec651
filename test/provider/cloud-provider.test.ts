import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createCloudProvider } from '../../src/provider/cloud-provider.ts';
import type { MessagingProvider, OutboundTemplateMessage } from '../../src/provider/provider.ts';
import { receiverCertificate } from '../support/certificates.ts';
import { acceptedAnswer, httpAnswer, startRawServer, type RawServer } from './raw-server.ts';

const message: OutboundTemplateMessage = {
  phoneNumberId: '106540352242922',
  accessToken: 'EAAtoken',
  to: '4915112345678',
  template: { name: 'hello', language: 'en_US', components: [] },
  callbackData: '0199-message',
};

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

function connectTo(
  baseUrl: string,
  options: { timeoutMs?: number; connections?: number } = {},
): MessagingProvider {
  const provider = createCloudProvider({ baseUrl, timeoutMs: 2000, connections: 4, ...options });
  closers.push(() => provider.close());
  return provider;
}

async function serve(behave: (socket: Socket, request: string) => void): Promise<RawServer> {
  const server = await startRawServer(behave);
  closers.push(() => server.close());
  return server;
}

/** Its connection is open, so that a stalled machine cannot spend the time limit on connecting. `server` accepts "before". */
async function connected(server: RawServer, timeoutMs: number): Promise<MessagingProvider> {
  const provider = connectTo(server.baseUrl, { timeoutMs, connections: 1 });
  while ((await provider.sendMessage({ ...message, callbackData: 'before' })).kind !== 'accepted');
  server.requests.length = 0;
  return provider;
}

async function sendTo(answer: string): ReturnType<MessagingProvider['sendMessage']> {
  const server = await serve((socket) => socket.write(answer));
  return connectTo(server.baseUrl).sendMessage(message);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return typeof address === 'object' && address ? address.port : 0;
}

describe('the request of sendMessage', () => {
  it('carries the envelope of the protocol and leaves empty components out', async () => {
    const server = await serve((socket) => socket.write(acceptedAnswer));

    await connectTo(`${server.baseUrl}/`).sendMessage(message);

    const [head, body] = (server.requests[0] ?? '').split('\r\n\r\n');
    expect(head).toMatch(/^POST \/v23\.0\/106540352242922\/messages HTTP\/1\.1/);
    expect(head).toMatch(/authorization: Bearer EAAtoken/i);
    expect(head).toMatch(/content-type: application\/json/i);
    expect(JSON.parse(body ?? '')).toEqual({
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      to: '+4915112345678',
      type: 'template',
      biz_opaque_callback_data: '0199-message',
      template: { name: 'hello', language: { code: 'en_US' } },
    });
  });

  it('passes components and awkward characters on unchanged', async () => {
    const server = await serve((socket) => socket.write(acceptedAnswer));
    const text = 'Zoë "quoted" \\ 漢字 😀  </script>';
    const components = [{ type: 'body', parameters: [{ type: 'text', text }] }];

    await connectTo(server.baseUrl).sendMessage({
      ...message,
      template: { ...message.template, components },
    });

    const body = JSON.parse((server.requests[0] ?? '').split('\r\n\r\n')[1] ?? '') as typeof message;
    expect(body.template.components).toEqual(components);
  });

  it('refuses a token that would end the header, without dialling', async () => {
    const server = await serve((socket) => socket.write(acceptedAnswer));

    const result = await connectTo(server.baseUrl).sendMessage({ ...message, accessToken: 'a\r\nx-evil: 1' });

    expect(result).toMatchObject({ kind: 'rejected', code: 190 });
    expect(server.requests).toEqual([]);
  });
});

describe('an answered send', () => {
  it('is accepted when the answer names the message', async () => {
    expect(await sendTo(acceptedAnswer)).toEqual({
      kind: 'accepted',
      providerMessageId: 'wamid.A',
      messageStatus: 'accepted',
      otherIds: [],
    });
  });

  it('reports that the provider holds the message back', async () => {
    const body = '{"messages":[{"id":"wamid.B","message_status":"held_for_quality_assessment"}]}';

    expect(await sendTo(httpAnswer(200, { body }))).toMatchObject({
      kind: 'accepted',
      messageStatus: 'held_for_quality_assessment',
      otherIds: [],
    });
  });

  it('is accepted when the ids are numbers', async () => {
    expect(await sendTo(httpAnswer(200, { body: '{"messages":[{"id":1387372356726668}]}' }))).toMatchObject({
      kind: 'accepted',
      providerMessageId: '1387372356726668',
    });
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('is read when something in between has compressed it with %s', async (encoding, compress) => {
    const body = compress('{"messages":[{"id":"wamid.packed"}]}');
    const head = `HTTP/1.1 200 OK\r\nContent-Encoding: ${encoding}\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const chunk = (bytes: Buffer) => [`${bytes.length.toString(16)}\r\n`, bytes, '\r\n'];
    const parts = [head, ...chunk(body.subarray(0, 9)), ...chunk(body.subarray(9)), '0\r\n\r\n'];
    const server = await serve((socket) =>
      socket.write(Buffer.concat(parts.map((part) => Buffer.from(part)))),
    );

    expect(await connectTo(server.baseUrl).sendMessage(message)).toMatchObject({
      kind: 'accepted',
      providerMessageId: 'wamid.packed',
    });
  });

  it.each([
    ['compressed', 'gzip'],
    ['in an encoding nobody knows', 'zstd'],
  ])('is unknown when it says to be %s and cannot be read', async (_name, encoding) => {
    const headers = { 'content-encoding': encoding };

    expect(await sendTo(httpAnswer(200, { body: '{"messages":[{"id":"1"}]}', headers }))).toMatchObject({
      kind: 'unknown',
    });
  });

  it('keeps the provider’s words when its error has no code', async () => {
    const body = '{"error":{"message":"Unsupported post request","type":"GraphMethodException"}}';

    expect(await sendTo(httpAnswer(400, { body }))).toMatchObject({
      kind: 'rejected',
      code: 400,
      httpStatus: 400,
      message: 'Unsupported post request',
    });
  });

  it('is rejected with the code and the details of the error body', async () => {
    const error = { message: '(#132001) No', code: 132001, error_data: { details: 'no such name' } };

    expect(await sendTo(httpAnswer(404, { body: JSON.stringify({ error }) }))).toEqual({
      kind: 'rejected',
      code: 132001,
      subcode: null,
      httpStatus: 404,
      message: '(#132001) No',
      details: 'no such name',
      isTransient: false,
    });
  });

  it.each([
    ['a code written as text', 400, { code: '131026', message: 'x' }, { code: 131026 }],
    ['details as plain text', 400, { code: 100, message: 'x', error_data: 'why' }, { details: 'why' }],
    ['a subcode', 400, { code: 100, error_subcode: 33, message: 'x' }, { subcode: 33 }],
    ['a passing error', 503, { code: 2, message: 'x', is_transient: true }, { code: 2, isTransient: true }],
    ['an error under HTTP 200', 200, { code: 131000, message: 'x' }, { code: 131000, httpStatus: 200 }],
    ['an error of the provider under HTTP 502', 502, { code: 131016, message: 'x' }, { code: 131016 }],
  ])('is rejected when the body holds %s', async (_name, status, error, expected) => {
    const result = await sendTo(httpAnswer(status, { body: JSON.stringify({ error }) }));

    expect(result).toMatchObject({ kind: 'rejected', ...expected });
  });

  it.each([
    [429, 'slow down'],
    [404, '{"detail":"no route"}'],
    [302, ''],
    [400, '{"error":{"message":"without a code"}}'],
  ])('is rejected with the HTTP status when HTTP %i comes without a provider error', async (status, body) => {
    const headers = { location: 'http://127.0.0.1:1/' };

    expect(await sendTo(httpAnswer(status, { body, headers }))).toMatchObject({
      kind: 'rejected',
      code: status,
      httpStatus: status,
    });
  });

  it('is rejected when HTTP 503 names the time to try again: no backend took the request', async () => {
    const answer = httpAnswer(503, { body: '', headers: { 'retry-after': '2' } });
    expect(await sendTo(answer)).toMatchObject({ kind: 'rejected', code: 503, retryAfterMs: 2_000 });
  });

  it.each([
    [503, 'upstream connect error or disconnect/reset before headers'],
    [500, '<html>oops</html>'],
    [500, '{"error":{"message":"without a code"}}'],
    [502, '<html>bad gateway</html>'],
    [504, ''],
    [520, ''],
  ])(
    'is unknown when HTTP %i comes without a provider error: it may have been sent',
    async (status, body) => {
      expect(await sendTo(httpAnswer(status, { body }))).toMatchObject({ kind: 'unknown' });
    },
  );

  it.each([
    ['garbage', 'not json'],
    ['nothing', ''],
    ['truncated JSON', '{"messages":[{"id":"wam'],
    ['no messages', '{"messaging_product":"whatsapp"}'],
    ['an empty list', '{"messages":[]}'],
    ['a message without an id', '{"messages":[{"message_status":"accepted"}]}'],
    ['an empty id', '{"messages":[{"id":""}]}'],
    ['null', 'null'],
  ])('is unknown when HTTP 200 holds %s', async (_name, body) => {
    expect(await sendTo(httpAnswer(200, { body }))).toMatchObject({ kind: 'unknown' });
  });

  it.each([
    ['seconds', { 'retry-after': '7' }, 7000],
    ['days, of which an hour is kept', { 'retry-after': '172800' }, 3_600_000],
    [
      'a date',
      { 'retry-after': 'Sat, 21 Nov 2026 10:00:30 GMT', date: 'Sat, 21 Nov 2026 10:00:00 GMT' },
      30_000,
    ],
    [
      'the usage header, in minutes',
      { 'x-business-use-case-usage': '{"1":[{"type":"whatsapp","estimated_time_to_regain_access":3}]}' },
      180_000,
    ],
  ])('reports how long to wait when the provider says so in %s', async (_name, headers, retryAfterMs) => {
    const body = '{"error":{"code":80007,"message":"limit"}}';

    expect(await sendTo(httpAnswer(429, { body, headers }))).toMatchObject({
      kind: 'rejected',
      retryAfterMs,
    });
  });

  it.each([{ 'retry-after': 'soon' }, { 'x-business-use-case-usage': '{broken' }, { 'retry-after': '0' }])(
    'names no time when the header cannot be read: %o',
    async (headers) => {
      const result = await sendTo(httpAnswer(429, { body: '{"error":{"code":4}}', headers }));

      expect(result).toMatchObject({ kind: 'rejected', code: 4 });
      expect(result).not.toHaveProperty('retryAfterMs');
    },
  );
});

describe('a send without an answer', () => {
  it('is unreachable when nothing listens', async () => {
    const provider = connectTo(`http://127.0.0.1:${await freePort()}/v23.0`);

    expect(await provider.sendMessage(message)).toEqual({ kind: 'unreachable', cause: 'ECONNREFUSED' });
  });

  it('is unreachable when the name does not exist', async () => {
    const provider = connectTo('http://provider.invalid/v23.0');

    expect(await provider.sendMessage(message)).toMatchObject({ kind: 'unreachable' });
  });

  it('is unreachable when the certificate is not to be trusted, and is never written', async () => {
    let heard = '';
    const server = createTlsServer(receiverCertificate, (socket) => {
      socket.on('data', (bytes) => (heard += bytes.toString())).on('error', () => undefined);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const provider = connectTo(`https://127.0.0.1:${port}/v23.0`);

    expect(await provider.sendMessage(message)).toMatchObject({ kind: 'unreachable' });
    await new Promise((resolve) => server.close(resolve));
    expect(heard).toBe('');
  });

  it('is unreachable when TLS is spoken to a server without it', async () => {
    const server = await serve((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));

    const result = await connectTo(server.baseUrl.replace('http:', 'https:')).sendMessage(message);

    expect(result).toMatchObject({ kind: 'unreachable' });
  });

  it('is unreachable when the client is closed', async () => {
    const server = await serve((socket) => socket.write(acceptedAnswer));
    const provider = createCloudProvider({ baseUrl: server.baseUrl, connections: 1, timeoutMs: 1000 });
    await provider.close();

    expect(await provider.sendMessage(message)).toMatchObject({ kind: 'unreachable' });
    expect(server.requests).toEqual([]);
  });

  it('is unreachable when its turn on a connection does not come in time, and is never written', async () => {
    const server = await serve((socket, request) => {
      if (request.includes('before')) socket.write(acceptedAnswer);
    });
    // The first of the two does not wait for a connection to be opened.
    const provider = await connected(server, 200);

    // Frozen clock: with a later deadline the second request would get the first one's connection.
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
    const sent = ['first', 'second'].map((callbackData) =>
      provider.sendMessage({ ...message, callbackData }),
    );
    clock.mockRestore();
    const results = await Promise.all(sent);

    expect(results.map(({ kind }) => kind)).toEqual(['unknown', 'unreachable']);
    await provider.close();
    expect(server.requests.filter((request) => request.includes('second'))).toEqual([]);
  });

  it('is unknown when the provider never answers, within the time limit', async () => {
    const server = await serve((socket, request) => {
      if (request.includes('before')) socket.write(acceptedAnswer);
    });
    const provider = await connected(server, 200);
    const started = performance.now();

    const result = await provider.sendMessage(message);

    expect(result).toEqual({ kind: 'unknown', cause: 'timeout' });
    expect(performance.now() - started).toBeGreaterThanOrEqual(195);
    await expect.poll(() => server.requests).toHaveLength(1);
  });

  it('is unknown when the connection is reset behind the request, which is not repeated', async () => {
    const server = await serve((socket) => socket.resetAndDestroy());

    expect(await connectTo(server.baseUrl).sendMessage(message)).toMatchObject({ kind: 'unknown' });
    expect(server.requests).toHaveLength(1);
  });

  it('is unknown when the connection is closed behind the request, which is not repeated', async () => {
    const server = await serve((socket) => socket.end());

    expect(await connectTo(server.baseUrl).sendMessage(message)).toMatchObject({ kind: 'unknown' });
    expect(server.requests).toHaveLength(1);
  });

  it('is unknown when the answer breaks off', async () => {
    const server = await serve((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{"messages":[');
      socket.end();
    });

    expect(await connectTo(server.baseUrl).sendMessage(message)).toMatchObject({ kind: 'unknown' });
  });

  it('is unknown when the answer is no HTTP', async () => {
    expect(await sendTo('SMTP ready\r\n\r\n')).toMatchObject({ kind: 'unknown' });
  });

  it.each([
    ['head', 'HTTP/1.1 200 OK\r\nx-slow: '],
    ['body', 'HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n'],
  ])('is unknown when the %s drips on past the time limit', async (_name, start) => {
    const drips: NodeJS.Timeout[] = [];
    const server = await serve((socket, request) => {
      if (request.includes('before')) return void socket.write(acceptedAnswer);
      socket.write(start);
      drips.push(setInterval(() => socket.write('x'), 20));
    });
    closers.push(async () => drips.forEach((drip) => clearInterval(drip)));

    const result = await (await connected(server, 250)).sendMessage(message);

    expect(result).toEqual({ kind: 'unknown', cause: 'timeout' });
  });

  it('is unknown when the answer is larger than any of the provider', async () => {
    const server = await serve((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${64 * 1024 * 1024}\r\n\r\n`);
      socket.write(Buffer.alloc(20 * 1024 * 1024, 0x20));
    });

    const result = await connectTo(server.baseUrl, { timeoutMs: 5000 }).sendMessage(message);

    expect(result).toEqual({ kind: 'unknown', cause: 'UND_ERR_RES_EXCEEDED_MAX_SIZE' });
  });
});

describe('the connections', () => {
  it('are kept: one serves send after send', async () => {
    let connections = 0;
    const server = await startRawServer((socket) => socket.write(acceptedAnswer), {
      onConnection: () => {
        connections += 1;
      },
    });
    closers.push(() => server.close());
    const provider = connectTo(server.baseUrl, { connections: 1 });

    for (let count = 0; count < 20; count += 1) await provider.sendMessage(message);

    expect(connections).toBe(1);
    expect(server.requests).toHaveLength(20);
  });

  it('are replaced after the provider closed them between two sends', async () => {
    const closed: Promise<unknown>[] = [];
    const server = await serve((socket) => {
      closed.push(once(socket, 'close'));
      socket.write(acceptedAnswer);
      socket.end();
    });
    const provider = connectTo(server.baseUrl, { connections: 1 });
    await provider.sendMessage(message);
    // Both sides have closed the connection.
    await closed[0];

    expect(await provider.sendMessage(message)).toMatchObject({ kind: 'accepted' });
    expect(server.requests).toHaveLength(2);
  });

  it('recover once the provider is back', async () => {
    const port = await freePort();
    const provider = connectTo(`http://127.0.0.1:${port}/v23.0`);
    const before = await provider.sendMessage(message);
    const server = createServer((socket) => {
      socket.on('data', () => socket.write(acceptedAnswer));
      closers.push(async () => void socket.destroy());
    });
    await new Promise<void>((resolve) => {
      server.listen(port, '127.0.0.1', resolve);
    });
    closers.push(async () => void server.close());

    expect(before).toMatchObject({ kind: 'unreachable' });
    expect(await provider.sendMessage(message)).toMatchObject({ kind: 'accepted' });
  });
});
