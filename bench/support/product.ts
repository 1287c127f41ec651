/** The servers of a bench of the whole product: Postgres, Temporal, a provider, and a worker as it is deployed. */
import pg from 'pg';
import { createDependencies } from '../../src/dependencies.ts';
import { startAckServer } from './ack-server.ts';
import { benchConfig } from './bench-config.ts';
import { startPostgres } from './postgres.ts';
import { startProduct } from './product-process.ts';
import { startBenchTemporal } from './temporal.ts';

/**
 * The provider answers after `answerMs`. `environment`: further settings of the worker. `temporalSettings`: `name=value`, further
 * ones of Temporal's dynamic configuration. `stop` ends all of it.
 */
export async function startWholeProduct(
  answerMs: number,
  environment: Readonly<Record<string, string>> = {},
  temporalSettings: readonly string[] = [],
) {
  const postgres = await startPostgres();
  const temporal = await startBenchTemporal(temporalSettings);
  const provider = await startAckServer(answerMs);
  const client = new pg.Client({ connectionString: postgres.ownerUrl });
  await client.connect();
  const servers = {
    databaseUrl: postgres.url,
    temporalAddress: temporal.address,
    providerBaseUrl: provider.baseUrl,
  };
  const worker = startProduct('worker', servers, environment);
  const dependencies = await createDependencies(
    benchConfig(postgres.url, { TEMPORAL_ADDRESS: temporal.address }),
    'bench',
  );
  const stop = async (): Promise<void> => {
    await worker.stop();
    await dependencies.close();
    await client.end();
    provider.stop();
    await temporal.stop();
    await postgres.stop();
  };
  return { postgres, temporal, provider, client, servers, worker, dependencies, stop };
}
