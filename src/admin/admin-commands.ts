/** Every admin command, in the order of the help text. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { isRight } from 'fp-ts/lib/Either.js';
import { presentCampaignDetail } from '../api/campaigns/report-codec.ts';
import { report } from '../codecs/report.ts';
import { SendingWindow } from '../codecs/sending-window.ts';
import { publicOrigin } from '../commands/audience/campaign-file.ts';
import { adoptDatabase } from '../commands/operations/installation.ts';
import { syncTemplates } from '../commands/templates/sync-templates.ts';
import { loadPrices, maxPriceFileBytes, setPriceMarkup } from '../commands/wallet/load-prices.ts';
import { adjustWallet, rechargeWallet, releaseUnknownMessages } from '../commands/wallet/change-wallet.ts';
import { bookDifference, compareAccount } from '../commands/wallet/compare-prices.ts';
import {
  createApiKey,
  createSignInLink,
  listStaleKeys,
  revokeApiKey,
} from '../commands/workspaces/api-keys.ts';
import { createChannel, updateChannel } from '../commands/workspaces/channels.ts';
import { rotateSecrets } from '../commands/workspaces/rotate-secrets.ts';
import { createWorkspace, setFeature, setSendingWindow } from '../commands/workspaces/workspaces.ts';
import { Invalid, NotFound } from '../domain/error.ts';
import { formatAmount } from '../domain/money.ts';
import { getCampaignReport } from '../records/campaigns/report.ts';
import { prepareApplicationRole } from '../records/database/application-role.ts';
import { migrate } from '../records/database/migrate.ts';
import { findCampaigns } from '../records/operations/doctor-campaigns.ts';
import { listChannels, listImpairedChannels } from '../records/operations/impaired-channels.ts';
import {
  findTracedMessage,
  listEventsOfMessage,
  listStatusesApart,
} from '../records/operations/trace-message.ts';
import { findChannelById } from '../records/workspaces/channels.ts';
import { getWorkspaceOfCampaign, requireWorkspace } from '../records/workspaces/workspaces.ts';
import { campaignWorkflowId } from '../workflows/contract.ts';
import {
  adminCommand,
  type AdminCommand,
  integerOption,
  keyIdOption,
  switchOption,
  uuidOption,
} from './admin-command.ts';
import type { AdminContext } from './admin-context.ts';
import { doctorCommand } from './doctor-command.ts';

const mostListed = 10_000;

const channelId = { description: 'id of the channel' };

const listChannelsCommand = adminCommand({
  name: 'list-channels',
  summary: 'list the channels of all workspaces, or those that cannot send as they should, and why',
  options: {
    impaired: {
      description:
        'only channels that are blocked, rejected by the provider or throttled, or whose circuit is open',
      flag: true,
    },
  },
  run: async ({ database }, { impaired }) => ({
    channels:
      impaired === undefined
        ? await listChannels(database)
        : await listImpairedChannels(database, mostListed),
  }),
});

const sendingWindowCommand = adminCommand({
  name: 'set-sending-window',
  summary: 'set the hours in which a workspace sends MARKETING templates',
  options: {
    'workspace-id': { description: 'id of the workspace' },
    timezone: { description: 'an IANA time zone such as Europe/Berlin', optional: true },
    from: { description: 'when sending begins, such as 09:00', optional: true },
    to: { description: 'when sending ends, such as 20:00', optional: true },
    days: { description: 'such as mon,tue,wed (default: all)', optional: true },
    off: { description: 'removes the window', flag: true },
  },
  run: async (context, { timezone, from, to, days, off, ...values }) => {
    const workspaceId = integerOption('workspace-id', values['workspace-id']);
    const window = off === undefined ? windowOf({ timezone, from, to, days: days?.split(',') }) : null;
    await setSendingWindow(context, workspaceId, window);
    return { workspaceId, sendingWindow: window };
  },
});

function windowOf(given: Readonly<Record<string, unknown>>): SendingWindow {
  const present = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const decoded = SendingWindow.decode(present);
  if (isRight(decoded)) return decoded.right;
  throw Invalid.of(report(decoded.left));
}

const updateChannelCommand = adminCommand({
  name: 'update-channel',
  summary: 'give a sending number another token or limit, unblock it, or set who answers',
  options: {
    'channel-id': { description: 'id of the channel' },
    'access-token': {
      description: "the provider's new token, stored encrypted; - reads standard input",
      optional: true,
      secret: true,
    },
    'messages-per-second': { description: "the provider's limit", optional: true },
    status: { description: 'active (lifts a block) or blocked', optional: true },
    responder: { description: 'who answers inbound messages: none, chatbot or assistant', optional: true },
    'blocked-countries': { description: 'codes like US,FR that are not sent to, or none', optional: true },
    'marketing-endpoint': {
      description: "on or off: marketing templates go by the provider's endpoint for them",
      optional: true,
    },
    'messaging-limit': {
      description: 'different people in 24 hours, over all numbers of the business account, or none',
      optional: true,
    },
  },
  needs: ['secrets'],
  run: (context, { status, responder, ...values }) => {
    const rate = values['messages-per-second'];
    const countries = values['blocked-countries'];
    const endpoint = values['marketing-endpoint'];
    const limit = values['messaging-limit'];
    return updateChannel(context, {
      channelId: uuidOption('channel-id', values['channel-id']),
      accessToken: values['access-token'],
      messagesPerSecond: rate === undefined ? undefined : integerOption('messages-per-second', rate),
      status,
      responder,
      blockedCountries: countries === 'none' ? [] : countries?.split(','),
      marketingEndpoint: endpoint === undefined ? undefined : switchOption('marketing-endpoint', endpoint),
      messagingLimit: limit === undefined ? undefined : limitOption(limit),
    });
  },
});

function limitOption(value: string): number | null {
  return value === 'none' ? null : integerOption('messaging-limit', value);
}

// Admin commands that change the wallet of a channel.

/** A hundred years: Postgres refuses times before its calendar begins. */
const longestHours = 876_000;

