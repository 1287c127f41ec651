/** How Slonik reaches Postgres: later rather than at once, and never waiting for an answer that cannot come. */
import { createPgDriverFactory } from '@slonik/pg-driver';
import { ConnectionError, type Driver, type DriverClient, type DriverFactory } from 'slonik';

/**
 * Postgres ends a statement that takes longer than its own limit. What has not been answered this long after that limit never
 * will be: the machine is gone, or the network between. The connection is given up, so that the pool gets its place back.
 */
const silenceMs = 5_000;
const noAnswer = 'The database does not answer';

/** `statementTimeoutMs`: the limit that Postgres itself keeps. */
export function createDatabaseDriver(statementTimeoutMs: number): DriverFactory {
  const createPgDriver = createPgDriverFactory();
  return async (configuration) => {
    let opened: Promise<Driver> | undefined;
    // The driver asks Postgres for the types of its answers: not before the first connection, which may fail and be tried again.
    const open = (): Promise<Driver> => {
      opened ??= createPgDriver(configuration).catch((error: unknown) => {
        opened = undefined;
        throw error;
      });
      return opened;
    };
    return {
      createClient: async () =>
        answering(await (await open()).createClient(), statementTimeoutMs + silenceMs),
    };
  };
}

function answering(client: DriverClient, limitMs: number): DriverClient {
  let silent = false;
  return {
    ...client,
    query: async (...statement) => {
      // The end of a transaction that was given up is not waited for.
      if (silent) throw new ConnectionError(noAnswer);
      let timer: NodeJS.Timeout | undefined;
      const silence = new Promise<never>((_, reject) => {
        timer = setTimeout(() => {
          silent = true;
          void client.destroy().catch(() => undefined);
          reject(new ConnectionError(noAnswer));
        }, limitMs);
      });
      try {
        return await Promise.race([client.query(...statement), silence]);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
