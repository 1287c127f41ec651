/** Posts signed callbacks over keep-alive connections and keeps the latency of every answer. */
import { createHmac } from 'node:crypto';
import { Pool } from 'undici';
import { benchAppSecret } from './callback-process.ts';

export interface Posted {
  readonly seconds: number;
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

export interface PostOptions {
  readonly port: number;
  readonly bodies: readonly string[];
  readonly connections: number;
  /** Requests a second; as fast as possible when absent. */
  readonly perSecond?: number;
}

const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

export async function postCallbacks({ port, bodies, connections, perSecond }: PostOptions): Promise<Posted> {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections, pipelining: 1 });
  const signed = bodies.map((body) => ({
    body,
    signature: `sha256=${createHmac('sha256', benchAppSecret).update(body).digest('hex')}`,
  }));
  const latencies: number[] = [];
  const startedAt = performance.now();
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let at = next++; at < signed.length; at = next++) {
      const dueAt = perSecond === undefined ? 0 : startedAt + (at * 1000) / perSecond;
      const waitMs = dueAt - performance.now();
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      const { body, signature } = signed[at] as (typeof signed)[number];
      const sentAt = performance.now();
      const answer = await pool.request({
        method: 'POST',
        path: '/provider/webhook',
        headers: { 'content-type': 'application/json', 'x-hub-signature-256': signature },
        body,
      });
      await answer.body.dump();
      if (answer.statusCode !== 200) throw new Error(`answered ${answer.statusCode}`);
      latencies.push(performance.now() - sentAt);
    }
  };
  await Promise.all(Array.from({ length: connections }, lane));
  const seconds = (performance.now() - startedAt) / 1000;
  await pool.close();
  const sorted = latencies.toSorted((a, b) => a - b);
  return {
    seconds,
    perSecond: Math.round(bodies.length / seconds),
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
  };
}
