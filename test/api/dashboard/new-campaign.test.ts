/** The form of a new campaign without a browser: its variables, the fields of contacts, and a copy's uploaded file. */
import { expect, it } from 'vitest';
import { callingCodes } from '../../../dashboard/src/countries.ts';
import { moneyTotal } from '../../../dashboard/src/format.ts';
import { changesOf } from '../../../dashboard/src/screens/activity/actions.ts';
import {
  columnsOf,
  contactValue,
  customKey,
} from '../../../dashboard/src/screens/new-campaign/contact-columns.ts';
import {
  constantsOf,
  fieldsOf,
  mappingOf,
  uploadNameOf,
} from '../../../dashboard/src/screens/new-campaign/fields.ts';
import { variablesOf } from '../../../dashboard/src/screens/new-campaign/mapping.ts';
import { planCountries, planOfCountry } from '../../../src/domain/numbering-plans.ts';
import { parseTemplate } from '../../../src/domain/templates/components.ts';

const template = parseTemplate(
  [
    { type: 'HEADER', format: 'IMAGE' },
    { type: 'BODY', text: 'Hello {{1}}, your code is {{2}} until {{3}}.' },
  ],
  {},
);

const person = {
  firstName: 'Ada',
  lastName: '',
  email: '',
  phoneNumber: '15112345678',
  countryCode: '49',
  customFields: [
    { fieldId: 'Kundennr', value: 'K-7' },
    { fieldId: 'Umsatz 2026', value: '5000' },
    { fieldId: 'Email', value: 'x' },
    { fieldId: '{odd}', value: 'y' },
  ],
};

const fields = person.customFields.map(({ fieldId, value }) => ({ id: fieldId, examples: [value] }));

it('offers the custom fields of contacts as variables, each with an example', () => {
  const { labels, examples } = columnsOf(fields);
  expect(labels).toMatchObject({
    firstName: 'First name',
    'custom.Kundennr': 'Kundennr',
    '{{custom.Umsatz 2026}}': 'Umsatz 2026',
    'custom.Email': 'Email (custom field)',
  });
  expect(Object.values(labels).join()).not.toContain('odd');
  expect(examples['Kundennr']).toBe('K-7');
  const contact = person as unknown as Parameters<typeof contactValue>[0];
  expect(contactValue(contact, customKey('Umsatz 2026'))).toBe('5000');
  expect(contactValue(contact, 'custom.Other')).toBe('');
  expect(contactValue(contact, 'constructor')).toBeUndefined();
});

it('names the variables that hold one text for everybody', () => {
  const variables = {
    'header.link': { value: 'https://example.com/a.png', fallback: '' },
    'body.1': { value: 'Vorname', fallback: '' },
    'body.2': { value: 'custom.Kundennr', fallback: '' },
    'body.3': { value: 'Dear {{firstName}}', fallback: '' },
  };
  const { labels } = columnsOf(fields);
  expect(constantsOf(fieldsOf(template, variables), variables, labels)).toEqual([
    { label: 'Body {{1}}', text: 'Vorname' },
  ]);
});

it('shows the uploaded file of a copied campaign, and sends it unless it is removed', () => {
  const copied = variablesOf({ header: { id: '1000' }, body: { 1: 'firstName' } }, 'Uploaded for “Autumn”');
  const { value = '' } = copied['header.link'] ?? {};
  expect(uploadNameOf(value)).toBe('Uploaded for “Autumn”');
  expect(mappingOf(copied)).toEqual({ header: { id: '1000' }, body: { 1: 'firstName' } });
  expect(mappingOf({ ...copied, 'header.link': { value: '', fallback: '' } })).toEqual({
    body: { 1: 'firstName' },
  });
});

it('knows the calling code of every country with a numbering plan', () => {
  const known = planCountries.filter((country) => /^[A-Z]{2}$/.test(country));
  expect([...callingCodes].toSorted()).toEqual(
    known.map((country) => [country, planOfCountry(country)?.callingCode]).toSorted(),
  );
});

it('writes totals with two places, and less than a cent by its first digits', () => {
  expect(
    ['178.8848', '0.546', '5000.1022', '0', '0.0042'].map((amount) => moneyTotal(amount, 'USD')),
  ).toEqual(['178.88 USD', '0.55 USD', '5,000.10 USD', '0.00 USD', '0.0042 USD']);
});

it('says what an action changed', () => {
  expect(changesOf({ amount: '5000' }, 'USD')).toEqual(['Amount: 5,000.00 USD']);
  expect(changesOf({ after: null }, '')).toEqual(['Now none']);
  expect(changesOf({ sending_window: '08:00 to 20:00', max_cost: null }, '')).toEqual([
    'Sending window: 08:00 to 20:00',
    'Maximum cost: none',
  ]);
  expect(changesOf({ name: 'Autumn' }, '')).toEqual([]);
  expect(changesOf(null, '')).toEqual([]);
});
