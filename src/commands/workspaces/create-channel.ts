import type { Dependencies } from '../../dependencies.ts';
import { Invalid, type FieldProblem } from '../../domain/error.ts';
import { createId } from '../../records/database/uuid-v7.ts';
import { insertAuditEntry } from '../../records/operations/audit.ts';
import { registerBusinessAccount } from '../../records/workspaces/business-accounts.ts';
import { insertChannel } from '../../records/workspaces/channels.ts';
import { requireWorkspace } from '../../records/workspaces/workspaces.ts';

export interface CreateChannel {
  readonly workspaceId: number;
  readonly phoneNumberId: string;
  readonly displayPhoneNumber: string;
  readonly businessAccountId: string;
  readonly accessToken: string;
  /** Default 80. */
  readonly messagesPerSecond?: number;
}

/**
 * Creates a sending number with an empty wallet. Throws Conflict when the phone number id belongs to another channel, or the
 * business account to another workspace.
 */
export async function createChannel(
  { database, secrets }: Pick<Dependencies, 'database' | 'secrets'>,
  input: CreateChannel,
): Promise<{ readonly channelId: string }> {
  const messagesPerSecond = input.messagesPerSecond ?? 80;
  const problems = [...identifierProblems(input), ...rateProblems(messagesPerSecond)];
  if (problems.length > 0) throw Invalid.of(problems);

  const channelId = createId();
  const accessTokenEncrypted = secrets.encrypt(input.accessToken, `channel ${channelId}`);
  await database.transaction(async (connection) => {
    await requireWorkspace(connection, input.workspaceId);
    await registerBusinessAccount(connection, input.workspaceId, input.businessAccountId);
    await insertChannel(connection, input.workspaceId, {
      ...input,
      id: channelId,
      accessTokenEncrypted,
      messagesPerSecond,
    });
    const { workspaceId } = input;
    await insertAuditEntry(connection, { workspaceId, action: 'channel.create', objectId: channelId });
  });
  return { channelId };
}

const anId = /^[\w-]{1,64}$/;
const shapes = [
  ['phoneNumberId', anId, "the provider's id of the number, such as 106540352242922"],
  ['displayPhoneNumber', /^\+?[\d ().-]{5,30}$/, 'a phone number, such as +49 30 901820'],
  ['businessAccountId', anId, "the provider's id of the account, such as 102290129340398"],
] as const;

function identifierProblems(input: CreateChannel): readonly FieldProblem[] {
  const misshapen = shapes
    .filter(([field, shape]) => !shape.test(input[field]))
    .map(([field, , what]) => ({ field, message: `${field} must be ${what}` }));
  return [...misshapen, ...tokenProblems(input.accessToken)];
}

export function tokenProblems(accessToken: string): readonly FieldProblem[] {
  if (accessToken.trim() !== '' && accessToken.length <= 1024) return [];
  return [{ field: 'accessToken', message: 'accessToken must have 1 to 1024 characters' }];
}

export function rateProblems(messagesPerSecond: number): readonly FieldProblem[] {
  const fits = Number.isInteger(messagesPerSecond) && messagesPerSecond >= 1 && messagesPerSecond <= 100_000;
  if (fits) return [];
  return [
    { field: 'messagesPerSecond', message: 'messagesPerSecond must be a whole number from 1 to 100000' },
  ];
}
