/** Claims batches for one step: decides how many recipients to ask for, and converts token times to the local clock. */
import { randomUUID } from 'node:crypto';
import type { Dependencies } from '../../dependencies.ts';
import { capOn } from '../../domain/campaigns/frequency-cap.ts';
import { contactSlotsResolver, customFieldsOf } from '../../domain/templates/contact-slots.ts';
import type { MessagePlan } from '../../domain/templates/plan.ts';
import type { VariablesSkip } from '../../domain/templates/recipient-variables.ts';
import { untilDone } from '../../records/database/until-done.ts';
import {
  type Claim,
  claimBatch,
  type ClaimedRecipient,
  listClaimed,
} from '../../records/sending/claim-batch.ts';
import type { HeldSlot } from '../../records/sending/send-slots.ts';
import type { SendingContext } from '../../records/sending/sending-context.ts';
import type { SendQueue } from './send-queue.ts';

/**
 * Contact fields resolve when the message leaves (Spec 4.1.1): recipients whose contact changed after preparation get its
 * current fields. CSV cells and inline values stay as they were given.
 */
export interface ContactRenewal {
  /** True if any value in the message comes from a contact field. */
  readonly isNeeded: boolean;
  /** The custom fields that the message names. */
  readonly customFields: readonly string[];
  /** Returns the recipients that can be sent to, with their current values; calls `onSkip` for each of the others. */
  readonly renew: (
    recipients: readonly ClaimedRecipient[],
    onSkip: (recipient: ClaimedRecipient, skip: VariablesSkip) => void,
  ) => readonly ClaimedRecipient[];
}

export function createContactRenewal(plan: Pick<MessagePlan, 'contactSlots' | 'limits'>): ContactRenewal {
  const { contactSlots = [] } = plan;
  const resolve = contactSlotsResolver(plan);
  return {
    isNeeded: contactSlots.length > 0,
    customFields: customFieldsOf(contactSlots),
    renew: (recipients, onSkip) =>
      recipients.flatMap((recipient) => {
        const { variables, changedContact } = recipient;
        if (changedContact === undefined || variables === null) return [recipient];
        const renewed = resolve(variables, changedContact);
        if (renewed.ok) return [{ ...recipient, variables: renewed.values }];
        onSkip(recipient, renewed.skip);
        return [];
      }),
  };
}

/** A send step needs these dependencies of the process. */
export type Sender = Pick<
  Dependencies,
  | 'config'
  | 'database'
  | 'provider'
  | 'secrets'
  | 'logger'
  | 'orchestrator'
  | 'now'
  | 'metrics'
  | 'outbound'
  | 'storage'
>;

/** A claim returns at most 1,000 recipients. */
const largestBatch = 1_000;
/** 40 ms of messages, so that a single send waits no longer for its token. */
const batchMs = 40;
/** 300 ms: if claims take longer, batches do not grow further. */
const maxClaimMs = 300;
/** 100 ms: the first token of a claim may fall due this long after the queue is empty. */
const lookAheadMs = 100;
/** 1.5 × the estimated throughput is claimed, so that a low estimate can recover. */
const growth = 1.5;
/** 1.1 s: a step waits up to this long itself, and ends if it has to wait longer. */
export const maxInStepWaitMs = 1_100;
/** 1.1 s: if the difference of the two clocks changes by more, one of the clocks was set. */
const maxClockDriftMs = 1_100;

/** 120 s, as long as a Postgres failover may take. After that, the recipients of a claim whose result is lost become UNKNOWN. */
const lookUpForMs = 120_000;

/** The step's first measurement of the two clocks, made when it reads its campaign. */
export interface ClockSample {
  /** Local clock minus Postgres clock, in ms. */
  readonly offsetMs: number;
  readonly roundTripMs: number;
}

interface ClaimerOptions {
  readonly slot: HeldSlot;
  readonly context: SendingContext;
  readonly clock: ClockSample;
  /** Micro-units by recipient country; '' stands for every other country. */
  readonly prices: ReadonlyMap<string, bigint>;
  readonly renewal: ContactRenewal;
  /** Called with each batch before its first message may leave. */
  readonly onBatch: (batch: Claim & { readonly kind: 'batch' }) => void;
  /** Called for a recipient to whom the message cannot be sent with its contact's current fields. */
  readonly onSkip: (recipient: ClaimedRecipient, skip: VariablesSkip) => void;
  /** Called for each recipient of a claim that was committed although it failed here: nothing was sent to it. */
  readonly onUnanswered: (recipient: Pick<ClaimedRecipient, 'position' | 'claimId'>) => void;
}

