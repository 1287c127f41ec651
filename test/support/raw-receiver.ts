import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { Certificate } from './certificates.ts';

export interface RawReceiver {
  readonly port: number;
  /** Bytes received so far, one entry per connection. */
  readonly connections: readonly string[];
  readonly close: () => Promise<void>;
}

/** Handles one connection; called once the request's first bytes have arrived. */
export type RawAnswer = (socket: Socket, connectionNumber: number) => void;

/** A receiver on 127.0.0.1 that answers with arbitrary bytes, including those that no HTTP server would send. */
export async function startRawReceiver(answer: RawAnswer, certificate?: Certificate): Promise<RawReceiver> {
  const connections: string[] = [];
  const sockets = new Set<Socket>();
  const onConnection = (socket: Socket): void => {
    const index = connections.push('') - 1;
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    socket.on('data', (chunk: Buffer) => {
      const isFirst = connections[index] === '';
      connections[index] += chunk.toString('latin1');
      if (isFirst) answer(socket, index + 1);
    });
  };
  const server: Server =
    certificate === undefined
      ? createServer({ allowHalfOpen: true }, onConnection)
      : createTlsServer({ ...certificate }, onConnection);
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    connections,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

/** A whole response that closes its connection. */
export function rawResponse(status: string, headers: readonly string[] = [], body = ''): string {
  return [`HTTP/1.1 ${status}`, `content-length: ${Buffer.byteLength(body)}`, ...headers, '', body].join(
    '\r\n',
  );
}
