/**
 * An operator's signals and updates. A signal is always accepted, and changes nothing where it is not possible; the update of
 * the same name answers with the new status, or refuses with the reason.
 */
import {
  ApplicationFailure,
  defineSignal,
  defineUpdate,
  setDefaultSignalHandler,
  setHandler,
} from '@temporalio/workflow';
import { nextCampaignStatus } from '../domain/campaigns/campaign.ts';
import type { CampaignSnapshot } from '../domain/campaigns/snapshot.ts';
import { operatorActions, signalNames, type OperatedCampaign, type OperatorAction } from './contract.ts';

interface Operating {
  readonly snapshot: () => CampaignSnapshot | undefined;
  readonly operate: (action: OperatorAction) => Promise<OperatedCampaign>;
  readonly refresh: () => void;
}

const does: Readonly<Record<OperatorAction, string>> = {
  pause: 'Stops sending until `resume`; outcomes of requests under way are recorded.',
  resume: 'Goes on after a pause, where it stood.',
  cancel: 'Ends the campaign for good; recipients not sent to yet are CANCELLED.',
};

/** Call it before the first step: signals that came earlier, or that a reset sends again, are then handled in their order. */
export function handleOperators({ snapshot, operate, refresh }: Operating): void {
  const handlers = new Map<string, () => void | Promise<void>>([
    [signalNames.refresh, refresh],
    ...operatorActions.map((action) => [action, () => operate(action).then(() => undefined)] as const),
  ]);
  setDefaultSignalHandler((name) => handlers.get(name)?.());
  for (const [name, handler] of handlers) {
    const description =
      name === signalNames.refresh
        ? 'The record has changed: look at it. For the service itself.'
        : `${does[name as OperatorAction]} Nothing happens where that is not possible; the update \`${name}\` says why.`;
    setHandler(defineSignal(name), handler, { description });
  }
  setDefaultSignalHandler(undefined);
  for (const action of operatorActions) {
    setHandler(
      defineUpdate<string>(action),
      async () => {
        const { refused, status } = await operate(action);
        if (refused !== undefined) throw refusal(refused);
        return status;
      },
      {
        description: `${does[action]} Answers with the status, or refuses with the reason.`,
        validator: () => refuseImpossible(action, snapshot()),
      },
    );
  }
}

/** Rejects an action that the snapshot does not allow, without an event in the history; otherwise the record decides. */
function refuseImpossible(action: OperatorAction, snapshot: CampaignSnapshot | undefined): void {
  if (snapshot === undefined) return;
  const { status, pauseReason } = snapshot;
  const possible =
    action === 'resume' ? status === 'PAUSED' : nextCampaignStatus(status, action) !== undefined;
  if (possible) return;
  const state = pauseReason === null ? status : `${status} (${pauseReason})`;
  throw refusal(`${action} is not possible: the campaign is ${state}`);
}

/** Without a stack trace, which the Web UI would show and operators do not need. */
function refusal(reason: string): ApplicationFailure {
  return Object.assign(ApplicationFailure.nonRetryable(reason, 'Refused'), { stack: '' });
}
