import { expect, it } from 'vitest';
import { parseQuickContact } from '../../../src/domain/audience/quick-contact.ts';

it.each([
  ['+4915112345678', '+4915112345678', []],
  ['+4915112345678, Grace', '+4915112345678', ['Grace']],
  ['+4915112345678|Grace, Adm.|x;y', '+4915112345678', ['Grace, Adm.', 'x;y']],
  ['+49 151 12345678;a;b', '+49 151 12345678', ['a', 'b']],
  ['+4915112345678,,b', '+4915112345678', ['', 'b']],
  ['+4915112345678,a,', '+4915112345678', ['a']],
  ['+4915112345678,', '+4915112345678', []],
  ['', '', []],
])('reads %j', (entry, phone, values) => {
  expect(parseQuickContact(entry)).toEqual({ phone, values });
});
