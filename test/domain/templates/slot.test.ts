import { parseUrl } from '../../../src/domain/parse-url.ts';
import { describe, expect, test } from 'vitest';
import { parseTemplate } from '../../../src/domain/templates/components.ts';
import { valuesFromMapping, valuesFromVariables } from '../../../src/domain/templates/input.ts';
import { buildTemplateComponents } from '../../../src/domain/templates/message.ts';
import { compileRenderer } from '../../../src/domain/templates/plan.ts';
import { resolveVariables } from '../../../src/domain/templates/recipient-variables.ts';
import { slotProblem } from '../../../src/domain/templates/slot.ts';
import { checkMapping, compileMapping } from '../../../src/domain/templates/variable-mapping.ts';

const now = new Date('2026-11-21T09:00:00Z');

const urlButton = (url: string) =>
  parseTemplate(
    [
      { type: 'BODY', text: 'Your parcel' },
      { type: 'BUTTONS', buttons: [{ type: 'URL', text: 'Track', url }] },
    ],
    {},
  );
const document = parseTemplate(
  [
    { type: 'HEADER', format: 'DOCUMENT' },
    { type: 'BODY', text: 'Here' },
  ],
  {},
);
const image = parseTemplate(
  [
    { type: 'HEADER', format: 'IMAGE' },
    { type: 'BODY', text: 'Here' },
  ],
  {},
);

type Template = ReturnType<typeof parseTemplate>;

/** What is sent for a mapping by a single send, by a campaign's constant and for a recipient's field; else the fields at fault. */
const sentEverywhere = (template: Template, mappingWith: (text: string) => unknown, text: string) => {
  const single = valuesFromMapping(template, mappingWith(text), { now });
  const constant = compileMapping(template, mappingWith(text), { selectionType: 'csv_contacts', now });
  const csvKeys = new Map([['cell', 0]]);
  const field = compileMapping(template, mappingWith('cell'), {
    selectionType: 'csv_contacts',
    csvKeys,
    now,
  });
  if (!field.ok) throw new Error(JSON.stringify(field.problems));
  const { resolvers, plan } = field.mapping;
  const resolved = resolveVariables(resolvers, { row: [text] }, plan.limits);
  return [
    single.ok ? buildTemplateComponents(template, single.values) : single.problems.map(({ field: at }) => at),
    constant.ok
      ? compileRenderer(constant.mapping.plan)([])
      : constant.problems.map(({ field: at }) => at.replace('variable_mapping', 'variableMapping')),
    resolved.ok ? compileRenderer(plan)(resolved.values) : resolved.skip,
  ];
};

const suffixes = (url: string, text: string) =>
  sentEverywhere(urlButton(url), (value) => ({ buttons: [{ type: 'url', url_suffix: value }] }), text);

describe('the value of a URL button', () => {
  const url = 'https://shop.example.com/track/{{1}}';
  const sent = (text: string) => [
    { type: 'button', sub_type: 'url', index: '0', parameters: [{ type: 'text', text }] },
  ];

  test.each([
    [url, 'A-1', 'A-1'],
    [url, 'https://shop.example.com/track/A-1', 'A-1'],
    [url, 'http://shop.example.com/track/A-2', 'A-2'],
    [url, 'https://www.shop.example.com/track/A-3', 'A-3'],
    [url, 'shop.example.com/track/A-4', 'A-4'],
    [url, 'WWW.shop.example.com/track/A-4?b=c', 'A-4?b=c'],
    [url, 'HTTPS://Shop.Example.com/track/A-5', 'A-5'],
    [url, '//shop.example.com/track/A-5', 'A-5'],
    [url, '/A-6', 'A-6'],
    [url, '/track/A-7', 'A-7'],
    [url, 'b/A-8', 'b/A-8'],
    [url, 'Bücher 3 %41 100%', 'B%C3%BCcher%203%20%41%20100%25'],
    ['https://www.shop.example.com/{{1}}/now', 'http://shop.example.com/A-9/now', 'A-9'],
    ['https://shop.example.com/go?to={{1}}', 'https://other.example.com/x', 'https://other.example.com/x'],
    ['https://shop.example.com/go?to={{1}}', 'https://shop.example.com/go?to=7', '7'],
    ['https://shop.example.com/{{1}}', 'shop.example.com/9', '9'],
  ])('of %s is only what follows the address: %s', (template, given, suffix) => {
    expect(suffixes(template, given)).toEqual([sent(suffix), sent(suffix), sent(suffix)]);
  });

  test.each([
    'https://other.example.com/track/A-1',
    'https://shop.example.com/orders/A-1',
    'https://shop.example.com/Track/A-1',
    'shop.example.com/orders/A-1',
    '//other.example.com/A-1',
  ])('is refused if it is an address of another kind: %s', (given) => {
    const field = 'variableMapping.buttons.0.url_suffix';
    expect(suffixes(url, given)).toEqual([
      [field],
      [field],
      { reason: 'MISSING_VARIABLE', detail: 'buttons.0.url_suffix' },
    ]);
  });
});

