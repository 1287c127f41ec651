/** The single send (Spec 4.5). */
import * as t from 'io-ts';
import { listOf } from '../codecs/collections.ts';
import { describe, named } from '../codecs/json-schema.ts';
import { CountryCode, Uuid } from '../codecs/scalars.ts';
import { inOrder, nullish, refined, shownAsOneOf, struct } from '../codecs/struct.ts';
import { exampleTemplateId } from '../codecs/template.ts';
import { VariableMapping } from '../codecs/variable-mapping.ts';
import { sendTemplateMessage } from '../commands/messages/send-template-message.ts';
import type { Dependencies } from '../dependencies.ts';
import { Overloaded, ProviderRefused, ProviderUnreachable } from '../domain/error.ts';
import { findChannelById } from '../records/workspaces/channels.ts';
import { findOutboundMessage, type OutboundMessage } from '../records/messages/outbound-messages.ts';
import { endpoint, type EndpointRequest } from './frame/endpoint.ts';
import { answerWith, ErrorEnvelope, succeedWith } from './frame/envelope.ts';

const tag = 'Messages';
const sent = 'Template message sent successfully';
const outcomeUnknown =
  'The messaging provider gave no answer that can be read: whether the message was sent is not known, and it is not sent again';

const Digits = refined(
  t.string,
  (text) => /^[1-9]\d{4,14}$/.test(text),
  (field) => `${field} must be digits that begin with the country code, such as 4915112345678`,
  {
    pattern: '^[1-9][0-9]{4,14}$',
  },
);

const UserId = refined(
  t.string,
  (text) => /^[A-Z]{2}\.[A-Za-z0-9.]{1,140}$/.test(text),
  (field) => `${field} must be a user id of the provider, such as US.13491208655302741918`,
  { pattern: '^[A-Z]{2}\\.[A-Za-z0-9.]{1,140}$' },
);

const byNumber = {
  recipientPhoneNumber: describe(Digits, {
    description: 'Phone number: digits with country calling code, without `+` and spaces.',
  }),
  countryCode: describe(CountryCode, {
    description: 'Country calling code with `+`, such as `+49`; the phone number begins with its digits.',
  }),
};
const byUserId = {
  recipientUserId: describe(UserId, {
    description: 'Provider’s id of the user, for contacts whose number it hides.',
  }),
};
const content = { variables: listOf(t.string), variableMapping: VariableMapping };

const SendTemplateMessage = shownAsOneOf(
  inOrder(struct({ templateId: Uuid }, { ...byNumber, ...byUserId, ...content }), [
    'templateId',
    ...Object.keys({ ...byNumber, ...byUserId, ...content }),
  ]),
  [
    named('SendToPhoneNumber', struct({ templateId: Uuid, ...byNumber }, content)),
    named('SendToUserId', struct({ templateId: Uuid, ...byUserId }, content)),
  ],
);

export const SentMessage = named(
  'SentMessage',
  struct({
    messageId: Uuid,
    providerMessageId: nullish(t.string),
    status: t.string,
    recipientPhoneNumber: nullish(t.string),
    phoneNumberId: t.string,
  }),
);
type SentMessage = t.TypeOf<typeof SentMessage>;

const example = {
  templateId: exampleTemplateId,
  recipientPhoneNumber: '919876543210',
  countryCode: '+91',
  variables: ['Ada'],
};

export const sendMessage = endpoint(
  {
    method: 'POST',
    path: '/api/templates/external/message/send',
    operationId: 'sendTemplateMessage',
    summary: 'Send a template message to one recipient',
    description:
      'Sends at most once. If the provider gives no answer that can be read, the response is 502 `outcome_unknown`: the message may have been sent, and events report what became of it. Repeating the `Idempotency-Key` returns the same response and sends nothing.',
    tag,
    access: 'channel',
    idempotent: true,
    body: SendTemplateMessage,
    bodyExample: example,
    responses: {
      200: answerWith('The provider accepted the message', sent, SentMessage, {
        messageId: '0197c1f2-7a6e-7b52-9a40-3f0f6a3c9d11',
        providerMessageId: 'wamid.HBgMOTE5ODc2NTQzMjEw',
        status: 'accepted',
        recipientPhoneNumber: '919876543210',
        phoneNumberId: '106540352242922',
      }),
      502: {
        description: 'The provider cannot be reached, or gave no answer that can be read',
        body: ErrorEnvelope,
      },
    },
    errors: [404],
  },
  async ({ dependencies, principal, body, request }) => {
    const { idempotency } = request;
    if (idempotency.interrupted !== undefined) {
      return answerFromRecord({ dependencies, request, workspaceId: principal.workspaceId });
    }
    try {
      const { outcome, recipientPhoneNumber, phoneNumberId } = await sendTemplateMessage(dependencies, {
        ...body,
        workspaceId: principal.workspaceId,
        channelId: principal.channelId,
        onClaim: (transaction, messageId) => {
          request.nameMessage(messageId);
          return idempotency.reserve(transaction, messageId);
        },
      });
      if (outcome.kind === 'unknown') {
        const answer = unknownAnswer(dependencies);
        await idempotency.complete(dependencies.database, answer);
        return answer;
      }
      const { messageId, providerMessageId, status } = outcome;
      const answer = sentAnswer({
        messageId,
        providerMessageId,
        status,
        recipientPhoneNumber,
        phoneNumberId,
      });
      await idempotency.complete(dependencies.database, answer);
      return answer;
    } catch (error) {
      // Only these are thrown after the reservation was committed although nothing was sent.
      if ([ProviderRefused, ProviderUnreachable, Overloaded].some((kind) => error instanceof kind)) {
        await idempotency.release(dependencies.database);
      }
      throw error;
    }
  },
);

export const sentAnswer = (data: SentMessage) => ({ status: 200, body: succeedWith(sent, data) }) as const;

export const unknownAnswer = ({ now }: Pick<Dependencies, 'now'>) =>
  ({
    status: 502,
    body: {
      status: 'error',
      code: 502,
      error_code: 'outcome_unknown',
      message: outcomeUnknown,
      timestamp: now(),
    },
  }) as const;

interface Interrupted {
  readonly dependencies: Dependencies;
  readonly request: EndpointRequest;
  readonly workspaceId: number;
}

/** Answers from the message's record, because the process of the first request with this key died. */
async function answerFromRecord({ dependencies, request: { idempotency }, workspaceId }: Interrupted) {
  const { database } = dependencies;
  const message = await findOutboundMessage(database, workspaceId, idempotency.interrupted?.resourceId ?? '');
  if (message === undefined || message.state === 'CLAIMED' || message.state === 'UNKNOWN') {
    return unknownAnswer(dependencies);
  }
  if (message.state === 'FAILED' && message.providerMessageId === null) {
    await idempotency.release(database);
    throw refusalOf(message);
  }
  const channel = await findChannelById(database, message.channelId);
  const answer = sentAnswer({
    messageId: message.id,
    providerMessageId: message.providerMessageId,
    status: 'accepted',
    recipientPhoneNumber: message.phoneNumber,
    phoneNumberId: channel?.phoneNumberId ?? '',
  });
  await idempotency.complete(database, answer);
  return answer;
}

function refusalOf({ reason, reasonDetail }: OutboundMessage): Error {
  const code = /^PROVIDER_(\d+)$/.exec(reason ?? '')?.[1];
  return code === undefined
    ? new ProviderUnreachable()
    : new ProviderRefused(Number(code), reasonDetail ?? '');
}
