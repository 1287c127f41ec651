/**
 * Measures how a large campaign, in preparation and in sending, delays others: a campaign of 1,000 recipients in another
 * workspace, and single sends of another workspace and of the same channel. Each runs alone and beside it. One worker process
 * does all the work; its event-loop stalls are printed too. `--large N` recipients (200,000), `--prepared N` CSV rows (500,000),
 * `--rate N` per channel and second (1,000).
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { sendTemplateMessage } from '../src/commands/messages/send-template-message.ts';
import { createDependencies, type Dependencies } from '../src/dependencies.ts';
import { createSecretBox } from '../src/secrets.ts';
import { startAckServer, type AckServer } from './support/ack-server.ts';
import { benchConfig, benchSecretsKey } from './support/bench-config.ts';
import { startCampaignProcess, type Lag } from './support/campaign-process.ts';
import { seedCsvCampaign } from './support/csv-campaign.ts';
import { startPostgres } from './support/postgres.ts';
import { seedRunningCampaign, type Seeded } from './support/seed.ts';

const { values } = parseArgs({
  options: {
    large: { type: 'string', default: '200000' },
    prepared: { type: 'string', default: '500000' },
    rate: { type: 'string', default: '1000' },
  },
});
const largeSize = Number(values.large);
const messagesPerSecond = Number(values.rate);
const smallSize = 1_000;
const singles = 100;

const percentile = (times: readonly number[], share: number): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * share)] ?? Number.NaN;

/** Milliseconds from the start to the first and to the last message of a small campaign. */
async function smallCampaign(provider: AckServer, small: Seeded, send: (id: string) => Promise<void>) {
  const startedAt = performance.timeOrigin + performance.now();
  await send(small.campaignId);
  const { firstAt, lastAt, count } = await provider.arrivals(small.channelId);
  if (count !== smallSize) throw new Error(`${count} of ${smallSize} messages came`);
  return { first: firstAt - startedAt, last: lastAt - startedAt };
}

/** Milliseconds of single sends, one after the other. */
async function singleSends(dependencies: Dependencies, client: pg.Client, seeded: Seeded): Promise<number[]> {
  const { rows } = await client.query<{ workspace_id: number; template_id: string }>(
    'SELECT workspace_id, template_id FROM campaign WHERE id = $1',
    [seeded.campaignId],
  );
  const [owner] = rows;
  if (owner === undefined) throw new Error('There is no such campaign');
  const times: number[] = [];
  for (let count = 0; count < singles; count += 1) {
    const startedAt = performance.now();
    const { outcome } = await sendTemplateMessage(dependencies, {
      workspaceId: owner.workspace_id,
      channelId: seeded.channelId,
      templateId: owner.template_id,
      recipientPhoneNumber: `49301000${String(count).padStart(4, '0')}`,
      countryCode: '+49',
      variables: [],
    });
    if (outcome.kind !== 'accepted') throw new Error(`A single send ended as ${outcome.kind}`);
    times.push(performance.now() - startedAt);
    await sleep(20);
  }
  return times;
}

const line = (times: readonly number[]): string =>
  `p50 ${percentile(times, 0.5).toFixed(0)} ms, p99 ${percentile(times, 0.99).toFixed(0)} ms`;

const lagLine = ({ p99, longest }: Lag): string =>
  `the worker's event loop: p99 ${p99.toFixed(0)} ms, longest ${longest.toFixed(0)} ms`;

const postgres = await startPostgres();
const provider = await startAckServer(50);
const dataDir = await mkdtemp(join(tmpdir(), 'messaging-campaigns-bench-files-'));
const client = new pg.Client({ connectionString: postgres.ownerUrl });
await client.connect();
const worker = await startCampaignProcess({
  databaseUrl: postgres.url,
  providerBaseUrl: provider.baseUrl,
  dataDir,
});
const dependencies = await createDependencies(
  benchConfig(postgres.url, { PROVIDER_BASE_URL: provider.baseUrl }),
  'bench',
);
try {
  const secrets = createSecretBox([benchSecretsKey]);
  const seed = (recipients: number) =>
    seedRunningCampaign(client, secrets, { recipients, messagesPerSecond });
  const [warm, alone, besidePreparing, beside, other, large] = [
    await seed(smallSize),
    await seed(smallSize),
    await seed(smallSize),
    await seed(smallSize),
    await seed(1),
    await seed(largeSize),
  ];
  await client.query(`UPDATE template SET components = '[{"type":"BODY","text":"Hello"}]'`);
  const unprepared = await seedCsvCampaign(client, secrets, { rows: Number(values.prepared), dataDir });
  await client.query('CHECKPOINT');
  const say = (text: string) => process.stdout.write(`${text}\n`);
  say(`${messagesPerSecond}/s per channel, provider 50 ms`);

  await worker.send(warm.campaignId);
  await worker.lag();
  const smallAlone = await smallCampaign(provider, alone, worker.send);
  const printSmall = (name: string, small: { readonly first: number; readonly last: number }) => {
    const delay = (part: 'first' | 'last') => (small[part] - smallAlone[part]).toFixed(0);
    say(
      `campaign of ${smallSize} ${name}: first after ${small.first.toFixed(0)} ms, last after ${small.last.toFixed(0)} ms; ` +
        `delayed by ${delay('first')} and ${delay('last')} ms`,
    );
  };
  printSmall('alone', smallAlone);
  say(`single sends alone: ${line(await singleSends(dependencies, client, other))}`);
  say(lagLine(await worker.lag()));

  const prepared = worker.prepare(unprepared.campaignId).then(() => performance.now());
  // The failure is handled by the `await` below; until then it must not end the process.
  prepared.catch(() => undefined);
  await sleep(500);
  printSmall(
    `beside the preparation of ${values.prepared}`,
    await smallCampaign(provider, besidePreparing, worker.send),
  );
  say(`single sends beside it: ${line(await singleSends(dependencies, client, other))}`);
  const measuredAt = performance.now();
  if ((await prepared) < measuredAt) say('The preparation was over before the others: take a larger one');
  say(lagLine(await worker.lag()));

  void worker.send(large.campaignId);
  await sleep(3_000);
  printSmall(`beside the sending of ${largeSize}`, await smallCampaign(provider, beside, worker.send));
  say(`single sends beside it: ${line(await singleSends(dependencies, client, other))}`);
  say(`single sends through its channel: ${line(await singleSends(dependencies, client, large))}`);
  const { count, busiestSecond } = await provider.arrivals(large.channelId);
  if (count >= largeSize) throw new Error('The large campaign was over before the others: take a larger one');
  say(`the large campaign meanwhile: ${count} messages, busiest second ${busiestSecond}`);
  say(lagLine(await worker.lag()));
} finally {
  await worker.stop();
  await dependencies.close();
  await client.end();
  provider.stop();
  await postgres.stop();
  await rm(dataDir, { recursive: true, force: true });
}
