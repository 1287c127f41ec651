/** An embedded Postgres with the owners and databases of ops/postgres/create-databases.sh. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import pg from 'pg';
import { pickFreePort } from '../../stack/free-port.ts';
import { preparePostgres } from '../../stack/postgres.ts';
import type { Supervisor } from '../../stack/supervisor.ts';

export interface Databases {
  readonly port: number;
  /** Of the product's own user. */
  readonly databaseUrl: string;
  readonly temporalPassword: string;
}

const host = '127.0.0.1';

export async function startDatabases(supervisor: Supervisor, folder: string): Promise<Databases> {
  const port = await pickFreePort(host);
  const postgres = await preparePostgres({
    dataDir: folder,
    port,
    logFile: join(folder, 'postgres.log'),
    settings: ['max_connections=300', 'wal_compression=on'],
  });
  await supervisor.start(postgres.spec);
  const product = randomBytes(24).toString('hex');
  const temporalPassword = randomBytes(24).toString('hex');
  const client = new pg.Client({ connectionString: postgres.adminUrl });
  await client.connect();
  try {
    await client.query(`CREATE ROLE messaging LOGIN PASSWORD '${product}'`);
    await client.query('CREATE DATABASE messaging OWNER messaging');
    await client.query(`CREATE ROLE temporal LOGIN PASSWORD '${temporalPassword}'`);
    await client.query('CREATE DATABASE temporal OWNER temporal');
    await client.query('CREATE DATABASE temporal_visibility OWNER temporal');
  } finally {
    await client.end();
  }
  return { port, databaseUrl: `postgres://messaging:${product}@${host}:${port}/messaging`, temporalPassword };
}
