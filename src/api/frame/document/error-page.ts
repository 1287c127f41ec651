/** The text of docs/errors.md. */
import {
  failureReasonTable,
  pauseReasonTable,
  preparationErrorTable,
  skipReasonTable,
  waitingReasonTable,
  type ReasonText,
} from '../../../domain/campaigns/reasons.ts';
import { errorCodeTable } from '../../../domain/error-code.ts';
import { webhookErrorTable } from '../../../domain/webhooks/delivery-errors.ts';

const intro = `# Errors

Every answer that is no success holds \`error_code\` beside \`code\` (the HTTP status) and \`message\`. Programs should test \`error_code\`.
Written by \`npm run openapi\`.

`;

interface Section {
  readonly title: string;
  readonly text: string;
  readonly table: Readonly<Record<string, ReasonText>>;
}

const sections: readonly Section[] = [
  {
    title: 'Reasons of recipients and messages that failed',
    text: '`reason` of a recipient or a message in the state FAILED or UNKNOWN, and the keys of `failed_reasons`.',
    table: failureReasonTable,
  },
  {
    title: 'Reasons of skipped recipients',
    text: '`reason` of a recipient in the state SKIPPED, and the keys of `skipped_reasons`.',
    table: skipReasonTable,
  },
  {
    title: 'Reasons of a pause',
    text: '`pause_reason` of a campaign in the status PAUSED.',
    table: pauseReasonTable,
  },
  {
    title: 'What a campaign waits for',
    text: '`waiting_for` of a running campaign or of a channel.',
    table: waitingReasonTable,
  },
  {
    title: 'Errors of a preparation',
    text: '`preparation_error.code` of a campaign in the status FAILED.',
    table: preparationErrorTable,
  },
  {
    title: 'Errors of a webhook delivery',
    text: '`errorCode` of a delivery in the state failed.',
    table: webhookErrorTable,
  },
];

export function errorPage(): string {
  const pages = sections.map(
    ({ title, text, table }) => `\n## ${title}\n\n${text}\n\n${tableOf('code', table)}`,
  );
  return intro + tableOf('`error_code`', errorCodeTable) + pages.join('');
}

function tableOf(heading: string, table: Readonly<Record<string, ReasonText>>): string {
  const rows = Object.entries(table).map(
    ([code, { meaning, advice }]) => `| \`${code}\` | ${meaning} | ${advice} |\n`,
  );
  return `| ${heading} | means | what to do |\n|---|---|---|\n${rows.join('')}`;
}
