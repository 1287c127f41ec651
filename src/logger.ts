/**
 * One JSON line per record, with the request and the workflow it belongs to; keys that could carry a secret or a person's number are redacted, whatever a caller
 * passes.
 */
import { pino, stdTimeFunctions, type Logger as PinoLogger } from 'pino';
import { callContext } from './call-context.ts';
import type { Config } from './config.ts';

export type Logger = Pick<PinoLogger, 'debug' | 'info' | 'warn' | 'error' | 'fatal'> & {
  readonly child: (fields: Record<string, unknown>) => Logger;
};

const redacted = ['apiKey', 'accessToken', 'secret', 'phoneNumber', 'phone_number', 'authorization'].flatMap(
  (key) => [key, `*.${key}`],
);

/** Writes to standard output; `service` names the process. */
export function createLogger(config: Pick<Config, 'logLevel' | 'logFormat'>, service: string): Logger {
  const options = {
    level: config.logLevel,
    base: { service },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    mixin: () => {
      const { requestId, workflowId } = callContext();
      return {
        ...(requestId !== undefined && { requestId }),
        ...(workflowId !== undefined && { workflowId }),
      };
    },
    redact: { paths: redacted, censor: '[redacted]' },
  };
  if (config.logFormat === 'json') return pino(options);
  return pino({
    ...options,
    transport: {
      target: 'pino-pretty',
      options: { ignore: 'service,pid,hostname', translateTime: 'HH:MM:ss.l' },
    },
  });
}
