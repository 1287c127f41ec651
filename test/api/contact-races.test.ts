/** Concurrent changes of contacts: none is lost, and a change waits only for its own contact. */
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApi, type SeededWorkspace, type TestApi } from '../support/api.ts';
import { listEvents, subscribeToEverything } from '../support/event-log.ts';
import { query } from '../support/webhook-fixtures.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

let lastNumber = 15_100_000_000;

async function seedContacts(count: number, workspace?: SeededWorkspace) {
  const owner = workspace ?? (await api.seedWorkspace());
  const { workspaceId, channelKey: key } = owner;
  await subscribeToEverything(api.database, workspaceId);
  const contacts = await Promise.all(
    Array.from({ length: count }, () => {
      lastNumber += 1;
      return api.send('POST', '/api/contacts', { key, body: { phoneNumber: `+49${lastNumber}` } });
    }),
  );
  return { ...owner, key, ids: contacts.map(({ body }) => body.data.id as string) };
}

const put = ({ key }: { readonly key: string }, id: string | undefined, body: object) =>
  api.send('PUT', `/api/contacts/${id}`, { key, body });

const updatesOf = async (workspaceId: number) =>
  (await listEvents(api.database, workspaceId))
    .filter(({ eventKey }) => eventKey === 'contact.updated')
    .map(({ data }) => data.contact);

/** Starts another transaction that runs `statement` and keeps its locks until it is ended. */
async function holding(statement: string, values: readonly unknown[]): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: api.database.url });
  await client.connect();
  await client.query('BEGIN');
  await client.query(statement, [...values]);
  return async () => {
    await client.query('COMMIT');
    await client.end();
  };
}

/** Resolves when the given number of statements wait for a lock. */
async function waiters(count: number): Promise<void> {
  const waiting = `
    SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  await expect.poll(() => query(api.database, waiting)).toHaveLength(count);
}

it('keeps the changes of many concurrent edits of one contact', async () => {
  const workspace = await seedContacts(1);
  const [id] = workspace.ids;
  const edits = [
    { firstName: 'Grace' },
    { lastName: 'Hopper' },
    { chatName: 'Amazing Grace' },
    { email: 'grace@example.com' },
    { subscribed: false },
    { customFields: [{ fieldId: 'rank', value: 'Admiral' }] },
  ];
  const answers = await Promise.all(edits.map((edit) => put(workspace, id, edit)));
  expect(answers.map(({ status }) => status)).toEqual(edits.map(() => 200));
  const read = await api.send('GET', `/api/contacts/${id}`, workspace);
  expect(read.body.data).toMatchObject(Object.assign({}, ...edits));
  const updates = await updatesOf(workspace.workspaceId);
  expect(updates).toHaveLength(edits.length);
  expect(updates.at(-1)).toEqual(read.body.data);
  const times = updates.map(({ updatedAt }) => updatedAt);
  expect(new Set(times).size).toBe(edits.length);
  expect(times).toEqual(times.toSorted());
});

it('changes contacts of many workspaces concurrently, without effects on each other', async () => {
  const workspaces = await Promise.all([seedContacts(8), seedContacts(8), seedContacts(8)]);
  const edits = workspaces.flatMap((workspace) => workspace.ids.map((id) => ({ workspace, id })));
  const answers = await Promise.all(
    edits.map(({ workspace, id }) => put(workspace, id, { firstName: `of ${id}` })),
  );
  const stranger = workspaces[0];
  const foreign = await Promise.all(
    (workspaces[1]?.ids ?? []).map((id) => put({ key: stranger?.key ?? '' }, id, { firstName: 'stolen' })),
  );
  expect(foreign.map(({ status }) => status)).toEqual(Array(8).fill(404));
  expect(answers.map(({ body }) => [body.data?.id, body.data?.firstName])).toEqual(
    edits.map(({ id }) => [id, `of ${id}`]),
  );
  for (const { workspaceId, ids } of workspaces) {
    const updates = await updatesOf(workspaceId);
    expect(updates.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  }
});

it('waits for the transaction that holds the contact, and delays no other contact', async () => {
  const workspace = await seedContacts(3);
  const [held, ...free] = workspace.ids;
  const release = await holding('UPDATE contact SET last_name = $2 WHERE id = $1', [held, 'Hopper']);
  let answered = false;
  const waiting = put(workspace, held, { firstName: 'Grace' }).finally(() => {
    answered = true;
  });
  const others = await Promise.all(free.map((id) => put(workspace, id, { firstName: 'Ada' })));
  expect(others.map(({ status }) => status)).toEqual([200, 200]);
  await waiters(1);
  expect(answered).toBe(false);
  await release();
  expect((await waiting).body.data).toMatchObject({ firstName: 'Grace', lastName: 'Hopper' });
});

it('answers 404 to an edit that waited until the contact was deleted', async () => {
  const workspace = await seedContacts(1);
  const [id] = workspace.ids;
  const release = await holding('UPDATE contact SET deleted_at = now() WHERE id = $1', [id]);
  const waiting = put(workspace, id, { firstName: 'Grace' });
  await waiters(1);
  await release();
  expect((await waiting).status).toBe(404);
  expect(await updatesOf(workspace.workspaceId)).toEqual([]);
});

it('leaves out a tag that is deleted while a contact gets it', async () => {
  const workspace = await seedContacts(1);
  const [id] = workspace.ids;
  const tag = await api.send('POST', '/api/tags', { key: workspace.key, body: { name: 'VIP' } });
  const { tagId } = tag.body.data;
  const release = await holding('DELETE FROM tag WHERE id = $1', [tagId]);
  const tagged = put(workspace, id, { tagsId: [tagId] });
  const created = api.send('POST', '/api/contacts', {
    key: workspace.key,
    body: { phoneNumber: '+4915112345678', tagsId: [tagId] },
  });
  await waiters(2);
  await release();
  expect([(await tagged).status, (await created).status]).toEqual([200, 201]);
  const { body } = await api.send('GET', '/api/contacts', workspace);
  expect(body.data.map(({ tagsId }: { tagsId: string[] }) => tagsId)).toEqual([[], []]);
});

it('gives a number to one of two concurrent requests', async () => {
  const workspace = await seedContacts(2);
  const answers = await Promise.all(
    workspace.ids.map((id) => put(workspace, id, { phoneNumber: '15112345678' })),
  );
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
});
