/** Bell with the number of unread notices; it links to their list. */
import { ActionIcon, Indicator } from '@mantine/core';
import { IconBell } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api, client } from '../client.ts';
import { counted } from '../format.ts';

const most = 99;

export function Notices() {
  const { data: unread = 0 } = useQuery({
    queryKey: ['notices', 'unread'],
    queryFn: async () => (await api.listNotices(client, { unread: 'true', limit: most })).data.length,
    refetchInterval: 60_000,
  });
  return (
    <Indicator
      label={unread < most ? unread : `${most}+`}
      size={16}
      disabled={unread === 0}
      color="red"
      offset={4}
    >
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        aria-label="Notices"
        title={unread === 0 ? 'Nothing unread' : counted(unread, 'unread notice')}
        renderRoot={(props) => <Link {...props} to="/activity" search={{ view: 'notices' }} />}
      >
        <IconBell size={20} stroke={1.6} aria-hidden />
      </ActionIcon>
    </Indicator>
  );
}
