/** Where each variable of the template takes its value from. */
import { Autocomplete, Group, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { api, client } from '../client.ts';
import type { TemplateDefinition } from '../../../src/domain/templates/definition.ts';
import { parseTemplate } from '../../../src/domain/templates/components.ts';
import { templateVariables } from '../../../src/domain/templates/variables.ts';
import { Loaded } from '../parts/faces.tsx';

/** By section and name, such as `body.1`. */
export type Variables = Readonly<Record<string, { readonly value: string; readonly fallback: string }>>;

export const contactFields = {
  firstName: 'First name',
  lastName: 'Last name',
  email: 'Email',
  phoneNumber: 'Phone number',
  countryCode: 'Country code',
};
const nothing = { value: '', fallback: '' };

interface VariableFieldsProps {
  readonly templateId: string;
  /** What of a recipient may stand in the message, with its name for people. */
  readonly columns?: Readonly<Record<string, string>>;
  readonly value: Variables;
  readonly onChange: (value: Variables) => void;
}

export function VariableFields({
  templateId,
  columns = contactFields,
  value,
  onChange,
}: VariableFieldsProps) {
  const query = useQuery({
    queryKey: ['template-paths', templateId],
    queryFn: async () => {
      const { data: template } = await api.getTemplate(client, templateId);
      return pathsOf(parseTemplate(template.components, template));
    },
    staleTime: 60_000,
  });
  const paths = query.data ?? [];
  const isUntouched = Object.keys(value).length === 0;
  const key = paths.join();
  useEffect(() => {
    if (isUntouched && key !== '') onChange(guessed(key.split(','), columns));
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- guessed once for a template and its columns
  }, [isUntouched, key]);
  if (query.data === undefined) return <Loaded query={query}>{() => null}</Loaded>;
  if (paths.length === 0) return null;
  const change = (path: string, part: Partial<(typeof value)[string]>) =>
    onChange({ ...value, [path]: { ...nothing, ...value[path], ...part } });
  return (
    <div>
      <Text size="sm" fw={500}>
        Variables of the message
      </Text>
      <Text size="xs" c="dimmed">
        Choose what stands there for each person, or type a text that is the same for all.
      </Text>
      {paths.map((path) => (
        <Group key={path} grow mt="xs" align="flex-end">
          <Autocomplete
            label={variableLabel(path)}
            data={Object.values(columns)}
            value={columns[value[path]?.value ?? ''] ?? value[path]?.value ?? ''}
            onChange={(text) => change(path, { value: keyOf(columns, text) })}
          />
          <TextInput
            label="If that is empty"
            value={value[path]?.fallback ?? ''}
            onChange={(event) => change(path, { fallback: event.currentTarget.value })}
          />
        </Group>
      ))}
    </div>
  );
}

const media = new Set(['image', 'video', 'document']);

/** As a campaign's mapping names them: all but products, cards of a carousel and the end of an offer. */
function pathsOf(template: TemplateDefinition): string[] {
  const { header, body } = templateVariables(template);
  return [
    ...header.map((name) => `header.${media.has(name) ? 'link' : name}`),
    ...body.map((name) => `body.${name}`),
    ...template.buttons
      .filter((button) => button.kind === 'copy_code' || (button.kind === 'url' && button.dynamic))
      .map(({ index }) => `buttons.${index}`),
  ];
}

/** `body.1` → `{{1}} in the body` */
export const variableLabel = (path: string): string => {
  if (path === 'header.link') return 'Address of the header’s file';
  if (path.startsWith('buttons.')) return `Value of button ${Number(path.slice('buttons.'.length)) + 1}`;
  const [section = '', name = ''] = path.split(/\.(.*)/);
  return `{{${name}}} in the ${section}`;
};

const keyOf = (columns: Readonly<Record<string, string>>, text: string): string =>
  Object.keys(columns).find((key) => columns[key] === text) ?? text;

const plain = (text: string): string => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');

/** Columns that are called as the variable is; else the name for the first one of the body. */
function guessed(paths: readonly string[], columns: Readonly<Record<string, string>>): Variables {
  const names = Object.entries(columns);
  const nameKey = ['name_column', 'firstName'].find((key) => key in columns);
  const firstOfBody = paths.find((path) => path.startsWith('body.'));
  return Object.fromEntries(
    paths.map((path) => {
      const wanted = plain(path.slice(path.indexOf('.') + 1));
      const same = names.find(([key, label]) => plain(key) === wanted || plain(label) === wanted)?.[0];
      return [path, { ...nothing, value: same ?? (path === firstOfBody ? nameKey : undefined) ?? '' }];
    }),
  );
}

/** Only what was filled in; undefined where nothing was. */
export function mappingOf(variables: Variables): api.VariableMapping | undefined {
  const given = Object.entries(variables).filter(
    ([, { value, fallback }]) => value !== '' || fallback !== '',
  );
  if (given.length === 0) return undefined;
  const sections: Record<string, Record<string, string>> = {};
  const defaults: Record<string, Record<string, string>> = {};
  for (const [path, { value, fallback }] of given) {
    const [section = '', variable = ''] = path.split(/\.(.*)/);
    if (value !== '') (sections[section] ??= {})[variable] = value;
    if (fallback !== '') (defaults[section] ??= {})[variable] = fallback;
  }
  return { ...sections, ...(Object.keys(defaults).length > 0 && { default_values: defaults }) };
}
