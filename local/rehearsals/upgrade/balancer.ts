/** A load balancer for several API processes: connections go in turn to those whose /readyz answers 200. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { answersOk } from '../../stack/children/node-children.ts';

export interface Balancer {
  readonly url: string;
  /** The processes whose /readyz is polled. */
  readonly use: (urls: readonly string[]) => void;
  readonly close: () => Promise<void>;
}

const host = '127.0.0.1';
const askEveryMs = 200;

export async function startBalancer(): Promise<Balancer> {
  let known: readonly string[] = [];
  let ready: readonly string[] = [];
  let turn = 0;
  const open = new Set<Socket>();

  const ask = async (): Promise<void> => {
    const answers = await Promise.all(
      known.map((url) =>
        answersOk(`${url}/readyz`).then(
          (ok) => (ok ? [url] : []),
          () => [],
        ),
      ),
    );
    ready = answers.flat();
  };
  const asking = setInterval(() => void ask(), askEveryMs);

  /** Tries the next process when one refuses the connection because it has just ended. */
  const forward = (client: Socket, candidates: readonly string[]): void => {
    const [url, ...others] = candidates;
    if (url === undefined) {
      client.destroy();
      return;
    }
    const backend = connect({ host, port: Number(new URL(url).port) });
    backend.once('error', () => {
      if (backend.connecting || backend.bytesWritten === 0) forward(client, others);
      else client.destroy();
    });
    backend.once('connect', () => {
      open.add(backend);
      client.pipe(backend).pipe(client);
      const end = (): void => {
        open.delete(backend);
        client.destroy();
        backend.destroy();
      };
      backend.once('close', end);
      client.once('close', end);
    });
  };

  const server = createServer((client) => {
    client.on('error', () => client.destroy());
    turn += 1;
    const from = ready.length === 0 ? 0 : turn % ready.length;
    forward(client, [...ready.slice(from), ...ready.slice(0, from)]);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, host, resolve);
  });
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    use: (urls) => {
      known = urls;
      ready = ready.filter((url) => urls.includes(url));
      void ask();
    },
    close: async () => {
      clearInterval(asking);
      for (const socket of open) socket.destroy();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}
