import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'slonik';
import * as t from 'io-ts';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  deliverOverdueMessages,
  deliverWorkflowOutbox,
  deliverWorkflowOutboxes,
} from '../../../src/commands/campaigns/deliver-workflow-outbox.ts';
import type { Dependencies } from '../../../src/dependencies.ts';
import { nothing, row } from '../../../src/records/database/row.ts';
import { enqueueRefresh } from '../../../src/records/campaigns/workflow-outbox.ts';
import { seedCampaign } from '../../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());
beforeEach(() => test.pool.query(sql.type(nothing)`DELETE FROM workflow_outbox`));

/** `refuses`: campaigns whose start and refresh Temporal refuses. */
function createOutbox(refuses: (campaignId: string) => boolean) {
  const delivered: string[] = [];
  const deliver = async (campaignId: string) => {
    if (refuses(campaignId)) throw new Error('refused');
    delivered.push(campaignId);
    return true;
  };
  const dependencies = {
    database: test.pool,
    logger: pino({ level: 'silent' }),
    orchestrator: {
      startCampaign: ({ id }: { readonly id: string }) => deliver(id),
      refreshCampaign: deliver,
    },
  } as unknown as Dependencies;
  return { dependencies, delivered };
}

async function seedCommands(count: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const { campaignId } = await seedCampaign(test.pool, { recipients: 1 });
    await enqueueRefresh(test.pool, campaignId);
    ids.push(campaignId);
  }
  return ids;
}

const fromTheStart = { olderThanMs: 0, afterId: 0n };

const Count = row(t.type({ waiting: t.number }));
const countWaiting = () =>
  test.pool.oneFirst(sql.type(Count)`SELECT count(*)::int AS waiting FROM workflow_outbox`);

describe('the delivery of the workflow outbox', () => {
  it('signals ten campaigns at a time, and ends at the first failure', async () => {
    const ids = await seedCommands(30);
    const { dependencies, delivered } = createOutbox(() => false);
    let most = 0;
    let running = 0;
    const refreshCampaign = async (id: string) => {
      running += 1;
      most = Math.max(most, running);
      await sleep(20);
      running -= 1;
      return dependencies.orchestrator.refreshCampaign(id);
    };
    const orchestrator = { ...dependencies.orchestrator, refreshCampaign };
    await deliverWorkflowOutboxes({ ...dependencies, orchestrator }, ids);
    expect(delivered.toSorted()).toEqual(ids.toSorted());
    expect(most).toBeGreaterThan(3);
    expect(most).toBeLessThanOrEqual(10);

    const more = await seedCommands(30);
    let asked = 0;
    const away = createOutbox(() => (asked += 1) > 0);
    await deliverWorkflowOutboxes(away.dependencies, more);
    expect(asked).toBeLessThanOrEqual(10);
    expect(await countWaiting()).toBe(30);
  });

  it('delivers messages of other processes although Temporal rejects some', async () => {
    const [refused = '', ...others] = await seedCommands(4);
    const { dependencies, delivered } = createOutbox((id) => id === refused);
    expect(await deliverOverdueMessages(dependencies, fromTheStart)).toMatchObject({
      delivered: 3,
      lastId: 0n,
    });
    expect(delivered).toEqual(others);
    expect(await countWaiting()).toBe(1);
  });

  it('continues in the next poll behind more rejected messages than one poll tries', async () => {
    const ids = await seedCommands(5);
    const { dependencies, delivered } = createOutbox((id) => ids.indexOf(id) < 3);
    const first = await deliverOverdueMessages(dependencies, fromTheStart);
    expect([first.delivered, String(first.failure)]).toEqual([0, 'Error: refused']);
    const second = await deliverOverdueMessages(dependencies, { olderThanMs: 0, afterId: first.lastId });
    expect([second.delivered, second.lastId]).toEqual([2, 0n]);
    expect(delivered).toEqual(ids.slice(3));
    expect(await countWaiting()).toBe(3);
  });

  it('delivers messages written before the clock of Postgres was set back', async () => {
    const [campaignId] = await seedCommands(1);
    await test.pool.query(
      sql.type(nothing)`UPDATE workflow_outbox SET created_at = now() + interval '1 hour'`,
    );
    const { dependencies, delivered } = createOutbox(() => false);
    await deliverOverdueMessages(dependencies, { olderThanMs: 2_000, afterId: 0n });
    expect(delivered).toEqual([campaignId]);
  });

  it('calls Temporal only a few times per poll when it rejects everything', async () => {
    await seedCommands(6);
    let asked = 0;
    const { dependencies } = createOutbox(() => (asked += 1) > 0);
    expect((await deliverOverdueMessages(dependencies, fromTheStart)).delivered).toBe(0);
    expect(asked).toBe(3);
    expect(await countWaiting()).toBe(6);
  });

  it('delivers a message again whose process died after the delivery, then deletes it', async () => {
    const [campaignId = ''] = await seedCommands(1);
    const dying = createOutbox(() => false);
    const database = { ...test.pool, query: () => Promise.reject(new Error('died')) };
    const dead = { ...dying.dependencies, database } as unknown as Dependencies;
    await deliverWorkflowOutbox(dead, campaignId);
    expect(dying.delivered).toEqual([campaignId]);
    expect(await countWaiting()).toBe(1);
    const next = createOutbox(() => false);
    await deliverOverdueMessages(next.dependencies, fromTheStart);
    expect(next.delivered).toEqual([campaignId]);
    expect(await countWaiting()).toBe(0);
  });
});
