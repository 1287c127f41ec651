/** Shows how many recipients a campaign would reach and skip, and its cost, before it is created. */
import { Alert, Text } from '@mantine/core';
import type { api } from '../../client.ts';
import { counted, isLater, number, plannedTime, span, moneyTotal } from '../../format.ts';
import { useClock } from '../../parts/display/time.tsx';
import { explain } from '../../reasons.ts';
import type { Field } from './fields.ts';

interface EstimateProps {
  readonly check: api.CampaignCheck | undefined;
  readonly error: Error | null;
  readonly busy: boolean;
  /** True while the whole of an audience is counted of which `check` covers a part. */
  readonly isCounting: boolean;
  readonly isReady: boolean;
  readonly fields: readonly Field[];
  /** Variables with the same text for everybody. */
  readonly constants: readonly { readonly label: string; readonly text: string }[];
}

/** The end of sending is shown only where it takes more than an hour. */
const longSeconds = 3_600;

export function Estimate({ check, error, busy, isCounting, isReady, fields, constants }: EstimateProps) {
  if (!isReady)
    return (
      <Text c="dimmed" size="sm">
        Choose a template and an audience to see the cost.
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
  const atLeast = check.is_estimate ? 'at least ' : '';
  const people = counted(check.total_contacts, 'person', 'people');
  return (
    <Alert color={needsAttention ? 'yellow' : 'teal'} variant="light" role="status">
      <Text fw={600}>
        {`${check.is_estimate ? 'At least ' : ''}${people} · ${atLeast}${moneyTotal(check.cost, check.currency)} · `}
        {isCounting ? 'still counting …' : `about ${span(check.duration_seconds)}`}
      </Text>
      <Hours check={check} />
      {isShort && (
        <Text size="sm">
          The balance covers about {number(covered(check))} of {people}; the rest waits until you top up.
        </Text>
      )}
      {constants.map(({ label, text }) => (
        <Text key={label} size="sm" style={{ overflowWrap: 'anywhere' }}>
          {label} is “{text}” for {check.is_estimate ? 'everyone' : `all ${people}`}.
        </Text>
      ))}
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

/** How many of the recipients the wallet pays for, at their average price. */
const covered = ({ available, cost, total_contacts: people }: api.CampaignCheck): number =>
  Math.floor(Math.max(0, (Number(available) / Number(cost)) * people));

/** The warnings about the sending window give the time in UTC: `Hours` gives it in the reader's zone. */
const isUntimed = ({ message }: api.FieldProblem): boolean => !message.includes('sending begins at');

/** When sending begins and ends, where that is not at once: closed hours of a sending window lie between. */
function Hours({
  check: { begins_at: begins, ends_at: ends, duration_seconds: duration, warnings },
}: {
  check: api.CampaignCheck;
}) {
  useClock();
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
  if (message.includes(' is required')) return `Fill in ${label}.`;
  return `${message.replace(place, `“${label}”`)}.`;
}
