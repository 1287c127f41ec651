/** Keeps the draft of a form in this tab, so that an expired session or a reload loses no work. */
import { useState } from 'react';

function kept<D>(source: string): Partial<D> {
  try {
    return JSON.parse(sessionStorage.getItem(source) ?? '{}') as Partial<D>;
  } catch {
    return {};
  }
}

/** `source` identifies the form and what it began with, such as `new-campaign copy <id>`: each has its own draft. */
export function useDraft<D extends object>(source: string, initial: D) {
  const [draft, setDraft] = useState<D>(() => ({ ...initial, ...kept<D>(source) }));
  const change = (part: Partial<D>) =>
    setDraft((old) => {
      const next = { ...old, ...part };
      sessionStorage.setItem(source, JSON.stringify(next));
      return next;
    });
  return { draft, change, forget: () => sessionStorage.removeItem(source) };
}
