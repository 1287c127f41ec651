/**
 * Measures how many provider callbacks a second the API accepts, compared with a bare Koa server that does a grouped INSERT, and
 * how many a worker applies; then the speed of a campaign whose receipts arrive while it sends, compared with the same campaign
 * without receipts. `--recipients N` (10,000; three statuses each); `--rate N` messages per second of the campaign (300).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { runSendStep } from '../src/commands/sending/run-send-step.ts';
import { createDependencies } from '../src/dependencies.ts';
import { createSecretBox } from '../src/secrets.ts';
import { startAckServer } from './support/ack-server.ts';
import { benchConfig, benchSecretsKey } from './support/bench-config.ts';
import { startCallbackProcess } from './support/callback-process.ts';
import { measure } from './support/measure.ts';
import { postCallbacks, type Posted } from './support/post-callbacks.ts';
import { startPostgres, type BenchPostgres } from './support/postgres.ts';
import { seedRunningCampaign, type Seeded } from './support/seed.ts';

const { values } = parseArgs({
  options: { recipients: { type: 'string', default: '10000' }, rate: { type: 'string', default: '300' } },
});
const recipients = Number(values.recipients);
const rate = Number(values.rate);
const connections = 64;
const campaignSeconds = 20;
const receiptDelayMs = 3_000;
const secrets = createSecretBox([benchSecretsKey]);
const names = ['sent', 'delivered', 'read'] as const;

interface Receipt {
  readonly id: string;
  readonly name: (typeof names)[number];
}

const callbackBody = ({ channelId }: Seeded, { id, name }: Receipt): string =>
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
                  status: name,
                  timestamp: '1751142888',
                  recipient_id: '4915100000001',
                  biz_opaque_callback_data: id,
                  pricing: { billable: true, pricing_model: 'PMP', category: 'utility' },
                },
              ],
            },
            field: 'messages',
          },
        ],
      },
    ],
  });

async function seed(client: pg.Client, messagesPerSecond: number, size: number): Promise<Seeded> {
  const seeded = await seedRunningCampaign(client, secrets, { recipients: size, messagesPerSecond });
  await client.query(
    `INSERT INTO webhook_configuration (workspace_id, title, url, status, events)
    SELECT workspace_id, 'bench', 'http://127.0.0.1:9/', 'active', ARRAY['sent', 'delivered', 'read', 'failed']
    FROM campaign WHERE id = $1`,
    [seeded.campaignId],
  );
  return seeded;
}

/** Marks every recipient of the campaign as accepted by the provider. Returns their provider message ids. */
async function acceptAll(client: pg.Client, { campaignId }: Seeded): Promise<readonly string[]> {
  const { rows } = await client.query<{ id: string }>(
    `UPDATE recipient SET state = 'ACCEPTED', settlement = 'charged', price = 55000, provider_message_id = 'wamid.' || id
    WHERE campaign_id = $1 RETURNING id`,
    [campaignId],
  );
  await client.query(
    'UPDATE campaign_counter SET accepted = $2, pending = 0, sent = 0, delivered = 0, read = 0 WHERE campaign_id = $1',
    [campaignId, rows.length],
  );
  await client.query('VACUUM ANALYZE recipient');
  await client.query('CHECKPOINT');
  return rows.map(({ id }) => id);
}

