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

let lastNumber = 4_915_100_000_000;

async function aContactId({ workspaceId }: SeededWorkspace): Promise<string> {
  lastNumber += 1;
  const id = randomUUID();
  await query(
    api.database,
    `INSERT INTO contact (id, workspace_id, phone_number, country_code, source) VALUES ($1, $2, $3, '49', 'incoming')`,
    [id, workspaceId, lastNumber],
  );
  return id;
}

async function aConversation(
  workspace: SeededWorkspace,
  { status = 'open', contactId }: { status?: string; contactId?: string } = {},
) {
  const id = randomUUID();
  await query(
    api.database,
    'INSERT INTO conversation (id, workspace_id, channel_id, contact_id, status) VALUES ($1, $2, $3, $4, $5)',
    [id, workspace.workspaceId, workspace.channelId, contactId ?? (await aContactId(workspace)), status],
  );
  const { body } = await api.send('GET', `/api/conversations/${id}`, { key: workspace.channelKey });
  return body.data;
}

async function startSession({ workspaceId }: SeededWorkspace, conversationId: string, kind: string) {
  await query(
    api.database,
    'INSERT INTO responder_session (workspace_id, conversation_id, kind) VALUES ($1, $2, $3)',
    [workspaceId, conversationId, kind],
  );
}

const sessionsOf = async (conversationId: string) =>
  (
    await query<{ status: string }>(
      api.database,
      'SELECT status FROM responder_session WHERE conversation_id = $1',
      [conversationId],
    )
  ).map(({ status }) => status);

const assign = ({ channelKey: key }: SeededWorkspace, id: string, body: object) =>
  api.send('POST', `/api/conversations/${id}/assign`, { key, body });
const setStatus = ({ channelKey: key }: SeededWorkspace, id: string, body: object) =>
  api.send('PATCH', `/api/conversations/${id}/status`, { key, body });

const ada = {
  id: 'user-17',
  name: 'Ada Lovelace',
  firstName: 'Ada',
  lastName: 'Lovelace',
  email: 'ada@example.com',
};
const grace = { id: 'user-3', name: 'Grace Hopper', email: 'grace@example.com' };

describe('GET /api/conversations?search', () => {
  it.each([
    ['jose', ['José']],
    ['núñez', ['José']],
    ['客户', ['VIP客户']],
    ['01510', ['José', 'VIP客户']],
    ['nobody', []],
    [' ', ['José', 'VIP客户']],
  ])('finds conversations by the contact: %j', async (search, expected) => {
    const workspace = await aWorkspace();
    for (const [firstName, lastName] of [
      ['José', 'Núñez'],
      ['VIP客户', ''],
    ]) {
      const contactId = await aContactId(workspace);
      const names = [contactId, firstName, lastName];
      await query(
        api.database,
        'UPDATE contact SET first_name = $2, last_name = $3, phone_number = $4 WHERE id = $1',
        [...names, `49151${String(lastNumber).slice(-8)}`],
      );
      await aConversation(workspace, { contactId });
    }
    const path = `/api/conversations?search=${encodeURIComponent(search)}`;
    const { body } = await api.send('GET', path, { key: workspace.channelKey });
    const names = body.data.map(({ contactName }: { contactName: string }) => contactName.split(' ')[0]);
    expect(names.toSorted()).toEqual(expected);
  });
});

describe('a conversation', () => {
  it('is shown field by field', async () => {
    const workspace = await aWorkspace();
    expect(await aConversation(workspace)).toEqual({
      id: expect.any(String),
      contactId: expect.any(String),
      channelId: workspace.channelId,
      phoneNumberId: workspace.phoneNumberId,
      status: 'open',
      assignmentType: 'none',
      assignedTo: null,
      chatMode: 'manual',
      labels: [],
      contactName: '',
      contactPhoneNumber: expect.stringMatching(/^49151/),
      lastMessageAt: null,
      lastInboundAt: null,
      closedAt: null,
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    });
  });

  it('is 404 for another workspace', async () => {
    const { id } = await aConversation(await aWorkspace());
    const stranger = await aWorkspace();
    const answers = [
      await api.send('GET', `/api/conversations/${id}`, { key: stranger.channelKey }),
      await assign(stranger, id, { assignmentType: 'none' }),
      await setStatus(stranger, id, { status: 'closed' }),
    ];
    for (const { status, body } of answers) {
      expect(status).toBe(404);
      expect(body.message).toBe('Conversation not found');
    }
    expect((await api.send('GET', '/api/conversations', { key: stranger.channelKey })).body.data).toEqual([]);
  });
});

