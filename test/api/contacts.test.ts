import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type SeededWorkspace, type TestApi } from '../support/api.ts';
import { listEvents, subscribeToEverything } from '../support/event-log.ts';
import { query } from '../support/webhook-fixtures.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

async function aWorkspace(): Promise<SeededWorkspace> {
  const workspace = await api.seedWorkspace();
  await subscribeToEverything(api.database, workspace.workspaceId);
  return workspace;
}

// A valid range of German numbers.
let lastNumber = 15_100_000_000;
const nextNumber = () => {
  lastNumber += 1;
  return String(lastNumber);
};

const create = (workspace: SeededWorkspace, body: object) =>
  api.send('POST', '/api/contacts', { key: workspace.channelKey, body });

async function aContact(workspace: SeededWorkspace, body: object = {}) {
  const answer = await create(workspace, { phoneNumber: nextNumber(), countryCode: '49', ...body });
  expect(answer.status).toBe(201);
  return answer.body.data;
}

const put = (workspace: SeededWorkspace, id: string, body: object) =>
  api.send('PUT', `/api/contacts/${id}`, { key: workspace.channelKey, body });

async function aTag({ channelKey: key }: SeededWorkspace, name = 'VIP'): Promise<string> {
  return (await api.send('POST', '/api/tags', { key, body: { name } })).body.data.tagId;
}

const keysOf = async ({ workspaceId }: SeededWorkspace) =>
  (await listEvents(api.database, workspaceId)).map(({ eventKey }) => eventKey);

