/** The Temporal server of `npm start`, with the same settings, for one run: its state lasts as long as the run does. */
import { statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnChild, waitUntilReady } from '../../local/stack/children/child.ts';
import { pickFreePort } from '../../local/stack/host/free-port.ts';
import { createProgress } from '../../local/stack/progress.ts';
import { findTemporalBinary } from '../../local/stack/temporal/binary.ts';
import { temporalServer } from '../../local/stack/temporal/server.ts';
import { cpuSecondsOf } from './process-cpu.ts';
import { stopOnSignal } from './stop-on-signal.ts';

export interface BenchTemporal {
  readonly address: string;
  /** CPU seconds of the server so far; NaN where the system has no /proc. */
  readonly cpuSeconds: () => number;
  /** Size of the SQLite store with its write-ahead log. */
  readonly storeBytes: () => number;
  readonly stop: () => Promise<void>;
}

function sizeOf(store: string): number {
  return [store, `${store}-wal`]
    .map((file) => statSync(file, { throwIfNoEntry: false })?.size ?? 0)
    .reduce((total, size) => total + size, 0);
}

const searchLimitMs = 30 * 60_000;

/** `settings`: `name=value` of the dynamic configuration, instead of those of `npm start` where the names are the same. */
export async function startBenchTemporal(settings: readonly string[] = []): Promise<BenchTemporal> {
  const dataDir = await mkdtemp(join(tmpdir(), 'messaging-campaigns-bench-temporal-'));
  const port = await pickFreePort('127.0.0.1');
  const server = temporalServer({
    binary: await findTemporalBinary({
      environment: process.env,
      progress: createProgress(process.stderr),
      signal: AbortSignal.timeout(searchLimitMs),
    }),
    dataDir,
    namespace: 'default',
    port,
    uiPort: await pickFreePort('127.0.0.1'),
    logFile: join(dataDir, 'temporal.log'),
    environment: process.env,
  });
  const further = settings.flatMap((setting) => ['--dynamic-config-value', setting]);
  const spec = { ...server, args: [...server.args, ...further] };
  const child = await spawnChild(spec);
  const stop = stopOnSignal(async () => {
    await child.stop();
    await rm(dataDir, { recursive: true, force: true });
  });
  try {
    await waitUntilReady(spec, child);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    address: `127.0.0.1:${String(port)}`,
    cpuSeconds: () => cpuSecondsOf(child.pid),
    storeBytes: () => sizeOf(join(dataDir, 'temporal.db')),
    stop,
  };
}
