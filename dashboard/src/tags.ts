/** Every tag of the workspace, for fields that offer tags and lists that name them. */
import { useQuery } from '@tanstack/react-query';
import { allOf, api, client } from './client.ts';

export const useTags = (enabled = true) =>
  useQuery({
    queryKey: ['tags'],
    queryFn: () => allOf((place) => api.listTags(client, { limit: 100, ...place })),
    staleTime: 60_000,
    enabled,
  });
