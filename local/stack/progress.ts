/** Shows the progress of a long step: a line that is rewritten on a terminal, otherwise a line every ten seconds. */
export interface Progress {
  readonly say: (line: string) => void;
  /** The latest state of the running step; shown at most as often as the output can bear. */
  readonly update: (line: string) => void;
}

interface ProgressOutput {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  readonly write: (text: string) => unknown;
}

export function createProgress(output: ProgressOutput, now: () => number = Date.now): Progress {
  const terminal = output.isTTY === true;
  const intervalMs = terminal ? 100 : 10_000;
  let shownAt = now();
  let open = false;
  const say = (line: string) => {
    output.write(`${open ? '\r\u001B[K' : ''}${line}\n`);
    open = false;
    shownAt = now();
  };
  return {
    say,
    update(line) {
      if (now() - shownAt < intervalMs) return;
      shownAt = now();
      if (!terminal) return void output.write(`${line}\n`);
      open = true;
      output.write(`\r\u001B[K${line.slice(0, (output.columns ?? 100) - 1)}`);
    },
  };
}
