/** The file storage that the configuration names. */
import { join } from 'node:path';
import type { Config } from '../config.ts';
import type { FileStorage } from './file-storage.ts';
import { createFolderStorage } from './folder-storage.ts';
import { createS3Storage } from './s3-storage.ts';

export function createStorage({ storage, dataDir }: Pick<Config, 'storage' | 'dataDir'>): FileStorage {
  return storage.kind === 's3' ? createS3Storage(storage) : createFolderStorage(join(dataDir, 'files'));
}
