/** What is generated from the API document: the Postman collection and the summary for language models. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../../support/api.ts';

interface Item {
  readonly name: string;
  readonly request: {
    readonly method: string;
    readonly url: { readonly raw: string };
    readonly header: readonly { readonly key: string; readonly value: string }[];
    readonly body?: { readonly raw?: string };
  };
}

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

it('has a request for every operation but the provider’s in /postman.json, and its examples work', async () => {
  const collection = (await (await fetch(`${api.baseUrl}/postman.json`)).json()) as {
    readonly info: { readonly schema: string };
    readonly item: readonly { readonly item: readonly Item[] }[];
  };
  expect(collection.info.schema).toContain('v2.1.0');
  const requests = collection.item.flatMap(({ item }) => item);
  const paths = requests.map(
    ({ request: { method, url } }) =>
      `${method} ${url.raw.replace('{{baseUrl}}', '').replaceAll(/:(\w+)/g, '{$1}')}`,
  );
  const expected = (await operationsOf()).filter((one) => !one.endsWith('/provider/webhook'));
  expect(paths.toSorted()).toEqual(expected.toSorted());

  const { channelKey } = await api.seedWorkspace();
  const creation = requests.find(({ name }) => name === 'Create a tag')?.request;
  const response = await fetch(String(creation?.url.raw.replace('{{baseUrl}}', api.baseUrl)), {
    method: 'POST',
    headers: {
      'X-API-Key': channelKey,
      ...Object.fromEntries(creation?.header.map(({ key, value }) => [key, value]) ?? []),
    },
    body: creation?.body?.raw ?? '',
  });
  expect(response.status).toBe(201);
});
