import { useQuery } from '@tanstack/react-query';
import { api, client, readSession } from './client.ts';

export const useSession = () =>
  useQuery({ queryKey: ['session'], queryFn: readSession, staleTime: 60_000 }).data;

/** The channels of the workspace, asked for once a minute at most. */
export const useChannels = () =>
  useQuery({
    queryKey: ['channels'],
    queryFn: async () => (await api.listChannels(client)).data,
    staleTime: 60_000,
  });

/** The channel of the key, else the first of the workspace. */
export function useOwnChannel(): string | undefined {
  const session = useSession();
  const { data: channels } = useChannels();
  return session?.channelId ?? channels?.[0]?.id;
}

export const useWallet = (channelId: string | undefined) =>
  useQuery({
    queryKey: ['wallet', channelId],
    queryFn: async () => (await api.getWallet(client, { channel_id: channelId })).data,
    enabled: channelId !== undefined,
    staleTime: 30_000,
  });

/** Returns the wallet's currency; empty until the wallet is loaded. */
export const useCurrency = (): string => useWallet(useOwnChannel()).data?.currency ?? '';
