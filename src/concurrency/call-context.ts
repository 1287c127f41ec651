/**
 * Request id, workflow and actor of the current work, carried through asynchronous calls so that log lines and spans can name
 * them.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

export interface CallContext {
  /** Id of the API request that caused the work, directly or through a workflow. */
  readonly requestId?: string;
  readonly workflowId?: string;
  /** The API key or operator command that requested the work. */
  readonly keyId?: string;
  readonly command?: string;
  /** The workspace of an API request, whose database connections are limited; undefined for work for several workspaces. */
  readonly workspaceId?: number | undefined;
  /** W3C trace context of the current span. */
  readonly traceparent?: string;
}

const nowhere: CallContext = {};
const storage = new AsyncLocalStorage<CallContext>();

export function callContext(): CallContext {
  return storage.getStore() ?? nowhere;
}

/** Runs `work` with these fields added to the caller's context. */
export function withCallContext<T>(fields: CallContext, work: () => T): T {
  return storage.run({ ...callContext(), ...fields }, work);
}

/** The same parts. Whoever reads them later, each is made in the caller's context. */
export function inThisContext<T>(parts: AsyncGenerator<T>): AsyncIterable<T> {
  const context = callContext();
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => withCallContext(context, () => parts.next()),
      return: () => parts.return(undefined),
    }),
  };
}
