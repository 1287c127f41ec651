/** The entry that sums up the checks of a diagnosis. The dashboard calls it too: it imports neither io-ts nor Node. */
import type { PauseReason } from './campaign.ts';
import { fine, wrong, type DiagnosisEntry, type StatusFacts } from './diagnosis-facts.ts';
import { count, join, lowerFirst, people, waitingSentence } from './diagnosis-text.ts';

/** The summarising sentence, from the checks and the counters of the same moment. */
export function diagnoseStatus(facts: StatusFacts, checks: readonly DiagnosisEntry[]): DiagnosisEntry {
  const obstacle = checks.find(({ ok }) => !ok);
  const waiting = waitingSentence(facts.pending);
  switch (facts.status) {
    case 'COMPLETED':
      return fine('STATUS', completed(facts));
    case 'CANCELLED':
      return fine('STATUS', 'Cancelled: nobody else will be sent to.');
    case 'FAILED':
      return wrong('STATUS', `Failed: ${facts.preparationError ?? 'the audience could not be prepared'}.`);
    case 'PAUSED':
      return paused(facts, obstacle, waiting);
    case 'DRAFT':
    case 'SCHEDULED':
    case 'RUNNING':
      break;
  }
  if (obstacle !== undefined) return wrong('STATUS', join(obstacle.detail, waiting), obstacle.action);
  if (facts.status === 'SCHEDULED') return fine('STATUS', join('Scheduled.', waiting));
  if (facts.status === 'DRAFT') return fine('STATUS', 'Starting: the audience is being prepared.');
  return facts.pending === 0
    ? fine('STATUS', `Finishing: ${people(facts.underWay)} still under way.`)
    : fine('STATUS', join('Sending.', waiting));
}

function completed({ total, failed, underWay }: StatusFacts): string {
  const others = [
    failed > 0 ? `, ${count(failed)} failed` : '',
    underWay > 0 ? `, the outcome of ${count(underWay)} is unknown` : '',
  ];
  return `Completed: ${count(total - failed - underWay)} of ${people(total)} ${total === 1 ? 'was' : 'were'} sent to${others.join('')}.`;
}

const pausedBecause: Partial<Record<PauseReason, string>> = {
  OPERATOR: 'Paused by an operator.',
  MESSAGE_REJECTED:
    'Paused because the provider rejected a hundred messages in a row as malformed: the mapping is wrong for this template.',
  RECORD_RESTORED:
    'Paused because the database was restored from a backup: ask the operator of this service to complete the restore.',
};

function paused(
  { pauseReason }: StatusFacts,
  obstacle: DiagnosisEntry | undefined,
  waiting: string,
): DiagnosisEntry {
  if (obstacle !== undefined) {
    const action =
      obstacle.action === null
        ? null
        : `${obstacle.action.replace(/\.$/, '')}, then start the campaign again.`;
    return wrong('STATUS', join(`Paused: ${lowerFirst(obstacle.detail)}`, waiting), action);
  }
  const cause =
    (pauseReason === null ? undefined : pausedBecause[pauseReason]) ??
    'Paused. The reason for the pause no longer applies.';
  return wrong('STATUS', join(cause, waiting), 'Start the campaign again: it goes on where it stopped.');
}
