import { graphErrorBody, httpStatusOf, type GraphError } from './graph-error.ts';

/** The simulator's response to a request, or how it fails to respond. */
export type SimulatorAnswer =
  | {
      readonly kind: 'answer';
      readonly httpStatus: number;
      readonly contentType: string;
      readonly body: string;
    }
  /** The connection is reset. */
  | { readonly kind: 'drop' }
  /** Never responds. */
  | { readonly kind: 'hang' };

export function jsonAnswer(body: string, httpStatus = 200): SimulatorAnswer {
  return { kind: 'answer', httpStatus, contentType: 'application/json; charset=UTF-8', body };
}

export function errorAnswer(error: GraphError): SimulatorAnswer {
  return jsonAnswer(graphErrorBody(error), httpStatusOf(error.code));
}

/** A page as a gateway or a broken server sends it. */
export function htmlAnswer(httpStatus: number): SimulatorAnswer {
  const body = `<html><head><title>${httpStatus}</title></head><body><h1>Error ${httpStatus}</h1></body></html>`;
  return { kind: 'answer', httpStatus, contentType: 'text/html', body };
}
