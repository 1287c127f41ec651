/**
 * `npm run chaos -- --webhooks`: runs a campaign with `sent`, `delivered` and `read` subscribed and kills its worker while
 * deliveries queue. Exits 0 only when every delivery is accounted for and none arrived twice.
 */
import { runWebhooks } from './run-webhooks.ts';
import { rehearse } from '../rehearsal.ts';
import { createStackLog } from '../../stack/log.ts';
import { startStack } from '../../stack/stack.ts';

const usage = `npm run chaos -- --webhooks [options]

Sends one campaign without webhooks and one with three deliveries per message, kills the worker while these queue, and
compares the receiver's count with the delivery log.
  --recipients <n>    default 20000
  --rate <n>          limit of the channel per second, default 1000
  --kills <n>         SIGKILL to the worker, default 3
`;

await rehearse({
  name: 'chaos',
  usage,
  options: ['recipients', 'rate', 'kills'],
  flags: ['webhooks'],
  sound: 'Every delivery is accounted for, and none came twice.',
  run: async ({ folder: dataDir, signal, progress, options: { whole }, stackSettings }) => {
    const stack = await startStack({
      settings: stackSettings({ LOG_LEVEL: 'fatal' }),
      progress,
      log: createStackLog('json', { write: () => undefined, now: () => new Date() }),
      signal,
    });
    const plan = {
      recipients: whole('recipients', 20_000),
      rate: whole('rate', 1_000),
      kills: whole('kills', 3),
    };
    try {
      return await runWebhooks(plan, { dataDir, signal, say: progress.say });
    } finally {
      await stack.stop();
    }
  },
});
