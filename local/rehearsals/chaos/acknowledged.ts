/** A client that writes continuously and records every acknowledged write: none may be missing afterwards. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { withClient } from '../evidence.ts';

export interface AcknowledgedWrites {
  /** Stops writing. */
  readonly stop: () => Promise<void>;
  /** How often each status was the answer; `none` for no answer. */
  readonly answers: ReadonlyMap<string, number>;
  /** How many of the writes that were answered with 2xx are not in the database. */
  readonly countForgotten: (databaseUrl: string) => Promise<number>;
}

const everyMs = 250;
/** Clients behind a load balancer commonly give up after this time. */
const patienceMs = 30_000;
const firstNumber = 10_000_000;

export function startAcknowledgedWrites(apiUrl: string, apiKey: string): AcknowledgedWrites {
  const answers = new Map<string, number>();
  const acknowledged: string[] = [];
  const stopped = new AbortController();
  const inFlight = new Set<Promise<void>>();
  // A connection for every request, as from many clients.
  const dispatcher = new Agent({ pipelining: 0, headersTimeout: patienceMs });
  const create = async (phoneNumber: string): Promise<void> => {
    const status = await request(`${apiUrl}/api/contacts`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ phoneNumber }),
      dispatcher,
    }).then(
      async ({ statusCode, body }) => {
        await body.dump();
        return String(statusCode);
      },
      () => 'none',
    );
    answers.set(status, (answers.get(status) ?? 0) + 1);
    if (status.startsWith('2')) acknowledged.push(phoneNumber);
  };
  const loop = (async () => {
    for (let number = firstNumber; !stopped.signal.aborted; number += 1) {
      const write = create(`+49160${number}`).finally(() => inFlight.delete(write));
      inFlight.add(write);
      await sleep(everyMs);
    }
  })();
  return {
    answers,
    async stop() {
      stopped.abort();
      await loop;
      await Promise.all(inFlight);
      await dispatcher.close();
    },
    countForgotten: (databaseUrl) =>
      withClient(databaseUrl, async (client) => {
        const { rows } = await client.query<{ forgotten: number }>(
          `SELECT count(*)::int AS forgotten FROM unnest($1::text[]) AS acknowledged (number)
          WHERE NOT EXISTS (SELECT FROM contact WHERE phone_number = ltrim(number, '+'))`,
          [acknowledged],
        );
        return rows[0]?.forgotten ?? acknowledged.length;
      }),
  };
}
