/** Templates of the demo workspace. */
import { sql } from 'slonik';
import { exampleTemplateId } from '../../src/codecs/template.ts';
import { parseTemplate } from '../../src/domain/templates/components.ts';
import { isSendable } from '../../src/domain/templates/definition.ts';
import { templateVariables } from '../../src/domain/templates/variables.ts';
import type { Database } from '../../src/records/database/database.ts';
import { nothing } from '../../src/records/database/row.ts';
import { listTemplates, type Template } from '../../src/records/templates/templates.ts';

export interface DemoTemplates {
  /** Template ids by name, whatever their status; `name:language` for a name that exists in several languages. */
  readonly templateIds: Readonly<Record<string, string>>;
  readonly exampleTemplate:
    | { readonly templateId: string; readonly variables: readonly string[] }
    | undefined;
}

const limit = 1_000;

/**
 * Gives a template with a single name variable the id used in the documentation's examples, so that they can be tried
 * unchanged.
 */
export async function nameExampleTemplate(database: Database, workspaceId: number): Promise<void> {
  await database.query(sql.type(nothing)`
    UPDATE template SET id = ${exampleTemplateId}
    WHERE workspace_id = ${workspaceId} AND name = 'hello_campaign' AND language LIKE 'en%'
      AND NOT EXISTS (SELECT FROM template AS taken WHERE taken.id = ${exampleTemplateId})
      AND NOT EXISTS (SELECT FROM campaign WHERE campaign.workspace_id = ${workspaceId})
      AND NOT EXISTS (SELECT FROM message WHERE message.workspace_id = ${workspaceId})`);
}

/** Only of the demo channel's business account: its key cannot send the others. */
export async function readDemoTemplates(
  database: Database,
  { workspaceId, businessAccountId }: { readonly workspaceId: number; readonly businessAccountId: string },
): Promise<DemoTemplates> {
  const all: Template[] = [];
  for (let page = 1; ; page += 1) {
    const { items: templates } = await listTemplates(database, workspaceId, {
      statuses: [],
      search: '',
      businessAccountId,
      page,
      limit,
    });
    all.push(...templates);
    if (templates.length < limit) break;
  }
  const present = all.filter(({ vanishedAt }) => vanishedAt === null);
  return { templateIds: namesOf(present), exampleTemplate: exampleOf(present) };
}

export function namesOf(
  templates: readonly Pick<Template, 'id' | 'name' | 'language'>[],
): Record<string, string> {
  const languages = new Map<string, number>();
  for (const { name } of templates) languages.set(name, (languages.get(name) ?? 0) + 1);
  return Object.fromEntries(
    templates.map(({ id, name, language }) => [languages.get(name) === 1 ? name : `${name}:${language}`, id]),
  );
}

type Candidate = Pick<Template, 'id' | 'language' | 'status' | 'components' | 'parameterFormat' | 'category'>;

/** Chooses the documentation's template, else one whose values are the variables of its body only, preferably one. */
export function exampleOf(templates: readonly Candidate[]): DemoTemplates['exampleTemplate'] {
  const candidates = templates.flatMap(({ id, language, status, components, ...options }) => {
    if (!isSendable(status)) return [];
    const definition = parseTemplate(components, options);
    const { header, body, buttons } = templateVariables(definition);
    const plain = header.length === 0 && buttons.length === 0 && !definition.authentication;
    const simple =
      definition.carousel === undefined && !definition.offerExpires && definition.unsupported.length === 0;
    return plain && simple ? [{ templateId: id, variables: body, language }] : [];
  });
  const rank = ({ templateId, variables, language }: (typeof candidates)[number]) =>
    templateId === exampleTemplateId
      ? -1
      : Math.abs(variables.length - 1) * 2 + (language.startsWith('en') ? 0 : 1);
  const best = candidates.toSorted((a, b) => rank(a) - rank(b))[0];
  return best === undefined ? undefined : { templateId: best.templateId, variables: best.variables };
}
