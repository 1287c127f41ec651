/** The navigation: its order, groups and icons. */
import {
  IconActivity,
  IconAddressBook,
  IconBroadcast,
  IconChartBar,
  IconFilter,
  IconMessages,
  IconPencilPlus,
  IconPhone,
  IconTemplate,
  IconWallet,
  IconWebhook,
  type TablerIcon,
} from '@tabler/icons-react';

export interface Place {
  readonly to: string;
  readonly label: string;
  readonly icon: TablerIcon;
}

export const groups: readonly { readonly name?: string; readonly places: readonly Place[] }[] = [
  { places: [{ to: '/', label: 'Overview', icon: IconChartBar }] },
  {
    name: 'Send',
    places: [
      { to: '/campaigns', label: 'Campaigns', icon: IconBroadcast },
      { to: '/campaigns/new', label: 'New campaign', icon: IconPencilPlus },
      { to: '/contacts', label: 'Contacts', icon: IconAddressBook },
      { to: '/segments', label: 'Segments', icon: IconFilter },
      { to: '/conversations', label: 'Conversations', icon: IconMessages },
      { to: '/templates', label: 'Templates', icon: IconTemplate },
    ],
  },
  {
    name: 'Connect and account',
    places: [
      { to: '/webhooks', label: 'Webhooks', icon: IconWebhook },
      { to: '/wallet', label: 'Wallet', icon: IconWallet },
      { to: '/channels', label: 'Channels', icon: IconPhone },
      { to: '/activity', label: 'Activity', icon: IconActivity },
    ],
  },
];

const all = groups.flatMap(({ places }) => places);

/** Returns the place whose address is the longest prefix of the path; undefined for an unknown address. */
export function placeAt(path: string): Place | undefined {
  const below = ({ to }: Place) => path === to || (to !== '/' && path.startsWith(`${to}/`));
  return all.filter(below).toSorted((one, other) => other.to.length - one.to.length)[0];
}
