/**
 * The fields of a form that differ from the record it was opened with. The others are not sent: a person who opted out while
 * the form was open must not be subscribed again by a change of the name.
 */
export const changedFields = <A extends object>(before: A, after: A): Partial<A> =>
  Object.fromEntries(
    Object.entries(after).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name as keyof A]),
    ),
  ) as Partial<A>;
