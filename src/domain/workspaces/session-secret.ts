/** Secrets of cookies and sign-in links: 256 random bits, of which the database stores a hash. */
import { createHash, randomBytes } from 'node:crypto';

export const newSessionSecret = (): string => randomBytes(32).toString('base64url');

/** SHA-256, 32 bytes: so many random bits need no slow hash. */
export const hashSessionSecret = (secret: string): Buffer => createHash('sha256').update(secret).digest();
