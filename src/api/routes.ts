/** Every operation of the API, in the order of the document. */
import type { Endpoint } from './endpoint.ts';
import { getPayloadSkeleton, getTemplateVariables, listTemplates, syncTemplates } from './templates.ts';

export const routes: readonly Endpoint[] = [
  listTemplates,
  syncTemplates,
  getTemplateVariables,
  getPayloadSkeleton,
];
