/** Archives what is older than MESSAGE_RETENTION_MONTHS in one process of the build. */
import { archiveExpired } from '../../dist/src/commands/operations/archive-expired.js';
import { loadConfig } from '../../dist/src/config.js';
import { createDependencies } from '../../dist/src/dependencies.js';

const dependencies = await createDependencies(loadConfig(process.env), 'worker');
await archiveExpired(dependencies, { batchSize: 10, onBatch: () => undefined });
await dependencies.close();
process.exit(0);
