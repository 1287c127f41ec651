/**
 * How Slonik reaches Postgres. Its own driver asks for the types of its answers first, on a connection whose loss nobody
 * hears of, so that the process dies of it; the types read here are built in and their numbers never change. And no
 * statement waits for an answer that cannot come.
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
import { createStatementNames } from './statement-names.ts';

const noAnswer = 'The database does not answer';

/** Of pg_type. */
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
  /** A connection that takes longer for an answer is given up: Postgres notices (`limitApplication`) and ends the statement. */
  readonly answerTimeoutMs: number;
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
          connect: async () => void (await client.connect()),
          end: () => client.end(),
          query: async (text, values) => {
            const name = nameOf(text);
            if (name !== undefined) keepsSession ??= await isPostgresItself(client, options.answerTimeoutMs);
            const statement = { text, values, name: keepsSession === true ? name : undefined };
            return run(client, statement, options.answerTimeoutMs);
          },
          stream: () => {
            throw new Error('Streams have a connection of their own');
          },
        };
      },
    };
  });
}

/** Behind a pooler, the next statement may run in another session, which knows no name of this one. */
async function isPostgresItself(client: pg.Client, limitMs: number): Promise<boolean> {
  const { rows } = await run(client, { text: 'SELECT pg_backend_pid() AS pid' }, limitMs);
  // A pooler makes up the process that it names when a connection begins.
  const { processID } = client as pg.Client & { readonly processID: number | null };
  return rows[0]?.['pid'] === processID;
}

interface Statement {
  readonly text: string;
  readonly values?: unknown[] | undefined;
  readonly name?: string | undefined;
}

async function run(client: pg.Client, { text, values, name }: Statement, limitMs: number) {
  const timer = setTimeout(() => {
    client.connection.stream.destroy(new ConnectionError(noAnswer));
  }, limitMs);
  // One statement at a time, whatever its text: the simple protocol would run several.
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
