import { Badge } from '@mantine/core';

export const ConsentBadge = ({ isSubscribed }: { readonly isSubscribed: boolean }) => (
  <Badge variant="light" tt="none" color={isSubscribed ? 'teal' : 'orange'}>
    {isSubscribed ? 'Subscribed' : 'Opted out'}
  </Badge>
);
