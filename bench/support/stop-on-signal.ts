/** Stops what a bench has started when a signal ends it: servers run in sessions of their own, and would go on. */

const stops = new Set<() => Promise<unknown> | void>();
let isEnding = false;

async function end(code: number): Promise<void> {
  if (isEnding) return;
  isEnding = true;
  // The latest first: processes before the servers that they use.
  for (const stop of [...stops].toReversed()) await Promise.resolve(stop()).catch(() => undefined);
  process.exit(code);
}

/** Returns `stop`, to be called when the bench itself stops. */
export function stopOnSignal<T extends Promise<unknown> | void>(stop: () => T): () => T {
  if (stops.size === 0) {
    process.once('SIGINT', () => void end(130));
    process.once('SIGTERM', () => void end(143));
  }
  const once = () => {
    stops.delete(once);
    return stop();
  };
  stops.add(once);
  return once;
}
