/** The consent of a contact, whatever the order in which its decisions arrive. */
import { randomUUID } from 'node:crypto';
import { sql } from 'slonik';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changeOptedOutNumbers, findOptedOutNumbers } from '../../../src/records/contacts/erasure.ts';
import { decideConsent } from '../../../src/records/contacts/consents.ts';
import { nothing } from '../../../src/records/database/row.ts';
import type { Consent, ConsentDecision } from '../../../src/domain/contacts/consent.ts';
import { rowsOf } from '../../support/callback-fixtures.ts';
import { seedCampaign } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
let workspaceId: number;
beforeAll(async () => {
  database = await createTestDatabase();
  ({ workspaceId } = await seedCampaign(database.pool, { recipients: 1 }));
});
afterAll(() => database.drop());

const decisions = {
  STOP: { category: 'ALL', allows: false },
  START: { category: 'ALL', allows: true },
  appStop: { category: 'MARKETING', allows: false },
  resume: { category: 'MARKETING', allows: true },
} as const satisfies Readonly<Record<string, ConsentDecision>>;
type Name = keyof typeof decisions;

let numbers = 0;
async function aContact(): Promise<string> {
  numbers += 1;
  const id = randomUUID();
  await database.pool.query(sql.type(nothing)`
    INSERT INTO contact (id, workspace_id, phone_number, country_code, country, source)
    VALUES (${id}, ${workspaceId}, ${String(491510000000 + numbers)}, '49', 'DE', 'csv_import')`);
  return id;
}

const time = (second: number) => new Date(1_800_000_000_000 + second * 1_000);

const decide = (contactId: string, name: Name, second: number) =>
  decideConsent(database.pool, workspaceId, {
    contactIds: [contactId],
    decision: decisions[name],
    at: time(second),
    source: 'person',
  });

async function consentOf(contactId: string): Promise<{ consent: Consent; subscribed: boolean } | undefined> {
  const [found] = await rowsOf<{ consent: Consent; subscribed: boolean }>(
    database.pool,
    sql.fragment`SELECT consent, subscribed FROM contact WHERE id = ${contactId}`,
  );
  return found;
}

/** The consent after decisions in the order in which the person made them. */
function expected(names: readonly Name[]): Consent {
  let [all, marketing] = [true, true];
  for (const name of names) {
    if (name === 'STOP') all = false;
    if (name === 'appStop') marketing = false;
    if (name === 'START' || name === 'resume') marketing = true;
    if (name === 'START') all = true;
  }
  if (!all) return 'none';
  return marketing ? 'all' : 'no_marketing';
}

it.each<[readonly Name[], Consent]>([
  [['STOP'], 'none'],
  [['appStop'], 'no_marketing'],
  [['appStop', 'resume'], 'all'],
  [['STOP', 'resume'], 'none'],
  [['appStop', 'STOP', 'resume'], 'none'],
  [['STOP', 'appStop', 'START'], 'all'],
  [['STOP', 'START', 'appStop'], 'no_marketing'],
  [['appStop', 'START'], 'all'],
])('after %j is %s', async (names, consent) => {
  const contactId = await aContact();
  for (const [second, name] of names.entries()) await decide(contactId, name, second);
  expect(await consentOf(contactId)).toEqual({ consent, subscribed: consent === 'all' });
  expect(expected(names)).toBe(consent);
});

it('is the same in whatever order the decisions arrive, also repeatedly', async () => {
  let seed = 20261128;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * below);
  };
  const names = Object.keys(decisions) as Name[];
  for (let round = 0; round < 60; round += 1) {
    const made = Array.from({ length: 2 + random(4) }, () => names[random(names.length)] ?? 'STOP');
    const arriving = made.map((name, second) => ({ name, second }));
    arriving.push(...arriving.filter(() => random(4) === 0));
    for (let at = arriving.length - 1; at > 0; at -= 1) {
      const other = random(at + 1);
      arriving.splice(at, 1, ...arriving.splice(other, 1, ...arriving.slice(at, at + 1)));
    }
    const contactId = await aContact();
    for (const { name, second } of arriving) await decide(contactId, name, second);
    const consent = expected(made);
    expect([made, arriving, await consentOf(contactId)]).toEqual([
      made,
      arriving,
      { consent, subscribed: consent === 'all' },
    ]);
  }
});

describe('what 1.0.0 writes beside it', () => {
  const decideOld = (contactId: string, subscribed: boolean, second: number) =>
    database.pool.query(sql.type(nothing)`
      UPDATE contact SET subscribed = ${subscribed}, consent_at = ${time(second).toISOString()}, updated_at = now()
      WHERE workspace_id = ${workspaceId} AND id = ${contactId}
        AND (consent_at IS NULL OR consent_at <= ${time(second).toISOString()})`);

  it('is an opt-out from everything', async () => {
    const contactId = await aContact();
    await decideOld(contactId, false, 1);
    expect(await consentOf(contactId)).toEqual({ consent: 'none', subscribed: false });
    await decide(contactId, 'resume', 2);
    expect(await consentOf(contactId)).toMatchObject({ consent: 'none' });
    await decide(contactId, 'START', 3);
    expect(await consentOf(contactId)).toMatchObject({ consent: 'all' });
  });

  it('overrules the decisions before, and not those after', async () => {
    const contactId = await aContact();
    await decide(contactId, 'appStop', 1);
    await decideOld(contactId, false, 2);
    expect(await consentOf(contactId)).toMatchObject({ consent: 'none' });
    await decideOld(contactId, true, 3);
    expect(await consentOf(contactId)).toMatchObject({ consent: 'all' });
    await decide(contactId, 'appStop', 2);
    expect(await consentOf(contactId)).toMatchObject({ consent: 'all' });
    await decide(contactId, 'appStop', 4);
    expect(await consentOf(contactId)).toMatchObject({ consent: 'no_marketing' });
  });

  it('leaves the consent alone when it changes something else', async () => {
    const contactId = await aContact();
    await decide(contactId, 'appStop', 1);
    await database.pool.query(sql.type(nothing)`
      UPDATE contact SET first_name = 'Ada', subscribed = false WHERE workspace_id = ${workspaceId} AND id = ${contactId}`);
    expect(await consentOf(contactId)).toMatchObject({ consent: 'no_marketing' });
  });
});

it('of somebody without a contact is as strict as what the person stopped', async () => {
  const hash = Buffer.alloc(32, 7);
  const kept = async () =>
    (await findOptedOutNumbers(database.pool, workspaceId, [hash])).map((one) => one.consent);
  const change = (name: Name) =>
    changeOptedOutNumbers(database.pool, workspaceId, { hashes: [hash], ...decisions[name] });
  await change('appStop');
  expect(await kept()).toEqual(['no_marketing']);
  await change('STOP');
  await change('appStop');
  await change('resume');
  expect(await kept()).toEqual(['none']);
  await change('START');
  expect(await kept()).toEqual([]);
});
