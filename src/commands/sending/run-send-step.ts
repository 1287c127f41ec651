/**
 * One step of sending a campaign: claims pages, sends them and records the results for a few seconds, several pages in
 * flight, so that database work and the provider's latency overlap. Any number of steps, in any number of processes, may
 * run side by side on one campaign.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Dependencies } from '../../dependencies.ts';
import { countRecipients } from '../../telemetry/metrics.ts';
import { compileRenderer, type MessagePlan } from '../../domain/templates/plan.ts';
import { leaseTokens } from '../../records/sending/channel-rate.ts';
import {
  claimPage,
  countOpenClaims,
  type Claim,
  type ClaimedRecipient,
} from '../../records/sending/claims.ts';
import { expireClaims } from '../../records/sending/claim-expiry.ts';
import { recordPage, type PageResults } from '../../records/sending/page-results.ts';
import { getSendingContext, isRunningEpoch, type SendingContext } from '../../records/sending/context.ts';
import { findPrices } from '../../records/wallet/wallets.ts';
import { untilDone } from '../../records/database/until-done.ts';
import { createPacer } from './pacer.ts';
import { Gate, sendPage, type SendingPage } from './send-page.ts';
import { stateOf } from './message-outcome.ts';
import { controlStep } from './step-control.ts';
import { applyHalt, applyRefusals, pauseForBalance } from './stop-sending.ts';

export interface StepOptions {
  /** No page is claimed after this long. */
  readonly budgetMs: number;
  /** True when the process is about to end: nothing more leaves. */
  readonly draining: () => boolean;
}

export interface StepResult {
  /** Nobody is left to be claimed, now or later. */
  readonly drained: boolean;
  /** How long to wait before the next step. */
  readonly waitMs: number;
}

const largestPage = 1_000;
const pageSeconds = 0.25;
const pagesInFlight = 4;
/** For a provider that cannot be reached, or is in trouble. */
const restMs = 2_000;
const shortWaitMs = 1_500;
const reservationWaitMs = 2_000;
/** Of the latest claim in the average time of one, and by how much a claim may take longer than it. */
const claimWeight = 0.25;
const leadFactor = 1.5;

interface ClaimedPage {
  readonly claimId: string;
  /** On the monotonic clock, before it was asked for. */
  readonly claimedAt: number;
  readonly recipients: readonly ClaimedRecipient[];
}

type Claimed = Claim & Pick<ClaimedPage, 'claimId' | 'claimedAt'>;

const nothingYet: StepResult = { drained: false, waitMs: 0 };

type Sender = Pick<
  Dependencies,
  'config' | 'database' | 'provider' | 'secrets' | 'logger' | 'orchestrator' | 'now' | 'metrics'
>;

export async function runSendStep(
  dependencies: Sender,
  campaignId: string,
  options: StepOptions,
): Promise<StepResult> {
  const expired = await expireClaims(dependencies.database, {
    campaignId,
    graceSeconds: dependencies.config.outcomeGraceSeconds,
  });
  dependencies.metrics.recipientChanges.inc({ state: 'unknown' }, expired);
  const context = await getSendingContext(dependencies.database, campaignId);
  if (!context.running) return { drained: false, waitMs: 0 };
  const step = await openStep(dependencies, context, options);
  try {
    return await step.run();
  } finally {
    step.close();
  }
}

