import { parseDateTime } from '../codecs/scalars.ts';
import {
  describeImpairments,
  describeVersion,
  type Doctor,
  type Finding,
  repairFindings,
  runDoctor,
  type Settled,
} from '../commands/operations/doctor.ts';
import { everyCheck } from '../commands/operations/check-campaigns.ts';
import { restoreChecks, temporalSawLostTime, type Restore } from '../commands/operations/restore.ts';
import {
  findForeign,
  findMissingAttributes,
  findWrongPepper,
  findWrongSecretsKey,
} from '../commands/operations/installation.ts';
import type { Orchestrator } from '../orchestrator/orchestrator.ts';
import { viewWorkflows } from '../commands/operations/workflow-view.ts';
import { type AdminContext, unusedSecret } from './admin-context.ts';
import { adminCommand, integerOption, type AdminOutput } from './admin-command.ts';

/** 10 s, so that a server that does not respond is named soon. */
const namespaceTimeoutMs = 10_000;
const defaultPauseSeconds = 10;
/** One hour. Node's timers take at most 24 days, and fire at once beyond that. */
const longestPauseSeconds = 3_600;
/** 60 s: longer than any worker loop sleeps between two runs. */
const defaultSlackSeconds = 60;

/** Checks the settings that the caller gave, as processes do when they start. */
async function describeSettings(
  { database, config, secrets }: AdminContext,
  orchestrator: Orchestrator,
): Promise<readonly string[]> {
  const isGiven = ([value]: readonly string[]): boolean => value !== unusedSecret;
  const wrong = await Promise.all([
    isGiven(config.secretsKeys) ? findWrongSecretsKey(database, secrets) : undefined,
    isGiven(config.keyPeppers) ? findWrongPepper(database, config.keyPeppers) : undefined,
  ]);
  const missing = await findMissingAttributes(orchestrator, namespaceTimeoutMs);
  return [...wrong.filter((one) => one !== undefined), ...missing];
}

interface Report {
  readonly clean: boolean;
  readonly findings: readonly ReportedFinding[];
  /** Conditions that the doctor cannot repair; notes do not change the exit code. */
  readonly notes: readonly string[];
}

interface ReportedFinding {
  readonly kind: string;
  readonly id: string;
  readonly meaning: string;
  /** The repair that `--repair` makes or made; null when a person has to decide. */
  readonly repair: string | null;
  readonly outcome: 'found' | Settled['outcome'];
  readonly problem?: string;
}

export const doctorCommand = adminCommand({
  name: 'doctor',
  summary: 'find, explain and settle disagreements between Postgres and Temporal',
  options: {
    repair: { description: 'settle what is found; safe to run again', flag: true },
    json: { description: 'print one JSON object', flag: true },
    quick: {
      description: 'do not count the recipients of campaigns that have ended with every outcome known',
      flag: true,
    },
    'pause-seconds': {
      description: `pause between the two checks; a finding must show in both (default ${defaultPauseSeconds})`,
      optional: true,
    },
    'slack-seconds': {
      description: `age at which waiting work counts as forgotten (default ${defaultSlackSeconds})`,
      optional: true,
    },
    'backup-at': {
      description: 'after a restore of Postgres: the records hold everything up to this time (ISO 8601)',
      optional: true,
    },
    'stopped-at': {
      description: 'after a restore of Postgres: when sending had stopped (ISO 8601)',
      optional: true,
    },
    'temporal-too': {
      description: 'after a restore: Temporal was restored or lost as well (as with one Postgres for both)',
      flag: true,
    },
    'temporal-kept': {
      description:
        'after a restore of Postgres: Temporal was not restored, although it has no history from after the backup',
      flag: true,
    },
  },
  needs: ['temporal'],
  run: (context, values): Promise<Report> => {
    const restore = restoreOf(values);
    const pause = values['pause-seconds'];
    const slack = values['slack-seconds'];
    const slackSeconds = slack === undefined ? defaultSlackSeconds : integerOption('slack-seconds', slack);
    const pauseSeconds =
      pause === undefined ? defaultPauseSeconds : integerOption('pause-seconds', pause, longestPauseSeconds);
    const pauseMs = 1000 * pauseSeconds;
    return context.withProvider(async ({ database, orchestrator }) => {
      const doctor = {
        database,
        orchestrator,
        workflows: viewWorkflows(orchestrator),
        slackSeconds,
        quick: values.quick !== undefined,
      };
      const foreign = await findForeign({ database }, await orchestrator.namespace(namespaceTimeoutMs));
      if (foreign !== undefined && values.repair !== undefined)
        throw new Error(`Nothing was repaired: ${foreign}`);
      if (restore !== undefined && values['temporal-kept'] === undefined)
        await requireEvidenceOfLostTime(doctor, restore);
      const notes = [
        ...(foreign === undefined ? [] : [foreign]),
        ...(await describeSettings(context, orchestrator)),
        ...(restore === undefined ? [] : describeLostTime(restore)),
        ...describeVersion(context.config.providerBaseUrl, new Date()),
        ...(await describeImpairments(doctor)),
      ];
      const settled: ReportedFinding[] = [];
      // Findings of a restore come first: their repairs change the records that the other checks compare.
      for (const checks of [...(restore === undefined ? [] : [restoreChecks(restore)]), everyCheck]) {
        const findings = await runDoctor(doctor, { pauseMs: checks === everyCheck ? pauseMs : 0, checks });
        settled.push(
          ...(values.repair === undefined
            ? findings.map(openFinding)
            : (await repairFindings(findings)).map(settledFinding)),
        );
      }
      return { clean: settled.every(({ outcome }) => outcome === 'repaired'), findings: settled, notes };
    });
  },
  present: (report, values): AdminOutput => ({
    text: values.json === undefined ? textOf(report) : JSON.stringify(report),
    exitCode: report.clean ? 0 : 1,
  }),
});

