/** The roles and databases that ops/postgres/create-databases.sh creates. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';

export interface Databases {
  readonly port: number;
  readonly databaseUrl: string;
  readonly databaseOwnerUrl: string;
  readonly temporalPassword: string;
}

const host = '127.0.0.1';

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