describe('GET /api/conversations', () => {
  it('lists newest first, by status, assignee and contact', async () => {
    const workspace = await aWorkspace();
    const open = await aConversation(workspace);
    const closed = await aConversation(workspace, { status: 'closed' });
    const assigned = await aConversation(workspace);
    await assign(workspace, assigned.id, { assignmentType: 'user', assignedTo: ada });
    const list = async (search: string) => {
      const { body } = await api.send('GET', `/api/conversations${search}`, { key: workspace.channelKey });
      return { ids: body.data.map(({ id }: { id: string }) => id), pagination: body.pagination };
    };
    expect(await list('')).toEqual({
      ids: [assigned.id, closed.id, open.id],
      pagination: { page: 1, limit: 10, total: 3, totalPages: 1 },
    });
    expect((await list('?limit=1&page=3')).ids).toEqual([open.id]);
    expect((await list('?status=closed')).ids).toEqual([closed.id]);
    expect((await list('?assignedTo=user-17')).ids).toEqual([assigned.id]);
    expect((await list(`?contactId=${open.contactId}`)).ids).toEqual([open.id]);
  });

  it.each(['status=gone', 'contactId=1', 'page=0', 'limit=101'])('refuses %s', async (search) => {
    const { channelKey: key } = await aWorkspace();
    expect((await api.send('GET', `/api/conversations?${search}`, { key })).status).toBe(400);
  });
});

describe('POST /api/conversations/{id}/assign', () => {
  it('assigns, and emits an event with every field', async () => {
    const workspace = await aWorkspace();
    const conversation = await aConversation(workspace);
    const answer = await assign(workspace, conversation.id, {
      assignmentType: 'user',
      assignedTo: ada,
      assignedBy: grace,
      chatMode: 'assistant',
      source: 'manual',
    });
    expect(answer.status).toBe(200);
    expect(answer.body.data).toEqual({
      ...conversation,
      assignmentType: 'user',
      assignedTo: ada,
      chatMode: 'assistant',
      updatedAt: answer.body.data.updatedAt,
    });
    expect(await listEvents(api.database, workspace.workspaceId)).toEqual([
      {
        eventKey: 'conversation.assigned',
        workspaceId: workspace.workspaceId,
        timestamp: expect.stringMatching(/Z$/),
        data: {
          conversationId: conversation.id,
          channelId: workspace.channelId,
          phoneNumberId: workspace.phoneNumberId,
          contactId: conversation.contactId,
          assignmentType: 'user',
          assignedTo: ada,
          assignedBy: grace,
          chatMode: 'assistant',
          source: 'manual',
        },
      },
    ]);
  });

  it('fills omitted fields with null and defaults', async () => {
    const workspace = await aWorkspace();
    const { id } = await aConversation(workspace);
    await assign(workspace, id, { assignmentType: 'team', assignedTo: { id: 'team-1' } });
    await assign(workspace, id, { assignmentType: 'bot', assignedTo: { id: 'bot-1' } });
    await assign(workspace, id, { assignmentType: 'none', assignedTo: ada });
    const events = await listEvents(api.database, workspace.workspaceId);
    const nobody = { name: null, firstName: null, lastName: null, email: null };
    expect(events.map(({ data }) => [data.assignmentType, data.assignedTo, data.chatMode])).toEqual([
      ['team', { id: 'team-1', ...nobody }, 'manual'],
      ['bot', { id: 'bot-1', ...nobody }, 'bot'],
      ['none', null, 'bot'],
    ]);
    expect(events[0]?.data).toMatchObject({ assignedBy: null, source: 'api' });
  });

  it('emits no event when nothing changes', async () => {
    const workspace = await aWorkspace();
    const { id } = await aConversation(workspace);
    const first = await assign(workspace, id, { assignmentType: 'user', assignedTo: ada });
    const again = await assign(workspace, id, { assignmentType: 'user', assignedTo: ada, assignedBy: grace });
    expect(again.body.data).toEqual(first.body.data);
    expect(await listEvents(api.database, workspace.workspaceId)).toHaveLength(1);
  });

  it.each([
    [{}, 'assignmentType'],
    [{ assignmentType: 'robot' }, 'assignmentType'],
    [{ assignmentType: 'user' }, 'assignedTo'],
    [{ assignmentType: 'user', assignedTo: {} }, 'assignedTo.id'],
    [{ assignmentType: 'user', assignedTo: ada, chatMode: 'x' }, 'chatMode'],
    [{ assignmentType: 'user', assignedTo: ada, source: 'x' }, 'source'],
    [{ assignmentType: 'user', assignedTo: ada, assignedBy: 'Grace' }, 'assignedBy'],
  ])('refuses %j', async (body, field) => {
    const workspace = await aWorkspace();
    const { id } = await aConversation(workspace);
    const answer = await assign(workspace, id, body);
    expect(answer.status).toBe(400);
    expect(answer.body.error[0].field).toBe(field);
  });
});

