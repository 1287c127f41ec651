/**
 * Sending a campaign against a bare undici loop that posts the same bodies, both to a provider that answers at once, in
 * one run. Prints messages per second, the ratio, CPU seconds and peak memory. `--recipients N`, default 20,000.
 */
import { parseArgs } from 'node:util';
import pg from 'pg';
import { pino } from 'pino';
import { Pool } from 'undici';
import { runSendStep } from '../src/commands/sending/run-send-step.ts';
import type { Dependencies } from '../src/dependencies.ts';
import type { Logger } from '../src/logger.ts';
import { createMetrics } from '../src/metrics.ts';
import type { Orchestrator } from '../src/orchestrator.ts';
import { createCloudProvider } from '../src/provider/cloud-provider.ts';
import { createDatabase } from '../src/records/database.ts';
import { createSecretBox } from '../src/secrets.ts';
import { startAckServer } from './support/ack-server.ts';
import { measure, type Measured } from './support/measure.ts';
import { startPostgres } from './support/postgres.ts';
import { seedRunningCampaign } from './support/seed.ts';

const { values } = parseArgs({
  options: { recipients: { type: 'string', default: '20000' }, rounds: { type: 'string', default: '3' } },
});
const recipients = Number(values.recipients);
const lanes = 2;
const connections = 64;

async function bareLoop(baseUrl: string): Promise<Measured> {
  const url = new URL(baseUrl);
  const pool = new Pool(url.origin, { connections, pipelining: 1 });
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < recipients) {
      next += 1;
      const body = JSON.stringify({
        messaging_product: 'whatsapp',
        recipient_type: 'individual',
        to: `+${4915100000000 + next}`,
        type: 'template',
        biz_opaque_callback_data: `00000000-0000-7000-8000-${String(next).padStart(12, '0')}`,
        template: {
          name: 'hello',
          language: { code: 'en_US' },
          components: [{ type: 'body', parameters: [{ type: 'text', text: `Ada ${next}` }] }],
        },
      });
      const answer = await pool.request({
        method: 'POST',
        path: `${url.pathname}/1/messages`,
        headers: { 'content-type': 'application/json', authorization: 'Bearer token' },
        body,
        headersTimeout: 30_000,
        bodyTimeout: 30_000,
      });
      await answer.body.json();
    }
  };
  const measured = await measure(async () => {
    await Promise.all(Array.from({ length: connections }, lane));
  });
  await pool.close();
  return measured;
}

async function ourSending(databaseUrl: string, baseUrl: string): Promise<Measured> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const secrets = createSecretBox(['the secrets key of the benchmark']);
  const { campaignId } = await seedRunningCampaign(client, secrets, {
    recipients,
    messagesPerSecond: 100_000,
  });
  await client.query('CHECKPOINT');
  const database = await createDatabase(databaseUrl, 10);
  const provider = createCloudProvider({ baseUrl, connections: 128, timeoutMs: 30_000 });
  const dependencies = {
    config: { outcomeGraceSeconds: 600, providerConnections: 128 } as Dependencies['config'],
    database,
    provider,
    secrets,
    logger: pino({ level: 'silent' }) as unknown as Logger,
    orchestrator: {} as Orchestrator,
    metrics: createMetrics('bench'),
    now: () => new Date(),
  };
  const lane = async (): Promise<void> => {
    for (;;) {
      const step = await runSendStep(dependencies, campaignId, { budgetMs: 10_000, draining: () => false });
      if (step.drained) return;
    }
  };
  const measured = await measure(async () => {
    await Promise.all(Array.from({ length: lanes }, lane));
  });
  const { rows } = await client.query('SELECT accepted FROM campaign_counter WHERE campaign_id = $1', [
    campaignId,
  ]);
  if (rows[0]?.accepted !== recipients)
    throw new Error(`Only ${rows[0]?.accepted} of ${recipients} were accepted`);
  await provider.close();
  await database.end();
  await client.end();
  return measured;
}

const postgres = await startPostgres();
const provider = await startAckServer();
try {
  await bareLoop(provider.baseUrl);
  const rows: { bare: Measured; ours: Measured }[] = [];
  for (let round = 0; round < Number(values.rounds); round += 1) {
    const bare = await bareLoop(provider.baseUrl);
    const ours = await ourSending(postgres.url, provider.baseUrl);
    rows.push({ bare, ours });
    const rate = ({ seconds }: Measured) => Math.round(recipients / seconds);
    process.stdout.write(
      `round ${round + 1}: bare ${rate(bare)}/s (${bare.cpuSeconds.toFixed(2)} CPU s, ${bare.peakRssMb} MB), ` +
        `campaign ${rate(ours)}/s (${ours.cpuSeconds.toFixed(2)} CPU s, ${ours.peakRssMb} MB), ` +
        `ratio ${(bare.seconds / ours.seconds).toFixed(2)}\n`,
    );
  }
  const ratios = rows.map(({ bare, ours }) => bare.seconds / ours.seconds).toSorted((a, b) => a - b);
  process.stdout.write(
    `median ratio ${ratios[Math.floor(ratios.length / 2)]?.toFixed(2)} of ${recipients} recipients\n`,
  );
} finally {
  provider.stop();
  await postgres.stop();
}
