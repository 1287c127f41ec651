/** Importing contacts from a CSV, and saving the form of a contact, without a browser. */
import { afterEach, expect, it, vi } from 'vitest';
import { changedFields } from '../../../dashboard/src/parts/forms/changed-fields.ts';
import { importContacts, readContactsFile } from '../../../dashboard/src/screens/contacts/import-contacts.ts';

afterEach(() => vi.unstubAllGlobals());

const fileOf = (part: string | Uint8Array<ArrayBuffer>) => new File([part], 'people.csv');

const answer = (status: number) =>
  Response.json({ status: status < 400 ? 'success' : 'error', code: status, message: 'no' }, { status });

const ignore = () => undefined;

it('reads umlauts of a file in UTF-8, UTF-16 and Windows-1252', async () => {
  const text = 'phone,first name\n+4915112345678,Jörg';
  const utf16 = Buffer.from(`\uFEFF${text}`, 'utf16le');
  for (const part of [text, new Uint8Array(utf16), new Uint8Array(Buffer.from(text, 'latin1'))]) {
    const [row] = await readContactsFile(fileOf(part));
    expect(row?.contact.firstName).toBe('Jörg');
  }
});

it('refuses UTF-16 without a mark, whose letters stand between NUL characters', async () => {
  const bytes = new Uint8Array(Buffer.from('phone,first name\n+4915112345678,Ada', 'utf16le'));
  await expect(readContactsFile(fileOf(bytes))).rejects.toThrow('Save it as “CSV UTF-8”');
});

it.each(['subscribed', 'Unsubscribed', 'Opted out', 'opt-in', 'Consent'])(
  'refuses a file with a column %s, which would subscribe those who opted out',
  async (heading) => {
    const file = fileOf(`phone,${heading}\n+4915112345678,no`);
    await expect(readContactsFile(file)).rejects.toThrow(`The column “${heading}” is not read`);
  },
);

it('stops after a hundred rows that were all refused, and says how many are left', async () => {
  const ask = vi.fn<() => Promise<Response>>(async () => answer(400));
  vi.stubGlobal('fetch', ask);
  const numbers = Array.from({ length: 10_000 }, (_, at) => `wrong ${at}`).join('\n');
  const rows = await readContactsFile(fileOf(`phone\n${numbers}`));
  const { refused, left } = await importContacts(rows, [], ignore, new AbortController().signal);
  expect(refused.length).toBeGreaterThanOrEqual(100);
  expect(refused.length + left).toBe(10_000);
  expect(ask.mock.calls.length).toBeLessThan(120);
});

it('starts no further row once the dialog is closed', async () => {
  const stop = new AbortController();
  vi.stubGlobal('fetch', async () => {
    stop.abort();
    return answer(201);
  });
  const rows = await readContactsFile(fileOf(`phone\n${'+4915112345678\n'.repeat(100)}`));
  const { created, left } = await importContacts(rows, [], ignore, stop.signal);
  expect(created + left).toBe(100);
  expect(created).toBeLessThanOrEqual(8);
});

it('stops where the session has ended, instead of refusing the rows that are left', async () => {
  vi.stubGlobal('fetch', async () => answer(401));
  const rows = await readContactsFile(fileOf('phone\n+4915112345678\n+4915112345679'));
  const run = importContacts(rows, [], ignore, new AbortController().signal);
  await expect(run).rejects.toMatchObject({ status: 401 });
});

it('sends only the changed fields of a form, so that an opt-out that came meanwhile stays', () => {
  const before = { firstName: 'Ada', subscribed: true, tagsId: ['a'] };
  expect(changedFields(before, { firstName: 'Ida', subscribed: true, tagsId: ['a'] })).toEqual({
    firstName: 'Ida',
  });
});

it('reads a file no further than shows that it has too many rows', async () => {
  const file = fileOf(`phone\n${'+4915112345678\n'.repeat(10_001)}a quote that "opens here`);
  await expect(readContactsFile(file)).rejects.toThrow('The file has more than 10,000 rows');
  const rows = await readContactsFile(fileOf(`phone\n${'+4915112345678\n'.repeat(10_000)}`));
  expect(rows).toHaveLength(10_000);
});
