import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api, client } from '../../client.ts';
import { type Columns, columnsOf } from './contact-columns.ts';

/** The fields of contacts that a variable may take its value from. */
export function useContactColumns(): Columns {
  const { data } = useQuery({
    queryKey: ['contact-fields'],
    queryFn: async () => (await api.listContactFields(client)).data,
    staleTime: 60_000,
  });
  return useMemo(() => columnsOf(data ?? []), [data]);
}
