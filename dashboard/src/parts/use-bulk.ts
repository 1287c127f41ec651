/** The chosen rows of a table, and one action for all of them. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../client.ts';

export type BulkAction = (id: string) => Promise<unknown>;

/** `queryKey` names the list that is fetched again after an action. */
export function useBulk(queryKey: readonly string[]) {
  const [chosen, choose] = useState<ReadonlySet<string>>(new Set());
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
