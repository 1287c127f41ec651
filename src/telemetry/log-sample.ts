/** Decides which of many similar log lines to write: `percent` out of every 100, evenly spread. */
export function createLogSample(percent: number): () => boolean {
  let owed = 0;
  return () => {
    owed += percent;
    if (owed < 100) return false;
    owed -= 100;
    return true;
  };
}
