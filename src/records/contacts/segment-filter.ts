/** Segment conditions as SQL over the table `contact`: values and custom field names are bound parameters, never text. */
import { sql } from 'slonik';
import { formsOfAll, prefixForms } from '../../domain/number-rules.ts';
import { normalisePhoneNumber } from '../../domain/phone-number.ts';
import { booleanTexts, type FieldTypes } from '../../domain/contacts/field-type.ts';
import type {
  CampaignState,
  Comparison,
  EngagementField,
  Predicate,
  Since,
  TextField,
  TextSubject,
  TimeField,
  TimeSubject,
} from '../../domain/contacts/predicate.ts';
import {
  type FilterMatch,
  isProblem,
  readCondition,
  referencesOf,
  type SegmentCondition,
} from '../../domain/contacts/segment-filter.ts';

export type Fragment = ReturnType<typeof sql.fragment>;

export interface Filter {
  /** Default `all`. */
  readonly match?: FilterMatch | null | undefined;
  readonly conditions: readonly SegmentCondition[];
}

/** What conditions refer to, read by `loadFilterContext` (segments.ts). */
export interface FilterContext {
  /** By id, those that other segments name included. One that was deleted is missing: no contact is in it. */
  readonly segments: ReadonlyMap<string, Filter>;
  readonly types: FieldTypes;
}

export const noContext: FilterContext = { segments: new Map(), types: new Map() };

const mostConditions = 10_000;
const maxLevels = 5;

interface Extent {
  /** Conditions, with those of a segment once for each condition that names it: so often they are in the statement. */
  readonly size: number;
  readonly levels: number;
}

/** Says that conditions, those of the segments which they name included, are more than a statement can hold, or go in a circle. */
export function sizeProblem(
  conditions: readonly SegmentCondition[],
  { segments }: Pick<FilterContext, 'segments'>,
): string | undefined {
  if (segments.size === 0) return undefined;
  const extents = new Map<string, Extent>();
  const extentOf = (given: readonly SegmentCondition[]): Extent => {
    const named = given.flatMap((condition) => referencesOf([condition]).segmentIds.map(extentOfSegment));
    return {
      size: named.reduce((sum, { size }) => sum + size, given.length),
      levels: named.reduce((most, { levels }) => Math.max(most, levels + 1), 0),
    };
  };
  const extentOfSegment = (id: string): Extent => {
    const known = extents.get(id);
    if (known !== undefined) return known;
    // A segment that comes back to itself.
    extents.set(id, { size: Infinity, levels: Infinity });
    const extent = extentOf(segments.get(id)?.conditions ?? []);
    extents.set(id, extent);
    return extent;
  };
  const { size, levels } = extentOf(conditions);
  if (size > mostConditions)
    return `The segments that the conditions name come to more than 10,000 conditions`;
  return levels > maxLevels
    ? `The segments that the conditions name are nested more than ${maxLevels} levels deep`
    : undefined;
}

interface Compilation extends FilterContext {
  readonly byIndex: boolean;
}

/**
 * For a WHERE clause: true for the contacts of the alias `contact` that match, else false or NULL. No conditions: every contact.
 * With `byIndex` an equal name or address is looked up by its index, which takes two parameters a condition instead of one.
 */
export function compileSegmentFilter(
  match: FilterMatch,
  conditions: readonly SegmentCondition[],
  { byIndex = false, context = noContext }: { byIndex?: boolean; context?: FilterContext } = {},
): Fragment {
  return compileFilter({ match, conditions }, { byIndex, ...context });
}

function compileFilter({ match, conditions }: Filter, compilation: Compilation): Fragment {
  if (conditions.length === 0) return sql.fragment`TRUE`;
  const compiled = conditions.map((condition) => compileCondition(condition, compilation));
  return sql.fragment`(${sql.join(compiled, match === 'any' ? sql.fragment` OR ` : sql.fragment` AND `)})`;
}

// Conditions were checked before they were stored: one that cannot be read is a defect, not bad input. If the type of a custom
// field was changed since, its value may not fit any more, and is compared as if the field had no type.
function compileCondition(condition: SegmentCondition, compilation: Compilation): Fragment {
  const typed = readCondition(condition, compilation.types);
  const predicate = isProblem(typed) ? readCondition(condition) : typed;
  if (isProblem(predicate)) throw new Error(`A stored condition is not valid: ${predicate.message}`);
  const test = compilePredicate(predicate, compilation);
  // IS TRUE would keep Postgres from using an index.
  return predicate.negated ? sql.fragment`(${test}) IS NOT TRUE` : sql.fragment`(${test})`;
}

