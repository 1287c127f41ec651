/** How fast deliveries may be started: at will, unless campaigns go short of the processor meanwhile. */
import { cpus } from 'node:os';

export interface Pace {
  /** Told a few times a second: true while campaigns send less than they may and the machine has nothing to spare. */
  readonly press: (isPressed: boolean, now: number) => void;
  /** How many deliveries may be started now. */
  readonly room: (now: number) => number;
  readonly took: (count: number) => void;
}

/** Starts a second. Never none: a delivery that waits for ever is of no use either. */
const slowest = 4;
const firstLimit = 32;
/** From here on there is no limit. */
const fastest = 500;
const [slower, faster] = [0.5, 1.3];
/** What an idle while may save up, in seconds. */
const burstSeconds = 0.5;

/** Halves its limit while it is pressed and lets go by and by: the deliveries take what is left over. */
export function createPace(): Pace {
  let limit = Infinity;
  let tokens = 0;
  let filledAt = 0;
  return {
    press(isPressed, now) {
      const next = limit * (isPressed ? slower : faster);
      if (limit === Infinity) {
        if (!isPressed) return;
        [limit, tokens, filledAt] = [firstLimit, 0, now];
      } else {
        limit = next > fastest ? Infinity : Math.max(slowest, next);
      }
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
