/**
 * Kills the API right after each of its writes; the client then repeats the request to another process with the same
 * Idempotency-Key.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'slonik';
import * as t from 'io-ts';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createCloudProvider } from '../../src/provider/cloud-provider.ts';
import type { MessagingProvider } from '../../src/provider/provider.ts';
import { nothing, row } from '../../src/records/database/row.ts';
import { postLedgerEntry } from '../../src/records/wallet/wallets.ts';
import { aTemplate } from '../support/audience-campaign.ts';
import { startTestApi, type SeededWorkspace, type TestApi, type TestResponse } from '../support/api.ts';
import { crashSeam, startProgram } from './child-process.ts';
import { startRecordingProvider, type RecordingProvider } from './recording-provider.ts';

let api: TestApi;
let provider: RecordingProvider;
let cloud: MessagingProvider;
beforeAll(async () => {
  provider = await startRecordingProvider();
  cloud = createCloudProvider({ baseUrl: provider.baseUrl, connections: 4, timeoutMs: 5_000 });
  api = await startTestApi({ dependencies: { provider: cloud } });
});
afterAll(async () => {
  await api.close();
  await cloud.close();
  await provider.close();
});

interface CrashRequest {
  readonly path: string;
  readonly body: unknown;
}

interface CampaignFixture {
  readonly workspace: SeededWorkspace;
  readonly templateId: string;
  readonly idempotencyKey: string;
  /** The recipient's number, by which the provider's messages are found. */
  readonly digits: string;
}

let fixtures = 0;

async function createFixture(): Promise<CampaignFixture> {
  const workspace = await api.seedWorkspace();
  const { workspaceId, businessAccountId, channelId } = workspace;
  const templateId = await aTemplate(api.database.pool, { workspaceId, businessAccountId });
  await postLedgerEntry(api.database.pool, { channelId, kind: 'recharge', amount: 10_000_000n });
  const token = sql.binary(api.dependencies.secrets.encrypt('token-of-the-tests', `channel ${channelId}`));
  await api.database.pool.query(sql.type(nothing)`
    UPDATE channel SET access_token_encrypted = ${token} WHERE id = ${channelId}`);
  fixtures += 1;
  const digits = `49151${String(20_000_000 + fixtures)}`;
  return { workspace, templateId, digits, idempotencyKey: randomUUID() };
}

const ask = (baseUrl: string, { workspace, idempotencyKey }: CampaignFixture, { path, body }: CrashRequest) =>
  fetch(`${baseUrl}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-api-key': workspace.channelKey,
      'idempotency-key': idempotencyKey,
    },
    body: JSON.stringify(body),
  });

const Locks = row(t.type({ held: t.number }));

/** Postgres ends the transaction of a dead process a moment later. Until then a repeated request is told to come again. */
async function expectNoKeyLocked(): Promise<void> {
  const held = await api.database.pool.oneFirst(sql.type(Locks)`
    SELECT count(*)::int AS held FROM pg_locks
    WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`);
  expect(held).toBe(0);
}

/** Sends a request to an API process that dies after its n-th write; resolves to the number of writes. */
async function sendWithCrash(
  fixture: CampaignFixture,
  request: CrashRequest,
  crashAfter: number,
): Promise<number> {
  const program = startProgram({
    path: 'dist/src/server.js',
    preload: crashSeam,
    environment: {
      DATABASE_URL: api.database.url,
      TEMPORAL_ADDRESS: '127.0.0.1:1',
      PROVIDER_BASE_URL: provider.baseUrl,
      PROVIDER_APP_SECRET: 'the app secret of the tests',
      PROVIDER_VERIFY_TOKEN: 'the verify token of the tests',
      KEY_PEPPER: 'a key pepper for the tests',
      SECRETS_KEY: 'a secrets key for the tests',
      PORT: '0',
      CRASH_AFTER: String(crashAfter),
    },
  });
  await program.says('"msg":"listening"');
  const port = /"port":(\d+)[^\n]*"msg":"listening"/.exec(program.output())?.[1];
  // The API key was used before, so that recording its use is not one of the request's writes.
  const baseUrl = `http://127.0.0.1:${port}`;
  await fetch(`${baseUrl}/api/wallet`, { headers: { 'x-api-key': fixture.workspace.channelKey } });
  program.child.kill('SIGUSR2');
  await program.says('armed');
  const answered = await ask(baseUrl, fixture, request).then(
    () => true,
    () => false,
  );
  if (answered) program.child.kill('SIGKILL');
  await program.ended;
  await vi.waitFor(expectNoKeyLocked, { timeout: 60_000, interval: 5 });
  return [...program.output().matchAll(/^write \d+:/gm)].length;
}

