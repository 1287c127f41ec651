import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { request } from 'undici';
import { startSimulator } from '../../../local/simulator/server.ts';
import type { SimulatorOptions } from '../../../local/simulator/options.ts';

export const phoneNumberId = '106540352242922';
export const businessAccountId = '102290129340398';
export const accessToken = 'EAAtest';
export const appSecret = 'app-secret';

export interface JsonAnswer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

export interface SimulatorClient {
  readonly port: number;
  readonly baseUrl: string;
  /** Requests a path below the API's version, with the account's token unless another is given. */
  get(path: string, token?: string): Promise<JsonAnswer>;
  /** Sends a template with these components to a number. */
  send(message: {
    readonly to?: string;
    readonly template: string;
    readonly language?: string;
    readonly components?: unknown;
    readonly callbackData?: string;
  }): Promise<JsonAnswer>;
  post(path: string, body: unknown): Promise<JsonAnswer>;
  control(name: string, input?: object): Promise<Record<string, unknown>>;
  query(name: string): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

export async function startTestSimulator(options: Partial<SimulatorOptions> = {}): Promise<SimulatorClient> {
  const simulator = await startSimulator({
    port: 0,
    callbackUrl: undefined,
    appSecret,
    verifyToken: 'verify-token',
    businessAccountId,
    phoneNumberId,
    accessToken,
    stateFile: undefined,
    ...options,
  });
  const root = `http://127.0.0.1:${simulator.port}`;
  const call = async (url: string, given: { body?: string; token?: string } = {}): Promise<JsonAnswer> => {
    const answer = await request(url, {
      method: given.body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${given.token ?? accessToken}` },
      ...(given.body === undefined ? {} : { body: given.body }),
    });
    return { status: answer.statusCode, body: (await answer.body.json()) as Record<string, unknown> };
  };
  return {
    port: simulator.port,
    baseUrl: simulator.baseUrl,
    get: (path, token = accessToken) => call(`${simulator.baseUrl}${path}`, { token }),
    post: (path, body) =>
      call(`${simulator.baseUrl}${path}`, { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    send: ({ to = '4915112345678', template, language = 'en_US', components, callbackData = 'data' }) =>
      call(`${simulator.baseUrl}/${phoneNumberId}/messages`, {
        body: JSON.stringify({
          messaging_product: 'whatsapp',
          to: `+${to}`,
          type: 'template',
          biz_opaque_callback_data: callbackData,
          template: { name: template, language: { code: language }, components },
        }),
      }),
    control: async (name, input = {}) =>
      (await call(`${root}/_simulator/${name}`, { body: JSON.stringify(input) })).body,
    query: async (name) => (await call(`${root}/_simulator/${name}`)).body,
    close: () => simulator.close(),
  };
}

export interface CallbackReceiver {
  readonly url: string;
  readonly bodies: string[];
  /** Every status received so far, in order of arrival. */
  statuses(): readonly Record<string, unknown>[];
  /** Sets the HTTP status of later answers. */
  answerWith(status: number): void;
  readonly badSignatures: number;
  close(): Promise<void>;
}

/** Takes callbacks as the product would, checking every signature. */
export async function startCallbackReceiver(): Promise<CallbackReceiver> {
  const bodies: string[] = [];
  let status = 200;
  let badSignatures = 0;
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const body = Buffer.concat(chunks);
      const expected = `sha256=${createHmac('sha256', appSecret).update(body).digest('hex')}`;
      if (incoming.method === 'POST' && incoming.headers['x-hub-signature-256'] !== expected)
        badSignatures += 1;
      const url = new URL(incoming.url ?? '/', 'http://receiver');
      if (incoming.method === 'POST' && status === 200) bodies.push(body.toString('utf8'));
      response.writeHead(status).end(url.searchParams.get('hub.challenge') ?? '');
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/provider/webhook`,
    bodies,
    statuses: () =>
      bodies.flatMap((text) => {
        const body = JSON.parse(text) as {
          entry: { changes: { value: { statuses?: Record<string, unknown>[] } }[] }[];
        };
        return body.entry.flatMap(({ changes }) => changes.flatMap(({ value }) => value.statuses ?? []));
      }),
    answerWith: (next) => {
      status = next;
    },
    get badSignatures() {
      return badSignatures;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
