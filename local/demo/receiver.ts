/** The demo's webhook receiver: counts what it gets, by event key. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface DemoReceiver {
  readonly url: string;
  readonly counts: ReadonlyMap<string, number>;
  readonly close: () => Promise<void>;
}

export async function startDemoReceiver(): Promise<DemoReceiver> {
  const counts = new Map<string, number>();
  const server = createServer((request, response) => {
    const key = String(request.headers['x-event-key']);
    request.resume().once('end', () => {
      counts.set(key, (counts.get(key) ?? 0) + 1);
      response.writeHead(204).end();
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
