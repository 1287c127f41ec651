import type { Socket } from 'node:net';

/** Joins the two sockets of a relay: closing one closes the other, and errors are ignored. `open` collects the open sockets. */
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