const readFileOption = async (name: string, path: string | undefined): Promise<Buffer | undefined> => {
  if (path === undefined) return undefined;
  const content = await readFile(path).catch(() => undefined);
  if (content === undefined) throw new Error(`--${name} must be a file that can be read: ${path}`);
  if (content.length > maxPriceFileBytes) throw new Error(`--${name} must be at most 1 MiB`);
  return content;
};

const priceCommands: readonly AdminCommand[] = [
  adminCommand({
    name: 'load-prices',
    summary: "load the provider's published prices as a price card",
    options: {
      file: { description: 'the CSV as the provider publishes it' },
      currency: { description: 'ISO 4217, such as EUR' },
      'effective-on': { description: 'the first day on which the prices apply, such as 2026-10-01' },
      tiers: { description: 'CSV with market, category, tier_from, tier_to, price', optional: true },
      markets: { description: 'CSV with country and market; replaces the built-in markets', optional: true },
      'dry-run': { description: 'prints what would rise and fall, and loads nothing', flag: true },
      force: { description: 'loads prices that change more than tenfold', flag: true },
    },
    run: async (context, { file, currency, tiers, markets, force, ...values }) => {
      const loaded = await loadPrices(context, {
        file: (await readFileOption('file', file)) ?? Buffer.alloc(0),
        tiers: await readFileOption('tiers', tiers),
        markets: await readFileOption('markets', markets),
        currency,
        effectiveOn: values['effective-on'],
        source: basename(file),
        loadedBy: 'admin',
        dryRun: values['dry-run'] !== undefined,
        force: force !== undefined,
      });
      const amount = (price: bigint | null) => (price === null ? null : formatAmount(price));
      const differences = loaded.differences.map(({ before, after, ...one }) => ({
        ...one,
        before: amount(before),
        after: amount(after),
      }));
      return { ...loaded, card: loaded.card ?? null, differences };
    },
  }),
  adminCommand({
    name: 'compare-prices',
    summary: "compare a day's charges with the provider's figures, as each night does",
    options: {
      'business-account-id': { description: "the provider's id of the business account" },
      day: { description: "a day in the account's time zone, such as 2026-10-31" },
    },
    needs: ['secrets', 'provider', 'temporal'],
    run: async ({ withProvider }, { day, ...values }) => {
      if (Number.isNaN(Date.parse(`${day}T00:00:00Z`)))
        throw new Error('--day must be a day such as 2026-10-31');
      const { differences, problem } = await withProvider((dependencies) =>
        compareAccount(dependencies, values['business-account-id'], day),
      );
      return { differences, compared: problem === undefined };
    },
  }),
  adminCommand({
    name: 'book-difference',
    summary: "book a month's differences from the provider's figures as one correction",
    options: {
      'channel-id': channelId,
      month: { description: 'such as 2026-10' },
      reason: { description: 'why, for the ledger' },
      cause: { description: 'only differences of this likely cause, such as TIER', optional: true },
    },
    run: async (context, { month, reason, cause, ...values }) => {
      const place = await placeOf(context, values['channel-id']);
      const { amount, differences } = await bookDifference(context, { ...place, month, reason, cause });
      return { amount: formatAmount(amount), differences };
    },
  }),
  adminCommand({
    name: 'set-price-markup',
    summary: 'set what a workspace pays on top of the price card: price x factor + fixed',
    options: {
      'workspace-id': { description: 'id of the workspace' },
      factor: { description: 'a decimal such as 1.15' },
      fixed: { description: "a decimal in the wallet's currency, added to each message" },
      'effective-on': { description: 'the first day on which it applies, such as 2026-12-01' },
    },
    run: async (context, { factor, fixed, ...values }) =>
      setPriceMarkup(context, {
        workspaceId: integerOption('workspace-id', values['workspace-id']),
        factor,
        fixed,
        effectiveOn: values['effective-on'],
      }),
  }),
];

