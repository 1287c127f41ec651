/** Writes one JSON line per record, with the request and the workflow that it belongs to. */
import { type DestinationStream, type Logger as PinoLogger, pino, stdTimeFunctions } from 'pino';
import { callContext } from '../concurrency/call-context.ts';
import type { Config } from '../config.ts';
import { loggedError, redact } from './redact.ts';

let output: DestinationStream | undefined;

/**
 * Standard output. Lines of one event-loop turn are written together, because a write costs more than formatting a line. No
 * line waits longer than its turn, and the rest is flushed when the process exits.
 */
function logOutput(): DestinationStream {
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

export type Logger = Pick<PinoLogger, 'debug' | 'info' | 'warn' | 'error' | 'fatal'>;

/** Writes to standard output; `service` names the process. */
export function createLogger(config: Pick<Config, 'logLevel' | 'logFormat'>, service: string): Logger {
  const options = {
    level: config.logLevel,
    base: { service },
    timestamp: stdTimeFunctions.isoTime,
    serializers: { error: loggedError },
    formatters: { level: (label: string) => ({ level: label }), log: redact },
    mixin: () => {
      const { requestId, workflowId } = callContext();
      return {
        ...(requestId !== undefined && { requestId }),
        ...(workflowId !== undefined && { workflowId }),
      };
    },
  };
  if (config.logFormat === 'json') return pino(options, logOutput());
  return pino({
    ...options,
    transport: {
      target: 'pino-pretty',
      options: { ignore: 'service,pid,hostname', translateTime: 'HH:MM:ss.l' },
    },
  });
}

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
