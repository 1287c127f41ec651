/** The entries of `quick_contacts` as candidates, in batches. */
import type { Candidate } from '../../domain/audience/candidate.ts';
import { normalisePhoneNumber } from '../../domain/phone-number.ts';
import { parseQuickContact } from '../../domain/audience/quick-contact.ts';

export function* readQuickCandidates(
  entries: readonly string[],
  batchSize: number,
): Generator<readonly Candidate[]> {
  for (let at = 0; at < entries.length; at += batchSize)
    yield entries.slice(at, at + batchSize).map(candidateOf);
}

function candidateOf(entry: string): Candidate {
  const { phone, values } = parseQuickContact(entry);
  return { line: null, given: phone, phone: normalisePhoneNumber(phone), inline: values };
}

/** The largest number of values that an entry has after its phone number. */
export function largestInlineCount(entries: readonly string[]): number {
  return entries.reduce((largest, entry) => Math.max(largest, parseQuickContact(entry).values.length), 0);
}
