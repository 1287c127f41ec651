import { expect, it } from 'vitest';
import { readCountry } from '../../src/domain/country-cell.ts';

it.each([
  ['91', 'IN'],
  ['+91', 'IN'],
  ['0091', 'IN'],
  ['91.0', 'IN'],
  ["'+91", 'IN'],
  ['="91"', 'IN'],
  ['(+91)', 'IN'],
  ['+91-', 'IN'],
  ['IN', 'IN'],
  ['in', 'IN'],
  ['IND', 'IN'],
  ['en-IN', 'IN'],
  ['pt_BR', 'BR'],
  ['UK', 'GB'],
  ['EL', 'GR'],
  ['ET', 'ET'],
  ['NA', 'NA'],
  ['356', 'MT'],
  ['🇩🇪', 'DE'],
  ['🇩🇪 +49', 'DE'],
  ['971 - UAE', 'AE'],
  ['Deutschland (DE)', 'DE'],
  ['India (+91)', 'IN'],
  ['Alemania', 'DE'],
  ['Германия', 'DE'],
  ['ألمانيا', 'DE'],
  ['德国', 'DE'],
  ['ドイツ', 'DE'],
  ['독일', 'DE'],
  ['टोगो', 'TG'],
  ['टोंगा', 'TO'],
  ['Côte d’Ivoire', 'CI'],
  ['Ivory Coast', 'CI'],
  ['Türkei', 'TR'],
  ['TURKEY', 'TR'],
  ['EE.UU.', 'US'],
  ['السعودية', 'SA'],
  ['Korea, Republic of', 'KR'],
  ["Korea (Democratic People's Republic of)", 'KP'],
  ['Tanzania, United Republic of', 'TZ'],
  ['Iran (Islamic Republic of)', 'IR'],
  ['Netherlands (the)', 'NL'],
  ['Republic of Moldova', 'MD'],
  ['Congo (the Democratic Republic of the)', 'CD'],
  ['Congo, Republic of the', 'CG'],
  ['Bosnia & Herzegovina', 'BA'],
  ['Guernsey', 'GG'],
])('reads %s as %s', (cell, country) => {
  const reading = readCountry(cell);
  expect(reading.kind === 'country' ? reading.plan?.country : reading.kind).toBe(country);
});

it.each([
  ['+1-809', 'DO', '809'],
  ['1809', 'DO', '809'],
  ['+1-787 and 1-939', 'PR', '787'],
])('reads %s as %s with the area %s', (cell, country, completes) => {
  expect(readCountry(cell)).toMatchObject({ plan: { country }, completes });
});

it.each([
  ['IN 92', 'contradiction'],
  ['Germany +91', 'contradiction'],
  ['Atlantis', 'unknown'],
  ['Congo', 'unknown'],
  ['999', 'unknown'],
  ['', 'none'],
  ['#N/A', 'none'],
  ['-', 'none'],
])('calls %j %s', (cell, kind) => {
  expect(readCountry(cell).kind).toBe(kind);
});
