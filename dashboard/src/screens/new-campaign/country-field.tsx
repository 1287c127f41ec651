/** The country of numbers that name none: of this list, else of the workspace. */
import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api, client } from '../../client.ts';
import { countryChoices, countryLabel } from '../../countries.ts';

interface CountryFieldProps {
  /** ISO 3166 alpha-2; undefined where the workspace's applies. */
  readonly value: string | undefined;
  readonly onChange: (country: string | undefined) => void;
}

export function CountryField({ value, onChange }: CountryFieldProps) {
  const { data: ofWorkspace } = useQuery({
    queryKey: ['default-country'],
    queryFn: async () => (await api.getDefaultCountry(client)).data.default_country,
    staleTime: 60_000,
  });
  const choices = useMemo(() => countryChoices(), []);
  return (
    <Select
      label="Numbers without a plus sign are from"
      placeholder={
        ofWorkspace == null ? 'International' : `${countryLabel(ofWorkspace)}, as in the workspace`
      }
      clearable
      searchable
      data={choices}
      value={value ?? null}
      onChange={(country) => onChange(country ?? undefined)}
    />
  );
}
