/** A small campaign is sent in the step that prepares it: five steps would cost more than its few messages. */
import { isFinished } from '../../domain/campaigns/campaign.ts';
import type { Dependencies } from '../../dependencies.ts';
import { getCampaignSnapshot } from '../../records/campaigns/campaign-snapshot.ts';
import { getSendingHours } from '../../records/campaigns/sending-hours.ts';
import { prepareCampaign } from '../audience/prepare-campaign.ts';
import { runSendStep } from '../sending/run-send-step.ts';
import { beginCampaign } from './begin-campaign.ts';
import { checkSendingHours } from './sending-hours.ts';
import { settleCampaign } from './settle-campaign.ts';

/** 100 recipients: most campaigns that a program triggers through the API are smaller. */
const smallCampaign = 100;
const smallBudgetMs = 3_000;

/** Prepares the campaign unless that is done. True when it is small and due at once: `sendSmallCampaign` follows. */
export async function prepareUnlessDone(
  dependencies: Dependencies,
  campaignId: string,
  options: Parameters<typeof prepareCampaign>[2],
): Promise<boolean> {
  const { prepared, status } = await getCampaignSnapshot(dependencies.database, campaignId);
  if (prepared || isFinished(status)) return false;
  const sendable = await prepareCampaign(dependencies, campaignId, options);
  return status === 'DRAFT' && sendable > 0 && sendable <= smallCampaign;
}

/** Safe to run again at any point; the campaign's next steps finish what this one does not. */
export async function sendSmallCampaign(
  dependencies: Dependencies,
  campaignId: string,
  draining: () => boolean,
): Promise<void> {
  await beginCampaign(dependencies, campaignId);
  const open = await checkSendingHours(
    dependencies,
    campaignId,
    await getSendingHours(dependencies.database, campaignId),
  );
  if (!open.isOpen) return;
  const { drained } = await runSendStep(dependencies, campaignId, {
    budgetMs: smallBudgetMs,
    singleBatch: true,
    draining: () => draining() || open.isOver(),
  });
  if (drained) await settleCampaign(dependencies, campaignId);
}
