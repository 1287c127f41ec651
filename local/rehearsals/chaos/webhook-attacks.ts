/** Attacks on webhook deliveries: receivers that stop answering, and a million events at once. */
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { Pool } from 'undici';
import { first, json, type AttackTarget } from './attack-target.ts';

const webhooksEach = 50;

/** Sends as the tenant of `key`. Its subscriptions are removed afterwards; the next round subscribes again. */
function sender(baseUrl: string) {
  const pool = new Pool(baseUrl, { connections: 20 });
  const webhooks = '/api/external-webhooks';
  const subscribed: { readonly key: string; readonly id: string }[] = [];
  const send = async (
    method: 'POST' | 'DELETE',
    key: string,
    path: string,
    body?: object,
  ): Promise<unknown> => {
    const answer = await pool.request({
      method,
      path,
      headers: json(key),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return answer.body.json();
  };
  return {
    post: async (key: string, path: string, body: object): Promise<void> => {
      await send('POST', key, path, body);
    },
    subscribe: async (key: string, url: string): Promise<void> => {
      for (let number = 0; number < webhooksEach; number += 1) {
        const made = await send('POST', key, webhooks, {
          title: 'hostile',
          url,
          events: ['contact.created'],
        });
        subscribed.push({ key, id: (made as { data: { id: string } }).data.id });
      }
    },
    close: async (): Promise<void> => {
      for (const { key, id } of subscribed) await send('DELETE', key, `${webhooks}/${id}`);
      await pool.destroy();
    },
  };
}

/** Calls `answer` for every request. */
async function receiver(answer: (response: ServerResponse) => void) {
  const server: Server = createServer((request, response) => {
    request.resume();
    answer(response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close };
}

/**
 * Fifty configurations per workspace whose receivers first answer, then stop while seven contacts a second are created.
 */
export async function hangingReceivers(target: AttackTarget): Promise<void> {
  let hangs = false;
  let answered = 0;
  const { url, close } = await receiver((response) => {
    if (hangs) return;
    response.writeHead(204).end();
    answered += 1;
  });
  const tenants = sender(target.baseUrl);
  for (const key of target.keys) await tenants.subscribe(key, url);
  const unused = 1_000_000 + (Date.now() % 8_000_000);
  const contacts = (from: number, count: number) =>
    target.keys.flatMap((key) =>
      Array.from({ length: count }, (_, index) =>
        tenants.post(key, '/api/contacts', { phoneNumber: `+49160${unused + from + index}` }),
      ),
    );
  await Promise.all(contacts(0, 2));
  while (answered < 2 * webhooksEach * target.keys.length) await sleep(100);
  hangs = true;
  for (let second = 0; second < target.seconds; second += 1) {
    await Promise.all([...contacts(100 + second * 10, 7), sleep(1_000)]);
  }
  await tenants.close();
  close();
}

/**
 * Inserts a million events of one workspace with fifty configurations directly; through the API it would take a quarter of an
 * hour.
 */
export async function millionEvents(target: AttackTarget): Promise<void> {
  const { url, close } = await receiver((response) => response.writeHead(204).end());
  const tenants = sender(target.baseUrl);
  await tenants.subscribe(first(target), url);
  const client = new pg.Client({ connectionString: target.databaseUrl });
  await client.connect();
  await client.query(
    `INSERT INTO event (workspace_id, key, body, occurred_at)
      SELECT workspace_id, 'contact.created', repeat('x', 600), now() FROM webhook_configuration, generate_series(1, 1000000)
      WHERE id = (SELECT id FROM webhook_configuration WHERE url = $1 LIMIT 1)`,
    [url],
  );
  await client.end();
  await sleep(target.seconds * 1_000);
  await tenants.close();
  close();
}
