/**
 * Records the histories that workflows of this build leave in Temporal: starts a stack whose campaigns continue as a new run
 * after a hundred events, runs each scenario of `lives`, and writes its history as JSON to test/histories/<name>/. Run it
 * before a release is tagged, and when src/workflows/ has changed:
 * `node tools/record-histories.mjs [name]`, by default the version of package.json.
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { ensureBuilt } from './build.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const folder = join(root, 'test', 'histories', process.argv[2] ?? version);
if (existsSync(folder))
  throw new Error(`${folder} holds the histories of another build: pass a name for this one`);
await ensureBuilt();
const { findTemporalBinary } = await import('../dist/local/stack/temporal/binary.js');
const { answers, temporalServer } = await import('../dist/local/stack/temporal/server.js');
const { pickFreePorts } = await import('../dist/local/stack/host/free-port.js');

const scratch = mkdtempSync(join(tmpdir(), 'messaging-campaigns-histories-'));
const dataDir = join(scratch, 'data');
const [port, uiPort] = await pickFreePorts('127.0.0.1', 2);
const temporalAddress = `127.0.0.1:${port}`;
const temporal = await findTemporalBinary({
  environment: process.env,
  progress: { say: () => undefined, update: () => undefined },
  signal: AbortSignal.timeout(60_000),
});
const options = {
  binary: temporal,
  dataDir: scratch,
  namespace: 'default',
  port,
  uiPort,
  logFile: '',
  environment: process.env,
};
const server = spawn(
  temporal,
  [...temporalServer(options).args, '--dynamic-config-value', 'limit.historyCount.suggestContinueAsNew=100'],
  { stdio: 'ignore' },
);
while (!(await answers(temporalAddress, 'default'))) await sleep(200);
const stack = spawn(process.execPath, [join(root, 'tools/run-built.mjs'), 'local/stack/start.js'], {
  env: { ...process.env, DATA_DIR: dataDir, PORT: '0', TEMPORAL_ADDRESS: temporalAddress },
  stdio: ['ignore', 'ignore', 'inherit'],
});
const devFile = join(dataDir, 'dev.json');
while (!existsSync(devFile)) {
  if (stack.exitCode !== null) throw new Error('The stack did not start');
  await sleep(200);
}
const dev = JSON.parse(readFileSync(devFile, 'utf8'));

const call = async (method, path, body) => {
  const answer = await fetch(`${dev.baseUrl}${path}`, {
    method,
    headers: { 'x-api-key': dev.apiKey, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const { data, message } = await answer.json();
  if (!answer.ok) throw new Error(`${method} ${path}: ${message}`);
  return data;
};
const create = async (count, fields = {}) =>
  (
    await call('POST', '/api/campaigns/auto-trigger', {
      name: 'History',
      template_id: dev.templateIds.plain_notice,
      contact_selection_type: 'quick_contacts',
      quick_contacts: Array.from({ length: count }, (_, index) => `+49151${30_000_000 + index}`),
      send_type: 'IMMEDIATE',
      ...fields,
    })
  ).campaign.id;
const until = async (id, done) => {
  while (!done(await call('GET', `/api/campaigns/${id}`))) await sleep(100);
};
const inMs = (ms) => ({ send_type: 'SCHEDULED', scheduled_at: new Date(Date.now() + ms).toISOString() });
const prepared = ({ preparation_status }) => preparation_status === 'READY';
const ended = ({ status }) => status === 'COMPLETED' || status === 'CANCELLED';

const client = new Client({ connection: await Connection.connect({ address: temporalAddress }) });
const handleOf = (id) => client.workflow.getHandle(`campaign-${id}`);
/** Runs a schedule at once, and waits for the end of what it started. */
const triggered = async (scheduleId) => {
  const schedule = client.schedule.getHandle(scheduleId);
  const before = (await schedule.describe()).info.recentActions.length;
  await schedule.trigger();
  for (;;) {
    const { recentActions } = (await schedule.describe()).info;
    if (recentActions.length > before) {
      const { workflowId } = recentActions.at(-1).action.workflow;
      await client.workflow.getHandle(workflowId).result();
      return workflowId;
    }
    await sleep(200);
  }
};
/** Id of the first run, for scenarios of more than one run. */
const firstRuns = {};

