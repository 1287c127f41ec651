/** Keeps the processes of the stack running: a dead one is started again on the same ports, after a growing pause. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describeExit, spawnChild, waitUntilReady, type ChildSpec, type RunningChild } from './child.ts';

export interface SupervisorOptions {
  readonly log: (line: string) => void;
  /** Called after a child was spawned: `pids()` has changed. */
  readonly onSpawn: () => void;
  /** Called when a restarted child is usable again. */
  readonly onRestart: () => void;
}

export interface Supervisor {
  /** Resolves when the child is usable; a child that fails before that rejects and is not started again. */
  readonly start: (spec: ChildSpec) => Promise<void>;
  readonly pids: () => Readonly<Record<string, number>>;
  /** Stops these children side by side and never starts them again; without names, all. Unknown names are ignored. */
  readonly stop: (names?: readonly string[]) => Promise<void>;
  readonly kill: (names: readonly string[]) => void;
}

interface Supervised {
  readonly spec: ChildSpec;
  readonly stopping: AbortController;
  child?: RunningChild;
  /** Settles when no child of this entry runs or will run. */
  loop?: Promise<void>;
}

const firstPauseMs = 250;
const longestPauseMs = 10_000;
/** A child that ran this long restarts with the shortest delay. */
const healthyMs = 60_000;

export function createSupervisor({ log, onSpawn, onRestart }: SupervisorOptions): Supervisor {
  const all = new Map<string, Supervised>();

  async function spawn(entry: Supervised): Promise<RunningChild> {
    const child = await spawnChild(entry.spec);
    entry.child = child;
    void child.exited.then(() => {
      if (entry.child === child) delete entry.child;
    });
    onSpawn();
    if (entry.stopping.signal.aborted) await child.stop();
    return child;
  }

  async function startOnce(entry: Supervised): Promise<RunningChild> {
    const child = await spawn(entry);
    try {
      await waitUntilReady(entry.spec, child);
      return child;
    } catch (error) {
      await child.stop();
      throw error;
    }
  }

  async function restart(entry: Supervised): Promise<RunningChild | undefined> {
    try {
      const child = await startOnce(entry);
      onRestart();
      return child;
    } catch (error) {
      if (!entry.stopping.signal.aborted) log(error instanceof Error ? error.message : String(error));
      return undefined;
    }
  }

  async function keepRunning(entry: Supervised, first: RunningChild): Promise<void> {
    let child: RunningChild | undefined = first;
    let pauseMs = firstPauseMs;
    let startedAt = Date.now();
    for (;;) {
      const exit = await child?.exited;
      if (entry.stopping.signal.aborted) return;
      if (Date.now() - startedAt > healthyMs) pauseMs = firstPauseMs;
      const seconds = (pauseMs / 1000).toFixed(2);
      const how =
        exit === undefined ? 'is still not running' : `stopped unexpectedly (${describeExit(exit)})`;
      log(`${entry.spec.name} ${how}, starting it again in ${seconds} s`);
      await sleep(pauseMs, undefined, { signal: entry.stopping.signal }).catch(() => undefined);
      if (entry.stopping.signal.aborted) return;
      pauseMs = Math.min(pauseMs * 2, longestPauseMs);
      startedAt = Date.now();
      child = await restart(entry);
    }
  }

  return {
    async start(spec) {
      const entry: Supervised = { spec, stopping: new AbortController() };
      all.set(spec.name, entry);
      const first = startOnce(entry);
      entry.loop = first.then(
        (child) => keepRunning(entry, child),
        () => undefined,
      );
      await first;
    },
    pids() {
      const running = [...all].flatMap(([name, { child }]) =>
        child === undefined ? [] : [[name, child.pid] as const],
      );
      return Object.fromEntries(running);
    },
    async stop(names = [...all.keys()]) {
      const entries = names.flatMap((name) => all.get(name) ?? []);
      await Promise.all(
        entries.map(async (entry) => {
          entry.stopping.abort();
          await entry.child?.stop();
          await entry.loop;
        }),
      );
    },
    kill(names) {
      for (const name of names) all.get(name)?.child?.kill('SIGKILL');
    },
  };
}
