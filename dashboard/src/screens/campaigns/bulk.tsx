/** Pauses, starts or cancels the chosen campaigns. */
import { ActionButton } from '../../parts/controls/action-button.tsx';
import { BulkBar } from '../../parts/tables/bulk-bar.tsx';
import { ConfirmButton } from '../../parts/controls/confirm.tsx';
import { counted } from '../../format.ts';
import type { Bulk } from '../../parts/tables/use-bulk.ts';
import { campaignActions } from '../campaign/campaign-actions.ts';

export function CampaignBulk({ bulk }: { bulk: Bulk }) {
  const { run, chosen } = bulk;
  const button = { size: 'xs', variant: 'default', loading: run.isPending } as const;
  return (
    <BulkBar bulk={bulk}>
      <ActionButton {...button} onClick={() => run.mutate(campaignActions.pause)}>
        Pause
      </ActionButton>
      <ActionButton {...button} onClick={() => run.mutate(campaignActions.start)}>
        Start
      </ActionButton>
      <ConfirmButton
        label="Cancel"
        size="xs"
        variant="default"
        color="red"
        question={`Cancel ${counted(chosen.size, 'campaign')}?`}
        consequence="People who are still waiting will not get a message. To continue later, pause the campaigns instead."
        confirmation="Cancel the campaigns"
        refusal="Keep campaigns"
        onConfirm={() => run.mutate(campaignActions.cancel)}
      />
    </BulkBar>
  );
}
