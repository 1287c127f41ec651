/** Runs a campaign with three deliveries per message and kills the worker while they queue. */
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { createDemoApi } from '../../demo/api.ts';
import { createChaosCampaign, liveDevFile, untilGauges, type WatchedCampaign } from './campaign.ts';
import { inHandsMs, startCountingReceiver, type CountingReceiver } from '../../demo/receiver.ts';
import { withClient } from '../evidence.ts';
import { compareWebhooks, type LoggedDelivery, type WebhookVerdict } from './compare-webhooks.ts';

export interface WebhookPlan {
  readonly recipients: number;
  readonly rate: number;
  readonly kills: number;
}

interface WebhookRunContext {
  readonly dataDir: string;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

const events = ['sent', 'delivered', 'read'] as const;
const pollMs = 250;
const quietMs = 2_000;

/** Resolves to everything that was wrong. Sending is timed alone before and after, so that a busy machine shows. */
export async function runWebhooks(plan: WebhookPlan, context: WebhookRunContext): Promise<readonly string[]> {
  const { dataDir, say } = context;
  await everybodyReads(dataDir);
  const before = await send(plan, context);
  say(`sending alone: ${before.toFixed(1)} s for ${plan.recipients} recipients at ${plan.rate}/s`);
  await untilApplied(context);

  const receiver = await startCountingReceiver('webhook-id', inHandsMs);
  try {
    const api = createDemoApi(await liveDevFile(dataDir));
    const configuration = { title: 'Chaos', url: receiver.url, status: 'active', events };
    const created = await api.post('/api/external-webhooks', configuration);
    const beside = await send(plan, context);
    const verdict = await killWhileTheyQueue(plan, context, receiver);
    await api.remove(`/api/external-webhooks/${(created.data as { id: string }).id}`);
    await untilApplied(context);
    const after = await send(plan, context);
    const longer = (beside / ((before + after) / 2) - 1) * 100;
    say(
      `sending while deliveries queue: ${beside.toFixed(1)} s; alone ${before.toFixed(1)} s before and ${after.toFixed(1)} s ` +
        `after: ${longer.toFixed(0)} % longer`,
    );
    return verdict.problems;
  } finally {
    await receiver.close();
  }
}

async function killWhileTheyQueue(
  { recipients, kills }: WebhookPlan,
  context: WebhookRunContext,
  receiver: CountingReceiver,
): Promise<WebhookVerdict> {
  const { dataDir, say } = context;
  const expected = recipients * events.length;
  const since = performance.now();
  const queued = await countOpen(dataDir);
  say(`sending is over, ${queued} deliveries are open`);
  for (let kill = 1; kill <= kills; kill += 1) {
    await untilSettled(context, expected - queued * (1 - kill / (kills + 1)));
    await killWorker(dataDir);
    say(`kill ${kill}: worker, ${receiver.counts.size} events received`);
  }
  await untilSettled(context, expected);
  const seconds = (performance.now() - since) / 1000;
  const verdict = compareWebhooks({
    expected,
    deliveries: await readLog(dataDir),
    requests: receiver.counts,
  });
  say(`the queue was empty ${seconds.toFixed(0)} s after the end of sending`);
  report(verdict, context);
  return verdict;
}

function report(verdict: WebhookVerdict, { say }: WebhookRunContext): void {
  const { delivered, interrupted, interruptedAfterReceipt, doubled } = verdict;
  say(
    `delivered ${delivered} + interrupted ${interrupted} = ${delivered + interrupted}, doubled ${doubled}; ` +
      `of the interrupted the receiver had ${interruptedAfterReceipt}`,
  );
}

/** Every message is delivered and read: three statuses each. */
async function everybodyReads(dataDir: string): Promise<void> {
  const { providerUrl } = await liveDevFile(dataDir);
  await request(`${new URL(providerUrl).origin}/_simulator/callbacks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ readRate: 1, failedRate: 0, undeliveredRate: 0 }),
  });
}

/** Seconds from the first claim to the last result, by the campaign's own record. */
async function send(
  { recipients, rate }: WebhookPlan,
  { dataDir, signal }: WebhookRunContext,
): Promise<number> {
  const campaign: WatchedCampaign = await createChaosCampaign(dataDir, { recipients, rate, signal });
  await untilGauges(campaign, ({ status }) => status === 'COMPLETED');
  const [row] = await read<{ seconds: number }>(
    dataDir,
    'SELECT extract(epoch FROM completed_at - started_at)::float8 AS seconds FROM campaign WHERE id = $1',
    [campaign.campaignId],
  );
  return row?.seconds ?? Number.NaN;
}

async function read<R extends object>(dataDir: string, text: string, values: unknown[] = []): Promise<R[]> {
  const { databaseUrl } = await liveDevFile(dataDir);
  return withClient(databaseUrl, async (client) => (await client.query(text, values)).rows as R[]);
}

/** Waits until no callback has arrived for a while and none waits, before the next campaign. */
async function untilApplied({ dataDir, signal }: WebhookRunContext): Promise<void> {
  const text = `SELECT (SELECT count(*) FROM waiting_callback)::int4 AS waiting,
    COALESCE(extract(epoch FROM now() - max(received_at)) * 1000, 0)::float8 AS quiet FROM provider_callback`;
  for (;;) {
    signal.throwIfAborted();
    const [row] = await read<{ waiting: number; quiet: number }>(dataDir, text);
    if (row !== undefined && row.waiting === 0 && row.quiet > quietMs) return;
    await sleep(pollMs);
  }
}

/** Deliveries without an outcome, including those that events still waiting for the fan-out will create. */
async function countOpen(dataDir: string): Promise<number> {
  const [row] = await read<{ open: number }>(
    dataDir,
    `SELECT ((SELECT count(*) FROM webhook_delivery WHERE state IN ('pending', 'sending'))
      + (SELECT count(*) FROM event WHERE fanned_out_at IS NULL))::int4 AS open`,
  );
  return row?.open ?? 0;
}

async function untilSettled({ dataDir, signal }: WebhookRunContext, count: number): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const [row] = await read<{ settled: number }>(
      dataDir,
      `SELECT count(*)::int4 AS settled FROM webhook_delivery WHERE state IN ('delivered', 'failed')`,
    );
    if (row !== undefined && row.settled >= count) return;
    await sleep(pollMs);
  }
}

/** Kills the worker; the supervisor restarts it. */
async function killWorker(dataDir: string): Promise<void> {
  for (;;) {
    const { worker } = (await liveDevFile(dataDir)).pids;
    try {
      if (worker !== undefined) {
        process.kill(worker, 'SIGKILL');
        return;
      }
    } catch {
      // The process is restarting.
    }
    await sleep(50);
  }
}

function readLog(dataDir: string): Promise<LoggedDelivery[]> {
  return read(
    dataDir,
    'SELECT event_id AS "eventId", state, error_code AS "errorCode" FROM webhook_delivery',
  );
}