function compilePredicate(predicate: Predicate, compilation: Compilation): Fragment {
  switch (predicate.test) {
    case 'text_in':
      return textIn(predicate.subject, predicate.values, compilation.byIndex);
    case 'text_contains':
      return sql.fragment`strpos(lower(${textColumn(predicate.subject)}), lower(${plain(predicate.subject, predicate.value)})) > 0`;
    case 'text_starts_with':
      return textStartsWith(predicate.subject, plain(predicate.subject, predicate.value));
    case 'text_present':
      return sql.fragment`${textColumn(predicate.subject)} <> ''`;
    case 'text_compare':
      return textCompare(predicate.subject, predicate.comparison, predicate.value);
    case 'number_in':
      return sql.fragment`${numberIn(predicate.subject)} = ANY(${sql.array(predicate.values.map(String), 'numeric')})`;
    case 'boolean':
      return sql.fragment`lower(btrim(${textColumn(predicate.subject)})) = ANY(${sql.array([...booleanTexts(predicate.wanted)], 'text')})`;
    case 'time_within':
      return sql.fragment`${timeColumn(predicate.subject)} >= ${instant(predicate.from)}
        AND ${timeColumn(predicate.subject)} < ${instant(predicate.until)}`;
    case 'time_from':
      return sql.fragment`${timeColumn(predicate.subject)} >= ${instant(predicate.from)}`;
    case 'time_before':
      return sql.fragment`${timeColumn(predicate.subject)} < ${instant(predicate.until)}`;
    case 'time_recent':
      return sql.fragment`${timeColumn(predicate.subject)} BETWEEN ${daysAgo(predicate.days)} AND now()`;
    case 'time_present':
      return sql.fragment`${timeColumn(predicate.subject)} IS NOT NULL`;
    case 'engaged':
      return engaged(predicate.field, predicate.since);
    case 'engaged_before':
      return sql.fragment`${engaged(predicate.field, undefined)} AND NOT ${engaged(predicate.field, { from: predicate.until })}`;
    case 'campaign_in':
      return campaignIn(predicate.campaignId, predicate.states);
    case 'segment_any':
      return segmentAny(predicate.segmentIds, compilation);
    case 'country_in':
      return sql.fragment`contact.country = ANY(${sql.array([...predicate.values], 'text')})`;
    case 'subscribed':
      return sql.fragment`contact.subscribed`;
    case 'consent_in':
      return sql.fragment`contact.consent = ANY(${sql.array([...predicate.values], 'text')})`;
    case 'always':
      return sql.fragment`TRUE`;
    case 'tag_any':
      return sql.fragment`EXISTS (SELECT FROM contact_tag WHERE contact_tag.contact_id = contact.id
        AND contact_tag.tag_id = ANY(${sql.array(predicate.tagIds, 'uuid')}))`;
    case 'tag_present':
      return sql.fragment`EXISTS (SELECT FROM contact_tag WHERE contact_tag.contact_id = contact.id)`;
    default:
      return predicate satisfies never;
  }
}

function segmentAny(segmentIds: readonly string[], compilation: Compilation): Fragment {
  const filters = segmentIds.flatMap((id) => compilation.segments.get(id) ?? []);
  const compiled = filters.map((filter) => compileFilter(filter, compilation));
  return sql.fragment`(${sql.join([sql.fragment`FALSE`, ...compiled], sql.fragment` OR `)})`;
}

// What became of messages. Each is one lookup by the contact: a scalar subquery, because as a join Postgres
// might read all recipients of all workspaces.

const recipientOf = (condition: Fragment): Fragment => sql.fragment`(
  (SELECT true FROM recipient WHERE recipient.contact_id = contact.id AND recipient.sendable AND ${condition} LIMIT 1) IS TRUE)`;
const messageOf = (condition: Fragment): Fragment => sql.fragment`(
  (SELECT true FROM message WHERE message.contact_id = contact.id AND ${condition} LIMIT 1) IS TRUE)`;

function campaignIn(campaignId: string, states: readonly CampaignState[]): Fragment {
  const ofRecipient = states.filter((state) => state !== 'REPLIED');
  const reached = recipientOf(sql.fragment`recipient.campaign_id = ${campaignId}
    AND recipient.state = ANY(${sql.array(ofRecipient, 'text')})`);
  if (ofRecipient.length === states.length) return reached;
  const replied = sql.fragment`(${answered(campaignId)} OR ${messageOf(
    sql.fragment`message.direction = 'inbound' AND message.campaign_id = ${campaignId}`,
  )})`;
  return ofRecipient.length === 0 ? replied : sql.fragment`(${reached} OR ${replied})`;
}

