import { sql } from 'slonik';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type NewEvent, serialiseEvent } from '../../../src/domain/webhooks/new-event.ts';
import { nothing } from '../../../src/records/database/row.ts';
import { emitEvents, fanOutEvents } from '../../../src/records/webhooks/events.ts';
import {
  type FeedPlace,
  findFeed,
  readFeed,
  removeFeedBatches,
} from '../../../src/records/webhooks/event-feed.ts';
import { startTestApi, type SeededWorkspace, type TestApi } from '../../support/api.ts';
import { connectLockHolder } from '../../support/lock-holder.ts';
import { contactEvent, makeConfiguration, query } from '../../support/webhook-fixtures.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const switchFeed = (workspace: SeededWorkspace, enabled: boolean, key = workspace.operatorKey) =>
  api.send('PUT', '/api/workspace/event-feed', { key, body: { enabled } });

async function workspaceWithFeed(): Promise<SeededWorkspace> {
  const workspace = await api.seedWorkspace();
  expect((await switchFeed(workspace, true)).status).toBe(200);
  return workspace;
}

/** Writes events with the given first names, and numbers them. */
async function write(workspace: SeededWorkspace, ...names: readonly string[]): Promise<void> {
  await emitEvents(api.database.pool, workspace.workspaceId, names.map(named));
  await number();
}

const number = () => fanOutEvents(api.database.pool, 1_000);

const named = (firstName: string): NewEvent => {
  const event = contactEvent();
  if (event.eventKey !== 'contact.created') throw new Error('not a contact');
  return { ...event, data: { contact: { ...event.data.contact, firstName } } };
};

const read = (workspace: SeededWorkspace, search: Record<string, string> = {}) =>
  api.send('GET', `/api/events?${new URLSearchParams(search).toString()}`, { key: workspace.workspaceKey });

const namesIn = (body: { data: { body: { data: { contact: { firstName: string } } } }[] }) =>
  body.data.map((event) => event.body.data.contact.firstName);

/** Follows the feed to its end; returns the names in order and the last cursor. */
async function follow(workspace: SeededWorkspace, search: Record<string, string> = {}) {
  const names: string[] = [];
  let after = search['after'];
  for (;;) {
    const { status, body } = await read(workspace, { ...search, ...(after !== undefined && { after }) });
    expect(status).toBe(200);
    names.push(...namesIn(body));
    after = body.pagination.nextCursor;
    if (!body.pagination.hasMore) return { names, after: body.pagination.nextCursor as string };
  }
}

