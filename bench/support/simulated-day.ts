/** A day of campaigns, minute by minute, on a given topology: a model of queues and budgets, without chance. Pure. */

/** CPU in milliseconds, sizes in bytes, for one of each. */
export interface UnitCosts {
  readonly prepared: {
    readonly node: number;
    readonly postgres: number;
    readonly wal: number;
    readonly kept: number;
  };
  readonly sent: {
    readonly node: number;
    readonly postgres: number;
    readonly wal: number;
    readonly kept: number;
  };
  readonly callback: {
    readonly node: number;
    readonly postgres: number;
    readonly wal: number;
    readonly kept: number;
  };
  readonly status: {
    readonly node: number;
    readonly postgres: number;
    readonly wal: number;
    readonly kept: number;
  };
  readonly event: {
    readonly node: number;
    readonly postgres: number;
    readonly wal: number;
    readonly kept: number;
  };
  readonly delivery: {
    readonly node: number;
    readonly postgres: number;
    readonly wal: number;
    readonly kept: number;
    readonly temporal: number;
    readonly temporalKept: number;
  };
}

export interface Demand {
  readonly messages: number;
  /** Shares of the day's messages by hour; campaigns begin on the hour and half past. */
  readonly hours: readonly number[];
  /** Messages per second of all channels together. */
  readonly channelRate: number;
  /** Statuses of a message, and of them those that somebody subscribes to. */
  readonly statusesPerMessage: number;
  readonly eventsPerMessage: number;
}

export interface Topology {
  readonly databases: number;
  readonly coresOfDatabase: number;
  readonly nodeCores: number;
  /** Cores of all Temporal clusters, their stores' included. */
  readonly temporalCores: number;
  /** Of any processor, in a minute. */
  readonly highestLoad: number;
}

export interface Day {
  /** Per second, in the busiest minute. */
  readonly peakSent: number;
  readonly peakDeliveries: number;
  /** Messages wait for the channels' rates, everything for processors: the longest that any of them waited. */
  readonly sendingBehindMinutes: number;
  readonly statusesBehindMinutes: number;
  readonly deliveriesBehindMinutes: number;
  /** Cores busy in the busiest minute. */
  readonly postgresCores: number;
  readonly nodeCores: number;
  readonly temporalCores: number;
  /** In the busiest minute, all databases. */
  readonly walMegabytesPerSecond: number;
  readonly keptGigabytes: {
    readonly recipients: number;
    readonly callbacks: number;
    readonly events: number;
    readonly temporal: number;
  };
  readonly unserved: number;
}

const minutes = 24 * 60;
const minuteMs = 60_000;
/** Shares of a message's statuses that come in the minutes after it: sent and delivered at once, read over two hours. */
const promptShare = 0.67;
const slowMinutes = 120;

