/** The newest contact of an audience of contacts, whose values fill the preview. */
import { useQuery } from '@tanstack/react-query';
import { api, client } from '../../client.ts';
import type { Kind } from './audience.tsx';

/** Undefined until the answer, if no contact matches, and for an audience of numbers, a CSV or failed recipients. */
export function useFirstContact(kind: Kind, segments: readonly string[]): api.Contact | undefined {
  const segment = kind === 'segmented' ? segments[0] : undefined;
  const isOfContacts = kind === 'all_contacts' || segment !== undefined;
  const { data } = useQuery({
    queryKey: ['first-contact', segment],
    queryFn: async () =>
      (await api.listContacts(client, { segment, subscribed: 'true', limit: 1 })).data[0] ?? null,
    enabled: isOfContacts,
    staleTime: 60_000,
  });
  return isOfContacts ? (data ?? undefined) : undefined;
}
