/** A fake provider server: records every message and can fail at chosen moments. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface AcceptedMessage {
  /** The provider's id of the message. */
  readonly id: string;
  readonly callbackData: string;
  readonly to: string;
  /** First path segment of the request: identifies the process. */
  readonly root: string;
  /** On the monotonic clock. */
  readonly at: number;
}

export type Verdict = 'accepted' | 'lost' | number;

export interface RecordingProvider {
  readonly origin: string;
  /** Base URL with the version segment `v1`. */
  readonly baseUrl: string;

  readonly accepted: AcceptedMessage[];
  /**
   * `before` and `after` are called with the number of the request (from 1), before any decision and when the message is accepted
   * but not yet answered. `verdict`: the code of a refusal, or that the message is accepted and its answer lost.
   */
  watch: {
    before?: (count: number) => void;
    after?: (count: number) => void;
    verdict?: (message: { readonly callbackData: string; readonly to: string }) => Verdict;
    /** How long the answer about this number takes, in ms. */
    answersAfter?: (to: string) => number;
  };
  readonly close: () => Promise<void>;
}

const refusal = (code: number) => JSON.stringify({ error: { code, message: 'Refused' } });

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
        // A worker asks for the templates of every account.
        if (request.method !== 'POST') return void response.writeHead(503).end();
        const { to, biz_opaque_callback_data: callbackData } = JSON.parse(body) as Record<string, string>;
        asked += 1;
        provider.watch.before?.(asked);
        const number = (to ?? '').replace('+', '');
        response.setHeader('content-type', 'application/json');
        const verdict = number.endsWith(refusedSuffix)
          ? 131026
          : (provider.watch.verdict?.({ callbackData: callbackData ?? '', to: number }) ?? 'accepted');
        const afterMs = provider.watch.answersAfter?.(number) ?? 0;
        const answer = (text: string, code = 200): void => {
          const end = () => {
            if (verdict === 'lost') request.socket.destroy();
            else response.writeHead(code).end(text);
          };
          if (afterMs === 0) end();
          else setTimeout(end, afterMs);
        };
        if (typeof verdict === 'number') return answer(refusal(verdict), 400);
        const root = (request.url ?? '').split('/')[1] ?? '';
        const id = `wamid.${callbackData}.${asked}`;
        accepted.push({ id, callbackData: callbackData ?? '', to: number, root, at });
        provider.watch.after?.(asked);
        answer(JSON.stringify({ messages: [{ id }] }));
      });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(provider, { origin, baseUrl: `${origin}/v1` });
}
