/** The address to which the notices of a workspace are posted. */
import { describe, named } from '../codecs/json-schema.ts';
import { Integer, IsoDateTime, textOf } from '../codecs/scalars.ts';
import * as t from 'io-ts';
import { nullish, oneOf, struct, withMessage } from '../codecs/struct.ts';
import { removeNoticeTarget, setNoticeTarget } from '../commands/workspaces/workspaces.ts';
import { Invalid } from '../domain/error.ts';
import { maxSecretLength, webhookErrorCodes } from '../domain/webhooks/delivery.ts';
import { targetUrlMessage } from '../outbound/address-guard.ts';
import { findNoticeTarget } from '../records/operations/notice-targets.ts';
import { endpoint } from './frame/endpoint.ts';
import { acknowledge, acknowledgement, answer, answerWith, succeed, succeedWith } from './frame/envelope.ts';

const path = '/api/workspace/notice-target';
const tag = 'Workspace';

const NoticeTarget = named(
  'NoticeTarget',
  struct({
    url: describe(t.string, { description: 'Address to which notices are posted.' }),
    hasSecret: describe(t.boolean, { description: 'True if the requests are signed.' }),
    attemptedAt: describe(nullish(IsoDateTime), {
      description: 'Time of the last request; null before the first.',
    }),
    errorCode: describe(nullish(oneOf(webhookErrorCodes, 'DeliveryErrorCode')), {
      description: 'Why the last request failed; null if it did not.',
    }),
    responseStatus: describe(nullish(Integer), {
      description: 'HTTP status of the last response; null without one.',
    }),
  }),
);

const example = {
  url: 'https://example.com/hooks/notices',
  hasSecret: true,
  attemptedAt: '2026-11-21T09:00:00.120Z',
  errorCode: null,
  responseStatus: 204,
};

export const getNoticeTarget = endpoint(
  {
    method: 'GET',
    path,
    operationId: 'getNoticeTarget',
    summary: 'Read the address to which notices are posted',
    description: '`data` is null if they are not posted.',
    tag,
    access: 'workspace',
    responses: { 200: answer('The address', nullish(NoticeTarget), example) },
  },
  async ({ dependencies: { database }, principal: { workspaceId } }) => ({
    status: 200,
    body: succeed(await findNoticeTarget(database, workspaceId)),
  }),
);

const saved = 'Notice target saved successfully';
const removed = 'Notice target removed successfully';

export const putNoticeTarget = endpoint(
  {
    method: 'PUT',
    path,
    operationId: 'putNoticeTarget',
    summary: 'Post notices to an address',
    description:
      'Needs an operator’s key. Each notice is one POST with one attempt of five seconds, `X-Event-Key: notice`, the id of the notice as `webhook-id` and, with a secret, the signatures of webhooks. The address must be public (`npm start` also allows loopback). The secret is stored encrypted and never returned.',
    tag,
    access: 'operator',
    body: named(
      'SetNoticeTarget',
      struct(
        {
          url: describe(textOf({ min: 1, max: 2048 }), {
            pattern: '^[Hh][Tt][Tt][Pp][Ss]?:',
            description: 'Address to which notices are posted.',
          }),
        },
        {
          secret: describe(
            withMessage(
              nullish(textOf({ min: 1, max: maxSecretLength })),
              `secret must be a text of 1 to ${maxSecretLength} characters`,
            ),
            { description: 'Secret that signs the requests; null or absent: they are not signed.' },
          ),
        },
      ),
    ),
    bodyExample: { url: example.url, secret: 'a token of your own' },
    responses: { 200: answerWith('The address after the change', saved, NoticeTarget, example) },
  },
  async ({ dependencies, principal: { workspaceId }, body: { url, secret = null } }) => {
    const check = dependencies.outbound.checkUrl(url);
    if (!check.ok) throw Invalid.at('url', targetUrlMessage('url', check.problem));
    const target = await setNoticeTarget(dependencies, workspaceId, { url, secret });
    return { status: 200, body: succeedWith(saved, target) };
  },
);

export const deleteNoticeTarget = endpoint(
  {
    method: 'DELETE',
    path,
    operationId: 'deleteNoticeTarget',
    summary: 'Stop posting notices',
    description: 'Needs an operator’s key.',
    tag,
    access: 'operator',
    responses: { 200: acknowledgement('Removed', removed) },
  },
  async ({ dependencies, principal: { workspaceId } }) => {
    await removeNoticeTarget(dependencies, workspaceId);
    return { status: 200, body: acknowledge(removed) };
  },
);
