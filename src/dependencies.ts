/** The composition root: every process builds one `Dependencies` here and passes it down as the first argument. */
import type { Config } from './config.ts';
import type { Logger } from './logger.ts';
import type { Orchestrator } from './orchestrator.ts';
import type { MessagingProvider } from './provider/provider.ts';
import type { Outbound } from './outbound/outbound.ts';
import type { FileStorage } from './storage/file-storage.ts';
import type { Database } from './records/database.ts';
import type { SecretBox } from './secrets.ts';

export interface Dependencies {
  readonly config: Config;
  readonly logger: Logger;
  readonly database: Database;
  readonly orchestrator: Orchestrator;
  readonly provider: MessagingProvider;
  readonly outbound: Outbound;
  readonly storage: FileStorage;
  readonly secrets: SecretBox;
  readonly now: () => Date;
}
