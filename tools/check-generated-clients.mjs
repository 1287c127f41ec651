/**
 * `npm run generated-clients [-- NAME…]`: checks that clients generated from docs/openapi.json compile, and that those with a
 * journey work against a stack. Generators run with their defaults. A part of `npm run test:release`, because the tools come
 * from four registries. An entry whose programs or tools are missing is named and left out.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { endWithUsage } from './usage.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const journeys = join(root, 'clients', 'generated');
const document = join(root, 'docs', 'openapi.json');
// Kept between runs, so that the tools are fetched once.
const work = join(root, 'dist', 'clients', 'generated');
const generator = 'v/lib/python3*/site-packages/openapi_generator_cli/openapi-generator.jar';
const generatorTools = 'python3 -m venv v && v/bin/pip install --quiet openapi-generator-cli==7.26.0';
// Entries that only generate share the generator of `python`, and fetch it if that entry did not run before.
const sharedGenerator = `../python/${generator}`;
const sharedTools = `ls ${sharedGenerator} || (mkdir -p ../python && cd ../python && ${generatorTools})`;
const generateWith = (name) =>
  `rm -rf out && java -jar ${sharedGenerator} generate -i ${document} -g ${name} -o out > generator.log`;
const typescript = 'npx tsc --noEmit --strict --target es2022 --module esnext --moduleResolution bundler';

/** An entry without `run` is only generated and compiled. */
const languages = {
  typescript: {
    needs: ['npm'],
    tools:
      'npm install --silent --no-save --prefix . openapi-typescript@7.13.0 openapi-fetch@0.17.0 typescript@5.9.3 @types/node@20.19.43 @stoplight/spectral-cli@6.16.3',
    generate: `npx spectral lint --fail-severity=warn --ruleset ${journeys}/spectral.yaml ${document} && npx openapi-typescript ${document} -o api.d.ts`,
    compile:
      'npx tsc --strict --target es2022 --module nodenext --skipLibCheck --allowImportingTsExtensions --rewriteRelativeImportExtensions journey.ts',
    run: 'node journey.js',
  },
  python: {
    needs: ['python3', 'java'],
    tools: `${generatorTools} pydantic python-dateutil urllib3 typing-extensions mypy types-python-dateutil`,
    generate: `java -jar ${generator} generate -i ${document} -g python -o . --package-name messaging_campaigns > generator.log`,
    compile: 'v/bin/mypy --check-untyped-defs journey.py',
    run: 'v/bin/python journey.py',
  },
  java: {
    needs: ['java', 'javac', 'mvn', 'python3'],
    tools: `${generatorTools} && mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies -DoutputDirectory=libs`,
    generate: `java -jar ${generator} generate -i ${document} -g java --library native -o . -p hideGenerationTimestamp=true > generator.log`,
    compile: "javac -nowarn -d classes -cp 'libs/*' $(find src/main/java -name '*.java') Journey.java",
    run: "java -cp 'classes:libs/*' Journey",
  },
  go: {
    needs: ['go'],
    tools:
      'GOBIN=$PWD go install github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 && go mod init journey && go get github.com/oapi-codegen/runtime@latest github.com/google/uuid@latest',
    generate: `mkdir -p campaigns && ./oapi-codegen -generate types,client -package campaigns -o campaigns/campaigns.go ${document}`,
    compile: 'go mod tidy && go build -o journey journey.go',
    run: './journey',
  },
  'hey-api': {
    needs: ['npm'],
    tools: 'npm install --silent --no-save --prefix . @hey-api/openapi-ts@0.95.0 typescript@5.9.3',
    generate: `npx openapi-ts -i ${document} -o out`,
    compile: `${typescript} --skipLibCheck out/index.ts`,
  },
  orval: {
    needs: ['npm'],
    tools: 'npm install --silent --no-save --prefix . orval@7.13.2 axios@1.13.2 typescript@5.9.3',
    generate: `npx orval --input ${document} --output out/api.ts`,
    compile: `${typescript} --skipLibCheck out/api.ts`,
  },
  'typescript-fetch': {
    needs: ['npm', 'java', 'python3'],
    tools: `(${sharedTools}) && npm install --silent --no-save --prefix . typescript@5.9.3`,
    generate: generateWith('typescript-fetch'),
    compile: `${typescript} out/index.ts`,
  },
  'go (openapi-generator)': {
    needs: ['go', 'java', 'python3'],
    tools: sharedTools,
    generate: generateWith('go'),
    compile: 'cd out && go mod tidy && go build ./...',
  },
  'java (defaults)': {
    needs: ['java', 'javac', 'mvn', 'python3'],
    tools: sharedTools,
    generate: generateWith('java'),
    compile: 'cd out && mvn -q -B -DskipTests compile',
  },
  php: {
    needs: ['php', 'java', 'python3'],
    tools: sharedTools,
    generate: generateWith('php'),
    compile: "find out/lib -name '*.php' -print0 | xargs -0 -n 1 php -l",
  },
};

