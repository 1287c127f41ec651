/** Tells Temporal what committed transactions left for it. */
import { withCallContext } from '../call-context.ts';
import type { Dependencies } from '../dependencies.ts';
import {
  deleteWorkflowCommands,
  listWorkflowCommands,
  type WorkflowCommandRow,
} from '../records/workflow-commands.ts';

type Courier = Pick<Dependencies, 'database' | 'orchestrator' | 'logger'>;

/**
 * Right after a commit. Never fails the caller: what cannot be delivered now stays for the courier loop of the workers.
 */
export async function deliverWorkflowCommands(dependencies: Courier, campaignId: string): Promise<void> {
  try {
    await deliverAll(dependencies, await listWorkflowCommands(dependencies.database, { campaignId }));
  } catch (error) {
    dependencies.logger.warn({ campaignId, error: String(error) }, 'workflow command delayed');
  }
}

type Starter = Pick<Dependencies, 'campaignRegister' | 'orchestrator' | 'logger'>;

/** As `deliverWorkflowCommands`, for the one command of a campaign that was written this moment. */
export async function startCampaignWorkflow(
  { campaignRegister, orchestrator, logger }: Starter,
  {
    commandId,
    ...campaign
  }: { readonly commandId: bigint } & Parameters<typeof orchestrator.startCampaign>[0],
): Promise<void> {
  try {
    await orchestrator.startCampaign(campaign);
    // Nobody waits for it: a command that stays is delivered once more, which changes nothing.
    campaignRegister.forgetCommand(commandId).catch((error: unknown) => {
      logger.warn(
        { campaignId: campaign.id, error: String(error) },
        'delivered workflow command not deleted',
      );
    });
  } catch (error) {
    logger.warn({ campaignId: campaign.id, error: String(error) }, 'workflow command delayed');
  }
}

const failuresOfRound = 3;

/**
 * The courier's round: whatever lay longer than its own process would have taken. Returns how many were delivered. One that
 * Temporal refuses does not hold up the others; after a few refusals the round fails, for Temporal seems to be away.
 */
export async function deliverOverdueCommands(dependencies: Courier, olderThanMs: number): Promise<number> {
  const commands = await listWorkflowCommands(dependencies.database, { olderThanMs });
  const failures: unknown[] = [];
  for (const command of commands) {
    try {
      await deliverAll(dependencies, [command]);
    } catch (error) {
      failures.push(error);
      if (failures.length === failuresOfRound) throw error;
    }
  }
  if (failures.length === commands.length && failures.length > 0) throw failures[0];
  return commands.length - failures.length;
}

async function deliverAll(dependencies: Courier, commands: readonly WorkflowCommandRow[]): Promise<void> {
  for (const command of commands) {
    const { request_id: requestId } = command;
    await withCallContext(requestId === null ? {} : { requestId }, () => deliver(dependencies, command));
    await deleteWorkflowCommands(dependencies.database, [command.id]);
  }
}

async function deliver({ orchestrator }: Courier, command: WorkflowCommandRow): Promise<void> {
  const campaign = { id: command.campaign_id, workspaceId: command.workspace_id, name: command.name };
  if (command.kind === 'start') return orchestrator.startCampaign(campaign);
  // A refresh may overtake the start of a campaign that was changed at once; starting is idempotent.
  if (!(await orchestrator.refreshCampaign(campaign.id))) await orchestrator.startCampaign(campaign);
}
