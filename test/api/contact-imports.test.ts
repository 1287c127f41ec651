import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createImportActivities } from '../../src/activities/import-contacts.ts';
import { stepErasure } from '../../src/commands/contacts/run-erasures.ts';
import { runImport } from '../../src/commands/contacts/run-import.ts';
import { openImportBatch } from '../../src/records/contacts/import-batch.ts';
import { removals } from '../../src/records/operations/retention.ts';
import { startTestApi, type SeededWorkspace, type TestApi } from '../support/api.ts';
import { listEvents, subscribeToEverything } from '../support/event-log.ts';
import { openTcpCutter } from '../support/tcp-cutter.ts';
import { query } from '../support/webhook-fixtures.ts';

let api: TestApi;
let workspace: SeededWorkspace;
const asked: string[] = [];
beforeAll(async () => {
  api = await startTestApi();
  const { orchestrator } = api.dependencies;
  Object.assign(orchestrator, { startContactImport: async ({ id }: { id: string }) => void asked.push(id) });
});
afterAll(() => api.close());
beforeEach(async () => {
  workspace = await api.seedWorkspace();
  await subscribeToEverything(api.database, workspace.workspaceId);
});

const path = '/api/contacts/imports';
const call = (method: string, to: string, body?: unknown) =>
  api.send(method, to, { key: workspace.workspaceKey, ...(body !== undefined && { body }) });

const boundary = 'a-boundary-of-the-tests';

function form(fields: Readonly<Record<string, string>>, csv?: string | Buffer) {
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const file =
    csv === undefined
      ? []
      : [
          Buffer.from(
            `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\nContent-Type: text/csv\r\n\r\n`,
          ),
          Buffer.from(csv),
          Buffer.from('\r\n'),
        ];
  const body = Buffer.concat([Buffer.from(parts.join('')), ...file, Buffer.from(`--${boundary}--\r\n`)]);
  return {
    body: new Uint8Array(body),
    headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
  };
}

const post = (csv: string | Buffer | undefined, fields: Readonly<Record<string, unknown>> = {}) =>
  api.send('POST', path, {
    key: workspace.workspaceKey,
    ...form(
      Object.fromEntries(
        Object.entries(fields).map(([name, value]) => [
          name,
          typeof value === 'string' ? value : JSON.stringify(value),
        ]),
      ),
      csv,
    ),
  });

const run = (id: string, draining = () => false) =>
  runImport(api.dependencies, id, { signal: new AbortController().signal, draining });

/** Creates an import, runs it and returns it as the API shows it. */
async function imported(csv: string | Buffer, fields: Readonly<Record<string, unknown>> = {}) {
  const created = await post(csv, fields);
  expect(created.status, created.text).toBe(202);
  expect(await run(created.body.data.id)).toBe(true);
  return (await call('GET', `${path}/${created.body.data.id}`)).body.data;
}

const rowsOf = async (id: string, more = '') =>
  (await call('GET', `${path}/${id}/rows?limit=1000${more}`)).body.data;
const contactWith = async (number: string) =>
  (await call('GET', `/api/contacts?search=${encodeURIComponent(number)}`)).body.data[0];
const create = async (body: object) => (await call('POST', '/api/contacts', body)).body.data;

let last = 4_915_110_000_000;
const next = () => `+${(last += 1)}`;

