/** Sign-in to the dashboard and sign-out. A session has the rights of the API key that signed in. */
import { named } from '../../codecs/json-schema.ts';
import { Integer, IsoDateTime, textOf, Uuid } from '../../codecs/scalars.ts';
import { nullish, oneOf, optional, struct } from '../../codecs/struct.ts';
import * as t from 'io-ts';
import type { Dependencies } from '../../dependencies.ts';
import { Conflict, Unauthorized } from '../../domain/error.ts';
import {
  hashSessionSecret,
  keyScopes,
  newSessionSecret,
  type Principal,
} from '../../domain/workspaces/api-key.ts';
import { withCallContext } from '../../concurrency/call-context.ts';
import {
  clearOperatorKey,
  endSession,
  findReplaced,
  insertSession,
  setOperatorKey,
  takeSignInLink,
} from '../../records/workspaces/operator-sessions.ts';
import { endpoint, type Endpoint } from '../frame/endpoint.ts';
import { requireOwnOrigin, sessionCookie, sessionOf, type SessionGuard } from '../frame/caller/session.ts';

const path = '/dashboard/session';
const ofThePage = { tag: 'Operations', access: 'public', undocumented: true } as const;
const ApiKey = textOf({ max: 200 });
const done = { 204: { description: 'Done' } };

const Session = named(
  'Session',
  struct({
    workspaceId: Integer,
    workspaceName: t.string,
    /** The public part of the key that signed in. */
    keyId: t.string,
    channelId: nullish(Uuid),
    scope: oneOf(keyScopes, 'KeyScope'),
    operator: t.boolean,
    expiresAt: IsoDateTime,
    /** The service does not run in production. */
    local: t.boolean,
    /** URL of Temporal's list of workflows; a workflow's page is this URL, a slash and its id. */
    workflowsUrl: nullish(t.string),
  }),
);

const workflowsPage = ({ temporalUiUrl, temporalNamespace }: Dependencies['config']): string | null =>
  temporalUiUrl === undefined
    ? null
    : `${temporalUiUrl}/namespaces/${encodeURIComponent(temporalNamespace)}/workflows`;

interface SignInGuards {
  /** Authenticates an API key as the header X-API-Key does. Throws Unauthorized. */
  readonly prove: (apiKey: string, ip: string) => Promise<Principal>;
  readonly guard: SessionGuard;
  /** Takes a token from the address's limit of failed sign-ins before a link is looked up. */
  readonly takeToken: (ip: string) => void;
  /** Gives the token back after a valid link. */
  readonly returnToken: (ip: string) => void;
}

export function sessionEndpoints({
  prove,
  guard,
  takeToken,
  returnToken,
}: SignInGuards): readonly Endpoint[] {
  const signIn = endpoint(
    {
      method: 'POST',
      path,
      operationId: 'signIn',
      summary: 'Sign in with a key, or with the token of a link',
      ...ofThePage,
      description:
        'A link to another workspace than that of the browser’s session is answered 409, until `replace` is true.',
      body: optional({ api_key: ApiKey, token: textOf({ max: 200 }), replace: t.boolean }),
      bodyExample: { api_key: 'mc_…' },
      responses: done,
      errors: [409],
    },
    async ({ dependencies: { config, database }, body, request }) => {
      requireOwnOrigin(config, request.header);
      const previous = sessionOf(config, request.header);
      if (previous !== undefined && body.replace !== true)
        await refuseReplacing({ database }, { token: body.token, previous, ip: request.ip });
      const keyId = await keyOf({ database }, body, request.ip);
      const value = newSessionSecret();
      await insertSession(database, { idHash: hashSessionSecret(value), keyId });
      // The new cookie replaces the previous one, and then the previous session could no longer be ended.
      if (previous !== undefined) await endSession(database, previous);
      return { status: 204, headers: { 'Set-Cookie': sessionCookie(config, value) } };
    },
  );

  /** Otherwise a link could make somebody work in another workspace without noticing. */
  async function refuseReplacing(
    { database }: Pick<Dependencies, 'database'>,
    {
      token,
      previous,
      ip,
    }: { readonly token: string | undefined; readonly previous: Buffer; readonly ip: string },
  ): Promise<void> {
    if (token === undefined) return;
    takeToken(ip);
    const tokenHash = hashSessionSecret(token);
    const names = await findReplaced(database, { tokenHash, idHash: previous });
    returnToken(ip);
    if (names !== undefined)
      throw new Conflict(
        `This link leads to the workspace ${names.to}, but you are signed in to ${names.from}`,
      );
  }

  async function keyOf(
    { database }: Pick<Dependencies, 'database'>,
    { api_key: key = '', token }: { readonly api_key?: string; readonly token?: string },
    ip: string,
  ): Promise<string> {
    if (token === undefined) return (await prove(key, ip)).keyId;
    takeToken(ip);
    const keyId = await takeSignInLink(database, hashSessionSecret(token));
    if (keyId === undefined) throw new Unauthorized();
    returnToken(ip);
    return keyId;
  }

  const readSession = endpoint(
    {
      method: 'GET',
      path,
      operationId: 'getSession',
      summary: 'Who is signed in',
      ...ofThePage,
      responses: { 200: { description: 'The session', body: Session } },
    },
    async ({ dependencies, request }) => {
      const session = await guard.require(request.header, request.ip);
      const { workspaceId, workspaceName, keyId, channelId, scope, operatorKeyId, expiresAt } = session;
      const operator = scope === 'operator' || operatorKeyId !== null;
      const { config } = dependencies;
      // Temporal's Web UI shows the campaigns of every workspace.
      const workflowsUrl = operator || !config.production ? workflowsPage(config) : null;
      const key = { keyId, channelId, scope, operator, expiresAt };
      return {
        status: 200,
        body: { workspaceId, workspaceName, ...key, local: !config.production, workflowsUrl },
      };
    },
  );

  const addOperator = endpoint(
    {
      method: 'PUT',
      path: `${path}/operator`,
      operationId: 'addOperatorKey',
      summary: 'Add the right to recharge',
      ...ofThePage,
      body: struct({ api_key: ApiKey }),
      bodyExample: { api_key: 'mc_…' },
      responses: done,
    },
    async ({ dependencies, body, request }) => {
      const session = await guard.require(request.header, request.ip);
      const key = await prove(body.api_key, request.ip);
      if (key.scope !== 'operator' || key.workspaceId !== session.workspaceId) throw new Unauthorized();
      await withCallContext({ keyId: session.keyId }, () =>
        setOperatorKey(dependencies.database, { idHash: session.idHash, keyId: key.keyId }),
      );
      return { status: 204 };
    },
  );

  const removeOperator = endpoint(
    {
      method: 'DELETE',
      path: `${path}/operator`,
      operationId: 'removeOperatorKey',
      summary: 'Take off the right to recharge',
      ...ofThePage,
      responses: done,
    },
    async ({ dependencies, request }) => {
      const session = await guard.require(request.header, request.ip);
      await withCallContext({ keyId: session.keyId }, () =>
        clearOperatorKey(dependencies.database, session.idHash),
      );
      return { status: 204 };
    },
  );

  const signOut = endpoint(
    {
      method: 'DELETE',
      path,
      operationId: 'signOut',
      summary: 'Sign out',
      ...ofThePage,
      responses: done,
    },
    async ({ dependencies: { config }, request }) => {
      await guard.end(request.header, request.ip);
      return { status: 204, headers: { 'Set-Cookie': sessionCookie(config, '') } };
    },
  );

  return [signIn, readSession, addOperator, removeOperator, signOut];
}
