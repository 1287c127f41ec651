/** Sends one message of a campaign as a test, before or while the campaign sends. It is charged like any other. */
import { Conflict, Invalid } from '../../domain/error.ts';
import { normalisePhoneNumber } from '../../domain/phone-number.ts';
import { contactSlotsResolver } from '../../domain/templates/contact-slots.ts';
import { compileRenderer, type MessagePlan } from '../../domain/templates/plan.ts';
import { getCampaignSample, type CampaignSample } from '../../records/campaigns/recipient-report.ts';
import { getChannel } from '../../records/workspaces/channels.ts';
import { getTemplate } from '../../records/templates/templates.ts';
import {
  sendSingleMessage,
  type SingleSender,
  type SingleSendOutcome,
} from '../messages/send-single-message.ts';
import { componentsOf, requireSendable } from '../messages/send-template-message.ts';

export interface CampaignTest {
  readonly workspaceId: number;
  readonly campaignId: string;
  /** With or without a plus sign. */
  readonly phoneNumber: string;
  /** In the order header, body, buttons; defaults to the values of the campaign's first recipient. */
  readonly variables?: readonly string[] | undefined;
}

export interface CampaignTestResult {
  readonly outcome: SingleSendOutcome;
  readonly recipientPhoneNumber: string;
  readonly phoneNumberId: string;
}

/** Throws NotFound, Invalid, the errors of a single send, or Conflict if no prepared recipient can provide the variables. */
export async function testCampaign(
  dependencies: SingleSender,
  { workspaceId, campaignId, phoneNumber, variables }: CampaignTest,
): Promise<CampaignTestResult> {
  const { database } = dependencies;
  const sample = await getCampaignSample(database, workspaceId, campaignId);
  const number = normalisePhoneNumber(phoneNumber);
  if (number === undefined)
    throw Invalid.at('phone_number', 'phone_number must be a number such as +4915112345678');
  const channel = await getChannel(database, workspaceId, sample.channel_id);
  const template = await getTemplate(database, workspaceId, sample.template_id);
  const components =
    variables === undefined
      ? componentsOfSample(sample)
      : componentsOf({ channel, template }, { variables }, dependencies.now());
  const recipient = { to: number.digits, country: number.country };
  requireSendable({ channel, template, recipient, numberField: 'phone_number' });
  // Its events have the messageSource `campaign`.
  const message = { channel, template, components, recipient, source: 'campaign', campaignId } as const;
  const outcome = await sendSingleMessage(dependencies, message);
  return { outcome, recipientPhoneNumber: number.digits, phoneNumberId: channel.phoneNumberId };
}

/** Contact fields have their current values, as in a message sent now. */
function componentsOfSample({ message_plan: plan, variables, contact }: CampaignSample): readonly unknown[] {
  if (plan === null || variables === null) {
    throw new Conflict('The campaign has no prepared recipient yet: send variables with the test');
  }
  const present =
    contact === null ? undefined : contactSlotsResolver(plan as MessagePlan)(variables, contact);
  if (present?.ok === false) {
    const { reason, detail } = present.skip;
    const problem = reason === 'TEXT_TOO_LONG' ? 'makes a text too long,' : 'has no value for';
    throw new Conflict(`The first recipient ${problem} ${detail}: send variables with the test`);
  }
  return compileRenderer(plan as MessagePlan)(present?.values ?? variables);
}
