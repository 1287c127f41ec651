/** Every admin command, in the order of the help text. */
import { presentCampaignDetail } from '../api/campaigns/report-codec.ts';
import { createApiKey } from '../commands/workspaces/create-api-key.ts';
import { createChannel } from '../commands/workspaces/create-channel.ts';
import { createSignInLink } from '../commands/workspaces/create-sign-in-link.ts';
import { createWorkspace } from '../commands/workspaces/create-workspace.ts';
import { listStaleKeys } from '../commands/workspaces/list-stale-keys.ts';
import { revokeApiKey } from '../commands/workspaces/revoke-api-key.ts';
import { rotateSecrets } from '../commands/workspaces/rotate-secrets.ts';
import { publicOrigin } from '../commands/audience/campaign-file-url.ts';
import { setFeature } from '../commands/workspaces/set-feature.ts';
import { adoptDatabase } from '../commands/operations/installation.ts';
import { syncTemplates } from '../commands/templates/sync-templates.ts';
import { prepareApplicationRole } from '../records/database/application-role.ts';
import { migrate } from '../records/database/migrate.ts';
import { getCampaignReport } from '../records/campaigns/report.ts';
import { findCampaigns } from '../records/operations/find-campaigns.ts';
import {
  findTracedMessage,
  listEventsOfMessage,
  listStatusesApart,
} from '../records/operations/trace-message.ts';
import { NotFound } from '../domain/error.ts';
import { getWorkspaceOfCampaign, requireWorkspace } from '../records/workspaces/workspaces.ts';
import { campaignWorkflowId } from '../workflows/contract.ts';
import { doctorCommand } from './doctor-command.ts';
import { listChannelsCommand } from './list-channels-command.ts';
import { sendingWindowCommand } from './sending-window-command.ts';
import { updateChannelCommand } from './update-channel-command.ts';
import { walletCommands } from './wallet-commands.ts';
import { adminCommand, integerOption, keyIdOption, uuidOption, type AdminCommand } from './admin-command.ts';

const workspaceId = { description: 'id of the workspace' };
const channelId = { description: 'id of the channel' };

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