const line = ({ perSecond, p50, p99 }: Posted): string =>
  `${perSecond}/s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;

async function waitUntilApplied(client: pg.Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query('SELECT 1 FROM waiting_callback LIMIT 1');
    if (rows.length === 0) return;
    await sleep(20);
  }
}

async function acceptAndApply(
  { url: databaseUrl, ownerUrl }: BenchPostgres,
  client: pg.Client,
): Promise<void> {
  const campaign = await seed(client, 80, recipients);
  const ids = await acceptAll(client, campaign);
  const bodies = names.flatMap((name) => ids.map((id) => callbackBody(campaign, { id, name })));

  // The bare server creates its own table, which the application's role may not do.
  const bare = await startCallbackProcess('bare', ownerUrl);
  await postCallbacks({ port: bare.port, bodies: bodies.slice(0, 2_000), connections });
  const baseline = await postCallbacks({ port: bare.port, bodies, connections });
  await bare.stop();
  process.stdout.write(`bare Koa + grouped INSERT: ${line(baseline)}\n`);

  const api = await startCallbackProcess('api', databaseUrl);
  const warmUp = JSON.stringify({ object: 'whatsapp_business_account', entry: [] });
  await postCallbacks({ port: api.port, bodies: Array<string>(2_000).fill(warmUp), connections });
  const accepted = await postCallbacks({ port: api.port, bodies, connections });
  process.stdout.write(
    `accepted, nobody applying:   ${line(accepted)}, ratio ${(accepted.perSecond / baseline.perSecond).toFixed(2)}\n`,
  );

  const startedAt = performance.now();
  const worker = await startCallbackProcess('worker', databaseUrl);
  await waitUntilApplied(client);
  const seconds = (performance.now() - startedAt) / 1000;
  process.stdout.write(`applied by one worker:       ${Math.round(bodies.length / seconds)}/s\n`);

  await acceptAll(client, campaign);
  await client.query('UPDATE recipient SET statuses_seen = 0 WHERE campaign_id = $1', [campaign.campaignId]);
  const bothAt = performance.now();
  const beside = await postCallbacks({ port: api.port, bodies, connections });
  await waitUntilApplied(client);
  const both = (performance.now() - bothAt) / 1000;
  process.stdout.write(
    `accepted while applying:     ${line(beside)}; all applied at ${Math.round(bodies.length / both)}/s\n`,
  );
  await worker.stop();
  await api.stop();
  const { rows } = await client.query('SELECT read FROM campaign_counter WHERE campaign_id = $1', [
    campaign.campaignId,
  ]);
  const { rows: events } = await client.query('SELECT count(*)::int AS n FROM event');
  process.stdout.write(`read ${rows[0]?.read}, events ${events[0]?.n}\n`);
}

/** Messages a second of a paced campaign; with `receipts`, three statuses follow every message some seconds later. */
async function sendCampaign(
  databaseUrl: string,
  client: pg.Client,
  { receipts }: { readonly receipts: boolean },
): Promise<number> {
  const size = rate * campaignSeconds;
  const campaign = await seed(client, rate, size);
  const { rows } = await client.query<{ id: string }>(
    'SELECT id FROM recipient WHERE campaign_id = $1 ORDER BY position',
    [campaign.campaignId],
  );
  const bodies = receipts
    ? rows.flatMap(({ id }) => names.map((name) => callbackBody(campaign, { id, name })))
    : [];
  const provider = await startAckServer();
  const api = await startCallbackProcess('api', databaseUrl);
  const worker = await startCallbackProcess('worker', databaseUrl);
  const dependencies = await createDependencies(
    benchConfig(databaseUrl, { PROVIDER_BASE_URL: provider.baseUrl, PROVIDER_CONNECTIONS: '128' }),
    'bench',
  );
  const posting = sleep(receiptDelayMs).then(() =>
    postCallbacks({ port: api.port, bodies, connections, perSecond: rate * names.length }),
  );
  // The await below handles its failure; until then it must not end the process.
  posting.catch(() => undefined);
  try {
    const { seconds } = await measure(async () => {
      for (;;) {
        const options = { budgetMs: 10_000, draining: () => false };
        if ((await runSendStep(dependencies, campaign.campaignId, options)).drained) return;
      }
    });
    const posted = await posting;
    if (receipts) process.stdout.write(`receipts of the campaign:    ${line(posted)}\n`);
    await waitUntilApplied(client);
    return size / seconds;
  } finally {
    await Promise.all([dependencies.close(), api.stop(), worker.stop()]);
    provider.stop();
  }
}

const postgres = await startPostgres();
const client = new pg.Client({ connectionString: postgres.ownerUrl });
await client.connect();
try {
  await acceptAndApply(postgres, client);
  const alone = await sendCampaign(postgres.url, client, { receipts: false });
  const besides = await sendCampaign(postgres.url, client, { receipts: true });
  process.stdout.write(
    `campaign at ${rate}/s: ${alone.toFixed(0)}/s alone, ${besides.toFixed(0)}/s with ${rate * names.length} receipts a ` +
      `second, ${(100 * (1 - besides / alone)).toFixed(1)} % slower\n`,
  );
} finally {
  await client.end();
  await postgres.stop();
}
