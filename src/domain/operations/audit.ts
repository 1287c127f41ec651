/** What is written down of who did what, by its object. */
export const auditActions = [
  'campaign.create',
  'campaign.start',
  'campaign.pause',
  'campaign.cancel',
  'wallet.recharge',
  'wallet.adjust',
  'wallet.release-unknown',
  'key.create',
  'key.revoke',
  'session.create',
  'session.end',
  'session.add-operator',
  'sign-in-link.create',
  'channel.create',
  'channel.update',
  'webhook.create',
  'webhook.update',
  'webhook.delete',
  'contact.erase',
  'contact.export',
] as const;
export type AuditAction = (typeof auditActions)[number];
