/** Asks the provider whether a number may send, and records its answer, its quality and its messaging limit. */
import { within } from '../../concurrency/within.ts';
import type { Dependencies } from '../../dependencies.ts';
import { type NumberHealth, ProviderRequestError } from '../../provider/provider.ts';
import { setMessagingLimit } from '../../records/sending/messaging-limit.ts';
import type { Channel } from '../../records/workspaces/channels.ts';
import { saveNumberHealth } from '../../records/workspaces/notified-channels.ts';

type Reader = Pick<Dependencies, 'database' | 'provider' | 'secrets'>;
type Number = Pick<Channel, 'id' | 'phoneNumberId' | 'accessTokenEncrypted' | 'businessAccountId'>;

/** 3 s: a check, a start or a sync does not wait longer for the provider. */
export const patienceMs = 3_000;

/** In words, why the provider lets the number send nothing now; undefined if it lets it, or does not say in time. */
export async function findObstacle(dependencies: Reader, number: Number): Promise<string | undefined> {
  const health = await within(patienceMs, readNumberHealth(dependencies, number));
  return health?.canSend === 'BLOCKED'
    ? `The provider lets the number send nothing: ${health.details ?? 'it does not say why'}`
    : undefined;
}

/** Undefined if the token cannot be decrypted, or the provider cannot be asked or refuses: what was known before stays. */
export async function readNumberHealth(
  { database, provider, secrets }: Reader,
  { id, phoneNumberId, accessTokenEncrypted, businessAccountId }: Number,
): Promise<NumberHealth | undefined> {
  const reportedAt = new Date();
  let accessToken: string;
  try {
    accessToken = secrets.decrypt(accessTokenEncrypted, `channel ${id}`);
  } catch {
    return undefined;
  }
  const health = await provider.readNumberHealth({ phoneNumberId, accessToken }).catch((error: unknown) => {
    if (error instanceof ProviderRequestError) return undefined;
    throw error;
  });
  if (health === undefined) return undefined;
  const { messagingLimit: limit } = health;
  await database.transaction(async (transaction) => {
    // The channel first, and the wallets that a limit locks afterwards: the order of callbacks.
    await saveNumberHealth(transaction, id, { ...health, reportedAt });
    if (limit !== undefined) await setMessagingLimit(transaction, businessAccountId, { limit, reportedAt });
  });
  return health;
}
