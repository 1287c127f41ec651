/** A webhook receiver that counts what it gets. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CountingReceiver {
  readonly url: string;
  /** Requests by the value of the header. */
  readonly counts: ReadonlyMap<string, number>;
  readonly close: () => Promise<void>;
}

/** 30 ms: the receiver answers late enough that a kill hits unanswered requests. */
export const inHandsMs = 30;

export async function startCountingReceiver(
  header: 'x-event-key' | 'webhook-id',
  answerAfterMs = 0,
): Promise<CountingReceiver> {
  const counts = new Map<string, number>();
  const server = createServer((request, response) => {
    const value = String(request.headers[header]);
    request.resume().once('end', () => {
      counts.set(value, (counts.get(value) ?? 0) + 1);
      setTimeout(() => response.writeHead(204).end(), answerAfterMs);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/webhooks`,
    counts,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
