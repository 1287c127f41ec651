/** Activities by type only, grouped by time limit and retry policy. */
import { proxyActivities } from '@temporalio/workflow';
import type { CampaignActivities } from '../activities/campaign.ts';

// Unavailable workers and databases come back: retry forever, without long gaps.
const untilItWorks = {
  initialInterval: '1 second',
  backoffCoefficient: 1.5,
  maximumInterval: '5 seconds',
} as const;

const preparing = proxyActivities<CampaignActivities>({
  startToCloseTimeout: '2 hours',
  heartbeatTimeout: '20 seconds',
  retry: untilItWorks,
  summary: 'build the recipient list',
});

const sending = proxyActivities<CampaignActivities>({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '8 seconds',
  retry: untilItWorks,
  // With eager dispatch every step would go back to the worker that requested it, and the other workers would have no work.
  allowEagerDispatch: false,
  summary: 'send for a few seconds',
});

const sweeping = proxyActivities<CampaignActivities>({
  startToCloseTimeout: '1 hour',
  heartbeatTimeout: '20 seconds',
  retry: untilItWorks,
  summary: 'cancel recipients not claimed',
});

const short = (summary: string) =>
  proxyActivities<CampaignActivities>({ startToCloseTimeout: '30 seconds', retry: untilItWorks, summary });

export const { prepareCampaign } = preparing;
export const { sendStep } = sending;
export const { cancelRecipients } = sweeping;
export const { beginCampaign } = short('start: quota, template, channel');
export const { settleCampaign } = short('complete when nothing is open');
export const { operateCampaign } = short('apply an operator signal');
export const { readCampaign } = short('read the record');
