/** Learns the custom fields of contacts, with their types, and lists them. */
import type { Dependencies } from '../../dependencies.ts';
import { type FieldType, guessFieldType } from '../../domain/contacts/field-type.ts';
import {
  type ContactField,
  countFields,
  findFieldTypes,
  insertFields,
  isCountDue,
  listFields,
  sampleFields,
  saveCounts,
} from '../../records/contacts/contact-fields.ts';
import type { Connection } from '../../records/database/database.ts';

/** Custom fields of contacts, as they are given. */
type Samples = Iterable<Readonly<Record<string, string>>>;

/**
 * Returns a function that guesses the types of fields which it sees for the first time. Called before the contacts are written: a
 * field that no contact has is harmless. The function returns how many fields it has learned in all.
 */
export function createFieldLearner(
  connection: Connection,
  workspaceId: number,
): (samples: Samples) => Promise<number> {
  const learned = new Set<string>();
  return async (samples) => {
    const values = new Map<string, string[]>();
    for (const sample of samples)
      for (const [id, value] of Object.entries(sample)) {
        if (learned.has(id)) continue;
        const known = values.get(id);
        if (known === undefined) values.set(id, [value]);
        else known.push(value);
      }
    const guessed = new Map<string, FieldType>();
    for (const [id, given] of values) {
      const type = guessFieldType(given);
      if (type !== undefined) guessed.set(id, type);
    }
    await insertFields(connection, workspaceId, guessed);
    for (const id of guessed.keys()) learned.add(id);
    return learned.size;
  };
}

/** Contacts whose values count when a single contact brings a field. */
const sampledForOne = 200;

/**
 * Learns the fields of one contact. One value says too little about a type: contacts of an earlier release may have the field
 * with other values.
 */
export async function learnFieldsOf(
  connection: Connection,
  workspaceId: number,
  customFields: Readonly<Record<string, string>>,
): Promise<void> {
  const given = Object.entries(customFields).filter(([, value]) => value.trim() !== '');
  const known = await findFieldTypes(
    connection,
    workspaceId,
    given.map(([id]) => id),
  );
  const fresh = given.filter(([id]) => !known.has(id));
  if (fresh.length === 0) return;
  const stored = await sampleFields(connection, workspaceId, sampledForOne);
  const samples = fresh.flatMap(([id, value]) =>
    [value, ...(stored.get(id) ?? [])].map((one) => ({ [id]: one })),
  );
  await createFieldLearner(connection, workspaceId)(samples);
}

export interface ListedField extends ContactField {
  readonly examples: readonly string[];
}

export const mostExamples = 3;

/** Counts under way in this process, by workspace. */
const counting = new Map<number, Promise<void>>();

/** By id. Counts of a workspace with many contacts are at most an hour old. */
export async function listContactFields(
  { database, searchDatabase }: Pick<Dependencies, 'database' | 'searchDatabase'>,
  workspaceId: number,
): Promise<readonly ListedField[]> {
  const samples = await sampleFields(searchDatabase, workspaceId);
  if (await isCountDue(database, workspaceId)) {
    const count =
      counting.get(workspaceId) ??
      renewCounts(database, workspaceId, samples).finally(() => counting.delete(workspaceId));
    counting.set(workspaceId, count);
    await count;
  }
  const fields = await listFields(database, workspaceId);
  return fields.map((field) => ({
    ...field,
    examples: (samples.get(field.id) ?? []).slice(0, mostExamples),
  }));
}

async function renewCounts(
  connection: Connection,
  workspaceId: number,
  samples: ReadonlyMap<string, readonly string[]>,
): Promise<void> {
  const counted = await countFields(connection, workspaceId);
  const typed = counted.map(({ id, count }) => ({
    id,
    count,
    type: guessFieldType(samples.get(id) ?? []) ?? 'text',
  }));
  await saveCounts(connection, workspaceId, typed);
}
