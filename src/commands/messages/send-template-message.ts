/** Spec 4.5: sends one template message to one recipient. */
import { channelNeeded, Invalid, templateNotApproved } from '../../domain/error.ts';
import { formsOf } from '../../domain/number-rules.ts';
import { isPhoneNumber, readNumber } from '../../domain/phone-number.ts';
import { parseTemplate } from '../../domain/templates/components.ts';
import { isSendable, unsendableMessage, unsendablePart } from '../../domain/templates/definition.ts';
import { valuesFromMapping, valuesFromVariables } from '../../domain/templates/input.ts';
import { buildTemplateComponents } from '../../domain/templates/message.ts';
import {
  getChannel,
  listChannelsOfBusinessAccount,
  type Channel,
} from '../../records/workspaces/channels.ts';
import {
  getTemplate,
  getTemplateOfBusinessAccount,
  type Template,
} from '../../records/templates/templates.ts';
import { findAddressOfUser } from '../../records/contacts/user-ids.ts';
import {
  sendSingleMessage,
  type SingleMessage,
  type SingleSender,
  type SingleSendOutcome,
} from './send-single-message.ts';
import type { MessageRecipient } from './refusal-effects.ts';

export interface TemplateMessageRequest {
  readonly workspaceId: number;
  /** The channel of the API key; null for a workspace key. */
  readonly channelId: string | null;
  readonly templateId: string;
  /** In any spelling; digits alone include the country code. */
  readonly recipientPhoneNumber?: string | undefined;
  /** `+<digits>` */
  readonly countryCode?: string | undefined;
  /** The provider's id of a contact, instead of a number. */
  readonly recipientUserId?: string | undefined;
  readonly variables?: readonly string[] | undefined;
  readonly variableMapping?: unknown;
  readonly onClaim?: NonNullable<SingleMessage['onClaim']>;
}

export interface TemplateMessageOutcome {
  readonly outcome: SingleSendOutcome;
  /** Null for a person without a number. */
  readonly recipientPhoneNumber: string | null;
  readonly phoneNumberId: string;
}

/** Throws Invalid, NotFound, and the errors of `sendSingleMessage`. */
export async function sendTemplateMessage(
  dependencies: SingleSender,
  request: TemplateMessageRequest,
): Promise<TemplateMessageOutcome> {
  const { variables, variableMapping, onClaim } = request;
  const recipient = await recipientOf(dependencies, request);
  if (variables !== undefined && variableMapping !== undefined) {
    throw Invalid.at('variableMapping', 'Provide either variables or variableMapping, not both');
  }
  const { channel, template } = await findSender(dependencies, request);
  requireSendable({ channel, template, recipient, numberField: 'recipientPhoneNumber' });
  const components = componentsOf({ channel, template }, request, dependencies.now());
  const outcome = await sendSingleMessage(dependencies, {
    channel,
    template,
    components,
    recipient,
    source: 'api',
    campaignId: null,
    ...(onClaim !== undefined && { onClaim }),
  });
  const recipientPhoneNumber = recipient.contactId === undefined ? recipient.to : null;
  return { outcome, recipientPhoneNumber, phoneNumberId: channel.phoneNumberId };
}

async function recipientOf(
  { database }: SingleSender,
  { workspaceId, recipientPhoneNumber, recipientUserId, countryCode }: TemplateMessageRequest,
): Promise<MessageRecipient> {
  const field = 'recipientPhoneNumber';
  if (recipientUserId !== undefined) {
    if (recipientPhoneNumber !== undefined)
      throw Invalid.at('recipientUserId', `Provide either ${field} or recipientUserId, not both`);
    const found = await findAddressOfUser(database, workspaceId, recipientUserId);
    if (found === undefined)
      throw Invalid.at('recipientUserId', 'recipientUserId must be the user id of a contact');
    return found;
  }
  if (recipientPhoneNumber === undefined) throw Invalid.at(field, `${field} is required`);
  if (countryCode === undefined) throw Invalid.at('countryCode', 'countryCode is required, such as +49');
  const code = countryCode.slice(1);
  // Digits are never read as national: with a wrong code they might be somebody's number in that country.
  const isDigits = /^[1-9]\d*$/.test(recipientPhoneNumber);
  const number = isDigits
    ? readNumber(`+${recipientPhoneNumber}`)
    : readNumber(recipientPhoneNumber, countryCode);
  if (!isPhoneNumber(number)) {
    if (isDigits && !recipientPhoneNumber.startsWith(code))
      throw Invalid.at(field, `${field} must begin with the digits of countryCode`);
    throw Invalid.at(field, `${field} must be a number such as 4915112345678: ${number.problem}`);
  }
  // The code may be that of the number's former form.
  if (!formsOf(number.digits).some((form) => form.startsWith(code)))
    throw Invalid.at(field, `${field} must begin with the digits of countryCode`);
  return { to: number.digits, country: number.country };
}

/** The key's channel, or else the only channel of the template's business account. */
async function findSender(
  { database }: SingleSender,
  { workspaceId, channelId, templateId }: TemplateMessageRequest,
): Promise<{ readonly channel: Channel; readonly template: Template }> {
  if (channelId !== null) {
    const channel = await getChannel(database, workspaceId, channelId);
    const { businessAccountId } = channel;
    const template = await getTemplateOfBusinessAccount(database, workspaceId, {
      templateId,
      businessAccountId,
    });
    return { channel, template };
  }
  const template = await getTemplate(database, workspaceId, templateId);
  const channels = await listChannelsOfBusinessAccount(database, workspaceId, template.businessAccountId);
  const [channel] = channels;
  if (channel === undefined || channels.length > 1) throw channelNeeded();
  return { channel, template };
}

export function requireSendable({
  channel,
  template,
  recipient,
  numberField,
}: {
  readonly channel: Channel;
  readonly template: Template;
  readonly recipient: MessageRecipient;
  /** Name of the number's field in the request body. */
  readonly numberField: string;
}): void {
  if (template.vanishedAt !== null || !isSendable(template.status)) {
    throw templateNotApproved('templateId', template.vanishedAt === null ? template.status : 'gone');
  }
  if (channel.status !== 'active') throw new Invalid('The channel is blocked: its operator unblocks it');
  if (channel.blockedCountries.includes(recipient.country)) {
    throw Invalid.at(numberField, 'The channel does not send to this country: ask its operator');
  }
}

export function componentsOf(
  { channel, template }: { readonly channel: Channel; readonly template: Template },
  { variables, variableMapping }: Pick<TemplateMessageRequest, 'variables' | 'variableMapping'>,
  now: Date,
): readonly unknown[] {
  const definition = parseTemplate(template.components, template);
  const unsendable = unsendablePart(
    definition,
    channel.marketingEndpoint && template.category === 'MARKETING',
  );
  if (unsendable !== undefined) throw Invalid.at('templateId', unsendableMessage(unsendable));
  const input =
    variables === undefined
      ? valuesFromMapping(definition, variableMapping ?? {}, { now })
      : valuesFromVariables(definition, variables, { now });
  if (input.ok) return buildTemplateComponents(definition, input.values);
  if (variables !== undefined || variableMapping !== undefined) throw Invalid.of(input.problems);
  const either = 'or send variables, in the order of the template';
  throw Invalid.of(input.problems.map(({ field, message }) => ({ field, message: `${message}, ${either}` })));
}
