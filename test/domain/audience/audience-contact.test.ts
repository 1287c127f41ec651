import { describe, expect, it } from 'vitest';
import {
  changedContact,
  newContact,
  type KnownContact,
  type Reachable,
} from '../../../src/domain/audience/audience-contact.ts';
import { customFieldBytes, maxCustomFieldBytes } from '../../../src/domain/contacts/contact.ts';

const candidate = (customFields: Readonly<Record<string, string>>): Reachable => ({
  line: 2,
  given: '',
  phone: { digits: '4915112345678', countryCode: '49', country: 'DE', nationalNumber: '15112345678' },
  person: { firstName: '', lastName: '', email: '', customFields },
});
const manyFields = (count: number, value: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`field ${at}`, value]));
const known = (extent: KnownContact['extent']): KnownContact => ({
  id: 'known',
  firstName: '',
  lastName: '',
  email: '',
  consent: 'all',
  deleted: false,
  customFields: {},
  ...(extent !== undefined && { extent }),
});

describe('a new contact', () => {
  it('takes all custom fields of a row that fit', () => {
    const fields = manyFields(200, 'Bonn');
    expect(newContact(candidate(fields), { id: 'new', consent: 'all' }).customFields).toEqual(fields);
  });

  it.each(['x', '\u0001', '😀'])('leaves out custom fields beyond 64 KiB, of %j', (letter) => {
    const fields = manyFields(200, letter.repeat(255 * 2));
    const taken = newContact(candidate(fields), { id: 'new', consent: 'all' }).customFields;
    const oneMore = { ...taken, [`field ${Object.keys(taken).length}`]: letter.repeat(255 * 2) };
    expect(customFieldBytes(taken)).toBeLessThanOrEqual(maxCustomFieldBytes);
    expect(customFieldBytes(oneMore)).toBeGreaterThan(maxCustomFieldBytes);
  });
});

describe('a known contact', () => {
  it('takes only the fields that it lacks', () => {
    const present = known({ count: 1, bytes: 20, present: new Set(['city']) });
    const changed = changedContact(candidate({ city: 'Ulm', street: 'Ring' }), present);
    expect(changed?.newFields).toEqual({ street: 'Ring' });
    expect(changedContact(candidate({ city: 'Ulm' }), present)).toBeUndefined();
  });

  it('takes no more than 200 fields in all', () => {
    const present = known({ count: 198, bytes: 4_000, present: new Set() });
    const changed = changedContact(candidate({ a: '1', b: '2', c: '3' }), present);
    expect(changed?.newFields).toEqual({ a: '1', b: '2' });
  });

  it('takes the fields that fit into 64 KiB, also after one that does not', () => {
    const present = known({ count: 9, bytes: maxCustomFieldBytes - 30, present: new Set() });
    const changed = changedContact(candidate({ long: 'x'.repeat(100), short: '1' }), present);
    expect(changed?.newFields).toEqual({ short: '1' });
  });

  it('that is full is left as it is', () => {
    const present = known({ count: 250, bytes: 900_000, present: new Set() });
    expect(changedContact(candidate({ city: 'Ulm' }), present)).toBeUndefined();
  });
});
