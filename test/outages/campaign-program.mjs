/** Runs the activities of a campaign's workflow in one process of the build: begin, send in two lanes, settle. */
import { beginCampaign } from '../../dist/src/commands/campaigns/begin-campaign.js';
import { runSendStep } from '../../dist/src/commands/sending/run-send-step.js';
import { settleCampaign } from '../../dist/src/commands/campaigns/settle-campaign.js';
import { loadConfig } from '../../dist/src/config.js';
import { createDependencies } from '../../dist/src/dependencies.js';

const [campaignId = ''] = process.argv.slice(2);
const dependencies = await createDependencies(loadConfig(process.env), 'worker');
const options = { budgetMs: 10_000, draining: () => false };

async function lane() {
  for (;;) {
    const { drained, waitMs } = await runSendStep(dependencies, campaignId, options);
    if (drained || waitMs === 0) return;
    await new Promise((resolve) => {
      setTimeout(resolve, waitMs);
    });
  }
}

await beginCampaign(dependencies, campaignId);
await Promise.all([lane(), lane()]);
await settleCampaign(dependencies, campaignId);
await dependencies.close();
process.exit(0);
