/**
 * Creates campaigns of two recipients over HTTP, several at a time, and waits until API and worker have completed them. The
 * baseline are workflows of two empty activities on the same Temporal server; the two alternate. Then creates campaigns one
 * after the other, and measures the time from the request to the second message. `--campaigns N` (300) per round,
 * `--rounds N` (2), `--callers N` (8), `--lone N` (20).
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { pickFreePort } from '../local/stack/host/free-port.ts';
import { campaignWorkflowId } from '../src/workflows/contract.ts';
import { inLanes, quickContacts, seedApiSender, untilReady, type ApiSender } from './support/api-sender.ts';
import { bareQueue, startBareWorker } from './support/bare-worker.ts';
import { median } from './support/measure.ts';
import { startWholeProduct } from './support/product.ts';
import { startProduct } from './support/product-process.ts';

const whole = (fallback: string) => ({ type: 'string', default: fallback }) as const;
const { values } = parseArgs({
  options: { campaigns: whole('300'), rounds: whole('2'), callers: whole('8'), lone: whole('20') },
});
const [campaigns, rounds] = [Number(values.campaigns), Number(values.rounds)];
const callers = Number(values.callers);
const messagesPerSecond = 80;
const pauseMs = 2_000;
const phoneNumberId = '106540352242922';

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const product = await startWholeProduct(20);
const { postgres, temporal, provider, servers, worker, dependencies } = product;
const port = await pickFreePort('127.0.0.1');
const api = startProduct('server', servers, { PORT: String(port) });
const bare = await startBareWorker(temporal.address);
const baseUrl = `http://127.0.0.1:${port}`;

let called = 0;
/** Returns the campaign's id. */
async function call(sender: ApiSender): Promise<string> {
  called += 1;
  const number = (digit: number) => `+49151${digit}${String(called).padStart(7, '0')}`;
  return sender.create(quickContacts([number(1), number(2)]));
}

const arrived = async () => provider.arrivals(phoneNumberId);

const cpu = () => ({
  API: api.cpuSeconds(),
  worker: worker.cpuSeconds(),
  Postgres: postgres.cpuSeconds(),
  Temporal: temporal.cpuSeconds(),
});

async function round(sender: ApiSender) {
  const times: number[] = [];
  let last = '';
  const [before, startedAt] = [cpu(), performance.now()];
  await inLanes(campaigns, callers, async () => {
    const at = performance.now();
    last = await call(sender);
    times.push(performance.now() - at);
  });
  const calledAt = performance.now();
  while ((await sender.open()) > 0) await sleep(20);
  const seconds = (performance.now() - startedAt) / 1_000;
  const after = cpu();
  const parts = (Object.keys(after) as (keyof typeof after)[]).map(
    (name) => [name, ((after[name] - before[name]) * 1_000) / campaigns] as const,
  );
  const workflow = dependencies.orchestrator.client.workflow.getHandle(campaignWorkflowId(last));
  await workflow.result();
  const { historyLength } = await workflow.describe();
  say(
    `campaigns ${(campaigns / seconds).toFixed(1)}/s; calls ${((campaigns * 1_000) / (calledAt - startedAt)).toFixed(0)}/s, ` +
      `p50 ${median(times).toFixed(0)} ms; CPU ms each: ${parts.map(([name, ms]) => `${name} ${ms.toFixed(0)}`).join(', ')}, ` +
      `sum ${parts.reduce((sum, [, ms]) => sum + ms, 0).toFixed(0)}; ${historyLength} events`,
  );
  return campaigns / seconds;
}

async function bareRound(): Promise<number> {
  const startedAt = performance.now();
  const { client: workflows } = dependencies.orchestrator;
  const ids: string[] = [];
  await inLanes(campaigns, callers, async () => {
    const workflowId = randomUUID();
    ids.push(workflowId);
    await workflows.workflow.start('twoActivities', { workflowId, taskQueue: bareQueue });
  });
  await Promise.all(ids.map((id) => workflows.workflow.getHandle(id).result()));
  const rate = (campaigns * 1_000) / (performance.now() - startedAt);
  say(`bare workflows of two activities ${rate.toFixed(1)}/s`);
  return rate;
}

try {
  const sender = await seedApiSender(product, { baseUrl, phoneNumberId, messagesPerSecond });
  await untilReady(baseUrl);
  await inLanes(40, callers, () => call(sender));
  while ((await sender.open()) > 0) await sleep(50);
  const ratios: number[] = [];
  for (let number = 1; number <= rounds; number += 1) {
    const [bareRate, ours] = [await bareRound(), await round(sender)];
    ratios.push(ours / bareRate);
    await sleep(pauseMs);
  }
  const times: number[] = [];
  for (let lone = 0; lone < Number(values.lone); lone += 1) {
    const { count } = await arrived();
    const startedAt = performance.timeOrigin + performance.now();
    await call(sender);
    let now = await arrived();
    while (now.count < count + 2) {
      await sleep(5);
      now = await arrived();
    }
    times.push(now.lastAt - startedAt);
    while ((await sender.open()) > 0) await sleep(20);
    await sleep(200);
  }
  say(
    `medians: ${median(ratios).toFixed(2)} of bare; a lone campaign's two messages left after ${median(times).toFixed(0)} ms`,
  );
} finally {
  await bare.stop();
  await api.stop();
  await product.stop();
}
