import { Badge } from '@mantine/core';

export const ConsentBadge = ({ isSubscribed }: { readonly isSubscribed: boolean }) => (
  <Badge variant="light" radius="sm" tt="none" fw={600} color={isSubscribed ? 'teal' : 'orange'}>
    {isSubscribed ? 'Subscribed' : 'Opted out'}
  </Badge>
);
