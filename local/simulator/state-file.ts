import {
  closeSync,
  createReadStream,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  writeSync,
} from 'node:fs';
import { createInterface } from 'node:readline';

/** Fields of a line, in the order of the interface below. */
const fieldCount = 5;

/** An accepted message; one line of the file is a JSON array of its fields. */
export interface StoredMessage {
  readonly at: number;
  readonly phoneNumberId: string;
  readonly to: string;
  readonly callbackData: string;
  readonly providerMessageId: string;
}

export interface StateFile {
  /** Appends before the response is sent, so that a killed simulator has every message that it accepted. */
  append(message: StoredMessage): void;
  clear(): void;
  close(): void;
}

/** Calls back for every whole line of the file; a line cut off by a crash is skipped. */
export async function readStateFile(path: string, found: (message: StoredMessage) => void): Promise<void> {
  if (!existsSync(path)) return;
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    const fields = readLine(line);
    if (fields.length !== fieldCount) continue;
    const [at, phoneNumberId, to, callbackData, providerMessageId] = fields.map(String);
    if (at === undefined || phoneNumberId === undefined || to === undefined) continue;
    if (callbackData === undefined || providerMessageId === undefined) continue;
    found({ at: Number(at), phoneNumberId, to, callbackData, providerMessageId });
  }
}

function readLine(line: string): readonly unknown[] {
  try {
    const fields: unknown = JSON.parse(line);
    return Array.isArray(fields) ? fields : [];
  } catch {
    return [];
  }
}

export function openStateFile(path: string): StateFile {
  const file = openSync(path, 'a', 0o600);
  // A crash may have cut off the last line: start a new one.
  if (fstatSync(file).size > 0) writeSync(file, '\n');
  return {
    append: ({ at, phoneNumberId, to, providerMessageId, callbackData }) => {
      writeSync(file, `${JSON.stringify([at, phoneNumberId, to, callbackData, providerMessageId])}\n`);
    },
    clear: () => ftruncateSync(file),
    close: () => closeSync(file),
  };
}
