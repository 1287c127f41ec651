/** What callers without a key can take from the others: memory, and lines of the log. */
import { pino } from 'pino';
import { afterEach, expect, it } from 'vitest';
import { receiveProviderCallback } from '../../src/api/provider-webhook.ts';
import type { Logger } from '../../src/telemetry/logger.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { echoEndpoints } from '../support/echo-endpoints.ts';
import { openRaw } from '../support/raw-request.ts';

let api: TestApi;
afterEach(() => api.close());

const signature = `sha256=${'0'.repeat(64)}`;
const kibibyte = 1024;

it('together take no more than a quarter of the memory for bodies', async () => {
  api = await startTestApi({
    endpoints: [receiveProviderCallback, ...echoEndpoints],
    limits: { memoryBytes: 1024 * kibibyte },
    config: { trustedProxies: ['127.0.0.0/8'] },
  });
  const { channelKey } = await api.seedWorkspace();
  const strangers = Array.from({ length: 16 }, (_, index) => {
    const conversation = openRaw(api.port);
    conversation.socket.write(
      `POST /provider/webhook HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.${index}\r\n` +
        `X-Hub-Signature-256: ${signature}\r\nContent-Length: ${100 * kibibyte}\r\n\r\n${'x'.repeat(60 * kibibyte)}`,
    );
    return conversation;
  });
  let answers = '';
  for (const { socket } of strangers) socket.on('data', (text: string) => (answers += text));
  await expect.poll(() => answers.match(/HTTP.1.1 503/g)?.length ?? 0).toBeGreaterThanOrEqual(12);
  const body = { name: 'x'.repeat(150 * kibibyte) };
  expect((await api.send('POST', '/api/notes', { key: channelKey, body })).status).toBe(200);
  for (const { socket } of strangers) socket.destroy();
});

it('cause one line of the log, however many of their callbacks are refused', async () => {
  const lines: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line) => lines.push(line) }) as unknown as Logger;
  api = await startTestApi({ endpoints: [receiveProviderCallback], dependencies: { logger } });
  for (let count = 0; count < 5; count += 1) {
    const { status } = await api.send('POST', '/provider/webhook', {
      body: '{}',
      headers: { 'X-Hub-Signature-256': signature },
    });
    expect(status).toBe(401);
  }
  expect(lines.filter((line) => line.includes('provider callback refused'))).toHaveLength(1);
});
