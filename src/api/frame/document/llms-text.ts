/** `/llms.txt`: the document in short, as Markdown (https://llmstxt.org). */
import { operationsByTag } from './operations-by-tag.ts';
import type { OpenApiDocument } from './openapi.ts';

export function llmsText(document: OpenApiDocument): string {
  const { title, description } = document['info'] as { readonly title: string; readonly description: string };
  const [summary = '', ...guide] = description.split('\n\n');
  const operations = [...operationsByTag(document)].map(
    ([tag, list]) =>
      `### ${tag}\n\n${list.map((one) => `- \`${one.method} ${one.path}\` (${one.operationId}): ${one.summary}`).join('\n')}`,
  );
  return `# ${title}\n\n> ${summary}\n\n- [OpenAPI document](/openapi.json): every field, limit and example\n- [Documentation page](/docs)\n\n${guide.join('\n\n')}\n\n## Operations\n\n${operations.join('\n\n')}\n`;
}
