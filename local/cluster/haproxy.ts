/**
 * Configures haproxy in front of Postgres, Temporal's frontends and the APIs. It sends connections only to living hosts, and
 * for Postgres only to the primary.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ChildSpec } from '../stack/children/child.ts';
import { listens } from '../stack/children/node-children.ts';

interface Backend {
  readonly name: string;
  readonly port: number;
  /** Port of the health check, where it differs from `port`. */
  readonly checkPort?: number;
}

export interface Balanced {
  readonly port: number;
  readonly backends: readonly Backend[];
}

export interface HaproxyOptions {
  readonly command: string;
  readonly folder: string;
  readonly postgres: Balanced;
  readonly temporal: Balanced;
  readonly api: Balanced;
}

const host = '127.0.0.1';

export function describeHaproxy({ command, folder, ...all }: HaproxyOptions): ChildSpec {
  const file = join(folder, 'haproxy.cfg');
  const text = `
global
  maxconn 4000
defaults
  timeout connect 2s
  timeout check 2s
  timeout client 1h
  timeout server 1h
  default-server inter 500ms fall 3 rise 1 on-marked-down shutdown-sessions
${listen('postgres', all.postgres, 'mode tcp\n  option httpchk GET /primary')}
${listen('temporal', all.temporal, 'mode tcp\n  balance leastconn\n  option redispatch 1')}
${listen('api', all.api, 'mode http\n  option httpchk GET /readyz\n  option redispatch 1\n  option forwardfor')}
`;
  writeFileSync(file, text, { mode: 0o600 });
  return {
    name: 'haproxy',
    command,
    args: ['-db', '-f', file],
    cwd: folder,
    environment: { PATH: '/usr/bin:/bin' },
    output: { kind: 'file', path: join(folder, 'haproxy.log') },
    watchParent: false,
    isReady: () => listens(all.postgres.port),
    readyTimeoutMs: 10_000,
    stopSignals: [{ signal: 'SIGTERM', waitMs: 2_000 }],
    explainFailure: (reason) => `haproxy did not start (${reason}): its log is haproxy.log.`,
  };
}

function listen(name: string, { port, backends }: Balanced, options: string): string {
  const servers = backends.map(
    (backend) =>
      `  server ${backend.name} ${host}:${backend.port} check${backend.checkPort === undefined ? '' : ` port ${backend.checkPort}`}`,
  );
  return `listen ${name}\n  bind ${host}:${port}\n  ${options}\n${servers.join('\n')}`;
}
