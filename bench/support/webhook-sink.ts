/**
 * A receiver of webhooks in a process of its own, forked from this file: `/healthy` and `/other` answer at once, `/hang` never.
 * Latency is counted from the envelope's `timestamp`, which the benchmark sets just before the event's transaction.
 */
import { fork } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

export interface Arrivals {
  readonly count: number;
  /** Requests that repeat an earlier `webhook-id`. */
  readonly doubled: number;
  readonly hanging: number;
  readonly p50: number;
  readonly p99: number;
  readonly slowest: number;
}

export interface WebhookSink {
  readonly healthyUrl: string;
  /** Answers at once; its requests are not counted. */
  readonly otherUrl: string;
  readonly hangingUrl: string;
  /** Returns the arrivals since the previous call. */
  readonly take: () => Promise<Arrivals>;
  readonly cpuSeconds: () => Promise<number>;
  readonly stop: () => void;
}

export function startWebhookSink(): Promise<WebhookSink> {
  const child = fork(fileURLToPath(import.meta.url), ['serve']);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('message', (port: number) => {
      const origin = `http://127.0.0.1:${String(port)}`;
      const read = async (path: string) => (await fetch(`${origin}${path}`)).json() as Promise<unknown>;
      resolve({
        healthyUrl: `${origin}/healthy`,
        otherUrl: `${origin}/other`,
        hangingUrl: `${origin}/hang`,
        take: async () => (await read('/take')) as Arrivals,
        cpuSeconds: async () => (await read('/cpu')) as number,
        stop: () => child.kill(),
      });
    });
  });
}

function serve(): void {
  const seen = new Set<string>();
  let latencies: number[] = [];
  let doubled = 0;
  let hanging = 0;

  const take = (): Arrivals => {
    const sorted = latencies.toSorted((a, b) => a - b);
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
    const arrivals = { count: sorted.length, doubled, hanging, p50: at(0.5), p99: at(0.99), slowest: at(1) };
    latencies = [];
    doubled = 0;
    hanging = 0;
    return arrivals;
  };

  const server = createServer((request, response) => {
    if (request.url === '/take') return void response.end(JSON.stringify(take()));
    if (request.url === '/cpu') {
      const { user, system } = process.cpuUsage();
      return void response.end(JSON.stringify((user + system) / 1_000_000));
    }
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      if (request.url === '/hang') {
        hanging += 1;
        return;
      }
      const id = request.headers['webhook-id'];
      // A POST of the baseline has no `webhook-id`.
      if (typeof id === 'string') {
        doubled += Number(seen.has(id));
        seen.add(id);
      }
      const happened = /"timestamp":"([^"]+)"/.exec(Buffer.concat(parts).toString('latin1'))?.[1] ?? '';
      if (request.url === '/healthy') latencies.push(Date.now() - Date.parse(happened));
      response.writeHead(200).end('ok');
    });
  });
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
  process.once('disconnect', () => process.exit(0));
}

if (process.argv[2] === 'serve') serve();
