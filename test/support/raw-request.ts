/** Sends a server bytes that no client library would send. */
import { connect, type Socket } from 'node:net';

export interface RawConversation {
  readonly socket: Socket;
  /** Everything received until the server closed the connection. */
  readonly closed: Promise<string>;
}

export function openRaw(port: number): RawConversation {
  const socket = connect({ port, host: '127.0.0.1' });
  let received = '';
  socket.setEncoding('utf8').on('data', (text: string) => (received += text));
  const closed = new Promise<string>((resolve) => {
    socket.on('close', () => resolve(received)).on('error', () => undefined);
  });
  return { socket, closed };
}

/** Sends and waits for the server to close; `text` should ask for that. */
export async function sendRaw(port: number, text: string | Buffer): Promise<RawAnswer> {
  const { socket, closed } = openRaw(port);
  socket.write(text);
  return parseAnswer(await closed);
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: string;
  readonly body: string;
}

export function parseAnswer(text: string): RawAnswer {
  const [headers = '', rest = ''] = text.split(/\r\n\r\n(.*)/s);
  const body = /transfer-encoding: chunked/i.test(headers) ? unchunk(rest) : rest;
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0), headers, body };
}

function unchunk(text: string): string {
  let body = '';
  let rest = text;
  for (let size = Number.parseInt(rest, 16); size > 0; size = Number.parseInt(rest, 16)) {
    const start = rest.indexOf('\r\n') + 2;
    body += rest.slice(start, start + size);
    rest = rest.slice(start + size + 2);
  }
  return body;
}
