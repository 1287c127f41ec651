/** Creates a contact, or changes one. */
import { Group, MultiSelect, Switch, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { api, client } from '../../client.ts';
import { Dialog } from '../../parts/controls/confirm.tsx';
import { FormFoot } from '../../parts/forms/form-foot.tsx';
import { forgetDraft, useRecordDraft } from '../../parts/forms/use-draft.ts';
import { useTags } from '../../tags.ts';
import { changedFields } from '../../parts/forms/changed-fields.ts';

interface ContactFormProps {
  /** Absent for a new contact. */
  readonly contact?: api.Contact;
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** The name of the form's draft. */
export const contactDraft = (id = 'new'): string => `contact ${id}`;

export function ContactForm({ contact, opened, onClose: close }: ContactFormProps) {
  const onClose = () => {
    forgetDraft(contactDraft(contact?.id));
    close();
  };
  return (
    <Dialog title={contact === undefined ? 'New contact' : 'Edit contact'} opened={opened} onClose={onClose}>
      {opened && <Fields contact={contact} onClose={onClose} />}
    </Dialog>
  );
}

const initial = (contact: api.Contact | undefined) => ({
  phoneNumber: contact?.phoneNumber ? `+${contact.countryCode ?? ''}${contact.phoneNumber}` : '',
  firstName: contact?.firstName ?? '',
  lastName: contact?.lastName ?? '',
  email: contact?.email ?? '',
  tagsId: contact?.tagsId ?? [],
  subscribed: contact?.subscribed ?? true,
});

function Fields({ contact, onClose }: { contact: api.Contact | undefined; onClose: () => void }) {
  const queryClient = useQueryClient();
  const { before, draft, change } = useRecordDraft(contactDraft(contact?.id), initial(contact));
  const tags = useTags();
  const save = useMutation({
    mutationFn: () =>
      contact === undefined
        ? api.createContact(client, draft)
        : api.updateContact(client, contact.id, changedFields(before, draft)),
    onSuccess: async () => {
      forgetDraft(contactDraft(contact?.id));
      await queryClient.invalidateQueries({ queryKey: ['contacts'] });
      await queryClient.invalidateQueries({ queryKey: ['contact'] });
    },
  });
  const field = (name: 'phoneNumber' | 'firstName' | 'lastName' | 'email') => ({
    value: draft[name],
    onChange: ({ currentTarget: { value } }: { currentTarget: { value: string } }) =>
      change({ [name]: value }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate(undefined, { onSuccess: onClose });
  };
  return (
    <form onSubmit={submit}>
      <Group grow mb="sm">
        <TextInput label="First name" {...field('firstName')} maxLength={255} />
        <TextInput label="Last name" {...field('lastName')} maxLength={255} />
      </Group>
      <TextInput
        label="Phone number"
        description="With country code, such as +49 151 12345678."
        type="tel"
        required={contact === undefined}
        withAsterisk={false}
        mb="sm"
        {...field('phoneNumber')}
      />
      <TextInput label="Email" type="email" mb="sm" {...field('email')} />
      <MultiSelect
        label="Tags"
        data={tags.data?.map(({ tagId, name }) => ({ value: tagId, label: name })) ?? []}
        value={[...draft.tagsId]}
        onChange={(tagsId) => change({ tagsId })}
        searchable
        limit={100}
        mb="sm"
      />
      <Switch
        label="Agreed to receive campaigns"
        checked={draft.subscribed}
        onChange={({ currentTarget }) => change({ subscribed: currentTarget.checked })}
        mb="md"
      />
      <FormFoot
        label={contact === undefined ? 'Create contact' : 'Save contact'}
        error={save.error}
        isPending={save.isPending}
        onCancel={onClose}
      />
    </form>
  );
}
