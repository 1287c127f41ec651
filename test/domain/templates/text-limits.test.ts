import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseTemplate } from '../../../src/domain/templates/components.ts';
import { contactSlotsResolver } from '../../../src/domain/templates/contact-slots.ts';
import type { TemplateDefinition } from '../../../src/domain/templates/definition.ts';
import { valuesFromMapping, valuesFromVariables } from '../../../src/domain/templates/input.ts';
import { payloadSkeleton } from '../../../src/domain/templates/payload-skeleton.ts';
import { resolveVariables } from '../../../src/domain/templates/recipient-variables.ts';
import { checkMapping, compileMapping } from '../../../src/domain/templates/variable-mapping.ts';
import { templateFixtures } from '../../support/template-fixtures.ts';

const now = new Date('2026-11-21T09:00:00Z');
const options = { selectionType: 'all_contacts', now } as const;

/** The provider's limits, by the path of a value and the kind of its template. */
const maxOf = (path: string, definition: TemplateDefinition): number => {
  if (path.endsWith('.url_suffix')) return 2_000;
  if (path.endsWith('.coupon_code')) return definition.hasOffer ? 15 : 20;
  if (path.endsWith('.title')) return 24;
  if (definition.authentication) return 15;
  if (path.startsWith('header')) return 60;
  if (path.startsWith('carousel')) return 160;
  return definition.hasOffer ? 600 : 1_024;
};

type Path = readonly string[];

const pathsOf = (value: unknown, path: Path = []): readonly Path[] => {
  if (value === 'value' || value === 'CODE') return [path];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => pathsOf(item, [...path, key]));
};

const withValue = (value: unknown, [key, ...rest]: Path, text: string): unknown => {
  if (key === undefined) return text;
  if (Array.isArray(value))
    return value.map((item, at) => (String(at) === key ? withValue(item, rest, text) : item));
  const record = value as Readonly<Record<string, unknown>>;
  return { ...record, [key]: withValue(record[key], rest, text) };
};

const limited = /(body|header)\.\w+$|\.(url_suffix|coupon_code|title)$/;
const unlimited = /header\.(latitude|longitude|name|address|product|link)/;

interface Case {
  readonly name: string;
  readonly definition: TemplateDefinition;
  /** The mapping with this text as one of its values. */
  readonly mappingWith: (text: string) => unknown;
  /** How the text that contains the value is called. */
  readonly part: string;
  readonly max: number;
  /** Characters that the value may have. */
  readonly room: number;
}

const lengthOf = (text: string): number => Array.from(text).length;

/** Every value of every kind of template, if it counts towards a limit. */
const cases = templateFixtures.flatMap((fixture): readonly Case[] => {
  const definition = parseTemplate(fixture.components, fixture);
  if (definition.isBodyOnly) return [];
  const { variableMapping } = payloadSkeleton(definition, { templateId: '', now });
  return pathsOf(variableMapping).flatMap((path): readonly Case[] => {
    const name = path.join('.');
    if (!limited.test(name) || unlimited.test(name)) return [];
    const max = maxOf(name, definition);
    const isText = /(body|header)\.\w+$/.test(name) && !definition.authentication;
    const card = path[0] === 'carousel' ? definition.carousel?.cards[Number(path[1])] : definition;
    const button = path.at(-1) === 'url_suffix' ? card?.buttons[Number(path.at(-2))] : undefined;
    const section = path.at(-2) === 'header' ? card?.header : card?.body;
    const text = isText && section !== undefined && 'text' in section ? section : undefined;
    const written = text?.text ?? '';
    const uses = written.split(new RegExp(`\\{\\{\\s*${path.at(-1)}\\s*\\}\\}`)).length - 1;
    if (isText && uses !== 1) return [];
    const other = (whole: string, key: string): string => {
      if (key === path.at(-1)) return '';
      return text?.variables.includes(key) === true ? 'value' : whole;
    };
    const around = button?.kind === 'url' ? lengthOf(button.prefix + button.suffix) : 0;
    const fixed = isText ? lengthOf(written.replaceAll(/\{\{\s*(\w+)\s*\}\}/g, other)) : around;
    const part = isText ? path.slice(0, -1).join('.') : name;
    const mappingWith = (value: string) => withValue(variableMapping, path, value);
    return [{ name: `${fixture.kind}: ${name}`, definition, mappingWith, part, max, room: max - fixed }];
  });
});

const contactNamed = (firstName: string) => ({
  firstName,
  lastName: '',
  email: '',
  phoneNumber: '1',
  countryCode: '49',
});

/** What each of the places says of the value; undefined if it accepts it. */
const verdicts = ({ definition, mappingWith }: Case, text: string): readonly (string | undefined)[] => {
  const single = valuesFromMapping(definition, mappingWith(text), { now });
  const [created] = checkMapping(definition, mappingWith(text), options).problems;
  const compiled = compileMapping(definition, mappingWith('firstName'), options);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  const { plan, resolvers } = compiled.mapping;
  const prepared = resolveVariables(resolvers, { contact: contactNamed(text) }, plan.limits);
  const short = resolveVariables(resolvers, { contact: contactNamed('A') }, plan.limits);
  if (!short.ok) throw new Error(short.skip.detail);
  const claimed = contactSlotsResolver(plan)(short.values, contactNamed(text));
  return [
    single.ok ? undefined : single.problems[0]?.message,
    created?.message,
    ...[prepared, claimed].map((result) =>
      result.ok ? undefined : `${result.skip.reason} ${result.skip.detail}`,
    ),
  ];
};

