import type * as t from 'io-ts';

/** The name a message gives to the value at the end of the path: its key, and for an element of a list the list's before it. */
export function fieldName(context: t.Context): string {
  const keys = context.map(({ key }) => key);
  const named = keys.findLastIndex((key) => !/^\d*$/.test(key));
  return named === -1 ? 'The value' : keys.slice(named).join('.');
}
