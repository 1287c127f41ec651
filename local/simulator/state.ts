import { randomBytes } from 'node:crypto';
import { createCallbackSender, type CallbackSender } from './callbacks/sender.ts';
import { createFaultPlan, type FaultPlan } from './protocol/faults.ts';
import { createProviderAccounts, type ProviderAccounts } from './provider-accounts.ts';
import { createReceivedMessages, type ReceivedMessages } from './messages/received.ts';
import type { SimulatorOptions } from './options.ts';
import { createPricingAnalytics, type PricingAnalytics } from './pricing-analytics.ts';
import { openStateFile, readStateFile, type StateFile } from './state-file.ts';
import { createThroughputLimit, type ThroughputLimit } from './messages/throughput-limit.ts';
import { createStatusCallbacks, type StatusCallbacks } from './callbacks/statuses.ts';

/** The state of the simulator. */
export interface SimulatorState {
  readonly options: SimulatorOptions;
  readonly sender: CallbackSender;
  readonly callbacks: StatusCallbacks;
  readonly analytics: PricingAnalytics;
  readonly faults: FaultPlan;
  readonly throughput: ThroughputLimit;
  readonly stateFile: StateFile | undefined;
  /** Returns a new id, unlike any of an earlier run. */
  readonly nextMessageId: () => string;
  accounts: ProviderAccounts;
  received: ReceivedMessages;
  /** Numbers whose digits ask for one refusal and that have been refused. */
  refusedOnce: Set<string>;
  /** Uploaded files, by id. */
  readonly media: Map<string, Media>;
}

export interface Media {
  readonly type: string;
  /** The number that uploaded it, for whose messages alone it may be used. */
  readonly phoneNumberId: string;
  /** Bytes. */
  readonly size: number;
}

export async function createSimulatorState(options: SimulatorOptions): Promise<SimulatorState> {
  const sender = createCallbackSender({
    url: options.callbackUrl,
    appSecret: options.appSecret,
    verifyToken: options.verifyToken,
  });
  const received = createReceivedMessages();
  const analytics = createPricingAnalytics();
  if (options.stateFile !== undefined) await readStateFile(options.stateFile, received.restore);
  const run = randomBytes(9).toString('hex').toUpperCase();
  let messages = 0;
  return {
    options,
    sender,
    callbacks: createStatusCallbacks(sender, (message, at) => analytics.delivered({ ...message, at })),
    analytics,
    faults: createFaultPlan(1),
    throughput: createThroughputLimit(),
    stateFile: options.stateFile === undefined ? undefined : openStateFile(options.stateFile),
    nextMessageId: () => {
      messages += 1;
      return `wamid.HBgL${run}${messages.toString(36).toUpperCase().padStart(8, '0')}`;
    },
    accounts: initialAccounts(options),
    received,
    refusedOnce: new Set(),
    media: new Map(),
  };
}

/** Returns to the state of a start without a state file. */
export function resetSimulator(state: SimulatorState): void {
  state.callbacks.reset();
  state.analytics.reset();
  state.faults.reset();
  state.stateFile?.clear();
  state.accounts = initialAccounts(state.options);
  state.received = createReceivedMessages();
  state.refusedOnce = new Set();
  state.media.clear();
}

export async function closeSimulatorState(state: SimulatorState): Promise<void> {
  state.callbacks.close();
  state.stateFile?.close();
  await state.sender.close();
}

function initialAccounts(options: SimulatorOptions): ProviderAccounts {
  const accounts = createProviderAccounts();
  accounts.add({
    id: options.businessAccountId,
    accessToken: options.accessToken,
    phoneNumberIds: [options.phoneNumberId],
  });
  return accounts;
}
