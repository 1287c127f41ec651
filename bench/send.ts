/**
 * Sending a campaign against a bare undici loop that posts the same bodies, both to a provider that answers at once, in
 * one run. Prints messages per second, the ratio, CPU seconds and peak memory. `--recipients N`, default 100,000;
 * `--rounds N`, default 3.
 */
import { parseArgs } from 'node:util';
import pg from 'pg';
import { createDependencies } from '../src/dependencies.ts';
import { createSecretBox } from '../src/secrets.ts';
import { startAckServer, type AckServer } from './support/ack-server.ts';
import { runBareLoop } from './support/bare-loop.ts';
import { benchConfig, benchSecretsKey } from './support/bench-config.ts';
import { measure, median, type Measured } from './support/measure.ts';
import { startPostgres, type BenchPostgres } from './support/postgres.ts';
import { seedRunningCampaign } from './support/seed.ts';
import { sendCampaign } from './support/send-campaign.ts';

const { values } = parseArgs({
  options: { recipients: { type: 'string', default: '100000' }, rounds: { type: 'string', default: '3' } },
});
const recipients = Number(values.recipients);
const connections = 64;
const unlimited = 100_000;

async function ourSending(
  postgres: BenchPostgres,
  provider: AckServer,
): Promise<Measured & { readonly postgresCpuSeconds: number }> {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  const { campaignId, channelId } = await seedRunningCampaign(client, createSecretBox([benchSecretsKey]), {
    recipients,
    messagesPerSecond: unlimited,
  });
  await client.query('CHECKPOINT');
  await client.end();
  const dependencies = await createDependencies(
    benchConfig(postgres.url, {
      PROVIDER_BASE_URL: provider.baseUrl,
      PROVIDER_CONNECTIONS: String(2 * connections),
    }),
    'bench',
  );
  const cpuBefore = postgres.cpuSeconds();
  const measured = await measure(async () => {
    await sendCampaign(dependencies, campaignId);
  });
  const postgresCpuSeconds = postgres.cpuSeconds() - cpuBefore;
  await dependencies.close();
  const { count, distinct } = await provider.arrivals(channelId);
  if (count !== recipients || distinct !== recipients)
    throw new Error(`${count} messages to ${distinct} recipients came instead of ${recipients}`);
  return { ...measured, postgresCpuSeconds };
}

const postgres = await startPostgres();
const provider = await startAckServer();
try {
  const bareLoop = { baseUrl: provider.baseUrl, recipients, connections };
  await runBareLoop(bareLoop);
  const ratios: number[] = [];
  for (let round = 1; round <= Number(values.rounds); round += 1) {
    const bare = await runBareLoop(bareLoop);
    const ours = await ourSending(postgres, provider);
    ratios.push(bare.seconds / ours.seconds);
    const rate = ({ seconds }: Measured) => Math.round(recipients / seconds);
    const per10k = (seconds: number) => ((seconds * 10_000) / recipients).toFixed(2);
    process.stdout.write(
      `round ${round}: bare ${rate(bare)}/s (${per10k(bare.cpuSeconds)} CPU s per 10,000, ${bare.peakRssMb} MB), ` +
        `campaign ${rate(ours)}/s (${per10k(ours.cpuSeconds)} CPU s, Postgres ${per10k(ours.postgresCpuSeconds)} CPU s, ` +
        `${ours.peakRssMb} MB), ratio ${ratios.at(-1)?.toFixed(2)}\n`,
    );
  }
  process.stdout.write(`median ratio ${median(ratios).toFixed(2)} of ${recipients} recipients\n`);
} finally {
  provider.stop();
  await postgres.stop();
}
