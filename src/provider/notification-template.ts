import { TemplateElement, read, readText } from './notification-codec.ts';
import type { NotificationItem } from './notification-item.ts';
import { ignored, type ChangeContext } from './notification-change.ts';

/**
 * What happened to a template. Judged by what the value holds, then by the field: quality changes also come under
 * the field of status changes.
 */
export function readTemplateChange(context: ChangeContext): NotificationItem {
  const { value, field } = context;
  const element = read(TemplateElement, value);
  if (!element) return ignored(context, 'template change without the template', value);
  const template = {
    businessAccountId: context.businessAccountId,
    providerTemplateId: element.message_template_id,
    name: readText(value['message_template_name']),
    language: readText(value['message_template_language'])?.replaceAll('-', '_') ?? null,
    timestamp: context.entryTime,
    raw: value,
  };
  const quality = upper(value['new_quality_score']);
  if (quality !== null) return { kind: 'template_quality', ...template, newQualityScore: quality };
  if (field === 'message_template_components_update') return { kind: 'template_components', ...template };
  if (field === 'template_category_update') {
    const newCategory = upper(value['new_category']);
    // Announced a day ahead: `new_category` is then still the present one.
    if (value['correct_category'] !== undefined) return ignored(context, 'category change announced', value);
    if (newCategory === null) return ignored(context, 'category change without a category', value);
    const previousCategory = upper(value['previous_category']);
    return { kind: 'template_category', ...template, previousCategory, newCategory };
  }
  const newStatus = upper(value['event']);
  if (newStatus === null) return ignored(context, 'template change that cannot be read', value);
  const reason = readText(value['reason']);
  return {
    kind: 'template_status',
    ...template,
    newStatus,
    reason: upper(reason) === 'NONE' ? null : reason,
  };
}

function upper(value: unknown): string | null {
  return readText(value)?.toUpperCase() ?? null;
}
