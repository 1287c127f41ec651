/** Compares the delivery log after the kills with what the receiver counted. Pure. */

export interface LoggedDelivery {
  readonly eventId: string;
  readonly state: string;
  readonly errorCode: string | null;
}

export interface WebhookEvidence {
  readonly expected: number;
  readonly deliveries: readonly LoggedDelivery[];
  /** Requests by `webhook-id`. */
  readonly requests: ReadonlyMap<string, number>;
}

export interface WebhookVerdict {
  readonly delivered: number;
  readonly interrupted: number;
  /** Interrupted although the receiver got the request: our process died before it could record the answer. */
  readonly interruptedAfterReceipt: number;
  readonly doubled: number;
  readonly problems: readonly string[];
}

export function compareWebhooks({ expected, deliveries, requests }: WebhookEvidence): WebhookVerdict {
  const delivered = deliveries.filter(({ state }) => state === 'delivered');
  const interrupted = deliveries.filter(
    ({ state, errorCode }) => state === 'failed' && errorCode === 'interrupted',
  );
  const others = deliveries.length - delivered.length - interrupted.length;
  const doubled = [...requests.values()].filter((count) => count > 1).length;
  const phantoms = delivered.filter(({ eventId }) => !requests.has(eventId)).length;
  const known = new Set(deliveries.map(({ eventId }) => eventId));
  const strangers = [...requests.keys()].filter((id) => !known.has(id)).length;
  const problems = [
    ...(deliveries.length === expected ? [] : [`${deliveries.length} deliveries, not ${expected}`]),
    ...(others === 0 ? [] : [`${others} deliveries are neither delivered nor interrupted`]),
    ...(doubled === 0 ? [] : [`${doubled} events came twice`]),
    ...(phantoms === 0 ? [] : [`${phantoms} deliveries are said to be delivered and never came`]),
    ...(strangers === 0 ? [] : [`${strangers} requests belong to no delivery`]),
  ];
  return {
    delivered: delivered.length,
    interrupted: interrupted.length,
    interruptedAfterReceipt: interrupted.filter(({ eventId }) => requests.has(eventId)).length,
    doubled,
    problems,
  };
}
