/** The form as it was left: kept in this tab, so that an expired session or a reload loses no work. */
import { useState } from 'react';
import type { Kind } from './audience.tsx';
import type { Variables } from './fields.ts';

export interface Uploaded {
  readonly name: string;
  readonly key: string;
}

export interface Draft {
  readonly name?: string | undefined;
  readonly templateId?: string | undefined;
  readonly kind: Kind;
  readonly uploaded?: Uploaded | undefined;
  readonly numbers: string;
  readonly segments: readonly string[];
  readonly variables: Variables;
  readonly at: string;
}

const keyOf = (source: string): string => `new-campaign ${source}`;

function kept(source: string): Partial<Draft> {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(source)) ?? '{}') as Partial<Draft>;
  } catch {
    return {};
  }
}

/** `source` names the campaign that the form began with; empty for a new one. */
export function useDraft(source: string, initial: Draft) {
  const [draft, setDraft] = useState<Draft>(() => ({ ...initial, ...kept(source) }));
  const change = (part: Partial<Draft>) =>
    setDraft((old) => {
      const next = { ...old, ...part };
      sessionStorage.setItem(keyOf(source), JSON.stringify(next));
      return next;
    });
  return { draft, change, forget: () => sessionStorage.removeItem(keyOf(source)) };
}

/** On a shared machine nothing of a form outlives the sign-out. */
export function forgetDrafts(): void {
  for (const key of Object.keys(sessionStorage))
    if (key.startsWith(keyOf(''))) sessionStorage.removeItem(key);
}
