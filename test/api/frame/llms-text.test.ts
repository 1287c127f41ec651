/** The summary of the API document for language models. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../../support/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const operationsOf = async () => {
  const document = (await (await fetch(`${api.baseUrl}/openapi.json`)).json()) as {
    readonly paths: Readonly<Record<string, object>>;
  };
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
};

it('lists every operation in /llms.txt, without a key', async () => {
  const response = await fetch(`${api.baseUrl}/llms.txt`);
  expect(response.headers.get('Content-Type')).toBe('text/plain; charset=utf-8');
  const text = await response.text();
  expect(text).toMatch(/^# Messaging campaigns\n\n> Sends approved template messages/);
  for (const operation of await operationsOf()) expect(text).toContain(`- \`${operation}\` (`);
});
