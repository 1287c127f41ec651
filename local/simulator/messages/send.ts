import type { Fault } from '../protocol/faults.ts';
import { GraphError } from '../protocol/graph-error.ts';
import { isObject, objectOf, textOf, type JsonObject } from '../protocol/json-value.ts';
import { magicOf } from './magic-number.ts';
import { validateComponents } from './validation.ts';
import { fateOf, type MessageFate } from './fate.ts';
import { personOfNumber, userIdPattern, type Person } from '../callbacks/person.ts';
import { findTemplate, type ProviderAccount } from '../provider-accounts.ts';
import type { CompiledTemplate } from '../templates/compiled.ts';
import { errorAnswer, htmlAnswer, jsonAnswer, type SimulatorAnswer } from '../protocol/answer.ts';
import type { SimulatorState } from '../state.ts';

interface SendRequest {
  readonly account: ProviderAccount;
  readonly phoneNumberId: string;
  readonly body: string;
  /** By the endpoint for marketing messages. */
  readonly marketing: boolean;
}

const unknownPerson: Person = { waId: null, userId: '' };

interface Envelope {
  /** The recipient's number in digits, or the user id of a person without a known number. */
  readonly to: string;
  readonly person: Person;
  readonly callbackData: string;
  readonly body: JsonObject;
}

const maxCallbackData = 512;
const sendable = new Set(['APPROVED', 'REINSTATED', 'LOCKED', 'FLAGGED', 'UNARCHIVED']);

/** `POST /{phone number}/messages`: validates a message, then rejects or accepts it. */
export function sendMessage(state: SimulatorState, request: SendRequest): SimulatorAnswer {
  const given = parse(request.body);
  // Marks an inbound message as read.
  if (isObject(given) && given['status'] === 'read') return markRead(given);
  let envelope: Envelope = { to: '', person: unknownPerson, callbackData: '', body: {} };
  try {
    envelope = readEnvelope(request.body);
    const limit = { perSecond: state.faults.settings.messagesPerSecond, now: Date.now() };
    if (!state.throughput.allows(request.phoneNumberId, limit))
      throw new GraphError(130429, 'Simulated limit');
    const magic = magicOf(envelope.to);
    const fault = faultOf(state, envelope.to);
    const early = fault && answerBeforeAccepting(fault);
    if (early) return refuse(state, { ...request, envelope, outcome: outcomeOf(fault), answer: early });
    const template = readTemplate(request.account, envelope.body);
    if (request.marketing && template.definition.category.toUpperCase() !== 'MARKETING')
      throw new GraphError(131055, 'Only marketing templates can be sent by this endpoint');
    if (!request.marketing && template.header?.format === 'GIF')
      throw new GraphError(131009, 'A GIF can be sent by the endpoint for marketing messages only');
    if (envelope.person.waId === null && template.definition.category.toUpperCase() === 'AUTHENTICATION')
      throw new GraphError(131062, 'Authentication templates cannot be sent to a user id');
    const isMedia = (mediaId: string): boolean =>
      state.media.get(mediaId)?.phoneNumberId === request.phoneNumberId;
    validateComponents(template, { components: componentsOf(envelope.body), now: Date.now(), isMedia });
    const id = acceptMessage(state, { ...request, envelope, template });
    return fault ? answerAfterAccepting(fault) : accepted(envelope, { id, held: magic?.held === true });
  } catch (error) {
    if (!(error instanceof GraphError)) throw error;
    return refuse(state, { ...request, envelope, outcome: String(error.code), answer: errorAnswer(error) });
  }
}

function readEnvelope(text: string): Envelope {
  const body = parse(text);
  if (!isObject(body)) throw new GraphError(100, 'The request body is not a JSON object');
  if (body['messaging_product'] !== 'whatsapp')
    throw new GraphError(100, 'The parameter messaging_product is required.');
  if (body['recipient_type'] !== undefined && body['recipient_type'] !== 'individual')
    throw new GraphError(100, 'Param recipient_type must be one of individual');
  const { to, person } = recipientOf(body);
  const callbackData = textOf(body['biz_opaque_callback_data']);
  if (callbackData.length > maxCallbackData)
    throw new GraphError(100, 'biz_opaque_callback_data is too long');
  return { to, person, callbackData, body };
}

/** `to` wins where both are given. */
function recipientOf(body: JsonObject): Pick<Envelope, 'to' | 'person'> {
  const to = textOf(body['to']).replaceAll(/[+\-() ]/g, '');
  const userId = textOf(body['recipient']);
  if (to === '' && userId === '') throw new GraphError(100, 'The parameter to is required.');
  if (to === '') {
    if (!userIdPattern.test(userId)) throw new GraphError(131009, 'recipient is not a valid user id');
    return { to: userId, person: { waId: null, userId } };
  }
  if (!/^\d{5,15}$/.test(to)) throw new GraphError(131009, 'to is not a valid phone number');
  return { to, person: personOfNumber(to) };
}

