import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../../../support/api.ts';
import { echoEndpoints } from '../../../support/echo-endpoints.ts';

let api: TestApi;
let key: string;

beforeAll(async () => {
  api = await startTestApi({ endpoints: echoEndpoints });
  key = (await api.seedWorkspace()).channelKey;
});
afterAll(() => api.close());

const post = (body: unknown, headers: Record<string, string> = {}) =>
  api.send('POST', '/api/notes', { key, body, headers });

describe('a JSON body is refused', () => {
  const cases: [
    title: string,
    status: number,
    body: string | Uint8Array,
    headers?: Record<string, string>,
  ][] = [
    ['that is not JSON', 400, '{"name": '],
    ['that is empty', 400, ''],
    ['that is an array', 400, '[]'],
    ['that is a string', 400, '"name"'],
    ['that is null', 400, 'null'],
    ['with a NUL character in a value', 400, '{"name": "a\\u0000"}'],
    ['with a NUL character in an unknown key', 400, '{"name": "a", "extra": {"\\u0000": 1}}'],
    ['with a lone surrogate', 400, '{"name": "\\ud800"}'],
    ['with a lone surrogate in a key at depth', 400, '{"name": "a", "extra": {"b": [{"\\udc00": 1}]}}'],
    ['that is not UTF-8', 400, Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['that is nested 65 levels deep', 400, `{"name": "a", "extra": ${'['.repeat(64)}${']'.repeat(64)}}`],
    [
      'that is nested 100,000 levels deep',
      400,
      `{"extra": ${'{"a":'.repeat(100_000)}1${'}'.repeat(100_001)}`,
    ],
    ['of another type', 415, 'name=a', { 'Content-Type': 'application/x-www-form-urlencoded' }],
    ['in another charset', 415, '{}', { 'Content-Type': 'application/json; charset=latin1' }],
    ['in another encoding', 415, '{}', { 'Content-Encoding': 'br' }],
    ['that is not gzip though it says so', 400, '{"name": "a"}', { 'Content-Encoding': 'gzip' }],
    [
      'whose gzip is cut short',
      400,
      gzipSync('{"name": "a"}').subarray(0, 15),
      { 'Content-Encoding': 'gzip' },
    ],
    ['that is larger than the limit', 413, JSON.stringify({ name: 'x'.repeat(1024 * 1024) })],
    [
      'that inflates beyond the limit',
      413,
      gzipSync(Buffer.alloc(50 * 1024 * 1024)),
      { 'Content-Encoding': 'gzip' },
    ],
  ];

  it.each(cases)('%s', async (_, status, body, headers) => {
    const response = await post(body, headers);
    expect(response.status).toBe(status);
    expect(response.body).toMatchObject({ status: 'error', code: status });
  });

  it('when the type is missing', async () => {
    const response = await post(new TextEncoder().encode('{}'), { 'Content-Type': '' });
    expect(response.status).toBe(415);
  });
});

describe('a JSON body is taken', () => {
  it('with a charset parameter, inflated from gzip, and with escaped text', async () => {
    const body = gzipSync('{"name": "\\u00e9 \\ud83d\\ude00 \\"{[", "count": 1e3}');
    const response = await post(body, {
      'Content-Type': 'Application/JSON; charset="UTF-8"',
      'Content-Encoding': 'gzip',
    });
    expect(response.body.data).toEqual({ name: 'é 😀 "{[', count: 1000 });
  });

  it('nested 64 levels deep', async () => {
    const body = `{"name": "a", "extra": {"b": ${'['.repeat(62)}${']'.repeat(62)}}}`;
    expect((await post(body)).status).toBe(200);
  });

  it('at exactly the limit', async () => {
    const frame = '{"name": ""}'.length;
    const response = await post(`{"name": "${'x'.repeat(1024 * 1024 - frame)}"}`);
    expect(response.status).toBe(200);
  });

  it('without the prototype keys it brings', async () => {
    const response = await post(
      '{"name": "a", "__proto__": {"count": 7}, "extra": {"__proto__": {"x": 1}, "y": 2}}',
    );
    expect(response.body.data).toEqual({ name: 'a', extra: { y: 2 } });
  });
});

it('takes raw bytes up to the limit of the endpoint', async () => {
  const headers = { 'Content-Type': 'application/octet-stream' };
  const size = 4 * 1024 * 1024;
  const taken = await api.send('POST', '/callback', { body: Buffer.alloc(size, 0xff), headers });
  expect(taken.body.data.size).toBe(size);
  const refused = await api.send('POST', '/callback', { body: Buffer.alloc(size + 1), headers });
  expect(refused.status).toBe(413);
});
