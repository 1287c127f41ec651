/**
 * The rules by which a campaign pauses itself before it loses its list. They count known outcomes in the order in which they
 * become known: delivered or read is a success, FAILED a failure; accepted, sent, unknown and skipped count as nothing. What a
 * campaign has counted is a few hundred bytes, whatever its size. Imports neither io-ts nor Node.
 */
import { type FailureKind, kindOfReason } from './provider-error.ts';

export const failureBrakeSettings = ['off', 'default', 'strict'] as const;
export type FailureBrakeSetting = (typeof failureBrakeSettings)[number];

export const brakeRules = ['first', 'run', 'share', 'people'] as const;
export type BrakeRule = (typeof brakeRules)[number];

/** How a failure became known: in the answer to the request, or by a later status. */
export const failureSources = ['answer', 'status'] as const;
export type FailureSource = (typeof failureSources)[number];

/** A smaller campaign is never paused: little of it is left to save, and its result explains itself. */
export const smallestBraked = 30;

interface Limits {
  /** The first outcomes are failures with one own reason. */
  readonly first: number;
  /** Equal own failures in a row. At p = 0.5 this happens by chance once in 1e9 starts. */
  readonly run: number;
  /** Half of the last two blocks failed with one own reason. */
  readonly block: number;
  /** 60 % of this many failed because of the person: a bad list. In strict markets 20-40 % are usual. */
  readonly people: number;
}

const limitsOf: Readonly<Record<Exclude<FailureBrakeSetting, 'off'>, Limits>> = {
  default: { first: 15, run: 30, block: 100, people: 500 },
  strict: { first: 8, run: 15, block: 50, people: 250 },
};
const peopleShare = 0.6;
const ownShare = 0.5;

export interface KnownFailure {
  readonly reason: string;
  readonly source: FailureSource;
  readonly detail: string | null;
  readonly recipientId: string;
}

/**
 * An outcome that has become known. `accepted` is none yet: it only keeps answers that refuse some messages, and are known
 * seconds before the first status, from looking as if they refused all.
 */
export type BrakeOutcome =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'accepted' }
  | { readonly kind: 'failed'; readonly failure: KnownFailure };

interface Block {
  readonly known: number;
  /** Acceptances between failures that were in answers. */
  readonly accepted: number;
  readonly reasons: Readonly<Record<string, number>>;
}

interface Sample {
  /** ISO 8601. */
  readonly firstAt: string;
  readonly lastAt: string;
  readonly source: FailureSource;
  readonly details: readonly string[];
  readonly recipientIds: readonly string[];
}

/** Equal own failures in a row. */
interface Run {
  readonly reason: string | null;
  readonly source: FailureSource;
  readonly length: number;
}

/** What a campaign's brake has counted. Plain JSON. */
export interface BrakeCounts {
  /** Known outcomes since counting began. */
  readonly known: number;
  readonly run: Run;
  /** Failures of the own kind; the present block is not full. */
  readonly present: Block;
  readonly previous: Block;
  /** Failures of the kind person. */
  readonly people: Block;
  readonly samples: Readonly<Record<string, Sample>>;
}

const emptyBlock: Block = { known: 0, accepted: 0, reasons: {} };
const noRun: Run = { reason: null, source: 'answer', length: 0 };
export const nothingCounted: BrakeCounts = {
  known: 0,
  run: noRun,
  present: emptyBlock,
  previous: emptyBlock,
  people: emptyBlock,
  samples: {},
};

/** Why a campaign was paused, as its record shows it. */
export interface PauseEvidence {
  readonly rule: BrakeRule;
  /** The reason of the failures; under `people`, the most frequent one. */
  readonly reason: string;
  readonly source: FailureSource;
  readonly failed: number;
  /** Known outcomes that were looked at. */
  readonly of: number;
  readonly first_at: string;
  readonly last_at: string;
  /** At most three different texts of the provider, digits masked. */
  readonly details: readonly string[];
  /** At most three. */
  readonly recipient_ids: readonly string[];
}

export interface Judgement {
  readonly counts: BrakeCounts;
  /** Set if a rule says that the campaign pauses; later outcomes are not counted. */
  readonly evidence?: PauseEvidence;
}

interface Judging {
  readonly setting: Exclude<FailureBrakeSetting, 'off'>;
  /** Failures with these reasons count as nothing. */
  readonly ignored: readonly string[];
  readonly now: Date;
}

/** Counts outcomes until a rule says that the campaign pauses. */
export function countOutcomes(
  before: BrakeCounts,
  outcomes: readonly BrakeOutcome[],
  { setting, ignored, now }: Judging,
): Judgement {
  const limits = limitsOf[setting];
  let counts = before;
  for (const outcome of outcomes) {
    if (outcome.kind === 'accepted') {
      counts = countAccepted(counts);
      continue;
    }
    const failure = outcome.kind === 'failed' ? outcome.failure : null;
    if (failure !== null && ignored.includes(failure.reason)) continue;
    counts = countKnown(counts, failure, { limits, at: now.toISOString() });
    const evidence = failure === null ? undefined : judge(counts, failure, limits);
    if (evidence !== undefined) return { counts, evidence };
    counts = startBlocks(counts, limits);
  }
  return { counts };
}

/** Judges the outcomes of a probe, however few they are: half of them failed with one own reason, or 60 % because of the person. */
export function judgeProbe({ present, previous, people, samples }: BrakeCounts): PauseEvidence | undefined {
  const own = sum(present, previous);
  const [reason, failed] = mostFrequent(own.reasons);
  if (failed > 0 && failed >= ownShare * own.known)
    return evidenceOf(samples, { rule: 'share', reason, failed, of: own.known });
  const persons = total(people);
  if (persons > 0 && persons >= peopleShare * people.known)
    return evidenceOf(samples, {
      rule: 'people',
      reason: mostFrequent(people.reasons)[0],
      failed: persons,
      of: people.known,
    });
  return undefined;
}

