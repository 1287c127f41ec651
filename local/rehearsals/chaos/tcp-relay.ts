/** A TCP relay in front of a server, which can simulate an outage: connections refused, or packets lost. */
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/**
 * `gone` cuts every connection and refuses new ones; `silent` takes connections and bytes and passes nothing on, as a network
 * does that loses every packet. What a silence held back is passed on when it ends.
 */
export type RelayState = 'open' | 'gone' | 'silent';

export interface TcpRelay {
  readonly host: string;
  readonly port: number;
  readonly set: (state: RelayState) => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface RelayTarget {
  readonly host: string;
  readonly port: number;
}

const host = '127.0.0.1';

export async function openTcpRelay(target: RelayTarget): Promise<TcpRelay> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let state: RelayState = 'open';

  const server = createServer({ allowHalfOpen: false }, (inward) => {
    const outward = connect(target.port, target.host);
    const pair = [inward, outward] as const;
    pairs.add(pair);
    const forget = () => {
      pairs.delete(pair);
      inward.destroy();
      outward.destroy();
    };
    for (const [from, to] of [pair, [outward, inward] as const]) {
      from.setNoDelay(true);
      from.on('error', () => undefined).on('close', forget);
      from.on('data', (chunk: Buffer) => {
        if (!to.write(chunk)) from.pause();
      });
      to.on('drain', () => {
        if (state !== 'silent') from.resume();
      });
      if (state === 'silent') from.pause();
    }
  });
  await listen(server, 0);
  const { port } = server.address() as AddressInfo;

  const close = async (): Promise<void> => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
    if (server.listening) await new Promise<void>((resolve) => server.close(() => resolve()));
  };

  return {
    host,
    port,
    close,
    async set(next) {
      state = next;
      if (next === 'gone') return close();
      if (!server.listening) await listen(server, port);
      for (const pair of pairs) {
        for (const socket of pair)
          if (next === 'silent') socket.pause();
          else socket.resume();
      }
    },
  };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, exclusive: true }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** The URL with the relay in place of its host. */
export function throughRelay(url: string, relay: TcpRelay): string {
  const changed = new URL(url);
  changed.host = `${relay.host}:${relay.port}`;
  return changed.href.replace(/\/$/, url.endsWith('/') ? '/' : '');
}
