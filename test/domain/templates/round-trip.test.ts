import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { payloadSkeleton } from '../../../src/domain/templates/payload-skeleton.ts';
import { parseTemplate } from '../../../src/domain/templates/components.ts';
import { valuesFromMapping, valuesFromVariables } from '../../../src/domain/templates/input.ts';
import { buildTemplateComponents, cardDefinitionAt } from '../../../src/domain/templates/message.ts';
import { compileRenderer } from '../../../src/domain/templates/plan.ts';
import { templateVariables } from '../../../src/domain/templates/variables.ts';
import { resolveVariables } from '../../../src/domain/templates/recipient-variables.ts';
import { compileMapping, keptMapping } from '../../../src/domain/templates/variable-mapping.ts';
import { providerProblems } from '../../support/provider-request.ts';
import { templateFixture, templateFixtures, type TemplateFixture } from '../../support/template-fixtures.ts';
import type { CardDefinition, TemplateDefinition } from '../../../src/domain/templates/definition.ts';

const now = new Date('2026-11-21T09:00:00Z');
const templateId = '0197c0de-0000-7000-8000-000000000001';

const definitionOf = (fixture: TemplateFixture): TemplateDefinition =>
  parseTemplate(fixture.components, fixture);

const skeletonOf = (definition: TemplateDefinition) => payloadSkeleton(definition, { templateId, now });

/** Replaces the placeholder values, each by another text. */
const fill = (value: unknown, texts: Iterator<string>): unknown => {
  if (value === 'value') return texts.next().value;
  if (Array.isArray(value)) return value.map((item: unknown) => fill(item, texts));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item, texts)]));
};

const texts = fc.infiniteStream(
  fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
    // Short enough for the code of an authentication template; a suffix of slashes alone would be empty.
    .filter(
      (text) =>
        Array.from(text).length <= 15 &&
        !/^[\s/]*$/u.test(text) &&
        !/[\p{Cc}\u2028\u2029]| {4}|\{|\}/u.test(text),
    ),
);

/** The places of a template that have to be filled, read off the definition by other means than the builder's. */
const expectedPlaces = (card: CardDefinition): readonly string[] => {
  const header = card.header?.kind === 'text' ? card.header.variables.length > 0 : card.header !== undefined;
  const isUnknown = card.header?.kind === 'unsupported';
  const sent = new Set(['otp', 'copy_code', 'flow', 'catalog', 'mpm']);
  return [
    ...(header && !isUnknown ? ['header 1'] : []),
    ...(card.body !== undefined && card.body.variables.length > 0
      ? [`body ${card.body.variables.length}`]
      : []),
    ...card.buttons
      .filter((button) => sent.has(button.kind) || (button.kind === 'url' && button.dynamic))
      .map((button) => `button ${button.index} 1`),
  ];
};

type Sent = {
  readonly type: string;
  readonly index?: string;
  readonly parameters?: readonly unknown[];
  readonly cards?: readonly { readonly components: readonly Sent[] }[];
};

const places = (components: readonly Sent[]): readonly string[] =>
  components
    .filter(({ type }) => type !== 'carousel' && type !== 'limited_time_offer')
    .map(({ type, index, parameters }) =>
      [type, index, parameters?.length].filter((part) => part !== undefined),
    )
    .map((parts) => parts.join(' '));

const assertFits = (definition: TemplateDefinition, built: readonly unknown[]): void => {
  const sent = built as readonly Sent[];
  expect(providerProblems(built)).toEqual([]);
  expect(places(sent)).toEqual(expectedPlaces(definition));
  expect(sent.filter(({ type }) => type === 'limited_time_offer')).toHaveLength(
    definition.offerExpires ? 1 : 0,
  );
  const cards = sent.find(({ type }) => type === 'carousel')?.cards ?? [];
  expect(cards).toHaveLength(definition.carousel?.cards.length ?? 0);
  for (const [at, card] of cards.entries()) {
    const known = cardDefinitionAt(definition.carousel?.cards ?? [], at);
    expect(places(card.components)).toEqual(known === undefined ? [] : expectedPlaces(known));
  }
};

describe.each(templateFixtures)('a template of kind: $kind', (fixture) => {
  const definition = definitionOf(fixture);

  test('names the variables it requires', () => {
    expect(templateVariables(definition)).toEqual(fixture.variables);
  });

  test('is filled at exactly its dynamic slots when its skeleton is filled in', () => {
    fc.assert(
      fc.property(texts, (stream) => {
        const mapping = fill(skeletonOf(definition).variableMapping, stream[Symbol.iterator]());
        const read = valuesFromMapping(definition, mapping, { now });
        expect(read).toMatchObject({ ok: true });
        if (read.ok) assertFits(definition, buildTemplateComponents(definition, read.values));
      }),
      { numRuns: 60 },
    );
  });

  test('can be sent with its skeleton as it is', () => {
    const read = valuesFromMapping(definition, skeletonOf(definition).variableMapping, { now });
    expect(read).toMatchObject({ ok: true });
    if (read.ok) assertFits(definition, buildTemplateComponents(definition, read.values));
  });

  test('gives a campaign the same message as a single send', () => {
    const mapping = skeletonOf(definition).variableMapping;
    const single = valuesFromMapping(definition, mapping, { now });
    const campaign = compileMapping(definition, mapping, { selectionType: 'all_contacts', now });
    if (!single.ok || !campaign.ok) throw new Error('the skeleton was refused');
    expect(campaign.mapping.resolvers).toEqual([]);
    const stored: typeof campaign.mapping.plan = JSON.parse(JSON.stringify(campaign.mapping.plan));
    expect(compileRenderer(stored)([])).toEqual(
      JSON.parse(JSON.stringify(buildTemplateComponents(definition, single.values))),
    );
  });
});

