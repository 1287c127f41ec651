/** Creates the campaign; a large or costly one is confirmed first. */
import { Alert, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';
import { useNavigate, useRouter } from '@tanstack/react-router';
import { api } from '../../client.ts';
import { counted, isLater, plannedTime, moneyTotal } from '../../format.ts';
import { ActionButton } from '../../parts/controls/action-button.tsx';
import { Confirm } from '../../parts/controls/confirm.tsx';
import { sendOnce } from '../../send-once.ts';

interface CreateProps {
  readonly body: api.CreateCampaign;
  readonly check: api.CampaignCheck | undefined;
  readonly isReady: boolean;
  readonly templateName: string | undefined;
  readonly onCreated: () => void;
}

/** A campaign with more recipients than this, or that costs more than this share of the balance, is confirmed. */
const many = 1_000;
const largeShare = 0.1;

const isLarge = ({
  total_contacts: people,
  is_estimate: isEstimate,
  cost,
  available,
}: api.CampaignCheck): boolean =>
  isEstimate || people > many || Number(cost) > Number(available) * largeShare;

const beginsText = (begins: string | null): string =>
  begins !== null && isLater(begins)
    ? `Sending begins ${plannedTime(new Date(begins))}.`
    : 'Sending begins at once.';

export function Create({ body, check, isReady, templateName, onCreated }: CreateProps) {
  const navigate = useNavigate();
  const router = useRouter();
  const [asking, { open, close }] = useDisclosure();
  const create = useMutation({
    mutationFn: async () => (await sendOnce('campaign', api.createCampaign, body)).answer.data.campaign.id,
    onSuccess: (id) => {
      onCreated();
      // A user who went on to another screen meanwhile is not taken away from it.
      const isHere = router.state.location.pathname === '/campaigns/new';
      return isHere ? navigate({ to: '/campaigns/$id', params: { id } }) : undefined;
    },
  });
  const people = check === undefined ? '' : counted(check.total_contacts, 'person', 'people');
  const atLeast = check?.is_estimate === true ? 'at least ' : '';
  const verb = body.scheduled_at ? 'Schedule for' : 'Send to';
  return (
    <>
      <Group justify="flex-end">
        <ActionButton
          loading={create.isPending}
          disabled={!isReady || body.name === '' || (check?.problems.length ?? 1) > 0}
          onClick={() => (check !== undefined && isLarge(check) ? open() : create.mutate())}
        >
          Create campaign
        </ActionButton>
      </Group>
      {create.error && (
        <Alert color="red" role="alert">
          {create.error.message}
        </Alert>
      )}
      {check !== undefined && (
        <Confirm
          opened={asking}
          onClose={close}
          question={`${verb} ${people}?`}
          confirmation={`${verb} ${people}`}
          refusal="Go back"
          onConfirm={() => create.mutate()}
          consequence={
            <>
              <Text size="sm">
                “{templateName}” goes to {atLeast}
                {people} for {atLeast}
                {moneyTotal(check.cost, check.currency)}; {moneyTotal(check.available, check.currency)} is
                available.
              </Text>
              <Text size="sm" mt={4}>
                {beginsText(check.begins_at)}
              </Text>
            </>
          }
        />
      )}
    </>
  );
}
