import { groupCalls } from '../../concurrency/group-calls.ts';
import { untilDone } from '../../records/database/until-done.ts';
import type { Dependencies } from '../../dependencies.ts';
import { signatureHeaders } from '../../domain/webhooks/signature.ts';
import type { WebhookRequest } from '../../outbound/post-webhook.ts';
import { claimAttempts, listStillPending, type Attempt } from '../../records/webhooks/attempts.ts';
import { recordDeliveryOutcomes, type AttemptOutcome } from '../../records/webhooks/outcome-recorder.ts';

/** The attempt itself takes 5 seconds at most; the rest is for a busy process to record it. */
const leaseSeconds = 15;
// A statement costs much more than a row of it. A group holds as many bodies in memory at once: 13 MB of the largest.
const grouping = { maxSize: 50, lanes: 1, spacingMs: 80 };
// Hundreds of receivers that began to hang time out at one moment: ended all at once, they would hold up the others in Temporal.
const groupingOfLate = { ...grouping, maxSize: 5 };
/**
 * While Postgres is away the outcome of an attempt is kept for this long: as a failover may take. Temporal has long given
 * the attempt up by then; whoever tries it again meanwhile finds that it was claimed.
 */
const keptForMs = 120_000;

type WebhookDependencies = Pick<
  Dependencies,
  'database' | 'outbound' | 'secrets' | 'now' | 'logger' | 'config' | 'metrics'
>;
type Signer = Pick<Dependencies, 'secrets' | 'now'>;

export type DeliverySummary = 'delivered' | `failed: ${string}` | 'not pending';

/**
 * Makes the one attempt of a delivery (spec 6.1). Safe to run again at any point: who does not find the delivery
 * `pending` does not dial. Attempts under way at the same time share the statements of claiming and recording.
 */
export function createDeliverWebhook(
  dependencies: WebhookDependencies,
): (deliveryId: string) => Promise<DeliverySummary> {
  const { database, config, logger, metrics, outbound } = dependencies;

  const claim = groupCalls<string, Attempt | 'held' | undefined>(async (ids) => {
    const attempts = await claimAttempts(database, ids, {
      leaseSeconds,
      expiryHours: config.webhookExpiryHours,
    });
    const byId = new Map<string, Attempt | 'held'>(attempts.map((attempt) => [attempt.id, attempt]));
    const missed = ids.filter((id) => !byId.has(id));
    if (missed.length > 0) for (const id of await listStillPending(database, missed)) byId.set(id, 'held');
    return ids.map((id) => {
      const attempt = byId.get(id);
      // An id comes twice when a stalled activity was tried again: the claim is one caller's alone.
      byId.delete(id);
      return attempt;
    });
  }, grouping);

  const recordAll = async (results: readonly AttemptOutcome[]) => {
    await recordDeliveryOutcomes(database, results);
    return results.map(() => undefined);
  };
  const record = groupCalls(recordAll, grouping);
  const recordLate = groupCalls(recordAll, groupingOfLate);

  return async (deliveryId) => {
    const attempt = await claim(deliveryId);
    if (attempt === undefined) return 'not pending';
    if (attempt === 'held') throw new Error('Somebody else holds the delivery');
    const { webhookId, eventId, eventKey, workspaceId, refusal } = attempt;
    const delivery = { deliveryId, webhookId, workspaceId, eventId, eventKey };
    if (refusal !== null) {
      metrics.webhooksSwept.inc({ outcome: refusal });
      logger.info({ ...delivery, state: 'failed', errorCode: refusal }, 'delivery');
      return `failed: ${refusal}`;
    }
    const outcome = await outbound.postWebhook(webhookRequest(dependencies, attempt));
    const result = { id: deliveryId, ...outcome };
    // Recording may be tried again, dialling may not: the claim was the permission for one request.
    await untilDone(() => (result.errorCode === 'timeout' ? recordLate : record)(result), keptForMs);
    const { state, errorCode, responseStatus, durationMs } = result;
    logger.info({ ...delivery, state, errorCode, responseStatus, durationMs }, 'delivery');
    return result.errorCode === null ? 'delivered' : `failed: ${result.errorCode}`;
  };
}

const userAgent = 'MessagingCampaigns-Webhooks/1';

/** Decrypts under whatever key is listed; both secrets sign while the older one has not expired. */
function secretsOf({ secrets }: Signer, attempt: Attempt): readonly string[] {
  return [attempt.secretEncrypted, attempt.previousSecretEncrypted]
    .filter((encrypted) => encrypted !== null)
    .map((encrypted) => secrets.decrypt(encrypted, `webhook ${attempt.webhookId}`));
}

/** The request of spec 6.1: the stored text as it is, the four headers, and the signatures. */
function webhookRequest(dependencies: Signer, attempt: Attempt): WebhookRequest {
  const body = Buffer.from(attempt.body, 'utf8');
  return {
    url: attempt.url,
    body,
    headers: {
      'Content-Type': 'application/json',
      'User-Agent': userAgent,
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
