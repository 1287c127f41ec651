/** Contact fields are filled in when the message is sent; CSV cells and inline values stay as they were given. */
import { sql } from 'slonik';
import * as t from 'io-ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prepareCampaign } from '../../../src/commands/audience/prepare-campaign.ts';
import { testCampaign } from '../../../src/commands/campaigns/test-campaign.ts';
import { runSendStep } from '../../../src/commands/sending/run-send-step.ts';
import type { Dependencies } from '../../../src/dependencies.ts';
import { getCampaignSnapshot } from '../../../src/records/campaigns/campaign-snapshot.ts';
import { nothing, nullable, row } from '../../../src/records/database/row.ts';
import {
  aCampaignToPrepare,
  aSender,
  type CampaignOptions,
  type Sender,
} from '../../support/audience-campaign.ts';
import { checkBooks } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { accept, createFakeProvider, refuse, type Answer } from '../../support/fake-provider.ts';
import { sendingDependencies } from '../../support/sending-dependencies.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase({ poolSize: 8 });
});
afterAll(() => test.drop());

const run = (statement: ReturnType<typeof sql.fragment>) => test.pool.query(sql.type(nothing)`${statement}`);

async function fundedSender(bodyText: string): Promise<Sender> {
  const sender = await aSender(test.pool, bodyText);
  const { channelId, workspaceId } = sender;
  await run(sql.fragment`UPDATE wallet SET balance = 1000000000 WHERE channel_id = ${channelId}`);
  await run(sql.fragment`INSERT INTO ledger_entry (channel_id, workspace_id, kind, amount)
    VALUES (${channelId}, ${workspaceId}, 'recharge', 1000000000)`);
  await run(sql.fragment`INSERT INTO rate_card (workspace_id, category, country, price)
    VALUES (${workspaceId}, 'MARKETING', '', 1000), (${workspaceId}, 'MARKETING', 'DE', 1000)`);
  await run(sql.fragment`UPDATE channel SET messages_per_second = 100000 WHERE id = ${channelId}`);
  return sender;
}

/** Contacts +4915100000001 and on, an hour old, named `Old n`. */
async function addContacts({ workspaceId }: Sender, count: number): Promise<void> {
  await run(sql.fragment`
    INSERT INTO contact (workspace_id, phone_number, country_code, country, first_name, source, updated_at)
    SELECT ${workspaceId}, (4915100000000 + n)::text, '49', 'DE', 'Old ' || n, 'api', now() - interval '1 hour'
    FROM generate_series(1, ${count}) AS n`);
}

const rename = ({ workspaceId }: Sender, firstName: string, where: ReturnType<typeof sql.fragment>) =>
  run(sql.fragment`UPDATE contact SET first_name = ${firstName}, updated_at = now()
    WHERE workspace_id = ${workspaceId} AND ${where}`);

async function prepared(sender: Sender, options: CampaignOptions): Promise<string> {
  const campaignId = await aCampaignToPrepare(test.pool, sender, options);
  const dependencies = {
    config: { databaseUrl: test.url },
    database: test.pool,
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    now: () => new Date(),
    outbound: {},
  } as unknown as Dependencies;
  const signal = new AbortController().signal;
  await prepareCampaign(dependencies, campaignId, { heartbeat: () => undefined, signal });
  return campaignId;
}

/** The texts sent, by number. */
async function send(campaignId: string, answer: Answer = accept): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  const provider = createFakeProvider((message, count) => {
    texts.set(message.to, textOf(message.template.components));
    return answer(message, count);
  });
  await run(
    sql.fragment`UPDATE campaign SET status = 'RUNNING' WHERE id = ${campaignId} AND status = 'DRAFT'`,
  );
  const dependencies = sendingDependencies({ database: test.pool, provider });
  await runSendStep(dependencies, campaignId, { budgetMs: 20_000, draining: () => false });
  return texts;
}

const Components = t.array(t.type({ parameters: t.array(t.type({ text: t.string })) }));
const textOf = (components: unknown): string =>
  Components.is(components)
    ? components.flatMap(({ parameters }) => parameters.map(({ text }) => text)).join('|')
    : '?';

const Recipient = row(
  t.type({ state: t.string, reason: nullable(t.string), detail: nullable(t.string), settlement: t.string }),
);
const recipientOf = (campaignId: string, position: number) =>
  test.pool.one(sql.type(Recipient)`
    SELECT state, reason, reason_detail AS detail, settlement FROM recipient
    WHERE campaign_id = ${campaignId} AND position = ${position}`);

const number = (n: number): string => String(4915100000000 + n);
const firstName = { selectionType: 'all_contacts', variableMapping: { body: { 1: 'firstName' } } } as const;

