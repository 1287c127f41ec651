/**
 * The provider's messaging limit: how many different people a portfolio may message in 24 hours, over all numbers of all its
 * business accounts. People who wrote to the number in the last 24 hours do not count. Claims and single sends under a limit take
 * its advisory lock first, so that two of them never use the same remaining quota. An account whose portfolio is not known is one
 * of its own: the people are counted under the id of the portfolio, or else of the account.
 */
import { sql, type FragmentSqlToken } from 'slonik';
import * as t from 'io-ts';
import { messagingLimitChanged } from '../../domain/operations/notice.ts';
import { formsOf } from '../../domain/number-rules.ts';
import { contactsByNumber } from '../contacts/contacts.ts';
import { insertNotices } from '../operations/notices.ts';
import type { Connection } from '../database/database.ts';
import { claimPatience } from '../database/lock-patience.ts';
import { nothing, nullable, row, timestamp } from '../database/row.ts';

/** People are counted in intervals of ten minutes; an interval expires when its end is 24 hours old. */
const tenMinutes = (instant: FragmentSqlToken) =>
  sql.fragment`date_bin('10 minutes', ${instant}, '2000-01-01Z')`;
const countsFor = sql.fragment`interval '24 hours 10 minutes'`;
const counts = sql.fragment`at > now() - ${countsFor}`;

const lockOf = (accountId: FragmentSqlToken) =>
  sql.fragment`pg_advisory_xact_lock(hashtextextended('messaging limit ' || ${accountId}, 0))`;

/** Of a row of `business_account`: the id under which its people are counted. */
export const quotaKey = sql.fragment`coalesce(business_account.portfolio_id, business_account.id)`;
/** The same for the id of an account. */
export const quotaOf = (accountId: FragmentSqlToken) =>
  sql.fragment`(SELECT ${quotaKey} FROM business_account WHERE business_account.id = ${accountId})`;
/** The accounts that share the limit of this one. */
const accountsUnder = (key: string) => sql.fragment`
  ARRAY(SELECT id FROM business_account WHERE portfolio_id = ${key} OR id = ${key} AND portfolio_id IS NULL)`;

/** Number of different people that count against the limit now. */
export const reachedOf = (key: FragmentSqlToken) => sql.fragment`
  (SELECT COALESCE(sum(people), 0)::int4 FROM account_reach_count
    WHERE account_reach_count.business_account_id = ${key} AND ${counts})`;

/** When the oldest interval that counts expires. */
export const quotaFreesAt = (key: FragmentSqlToken) => sql.fragment`
  (SELECT min(at) + ${countsFor} FROM account_reach_count
    WHERE account_reach_count.business_account_id = ${key} AND people > 0 AND ${counts})`;

/** Condition on `channel`: the quota of its account is used up. */
export const isAtLimit = sql.fragment`EXISTS (SELECT FROM business_account
  WHERE business_account.id = channel.business_account_id
    AND messaging_limit <= ${reachedOf(quotaKey)})`;

export interface RemainingQuota {
  /** Of the portfolio, or of an account without one. */
  readonly accountId: string;
  /** How many more different people may be messaged. */
  readonly people: number;
  /** Milliseconds until the oldest interval that counts expires; 0 without one. */
  readonly moreInMs: number;
}

const Limited = row(t.type({ account: t.string, limited: t.boolean }));
const QuotaRow = row(t.type({ accountId: t.string, people: t.number, moreInMs: t.number }));

/**
 * Takes the account's advisory lock until the transaction ends; to be called before wallets or counters are locked. Null if the
 * account has no limit. `isClaim`: with the patience of a claim of recipients.
 */
