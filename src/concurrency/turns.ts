import { setImmediate as nextTurn } from 'node:timers/promises';

const longestTurnMs = 10;

/** Returns a function to await between the steps of long work: it yields to the event loop after every 10 ms of work. */
export function createTurns(): () => Promise<void> {
  let beganAt = performance.now();
  return async () => {
    if (performance.now() - beganAt < longestTurnMs) return;
    await nextTurn();
    beganAt = performance.now();
  };
}
