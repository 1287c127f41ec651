/** Answers a person with an approved template: the service sends no free text. */
import { Alert, Select, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { allOf, api, client } from '../../client.ts';
import { keepDataOf } from '../../parts/tables/keep-data.ts';
import { Dialog } from '../../parts/controls/confirm.tsx';
import { Loaded } from '../../parts/display/load-states.tsx';
import { FormFoot } from '../../parts/forms/form-foot.tsx';
import { Phone } from '../../parts/display/phone.tsx';
import { forgetDraft, useDraft } from '../../parts/forms/use-draft.ts';
import { forgetUnanswered, sendOnce } from '../../send-once.ts';
import { fieldsOf, mappingOf, type Variables } from '../new-campaign/fields.ts';
import { contactValue } from '../new-campaign/contact-columns.ts';
import { useContactColumns } from '../new-campaign/use-contact-columns.ts';
import { Unsendable, useTemplate, VariableFields } from '../new-campaign/variables.tsx';

interface AnswerDialogProps {
  readonly conversation: api.Conversation;
  readonly onClose: () => void;
}

interface Draft {
  readonly templateId?: string | undefined;
  readonly variables: Variables;
}

/** The name of the form's draft. */
export const answerDraft = (id: string): string => `answer ${id}`;

export function AnswerDialog({ conversation, onClose: close }: AnswerDialogProps) {
  const { id, contactId } = conversation;
  const action = `answer ${id}`;
  const { draft, change } = useDraft<Draft>(answerDraft(id), { variables: {} });
  const { templateId, variables } = draft;
  const templates = useQuery({
    queryKey: ['templates', { status: 'APPROVED' }],
    queryFn: () =>
      allOf((place) => api.listTemplates(client, { limit: 100, status: ['APPROVED'], ...place })),
  });
  const contact = useQuery({
    queryKey: ['contact', contactId],
    queryFn: async () => (await api.getContact(client, contactId)).data,
  });
  const columns = useContactColumns();
  const definition = useTemplate(templateId).data;
  const values = contact.data && valuesFor(contact.data, variables);
  const fields = definition === undefined ? [] : fieldsOf(definition, variables);
  const missing = fields.filter(
    ({ path, isOptional }) => !isOptional && !hasValue(contact.data, variables[path]),
  );
  const queryClient = useQueryClient();
  const send = useMutation({
    mutationFn: async () => {
      if (contact.data === undefined || templateId === undefined) throw new Error('Choose a template.');
      const { countryCode, phoneNumber } = contact.data;
      const body = {
        templateId,
        recipientPhoneNumber: `${countryCode}${phoneNumber}`,
        countryCode: `+${countryCode}`,
        ...(values !== undefined && { variableMapping: values }),
      };
      await sendOnce(action, api.sendTemplateMessage, body);
    },
    onSuccess: async () => {
      forgetDraft(answerDraft(id));
      await queryClient.invalidateQueries({ queryKey: ['conversation', id] });
      await queryClient.invalidateQueries({ queryKey: ['conversations'] });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    send.mutate(undefined, { onSuccess: onClose });
  };
  const onClose = () => {
    // The service repeats this answer for the same key; the user has read it and may send another one.
    if (send.error instanceof api.ApiError && send.error.code === 'outcome_unknown') forgetUnanswered(action);
    forgetDraft(answerDraft(id));
    close();
  };
  return (
    <Dialog title="Answer with a template" opened onClose={onClose} size="lg">
      <form onSubmit={submit}>
        <Stack>
          <Loaded query={templates}>
            {(list) => (
              <Select
                label="Template"
                placeholder="Choose an approved template"
                searchable
                nothingFoundMessage="No approved template has this name"
                data={list.map(({ id: value, name, language }) => ({
                  value,
                  label: `${name} (${language})`,
                }))}
                value={templateId ?? null}
                onChange={(next) => change({ templateId: next ?? undefined, variables: {} })}
                data-autofocus
              />
            )}
          </Loaded>
          <Unsendable template={definition} />
          {templateId !== undefined && (
            <>
              <VariableFields
                templateId={templateId}
                columns={columns}
                value={variables}
                onChange={(next) => change({ variables: next })}
              />
              <Preview templateId={templateId} mapping={mappingOf(variables)} contactId={contactId} />
            </>
          )}
          {contact.data?.subscribed === false && (
            <Alert color="orange" variant="light">
              This person has opted out. Answer only what they asked for.
            </Alert>
          )}
          {missing.length > 0 && (
            <Text size="sm" c="dimmed">
              Still without a value: {missing.map(({ label }) => label).join(', ')}.
            </Text>
          )}
          <FormFoot
            label="Send answer"
            error={send.error}
            isPending={send.isPending}
            disabled={definition === undefined || contact.data === undefined || missing.length > 0}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </Dialog>
  );
}

/** The text itself, or the contact's field that it names; the fallback where that is empty. */
const textFor = (contact: api.Contact | undefined, { value, fallback }: Variables[string]): string =>
  (contactValue(contact, value) ?? value) || fallback;

const hasValue = (contact: api.Contact | undefined, given: Variables[string] | undefined): boolean =>
  given !== undefined && textFor(contact, given) !== '';

const valuesFor = (contact: api.Contact, variables: Variables) =>
  mappingOf(variables, (given) => textFor(contact, given));

interface PreviewProps {
  readonly templateId: string;
  readonly mapping: api.VariableMapping | undefined;
  readonly contactId: string;
}

function Preview({ templateId, mapping, contactId }: PreviewProps) {
  const preview = useQuery({
    queryKey: ['template-preview', templateId, mapping, contactId],
    queryFn: async () => {
      const body = { contact_id: contactId, ...(mapping !== undefined && { variable_mapping: mapping }) };
      return (await api.previewTemplate(client, templateId, body)).data.message;
    },
    placeholderData: keepDataOf(templateId),
  });
  return <Loaded query={preview}>{(message) => <Phone message={message} />}</Loaded>;
}
