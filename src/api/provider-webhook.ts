/** The provider's verification request and its callbacks; authenticated by signature instead of by API key. */
import * as t from 'io-ts';
import { optional, struct } from '../codecs/struct.ts';
import { Unauthorized } from '../domain/error.ts';
import type { Logger } from '../telemetry/logger.ts';
import { isSignature, isSignedBy, isVerifyToken } from '../provider/signature.ts';
import { scanJson } from './frame/body/json-body.ts';
import { endpoint } from './frame/endpoint.ts';
import { HttpProblem } from './frame/error-envelope.ts';

const tag = 'Provider';
const path = '/provider/webhook';
const bodyLimit = 4 * 1024 * 1024;

export const verifyProviderWebhook = endpoint(
  {
    method: 'GET',
    path,
    operationId: 'verifyProviderWebhook',
    summary: 'Answer the provider’s verification request',
    description: 'Returns `hub.challenge` as text if `hub.verify_token` is the configured token.',
    tag,
    access: 'public',
    query: optional({ 'hub.mode': t.string, 'hub.verify_token': t.string, 'hub.challenge': t.string }),
    responses: { 200: { description: 'The challenge', content: { 'text/plain': { type: 'string' } } } },
    errors: [403],
  },
  async ({ dependencies, query }) => {
    const verified =
      query['hub.mode'] === 'subscribe' &&
      isVerifyToken(dependencies.config.providerVerifyToken, query['hub.verify_token']);
    if (!verified) throw new HttpProblem(403, 'The verify token is not valid');
    return { status: 200, content: query['hub.challenge'] ?? '', contentType: 'text/plain; charset=utf-8' };
  },
);

export const receiveProviderCallback = endpoint(
  {
    method: 'POST',
    path,
    operationId: 'receiveProviderCallback',
    summary: 'Receive a notification of the provider',
    description:
      'Verifies `X-Hub-Signature-256` over the raw bytes and responds once they are stored. A worker applies them later; order and repetition do not matter.',
    tag,
    access: 'public',
    sampled: true,
    precheck: (header) => {
      if (!isSignature(header('x-hub-signature-256'))) throw new Unauthorized();
    },
    body: 'raw',
    bodySchema: { type: 'object' },
    bodyLimit,
    responses: {
      200: {
        description: 'Stored',
        body: struct({ status: t.literal('success') }),
        example: { status: 'success' },
      },
    },
    errors: [401],
  },
  async ({ dependencies, body, request }) => {
    const signature = request.header('x-hub-signature-256');
    const { providerAppSecret, providerAppSecretsPrevious } = dependencies.config;
    const { logger, metrics } = dependencies;
    if (!isSignedBy([providerAppSecret, ...providerAppSecretsPrevious], { body, signature })) {
      metrics.providerCallbacks.inc({ outcome: 'refused' });
      logRefusal(logger, request.id);
      throw new Unauthorized();
    }
    // Throws for a body that would block the event loop; one of 4 MiB full of statuses is far from these limits.
    await scanJson(body, Infinity);
    requireJsonObject(body);
    await dependencies.callbackInbox(body);
    metrics.providerCallbacks.inc({ outcome: 'stored' });
    return { status: 200, body: { status: 'success' } as const };
  },
);

const refusalsLoggedMs = 60_000;
const refusals = new WeakMap<Logger, number>();

/** Anybody may cause these lines: one for the first refusal, then one a minute with the number of those since. */
function logRefusal(logger: Logger, requestId: string): void {
  const message = 'provider callback refused: no PROVIDER_APP_SECRET fits its signature';
  const counted = refusals.get(logger);
  if (counted !== undefined) {
    refusals.set(logger, counted + 1);
    return;
  }
  logger.warn({ requestId, refused: 1 }, message);
  refusals.set(logger, 0);
  const logCount = (): void => {
    const refused = refusals.get(logger) ?? 0;
    if (refused === 0) {
      refusals.delete(logger);
      return;
    }
    logger.warn({ refused }, message);
    refusals.set(logger, 0);
    setTimeout(logCount, refusalsLoggedMs).unref();
  };
  setTimeout(logCount, refusalsLoggedMs).unref();
}

/** Rejects a body that is not a notification at all; everything else is checked when it is applied. */
function requireJsonObject(body: Buffer): void {
  if (!isJsonObject(body)) throw new HttpProblem(400, 'Request body must be a JSON object');
}

function isJsonObject(body: Buffer): boolean {
  try {
    const value: unknown = JSON.parse(body.toString('utf8').replace(/^\uFEFF/, ''));
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
