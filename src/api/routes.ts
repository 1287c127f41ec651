/** Every operation of the API, in the order of the document. */
import { documentation } from './docs-page.ts';
import type { Endpoint } from './endpoint.ts';
import { healthz, readyz } from './health.ts';
import { metricsEndpoint } from './metrics-endpoint.ts';
import { getPayloadSkeleton, getTemplateVariables, listTemplates, syncTemplates } from './templates.ts';

const operations: readonly Endpoint[] = [
  listTemplates,
  syncTemplates,
  getTemplateVariables,
  getPayloadSkeleton,
  healthz,
  readyz,
  metricsEndpoint,
];

export const routes: readonly Endpoint[] = [...operations, ...documentation(operations)];
