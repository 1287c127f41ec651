/** Campaigns as large as a body may be, full of valid values or of values that are almost valid. */
import { createCampaign } from '../../src/api/campaigns/create.ts';
import { list, mebibyte, repeated, slack, withValue, type Hostile } from './hostile-json.ts';

const campaign = (fields: object) => {
  const { name, template_id, send_type } = createCampaign.declaration.bodyExample as Record<string, string>;
  return { name, template_id, send_type, ...fields };
};
const csvCampaign = campaign({
  contact_selection_type: 'csv_contacts',
  csv_mapping: { phone_column: 0, country_code_column: 1 },
  variable_mapping: { body: { '1': 'x' } },
});
const quickCampaign = campaign({
  contact_selection_type: 'quick_contacts',
  variable_mapping: { body: { '1': 'x' } },
});
const allOfIt = (createCampaign.declaration.bodyLimit ?? mebibyte) - slack;

/** The fields that may be larger than a mebibyte, full of valid and of almost valid values. */
const creations: readonly Hostile[] = [
  ['quick_contacts', 'numbers', () => list('"+4915112345678"', allOfIt)],
  ['quick_contacts', 'numbers that only libphonenumber can check', () => list('"+4901511234567"', allOfIt)],
  ['quick_contacts', 'values', () => list('"+4915112345678,a,b,c,d,e,f,g,h"', allOfIt)],
  ['quick_contacts', 'one entry of separators', () => `["+4915112345678${repeated(',a', allOfIt)}"]`],
  ['quick_contacts', 'one character', () => `"${repeated('a', allOfIt)}"`],
  ['csv_contacts_string', 'rows', () => `"phone,country\\n${repeated('15112345678,49\\n', allOfIt)}"`],
  ['csv_contacts_string', 'blank lines', () => `"phone,country\\n${repeated('\\n', allOfIt)}"`],
  ['csv_contacts_string', 'columns', () => `"${repeated('a,', allOfIt)}"`],
  ['csv_contacts_string', 'quotes', () => `"phone,country\\n${repeated('\\"', allOfIt)}"`],
  ['csv_contacts_string', 'an open quote', () => `"phone,country\\n\\"${repeated('a\\n', allOfIt)}"`],
  ['csv_contacts_string', 'escapes', () => `"phone,country\\n${repeated('\\u0041', allOfIt)}"`],
].map(([field, what, json]) => ({
  what: `${field as string}: ${what as string}, in full`,
  body: () =>
    withValue(
      field === 'quick_contacts' ? quickCampaign : csvCampaign,
      [field as string],
      (json as () => string)(),
    ),
}));
/** By operation. */
export const largeInputs: Readonly<Record<string, readonly Hostile[]>> = {
  createCampaign: creations,
  checkCampaign: creations,
};
