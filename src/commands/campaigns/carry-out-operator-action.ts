import { Conflict } from '../../domain/error.ts';
import type { Dependencies } from '../../dependencies.ts';
import { cancelCampaign, pauseCampaign, startCampaignAgain } from './change-campaign.ts';

const changes = { resume: startCampaignAgain, pause: pauseCampaign, cancel: cancelCampaign };

/**
 * Carries out an action that an operator requested in Temporal. Returns why the campaign's state does not allow it; undefined
 * when it is done.
 */
export async function carryOutOperatorAction(
  dependencies: Pick<Dependencies, 'database' | 'orchestrator' | 'logger'>,
  { campaignId, action }: { readonly campaignId: string; readonly action: keyof typeof changes },
): Promise<string | undefined> {
  try {
    await changes[action](dependencies, { campaignId, byWorkflow: true });
    return undefined;
  } catch (error) {
    if (!(error instanceof Conflict)) throw error;
    dependencies.logger.warn({ campaignId, action, refused: error.message }, "operator's action refused");
    return error.message;
  }
}