describe('POST /api/contacts', () => {
  it('registers a contact and emits contact.created', async () => {
    const workspace = await aWorkspace();
    const tagId = await aTag(workspace);
    const answer = await create(workspace, {
      phoneNumber: '0151 1234 5678',
      countryCode: '+49',
      firstName: 'Grace',
      lastName: 'Hopper',
      chatName: 'Gracie',
      email: 'grace@example.com',
      subscribed: false,
      customFields: [{ fieldId: 'city', value: 'Berlin' }],
      tagsId: [tagId.toUpperCase(), tagId],
      dob: '1906-12-09T00:00:00Z',
    });
    expect(answer.status).toBe(201);
    const contact = answer.body.data;
    expect(contact).toEqual({
      id: expect.any(String),
      firstName: 'Grace',
      lastName: 'Hopper',
      chatName: 'Gracie',
      username: '',
      email: 'grace@example.com',
      phoneNumber: '15112345678',
      countryCode: '49',
      source: 'api',
      subscribed: false,
      consent: 'none',
      customFields: [{ fieldId: 'city', value: 'Berlin' }],
      tagsId: [tagId],
      dob: '1906-12-09T00:00:00.000Z',
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    });
    const read = await api.send('GET', `/api/contacts/${contact.id}`, { key: workspace.channelKey });
    expect(read.body).toEqual({ status: 'success', data: contact });
    const [event, ...others] = await listEvents(api.database, workspace.workspaceId);
    expect(others).toEqual([]);
    expect(event).toMatchObject({ eventKey: 'contact.created', data: { contact } });
  });

  it.each([
    [{ phoneNumber: '+4915112345678' }, '49', '15112345678'],
    [{ phoneNumber: '4915112345678' }, '49', '15112345678'],
    [{ phoneNumber: '+49 151 1234-5678', countryCode: '+49' }, '49', '15112345678'],
    [{ phoneNumber: '2025550123', countryCode: '1' }, '1', '2025550123'],
    [{ phoneNumber: '9876543210', countryCode: '91' }, '91', '9876543210'],
  ])('reads %j', async (body, countryCode, phoneNumber) => {
    const answer = await create(await aWorkspace(), body);
    expect(answer.body.data).toMatchObject({ countryCode, phoneNumber, dob: null, tagsId: [] });
  });

  it.each([
    [{}, 'phoneNumber'],
    [{ phoneNumber: '' }, 'phoneNumber'],
    [{ phoneNumber: 'abc' }, 'phoneNumber'],
    [{ phoneNumber: '12', countryCode: '49' }, 'phoneNumber'],
    [{ phoneNumber: 4915112345678 }, 'phoneNumber'],
    [{ phoneNumber: '+4915112345678', countryCode: '91' }, 'phoneNumber'],
    [{ phoneNumber: '15112345678', countryCode: '999' }, 'countryCode'],
    [{ phoneNumber: '+4915112345678', email: 'nobody' }, 'email'],
    [{ phoneNumber: '+4915112345678', firstName: 'x'.repeat(256) }, 'firstName'],
    [{ phoneNumber: '+4915112345678', dob: '1906-12-09' }, 'dob'],
    [{ phoneNumber: '+4915112345678', dob: '0000-01-01T00:00:00Z' }, 'dob'],
    [{ phoneNumber: '+4915112345678', tagsId: ['VIP'] }, 'tagsId.0'],
    [{ phoneNumber: '+4915112345678', tagsId: [randomUUID()] }, 'tagsId.0'],
    [{ phoneNumber: '+4915112345678', customFields: { city: 'Berlin' } }, 'customFields'],
    [
      { phoneNumber: '+4915112345678', customFields: [{ fieldId: '__proto__', value: '1' }] },
      'customFields.0.fieldId',
    ],
    [
      {
        phoneNumber: '+4915112345678',
        customFields: [
          { fieldId: 'a', value: '1' },
          { fieldId: 'a', value: '2' },
        ],
      },
      'customFields',
    ],
  ])('refuses %j', async (body, field) => {
    const workspace = await aWorkspace();
    const answer = await create(workspace, body);
    expect(answer.status).toBe(400);
    expect(answer.body.error[0].field).toBe(field);
    expect(await keysOf(workspace)).toEqual([]);
    const list = await api.send('GET', '/api/contacts', { key: workspace.channelKey });
    expect(list.body.data).toEqual([]);
  });

  it('refuses the number of a present contact, however it is written', async () => {
    const workspace = await aWorkspace();
    await create(workspace, { phoneNumber: '+4915112345678' });
    const again = await create(workspace, { phoneNumber: '0151 12345678', countryCode: '49' });
    expect(again.status).toBe(409);
    expect((await create(await aWorkspace(), { phoneNumber: '+4915112345678' })).status).toBe(201);
  });

  it('registers a number once for concurrent requests', async () => {
    const workspace = await aWorkspace();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => create(workspace, { phoneNumber: '+4915112345678' })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array(7).fill(409)]);
    expect(await keysOf(workspace)).toEqual(['contact.created']);
  });

  it('restores a deleted contact with the new values', async () => {
    const workspace = await aWorkspace();
    const tagId = await aTag(workspace);
    const before = await aContact(workspace, { firstName: 'Grace', lastName: 'Hopper', tagsId: [tagId] });
    const path = `/api/contacts/${before.id}`;
    const deleted = await api.send('DELETE', path, { key: workspace.channelKey });
    expect(deleted.body).toEqual({ status: 'success', message: 'Contact deleted successfully' });
    for (const method of ['GET', 'DELETE']) {
      expect((await api.send(method, path, { key: workspace.channelKey })).status).toBe(404);
    }
    expect((await put(workspace, before.id, {})).status).toBe(404);
    const answer = await create(workspace, {
      phoneNumber: before.phoneNumber,
      countryCode: '49',
      firstName: 'Amazing Grace',
    });
    expect(answer.status).toBe(200);
    expect(answer.body.data).toEqual({
      ...before,
      firstName: 'Amazing Grace',
      updatedAt: answer.body.data.updatedAt,
    });
    expect(await keysOf(workspace)).toEqual(['contact.created', 'contact.updated']);
  });
});

