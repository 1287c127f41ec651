/** State of one request, shared by the middleware. */
import type { ParameterizedContext } from 'koa';
import type { Principal } from '../../domain/workspaces/api-key.ts';

export interface FrameState {
  requestId: string;
  /** The path as declared; undefined when no route matched. */
  route?: string;
  principal?: Principal;
  /** The message of the error that was answered; for a 500 its stack. */
  failure?: string;
  /** The message that the request sends. */
  messageId?: string;
  /** Probes and scrapes are logged at `debug`. */
  quiet?: true;
  /** LOG_SAMPLE_PERCENT applies to the log line of a success. */
  sampled?: true;
}

export type FrameContext = ParameterizedContext<FrameState>;