async function openStep(dependencies: Sender, context: SendingContext, { budgetMs, draining }: StepOptions) {
  const { database, config, provider, secrets, logger, metrics } = dependencies;
  const { campaign_id: campaignId, channel_id: channelId, epoch } = context;
  const endsAt = performance.now() + budgetMs;
  const accessToken = secrets.decrypt(context.access_token_encrypted);
  const render = compileRenderer(context.message_plan as MessagePlan);
  const prices = await findPrices(database, context.workspace_id, context.template_category);
  const limit = Math.max(1, Math.min(largestPage, Math.ceil(context.messages_per_second * pageSeconds)));
  const recording = new Set<Promise<void>>();
  let claimMs = 0;
  /** A page's results cannot be written: nothing more leaves, and the step fails. */
  let failure: { readonly error: unknown } | undefined;

  const control = controlStep({
    isUnchanged: () => isRunningEpoch(database, { campaignId, epoch }),
    draining,
  });

  const pacer = createPacer({
    // Without the database there are no tokens; the loop of the pacer asks again.
    lease: (wanted, latencyMs) =>
      leaseTokens(database, { channelId, wanted, latencyMs }).catch(() => undefined),
    stopped: control.stopped,
    clock: () => performance.now(),
    sleep: (ms) => sleep(ms),
  });
  const gate = new Gate(Math.max(1, Math.ceil(config.providerConnections / 2)));

  const send = (recipient: ClaimedRecipient) =>
    provider.sendMessage({
      phoneNumberId: context.phone_number_id,
      accessToken,
      to: recipient.phone_number,
      template: {
        name: context.template_name,
        language: context.template_language,
        components: render(recipient.variables ?? []),
      },
      callbackData: recipient.id,
      // It may wait for a connection for as long as a provider that hangs takes.
      heldBack: control.stopped,
    });

  const record = async (results: PageResults): Promise<void> => {
    // What the provider has answered must be written down, however long the database is away.
    const stop = metrics.recordSeconds.startTimer();
    await untilDone(() => recordPage(database, results));
    stop();
    countRecipients(metrics, [...results.outcomes.values()].map(stateOf));
    if (results.final) {
      logger.info({ campaignId, claimId: results.claimId, recorded: results.outcomes.size }, 'page recorded');
    }
  };

  // After that others may say that its outcomes are unknown: a page that was held up for so long leaves nothing more.
  const graceMs = config.outcomeGraceSeconds * 1_000;

  const sendClaimed = ({ claimId, claimedAt, recipients }: ClaimedPage): SendingPage => {
    const page = sendPage(
      {
        pacer,
        gate,
        send,
        stopped: () => failure !== undefined || control.stopped() || performance.now() > claimedAt + graceMs,
        onVerdict: control.note,
        leadMs: () => claimMs * leadFactor,
        record: (outcomes, final) =>
          record({ workspaceId: context.workspace_id, campaignId, channelId, claimId, outcomes, final }),
      },
      recipients,
    );
    const done = page.recorded
      .catch((error: unknown) => {
        failure ??= { error };
      })
      .finally(() => recording.delete(done));
    recording.add(done);
    return page;
  };

  const claim = async (): Promise<Claimed> => {
    const claimId = randomUUID();
    const claimedAt = performance.now();
    const stop = metrics.claimSeconds.startTimer();
    const claimed = await claimPage(database, { claimId, campaignId, channelId, epoch, limit, prices });
    stop({ outcome: claimed.kind });
    claimMs += claimWeight * (performance.now() - claimedAt - claimMs);
    if (claimed.kind === 'page')
      metrics.recipientChanges.inc({ state: 'claimed' }, claimed.recipients.length);
    return { ...claimed, claimId, claimedAt };
  };

  /** Reservations of pages in flight may come free again: the wallet is dry only once they are settled. */
  const pauseWhenDry = async (): Promise<'paused' | 'going on'> => {
    await Promise.all(recording);
    const until = performance.now() + reservationWaitMs;
    while (performance.now() < until && (await countOpenClaims(database, channelId)) > 0) await sleep(50);
    const again = await claim();
    if (again.kind === 'page') await sendClaimed(again).dispatched;
    if (again.kind !== 'unaffordable') return 'going on';
    await pauseForBalance(dependencies, context, again.available);
    return 'paused';
  };

  /** The next page, asked for so early that it is here when the last one has left, and no earlier: a crash loses both. */
  const sendAndClaim = async (page: ClaimedPage) => {
    const { ending, dispatched } = sendClaimed(page);
    await ending;
    const next = mayClaim() && recording.size < pagesInFlight ? claim() : undefined;
    const [claimed] = await Promise.all([next, dispatched]);
    if (recording.size >= pagesInFlight) await Promise.race(recording);
    // Anything else has to be asked again: what was on its way then may have changed it.
    return claimed?.kind === 'page' ? claimed : undefined;
  };

  const mayClaim = (): boolean => failure === undefined && performance.now() < endsAt && !control.stopped();

  const claimAndSend = async (): Promise<StepResult> => {
    let claimed: Claimed | undefined;
    while (claimed !== undefined || mayClaim()) {
      claimed ??= await claim();
      if (claimed.kind === 'page') {
        claimed = await sendAndClaim(claimed);
        continue;
      }
      if (claimed.kind === 'stopped') break;
      if (claimed.kind === 'unaffordable') {
        if ((await pauseWhenDry()) === 'paused') return nothingYet;
      } else if (recording.size > 0) {
        // Pages in flight may still put somebody back.
        await Promise.race(recording);
      } else {
        const waitMs = Math.max(0, claimed.retryInMs ?? 0);
        if (claimed.retryInMs === null || waitMs > shortWaitMs)
          return { drained: claimed.retryInMs === null, waitMs };
        await sleep(Math.max(20, waitMs));
      }
      claimed = undefined;
    }
    return nothingYet;
  };

  /** Whatever happens to the claiming, what was sent is recorded. */
  const claimAndRecord = async (): Promise<StepResult> => {
    try {
      return await claimAndSend();
    } finally {
      await Promise.all(recording);
    }
  };

  return {
    close: control.close,
    async run(): Promise<StepResult> {
      const result = await claimAndRecord();
      if (failure !== undefined) throw failure.error;
      await applyRefusals(dependencies, context, control.refusals);
      const halt = control.halt();
      if (halt === undefined) return result;
      await applyHalt(dependencies, context, halt);
      return { drained: false, waitMs: halt.kind === 'unreachable' || halt.kind === 'troubled' ? restMs : 0 };
    },
  };
}
