import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseTemplate } from '../../../src/domain/templates/components.ts';
import { compileRenderer } from '../../../src/domain/templates/plan.ts';
import { resolveVariables, type RecipientSource } from '../../../src/domain/templates/recipient-variables.ts';
import {
  checkMapping,
  compileMapping,
  type CompiledMapping,
  type MappingOptions,
} from '../../../src/domain/templates/variable-mapping.ts';
import { templateFixture } from '../../support/template-fixtures.ts';

const now = new Date('2026-11-21T09:00:00Z');
const later = now.getTime() + 60_000;

const definitionOf = (kind: string) => {
  const fixture = templateFixture(kind);
  return parseTemplate(fixture.components, fixture);
};

const bodyOf = (text: string) => parseTemplate([{ type: 'BODY', text }], {});

interface Case {
  readonly template?: ReturnType<typeof bodyOf>;
  readonly mapping: unknown;
  readonly options?: Partial<MappingOptions>;
}

const compile = ({ template = bodyOf('Hi {{1}}'), mapping, options }: Case) =>
  compileMapping(template, mapping, { selectionType: 'all_contacts', now, ...options });

const compiled = (input: Case): CompiledMapping => {
  const result = compile(input);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.mapping;
};

const problemsOf = (input: Case): readonly string[] => {
  const result = compile(input);
  return result.ok ? [] : result.problems.map(({ field }) => field);
};

/** The texts of the body as they are sent, or the variable that is missing. */
const bodyFor = (input: Case, source: RecipientSource): readonly string[] | string => {
  const mapping = compiled(input);
  const resolved = resolveVariables(mapping.resolvers, source);
  if (!resolved.ok) return resolved.skip.detail;
  const components = compileRenderer(mapping.plan)(resolved.values) as readonly {
    readonly type: string;
    readonly parameters: readonly { readonly text: string }[];
  }[];
  const parameters = components.find(({ type }) => type === 'body')?.parameters ?? [];
  return parameters.map(({ text }) => text);
};

const ada: RecipientSource = {
  contact: {
    firstName: 'Ada',
    lastName: '',
    email: 'ada@example.com',
    phoneNumber: '1701234567',
    countryCode: '49',
    customFields: { city: 'Berlin', empty: '', 'home town': 'Ulm' },
  },
};

describe('a mapped value', () => {
  test.each<[string, string, readonly string[] | string]>([
    ['a field name', 'firstName', ['Ada']],
    ['a placeholder', '{{firstName}}', ['Ada']],
    ['a custom field', 'custom.city', ['Berlin']],
    ['a custom field inside text', 'Hello {{ custom.city }}!', ['Hello Berlin!']],
    ['a custom field that the contact has not', 'custom.constructor', 'body.1'],
    ['an empty custom field', 'From {{custom.empty}}', 'body.1'],
    ['a custom field with white space in its name', '{{custom.home town}}', ['Ulm']],
    ['a text that begins like a custom field', 'custom. Thanks', ['custom. Thanks']],
    ['a prefix without a name', 'custom.', ['custom.']],
    ['a placeholder with spaces', '{{ email }}', ['ada@example.com']],
    [
      'placeholders inside text',
      'Dear {{firstName}} (+{{countryCode}} {{phoneNumber}})',
      ['Dear Ada (+49 1701234567)'],
    ],
    ['a static text', 'friend', ['friend']],
    ['an unknown name', '{{nickname}}', ['{{nickname}}']],
    ['an unknown name beside a known one', '{{nickname}} {{firstName}}', ['{{nickname}} Ada']],
    ['a name in lower case', 'firstname', ['firstname']],
    ['an empty field', 'lastName', 'body.1'],
    ['a text with an empty placeholder', 'Dear {{lastName}}', 'body.1'],
    ['line breaks and wide gaps in static text', 'a\r\n\tb      c', ['a b c']],
  ])('of %s resolves', (_, value, expected) => {
    expect(bodyFor({ mapping: { body: { 1: value } } }, ada)).toEqual(expected);
  });

  test.each<[string, RecipientSource, readonly string[] | string]>([
    ['another placeholder', { contact: { firstName: '{{email}}', email: 'x@example.com' } }, ['{{email}}']],
    ['line breaks, tabs and wide gaps', { contact: { firstName: ' A\n\nda\t\tK.     L. ' } }, ['A da K. L.']],
    ['nothing but white space', { contact: { firstName: '  \n ' } }, 'body.1'],
    ['null', { contact: { firstName: null } }, 'body.1'],
    ['no contact', {}, 'body.1'],
  ])('is resolved once when the contact holds %s', (_, source, expected) => {
    expect(bodyFor({ mapping: { body: { 1: 'firstName' } } }, source)).toEqual(expected);
  });

  test.each([
    ['the field is empty', 'lastName', ['friend']],
    ['a placeholder is empty', 'Dear {{lastName}}', ['friend']],
    ['the field is there', 'firstName', ['Ada']],
  ])('falls back to default_values when %s', (_, value, expected) => {
    const mapping = { body: { 1: value }, default_values: { body: { 1: 'friend' } } };
    expect(bodyFor({ mapping }, ada)).toEqual(expected);
  });

  test('is the default when nothing is mapped, the same for everyone', () => {
    const mapping = compiled({ mapping: { default_values: { body: { 1: 'friend' } } } });
    expect(mapping.resolvers).toEqual([]);
  });
});