const walletCommands: readonly AdminCommand[] = [
  adminCommand({
    name: 'recharge',
    summary: "add money to a channel's wallet",
    options: { 'channel-id': channelId, amount: { description: 'a positive decimal, up to six places' } },
    run: async (context, values) => {
      const place = await placeOf(context, values['channel-id']);
      return { balance: formatAmount(await rechargeWallet(context, { ...place, amount: values.amount })) };
    },
  }),
  adminCommand({
    name: 'adjust-wallet',
    summary: 'correct a balance, up or down',
    options: {
      'channel-id': channelId,
      amount: { description: 'a decimal, up to six places; negative takes money out' },
      reason: { description: 'why, for the ledger' },
    },
    run: async (context, { amount, reason, ...values }) => {
      const place = await placeOf(context, values['channel-id']);
      return { balance: formatAmount(await adjustWallet(context, { ...place, amount, reason })) };
    },
  }),
  adminCommand({
    name: 'release-unknown',
    summary: 'release the reservations of messages whose outcome stayed unknown',
    options: {
      'workspace-id': { description: 'id of the workspace' },
      'campaign-id': { description: 'only messages of this campaign', optional: true },
      'older-than-hours': { description: 'only messages without a receipt for at least this many hours' },
    },
    run: async (context, values) => {
      const campaign = values['campaign-id'];
      const { messages, amount } = await releaseUnknownMessages(context, {
        workspaceId: integerOption('workspace-id', values['workspace-id']),
        campaignId: campaign === undefined ? undefined : uuidOption('campaign-id', campaign),
        olderThanHours: integerOption('older-than-hours', values['older-than-hours'], longestHours),
      });
      return { messages, amount: formatAmount(amount) };
    },
  }),
];

