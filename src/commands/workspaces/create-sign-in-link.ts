/** Creates a link that signs in to the dashboard once, within ten minutes, with the rights of a key. */
import type { Dependencies } from '../../dependencies.ts';
import { NotFound } from '../../domain/error.ts';
import { hashSessionSecret, newSessionSecret } from '../../domain/workspaces/session-secret.ts';
import { insertSignInLink } from '../../records/workspaces/operator-sessions.ts';

export interface SignInLink {
  /** The token stands behind `#`, so that neither a log nor a proxy sees it. */
  readonly url: string;
  readonly expiresAt: Date;
}

/** `origin` is where the API is reached. Throws NotFound for a key that is revoked or not there. */
export async function createSignInLink(
  { database }: Pick<Dependencies, 'database'>,
  { keyId, origin }: { readonly keyId: string; readonly origin: string },
): Promise<SignInLink> {
  const token = newSessionSecret();
  const expiresAt = await insertSignInLink(database, { tokenHash: hashSessionSecret(token), keyId });
  if (expiresAt === undefined) throw new NotFound('Key');
  return { url: `${origin}/dashboard/sign-in#token=${token}`, expiresAt };
}
