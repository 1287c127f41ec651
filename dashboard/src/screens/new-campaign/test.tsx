/** Sends one message to the user's own number, with the values of the first row. */
import { Group, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../client.ts';
import { ActionButton } from '../../parts/controls/action-button.tsx';
import { forgetUnanswered, sendOnce } from '../../send-once.ts';
import { mappingOf, type Field, type Variables } from './fields.ts';

interface TestMessageProps {
  readonly templateId: string;
  readonly variables: Variables;
  readonly fields: readonly Field[];
  /** Values of the first row, by the names that variables may use. */
  readonly row: Readonly<Record<string, string>>;
}

const action = 'test message';

export function TestMessage(props: TestMessageProps) {
  const [to, setTo] = useState('');
  const [country, setCountry] = useState('');
  const send = useMutation({
    mutationFn: () =>
      sendOnce(action, api.sendTemplateMessage, {
        templateId: props.templateId,
        recipientPhoneNumber: international(to, country),
        countryCode: country.trim(),
        variableMapping: valuesOf(props),
      }),
    onError: (error) => {
      // The service repeats this answer for the same key; the user has read it and may send another one.
      if (error instanceof api.ApiError && error.code === 'outcome_unknown') forgetUnanswered(action);
    },
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
          Test sent. Charged like a normal message.
        </Text>
      )}
    </div>
  );
}

/** Returns the digits with the calling code; the number may be typed with `+`, `00`, `0` or none of them. */
function international(typed: string, country: string): string {
  const digits = typed.replaceAll(/\D/g, '');
  if (typed.trim().startsWith('+')) return digits;
  if (digits.startsWith('00')) return digits.slice(2);
  return country.replaceAll(/\D/g, '') + digits.replace(/^0/, '');
}

/** Uses `Test` for a required value that is unknown; an optional one is left out. */
const valuesOf = ({ fields, variables, row }: TestMessageProps) =>
  mappingOf(variables, ({ value, fallback }, path) => {
    const known = (row[value] ?? value) || fallback;
    const { kind, isOptional } = fields.find((field) => field.path === path) ?? {};
    return known === '' && kind === 'value' && !isOptional ? 'Test' : known;
  });