describe('a media link', () => {
  const links = (text: string) => sentEverywhere(image, (link) => ({ header: { link } }), text);
  const sent = (link: string) => [{ type: 'header', parameters: [{ type: 'image', image: { link } }] }];

  test.each([
    ['https://cdn.example.com/look book 2026.jpg', 'https://cdn.example.com/look%20book%202026.jpg'],
    ['https://cdn.example.com/a    b.jpg', 'https://cdn.example.com/a%20%20%20%20b.jpg'],
    ['https://cdn.example.com/Catálogo.jpg', 'https://cdn.example.com/Cat%C3%A1logo.jpg'],
    ['https://cdn.example.com/Cat%C3%A1logo%20.jpg', 'https://cdn.example.com/Cat%C3%A1logo%20.jpg'],
    [
      'https://cdn.example.com/a.jpg?sig=x&amp;exp=1&#38;b=2',
      'https://cdn.example.com/a.jpg?sig=x&exp=1&b=2',
    ],
    [' https://cdn.example.com/b.jpg ', 'https://cdn.example.com/b.jpg'],
    ['HTTPS://Bücher.example/b.jpg', 'https://xn--bcher-kva.example/b.jpg'],
  ])('is sent in the form of RFC 3986: %s', (given, link) => {
    expect(links(given)).toEqual([sent(link), sent(link), sent(link)]);
  });

  test('is read alike however often one was read before', () => {
    // Node 20 compiles `URL.canParse` after some thousand calls, and then refuses letters with accents.
    for (let count = 0; count < 20_000; count += 1) parseUrl('https://bücher.example/b.jpg');
    expect(parseUrl('https://bücher.example/b.jpg')?.host).toBe('xn--bcher-kva.example');
  });

  test.each(['cdn.example.com/b.jpg', 'ftp://cdn.example.com/b.jpg', 'https://'])(
    'is refused: %s',
    (given) => {
      const field = 'variableMapping.header.link';
      expect(links(given)).toEqual([[field], [field], { reason: 'MISSING_VARIABLE', detail: 'header.link' }]);
    },
  );

  test('of a recipient that is none gives way to the default', () => {
    const mapping = {
      header: { link: 'email' },
      default_values: { header: { link: 'https://a.example/b c.jpg' } },
    };
    const compiled = compileMapping(image, mapping, { selectionType: 'all_contacts', now });
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
    const resolved = resolveVariables(compiled.mapping.resolvers, { contact: { email: 'none' } });
    expect(resolved).toEqual({ ok: true, values: ['https://a.example/b%20c.jpg'] });
  });
});

describe('the name of a document', () => {
  const names = (header: Readonly<Record<string, string>>, text: string) =>
    sentEverywhere(document, (link) => ({ header: { ...header, link } }), text).map(
      (components) => JSON.stringify(components).match(/"filename":"([^"]*)"/)?.[1],
    );

  test.each([
    ['https://cdn.example.com/files/invoice-17.pdf', 'invoice-17.pdf'],
    ['https://cdn.example.com/files/invoice-18.pdf?sig=a%2Fb', 'invoice-18.pdf'],
    ['https://cdn.example.com/Rechnung%20M%C3%A4rz.pdf', 'Rechnung März.pdf'],
    ['https://cdn.example.com/Rechnung März.pdf', 'Rechnung März.pdf'],
    ['https://cdn.example.com/100%.docx', '100%.docx'],
    ['https://cdn.example.com/a%2F..%2Fb.pdf', 'b.pdf'],
    ['https://cdn.example.com/', 'document.pdf'],
    ['https://cdn.example.com', 'document.pdf'],
  ])('is the last part of its link: %s', (link, name) => {
    expect(names({}, link)).toEqual([name, name, name]);
    expect(names({ filename: 'Rechnung.pdf' }, link)).toEqual(
      Array.from({ length: 3 }, () => 'Rechnung.pdf'),
    );
  });

  test('is given for an uploaded one, too', () => {
    const sent = valuesFromMapping(document, { header: { id: '17' } }, { now });
    expect(sent).toMatchObject({ values: { header: { source: { id: '17', filename: 'document.pdf' } } } });
  });

  test('follows the link in a list of variables', () => {
    const sent = valuesFromVariables(document, ['https://cdn.example.com/invoice-18.pdf'], { now });
    expect(sent).toMatchObject({ values: { header: { source: { filename: 'invoice-18.pdf' } } } });
  });

  test('adds no problem to a link that is none', () => {
    const { problems } = checkMapping(
      document,
      { header: { link: 5 } },
      { selectionType: 'all_contacts', now },
    );
    expect(problems).toHaveLength(1);
  });
});

