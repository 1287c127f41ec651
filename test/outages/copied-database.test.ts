/** Worker and API on a database that belongs to another installation, or with settings that do not fit it. */
import { msToTs } from '@temporalio/common/lib/time.js';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'slonik';
import * as t from 'io-ts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { findForeign } from '../../src/commands/operations/installation.ts';
import { pepperId } from '../../src/domain/workspaces/api-key.ts';
import { createOrchestrator } from '../../src/orchestrator/orchestrator.ts';
import { nothing, row } from '../../src/records/database/row.ts';
import { campaignWorkflowId, searchAttributeNames } from '../../src/workflows/contract.ts';
import { seedCampaign, testSecretsKey } from '../support/campaign-factory.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTemporal } from '../support/temporal.ts';
import { startProgram, type StartedProgram } from './child-process.ts';

const pepper = 'a pepper of the outage tests';
let temporal: TestWorkflowEnvironment;
let database: TestDatabase;
let dataDir: string;
beforeAll(async () => {
  temporal = await startTemporal();
});
afterAll(() => temporal?.teardown());
beforeEach(async () => {
  database = await createTestDatabase();
  dataDir = await mkdtemp(join(tmpdir(), 'messaging-campaigns-copy-'));
});

const running: StartedProgram[] = [];
afterEach(async () => {
  for (const { child } of running) child.kill('SIGKILL');
  await Promise.all(running.splice(0).map(({ ended }) => ended));
  await database.drop();
  await rm(dataDir, { recursive: true });
});

const settings = (more: Readonly<Record<string, string>> = {}) => ({
  DATABASE_URL: database.url,
  TEMPORAL_ADDRESS: temporal.address,
  PROVIDER_BASE_URL: 'http://127.0.0.1:9/v23.0',
  SECRETS_KEY: testSecretsKey,
  DATA_DIR: dataDir,
  ...more,
});

