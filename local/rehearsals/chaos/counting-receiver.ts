/** A webhook receiver that remembers every event it was told of, and how often. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CountingReceiver {
  readonly url: string;
  /** Requests by `webhook-id`. */
  readonly requests: ReadonlyMap<string, number>;
  readonly close: () => Promise<void>;
}

/** Long enough for a kill to find requests in the receiver's hands. */
const answerAfterMs = 30;

export async function startCountingReceiver(): Promise<CountingReceiver> {
  const requests = new Map<string, number>();
  const server = createServer((request, response) => {
    const id = String(request.headers['webhook-id']);
    request.resume().once('end', () => {
      requests.set(id, (requests.get(id) ?? 0) + 1);
      setTimeout(() => response.writeHead(204).end(), answerAfterMs);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
