/** The form of a webhook: where events go, which ones, and the secret that signs them. */
import { Button, Checkbox, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { eventKeys, type EventKey } from '../../../../src/domain/webhooks/event-key.ts';
import { api, client } from '../../client.ts';
import { CopyText } from '../../parts/controls/copy-text.tsx';
import { Dialog } from '../../parts/controls/confirm.tsx';
import { changedFields } from '../../parts/forms/changed-fields.ts';
import { FormFoot } from '../../parts/forms/form-foot.tsx';
import { forgetDraft, useRecordDraft } from '../../parts/forms/use-draft.ts';
import { sendOnce } from '../../send-once.ts';

interface WebhookFormProps {
  /** Absent for a new webhook. */
  readonly webhook?: api.Webhook;
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** The name of the form's draft. */
export const webhookDraft = (id = 'new'): string => `webhook ${id}`;

export function WebhookForm({ webhook, opened, onClose: close }: WebhookFormProps) {
  const mutationKey = [webhookDraft(webhook?.id)];
  const queryClient = useQueryClient();
  const onClose = () => {
    // A form that was closed before the answer came would never show the secret.
    if (queryClient.isMutating({ mutationKey }) > 0) return;
    forgetDraft(webhookDraft(webhook?.id));
    close();
  };
  const title = webhook === undefined ? 'New webhook' : `Edit ${webhook.title}`;
  return (
    <Dialog title={title} opened={opened} onClose={onClose} size="lg">
      {opened && <Fields webhook={webhook} onClose={onClose} />}
    </Dialog>
  );
}

/** 32 random bytes in the form that Standard Webhooks gives secrets. */
function createSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return `whsec_${btoa(String.fromCodePoint(...bytes))}`;
}

const initial = (webhook: api.Webhook | undefined) => ({
  title: webhook?.title ?? '',
  url: webhook?.url ?? '',
  events: webhook?.events ?? ([] as readonly EventKey[]),
});

function Fields({
  webhook,
  onClose,
}: Omit<WebhookFormProps, 'opened' | 'webhook'> & { webhook: api.Webhook | undefined }) {
  const queryClient = useQueryClient();
  const draftName = webhookDraft(webhook?.id);
  const { before, draft, change } = useRecordDraft(draftName, initial(webhook));
  const { title, url, events } = draft;
  // Not part of the draft: the tab stores no secret.
  const [secret, setSecret] = useState(() => (webhook === undefined ? createSecret() : ''));
  const given = secret.trim() === '' ? undefined : secret.trim();
  const save = useMutation({
    mutationKey: [draftName],
    mutationFn: async (): Promise<string | undefined> => {
      if (webhook === undefined)
        await sendOnce('webhook', api.createWebhook, { title, url, events: [...events], secret: given });
      else await api.updateWebhook(client, webhook.id, { ...changedFields(before, draft), secret: given });
      return given;
    },
    onSuccess: async () => {
      forgetDraft(draftName);
      await queryClient.invalidateQueries({ queryKey: ['webhooks'] });
    },
  });
  if (save.data !== undefined) {
    return (
      <Stack>
        <Text>
          {webhook === undefined ? 'The webhook is created.' : 'The webhook is saved.'} Its secret is shown
          this once: keep it where your receiver verifies signatures.
        </Text>
        <CopyText text={save.data} />
        <Group justify="flex-end">
          {/* oxlint-disable-next-line jsx-a11y/no-autofocus -- the button that had the focus is gone */}
          <Button autoFocus onClick={onClose}>
            Done
          </Button>
        </Group>
      </Stack>
    );
  }
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate(undefined, { onSuccess: (saved) => saved === undefined && onClose() });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        {webhook === undefined && (
          <TextInput
            label="Title"
            description="A name for people."
            value={title}
            onChange={({ currentTarget }) => change({ title: currentTarget.value })}
            required
            maxLength={255}
            withAsterisk={false}
          />
        )}
        <TextInput
          label="Address"
          description="We POST JSON here once; reply within five seconds."
          type="url"
          placeholder="https://example.com/hooks/messages"
          value={url}
          onChange={({ currentTarget }) => change({ url: currentTarget.value })}
          required
          withAsterisk={false}
        />
        <Checkbox.Group
          label="Events"
          value={[...events]}
          onChange={(chosen) => change({ events: eventKeys.filter((key) => chosen.includes(key)) })}
        >
          <Group mt="xs" gap="md">
            {eventKeys.map((key) => (
              <Checkbox key={key} value={key} label={key} miw={190} />
            ))}
          </Group>
        </Checkbox.Group>
        <PasswordInput
          label={webhook === undefined ? 'Secret' : 'New secret'}
          description={
            webhook?.hasSecret === true
              ? 'Leave it empty to keep the present one. The old secret keeps working for 24 hours.'
              : 'Signs every request. Leave it empty to send without signatures.'
          }
          value={secret}
          onChange={({ currentTarget }) => setSecret(currentTarget.value)}
          autoComplete="off"
          visibilityToggleButtonProps={{ 'aria-label': 'Show or hide the secret' }}
        />
        {webhook !== undefined && (
          <Button
            variant="subtle"
            size="compact-sm"
            w="max-content"
            onClick={() => setSecret(createSecret())}
          >
            Make a new secret
          </Button>
        )}
        <FormFoot
          label={webhook === undefined ? 'Create webhook' : 'Save webhook'}
          error={save.error}
          isPending={save.isPending}
          disabled={events.length === 0}
          onCancel={save.isPending ? undefined : onClose}
        />
      </Stack>
    </form>
  );
}
