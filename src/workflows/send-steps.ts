import { condition, workflowInfo } from '@temporalio/workflow';
import type { CampaignRecord } from './campaign-record.ts';
import { describeWait } from './campaign-view.ts';
import type { SendStep } from './contract.ts';

/**
 * Runs send steps until every recipient is claimed, the campaign no longer runs, or the history is long. A step that hands its
 * slot over signals `refresh`: the next step begins beside it, so that the channel never idles between two steps.
 */
export async function runSendSteps(
  { step, isChanged }: CampaignRecord,
  sendStep: () => Promise<SendStep>,
): Promise<void> {
  let over = false;
  let running = 0;
  let failure: { readonly error: unknown } | undefined;
  const isOver = (): boolean => over;

  const runStep = async (): Promise<SendStep | undefined> => {
    running += 1;
    try {
      const next = await step(sendStep);
      over ||= next.status !== 'RUNNING' || next.drained || workflowInfo().continueAsNewSuggested;
      return next;
    } catch (error) {
      failure ??= { error };
      over = true;
      return undefined;
    } finally {
      running -= 1;
    }
  };

  while (!isOver()) {
    const beside = running > 0;
    const ended = runStep();
    // After `runStep`, which clears the change that began this step: only a later one begins another beside it.
    const handedOver = condition(isChanged).then(() => undefined);
    const next = await Promise.race([ended, handedOver]);
    if (next === undefined || next.waitMs === 0) continue;
    const goesOn = () => over || isChanged() || (beside && running === 0);
    await condition(goesOn, next.waitMs, { summary: describeWait(next) ?? 'until the next step' });
  }
  await condition(() => running === 0);
  if (failure !== undefined) throw failure.error;
}