/** Throws if Temporal shows nothing after the backup. That proves nothing, because Temporal may have been restored as well. */
async function requireEvidenceOfLostTime(doctor: Doctor, restore: Restore): Promise<void> {
  if (restore.temporalToo || (await temporalSawLostTime(doctor, restore))) return;
  throw new Error(
    'Temporal shows nothing that happened after --backup-at. If Temporal was restored or lost as well, add --temporal-too: ' +
      'recipients become UNKNOWN if a message may have been sent to them. ' +
      'Add --temporal-kept only if Temporal was neither restored nor lost. Nothing was changed.',
  );
}

/** What a restore has lost and no repair can bring back. */
function describeLostTime({ backupAt, stoppedAt, temporalToo }: Restore): readonly string[] {
  const lost =
    `no record is left of ${backupAt.toISOString()} to ${stoppedAt.toISOString()}: single sends, recharges, contacts, opt-outs, ` +
    'keys and settings of that time have to be entered or asked for again; statuses of its messages come as those of unknown messages';
  const campaigns =
    'campaigns that were created in that time are lost in both databases and cannot be named; the provider may have ' +
    'accepted their messages: ask their callers before one is created again';
  return temporalToo ? [lost, campaigns] : [lost];
}

/** One minute, by which this machine's clock may be behind. */
const clockToleranceMs = 60_000;

function restoreOf(values: Readonly<Record<string, string | undefined>>): Restore | undefined {
  const { 'backup-at': backup, 'stopped-at': stopped } = values;
  const [about, ...others] = (['temporal-too', 'temporal-kept'] as const).filter((name) => values[name]);
  if (others.length > 0) throw new Error('--temporal-too and --temporal-kept contradict each other');
  if (backup === undefined && stopped === undefined) {
    if (about !== undefined) throw new Error(`--${about} needs --backup-at and --stopped-at`);
    return undefined;
  }
  if (backup === undefined || stopped === undefined)
    throw new Error('--backup-at and --stopped-at go together');
  const restore = {
    backupAt: time('backup-at', backup),
    stoppedAt: time('stopped-at', stopped),
    temporalToo: about === 'temporal-too',
  };
  if (restore.backupAt > restore.stoppedAt) throw new Error('--backup-at is later than --stopped-at');
  if (restore.stoppedAt.getTime() > Date.now() + clockToleranceMs)
    throw new Error('--stopped-at lies in the future: it is the time when sending had stopped');
  return restore;
}

function time(name: string, value: string): Date {
  const date = parseDateTime(value);
  if (date !== undefined) return date;
  throw new Error(`--${name} must be a date and time with its zone, like 2026-01-31T12:00:00Z`);
}

function openFinding({ kind, id, meaning, repair }: Finding): ReportedFinding {
  return { kind, id, meaning, repair: repair?.does ?? null, outcome: 'found' };
}

function settledFinding({ finding, outcome, problem }: Settled): ReportedFinding {
  return { ...openFinding(finding), outcome, ...(problem !== undefined && { problem }) };
}

function textOf({ findings, notes }: Report): string {
  const lines = findings.map(({ kind, id, meaning, repair, outcome, problem }) => {
    const action = repair === null ? 'an operator has to act' : `--repair would ${repair}`;
    const done: Readonly<Record<ReportedFinding['outcome'], string>> = {
      found: action,
      repaired: `repaired: ${repair}`,
      failed: `NOT repaired: ${problem}`,
      'not repairable': 'an operator has to act',
    };
    return `${kind} ${id}: ${meaning}; ${done[outcome]}`;
  });
  const open = findings.filter(({ outcome }) => outcome !== 'repaired').length;
  const sum =
    findings.length === 0
      ? 'Nothing to repair: Postgres and Temporal agree.'
      : `${findings.length} findings, ${open} of them not settled.`;
  return [...notes.map((note) => `note: ${note}`), ...lines, sum].join('\n');
}
