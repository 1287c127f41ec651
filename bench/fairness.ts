/**
 * What a large campaign costs others: a campaign of 1,000 recipients of another workspace, and single sends of another
 * workspace and of the large campaign's own channel, each alone and beside it, in one run. Both campaigns are sent by one
 * worker process. `--large N`, default 200,000; `--rate N` of every channel, default 1,000 a second.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { sendTemplateMessage } from '../src/commands/send-template-message.ts';
import { createDependencies, type Dependencies } from '../src/dependencies.ts';
import { createSecretBox } from '../src/secrets.ts';
import { startAckServer, type AckServer } from './support/ack-server.ts';
import { benchConfig, benchSecretsKey } from './support/bench-config.ts';
import { startCampaignProcess } from './support/campaign-process.ts';
import { startPostgres } from './support/postgres.ts';
import { seedRunningCampaign, type Seeded } from './support/seed.ts';

const { values } = parseArgs({
  options: { large: { type: 'string', default: '200000' }, rate: { type: 'string', default: '1000' } },
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

const postgres = await startPostgres();
const provider = await startAckServer(50);
const client = new pg.Client({ connectionString: postgres.url });
await client.connect();
const worker = await startCampaignProcess(postgres.url, provider.baseUrl);
const dependencies = await createDependencies(
  benchConfig(postgres.url, { PROVIDER_BASE_URL: provider.baseUrl }),
  'bench',
);
try {
  const seed = (recipients: number) =>
    seedRunningCampaign(client, createSecretBox([benchSecretsKey]), { recipients, messagesPerSecond });
  const [warm, alone, beside, other, large] = [
    await seed(smallSize),
    await seed(smallSize),
    await seed(smallSize),
    await seed(1),
    await seed(largeSize),
  ];
  await client.query(`UPDATE template SET components = '[{"type":"BODY","text":"Hello"}]'`);
  await client.query('CHECKPOINT');
  await worker.send(warm.campaignId);
  const smallAlone = await smallCampaign(provider, alone, worker.send);
  const singleAlone = await singleSends(dependencies, client, other);

  void worker.send(large.campaignId);
  await sleep(3_000);
  const smallBeside = await smallCampaign(provider, beside, worker.send);
  const singleBeside = await singleSends(dependencies, client, other);
  const singleSame = await singleSends(dependencies, client, large);
  const { count, busiestSecond } = await provider.arrivals(large.channelId);
  if (count >= largeSize) throw new Error('The large campaign was over before the others: take a larger one');

  const delay = (from: number, to: number) => (to - from).toFixed(0);
  process.stdout.write(
    `${largeSize} recipients beside, ${messagesPerSecond}/s per channel, provider 50 ms\n` +
      `campaign of ${smallSize} alone:  first after ${smallAlone.first.toFixed(0)} ms, last after ${smallAlone.last.toFixed(0)} ms\n` +
      `campaign of ${smallSize} beside: first after ${smallBeside.first.toFixed(0)} ms, last after ${smallBeside.last.toFixed(0)} ms; ` +
      `delayed by ${delay(smallAlone.first, smallBeside.first)} and ${delay(smallAlone.last, smallBeside.last)} ms\n` +
      `single sends alone:          ${line(singleAlone)}\n` +
      `single sends beside:         ${line(singleBeside)}\n` +
      `single sends, same channel:  ${line(singleSame)}\n` +
      `large campaign meanwhile:    ${count} messages, busiest second ${busiestSecond}\n`,
  );
} finally {
  await worker.stop();
  await dependencies.close();
  await client.end();
  provider.stop();
  await postgres.stop();
}
