import type { CompiledTemplate } from './compiled.ts';
import { GraphError } from '../protocol/graph-error.ts';
import type { ProviderAccount } from '../provider-accounts.ts';

const defaultLimit = 25;
const maxLimit = 1000;
const defaultFields = 'name,parameter_format,components,language,status,category,id';

/** `GET /{business account}/message_templates`: filters, then one page behind the cursor. */
export function listTemplates(account: ProviderAccount, url: URL): string {
  const query = url.searchParams;
  const limit = Number(query.get('limit') ?? defaultLimit);
  if (!Number.isInteger(limit) || limit < 1 || limit > maxLimit)
    throw new GraphError(100, 'limit is not valid');
  const matching = [...account.templates.values()].filter((template) => matches(template, query));
  const after = query.get('after');
  const start = after === null ? 0 : positionBehind(matching, after);
  const page = matching.slice(start, start + limit);
  const fields = query.get('fields') ?? defaultFields;
  const [first, last] = [page[0], page.at(-1)];
  const next = new URL(url);
  if (last) next.searchParams.set('after', cursorOf(last));
  const hasMore = start + limit < matching.length;
  const summary = query.get('summary')?.split(',') ?? [];
  return JSON.stringify({
    ...(summary.length > 0 && {
      summary: summaryOf(account, { requestedFields: summary, total: matching.length }),
    }),
    data: page.map((template) => templateRecord(template, fields)),
    ...(first && last
      ? {
          paging: {
            cursors: { before: cursorOf(first), after: cursorOf(last) },
            ...(hasMore ? { next: next.href } : {}),
          },
        }
      : {}),
  });
}

function summaryOf(
  account: ProviderAccount,
  { requestedFields, total }: { readonly requestedFields: readonly string[]; readonly total: number },
): Record<string, unknown> {
  const all: Record<string, unknown> = {
    total_count: total,
    message_template_count: account.templates.size,
    message_template_limit: 6000,
    are_translations_complete: false,
  };
  return Object.fromEntries(requestedFields.filter((name) => name in all).map((name) => [name, all[name]]));
}

/** The fields asked for; the id is always among them. */
export function templateRecord(template: CompiledTemplate, fields: string): Record<string, unknown> {
  const all: Record<string, unknown> = {
    parameter_format: 'POSITIONAL',
    quality_score: { score: 'UNKNOWN', date: 1_750_000_000 },
    rejected_reason: template.definition.status === 'REJECTED' ? 'ABUSIVE_CONTENT' : 'NONE',
    ...template.definition,
  };
  const requestedFields = fields.split(',').filter((field) => field in all);
  return { ...Object.fromEntries(requestedFields.map((field) => [field, all[field]])), id: template.id };
}

function matches({ definition }: CompiledTemplate, query: URLSearchParams): boolean {
  const equals = (name: 'status' | 'category' | 'language'): boolean => {
    const wanted = query
      .get(name)
      ?.replaceAll(/["[\]\s]/g, '')
      .toUpperCase()
      .split(',');
    return wanted === undefined || wanted.includes(definition[name].toUpperCase());
  };
  const name = query.get('name');
  return (
    equals('status') &&
    equals('category') &&
    equals('language') &&
    (name === null || definition.name.includes(name))
  );
}

function cursorOf(template: CompiledTemplate): string {
  return Buffer.from(`template:${template.id}`).toString('base64url');
}

function positionBehind(templates: readonly CompiledTemplate[], cursor: string): number {
  const position = templates.findIndex((template) => cursorOf(template) === cursor);
  if (position < 0) throw new GraphError(131059, 'The cursor is not valid; begin again without cursors');
  return position + 1;
}
