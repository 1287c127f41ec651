/**
 * The statements that creating a campaign takes. What requests side by side need is asked for and written together: one
 * round trip and one commit serve all that came while the ones before were under way, and a lone request waits for nobody.
 */
import {
  findCampaignContexts,
  type CampaignContext,
  type ContextQuestion,
} from '../../records/campaigns/context.ts';
import { insertCampaigns, type NewCampaign } from '../../records/campaigns/creation.ts';
import { isDatabaseUnavailable } from '../../records/database/failure.ts';
import type { Connection } from '../../records/database/database.ts';
import { deleteWorkflowCommands } from '../../records/campaigns/workflow-commands.ts';
import { groupCalls } from '../../concurrency/group-calls.ts';

export interface CampaignRegister {
  /** As it stands when asked, or later. Undefined for a channel that is not of the workspace. */
  readonly context: (question: ContextQuestion) => Promise<CampaignContext | undefined>;
  /** The id of the workflow command; undefined, and nothing written, when the Idempotency-Key is taken. */
  readonly write: (campaign: NewCampaign) => Promise<bigint | undefined>;
  /** For a command that has been delivered. */
  readonly forgetCommand: (commandId: bigint) => Promise<void>;
}

/** One at a time: what a statement costs Postgres before its first row weighs more than what a row does. */
const grouping = { maxSize: 100, lanes: 1 };
/** Nobody waits for these: one statement and one commit for all that a moment brings. */
const forgetting = { maxSize: 1_000, lanes: 1, spacingMs: 50 };
const writing = {
  ...grouping,
  weigh: ({ input = '' }: NewCampaign) => input.length,
  maxWeight: 4 * 1024 * 1024,
};

type Written = { readonly commandId: bigint | undefined } | { readonly error: unknown };

export function createCampaignRegister(database: Connection): CampaignRegister {
  const context = groupCalls(async (questions: readonly ContextQuestion[]) => {
    const places = new Map<string, number>();
    const distinct: ContextQuestion[] = [];
    const asked = questions.map((question) => {
      const name = JSON.stringify(question);
      const place = places.get(name) ?? distinct.push(question) - 1;
      places.set(name, place);
      return place;
    });
    const contexts = await findCampaignContexts(database, distinct);
    return asked.map((place) => contexts[place]);
  }, grouping);

  const write = groupCalls((campaigns: readonly NewCampaign[]) => writeAll(database, campaigns), writing);

  const forget = groupCalls(async (commandIds: readonly bigint[]) => {
    await deleteWorkflowCommands(database, commandIds);
    return [];
  }, forgetting);

  return {
    context,
    async write(campaign) {
      const written = await write(campaign);
      if ('error' in written) throw written.error;
      return written.commandId;
    },
    forgetCommand: forget,
  };
}

async function writeAll(
  database: Connection,
  campaigns: readonly NewCampaign[],
): Promise<readonly Written[]> {
  // Of requests with one key the first is the one; for the others the key is taken.
  const names = campaigns.map(keyName);
  const chosen = campaigns.filter((_, index) => {
    const name = names[index];
    return name === undefined || names.indexOf(name) === index;
  });
  try {
    const commands = await insertCampaigns(database, chosen);
    return campaigns.map(({ id }) => ({ commandId: commands.get(id) }));
  } catch (error) {
    if (campaigns.length === 1 || isDatabaseUnavailable(error)) throw error;
    // One of them cannot be written; the others do not suffer for it. Their ids keep them from being written twice.
    const written: Written[] = [];
    for (const campaign of campaigns) {
      written.push(
        await writeAll(database, [campaign]).then(
          ([one = { commandId: undefined }]) => one,
          (failure: unknown) => ({ error: failure }),
        ),
      );
    }
    return written;
  }
}

function keyName({ idempotencyKey: key }: NewCampaign): string | undefined {
  return key === undefined ? undefined : JSON.stringify([key.workspaceId, key.route, key.key]);
}
