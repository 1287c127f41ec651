import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { dynamicConfig } from '../../local/stack/temporal/server.ts';
import { loadConfig, settingsFingerprint, type Environment } from '../../src/config.ts';

const complete: Environment = {
  DATABASE_URL: 'postgres://user@host/database',
  TEMPORAL_ADDRESS: 'host:7233',
  PROVIDER_BASE_URL: 'https://provider.invalid/v1',
  PROVIDER_APP_SECRET: 'a secret of the tests',
  PROVIDER_VERIFY_TOKEN: 'a token of the tests',
  KEY_PEPPER: 'a pepper of the tests, long enough in production',
  SECRETS_KEY: 'a key of the tests, long enough in production',
};

/** Every name that loading asks the environment for. */
function namesRead(): ReadonlySet<string> {
  const names = new Set<string>();
  const recording = new Proxy<Record<string, string | undefined>>(
    {
      ...complete,
      S3_BUCKET: 'bucket',
      NODE_ENV: 'production',
      OUTBOUND_ALLOW_CIDRS: '10.0.0.0/8',
      OUTBOUND_ALLOW_PRIVATE: 'yes',
    },
    {
      get(target, name: string) {
        names.add(name);
        return target[name];
      },
    },
  );
  loadConfig(recording);
  return names;
}

/** The configuration table of docs/operations/configure.md: the default by name. */
function documented(): ReadonlyMap<string, string> {
  const text = readFileSync('docs/operations/configure.md', 'utf8');
  const table = text.slice(text.indexOf('## Configuration'), text.indexOf('## Keys and secrets'));
  return new Map(
    [...table.matchAll(/^\| `(\w+)` \| ([^|]+) \| [^|]+ \|$/gm)].map(([, name = '', fallback = '']) => [
      name,
      fallback.replaceAll('`', '').trim(),
    ]),
  );
}

