import { useQuery } from '@tanstack/react-query';
import { allOf, api, client } from './client.ts';

/** Every template of the workspace, for lists that a user chooses from. */
export const useAllTemplates = () =>
  useQuery({
    queryKey: ['templates', 'all'],
    queryFn: () => allOf((place) => api.listTemplates(client, { limit: 100, ...place })),
    staleTime: 300_000,
  });
