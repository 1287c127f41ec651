/** Creates the file storage selected by the configuration. */
import { join } from 'node:path';
import type { Config } from '../config.ts';
import type { FileStorage } from './file-storage.ts';
import { createFolderStorage } from './folder-storage.ts';

export async function createStorage({
  storage,
  dataDir,
}: Pick<Config, 'storage' | 'dataDir'>): Promise<FileStorage> {
  if (storage.kind === 'folder') return createFolderStorage(join(dataDir, 'files'));
  // Imported only if used, because loading it takes 250 ms and memory at every start.
  const { createS3Storage } = await import('./s3-storage.ts');
  return createS3Storage(storage);
}
