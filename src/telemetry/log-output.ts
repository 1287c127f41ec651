import { pino, type DestinationStream } from 'pino';

let output: DestinationStream | undefined;

/**
 * Standard output. Lines of one event-loop turn are written together, since a write costs more than formatting a line. No line
 * waits longer than its turn, and the exit of the process flushes the rest.
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
