/** Pauses, starts and cancels a campaign; used by the page of a campaign and by tables. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, ask, client } from '../../client.ts';
import { counted } from '../../format.ts';

/** A time that the service takes for the future, whatever the browser's clock says. */
async function soon(): Promise<string> {
  const { headers } = await ask('/dashboard/session', { method: 'HEAD' });
  const now = Date.parse(headers.get('Date') ?? '') || Date.now();
  return new Date(now + 10_000).toISOString();
}

export const campaignActions = {
  pause: (id: string) => api.pauseCampaign(client, id),
  start: (id: string) => api.startCampaign(client, id),
  /** Starts a campaign that was paused because its messages failed, even if nothing was corrected. */
  force: (id: string) => api.startCampaign(client, id, { force: true }),
  /** Sends to 50 people and pauses again if most of the messages fail. */
  probe: (id: string) => api.startCampaign(client, id, { probe: 50 }),
  cancel: (id: string) => api.cancelCampaign(client, id),
  /** Moves the beginning of a SCHEDULED campaign to now. */
  sendNow: async (id: string) => api.updateCampaign(client, id, { scheduled_at: await soon() }),
};

/** Caches the returned record, so that the page shows the new state before the next fetch. */
export function useCampaignAction(id: string) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: async (action: keyof typeof campaignActions) => (await campaignActions[action](id)).data,
    onSuccess: (campaign) => queryClient.setQueryData(['campaign', id], campaign),
    onSettled: () =>
      Promise.all([
        queryClient.invalidateQueries({ queryKey: ['campaign', id] }),
        queryClient.invalidateQueries({ queryKey: ['campaigns'] }),
      ]),
  });
}

/** The names of the drafts of two forms. */
export const renameDraft = (id: string): string => `rename ${id}`;
export const rescheduleDraft = (id: string): string => `reschedule ${id}`;

export const cancelQuestion = ({ counters }: Pick<api.Campaign, 'counters'>) => ({
  question: 'Cancel this campaign?',
  consequence: `${counted(counters.pending, 'person', 'people')} will not get a message. To continue later, pause it instead.`,
  confirmation: 'Cancel the campaign',
  refusal: 'Keep campaign',
  color: 'red',
});

/** Address of the recipients as a CSV: a link, so that the browser streams a large file to disk. */
export const exportAddress = (id: string, query = new URLSearchParams()): string => {
  const filter = new URLSearchParams(query);
  filter.set('format', 'csv');
  return `/dashboard/api/campaigns/${id}/recipients?${filter}`;
};
