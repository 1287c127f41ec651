/** Relays between the programs and the servers of a stack. */
import type { Servers } from '../../stack/context.ts';
import { StackError } from '../../stack/error.ts';
import type { OutageTarget } from './outage-target.ts';
import { openTcpRelay, throughRelay } from './tcp-relay.ts';

export interface OutageRelays {
  /** For the stack: opens the relays and names them in place of the servers. */
  readonly reachThrough: (servers: Servers) => Promise<Servers>;
  /** Throws StackError before `reachThrough` was called. */
  readonly opened: () => OutageTarget;
  readonly close: () => Promise<void>;
}

export function createOutageRelays(): OutageRelays {
  let target: OutageTarget | undefined;
  return {
    async reachThrough(servers) {
      const [temporalHost = '', temporalPort = ''] = servers.temporalAddress.split(':');
      const [postgres, temporal, provider] = await Promise.all([
        openTcpRelay(targetOf(servers.databaseUrl)),
        openTcpRelay({ host: temporalHost, port: Number(temporalPort) }),
        openTcpRelay(targetOf(servers.providerUrl)),
      ]);
      const { username, pathname } = new URL(servers.databaseUrl);
      target = {
        relays: { postgres, temporal, provider },
        simulator: new URL(servers.providerUrl).origin,
        database: {
          ownerUrl: servers.databaseOwnerUrl,
          name: decodeURIComponent(pathname.slice(1)),
          role: decodeURIComponent(username),
        },
      };
      return {
        ...servers,
        databaseUrl: throughRelay(servers.databaseUrl, postgres),
        temporalAddress: `${temporal.host}:${temporal.port}`,
        providerUrl: throughRelay(servers.providerUrl, provider),
      };
    },
    opened() {
      if (target === undefined) throw new StackError('The stack was started without relays');
      return target;
    },
    async close() {
      await Promise.all(Object.values(target?.relays ?? {}).map((relay) => relay.close()));
    },
  };
}

function targetOf(url: string) {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}