export async function lockQuota(
  transaction: Connection,
  channelId: string,
  { isClaim = false }: { readonly isClaim?: boolean } = {},
): Promise<RemainingQuota | null> {
  const patience = isClaim
    ? sql.fragment`CROSS JOIN (SELECT ${claimPatience} AS patience OFFSET 0) AS patience`
    : sql.fragment``;
  const found = await transaction.maybeOne(sql.type(Limited)`
    SELECT business_account.id AS account, CASE WHEN messaging_limit IS NULL THEN false
      ELSE ${lockOf(quotaKey)} IS NOT NULL END AS limited
    FROM channel JOIN business_account ON business_account.id = business_account_id ${patience}
    WHERE channel.id = ${channelId}`);
  if (found === null || !found.limited) return null;
  // A second statement, because its snapshot includes what the previous holder of the lock committed.
  return transaction.one(sql.type(QuotaRow)`
    SELECT ${quotaKey} AS "accountId", greatest(COALESCE(messaging_limit, 2147483647) - ${reachedOf(quotaKey)}, 0) AS people,
      COALESCE(extract(epoch FROM ${quotaFreesAt(quotaKey)} - now())::float8 * 1000, 0) AS "moreInMs"
    FROM business_account WHERE id = ${found.account}`);
}

/** Identifies a person by number and contact; either may be NULL. */
export interface PersonColumns {
  readonly accountId: string;
  readonly channelId: string;
  readonly phoneNumber: FragmentSqlToken;
  readonly contactId: FragmentSqlToken;
}

/**
 * Columns for a LATERAL join: `person` (a hash), `outside` (outside the service window, so the message counts) and `newcomer`
 * (not counted yet, so the message uses up quota). No EXISTS, for which Postgres may read all conversations once.
 */
export const personColumns = ({
  accountId,
  channelId,
  phoneNumber,
  contactId,
}: PersonColumns) => sql.fragment`
  SELECT person, outside, outside AND (SELECT true FROM account_reach
    WHERE business_account_id = ${accountId} AND account_reach.person = known.person AND ${counts}) IS NULL AS newcomer
  FROM (SELECT hashtextextended(COALESCE(${phoneNumber}, ${contactId}::text), 0) AS person,
    (SELECT true FROM conversation WHERE conversation.contact_id = ${contactId} AND channel_id = ${channelId}
      AND inbound_at > now() - interval '24 hours' LIMIT 1) IS NULL AS outside) AS known`;

/** CTEs that count the people whom the query `people` returns in a column `person`. */
export const countedPeople = (accountId: string, people: FragmentSqlToken) => sql.fragment`
  written_to AS (
    INSERT INTO account_reach AS known (business_account_id, person, at)
    SELECT DISTINCT ${accountId}, person, ${tenMinutes(sql.fragment`now()`)} FROM (${people}) AS claimed_people
    ON CONFLICT (business_account_id, person) DO UPDATE SET at = excluded.at WHERE known.at < excluded.at
    RETURNING old.at AS before, new.at
  ), counted_people AS (
    INSERT INTO account_reach_count AS present (business_account_id, at, people)
    SELECT ${accountId}, at, sum(change) FROM (
      SELECT at, 1 AS change FROM written_to
      UNION ALL SELECT before, -1 FROM written_to WHERE before > now() - ${countsFor}
    ) AS moved GROUP BY at
    ON CONFLICT (business_account_id, at) DO UPDATE SET people = present.people + excluded.people
  )`;

interface QuotaRequest {
  readonly quota: RemainingQuota;
  readonly channelId: string;
  readonly workspaceId: number;
  readonly to: string;
  readonly contactId?: string | undefined;
}

const Taken = row(t.type({ taken: t.boolean }));

/** Uses quota for one message. Returns false, and counts nothing, if none remains. The caller has called `lockQuota`. */
export async function takeQuota(
  transaction: Connection,
  { quota, channelId, workspaceId, to, contactId: given }: QuotaRequest,
): Promise<boolean> {
  const { accountId } = quota;
  const contactId = given ?? null;
  const columns = personColumns({
    accountId,
    channelId,
    phoneNumber: sql.fragment`given.phone_number`,
    contactId: sql.fragment`given.contact_id`,
  });
  return transaction.oneFirst(sql.type(Taken)`
    WITH asked AS MATERIALIZED (
      SELECT known.* FROM (SELECT CASE WHEN ${contactId}::uuid IS NULL THEN ${to} END AS phone_number,
        COALESCE(${contactId}::uuid, (SELECT contact.id
          FROM ${contactsByNumber(sql.fragment`${workspaceId}`, sql.fragment`${sql.array(formsOf(to), 'text')}`)}
          ORDER BY phone_number = ${to} DESC LIMIT 1)) AS contact_id) AS given
      CROSS JOIN LATERAL (${columns}) AS known
    ), ${countedPeople(
      accountId,
      sql.fragment`
      SELECT person FROM asked WHERE outside AND (NOT newcomer OR ${quota.people}::int4 > 0)`,
    )}
    SELECT NOT newcomer OR ${quota.people}::int4 > 0 AS taken FROM asked`);
}

