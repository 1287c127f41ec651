import type { IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedWebhook {
  readonly headers: IncomingHttpHeaders;
  /** The bytes as received. */
  readonly body: Buffer;
  readonly receivedAt: number;
}

export interface WebhookReceiver {
  readonly url: string;
  readonly received: readonly ReceivedWebhook[];
  readonly close: () => Promise<void>;
}

export interface ReceiverBehaviour {
  readonly status?: number;
  /** Keeps the sender waiting; Infinity never answers. */
  readonly delayMs?: number;
}

/** An honest HTTP receiver on loopback that keeps every request. */
export async function startWebhookReceiver(behaviour: ReceiverBehaviour = {}): Promise<WebhookReceiver> {
  const received: ReceivedWebhook[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({ headers: request.headers, body: Buffer.concat(chunks), receivedAt: performance.now() });
      const answer = (): void => void response.writeHead(behaviour.status ?? 200).end('ok');
      if (behaviour.delayMs === undefined) answer();
      else if (Number.isFinite(behaviour.delayMs)) setTimeout(answer, behaviour.delayMs);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
