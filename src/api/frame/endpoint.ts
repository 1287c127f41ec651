/**
 * The declaration of one operation. Validation, routing, 405/`Allow`, authentication and the OpenAPI document are all read
 * from it; `src/api/routes.ts` lists every declaration.
 */
import type { Readable } from 'node:stream';
import type * as t from 'io-ts';
import type { JsonSchema } from '../../codecs/json-schema.ts';
import type { Dependencies } from '../../dependencies.ts';
import type { Principal } from '../../domain/workspaces/api-key.ts';
import type { Connection, Transaction } from '../../records/database/database.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * `public`: no key, `principal` must not be read. `workspace`: any key. `operator`: an operator's key.
 * `channel`: the operation sends; a channel's or a workspace's key, never an operator's.
 */
export type Access = 'public' | 'workspace' | 'channel' | 'operator';

/** `raw`: the bytes as they came. `multipart`: a receiver of one file of a `multipart/form-data` body, unread yet. */
export type BodyDeclaration = t.Mixed | 'raw' | 'multipart' | 'none';

export interface WantedFile {
  /** Name of the field in the form. */
  readonly field: string;
  readonly maxBytes: number;
  /** Receives the text fields of the form, complete when the receiver resolves; without it they are dropped. */
  readonly fields?: Map<string, string>;
  /** A form without the file resolves to undefined. */
  readonly isOptional?: boolean;
}

/**
 * Resolves to the result of `take`, which reads the file to its end and throws only afterwards. The file's stream ends when
 * the whole form has arrived; an incomplete form destroys it.
 */
export type FileReceiver = <T>(
  wanted: WantedFile,
  take: (file: Readable, mimeType: string) => Promise<T>,
) => Promise<T>;

export interface ResponseDeclaration {
  readonly description: string;
  /** A JSON body. Dates and other non-JSON values are encoded by the codec, undeclared fields are dropped. */
  readonly body?: t.Mixed;
  /** Example as JSON; a test checks it against the schema of `body`. */
  readonly example?: unknown;
  /** Bodies that are not JSON, by media type. A codec describes one event of a stream. */
  readonly content?: Readonly<Record<string, JsonSchema | t.Mixed>>;
}

export interface Deprecation {
  /** When it was announced. */
  readonly since: Date;
  /** From when the operation may be gone. */
  readonly sunset: Date;
  /** The replacement, as the document names it. */
  readonly advice: string;
}

/** The headers of RFC 9745 and RFC 8594. */
export const deprecationHeaders = ({ since, sunset }: Deprecation): Headers => ({
  Deprecation: `@${Math.floor(since.getTime() / 1_000)}`,
  Sunset: sunset.toUTCString(),
  Link: '</docs>; rel="deprecation"',
});

export type ResponseDeclarations = { readonly [status: number]: ResponseDeclaration };

export interface Declaration<
  P extends t.Mixed = t.Mixed,
  Q extends t.Mixed = t.Mixed,
  B extends BodyDeclaration = BodyDeclaration,
  R extends ResponseDeclarations = ResponseDeclarations,
> {
  readonly method: Method;
  /** Parameters as `:id`, each a field of `params`. */
  readonly path: `/${string}`;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  readonly access: Access;
  /** Campaign creation: a JWT in place of a key is refused with a message of its own (Spec 5.2). */
  readonly apiKeyOnly?: true;
  /** Path parameters; what does not decode is answered 404 with the codec's message (see `idOf`). */
  readonly params?: P;
  readonly query?: Q;
  /** A codec makes the endpoint take a JSON object. */
  readonly body?: B;
  /** A request without a body is read as an empty object. */
  readonly bodyIsOptional?: true;
  /** The JSON text `null` is read as well. */
  readonly bodyMayBeNull?: true;
  /** Example as JSON; a test decodes it with the codec. */
  readonly bodyExample?: unknown;
  /** For `raw` and `multipart` bodies, which have no codec. */
  readonly bodySchema?: JsonSchema;
  /** A `multipart` endpoint takes a JSON object of this codec, too; the handler then gets the object. */
  readonly jsonBody?: t.Mixed;
  /** Bytes; 1 MiB by default. A `multipart` handler keeps its own limit. */
  readonly bodyLimit?: number;
  /** Takes an Idempotency-Key; the handler must use `request.idempotency`. */
  readonly idempotent?: true;
  /** Checks the headers before the body is read; throws to refuse the request. For public endpoints. */
  readonly precheck?: (header: EndpointRequest['header']) => void;
  /** Polled by machines every few seconds, and therefore logged at `debug`. */
  readonly probe?: true;
  /** Called so often that LOG_SAMPLE_PERCENT applies to the log lines of its successes. */
  readonly sampled?: true;
  /** The answer stays open for long: its number is limited. */
  readonly stream?: true;
  /** Announced removal: every answer says so in its headers, and the document marks the operation (docs/versioning.md). */
  readonly deprecation?: Deprecation;
  /** Leaves the operation out of the OpenAPI document: the files of the documentation page. */
  readonly undocumented?: true;
  readonly responses: R;
  /** Error statuses in addition to the implied ones: 401, 429, 500 and 503, 404 of path parameters, 400 of queries and bodies, 408, 413 and 415 of bodies. */
  readonly errors?: readonly number[];
}

