/** WAL of a callback that the API stores and a worker works off, 20,000 times; what it tells changes nothing here. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import {
  claimProviderCallbacks,
  insertProviderCallbacks,
  markCallbacksApplied,
} from '../src/records/callbacks/provider-callbacks.ts';
import { createDatabase } from '../src/records/database/database.ts';
import { useOf } from './support/database-use.ts';
import { startPostgres } from './support/postgres.ts';

const count = 20_000;
/** Requests that one commit serves under load. */
const group = 50;
/** When applying wrote the body again. */
const writtenTwice = 2_464;

const body = (): Buffer => {
  const id = randomUUID();
  const status = {
    id: `wamid.${id}`,
    status: 'delivered',
    timestamp: '1751142888',
    recipient_id: '4915100000001',
    biz_opaque_callback_data: id,
    conversation: { id: randomUUID(), origin: { type: 'utility' } },
    pricing: { billable: true, pricing_model: 'PMP', category: 'utility', type: 'regular' },
  };
  const metadata = { display_phone_number: '15550783881', phone_number_id: '106540352242922' };
  const value = { messaging_product: 'whatsapp', metadata, statuses: [status] };
  const entry = [{ id: '102290129340398', changes: [{ value, field: 'messages' }] }];
  return Buffer.from(JSON.stringify({ object: 'whatsapp_business_account', entry }));
};

const postgres = await startPostgres();
const client = new pg.Client({ connectionString: postgres.ownerUrl });
await client.connect();
const database = await createDatabase(postgres.url, 4);
try {
  const bodies = Array.from({ length: count }, body);
  const { walBytes, bytes } = await useOf(client, postgres, async () => {
    for (let stored = 0; stored < count; stored += group)
      await insertProviderCallbacks(database, bodies.slice(stored, stored + group));
    for (let left = true; left;) {
      left = await database.transaction(async (transaction) => {
        const batch = { limit: 400, maxBytes: 1024 * 1024, except: [] };
        const claimed = await claimProviderCallbacks(transaction, batch);
        await markCallbacksApplied(
          transaction,
          claimed.map(({ id }) => id),
        );
        return claimed.length > 0;
      });
    }
  });
  const kept = Object.values(bytes).reduce((sum, growth) => sum + growth, 0) / count;
  process.stdout.write(
    `a callback of ${bodies[0]?.length} bytes: ${(walBytes / count).toFixed(0)} bytes of WAL, ` +
      `${(walBytes / count / writtenTwice).toFixed(2)} of the ${writtenTwice} of writing it twice; ${kept.toFixed(0)} bytes kept\n`,
  );
} finally {
  await database.end();
  await client.end();
  await postgres.stop();
}
