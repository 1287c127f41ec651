import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type SeededWorkspace, type TestApi } from '../../support/api.ts';
import { echoEndpoints } from '../../support/echo-endpoints.ts';

let api: TestApi;
let workspace: SeededWorkspace;

beforeAll(async () => {
  api = await startTestApi({ endpoints: echoEndpoints });
  workspace = await api.seedWorkspace();
});
afterAll(() => api.close());

const unauthorized = 'Unauthorized access: Invalid or missing authentication credentials.';
const tooLarge = 'x'.repeat(1024 * 1024 + 1);

describe('each check comes before the next', () => {
  it('answers 404 for an unknown route without a key', async () => {
    const response = await api.send('GET', '/api/nothing');
    expect(response.status).toBe(404);
    expect(response.body).toMatchObject({ status: 'error', code: 404 });
  });

  it('answers 405 with Allow before it asks for a key', async () => {
    const response = await api.send('DELETE', '/api/notes');
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, HEAD, POST');
  });

  it('prefers a literal path to one with parameters, for every method', async () => {
    const response = await api.send('PUT', '/api/notes/broadcast', { key: workspace.channelKey, body: {} });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST');
  });

  it('answers 401 before it reads a body that is too large', async () => {
    const response = await api.send('POST', '/api/notes', { body: tooLarge });
    expect(response.status).toBe(401);
    expect(response.body.message).toBe(unauthorized);
  });

  it('checks media type, size and syntax of the body before the path id', async () => {
    const key = workspace.channelKey;
    const wrongType = { key, body: '{}', headers: { 'Content-Type': 'text/plain' } };
    expect((await api.send('PUT', '/api/notes/7', wrongType)).status).toBe(415);
    expect((await api.send('PUT', '/api/notes/7', { key, body: tooLarge })).status).toBe(413);
    expect((await api.send('PUT', '/api/notes/7', { key, body: '{' })).status).toBe(400);
  });

  it('checks the path id before the fields', async () => {
    const response = await api.send('PUT', '/api/notes/7', { key: workspace.channelKey, body: {} });
    expect(response.status).toBe(404);
    expect(response.body.message).toBe('Note not found');
  });

  it('names every field that is wrong, the first one in the message', async () => {
    const response = await api.send('POST', '/api/notes', {
      key: workspace.channelKey,
      body: { count: 1.5, extra: [] },
    });
    expect(response.status).toBe(400);
    expect(response.body.message).toBe('Note name is required');
    expect(response.body.error.map(({ field }: { field: string }) => field)).toEqual([
      'name',
      'count',
      'extra',
    ]);
  });
});

it('decodes query, path and body and drops unknown fields', async () => {
  const key = workspace.channelKey;
  const listed = await api.send('GET', '/api/notes?page=3&search=a%20b&unknown=%00', { key });
  expect(listed.body.data.query).toEqual({ page: 3, search: 'a b' });
  const id = 'ABCDEF00-0000-4000-8000-000000000001';
  const updated = await api.send('PUT', `/api/notes/${id}`, {
    key,
    body: { name: 'n', unknown: { deep: 1 } },
  });
  expect(updated.body.data).toEqual({ params: { id: id.toLowerCase() }, body: { name: 'n' } });
});

it('refuses a page below 1, a repeated one and NUL characters in the query', async () => {
  const key = workspace.channelKey;
  for (const query of ['page=0', 'page=1&page=2', 'page=x', 'page=', 'search=%00']) {
    const response = await api.send('GET', `/api/notes?${query}`, { key });
    expect([query, response.status]).toEqual([query, 400]);
  }
});

it('answers HEAD like GET, without a body', async () => {
  const response = await api.send('HEAD', '/api/notes', { key: workspace.channelKey });
  expect(response.status).toBe(200);
  expect(response.text).toBe('');
});

it('echoes a request id or makes one, and sets the security headers on every answer', async () => {
  const given = await api.send('GET', '/api/nothing', { headers: { 'X-Request-Id': 'abc-1' } });
  expect(given.headers.get('x-request-id')).toBe('abc-1');
  const made = await api.send('GET', '/api/nothing', { headers: { 'X-Request-Id': 'with space' } });
  expect(made.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  expect(made.headers.get('cache-control')).toBe('no-store');
  expect(made.headers.get('x-content-type-options')).toBe('nosniff');
});

it('hides what went wrong inside', async () => {
  const response = await api.send('GET', '/api/failure');
  expect(response.status).toBe(500);
  expect(response.text).not.toContain('secret');
  expect(response.body.message).toBe('Internal server error: its log has this X-Request-Id');
});

it('gives the file of a multipart body to the handler and refuses another media type', async () => {
  const key = workspace.channelKey;
  const headers = { 'Content-Type': 'multipart/form-data; boundary=x' };
  const large = 'x'.repeat(3 * 1024 * 1024);
  const form = `--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n${large}\r\n--x--\r\n`;
  const response = await api.send('POST', '/api/files', { key, body: form, headers });
  expect(response.body.data.size).toBe(large.length);
  expect((await api.send('POST', '/api/files', { key, body: {} })).status).toBe(415);
});