describe('a CSV campaign', () => {
  const csvKeys = new Map([
    ['name_column', 1],
    ['Order ID', 2],
    ['email', 3],
    ['constructor', 0],
  ]);
  const options = { selectionType: 'csv_contacts', csvKeys } as const;
  const source = { ...ada, row: ['4917', 'Grace Hopper', '77', 'csv@example.com'] };

  test.each<[string, string, readonly string[] | string]>([
    ['a key of csv_mapping', 'name_column', ['Grace Hopper']],
    ['a custom field', 'Order ID', ['77']],
    ['a custom field inside text', 'No. {{Order ID}}', ['No. 77']],
    ['a CSV key of the same name as a contact field', '{{email}}', ['csv@example.com']],
    ['a contact field', 'firstName', ['Ada']],
    ['a custom field called like a property', 'constructor', ['4917']],
  ])('resolves %s', (_, value, expected) => {
    expect(bodyFor({ mapping: { body: { 1: value } }, options }, source)).toEqual(expected);
  });

  test('never takes more of long cells than the provider accepts as one text', () => {
    const mapping = { body: { 1: '{{Order ID}}'.repeat(85) } };
    const long = { ...ada, row: ['4917', 'Grace Hopper', 'x'.repeat(1_000_000)] };
    const [text = ''] = bodyFor({ mapping, options }, long);
    expect(text.length).toBe(32_768);
  });

  test('misses the cell of a short row', () => {
    expect(bodyFor({ mapping: { body: { 1: 'Order ID' } }, options }, { row: ['4917'] })).toBe('body.1');
  });

  test('is refused when it names a column that csv_mapping leaves out', () => {
    const mapping = { body: { 1: 'email_column' } };
    expect(problemsOf({ mapping, options })).toEqual(['variable_mapping.body.1']);
    expect(problemsOf({ mapping: { ...mapping, default_values: { body: { 1: 'x' } } }, options })).toEqual(
      [],
    );
  });

  test('is the only kind in which the keys of csv_mapping mean anything', () => {
    expect(bodyFor({ mapping: { body: { 1: 'name_column' } } }, ada)).toEqual(['name_column']);
  });
});

describe('inline values', () => {
  const template = bodyOf('Hi {{1}}, {{2}}');
  const options = { selectionType: 'quick_contacts', inlineCount: 2 } as const;

  test.each<[string, readonly string[], readonly string[] | string]>([
    ['win over the mapping', ['Inline', 'X'], ['Inline', 'X']],
    ['give way to the mapping where they are empty', ['', 'X'], ['Ada', 'X']],
    ['give way to the default where nothing is mapped', ['A'], ['A', 'dflt']],
    ['may all be absent', [], ['Ada', 'dflt']],
  ])('%s', (_, inline, expected) => {
    const mapping = { body: { 1: 'firstName' }, default_values: { body: { 2: 'dflt' } } };
    expect(bodyFor({ template, mapping, options }, { ...ada, inline })).toEqual(expected);
  });

  test('may be all a campaign has', () => {
    expect(bodyFor({ template, mapping: undefined, options }, { inline: ['a', 'b'] })).toEqual(['a', 'b']);
    expect(bodyFor({ template, mapping: undefined, options }, { inline: ['a'] })).toBe('body.2');
  });

  test('do not excuse a variable that none of them reaches', () => {
    const found = problemsOf({ template, mapping: undefined, options: { ...options, inlineCount: 1 } });
    expect(found).toEqual(['variable_mapping.body.2']);
  });
});

const card = { header: { link: 'https://a.example/i.jpg' }, body: { 1: 'a' }, buttons: [null, 'x'] };
const withCards = (...carousel: readonly unknown[]) => ({ body: { 1: 'a' }, carousel });

