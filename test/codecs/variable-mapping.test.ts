import { isLeft, isRight } from 'fp-ts/lib/Either.js';
import { describe, expect, test } from 'vitest';
import { toJsonSchema } from '../../src/codecs/json-schema.ts';
import { report } from '../../src/codecs/report.ts';
import { VariableMapping } from '../../src/codecs/variable-mapping.ts';
import { payloadSkeleton } from '../../src/domain/templates/payload-skeleton.ts';
import { parseTemplate } from '../../src/domain/templates/components.ts';
import { templateFixtures } from '../support/template-fixtures.ts';

const fieldsOf = (input: unknown): readonly string[] => {
  const decoded = VariableMapping.decode(input);
  return isLeft(decoded) ? report(decoded.left).map(({ field }) => field) : [];
};

describe('the codec of variable mappings', () => {
  test.each(templateFixtures)('takes the skeleton of a template of kind $kind unchanged', (fixture) => {
    const definition = parseTemplate(fixture.components, fixture);
    const { variableMapping } = payloadSkeleton(definition, { templateId: 'x', now: new Date(0) });
    const decoded = VariableMapping.decode(variableMapping);
    expect(isRight(decoded) && decoded.right).toEqual(variableMapping);
  });

  test('drops what it does not know', () => {
    const decoded = VariableMapping.decode(
      JSON.parse('{"body":{"1":"a"},"zzz":1,"__proto__":{"header":{}}}'),
    );
    expect(isRight(decoded) && decoded.right).toEqual({ body: { '1': 'a' } });
  });

  test.each([
    ['body values', { body: { '1': 5 } }, 'body.1'],
    ['a body', { body: ['a'] }, 'body'],
    ['a header', { header: 'x' }, 'header'],
    ['buttons', { buttons: 'x' }, 'buttons'],
    ['a carousel', { carousel: {} }, 'carousel'],
    ['a card body', { carousel: [{ body: { '1': null } }] }, 'carousel.0.body.1'],
    ['default values', { default_values: { body: { '1': 7 } } }, 'default_values.body.1'],
  ])('names the field when %s of a wrong type are given', (_, input, field) => {
    expect(fieldsOf(input)).toEqual([field]);
  });

  test('is described for the document', () => {
    const schema = toJsonSchema(VariableMapping);
    expect(Object.keys(schema['properties'] as object)).toEqual([
      'header',
      'body',
      'buttons',
      'limited_time_offer',
      'footer',
      'carousel',
      'default_values',
    ]);
  });
});
