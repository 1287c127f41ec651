import { pino, type DestinationStream } from 'pino';

let output: DestinationStream | undefined;

/**
 * Standard output. The lines of one turn of the event loop are written together: of a line, writing it alone costs more
 * than all the rest. Nothing waits longer than its turn, and what a dying process said last is written as it exits.
 */
export function logOutput(): DestinationStream {
  output ??= inTurns(pino.destination({ dest: 1, sync: true }));
  return output;
}

function inTurns(stream: DestinationStream): DestinationStream & { readonly flushSync: () => void } {
  let lines = '';
  const flush = () => {
    const text = lines;
    lines = '';
    if (text !== '') stream.write(text);
  };
  process.on('exit', flush);
  return {
    write(line) {
      if (lines === '') setImmediate(flush);
      lines += line;
    },
    // pino calls this after a fatal line.
    flushSync: flush,
  };
}
