import type { Dependencies } from '../dependencies.ts';
import { makeAttempt } from '../commands/webhooks/deliver-webhook.ts';
import type { Attempt, AttemptResult } from '../records/webhooks/attempts.ts';
import { claimAttempts, recordAttempts } from '../records/webhooks/attempts.ts';
import type { WebhookDeliveryInput } from '../workflows/contract.ts';
import { groupCalls } from '../concurrency/group-calls.ts';
import { untilDone } from '../concurrency/until-done.ts';

/** The attempt itself takes 5 seconds at most; the rest is for a busy process to record it. */
const leaseSeconds = 15;
// A statement costs much more than a row of it. A group holds as many bodies in memory at once: 13 MB of the largest.
const grouping = { maxSize: 50, lanes: 1, spacingMs: 80 };
/**
 * While Postgres is away the outcome of an attempt is kept for this long: as a failover may take. Temporal has long given
 * the attempt up by then; whoever tries it again meanwhile finds that it was claimed.
 */
const keptForMs = 120_000;

type WebhookDependencies = Pick<
  Dependencies,
  'database' | 'outbound' | 'secrets' | 'now' | 'logger' | 'config' | 'metrics'
>;

export type DeliverySummary = 'delivered' | `failed: ${string}` | 'not pending';

export function createWebhookActivities(dependencies: WebhookDependencies) {
  const { database, config, logger, metrics } = dependencies;

  const claim = groupCalls<string, Attempt | undefined>(async (ids) => {
    const attempts = await claimAttempts(database, ids, {
      leaseSeconds,
      expiryHours: config.webhookExpiryHours,
    });
    const byId = new Map(attempts.map((attempt) => [attempt.id, attempt]));
    return ids.map((id) => {
      const attempt = byId.get(id);
      // An id comes twice when a stalled activity was tried again: the claim is one caller's alone.
      byId.delete(id);
      return attempt;
    });
  }, grouping);

  const record = groupCalls<AttemptResult, undefined>(async (results) => {
    await recordAttempts(database, results);
    return results.map(() => undefined);
  }, grouping);

  return {
    /**
     * The one attempt of a delivery (spec 6.1). Safe to run again at any point: who does not find the delivery `pending`
     * does not dial.
     */
    async deliverWebhook({ deliveryId }: WebhookDeliveryInput): Promise<DeliverySummary> {
      const attempt = await claim(deliveryId);
      if (attempt === undefined) return 'not pending';
      const { webhookId, eventId, eventKey, workspaceId, refusal } = attempt;
      const delivery = { deliveryId, webhookId, workspaceId, eventId, eventKey };
      if (refusal !== null) {
        metrics.webhooksSwept.inc({ outcome: refusal });
        logger.info({ ...delivery, state: 'failed', errorCode: refusal }, 'delivery');
        return `failed: ${refusal}`;
      }
      const result = await makeAttempt(dependencies, attempt);
      // Recording may be tried again, dialling may not: the claim was the permission for one request.
      await untilDone(() => record(result), keptForMs);
      const { state, errorCode, responseStatus, durationMs } = result;
      logger.info({ ...delivery, state, errorCode, responseStatus, durationMs }, 'delivery');
      return result.errorCode === null ? 'delivered' : `failed: ${result.errorCode}`;
    },
  };
}

export type WebhookActivities = ReturnType<typeof createWebhookActivities>;
