/** The keys of Spec 6.2 in its order, each with its "Emitted when". The dashboard bundles it, so it imports nothing. */
export const eventDescriptions = {
  incoming: 'An inbound message arrives from a customer.',
  sent: 'An outbound message is accepted by the messaging provider.',
  delivered: "The provider confirms that the customer's device received the message.",
  read: 'The customer reads the message.',
  failed: 'An outbound message fails to deliver.',
  template: "A template's status or category changes.",
  'contact.created': 'A new contact is registered.',
  'contact.updated': 'Contact details are edited or a soft-deleted contact is restored.',
  'conversation.assigned': 'A conversation is assigned to an agent or a team.',
  'conversation.status_changed': 'A conversation status changes.',
} as const;

export type EventKey = keyof typeof eventDescriptions;
export const eventKeys = Object.keys(eventDescriptions) as readonly EventKey[];

/** The keys in the event feed: those of events, and `notice`, to which webhooks cannot subscribe. */
export const feedKeys = [...eventKeys, 'notice'] as const;
export type FeedKey = (typeof feedKeys)[number];