/** The person wrote to the campaign's channel in the 30 days after its message, whether or not the answer names the message. */
const answered = (campaignId: string): Fragment => sql.fragment`(
  (SELECT true FROM recipient CROSS JOIN LATERAL (
      SELECT coalesce(recipient.accepted_at, recipient.sent_at, recipient.delivered_at, recipient.read_at) AS at
    ) AS reached CROSS JOIN LATERAL (
      SELECT FROM message WHERE message.contact_id = contact.id AND message.direction = 'inbound'
        AND message.created_at >= reached.at AND message.created_at < reached.at + interval '30 days'
        AND message.channel_id = (SELECT channel_id FROM campaign WHERE campaign.id = ${campaignId}) LIMIT 1
    ) AS answer
    WHERE recipient.contact_id = contact.id AND recipient.sendable AND recipient.state <> 'FAILED'
      AND recipient.campaign_id = ${campaignId} LIMIT 1) IS TRUE)`;

// A later status implies the earlier ones, whose times may be missing. Single messages keep one time: of their latest status.
const engagementTimes: Readonly<
  Record<
    Exclude<EngagementField, 'last_replied_at'>,
    { readonly ofRecipient: Fragment; readonly ofMessage: Fragment; readonly states: readonly string[] }
  >
> = {
  last_messaged_at: {
    ofRecipient: sql.fragment`coalesce(recipient.accepted_at, recipient.sent_at, recipient.delivered_at, recipient.read_at)`,
    ofMessage: sql.fragment`message.created_at`,
    states: ['ACCEPTED', 'SENT', 'DELIVERED', 'READ'],
  },
  last_delivered_at: {
    ofRecipient: sql.fragment`coalesce(recipient.delivered_at, recipient.read_at)`,
    ofMessage: sql.fragment`message.updated_at`,
    states: ['DELIVERED', 'READ'],
  },
  last_read_at: {
    ofRecipient: sql.fragment`recipient.read_at`,
    ofMessage: sql.fragment`message.updated_at`,
    states: ['READ'],
  },
};

function engaged(field: EngagementField, since: Since | undefined): Fragment {
  const isIn = (time: Fragment): Fragment => {
    if (since === undefined) return sql.fragment`${time} IS NOT NULL`;
    return sql.fragment`${time} >= ${'days' in since ? daysAgo(since.days) : instant(since.from)}`;
  };
  if (field === 'last_replied_at')
    return sql.fragment`EXISTS (SELECT FROM conversation WHERE conversation.contact_id = contact.id
      AND ${isIn(sql.fragment`conversation.inbound_at`)})`;
  const { ofRecipient, ofMessage, states } = engagementTimes[field];
  const single = sql.fragment`message.direction = 'outbound' AND message.state = ANY(${sql.array([...states], 'text')})
    AND ${isIn(ofMessage)}`;
  return sql.fragment`(${recipientOf(isIn(ofRecipient))} OR ${messageOf(single)})`;
}

const textColumns: Readonly<Record<TextField, Fragment>> = {
  firstName: sql.fragment`contact.first_name`,
  lastName: sql.fragment`contact.last_name`,
  chatName: sql.fragment`contact.chat_name`,
  email: sql.fragment`contact.email`,
  phoneNumber: sql.fragment`coalesce(contact.phone_number, '')`,
  countryCode: sql.fragment`contact.country_code`,
  source: sql.fragment`contact.source`,
};

const timeColumns: Readonly<Record<TimeField, Fragment>> = {
  createdAt: sql.fragment`contact.created_at`,
  updatedAt: sql.fragment`contact.updated_at`,
  dob: sql.fragment`contact.dob`,
};

const nationalNumber = sql.fragment`substr(contact.phone_number, length(contact.country_code) + 1)`;

function textColumn(subject: TextSubject): Fragment {
  if (subject.kind === 'field') return textColumns[subject.name];
  return sql.fragment`coalesce(contact.custom_fields ->> ${subject.fieldId}, '')`;
}

/** Most numbers are plain; only the others need the function, which costs ten times as much. */
const numberIn = (subject: TextSubject): Fragment => sql.fragment`(
  CASE WHEN ${textColumn(subject)} ~ '^[+-]?[0-9]{1,15}([.][0-9]{1,15})?$' THEN (${textColumn(subject)})::numeric
    ELSE custom_number(${textColumn(subject)}) END)`;