const countAccepted = (counts: BrakeCounts): BrakeCounts => ({
  ...counts,
  run: counts.run.source === 'answer' ? noRun : counts.run,
  present: { ...counts.present, accepted: counts.present.accepted + 1 },
});

function countKnown(
  { known, run, present, previous, people, samples }: BrakeCounts,
  failure: KnownFailure | null,
  { limits, at }: { readonly limits: Limits; readonly at: string },
): BrakeCounts {
  const kind = failure === null ? null : kindOfReason(failure.reason);
  const reasonIf = (wanted: FailureKind) => (kind === wanted ? (failure?.reason ?? null) : null);
  return {
    known: known + 1,
    run: nextRun(run, failure, kind),
    present: addTo(present, reasonIf('own')),
    previous,
    people:
      people.known >= limits.people
        ? addTo(emptyBlock, reasonIf('person'))
        : addTo(people, reasonIf('person')),
    samples: failure === null || kind === 'country' ? samples : addSample(samples, failure, at),
  };
}

/** A failure that blames the person or the country says nothing about the message: the run goes on after it. */
function nextRun(run: Run, failure: KnownFailure | null, kind: FailureKind | null): Run {
  if (failure === null) return noRun;
  if (kind !== 'own') return run;
  const { reason, source } = failure;
  return { reason, source, length: reason === run.reason ? run.length + 1 : 1 };
}

/** `failure` is counted last. */
function judge(
  { known, run, present, previous, people, samples }: BrakeCounts,
  { reason, source }: KnownFailure,
  limits: Limits,
): PauseEvidence | undefined {
  switch (kindOfReason(reason)) {
    case 'own': {
      const found = (rule: BrakeRule, failed: number, of: number) =>
        evidenceOf(samples, { rule, reason, failed, of });
      if (run.length === known && run.length >= limits.first) return found('first', run.length, known);
      if (run.length >= limits.run) return found('run', run.length, run.length);
      const window = sum(present, previous);
      const failed = window.reasons[reason] ?? 0;
      // Half of two full blocks: whatever the rest of the present one brings, the share stays above a half.
      if (failed < ownShare * 2 * limits.block) return undefined;
      const isFewAnswers = source === 'answer' && failed < ownShare * (failed + window.accepted);
      return isFewAnswers ? undefined : found('share', failed, window.known);
    }
    case 'person': {
      const failed = total(people);
      if (failed < peopleShare * limits.people) return undefined;
      const [most] = mostFrequent(people.reasons);
      return evidenceOf(samples, { rule: 'people', reason: most, failed, of: people.known });
    }
    case 'country':
      return undefined;
  }
}

function startBlocks(counts: BrakeCounts, limits: Limits): BrakeCounts {
  if (counts.present.known < limits.block) return counts;
  const next = { ...counts, previous: counts.present, present: emptyBlock };
  const used = new Set([
    next.run.reason,
    ...Object.keys(next.previous.reasons),
    ...Object.keys(next.people.reasons),
  ]);
  return {
    ...next,
    samples: Object.fromEntries(Object.entries(next.samples).filter(([reason]) => used.has(reason))),
  };
}

const addTo = ({ known, accepted, reasons }: Block, reason: string | null): Block => ({
  known: known + 1,
  accepted,
  reasons: reason === null ? reasons : { ...reasons, [reason]: (reasons[reason] ?? 0) + 1 },
});

function sum(one: Block, other: Block): Block {
  const reasons = { ...one.reasons };
  for (const [reason, count] of Object.entries(other.reasons))
    reasons[reason] = (reasons[reason] ?? 0) + count;
  return { known: one.known + other.known, accepted: one.accepted + other.accepted, reasons };
}

const total = ({ reasons }: Block): number => Object.values(reasons).reduce((all, count) => all + count, 0);

const mostFrequent = (reasons: Block['reasons']): readonly [string, number] =>
  Object.entries(reasons).reduce((most, next) => (next[1] > most[1] ? next : most), ['', 0]);

const mostSamples = 3;
/** Bounds what a campaign stores whose every failure has a reason of its own. */
const mostReasons = 20;
const longestDetail = 200;

function addSample(
  samples: BrakeCounts['samples'],
  { reason, source, detail, recipientId }: KnownFailure,
  at: string,
): BrakeCounts['samples'] {
  const { firstAt = at, details = [], recipientIds = [] } = samples[reason] ?? {};
  const text = detail === null ? '' : detail.slice(0, longestDetail).replaceAll(/\d/g, '#');
  const { [reason]: _, ...others } = samples;
  const kept = Object.entries(others)
    .toSorted(([, one], [, other]) => (one.lastAt < other.lastAt ? 1 : -1))
    .slice(0, mostReasons - 1);
  return {
    ...Object.fromEntries(kept),
    [reason]: {
      firstAt,
      lastAt: at,
      source,
      details:
        text === '' || details.length === mostSamples || details.includes(text)
          ? details
          : [...details, text],
      recipientIds: recipientIds.length === mostSamples ? recipientIds : [...recipientIds, recipientId],
    },
  };
}

function evidenceOf(
  samples: BrakeCounts['samples'],
  { rule, reason, failed, of }: Pick<PauseEvidence, 'rule' | 'reason' | 'failed' | 'of'>,
): PauseEvidence {
  const sample = samples[reason];
  return {
    rule,
    reason,
    source: sample?.source ?? 'answer',
    failed,
    of,
    first_at: sample?.firstAt ?? '',
    last_at: sample?.lastAt ?? '',
    details: sample?.details ?? [],
    recipient_ids: sample?.recipientIds ?? [],
  };
}
