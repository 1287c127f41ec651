/** The demo workspace: created on the first start, its templates synced on every start. */
import { createChannel } from '../../src/commands/workspaces/channels.ts';
import { createWorkspace } from '../../src/commands/workspaces/workspaces.ts';
import { rechargeWallet } from '../../src/commands/wallet/change-wallet.ts';
import { syncTemplates } from '../../src/commands/templates/sync-templates.ts';
import { findNotifiedChannels } from '../../src/records/workspaces/notified-channels.ts';
import { connectDemoDependencies, type DemoDependencies } from './dependencies.ts';
import type { DemoIdentity } from './identity.ts';
import { prepareDemoKeys, type DemoKeys } from './keys.ts';
import { nameExampleTemplate, readDemoTemplates, type DemoTemplates } from './templates.ts';
import type { Servers, StackContext } from '../stack/context.ts';
import type { StackSecrets } from '../stack/host/secrets.ts';

export interface DemoWorkspace extends DemoKeys, DemoTemplates {
  readonly workspaceId: number;
  readonly channelId: string;
  readonly phoneNumberId: string;
  readonly businessAccountId: string;
}

const startingBalance = '100000';
// Fast, so that a demonstration is not limited by the rate of a new sending number.
const messagesPerSecond = 1_000;

export async function prepareDemoWorkspace(
  context: StackContext,
  { servers, secrets }: { readonly servers: Servers; readonly secrets: StackSecrets },
): Promise<DemoWorkspace> {
  const dependencies = await connectDemoDependencies(context, { servers, secrets });
  const { database, provider, orchestrator } = dependencies;
  try {
    const owner = await findOrCreate(dependencies, servers.identity, context);
    const keys = await prepareDemoKeys(dependencies, {
      ...owner,
      file: context.folder.file('demo-keys.json'),
    });
    await pullTemplates(dependencies, { ...context, workspaceId: owner.workspaceId, servers });
    await nameExampleTemplate(database, owner.workspaceId);
    return { ...owner, ...keys, ...(await readDemoTemplates(database, owner)) };
  } finally {
    await Promise.allSettled([provider.close(), orchestrator.close(), database.end()]);
  }
}

type Owner = Pick<DemoWorkspace, 'workspaceId' | 'channelId' | 'phoneNumberId' | 'businessAccountId'>;

async function findOrCreate(
  dependencies: DemoDependencies,
  identity: DemoIdentity,
  { progress }: Pick<StackContext, 'progress'>,
): Promise<Owner> {
  const { phoneNumberId, businessAccountId } = identity;
  const channels = await findNotifiedChannels(dependencies.database, [phoneNumberId]);
  const channel = channels.get(phoneNumberId);
  if (channel !== undefined) {
    return { workspaceId: channel.workspaceId, channelId: channel.id, phoneNumberId, businessAccountId };
  }
  progress.say('Making the demo workspace …');
  const { workspaceId } = await createWorkspace(dependencies, { name: 'Demo' });
  const { channelId } = await createChannel(dependencies, { ...identity, workspaceId, messagesPerSecond });
  await rechargeWallet(dependencies, { workspaceId, channelId, amount: startingBalance });
  return { workspaceId, channelId, phoneNumberId, businessAccountId };
}

/** Syncs the templates; if the provider does not answer, the stack starts with the templates of earlier syncs. */
async function pullTemplates(
  dependencies: DemoDependencies,
  {
    progress,
    log,
    workspaceId,
    servers,
  }: Pick<StackContext, 'progress' | 'log'> & { workspaceId: number; servers: Servers },
): Promise<void> {
  progress.say('Fetching the templates from the provider …');
  try {
    await syncTemplates(dependencies, workspaceId);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    log.own(
      `The templates could not be fetched from the provider at ${servers.providerUrl} (${reason}); ` +
        'POST /api/templates/sync tries again.',
    );
  }
}
