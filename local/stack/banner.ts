/** The text that `npm start` prints when all is ready, also with LOG_FORMAT=json. */
import { workflowTypes } from '../../src/workflows/contract.ts';
import type { DevFile } from './dev-file.ts';

export interface BannerOptions {
  /** Signs in once, within ten minutes. */
  readonly signInLink: string;
  readonly dev: DevFile;
  readonly dataDir: string;
  /** The `temporal` program, which is both the server and the command line; undefined when this start runs no server. */
  readonly temporalProgram: string | undefined;
  readonly seconds: number;
  /** A template without media, and sample values for its variables. */
  readonly example: { readonly templateId: string; readonly variables: readonly string[] } | undefined;
}

export function banner({
  dev,
  signInLink,
  dataDir,
  temporalProgram,
  seconds,
  example,
}: BannerOptions): string {
  const rows = [
    ['Dashboard', signInLink],
    ['API', dev.baseUrl],
    ['API documentation', `${dev.baseUrl}/docs`],
    ['Temporal Web UI', campaignsPage(dev) ?? `(of the server at ${dev.temporalAddress})`],
    ['Temporal', `${dev.temporalAddress}, namespace ${dev.temporalNamespace}`],
    ...(temporalProgram === undefined
      ? []
      : [['Its command line', `${temporalProgram} --address ${dev.temporalAddress} workflow list`]]),
    ['Provider', dev.providerUrl],
    ['Data and keys', `${dataDir} (dev.json)`],
  ].map(([name = '', value = '']) => `  ${name.padEnd(18)} ${value}`);
  return ['', `Ready in ${seconds.toFixed(1)} s.`, '', ...rows, '', ...curl(dev, example), ''].join('\n');
}

/** Link to the list of campaign workflows, without the thousands of deliveries. */
function campaignsPage({ temporalUiUrl, temporalNamespace }: DevFile): string | undefined {
  if (temporalUiUrl === null) return undefined;
  const query = encodeURIComponent(`WorkflowType="${workflowTypes.campaign}"`);
  return `${temporalUiUrl}/namespaces/${temporalNamespace}/workflows?query=${query}`;
}

function curl(dev: DevFile, example: BannerOptions['example']): readonly string[] {
  if (example === undefined) {
    return [
      'No approved template was found at the provider yet: POST /api/templates/sync fetches them again.',
    ];
  }
  const contact = (number: string, name: string) => [number, ...example.variables.map(() => name)].join(',');
  const body = {
    name: 'Spring offer',
    template_id: example.templateId,
    contact_selection_type: 'quick_contacts',
    quick_contacts: [contact('+4915112345678', 'Ada'), contact('+919876543210', 'Grace')],
    send_type: 'IMMEDIATE',
  };
  return [
    'Create a campaign:',
    '',
    `  curl -s -X POST '${dev.baseUrl}/api/campaigns/auto-trigger' \\`,
    `    -H 'X-API-Key: ${dev.apiKey}' -H 'Content-Type: application/json' \\`,
    `    -d '${JSON.stringify(body)}'`,
    '',
    'Ctrl-C stops everything that was started here.',
  ];
}
