/** The text of docs/errors.md. */
import { errorCodeTable } from '../../../domain/error-code.ts';

const intro = `# Errors

Every answer that is no success holds \`error_code\` beside \`code\` (the HTTP status) and \`message\`. Programs should test \`error_code\`.
Written by \`npm run openapi\`.

| \`error_code\` | means | what to do |
|---|---|---|
`;

export function errorPage(): string {
  const rows = Object.entries(errorCodeTable).map(
    ([code, { meaning, advice }]) => `| \`${code}\` | ${meaning} | ${advice} |\n`,
  );
  return intro + rows.join('');
}
