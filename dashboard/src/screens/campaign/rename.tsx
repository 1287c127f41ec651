/** Changes the name and the description of a campaign. */
import { Textarea, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { api, client } from '../../client.ts';
import { Dialog } from '../../parts/controls/confirm.tsx';
import { FormFoot } from '../../parts/forms/form-foot.tsx';
import { forgetDraft, useRecordDraft } from '../../parts/forms/use-draft.ts';
import { renameDraft } from './campaign-actions.ts';

interface RenameDialogProps {
  readonly campaign: Pick<api.Campaign, 'id' | 'name' | 'description'>;
  readonly onClose: () => void;
}

export function RenameDialog({ campaign: { id, ...given }, onClose: close }: RenameDialogProps) {
  const { draft, change } = useRecordDraft(renameDraft(id), {
    name: given.name,
    description: given.description ?? '',
  });
  const { name, description } = draft;
  const onClose = () => {
    forgetDraft(renameDraft(id));
    close();
  };
  const queryClient = useQueryClient();
  const save = useMutation({
    mutationFn: () =>
      api.updateCampaign(client, id, { name: name.trim(), description: description.trim() || null }),
    onSuccess: async () => {
      forgetDraft(renameDraft(id));
      await queryClient.invalidateQueries({ queryKey: ['campaign', id] });
      await queryClient.invalidateQueries({ queryKey: ['campaigns'] });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate(undefined, { onSuccess: onClose });
  };
  return (
    <Dialog title="Rename the campaign" opened onClose={onClose}>
      <form onSubmit={submit}>
        <TextInput
          label="Campaign name"
          description="For you; recipients do not see it"
          maxLength={255}
          value={name}
          onChange={(event) => change({ name: event.currentTarget.value })}
          data-autofocus
        />
        <Textarea
          label="Description"
          maxLength={1000}
          autosize
          minRows={2}
          my="sm"
          value={description}
          onChange={(event) => change({ description: event.currentTarget.value })}
        />
        <FormFoot
          label="Save name"
          error={save.error}
          isPending={save.isPending}
          disabled={name.trim() === ''}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  );
}
