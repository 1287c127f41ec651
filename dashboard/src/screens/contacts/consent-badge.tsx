import type { api } from '../../client.ts';
import { Badge } from '@mantine/core';

const shown = {
  all: { label: 'Subscribed', color: 'teal' },
  no_marketing: { label: 'No marketing', color: 'yellow' },
  none: { label: 'Opted out', color: 'orange' },
} as const;

export const ConsentBadge = ({ consent }: { readonly consent: api.ContactConsent }) => (
  <Badge variant="light" radius="sm" tt="none" fw={600} color={shown[consent].color}>
    {shown[consent].label}
  </Badge>
);