function markRead(body: JsonObject): SimulatorAnswer {
  return textOf(body['message_id']) === ''
    ? errorAnswer(new GraphError(131008, 'The parameter message_id is required.'))
    : jsonAnswer('{"success":true}');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function readTemplate(account: ProviderAccount, body: JsonObject): CompiledTemplate {
  const type = textOf(body['type']).toLowerCase();
  if (type === 'text')
    throw new GraphError(131047, 'More than 24 hours have passed since the recipient last replied');
  if (type !== 'template') throw new GraphError(100, 'The parameter type must be one of template, text');
  const template = objectOf(body['template']);
  const name = textOf(template['name']);
  const language = textOf(objectOf(template['language'])['code']);
  if (name === '' || language === '')
    throw new GraphError(131008, 'template name and language code are required');
  const found = findTemplate(account, { name, language });
  const status = found?.definition.status.toUpperCase();
  if (status === 'PAUSED') throw new GraphError(132015, `template ${name} is paused`);
  if (status === 'DISABLED') throw new GraphError(132016, `template ${name} is disabled`);
  if (!found || !sendable.has(status ?? '')) {
    throw new GraphError(132001, `template name (${name}) does not exist in ${language}`);
  }
  return found;
}

function componentsOf(body: JsonObject): unknown {
  return objectOf(body['template'])['components'];
}

/** A fault requested by the recipient's digits takes precedence over the configured faults. */
function faultOf(state: SimulatorState, to: string): Fault | undefined {
  const magic = magicOf(to);
  if (!magic?.fault) return state.faults.draw(to);
  if (magic.firstSendOnly) {
    if (state.refusedOnce.has(to)) return undefined;
    state.refusedOnce.add(to);
  }
  return magic.fault;
}

function answerBeforeAccepting(fault: Fault): SimulatorAnswer | undefined {
  switch (fault.kind) {
    case 'error':
      return errorAnswer(new GraphError(fault.code, 'Simulated error'));
    case 'http':
      return htmlAnswer(fault.httpStatus);
    case 'drop':
      return { kind: 'drop' };
    case 'hang':
      return { kind: 'hang' };
    default:
      return undefined;
  }
}

function answerAfterAccepting(fault: Fault): SimulatorAnswer {
  if (fault.kind === 'drop_after') return { kind: 'drop' };
  return fault.kind === 'hang_after' ? { kind: 'hang' } : jsonAnswer('{"messaging_product":"what');
}

function outcomeOf(fault: Fault): string {
  if (fault.kind === 'error') return String(fault.code);
  return fault.kind === 'http' ? `http_${fault.httpStatus}` : fault.kind;
}

interface Refusal extends SendRequest {
  readonly envelope: Envelope;
  readonly outcome: string;
  readonly answer: SimulatorAnswer;
}

function refuse(
  state: SimulatorState,
  { phoneNumberId, marketing, envelope, outcome, answer }: Refusal,
): SimulatorAnswer {
  state.received.record({
    at: Date.now(),
    phoneNumberId,
    marketing,
    ...envelope,
    providerMessageId: null,
    outcome,
  });
  return answer;
}

function acceptMessage(
  state: SimulatorState,
  {
    account,
    phoneNumberId,
    marketing,
    body,
    envelope,
    template,
  }: SendRequest & { readonly envelope: Envelope; readonly template: CompiledTemplate },
): string {
  const { to, person, callbackData } = envelope;
  const at = Date.now();
  const id = state.nextMessageId();
  state.received.record({
    at,
    phoneNumberId,
    marketing,
    ...envelope,
    providerMessageId: id,
    outcome: 'accepted',
  });
  state.stateFile?.append({ at, phoneNumberId, to, callbackData, providerMessageId: id });
  const category = template.definition.category.toLowerCase();
  const fate = magicOf(to)?.fate ?? fateOfMedia(body) ?? fateOf(to, state.callbacks.settings);
  state.callbacks.schedule(
    { id, to, person, callbackData, businessAccountId: account.id, phoneNumberId, category },
    fate,
  );
  return id;
}

/** The provider fetches a link after it has taken the message. No server has a name in `.invalid`. */
const deadLink = /"link"\s*:\s*"https?:\/\/[^"/]+\.invalid["/]/;
const fateOfMedia = (body: string): MessageFate | undefined =>
  deadLink.test(body) ? { kind: 'failed', code: 131053 } : undefined;

function accepted(
  { to, person }: Envelope,
  { id, held }: { readonly id: string; readonly held: boolean },
): SimulatorAnswer {
  const contact =
    person.waId === null
      ? `{"input":"${to}","user_id":"${person.userId}"}`
      : `{"input":"+${to}","wa_id":"${person.waId}"}`;
  const status = held ? 'held_for_quality_assessment' : 'accepted';
  return jsonAnswer(
    `{"messaging_product":"whatsapp","contacts":[${contact}],` +
      `"messages":[{"id":"${id}","message_status":"${status}"}]}`,
  );
}
