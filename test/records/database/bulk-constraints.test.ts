import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aCampaignToPrepare, aSender, type Sender } from '../../support/audience-campaign.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
let sender: Sender;
let client: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase();
  sender = await aSender(database.pool);
  client = await connect();
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

async function connect(): Promise<pg.Client> {
  const connected = new pg.Client({ connectionString: database.url });
  await connected.connect();
  return connected;
}

const insertContacts = `
  INSERT INTO contact (workspace_id, phone_number, source)
  SELECT unnest($1::int[]), unnest($2::text[]), 'manual' RETURNING id`;

const insertRecipients = `
  INSERT INTO recipient (campaign_id, position, phone_number, sendable, state)
  SELECT unnest($1::uuid[]), unnest($2::int[]), unnest($2::int[])::text, true, 'PENDING'`;

const noCampaign = '00000000-0000-7000-8000-000000000000';

const recipientsOf = async (campaignId: string): Promise<number> => {
  const { rows } = await client.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM recipient WHERE campaign_id = $1',
    [campaignId],
  );
  return rows[0]?.count ?? Number.NaN;
};

describe('a contact', () => {
  test('is refused with all rows of its statement when one of them has no workspace', async () => {
    const { workspaceId } = sender;
    await expect(
      client.query(insertContacts, [
        [workspaceId, 999_999],
        ['4915100000001', '4915100000002'],
      ]),
    ).rejects.toMatchObject({ code: '23503', constraint: 'contact_workspace' });
    const { rowCount } = await client.query('SELECT FROM contact WHERE workspace_id = $1', [workspaceId]);
    expect(rowCount).toBe(0);
  });

  test('does not move to another workspace', async () => {
    const other = await aSender(database.pool);
    await client.query(insertContacts, [[sender.workspaceId], ['4915100000003']]);
    await expect(
      client.query('UPDATE contact SET workspace_id = $1', [other.workspaceId]),
    ).rejects.toMatchObject({ code: '23001' });
  });

  test.each(['1234', '1234567890123456', '+4915100000', '49 15100000', '49151ab000', '', '４９１５１０'])(
    'has no number like %j',
    async (phoneNumber) => {
      await expect(client.query(insertContacts, [[sender.workspaceId], [phoneNumber]])).rejects.toMatchObject(
        { code: '23514', constraint: 'contact_phone_number_digits' },
      );
    },
  );

  test.each(['12345', '012345', '123456789012345'])('may have the number %j', async (phoneNumber) => {
    await client.query(insertContacts, [[sender.workspaceId], [phoneNumber]]);
  });
});

describe('a workspace', () => {
  test('cannot be deleted, even when nothing belongs to it', async () => {
    await client.query(`INSERT INTO workspace (name) VALUES ('Empty')`);
    await expect(client.query(`DELETE FROM workspace WHERE name = 'Empty'`)).rejects.toMatchObject({
      code: '23001',
    });
  });
});

describe('a recipient', () => {
  test('is refused with all rows of its statement when one of them has no campaign', async () => {
    const campaignId = await aCampaignToPrepare(database.pool, sender, {});
    await expect(
      client.query(insertRecipients, [
        [campaignId, noCampaign],
        [1, 2],
      ]),
    ).rejects.toMatchObject({ code: '23503', constraint: 'recipient_campaign' });
    expect(await recipientsOf(campaignId)).toBe(0);
  });

  test('does not move to another campaign', async () => {
    const campaignId = await aCampaignToPrepare(database.pool, sender, {});
    const other = await aCampaignToPrepare(database.pool, sender, {});
    await client.query(insertRecipients, [[campaignId], [1]]);
    await expect(
      client.query('UPDATE recipient SET campaign_id = $1 WHERE campaign_id = $2', [other, campaignId]),
    ).rejects.toMatchObject({ code: '23001' });
  });

  test('goes with its campaign', async () => {
    const campaignId = await aCampaignToPrepare(database.pool, sender, {});
    const other = await aCampaignToPrepare(database.pool, sender, {});
    await client.query(insertRecipients, [
      [campaignId, campaignId, other],
      [1, 2, 1],
    ]);
    await client.query('DELETE FROM campaign WHERE id = $1', [campaignId]);
    expect(await recipientsOf(campaignId)).toBe(0);
    expect(await recipientsOf(other)).toBe(1);
  });

  test('goes with its campaign also when it was committed while the campaign was being deleted', async () => {
    const campaignId = await aCampaignToPrepare(database.pool, sender, {});
    const loader = await connect();
    try {
      await loader.query('BEGIN');
      await loader.query(insertRecipients, [
        [campaignId, campaignId],
        [1, 2],
      ]);
      const deleted = client.query('DELETE FROM campaign WHERE id = $1', [campaignId]);
      await waitUntilWaitedFor(loader);
      await loader.query('COMMIT');
      await deleted;
    } finally {
      await loader.end();
    }
    expect(await recipientsOf(campaignId)).toBe(0);
  });

  test('is refused when its campaign was deleted meanwhile', async () => {
    const campaignId = await aCampaignToPrepare(database.pool, sender, {});
    const loader = await connect();
    try {
      await client.query('BEGIN');
      await client.query('DELETE FROM campaign WHERE id = $1', [campaignId]);
      const deleting = waitUntilWaitedFor(client).then(() => client.query('COMMIT'));
      await expect(loader.query(insertRecipients, [[campaignId], [1]])).rejects.toMatchObject({
        code: '23503',
      });
      await deleting;
    } finally {
      await loader.end();
    }
  });
});

describe.each([
  { table: 'campaign_counter', columns: '', values: '' },
  { table: 'campaign_input', columns: ', content', values: `, 'csv'` },
  { table: 'workflow_outbox', columns: ', kind', values: `, 'refresh'` },
])('a row of $table', ({ table, columns, values }) => {
  const insertRow = `INSERT INTO ${table} (campaign_id${columns}) SELECT unnest($1::uuid[])${values}`;
  const rowsOf = async (campaignId: string) => {
    const { rowCount } = await client.query(`SELECT FROM ${table} WHERE campaign_id = $1`, [campaignId]);
    return rowCount;
  };
  const aCampaignWithRow = async () => {
    const campaignId = await aCampaignToPrepare(database.pool, sender, {});
    await client.query(`DELETE FROM ${table} WHERE campaign_id = $1`, [campaignId]);
    await client.query(insertRow, [[campaignId]]);
    return campaignId;
  };

  test('is refused with all rows of its statement when one of them has no campaign', async () => {
    const campaignId = await aCampaignToPrepare(database.pool, sender, {});
    await client.query(`DELETE FROM ${table} WHERE campaign_id = $1`, [campaignId]);
    await expect(client.query(insertRow, [[campaignId, noCampaign]])).rejects.toMatchObject({
      code: '23503',
      constraint: `${table}_campaign_id_fkey`,
    });
    expect(await rowsOf(campaignId)).toBe(0);
  });

  test('goes with its campaign', async () => {
    const campaignId = await aCampaignWithRow();
    const other = await aCampaignWithRow();
    await client.query('DELETE FROM campaign WHERE id = $1', [campaignId]);
    expect(await rowsOf(campaignId)).toBe(0);
    expect(await rowsOf(other)).toBe(1);
  });
});

/** Waits until another connection waits for a lock that `holder` holds. */
async function waitUntilWaitedFor(holder: pg.Client): Promise<void> {
  for (;;) {
    const { rowCount } = await holder.query(
      'SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))',
    );
    if (rowCount !== 0) return;
  }
}
