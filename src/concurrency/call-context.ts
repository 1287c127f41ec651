/**
 * What a piece of work belongs to, carried along its asynchronous calls: every log line and span of it can name the request
 * and the workflow without anybody passing them on.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

export interface CallContext {
  /** Of the API request that caused the work, directly or by way of a workflow. */
  readonly requestId?: string;
  readonly workflowId?: string;
  /** The API key, or the operator's command, that asked for the work. */
  readonly keyId?: string;
  readonly command?: string;
  /** W3C trace context of the span that is running. */
  readonly traceparent?: string;
}

const nowhere: CallContext = {};
const storage = new AsyncLocalStorage<CallContext>();

export function callContext(): CallContext {
  return storage.getStore() ?? nowhere;
}

/** Runs `work` with these fields added to the context of the caller. */
export function withCallContext<T>(fields: CallContext, work: () => T): T {
  return storage.run({ ...callContext(), ...fields }, work);
}
