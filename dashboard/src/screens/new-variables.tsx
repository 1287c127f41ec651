/** Where each variable of the template takes its value from. */
import { Autocomplete, Group, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api, client } from '../client.ts';

/** By section and name, such as `body.1`. */
export type Variables = Readonly<Record<string, { readonly value: string; readonly fallback: string }>>;

const contactFields = ['firstName', 'lastName', 'email', 'phoneNumber', 'countryCode'];
const nothing = { value: '', fallback: '' };

interface VariableFieldsProps {
  readonly templateId: string;
  /** Of the CSV; undefined where the audience is made of contacts. */
  readonly columns: readonly string[] | undefined;
  readonly value: Variables;
  readonly onChange: (value: Variables) => void;
}

export function VariableFields({ templateId, columns, value, onChange }: VariableFieldsProps) {
  const { data } = useQuery({
    queryKey: ['template-variables', templateId],
    queryFn: async () => (await api.getTemplateVariables(client, templateId)).data,
    staleTime: 60_000,
  });
  const paths = (['header', 'body'] as const).flatMap((section) =>
    (data?.[section] ?? []).map((variable) => `${section}.${variable}`),
  );
  if (paths.length === 0) return null;
  const change = (path: string, part: Partial<(typeof value)[string]>) =>
    onChange({ ...value, [path]: { ...nothing, ...value[path], ...part } });
  return (
    <div>
      <Text size="sm" fw={500}>
        Variables of the message
      </Text>
      <Text size="xs" c="dimmed">
        A column of the list, a field of the contact, or a text that is the same for all.
      </Text>
      {paths.map((path) => (
        <Group key={path} grow mt="xs">
          <Autocomplete
            label={`Variable ${path.replace('.', ' ')}`}
            data={columns === undefined ? contactFields : [...columns]}
            value={value[path]?.value ?? ''}
            onChange={(text) => change(path, { value: text })}
          />
          <TextInput
            label="Where it is empty"
            value={value[path]?.fallback ?? ''}
            onChange={(event) => change(path, { fallback: event.currentTarget.value })}
          />
        </Group>
      ))}
    </div>
  );
}