export class BatchClaimer {
  readonly #dependencies: Sender;
  readonly #options: ClaimerOptions;
  #offsetMs: number;
  #claimMs: number;
  #messagesPerSecond: number;
  #isClaiming = false;
  #othersWait = false;
  #tokensUsed = 0;
  /** Recipients that are PENDING, as far as this step knows. */
  remaining: number;
  /** Recipients that may be claimed before sending waits for the statuses of those before them. */
  allowance: number;

  constructor(dependencies: Sender, options: ClaimerOptions) {
    const { clock, context } = options;
    this.#dependencies = dependencies;
    this.#options = options;
    this.#offsetMs = clock.offsetMs;
    this.#claimMs = Math.min(clock.roundTripMs, maxClaimMs);
    this.#messagesPerSecond = context.messages_per_second;
    this.remaining = context.pending;
    this.allowance = context.gate_left ?? Infinity;
  }

  /** How long a claim takes, in ms: the slowest of the latest claims; decays by a fifth with each faster claim. */
  get claimMs(): number {
    return this.#claimMs;
  }

  get isClaiming(): boolean {
    return this.#isClaiming;
  }

  /** Another campaign of the channel waited for a slot when the latest claim was made. */
  get othersWait(): boolean {
    return this.#othersWait;
  }

  get tokensUsed(): number {
    return this.#tokensUsed;
  }

  /** Claims the next batch; its messages are appended to the queue. */
  async claimInto(queue: SendQueue): Promise<Claim> {
    const { config, database, metrics } = this.#dependencies;
    const { slot, context, prices, renewal, onSkip } = this.#options;
    const askedAt = performance.now();
    const perSecond = queue.throughput.perSecond() * growth;
    const endedAtClaim = queue.endsAt;
    const claimId = randomUUID();
    this.#isClaiming = true;
    const claim = await claimBatch(database, {
      claimId,
      stepId: slot.stepId,
      campaignId: context.campaign_id,
      channelId: context.channel_id,
      epoch: context.epoch,
      prices,
      isMarketing: context.template_category === 'MARKETING',
      limited: context.limited,
      cap: capOn(context.frequency_cap, {
        workspaceId: context.workspace_id,
        category: context.template_category,
      }),
      rendersAgain: renewal.isNeeded,
      customFields: renewal.customFields,
      perSecond,
      limit: this.#batchSize(perSecond),
      aheadMs: this.#claimMs + lookAheadMs,
      notBefore: endedAtClaim - this.#offsetMs,
      answerWithinMs: config.providerTimeoutMs + maxInStepWaitMs,
    })
      .catch(async (error: unknown) => {
        await this.#releaseUnanswered(claimId);
        throw error;
      })
      .finally(() => (this.#isClaiming = false));
    const answeredAt = performance.now();
    metrics.claimSeconds.observe({ outcome: claim.kind }, (answeredAt - askedAt) / 1_000);
    this.#claimMs = Math.min(maxClaimMs, Math.max(answeredAt - askedAt, this.#claimMs * 0.8));
    this.#othersWait = claim.othersWait;
    if (claim.kind === 'batch') {
      const { spacingMs, pending, dueAt } = claim;
      metrics.recipientChanges.inc({ state: 'claimed' }, claim.recipients.length);
      const recipients = renewal.renew(claim.recipients, onSkip);
      this.#adjustClock(answeredAt - claim.now);
      this.#messagesPerSecond = 1_000 / spacingMs;
      this.#tokensUsed += claim.recipients.length;
      this.allowance -= claim.recipients.length;
      this.remaining = pending;
      this.#options.onBatch(claim);
      queue.add({ recipients, startsAt: dueAt + this.#offsetMs, spacingMs, endedAtClaim });
    }
    return claim;
  }

  /** If the database committed a claim but its result is lost, makes the recipients PENDING again. */
  async #releaseUnanswered(claimId: string): Promise<void> {
    const { campaign_id: campaignId } = this.#options.context;
    const positions = await untilDone(
      () => listClaimed(this.#dependencies.database, { campaignId, claimId }),
      lookUpForMs,
    ).catch(() => []);
    for (const position of positions) this.#options.onUnanswered({ position, claimId });
  }

  #batchSize(perSecond: number): number {
    const seconds = Math.max(batchMs, this.#claimMs * growth) / 1_000;
    const wanted = Math.floor(Math.min(this.#messagesPerSecond, perSecond) * seconds);
    return Math.max(1, Math.min(wanted, largestBatch, this.remaining, this.allowance));
  }

  /** The fastest query gives the best offset; a sample that differs by more than a second means that a clock was set. */
  #adjustClock(sampleMs: number): void {
    if (sampleMs < this.#offsetMs || sampleMs > this.#offsetMs + maxClockDriftMs) this.#offsetMs = sampleMs;
  }
}
