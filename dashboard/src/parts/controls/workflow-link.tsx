/** Links to a campaign's workflow in Temporal's UI where the address of that UI is configured. */
import { Anchor } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { readSession } from '../../client.ts';

export function WorkflowLink({ campaignId, label }: { campaignId: string; label?: string }) {
  const { data: session } = useQuery({ queryKey: ['session'], queryFn: readSession });
  const id = `campaign-${campaignId}`;
  if (!session?.workflowsUrl) return label === undefined ? id : null;
  return (
    <Anchor
      href={`${session.workflowsUrl}/${id}`}
      target="_blank"
      rel="noreferrer"
      fz="inherit"
      underline="always"
    >
      {label ?? id}
    </Anchor>
  );
}
