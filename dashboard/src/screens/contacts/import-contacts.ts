/** Reads a CSV of contacts and creates them through the API. */
import { api, client, isSignedOut } from '../../client.ts';

export interface ContactRow {
  /** The line of the file on which the row ends; the headings are line 1. */
  readonly line: number;
  readonly contact: api.CreateContact;
}

export interface Imported {
  readonly created: number;
  readonly known: number;
  readonly refused: readonly { readonly line: number; readonly message: string }[];
  /** Rows that were not tried: the import was stopped, or its first hundred rows were all refused. */
  readonly left: number;
}

/** A row as csv-parse returns it with the option `info`; `lines` counts the lines read so far. */
interface CsvRecord {
  readonly record: readonly string[];
  readonly info: { readonly lines: number };
}

const mostRows = 10_000;
/** Requests in flight at a time: well below the limit of a key. */
const atOnce = 8;

const plain = (heading: string): string => heading.toLowerCase().replaceAll(/[^a-z]/g, '');
const fieldOf: Readonly<Record<string, 'phoneNumber' | 'countryCode' | 'firstName' | 'lastName' | 'email'>> =
  {
    phone: 'phoneNumber',
    phonenumber: 'phoneNumber',
    number: 'phoneNumber',
    mobile: 'phoneNumber',
    countrycode: 'countryCode',
    firstname: 'firstName',
    lastname: 'lastName',
    surname: 'lastName',
    email: 'email',
  };

/** Headings of what an import cannot keep: each new contact is subscribed. */
const consentHeadings = /^(un)?subscribed?$|^opt(ed)?(in|out)$|^(marketing)?consent$/;

/** Decodes UTF-16 by its byte order mark, else UTF-8, else windows-1252, in which Excel writes Western European languages. */
async function textOf(file: File): Promise<string> {
  const bytes = await file.arrayBuffer();
  const [first, second] = new Uint8Array(bytes);
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  // A spreadsheet, or UTF-16 without its mark.
  if (new Uint8Array(bytes).includes(0))
    throw new Error('The file is not a text file. Save it as “CSV UTF-8”, then choose it again.');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

/** Throws an Error that says what is wrong with the file. */
export async function readContactsFile(file: File): Promise<readonly ContactRow[]> {
  const { parse } = await import('csv-parse/browser/esm/sync');
  // The types of the package lack what the option `info` adds.
  const records = parse(await textOf(file), {
    bom: true,
    delimiter: [',', ';', '\t'],
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    // The headings and one row too many: reading all of a large file would block the page for seconds.
    to: mostRows + 2,
    trim: true,
  }) as unknown as readonly CsvRecord[];
  const [headings, ...rows] = records;
  const fields = headings?.record.map((heading) => ({ heading, field: fieldOf[plain(heading)] })) ?? [];
  if (!fields.some(({ field }) => field === 'phoneNumber'))
    throw new Error(
      'No heading is called phone. Name the columns in the first line, such as: phone,first name,last name',
    );
  const consent = fields.find(({ heading }) => consentHeadings.test(plain(heading)));
  if (consent !== undefined)
    throw new Error(
      `The column “${consent.heading}” is not read, and an import subscribes each new contact. Remove the rows of people who opted out, then the column.`,
    );
  if (rows.length > mostRows)
    throw new Error('The file has more than 10,000 rows: create a campaign from it instead.');
  return rows.map(({ record, info }) => {
    const known: Record<string, string> = {};
    const customFields: { fieldId: string; value: string }[] = [];
    for (const [at, value] of record.entries()) {
      const column = fields[at];
      if (column === undefined || value === '') continue;
      if (column.field === undefined) customFields.push({ fieldId: column.heading, value });
      else known[column.field] = value;
    }
    return { line: info.lines, contact: { phoneNumber: '', ...known, customFields } };
  });
}

/** After this many refused rows without a good one the file is taken for a wrong one. */
const mostRefusedAtFirst = 100;

/** Gives each new contact the tags. Calls `onProgress` with the number of rows done; `signal` stops before the next rows. */
export async function importContacts(
  rows: readonly ContactRow[],
  tagsId: readonly string[],
  onProgress: (done: number) => void,
  signal: AbortSignal,
): Promise<Imported> {
  const left = [...rows].reverse();
  const refused: { line: number; message: string }[] = [];
  let created = 0;
  let known = 0;
  let failed = false;
  async function work(): Promise<void> {
    while (!signal.aborted && !failed && (created + known > 0 || refused.length < mostRefusedAtFirst)) {
      const row = left.pop();
      if (row === undefined) return;
      try {
        await api.createContact(client, { ...row.contact, tagsId });
        created += 1;
      } catch (error) {
        if (error instanceof api.ApiError && error.status === 409) known += 1;
        else if (error instanceof api.ApiError && error.status < 500 && !isSignedOut(error))
          refused.push({ line: row.line, message: error.message });
        else {
          failed = true;
          throw error;
        }
      }
      onProgress(created + known + refused.length);
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work));
  return {
    created,
    known,
    refused: refused.toSorted((one, other) => one.line - other.line),
    left: left.length,
  };
}
