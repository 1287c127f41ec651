/** The dialog of an action in the menu of a campaign. */
import { Alert, Button, Group } from '@mantine/core';
import type { api } from '../../client.ts';
import { Confirm, Dialog } from '../../parts/controls/confirm.tsx';
import { cancelQuestion } from '../campaign/campaign-actions.ts';
import { RenameDialog } from '../campaign/rename.tsx';
import { RescheduleDialog } from '../campaign/reschedule.tsx';
import { ResendDialog } from '../campaign/resend.tsx';

export type RowDialogKind = 'rename' | 'reschedule' | 'resend' | 'cancel' | 'problem';

interface RowDialogProps {
  readonly kind: RowDialogKind;
  readonly campaign: api.Campaign;
  readonly onClose: () => void;
  readonly onCancel: () => void;
  /** Why the latest action was not done. */
  readonly problem: string | undefined;
}

export function RowDialog({ kind, campaign, onClose, onCancel, problem }: RowDialogProps) {
  const shared = { campaign, onClose };
  switch (kind) {
    case 'rename':
      return <RenameDialog {...shared} />;
    case 'reschedule':
      return <RescheduleDialog {...shared} />;
    case 'resend':
      return <ResendDialog {...shared} />;
    case 'cancel':
      return <Confirm {...cancelQuestion(campaign)} opened onClose={onClose} onConfirm={onCancel} />;
    case 'problem':
      return (
        <Dialog title={campaign.name} opened onClose={onClose}>
          <Alert color="red" role="alert">
            {problem}
          </Alert>
          <Group justify="flex-end">
            <Button onClick={onClose}>Close</Button>
          </Group>
        </Dialog>
      );
    default:
      return kind satisfies never;
  }
}
