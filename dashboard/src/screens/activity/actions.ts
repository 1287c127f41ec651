import type { AuditAction } from '../../../../src/domain/operations/audit.ts';
import { words } from '../../format.ts';

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
  'workspace.default-country': 'Default country changed',
  'workspace.event-feed': 'Event feed switched',
  'workspace.notice-target': 'Address of notices changed',
  'workspace.set-feature': 'Feature changed',
  'wallet.recharge': 'Wallet recharged',
  'wallet.adjust': 'Wallet adjusted',
  'wallet.load-prices': 'Prices loaded',
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
  'consent.export': 'Register of consents exported',
  'contact.export': 'Contact exported',
  'installation.adopt': 'Database adopted',
  'installation.rotate-secrets': 'Secrets encrypted again',
};

/** Names an action; one of a newer API in the words of its code. */
export const actionName = (action: string): string =>
  actions[action as AuditAction] ?? words(action.replaceAll(/[.-]/g, ' '));
