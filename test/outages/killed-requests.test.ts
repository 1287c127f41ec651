/** Idempotency-Key when the process dies at any statement of the request: what it asked for is done once. */
import { randomUUID } from 'node:crypto';
import { sql } from 'slonik';
import * as t from 'io-ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCampaign } from '../../src/api/campaigns/create.ts';
import { sendMessage } from '../../src/api/messages.ts';
import { pingDatabase } from '../support/ping-database.ts';
import { nothing, row } from '../../src/records/database/row.ts';
import { postLedgerEntry } from '../../src/records/wallet/wallets.ts';
import { startTestApi, type SeededWorkspace, type TestApi } from '../support/api.ts';
import { accept, createFakeProvider, type FakeProvider } from '../support/fake-provider.ts';
import { openStatementGate } from '../support/statement-gate.ts';

let survivor: TestApi;
let provider: FakeProvider;
let workspace: SeededWorkspace;
let templateId: string;
const endpoints = [createCampaign, sendMessage];

beforeAll(async () => {
  provider = createFakeProvider(accept);
  survivor = await startTestApi({ endpoints, dependencies: { provider } });
  workspace = await survivor.seedWorkspace();
  templateId = randomUUID();
  const { database } = survivor.dependencies;
  await database.query(sql.type(nothing)`
    INSERT INTO template (id, workspace_id, business_account_id, provider_template_id, name, language, category, status,
      components)
    VALUES (${templateId}, ${workspace.workspaceId}, ${workspace.businessAccountId}, 'a template', 'hello', 'en_US',
      'UTILITY', 'APPROVED', '[{"type":"BODY","text":"Hi."}]')`);
  const { channelId } = workspace;
  await postLedgerEntry(database, { channelId, kind: 'recharge', amount: 1_000_000_000n });
});
afterAll(() => survivor.close());

interface Attempt {
  readonly path: string;
  readonly body: object;
  readonly requests: number;
}

/** Runs the requests in a process that is killed at the given statement; returns false when they needed fewer statements. */
async function killedAt(
  { path, body, requests }: Attempt,
  { key, statement, moment }: { readonly key: string; readonly statement: number; readonly moment: Moment },
): Promise<boolean> {
  const { database } = survivor;
  const gate = await openStatementGate(database.url);
  const doomed = await startTestApi({
    endpoints,
    dependencies: { provider },
    database: { ...database, url: gate.url },
  });
  // The first connection sends a statement of its own, which is not to be counted.
  await pingDatabase(doomed.dependencies.database);
  gate.killAt(statement, moment);
  const leave = new AbortController();
  const answers = Promise.allSettled(
    Array.from({ length: requests }, () =>
      fetch(`${doomed.baseUrl}${path}`, {
        method: 'POST',
        signal: leave.signal,
        headers: {
          'X-API-Key': workspace.channelKey,
          'Content-Type': 'application/json',
          'Idempotency-Key': key,
        },
        body: JSON.stringify(body),
      }),
    ),
  );
  await Promise.race([answers, gate.end]);
  const killed = gate.killed();
  leave.abort();
  await answers;
  gate.close();
  await doomed.close();
  return killed;
}

type Moment = 'before' | 'after';

const Count = row(t.type({ n: t.number }));

describe.each<Moment>(['before', 'after'])('a process killed %s a statement', (moment) => {
  // A process killed before a statement leaves what one leaves that was killed after the statement before: `npm test` samples.
  const step = moment === 'before' && process.env['EVERY_CASE'] === undefined ? 3 : 1;

  it('leaves one campaign after two requests with one key and twenty repetitions', async () => {
    let statement = 1 - step;
    for (let killed = true; killed;) {
      statement += step;
      const name = `killed ${moment} ${statement}`;
      const body = {
        name,
        template_id: templateId,
        contact_selection_type: 'quick_contacts',
        quick_contacts: ['+4915112345678'],
        send_type: 'IMMEDIATE',
      };
      const attempt = { path: '/api/campaigns/auto-trigger', body, requests: 2 };
      killed = await killedAt(attempt, { key: name, statement, moment });
      const again = () =>
        survivor.send('POST', attempt.path, {
          key: workspace.channelKey,
          body,
          headers: { 'Idempotency-Key': name },
        });
      const answers = await Promise.all(Array.from({ length: 20 }, again));
      expect(answers.every(({ status }) => status === 201 || status === 409)).toBe(true);
      await expect.poll(async () => (await again()).status).toBe(201);
      const ids = [...answers, await again()].flatMap(
        ({ body: answerBody }) => answerBody.data?.campaign.id ?? [],
      );
      expect(new Set(ids).size, name).toBe(1);
      const found = await survivor.database.pool.one(sql.type(Count)`
        SELECT count(*)::int4 AS n FROM campaign
        JOIN campaign_counter ON campaign_counter.campaign_id = campaign.id
        JOIN campaign_input ON campaign_input.campaign_id = campaign.id
        WHERE name = ${name}`);
      expect(found.n, name).toBe(1);
    }
    // At least: look up the key, read the checks, write the campaign.
    expect(statement).toBeGreaterThan(3);
  });

  it('leaves one message after a single send with a key and its repetitions', async () => {
    let statement = 1 - step;
    for (let killed = true; killed;) {
      statement += step;
      const key = `sent ${moment} ${statement}`;
      const digits = `4915${moment === 'before' ? 1 : 2}${String(10_000_000 + statement)}`;
      const body = { templateId, recipientPhoneNumber: digits, countryCode: '+49' };
      const attempt = { path: '/api/templates/external/message/send', body, requests: 1 };
      killed = await killedAt(attempt, { key, statement, moment });
      const again = () =>
        survivor.send('POST', attempt.path, {
          key: workspace.channelKey,
          body,
          headers: { 'Idempotency-Key': key },
        });
      const soon = await again();
      expect([200, 409, 502], key).toContain(soon.status);
      await survivor.database.pool.query(sql.type(nothing)`
        UPDATE idempotency_key SET created_at = now() - interval '5 minutes' WHERE key = ${key}`);
      const late = await again();
      expect([200, 502], key).toContain(late.status);
      expect(provider.received.filter(({ to }) => to === digits).length, key).toBeLessThanOrEqual(1);
      const found = await survivor.database.pool.one(sql.type(Count)`
        SELECT count(*)::int4 AS n FROM message WHERE phone_number = ${digits}`);
      expect(found.n, key).toBe(1);
      if (late.status === 200) expect(provider.received.filter(({ to }) => to === digits)).toHaveLength(1);
    }
    // At least: the key, the channel, the template, the price, a transaction of five, the token, the result, the answer.
    expect(statement).toBeGreaterThan(10);
  });
});