const lives = {
  async 'campaign-small'() {
    const id = await create(2);
    await until(id, ended);
    return `campaign-${id}`;
  },
  async 'campaign-immediate'() {
    const id = await create(500);
    await until(id, ended);
    return `campaign-${id}`;
  },
  async 'campaign-continued'() {
    const id = await create(5, inMs(3_600_000));
    await until(id, prepared);
    const handle = handleOf(id);
    const { runId: first } = await handle.describe();
    while ((await handle.describe()).runId === first)
      for (const action of ['pause', 'resume']) await handle.executeUpdate(action);
    await handle.executeUpdate('cancel');
    await until(id, ended);
    firstRuns['campaign-continued'] = first;
    return `campaign-${id}`;
  },
  async 'campaign-scheduled'() {
    const id = await create(5, inMs(4000));
    await until(id, ended);
    return `campaign-${id}`;
  },
  async 'campaign-cancelled-asleep'() {
    const id = await create(5, inMs(3_600_000));
    await until(id, prepared);
    await call('POST', `/api/campaigns/${id}/cancel`);
    await until(id, ended);
    return `campaign-${id}`;
  },
  async 'campaign-paused-and-resumed'() {
    const id = await create(3000);
    await until(id, ({ status }) => status === 'RUNNING');
    await call('POST', `/api/campaigns/${id}/pause`);
    await sleep(1000);
    await call('POST', `/api/campaigns/${id}/start`);
    await until(id, ended);
    return `campaign-${id}`;
  },
  async 'campaign-operated-by-signals'() {
    const id = await create(5, inMs(3_600_000));
    await until(id, prepared);
    await handleOf(id).signal('pause');
    await until(id, ({ status }) => status === 'PAUSED');
    await handleOf(id).signal('resume');
    await until(id, ({ status }) => status === 'SCHEDULED');
    await handleOf(id).signal('cancel');
    await until(id, ended);
    return `campaign-${id}`;
  },
  async 'campaign-asleep'() {
    const id = await create(5, inMs(30 * 24 * 3_600_000));
    await until(id, prepared);
    await sleep(500);
    return `campaign-${id}`;
  },
  async 'webhook-delivery'() {
    const { id } = await call('POST', '/api/external-webhooks', {
      title: 'History',
      url: 'http://127.0.0.1:9/',
      events: ['sent'],
    });
    const { id: deliveryId } = await call('POST', `/api/external-webhooks/${id}/test`, { eventKey: 'sent' });
    await sleep(2000);
    await call('DELETE', `/api/external-webhooks/${id}`);
    return `webhook-delivery-${deliveryId}`;
  },
  retention: () => triggered('retention'),
  'template-sync': () => triggered(`template-sync-${dev.businessAccountId}`),
};

const record = (name, workflowId, runId) => {
  const run = runId === undefined ? [] : ['--run-id', runId];
  const shown = ['--workflow-id', workflowId, ...run, '--address', temporalAddress, '--output', 'json'];
  const history = execFileSync(temporal, ['workflow', 'show', ...shown], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  writeFileSync(join(folder, `${name}.json`), history);
  process.stdout.write(`${name}: ${JSON.parse(history).events.length} events\n`);
};
try {
  mkdirSync(folder, { recursive: true });
  for (const [name, live] of Object.entries(lives)) {
    const workflowId = await live();
    await sleep(500);
    record(name, workflowId);
    const first = firstRuns[name];
    if (first !== undefined) record(`${name}-from`, workflowId, first);
  }
} finally {
  stack.kill('SIGTERM');
  await new Promise((resolve) => stack.once('close', resolve));
  server.kill('SIGTERM');
  await new Promise((resolve) => server.once('close', resolve));
  rmSync(scratch, { recursive: true, force: true });
}
process.exit();
