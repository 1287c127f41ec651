/**
 * `npm run restore-drill`: restores both databases, Postgres alone, and Temporal alone to a backup, each in the middle of
 * campaigns; settles each with the doctor as docs/operations/restore.md says, and compares the provider's list with the
 * records. Exits 0 only when no recipient was sent to twice and every unknown outcome is UNKNOWN.
 */
import { withClient } from '../evidence.ts';
import { rehearse } from '../rehearsal.ts';
import { drillPostgres } from './postgres.ts';
import { drillTemporal } from './temporal.ts';
import { startDrillStack } from './stack.ts';

await rehearse({
  name: 'restore',
  usage: 'npm run restore-drill [-- --rate 150 --window 40 --workers-first --only both|postgres|temporal]\n',
  options: ['rate', 'window', 'only'],
  flags: ['workers-first'],
  sound: 'No recipient was sent to twice, and every unknown outcome is UNKNOWN.',
  run: async ({ signal, progress, options: { text, whole, has }, stackSettings }) => {
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
      const only = text('only');
      const wanted = (drill: string): boolean => only === undefined || only === drill;
      const problems: string[] = [];
      if (wanted('both')) problems.push(...(await drillPostgres(stack, plan, progress, 'both')));
      if (wanted('postgres')) problems.push(...(await drillPostgres(stack, plan, progress, 'postgres')));
      if (wanted('temporal')) problems.push(...(await drillTemporal(stack, plan, progress)));
      return problems;
    } finally {
      await stack.stopAll();
    }
  },
});
