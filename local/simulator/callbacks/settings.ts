import { objectOf } from '../protocol/json-value.ts';
import { defaultFateSettings, readFateSettings, type FateSettings } from '../messages/fate.ts';

export interface CallbackSettings extends FateSettings {
  readonly enabled: boolean;
  /** Statuses return `biz_opaque_callback_data`; otherwise only the provider's id identifies the message. */
  readonly callbackData: boolean;
  /** Share of statuses that are sent twice. */
  readonly duplicateRate: number;
  /** Statuses of a batch in any order. */
  readonly shuffle: boolean;
  /** Statuses in one callback, at most 1000. */
  readonly batchSize: number;
  /** Callbacks under way at a time. */
  readonly concurrency: number;
  /** Wait after the first callback that is not answered with 200; doubles up to a minute. */
  readonly retryDelayMs: number;
}

export const defaultCallbackSettings: CallbackSettings = {
  ...defaultFateSettings,
  enabled: true,
  callbackData: true,
  duplicateRate: 0,
  shuffle: false,
  batchSize: 200,
  concurrency: 4,
  retryDelayMs: 1000,
};

const maxBatchSize = 1000;

/** Returns the settings with the input's values applied. */
export function readCallbackSettings(input: unknown, present: CallbackSettings): CallbackSettings {
  const given = objectOf(input);
  const amount = (name: keyof CallbackSettings): number => Number(given[name] ?? present[name]);
  const choice = (name: 'enabled' | 'callbackData' | 'shuffle'): boolean => {
    const value = given[name];
    return typeof value === 'boolean' ? value : present[name];
  };
  return {
    ...readFateSettings(given, present),
    enabled: choice('enabled'),
    callbackData: choice('callbackData'),
    shuffle: choice('shuffle'),
    duplicateRate: amount('duplicateRate'),
    batchSize: Math.min(Math.max(amount('batchSize'), 1), maxBatchSize),
    concurrency: Math.max(amount('concurrency'), 1),
    retryDelayMs: Math.max(amount('retryDelayMs'), 1),
  };
}