describe('the event feed', () => {
  it('stores every event without a webhook while it is on, and none while it is off', async () => {
    const workspace = await api.seedWorkspace();
    expect((await read(workspace)).body).toMatchObject({ data: [], pagination: { hasMore: false } });
    await write(workspace, 'before');
    expect((await switchFeed(workspace, true, workspace.workspaceKey)).status).toBe(401);
    expect(await switchFeed(workspace, true)).toMatchObject({
      status: 200,
      body: { data: { enabled: true } },
    });
    await write(workspace, 'one', 'two');
    await switchFeed(workspace, false);
    await write(workspace, 'after');
    expect((await follow(workspace)).names).toEqual(['one', 'two']);
    const { body } = await api.send('GET', '/api/workspace/event-feed', { key: workspace.channelKey });
    expect(body.data.enabled).toBe(false);
  });

  it('returns the stored bodies byte for byte with the ids of the events, as JSON and as lines', async () => {
    const workspace = await workspaceWithFeed();
    await makeConfiguration(api.database.pool, workspace.workspaceId);
    await write(workspace, 'a"b\\ü', 'second');
    const stored = await query<{ id: string; body: string }>(
      api.database,
      'SELECT id, body FROM event WHERE workspace_id = $1 ORDER BY id',
      [workspace.workspaceId],
    );
    const { text, body } = await read(workspace);
    for (const one of stored) expect(text).toContain(`"body":${one.body}}`);
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual(stored.map(({ id }) => id));
    const lines = await api.send('GET', '/api/events?limit=1', {
      key: workspace.channelKey,
      headers: { Accept: 'application/x-ndjson' },
    });
    expect(lines.text).toBe(
      `{"id":"${stored[0]?.id}","cursor":"${body.data[0].cursor}","body":${stored[0]?.body}}\n`,
    );
    expect(lines.headers.get('x-next-cursor')).toBe(body.data[0].cursor);
  });

  it('shows every event exactly once to a reader, also if a transaction commits late', async () => {
    const workspace = await workspaceWithFeed();
    const holder = await connectLockHolder(api.database.ownerUrl);
    try {
      await holder.hold(
        `INSERT INTO event (workspace_id, key, body)
         VALUES ($1, 'contact.created', $2)`,
        [workspace.workspaceId, serialiseEvent(workspace.workspaceId, named('late'))],
      );
      await write(workspace, 'early');
      const first = await follow(workspace);
      expect(first.names).toEqual(['early']);
      await holder.release();
      await write(workspace, 'last');
      expect((await follow(workspace, { after: first.after })).names.toSorted()).toEqual(['last', 'late']);
      expect((await follow(workspace, { limit: '1' })).names[0]).toBe('early');
    } finally {
      await holder.end();
    }
  });

  it('numbers without gaps and repetitions while several processes fan out', async () => {
    const workspace = await workspaceWithFeed();
    const names = Array.from({ length: 60 }, (_, index) => `contact ${index}`);
    const { workspaceId } = workspace;
    const { pool } = api.database;
    const readAll = async (limit: number): Promise<readonly string[]> => {
      const seen: string[] = [];
      let after: FeedPlace = { position: 0, eventId: null };
      while (seen.length < names.length) {
        const latest = (await findFeed(pool, workspaceId))?.latest.position ?? 0;
        const page = await readFeed(pool, workspaceId, { after, latest, keys: [], limit });
        if (typeof page === 'string') throw new Error(page);
        for (const { body } of page.events) seen.push(/"firstName":"([^"]*)"/.exec(body)?.[1] ?? '');
        after = page.next;
      }
      return seen;
    };
    const state = { isOpen: true };
    const fanOuts = [0, 1, 2].map(async () => {
      while (state.isOpen) await fanOutEvents(pool, 5);
    });
    const writing = Promise.all(names.map((name) => emitEvents(pool, workspaceId, [named(name)])));
    const [one, other] = await Promise.all([readAll(7), readAll(3), writing]).finally(
      () => (state.isOpen = false),
    );
    await Promise.all(fanOuts);
    expect(one).toEqual(other);
    expect(one?.toSorted()).toEqual(names.toSorted());
  });

  it('does not wait for another process that numbers the same workspace', async () => {
    const workspace = await workspaceWithFeed();
    const other = await workspaceWithFeed();
    const holder = await connectLockHolder(api.database.ownerUrl);
    try {
      await holder.hold('SELECT FROM event_feed WHERE workspace_id = $1 FOR UPDATE', [workspace.workspaceId]);
      await write(workspace, 'waits');
      await write(other, 'goes on');
      expect((await follow(other)).names).toEqual(['goes on']);
      expect((await follow(workspace)).names).toEqual([]);
      await holder.release();
      await number();
      expect((await follow(workspace)).names).toEqual(['waits']);
    } finally {
      await holder.end();
    }
  });

  it('skips other keys, and its cursor moves on past them', async () => {
    const workspace = await workspaceWithFeed();
    await write(workspace, 'one', 'two', 'three');
    await query(api.database, `UPDATE event SET key = 'sent' WHERE workspace_id = $1 AND body LIKE '%two%'`, [
      workspace.workspaceId,
    ]);
    expect((await follow(workspace, { event_key: 'sent' })).names).toEqual(['two']);
    expect((await follow(workspace, { event_key: 'contact.created', limit: '1' })).names).toEqual([
      'one',
      'three',
    ]);
    const { body } = await read(workspace, { event_key: 'read' });
    expect(body).toMatchObject({ data: [], pagination: { hasMore: false } });
    await write(workspace, 'four');
    expect((await follow(workspace, { after: body.pagination.nextCursor })).names).toEqual(['four']);
    expect((await read(workspace, { event_key: 'opened' })).status).toBe(400);
  });

  it('continues across days, and answers 410 with the oldest cursor that works', async () => {
    const workspace = await workspaceWithFeed();
    await write(workspace, 'old');
    const { body: first } = await read(workspace);
    await write(workspace, 'yesterday', 'today');
    await write(workspace, 'later');
    await query(
      api.database,
      `WITH aged AS (UPDATE event SET id = uuidv7(interval '-1 day') WHERE workspace_id = $1 AND body LIKE '%yesterday%' RETURNING id)
       UPDATE event_feed_batch SET event_ids[1] = aged.id FROM aged WHERE workspace_id = $1 AND cardinality(event_ids) = 2`,
      [workspace.workspaceId],
    );
    expect((await follow(workspace)).names).toEqual(['old', 'yesterday', 'today', 'later']);

    await query(api.database, `DELETE FROM event WHERE workspace_id = $1 AND body LIKE '%yesterday%'`, [
      workspace.workspaceId,
    ]);
    const gone = await read(workspace, { after: first.data[0].cursor });
    expect(gone).toMatchObject({ status: 410, body: { error_code: 'cursor_expired' } });
    const after = gone.body.error.oldestCursor;
    expect((await follow(workspace, { after })).names).toEqual(['today', 'later']);

    await query(
      api.database,
      `UPDATE event_feed_batch SET created_at = now() - interval '1 day'
      WHERE workspace_id = $1 AND last_position <= 3`,
      [workspace.workspaceId],
    );
    await removeFeedBatches(api.database.pool, new Date(Date.now() - 3_600_000), 100);
    expect((await follow(workspace)).names).toEqual(['later']);
    expect((await read(workspace, { after })).status).toBe(410);
  });

  it('tells a reader that the feed was off, or that the database was restored', async () => {
    const workspace = await workspaceWithFeed();
    await write(workspace, 'one');
    const { after } = await follow(workspace);
    await switchFeed(workspace, false);
    expect((await read(workspace, { after })).status).toBe(200);
    await switchFeed(workspace, true);
    await switchFeed(workspace, true);
    const gone = await read(workspace, { after });
    expect(gone.status).toBe(410);
    await write(workspace, 'two');
    expect((await follow(workspace, { after: gone.body.error.oldestCursor })).names).toEqual(['two']);

    const { after: ahead } = await follow(workspace, { after: gone.body.error.oldestCursor });
    await api.database.pool.query(sql.type(nothing)`
      WITH gone AS (DELETE FROM event_feed_batch WHERE workspace_id = ${workspace.workspaceId} AND last_position > 1)
      UPDATE event_feed SET last_position = 1 WHERE workspace_id = ${workspace.workspaceId}`);
    expect((await read(workspace, { after: ahead })).status).toBe(410);
    await write(workspace, 'another two', 'another three', 'another four');
    const unknown = await read(workspace, { after: ahead });
    expect(unknown.status).toBe(410);
    expect((await follow(workspace, { after: unknown.body.error.oldestCursor })).names).toContain(
      'another two',
    );
  });

  it('refuses a cursor of another list', async () => {
    const workspace = await workspaceWithFeed();
    expect(await read(workspace, { after: 'nonsense' })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('after is not a cursor') },
    });
  });
});
