/** A database and a real Temporal server for the doctor to compare; `findAbout` filters its findings by subject. */
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import * as t from 'io-ts';
import { sql } from 'slonik';
import { everyCheck } from '../../../src/commands/operations/check-campaigns.ts';
import {
  type Doctor,
  type Finding,
  repairFindings,
  runDoctor,
} from '../../../src/commands/operations/doctor.ts';
import { viewWorkflows } from '../../../src/commands/operations/workflow-view.ts';
import { nothing, row } from '../../../src/records/database/row.ts';
import { campaignWorkflowId } from '../../../src/workflows/contract.ts';
import { until } from '../../support/campaign-fixture.ts';
import { createTestDatabase } from '../../support/database.ts';
import { testOrchestrator } from '../../support/test-orchestrator.ts';

export type DoctorFixture = Awaited<ReturnType<typeof createDoctorFixture>>;

export async function createDoctorFixture(temporal: TestWorkflowEnvironment) {
  const database = await createTestDatabase({ poolSize: 10 });
  const orchestrator = testOrchestrator(temporal.client);
  const doctor: Doctor = {
    database: database.pool,
    orchestrator,
    workflows: viewWorkflows(orchestrator),
    slackSeconds: 60,
    quick: false,
  };
  const findAbout = async (ids: readonly string[], pauseMs = 20): Promise<readonly Finding[]> =>
    (await runDoctor(doctor, { pauseMs, checks: everyCheck })).filter(({ id }) => ids.includes(id));
  return {
    doctor,
    orchestrator,
    pool: database.pool,
    findAbout,
    drop: database.drop,
    run: (statement: ReturnType<typeof sql.fragment>) =>
      database.owner.query(sql.type(nothing)`${statement}`),
    /** Returns the single value of a query as text. */
    read: (query: ReturnType<typeof sql.fragment>) =>
      database.pool.oneFirst(sql.type(row(t.type({ value: t.string })))`SELECT (${query})::text AS value`),
    /** Repairs the findings about these ids, and returns the findings that remain. */
    async repairAbout(ids: readonly string[]) {
      const findings = await findAbout(ids);
      const settled = await repairFindings(findings);
      return {
        kinds: findings.map(({ kind }) => kind),
        problems: settled.flatMap(({ problem }) => problem ?? []),
        left: (await findAbout(ids)).map(({ kind }) => kind),
      };
    },
  };
}

/** Waits until the campaign's workflow is idle: a task handed to a worker that stops would be missed until its timeout. */
export async function untilQuiet(
  { pool }: DoctorFixture,
  temporal: TestWorkflowEnvironment,
  campaignId: string,
): Promise<void> {
  const handle = temporal.client.workflow.getHandle(campaignWorkflowId(campaignId));
  let before = -1;
  await until(async () => {
    const commands = await pool.oneFirst(sql.type(row(t.type({ count: t.number })))`
      SELECT count(*)::int4 AS count FROM workflow_outbox`);
    const { raw, historyLength } = await handle.describe();
    const busy =
      commands > 0 || (raw.pendingActivities ?? []).length > 0 || (raw.pendingWorkflowTask ?? null) !== null;
    const quiet = !busy && historyLength === before;
    before = historyLength;
    if (!quiet) await sleep(150);
    return quiet;
  });
}

/** Creates an event with one delivery. */
export async function seedDelivery(
  { run, read }: DoctorFixture,
  workspaceId: number,
  columns: ReturnType<typeof sql.fragment>,
): Promise<string> {
  const [eventId, webhookId] = [randomUUID(), randomUUID()];
  // The id contains the time of creation.
  const id = await read(sql.fragment`
    SELECT uuidv7(made.at - now()) FROM (SELECT ${columns}) AS made (state, dispatched_at, sending_until, at)`);
  await run(sql.fragment`INSERT INTO event (id, workspace_id, key, body, fanned_out_at)
    VALUES (${eventId}, ${workspaceId}, 'message.sent', '{}', now())`);
  await run(sql.fragment`INSERT INTO webhook_delivery (id, workspace_id, webhook_id, event_id, event_key,
      state, dispatched_at, sending_until, created_at)
    SELECT ${id}, ${workspaceId}, ${webhookId}, ${eventId}, 'message.sent', ${columns}`);
  return id;
}