/** Values of .env.example; a commented-out line shows the default. */
function example(): ReadonlyMap<string, { readonly value: string; readonly active: boolean }> {
  const lines = readFileSync('.env.example', 'utf8').matchAll(/^(# )?([A-Z][A-Z0-9_]+)=(.*)$/gm);
  return new Map(
    [...lines].map(([, comment, name = '', value = '']) => [name, { value, active: comment === undefined }]),
  );
}

describe('in production', () => {
  const warned = (settings: Environment) =>
    loadConfig({ ...complete, NODE_ENV: 'production', ...settings }).warnings.map(
      (warning) => warning.split(/[ :]/)[0],
    );

  it('warns of what is sent in the clear to other networks, and of short former secrets', () => {
    expect(
      warned({
        PROVIDER_BASE_URL: 'http://graph.example.com/v1',
        S3_BUCKET: 'bucket',
        S3_ENDPOINT: 'http://s3.example.com',
        PUBLIC_URL: 'http://campaigns.example.com',
        DATABASE_URL: 'postgres://user@db.example.com/database?sslmode=prefer',
        TEMPORAL_ADDRESS: 'temporal.example.com:7233',
        KEY_PEPPER_PREVIOUS: 'short',
        PROVIDER_APP_SECRET_PREVIOUS: 'a secret of the tests too',
      }),
    ).toEqual([
      'PROVIDER_BASE_URL',
      'S3_ENDPOINT',
      'PUBLIC_URL',
      'DATABASE_URL',
      'TEMPORAL_TLS',
      'KEY_PEPPER_PREVIOUS',
    ]);
  });

  it.each(['127.0.0.1', '10.1.2.3', '[::1]', 'temporal', 'temporal.prod.svc', 'db.internal'])(
    'warns of nothing on the near host %s',
    (host) => {
      expect(
        warned({
          PROVIDER_BASE_URL: `http://${host}/v1`,
          DATABASE_URL: `postgres://user@${host}/database`,
          TEMPORAL_ADDRESS: `${host}:7233`,
        }),
      ).toEqual([]);
    },
  );

  it('takes a name that begins like a private address for a far host', () => {
    expect(warned({ PROVIDER_BASE_URL: 'http://10.example.com/v1' })).toContain('PROVIDER_BASE_URL');
  });

  it('warns of nothing that is encrypted, and in development of nothing', () => {
    const far = { DATABASE_URL: 'postgres://user@db.example.com/d?sslmode=verify-full' };
    const temporal = { TEMPORAL_ADDRESS: 'temporal.example.com:7233', TEMPORAL_TLS: 'true' };
    expect(warned({ ...far, ...temporal })).toEqual([]);
    expect(loadConfig({ ...complete, PROVIDER_BASE_URL: 'http://graph.example.com/v1' }).warnings).toEqual(
      [],
    );
  });
});

describe('the configuration table', () => {
  it('names exactly the variables that are read', () => {
    expect([...documented().keys()].toSorted()).toEqual([...namesRead()].toSorted());
  });

  it('says "required" for exactly the variables without which no process starts', () => {
    const required = [...documented()]
      .filter(([, fallback]) => fallback === 'required')
      .map(([name]) => name);
    expect(required.toSorted()).toEqual(Object.keys(complete).toSorted());
  });

  it.each([...documented()].filter(([, fallback]) => fallback !== 'required' && fallback !== 'unset'))(
    'tells the default of %s',
    (name, fallback) => {
      const withBucket = { ...complete, S3_BUCKET: 'bucket' };
      expect(loadConfig({ ...withBucket, [name]: fallback })).toEqual(loadConfig(withBucket));
    },
  );
});

describe('.env.example', () => {
  it('has every variable that is read', () => {
    const given = example();
    expect([...namesRead()].filter((name) => !given.has(name))).toEqual([]);
  });

  it('is a valid configuration once its empty values are filled in', () => {
    const filled = [...example()]
      .filter(([, { active }]) => active)
      .map(([name, { value }]) => [name, complete[name] ?? value] as const);
    const given = Object.fromEntries(filled);
    expect(Object.values(example()).every(({ active, value }) => !active || value === '')).toBe(true);
    expect(
      loadConfig({ ...given, DATABASE_URL: complete['DATABASE_URL'], TEMPORAL_ADDRESS: 'temporal:7233' })
        .production,
    ).toBe(false);
  });

  it('comments the defaults out', () => {
    const defaults = documented();
    const wrong = [...example()].filter(([name, { value, active }]) => {
      const fallback = defaults.get(name);
      return (
        !active && fallback !== undefined && !['required', 'unset'].includes(fallback) && fallback !== value
      );
    });
    expect(wrong).toEqual([]);
  });

  it('gives every variable to the programs of docker-compose.yml', () => {
    const compose = readFileSync('docker-compose.yml', 'utf8');
    const passed = new Set([...compose.matchAll(/^\s+([A-Z][A-Z0-9_]+):/gm)].map(([, name]) => name));
    // Refused in production.
    expect([...namesRead()].filter((name) => !passed.has(name))).toEqual(['OUTBOUND_DNS_SERVERS']);
  });
});

describe('the fingerprint of the settings', () => {
  const of = (more: Environment = {}): string =>
    settingsFingerprint(loadConfig({ ...complete, TEMPORAL_TLS: 'true', ...more }));

  it('is another one when a setting differs', () => {
    expect(of()).toMatch(/^[0-9a-f]{12}$/);
    expect(of({ RETENTION_DAYS: '7' })).not.toBe(of());
    expect(of({ OPT_OUT_WORDS: 'halt' })).not.toBe(of());
  });

  it('tells nothing of secrets, and is the same for processes that differ in port, queues and build', () => {
    const others = {
      DATABASE_URL: 'postgres://other:secret@db/other',
      DATABASE_OWNER_URL: 'postgres://owner:secret@db/other',
      TEMPORAL_API_KEY: 'another key',
      PROVIDER_APP_SECRET: 'another secret of the app',
      PROVIDER_APP_SECRET_PREVIOUS: 'the one before',
      PROVIDER_VERIFY_TOKEN: 'another token',
      KEY_PEPPER: 'another pepper of sixteen',
      KEY_PEPPER_PREVIOUS: 'the one before',
      SECRETS_KEY: 'another key of sixteen',
      SECRETS_KEY_PREVIOUS: 'the one before',
      HOST: '0.0.0.0',
      PORT: '8080',
      METRICS_PORT: '9999',
      TASK_QUEUES: 'webhooks',
      WORKER_BUILD_ID: 'next',
      DRAIN_DELAY_SECONDS: '5',
    };
    for (const [name, value] of Object.entries(others)) expect(of({ [name]: value }), name).toBe(of());
  });
});

describe('the Temporal server of `npm start`', () => {
  it('is given every setting of production', () => {
    const lines = readFileSync('ops/temporal/dynamic-config.yaml', 'utf8').split('\n');
    const settings = lines.filter((line) => line !== '' && !line.startsWith('#'));
    expect(dynamicConfig()).toHaveLength(settings.length);
    expect(dynamicConfig()).toContain('matching.numTaskqueueReadPartitions=1');
  });
});

describe('a value that makes no sense', () => {
  it.each([
    ['NODE_ENV', 'prod', 'NODE_ENV must be one of development, production, test, not "prod"'],
    ['PORT', '65536', 'PORT must be a whole number from 0 to 65535, not "65536"'],
    ['PORT', '3000x', 'PORT must be a whole number from 0 to 65535, not "3000x"'],
    ['DATABASE_URL', 'mysql://host/database', 'DATABASE_URL must be a postgres:// or postgresql:// URL'],
    ['DATABASE_URL', '', 'DATABASE_URL is required'],
    ['TEMPORAL_ADDRESS', 'http://host:7233', 'TEMPORAL_ADDRESS must be of the form host:port'],
    ['TEMPORAL_ADDRESS', 'host:port', 'TEMPORAL_ADDRESS must be of the form host:port'],
    ['TEMPORAL_ADDRESS', 'host:99999', 'TEMPORAL_ADDRESS must be of the form host:port'],
    ['TEMPORAL_ADDRESS', 'host:0', 'TEMPORAL_ADDRESS must be of the form host:port'],
    [
      'TASK_QUEUES',
      'campaigns,mail',
      'TASK_QUEUES must name some of campaigns, webhooks, maintenance, not "campaigns,mail"',
    ],
    ['TASK_QUEUES', ',', 'TASK_QUEUES must name some of campaigns, webhooks, maintenance, not ","'],
    ['PROVIDER_BASE_URL', 'provider.invalid', 'PROVIDER_BASE_URL must be a http:// or https:// URL'],
    ['TEMPORAL_TLS', 'ca.pem,client.pem', 'TEMPORAL_TLS must be true, or paths of PEM files'],
    ['TEMPORAL_API_KEY', 'a key', 'TEMPORAL_API_KEY needs TEMPORAL_TLS'],
    ['TEMPORAL_UI_URL', 'temporal:8233', 'TEMPORAL_UI_URL must be a http:// or https:// URL'],
    ['PUBLIC_URL', 'campaigns.example.com', 'PUBLIC_URL must be a http:// or https:// URL'],
    ['S3_ENDPOINT', 'store:9000', 'S3_ENDPOINT must be a http:// or https:// URL'],
    [
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      'collector',
      'OTEL_EXPORTER_OTLP_ENDPOINT must be a http:// or https:// URL',
    ],
    ['KEY_PEPPER', 'short', 'KEY_PEPPER must have at least 16 characters'],
    ['OUTBOUND_ALLOW_CIDRS', '10.0.0.0', 'OUTBOUND_ALLOW_CIDRS: "10.0.0.0" is not a network in CIDR form'],
    ['TRUSTED_PROXIES', '10.0.0.0/33', 'TRUSTED_PROXIES: "10.0.0.0/33" is not a network in CIDR form'],
    [
      'WEBHOOK_EXPIRY_HOURS',
      '721',
      'WEBHOOK_EXPIRY_HOURS must not be longer than RETENTION_DAYS (720 hours)',
    ],
    ['OUTBOUND_DNS_SERVERS', 'dns.example', 'OUTBOUND_DNS_SERVERS: "dns.example" is not an address'],
    ['OUTCOME_GRACE_SECONDS', '0', 'OUTCOME_GRACE_SECONDS must be a whole number from 1 to 86400, not "0"'],
    [
      'RATE_LIMIT_PER_SECOND',
      '-1',
      'RATE_LIMIT_PER_SECOND must be a whole number from 1 to 1000000, not "-1"',
    ],
    ['LOG_LEVEL', 'loud', 'LOG_LEVEL must be one of'],
    ['LOG_FORMAT', 'xml', 'LOG_FORMAT must be one of json, pretty, not "xml"'],
  ])('of %s is named: %j', (name, value, problem) => {
    expect(() => loadConfig({ ...complete, S3_BUCKET: 'bucket', [name]: value })).toThrow(problem);
  });

  it.each([
    ['KEY_PEPPER', 32],
    ['SECRETS_KEY', 32],
    ['PROVIDER_APP_SECRET', 16],
    ['PROVIDER_VERIFY_TOKEN', 16],
  ])('of %s in production is a secret of less than %i characters', (name, least) => {
    const load = (length: number) =>
      loadConfig({ ...complete, NODE_ENV: 'production', [name]: 'x'.repeat(length) });
    expect(() => load(least - 1)).toThrow(`${name} must have at least ${least} characters`);
    expect(load(least).production).toBe(true);
  });

  it('is named together with every other one', () => {
    const refused = () => loadConfig({ ...complete, PORT: 'x', LOG_LEVEL: 'x', KEY_PEPPER: '' });
    expect(refused).toThrow(/PORT must be[^]*KEY_PEPPER is required[^]*LOG_LEVEL must be/);
  });

  it.each([
    ['TEMPORAL_ADDRESS', ['127.0.0.1:7233', 'temporal', '[::1]:7233', 'temporal.example:443']],
    ['OUTBOUND_DNS_SERVERS', ['127.0.0.1', '127.0.0.1:5353', '::1', '[::1]:53', '[::1]']],
  ])('is not reported for these values of %s', (name, values) => {
    for (const value of values) expect(() => loadConfig({ ...complete, [name]: value }), value).not.toThrow();
  });
});

describe('a variable that is no setting', () => {
  const problemsOf = (more: Environment): string => {
    try {
      loadConfig({ ...complete, ...more });
      return '';
    } catch (error) {
      return String(error);
    }
  };

  it('is refused when it differs from a setting by two letters at most', () => {
    expect(problemsOf({ RETENTION_DAY: '7' })).toContain(
      'RETENTION_DAY is no setting: is RETENTION_DAYS meant?',
    );
    expect(problemsOf({ WEBHOOK_SLOT: '7' })).toContain('is WEBHOOK_SLOTS meant?');
    expect(problemsOf({ S3_REGIN: 'x' })).toContain('is S3_REGION meant?');
  });

  it('is left alone when it belongs to another program', () => {
    const others =
      'HOME PATH HOSTNAME PGHOST AWS_REGION TEMPORAL_PORT TEMPORAL_SERVICE_HOST DATABASE_HOST NODE_OPTIONS';
    expect(problemsOf(Object.fromEntries(others.split(' ').map((name) => [name, 'x'])))).toBe('');
  });
});