/** How to get each program. Debian's Go is too old for the tools. */
const sources = {
  npm: 'comes with Node',
  python3: 'apt-get install python3-venv',
  java: 'apt-get install default-jre-headless',
  javac: 'apt-get install default-jdk-headless',
  mvn: 'apt-get install maven',
  go: 'https://go.dev/dl',
  php: 'apt-get install php-cli',
};

const expected = { tagged: true, recipients: 2, headers: ['phone', 'country'], events: ['sent'] };
// 5 minutes for all tools: a registry that does not answer must not block the check.
const fetchUntil = Date.now() + 300_000;
const seconds = (from) => `${((Date.now() - from) / 1000).toFixed(0)} s`;
const isHere = (program) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;

const chosen = process.argv.slice(2);
if (chosen.some((name) => !(name in languages)))
  endWithUsage(`Usage: npm run generated-clients [-- NAME…]\nNames: ${Object.keys(languages).join(', ')}\n`);

const home = mkdtempSync(join(tmpdir(), 'generated-clients-'));
// The embedded Postgres runs as another user, which must be able to enter.
chmodSync(home, 0o711);
const dataDir = join(home, 'data');
const stack = spawn(process.execPath, [join(root, 'tools/run-built.mjs'), 'local/stack/start.js'], {
  cwd: root,
  env: { ...process.env, DATA_DIR: dataDir, PORT: '0', TEMPORAL_UI_PORT: '0' },
  stdio: ['ignore', 'ignore', 'inherit'],
});
const ended = new Promise((done) => stack.once('close', done));
let failed = 0;
try {
  while (!existsSync(join(dataDir, 'dev.json'))) {
    if (stack.exitCode !== null) throw new Error('The stack did not start');
    await sleep(100);
  }
  const dev = JSON.parse(readFileSync(join(dataDir, 'dev.json'), 'utf8'));
  const environment = {
    ...process.env,
    BASE_URL: dev.baseUrl,
    API_KEY: dev.apiKey,
    TEMPLATE_ID: '0197c1f2-5d10-7c11-8a11-0c5f1b2a4e77',
  };
  for (const [name, language] of Object.entries(languages)) {
    if (chosen.length > 0 && !chosen.includes(name)) continue;
    const missing = language.needs.filter((program) => !isHere(program));
    if (missing.length > 0) {
      const named = missing.map((program) => `${program} (${sources[program]})`).join(', ');
      process.stdout.write(`${name}: left out, as this machine has no ${named}\n`);
      continue;
    }
    try {
      process.stdout.write(`${name}: ${walk(name, language, environment)}\n`);
    } catch (error) {
      failed += 1;
      const output = `${error.stdout ?? ''}${error.stderr ?? ''}`.slice(0, 2_000);
      process.stdout.write(`${name}: FAILED, ${error.message.slice(0, 500)}\n${output}\n`);
    }
  }
} finally {
  stack.kill('SIGTERM');
  await ended;
  rmSync(home, { recursive: true, force: true });
}
process.exitCode = failed === 0 ? 0 : 1;

function walk(name, { tools, generate, compile, run }, env) {
  const folder = join(work, name);
  const shell = (command, timeout) =>
    execFileSync('sh', ['-c', command], { cwd: folder, env, encoding: 'utf8', stdio: 'pipe', timeout });
  const from = Date.now();
  mkdirSync(folder, { recursive: true });
  cpSync(journeys, folder, { recursive: true });
  if (name === 'typescript') writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const fetched = join(folder, '.fetched');
  if (!existsSync(fetched) || readFileSync(fetched, 'utf8') !== tools) {
    try {
      shell(tools, Math.max(1, fetchUntil - Date.now()));
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      return `left out, as its tools could not be fetched: ${String(error.stderr || error.message)
        .trim()
        .slice(-500)}`;
    }
    writeFileSync(fetched, tools);
  }
  const toolsTook = seconds(from);
  const generated = Date.now();
  shell(generate);
  shell(compile);
  if (run === undefined) return `generated and compiled in ${seconds(generated)} (its tools: ${toolsTook})`;
  const answer = JSON.parse(shell(run));
  if (!isDeepStrictEqual(answer, expected)) throw new Error(`it came to ${JSON.stringify(answer)}`);
  return `generated, compiled and driven in ${seconds(generated)} (its tools: ${toolsTook})`;
}
