/** GET /api/overview: what all campaigns of the workspace did in a span of time. */
import * as t from 'io-ts';
import { describe, named } from '../codecs/json-schema.ts';
import { earliestTime, Integer, IsoDateTime, Uuid } from '../codecs/scalars.ts';
import { oneOf, optional, struct } from '../codecs/struct.ts';
import { Amount } from '../codecs/wallet.ts';
import { Invalid } from '../domain/error.ts';
import { formatAmount } from '../domain/money.ts';
import { overviewIntervals, type OverviewSums, readOverview } from '../records/campaigns/report.ts';
import { endpoint } from './frame/endpoint.ts';
import { answer, succeed } from './frame/envelope.ts';

const dayMs = 86_400_000;
const defaultDays = 7;
/** The longest span, so that an answer has at most some 2,400 points. */
const mostDays = { day: 400, hour: 100 } as const;
const mostCampaigns = 100;

const sums = {
  accepted: Integer,
  delivered: Integer,
  read: Integer,
  replied: describe(Integer, { description: 'Recipients who wrote within 30 days after the message.' }),
  opted_out: describe(Integer, {
    description:
      'Recipients who asked to receive nothing more, or no marketing, within 30 days after the message.',
  }),
  failed: Integer,
  charged: describe(Amount, { description: 'Amount charged less refunds, as a decimal string.' }),
};
const OverviewTotals = named('OverviewTotals', struct(sums));
const exampleSums = {
  accepted: 19842,
  delivered: 19120,
  read: 8730,
  replied: 412,
  opted_out: 9,
  failed: 312,
  charged: '992.1',
};

export const getOverview = endpoint(
  {
    method: 'GET',
    path: '/api/overview',
    operationId: 'getOverview',
    summary: 'Read the totals of all campaigns over a period',
    description: `Counts each change at the time it happened: a message sent on Monday and read on Tuesday counts as read on Tuesday. Default the last ${defaultDays} days; at most ${mostDays.day} days, or ${mostDays.hour} by hour. Days begin at midnight UTC; empty intervals are omitted. \`campaigns\` holds the ${mostCampaigns} that sent most.`,
    tag: 'Campaigns',
    access: 'workspace',
    query: optional({
      from: describe(IsoDateTime, {
        description: `Start of the period; default ${defaultDays} days before \`to\`.`,
      }),
      to: describe(IsoDateTime, { description: 'End of the period, exclusive; default now.' }),
      interval: describe(oneOf(overviewIntervals, 'OverviewInterval'), {
        description: 'Length of an interval; default `day`.',
      }),
    }),
    responses: {
      200: answer(
        'Intervals in order, totals, and totals by campaign',
        named(
          'Overview',
          struct({
            points: describe(t.readonlyArray(named('OverviewPoint', struct({ at: IsoDateTime, ...sums }))), {
              description: 'Intervals in which something happened.',
            }),
            totals: describe(OverviewTotals, { description: 'Totals of the period.' }),
            campaigns: describe(
              t.readonlyArray(named('OverviewCampaign', struct({ id: Uuid, name: t.string, ...sums }))),
              { description: 'Totals of each campaign, most messages first.' },
            ),
          }),
        ),
        {
          points: [{ at: '2026-11-21T00:00:00.000Z', ...exampleSums }],
          totals: exampleSums,
          campaigns: [{ id: '0197c1f2-6a6e-7b52-9a40-3f0f6a3c9d11', name: 'Spring offer', ...exampleSums }],
        },
      ),
    },
  },
  async ({ dependencies: { database, now }, principal: { workspaceId }, query }) => {
    const { interval = 'day', to = now() } = query;
    const from = query.from ?? new Date(Math.max(earliestTime, to.getTime() - defaultDays * dayMs));
    if (from >= to) throw Invalid.at('from', 'from must be before to');
    const most = mostDays[interval];
    if (to.getTime() - from.getTime() > most * dayMs)
      throw Invalid.at('from', `from must be at most ${most} days before to`);
    const span = { from, to, interval, limit: mostCampaigns };
    const { points, campaigns } = await readOverview(database, workspaceId, span);
    return {
      status: 200,
      body: succeed({
        points: points.map((point) => ({ ...point, at: new Date(point.at), ...presentSums(point) })),
        totals: presentSums(points.reduce(plus, nothing)),
        campaigns: campaigns.map((campaign) => ({ ...campaign, ...presentSums(campaign) })),
      }),
    };
  },
);

const nothing: OverviewSums = {
  accepted: 0,
  delivered: 0,
  read: 0,
  replied: 0,
  opted_out: 0,
  failed: 0,
  charged: 0,
};

const plus = (one: OverviewSums, other: OverviewSums): OverviewSums => ({
  accepted: one.accepted + other.accepted,
  delivered: one.delivered + other.delivered,
  read: one.read + other.read,
  replied: one.replied + other.replied,
  opted_out: one.opted_out + other.opted_out,
  failed: one.failed + other.failed,
  charged: one.charged + other.charged,
});

const presentSums = ({ accepted, delivered, read, replied, opted_out, failed, charged }: OverviewSums) => ({
  accepted,
  delivered,
  read,
  replied,
  opted_out,
  failed,
  charged: formatAmount(BigInt(charged)),
});
