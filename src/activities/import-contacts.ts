import { ApplicationFailure, Context } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import { runImport } from '../commands/contacts/run-import.ts';
import { createKeyedSemaphore } from '../concurrency/keyed-semaphore.ts';
import type { Dependencies } from '../dependencies.ts';
import { cancelAnyImport, findImportLoad } from '../records/contacts/imports.ts';
import { asActivity } from './failure.ts';

const heartbeatEveryMs = 1_000;
const retryMs = 5_000;

/**
 * 32 MiB. An import remembers the numbers of its file: if a file holds nothing else, with 20 MB besides, 70 MB for one of this size and
 * 400 MB for one of 256 MiB. So larger files are imported one at a time.
 */
const largeBytes = 32 * 1024 * 1024;

export function createImportActivities(
  dependencies: Pick<Dependencies, 'config' | 'database' | 'storage' | 'secrets' | 'logger'>,
  { draining }: { readonly draining: () => boolean },
) {
  // An import takes a connection outside the pool; two of one workspace would wait for each other's contacts.
  const slots = createKeyedSemaphore({ total: 4, perKey: 1, waiting: 40, waitingPerKey: 10 });

  return {
    /** Returns false if the import has not ended and is to be continued. */
    importContacts: (importId: string): Promise<boolean> =>
      asActivity(async () => {
        const context = Context.current();
        const { cancellationSignal: signal } = context;
        context.heartbeat();
        const timer = setInterval(() => context.heartbeat(), heartbeatEveryMs);
        let release: (() => void) | undefined;
        try {
          const { workspaceId, size } = await findImportLoad(dependencies.database, importId);
          const keys = size > largeBytes ? [workspaceId, 'large'] : [workspaceId];
          release = await slots.acquire(keys, signal);
          if (release === undefined) throw noSlot();
          return await runImport(dependencies, importId, { signal, draining });
        } finally {
          clearInterval(timer);
          release?.();
        }
      }),

    cancelImport: (importId: string): Promise<void> =>
      asActivity(() => cancelAnyImport(dependencies.database, importId)),
  };
}

/** Temporal offers the activity again, to every worker. */
const noSlot = (): ApplicationFailure =>
  ApplicationFailure.create({
    message: 'Enough imports wait in this process',
    type: 'NoImportSlot',
    nextRetryDelay: retryMs,
    category: ApplicationFailureCategory.BENIGN,
  });

export type ImportActivities = ReturnType<typeof createImportActivities>;