function repeatRequest(fixture: CampaignFixture, { path, body }: CrashRequest): Promise<TestResponse> {
  return api.send('POST', path, {
    key: fixture.workspace.channelKey,
    body,
    headers: { 'Idempotency-Key': fixture.idempotencyKey },
  });
}

/** `npm test` kills the process after every third write, `npm run test:release` after each. */
const step = process.env['EVERY_CASE'] === undefined ? 3 : 1;

/** Repeats the request with a crash after each write, or each third, two processes at a time. */
async function afterEachWrite(
  requestOf: (fixture: CampaignFixture) => CrashRequest,
  expectSound: (fixture: CampaignFixture, request: CrashRequest, when: string) => Promise<void>,
): Promise<void> {
  const undisturbed = await createFixture();
  const writes = await sendWithCrash(undisturbed, requestOf(undisturbed), 0);
  expect(writes).toBeGreaterThan(0);
  let next = 1;
  const turn = async () => {
    while (next <= writes) {
      const n = next;
      next += step;
      const fixture = await createFixture();
      const request = requestOf(fixture);
      await sendWithCrash(fixture, request, n);
      await expectSound(fixture, request, `died after write ${n} of ${writes}`);
    }
  };
  await Promise.all([turn(), turn()]);
}

const Left = row(t.type({ campaigns: t.number, commands: t.number, counters: t.number }));

describe('an API process that dies by SIGKILL', () => {
  it('leaves a campaign with its workflow outbox message, or neither; the repeated request creates one', async () => {
    const left = ({ workspace }: CampaignFixture) =>
      api.database.pool.one(sql.type(Left)`
        SELECT count(*)::int AS campaigns,
          (SELECT count(*)::int FROM workflow_outbox JOIN campaign ON campaign.id = campaign_id
            WHERE campaign.workspace_id = ${workspace.workspaceId} AND kind = 'start') AS commands,
          (SELECT count(*)::int FROM campaign_counter JOIN campaign AS counted ON counted.id = campaign_id
            WHERE counted.workspace_id = ${workspace.workspaceId}) AS counters
        FROM campaign WHERE workspace_id = ${workspace.workspaceId}`);
    await afterEachWrite(
      ({ templateId, digits }) => ({
        path: '/api/campaigns/auto-trigger',
        body: {
          name: 'Crash',
          template_id: templateId,
          contact_selection_type: 'quick_contacts',
          quick_contacts: [`+${digits}`],
          send_type: 'IMMEDIATE',
        },
      }),
      async (fixture, request, when) => {
        const before = await left(fixture);
        expect(before.campaigns, when).toBeLessThanOrEqual(1);
        expect(before, when).toMatchObject({ commands: before.campaigns, counters: before.campaigns });
        const again = await repeatRequest(fixture, request);
        expect(again.status, when).toBe(201);
        expect((await left(fixture)).campaigns, when).toBe(1);
      },
    );
  });

  it('has sent a single message at most once, repeated or not, and its price is accounted for', async () => {
    const Money = row(
      t.type({ balance: t.bigint, reserved: t.bigint, ledger: t.bigint, owed: t.bigint, messages: t.number }),
    );
    await afterEachWrite(
      ({ templateId, digits }) => ({
        path: '/api/templates/external/message/send',
        body: { templateId, recipientPhoneNumber: digits, countryCode: '+49' },
      }),
      async (fixture, request, when) => {
        const again = await repeatRequest(fixture, request);
        // 409: until its lock expires, the first process may still be alive.
        expect([200, 409, 502], `${when}: ${again.text}`).toContain(again.status);
        const taken = provider.accepted.filter(({ to }) => to === fixture.digits).length;
        expect(taken, when).toBeLessThanOrEqual(1);
        if (again.status === 200) expect(taken, when).toBe(1);
        const { channelId } = fixture.workspace;
        const money = await api.database.pool.one(sql.type(Money)`
          SELECT balance, reserved,
            (SELECT sum(amount)::bigint FROM ledger_entry WHERE channel_id = ${channelId}) AS ledger,
            (SELECT COALESCE(sum(price), 0)::bigint FROM message
              WHERE channel_id = ${channelId} AND settlement = 'reserved') AS owed,
            (SELECT count(*)::int FROM message WHERE channel_id = ${channelId}) AS messages
          FROM wallet WHERE channel_id = ${channelId}`);
        expect(money, when).toMatchObject({ ledger: money.balance, owed: money.reserved, messages: 1 });
      },
    );
  });
});
