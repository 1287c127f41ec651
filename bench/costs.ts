/**
 * Measures the cost of one recipient, status, event and delivery: CPU of Node, Postgres and Temporal, bytes of tables and
 * indexes, bytes of WAL, history events and bytes in Temporal. docs/scaling.md is calculated from it. `--recipients N`
 * (20,000), `--deliveries N` (600).
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { createCampaignActivities } from '../src/activities/campaign.ts';
import { createCallbackRounds } from '../src/commands/callbacks/apply-provider-callbacks.ts';
import { createDependencies } from '../src/dependencies.ts';
import { exampleEvent } from '../src/codecs/event-example.ts';
import { createWorkerOrchestrator } from '../src/orchestrator.ts';
import { emitEvents } from '../src/records/webhooks/events.ts';
import { insertProviderCallbacks } from '../src/records/callbacks/provider-callbacks.ts';
import { createSecretBox } from '../src/secrets.ts';
import { campaignWorkerOptions, workflowSource } from '../src/process/worker-options.ts';
import { campaignWorkflowId, taskQueues, webhookDeliveryWorkflowId } from '../src/workflows/contract.ts';
import { startAckServer } from './support/ack-server.ts';
import { benchConfig, benchSecretsKey } from './support/bench-config.ts';
import { readTableUse, useOf, type DatabaseUse } from './support/database-use.ts';
import { measure } from './support/measure.ts';
import { startPostgres } from './support/postgres.ts';
import { cpuSecondsOf } from './support/process-cpu.ts';
import { seedRunningCampaign, type Seeded } from './support/seed.ts';
import { startBenchTemporal } from './support/temporal.ts';
import { startWebhookProcess } from './support/webhook-process.ts';
import { startWebhookSink } from './support/webhook-sink.ts';

const { values } = parseArgs({
  options: {
    recipients: { type: 'string', default: '20000' },
    deliveries: { type: 'string', default: '600' },
  },
});
const recipients = Number(values.recipients);
const deliveries = Number(values.deliveries);
const statuses = ['sent', 'delivered', 'read'] as const;
const callbacksAtOnce = 500;

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const each = (total: number, count: number, digits = 2): string => (total / count).toFixed(digits);
const sum = (bytes: Readonly<Record<string, number>>): number =>
  Object.values(bytes).reduce((total, size) => total + size, 0);

Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] });
const postgres = await startPostgres();
const temporal = await startBenchTemporal();
const provider = await startAckServer();
const sink = await startWebhookSink();
const client = new pg.Client({ connectionString: postgres.ownerUrl });
await client.connect();
const connection = await NativeConnection.connect({ address: temporal.address });
const base = await createDependencies(
  benchConfig(postgres.url, { PROVIDER_BASE_URL: provider.baseUrl, TEMPORAL_ADDRESS: temporal.address }),
  'bench',
);
const dependencies = { ...base, orchestrator: createWorkerOrchestrator(connection, 'default') };
const secrets = createSecretBox([benchSecretsKey]);

interface Cost {
  readonly node: number;
  readonly temporal: number;
  readonly use: DatabaseUse;
}

async function costOf(work: () => Promise<void>): Promise<Cost> {
  const temporalBefore = temporal.cpuSeconds();
  let node = 0;
  const use = await useOf(client, postgres, async () => {
    node = (await measure(work)).cpuSeconds;
  });
  return { node, use, temporal: temporal.cpuSeconds() - temporalBefore };
}

function tell(name: string, count: number, { node, temporal: server, use }: Cost): void {
  say(
    `${name}: CPU ms Node ${each(node * 1000, count, 3)}, Postgres ${each(use.cpuSeconds * 1000, count, 3)}, ` +
      `Temporal ${each(server * 1000, count, 3)}; WAL ${each(use.walBytes, count, 0)} B; kept ${each(sum(use.bytes), count, 0)} B ` +
      JSON.stringify(
        Object.fromEntries(
          Object.entries(use.bytes).map(([table, size]) => [table, Number(each(size, count, 0))]),
        ),
      ),
  );
}

const callbackOf = ({ channelId }: Seeded, id: string, status: string): Buffer =>
  Buffer.from(
    JSON.stringify({
      object: 'whatsapp_business_account',
      entry: [
        {
          id: '102290129340398',
          changes: [
            {
              value: {
                messaging_product: 'whatsapp',
                metadata: { display_phone_number: '15550783881', phone_number_id: channelId },
                statuses: [
                  {
                    id: `wamid.${id}`,
                    status,
                    timestamp: '1751142888',
                    recipient_id: '4915100000001',
                    biz_opaque_callback_data: id,
                    conversation: { id: randomUUID(), origin: { type: 'utility' } },
                    pricing: { billable: true, pricing_model: 'PMP', category: 'utility' },
                  },
                ],
              },
              field: 'messages',
            },
          ],
        },
      ],
    }),
  );

/** Through the workflow and its worker, as in production. */
async function sendCampaign({ campaignId }: Seeded): Promise<void> {
  const worker = await Worker.create({
    connection,
    ...workflowSource(),
    ...campaignWorkerOptions,
    taskQueue: taskQueues.campaigns,
    activities: createCampaignActivities(dependencies, { draining: () => false }),
  });
  await worker.runUntil(async () => {
    await dependencies.orchestrator.startCampaign({ id: campaignId, workspaceId: 1, name: 'bench' });
    await dependencies.orchestrator.client.workflow.getHandle(campaignWorkflowId(campaignId)).result();
  });
}