const listable = templateFixtures.filter((fixture) => fixture.needsMapping === undefined);

test.each(listable)('fills $kind from a list of texts in the order header, body, buttons', (fixture) => {
  const definition = definitionOf(fixture);
  const { header, body, buttons } = fixture.variables;
  const coordinates: Readonly<Record<string, string>> = { latitude: '52.5', longitude: '13.4' };
  const isMedia = ['image', 'video', 'gif', 'document'].includes(header[0] ?? '');
  const code = definition.authentication ? '483920' : undefined;
  const variables = [
    ...header.map((name, at) => coordinates[name] ?? (isMedia ? 'https://cdn.example.com/a' : `h${at}`)),
    ...body.map((_, at) => code ?? `b${at}`),
    ...buttons.map((_, at) => code ?? `u${at}`),
  ];
  const read = valuesFromVariables(definition, variables, { now });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  const built = buildTemplateComponents(definition, read.values);
  expect(providerProblems(built)).toEqual([]);
  const flat = JSON.stringify(built);
  for (const value of variables) expect(flat).toContain(JSON.stringify(value));
});

const beyondLists = templateFixtures.filter((fixture) => fixture.needsMapping);

test.each(beyondLists)('asks for variableMapping when $kind is filled from a list', (fixture) => {
  const definition = definitionOf(fixture);
  const read = valuesFromVariables(definition, ['a', 'b', 'c'], { now });
  expect(read).toMatchObject({ ok: false, problems: [{ field: 'variableMapping' }] });
});

const dynamicText = 'Hello {{firstName}}';

/** The skeleton with every text that may differ taken from the contact. */
const personal = (value: unknown): unknown => {
  if (value === 'value') return dynamicText;
  if (Array.isArray(value)) return value.map(personal);
  if (typeof value !== 'object' || value === null) return value;
  const keep = 'sections' in value ? { sections: value.sections } : {};
  return {
    ...Object.fromEntries(Object.entries(value).map(([key, item]) => [key, personal(item)])),
    ...keep,
  };
};

test.each(templateFixtures)('fills $kind for every contact of a campaign', (fixture) => {
  const definition = definitionOf(fixture);
  const mapping = personal(skeletonOf(definition).variableMapping);
  const compiled = compileMapping(definition, mapping, { selectionType: 'all_contacts', now });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  const render = compileRenderer(compiled.mapping.plan);
  for (const firstName of ['Ada', 'Grace']) {
    const resolved = resolveVariables(compiled.mapping.resolvers, { contact: { firstName } });
    if (!resolved.ok) throw new Error(resolved.skip.detail);
    assertFits(definition, render(resolved.values));
    const other = firstName === 'Ada' ? 'Grace' : 'Ada';
    const message = JSON.stringify(render(resolved.values));
    expect(message).not.toContain(other);
    expect(message.includes(firstName)).toBe(compiled.mapping.resolvers.length > 0);
  }
});

/** The mapping with keys that mean nothing in each of its objects; free-form data of a flow is left as it is. */
const withStrayKeys = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withStrayKeys);
  if (typeof value !== 'object' || value === null) return value;
  const known = Object.entries(value).map(([key, item]) => [
    key,
    key === 'flow_action_data' ? item : withStrayKeys(item),
  ]);
  return { ...Object.fromEntries(known), stray: 'stray', footer: { stray: 'stray' } };
};

test.each(templateFixtures)('keeps what $kind reads of a mapping, and nothing else', (fixture) => {
  const definition = definitionOf(fixture);
  const mapping: Readonly<Record<string, unknown>> = {
    ...skeletonOf(definition).variableMapping,
    default_values: {
      body: Object.fromEntries((definition.body?.variables ?? []).map((name) => [name, 'x'])),
    },
  };
  const compile = (given: unknown) =>
    compileMapping(definition, given, { selectionType: 'all_contacts', now });
  const kept = keptMapping(definition, withStrayKeys(personal(mapping)));
  expect(JSON.stringify(kept)).not.toContain('stray');
  const [whole, less] = [compile(personal(mapping)), compile(kept)];
  if (!whole.ok || !less.ok) throw new Error(JSON.stringify([whole, less]));
  expect(less.mapping.plan).toEqual(whole.mapping.plan);
  expect(less.mapping.resolvers.map(({ path }) => path)).toEqual(
    whole.mapping.resolvers.map(({ path }) => path),
  );
});

test('keeps the places of buttons that a list gives by their type', () => {
  const definition = definitionOf(templateFixture('media carousel'));
  const [card] = definition.carousel?.cards ?? [];
  expect(card?.buttons).toHaveLength(2);
  const buttons = [{ type: 'url', url_suffix: 'a', note: 'n' }];
  const cards = (definition.carousel?.cards ?? []).map(() => ({ buttons }));
  expect(keptMapping(definition, { carousel: cards })).toMatchObject({
    carousel: [{ buttons: [null, { type: 'url', url_suffix: 'a' }] }, {}],
  });
});

test('gives the code of an authentication template to the body and the button', () => {
  const definition = definitionOf(templateFixture('authentication ONE_TAP'));
  const read = valuesFromMapping(definition, { buttons: [{ type: 'otp', otp: '112233' }] }, { now });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  expect(buildTemplateComponents(definition, read.values)).toEqual([
    { type: 'body', parameters: [{ type: 'text', text: '112233' }] },
    { type: 'button', sub_type: 'url', index: '0', parameters: [{ type: 'text', text: '112233' }] },
  ]);
});
