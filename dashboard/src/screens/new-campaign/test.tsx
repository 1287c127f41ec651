/** One message to a number of one's own, with the values of the first row. */
import { Group, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api, client } from '../../client.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { mappingOf, type Field, type Variables } from './fields.ts';

interface TestMessageProps {
  readonly templateId: string;
  readonly variables: Variables;
  readonly fields: readonly Field[];
  /** What the variables stand for in the test. */
  readonly row: Readonly<Record<string, string>>;
}

export function TestMessage(props: TestMessageProps) {
  const [to, setTo] = useState('');
  const [country, setCountry] = useState('');
  const send = useMutation({
    mutationFn: () =>
      api.sendTemplateMessage(client, {
        templateId: props.templateId,
        recipientPhoneNumber: international(to, country),
        countryCode: country.trim(),
        variableMapping: valuesOf(props),
      }),
  });
  return (
    <div>
      <Group align="flex-end">
        <TextInput
          label="Country code"
          placeholder="+49"
          w={110}
          value={country}
          onChange={(event) => setCountry(event.currentTarget.value)}
        />
        <TextInput
          label="Test number"
          placeholder="151 12345678"
          value={to}
          onChange={(event) => setTo(event.currentTarget.value)}
        />
        <ActionButton
          variant="default"
          disabled={to.trim() === '' || country.trim() === ''}
          loading={send.isPending}
          onClick={() => send.mutate()}
        >
          Send test
        </ActionButton>
      </Group>
      {send.error && (
        <Text c="red" size="sm" mt="xs" role="alert">
          {send.error.message}
        </Text>
      )}
      {send.isSuccess && (
        <Text size="sm" mt="xs" role="status">
          Sent: the provider accepted it. It costs what any message does.
        </Text>
      )}
    </div>
  );
}

/** The digits with the calling code, however the number was typed. */
function international(typed: string, country: string): string {
  const digits = typed.replaceAll(/\D/g, '');
  if (typed.trim().startsWith('+')) return digits;
  if (digits.startsWith('00')) return digits.slice(2);
  return country.replaceAll(/\D/g, '') + digits.replace(/^0/, '');
}

/** A value that may be left out is. */
const valuesOf = ({ fields, variables, row }: TestMessageProps) =>
  mappingOf(variables, ({ value, fallback }, path) => {
    const known = (row[value] ?? value) || fallback;
    const { kind, isOptional } = fields.find((field) => field.path === path) ?? {};
    return known === '' && kind === 'value' && !isOptional ? 'Test' : known;
  });