describe('a mapping is refused at creation', () => {
  test.each<[string, string, unknown, readonly string[]]>([
    [
      'for a variable that nothing gives',
      'text header and body',
      { header: { 1: 'a' }, body: { 1: 'a' } },
      ['body.2'],
    ],
    ['without any mapping', 'image header', undefined, ['header.link', 'body.1']],
    [
      'for a static text that is empty',
      'image header',
      { header: { id: '1' }, body: { 1: ' ' } },
      ['body.1'],
    ],
    [
      'for a position beyond the template',
      'image header',
      { header: { id: '1' }, body: { 1: 'a', 2: 'b' } },
      ['body.2'],
    ],
    ['for a header the template has not', 'static text', { header: { 1: 'a' } }, ['header.1']],
    [
      'for media where the template has none',
      'static text',
      { header: { link: 'https://files.test/a.jpg' } },
      ['header.link'],
    ],
    [
      'for a product where the template shows an image',
      'image header',
      { header: { id: '1', product: {} }, body: { 1: 'a' } },
      ['header.product'],
    ],
    [
      'for a button the template has not',
      'flow',
      { buttons: [{ type: 'flow' }, { type: 'url' }] },
      ['buttons.1'],
    ],
    ['for a carousel the template has not', 'static text', { carousel: [{}] }, ['carousel']],
    [
      'for a default beyond the template',
      'static text',
      { default_values: { body: { 1: 'a' } } },
      ['default_values.body.1'],
    ],
    ['for a value that is no text', 'image header', { header: { id: '1' }, body: { 1: 7 } }, ['body.1']],
    [
      'for a default that is no text',
      'image header',
      { header: { id: '1' }, body: { 1: 'a' }, default_values: { body: { 1: 7 } } },
      ['default_values.body.1'],
    ],
    [
      'for a static link that is none',
      'image header',
      { header: { link: 'x' }, body: { 1: 'a' } },
      ['header.link'],
    ],
    ['for a card too few', 'media carousel', withCards(card), ['carousel']],
    [
      'for a value of a card',
      'media carousel',
      withCards(card, { ...card, body: { 1: 'a', 2: 'b' }, buttons: [] }),
      ['carousel.1.body.2', 'carousel.1.buttons.1.url_suffix'],
    ],
    [
      'for an offer that has expired by then',
      'offer with a code',
      {
        header: { id: '1' },
        body: { 1: 'a' },
        buttons: ['C', 'x'],
        limited_time_offer: { expiration_time_ms: now.getTime() },
      },
      ['limited_time_offer.expiration_time_ms'],
    ],
    [
      'for two codes',
      'authentication COPY_CODE',
      { body: { 1: 'firstName' }, buttons: [{ otp: 'email' }] },
      ['buttons.0.otp'],
    ],
  ])('%s', (_, kind, mapping, fields) => {
    expect(problemsOf({ template: definitionOf(kind), mapping })).toEqual(
      fields.map((field) => `variable_mapping.${field}`),
    );
  });

  test('not for keys that mean nothing, at any depth', () => {
    const mapping: unknown = JSON.parse(
      '{"zz":1,"__proto__":{"body":{}},"body":{"1":"a","zz":{},"__proto__":"x"},"footer":{"1":"f"},"default_values":{"zz":1}}',
    );
    expect(problemsOf({ mapping })).toEqual([]);
  });
});

test('freezes only what differs, each value once', () => {
  const mapping = compiled({
    template: definitionOf('media carousel'),
    mapping: {
      body: { 1: 'firstName' },
      carousel: [
        { ...card, body: { 1: 'firstName' } },
        { ...card, body: { 1: 'Only for {{firstName}}' }, buttons: { 1: 'phoneNumber' } },
      ],
    },
  });
  const resolved = resolveVariables(mapping.resolvers, ada);
  expect(resolved).toEqual({ ok: true, values: ['Ada', 'Only for Ada', '1701234567'] });
  expect(
    JSON.stringify(compileRenderer(mapping.plan)(['Ada', 'Only for Ada', '17'])).match(/"Ada"/g),
  ).toHaveLength(2);
});

test('keeps 65,536 characters of the values of a recipient', () => {
  const names = Array.from({ length: 20 }, (_, at) => String(at + 1));
  const mapping = compiled({
    template: bodyOf(names.map((name) => `{{${name}}}`).join(' ')),
    mapping: { body: Object.fromEntries(names.map((name) => [name, `custom.long${name}`])) },
  });
  const resolved = resolveVariables(mapping.resolvers, {
    contact: {
      ...ada.contact,
      customFields: Object.fromEntries(names.map((name) => [`long${name}`, 'x'.repeat(5_000)])),
    },
  });
  const values = resolved.ok ? resolved.values : [];
  expect(values).toHaveLength(mapping.resolvers.length);
  expect(values.join('')).toHaveLength(65_536);
});

test('names the card of a missing value', () => {
  const mapping = compiled({
    template: definitionOf('media carousel'),
    mapping: { ...withCards(card, { ...card, body: { 1: 'lastName' } }) },
  });
  expect(resolveVariables(mapping.resolvers, ada)).toEqual({
    ok: false,
    skip: { reason: 'MISSING_VARIABLE', detail: 'carousel.1.body.1' },
  });
});

