/**
 * Request id, workflow and actor of the current work, carried through asynchronous calls so that log lines and spans can name
 * them.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

export interface CallContext {
  /** Id of the API request that caused the work, directly or through a workflow. */
  readonly requestId?: string;
  readonly workflowId?: string;
  /** The API key, or the operator's command, that asked for the work. */
  readonly keyId?: string;
  readonly command?: string;
  /** The workspace of an API request, whose database connections are limited; undefined for work of several workspaces. */
  readonly workspaceId?: number | undefined;
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
