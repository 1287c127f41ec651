/** The tags of the workspace, which several screens offer or name. */
import { useQuery } from '@tanstack/react-query';
import { api, client } from './client.ts';

export const useTags = (enabled = true) =>
  useQuery({
    queryKey: ['tags'],
    queryFn: async () => (await api.listTags(client, { limit: 100 })).data,
    enabled,
  });