describe('PUT /api/contacts/{id}', () => {
  it('replaces the tags and emits one event', async () => {
    const workspace = await aWorkspace();
    const tags = [await aTag(workspace, 'a'), await aTag(workspace, 'b'), await aTag(workspace, 'c')];
    const contact = await aContact(workspace, { tagsId: tags.slice(0, 2) });
    const answer = await put(workspace, contact.id, { tagsId: tags.slice(1) });
    expect(Object.keys(answer.body)).toEqual(['status', 'message', 'data']);
    expect(answer.body.data).toEqual({
      ...contact,
      tagsId: tags.slice(1).toSorted(),
      updatedAt: answer.body.data.updatedAt,
    });
    expect(answer.body.data.updatedAt > contact.updatedAt).toBe(true);
    expect((await put(workspace, contact.id, { tagsId: [] })).body.data.tagsId).toEqual([]);
    const events = await listEvents(api.database, workspace.workspaceId);
    expect(events.slice(1).map(({ data }) => data.contact.tagsId)).toEqual([tags.slice(1).toSorted(), []]);
  });

  it('changes what is given and leaves the rest', async () => {
    const workspace = await aWorkspace();
    const contact = await aContact(workspace, {
      firstName: 'Grace',
      email: 'g@example.com',
      customFields: [{ fieldId: 'city', value: 'Berlin' }],
    });
    const change = {
      lastName: 'Hopper',
      email: '',
      subscribed: false,
      customFields: [{ fieldId: 'rank', value: 'Admiral' }],
      dob: '1906-12-09T01:00:00+01:00',
    };
    const { body } = await put(workspace, contact.id, change);
    expect(body.data).toEqual({
      ...contact,
      ...change,
      consent: 'none',
      dob: '1906-12-09T00:00:00.000Z',
      updatedAt: body.data.updatedAt,
    });
    expect((await put(workspace, contact.id, { dob: null })).body.data.dob).toBeNull();
  });

  it('emits no event when nothing changes', async () => {
    const workspace = await aWorkspace();
    const tagId = await aTag(workspace);
    const contact = await aContact(workspace, {
      firstName: 'Grace',
      tagsId: [tagId],
      customFields: [
        { fieldId: 'b', value: '1' },
        { fieldId: 'aa', value: '2' },
      ],
    });
    for (const body of [{}, contact, { ...contact, tagsId: [tagId, tagId] }, { unknown: 'field' }]) {
      const answer = await put(workspace, contact.id, body);
      expect(answer.status).toBe(200);
      expect(answer.body.data).toEqual(contact);
    }
    expect(await keysOf(workspace)).toEqual(['contact.created']);
  });

  it.each([
    [{ phoneNumber: '15112345679' }, '49', '15112345679'],
    [{ phoneNumber: '+12025550123' }, '1', '2025550123'],
    [{ phoneNumber: '12025550123', countryCode: '1' }, '1', '2025550123'],
    [{ phoneNumber: '9876543210', countryCode: '+91' }, '91', '9876543210'],
  ])('moves a contact to %j', async (body, countryCode, phoneNumber) => {
    const workspace = await aWorkspace();
    const contact = await aContact(workspace);
    const answer = await put(workspace, contact.id, body);
    expect(answer.body.data).toMatchObject({ id: contact.id, countryCode, phoneNumber });
    expect(await keysOf(workspace)).toEqual(['contact.created', 'contact.updated']);
  });

  it.each([
    [{ phoneNumber: '123' }, 'phoneNumber'],
    [{ countryCode: '91' }, 'phoneNumber'],
    [{ countryCode: 'xx' }, 'countryCode'],
    [{ phoneNumber: '+12025550123', countryCode: '49' }, 'phoneNumber'],
    [{ tagsId: null }, 'tagsId'],
    [{ tagsId: [1] }, 'tagsId.0'],
    [{ subscribed: 'yes' }, 'subscribed'],
    [{ firstName: null }, 'firstName'],
  ])('refuses %j and changes nothing', async (body, field) => {
    const workspace = await aWorkspace();
    const contact = await aContact(workspace);
    const answer = await put(workspace, contact.id, { lastName: 'changed', ...body });
    expect(answer.status).toBe(400);
    expect(answer.body.error[0].field).toBe(field);
    const read = await api.send('GET', `/api/contacts/${contact.id}`, { key: workspace.channelKey });
    expect(read.body.data).toEqual(contact);
    expect(await keysOf(workspace)).toEqual(['contact.created']);
  });

  it("refuses another contact's number", async () => {
    const workspace = await aWorkspace();
    const one = await aContact(workspace);
    const other = await aContact(workspace);
    const answer = await put(workspace, other.id, { phoneNumber: one.phoneNumber });
    expect(answer.status).toBe(409);
  });

  it("refuses tags of another workspace, and another workspace's contact", async () => {
    const workspace = await aWorkspace();
    const stranger = await aWorkspace();
    const contact = await aContact(workspace);
    const foreign = await put(workspace, contact.id, {
      tagsId: [await aTag(workspace), await aTag(stranger)],
    });
    expect(foreign.status).toBe(400);
    expect(foreign.body.error).toEqual([{ field: 'tagsId.1', message: expect.any(String) }]);
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const answer = await api.send(method, `/api/contacts/${contact.id}`, {
        key: stranger.channelKey,
        ...(method === 'PUT' && { body: { firstName: 'x' } }),
      });
      expect(answer.status).toBe(404);
      expect(answer.body.message).toBe('Contact not found');
    }
  });

  it('edits a contact without a number', async () => {
    const workspace = await aWorkspace();
    const [row] = await query<{ id: string }>(
      api.database,
      `INSERT INTO contact (workspace_id, provider_user_id, source) VALUES ($1, 'user.1', 'incoming') RETURNING id`,
      [workspace.workspaceId],
    );
    const id = row?.id ?? '';
    const named = await put(workspace, id, { firstName: 'Grace', phoneNumber: '', countryCode: '' });
    expect(named.status).toBe(400);
    expect((await put(workspace, id, { firstName: 'Grace' })).body.data).toMatchObject({
      firstName: 'Grace',
      phoneNumber: '',
      countryCode: '',
    });
    const reached = await put(workspace, id, { phoneNumber: '+4915112345678' });
    expect(reached.body.data).toMatchObject({ phoneNumber: '15112345678', countryCode: '49' });
  });

  it('applies each of many concurrent edits', async () => {
    const workspace = await aWorkspace();
    const contact = await aContact(workspace);
    await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        put(workspace, contact.id, { firstName: `Grace ${index % 2 === 0 ? 'A' : index}` }),
      ),
    );
    const events = await listEvents(api.database, workspace.workspaceId);
    const names = events.map(({ data }) => data.contact.firstName);
    expect(names.every((name, index) => name !== names[index - 1])).toBe(true);
  });
});

