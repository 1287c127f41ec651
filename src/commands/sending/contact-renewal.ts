/**
 * Contact fields resolve when the message leaves (Spec 4.1.1): recipients whose contact changed after preparation get its
 * present fields. CSV cells and inline values stay as they were given.
 */
import { contactSlotsResolver, customFieldsOf } from '../../domain/templates/contact-slots.ts';
import type { MessagePlan } from '../../domain/templates/plan.ts';
import type { ClaimedRecipient } from '../../records/sending/claim-batch.ts';

export interface ContactRenewal {
  /** Some value of the message comes from a contact field. */
  readonly isNeeded: boolean;
  /** The custom fields that the message names. */
  readonly customFields: readonly string[];
  /** The recipients that can be sent to, with their present values; `onMissing` is called for each of the others. */
  readonly renew: (
    recipients: readonly ClaimedRecipient[],
    onMissing: (recipient: ClaimedRecipient, missing: string) => void,
  ) => readonly ClaimedRecipient[];
}

export function createContactRenewal({
  contactSlots = [],
}: Pick<MessagePlan, 'contactSlots'>): ContactRenewal {
  const resolve = contactSlotsResolver(contactSlots);
  return {
    isNeeded: contactSlots.length > 0,
    customFields: customFieldsOf(contactSlots),
    renew: (recipients, onMissing) =>
      recipients.flatMap((recipient) => {
        const { variables, changedContact } = recipient;
        if (changedContact === undefined || variables === null) return [recipient];
        const renewed = resolve(variables, changedContact);
        if (renewed.ok) return [{ ...recipient, variables: renewed.values }];
        onMissing(recipient, renewed.missing);
        return [];
      }),
  };
}
