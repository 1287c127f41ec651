import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { payloadSkeleton } from '../../../src/domain/templates/payload-skeleton.ts';
import { parseTemplate } from '../../../src/domain/templates/components.ts';
import { valuesFromMapping } from '../../../src/domain/templates/input.ts';
import { buildTemplateComponents } from '../../../src/domain/templates/message.ts';
import { defaultRichTemplates } from '../../../local/simulator/templates/rich-defaults.ts';
import { defaultTemplates, type TemplateDefinition } from '../../../local/simulator/templates/defaults.ts';
import { startTestSimulator, type SimulatorClient } from './client.ts';

const approved = [...defaultTemplates, ...defaultRichTemplates].filter(({ status }) => status === 'APPROVED');

function componentsOf({
  components,
  category,
  parameter_format: parameterFormat,
}: TemplateDefinition): readonly unknown[] {
  const definition = parseTemplate(components, { category, parameterFormat });
  const now = new Date();
  const skeleton = payloadSkeleton(definition, { templateId: '0197c0de-0000-7000-8000-000000000001', now });
  const read = valuesFromMapping(definition, skeleton.variableMapping, { now });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return buildTemplateComponents(definition, read.values);
}

describe('the skeleton of a template', () => {
  let simulator: SimulatorClient;
  beforeAll(async () => {
    simulator = await startTestSimulator();
  });
  afterAll(() => simulator.close());

  it.each(approved)(
    'is taken by the provider when it is sent as it is: $name in $language',
    async (template) => {
      const components = componentsOf(template);

      const { body } = await simulator.send({
        template: template.name,
        language: template.language,
        components,
      });

      expect(body).toMatchObject({ messages: [{ message_status: 'accepted' }] });
    },
  );
});
