/** Compiles a campaign's variable mapping against the template as it is when the audience is prepared. */
import { type AudienceRequest, largestInlineCount } from './candidates.ts';
import type { Dependencies } from '../../dependencies.ts';
import { csvKeys } from '../../domain/audience/csv.ts';
import { PreparationFailure } from '../../domain/audience/preparation-failure.ts';
import type { VariableResolver } from '../../domain/templates/recipient-variables.ts';
import { parseTemplate } from '../../domain/templates/components.ts';
import { offerEndsBy } from '../../domain/templates/plan.ts';
import type { TextLimit } from '../../domain/templates/text-limits.ts';
import { compileMapping } from '../../domain/templates/variable-mapping.ts';
import { findResendableCampaign } from '../../records/audience/failed-recipients.ts';
import type { CampaignToPrepare } from '../../records/audience/preparation.ts';
import { getTemplate } from '../../records/templates/templates.ts';

export interface FrozenMapping {
  readonly plan: unknown;
  readonly resolvers: readonly VariableResolver[];
  readonly limits: readonly TextLimit[];
  /** The contacts' custom fields that the mapping names. */
  readonly customFields: readonly string[];
  /** True if recipients get the values that an earlier campaign froze for the same plan. */
  readonly keepsVariables: boolean;
  /** When the earlier campaign read the contacts whose values are kept. */
  readonly contactsReadAt?: Date | undefined;
}

interface FreezeRequest extends AudienceRequest {
  readonly campaign: Pick<CampaignToPrepare, 'template_id' | 'variable_mapping' | 'scheduled_at'>;
}

/** Throws PreparationFailure TEMPLATE_NOT_FOUND if the template is gone or no longer accepts the mapping. */
export async function freezeVariables(
  { database, now }: Pick<Dependencies, 'database' | 'now'>,
  request: FreezeRequest,
): Promise<FrozenMapping> {
  const { campaign, audience, quickContacts, workspaceId, selectionType } = request;
  const template = await getTemplate(database, workspaceId, campaign.template_id);
  if (template.vanishedAt !== null) {
    throw new PreparationFailure(
      'TEMPLATE_NOT_FOUND',
      'The template is gone at the provider: choose another',
    );
  }
  const present = now();
  const { scheduled_at: scheduledAt } = campaign;
  const sendsAt = scheduledAt !== null && scheduledAt > present ? scheduledAt : present;
  if (audience.failed_campaign_id !== undefined && campaign.variable_mapping == null) {
    const earlier = await findResendableCampaign(database, workspaceId, audience.failed_campaign_id);
    if (earlier?.template_id === template.id && earlier.message_plan != null) {
      if (offerEndsBy(earlier.message_plan, sendsAt)) {
        throw new PreparationFailure('TEMPLATE_NOT_FOUND', 'The offer has expired: send variable_mapping');
      }
      const contactsReadAt = earlier.contacts_read_at ?? undefined;
      return {
        plan: earlier.message_plan,
        resolvers: [],
        limits: [],
        customFields: [],
        keepsVariables: true,
        contactsReadAt,
      };
    }
  }
  const result = compileMapping(
    parseTemplate(template.components, template),
    campaign.variable_mapping ?? undefined,
    {
      selectionType,
      inlineCount: largestInlineCount(quickContacts),
      now: sendsAt,
      ...(audience.csv_mapping !== undefined && { csvKeys: csvKeys(audience.csv_mapping) }),
    },
  );
  if (!result.ok) {
    const problem = result.problems[0]?.message ?? 'its variables changed';
    throw new PreparationFailure('TEMPLATE_NOT_FOUND', `The template does not take the mapping: ${problem}`);
  }
  const { mapping } = result;
  return { ...mapping, limits: mapping.plan.limits ?? [], keepsVariables: false };
}
