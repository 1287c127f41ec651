/** State of one request, shared by the middleware. */
import type { ParameterizedContext } from 'koa';
import type { ErrorCode } from '../../domain/error-code.ts';
import type { Principal } from '../../domain/workspaces/api-key.ts';

export interface FrameState {
  requestId: string;
  /** The path as declared; undefined when no route matched. */
  route?: string;
  principal?: Principal;
  /** The message of the error that was answered; for a 500 its stack. */
  failure?: string;
  /** The code of the error that was answered. */
  errorCode?: ErrorCode;
  /** The message that the request sends. */
  messageId?: string;
  /** Probes and scrapes are logged at `debug`. */
  quiet?: true;
  /** LOG_SAMPLE_PERCENT applies to the log line of a success. */
  sampled?: true;
}

export type FrameContext = ParameterizedContext<FrameState>;

/**
 * Returns every value of a header from the raw headers: Node keeps only one of repeated headers, or joins them. `name` is in
 * lower case. Makes no copy of the names, because it is called several times per request.
 */
export function valuesOf(rawHeaders: readonly string[], name: string): readonly string[] {
  const values: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [given = '', value = ''] = [rawHeaders[at], rawHeaders[at + 1]];
    if (given.length === name.length && given.toLowerCase() === name) values.push(value);
  }
  return values;
}
