/** The chosen rows of a table, and one action for all of them. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../client.ts';

export type BulkAction = (id: string) => Promise<unknown>;

/**
 * `queryKey` names the list that is fetched again after an action, `rows` are those shown; undefined while they load. A row that
 * a filter or another page hides is no longer chosen: an action must not reach what the user does not see.
 */
export function useBulk(queryKey: readonly string[], rows: readonly { readonly id: string }[] | undefined) {
  const [kept, choose] = useState<ReadonlySet<string>>(new Set());
  const chosen = rows === undefined ? kept : new Set(rows.map(({ id }) => id).filter((id) => kept.has(id)));
  if (chosen.size < kept.size) choose(chosen);
  const queryClient = useQueryClient();
  const run = useMutation({
    // One after the other: a hundred at once would exceed the rate of a key.
    mutationFn: async (action: BulkAction) => {
      const failed: string[] = [];
      for (const id of chosen) {
        try {
          await action(id);
        } catch (error) {
          // A rejection concerns one row only; any other error would occur for the other rows too.
          if (!(error instanceof api.ApiError) || error.status >= 500) throw error;
          failed.push(error.message);
        }
      }
      choose(new Set());
      return { failed };
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey }),
  });
  return { chosen, choose, run };
}

export type Bulk = ReturnType<typeof useBulk>;
