/**
 * Turns an audience into recipients in one pass: skips duplicate numbers, finds or creates contacts, freezes variables and
 * writes recipients. Batches are pipelined: while one is processed, the next one's contacts are looked up and the previous
 * one is written.
 */
import {
  recipientOf,
  skipBeforeContact,
  skipByConsent,
  type AudienceContact,
  type AudienceRules,
  type Candidate,
  type NewRecipient,
} from '../../domain/audience/candidate.ts';
import { identityOf } from '../../domain/number-rules.ts';
import type { PhoneNumber } from '../../domain/phone-number.ts';
import { createPhoneSet, type PhoneSet } from '../../domain/audience/phone-set.ts';
import type { Reachable } from '../../domain/audience/audience-contact.ts';
import type { ContactLoad, FoundContacts } from '../../records/audience/contact-load.ts';
import { createBoundedQueue } from '../../concurrency/bounded-queue.ts';
import type { RecipientLoad } from '../../records/audience/recipient-load.ts';

export interface RecipientBuild {
  readonly batches: AsyncIterable<readonly Candidate[]> | Iterable<readonly Candidate[]>;
  readonly rules: AudienceRules;
  readonly recipients: Pick<RecipientLoad, 'write'>;
  /** Undefined if the audience consists of contacts, because none has to be found or created. */
  readonly contacts: Pick<ContactLoad, 'find' | 'register' | 'flush'> | undefined;
  /** Returns those of the contacts that the frequency cap leaves out; undefined without a cap. */
  readonly findOverCap?: ((contactIds: readonly string[]) => Promise<ReadonlySet<string>>) | undefined;
  /** Called before each batch is written; throws to stop the build. */
  readonly checkpoint: () => void;
}

// Two batches keep both Postgres and this process busy without letting memory grow.
const batchesUnderWay = 2;

interface Batch {
  readonly candidates: readonly Candidate[];
  /** Reasons for skipping that do not depend on the contact, by candidate index. */
  readonly skips: readonly NewRecipient['skip'][];
  readonly reachable: readonly Reachable[];
  readonly found: Promise<FoundContacts> | undefined;
}

export async function buildRecipients({
  batches,
  rules,
  recipients,
  contacts,
  findOverCap,
  checkpoint,
}: RecipientBuild): Promise<void> {
  const numbers = createPhoneSet();
  const waiting: Batch[] = [];
  const writing = createBoundedQueue(batchesUnderWay);

  const finish = async ({ candidates, skips, reachable, found }: Batch): Promise<void> => {
    checkpoint();
    let registered: readonly AudienceContact[] = [];
    let strangers: ReadonlySet<Candidate> | undefined;
    if (contacts !== undefined && found !== undefined) {
      const present = await found;
      if (rules.requiresContact === true) strangers = strangersOf(reachable, present);
      const known = strangers === undefined ? reachable : reachable.filter((one) => !strangers?.has(one));
      const registration = contacts.register(known, present);
      registered = registration.contacts;
      await writing.add(registration.written);
    }
    const overCap = await findOverCap?.(
      [...registered, ...candidates.map(({ contact }) => contact)].flatMap((contact) => contact?.id || []),
    );
    await recipients.write(recipientsOf({ candidates, skips, strangers, registered, overCap, rules }));
  };

  for await (const candidates of batches) {
    waiting.push(beginBatch(candidates, { numbers, contacts, rules }));
    if (waiting.length > batchesUnderWay) await finish(waiting.shift() as Batch);
  }
  for (const batch of waiting) await finish(batch);
  await writing.settle();
  await contacts?.flush();
}

interface Registered extends Pick<Batch, 'candidates' | 'skips'> {
  /** Skipped because they are no contacts; undefined if that does not matter. */
  readonly strangers: ReadonlySet<Candidate> | undefined;
  /** The contacts of the candidates that are not skipped, in the same order. */
  readonly registered: readonly AudienceContact[];
  readonly overCap: ReadonlySet<string> | undefined;
  readonly rules: AudienceRules;
}

/** Yields one at a time, because the variables of a whole batch may need much more memory than the batch itself. */
function* recipientsOf({
  candidates,
  skips,
  strangers,
  registered,
  overCap,
  rules,
}: Registered): Generator<NewRecipient> {
  let reached = 0;
  for (const [at, candidate] of candidates.entries()) {
    const skip = skips[at] ?? (strangers?.has(candidate) === true ? noConsent : undefined);
    if (skip !== undefined || !isReachable(candidate)) {
      yield skippedRecipient(candidate, skip);
      continue;
    }
    const contact = candidate.contact ?? registered[reached] ?? null;
    reached += 1;
    const recipient = recipientOf(candidate, contact, rules);
    const isCapped = recipient.skip === undefined && overCap?.has(recipient.contactId ?? '') === true;
    yield isCapped ? { ...recipient, skip: capReached, variables: [] } : recipient;
  }
}

const capReached = { reason: 'FREQUENCY_CAP', detail: null } as const;
const noConsent = { reason: 'NO_CONSENT', detail: null } as const;

const strangersOf = (reachable: readonly Reachable[], { known }: FoundContacts): ReadonlySet<Candidate> =>
  new Set(reachable.filter(({ phone }) => known.get(phone.digits)?.deleted !== false));

interface Beginning extends Pick<RecipientBuild, 'contacts' | 'rules'> {
  readonly numbers: PhoneSet;
}

function beginBatch(candidates: readonly Candidate[], { numbers, contacts, rules }: Beginning): Batch {
  const isNew = ({ digits }: PhoneNumber): boolean => digits === '' || numbers.add(identityOf(digits));
  const reachable: Reachable[] = [];
  const skips = candidates.map((candidate) => {
    const skip = skipBeforeContact(candidate, isNew) ?? skipByConsent(candidate, rules);
    if (skip === undefined && isReachable(candidate)) reachable.push(candidate);
    return skip;
  });
  const found = reachable.length === 0 ? undefined : contacts?.find(reachable);
  // `finish` awaits the lookup and sees its failure; until then Node must not report an unhandled rejection.
  found?.catch(() => undefined);
  return { candidates, skips, reachable, found };
}

const isReachable = (candidate: Candidate): candidate is Reachable => candidate.phone !== undefined;

function skippedRecipient({ phone, line, contact }: Candidate, skip: NewRecipient['skip']): NewRecipient {
  const reason = skip ?? { reason: 'INVALID_PHONE', detail: null };
  return { contactId: contact?.id ?? null, phone, line, skip: reason, variables: [] };
}
