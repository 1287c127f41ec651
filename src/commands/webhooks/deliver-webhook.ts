import type { Dependencies } from '../../dependencies.ts';
import { signatureHeaders } from '../../domain/webhooks/signature.ts';
import type { WebhookRequest } from '../../outbound/post-webhook.ts';
import type { Attempt, AttemptResult } from '../../records/webhooks/attempts.ts';

type Signer = Pick<Dependencies, 'secrets' | 'now'>;

const userAgent = 'MessagingCampaigns-Webhooks/1';

/** Decrypts under whatever key is listed; both secrets sign while the older one has not expired. */
function secretsOf({ secrets }: Signer, attempt: Attempt): readonly string[] {
  return [attempt.secretEncrypted, attempt.previousSecretEncrypted]
    .filter((encrypted) => encrypted !== null)
    .map((encrypted) => secrets.decrypt(encrypted));
}

/** The request of spec 6.1: the stored text as it is, the four headers, and the signatures. */
export function webhookRequest(dependencies: Signer, attempt: Attempt): WebhookRequest {
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

/** Makes the attempt that was claimed. Never dials twice; a receiver's failure is part of the result. */
export async function makeAttempt(
  dependencies: Signer & Pick<Dependencies, 'outbound'>,
  attempt: Attempt,
): Promise<AttemptResult> {
  const outcome = await dependencies.outbound.postWebhook(webhookRequest(dependencies, attempt));
  return { id: attempt.id, ...outcome };
}
