import { groupCalls } from '../../concurrency/group-calls.ts';
import type { Dependencies } from '../../dependencies.ts';
import { isUuid } from '../../domain/uuid.ts';
import { insertRequests, type NewRequest } from '../../records/operations/requests.ts';

/** Requests that wait in memory; further ones are not logged, so that a stopped database costs no more than this. */
const mostWaiting = 5_000;
/** At most one statement a second: a process that is killed loses the requests of its last second. */
const grouping = { maxSize: 500, lanes: 1, spacingMs: 1_000 };

export interface RequestRecorder {
  /** Returns at once. */
  readonly record: (request: NewRequest) => void;
  /** Resolves when everything recorded so far is written, or could not be. */
  readonly flush: () => Promise<void>;
}

/** Writes the log of API requests in batches. What cannot be written is dropped and counted in the process's log. */
export function createRequestRecorder({
  database,
  logger,
}: Pick<Dependencies, 'database' | 'logger'>): RequestRecorder {
  const waiting = new Set<Promise<void>>();
  let dropped = 0;
  const write = groupCalls<NewRequest, undefined>(async (requests) => {
    try {
      await insertRequests(database, requests);
    } catch {
      dropped += requests.length;
    }
    if (dropped > 0) logger.warn({ dropped }, 'requests could not be logged');
    dropped = 0;
    return requests.map(() => undefined);
  }, grouping);
  return {
    record(request) {
      if (waiting.size >= mostWaiting) {
        dropped += 1;
        return;
      }
      const written: Promise<void> = write(request).finally(() => waiting.delete(written));
      waiting.add(written);
    },
    flush: async () => {
      await Promise.all(waiting);
    },
  };
}

/**
 * The declared path with the ids that were given. Everything else stays a parameter's name, because a path may hold a number or
 * a file's key.
 */
export const loggedPath = (route: string, path: string): string => {
  const given = path.split('/');
  return route
    .split('/')
    .map((segment, index) => {
      const value = given[index] ?? '';
      return segment.startsWith(':') && isUuid(value) ? value : segment;
    })
    .join('/');
};
