/** Pause, start, cancel, and what else can be done with one campaign. */
import { Alert, Button, Group, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import {
  IconCalendarTime,
  IconCopy,
  IconPlayerPause,
  IconPlayerPlay,
  IconRefresh,
  IconSend,
} from '@tabler/icons-react';
import type { api } from '../../client.ts';
import { counted, plannedTime } from '../../format.ts';
import { isFinished } from '../../../../src/domain/campaigns/campaign.ts';
import { ActionButton } from '../../parts/controls/action-button.tsx';
import { ButtonLink } from '../../parts/controls/button-link.tsx';
import { ConfirmButton } from '../../parts/controls/confirm.tsx';
import { focusMain } from '../../parts/controls/focus-main.ts';
import { hasDraft } from '../../parts/forms/use-draft.ts';
import { cancelQuestion, rescheduleDraft, useCampaignAction } from './campaign-actions.ts';
import { RescheduleDialog } from './reschedule.tsx';
import { ResendDialog } from './resend.tsx';

const icon = { size: 16, stroke: 1.8, 'aria-hidden': true } as const;

const isBraked = (reason: string | null): boolean => reason === 'FAILURES' || reason === 'MESSAGE_REJECTED';

export function Actions({ campaign }: { campaign: api.CampaignDetail }) {
  const { id, status, counters } = campaign;
  const isPaused = status === 'PAUSED';
  const action = useCampaignAction(id);
  const [resending, resend] = useDisclosure();
  const [rescheduling, reschedule] = useDisclosure(hasDraft(rescheduleDraft(id)));
  return (
    <Stack gap="xs" align="flex-end">
      <Group gap="xs">
        {/* Not in the place of Pause: a click of a second operator who pauses would start the campaign. */}
        {isPaused &&
          (isBraked(campaign.pause_reason) ? (
            <>
              <ActionButton
                leftSection={<IconPlayerPlay {...icon} />}
                loading={action.isPending && action.variables === 'probe'}
                // The button disappears with the start, so the focus has to move.
                onClick={() => action.mutate('probe', { onSuccess: focusMain })}
              >
                Try 50
              </ActionButton>
              <ConfirmButton
                label="Continue anyway"
                variant="default"
                question="Send on as it is?"
                consequence="The campaign is not paused for this reason again. Everybody whose message fails is lost for it."
                confirmation="Continue anyway"
                refusal="Go back"
                onConfirm={() => action.mutate('force', { onSuccess: focusMain })}
              />
            </>
          ) : (
            <ActionButton
              // Recharging is the primary action where money is missing.
              variant={campaign.pause_reason === 'INSUFFICIENT_BALANCE' ? 'default' : 'filled'}
              leftSection={<IconPlayerPlay {...icon} />}
              loading={action.isPending && action.variables === 'start'}
              // The button disappears with the start, so the focus has to move.
              onClick={() => action.mutate('start', { onSuccess: focusMain })}
            >
              Start
            </ActionButton>
          ))}
        <ButtonLink
          to="/campaigns/new"
          search={{ copy: id }}
          variant="default"
          leftSection={<IconCopy {...icon} />}
        >
          Duplicate
        </ButtonLink>
        {status === 'SCHEDULED' && (
          <>
            {campaign.preparation_status === 'READY' && (
              <ConfirmButton
                label="Send now"
                leftSection={<IconSend {...icon} />}
                question="Send now?"
                consequence={`The campaign was to begin ${plannedTime(new Date(campaign.scheduled_at ?? ''))}. Quiet hours still apply.`}
                confirmation={`Send to ${counted(campaign.total_contacts, 'person', 'people')}`}
                refusal="Go back"
                onConfirm={() => action.mutate('sendNow')}
              />
            )}
            <Button variant="default" leftSection={<IconCalendarTime {...icon} />} onClick={reschedule.open}>
              Reschedule
            </Button>
          </>
        )}
        {counters.failed > 0 && (
          <Button variant="default" leftSection={<IconRefresh {...icon} />} onClick={resend.open}>
            Resend to failed
          </Button>
        )}
        {!isFinished(status) && (
          <>
            <ActionButton
              variant="default"
              leftSection={<IconPlayerPause {...icon} />}
              isOff={isPaused}
              loading={action.isPending && action.variables === 'pause'}
              onClick={() => action.mutate('pause')}
            >
              Pause
            </ActionButton>
            <ConfirmButton
              label="Cancel"
              variant="default"
              {...cancelQuestion(campaign)}
              // The buttons disappear with the cancellation, so the focus has to move.
              onConfirm={() => action.mutate('cancel', { onSuccess: focusMain })}
            />
          </>
        )}
      </Group>
      {action.error && (
        <Alert color="red" role="alert" py="xs">
          {action.error.message}
        </Alert>
      )}
      {resending && <ResendDialog campaign={campaign} onClose={resend.close} />}
      {rescheduling && <RescheduleDialog campaign={campaign} onClose={reschedule.close} />}
    </Stack>
  );
}