export function simulateDay(costs: UnitCosts, demand: Demand, topology: Topology): Day {
  const { messages, hours, channelRate, statusesPerMessage, eventsPerMessage } = demand;
  const weight = hours.reduce((total, share) => total + share, 0);
  const late = Array.from({ length: minutes + slowMinutes + 1 }, () => 0);
  const queues = { sending: createQueue(), statuses: createQueue(), deliveries: createQueue() };
  const peak = { sent: 0, deliveries: 0, postgres: 0, node: 0, temporal: 0, wal: 0 };

  for (let minute = 0; minute < minutes; minute += 1) {
    const starting = minute % 30 === 0 ? (messages * (hours[Math.floor(minute / 60)] ?? 0)) / weight / 2 : 0;
    const use = budgets(topology);
    // Rows are prepared when a campaign begins; sending does not wait for what comes after it.
    use.take(costs.prepared, starting);
    const sent = queues.sending.pass(starting, (wanted) =>
      use.take(costs.sent, Math.min(wanted, channelRate * 60)),
    );

    const arrived = sent * statusesPerMessage * promptShare + (late[minute] ?? 0);
    const slow = (sent * statusesPerMessage * (1 - promptShare)) / slowMinutes;
    for (let later = 1; later <= slowMinutes; later += 1)
      late[minute + later] = (late[minute + later] ?? 0) + slow;
    use.take(costs.callback, arrived);
    const applied = queues.statuses.pass(arrived, (wanted) => use.take(costs.status, wanted));
    const told = (applied * eventsPerMessage) / statusesPerMessage;
    use.take(costs.event, told);
    const delivered = queues.deliveries.pass(told, (wanted) => use.take(costs.delivery, wanted));

    peak.sent = Math.max(peak.sent, sent / 60);
    peak.deliveries = Math.max(peak.deliveries, delivered / 60);
    for (const part of ['postgres', 'node', 'temporal', 'wal'] as const)
      peak[part] = Math.max(peak[part], use.used[part]);
  }
  const day = (kept: number, count: number): number => (kept * count) / 1e9;
  return {
    peakSent: peak.sent,
    peakDeliveries: peak.deliveries,
    sendingBehindMinutes: queues.sending.longest(),
    statusesBehindMinutes: queues.statuses.longest(),
    deliveriesBehindMinutes: queues.deliveries.longest(),
    postgresCores: peak.postgres / minuteMs,
    nodeCores: peak.node / minuteMs,
    temporalCores: peak.temporal / minuteMs,
    walMegabytesPerSecond: peak.wal / 60 / 1e6,
    keptGigabytes: {
      recipients: day(
        costs.prepared.kept + costs.sent.kept + costs.status.kept * statusesPerMessage,
        messages,
      ),
      callbacks: day(costs.callback.kept, messages * statusesPerMessage),
      events: day(costs.event.kept + costs.delivery.kept, messages * eventsPerMessage),
      temporal: day(costs.delivery.temporalKept, messages * eventsPerMessage),
    },
    unserved: Math.round(Object.values(queues).reduce((total, queue) => total + queue.waiting(), 0)),
  };
}

/** First come, first served: how many minutes ago came what is served last of the present minute, or waits longest. */
function createQueue() {
  const arrived: number[] = [];
  let [came, gone, oldest, longest] = [0, 0, 0, 0];
  return {
    waiting: () => came - gone,
    longest: () => longest,
    pass(arrivals: number, serve: (wanted: number) => number): number {
      came += arrivals;
      arrived.push(came);
      const served = serve(came - gone);
      gone += served;
      while (oldest < arrived.length - 1 && (arrived[oldest] ?? 0) <= gone + 1) oldest += 1;
      longest = Math.max(longest, arrived.length - 1 - oldest);
      return served;
    },
  };
}

/** What a minute of every kind of processor can do; `take` serves as many as the scarcest one allows. */
function budgets({ databases, coresOfDatabase, nodeCores, temporalCores, highestLoad }: Topology) {
  const left = {
    postgres: databases * coresOfDatabase * minuteMs * highestLoad,
    node: nodeCores * minuteMs * highestLoad,
    temporal: temporalCores * minuteMs * highestLoad,
  };
  const used = { postgres: 0, node: 0, temporal: 0, wal: 0 };
  return {
    used,
    take(
      cost: {
        readonly node: number;
        readonly postgres: number;
        readonly wal: number;
        readonly temporal?: number;
      },
      wanted: number,
    ): number {
      const temporal = cost.temporal ?? 0;
      const served = Math.max(
        0,
        Math.min(
          wanted,
          left.postgres / cost.postgres,
          left.node / cost.node,
          temporal === 0 ? Number.POSITIVE_INFINITY : left.temporal / temporal,
        ),
      );
      for (const [part, each] of [
        ['postgres', cost.postgres],
        ['node', cost.node],
        ['temporal', temporal],
      ] as const) {
        left[part] -= served * each;
        used[part] += served * each;
      }
      used.wal += served * cost.wal;
      return served;
    },
  };
}