async function storeCallbacks(campaign: Seeded): Promise<void> {
  const { rows } = await client.query<{ id: string }>('SELECT id FROM recipient WHERE campaign_id = $1', [
    campaign.campaignId,
  ]);
  const bodies = statuses.flatMap((status) => rows.map(({ id }) => callbackOf(campaign, id, status)));
  // Each request carries one status. The API stores requests that arrive together with one statement.
  for (let first = 0; first < bodies.length; first += 20) {
    await insertProviderCallbacks(dependencies.database, bodies.slice(first, first + 20));
  }
}

async function applyCallbacks(): Promise<void> {
  while ((await createCallbackRounds(dependencies)()) > 0);
}

try {
  let seeded: Seeded | undefined;
  const prepared = await costOf(async () => {
    seeded = await seedRunningCampaign(client, secrets, { recipients, messagesPerSecond: 1_000 });
  });
  if (seeded === undefined) throw new Error('no campaign');
  const campaign = seeded;
  tell(`recipient row written (plain INSERT)`, recipients, prepared);

  const startedAt = performance.now();
  tell('recipient sent', recipients, await costOf(() => sendCampaign(campaign)));
  const seconds = (performance.now() - startedAt) / 1000;
  const workflow = dependencies.orchestrator.client.workflow.getHandle(
    campaignWorkflowId(campaign.campaignId),
  );
  const { historyLength, historySize = 0 } = await workflow.describe();
  say(
    `campaign workflow: ${historyLength} events, ${historySize} B in ${seconds.toFixed(0)} s (${each(historyLength, seconds)} events/s)`,
  );

  const count = recipients * statuses.length;
  tell('callback stored', count, await costOf(() => storeCallbacks(campaign)));
  tell('status applied, nobody subscribes', count, await costOf(applyCallbacks));

  const webhookId = randomUUID();
  const { rows } = await client.query<{ workspace_id: number }>(
    `INSERT INTO webhook_configuration (id, workspace_id, title, url, status, events, secret_encrypted)
    SELECT $4, workspace_id, 'bench', $2, 'active', '{delivered}', $3 FROM campaign WHERE id = $1 RETURNING workspace_id`,
    [
      campaign.campaignId,
      sink.healthyUrl,
      secrets.encrypt('the secret of a receiver', `webhook ${webhookId}`),
      webhookId,
    ],
  );
  const workspaceId = rows[0]?.workspace_id ?? 0;
  const events = Array.from({ length: deliveries }, () => exampleEvent('delivered', new Date()));
  tell(
    'event written',
    deliveries,
    await costOf(async () => {
      for (let first = 0; first < deliveries; first += callbacksAtOnce)
        await emitEvents(dependencies.database, workspaceId, events.slice(first, first + callbacksAtOnce));
    }),
  );

  const worker = await startWebhookProcess(postgres.url, temporal.address);
  const workerBefore = cpuSecondsOf(worker.pid);
  const storeBefore = temporal.storeBytes();
  const deliveredAt = performance.now();
  const delivered = await costOf(async () => {
    await worker.run({ kind: 'loops' });
    for (let open = deliveries; open > 0; await sleep(50)) {
      const { rows: waiting } = await client.query<{ open: number }>(
        `SELECT $1 - count(*)::int AS open FROM webhook_delivery WHERE state = 'delivered'`,
        [deliveries],
      );
      open = waiting[0]?.open ?? 0;
    }
    await worker.run({ kind: 'rest' });
  });
  const node = cpuSecondsOf(worker.pid) - workerBefore;
  tell('delivery', deliveries, { ...delivered, node });
  say(`deliveries: ${each(deliveries, (performance.now() - deliveredAt) / 1000, 0)}/s`);
  const { rows: some } = await client.query<{ id: string }>('SELECT id FROM webhook_delivery LIMIT 1');
  const one = await dependencies.orchestrator.client.workflow
    .getHandle(webhookDeliveryWorkflowId(some[0]?.id ?? ''))
    .describe();
  say(
    `delivery workflow: ${one.historyLength} events, ${one.historySize ?? 0} B; ` +
      `Temporal's store grew by ${each(temporal.storeBytes() - storeBefore, deliveries, 0)} B for each`,
  );
  await worker.stop();

  const { tables, unusedIndexes } = await readTableUse(client);
  for (const { table, updates, heapOnly, deadRows, sequentialScans, rowsReadInThem } of tables)
    say(
      `${table}: ${updates} updates, ${updates === 0 ? '-' : `${each(100 * heapOnly, updates, 0)} % heap-only`}, ${deadRows} dead rows, ` +
        `${sequentialScans} sequential scans of ${rowsReadInThem} rows`,
    );
  say(`indexes nobody used: ${unusedIndexes.join(', ') || 'none'}`);
} finally {
  await base.close();
  await connection.close();
  await client.end();
  sink.stop();
  provider.stop();
  await temporal.stop();
  await postgres.stop();
}
