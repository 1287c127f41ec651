/**
 * A provider in a process of its own that accepts every message at once, so that it never limits a sender. `GET
 * /arrivals/<phone number id>` returns what it received for one channel.
 */
import { createHash } from 'node:crypto';
import { fork } from 'node:child_process';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { stopOnSignal } from './stop-on-signal.ts';

export interface Arrivals {
  readonly count: number;
  readonly distinct: number;
  /** Epoch milliseconds; 0 when nothing came. */
  readonly firstAt: number;
  readonly lastAt: number;
  /** How many came within a minute of the first. */
  readonly inFirstMinute: number;
  /** The most that came within any one second. */
  readonly busiestSecond: number;
}

export interface AckServer {
  readonly baseUrl: string;
  readonly arrivals: (phoneNumberId: string) => Promise<Arrivals>;
  readonly stop: () => void;
}

/** `latencyMs`: how long every answer takes. */
export function startAckServer(latencyMs = 0): Promise<AckServer> {
  const child = fork(fileURLToPath(import.meta.url), ['serve', String(latencyMs)]);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('message', (port: number) => {
      const origin = `http://127.0.0.1:${String(port)}`;
      resolve({
        baseUrl: `${origin}/v23.0`,
        arrivals: async (phoneNumberId) => {
          const answer = await fetch(`${origin}/arrivals/${phoneNumberId}`);
          return (await answer.json()) as Arrivals;
        },
        stop: stopOnSignal(() => void child.kill()),
      });
    });
  });
}

interface Channel {
  readonly ids: Set<string>;
  readonly times: number[];
}

function summarise({ ids, times }: Channel): Arrivals {
  let busiestSecond = 0;
  let first = 0;
  const [firstAt = 0] = times;
  for (const [index, at] of times.entries()) {
    while ((times[first] ?? at) <= at - 1_000) first += 1;
    busiestSecond = Math.max(busiestSecond, index - first + 1);
  }
  return {
    count: times.length,
    distinct: ids.size,
    firstAt,
    lastAt: times.at(-1) ?? 0,
    inFirstMinute: times.filter((at) => at < firstAt + 60_000).length,
    busiestSecond,
  };
}

function serve(latencyMs: number): void {
  const channels = new Map<string, Channel>();
  const channelOf = (id: string): Channel => {
    const channel = channels.get(id) ?? { ids: new Set(), times: [] };
    channels.set(id, channel);
    return channel;
  };
  const server = createServer((request, response) => {
    const [, folder = '', name = ''] = request.url?.split('/') ?? [];
    if (folder === 'arrivals') {
      response.end(JSON.stringify(summarise(channelOf(name))));
      return;
    }
    const channel = channelOf(name);
    channel.times.push(performance.timeOrigin + performance.now());
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts).toString('latin1');
      const id =
        /"biz_opaque_callback_data":"([^"]+)"/.exec(body)?.[1] ??
        createHash('sha1').update(body).digest('hex');
      channel.ids.add(id);
      const to = /"to":"\+?(\d+)"/.exec(body)?.[1] ?? '1';
      const answer = `{"messaging_product":"whatsapp","contacts":[{"input":"+${to}","wa_id":"${to}"}],"messages":[{"id":"wamid.${id}"}]}`;
      const reply = () => response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
      if (latencyMs === 0) reply();
      else void sleep(latencyMs).then(reply);
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    if (address !== null && typeof address === 'object') process.send?.(address.port);
  });
  process.once('disconnect', () => process.exit(0));
}

if (process.argv[2] === 'serve') serve(Number(process.argv[3]));
