import { createServer, type AddressInfo, type Socket } from 'node:net';

export interface RawServer {
  readonly port: number;
  readonly baseUrl: string;
  /** Requests of which the head and as much body as announced have arrived. */
  readonly requests: string[];
  close(): Promise<void>;
}

/** A TCP server that answers each request as `behave` does, in valid HTTP or not. */
export async function startRawServer(
  behave: (socket: Socket, request: string) => void,
  options: { readonly onConnection?: (socket: Socket) => void } = {},
): Promise<RawServer> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    options.onConnection?.(socket);
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('utf8');
      if (!isComplete(text)) return;
      requests.push(text);
      behave(socket, text);
      text = '';
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    baseUrl: `http://127.0.0.1:${port}/v23.0`,
    requests,
    close: () =>
      new Promise((resolve) => {
        sockets.forEach((socket) => socket.destroy());
        server.close(() => resolve());
      }),
  };
}

function isComplete(text: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
  return end >= 0 && Buffer.byteLength(text.slice(end + 4)) >= length;
}

/** The bytes of an HTTP answer. */
export function httpAnswer(
  status: number,
  { body = '', headers = {} }: { readonly body?: string; readonly headers?: Record<string, string> } = {},
): string {
  const lines = Object.entries({ 'content-length': String(Buffer.byteLength(body)), ...headers });
  return `HTTP/1.1 ${status} X\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`;
}

export const acceptedAnswer = httpAnswer(200, {
  body: JSON.stringify({
    messaging_product: 'whatsapp',
    contacts: [{ input: '+4915112345678', wa_id: '4915112345678' }],
    messages: [{ id: 'wamid.A', message_status: 'accepted' }],
  }),
});
