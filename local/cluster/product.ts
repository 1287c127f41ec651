/** The product's processes of a cluster: APIs, and workers of each task queue. */
import type { ChildSpec } from '../stack/children/child.ts';
import { answersOk, nodeChild } from '../stack/children/node-children.ts';
import type { Environment } from '../stack/host/user-cache.ts';

const host = '127.0.0.1';
const drainMs = 31_000;

export type Hosts = 1 | 2;

const numbers = (hosts: Hosts): readonly number[] => [1, 2].slice(0, hosts);

export const apisOf = (hosts: Hosts): readonly string[] => numbers(hosts).map((nth) => `api-${nth}`);
export const workersOf = (hosts: Hosts) =>
  numbers(hosts).flatMap((nth) =>
    ['campaigns', 'webhooks', 'maintenance'].map((queue) => ({ name: `${queue}-${nth}`, queue })),
  );

/** `ports`: those of the APIs, followed by those of the workers. */
export function describeProduct(
  hosts: Hosts,
  environment: Environment,
  ports: readonly number[],
  onLine: (line: string) => void,
): readonly ChildSpec[] {
  const programs = [
    ...apisOf(hosts).map((name) => ({ name, entry: 'src/server.js', variable: 'PORT', settings: {} })),
    ...workersOf(hosts).map(({ name, queue }) => ({
      name,
      entry: 'src/worker.js',
      variable: 'METRICS_PORT',
      settings: { TASK_QUEUES: queue },
    })),
  ];
  return programs.map(({ name, entry, variable, settings }, index) =>
    nodeChild({
      name,
      entry,
      environment: { ...environment, ...settings, [variable]: String(ports[index]) },
      output: { kind: 'lines', write: onLine },
      isReady: () => answersOk(`http://${host}:${ports[index]}/readyz`),
      drainMs,
    }),
  );
}
