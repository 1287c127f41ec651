/** Keeps the draft of a form in this tab, so that an expired session or a reload loses no work. Not for secrets. */
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
  const [restoredAt] = useState(() => {
    const at = hasDraft(source) ? sessionStorage.getItem(timeOf(source)) : null;
    return at === null ? undefined : new Date(Number(at));
  });
  const [draft, setDraft] = useState<D>(() => ({ ...initial, ...kept<D>(source) }));
  const change = (part: Partial<D>) =>
    setDraft((old) => {
      const next = { ...old, ...part };
      try {
        sessionStorage.setItem(source, JSON.stringify(next));
        sessionStorage.setItem(timeOf(source), String(Date.now()));
      } catch {
        // Larger than the 5 MB that a browser keeps: an older draft must not come back in its place.
        sessionStorage.removeItem(source);
      }
      return next;
    });
  /** When the draft that the form began with was last changed; undefined where there was none. */
  return { draft, change, restoredAt };
}

/** The draft of a record's form. Only changed fields are kept: the others may differ when the form is shown again. */
export function useRecordDraft<D extends object>(source: string, initial: D) {
  // Stays as it was when the form opened: a record that is fetched again would make untouched fields look changed.
  const [before] = useState(initial);
  const { draft, change } = useDraft<Partial<D>>(source, {});
  return { before, draft: { ...before, ...draft }, change };
}

export const hasDraft = (source: string): boolean => sessionStorage.getItem(source) !== null;

export function forgetDraft(source: string): void {
  sessionStorage.removeItem(source);
  sessionStorage.removeItem(timeOf(source));
}

/** Where the time of the last change is kept. */
const timeOf = (source: string): string => `${source} at`;

const ownerKey = 'workspace';

/** Another workspace may sign in where a session has expired: forgets what the tab keeps of the former one. */
export function keepFor(workspaceId: number): void {
  const owner = String(workspaceId);
  if ((sessionStorage.getItem(ownerKey) ?? owner) !== owner) sessionStorage.clear();
  sessionStorage.setItem(ownerKey, owner);
}
