import { useMemo } from 'react';

/** Returns one key per request body: two presses, or one more after a lost answer, create one record. */
export function useIdempotencyKey(body: object): string {
  const wanted = JSON.stringify(body);
  return useMemo(() => (wanted === '' ? '' : crypto.randomUUID()), [wanted]);
}
