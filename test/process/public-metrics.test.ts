/** Which port of the built API serves /metrics. */
import { expect, it, onTestFinished } from 'vitest';
import { startProgram } from '../outages/child-process.ts';

const secret = 'a long secret of the tests for production';

it.for([
  { nodeEnv: 'production', status: 404 },
  { nodeEnv: 'development', status: 200 },
])(
  'in $nodeEnv the main port answers /metrics with $status without METRICS_PORT',
  async ({ nodeEnv, status }) => {
    const api = startProgram({
      path: 'dist/src/server.js',
      environment: {
        NODE_ENV: nodeEnv,
        PORT: '0',
        DATABASE_URL: 'postgres://127.0.0.1:9/none',
        TEMPORAL_ADDRESS: '127.0.0.1:9',
        PROVIDER_BASE_URL: 'http://127.0.0.1:9/v23.0',
        PROVIDER_APP_SECRET: secret,
        PROVIDER_VERIFY_TOKEN: secret,
        KEY_PEPPER: secret,
        SECRETS_KEY: secret,
      },
    });
    onTestFinished(async () => {
      api.child.kill('SIGKILL');
      await api.ended;
    });
    await api.says('"msg":"listening"');
    const [, port] = /"port":(\d+),"msg":"listening"/.exec(api.output()) ?? [];
    expect((await fetch(`http://127.0.0.1:${port}/metrics`)).status).toBe(status);
  },
);
