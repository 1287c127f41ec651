/** Search from anywhere: campaigns, contacts and templates by name, contacts also by number. */
import { Combobox, Loader, Text, TextInput, useCombobox } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { IconSearch } from '@tabler/icons-react';
import { useState } from 'react';
import { api, client } from '../client.ts';
import { nameOf, numberOf } from '../screens/contacts/name.ts';

interface Hit {
  readonly group: 'Campaigns' | 'Contacts' | 'Templates';
  readonly to: string;
  readonly search?: object;
  readonly label: string;
  readonly note?: string;
}

const most = 5;

async function find(search: string): Promise<readonly Hit[]> {
  const [campaigns, contacts, templates] = await Promise.all([
    api.listCampaigns(client, { search, limit: most }),
    api.listContacts(client, { search, limit: most }),
    api.listTemplates(client, { search, limit: most }),
  ]);
  return [
    ...campaigns.data.map(
      ({ id, name }) => ({ group: 'Campaigns', to: `/campaigns/${id}`, label: name }) as const,
    ),
    ...contacts.data.map((contact) => {
      const [label, number] = [nameOf(contact), numberOf(contact)];
      return {
        group: 'Contacts',
        to: `/contacts/${contact.id}`,
        label,
        note: label === number ? '' : number,
      } as const;
    }),
    ...templates.data.map(
      ({ name, language }) =>
        ({
          group: 'Templates',
          to: '/templates',
          search: { search: name },
          label: name,
          note: language,
        }) as const,
    ),
  ];
}

export function Search() {
  const [text, setText] = useState('');
  const [asked] = useDebouncedValue(text.trim(), 250);
  const navigate = useNavigate();
  const combobox = useCombobox({ onDropdownClose: () => combobox.resetSelectedOption() });
  const { data: hits, isFetching } = useQuery({
    queryKey: ['search', asked],
    queryFn: () => find(asked),
    enabled: asked.length > 1,
    staleTime: 10_000,
  });
  const choose = (at: string) => {
    const hit = hits?.[Number(at)];
    if (hit === undefined) return;
    setText('');
    combobox.closeDropdown();
    void navigate({ to: hit.to, search: (hit.search ?? {}) as never });
  };
  const names = [...new Set(hits?.map(({ group }) => group))];
  return (
    <Combobox store={combobox} onOptionSubmit={choose} position="bottom-end" width={340}>
      <Combobox.Target>
        <TextInput
          data-search
          type="search"
          aria-label="Search"
          placeholder="Search"
          title="Press / to search"
          w={{ base: 120, xs: 200, md: 300 }}
          size="sm"
          leftSection={isFetching ? <Loader size={14} /> : <IconSearch size={16} aria-hidden />}
          value={text}
          onChange={(event) => {
            setText(event.currentTarget.value);
            combobox.openDropdown();
            combobox.updateSelectedOptionIndex();
          }}
          onBlur={() => combobox.closeDropdown()}
        />
      </Combobox.Target>
      <Combobox.Dropdown hidden={asked.length < 2 || hits === undefined}>
        <Combobox.Options>
          {hits?.length === 0 && <Combobox.Empty>No results for “{asked}”</Combobox.Empty>}
          {names.map((name) => (
            <Combobox.Group key={name} label={name}>
              {hits?.map(
                (hit, at) =>
                  hit.group === name && (
                    <Combobox.Option key={at} value={String(at)}>
                      <Text size="sm" truncate dir="auto">
                        {hit.label}
                      </Text>
                      {hit.note && (
                        <Text size="xs" c="dimmed">
                          {hit.note}
                        </Text>
                      )}
                    </Combobox.Option>
                  ),
              )}
            </Combobox.Group>
          ))}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  );
}