async function start(name: 'server' | 'worker', more: Readonly<Record<string, string>> = {}) {
  const program = startProgram({
    path: `dist/src/${name}.js`,
    environment: settings({ METRICS_PORT: '0', PORT: '0', ...more }),
  });
  running.push(program);
  await program.says(name === 'worker' ? 'health served' : '"msg":"listening"');
  const [, port] =
    /"(?:metricsPort|port)":(\d+)[^}]*"msg":"(?:health served|listening)"/.exec(program.output()) ?? [];
  const readiness = async () => {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`);
    const { message = 'ready' } = (await response.json()) as { readonly message?: string };
    return message;
  };
  return { ...program, readiness };
}

async function admin(args: readonly string[], more: Readonly<Record<string, string>> = {}) {
  const program = startProgram({ path: 'dist/src/admin.js', args, environment: settings(more) });
  running.push(program);
  const code = await program.ended;
  return { code, output: program.output() };
}

async function createNamespace(attributes = true): Promise<string> {
  const namespace = `copy-${randomUUID()}`;
  await temporal.connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: msToTs('1 day'),
  });
  const types = {
    [searchAttributeNames.workspaceId]: 3,
    [searchAttributeNames.campaignStatus]: 2,
    [searchAttributeNames.pauseReason]: 2,
  };
  if (attributes)
    await expect
      .poll(
        () =>
          temporal.connection.operatorService
            .addSearchAttributes({ namespace, searchAttributes: types })
            .then(
              () => true,
              () => false,
            ),
        { timeout: 30_000 },
      )
      .toBe(true);
  return namespace;
}

const patience = { timeout: 60_000, interval: 200 };

describe('a database that belongs to another Temporal namespace', () => {
  const sentence =
    /^Not ready: this database belongs to the Temporal namespace default \([0-9a-f-]{36}\), and this process uses copy-.*: a copy must not send;.*adopt-database/;

  it('starts no workflow, until an operator adopts it', async () => {
    const first = await start('worker');
    await first.says('worker ready');
    first.child.kill('SIGTERM');
    await first.ended;
    const namespace = await createNamespace();
    const { campaignId } = await seed();
    await database.pool.query(sql.type(nothing)`
      INSERT INTO workflow_outbox (campaign_id, kind, created_at) VALUES (${campaignId}, 'start', now() - interval '1 minute')`);
    const [worker, api] = await Promise.all([
      start('worker', { TEMPORAL_NAMESPACE: namespace }),
      start('server', { TEMPORAL_NAMESPACE: namespace }),
    ]);
    await expect.poll(worker.readiness, patience).toMatch(sentence);
    // An API answers requests and stores callbacks also while it may not start workflows.
    await expect.poll(api.readiness, patience).toBe('ready');
    expect(worker.output()).toContain('waiting for what is missing');
    const orchestrator = await createOrchestrator({
      temporalAddress: temporal.address,
      temporalNamespace: namespace,
    });
    const workflow = orchestrator.client.workflow.getHandle(campaignWorkflowId(campaignId));
    await expect(workflow.describe()).rejects.toThrow(/not found/i);
    expect(await findForeign({ database: database.pool }, await orchestrator.namespace())).toMatch(
      /must not send/,
    );

    const { code, output } = await admin(['adopt-database'], { TEMPORAL_NAMESPACE: namespace });
    expect(code, output).toBe(0);
    expect(JSON.parse(output)).toMatchObject({
      before: { temporalNamespace: 'default' },
      after: { temporalNamespace: namespace, temporalNamespaceId: (await orchestrator.namespace()).id },
    });
    await worker.says('worker ready');
    await expect.poll(() => workflow.describe().then(({ type }) => type), patience).toBe('campaign');
    await orchestrator.close();
    const audited = await database.pool.any(sql.type(row(t.type({ action: t.string, command: t.string })))`
      SELECT action, command FROM audit_entry WHERE action = 'installation.adopt'`);
    expect(audited).toEqual([{ action: 'installation.adopt', command: 'adopt-database' }]);
  }, 180_000);

  it('is named by the doctor, which repairs nothing', async () => {
    await database.pool.query(sql.type(nothing)`
      UPDATE installation SET temporal_namespace_id = ${randomUUID()}, temporal_namespace = 'production'`);
    const doctor = ['doctor', '--pause-seconds', '0'];
    const { code, output } = await admin(doctor);
    expect(output).toContain('note: this database belongs to the Temporal namespace production');
    expect(code).toBe(0);
    expect(await admin([...doctor, '--repair'])).toMatchObject({
      code: 1,
      output: expect.stringMatching(/^Nothing was repaired: this database belongs to/),
    });
  }, 120_000);

  it('is recognised when it was copied on the same Postgres server', async () => {
    await database.pool.query(sql.type(nothing)`
      UPDATE installation SET temporal_namespace_id = ${await idOfDefault()}, temporal_namespace = 'default', postgres_id = '1/2'`);
    const worker = await start('worker');
    await expect.poll(worker.readiness, patience).toMatch(/^Not ready: this database is a copy/);
  }, 120_000);
});

async function idOfDefault(): Promise<string> {
  const { namespaceInfo } = await temporal.connection.workflowService.describeNamespace({
    namespace: 'default',
  });
  return namespaceInfo?.id ?? '';
}

describe('settings that do not fit the database', () => {
  const programs = ['server', 'worker'] as const;

  it('are named while SECRETS_KEY does not decrypt its secrets', async () => {
    await seed();
    const SECRETS_KEY = 'another secrets key';
    const wrong = programs.map(async (name) => {
      const program = await start(name, { SECRETS_KEY });
      await expect
        .poll(program.readiness, patience)
        .toMatch(/^Not ready: SECRETS_KEY and SECRETS_KEY_PREVIOUS do not decrypt/);
    });
    const right = start('worker', { SECRETS_KEY, SECRETS_KEY_PREVIOUS: testSecretsKey });
    await Promise.all([...wrong, right.then((program) => program.says('worker ready'))]);
  }, 180_000);

  it('are named while no key was made under KEY_PEPPER', async () => {
    await seed();
    const api = await start('server', { KEY_PEPPER: 'a pepper of somebody else' });
    await expect
      .poll(api.readiness, patience)
      .toMatch(/^Not ready: no API key of this database was made under KEY_PEPPER/);
  }, 120_000);

  it('are named while the namespace lacks the search attributes', async () => {
    const worker = await start('worker', { TEMPORAL_NAMESPACE: await createNamespace(false) });
    await expect
      .poll(worker.readiness, patience)
      .toMatch(
        /^Not ready: the Temporal namespace copy-\S+ lacks the search attributes WorkspaceId, CampaignStatus, PauseReason/,
      );
  }, 120_000);

  it('are named while API and worker have folders of their own', async () => {
    const api = await start('server');
    await expect.poll(api.readiness, patience).toBe('ready');
    const [worker, second] = await Promise.all([
      start('worker', { DATA_DIR: join(dataDir, 'other') }),
      start('worker'),
    ]);
    await expect.poll(worker.readiness, patience).toMatch(/^Not ready: DATA_DIR is not the folder/);
    await second.says('worker ready');
  }, 120_000);
});

/** A channel whose token is encrypted under `testSecretsKey`, and a key under `pepper`. */
async function seed() {
  const seeded = await seedCampaign(database.pool, { recipients: 2, status: 'DRAFT' });
  await database.pool.query(sql.type(nothing)`
    INSERT INTO api_key (workspace_id, scope, key_id, secret_hash, pepper_id, last4)
    SELECT id, 'workspace', 'a-key-' || id, decode(repeat('00', 32), 'hex'), ${pepperId(pepper)}, 'last' FROM workspace`);
  return seeded;
}
