/** A fake provider server: records every message and can fail at chosen moments. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface AcceptedMessage {
  readonly callbackData: string;
  readonly to: string;
  /** First path segment of the request: identifies the process. */
  readonly root: string;
  /** On the monotonic clock. */
  readonly at: number;
}

export interface RecordingProvider {
  readonly origin: string;
  /** Base URL with the version segment `v1`. */
  readonly baseUrl: string;

  readonly accepted: AcceptedMessage[];
  /** Called with the number of the request (from 1): `before` any decision, `after` the message is accepted but not yet answered. */
  watch: { before?: (count: number) => void; after?: (count: number) => void };
  readonly close: () => Promise<void>;
}

const refusal = JSON.stringify({ error: { code: 131026, message: 'Message undeliverable' } });

/** Refuses numbers that end in `refusedSuffix`. */
export async function startRecordingProvider(refusedSuffix = 'none'): Promise<RecordingProvider> {
  const accepted: AcceptedMessage[] = [];
  let asked = 0;
  const provider: RecordingProvider = {
    origin: '',
    baseUrl: '',
    accepted,
    watch: {},
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  const server = createServer((request, response) => {
    const at = performance.now();
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request
      .on('error', () => undefined)
      .on('end', () => {
        const { to, biz_opaque_callback_data: callbackData } = JSON.parse(body) as Record<string, string>;
        asked += 1;
        provider.watch.before?.(asked);
        const number = (to ?? '').replace('+', '');
        response.setHeader('content-type', 'application/json');
        if (number.endsWith(refusedSuffix)) return void response.writeHead(400).end(refusal);
        const root = (request.url ?? '').split('/')[1] ?? '';
        accepted.push({ callbackData: callbackData ?? '', to: number, root, at });
        provider.watch.after?.(asked);
        response.end(JSON.stringify({ messages: [{ id: `wamid.${callbackData}.${asked}` }] }));
      });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(provider, { origin, baseUrl: `${origin}/v1` });
}