const Before = row(
  t.type({ id: t.string, workspaceId: t.number, before: nullable(t.number), present: nullable(t.number) }),
);

/**
 * Sets the limit that the provider announced at `reportedAt` for an account; an older announcement changes nothing. Null: no
 * limit. It applies to every account of the portfolio. Claims and single sends of these accounts wait until the transaction ends:
 * under the advisory lock if there was a limit before, for their wallet if there was none. Those that go on then see the new limit.
 */
export async function setMessagingLimit(
  transaction: Connection,
  accountId: string,
  { limit, reportedAt }: { readonly limit: number | null; readonly reportedAt: Date },
): Promise<void> {
  const at = reportedAt.toISOString();
  const key = await transaction.maybeOneFirst(sql.type(Key)`
    SELECT ${quotaKey} AS key FROM business_account WHERE id = ${accountId}`);
  if (key === null) return;
  await transaction.query(sql.type(nothing)`
    SELECT FROM business_account WHERE id = ANY(${accountsUnder(key)}) ORDER BY id FOR NO KEY UPDATE`);
  const reported = await transaction.any(sql.type(Before)`
    UPDATE business_account SET messaging_limit = ${limit}::int4, messaging_limit_reported_at = ${at}::timestamptz
    WHERE id = ANY(${accountsUnder(key)}) AND ${at}::timestamptz >= COALESCE(messaging_limit_reported_at, '-infinity')
    RETURNING new.id, new.workspace_id AS "workspaceId", old.messaging_limit AS before, new.messaging_limit AS present`);
  const changed = reported.filter(({ before, present }) => before !== present);
  if (changed.length === 0) return;
  await insertNotices(
    transaction,
    changed.map((account) => messagingLimitChanged(account, account.before, account.present)),
  );
  await transaction.query(sql.type(nothing)`SELECT ${lockOf(sql.fragment`${key}`)}`);
  if (limit !== null && changed.some(({ before }) => before === null))
    await countAgain(transaction, key, limit);
  await wakeCampaigns(transaction, key);
}

const Key = row(t.type({ key: t.string }));
const Portfolio = row(
  t.type({ former: t.string, key: t.string, limit: nullable(t.number), reported_at: nullable(timestamp) }),
);

/**
 * Notes which portfolio owns the account. Its people count with those of the portfolio from now on, under the limit that was
 * reported last for any of the portfolio's accounts.
 */
export async function setPortfolio(
  transaction: Connection,
  accountId: string,
  portfolioId: string,
): Promise<void> {
  const moved = await transaction.maybeOne(sql.type(Portfolio)`
    UPDATE business_account SET portfolio_id = ${portfolioId}
    WHERE id = ${accountId} AND portfolio_id IS DISTINCT FROM ${portfolioId}
    RETURNING coalesce(old.portfolio_id, old.id) AS former, new.portfolio_id AS key, new.messaging_limit AS "limit",
      new.messaging_limit_reported_at AS reported_at`);
  if (moved === null) return;
  const { key } = moved;
  const [newest] = await transaction.any(sql.type(Portfolio)`
    SELECT id AS former, ${key} AS key, messaging_limit AS "limit", messaging_limit_reported_at AS reported_at
    FROM business_account WHERE portfolio_id = ${key} AND messaging_limit_reported_at IS NOT NULL
    ORDER BY messaging_limit_reported_at DESC LIMIT 1`);
  if (newest?.reported_at === undefined || newest.reported_at === null) return;
  const { limit, reported_at: reportedAt } = newest;
  await setMessagingLimit(transaction, accountId, { limit, reportedAt });
  if (limit === null) return;
  await transaction.query(sql.type(nothing)`SELECT ${lockOf(sql.fragment`${key}`)}`);
  await countAgain(transaction, key, limit);
  await wakeCampaigns(transaction, key);
}

