/**
 * What an operator can ask of a campaign. A signal is always taken and changes nothing when it is not possible; an update of
 * the same name answers with the state that it led to, or refuses with the reason.
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
  pause: 'Stops sending until `resume`; what is on the wire is recorded.',
  resume: 'Goes on after a pause, where it stood.',
  cancel: 'Ends the campaign for good; who was not sent yet is CANCELLED.',
};

/** To be called before the first step: what came before it, or is sent again by a reset, is taken in its order. */
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

/** What is surely impossible leaves nothing in the history; the rest is for the record to say. */
function refuseImpossible(action: OperatorAction, snapshot: CampaignSnapshot | undefined): void {
  if (snapshot === undefined) return;
  const { status, pauseReason } = snapshot;
  const possible =
    action === 'resume' ? status === 'PAUSED' : nextCampaignStatus(status, action) !== undefined;
  if (possible) return;
  const state = pauseReason === null ? status : `${status} (${pauseReason})`;
  throw refusal(`${action} is not possible: the campaign is ${state}`);
}

/** The page shows the stack of a failure, and an operator has nothing of ours. */
function refusal(reason: string): ApplicationFailure {
  return Object.assign(ApplicationFailure.nonRetryable(reason, 'Refused'), { stack: '' });
}
