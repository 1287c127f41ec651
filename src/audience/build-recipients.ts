/**
 * The one pass over an audience: numbers told apart, contacts found or made, variables frozen, recipients written. While
 * the rows of one page are worked on, the contacts of the next are looked up and what came before is being written.
 */
import {
  recipientOf,
  skipBeforeContact,
  type AudienceContact,
  type AudienceRules,
  type Candidate,
  type NewRecipient,
} from '../domain/audience.ts';
import { createPhoneSet, type PhoneSet } from '../domain/phone-set.ts';
import type { Reachable } from '../domain/audience-contact.ts';
import type { ContactLoad, KnownContacts } from '../records/audience-contacts.ts';
import type { RecipientLoad } from '../records/recipient-load.ts';

export interface RecipientBuild {
  readonly pages: AsyncIterable<readonly Candidate[]> | Iterable<readonly Candidate[]>;
  readonly rules: AudienceRules;
  readonly recipients: Pick<RecipientLoad, 'write'>;
  /** Undefined where the audience is made of contacts already. */
  readonly contacts: Pick<ContactLoad, 'find' | 'register'> | undefined;
  /** Throws to stop. */
  readonly checkpoint: () => void;
}

interface Page {
  readonly entries: readonly { readonly candidate: Candidate; readonly skip: NewRecipient['skip'] }[];
  readonly reachable: readonly Reachable[];
  readonly known: Promise<KnownContacts> | undefined;
}

export async function buildRecipients({
  pages,
  rules,
  recipients,
  contacts,
  checkpoint,
}: RecipientBuild): Promise<void> {
  const numbers = createPhoneSet();
  let waiting: Page | undefined;
  let written: Promise<void> = Promise.resolve();

  const finish = async ({ entries, reachable, known }: Page): Promise<void> => {
    checkpoint();
    let registered: ReadonlyMap<string, AudienceContact> = new Map();
    if (contacts !== undefined && known !== undefined) {
      const registration = contacts.register(reachable, await known);
      registered = registration.contacts;
      // One page of contacts may be on its way while the next is made, not more: memory stays flat.
      await written;
      written = registration.written;
    }
    await recipients.write(
      entries.map(({ candidate, skip }) => {
        if (skip !== undefined || !isReachable(candidate)) return skippedRecipient(candidate, skip);
        const contact = candidate.contact ?? registered.get(candidate.phone.digits) ?? null;
        return recipientOf(candidate, contact, rules);
      }),
    );
  };

  for await (const candidates of pages) {
    const page = beginPage(candidates, numbers, contacts);
    if (waiting !== undefined) await finish(waiting);
    waiting = page;
  }
  if (waiting !== undefined) await finish(waiting);
  await written;
}

function beginPage(
  candidates: readonly Candidate[],
  numbers: PhoneSet,
  contacts: RecipientBuild['contacts'],
): Page {
  const entries = candidates.map((candidate) => ({
    candidate,
    skip: skipBeforeContact(candidate, ({ digits }) => numbers.add(digits)),
  }));
  const reachable = entries.flatMap(({ candidate, skip }) =>
    skip === undefined && isReachable(candidate) ? [candidate] : [],
  );
  const known = reachable.length === 0 ? undefined : contacts?.find(reachable);
  // A failure is met where the page is finished.
  known?.catch(() => undefined);
  return { entries, reachable, known };
}

const isReachable = (candidate: Candidate): candidate is Reachable => candidate.phone !== undefined;

function skippedRecipient({ phone, line, contact }: Candidate, skip: NewRecipient['skip']): NewRecipient {
  const reason = skip ?? { reason: 'INVALID_PHONE', detail: null };
  return { contactId: contact?.id ?? null, phone, line, skip: reason, variables: [] };
}
