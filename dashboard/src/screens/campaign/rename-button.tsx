import { ActionIcon, Tooltip } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPencil } from '@tabler/icons-react';
import type { api } from '../../client.ts';
import { hasDraft } from '../../parts/forms/use-draft.ts';
import { renameDraft } from './campaign-actions.ts';
import { RenameDialog } from './rename.tsx';

export function RenameButton({ campaign }: { campaign: api.CampaignDetail }) {
  const [opened, { open, close }] = useDisclosure(hasDraft(renameDraft(campaign.id)));
  return (
    <>
      <Tooltip label="Rename">
        <ActionIcon variant="subtle" color="gray" aria-label="Rename" onClick={open}>
          <IconPencil size={18} stroke={1.6} aria-hidden />
        </ActionIcon>
      </Tooltip>
      {opened && <RenameDialog campaign={campaign} onClose={close} />}
    </>
  );
}
