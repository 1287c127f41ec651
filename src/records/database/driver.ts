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
    return {
      createPoolClient: async ({ clientEventEmitter }) => {
        const client = new pg.Client({
          connectionString: options.databaseUrl,
          connectionTimeoutMillis: options.connectTimeoutMs,
          keepAlive: true,
          types,
        });
        // For as long as the process lives: what is lost while it is being closed is lost all the same.
        client.on('error', (error) => clientEventEmitter.emit('error', readDriverError(error)));
        return {
          connect: async () => void (await client.connect()),
          end: () => client.end(),
          // Without the name that `sql.prepared` gives: behind a pooler, the next statement may run in another session.
          query: (text, values) => run(client, { text, values }, options.answerTimeoutMs),
          stream: () => {
            throw new Error('Streams have a connection of their own');
          },
        };
      },
    };
  });
}

interface Statement {
  readonly text: string;
  readonly values: unknown[] | undefined;
}

async function run(client: pg.Client, { text, values }: Statement, limitMs: number) {
  const timer = setTimeout(() => {
    client.connection.stream.destroy(new ConnectionError(noAnswer));
  }, limitMs);
  // One statement at a time, whatever its text: the simple protocol would run several.
  const statement = { text, queryMode: 'extended', ...(values !== undefined && { values }) };
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