describe('the size of a contact', () => {
  const fieldsOf = (count: number, length: number) =>
    Array.from({ length: count }, (_, at) => ({ fieldId: `field_${at}`, value: 'ü'.repeat(length) }));
  const storedOf = (id: string) =>
    query(
      api.database,
      'SELECT octet_length(custom_fields::text) AS bytes, former_numbers FROM contact WHERE id = $1',
      [id],
    );

  it('is at most 64 KiB of custom fields in a new contact', async () => {
    const workspace = await aWorkspace();
    const largest = await create(workspace, {
      phoneNumber: `+49${nextNumber()}`,
      customFields: fieldsOf(10, 3200),
    });
    expect(largest.status).toBe(201);
    const answer = await create(workspace, {
      phoneNumber: `+49${nextNumber()}`,
      customFields: fieldsOf(10, 3300),
    });
    expect(answer).toMatchObject({ status: 400, body: { error: [{ field: 'customFields' }] } });
    expect(answer.body.message).toMatch(/65536 bytes as JSON, but take \d+/);
  });

  it('may only shrink if a contact is larger, which keeps its other fields changeable', async () => {
    const workspace = await aWorkspace();
    const { id } = await aContact(workspace);
    const large = Object.fromEntries(fieldsOf(40, 2000).map(({ fieldId, value }) => [fieldId, value]));
    await query(api.database, 'UPDATE contact SET custom_fields = $2 WHERE id = $1', [
      id,
      JSON.stringify(large),
    ]);
    expect((await put(workspace, id, { subscribed: false })).status).toBe(200);
    expect((await put(workspace, id, { customFields: fieldsOf(41, 2000) })).status).toBe(400);
    expect((await put(workspace, id, { customFields: fieldsOf(39, 2000) })).status).toBe(200);
    expect((await put(workspace, id, { customFields: fieldsOf(39, 2001) })).status).toBe(400);
    expect((await put(workspace, id, { customFields: [] })).status).toBe(200);
    expect((await put(workspace, id, { customFields: fieldsOf(39, 2000) })).status).toBe(400);
  });

  it('includes its last 20 former numbers', async () => {
    const workspace = await aWorkspace();
    const numbers = Array.from({ length: 25 }, nextNumber);
    const { id } = await aContact(workspace, { phoneNumber: numbers[0] });
    for (const phoneNumber of [...numbers.slice(1), numbers[10]]) {
      expect((await put(workspace, id, { phoneNumber })).status).toBe(200);
    }
    const former = [...numbers.slice(4, 10), ...numbers.slice(10)].slice(-20).map((number) => `49${number}`);
    expect(await storedOf(id)).toMatchObject([{ former_numbers: former }]);
  });
});

