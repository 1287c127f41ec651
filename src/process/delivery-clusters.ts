/**
 * The Temporal clusters that webhook deliveries run on: runs one worker on each, and chooses a cluster for each delivery.
 */
import type { NativeConnection, Worker } from '@temporalio/worker';
import type { Config } from '../config.ts';
import { createWorkerOrchestrator, type Orchestrator } from '../orchestrator/orchestrator.ts';
import type { Logger } from '../telemetry/logger.ts';
import { connectToTemporal } from './worker-connection.ts';

type Starts = Pick<Orchestrator, 'startWebhookDelivery'>;

/** 30 s: for this long a cluster that failed to start a delivery is not used, unless every cluster has failed. */
const holdMs = 30_000;

/** A class of its own, because logs name the class of an error and not its message. */
class NoClusterConnected extends Error {
  override name = 'NoClusterConnected';
}

interface Cluster extends Starts {
  heldUntil: number;
}

/**
 * Starts each delivery on the cluster that its id names: ids are uuidv7, so their last 32 bits are a uniform hash. Where that
 * cluster fails, another one takes the delivery. Both may then run its workflow, for instance after a lost answer; the
 * compare-and-set of the attempt lets only one of them dial.
 */
export function chooseCluster(now = () => performance.now()) {
  const clusters: Cluster[] = [];
  return {
    add: (starts: Starts) =>
      void clusters.push({ startWebhookDelivery: starts.startWebhookDelivery, heldUntil: -Infinity }),
    async startWebhookDelivery(id: string): ReturnType<Starts['startWebhookDelivery']> {
      const hash = Number.parseInt(id.slice(-8), 16);
      for (let left = clusters.length; ; left -= 1) {
        const working = clusters.filter(({ heldUntil }) => heldUntil <= now());
        const among = working.length > 0 ? working : clusters;
        const cluster = among[hash % among.length];
        if (cluster === undefined)
          throw new NoClusterConnected('No Temporal cluster for deliveries is connected');
        try {
          return await cluster.startWebhookDelivery(id);
        } catch (error) {
          cluster.heldUntil = now() + holdMs;
          if (left <= 1) throw error;
        }
      }
    },
  };
}

export interface DeliveryClusters extends Starts {
  readonly workers: () => readonly Worker[];
  /** Rejects when a worker fails; resolves after `stop`. */
  readonly running: Promise<void>;
  readonly stop: () => Promise<void>;
}

type ClusterSettings = Pick<
  Config,
  | 'temporalAddress'
  | 'temporalNamespace'
  | 'temporalTls'
  | 'temporalApiKey'
  | 'webhookTemporalAddresses'
  | 'webhookTemporalNamespace'
>;

/**
 * Connects to every listed cluster and runs a worker on it as soon as it answers; a cluster that is away holds up no other.
 * If the list names the cluster that campaigns run on, its connection `main` is used.
 */
export function serveDeliveryClusters(
  config: ClusterSettings,
  main: NativeConnection,
  logger: Pick<Logger, 'warn'>,
  createWorker: (connection: NativeConnection, namespace: string) => Promise<Worker>,
): DeliveryClusters {
  const { webhookTemporalAddresses: addresses, webhookTemporalNamespace: namespace } = config;
  const choice = chooseCluster();
  const workers: Worker[] = [];
  let isStopped = false;
  let end = { resolve: (): void => undefined, reject: (_error: unknown): void => undefined };
  const running = new Promise<void>((resolve, reject) => {
    end = { resolve, reject };
  });
  const runs: Promise<void>[] = [];

  async function serve(address: string): Promise<void> {
    const isMain = address === config.temporalAddress && namespace === config.temporalNamespace;
    const settings = { ...config, temporalAddress: address, temporalNamespace: namespace };
    const connection = isMain ? main : await connectToTemporal(settings, logger);
    const worker = await createWorker(connection, namespace);
    if (isStopped) return;
    const run = worker.run();
    workers.push(worker);
    runs.push(run);
    choice.add(createWorkerOrchestrator(connection, namespace));
    await run;
  }
  for (const address of addresses) serve(address).catch((error: unknown) => end.reject(error));

  return {
    startWebhookDelivery: choice.startWebhookDelivery,
    workers: () => workers,
    running,
    async stop() {
      isStopped = true;
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      await Promise.all(runs);
      end.resolve();
    },
  };
}