describe.each(cases)('$name', (limit) => {
  const { part, max, room } = limit;
  const words = `${part}: ${(max + 1).toLocaleString('en-US')} of ${max.toLocaleString('en-US')}`;

  test('may be as long as the provider allows, and not one character longer, wherever it is given', () => {
    expect(verdicts(limit, 'x'.repeat(room))).toEqual([undefined, undefined, undefined, undefined]);
    expect(verdicts(limit, 'x'.repeat(room + 1))).toEqual([
      `variableMapping.${part} is too long (${words} characters)`,
      `variable_mapping.${part} is too long (${words} characters)`,
      `TEXT_TOO_LONG ${words}`,
      `TEXT_TOO_LONG ${words}`,
    ]);
  });
});

test('covers every kind of text', () => {
  const kinds = new Set(cases.map(({ max }) => max));
  expect([...kinds].toSorted((one, other) => one - other)).toEqual([15, 20, 24, 60, 160, 600, 1_024, 2_000]);
});

const definitionOf = (kind: string): TemplateDefinition => {
  const fixture = templateFixtures.find((known) => known.kind === kind);
  if (fixture === undefined) throw new Error(kind);
  return parseTemplate(fixture.components, fixture);
};

test('counts code points, not units of UTF-16', () => {
  const definition = definitionOf('document header');
  const mapping = (text: string) => ({ header: { id: '1' }, body: { 1: text } });
  const room = 1_024 - lengthOf('Your invoice ');
  expect(checkMapping(definition, mapping('😀'.repeat(room)), options).problems).toEqual([]);
  expect(checkMapping(definition, mapping('😀'.repeat(room + 1)), options).problems).toHaveLength(1);
});

test('counts a value once for each time that the text repeats it', () => {
  const definition = parseTemplate(
    [
      { type: 'BODY', text: '{{1}}{{2}}{{1}}' },
      { type: 'FOOTER', text: 'Bye' },
    ],
    {},
  );
  const mapping = { body: { 1: 'firstName', 2: 'lastName' } };
  const compiled = compileMapping(definition, mapping, options);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  const { plan, resolvers } = compiled.mapping;
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 600 }), fc.integer({ min: 1, max: 600 }), (first, last) => {
      const contact = { ...contactNamed('x'.repeat(first)), lastName: 'y'.repeat(last) };
      expect(resolveVariables(resolvers, { contact }, plan.limits).ok).toBe(2 * first + last <= 1_024);
    }),
  );
});

test('only warns about a long text of a template that is nothing but a body', () => {
  const definition = definitionOf('named by its examples only');
  const mapping = { body: { customer: 'x'.repeat(1_091 - 'Hi '.length) } };
  expect(checkMapping(definition, mapping, options)).toEqual({
    problems: [],
    warnings: [
      {
        field: 'variable_mapping.body',
        message:
          'variable_mapping.body is too long (body: 1,091 of 1,024 characters): the provider may refuse it',
      },
    ],
  });
  expect(valuesFromMapping(definition, mapping, { now }).ok).toBe(true);
});

test('says how many characters are left for a field, if the rest takes more than half', () => {
  const definition = definitionOf('text header and body');
  const mapping = (code: string) => ({ header: { 1: 'Sale' }, body: { 1: 'lastName', 2: code } });
  const room = 1_024 - lengthOf('Hi , code , again ');
  expect(checkMapping(definition, mapping('x'.repeat(room - 212)), options).warnings).toEqual([
    {
      field: 'variable_mapping.body.1',
      message:
        'variable_mapping.body.1 may have 212 characters together: recipients with longer values are skipped',
    },
  ]);
  expect(checkMapping(definition, mapping('x'), options).warnings).toEqual([]);
});

test('warns about a coupon code, a payload and a place that only some of the provider’s rules forbid', () => {
  const fields = (kind: string, mapping: unknown): readonly string[] => {
    const { problems, warnings } = checkMapping(definitionOf(kind), mapping, options);
    expect(problems).toEqual([]);
    return warnings.map(({ field }) => field);
  };
  const buttons = { 0: 'p'.repeat(257), 3: 'x', 4: 'X'.repeat(16) };
  expect(fields('static buttons before dynamic ones', { body: { 1: 'a' }, buttons })).toEqual([
    'variable_mapping.buttons.0.payload',
    'variable_mapping.buttons.4.coupon_code',
  ]);
  const place = { latitude: '1', longitude: '2', name: 'n'.repeat(101), address: 'a'.repeat(301) };
  expect(fields('location header', { header: place })).toEqual([
    'variable_mapping.header.name',
    'variable_mapping.header.address',
  ]);
});

test.each(['SAVE-10', 'SPÄTER', 'SAVE 10', 'код'])('refuses the coupon code %s', (code) => {
  const definition = definitionOf('static buttons before dynamic ones');
  const mapping = { body: { 1: 'a' }, buttons: { 3: 'x', 4: code } };
  const message = 'variable_mapping.buttons.4 must consist of letters a to z and digits only';
  expect(checkMapping(definition, mapping, options).problems).toEqual([
    { field: 'variable_mapping.buttons.4', message },
  ]);
});

test('names the longest of the variables that make a text too long', () => {
  const definition = definitionOf('text header and body');
  const result = valuesFromVariables(definition, ['Sale', 'Ada', 'x'.repeat(1_100)], { now });
  const field = 'variables.2';
  const message = `${field} is too long (body: 1,124 of 1,024 characters)`;
  expect(result).toEqual({ ok: false, problems: [{ field, message }] });
});