describe('GET /api/contacts', () => {
  async function parts(workspace: SeededWorkspace, search: string, limit: number) {
    const found: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const place: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const answer = await api.send('GET', `/api/contacts?limit=${limit}${search}${place}`, {
        key: workspace.channelKey,
      });
      expect(answer.status).toBe(200);
      expect(answer.body.data.length).toBeLessThanOrEqual(limit);
      found.push(...answer.body.data.map(({ id }: { id: string }) => id));
      cursor = answer.body.pagination.nextCursor;
    }
    return found;
  }

  it('lists every contact once, newest first, in pages of any size', async () => {
    const workspace = await aWorkspace();
    const ids: string[] = [];
    for (let count = 0; count < 7; count += 1) ids.push((await aContact(workspace)).id);
    const gone = await aContact(workspace);
    await api.send('DELETE', `/api/contacts/${gone.id}`, { key: workspace.channelKey });
    await aContact(await aWorkspace());
    for (const limit of [1, 3, 7, 100]) expect(await parts(workspace, '', limit)).toEqual(ids.toReversed());
    const whole = await api.send('GET', '/api/contacts', { key: workspace.channelKey });
    expect(Object.keys(whole.body)).toEqual(['status', 'data', 'pagination']);
    expect(whole.body.pagination).toEqual({ limit: 100, nextCursor: null });
  });

  it.each(['', '&search=Large'])(
    'ends a page at 1 MiB and continues on the next one, with the query "%s"',
    async (search) => {
      const workspace = await api.seedWorkspace();
      await query(
        api.database,
        `INSERT INTO contact (workspace_id, phone_number, country_code, country, source, first_name, custom_fields)
       SELECT $1, '49151' || n, '49', 'DE', 'api', 'Large', jsonb_build_object('text', repeat('x', 400000))
       FROM generate_series(1000001, 1000025) AS n`,
        [workspace.workspaceId],
      );
      const pages: number[] = [];
      const ids = new Set<string>();
      for (let cursor = ''; ;) {
        const path = `/api/contacts?limit=1000${search}${cursor}`;
        const { body, text } = await api.send('GET', path, { key: workspace.channelKey });
        expect(text.length).toBeLessThan(5 * 1024 * 1024);
        pages.push(body.data.length);
        for (const { id } of body.data) ids.add(id);
        if (body.pagination.nextCursor === null) break;
        cursor = `&cursor=${body.pagination.nextCursor}`;
      }
      expect(pages).toEqual([...Array<number>(8).fill(3), 1]);
      expect(ids.size).toBe(25);
    },
  );

  describe('with a search', () => {
    const people: Readonly<Record<string, object>> = {
      'Ada L': { firstName: 'Ada', lastName: 'Lovelace', email: 'ada@example.com' },
      'Ada B': { firstName: 'Adalbert', lastName: 'Bee' },
      Zoe: { firstName: 'Zoë', lastName: 'Adams' },
      Mail: { email: 'Adam@example.com' },
      Number: { phoneNumber: '15100009999' },
      Percent: { firstName: '100% Human' },
      Chat: { chatName: 'Quixotic' },
      Profile: { chatName: 'Ngozi van Dyk' },
      José: { firstName: 'José María', lastName: 'Núñez', email: 'jn@example.com' },
      'Jose, decomposed': { firstName: 'Jose\u0301e', lastName: 'Plain' },
      Wei: { firstName: 'VIP客户', lastName: '王小明' },
      Kim: { firstName: '김철수' },
      Łukasz: { firstName: 'Łukasz', lastName: 'Groß-Øvre' },
      Иван: { firstName: 'Иван', lastName: 'Ёлкин' },
    };
    const names = new Map<string, string>();
    let workspace: SeededWorkspace;
    beforeAll(async () => {
      workspace = await aWorkspace();
      for (const [name, body] of Object.entries(people)) {
        const numbered = { phoneNumber: `1701${nextNumber().slice(-7)}`, ...body };
        names.set((await aContact(workspace, numbered)).id, name);
      }
    });

    it.each([
      ['ada', ['Ada L', 'Ada B', 'Zoe', 'Mail']],
      ['ADA', ['Ada L', 'Ada B', 'Zoe', 'Mail']],
      ['ada love', ['Ada L']],
      ['love ada', ['Ada L']],
      ['zoë', ['Zoe']],
      ['ZOË', ['Zoe']],
      ['+49 (151) 0000', ['Number']],
      ['4915100009', ['Number']],
      ['15100009', ['Number']],
      ['1510000999', ['Number']],
      ['100%', ['Percent']],
      ['%', []],
      ['_', []],
      ['adam@', ['Mail']],
      ['quix', ['Chat']],
      ['ngozi van dyk', ['Profile']],
      ['Ngozi  Van', ['Profile']],
      ['van dyk', ['Profile']],
      ['jose', ['José', 'Jose, decomposed']],
      ['JOSÉ', ['José', 'Jose, decomposed']],
      ['nunez', ['José']],
      ['José Núñez', ['José']],
      ['nún maría', ['José']],
      ['nunez jn@', ['José']],
      ['josée', ['Jose, decomposed']],
      ['plâin', ['Jose, decomposed']],
      ['lóvelace', ['Ada L']],
      ['客户', ['Wei']],
      ['小', ['Wei']],
      ['小明', ['Wei']],
      ['ｖｉｐ', ['Wei']],
      ['철수', ['Kim']],
      ['łu', ['Łukasz']],
      ['lu', ['Łukasz']],
      ['gross', ['Łukasz']],
      ['groß øv', ['Łukasz']],
      ['елкин', ['Иван']],
      ['nobody', []],
      ["' OR 1=1", []],
    ])('finds by %j', async (search, expected) => {
      for (const limit of [1, 2, 100]) {
        const found = await parts(workspace, `&search=${encodeURIComponent(search)}`, limit);
        expect(found.map((id) => names.get(id)).toSorted()).toEqual(expected.toSorted());
      }
    });
  });

  it.each(['limit=0', 'limit=1001', 'cursor=x', 'cursor=', 'limit=1e2'])('refuses %s', async (place) => {
    const { channelKey: key } = await aWorkspace();
    expect((await api.send('GET', `/api/contacts?${place}`, { key })).status).toBe(400);
  });

  it('refuses the cursor of a list in a search, and the other way round', async () => {
    const workspace = await aWorkspace();
    await aContact(workspace, { firstName: 'Ada' });
    await aContact(workspace, { firstName: 'Ada' });
    const key = workspace.channelKey;
    const list = await api.send('GET', '/api/contacts?limit=1', { key });
    const search = await api.send('GET', '/api/contacts?limit=1&search=ada', { key });
    const swapped = [
      `/api/contacts?search=ada&cursor=${list.body.pagination.nextCursor}`,
      `/api/contacts?cursor=${search.body.pagination.nextCursor}`,
    ];
    for (const path of swapped) {
      const answer = await api.send('GET', path, { key });
      expect(answer.status).toBe(400);
      expect(answer.body.error[0].field).toBe('cursor');
    }
  });
});