async function placeOf({ database }: AdminContext, value: string) {
  const channel = await findChannelById(database, uuidOption('channel-id', value));
  if (channel === undefined) throw new NotFound('Channel');
  return { workspaceId: channel.workspaceId, channelId: channel.id };
}

const workspaceId = { description: 'id of the workspace' };

export const adminCommands: readonly AdminCommand[] = [
  adminCommand({
    name: 'migrate',
    summary:
      'apply the migrations that the database does not have yet, and give the processes their rights and limits',
    options: {},
    run: async ({ config, sqlFolder }) => {
      const ownerUrl = config.databaseOwnerUrl ?? config.databaseUrl;
      const result = await migrate(ownerUrl, sqlFolder);
      await prepareApplicationRole(ownerUrl, config.databaseUrl);
      return result;
    },
  }),
  adminCommand({
    name: 'create-workspace',
    summary: 'create a workspace with every feature on',
    options: { name: { description: 'name of the workspace' } },
    run: createWorkspace,
  }),
  adminCommand({
    name: 'create-channel',
    summary: 'add a sending number, with an empty wallet',
    options: {
      'workspace-id': workspaceId,
      'phone-number-id': { description: "the provider's id of the sending number" },
      'display-phone-number': { description: 'the number as people read it' },
      'business-account-id': { description: "the provider's id of the business account" },
      'access-token': {
        description:
          "the provider's token for this number, stored encrypted; - reads standard input, without it CHANNEL_ACCESS_TOKEN is read",
        secret: true,
        variable: 'CHANNEL_ACCESS_TOKEN',
      },
      'messages-per-second': { description: "the provider's limit (default 80)", optional: true },
    },
    needs: ['secrets'],
    run: (context, values) => {
      const rate = values['messages-per-second'];
      return createChannel(context, {
        workspaceId: integerOption('workspace-id', values['workspace-id']),
        phoneNumberId: values['phone-number-id'],
        displayPhoneNumber: values['display-phone-number'],
        businessAccountId: values['business-account-id'],
        accessToken: values['access-token'],
        ...(rate !== undefined && { messagesPerSecond: integerOption('messages-per-second', rate) }),
      });
    },
  }),
  updateChannelCommand,
  listChannelsCommand,
  adminCommand({
    name: 'create-key',
    summary: 'create an API key; it is shown this once',
    options: {
      'workspace-id': workspaceId,
      'channel-id': { ...channelId, optional: true },
      scope: { description: 'channel, workspace or operator' },
    },
    needs: ['pepper'],
    run: (context, values) => {
      const channel = values['channel-id'];
      return createApiKey(context, {
        workspaceId: integerOption('workspace-id', values['workspace-id']),
        scope: values.scope,
        ...(channel !== undefined && { channelId: uuidOption('channel-id', channel) }),
      });
    },
  }),
  adminCommand({
    name: 'revoke-key',
    summary: 'revoke an API key, on every process within 5 seconds',
    options: { 'key-id': { description: 'the second part of the key, or what create-key printed' } },
    run: (context, values) => revokeApiKey(context, { keyId: keyIdOption(values['key-id']) }),
  }),
  adminCommand({
    name: 'sign-in-link',
    summary: 'make a link that signs in to the dashboard, once and within ten minutes',
    options: { 'key-id': { description: 'the key whose rights it gives: the second part of the key' } },
    run: (context, values) =>
      createSignInLink(context, {
        keyId: keyIdOption(values['key-id']),
        origin: publicOrigin(context.config),
      }),
  }),
  ...walletCommands,
  ...priceCommands,
  adminCommand({
    name: 'set-feature',
    summary: "change a feature of a workspace's plan",
    options: {
      'workspace-id': workspaceId,
      feature: { description: 'schedule_campaigns, targeted_segments or broadcasts_per_month' },
      value: { description: 'on or off; for broadcasts_per_month a number or unlimited' },
    },
    run: (context, { feature, value, ...values }) =>
      setFeature(context, {
        workspaceId: integerOption('workspace-id', values['workspace-id']),
        feature,
        value,
      }),
  }),
  sendingWindowCommand,
  adminCommand({
    name: 'sync-templates',
    summary: "pull the templates of a workspace's business accounts from the provider",
    options: { 'workspace-id': workspaceId },
    needs: ['secrets', 'provider', 'temporal'],
    run: async ({ database, withProvider }, values) => {
      const id = integerOption('workspace-id', values['workspace-id']);
      await requireWorkspace(database, id);
      return withProvider((dependencies) => syncTemplates(dependencies, id));
    },
  }),
  adminCommand({
    name: 'show-campaign',
    summary: 'print a campaign with its counters and reasons',
    options: { 'campaign-id': { description: 'id of the campaign' } },
    run: async ({ database }, values) => {
      const id = uuidOption('campaign-id', values['campaign-id']);
      const owner = await getWorkspaceOfCampaign(database, id);
      return presentCampaignDetail(await getCampaignReport(database, owner, id));
    },
  }),
  adminCommand({
    name: 'find-campaigns',
    summary: 'find campaigns of all workspaces, the newest first, with the names of their workflows',
    options: {
      name: { description: 'a part of the name', optional: true },
      'workspace-id': { ...workspaceId, optional: true },
      'standing-still': { description: 'only campaigns that should progress and do not', flag: true },
    },
    run: async ({ database }, { name, ...values }) => {
      const id = values['workspace-id'];
      const campaigns = await findCampaigns(database, {
        name,
        workspaceId: id === undefined ? undefined : integerOption('workspace-id', id),
        standingStill: values['standing-still'] !== undefined,
      });
      return {
        campaigns: campaigns.map((campaign) => ({
          workflow_id: campaignWorkflowId(campaign.id),
          ...campaign,
        })),
      };
    },
  }),
  adminCommand({
    name: 'trace-message',
    summary: 'print what is known of one message: its state, statuses, events and their deliveries',
    options: { 'message-id': { description: 'id of the message, as events and answers call it' } },
    run: async ({ database }, values) => {
      const message = await findTracedMessage(database, uuidOption('message-id', values['message-id']));
      if (message === null) throw new NotFound('Message');
      const { campaign_id: campaignId } = message;
      return {
        message,
        ...(campaignId !== null && { workflow_id: campaignWorkflowId(campaignId) }),
        unmatched_statuses: await listStatusesApart(database, message),
        events: await listEventsOfMessage(database, message),
      };
    },
  }),
  adminCommand({
    name: 'list-stale-keys',
    summary:
      'list the API keys that still need a KEY_PEPPER_PREVIOUS; each moves to KEY_PEPPER when it is used',
    options: {},
    needs: ['pepper'],
    run: ({ database, config }) => listStaleKeys({ database, config }),
  }),
  adminCommand({
    name: 'rotate-secrets',
    summary: 'encrypt every stored secret again, under SECRETS_KEY',
    options: {},
    needs: ['secrets'],
    run: (context) => rotateSecrets(context),
  }),
  adminCommand({
    name: 'replay-open',
    summary:
      'before an upgrade, by the new build: replay every open workflow and name those it could not go on with',
    options: {},
    needs: ['temporal'],
    run: ({ withProvider }) =>
      withProvider(async ({ orchestrator }) => {
        // Loads the native part of the SDK, which no other command needs.
        const { replayOpen } = await import('../process/replay-open.ts');
        return replayOpen(orchestrator);
      }),
    present: (replayed) => ({
      text: JSON.stringify(replayed),
      exitCode: replayed.broken.length === 0 ? 0 : 1,
    }),
  }),
  adminCommand({
    name: 'adopt-database',
    summary:
      'after a move of the database, or when Temporal was lost: let it send with the Temporal namespace of the settings; never for a copy',
    options: {},
    needs: ['temporal'],
    run: ({ withProvider }) => withProvider(adoptDatabase),
  }),
  doctorCommand,
];
