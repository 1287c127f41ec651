/** Keys that open a screen when they are pressed after `g`. */
export const afterG: Readonly<Record<string, { readonly to: string; readonly label: string }>> = {
  o: { to: '/', label: 'Overview' },
  c: { to: '/campaigns', label: 'Campaigns' },
  p: { to: '/contacts', label: 'Contacts' },
  r: { to: '/conversations', label: 'Conversations' },
  t: { to: '/templates', label: 'Templates' },
  w: { to: '/wallet', label: 'Wallet' },
};
