/** The operations that the named resources of a workspace have alike; what is special about one is declared beside them. */
import type * as t from 'io-ts';
import { idOf, limitUpTo, Page } from '../../codecs/scalars.ts';
import { struct } from '../../codecs/struct.ts';
import type { Dependencies } from '../../dependencies.ts';
import type { Principal } from '../../domain/workspaces/api-key.ts';
import type { Page as PageOf, Place } from '../../records/database/page.ts';
import type { Endpoint, EndpointCall, Immutable } from './endpoint.ts';
import {
  acknowledge,
  Acknowledgement,
  page,
  pageOf,
  record,
  recordWithMessage,
  succeed,
  succeedWith,
} from './envelope.ts';

export interface Resource<C extends t.Mixed> {
  /** As in NotFound: `Tag`. */
  readonly name: string;
  /** The section of the document. */
  readonly tag: string;
  readonly path: `/api/${string}`;
  readonly record: C;
  readonly example: object;
}

interface Texts {
  readonly summary?: string;
  readonly description?: string;
}

interface ListTexts extends Texts {
  /** Follows `One page of tags`. */
  readonly order?: string;
}

interface Input<B extends t.Mixed> extends Texts {
  readonly body: B;
  readonly bodyExample: object;
}

interface Change<B extends t.Mixed> extends Input<B> {
  readonly errors?: readonly number[];
}

/** A call of the collection, and one of a record of it. */
interface Call {
  readonly dependencies: Dependencies;
  readonly database: Dependencies['database'];
  readonly principal: Principal;
  readonly workspaceId: number;
}
interface CallOfOne extends Call {
  readonly id: string;
}

type Shown<C extends t.Mixed> = Immutable<t.TypeOf<C>>;
type Filters<F extends t.Props> = { readonly [K in keyof F]?: t.TypeOf<F[K]> };

const callOf = ({ dependencies, principal }: EndpointCall): Call => ({
  dependencies,
  database: dependencies.database,
  principal,
  workspaceId: principal.workspaceId,
});
const callOfOne = (call: EndpointCall): CallOfOne => ({
  ...callOf(call),
  ...(call.params as { readonly id: string }),
});

// The types of a call and of its answer are those of the codecs beside it, which `Endpoint` erases.
export function resource<C extends t.Mixed>({ name, tag, path, record: codec, example }: Resource<C>) {
  const noun = name.toLowerCase();
  const params = struct({ id: idOf(name) });
  const whole = { tag, access: 'workspace' } as const;
  const one = { path: `${path}/:id`, params, ...whole } as const;
  const written = (description: string, message: string, data: object) => ({
    description,
    body: recordWithMessage(codec),
    example: { status: 'success', message, data },
  });

  return {
    /** `GET /api/tags?page=&limit=` */
    list<F extends t.Props>(
      filters: F,
      { summary = `List the ${noun}s of the workspace`, order = '', ...texts }: ListTexts,
      find: (call: Call, query: Filters<F> & Place) => Promise<PageOf<Shown<C>>>,
    ): Endpoint {
      return {
        declaration: {
          method: 'GET',
          path,
          operationId: `list${name}s`,
          summary,
          ...texts,
          ...whole,
          query: struct({}, { page: Page, limit: limitUpTo(100), ...filters }),
          responses: {
            200: {
              description: `One page of ${noun}s${order}`,
              body: pageOf(codec),
              example: {
                status: 'success',
                data: [example],
                pagination: { page: 1, limit: 10, total: 1, totalPages: 1 },
              },
            },
          },
          errors: [400],
        },
        handle: async (call) => {
          const query = call.query as Filters<F> & Partial<Place>;
          const place = { page: query.page ?? 1, limit: query.limit ?? 10 };
          const { items, total } = await find(callOf(call), { ...query, ...place });
          return { status: 200, body: page(items, { ...place, total }) };
        },
      };
    },

    /** `POST /api/tags` */
    create<B extends t.Mixed>(
      { summary = `Create a ${noun}`, bodyExample, body, ...texts }: Input<B>,
      make: (call: Call, body: t.TypeOf<B>) => Promise<Shown<C>>,
    ): Endpoint {
      const message = `${name} created successfully`;
      return {
        declaration: {
          method: 'POST',
          path,
          operationId: `create${name}`,
          summary,
          ...texts,
          ...whole,
          body,
          bodyExample,
          responses: { 201: written(`The ${noun}`, message, example) },
          errors: [400],
        },
        handle: async (call) => ({
          status: 201,
          body: succeedWith(message, await make(callOf(call), call.body)),
        }),
      };
    },

    /** `GET /api/tags/{id}` */
    read(find: (call: CallOfOne) => Promise<Shown<C>>): Endpoint {
      return {
        declaration: {
          method: 'GET',
          operationId: `get${name}`,
          summary: `Read a ${noun}`,
          ...one,
          responses: {
            200: {
              description: `The ${noun}`,
              body: record(codec),
              example: { status: 'success', data: example },
            },
          },
        },
        handle: async (call) => ({ status: 200, body: succeed(await find(callOfOne(call))) }),
      };
    },

    /** `PUT /api/tags/{id}`: absent fields stay. */
    change<B extends t.Mixed>(
      { summary = `Change a ${noun}`, bodyExample, body, errors = [400], ...texts }: Change<B>,
      apply: (call: CallOfOne, body: t.TypeOf<B>) => Promise<Shown<C>>,
    ): Endpoint {
      const message = `${name} updated successfully`;
      return {
        declaration: {
          method: 'PUT',
          operationId: `update${name}`,
          summary,
          ...texts,
          ...one,
          body,
          bodyExample,
          responses: { 200: written(`The ${noun} as it is now`, message, { ...example, ...bodyExample }) },
          errors,
        },
        handle: async (call) => ({
          status: 200,
          body: succeedWith(message, await apply(callOfOne(call), call.body)),
        }),
      };
    },

    /** `DELETE /api/tags/{id}` */
    remove(texts: Texts, drop: (call: CallOfOne) => Promise<void>): Endpoint {
      const message = `${name} deleted successfully`;
      return {
        declaration: {
          method: 'DELETE',
          operationId: `delete${name}`,
          summary: `Delete a ${noun}`,
          ...texts,
          ...one,
          responses: {
            200: {
              description: `The ${noun} is deleted`,
              body: Acknowledgement,
              example: { status: 'success', message },
            },
          },
        },
        handle: async (call) => {
          await drop(callOfOne(call));
          return { status: 200, body: acknowledge(message) };
        },
      };
    },
  };
}
