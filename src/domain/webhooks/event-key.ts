/** The keys of spec 6.2, in its order. Node-free and io-ts-free. */
export const eventKeys = [
  'incoming',
  'sent',
  'delivered',
  'read',
  'failed',
  'template',
  'contact.created',
  'contact.updated',
  'conversation.assigned',
  'conversation.status_changed',
] as const;
export type EventKey = (typeof eventKeys)[number];

/** Spec 6.2, "Emitted when". */
export const eventDescriptions: Readonly<Record<EventKey, string>> = {
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
};