test('takes the defaults of a card and of a button', () => {
  const mapping = compiled({
    template: definitionOf('media carousel'),
    mapping: {
      ...withCards({ ...card, body: { 1: 'lastName' } }, { ...card, buttons: [] }),
      default_values: { carousel: [{ body: { 1: 'you' } }, { buttons: { 1: 'default-suffix' } }] },
    },
  });
  const resolved = resolveVariables(mapping.resolvers, ada);
  expect(resolved).toEqual({ ok: true, values: ['you'] });
  expect(JSON.stringify(mapping.plan.components)).toContain('default-suffix');
});

test('takes the static part off a URL that comes out of a contact', () => {
  const mapping = compiled({
    template: definitionOf('offer without a code or an expiry'),
    mapping: { body: { 1: 'a' }, buttons: [{ type: 'url', url_suffix: '{{email}}' }] },
  });
  const source = { contact: { email: 'https://shop.example.com/track/99' } };
  expect(resolveVariables(mapping.resolvers, source)).toEqual({ ok: true, values: ['99'] });
});

test('keeps an offer that ends after the campaign has begun', () => {
  const mapping = {
    header: { id: '1' },
    body: { 1: 'firstName' },
    buttons: ['CODE', 'email'],
    limited_time_offer: { expiration_time_ms: later },
  };
  expect(problemsOf({ template: definitionOf('offer with a code'), mapping })).toEqual([]);
});

test('survives being stored, with any JSON in the static part', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), (data, token) => {
      const mapping = compiled({
        template: definitionOf('flow'),
        mapping: { buttons: [{ type: 'flow', flow_token: 't {{firstName}}', flow_action_data: data }] },
      });
      const stored: typeof mapping.plan = JSON.parse(JSON.stringify(mapping.plan));
      const action = { flow_token: token, flow_action_data: JSON.parse(JSON.stringify(data)) as unknown };
      expect(compileRenderer(stored)([token])).toEqual([
        { type: 'button', sub_type: 'flow', index: '0', parameters: [{ type: 'action', action }] },
      ]);
    }),
  );
});

test('never fails on what a mapping holds', () => {
  const definitions = [
    'offer with a code',
    'media carousel',
    'multi-product',
    'authentication COPY_CODE',
  ].map(definitionOf);
  const section = fc.oneof(
    fc.jsonValue(),
    fc.dictionary(fc.constantFrom('1', 'link', '__proto__'), fc.jsonValue()),
  );
  const mapping = fc.record({
    header: section,
    body: section,
    buttons: section,
    carousel: section,
    default_values: section,
  });
  fc.assert(
    fc.property(fc.constantFrom(...definitions), mapping, (template, given) => {
      const result = compile({ template, mapping: given });
      expect(result.ok || result.problems.length > 0).toBe(true);
    }),
  );
});

describe('a name that is nearly a field', () => {
  const warningsOf = (text: string, selectionType: MappingOptions['selectionType'] = 'csv_contacts') =>
    checkMapping(
      bodyOf('Hi {{1}}'),
      { body: { '1': text } },
      { selectionType, csvKeys: new Map([['City', 2]]), now },
    ).warnings;

  test.each(['{{city}}', '{{First Name}}', 'Dear {{firstname}}', '{{City}}, {{town}}', 'First Name', 'city'])(
    'a warning names %s',
    (text) => {
      expect(warningsOf(text)).toEqual([
        {
          field: 'variable_mapping.body.1',
          message: expect.stringContaining(
            'names no field; fields are firstName, lastName, email, phoneNumber,',
          ),
        },
      ]);
    },
  );

  test.each(['City', '{{City}}', 'Dear {{firstName}} from {{ City }}', '20 %', 'Berlin', ''])(
    'no warning names %s',
    (text) => {
      expect(warningsOf(text)).toEqual([]);
    },
  );

  test('columns are fields of a CSV alone', () => {
    expect(warningsOf('city', 'all_contacts')).toEqual([]);
    expect(warningsOf('{{City}}', 'all_contacts')).toHaveLength(1);
    expect(warningsOf('name_column', 'quick_contacts')).toHaveLength(1);
    expect(warningsOf('Custom.city', 'all_contacts')).toHaveLength(1);
    expect(warningsOf('custom. Thanks', 'all_contacts')).toEqual([]);
  });

  test('a warning names a placeholder in a default, which would be sent unchanged', () => {
    const mapping = { body: { '1': 'firstName' }, default_values: { body: { '1': '{{town}}' } } };
    const { warnings } = checkMapping(bodyOf('Hi {{1}}'), mapping, { selectionType: 'all_contacts', now });
    expect(warnings.map(({ field }) => field)).toEqual(['variable_mapping.default_values.body.1']);
  });
});
