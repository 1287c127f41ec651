/** Keeps the draft of the form in this tab, so that an expired session or a reload loses no work. */
import { useState } from 'react';
import type { SendingWindow } from '../../sending-window.ts';
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
  /** The campaign's own hours; absent where it sends at any time. */
  readonly window?: SendingWindow | undefined;
}

const keyOf = (source: string): string => `new-campaign ${source}`;

function kept(source: string): Partial<Draft> {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(source)) ?? '{}') as Partial<Draft>;
  } catch {
    return {};
  }
}

/** `source` identifies what the form began with, such as `copy <campaign id>`: each has its own draft. */
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
