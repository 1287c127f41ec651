/** Every operation of the API, in the order of the document. */
import type { Endpoint } from './endpoint.ts';

export const routes: readonly Endpoint[] = [];
