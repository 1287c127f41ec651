/** Prints how a tool is called and ends the process: with 0 if `--help` or `-h` asked for it, else with 1, on stderr. */
export function endWithUsage(usage) {
  const isAsked = process.argv.slice(2).some((arg) => arg === '--help' || arg === '-h');
  (isAsked ? process.stdout : process.stderr).write(usage);
  process.exit(isAsked ? 0 : 1);
}
