/** How fast deliveries may be started: at will, unless campaigns go short of the processor meanwhile. */
import { cpus } from 'node:os';

export interface Pace {
  /**
   * Told a few times a second: true while campaigns send less than they may and the machine has nothing to spare.
   * Answers `begun` and `ended` when there is a limit from now on, or none any more.
   */
  readonly press: (isPressed: boolean, now: number) => 'begun' | 'ended' | undefined;
  /** How many deliveries may be started now. */
  readonly room: (now: number) => number;
  readonly took: (count: number) => void;
}

/** Starts a second. Never none: a delivery that waits for ever is of no use either. */
const slowest = 4;
const firstLimit = 8;
/** From here on there is no limit. */
const fastest = 500;
// One look in eight that finds sending short is enough to keep the limit where it is.
const [slower, faster] = [0.5, 1.1];
/** What an idle while may save up, in seconds. */
const burstSeconds = 0.5;

/** Halves its limit while it is pressed and lets go by and by: the deliveries take what is left over. */
export function createPace(): Pace {
  let limit = Infinity;
  let tokens = 0;
  let filledAt = 0;
  return {
    press(isPressed, now) {
      if (limit === Infinity) {
        if (!isPressed) return undefined;
        [limit, tokens, filledAt] = [firstLimit, 0, now];
        return 'begun';
      }
      limit = Math.max(slowest, limit * (isPressed ? slower : faster));
      if (limit <= fastest) return undefined;
      limit = Infinity;
      return 'ended';
    },
    room(now) {
      if (limit === Infinity) return Infinity;
      tokens = Math.min(limit * burstSeconds, tokens + (limit * (now - filledAt)) / 1000);
      filledAt = now;
      return Math.floor(tokens);
    },
    took(count) {
      tokens -= count;
    },
  };
}

/** Each call: the share of the machine's processors that was busy since the call before; 0 at first. */
export function createProcessorMeter(): () => number {
  let before = readTimes();
  return () => {
    const now = readTimes();
    const [total, idle] = [now.total - before.total, now.idle - before.idle];
    before = now;
    return total <= 0 ? 0 : 1 - idle / total;
  };
}

function readTimes(): { readonly total: number; readonly idle: number } {
  let [total, idle] = [0, 0];
  for (const { times } of cpus()) {
    total += times.user + times.nice + times.sys + times.idle + times.irq;
    idle += times.idle;
  }
  return { total, idle };
}
