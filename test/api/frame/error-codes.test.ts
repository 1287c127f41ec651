import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import * as errors from '../../../src/domain/error.ts';
import { errorPage } from '../../../src/api/frame/document/error-page.ts';
import { HttpProblem, toFailure } from '../../../src/api/frame/error-envelope.ts';
import {
  pauseReasons,
  preparationErrorCodes,
  waitingReasons,
} from '../../../src/domain/campaigns/campaign.ts';
import { skipReasons } from '../../../src/domain/campaigns/recipient.ts';
import { webhookErrorCodes } from '../../../src/domain/webhooks/delivery.ts';
import {
  channelNeeded,
  Conflict,
  FeatureUnavailable,
  IdempotencyMismatch,
  Invalid,
  MessagingLimitReached,
  NotFound,
  Overloaded,
  ProviderRefused,
  ProviderUnreachable,
  StorageFull,
  templateNotApproved,
  Unauthorized,
} from '../../../src/domain/error.ts';

it.each<[string, number, unknown]>([
  [
    'name_required',
    400,
    Invalid.of([{ field: 'name', message: 'Campaign name is required', code: 'name_required' }]),
  ],
  ['channel_required', 400, channelNeeded()],
  [
    'schedule_in_past',
    400,
    Invalid.at('scheduled_at', 'Scheduled time must be in the future', 'schedule_in_past'),
  ],
  ['validation_failed', 400, Invalid.at('name', 'name must not be empty')],
  ['malformed_request', 400, new HttpProblem(400, 'Request body is not valid JSON')],
  ['template_not_approved', 400, templateNotApproved('template_id', 'PAUSED')],
  ['insufficient_balance', 400, new Invalid('Insufficient wallet balance', [], 'insufficient_balance')],
  ['feature_unavailable', 400, new FeatureUnavailable('schedule_campaigns', 'Not available')],
  ['quota_exhausted', 400, new FeatureUnavailable('broadcasts_per_month', 'Used up')],
  ['provider_rejected', 400, new ProviderRefused(131026, 'undeliverable')],
  ['unauthorized', 401, new Unauthorized()],
  ['jwt_not_allowed', 401, new Unauthorized('An API key only', 'jwt_not_allowed')],
  ['template_not_found', 404, new NotFound('Template', 'template_not_found')],
  ['not_found', 404, new NotFound('Campaign')],
  ['method_not_allowed', 405, new HttpProblem(405, 'Method not allowed')],
  ['conflict', 409, new Conflict('The campaign is COMPLETED')],
  ['idempotency_conflict', 409, new Conflict('Still running', 'idempotency_conflict')],
  ['too_large', 413, new StorageFull('Full')],
  ['unsupported_media_type', 415, new HttpProblem(415, 'Content-Type must be application/json')],
  ['idempotency_mismatch', 422, new IdempotencyMismatch()],
  ['rate_limited', 429, new Overloaded('Too many', 1)],
  ['messaging_limit', 429, new MessagingLimitReached(1)],
  ['provider_unreachable', 502, new ProviderUnreachable()],
  ['unavailable', 503, new HttpProblem(503, 'Not ready')],
  ['internal_error', 500, new Error('anything')],
])('answers %s with status %i', (errorCode, code, error) => {
  const { status, body } = toFailure(error, new Date());
  expect(status).toBe(code);
  expect(JSON.parse(body)).toMatchObject({ status: 'error', code, error_code: errorCode });
});

it('gives every failure of src/domain/error.ts a code', () => {
  const { CallerFailure, Failure } = errors;
  const classes = Object.values(errors).flatMap((one) =>
    typeof one === 'function' && one.prototype instanceof Failure ? [one] : [],
  );
  expect(classes.length).toBeGreaterThan(10);
  const coded = (one: { readonly prototype: unknown }) =>
    one === CallerFailure || one.prototype instanceof CallerFailure;
  expect(classes.filter((one) => !coded(one)).map(({ name }) => name)).toEqual([]);
});

it('docs/errors.md is up to date: `npm run openapi` writes it', async () => {
  expect(await readFile('docs/errors.md', 'utf8')).toBe(errorPage());
});

it('explains every reason, pause, wait and delivery error, with advice', () => {
  const page = errorPage();
  const codes = [
    ...pauseReasons,
    ...waitingReasons,
    ...skipReasons,
    ...preparationErrorCodes,
    ...webhookErrorCodes,
    'PROVIDER_UNREACHABLE',
    'OUTCOME_UNKNOWN',
  ];
  const silent = codes.filter(
    (code) => !new RegExp(`^\\| \`${code}\` \\| .+\\. \\| .+\\. \\|$`, 'm').test(page),
  );
  expect(silent).toEqual([]);
});
