import type { Dependencies } from '../../dependencies.ts';
import { epochSeconds } from '../../domain/epoch-seconds.ts';
import { isSendable } from '../../domain/templates/definition.ts';
import { templateEvent } from '../../domain/templates/event.ts';
import { templateChanged } from '../../domain/operations/notice.ts';
import { vanishedStatus } from '../../domain/templates/sync.ts';
import type {
  TemplateAnnouncementItem,
  TemplateCategoryItem,
  TemplateComponentsItem,
  TemplateQualityItem,
  TemplateStatusItem,
} from '../../provider/notification-item.ts';
import { findBusinessAccount } from '../../records/workspaces/business-accounts.ts';
import type { Connection } from '../../records/database/database.ts';
import { insertNotices } from '../../records/operations/notices.ts';
import { emitEvents } from '../../records/webhooks/events.ts';
import {
  lockNotifiedTemplate,
  updateNotifiedTemplate,
  type NotifiedTemplate,
} from '../../records/templates/sync.ts';
import type { Consequences } from '../callbacks/status-effects.ts';
import { pauseCampaignsOfTemplate } from '../campaigns/change-campaign.ts';

export type TemplateItem =
  | TemplateStatusItem
  | TemplateCategoryItem
  | TemplateQualityItem
  | TemplateAnnouncementItem
  | TemplateComponentsItem;

/**
 * Records a template's change, emits the event `template` and a notice, and pauses its campaigns if it can no longer be sent. A
 * sync fetches templates that are unknown or whose definition changed.
 */
export async function applyTemplateNotification(
  dependencies: Pick<Dependencies, 'logger' | 'now'>,
  connection: Connection,
  item: TemplateItem,
): Promise<Partial<Consequences>> {
  const { businessAccountId, providerTemplateId } = item;
  if (businessAccountId === null) return {};
  const template = await lockNotifiedTemplate(connection, { businessAccountId, providerTemplateId });
  if (template === undefined || item.kind === 'template_components') {
    const account = await findBusinessAccount(connection, businessAccountId);
    return account === undefined ? {} : { resync: [businessAccountId] };
  }
  if (isOutdated(template, item)) return {};
  const changed = afterItem(template, item);
  if (JSON.stringify(template) === JSON.stringify(changed)) return {};
  await updateNotifiedTemplate(connection, changed);

  if (item.kind === 'template_announcement') {
    const { upcomingCategory, takesEffectAt } = item;
    const { id: templateId, category } = template;
    dependencies.logger.warn(
      { templateId, category, upcomingCategory, takesEffectAt },
      'the category of a template will change',
    );
  }
  const type = eventType(template, changed);
  if (type !== null) {
    const reason = item.kind === 'template_status' ? item.reason : null;
    const remarks = item.kind === 'template_status' ? item.remarks : {};
    const event = templateEvent(changed, { type, reason, remarks, occurredAt: dependencies.now() });
    await emitEvents(connection, template.workspaceId, [event]);
    await insertNotices(connection, templateChanged(template.workspaceId, template, changed, reason));
  }
  // The latest sync did not find this template, but it exists again. Only another sync can read its definition.
  if (template.status === vanishedStatus) return { resync: [businessAccountId] };
  if (!isSendable(template.status) || isSendable(changed.status)) return {};
  return { paused: await pauseCampaignsOfTemplate(dependencies, connection, template.id) };
}

function afterItem(template: NotifiedTemplate, item: TemplateItem): NotifiedTemplate {
  switch (item.kind) {
    case 'template_status':
      return {
        ...template,
        status: item.newStatus,
        rejectedReason: item.reason,
        statusReportedAt: epochSeconds(item.timestamp) ?? template.statusReportedAt,
      };
    case 'template_category':
      return {
        ...template,
        category: item.newCategory,
        upcomingCategory: null,
        upcomingCategoryAt: null,
        categoryReportedAt: epochSeconds(item.timestamp) ?? template.categoryReportedAt,
      };
    case 'template_announcement':
      if (item.upcomingCategory === template.category) return template;
      return { ...template, upcomingCategory: item.upcomingCategory, upcomingCategoryAt: item.takesEffectAt };
    case 'template_quality':
      return { ...template, quality: item.newQualityScore };
    case 'template_components':
      return template;
  }
}

/** The provider repeats callbacks for days, so one that is older than the recorded status or category is ignored. */
function isOutdated(template: NotifiedTemplate, item: TemplateItem): boolean {
  const reportedAt = epochSeconds(item.timestamp);
  const known = {
    template_status: template.statusReportedAt,
    template_category: template.categoryReportedAt,
    // A sync does not read announcements.
    template_announcement: null,
    template_quality: null,
    template_components: null,
  }[item.kind];
  return reportedAt !== null && known !== null && reportedAt < known;
}

function eventType(before: NotifiedTemplate, after: NotifiedTemplate): 'STATUS' | 'CATEGORY' | null {
  if (before.status !== after.status) return 'STATUS';
  return before.category === after.category ? null : 'CATEGORY';
}
