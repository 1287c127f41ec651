import type { Dependencies } from '../../dependencies.ts';
import { awaitNewContacts } from '../../records/audience/contact-load.ts';
import type { Connection } from '../../records/database/database.ts';
import {
  deleteWaitingOptOuts,
  lockPerson,
  lockWaitingOptOuts,
  type Person,
} from '../../records/callbacks/sender-contacts.ts';
import type { ConsentDecision } from '../../domain/contacts/consent.ts';
import { decideConsent, type Evidence } from '../../records/contacts/consents.ts';
import { startPollingLoop, type Loop } from '../../concurrency/polling-loop.ts';
import { emitContactEvents } from '../contacts/emit-contact-events.ts';
import { keepChoice } from '../contacts/opted-out-numbers.ts';
import { namesOfPerson } from './recognise-sender.ts';

/** An opt-out or opt-in. */
interface Choice {
  readonly workspaceId: number;
  readonly decision: ConsentDecision;
  /** When the person decided, as the provider reports it; null counts as now. */
  readonly at: Date | null;
}

export interface ConsentChange extends Choice {
  readonly contactId: string;
  /** What the person wrote. */
  readonly evidence?: Evidence;
}

/** Identifies the person by the provider's ids. */
export interface PersonChoice extends Choice {
  readonly person: Person;
}

/** What the setting in the provider's app says, or a refusal because of it. */
export const stopsMarketing: ConsentDecision = { category: 'MARKETING', allows: false };

/** Emits `contact.updated` for each contact whose consent changes. */
export async function changeConsents(
  { now }: Pick<Dependencies, 'now'>,
  connection: Connection,
  changes: readonly ConsentChange[],
): Promise<void> {
  for (const { contactId, ...choice } of changes)
    await changeAll({ now }, connection, { ...choice, contactIds: [contactId] });
}

/** Applies the same choice to many contacts. */
async function changeAll(
  { now }: Pick<Dependencies, 'now'>,
  connection: Connection,
  {
    workspaceId,
    contactIds,
    ...choice
  }: Omit<ConsentChange, 'contactId'> & { readonly contactIds: readonly string[] },
): Promise<void> {
  // A time in the future would override later decisions.
  const at = choice.at === null || choice.at > now() ? now() : choice.at;
  const decided = { ...choice, contactIds, at, source: 'person' } as const;
  const changed = await decideConsent(connection, workspaceId, decided);
  await emitContactEvents(connection, workspaceId, {
    eventKey: 'contact.updated',
    contactIds: changed,
    occurredAt: now(),
  });
}

/**
 * Applies choices to every contact of the person. Without a contact, the choice is kept for a later one. Returns the contacts of
 * each choice.
 */
export async function applyChoices(
  { now, secrets }: Pick<Dependencies, 'now' | 'secrets'>,
  connection: Connection,
  choices: readonly PersonChoice[],
): Promise<readonly (readonly string[])[]> {
  const found: (readonly string[])[] = [];
  for (const { person, ...choice } of choices) {
    const { workspaceId, decision } = choice;
    let contacts = await lockPerson(connection, workspaceId, person);
    if (contacts.length === 0) {
      await awaitNewContacts(connection, workspaceId);
      contacts = await lockPerson(connection, workspaceId, person);
    }
    await changeConsents(
      { now },
      connection,
      contacts.map(({ id }) => ({ ...choice, contactId: id })),
    );
    found.push(contacts.map(({ id }) => id));
    if (contacts.length > 0) continue;
    await keepChoice({ secrets }, connection, { workspaceId, names: namesOfPerson(person), decision });
  }
  return found;
}

/** Stops MARKETING to people whose message was refused because they opted out: its contact, or else the person it was sent to. */
export async function applyOptOuts(
  dependencies: Pick<Dependencies, 'now' | 'secrets'>,
  connection: Connection,
  refused: readonly {
    readonly workspaceId: number;
    readonly contactId: string | null;
    readonly person: Person;
  }[],
): Promise<void> {
  for (const { workspaceId, contactId, person } of refused) {
    const choice = { workspaceId, decision: stopsMarketing, at: null };
    if (contactId === null) await applyChoices(dependencies, connection, [{ ...choice, person }]);
    else await changeConsents(dependencies, connection, [{ ...choice, contactId }]);
  }
}

/** Opt-outs in one transaction. */
const optOutsAtOnce = 500;

/**
 * Applies opt-outs that wait: those from refused messages, and those whose contact was locked. Returns how many were applied.
 * An opt-out whose contact is still locked keeps waiting.
 */
export function applyWaitingOptOuts({
  database,
  now,
}: Pick<Dependencies, 'database' | 'now'>): Promise<number> {
  return database.transaction(async (transaction) => {
    const waiting = await lockWaitingOptOuts(transaction, optOutsAtOnce);
    if (waiting.length === 0) return 0;
    // Refusals recorded together have the same time.
    const choices = new Map<string, Choice & { readonly contactIds: string[] }>();
    for (const { workspaceId, contactId, category, at } of waiting) {
      const key = `${workspaceId} ${category} ${at.getTime()}`;
      const decision = { category, allows: false };
      const choice = choices.get(key) ?? { workspaceId, decision, at, contactIds: [] };
      choice.contactIds.push(contactId);
      choices.set(key, choice);
    }
    for (const choice of choices.values()) await changeAll({ now }, transaction, choice);
    await deleteWaitingOptOuts(transaction, waiting);
    return waiting.length;
  });
}

const idleMs = 1_000;

/** Polling loop of a worker. */
export function startApplyingOptOuts(dependencies: Pick<Dependencies, 'database' | 'logger' | 'now'>): Loop {
  return startPollingLoop({
    name: 'opt-outs',
    logger: dependencies.logger,
    idleMs,
    work: async () => (await applyWaitingOptOuts(dependencies)) === optOutsAtOnce,
  });
}
