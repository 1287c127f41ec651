/**
 * Slonik's driver for Postgres. Slonik's own driver first queries type ids on a connection without an error listener; losing
 * that connection ends the process. The types used here are built in, so their ids are constants. Every statement has a time
 * limit for its answer.
 */
import pg from 'pg';
import {
  ConnectionError,
  createDriverFactory,
  type DriverCommand,
  type DriverFactory,
  type DriverTypeParser,
} from 'slonik';
import { readDriverError } from './driver-error.ts';

const noAnswer = 'The database does not answer';

/** Type ids of pg_type. */
const typeNumbers = new Map([
  ['int8', 20],
  ['date', 1082],
  ['timestamp', 1114],
  ['timestamptz', 1184],
  ['interval', 1186],
  ['numeric', 1700],
]);

export interface DriverOptions {
  readonly databaseUrl: string;
  readonly connectTimeoutMs: number;
  /** Closes a connection whose answer takes longer; Postgres notices and ends the statement (`limitApplication`). */
  readonly answerTimeoutMs: number;
  /** Called with every error of Postgres, before it is handled. */
  readonly onError?: ((error: Error & { readonly code?: unknown }) => void) | undefined;
}

export function createDatabaseDriver(options: DriverOptions): DriverFactory {
  return createDriverFactory(async ({ driverConfiguration }) => {
    const types = createTypes(driverConfiguration.typeParsers);
    const nameOf = createStatementNames();
    return {
      createPoolClient: async ({ clientEventEmitter }) => {
        const client = new pg.Client({
          connectionString: options.databaseUrl,
          connectionTimeoutMillis: options.connectTimeoutMs,
          keepAlive: true,
          types,
        });
        // Slonik must hear of a lost connection after the running statement was rejected: before, it would wait for that
        // statement, fail, and count the connection as open for ever. It stops listening once the connection is closed.
        client.on('error', (error) =>
          setImmediate(() => {
            if (clientEventEmitter.listenerCount('error') > 0)
              clientEventEmitter.emit('error', readDriverError(error));
          }),
        );
        let keepsSession: boolean | undefined;
        return {
          connect: async () => {
            await client.connect().catch((error: Error) => {
              options.onError?.(error);
              throw error;
            });
          },
          end: () => client.end(),
          query: async (text, values) => {
            const name = nameOf(text);
            if (name !== undefined) keepsSession ??= await isPostgresItself(client, options);
            const statement = { text, values, name: keepsSession === true ? name : undefined };
            return run(client, statement, options);
          },
          stream: () => {
            throw new Error('Streams have a connection of their own');
          },
        };
      },
    };
  });
}

/**
 * True when connected to Postgres itself. Behind a pooler the next statement may run in another session, which does not know
 * this one's statement names.
 */
async function isPostgresItself(client: pg.Client, options: Limits): Promise<boolean> {
  const { rows } = await run(client, { text: 'SELECT pg_backend_pid() AS pid' }, options);
  // A pooler reports an invented process id when a connection begins.
  const { processID } = client as pg.Client & { readonly processID: number | null };
  return rows[0]?.['pid'] === processID;
}

type Limits = Pick<DriverOptions, 'answerTimeoutMs' | 'onError'>;

interface Statement {
  readonly text: string;
  readonly values?: unknown[] | undefined;
  readonly name?: string | undefined;
}

async function run(
  client: pg.Client,
  { text, values, name }: Statement,
  { answerTimeoutMs, onError }: Limits,
) {
  const timer = setTimeout(() => {
    client.connection.stream.destroy(new ConnectionError(noAnswer));
  }, answerTimeoutMs);
  // The extended protocol runs one statement only; the simple protocol would run several.
  const statement = { text, name, queryMode: 'extended', ...(values !== undefined && { values }) };
  try {
    const { command, fields, rowCount, rows } = await client.query<Record<string, unknown>>(statement);
    return {
      command: command as DriverCommand,
      fields: fields.map((field) => ({ dataTypeId: field.dataTypeID, name: field.name })),
      rowCount,
      rows,
    };
  } catch (error) {
    onError?.(error as Error);
    throw readDriverError(error as Error, text);
  } finally {
    clearTimeout(timer);
  }
}

function createTypes(parsers: readonly DriverTypeParser[]): pg.CustomTypesConfig {
  const known = new Map<number, (value: string) => unknown>();
  for (const { name, parse } of parsers) {
    const type = typeNumbers.get(name);
    if (type === undefined) throw new Error(`The number of type ${name} is not known`);
    known.set(type, parse);
  }
  return {
    getTypeParser: (type, format) =>
      known.get(type) ?? (pg.types.getTypeParser(type, format) as (value: string) => unknown),
  };
}

/**
 * Names frequent statements: Postgres parses and plans a named statement once per connection, which is most of the cost of a
 * small one. Rare statements get no name and keep no plan.
 */
export function createStatementNames({ often = 20, mostNames = 200, mostCounted = 2_000 } = {}): (
  text: string,
) => string | undefined {
  const names = new Map<string, string>();
  const counts = new Map<string, number>();
  return (text) => {
    const name = names.get(text);
    if (name !== undefined || names.size === mostNames) return name;
    const times = (counts.get(text) ?? 0) + 1;
    if (times < often) {
      if (counts.size >= mostCounted) counts.clear();
      counts.set(text, times);
      return undefined;
    }
    counts.delete(text);
    names.set(text, `often_${names.size}`);
    return names.get(text);
  };
}
