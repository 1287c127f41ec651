/** Runs the single step of a small campaign from the build: prepare, begin, send, settle. */
import { MockActivityEnvironment } from '@temporalio/testing';
import { createCampaignActivities } from '../../dist/src/activities/campaign.js';
import { loadConfig } from '../../dist/src/config.js';
import { createDependencies } from '../../dist/src/dependencies.js';

const [campaignId = ''] = process.argv.slice(2);
const dependencies = await createDependencies(loadConfig(process.env), 'worker');
const { prepareCampaign } = createCampaignActivities(dependencies, { draining: () => false });
await new MockActivityEnvironment().run(prepareCampaign, campaignId);
await dependencies.close();
process.exit(0);
