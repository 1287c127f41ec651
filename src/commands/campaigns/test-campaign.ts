/** One message of a campaign to try it out, before or while it sends. It is charged like any other. */
import { Conflict, Invalid } from '../../domain/error.ts';
import { normalisePhoneNumber } from '../../domain/phone-number.ts';
import { parseTemplate } from '../../domain/templates/components.ts';
import { valuesFromVariables } from '../../domain/templates/input.ts';
import { buildTemplateComponents } from '../../domain/templates/message.ts';
import { compileRenderer, type MessagePlan } from '../../domain/templates/plan.ts';
import { getCampaignSample, type CampaignSample } from '../../records/campaigns/sample.ts';
import { getChannel } from '../../records/workspaces/channels.ts';
import { getTemplate } from '../../records/templates/templates.ts';
import type { SingleSender, SingleSendOutcome } from '../messages/send-single-message.ts';
import { sendTestMessage } from '../messages/send-template-message.ts';

export interface CampaignTest {
  readonly workspaceId: number;
  readonly campaignId: string;
  /** With or without a plus sign. */
  readonly phoneNumber: string;
  /** In the order header, body, buttons; without them the values of the campaign's first recipient serve. */
  readonly variables?: readonly string[] | undefined;
}

export interface CampaignTestResult {
  readonly outcome: SingleSendOutcome;
  readonly recipientPhoneNumber: string;
  readonly phoneNumberId: string;
}

/** Throws NotFound, Invalid, Conflict while there is nobody to take values from, and what a single send throws. */
export async function testCampaign(
  dependencies: SingleSender,
  { workspaceId, campaignId, phoneNumber, variables }: CampaignTest,
): Promise<CampaignTestResult> {
  const sample = await getCampaignSample(dependencies.database, workspaceId, campaignId);
  const recipient = normalisePhoneNumber(phoneNumber);
  if (recipient === undefined)
    throw Invalid.at('phone_number', 'phone_number must be a number such as +4915112345678');
  const components =
    variables === undefined
      ? componentsOfSample(sample)
      : await componentsOfVariables(dependencies, workspaceId, sample, variables);
  const channel = await getChannel(dependencies.database, workspaceId, sample.channel_id);
  const outcome = await sendTestMessage(dependencies, {
    workspaceId,
    campaignId,
    channelId: sample.channel_id,
    templateId: sample.template_id,
    recipient: { to: recipient.digits, country: recipient.country },
    components,
  });
  return { outcome, recipientPhoneNumber: recipient.digits, phoneNumberId: channel.phoneNumberId };
}

function componentsOfSample({ message_plan: plan, variables }: CampaignSample): readonly unknown[] {
  if (plan === null || variables === null) {
    throw new Conflict('The campaign has no prepared recipient yet: send variables with the test');
  }
  return compileRenderer(plan as MessagePlan)(variables);
}

async function componentsOfVariables(
  { database, now }: SingleSender,
  workspaceId: number,
  sample: CampaignSample,
  variables: readonly string[],
): Promise<readonly unknown[]> {
  const template = await getTemplate(database, workspaceId, sample.template_id);
  const definition = parseTemplate(template.components, template);
  const input = valuesFromVariables(definition, variables, { now: now() });
  if (!input.ok) throw Invalid.of(input.problems);
  return buildTemplateComponents(definition, input.values);
}
