/** Shows how many recipients a campaign would reach and skip, and its cost, before it is created. */
import { Alert, Text } from '@mantine/core';
import type { api } from '../../client.ts';
import { counted, money, isLater, number, plannedTime, span } from '../../format.ts';
import { explain } from '../../reasons.ts';
import type { Field } from './fields.ts';

interface EstimateProps {
  readonly check: api.CampaignCheck | undefined;
  readonly error: Error | null;
  readonly busy: boolean;
  readonly isReady: boolean;
  readonly fields: readonly Field[];
}

/** The end of sending is shown only where it takes more than an hour. */
const longSeconds = 3_600;

export function Estimate({ check, error, busy, isReady, fields }: EstimateProps) {
  if (!isReady)
    return (
      <Text c="dimmed" size="sm">
        Choose a template and an audience to see what it would cost.
      </Text>
    );
  if (error !== null) return <Alert color="red">{error.message}</Alert>;
  if (check === undefined)
    return (
      <Text size="sm" role="status">
        {busy ? 'Counting …' : ''}
      </Text>
    );
  if (check.problems.length > 0) {
    return (
      <Alert color="orange" variant="light" title="Before you can send" role="status">
        {check.problems.slice(0, 5).map(({ field, message }) => (
          <Text key={field + message} size="sm">
            {sentenceOf(fields, field, message)}
          </Text>
        ))}
      </Alert>
    );
  }
  const isShort = Number(check.available) < Number(check.cost);
  const needsAttention = isShort || check.warnings.length > 0;
  return (
    <Alert color={needsAttention ? 'yellow' : 'teal'} variant="light" role="status">
      <Text fw={600}>
        {check.is_estimate ? 'More than ' : ''}
        {counted(check.total_contacts, 'person', 'people')} for {money(check.cost, check.currency)}, sent in
        about {span(check.duration_seconds)}.
      </Text>
      <Hours check={check} />
      {isShort && (
        <Text size="sm">
          The wallet has {money(check.available, check.currency)}: the campaign would pause when that is used.
        </Text>
      )}
      {check.warnings.filter(isUntimed).map(({ field, message }) => (
        <Text key={field} size="sm" fw={600}>
          {sentenceOf(fields, field, message)}
        </Text>
      ))}
      {Object.entries(check.skipped_reasons).map(([reason, count]) => (
        <Text key={reason} size="sm">
          {number(count)} will be skipped: {explain(reason).title.toLowerCase()}.
        </Text>
      ))}
    </Alert>
  );
}

/** The warnings about the sending window give the time in UTC: `Hours` gives it in the reader's zone. */
const isUntimed = ({ message }: api.FieldProblem): boolean => !message.includes('sending begins at');

/** When sending begins and ends, where that is not at once: closed hours of a sending window lie between. */
function Hours({
  check: { begins_at: begins, ends_at: ends, duration_seconds: duration, warnings },
}: {
  check: api.CampaignCheck;
}) {
  if (begins === null || ends === null) return null;
  const isLong = duration > longSeconds;
  const moved = warnings.find((warning) => !isUntimed(warning));
  const closed =
    moved && `The sending window is closed ${moved.field === 'scheduled_at' ? 'then' : 'now'}: sending `;
  return (
    <Text size="sm">
      {isLater(begins) && `${closed ?? 'Sending '}begins ${plannedTime(new Date(begins))}. `}
      {isLong && `Done about ${plannedTime(new Date(ends))}.`}
    </Text>
  );
}

/** Rewords a problem for the user: a variable is named by the label of its field. */
function sentenceOf(fields: readonly Field[], place: string, message: string): string {
  const line = /^quick_contacts\.(\d+)/.exec(place);
  // The API counts lines from 0, users from 1.
  if (line !== null) return `${message.replace(line[0], `Line ${Number(line[1]) + 1}`)}.`;
  const path = place.replace(/^variable_mapping\.(default_values\.)?/, '');
  const label = fields.find((field) => path === field.path || path.startsWith(`${field.path}.`))?.label;
  if (label === undefined) return message;
  if (message.includes(' is required')) return `Choose a value for “${label}”.`;
  return `${message.replace(place, `“${label}”`)}.`;
}
