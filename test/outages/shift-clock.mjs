/**
 * Loaded into a process before its program: its wall clock begins CLOCK_SHIFT_MS ahead (or behind), and jumps by CLOCK_STEP_MS
 * every CLOCK_STEP_EVERY_MS. The monotonic clock goes on as it is, as it does on a machine whose clock is set.
 */
const RealDate = Date;
const step = Number(process.env.CLOCK_STEP_MS ?? '0');
const every = Number(process.env.CLOCK_STEP_EVERY_MS ?? '1000');
const startedAt = performance.now();
const shift = () =>
  Number(process.env.CLOCK_SHIFT_MS ?? '0') + step * Math.floor((performance.now() - startedAt) / every);

globalThis.Date = class extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(RealDate.now() + shift());
    else super(...given);
  }
  static now() {
    return RealDate.now() + shift();
  }
};
