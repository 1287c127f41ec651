/** Where each variable of the template takes its value from. */
import {
  Alert,
  Anchor,
  Autocomplete,
  Button,
  CloseButton,
  Group,
  Select,
  Switch,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { IconUser } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { parseTemplate } from '../../../../src/domain/templates/components.ts';
import {
  unsendableMessage,
  unsendablePart,
  type TemplateDefinition,
} from '../../../../src/domain/templates/definition.ts';
import { api, client } from '../../client.ts';
import { Loaded } from '../../parts/display/load-states.tsx';
import { TimeField } from '../../parts/forms/time-field.tsx';
import {
  cardCount,
  fieldsOf,
  guessed,
  mostCards,
  uploadIdOf,
  uploadNameOf,
  type Field,
  type Variables,
} from './fields.ts';
import type { Columns } from './contact-columns.ts';
import { UploadButton } from './upload-button.tsx';
import classes from './variables.module.css';

const nothing = { value: '', fallback: '' };

export const useTemplate = (id: string | undefined) =>
  useQuery({
    queryKey: ['template-definition', id],
    queryFn: async () => {
      const { data: template } = await api.getTemplate(client, id ?? '');
      return parseTemplate(template.components, template);
    },
    enabled: id !== undefined,
    staleTime: 60_000,
  });

/** Warns of a template that cannot be sent as soon as it is chosen. */
export function Unsendable({ template }: { template: TemplateDefinition | undefined }) {
  const part = template && unsendablePart(template);
  if (part === undefined) return null;
  return (
    <Alert color="orange" variant="light" role="status">
      {unsendableMessage(part)}.
    </Alert>
  );
}

interface VariableFieldsProps {
  readonly templateId: string;
  /** Fields and columns that variables may take values from. */
  readonly columns: Columns;
  readonly value: Variables;
  readonly onChange: (value: Variables) => void;
}

export function VariableFields({ templateId, ...props }: VariableFieldsProps) {
  const query = useTemplate(templateId);
  if (query.data === undefined) return <Loaded query={query}>{() => null}</Loaded>;
  return <Fields key={templateId} template={query.data} {...props} />;
}

function Fields({
  template,
  columns,
  value,
  onChange,
}: Omit<VariableFieldsProps, 'templateId'> & { readonly template: TemplateDefinition }) {
  const [isWhole, setWhole] = useState(false);
  const isUntouched = Object.keys(value).length === 0;
  useEffect(() => {
    if (isUntouched) onChange(guessed(template, columns.labels));
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- guessed once for a template and its columns
  }, [isUntouched]);
  const fields = fieldsOf(template, value);
  if (fields.length === 0) return null;
  const change = (path: string, part: Partial<(typeof value)[string]>) =>
    onChange({ ...value, [path]: { ...nothing, ...value[path], ...part } });
  return (
    <div>
      <Text size="sm" fw={500}>
        Variables of the message
      </Text>
      <Text size="xs" c="dimmed">
        Pick a field, or type text that everyone gets.
      </Text>
      {template.carousel?.kind === 'product' && (
        <Select
          mt="xs"
          w={160}
          label="Cards"
          allowDeselect={false}
          data={Array.from({ length: mostCards }, (_, at) => `${at + 1}`)}
          value={value[cardCount]?.value ?? `${template.carousel.cards.length}`}
          onChange={(count) => change(cardCount, { value: count ?? '1' })}
        />
      )}
      {fields
        .filter(({ isOptional }) => isWhole || !isOptional)
        .map((field) => (
          <Value
            key={field.path}
            field={field}
            columns={columns}
            value={value[field.path] ?? nothing}
            onChange={(part) => change(field.path, part)}
          />
        ))}
      {fields.some(({ isOptional }) => isOptional) && (
        <Switch
          mt="sm"
          label="Show optional values"
          checked={isWhole}
          onChange={(event) => setWhole(event.currentTarget.checked)}
        />
      )}
    </div>
  );
}

interface ValueProps {
  readonly field: Field;
  readonly columns: Columns;
  readonly value: Variables[string];
  readonly onChange: (part: Partial<Variables[string]>) => void;
}

function Value({ field: { label, kind, path }, columns, value: { value, fallback }, onChange }: ValueProps) {
  const given = { mt: 'xs', label, value };
  switch (kind) {
    case 'time':
      return <TimeField {...given} onChange={(text) => onChange({ value: text })} />;
    case 'products':
      return (
        <Textarea
          {...given}
          description="One section a line: its title, a colon, and the ids of its products with commas between them"
          placeholder={'Bread: 1017, 1018\nCake: 2001'}
          autosize
          minRows={2}
          onChange={(event) => onChange({ value: event.currentTarget.value })}
        />
      );
    case 'fixed':
      return <TextInput {...given} onChange={(event) => onChange({ value: event.currentTarget.value })} />;
    case 'value': {
      const upload = uploadIdOf(value);
      if (upload !== undefined)
        return (
          <Group mt="xs" justify="space-between">
            <Text size="sm">
              {label}: <b>{uploadNameOf(value)}</b>
            </Text>
            <Button size="xs" variant="default" onClick={() => onChange({ value: '' })}>
              Remove
            </Button>
          </Group>
        );
      return <FieldOrText {...{ label, path, columns, value, fallback, onChange }} />;
    }
  }
}

interface FieldOrTextProps extends Pick<ValueProps, 'columns' | 'onChange'> {
  readonly label: string;
  readonly path: string;
  readonly value: string;
  readonly fallback: string;
}

/** A field of each person, drawn as a chip, or one text for everybody. */
function FieldOrText({
  label,
  path,
  columns: { labels, examples },
  value,
  fallback,
  onChange,
}: FieldOrTextProps) {
  const isField = Object.hasOwn(labels, value);
  const isLink = path.endsWith('.link');
  const input = useRef<HTMLInputElement>(null);
  const fallbackInput = useRef<HTMLInputElement>(null);
  const [isOpen, open] = useState(fallback !== '');
  const hasFallback = isOpen || fallback !== '';
  return (
    <Group grow preventGrowOverflow={false} mt="xs" align="flex-end">
      <Autocomplete
        ref={input}
        label={label}
        data={Object.values(labels)}
        renderOption={({ option }) => (
          <div>
            <Text size="sm">{option.value}</Text>
            {examples[option.value] && (
              <Text size="xs" c="dimmed" truncate maw={260}>
                {examples[option.value]}
              </Text>
            )}
          </div>
        )}
        value={labels[value] ?? value}
        onChange={(text) => onChange({ value: keyOf(labels, text) })}
        {...(isField && {
          classNames: { input: classes['field'] ?? '' },
          leftSection: <IconUser size={14} aria-hidden />,
          rightSection: (
            <CloseButton
              size="xs"
              aria-label={`Remove ${labels[value]} from ${label}`}
              onClick={() => {
                onChange({ value: '' });
                input.current?.focus();
              }}
            />
          ),
        })}
        {...(!isField && value !== '' && !isLink && { description: 'Everyone gets this text' })}
      />
      {hasFallback && (
        <TextInput
          ref={fallbackInput}
          label="Fallback"
          aria-label={`${label}: Fallback`}
          value={fallback}
          onChange={(event) => onChange({ fallback: event.currentTarget.value })}
        />
      )}
      {!hasFallback && isField && (
        <Anchor
          component="button"
          type="button"
          size="sm"
          pb={8}
          maw={90}
          aria-label={`Add a fallback for ${label}`}
          onClick={() => {
            open(true);
            requestAnimationFrame(() => fallbackInput.current?.focus());
          }}
        >
          + fallback
        </Anchor>
      )}
      {isLink && <UploadButton onUpload={(next) => onChange({ value: next })} />}
    </Group>
  );
}

const keyOf = (labels: Readonly<Record<string, string>>, text: string): string =>
  Object.keys(labels).find((key) => labels[key] === text) ?? text;