describe('a contact field', () => {
  it('is the present one for exactly the contacts that changed after preparation', async () => {
    const sender = await fundedSender('Hi {{1}}');
    await addContacts(sender, 10_000);
    const campaignId = await prepared(sender, firstName);
    await rename(sender, 'New', sql.fragment`phone_number::bigint % 10 = 3`);
    const texts = await send(campaignId);
    expect(texts.size).toBe(10_000);
    const expected = Array.from({ length: 10_000 }, (_, at): [string, string] => [
      number(at + 1),
      (at + 1) % 10 === 3 ? 'New' : `Old ${at + 1}`,
    ]);
    expect(texts).toEqual(new Map(expected));
    const stored = await test.pool.oneFirst(sql.type(row(t.type({ count: t.number })))`
      SELECT count(*)::int AS count FROM recipient WHERE campaign_id = ${campaignId} AND variables = ARRAY['New']`);
    expect(stored).toBe(1_000);
  });

  it('is the present one after the clock of Postgres was set back', async () => {
    const sender = await fundedSender('Hi {{1}}');
    await addContacts(sender, 2);
    const campaignId = await prepared(sender, firstName);
    await run(sql.fragment`UPDATE campaign SET contacts_read_at = contacts_read_at + interval '1 hour'`);
    await rename(sender, 'New', sql.fragment`phone_number = ${number(2)}`);
    expect(await send(campaignId)).toEqual(
      new Map([
        [number(1), 'Old 1'],
        [number(2), 'New'],
      ]),
    );
  });

  it('that became empty skips the recipient and frees its money', async () => {
    const sender = await fundedSender('Hi {{1}}');
    await addContacts(sender, 3);
    const campaignId = await prepared(sender, firstName);
    await rename(sender, '', sql.fragment`phone_number = ${number(2)}`);
    const texts = await send(campaignId);
    expect([...texts.keys()].toSorted()).toEqual([number(1), number(3)]);
    expect(await recipientOf(campaignId, 2)).toEqual({
      state: 'SKIPPED',
      reason: 'MISSING_VARIABLE',
      detail: 'body.1',
      settlement: 'none',
    });
    expect(await checkBooks(test.pool, { ...sender, campaignId })).toMatchObject({
      reserved: 0n,
      ledger: 1_000_000_000n - 2_000n,
      counters_fit: true,
    });
    const { counts } = await getCampaignSnapshot(test.pool, campaignId);
    expect(counts).toMatchObject({ accepted: 2, pending: 0, claimed: 0, skipped: 1 });
    const reasons = await test.pool.any(sql.type(
      row(t.type({ kind: t.string, reason: t.string, count: t.number })),
    )`
      SELECT kind, reason, count FROM campaign_reason WHERE campaign_id = ${campaignId}`);
    expect(reasons).toEqual([{ kind: 'skipped', reason: 'MISSING_VARIABLE', count: 1 }]);
  });

  it('that became empty takes its default', async () => {
    const sender = await fundedSender('Hi {{1}}');
    await addContacts(sender, 2);
    const campaignId = await prepared(sender, {
      ...firstName,
      variableMapping: { body: { 1: 'Dear {{firstName}}' }, default_values: { body: { 1: 'friend' } } },
    });
    await rename(sender, '', sql.fragment`phone_number = ${number(2)}`);
    const texts = await send(campaignId);
    expect(texts).toEqual(
      new Map([
        [number(1), 'Dear Old 1'],
        [number(2), 'friend'],
      ]),
    );
  });

  it('is resolved again for a retry', async () => {
    const sender = await fundedSender('Hi {{1}}');
    await addContacts(sender, 1);
    const campaignId = await prepared(sender, firstName);
    const texts: string[] = [];
    await send(campaignId, async (message, count) => {
      texts.push(textOf(message.template.components));
      if (count > 1) return accept(message, count);
      await rename(sender, 'New', sql.fragment`true`);
      return refuse(131056)(message, count);
    });
    expect(texts).toEqual(['Old 1', 'New']);
  });

  it('is not stored again for a recipient that was erased meanwhile', async () => {
    const sender = await fundedSender('Hi {{1}}');
    await addContacts(sender, 1);
    const campaignId = await prepared(sender, firstName);
    await rename(sender, 'New', sql.fragment`true`);
    await send(campaignId, async (message, count) => {
      await run(sql.fragment`UPDATE recipient SET variables = NULL WHERE campaign_id = ${campaignId}`);
      return accept(message, count);
    });
    const variables = await test.pool.oneFirst(
      sql.type(
        row(t.type({ variables: nullable(t.array(t.string)) })),
      )`SELECT variables FROM recipient WHERE campaign_id = ${campaignId} AND state = 'ACCEPTED'`,
    );
    expect(variables).toBeNull();
  });

  it('that grew beyond the limit of the text skips the recipient free of charge', async () => {
    const sender = await fundedSender('Hi {{1}}');
    await run(sql.fragment`UPDATE template SET components = components || '[{"type": "FOOTER", "text": "Bye"}]'
      WHERE workspace_id = ${sender.workspaceId}`);
    await addContacts(sender, 3);
    const campaignId = await prepared(sender, firstName);
    await rename(sender, 'x'.repeat(1_021), sql.fragment`phone_number = ${number(1)}`);
    await rename(sender, 'x'.repeat(1_022), sql.fragment`phone_number = ${number(2)}`);
    const texts = await send(campaignId);
    expect([...texts.keys()].toSorted()).toEqual([number(1), number(3)]);
    expect(await recipientOf(campaignId, 2)).toEqual({
      state: 'SKIPPED',
      reason: 'TEXT_TOO_LONG',
      detail: 'body: 1,025 of 1,024',
      settlement: 'none',
    });
    expect(await checkBooks(test.pool, { ...sender, campaignId })).toMatchObject({
      reserved: 0n,
      ledger: 1_000_000_000n - 2_000n,
      counters_fit: true,
    });
  });

  it('may be a custom one, of contacts found by filter, by number and by an earlier failure', async () => {
    const sender = await fundedSender('Hi {{1}}');
    await addContacts(sender, 3);
    const live = (city: string, where: ReturnType<typeof sql.fragment>) =>
      run(sql.fragment`UPDATE contact SET custom_fields = jsonb_build_object('city', ${city}::text, 'other', 'x'), updated_at = now()
        WHERE workspace_id = ${sender.workspaceId} AND ${where}`);
    await live('Bonn', sql.fragment`true`);
    const variableMapping = { body: { 1: 'in {{custom.city}}' } };
    const all = await prepared(sender, { selectionType: 'all_contacts', variableMapping });
    const quick = await prepared(sender, {
      selectionType: 'quick_contacts',
      content: JSON.stringify([`+${number(1)}`, `+${number(2)}`, '+4915200000000']),
      variableMapping,
    });
    await live('Rome', sql.fragment`phone_number = ${number(2)}`);
    await live('', sql.fragment`phone_number = ${number(3)}`);
    const bonnAndRome = new Map([
      [number(1), 'in Bonn'],
      [number(2), 'in Rome'],
    ]);
    expect(await send(all, refuse(131047))).toEqual(bonnAndRome);
    expect(await recipientOf(all, 3)).toMatchObject({ state: 'SKIPPED', reason: 'MISSING_VARIABLE' });
    expect(await send(quick)).toEqual(bonnAndRome);
    const failed = await prepared(sender, {
      selectionType: 'failed_contacts',
      audience: { failed_campaign_id: all },
      variableMapping,
    });
    expect(await send(failed)).toEqual(bonnAndRome);
  });

  it('is the present one in a test message, too', async () => {
    const sender = await fundedSender('Hi {{1}}');
    await addContacts(sender, 1);
    const campaignId = await prepared(sender, {
      selectionType: 'all_contacts',
      variableMapping: {
        body: { 1: '{{firstName}} of {{custom.city}}' },
        default_values: { body: { 1: 'friend' } },
      },
    });
    await rename(sender, 'New', sql.fragment`true`);
    await run(
      sql.fragment`UPDATE contact SET custom_fields = '{"city":"Rome"}' WHERE workspace_id = ${sender.workspaceId}`,
    );
    const texts: string[] = [];
    const provider = createFakeProvider((message, count) => {
      texts.push(textOf(message.template.components));
      return accept(message, count);
    });
    const dependencies = sendingDependencies({ database: test.pool, provider });
    const request = { workspaceId: sender.workspaceId, campaignId, phoneNumber: '+4915112345678' };
    await testCampaign(dependencies, request);
    await rename(sender, '', sql.fragment`true`);
    await testCampaign(dependencies, request);
    expect(texts).toEqual(['New of Rome', 'friend']);
  });

  it('leaves the cells of a CSV and inline values as they were given', async () => {
    const sender = await fundedSender('Hi {{1}} {{2}}');
    await addContacts(sender, 2);
    const csv = await prepared(sender, {
      selectionType: 'csv_contacts',
      content: `phone,name\n+${number(1)},Cell 1\n+${number(2)},Cell 2\n`,
      audience: { csv_mapping: { phone_column: 0, country_code_column: 0, name_column: 1 } },
      variableMapping: { body: { 1: 'name_column', 2: '{{name_column}} of {{firstName}}' } },
    });
    const quick = await prepared(sender, {
      selectionType: 'quick_contacts',
      content: JSON.stringify([`+${number(1)},Inline`, `+${number(2)}`]),
      variableMapping: { body: { 1: 'firstName', 2: 'firstName' } },
    });
    await rename(sender, 'New', sql.fragment`true`);
    expect(await send(csv)).toEqual(
      new Map([
        [number(1), 'Cell 1|Cell 1 of New'],
        [number(2), 'Cell 2|Cell 2 of New'],
      ]),
    );
    expect(await send(quick)).toEqual(
      new Map([
        [number(1), 'Inline|New'],
        [number(2), 'New|New'],
      ]),
    );
  });

  it('is the one of the contact as the preparation has registered it', async () => {
    const sender = await fundedSender('Hi {{1}}');
    const campaignId = await prepared(sender, {
      selectionType: 'csv_contacts',
      content: `phone,name\n+${number(1)},Ada\n+${number(2)},Grace\n`,
      audience: { csv_mapping: { phone_column: 0, country_code_column: 0, name_column: 1 } },
      variableMapping: { body: { 1: 'firstName' } },
    });
    const texts = await send(campaignId);
    expect(texts).toEqual(
      new Map([
        [number(1), 'Ada'],
        [number(2), 'Grace'],
      ]),
    );
  });
});
