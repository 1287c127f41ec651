/**
 * A TCP relay in front of a server that cuts every connection once so many bytes have gone to the server: what the server
 * sees when the process that sends them is killed at that moment.
 */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { tieSockets } from './tie-sockets.ts';

export interface TcpCutter {
  /** The URL with this relay in place of the server. */
  readonly url: string;
  /** Bytes that went to the server. */
  readonly sent: () => number;
  readonly close: () => Promise<void>;
}

export async function openTcpCutter(serverUrl: string, cutAfter: number): Promise<TcpCutter> {
  const target = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let sent = 0;
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer((inward) => {
    if (sent >= cutAfter) {
      inward.destroy();
      return;
    }
    const outward = connect(Number(target.port), target.hostname);
    tieSockets(sockets, inward, outward);
    outward.pipe(inward);
    inward.on('data', (bytes) => {
      const allowed = bytes.subarray(0, Math.max(0, cutAfter - sent));
      sent += allowed.length;
      // Forwards the bytes written before the cut, then closes both connections.
      outward.write(allowed, () => {
        if (sent >= cutAfter) cut();
      });
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const url = new URL(serverUrl);
  url.host = `127.0.0.1:${port}`;
  return {
    url: url.href,
    sent: () => sent,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        cut();
      }),
  };
}
