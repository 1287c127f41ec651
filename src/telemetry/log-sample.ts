/** Decides which of many equal log lines are written, evenly: of 100 lines, `percent`. */
export function createLogSample(percent: number): () => boolean {
  let owed = 0;
  return () => {
    owed += percent;
    if (owed < 100) return false;
    owed -= 100;
    return true;
  };
}
