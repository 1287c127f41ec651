import { cleanText } from '../domain/clean-text.ts';
import { epochSeconds } from '../domain/epoch-seconds.ts';
import { isObject } from './json-value.ts';
import { TemplateElement, read, readText } from './notification-codec.ts';
import type { NotificationItem, TemplateStatusItem } from './notification-item.ts';
import { ignored, type ChangeContext } from './notification-change.ts';

/**
 * Reads a template change. The content of the value decides before the field's name: quality changes also arrive under the
 * field of status changes.
 */
export function readTemplateChange(context: ChangeContext): NotificationItem {
  const { value, field } = context;
  const element = read(TemplateElement, value);
  if (!element) return ignored(context, 'template change without the template', value);
  const template = {
    businessAccountId: context.businessAccountId,
    providerTemplateId: element.message_template_id,
    timestamp: context.entryTime,
    raw: value,
  };
  const quality = upper(value['new_quality_score']);
  if (quality !== null) return { kind: 'template_quality', ...template, newQualityScore: quality };
  if (field === 'message_template_components_update') return { kind: 'template_components', ...template };
  if (field === 'template_category_update') {
    const newCategory = upper(value['new_category']);
    const upcomingCategory = upper(value['correct_category']);
    // Announced a day ahead: `new_category` is then still the present one.
    if (upcomingCategory !== null) {
      const takesEffectAt = epochSeconds(readText(value['category_update_timestamp']));
      return { kind: 'template_announcement', ...template, upcomingCategory, takesEffectAt };
    }
    if (newCategory === null) return ignored(context, 'category change without a category', value);
    return { kind: 'template_category', ...template, newCategory };
  }
  const newStatus = upper(value['event']);
  if (newStatus === null) return ignored(context, 'template change that cannot be read', value);
  const reason = cut(readText(value['reason']), longestReason);
  return {
    kind: 'template_status',
    ...template,
    newStatus,
    reason: upper(reason) === 'NONE' ? null : reason,
    remarks: {
      ...remarkOf('otherInfo', value['other_info']),
      ...remarkOf('rejectionInfo', value['rejection_info']),
    },
  };
}

const longestRemark = 2000;
const longestReason = 1000;
/** Characters of a status, category or quality. */
const longestWord = 64;

const cut = (text: string | null, most: number): string | null =>
  text === null ? null : cleanText(text, most);

function remarkOf(name: keyof TemplateStatusItem['remarks'], value: unknown): TemplateStatusItem['remarks'] {
  if (!isObject(value)) return {};
  const texts = (['title', 'description', 'reason', 'recommendation'] as const).flatMap((key) => {
    const text = readText(value[key]);
    return text === null ? [] : [[key, cleanText(text, longestRemark)]];
  });
  return texts.length === 0 ? {} : { [name]: Object.fromEntries(texts) };
}

function upper(value: unknown): string | null {
  return cut(readText(value)?.toUpperCase() ?? null, longestWord);
}
