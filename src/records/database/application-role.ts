/**
 * Rights and time limits of the application's role. They are stored with the role in Postgres, because a pooler rejects or
 * drops settings given when a connection starts.
 */
import pg from 'pg';

const limits = {
  statement_timeout: '60s',
  // A process that is frozen in the middle of a transaction must not keep its locks: other tenants' opt-outs wait for them.
  idle_in_transaction_session_timeout: '5s',
  // Ends statements of clients that have disconnected, and sessions of unreachable machines.
  client_connection_check_interval: '5s',
  tcp_keepalives_idle: '10s',
  tcp_keepalives_interval: '5s',
  tcp_keepalives_count: '4',
  // JIT and parallel plans cost more than they save for many short concurrent statements.
  jit: 'off',
  max_parallel_workers_per_gather: '0',
};

/** Postgres refuses a change of rights or settings that another migrator makes at the same time: one waits for the other. */
const lockKey = 7_240_915_234;
const inTurn = (statements: string): string =>
  `BEGIN; SELECT pg_advisory_xact_lock(${lockKey}); ${statements}; COMMIT`;

/** Runs after every `migrate`. Both URLs lead to one database and may be equal. */
export async function prepareApplicationRole(ownerUrl: string, applicationUrl: string): Promise<void> {
  const application = await limitApplication(applicationUrl);
  await withClient(ownerUrl, async (client) => {
    const { user } = await whoIs(client);
    if (user !== application) await client.query(inTurn(rightsOf(application)));
  });
}

/**
 * Sets the time limits of the URL's role in its database, for connections opened from now on. Returns the role's quoted name.
 */
export function limitApplication(url: string): Promise<string> {
  return withClient(url, async (client) => {
    const { user, database } = await whoIs(client);
    const settings = Object.entries(limits).map(
      ([name, value]) => `ALTER ROLE ${user} IN DATABASE ${database} SET ${name} = '${value}'`,
    );
    await client.query(inTurn(settings.join(';')));
    return user;
  });
}

// The ledger is append-only for the role, and the schema is not its own, except for dropping old daily partitions.
const rightsOf = (role: string): string => `
  GRANT USAGE ON SCHEMA public TO ${role};
  GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role};
  REVOKE UPDATE, DELETE ON ledger_entry FROM ${role};
  REVOKE INSERT, UPDATE, DELETE ON migration FROM ${role};
  GRANT EXECUTE ON FUNCTION make_partitions, analyze_partitions, drop_partition TO ${role}`;

// Behind a pooler, role and database may be named differently than in the URL.
async function whoIs(client: pg.Client): Promise<{ readonly user: string; readonly database: string }> {
  const { rows } = await client.query<{ user: string; database: string }>(
    'SELECT quote_ident(current_user) AS user, quote_ident(current_database()) AS database',
  );
  const [row] = rows;
  if (row === undefined) throw new Error('Postgres does not say who is connected');
  return row;
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
