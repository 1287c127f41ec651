/**
 * The alternative built from a job queue: one BullMQ job per recipient, sent by the same HTTP client, with one row update per
 * outcome or none. The jobs are queued before the clock starts, as a campaign's recipients are prepared before it.
 */
import { Queue, Worker } from 'bullmq';
import pg from 'pg';
import { Pool } from 'undici';
import { measure, type Measured } from './measure.ts';
import { messageBody, sentTo } from './bare-loop.ts';

export interface BullmqLoop {
  readonly redisPort: number;
  readonly baseUrl: string;
  readonly recipients: number;
  readonly connections: number;
  /** Jobs that a worker runs at a time. */
  readonly concurrency: number;
  /** Database that records the outcome of every job; absent: outcomes are not recorded. */
  readonly databaseUrl?: string | undefined;
}

interface Job {
  readonly number: number;
}

const jobsPerCall = 1_000;
const databaseConnections = 10;

export async function runBullmqLoop(loop: BullmqLoop): Promise<Measured> {
  const connection = { host: '127.0.0.1', port: loop.redisPort, maxRetriesPerRequest: null };
  const url = new URL(loop.baseUrl);
  const http = new Pool(url.origin, { connections: loop.connections, pipelining: 1 });
  const database = loop.databaseUrl === undefined ? undefined : await openTable(loop.databaseUrl, loop);
  const queue = new Queue<Job>('recipients', { connection });
  await fill(queue, loop.recipients);
  const send = async (number: number): Promise<void> => {
    const answer = await http.request({
      method: 'POST',
      path: `${url.pathname}/${sentTo.bullmq}/messages`,
      headers: { 'content-type': 'application/json', authorization: 'Bearer token' },
      body: messageBody(number),
      headersTimeout: 30_000,
      bodyTimeout: 30_000,
    });
    const { messages } = (await answer.body.json()) as {
      readonly messages: readonly { readonly id: string }[];
    };
    await database?.query({ name: 'accept', text: acceptText, values: [number, messages[0]?.id] });
  };
  let worker: Worker<Job> | undefined;
  const measured = await measure(
    () =>
      new Promise<void>((resolve, reject) => {
        let done = 0;
        worker = new Worker<Job>('recipients', ({ data }) => send(data.number), {
          connection,
          concurrency: loop.concurrency,
        });
        worker.on('completed', () => {
          done += 1;
          if (done === loop.recipients) resolve();
        });
        worker.on('failed', (_, error) => reject(error));
        worker.on('error', reject);
      }),
  );
  await worker?.close();
  await queue.obliterate({ force: true });
  await Promise.all([queue.close(), http.close(), database?.end()]);
  return measured;
}

const acceptText = `UPDATE queued_recipient SET state = 'ACCEPTED', provider_message_id = $2, updated_at = now()
  WHERE position = $1`;

/** Creates a table with free space in every page for updated rows, as `recipient` has. */
async function openTable(databaseUrl: string, { recipients }: BullmqLoop): Promise<pg.Pool> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: databaseConnections });
  await pool.query(`DROP TABLE IF EXISTS queued_recipient`);
  await pool.query(`CREATE TABLE queued_recipient (position integer PRIMARY KEY, phone_number text NOT NULL,
    variables text[], state text NOT NULL, provider_message_id text, updated_at timestamptz NOT NULL DEFAULT now())
    WITH (fillfactor = 60)`);
  await pool.query(
    `INSERT INTO queued_recipient (position, phone_number, variables, state)
    SELECT n, (4915100000000 + n)::text, ARRAY['Ada ' || n], 'PENDING' FROM generate_series(1, $1::int) AS n`,
    [recipients],
  );
  await pool.query('ANALYZE queued_recipient');
  await pool.query('CHECKPOINT');
  return pool;
}

async function fill(queue: Queue<Job>, recipients: number): Promise<void> {
  for (let from = 1; from <= recipients; from += jobsPerCall) {
    const size = Math.min(jobsPerCall, recipients - from + 1);
    await queue.addBulk(
      Array.from({ length: size }, (_, at) => ({
        name: 'send',
        data: { number: from + at },
        opts: { removeOnComplete: true },
      })),
    );
  }
}
