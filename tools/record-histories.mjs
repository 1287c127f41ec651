/**
 * Records what the workflows of this release leave in Temporal: drives the running stack of DATA_DIR through the lives a
 * campaign can have and writes one JSON history each to test/histories/<release>/. Run it once per release, before it is tagged.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { findTemporalBinary } from '../dist/local/stack/temporal/binary.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const dev = JSON.parse(readFileSync(join(process.env.DATA_DIR ?? join(root, '.data'), 'dev.json'), 'utf8'));
const folder = join(root, 'test', 'histories', version);
mkdirSync(folder, { recursive: true });

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

const client = new Client({ connection: await Connection.connect({ address: dev.temporalAddress }) });
const handleOf = (id) => client.workflow.getHandle(`campaign-${id}`);

const lives = {
  async 'campaign-immediate'() {
    const id = await create(50);
    await until(id, ended);
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
};

const temporal = await findTemporalBinary({
  environment: process.env,
  progress: { say: () => undefined, update: () => undefined },
  signal: AbortSignal.timeout(60_000),
});
for (const [name, live] of Object.entries(lives)) {
  const workflowId = await live();
  await sleep(500);
  const args = [
    'workflow',
    'show',
    '--address',
    dev.temporalAddress,
    '--workflow-id',
    workflowId,
    '--output',
    'json',
  ];
  const history = execFileSync(temporal, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  writeFileSync(join(folder, `${name}.json`), history);
  process.stdout.write(`${name}: ${JSON.parse(history).events.length} events
`);
}
process.exit();
