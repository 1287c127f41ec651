/** Chooses by reason which failed recipients get another message; hopeless reasons start unticked. */
import { Button, Checkbox, Group, Stack, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { api } from '../../client.ts';
import { counted, number } from '../../format.ts';
import { Dialog } from '../../parts/controls/confirm.tsx';
import { EarlierResends } from './earlier-resends.tsx';
import { explain } from '../../reasons.ts';

interface ResendDialogProps {
  readonly campaign: Pick<api.Campaign, 'id' | 'failed_reasons' | 'template_id' | 'created_at'>;
  readonly onClose: () => void;
}

export function ResendDialog({ campaign, onClose }: ResendDialogProps) {
  const { id, failed_reasons: reasons } = campaign;
  const navigate = useNavigate();
  const all = Object.entries(reasons)
    .filter(([reason]) => reason !== 'OUTCOME_UNKNOWN')
    .toSorted(([, one], [, other]) => other - one);
  const [chosen, setChosen] = useState<readonly string[]>();
  const ticked = chosen ?? all.map(([reason]) => reason).filter((reason) => !explain(reason).isHopeless);
  const count = all.reduce((sum, [reason, size]) => sum + (ticked.includes(reason) ? size : 0), 0);
  return (
    <Dialog title="Resend to failed" opened onClose={onClose} size="lg">
      <Text size="sm">
        Creates a new campaign with the same message for these people. You see the cost before anything is
        sent.
      </Text>
      <EarlierResends campaign={campaign} reasons={ticked} />
      <Checkbox.Group value={[...ticked]} onChange={setChosen} aria-label="Reasons">
        <Stack gap="sm">
          {all.map(([reason, size]) => (
            <Checkbox
              key={reason}
              value={reason}
              label={`${explain(reason).title}: ${number(size)}`}
              description={explain(reason).advice}
            />
          ))}
        </Stack>
      </Checkbox.Group>
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          Close
        </Button>
        <Button
          disabled={count === 0}
          onClick={() => void navigate({ to: '/campaigns/new', search: { failed: id, reason: [...ticked] } })}
        >
          Continue with {counted(count, 'person', 'people')}
        </Button>
      </Group>
    </Dialog>
  );
}
