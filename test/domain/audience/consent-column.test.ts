import { describe, expect, it } from 'vitest';
import { consentReader, readListTime } from '../../../src/domain/audience/consent-column.ts';
import { guessColumns } from '../../../src/domain/audience/guess-columns.ts';

const phones = ['+4915112345601', '+4915112345602', '+4915112345603'];
const guess = (header: string, cells: readonly string[]) =>
  guessColumns(
    ['phone', header],
    cells.map((cell, at) => [phones[at] ?? '', cell]),
  ).mapping;

describe('guessing the column of consent', () => {
  it.each([
    ['Opt-out', ['ja', '', 'nein'], 'opt_out', undefined],
    ['optOut', ['true', 'false', ''], 'opt_out', undefined],
    ['Unsubscribed', ['1', '0', '0'], 'opt_out', undefined],
    ['Werbesperre', ['ja', 'nein', ''], 'opt_out', 'MARKETING'],
    ['Abgemeldet', ['x', '', ''], 'opt_out', undefined],
    ['DNC', ['Y', 'N', 'N'], 'opt_out', undefined],
    ['Do not contact', ['yes', 'no', 'no'], 'opt_out', undefined],
    ['Baja', ['sí', 'no', 'no'], 'opt_out', undefined],
    ['Désinscrit', ['oui', 'non', ''], 'opt_out', undefined],
    ['Descadastrado', ['sim', 'não', ''], 'opt_out', undefined],
    ['Отписался', ['да', 'нет', ''], 'opt_out', undefined],
    ['退订', ['是', '否', ''], 'opt_out', undefined],
    ['Einwilligung', ['ja', 'nein', 'ja'], 'opt_in', undefined],
    ['Newsletter', ['ja', 'nein', 'ja'], 'opt_in', 'MARKETING'],
    ['Accepts Marketing', ['yes', 'no', 'yes'], 'opt_in', 'MARKETING'],
    ['consentimiento', ['sí', 'no', 'sí'], 'opt_in', undefined],
    ['Zgoda', ['tak', 'nie', 'tak'], 'opt_in', undefined],
    ['İzin', ['evet', 'hayır', 'evet'], 'opt_in', undefined],
    ['Согласие', ['да', 'нет', 'да'], 'opt_in', undefined],
    ['No newsletter', ['yes', 'no', 'no'], 'opt_out', 'MARKETING'],
    ['Kein Newsletter', ['ja', 'nein', ''], 'opt_out', 'MARKETING'],
    ['Nicht einverstanden', ['ja', 'nein', ''], 'opt_out', undefined],
    ['Consent refused', ['yes', 'no', ''], 'opt_out', undefined],
    ['No acepta publicidad', ['sí', 'no', 'no'], 'opt_out', 'MARKETING'],
    ['Newsletter (yes/no)', ['yes', 'no', 'yes'], 'opt_in', 'MARKETING'],
  ])('finds %s', (header, cells, meaning, category) => {
    expect(guess(header, cells).consent).toEqual({ column: 1, meaning, ...(category && { category }) });
    expect(guess(header, cells).custom_field_mapping).toBeUndefined();
  });

  it.each([
    ['City', ['Köln', 'Bonn', '']],
    ['Subscription', ['basic', 'pro', 'basic']],
    ['Subscribed at', ['2024-05-01', '2024-05-02', '2024-05-03']],
    ['Block', ['A 17', 'B 4', 'C 9']],
  ])('leaves %s a custom field', (header, cells) => {
    const { consent, custom_field_mapping: custom } = guess(header, cells);
    expect([consent, custom]).toEqual([undefined, { [header]: 1 }]);
  });

  it('prefers a column of opt-outs to one of opt-ins', () => {
    const rows = phones.map((phone) => [phone, 'yes', 'no']);
    expect(guessColumns(['phone', 'Newsletter', 'Unsubscribed'], rows).mapping.consent?.column).toBe(2);
  });
});

describe('reading a cell of consent', () => {
  const kindOf = (cell: string, mapping: Parameters<typeof consentReader>[0] = {}) => {
    const read = consentReader({ column: 0, meaning: 'opt_out', ...mapping })([cell]);
    return read?.kind === 'decision' ? [read.allows, read.category] : read?.kind;
  };

  it.each([
    ['ja', [false, 'ALL']],
    ['Ja.', [false, 'ALL']],
    ['X', [false, 'ALL']],
    ['✓', [false, 'ALL']],
    ['2024-05-01', [false, 'ALL']],
    ['unsubscribed', [false, 'ALL']],
    ['no_marketing', [false, 'MARKETING']],
    ['subscribed', [true, 'MARKETING']],
    ['nein', undefined],
    ['', undefined],
    ['-', undefined],
    ['perhaps', 'unclear'],
    ['*', 'unclear'],
    ['🚫', 'unclear'],
  ])('takes %s in a column of opt-outs', (cell, expected) => {
    expect(kindOf(cell)).toEqual(expected);
  });

  it.each([
    ['ja', [true, 'MARKETING']],
    ['nein', [false, 'ALL']],
    ['unsubscribed', [false, 'ALL']],
    ['', undefined],
    ['-', undefined],
    ['?', 'unclear'],
    ['perhaps', 'unclear'],
  ])('takes %s in a column of opt-ins', (cell, expected) => {
    expect(kindOf(cell, { meaning: 'opt_in' })).toEqual(expected);
  });

  it('takes the words of the mapping, its category, and what holds for the others', () => {
    expect(kindOf('gekündigt', { opted_out: ['Gekündigt'] })).toEqual([false, 'ALL']);
    expect(kindOf('*', { opted_out: ['*'] })).toEqual([false, 'ALL']);
    expect(kindOf('', { opted_out: ['*'] })).toBeUndefined();
    expect(kindOf('ja', { category: 'MARKETING' })).toEqual([false, 'MARKETING']);
    expect(kindOf('', { others: 'opt_in' })).toEqual([true, 'MARKETING']);
  });

  it('does not guess what a plain yes means without a meaning', () => {
    expect(consentReader({ column: 0 })(['yes'])).toEqual({ kind: 'unclear', cell: 'yes' });
    expect(consentReader({ column: 0 })(['stop'])).toMatchObject({ allows: false });
  });

  it('takes the evidence from columns, else from the mapping', () => {
    const read = consentReader({
      column: 0,
      meaning: 'opt_in',
      text: 'Terms of 2024',
      text_column: 1,
      at_column: 2,
      url: 'https://shop.example.com',
    });
    const at = new Date('2024-05-01T00:00:00Z');
    expect(read(['yes', 'Yes, please', '01.05.2024'])).toMatchObject({
      text: 'Yes, please',
      url: 'https://shop.example.com',
      at,
    });
    expect(read(['yes', '', ''])).toMatchObject({ text: 'Terms of 2024', at: null });
  });
});

it.each([
  ['2024-05-01', '2024-05-01T00:00:00.000Z'],
  ['2024-05-01T10:20:30Z', '2024-05-01T10:20:30.000Z'],
  ['2024-05-01 10:20', '2024-05-01T10:20:00.000Z'],
  ['2024-05-01T10:20:00+02:00', '2024-05-01T08:20:00.000Z'],
  ['31.12.2024', '2024-12-31T00:00:00.000Z'],
  ['12/31/2024', '2024-12-31T00:00:00.000Z'],
  ['31.02.2024', undefined],
  ['yes', undefined],
  ['15112345678', undefined],
])('reads the time %s', (cell, expected) => {
  expect(readListTime(cell)?.toISOString()).toBe(expected);
});
