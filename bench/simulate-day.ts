/**
 * A day of campaigns on a topology of your choice, minute by minute, from the measured costs of `npm run bench -- costs`: what is busy,
 * what waits and for how long, what is written and kept. Without options: 100 million messages on the topologies of
 * docs/scaling.md. `--messages N --databases N --database-cores N --node-cores N --temporal-cores N --channel-rate N
 * --events-per-message N` simulate one.
 */
import { parseArgs } from 'node:util';
import { measuredCosts } from './support/measured-costs.ts';
import { simulateDay, type Day, type Demand, type Topology } from './support/simulated-day.ts';

const number = { type: 'string' } as const;
const { values } = parseArgs({
  options: {
    messages: number,
    databases: number,
    'database-cores': number,
    'node-cores': number,
    'temporal-cores': number,
    'channel-rate': number,
    'events-per-message': number,
  },
});

/** Business hours of several time zones: half of the day's messages in six hours. */
const hours = [1, 1, 1, 1, 1, 2, 3, 5, 8, 9, 9, 8, 6, 5, 5, 5, 6, 7, 6, 4, 3, 2, 1, 1];
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const given = (name: keyof typeof values, fallback: number): number => Number(values[name] ?? fallback);

interface Case {
  readonly name: string;
  readonly demand: Demand;
  readonly topology: Topology;
}

function caseOf(name: string, demand: Partial<Demand>, topology: Partial<Topology>): Case {
  return {
    name,
    demand: {
      messages: given('messages', 100_000_000),
      hours,
      channelRate: given('channel-rate', 10_000),
      statusesPerMessage: 2.6,
      eventsPerMessage: given('events-per-message', 0.5),
      ...demand,
    },
    topology: {
      databases: given('databases', 1),
      coresOfDatabase: given('database-cores', 16),
      nodeCores: given('node-cores', 32),
      temporalCores: given('temporal-cores', 32),
      highestLoad: 0.6,
      ...topology,
    },
  };
}

const cases: readonly Case[] =
  Object.keys(values).length > 0
    ? [caseOf('as asked for', {}, {})]
    : [
        caseOf(
          '1 M a day',
          { messages: 1e6, channelRate: 160 },
          { coresOfDatabase: 1, nodeCores: 2, temporalCores: 1 },
        ),
        caseOf(
          '10 M a day',
          { messages: 1e7, channelRate: 1_000 },
          { coresOfDatabase: 4, nodeCores: 16, temporalCores: 8 },
        ),
        caseOf('100 M a day, no webhooks', { eventsPerMessage: 0 }, { nodeCores: 24, temporalCores: 4 }),
        caseOf(
          '100 M a day, no webhooks, a database of 4 cores',
          { eventsPerMessage: 0 },
          { coresOfDatabase: 4, nodeCores: 24, temporalCores: 4 },
        ),
        caseOf(
          '100 M a day, a webhook for every second message, Temporal of 8 cores',
          {},
          { nodeCores: 96, temporalCores: 8 },
        ),
        caseOf('100 M a day, a webhook for every second message', {}, { nodeCores: 96, temporalCores: 48 }),
        caseOf(
          '100 M a day, every status a webhook',
          { eventsPerMessage: 2.6 },
          { databases: 4, nodeCores: 360, temporalCores: 240 },
        ),
      ];

for (const { name, demand, topology } of cases) {
  say(
    `${name}: ${topology.databases} × ${topology.coresOfDatabase} cores of Postgres, ${topology.nodeCores} of Node, ${topology.temporalCores} of Temporal; ` +
      `channels ${demand.channelRate}/s, ${demand.eventsPerMessage} webhooks for a message`,
  );
  for (const line of describe(simulateDay(measuredCosts, demand, topology))) say(`  ${line}`);
}

function describe(day: Day): readonly string[] {
  const { keptGigabytes: kept } = day;
  return [
    `busiest minute: ${round(day.peakSent)} messages/s, ${round(day.peakDeliveries)} webhooks/s; cores busy: Postgres ${fixed(day.postgresCores)}, ` +
      `Node ${fixed(day.nodeCores)}, Temporal ${fixed(day.temporalCores)}; WAL ${fixed(day.walMegabytesPerSecond)} MB/s`,
    `longest wait: campaigns ${day.sendingBehindMinutes} min, statuses ${day.statusesBehindMinutes} min, ` +
      `webhooks ${day.deliveriesBehindMinutes} min; left at midnight: ${day.unserved}`,
    `kept for the day, GB: recipients ${round(kept.recipients)}, callbacks ${round(kept.callbacks)}, events and deliveries ${round(kept.events)}, ` +
      `Temporal ${round(kept.temporal)}`,
  ];
}

function fixed(value: number): string {
  return value.toFixed(1);
}

function round(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}
