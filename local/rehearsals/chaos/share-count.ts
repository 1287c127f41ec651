/** Reads a stack's log lines: messages recorded per process, and processes that died. */
import type { StackLog } from '../../stack/log.ts';

export interface ShareCount {
  readonly log: StackLog;
  /** Messages recorded, by process. */
  readonly recorded: ReadonlyMap<string, number>;
  /** The stack's messages about processes that ended unexpectedly. */
  readonly deaths: readonly string[];
}

export function createShareCount(): ShareCount {
  const recorded = new Map<string, number>();
  const deaths: string[] = [];
  return {
    recorded,
    deaths,
    log: {
      own: (line) => void deaths.push(line),
      of: (name) => (line) => {
        const count = recordedIn(line);
        if (count > 0) recorded.set(name, (recorded.get(name) ?? 0) + count);
      },
    },
  };
}

function recordedIn(line: string): number {
  if (!line.includes('outcomes recorded')) return 0;
  try {
    return Number((JSON.parse(line) as { readonly recorded?: number }).recorded ?? 0);
  } catch {
    return 0;
  }
}
