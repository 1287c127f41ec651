/** Menu of the actions on one campaign of a table. */
import { ActionIcon, Menu } from '@mantine/core';
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
import { lazy, Suspense, useState } from 'react';
import { isFinished } from '../../../../src/domain/campaigns/campaign.ts';
import type { api } from '../../client.ts';
import { hasDraft } from '../../parts/forms/use-draft.ts';
import {
  exportAddress,
  renameDraft,
  rescheduleDraft,
  useCampaignAction,
} from '../campaign/campaign-actions.ts';
import type { RowDialogKind } from './row-dialog.tsx';

// Loaded when it is opened: the first screen shows the menu.
const RowDialog = lazy(() => import('./row-dialog.tsx').then((file) => ({ default: file.RowDialog })));

const icon = { size: 16, stroke: 1.6, 'aria-hidden': true } as const;

/** The form that a lost session or a reload closed. */
function keptDialog(id: string): RowDialogKind | undefined {
  if (hasDraft(renameDraft(id))) return 'rename';
  return hasDraft(rescheduleDraft(id)) ? 'reschedule' : undefined;
}

export function RowMenu({ campaign }: { campaign: api.Campaign }) {
  const { id, name, status, counters } = campaign;
  const navigate = useNavigate();
  const action = useCampaignAction(id);
  const [dialog, setDialog] = useState(() => keptDialog(id));
  const run = (what: 'pause' | 'start' | 'cancel') =>
    action.mutate(what, { onError: () => setDialog('problem') });
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
          <Menu.Item leftSection={<IconPencil {...icon} />} onClick={() => setDialog('rename')}>
            Rename
          </Menu.Item>
          {status === 'SCHEDULED' && (
            <Menu.Item leftSection={<IconCalendarTime {...icon} />} onClick={() => setDialog('reschedule')}>
              Reschedule
            </Menu.Item>
          )}
          {/* Both stand in the menu: an item that turned while the menu is open would start what was to be paused. */}
          {!isFinished(status) && (
            <>
              <Menu.Item
                leftSection={<IconPlayerPause {...icon} />}
                disabled={status === 'PAUSED'}
                onClick={() => run('pause')}
              >
                Pause
              </Menu.Item>
              <Menu.Item
                leftSection={<IconPlayerPlay {...icon} />}
                disabled={status !== 'PAUSED'}
                onClick={() => run('start')}
              >
                Start
              </Menu.Item>
            </>
          )}
          {counters.failed > 0 && (
            <Menu.Item leftSection={<IconRefresh {...icon} />} onClick={() => setDialog('resend')}>
              Resend to failed
            </Menu.Item>
          )}
          <Menu.Item leftSection={<IconDownload {...icon} />} component="a" href={exportAddress(id)} download>
            Export CSV
          </Menu.Item>
          {!isFinished(status) && (
            <Menu.Item
              // Mantine's own red has too little contrast.
              c="var(--mantine-color-red-light-color)"
              leftSection={<IconX {...icon} />}
              onClick={() => setDialog('cancel')}
            >
              Cancel
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {dialog && (
        <Suspense>
          <RowDialog
            kind={dialog}
            campaign={campaign}
            onClose={() => setDialog(undefined)}
            onCancel={() => run('cancel')}
            problem={action.error?.message}
          />
        </Suspense>
      )}
    </>
  );
}
