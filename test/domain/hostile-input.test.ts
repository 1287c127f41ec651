/**
 * Inputs that took seconds to minutes when the work grew faster than their bytes. The limit is far above what they take
 * now (milliseconds) and far below what they took, so that a loaded machine does not fail it.
 */
import { expect, it } from 'vitest';
import {
  createConsentReader,
  defaultOptInWords,
  defaultOptOutWords,
} from '../../src/domain/callbacks/consent-words.ts';
import { guessColumns } from '../../src/domain/audience/guess-columns.ts';
import { Invalid } from '../../src/domain/error.ts';
import { parseTemplate } from '../../src/domain/templates/components.ts';
import { checkMapping } from '../../src/domain/templates/variable-mapping.ts';

const mostMs = 1_000;

const cpuMs = (work: () => unknown): number => {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
};

it('guesses the columns of cells that are almost an e-mail address', () => {
  const cell = `${'@.'.repeat(5_000)} x`;
  expect(cpuMs(() => guessColumns(['a'], [[cell]]))).toBeLessThan(mostMs);
});

it.each([
  ['a@b.c', true],
  ['@b.c', false],
  ['a@.c', false],
  ['a@b.', false],
  ['a b@c.d', false],
  ['a@b', false],
])('tells whether %s is an e-mail address: %s', (cell, isEmail) => {
  const { mapping } = guessColumns(['x', 'phone'], [[cell, '+4915112345678']]);
  expect(mapping.email_column).toBe(isEmail ? 0 : undefined);
});

it('looks for a word of consent in a text of 65,536 characters', () => {
  const read = createConsentReader({ optOutWords: defaultOptOutWords, optInWords: defaultOptInWords });
  expect(cpuMs(() => read({ texts: [`${'!'.repeat(65_530)} stop`], isTyped: true }))).toBeLessThan(mostMs);
  expect(read({ texts: ['... stop !'], isTyped: true })).toMatchObject({ category: 'ALL', allows: false });
});

it('checks a mapping whose text is as long as a request may be', () => {
  const csvKeys = new Map(Array.from({ length: 2_000 }, (_, at) => [`column ${at}`, at]));
  const text = 'x-'.repeat(150_000);
  const template = parseTemplate([{ type: 'BODY', text: 'Hi {{1}}' }], {});
  const check = () =>
    checkMapping(
      template,
      { body: { 1: text } },
      { selectionType: 'csv_contacts', csvKeys, now: new Date() },
    );
  expect(cpuMs(check)).toBeLessThan(mostMs);
  expect(check().problems).toEqual([
    {
      field: 'variable_mapping.body.1',
      message: 'variable_mapping.body.1 must have at most 32768 characters',
    },
  ]);
});

it('names some of 100,000 problems, within 48 KiB', () => {
  const problems = Array.from({ length: 100_000 }, (_, at) => ({
    field: `${at}`,
    message: 'm'.repeat(1_000),
  }));
  const { problems: shown } = Invalid.of(problems);
  expect(shown.length).toBeGreaterThan(50);
  expect(Buffer.byteLength(JSON.stringify(shown))).toBeLessThan(50 * 1_024);
});
