/** Menu of the actions on one campaign of a table. */
import { ActionIcon, Menu } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import {
  IconCalendarTime,
  IconCopy,
  IconDots,
  IconDownload,
  IconPencil,
  IconPlayerPause,
  IconPlayerPlay,
  IconRefresh,
  IconX,
} from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { isFinished } from '../../../../src/domain/campaigns/campaign.ts';
import type { api } from '../../client.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { cancelQuestion, exportAddress, useCampaignAction } from '../campaign/campaign-actions.ts';
import { RenameDialog } from '../campaign/rename.tsx';
import { RescheduleDialog } from '../campaign/reschedule.tsx';
import { ResendDialog } from '../campaign/resend.tsx';

const icon = { size: 16, stroke: 1.6, 'aria-hidden': true } as const;

export function RowMenu({ campaign }: { campaign: api.Campaign }) {
  const { id, name, status, counters } = campaign;
  const navigate = useNavigate();
  const action = useCampaignAction(id);
  const [rescheduling, reschedule] = useDisclosure();
  const [renaming, rename] = useDisclosure();
  const [resending, resend] = useDisclosure();
  const [cancelling, cancel] = useDisclosure();
  return (
    <>
      <Menu position="bottom-end" withinPortal>
        <Menu.Target>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Actions for ${name}`}
            loading={action.isPending}
          >
            <IconDots size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            leftSection={<IconCopy {...icon} />}
            onClick={() => void navigate({ to: '/campaigns/new', search: { copy: id } })}
          >
            Duplicate
          </Menu.Item>
          <Menu.Item leftSection={<IconPencil {...icon} />} onClick={rename.open}>
            Rename
          </Menu.Item>
          {status === 'SCHEDULED' && (
            <Menu.Item leftSection={<IconCalendarTime {...icon} />} onClick={reschedule.open}>
              Reschedule
            </Menu.Item>
          )}
          {(status === 'RUNNING' || status === 'SCHEDULED') && (
            <Menu.Item leftSection={<IconPlayerPause {...icon} />} onClick={() => action.mutate('pause')}>
              Pause
            </Menu.Item>
          )}
          {status === 'PAUSED' && (
            <Menu.Item leftSection={<IconPlayerPlay {...icon} />} onClick={() => action.mutate('start')}>
              Start
            </Menu.Item>
          )}
          {counters.failed > 0 && (
            <Menu.Item leftSection={<IconRefresh {...icon} />} onClick={resend.open}>
              Resend to failed
            </Menu.Item>
          )}
          <Menu.Item leftSection={<IconDownload {...icon} />} component="a" href={exportAddress(id)} download>
            Export CSV
          </Menu.Item>
          {!isFinished(status) && (
            <Menu.Item color="red" leftSection={<IconX {...icon} />} onClick={cancel.open}>
              Cancel
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {renaming && <RenameDialog campaign={campaign} onClose={rename.close} />}
      <RescheduleDialog campaign={campaign} opened={rescheduling} onClose={reschedule.close} />
      <ResendDialog campaign={campaign} opened={resending} onClose={resend.close} />
      <Confirm
        {...cancelQuestion(campaign)}
        opened={cancelling}
        onClose={cancel.close}
        onConfirm={() => action.mutate('cancel')}
      />
    </>
  );
}
