/** `npm run cluster`: the processes of a deployment on loopback, most of them twice, without containers, until Ctrl-C. */
import { rehearse } from '../rehearsals/rehearsal.ts';
import { seedWorkspace } from '../rehearsals/seed-workspace.ts';
import { startCluster } from './cluster.ts';

await rehearse({
  name: 'cluster',
  usage: `npm run cluster

Starts Postgres with a synchronous standby under Patroni, Temporal's services as processes of their own, haproxy, two APIs
and two workers of each task queue, and prints how to use them. Ends with Ctrl-C and keeps nothing.
`,
  sound: 'Stopped.',
  run: async ({ folder, signal, progress }) => {
    const cluster = await startCluster({
      folder,
      environment: process.env,
      progress,
      onLine: () => undefined,
      signal,
    });
    try {
      const { apiUrl, admin, databaseUrl, providerUrl, temporalAddress } = cluster;
      const receiverUrl = `${apiUrl}/healthz`;
      const { apiKey } = await seedWorkspace({ admin, apiUrl, rate: 100, receiverUrl, name: 'Cluster' });
      progress.say(
        `API ${apiUrl} (X-API-Key: ${apiKey}), Postgres ${databaseUrl}, Temporal ${temporalAddress}, ` +
          `provider ${providerUrl}, logs ${folder}. Ctrl-C ends it.`,
      );
      await new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      return [];
    } finally {
      await cluster.stop();
    }
  },
});
