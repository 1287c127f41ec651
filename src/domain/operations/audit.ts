/** Actions that the audit log records, each named by its object and verb. */
const auditActions = [
  'campaign.create',
  'campaign.start',
  'campaign.pause',
  'campaign.cancel',
  'campaign.update',
  'campaign.export',
  'file.download',
  'file.delete',
  'segment.delete',
  'tag.delete',
  'workspace.sending-window',
  'workspace.failure-brake',
  'workspace.default-country',
  'workspace.consent-policy',
  'workspace.frequency-cap',
  'workspace.event-feed',
  'workspace.notice-target',
  'workspace.set-feature',
  'wallet.recharge',
  'wallet.adjust',
  'wallet.load-prices',
  'wallet.low-balance',
  'wallet.book-difference',
  'wallet.set-price-markup',
  'wallet.release-unknown',
  'key.create',
  'key.revoke',
  'session.create',
  'session.end',
  'session.add-operator',
  'session.remove-operator',
  'sign-in-link.create',
  'channel.create',
  'channel.update',
  'webhook.create',
  'webhook.update',
  'webhook.delete',
  'webhook.disable',
  'contact.erase',
  'contact.import',
  'contact.cancel-import',
  'contact.export-import',
  'consent.export',
  'contact.export',
  'installation.adopt',
  'installation.rotate-secrets',
] as const;
export type AuditAction = (typeof auditActions)[number];

type ObjectOf<A> = A extends `${infer Object}.${string}` ? Object : never;
export type AuditObject = ObjectOf<AuditAction>;

/** The objects of the actions: the part of each before its dot. */
export const auditObjects = [
  ...new Set(auditActions.map((action) => action.slice(0, action.indexOf('.')) as AuditObject)),
];
