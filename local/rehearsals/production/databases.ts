/** An embedded Postgres with the owners and databases of ops/postgres/create-databases.sh. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import pg from 'pg';
import { pickFreePort } from '../../stack/host/free-port.ts';
import { preparePostgres } from '../../stack/postgres/server.ts';
import type { Supervisor } from '../../stack/children/supervisor.ts';

export interface Databases {
  readonly port: number;
  readonly databaseUrl: string;
  readonly databaseOwnerUrl: string;
  readonly temporalPassword: string;
}

const host = '127.0.0.1';

export async function startDatabases(supervisor: Supervisor, folder: string): Promise<Databases> {
  const port = await pickFreePort(host);
  const postgres = await preparePostgres({
    dataDir: folder,
    port,
    logFile: join(folder, 'postgres.log'),
  });
  await supervisor.start(postgres.spec);
  return createDatabases(postgres.adminUrl);
}

/** Creates owners and databases on the server of `adminUrl`. */
export async function createDatabases(adminUrl: string): Promise<Databases> {
  const [owner, product, temporalPassword] = [secret(), secret(), secret()];
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    await client.query(`CREATE ROLE messaging LOGIN PASSWORD '${product}'`);
    await client.query(`CREATE ROLE messaging_owner LOGIN PASSWORD '${owner}'`);
    await client.query('CREATE DATABASE messaging OWNER messaging_owner');
    await client.query(`CREATE ROLE temporal LOGIN PASSWORD '${temporalPassword}'`);
    await client.query('CREATE DATABASE temporal OWNER temporal');
    await client.query('CREATE DATABASE temporal_visibility OWNER temporal');
  } finally {
    await client.end();
  }
  const port = Number(new URL(adminUrl).port);
  const urlOf = (user: string, password: string) =>
    `postgres://${user}:${password}@${host}:${port}/messaging`;
  return {
    port,
    databaseUrl: urlOf('messaging', product),
    databaseOwnerUrl: urlOf('messaging_owner', owner),
    temporalPassword,
  };
}

const secret = () => randomBytes(24).toString('hex');
