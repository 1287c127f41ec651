/**
 * `npm run restore-drill`: takes Postgres back to a base backup while Temporal is ahead of it, and Temporal back while
 * Postgres is ahead, each in the middle of campaigns; settles both with the doctor as docs/operations.md says, and holds
 * the provider's own list against the records. Exits 0 only when nobody was sent twice and what is not known is said to be.
 */
import { parseArgs } from 'node:util';
import { withClient } from '../evidence.ts';
import { createProgress } from '../../stack/progress.ts';
import { openRehearsalGround } from '../scene.ts';
import { drillPostgres } from './postgres.ts';
import { drillTemporal } from './temporal.ts';
import { startDrillStack } from './stack.ts';

const usage = 'npm run restore-drill [-- --rate 150 --window 40 --workers-first]\n';
const text = { type: 'string' } as const;
const { values } = parseArgs({
  options: {
    rate: { ...text, default: '150' },
    window: { ...text, default: '40' },
    'workers-first': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

async function main(): Promise<boolean> {
  const ground = openRehearsalGround('restore');
  const settings = ground.stackSettings({ OUTCOME_GRACE_SECONDS: '10', LOG_LEVEL: 'fatal' });
  const progress = createProgress(process.stdout);
  const stack = await startDrillStack(settings, progress, ground.signal);
  try {
    await withClient(stack.databaseUrl, (client) =>
      client.query('UPDATE channel SET messages_per_second = $1', [Number(values.rate)]),
    );
    const plan = {
      windowSeconds: Number(values.window),
      rate: Number(values.rate),
      workersFirst: values['workers-first'],
    };
    const first = await drillPostgres(stack, plan, progress);
    const second = await drillTemporal(stack, plan, progress);
    for (const problem of [...first, ...second]) progress.say(`NOT SOUND: ${problem}`);
    return first.length + second.length === 0;
  } finally {
    await stack.stopAll();
    ground.remove();
  }
}

if (values.help) {
  process.stdout.write(usage);
} else {
  const sound = await main();
  process.stdout.write(
    sound ? 'Nobody was sent twice, and what is not known is said to be unknown.\n' : 'The drill failed.\n',
  );
  process.exitCode = sound ? 0 : 1;
}
process.exit();