/** Locks the wallets, so that no claim is under way. */
async function countAgain(transaction: Connection, key: string, limit: number): Promise<void> {
  await transaction.query(sql.type(nothing)`
    SELECT FROM wallet WHERE channel_id IN (SELECT id FROM channel WHERE business_account_id = ANY(${accountsUnder(key)}))
    ORDER BY channel_id FOR UPDATE`);
  await countPastRecipients(transaction, key, limit);
}

/** Notifies the campaigns that wait for the limit. */
async function wakeCampaigns(transaction: Connection, key: string): Promise<void> {
  await transaction.query(sql.type(nothing)`
    INSERT INTO workflow_outbox (campaign_id, kind)
    SELECT campaign.id, 'refresh' FROM channel JOIN campaign ON campaign.channel_id = channel.id
    WHERE business_account_id = ANY(${accountsUnder(key)}) AND campaign.status = 'RUNNING'`);
}

/**
 * Counts the people whom campaigns and single sends messaged in the last 24 hours, and those whose message is on its way. The
 * caller has locked the wallets, so that no claim is under way. Reads at most ten messages per person that the limit allows: too
 * few people are counted only when they got more than ten each on average.
 */
async function countPastRecipients(transaction: Connection, key: string, limit: number): Promise<void> {
  await transaction.query(sql.type(nothing)`
    DELETE FROM account_reach_count WHERE business_account_id = ${key}`);
  await transaction.query(sql.type(nothing)`
    DELETE FROM account_reach WHERE business_account_id = ${key}`);
  await transaction.query(sql.type(nothing)`
    WITH written_to AS (
      INSERT INTO account_reach (business_account_id, person, at)
      SELECT ${key}, person, ${tenMinutes(sql.fragment`max(accepted_at)`)} FROM ((
        SELECT hashtextextended(COALESCE(message.phone_number, contact_id::text), 0) AS person,
          message.created_at AS accepted_at
        FROM channel JOIN message ON message.workspace_id = channel.workspace_id AND message.channel_id = channel.id
        WHERE business_account_id = ANY(${accountsUnder(key)}) AND direction = 'outbound' AND (provider_message_id IS NOT NULL OR message.state = 'CLAIMED')
          AND source <> 'app'
          AND message.created_at > now() - interval '24 hours'
        LIMIT ${limit}::int8 * 10
      ) UNION ALL (
        SELECT hashtextextended(COALESCE(phone_number, contact_id::text), 0), accepted_at
        FROM channel JOIN campaign ON campaign.channel_id = channel.id
        JOIN recipient ON recipient.campaign_id = campaign.id AND accepted_at > now() - interval '24 hours'
        WHERE business_account_id = ANY(${accountsUnder(key)}) AND EXISTS (SELECT FROM campaign_minute
          WHERE campaign_minute.campaign_id = campaign.id AND campaign_minute.at > now() - interval '24 hours' AND accepted > 0)
        LIMIT ${limit}::int8 * 10
      ) UNION ALL (
        SELECT hashtextextended(COALESCE(claimed.phone_number, claimed.contact_id::text), 0), claimed_at
        FROM channel JOIN campaign ON campaign.channel_id = channel.id
        JOIN campaign_claim ON campaign_claim.campaign_id = campaign.id CROSS JOIN LATERAL (
          SELECT phone_number, contact_id FROM recipient
          WHERE recipient.campaign_id = campaign.id AND claim_id = campaign_claim.id AND state = 'CLAIMED'
            AND position BETWEEN first_position AND last_position OFFSET 0
        ) AS claimed
        WHERE business_account_id = ANY(${accountsUnder(key)}))) AS sent
      GROUP BY person
      RETURNING at
    )
    INSERT INTO account_reach_count (business_account_id, at, people)
    SELECT ${key}, at, count(*) FROM written_to GROUP BY at`);
}

/** Deletes people a day after they stopped counting, their counts after two. Returns how many people were deleted. */
export async function forgetReached(connection: Connection, limit: number): Promise<number> {
  await connection.query(sql.type(nothing)`
    DELETE FROM account_reach_count WHERE at < now() - interval '3 days'`);
  const { rowCount } = await connection.query(sql.type(nothing)`
    DELETE FROM account_reach WHERE (business_account_id, person) IN (
      SELECT business_account_id, person FROM account_reach WHERE at < now() - interval '2 days'
      LIMIT ${limit} FOR UPDATE SKIP LOCKED)`);
  return rowCount;
}
