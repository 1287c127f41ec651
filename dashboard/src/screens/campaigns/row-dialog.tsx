/** The dialog of an action in the menu of a campaign. */
import type { api } from '../../client.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { cancelQuestion } from '../campaign/campaign-actions.ts';
import { RenameDialog } from '../campaign/rename.tsx';
import { RescheduleDialog } from '../campaign/reschedule.tsx';
import { ResendDialog } from '../campaign/resend.tsx';

export type RowDialogKind = 'rename' | 'reschedule' | 'resend' | 'cancel';

interface RowDialogProps {
  readonly kind: RowDialogKind;
  readonly campaign: api.Campaign;
  readonly onClose: () => void;
  readonly onCancel: () => void;
}

export function RowDialog({ kind, campaign, onClose, onCancel }: RowDialogProps) {
  const shared = { campaign, opened: true, onClose };
  switch (kind) {
    case 'rename':
      return <RenameDialog campaign={campaign} onClose={onClose} />;
    case 'reschedule':
      return <RescheduleDialog {...shared} />;
    case 'resend':
      return <ResendDialog {...shared} />;
    case 'cancel':
      return <Confirm {...cancelQuestion(campaign)} opened onClose={onClose} onConfirm={onCancel} />;
    default:
      return kind satisfies never;
  }
}