describe('the consent of a contact', () => {
  const record = (workspace: SeededWorkspace, id: string, body: object) =>
    api.send('POST', `/api/contacts/${id}/consents`, { key: workspace.channelKey, body });
  const consentOf = async (workspace: SeededWorkspace, id: string) => {
    const { body } = await api.send('GET', `/api/contacts/${id}`, { key: workspace.channelKey });
    return [body.data.consent, body.data.subscribed];
  };

  it('is changed by consent or by subscribed, which leaves it alone if it says what it was', async () => {
    const workspace = await aWorkspace();
    const { id, consent } = await aContact(workspace);
    expect(consent).toBe('all');
    const steps = [
      [{ consent: 'no_marketing' }, ['no_marketing', false]],
      [{ subscribed: false, lastName: 'Hopper' }, ['no_marketing', false]],
      [{ subscribed: true }, ['all', true]],
      [{ subscribed: false }, ['none', false]],
      [{ consent: 'no_marketing', subscribed: true }, ['no_marketing', false]],
      [{ consent: 'all' }, ['all', true]],
    ] as const;
    for (const [body, expected] of steps) {
      expect((await put(workspace, id, body)).status).toBe(200);
      expect([body, await consentOf(workspace, id)]).toEqual([body, expected]);
    }
    expect((await put(workspace, id, { consent: 'some' })).status).toBe(400);
    expect((await aContact(workspace, { consent: 'no_marketing' })).subscribed).toBe(false);
  });

  it('is recorded with its evidence', async () => {
    const workspace = await aWorkspace();
    const { id } = await aContact(workspace, { consent: 'no_marketing' });
    const evidence = { text: 'Yes, offers', url: 'https://shop.example.com', language: 'en' };
    const { status, body } = await record(workspace, id, { ...evidence, source: 'import' });
    expect(status).toBe(201);
    expect(body).toEqual({
      status: 'success',
      message: 'Consent recorded successfully',
      data: {
        id: expect.any(String),
        subscribed: true,
        category: 'MARKETING',
        consent: 'all',
        source: 'import',
        ...evidence,
        recorded_by: expect.any(String),
        at: expect.stringMatching(/Z$/),
      },
    });
    expect(await consentOf(workspace, id)).toEqual(['all', true]);
    expect(await keysOf(workspace)).toEqual(['contact.created', 'contact.updated']);

    await record(workspace, id, { subscribed: false, category: 'ALL', at: '2026-01-01T00:00:00Z' });
    const late = await record(workspace, id, { at: '2025-12-31T00:00:00Z' });
    expect(late.body.data).toMatchObject({ subscribed: true, consent: 'none', text: null });
    expect(await consentOf(workspace, id)).toEqual(['none', false]);
    const list = await api.send('GET', `/api/contacts/${id}/consents`, { key: workspace.channelKey });
    expect(list.body.data.map(({ category }: { category: string }) => category)).toEqual([
      'MARKETING',
      'ALL',
      'MARKETING',
    ]);
  });

  it.each([
    [{ text: 'x'.repeat(1_001) }, 'text'],
    [{ at: '2999-01-01T00:00:00Z' }, 'at'],
    [{ category: 'UTILITY' }, 'category'],
  ])('is not recorded with %j', async (body, field) => {
    const workspace = await aWorkspace();
    const { id } = await aContact(workspace);
    const answer = await record(workspace, id, body);
    expect(answer).toMatchObject({ status: 400, body: { error: [{ field }] } });
  });

  it('is in the register, by number also after an erasure, and as CSV', async () => {
    const workspace = await aWorkspace();
    const { id, phoneNumber } = await aContact(workspace, { firstName: 'Grace' });
    await aContact(workspace, { consent: 'none' });
    await record(workspace, id, { text: '=Yes, "offers"', language: 'en' });
    const register = (asked: string) =>
      api.send('GET', `/api/consents${asked}`, { key: workspace.channelKey });
    const kept = { contact_id: id, subscribed: true, category: 'MARKETING' };
    const person = `?phone_number=${encodeURIComponent(`+49 ${phoneNumber}`)}`;
    expect((await register(person)).body.data).toMatchObject([
      { ...kept, phone_number: `49${phoneNumber}`, text: '=Yes, "offers"' },
    ]);
    expect((await register('?phone_number=%2B4915199999999')).body.data).toEqual([]);
    const { text } = await register('?format=csv');
    expect(text.split('\n')).toEqual([
      'id,contact_id,phone_number,subscribed,category,consent,source,text,url,language,recorded_by,at',
      expect.stringContaining(`,${id},49${phoneNumber},true,MARKETING,all,api,"'=Yes, ""offers""",,en,`),
      '',
    ]);
    await api.send('DELETE', `/api/contacts/${id}?erase=true`, { key: workspace.channelKey });
    for (const asked of [person, ''])
      expect((await register(asked)).body.data).toMatchObject([
        { ...kept, phone_number: null, text: null, language: null },
      ]);
  });

  it('is not recorded of an unknown contact', async () => {
    expect((await record(await aWorkspace(), randomUUID(), {})).status).toBe(404);
  });
});