function timeColumn(subject: TimeSubject): Fragment {
  if (subject.kind === 'field') return timeColumns[subject.name];
  return sql.fragment`custom_date(contact.custom_fields ->> ${subject.fieldId})`;
}

const isField = (subject: TextSubject, name: TextField) => subject.kind === 'field' && subject.name === name;

// Numbers are stored as digits; callers may write `+49 30 1234`.
function plain(subject: TextSubject, value: string): string {
  const isDigits = isField(subject, 'phoneNumber') || isField(subject, 'countryCode');
  return isDigits ? value.replace(/[\s+().-]/g, '') : value;
}

function textIn(subject: TextSubject, values: readonly string[], byIndex: boolean): Fragment {
  // With or without the calling code: contacts are shown with the national number. Whole numbers may be written in any way.
  if (isField(subject, 'phoneNumber')) {
    const numbers = values.flatMap((value) => [
      plain(subject, value),
      ...formsOfAll([normalisePhoneNumber(value)?.digits ?? plain(subject, value)]),
    ]);
    const list = sql.array([...new Set(numbers)], 'text');
    return sql.fragment`contact.phone_number = ANY(${list}) OR ${nationalNumber} = ANY(${list})`;
  }
  const list = sql.array(
    values.map((value) => plain(subject, value)),
    'text',
  );
  const isFound =
    byIndex && isIndexed(subject) && !values.includes('')
      ? equalsAny(textColumn(subject), values)
      : undefined;
  if (isField(subject, 'email'))
    return (
      isFound ?? sql.fragment`lower(contact.email) IN (SELECT lower(given) FROM unnest(${list}) AS given)`
    );
  const isSame = sql.fragment`${textColumn(subject)} = ANY(${list})`;
  return isFound === undefined ? isSame : sql.fragment`${isFound} AND ${isSame}`;
}

const indexed: readonly TextField[] = ['firstName', 'lastName', 'chatName', 'email'];
const isIndexed = (subject: TextSubject) => indexed.some((name) => isField(subject, name));

function textStartsWith(subject: TextSubject, value: string): Fragment {
  if (isField(subject, 'phoneNumber')) {
    const others = sql.array(prefixForms(value), 'text');
    return sql.fragment`starts_with(contact.phone_number, ${value}) OR starts_with(${nationalNumber}, ${value})
      OR EXISTS (SELECT FROM unnest(${others}) AS other WHERE starts_with(contact.phone_number, other))`;
  }
  if (isIndexed(subject) && value !== '') return begins(textColumn(subject), value);
  return sql.fragment`starts_with(lower(${textColumn(subject)}), lower(${value}))`;
}

const comparisonSigns: Readonly<Record<Comparison, Fragment>> = {
  gt: sql.fragment`>`,
  gte: sql.fragment`>=`,
  lt: sql.fragment`<`,
  lte: sql.fragment`<=`,
};

function textCompare(subject: TextSubject, comparison: Comparison, value: string | number): Fragment {
  const sign = comparisonSigns[comparison];
  if (typeof value === 'string') {
    return sql.fragment`${textColumn(subject)} <> '' AND ${textColumn(subject)} COLLATE "C" ${sign} ${value}`;
  }
  return sql.fragment`${numberIn(subject)} ${sign} ${value}::numeric`;
}

const daysAgo = (days: number): Fragment => sql.fragment`now() - make_interval(days => ${days}::int)`;

// Passes a number instead of text, because Postgres does not accept the years 0 and 10000 as JavaScript writes them.
const instant = (date: Date): Fragment => sql.fragment`to_timestamp(${date.getTime() / 1000}::float8)`;

// Conditions on names and e-mail addresses that the partial indexes `contact_first_name` … `contact_email` answer.

// Postgres uses an index only when expressions and conditions repeat its definition.
export const keyOf = (column: Fragment): Fragment => sql.fragment`lower(${column}) COLLATE "C"`;

const escapeLike = (text: string) => text.replace(/[\\%_]/g, String.raw`\$&`);

/** The column begins with `word`, which is not empty, in any case of its letters. */
const begins = (column: Fragment, word: string): Fragment => sql.fragment`(
  ${column} <> '' AND ${keyOf(column)} LIKE lower(${escapeLike(word)}) || '%')`;

/** The column equals one of the texts, none of which is empty, in any case of their letters. */
const equalsAny = (column: Fragment, texts: readonly string[]): Fragment => sql.fragment`(
  ${column} <> '' AND ${keyOf(column)} = ANY(
    ARRAY(SELECT lower(given) COLLATE "C" FROM unnest(${sql.array([...texts], 'text')}) AS given)))`;
