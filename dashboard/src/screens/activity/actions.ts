import type { AuditAction } from '../../../../src/domain/operations/audit.ts';
import { dayAndMinuteTime, moneyTotal, words } from '../../format.ts';

const actions: Readonly<Record<AuditAction, string>> = {
  'campaign.create': 'Campaign created',
  'campaign.start': 'Campaign started',
  'campaign.pause': 'Campaign paused',
  'campaign.cancel': 'Campaign cancelled',
  'campaign.update': 'Campaign changed',
  'campaign.export': 'Recipients exported',
  'file.download': 'CSV downloaded',
  'file.delete': 'CSV deleted',
  'segment.delete': 'Segment deleted',
  'tag.delete': 'Tag deleted',
  'workspace.sending-window': 'Sending window changed',
  'workspace.failure-brake': 'Failure brake changed',
  'workspace.frequency-cap': 'Frequency cap changed',
  'workspace.consent-policy': 'Consent policy changed',
  'workspace.default-country': 'Default country changed',
  'workspace.event-feed': 'Event feed switched',
  'workspace.notice-target': 'Address of notices changed',
  'workspace.set-feature': 'Feature changed',
  'wallet.recharge': 'Wallet recharged',
  'wallet.adjust': 'Wallet adjusted',
  'wallet.load-prices': 'Prices loaded',
  'wallet.low-balance': 'Low balance changed',
  'wallet.book-difference': 'Differences from the provider booked',
  'wallet.set-price-markup': 'Price markup set',
  'wallet.release-unknown': 'Reserved money released',
  'key.create': 'Key created',
  'key.revoke': 'Key revoked',
  'session.create': 'Signed in',
  'session.end': 'Signed out',
  'session.add-operator': 'Recharging allowed',
  'session.remove-operator': 'Recharging ended',
  'sign-in-link.create': 'Sign-in link created',
  'channel.create': 'Channel created',
  'channel.update': 'Channel changed',
  'webhook.create': 'Webhook created',
  'webhook.update': 'Webhook changed',
  'webhook.delete': 'Webhook deleted',
  'webhook.disable': 'Webhook disabled',
  'contact.erase': 'Contact erased',
  'contact.import': 'Contacts imported',
  'contact.cancel-import': 'Import of contacts cancelled',
  'contact.export-import': 'Rows of an import exported',
  'consent.export': 'Register of consents exported',
  'contact.export': 'Contact exported',
  'installation.adopt': 'Database adopted',
  'installation.rotate-secrets': 'Secrets encrypted again',
};

/** Names an action; one of a newer API in the words of its code. */
export const actionName = (action: string): string =>
  actions[action as AuditAction] ?? words(action.replaceAll(/[.-]/g, ' '));

const labels: Readonly<Record<string, string>> = {
  amount: 'Amount',
  renamed_to: 'Renamed to',
  max_cost: 'Maximum cost',
  scheduled_at: 'Begins',
  ignore_quiet_hours: 'Ignores the workspace’s sending window',
};
const amounts = new Set(['amount', 'max_cost']);

/** What an action changed, as sentences such as `Amount: 5,000.00 USD`; a name is shown as the object. */
export const changesOf = (
  details: Readonly<Record<string, string | null>> | null,
  currency: string,
): readonly string[] =>
  Object.entries(details ?? {}).flatMap(([name, value]) => {
    if (name === 'name' && value !== null) return [];
    const text = valueText(name, value, currency);
    return [name === 'after' ? `Now ${text}` : `${labels[name] ?? words(name)}: ${text}`];
  });

function valueText(name: string, value: string | null, currency: string): string {
  if (value === null) return 'none';
  if (amounts.has(name)) return moneyTotal(value, currency);
  return name === 'scheduled_at' ? dayAndMinuteTime(new Date(value)) : value;
}
