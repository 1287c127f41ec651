/** The product's processes of a cluster: two APIs, and two workers of each task queue. */
import type { ChildSpec } from '../stack/children/child.ts';
import { answersOk, nodeChild } from '../stack/children/node-children.ts';
import type { Environment } from '../stack/host/user-cache.ts';

const host = '127.0.0.1';
const drainMs = 31_000;

export const apis = ['api-1', 'api-2'] as const;
export const workers = [1, 2].flatMap((nth) =>
  ['campaigns', 'webhooks', 'maintenance'].map((queue) => ({ name: `${queue}-${nth}`, queue })),
);

/** Ports: of the APIs, then of the workers. */
export function describeProduct(
  environment: Environment,
  ports: readonly number[],
  onLine: (line: string) => void,
): readonly ChildSpec[] {
  const programs = [
    ...apis.map((name) => ({ name, entry: 'src/server.js', variable: 'PORT', settings: {} })),
    ...workers.map(({ name, queue }) => ({
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