export interface EndpointRequest {
  /** X-Request-Id: the caller's, or one made here. */
  readonly id: string;
  /** Returns a header, for signatures and content negotiation; repeated headers are joined by a comma. */
  readonly header: (name: string) => string | undefined;
  readonly ip: string;
  /** True while the process shuts down. */
  readonly isStopping: () => boolean;
  /** Names missing dependencies of the process, such as Postgres; cached for a second. */
  readonly findMissing: () => Promise<readonly string[]>;
  /** Checks the credentials of the request again; for answers that stream for a long time. */
  readonly isStillAllowed: () => Promise<boolean>;
  readonly idempotency: RequestIdempotency;
  /** Names the message that the request sends, for its log line. */
  readonly nameMessage: (messageId: string) => void;
}

/** Without the header the functions do nothing. */
export interface RequestIdempotency {
  /** Stores the handler's answer under the key, in the transaction of what it creates; undefined without the header. */
  readonly storeAnswer?: (transaction: Transaction, answer: JsonAnswer) => Promise<void>;

  /**
   * Two phases, for a request that calls the provider in between: `reserve` in the transaction that claims
   * `resourceId`, then `complete` or, when the answer is an error that leaves nothing behind, `release`.
   */
  readonly reserve: (transaction: Transaction, resourceId: string) => Promise<void>;
  readonly complete: (connection: Connection, answer: JsonAnswer) => Promise<void>;
  readonly release: (connection: Connection) => Promise<void>;
  /**
   * Set if an earlier request reserved this key and its process died: the handler must not act again, but answer from the
   * record of `resourceId`, then call `complete`.
   */
  readonly interrupted: { readonly resourceId: string } | undefined;
}

type Answers<R extends ResponseDeclarations> = {
  [S in keyof R & number]:
    | ContentAnswer<S>
    | (R[S] extends { readonly body: infer C extends t.Mixed }
        ? { readonly status: S; readonly body: Immutable<t.TypeOf<C>>; readonly headers?: Headers }
        : { readonly status: S; readonly headers?: Headers });
}[keyof R & number];

export type Immutable<A> = A extends Date
  ? A
  : A extends readonly (infer E)[]
    ? readonly Immutable<E>[]
    : A extends object
      ? { readonly [K in keyof A]: Immutable<A[K]> }
      : A;

type BodyOf<B extends BodyDeclaration> = B extends t.Mixed
  ? t.TypeOf<B>
  : B extends 'raw'
    ? Buffer
    : B extends 'multipart'
      ? FileReceiver
      : undefined;

/** Arguments of a handler, decoded and typed by the codecs. */
export interface EndpointCall<P = unknown, Q = unknown, B = unknown> {
  readonly dependencies: Dependencies;
  readonly principal: Principal;
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly request: EndpointRequest;
}

/** An operation without its type parameters, for routing and for the document. */
export interface Endpoint {
  readonly declaration: Declaration;
  readonly handle: (call: EndpointCall) => Promise<Answer>;
}

/** Declares an operation. The handler throws domain errors; `error-envelope.ts` alone makes responses of them. */
export function endpoint<
  R extends ResponseDeclarations,
  P extends t.Mixed = t.UnknownC,
  Q extends t.Mixed = t.UnknownC,
  B extends BodyDeclaration = 'none',
  const A extends Answers<R> = Answers<R>,
>(
  declaration: Declaration<P, Q, B, R>,
  handle: (call: EndpointCall<t.TypeOf<P>, t.TypeOf<Q>, BodyOf<B>>) => Promise<A>,
): Endpoint {
  return {
    declaration: declaration as Declaration,
    handle: handle as Endpoint['handle'],
  };
}

export type Headers = Readonly<Record<string, string>>;

/** A body that is not JSON. */
export interface ContentAnswer<S extends number = number> {
  readonly status: S;
  readonly content: string | Buffer | Readable;
  readonly contentType: string;
  readonly headers?: Headers;
}

export interface JsonAnswer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Headers;
}

/** What a handler returns. */
export type Answer = JsonAnswer | ContentAnswer;
