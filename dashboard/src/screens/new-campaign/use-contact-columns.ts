import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api, client } from '../../client.ts';
import { type Columns, columnsOf } from './contact-columns.ts';

/** Contacts in which custom fields are looked for. */
const mostContacts = 100;

/** The fields of contacts that a variable may take its value from. */
export function useContactColumns(): Columns {
  const { data } = useQuery({
    queryKey: ['contacts', 'for their fields'],
    queryFn: async () => (await api.listContacts(client, { limit: mostContacts })).data,
    staleTime: 300_000,
  });
  return useMemo(() => columnsOf(data ?? []), [data]);
}
