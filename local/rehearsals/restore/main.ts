/**
 * `npm run restore-drill`: takes Postgres back to a base backup while Temporal is ahead of it, and Temporal back while
 * Postgres is ahead, each in the middle of campaigns; settles both with the doctor as docs/operations/restore.md says, and holds
 * the provider's own list against the records. Exits 0 only when nobody was sent twice and what is not known is said to be.
 */
import { withClient } from '../evidence.ts';
import { rehearse } from '../scene.ts';
import { drillPostgres } from './postgres.ts';
import { drillTemporal } from './temporal.ts';
import { startDrillStack } from './stack.ts';

await rehearse({
  name: 'restore',
  usage: 'npm run restore-drill [-- --rate 150 --window 40 --workers-first]\n',
  options: ['rate', 'window'],
  flags: ['workers-first'],
  sound: 'Nobody was sent twice, and what is not known is said to be unknown.',
  run: async ({ signal, progress, options: { whole, has }, stackSettings }) => {
    const settings = stackSettings({ OUTCOME_GRACE_SECONDS: '10', LOG_LEVEL: 'fatal' });
    const stack = await startDrillStack(settings, progress, signal);
    const plan = {
      windowSeconds: whole('window', 40),
      rate: whole('rate', 150),
      workersFirst: has('workers-first'),
    };
    try {
      await withClient(stack.databaseUrl, (client) =>
        client.query('UPDATE channel SET messages_per_second = $1', [plan.rate]),
      );
      const first = await drillPostgres(stack, plan, progress);
      return [...first, ...(await drillTemporal(stack, plan, progress))];
    } finally {
      await stack.stopAll();
    }
  },
});
