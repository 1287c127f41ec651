/** A TCP relay in front of a server that can be shut, as if the server were gone, and opened again. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { tieSockets } from './tie-sockets.ts';

export interface TcpGate {
  /** The URL with this gate in place of the server. */
  readonly url: string;
  /** Cuts every connection and refuses new ones. */
  readonly shut: () => Promise<void>;
  readonly open: () => Promise<void>;
}

export async function openTcpGate(serverUrl: string): Promise<TcpGate> {
  const target = new URL(serverUrl);
  const sockets = new Set<Socket>();
  const server = createServer((inward) => {
    const outward = connect(Number(target.port), target.hostname);
    tieSockets(sockets, inward, outward);
    inward.pipe(outward);
    outward.pipe(inward);
  });
  const listen = (port: number) =>
    new Promise<void>((resolve) => {
      server.listen(port, '127.0.0.1', resolve);
    });
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const url = new URL(serverUrl);
  url.host = `127.0.0.1:${port}`;
  return {
    url: url.href,
    open: () => listen(port),
    shut: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
