import { groupCalls } from '../../concurrency/group-calls.ts';
import { createLogSample } from '../../telemetry/logger.ts';
import { createId } from '../../records/database/uuid-v7.ts';
import { untilDone } from '../../records/database/until-done.ts';
import type { Config } from '../../config.ts';
import type { Dependencies } from '../../dependencies.ts';
import { signatureHeaders } from '../../domain/webhooks/signature.ts';
import type { WebhookRequest } from '../../outbound/post-webhook.ts';
import {
  type Attempt,
  type AttemptOutcome,
  claimAttempts,
  listStillPending,
  recordDeliveryOutcomes,
} from '../../records/webhooks/attempts.ts';

/** The attempt takes at most 5 s; the rest of the lease gives a busy process time to record its outcome. */
const leaseSeconds = 15;
// A statement costs much more than each row in it, so a group shares one. A group holds up to 50 bodies in memory, at most 13 MB.
const grouping = { maxSize: 50, lanes: 1, spacingMs: 80 };
// Hundreds of receivers that begin to hang time out together: recorded in one statement, their workflows would all close at once
// and delay others in Temporal.
const groupingOfLate = { ...grouping, maxSize: 5 };
/**
 * 120 s, as long as a failover of Postgres may take: the outcome of an attempt is kept and recorded again until then. Temporal
 * retries the activity long before; the retry finds the delivery claimed and does not dial.
 */
const keptForMs = 120_000;

type WebhookDependencies = Pick<
  Dependencies,
  'database' | 'outbound' | 'secrets' | 'now' | 'logger' | 'config' | 'metrics'
>;
type Signer = Pick<Dependencies, 'config' | 'secrets' | 'now'>;

export type DeliverySummary = 'delivered' | `failed: ${string}` | 'not pending';

/**
 * Makes the one attempt of a delivery (Spec 6.1). Idempotent: only the call whose claim moves the delivery from `pending` to
 * `sending` dials. Concurrent attempts share the statements that claim and record.
 */
export function createDeliverWebhook(
  dependencies: WebhookDependencies,
): (deliveryId: string) => Promise<DeliverySummary> {
  const { database, config, logger, metrics, outbound } = dependencies;

  /** Marks the claims of this process. */
  const claimedBy = createId();
  /** Deliveries that this process may dial; if one is asked for again, it must not be granted a second time. */
  const permitted = new Set<string>();

  const claim = groupCalls<string, Attempt | 'held' | undefined>(async (all) => {
    const ids = all.filter((id) => !permitted.has(id));
    const attempts = await claimAttempts(database, ids, {
      leaseSeconds,
      expiryHours: config.webhookExpiryHours,
      claimedBy,
    });
    const byId = new Map<string, Attempt | 'held'>(attempts.map((attempt) => [attempt.id, attempt]));
    const missed = ids.filter((id) => !byId.has(id));
    if (missed.length > 0) for (const id of await listStillPending(database, missed)) byId.set(id, 'held');
    for (const { id } of attempts) permitted.add(id);
    return all.map((id) => {
      const attempt = byId.get(id);
      // A stalled activity that was retried brings the same id twice; only the first caller gets the claim.
      byId.delete(id);
      return attempt;
    });
  }, grouping);

  const recordAll = async (results: readonly AttemptOutcome[]) => {
    await recordDeliveryOutcomes(database, results);
    return results.map(() => undefined);
  };
  const isSampled = createLogSample(config.logSamplePercent);
  const record = groupCalls(recordAll, grouping);
  const recordLate = groupCalls(recordAll, groupingOfLate);

  return async (deliveryId) => {
    const attempt = await claim(deliveryId);
    if (attempt === undefined) return 'not pending';
    if (attempt === 'held') throw new Error('Another transaction holds the delivery');
    try {
      return await carryOut(attempt);
    } finally {
      permitted.delete(deliveryId);
    }
  };

  async function carryOut(attempt: Attempt): Promise<DeliverySummary> {
    const { id: deliveryId, webhookId, eventId, eventKey, workspaceId, refusal } = attempt;
    const messageId = messageIdOf(attempt.body);
    const delivery = {
      deliveryId,
      webhookId,
      workspaceId,
      eventId,
      eventKey,
      ...(messageId !== undefined && { messageId }),
    };
    if (refusal !== null) {
      metrics.webhooksSwept.inc({ outcome: refusal });
      logger.info({ ...delivery, state: 'failed', errorCode: refusal }, 'delivery');
      return `failed: ${refusal}`;
    }
    const outcome = await outbound.postWebhook(webhookRequest(dependencies, attempt));
    const result = { id: deliveryId, ...outcome };
    // Recording may be retried, dialling may not: the claim permits one request.
    await untilDone(() => (result.errorCode === 'timeout' ? recordLate : record)(result), keptForMs);
    const { state, errorCode, responseStatus, durationMs } = result;
    if (errorCode !== null || isSampled())
      logger.info({ ...delivery, state, errorCode, responseStatus, durationMs }, 'delivery');
    return result.errorCode === null ? 'delivered' : `failed: ${result.errorCode}`;
  }
}

/** Says who asks and, if the address of the installation is known, where to read about it. */
export const userAgent = ({ publicUrl }: Pick<Config, 'publicUrl'>): string =>
  `MessagingCampaigns-Webhooks/1.0 (${publicUrl === undefined ? 'webhook' : `+${publicUrl}/docs`})`;

/** The secrets that sign: the current one, and the previous one until it expires. */
function secretsOf({ secrets }: Signer, attempt: Attempt): readonly string[] {
  return [attempt.secretEncrypted, attempt.previousSecretEncrypted]
    .filter((encrypted) => encrypted !== null)
    .map((encrypted) => secrets.decrypt(encrypted, `webhook ${attempt.webhookId}`));
}

/** The request of Spec 6.1: the stored text as it is, its headers and the signatures. */
function webhookRequest(dependencies: Signer, attempt: Attempt): WebhookRequest {
  const body = Buffer.from(attempt.body, 'utf8');
  return {
    url: attempt.url,
    body,
    headers: {
      'Content-Type': 'application/json',
      // Without it, the common rules of web application firewalls count the request as suspect.
      Accept: '*/*',
      'User-Agent': userAgent(dependencies.config),
      'X-Webhook-Id': attempt.webhookId,
      'X-Workspace-Id': String(attempt.workspaceId),
      'X-Event-Key': attempt.eventKey,
      ...signatureHeaders({
        id: attempt.eventId,
        sentAt: dependencies.now(),
        body,
        secrets: secretsOf(dependencies, attempt),
      }),
    },
  };
}

/** 4,000 characters: the envelope begins with the event's ids, however long the provider's part is. */
const headOfBody = 4_000;

/** The message that an event is about, for the log line; undefined for other events. */
function messageIdOf(body: string): string | undefined {
  return /"messageId":"([0-9a-f-]{36})"/.exec(body.slice(0, headOfBody))?.[1];
}
