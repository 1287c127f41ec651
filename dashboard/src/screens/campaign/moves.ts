/** Pause, start and cancel; used by the page of a campaign and by tables. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, client } from '../../client.ts';
import { counted } from '../../format.ts';

const moves = {
  pause: (id: string) => api.pauseCampaign(client, id),
  start: (id: string) => api.startCampaign(client, id),
  /** Of a campaign whose messages the provider rejected, as it is. */
  force: (id: string) => api.startCampaign(client, id, { force: true }),
  cancel: (id: string) => api.cancelCampaign(client, id),
};

/** Shows the record that comes back at once. */
export function useMove(id: string) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: async (move: keyof typeof moves) => (await moves[move](id)).data,
    onSuccess: (campaign) => queryClient.setQueryData(['campaign', id], campaign),
    onSettled: () =>
      Promise.all([
        queryClient.invalidateQueries({ queryKey: ['campaign', id] }),
        queryClient.invalidateQueries({ queryKey: ['campaigns'] }),
      ]),
  });
}

export const cancelQuestion = ({ counters }: Pick<api.Campaign, 'counters'>) => ({
  question: 'Cancel this campaign?',
  consequence: `${counted(counters.pending, 'pending person', 'pending people')} will never be sent to. To continue later, pause it instead.`,
  confirmation: 'Cancel the campaign',
  color: 'red',
});

/** All recipients as a file, written to disk by the browser while it arrives. */
export const exportAddress = (id: string, query = new URLSearchParams()): string => {
  const filter = new URLSearchParams(query);
  filter.set('format', 'csv');
  return `/dashboard/api/campaigns/${id}/recipients?${filter}`;
};
