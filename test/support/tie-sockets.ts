import type { Socket } from 'node:net';

/** Two ends of a relay: one closes with the other, and an error of either is no error of the test. `open` holds those that are. */
export function tieSockets(open: Set<Socket>, inward: Socket, outward: Socket): void {
  for (const [socket, other] of [
    [inward, outward],
    [outward, inward],
  ] as const) {
    open.add(socket);
    socket
      .on('error', () => undefined)
      .on('close', () => {
        open.delete(socket);
        other.destroy();
      });
  }
}
