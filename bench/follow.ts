/**
 * Measures the API's load from dashboard pages on one campaign of N recipients: timeline and diagnosis, 10 and 200 open
 * streams, the same with the page's other requests, and the first paint in a new browser profile. Prints p50 and p99 in ms, CPU
 * in percent of a core, memory in MB. `--recipients N` (1,000,000), `--requests N` per figure (300), `--seconds N` per load
 * (15).
 */
import { setMaxListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { Agent, type Dispatcher } from 'undici';
import { createApiKey } from '../src/commands/workspaces/api-keys.ts';
import { createDependencies } from '../src/dependencies.ts';
import { createSecretBox } from '../src/secrets.ts';
import { launchBrowser } from './support/browser.ts';
import { startApiProcess } from './support/api-process.ts';
import { benchConfig, benchSecretsKey } from './support/bench-config.ts';
import { startPostgres } from './support/postgres.ts';
import { seedRunningCampaign } from './support/seed.ts';

const { values } = parseArgs({
  options: {
    recipients: { type: 'string', default: '1000000' },
    requests: { type: 'string', default: '300' },
    seconds: { type: 'string', default: '15' },
  },
});
const recipients = Number(values.recipients);

const postgres = await startPostgres();
const client = new pg.Client({ connectionString: postgres.ownerUrl });
await client.connect();
const dependencies = await createDependencies(benchConfig(postgres.url), 'bench');
const api = await startApiProcess(postgres.url);
const origin = `http://127.0.0.1:${api.port}`;
const agent = new Agent({ connections: 500, bodyTimeout: 0 });
try {
  const { campaignId, channelId } = await seedCampaign();
  const { rows } = await client.query<{ id: number }>(
    'SELECT workspace_id AS id FROM channel WHERE id = $1',
    [channelId],
  );
  const { apiKey } = await createApiKey(dependencies, {
    workspaceId: rows[0]?.id ?? 0,
    channelId,
    scope: 'channel',
  });
  const cookie = await signIn(apiKey);
  const ask = (path: string): Promise<Dispatcher.ResponseData> =>
    agent.request({
      origin,
      path: `/dashboard/api${path}`,
      method: 'GET',
      headers: { cookie, 'sec-fetch-site': 'same-origin' },
    });
  const read = async (path: string): Promise<void> => {
    const { statusCode, body } = await ask(path);
    await body.dump();
    if (statusCode !== 200) throw new Error(`${path} answered ${statusCode}`);
  };
  // Seconds between two requests of the page.
  const beside = [
    [`/campaigns/${campaignId}`, 30],
    [`/campaigns/${campaignId}/diagnosis`, 60],
    [`/campaigns/${campaignId}/timeline`, 60],
  ] as const;

  for (const [path] of beside) await figure(path.replace(campaignId, ':id'), () => read(path));

  // Changes the counters as a running campaign does.
  const sending = setInterval(() => {
    void client.query(
      'UPDATE campaign_counter SET pending = pending - 16, accepted = accepted + 16 WHERE campaign_id = $1',
      [campaignId],
    );
  }, 200);
  for (const [pages, isWhole] of [
    [0, false],
    [10, false],
    [200, false],
    [10, true],
    [200, true],
  ] as const) {
    const closing = new AbortController();
    setMaxListeners(0, closing.signal);
    const streams = await Promise.all(
      Array.from({ length: pages }, async () => {
        const { body } = await ask(`/campaigns/${campaignId}/stream`);
        const stream = { events: 0 };
        body.on('data', () => (stream.events += 1)).on('error', () => undefined);
        closing.signal.addEventListener('abort', () => body.destroy());
        return stream;
      }),
    );
    const timers = isWhole
      ? streams.flatMap(() =>
          beside.map(async ([path, every]) => {
            await sleep(Math.random() * every * 1_000);
            const timer = setInterval(() => void read(path).catch(() => undefined), every * 1_000);
            closing.signal.addEventListener('abort', () => clearInterval(timer));
          }),
        )
      : [];
    await Promise.all(timers);
    await sleep(3_000);
    const [cpuBefore, startedAt] = [await api.cpuSeconds(), performance.now()];
    await sleep(Number(values.seconds) * 1_000);
    const cpu = (await api.cpuSeconds()) - cpuBefore;
    const seconds = (performance.now() - startedAt) / 1_000;
    const events = streams.reduce((sum, stream) => sum + stream.events, 0);
    process.stdout.write(
      `${String(pages).padStart(3)} ${isWhole ? 'whole pages' : 'streams    '}   ${((cpu / seconds) * 100).toFixed(1)} % of a core, ` +
        `${residentMemory(api.pid)} MB, ${events} events\n`,
    );
    closing.abort();
  }
  clearInterval(sending);
  await firstPaints(`${origin}/dashboard/campaigns/${campaignId}`, cookie);
} finally {
  await agent.destroy();
  await api.stop();
  await dependencies.close();
  await client.end();
  await postgres.stop();
}

/**
 * Seeds a campaign with a third of its recipients sent over one day. The wallet cannot pay for the rest, so that the diagnosis
 * has to compute what is missing.
 */
async function seedCampaign() {
  const seeded = await seedRunningCampaign(client, createSecretBox([benchSecretsKey]), {
    recipients,
    messagesPerSecond: 80,
  });
  const sent = Math.floor(recipients / 3);
  const { campaignId, channelId } = seeded;
  await client.query(`UPDATE recipient SET state = 'READ' WHERE campaign_id = $1 AND position <= $2`, [
    campaignId,
    sent,
  ]);
  await client.query(
    'UPDATE campaign_counter SET pending = $2, read = $3, claimed_position = $3 WHERE campaign_id = $1',
    [campaignId, recipients - sent, sent],
  );
  await client.query(`UPDATE wallet SET balance = 1000 WHERE channel_id = $1`, [channelId]);
  await client.query(
    `INSERT INTO campaign_minute (campaign_id, at, accepted, delivered, read)
     SELECT $1, date_trunc('minute', now()) - make_interval(mins => n), 230, 220, 130 FROM generate_series(1, 1440) AS n`,
    [campaignId],
  );
  await client.query(
    `INSERT INTO campaign_countries (campaign_id, position, counts)
     SELECT $1, n, jsonb_build_object('DE', n) FROM generate_series(5000, $2::int, 5000) AS n`,
    [campaignId, recipients],
  );
  await client.query('VACUUM ANALYZE recipient, campaign_minute, campaign_countries');
  return seeded;
}

async function signIn(apiKey: string): Promise<string> {
  const { headers, body } = await agent.request({
    origin,
    path: '/dashboard/session',
    method: 'POST',
    headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
    body: JSON.stringify({ api_key: apiKey }),
  });
  await body.dump();
  return String(headers['set-cookie']).split(';')[0] ?? '';
}

/** Measures five new browser profiles from the link to the first paint, and to the campaign with its progress. */
async function firstPaints(url: string, cookie: string): Promise<void> {
  const [name = '', value = ''] = cookie.split('=');
  const browser = await launchBrowser();
  try {
    for (let load = 1; load <= 5; load += 1) {
      const context = await browser.newContext();
      await context.addCookies([{ name, value, url: origin }]);
      const page = await context.newPage();
      const startedAt = performance.now();
      await page.goto(url, { waitUntil: 'commit' });
      await page.getByRole('progressbar').waitFor();
      const campaign = performance.now() - startedAt;
      const paint = await page.evaluate<number>(
        "performance.getEntriesByName('first-contentful-paint')[0].startTime",
      );
      process.stdout.write(
        `load ${load}: first paint ${paint.toFixed(0)} ms, campaign ${campaign.toFixed(0)} ms\n`,
      );
      await context.close();
    }
  } finally {
    await browser.close();
  }
}

function residentMemory(pid: number): number {
  const found = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Math.round(Number(found) / 1024);
}

async function figure(name: string, work: () => Promise<void>): Promise<void> {
  for (let warming = 0; warming < 20; warming += 1) await work();
  const times: number[] = [];
  for (let count = 0; count < Number(values.requests); count += 1) {
    const startedAt = performance.now();
    await work();
    times.push(performance.now() - startedAt);
  }
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? Number.NaN).toFixed(1);
  process.stdout.write(`${name.padEnd(32)} p50 ${at(0.5)} ms   p99 ${at(0.99)} ms\n`);
}
