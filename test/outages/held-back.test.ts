import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { createCloudProvider } from '../../src/provider/cloud-provider.ts';
import type { MessagingProvider, OutboundTemplateMessage } from '../../src/provider/provider.ts';

let close: () => Promise<void>;
afterEach(() => close());

/** One connection, and nothing is answered until `answer` is called. */
async function hangingProvider() {
  const asked: string[] = [];
  const waiting: ServerResponse[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      asked.push((JSON.parse(body) as Record<string, string>)['biz_opaque_callback_data'] ?? '');
      waiting.push(response);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const provider: MessagingProvider = createCloudProvider({
    baseUrl: `http://127.0.0.1:${port}/v1`,
    connections: 1,
    timeoutMs: 10_000,
  });
  close = async () => {
    server.closeAllConnections();
    server.close();
    await provider.close();
  };
  return {
    asked,
    provider,
    answer: () => waiting.shift()?.end(JSON.stringify({ messages: [{ id: 'wamid.1' }] })),
  };
}

const message = (callbackData: string, heldBack: () => boolean): OutboundTemplateMessage => ({
  phoneNumberId: '1',
  accessToken: 'token',
  to: '4915100000000',
  template: { name: 'hello', language: 'en_US', components: [] },
  callbackData,
  heldBack,
});

it('does not write a request that got its connection only after its campaign was paused', async () => {
  const { asked, provider, answer } = await hangingProvider();
  let paused = false;
  const first = provider.sendMessage(message('first', () => paused));
  const second = provider.sendMessage(message('second', () => paused));
  await expect.poll(() => asked).toEqual(['first']);
  paused = true;
  answer();
  expect(await first).toMatchObject({ kind: 'accepted' });
  expect(await second).toMatchObject({ kind: 'unreachable' });
  expect(asked).toEqual(['first']);
  const third = provider.sendMessage(message('third', () => false));
  await expect.poll(() => asked).toEqual(['first', 'third']);
  answer();
  expect(await third).toMatchObject({ kind: 'accepted' });
});