describe('PATCH /api/conversations/{id}/status', () => {
  it('closes, ends the sessions of chatbot and assistant, and emits an event with every field', async () => {
    const workspace = await aWorkspace();
    const conversation = await aConversation(workspace);
    await startSession(workspace, conversation.id, 'chatbot');
    await startSession(workspace, conversation.id, 'assistant');
    await query(api.database, `UPDATE conversation SET chat_mode = 'bot' WHERE id = $1`, [conversation.id]);
    const answer = await setStatus(workspace, conversation.id, { status: 'closed', changedBy: grace });
    expect(answer.status).toBe(200);
    const { closedAt, updatedAt } = answer.body.data;
    expect(closedAt).toMatch(/Z$/);
    // Spec 3.2: a change of status exits the sessions; the conversation is manual from then on.
    expect(answer.body.data).toMatchObject({ chatMode: 'manual' });
    expect(answer.body.data).toEqual({
      ...conversation,
      chatMode: 'manual',
      status: 'closed',
      closedAt,
      updatedAt,
    });
    expect(await sessionsOf(conversation.id)).toEqual(['exited', 'exited']);
    const events = await listEvents(api.database, workspace.workspaceId);
    expect(events.map(({ eventKey, data }) => ({ eventKey, data }))).toEqual([
      {
        eventKey: 'conversation.status_changed',
        data: {
          conversationId: conversation.id,
          channelId: workspace.channelId,
          phoneNumberId: workspace.phoneNumberId,
          contactId: conversation.contactId,
          previousStatus: 'open',
          newStatus: 'closed',
          closedAt,
          changedBy: grace,
        },
      },
    ]);
  });

  it('changes between open and resolved repeatedly', async () => {
    const workspace = await aWorkspace();
    const { id } = await aConversation(workspace);
    await setStatus(workspace, id, { status: 'resolved' });
    await setStatus(workspace, id, { status: 'closed' });
    const reopened = await setStatus(workspace, id, { status: 'open' });
    expect(reopened.body.data).toMatchObject({ status: 'open', closedAt: null });
    const events = await listEvents(api.database, workspace.workspaceId);
    expect(events.map(({ data }) => `${data.previousStatus} ${data.newStatus} ${data.changedBy}`)).toEqual([
      'open resolved null',
      'resolved closed null',
      'closed open null',
    ]);
    expect(events.map(({ data }) => data.closedAt === null)).toEqual([true, false, true]);
  });

  it('emits no event and keeps the sessions when the status is the same', async () => {
    const workspace = await aWorkspace();
    const { id } = await aConversation(workspace);
    await startSession(workspace, id, 'chatbot');
    expect((await setStatus(workspace, id, { status: 'open' })).status).toBe(200);
    expect(await sessionsOf(id)).toEqual(['active']);
    expect(await listEvents(api.database, workspace.workspaceId)).toEqual([]);
  });

  it('changes a status once when many ask at once', async () => {
    const workspace = await aWorkspace();
    const { id } = await aConversation(workspace);
    await Promise.all(Array.from({ length: 6 }, () => setStatus(workspace, id, { status: 'resolved' })));
    expect(await listEvents(api.database, workspace.workspaceId)).toHaveLength(1);
  });

  it('refuses to open a closed conversation beside a present one', async () => {
    const workspace = await aWorkspace();
    const contactId = await aContactId(workspace);
    const old = await aConversation(workspace, { status: 'closed', contactId });
    await startSession(workspace, old.id, 'chatbot');
    await aConversation(workspace, { contactId });
    const answer = await setStatus(workspace, old.id, { status: 'open' });
    expect(answer.status).toBe(409);
    expect(await sessionsOf(old.id)).toEqual(['active']);
    expect(await listEvents(api.database, workspace.workspaceId)).toEqual([]);
  });

  it.each([
    [{}, 'status'],
    [{ status: 'done' }, 'status'],
    [{ status: 'closed', changedBy: 7 }, 'changedBy'],
  ])('refuses %j', async (body, field) => {
    const workspace = await aWorkspace();
    const { id } = await aConversation(workspace);
    const answer = await setStatus(workspace, id, body);
    expect(answer.status).toBe(400);
    expect(answer.body.error[0].field).toBe(field);
  });
});
