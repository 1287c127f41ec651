/** An ordinary tenant: reads and writes a little, and waits for its events. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';

export interface TenantTimes {
  /** 99th percentile in milliseconds. */
  readonly answerMs: number;
  readonly eventMs: number;
  /** Number of answers with a status other than 2xx. */
  readonly refused: number;
  /** Events that have not arrived. */
  readonly missing: number;
}

export interface OrdinaryTenant {
  /** Times of the requests since the previous call. */
  readonly times: () => Promise<TenantTimes>;
  readonly stop: () => Promise<void>;
}

const everyMs = 40;
const eventPatienceMs = 20_000;

export async function startOrdinaryTenant(baseUrl: string, apiKey: string): Promise<OrdinaryTenant> {
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  const writtenAt = new Map<string, number>();
  let answers: number[] = [];
  let events: number[] = [];
  let refused = 0;
  const receiver = createServer((incoming, response) => {
    const parts: Buffer[] = [];
    incoming.on('data', (part: Buffer) => parts.push(part));
    incoming.on('end', () => {
      response.writeHead(204).end();
      const { data } = JSON.parse(Buffer.concat(parts).toString()) as {
        data: { contact: { email: string } };
      };
      const since = writtenAt.get(data.contact.email);
      writtenAt.delete(data.contact.email);
      if (since !== undefined) events.push(performance.now() - since);
    });
  });
  await new Promise<void>((resolve) => {
    receiver.listen(0, '127.0.0.1', resolve);
  });
  const { port } = receiver.address() as AddressInfo;
  await request(`${baseUrl}/api/external-webhooks`, {
    method: 'POST',
    headers,
    body: JSON.stringify({
      title: 'ordinary',
      url: `http://127.0.0.1:${port}/`,
      events: ['contact.created'],
    }),
  });

  const ended = new AbortController();
  let number = 0;
  const ask = async (): Promise<void> => {
    number += 1;
    const email = `person-${number}@example.com`;
    const isWrite = number % 4 === 0;
    const body = { phoneNumber: `+4915${String(100_000_000 + number)}`, email };
    const beganAt = performance.now();
    if (isWrite) writtenAt.set(email, beganAt);
    try {
      const answer = isWrite
        ? await request(`${baseUrl}/api/contacts`, { method: 'POST', headers, body: JSON.stringify(body) })
        : await request(`${baseUrl}/api/contacts?limit=10`, { headers });
      await answer.body.dump();
      if (answer.statusCode >= 300) throw new Error(String(answer.statusCode));
    } catch {
      refused += 1;
      writtenAt.delete(email);
    }
    answers.push(performance.now() - beganAt);
  };
  const asking = (async () => {
    while (!ended.signal.aborted) {
      void ask();
      await sleep(everyMs);
    }
  })();

  return {
    async times() {
      const [answered, delivered, failed] = [answers, events, refused];
      [answers, events, refused] = [[], [], 0];
      const pending = [...writtenAt.keys()];
      for (
        let waited = 0;
        waited < eventPatienceMs && pending.some((one) => writtenAt.has(one));
        waited += 50
      )
        await sleep(50);
      const missing = pending.filter((one) => writtenAt.has(one)).length;
      return {
        answerMs: p99(answered),
        eventMs: p99([...delivered, ...events]),
        refused: failed,
        missing,
      };
    },
    async stop() {
      ended.abort();
      await asking;
      receiver.close();
      receiver.closeAllConnections();
    },
  };
}

function p99(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return Math.round(sorted[Math.floor(sorted.length * 0.99)] ?? 0);
}
