/** A relay in front of Postgres that cuts every connection at one statement, as if the process behind it were killed there. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { tieSockets } from './tie-sockets.ts';

export interface StatementGate {
  readonly url: string;
  /**
   * Kills the process at statement number `statement`, counted from the next one: `before` Postgres gets it, or `after`
   * Postgres ran it and before the answer arrives.
   */
  readonly killAt: (statement: number, moment: 'before' | 'after') => void;
  readonly killed: () => boolean;
  /** Resolves when the connection has been cut at the statement. */
  readonly end: Promise<void>;
  readonly close: () => void;
}

const query = 0x51;
const parse = 0x50;

export async function openStatementGate(serverUrl: string): Promise<StatementGate> {
  const target = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let plan: { readonly statement: number; readonly moment: 'before' | 'after' } | undefined;
  let seen = 0;
  let killed = false;

  let resolveEnd = (): void => undefined;
  const end = new Promise<void>((resolve) => {
    resolveEnd = resolve;
  });
  const kill = (): void => {
    killed = true;
    resolveEnd();
    for (const socket of sockets) socket.destroy();
  };

  const server = createServer((inward) => {
    if (killed) {
      inward.destroy();
      return;
    }
    const outward = connect(Number(target.port), target.hostname);
    let started = false;
    let rest: Buffer = Buffer.alloc(0);
    let dying = false;
    /** False when the connection ends here. */
    const passes = (message: Buffer): boolean => {
      const isStatement = started && (message[0] === query || message[0] === parse);
      started = true;
      if (!isStatement || plan === undefined) return true;
      seen += 1;
      if (seen !== plan.statement) return true;
      dying = true;
      return plan.moment === 'after';
    };
    tieSockets(sockets, inward, outward);
    inward.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      for (;;) {
        // The first message of a connection has no type, only its length.
        const head = started ? 1 : 0;
        const size = rest.length < head + 4 ? Infinity : head + rest.readInt32BE(head);
        if (rest.length < size) return;
        const message = rest.subarray(0, size);
        rest = rest.subarray(size);
        if (!passes(message)) {
          kill();
          return;
        }
        outward.write(message);
      }
    });
    outward.on('data', (chunk: Buffer) => {
      if (dying) kill();
      else inward.write(chunk);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const url = new URL(serverUrl);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: url.href,
    killAt: (statement, moment) => {
      seen = 0;
      plan = { statement, moment };
    },
    killed: () => killed,
    end,
    close: () => {
      server.close();
      kill();
    },
  };
}
