/** The programs of a Temporal cluster on Postgres, compiled from the Go module proxy: about ten minutes, once per machine. */
import { join } from 'node:path';
import { ensureGoProgram, type GoProgramSearch } from '../../stack/temporal/go-program.ts';
import { userCacheFolder } from '../../stack/host/user-cache.ts';

const serverVersion = '1.32.0';
// The newest version in the module proxy that compiles without its own web build.
const uiVersion = '2.42.1';

const programs = {
  server: { file: 'temporal-server', module: `go.temporal.io/server/cmd/server@v${serverVersion}` },
  sqlTool: { file: 'temporal-sql-tool', module: `go.temporal.io/server/cmd/tools/sql@v${serverVersion}` },
  ui: { file: 'ui-server', module: `github.com/temporalio/ui-server/v2/cmd/server@v${uiVersion}` },
} as const;

/** Paths of programs that are there. */
export type ClusterBinaries = Readonly<Record<keyof typeof programs, string>>;

/** Throws StackError when Go is missing or fails. */
export async function findClusterBinaries(search: GoProgramSearch): Promise<ClusterBinaries> {
  const folder = join(userCacheFolder(search.environment), `temporal-cluster-${serverVersion}`);
  const found: Record<string, string> = {};
  for (const [name, { file, module }] of Object.entries(programs)) {
    const target = join(folder, file);
    await ensureGoProgram(search, { module, target });
    found[name] = target;
  }
  return found as ClusterBinaries;
}