describe('POST /api/contacts/imports', () => {
  it('imports a file with guessed columns, tags of all rows and custom fields, and emits events', async () => {
    const [first, second] = [next(), next()];
    const csv = `Mobilnummer;Vorname;Nachname;E-Mail;Ort\n${first};Grace;Hopper;grace@example.com;Köln\n${second};Ada;;;"Bonn; am Rhein"\n`;
    const created = await post(csv, { default_country: 'de' });
    expect(created.status, created.text).toBe(202);
    expect(created.body.message).toBe('Import started');
    expect(created.body.data).toMatchObject({
      state: 'PENDING',
      mode: 'both',
      default_country: 'DE',
      dry_run: false,
      progress: 0,
      rate: null,
      error: null,
      mapping: { phone_column: 0, name_column: 1, last_name_column: 2, email_column: 3 },
    });
    const { id } = created.body.data;
    expect(asked).toContain(id);
    await run(id);
    const { body } = await call('GET', `${path}/${id}`);
    expect(body.data).toMatchObject({
      state: 'COMPLETED',
      progress: 1,
      counts: { rows: 2, created: 2, updated: 0, unchanged: 0, skipped: 0, opted_out: 0, opted_in: 0 },
      reasons: {},
    });
    expect(await contactWith(first)).toMatchObject({
      firstName: 'Grace',
      lastName: 'Hopper',
      email: 'grace@example.com',
      source: 'import',
      consent: 'all',
      customFields: [{ fieldId: 'Ort', value: 'Köln' }],
    });
    expect((await contactWith(second)).customFields).toEqual([{ fieldId: 'Ort', value: 'Bonn; am Rhein' }]);
    const events = await listEvents(api.database, workspace.workspaceId);
    expect(events.map(({ eventKey }) => eventKey)).toEqual(['contact.created', 'contact.created']);
    const { data: audit } = (await call('GET', `/api/audit?object_id=${id}`)).body;
    expect(audit.map(({ action }: { action: string }) => action)).toEqual(['contact.import']);
    expect((await call('GET', path)).body.data.map((one: { id: string }) => one.id)).toEqual([id]);
  });

  it('updates contacts with what the file says, keeps the rest, and counts what stays the same', async () => {
    const [known, same] = [next(), next()];
    const before = await create({ phoneNumber: known, firstName: 'Old', lastName: 'Name', email: 'a@b.de' });
    await create({ phoneNumber: same, firstName: 'Same' });
    const tag = (await call('POST', '/api/tags', { name: 'VIP' })).body.data.tagId;
    const mapping = { phone_column: 0, name_column: 1, email_column: 2, custom_field_mapping: { city: 3 } };
    const csv = `phone,name,email,city\n${known},New Person,,Bonn\n${same},Same,,\n`;
    expect(await imported(csv, { mapping, mode: 'create' })).toMatchObject({
      counts: { rows: 2, skipped: 2 },
      reasons: { EXISTS: 2 },
    });
    const done = await imported(csv, { mapping });
    expect(done.counts).toMatchObject({ rows: 2, created: 0, updated: 1, unchanged: 1, skipped: 0 });
    expect(await contactWith(known)).toMatchObject({
      id: before.id,
      firstName: 'New',
      lastName: 'Person',
      email: 'a@b.de',
      source: 'api',
      customFields: [{ fieldId: 'city', value: 'Bonn' }],
    });
    expect(await rowsOf(done.id)).toEqual([
      {
        line: 2,
        result: 'updated',
        reason: null,
        detail: null,
        contact_id: before.id,
        phone_number: known.slice(1),
      },
    ]);
    const tagged = await imported(csv, { mapping: { ...mapping, tags: ['vip', 'New tag'] } });
    expect(tagged.counts).toMatchObject({ updated: 2, unchanged: 0 });
    const { tagsId } = await contactWith(same);
    expect(tagsId).toHaveLength(2);
    expect(tagsId).toContain(tag);
    const updated = (await listEvents(api.database, workspace.workspaceId)).filter(
      ({ eventKey }) => eventKey === 'contact.updated',
    );
    expect(updated).toHaveLength(3);
    expect(updated.at(-1)?.data.contact.tagsId).toHaveLength(2);
    expect((await imported(csv, { mapping: { ...mapping, tags: ['vip', 'New tag'] } })).counts).toMatchObject(
      {
        updated: 0,
        unchanged: 2,
      },
    );
  });

  it('reads tags from a column, and says which rows it skips', async () => {
    const [known, unknown] = [next(), next()];
    await create({ phoneNumber: known });
    const csv = `phone,tags\n${known},"red, blue"\n${unknown},red\n0151 1,red\n${known},red\n${known},red,surplus\n`;
    const done = await imported(csv, { mapping: { phone_column: 0, tags: 1 }, mode: 'update' });
    expect(done.reasons).toEqual({ NOT_FOUND: 1, INVALID_PHONE: 1, DUPLICATE: 1, MALFORMED_ROW: 1 });
    expect((await contactWith(known)).tagsId).toHaveLength(2);
    const skipped = await rowsOf(done.id, '&result=skipped');
    expect(skipped.map((one: { line: number; reason: string }) => [one.line, one.reason])).toEqual([
      [3, 'NOT_FOUND'],
      [4, 'INVALID_PHONE'],
      [5, 'DUPLICATE'],
      [6, 'MALFORMED_ROW'],
    ]);
    expect(JSON.stringify(skipped)).not.toContain(unknown.slice(1));
    expect((await rowsOf(done.id, '&reason=DUPLICATE')).length).toBe(1);
    const file = await call('GET', `${path}/${done.id}/rows?format=csv&result=skipped`);
    expect(file.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(file.text.split('\n').slice(0, 2)).toEqual([
      'line,phone_number,result,reason,detail,contact_id',
      expect.stringMatching(/^3,,skipped,NOT_FOUND,/),
    ]);
    const page = (await call('GET', `${path}/${done.id}/rows?limit=1`)).body;
    const following = `${path}/${done.id}/rows?limit=1&cursor=${page.pagination.nextCursor}`;
    expect((await call('GET', following)).body.data[0].line).toBe(3);
  });

  it('takes ids of tags in a column, and leaves out those of no tag', async () => {
    const [tagged, untagged] = [next(), next()];
    await create({ phoneNumber: tagged });
    await create({ phoneNumber: untagged });
    const tag = (await call('POST', '/api/tags', { name: 'By id' })).body.data.tagId;
    const csv = `phone,tags\n${tagged},${tag.toUpperCase()}\n${untagged},0197c0de-0000-7000-8000-0000000000ff\n`;
    const fields = { mapping: { phone_column: 0, tags: 1 } };
    expect((await imported(csv, fields)).counts).toMatchObject({ updated: 1, unchanged: 1 });
    expect((await contactWith(tagged)).tagsId).toEqual([tag]);
    expect((await imported(csv, fields)).counts).toMatchObject({ updated: 0, unchanged: 2 });
    expect((await call('GET', '/api/tags')).body.data).toHaveLength(1);
  });

  it('changes nothing in a dry run, and counts what a run would do', async () => {
    const [known, fresh, out] = [next(), next(), next()];
    await create({ phoneNumber: known, firstName: 'Old' });
    await create({ phoneNumber: out });
    const csv = `phone,name,Opt-out\n${known},New,\n${fresh},Fresh,\n${out},,ja\nabc,,\n`;
    const fields = { mapping: { phone_column: 0, name_column: 1, consent: 2, tags: ['Later'] } };
    const dry = await imported(csv, { ...fields, dry_run: true });
    const counts = { rows: 4, created: 1, updated: 2, unchanged: 0, skipped: 1, opted_out: 1, opted_in: 0 };
    expect(dry).toMatchObject({ state: 'COMPLETED', dry_run: true, counts });
    expect((await contactWith(known)).firstName).toBe('Old');
    expect(await contactWith(fresh)).toBeUndefined();
    expect((await contactWith(out)).consent).toBe('all');
    expect((await call('GET', '/api/tags')).body.data).toEqual([]);
    const { id: knownId } = await contactWith(known);
    const ids = (await rowsOf(dry.id)).map(({ contact_id: id }: { contact_id: string | null }) => id);
    expect(ids).toEqual([knownId, null, (await contactWith(out)).id, null]);
    const real = await call('POST', path, { csv_file_key: dry.csv_file_key, ...fields });
    expect(real.status, real.text).toBe(202);
    await run(real.body.data.id);
    expect((await call('GET', `${path}/${real.body.data.id}`)).body.data.counts).toEqual(counts);
  });

  it('reads numbers of the default country, the columns of a country first, the workspace last', async () => {
    const csv = 'phone,country\n0151 12345678,\n151 2345 6789,FR\n+33 6 12 34 56 78,DE\n';
    const mapping = { phone_column: 0, country_code_column: 1 };
    const done = await imported(csv, { mapping, default_country: 'DE' });
    expect(done.counts).toMatchObject({ created: 2, skipped: 1 });
    expect(await contactWith('+4915112345678')).toMatchObject({ countryCode: '49' });
    expect(await contactWith('+33612345678')).toMatchObject({ countryCode: '33' });

    const setting = { key: workspace.operatorKey, body: { default_country: 'AT' } };
    await api.send('PUT', '/api/workspace/default-country', setting);
    const austrian = await imported('phone\n0664 1234567\n', { mapping: { phone_column: 0 } });
    expect(austrian).toMatchObject({ default_country: 'AT', counts: { created: 1 } });
  });

  it.each([
    ['no file', undefined, {}, 'file'],
    ['an unreadable file', '', {}, 'file'],
    ['a mapping that is no JSON', 'phone\n+4915112345678\n', { mapping: '{' }, 'mapping'],
    [
      'a column that the file lacks',
      'phone\n+4915112345678\n',
      { mapping: { phone_column: 3 } },
      'mapping.phone_column',
    ],
    [
      'a column of consent that may mean either',
      'phone,state\n+4915112345678,yes\n',
      { mapping: { phone_column: 0, consent: 1 } },
      'mapping.consent.meaning',
    ],
    [
      'a tag that does not exist',
      'phone\n+4915112345678\n',
      { mapping: { phone_column: 0, tags: ['0197c0de-0000-7000-8000-0000000000ff'] } },
      'mapping.tags',
    ],
    ['a file without phone numbers', 'name,city\nAda,Bonn\n', {}, 'mapping'],
    ['an unknown mode', 'phone\n+4915112345678\n', { mode: 'delete' }, 'mode'],
    ['an unknown country', 'phone\n+4915112345678\n', { default_country: 'XX' }, 'default_country'],
    ['another flag', 'phone\n+4915112345678\n', { dry_run: 'maybe' }, 'dry_run'],
  ])('refuses %s with 400 and keeps no file', async (_, csv, fields, field) => {
    const answer = await post(csv, fields);
    expect(answer.status, answer.text).toBe(400);
    expect(answer.body.error[0].field).toBe(field);
    const files = 'SELECT key FROM campaign_file WHERE workspace_id = $1';
    expect(await query(api.database, files, [workspace.workspaceId])).toEqual([]);
  });

  it('refuses files of other workspaces, and more than ten open imports', async () => {
    const created = await post('phone\n+4915112345678\n');
    const key = created.body.data.csv_file_key;
    const other = await api.seedWorkspace();
    const foreign = { key: other.workspaceKey, body: { csv_file_key: key } };
    expect((await api.send('POST', path, foreign)).status).toBe(404);
    const again = () => call('POST', path, { csv_file_key: key });
    for (let open = 2; open <= 10; open += 1) expect((await again()).status).toBe(202);
    expect((await again()).status).toBe(409);
    const unread = `${path}/${created.body.data.id}`;
    expect((await api.send('GET', unread, { key: other.workspaceKey })).status).toBe(404);
    expect((await api.send('GET', `${unread}/rows`, { key: other.workspaceKey })).status).toBe(404);
    expect((await api.send('POST', `${unread}/cancel`, { key: other.workspaceKey })).status).toBe(404);
    expect((await call('DELETE', `/api/campaigns/csv-files/${key}`)).status).toBe(409);
  });
});

describe('consent in an import', () => {
  it('applies every opt-out, also those of skipped rows, and records where it came from', async () => {
    const [known, fresh, twice] = [next(), next(), next()];
    await create({ phoneNumber: known });
    const csv = `phone,Abgemeldet\n${known},ja\n${fresh},x\n${twice},\n${twice},1\n`;
    const done = await imported(csv, { mode: 'create' });
    expect(done).toMatchObject({
      mapping: { consent: { column: 1, meaning: 'opt_out' } },
      counts: { created: 2, skipped: 2, opted_out: 3 },
      reasons: { EXISTS: 1, DUPLICATE: 1 },
    });
    for (const number of [known, fresh, twice]) expect((await contactWith(number)).consent).toBe('none');
    const { id } = await contactWith(fresh);
    expect((await call('GET', `/api/contacts/${id}/consents`)).body.data).toMatchObject([
      {
        subscribed: false,
        category: 'ALL',
        consent: 'none',
        source: 'import',
        recorded_by: expect.any(String),
      },
    ]);
    const events = await listEvents(api.database, workspace.workspaceId);
    const ofFresh = events.filter(({ data }) => data.contact?.id === id);
    expect(ofFresh.map(({ eventKey, data }) => [eventKey, data.contact.subscribed])).toEqual([
      ['contact.created', false],
    ]);
  });

  it('knows a person by every form of the number', async () => {
    await query(
      api.database,
      `INSERT INTO contact (workspace_id, phone_number, source) VALUES (${workspace.workspaceId}, '5213312345601', 'incoming')`,
    );
    const csv =
      'phone,Abgemeldet\n+52 33 1234 5601,ja\n+54 9 11 2345-6789,\n+54 11 2345-6789,ja\n+5511987654321,\n+551187654321,\n';
    expect(await imported(csv)).toMatchObject({
      counts: { created: 2, updated: 1, skipped: 2, opted_out: 2 },
      reasons: { DUPLICATE: 2 },
    });
    const contacts: readonly { phoneNumber: string; consent: string }[] = (await call('GET', '/api/contacts'))
      .body.data;
    expect(contacts.map(({ phoneNumber, consent }) => [phoneNumber, consent]).toSorted()).toEqual([
      ['11987654321', 'all'],
      ['5213312345601', 'none'],
      ['91123456789', 'none'],
    ]);
  });

  it('never lifts an opt-out, and records opt-ins with their evidence once', async () => {
    const [out, fresh] = [next(), next()];
    await create({ phoneNumber: out, consent: 'none' });
    const consent = {
      column: 1,
      meaning: 'opt_in',
      text_column: 2,
      at_column: 3,
      url: 'https://shop.example.com/signup',
      language: 'en',
    };
    const csv = `phone,agrees,text,when\n${out},yes,Yes,2026-01-02\n${fresh},yes,"Yes, please",2026-01-02 10:00\n`;
    const fields = { mapping: { phone_column: 0, consent } };
    expect((await imported(csv, fields)).counts).toMatchObject({ opted_in: 2, opted_out: 0 });
    await imported(csv, fields);
    expect((await contactWith(out)).consent).toBe('none');
    const { id, consent: after } = await contactWith(fresh);
    expect(after).toBe('all');
    expect((await call('GET', `/api/contacts/${id}/consents`)).body.data).toMatchObject([
      {
        subscribed: true,
        category: 'MARKETING',
        consent: 'all',
        source: 'import',
        text: 'Yes, please',
        url: 'https://shop.example.com/signup',
        language: 'en',
        at: '2026-01-02T10:00:00.000Z',
      },
    ]);
  });

  it('skips people whose cell is not understood', async () => {
    const [fresh, known] = [next(), next()];
    const csv = `phone,Newsletter\n${fresh},perhaps\n${known},nein\n`;
    const done = await imported(csv, { mapping: { phone_column: 0, consent: 1 } });
    expect(done.reasons).toEqual({ CONSENT_UNCLEAR: 1 });
    expect(await contactWith(fresh)).toBeUndefined();
    expect((await contactWith(known)).consent).toBe('no_marketing');
  });

  it('keeps the opt-out of people it does not create, and of erased people', async () => {
    const [unknown, erased] = [next(), next()];
    const csv = `phone,Opt-out\n${unknown},yes\n`;
    const done = await imported(csv, { mode: 'update' });
    expect(done).toMatchObject({ reasons: { NOT_FOUND: 1 }, counts: { opted_out: 1 } });
    expect((await create({ phoneNumber: unknown })).consent).toBe('none');

    const { id } = await create({ phoneNumber: erased, consent: 'none' });
    await call('DELETE', `/api/contacts/${id}?erase=true`);
    expect((await imported(`phone\n${erased}\n`)).counts).toMatchObject({ created: 1 });
    expect(await contactWith(erased)).toMatchObject({ consent: 'none', subscribed: false });
  });
});

describe('an import that is stopped', () => {
  const rows = 2_500;
  async function long() {
    const numbers = Array.from({ length: rows }, next);
    const csv = `phone,name\n${numbers.map((number, at) => `${number},Person ${at}`).join('\n')}\n`;
    const { body } = await post(csv, { mapping: { phone_column: 0, name_column: 1 } });
    return { id: body.data.id as string, numbers };
  }
  const stateOf = async (id: string) => (await call('GET', `${path}/${id}`)).body.data;
  const createdIn = async () => {
    const found = await query<{ count: string }>(
      api.database,
      'SELECT count(*) FROM contact WHERE workspace_id = $1',
      [workspace.workspaceId],
    );
    return Number(found[0]?.count);
  };
  const createdEvents = async () => (await listEvents(api.database, workspace.workspaceId)).length;

  it('continues behind the last committed batch while the worker shuts down, each row once', async () => {
    const { id } = await long();
    let batches = 0;
    expect(await run(id, () => (batches += 1) > 1)).toBe(false);
    const half = await stateOf(id);
    expect(half.state).toBe('RUNNING');
    expect(half.counts.rows).toBeGreaterThan(0);
    expect(half.counts.rows).toBeLessThan(rows);
    expect(await createdIn()).toBe(half.counts.created);
    expect(await run(id)).toBe(true);
    expect((await stateOf(id)).counts).toMatchObject({ rows, created: rows, updated: 0 });
    expect([await createdIn(), await createdEvents()]).toEqual([rows, rows]);
    expect(await run(id)).toBe(true);
    expect((await stateOf(id)).counts.rows).toBe(rows);
  });

  it('commits nothing of a batch in which it dies, and does not repeat one whose answer is lost', async () => {
    const { id } = await long();
    const stop = new AbortController();
    const { storage } = api.dependencies;
    let chunks = 0;
    // The process dies while the second part of the file is read: what was under way is lost with its connection.
    const dying = {
      ...api.dependencies,
      storage: {
        ...storage,
        read: async (key: string) => {
          const content = await storage.read(key);
          return content?.map((chunk: Buffer) => {
            chunks += 1;
            if (chunks > 1) stop.abort();
            return chunk;
          });
        },
      },
    };
    await runImport(dying, id, { signal: stop.signal, draining: () => false }).catch(() => undefined);
    await runImport(dying, id, { signal: stop.signal, draining: () => false }).catch(() => undefined);
    expect(await run(id)).toBe(true);
    expect((await stateOf(id)).counts).toMatchObject({ rows, created: rows, skipped: 0 });
    expect([await createdIn(), await createdEvents()]).toEqual([rows, rows]);
  });

  it('does each row once, wherever the worker dies within a batch', async () => {
    const importThrough = async (id: string, cutAfter: number) => {
      const cutter = await openTcpCutter(api.database.url, cutAfter);
      const config = { ...api.dependencies.config, databaseUrl: cutter.url };
      const options = { signal: new AbortController().signal, draining: () => false };
      await runImport({ ...api.dependencies, config }, id, options).catch(() => undefined);
      await cutter.close();
      return cutter.sent();
    };
    const bytes = await importThrough((await long()).id, Number.POSITIVE_INFINITY);
    // Within batches, and at the end of the last one with its commit.
    for (const cutAfter of [Math.floor(bytes * 0.3), Math.floor(bytes * 0.7), bytes - 200, bytes - 20]) {
      workspace = await api.seedWorkspace();
      await subscribeToEverything(api.database, workspace.workspaceId);
      const { id } = await long();
      await importThrough(id, cutAfter);
      expect(await run(id)).toBe(true);
      expect(await stateOf(id)).toMatchObject({ state: 'COMPLETED', counts: { rows, created: rows } });
      expect([await createdIn(), await createdEvents()]).toEqual([rows, rows]);
    }
  });

  it('is continued by one of two workers at a time', async () => {
    const { id } = await long();
    const ended = await Promise.all([run(id), run(id)]);
    if (ended.includes(false)) await run(id);
    expect(await stateOf(id)).toMatchObject({ state: 'COMPLETED', counts: { rows, created: rows } });
    expect([await createdIn(), await createdEvents()]).toEqual([rows, rows]);
  });

  it('reads one large file at a time, and small ones meanwhile', async () => {
    const large: string[] = [];
    for (let count = 0; count < 2; count += 1) {
      workspace = await api.seedWorkspace();
      large.push((await post(`phone\n${next()}\n`)).body.data.id);
    }
    await query(api.database, 'UPDATE contact_import SET size = 40000000 WHERE id = ANY ($1)', [large]);
    workspace = await api.seedWorkspace();
    const small = (await post(`phone\n${next()}\n`)).body.data.id;

    const { storage } = api.dependencies;
    const reading: (() => void)[] = [];
    const read = async (key: string) => {
      await new Promise<void>((resolve) => {
        reading.push(resolve);
      });
      return storage.read(key);
    };
    const activities = createImportActivities(
      { ...api.dependencies, storage: { ...storage, read } },
      { draining: () => false },
    );
    const start = (id: string) => new MockActivityEnvironment().run(activities.importContacts, id);
    const first = start(large[0] ?? '');
    await expect.poll(() => reading.length).toBe(1);
    const others = [start(large[1] ?? ''), start(small)];
    await expect.poll(() => reading.length).toBe(2);
    reading[1]?.();
    expect(await others[1]).toBe(true);
    expect(reading).toHaveLength(2);
    reading[0]?.();
    expect(await first).toBe(true);
    await expect.poll(() => reading.length).toBe(3);
    reading[2]?.();
    expect(await others[0]).toBe(true);
  });

  it('ends when it is cancelled, and keeps what is done', async () => {
    const { id } = await long();
    let batches = 0;
    await run(id, () => (batches += 1) > 1);
    const answer = await call('POST', `${path}/${id}/cancel`);
    expect(answer.body).toMatchObject({ message: 'Import cancelled', data: { state: 'CANCELLED' } });
    const { created } = answer.body.data.counts;
    expect(await run(id)).toBe(true);
    const { workspaceId } = workspace;
    const late = { workspaceId, importId: id, lastLine: answer.body.data.counts.rows + 1 };
    expect(await openImportBatch(api.database.url, late)).toBeUndefined();
    expect(await createdIn()).toBe(created);
    expect((await call('POST', `${path}/${id}/cancel`)).body.data.ended_at).toBe(answer.body.data.ended_at);
    const actions = (await call('GET', `/api/audit?object_id=${id}`)).body.data;
    expect(actions.map(({ action }: { action: string }) => action)).toEqual([
      'contact.cancel-import',
      'contact.import',
    ]);
  });

  it('fails with a reason that people can read, after the rows before it', async () => {
    // The upload looks at the beginning only.
    const rowsBefore = Array.from({ length: 1_500 }, () => `${next()},${'a'.repeat(200)}`);
    const done = await imported(`phone,note\n${rowsBefore.join('\n')}\n${next()},"open\n`);
    expect(done).toMatchObject({ state: 'FAILED', error: { code: 'CSV_UNREADABLE' } });
    expect(done.error.message).toContain('Line 1502');
    expect(done.counts.created).toBeGreaterThanOrEqual(1_000);
  });

  it('gives up after three workers were lost on the same rows', async () => {
    const { id } = await long();
    await query(api.database, 'UPDATE contact_import SET attempts = 3 WHERE id = $1', [id]);
    expect(await run(id)).toBe(true);
    expect(await stateOf(id)).toMatchObject({ state: 'FAILED', counts: { rows: 0 } });
  });
});

it('names nobody after an erasure, and deletes the rows of old imports', async () => {
  const number = next();
  const done = await imported(`phone,name\n${number},Ada\n`);
  const { id } = await contactWith(number);
  expect((await rowsOf(done.id))[0]).toMatchObject({ contact_id: id, phone_number: number.slice(1) });
  await call('DELETE', `/api/contacts/${id}?erase=true`);
  while (await stepErasure(api.dependencies, 0));
  expect((await rowsOf(done.id))[0]).toMatchObject({ contact_id: id, phone_number: null });

  const old = `'01000000-0000-7000-8000-000000000001'::uuid`;
  await query(
    api.database,
    `WITH copied AS (
       INSERT INTO contact_import (id, workspace_id, csv_file_key, size, mapping, mode, dry_run, state, ended_at)
       SELECT ${old}, workspace_id, csv_file_key, size, mapping, mode, dry_run, 'COMPLETED', now() - interval '40 days'
       FROM contact_import WHERE id = $1 RETURNING id)
     INSERT INTO contact_import_row (import_id, line, result) SELECT id, 2, 'created' FROM copied`,
    [done.id],
  );
  expect(await removals['importRows']?.(api.database.pool, { olderThanDays: 30, limit: 10 })).toBe(1);
  expect(await rowsOf(done.id)).toHaveLength(1);
});
