/** Sends requests over keep-alive connections as fast as they are answered and keeps the latency of every answer. */
import { Pool } from 'undici';

export interface LoadRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Load {
  readonly port: number;
  readonly requests: readonly LoadRequest[];
  readonly connections: number;
  /** Any other status ends the run. */
  readonly expect: number;
}

export interface Loaded {
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

export async function loadHttp({ port, requests, connections, expect }: Load): Promise<Loaded> {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections, pipelining: 1 });
  const latencies: number[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let request = requests[next++]; request !== undefined; request = requests[next++]) {
      const { method, path, headers, body } = request;
      const sentAt = performance.now();
      const answer = await pool.request({
        method,
        path,
        headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
        ...(body !== undefined && { body }),
      });
      if (answer.statusCode !== expect) {
        throw new Error(`${method} ${path} answered ${answer.statusCode}: ${await answer.body.text()}`);
      }
      await answer.body.dump();
      latencies.push(performance.now() - sentAt);
    }
  };
  const startedAt = performance.now();
  try {
    await Promise.all(Array.from({ length: connections }, lane));
  } finally {
    await pool.destroy();
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const sorted = latencies.toSorted((a, b) => a - b);
  return {
    perSecond: requests.length / seconds,
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
  };
}