describe('the data of a flow', () => {
  const flow = parseTemplate(
    [
      { type: 'BODY', text: 'Book' },
      { type: 'BUTTONS', buttons: [{ type: 'FLOW', text: 'Book', flow_id: '12' }] },
    ],
    {},
  );
  const csvKeys = new Map([['order_no', 0]]);
  const options = { selectionType: 'csv_contacts', csvKeys, now } as const;
  const mapping = {
    buttons: [
      {
        type: 'flow',
        flow_token: '{{order_no}}',
        flow_action_data: {
          name: '{{firstName}}',
          seats: 2,
          empty: '',
          order: { number: ['No. {{order_no}}', 'order_no', '  spaced\n', null] },
          last: '{{lastName}}',
        },
      },
    ],
    default_values: { buttons: [{ type: 'flow', flow_action_data: { last: 'Nobody' } }] },
  };

  test('is filled for each recipient, at every depth', () => {
    const compiled = compileMapping(flow, mapping, options);
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
    const { resolvers, plan } = compiled.mapping;
    const resolved = resolveVariables(resolvers, { contact: { firstName: 'Asha' }, row: ['A-901'] });
    if (!resolved.ok) throw new Error(resolved.skip.detail);
    const action = {
      flow_token: 'A-901',
      flow_action_data: {
        name: 'Asha',
        seats: 2,
        empty: '',
        order: { number: ['No. A-901', 'A-901', '  spaced\n', null] },
        last: 'Nobody',
      },
    };
    expect(compileRenderer(plan)(resolved.values)).toEqual([
      { type: 'button', sub_type: 'flow', index: '0', parameters: [{ type: 'action', action }] },
    ]);
  });

  test('may have a hundred texts with fields', () => {
    const texts = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`key${at}`, `${at} {{firstName}}`]));
    const problems = (count: number) =>
      checkMapping(flow, { buttons: [{ type: 'flow', flow_action_data: texts(count) }] }, options).problems;
    expect(problems(100)).toEqual([]);
    expect(problems(101).map(({ field }) => field)).toEqual([
      'variable_mapping.buttons.0.flow_action_data.key100',
    ]);
  });
});

test.each([
  ['{{first_name}}', 'firstName'],
  ['Hi {{ frist name }}', 'firstName'],
  ['{{lastnam}}', 'lastName'],
  ['{{phone}}', undefined],
  ['{{emial}}', 'email'],
  ['fristName', 'firstName'],
  ['{{order_nr}}', 'order_no'],
])('a warning about %s names %s', (text, meant) => {
  const csvKeys = new Map([['order_no', 0]]);
  const template = parseTemplate([{ type: 'BODY', text: 'Hi {{1}}' }], {});
  const { warnings } = checkMapping(
    template,
    { body: { 1: text } },
    { selectionType: 'csv_contacts', csvKeys, now },
  );
  expect(warnings.map(({ message }) => / did you mean (.*)\?$/.exec(message)?.[1])).toEqual([meant]);
});

test.each(['Emil', 'Ms Email', 'there', 'First come, first served'])('takes %s for a text', (text) => {
  const template = parseTemplate([{ type: 'BODY', text: 'Hi {{1}}' }], {});
  expect(
    checkMapping(template, { body: { 1: text } }, { selectionType: 'all_contacts', now }).warnings,
  ).toEqual([]);
});

test.each(['SALE 10', 'SALE-10', 'GRÜN', '10%', '{10}'])('a coupon code is not %s', (code) => {
  expect(slotProblem({ kind: 'coupon_code' }, code)).toBe('must consist of letters a to z and digits only');
  expect(slotProblem({ kind: 'coupon_code' }, 'SALE10')).toBeUndefined();
});
