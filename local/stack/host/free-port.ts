/** Ports for the stack, chosen once per start and kept when a child is started again. */
import { createServer } from 'node:net';
import { randomInt } from 'node:crypto';
import { StackError } from '../error.ts';

// Below the range from which systems take the ports of outgoing connections: a port taken from that range
// could be lost to a connection of our own while the child that listens on it is started again.
const [lowest, highest] = [20_000, 32_000];

/** Returns a free port of `host` that is not in `taken`. */
export async function pickFreePort(host: string, taken: ReadonlySet<number> = new Set()): Promise<number> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const port = randomInt(lowest, highest);
    if (!taken.has(port) && (await listenError(host, port)) === undefined) return port;
  }
  throw new StackError(`No free port was found on ${host} between ${lowest} and ${highest}.`);
}

/** Returns `count` different free ports. */
export async function pickFreePorts<const N extends number>(
  host: string,
  count: N,
): Promise<readonly [...Ports<N>]> {
  const taken = new Set<number>();
  while (taken.size < count) taken.add(await pickFreePort(host, taken));
  return [...taken] as unknown as readonly [...Ports<N>];
}

type Ports<N extends number, P extends readonly number[] = []> = P['length'] extends N
  ? P
  : Ports<N, [...P, number]>;

/** Undefined when the port is free; else the system's error code, such as EADDRINUSE, EACCES or EADDRNOTAVAIL. */
export function listenError(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
