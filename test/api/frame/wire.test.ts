import { afterAll, beforeAll, expect, it } from 'vitest';
import { openApiDocument } from '../../../src/api/frame/document/openapi.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { echoEndpoints } from '../../support/echo-endpoints.ts';
import { openRaw, parseAnswer, sendRaw } from '../../support/raw-request.ts';

let api: TestApi;
let key: string;

beforeAll(async () => {
  api = await startTestApi({
    endpoints: echoEndpoints,
    limits: { headersMs: 200, bodyMs: 200, requestMs: 5_000 },
  });
  key = (await api.seedWorkspace()).channelKey;
});
afterAll(() => api.close());

const expectEnvelope = ({ status, body }: { status: number; body: string }, expected: number) => {
  expect(status).toBe(expected);
  expect(JSON.parse(body)).toMatchObject({ status: 'error', code: expected });
};

it('answers a request that is not HTTP with the error envelope', async () => {
  expectEnvelope(await sendRaw(api.port, 'this is not HTTP\r\n\r\n'), 400);
});

it('refuses two Host headers, and none', async () => {
  expectEnvelope(
    await sendRaw(api.port, 'GET /api/notes HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n'),
    400,
  );
  expectEnvelope(await sendRaw(api.port, 'GET /api/notes HTTP/1.1\r\nConnection: close\r\n\r\n'), 400);
});

it('refuses headers that are too large', async () => {
  const head = `GET / HTTP/1.1\r\nHost: a\r\nX-Large: ${'x'.repeat(20_000)}\r\n\r\n`;
  expectEnvelope(await sendRaw(api.port, head), 431);
});

it('refuses an expectation it cannot meet', async () => {
  const head = 'POST /api/notes HTTP/1.1\r\nHost: a\r\nExpect: a-miracle\r\nContent-Length: 2\r\n\r\n{}';
  expectEnvelope(await sendRaw(api.port, head), 417);
});

it('times out a request whose head never ends', async () => {
  expectEnvelope(await sendRaw(api.port, 'GET /api/notes HTTP/1.1\r\nHost: a\r\n'), 408);
});

it('times out a request whose body never ends', async () => {
  const head = `POST /api/notes HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\n`;
  expectEnvelope(await sendRaw(api.port, `${head}Content-Length: 100000\r\n\r\n{`), 408);
});

it('refuses a repeated key', async () => {
  const head = `GET /api/notes HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-API-Key: ${key}\r\nx-api-key: ${key}\r\n\r\n`;
  expectEnvelope(await sendRaw(api.port, head), 401);
});

it('answers 413 at once and closes the connection, while the body is still being sent', async () => {
  const { socket, closed } = openRaw(api.port);
  const head = `POST /api/notes HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\n`;
  socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`);
  const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
  let sent = 0;
  const timer = setInterval(() => {
    if (sent < 400 && socket.writable) socket.write(chunk.repeat(8));
    sent += 8;
  }, 1);
  const answer = parseAnswer(await closed);
  clearInterval(timer);
  expectEnvelope(answer, 413);
  expect(answer.headers).toMatch(/connection: close/i);
});

it('keeps the connection after a refused small body', async () => {
  const { socket, closed } = openRaw(api.port);
  const request =
    'POST /api/notes HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}';
  socket.write(request);
  socket.write(`GET /api/notes HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\nConnection: close\r\n\r\n`);
  const text = await closed;
  expect(text.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 401', 'HTTP/1.1 200']);
});

it('survives callers that leave in the middle of a body', async () => {
  const head = `POST /api/notes HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\n`;
  const conversations = Array.from({ length: 20 }, () => openRaw(api.port));
  for (const { socket } of conversations) socket.write(`${head}Content-Length: 1000\r\n\r\n{"name"`);
  for (const { socket } of conversations) socket.destroy();
  await Promise.all(conversations.map(({ closed }) => closed));
  expect((await api.send('GET', '/api/notes', { key })).status).toBe(200);
});

it('announces the end of a deprecated operation in every answer and in the document', async () => {
  for (const given of [key, 'wrong']) {
    const { status, headers } = await api.send('GET', '/api/old-notes', { key: given });
    expect(status).toBe(given === key ? 200 : 401);
    expect(headers.get('deprecation')).toBe('@1798761600');
    expect(headers.get('sunset')).toBe('Thu, 01 Jul 2027 00:00:00 GMT');
    expect(headers.get('link')).toBe('</docs>; rel="deprecation"');
  }
  expect((await api.send('GET', '/api/notes', { key })).headers.get('deprecation')).toBeNull();
  const paths = openApiDocument(echoEndpoints)['paths'] as Record<string, { get: object }>;
  expect(paths['/api/old-notes']?.get).toMatchObject({
    deprecated: true,
    description: 'Lists notes. Deprecated, may be gone from 2027-07-01 on. Use GET /api/notes.',
  });
});
