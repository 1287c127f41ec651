/**
 * One step's view of its channel's circuit breaker. All steps of the channel share a count in Postgres. The step reports its
 * answers there, one statement at a time; until a report is answered, it relies on its own count.
 */
import { failuresToOpen, type AnswerCounts } from '../../records/sending/circuit-breaker.ts';
import type { CircuitState, Classification } from './classify-answer.ts';

type Report = Omit<AnswerCounts, 'channelId'>;

/** 2 s: the step waits this long after failures that it could not report, because the database was away. */
const unreportedCoolDownMs = 2_000;

const nothingToReport = { succeeded: false, failures: 0, answered: false };

export class CircuitReporter {
  /** Resolves to the rest of the cool-down, 0 while the circuit is closed. */
  readonly #record: (report: Report) => Promise<number>;
  #isFailing = false;
  #isProbe = false;
  #coolDownMs = 0;
  #failuresInARow = 0;
  #unreported = nothingToReport;
  #reporting: Promise<void> | undefined;

  constructor(record: (report: Report) => Promise<number>) {
    this.#record = record;
  }

  /** True while no message may leave. */
  isOpen(): boolean {
    return this.#coolDownMs > 0 || this.#failuresInARow >= failuresToOpen;
  }

  /** The circuit's state for the answer that has come. */
  get state(): CircuitState {
    if (this.#isProbe) return 'probing';
    return this.isOpen() ? 'open' : 'closed';
  }

  /** Adopts the channel's state that a claim has read. */
  onClaim({ isFailing, isProbe }: { readonly isFailing: boolean; readonly isProbe: boolean }): void {
    this.#isFailing = isFailing;
    this.#isProbe = isProbe;
  }

  onAnswer(answer: Pick<Classification, 'isFailure' | 'isAnswered'>): void {
    const isFailure = answer.isFailure === true;
    // Without earlier failures a success changes nothing, so no statement is sent.
    if (!isFailure && this.#failuresInARow === 0 && !this.#isFailing && !this.#isProbe) return;
    this.#failuresInARow = isFailure ? this.#failuresInARow + 1 : 0;
    this.#unreported = isFailure
      ? { ...this.#unreported, failures: this.#unreported.failures + 1, answered: answer.isAnswered === true }
      : { ...nothingToReport, succeeded: true };
    const end = (): void => {
      this.#reporting = undefined;
    };
    // A failed report is dropped: this step stops by its own count, and the next step counts from zero.
    this.#reporting ??= this.#report().then(end, end);
  }

  /** To be called when every answer has come. Resolves to the rest of the cool-down in ms; 0 if the circuit is closed. */
  async settle(): Promise<number> {
    await this.#reporting;
    // The probe was released unsent, or the report of its answer failed: another step may probe.
    if (this.#isProbe)
      this.#coolDownMs = await this.#record({ succeeded: false, failures: 0, isProbe: true });
    const isUnreported = this.#coolDownMs === 0 && this.#failuresInARow >= failuresToOpen;
    return isUnreported ? unreportedCoolDownMs : this.#coolDownMs;
  }

  async #report(): Promise<void> {
    while (this.#unreported.succeeded || this.#unreported.failures > 0) {
      const report = { ...this.#unreported, isProbe: this.#isProbe };
      this.#unreported = nothingToReport;
      this.#coolDownMs = await this.#record(report);
      this.#isFailing = report.failures > 0;
      this.#isProbe = false;
    }
  }
}
