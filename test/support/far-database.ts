/** A TCP relay that delays what it passes on in both directions, as if the database were distant. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { tieSockets } from './tie-sockets.ts';

export interface FarDatabase {
  readonly url: string;
  readonly close: () => void;
}

export async function placeFar(databaseUrl: string, roundTripMs: number): Promise<FarDatabase> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const late = (from: Socket, to: Socket) =>
    from.on('data', (bytes) => setTimeout(() => to.writable && to.write(bytes), roundTripMs / 2));
  const server = createServer((inward) => {
    const outward = connect(Number(target.port), target.hostname);
    tieSockets(sockets, inward, outward);
    inward.setNoDelay();
    outward.setNoDelay();
    late(inward, outward);
    late(outward, inward);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: url.href,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
