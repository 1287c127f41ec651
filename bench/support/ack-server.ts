/**
 * A provider that accepts everything at once, in a process of its own: the ceiling of the receiving side.
 * `GET /count` answers how many messages came and how many different ones.
 */
import { createHash } from 'node:crypto';
import { fork } from 'node:child_process';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';

export interface AckServer {
  readonly baseUrl: string;
  readonly stop: () => void;
}

/** `latencyMs`: how long every answer takes. */
export function startAckServer(latencyMs = 0): Promise<AckServer> {
  const child = fork(fileURLToPath(import.meta.url), ['serve', String(latencyMs)]);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('message', (port: number) => {
      resolve({ baseUrl: `http://127.0.0.1:${port}/v23.0`, stop: () => child.kill() });
    });
  });
}

function serve(latencyMs: number): void {
  const seen = new Set<string>();
  let count = 0;
  const server = createServer((request, response) => {
    if (request.url === '/count') {
      response.end(JSON.stringify({ count, distinct: seen.size }));
      return;
    }
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts).toString('latin1');
      const id =
        /"biz_opaque_callback_data":"([^"]+)"/.exec(body)?.[1] ??
        createHash('sha1').update(body).digest('hex');
      count += 1;
      seen.add(id);
      const answer = `{"messaging_product":"whatsapp","contacts":[{"input":"1","wa_id":"1"}],"messages":[{"id":"wamid.${id}"}]}`;
      const reply = () => response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
      if (latencyMs === 0) reply();
      else void sleep(latencyMs).then(reply);
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    if (address !== null && typeof address === 'object') process.send?.(address.port);
  });
  process.once('disconnect', () => process.exit(0));
}

if (process.argv[2] === 'serve') serve(Number(process.argv[3]));
