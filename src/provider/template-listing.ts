import * as t from 'io-ts';
import { isRight } from 'fp-ts/lib/Either.js';
import { isObject } from './json-value.ts';
import type { ProviderTemplate, TemplatePage } from './provider.ts';

/** The fields asked of the provider for every template. */
export const templateFields =
  'id,name,language,status,category,parameter_format,components,quality_score,rejected_reason';

const TemplateElement = t.intersection([
  t.type({ id: t.union([t.string, t.number]), name: t.string, language: t.string, status: t.string }),
  t.partial({
    category: t.union([t.string, t.null]),
    parameter_format: t.union([t.string, t.null]),
    components: t.UnknownArray,
    quality_score: t.unknown,
    rejected_reason: t.unknown,
  }),
]);

/** One template of the provider's list, or undefined when it lacks what identifies it. */
function readTemplate(element: unknown): ProviderTemplate | undefined {
  const decoded = TemplateElement.decode(element);
  if (!isRight(decoded)) return undefined;
  const template = decoded.right;
  return {
    id: String(template.id),
    name: template.name,
    language: template.language.replaceAll('-', '_'),
    status: template.status.toUpperCase(),
    category: template.category?.toUpperCase() ?? null,
    parameterFormat: template.parameter_format?.toUpperCase() === 'NAMED' ? 'NAMED' : 'POSITIONAL',
    components: template.components ?? [],
    qualityScore: qualityScoreOf(template.quality_score),
    rejectedReason: reasonOf(template.rejected_reason),
  };
}

/** A page of the list; undefined when the body is no list at all. */
export function readTemplatePage(body: unknown): TemplatePage | undefined {
  const data = isObject(body) ? body['data'] : undefined;
  if (!Array.isArray(data)) return undefined;
  const templates = data.map(readTemplate).filter((template) => template !== undefined);
  const nextCursor = nextCursorOf(isObject(body) ? body['paging'] : undefined);
  // A further page exists but cannot be requested: counted as unreadable, so that unseen templates are not marked as
  // vanished.
  const lost = nextCursor === undefined ? 1 : 0;
  return {
    templates,
    unreadable: data.length - templates.length + lost,
    nextCursor: nextCursor ?? null,
  };
}

/**
 * Cursors are present on the last page too: only `next` says that there is more. Its address is never called,
 * for it may name any host; the cursor inside it is used against our own base URL. Undefined when it has none.
 */
function nextCursorOf(paging: unknown): string | null | undefined {
  const next = isObject(paging) ? paging['next'] : undefined;
  if (!isObject(paging) || typeof next !== 'string' || next === '') return null;
  const cursors = paging['cursors'];
  const after = isObject(cursors) ? cursors['after'] : undefined;
  if (typeof after === 'string' && after !== '') return after;
  return new URLSearchParams(next.slice(next.indexOf('?') + 1)).get('after') ?? undefined;
}

function qualityScoreOf(value: unknown): string | null {
  const score = isObject(value) ? value['score'] : value;
  return typeof score === 'string' ? score.toUpperCase() : null;
}

const reasonOf = (value: unknown): string | null =>
  typeof value === 'string' && value.toUpperCase() !== 'NONE' ? value : null;
