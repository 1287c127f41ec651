import type { JsonObject } from './json-value.ts';
import type { IgnoredItem } from './notification-item.ts';

/** Facts of the entry and the change that contain an element. */
export interface ChangeContext {
  readonly object: string;
  readonly businessAccountId: string | null;
  /** Epoch seconds of the entry; only template and account entries carry it. */
  readonly entryTime: string | null;
  readonly field: string | null;
  readonly phoneNumberId: string | null;
  readonly value: JsonObject;
}

/** An element without effect, with the reason. */
export function ignored(
  context: Pick<ChangeContext, 'businessAccountId' | 'field'>,
  reason: string,
  raw: unknown,
): IgnoredItem {
  const { businessAccountId, field } = context;
  return { kind: 'ignored', businessAccountId, field, reason, raw };
}
