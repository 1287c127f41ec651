/** The baseline for benches of sending: an undici loop that posts the same bodies and stores nothing. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { measure, type Measured } from './measure.ts';

export interface BareLoop {
  readonly baseUrl: string;
  readonly recipients: number;
  readonly connections: number;
  /** Undefined: as fast as possible. */
  readonly perSecond?: number;
}

/** Path segment in place of the phone number id, by which the fake provider counts messages per sender. */
export const sentTo = { bare: 'bare', bullmq: 'bullmq' } as const;

export const messageBody = (number: number): string =>
  JSON.stringify({
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    to: `+${4915100000000 + number}`,
    type: 'template',
    biz_opaque_callback_data: `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`,
    template: {
      name: 'hello',
      language: { code: 'en_US' },
      components: [{ type: 'body', parameters: [{ type: 'text', text: `Ada ${number}` }] }],
    },
  });

export async function runBareLoop(loop: BareLoop): Promise<Measured> {
  const { recipients, connections, perSecond } = loop;
  const url = new URL(loop.baseUrl);
  const pool = new Pool(url.origin, { connections, pipelining: 1 });
  const startedAt = performance.now();
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < recipients) {
      next += 1;
      const number = next;
      const dueInMs =
        perSecond === undefined ? 0 : startedAt + (number * 1_000) / perSecond - performance.now();
      if (dueInMs > 0) await sleep(dueInMs);
      const answer = await pool.request({
        method: 'POST',
        path: `${url.pathname}/${sentTo.bare}/messages`,
        headers: { 'content-type': 'application/json', authorization: 'Bearer token' },
        body: messageBody(number),
        headersTimeout: 30_000,
        bodyTimeout: 30_000,
      });
      await answer.body.json();
    }
  };
  const measured = await measure(async () => {
    await Promise.all(Array.from({ length: connections }, lane));
  });
  await pool.close();
  return measured;
}
