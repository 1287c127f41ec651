/** One JSON line per record, with the request and the workflow it belongs to. */
import { pino, stdTimeFunctions, type Logger as PinoLogger } from 'pino';
import { callContext } from '../concurrency/call-context.ts';
import type { Config } from '../config.ts';
import { logOutput } from './log-output.ts';
import { loggedError, redact } from './redact.ts';

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
