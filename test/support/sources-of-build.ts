import { readFileSync } from 'node:fs';

/** The names that the image's build stage copies. */
export function sourcesOfBuild(): readonly string[] {
  const [stage = ''] = readFileSync('Dockerfile', 'utf8')
    .split(/^FROM /m)
    .slice(1);
  return [...stage.matchAll(/^COPY (.+) \S+$/gm)].flatMap(([, names = '']) => names.split(' '));
}
