/** Lists are read from a real standby while it is fresh enough, and from the primary when it is not. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { withClient } from '../../local/rehearsals/evidence.ts';
import { startTestApi, type SeededWorkspace, type TestApi } from '../support/api.ts';
import { startPostgresPair, type PostgresPair } from '../support/standby.ts';

const mostSeconds = 2;
let pair: PostgresPair;
let api: TestApi;
let workspace: SeededWorkspace;

beforeAll(async () => {
  pair = await startPostgresPair();
  api = await startTestApi({
    config: {
      databaseUrl: pair.primary.url,
      databaseReadUrl: pair.standby.url,
      databaseReadMaxAge: mostSeconds,
    },
  });
  workspace = await api.seedWorkspace();
}, 60_000);
afterAll(async () => {
  await api?.close();
  await pair?.stop();
});

let made = 0;
const nextNumber = () => `+49151${String((made += 1)).padStart(8, '0')}`;
const create = (phoneNumber: string) =>
  api.send('POST', '/api/contacts', { key: workspace.workspaceKey, body: { phoneNumber } });

/** Its id. */
async function addContact(): Promise<string> {
  const { status, body } = await create(nextNumber());
  expect(status).toBe(201);
  return body.data.id;
}

/** The ids of the list, and how old it says it is; undefined from the primary. */
async function list() {
  const { status, body, headers } = await api.send('GET', '/api/contacts', { key: workspace.workspaceKey });
  expect(status).toBe(200);
  const age = headers.get('x-data-age');
  const ids = (body.data as readonly { readonly id: string }[]).map(({ id }) => id);
  return { ids, age: age === null ? undefined : Number(age) };
}

const onStandby = (statement: string) =>
  withClient(pair.standby.adminUrl, (client) => client.query(statement));
const patience = { timeout: 20_000, interval: 200 };
const untilFromStandby = async () => {
  await expect.poll(async () => (await list()).age, patience).toBeLessThan(mostSeconds);
};

it('says how old a list of the standby may be, and holds all that is older', async () => {
  const added = await addContact();
  await untilFromStandby();
  await expect.poll(async () => (await list()).ids, patience).toContain(added);
});

it('reads from the primary what the standby would tell too late', async () => {
  await untilFromStandby();
  await onStandby('SELECT pg_wal_replay_pause()');
  const added = await addContact();
  const stale = await list();
  expect([stale.age === undefined, stale.ids.includes(added)]).toEqual([false, false]);
  await expect.poll(async () => (await list()).age, patience).toBeUndefined();
  expect((await list()).ids).toContain(added);
  await onStandby('SELECT pg_wal_replay_resume()');
  await untilFromStandby();
  expect((await list()).ids).toContain(added);
});

it('decides nothing by the standby: what was written a moment ago is known to who writes', async () => {
  await untilFromStandby();
  await onStandby('SELECT pg_wal_replay_pause()');
  const phoneNumber = nextNumber();
  expect([(await create(phoneNumber)).status, (await create(phoneNumber)).status]).toEqual([201, 409]);
  await onStandby('SELECT pg_wal_replay_resume()');
});

it('answers from the primary when the standby dies', async () => {
  await untilFromStandby();
  await pair.stopStandby();
  const added = await addContact();
  const { ids, age } = await list();
  expect([age, ids.includes(added)]).toEqual([undefined, true]);
});
