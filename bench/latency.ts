/**
 * Measures how much of a channel's limit of 1,000 messages per second a campaign reaches with a provider that answers in 200
 * ms. The baseline is an undici loop that sends by its own clock and stores nothing. `--recipients N` (20,000); `--rate N`;
 * `--latency <ms>`.
 */
import { parseArgs } from 'node:util';
import pg from 'pg';
import { createDependencies } from '../src/dependencies.ts';
import { createSecretBox } from '../src/secrets.ts';
import { startAckServer, type AckServer, type Arrivals } from './support/ack-server.ts';
import { runBareLoop } from './support/bare-loop.ts';
import { benchConfig, benchSecretsKey } from './support/bench-config.ts';
import { measure, type Measured } from './support/measure.ts';
import { startPostgres, type BenchPostgres } from './support/postgres.ts';
import { seedRunningCampaign } from './support/seed.ts';
import { sendCampaign } from './support/send-campaign.ts';

const { values } = parseArgs({
  options: {
    recipients: { type: 'string', default: '20000' },
    rate: { type: 'string', default: '1000' },
    latency: { type: 'string', default: '200' },
  },
});
const recipients = Number(values.recipients);
const perSecond = Number(values.rate);
const latencyMs = Number(values.latency);

/** Messages per second between the first and the last arrival at the provider. */
const rateOf = ({ count, firstAt, lastAt }: Arrivals): number => ((count - 1) * 1_000) / (lastAt - firstAt);

const report = (name: string, measured: Measured, arrivals: Arrivals): void => {
  const rate = rateOf(arrivals);
  process.stdout.write(
    `${name}: ${rate.toFixed(0)}/s, ${((100 * rate) / perSecond).toFixed(1)} % of the limit, ` +
      `busiest second ${arrivals.busiestSecond}, ${measured.cpuSeconds.toFixed(2)} CPU s, ${measured.peakRssMb} MB\n`,
  );
};

async function ourSending(postgres: BenchPostgres, provider: AckServer): Promise<Arrivals> {
  const client = new pg.Client({ connectionString: postgres.ownerUrl });
  await client.connect();
  const { campaignId, channelId } = await seedRunningCampaign(client, createSecretBox([benchSecretsKey]), {
    recipients,
    messagesPerSecond: perSecond,
  });
  await client.query('CHECKPOINT');
  await client.end();
  const dependencies = await createDependencies(
    benchConfig(postgres.url, { PROVIDER_BASE_URL: provider.baseUrl }),
    'bench',
  );
  const measured = await measure(async () => {
    await sendCampaign(dependencies, campaignId);
  });
  await dependencies.close();
  const arrivals = await provider.arrivals(channelId);
  report('campaign', measured, arrivals);
  return arrivals;
}

const postgres = await startPostgres();
const provider = await startAckServer(latencyMs);
try {
  const connections = Math.ceil((perSecond * latencyMs * 1.5) / 1_000);
  const measured = await runBareLoop({ baseUrl: provider.baseUrl, recipients, connections, perSecond });
  const bare = await provider.arrivals('bare');
  report('bare    ', measured, bare);
  const ours = await ourSending(postgres, provider);
  process.stdout.write(`ratio ${(rateOf(ours) / rateOf(bare)).toFixed(3)}\n`);
} finally {
  provider.stop();
  await postgres.stop();
}
