/** `placeholderData` of a query whose key names a record in second place: keeps the former data of the same record alone. */
export const keepDataOf =
  (record: string | undefined) =>
  <A>(old: A | undefined, query: { readonly queryKey: readonly unknown[] } | undefined): A | undefined =>
    query?.queryKey[1] === record ? old : undefined;
