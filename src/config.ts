/**
 * The settings of a process. Every environment variable is read here, once, and nowhere else.
 * A bad value stops the start with all problems named; in production no secret has a default.
 */
import { createHash } from 'node:crypto';
import { defaultOptInWords, defaultOptOutWords } from './domain/callbacks/consent-words.ts';
import { Failure } from './domain/error.ts';
import { parseUrl } from './domain/parse-url.ts';
import { createEnvironmentReader, findMistyped, type Environment } from './environment.ts';
import { blockContains, parseAddress, parseBlock } from './outbound/parse-address.ts';

export type { Environment } from './environment.ts';
export type Config = Readonly<ReturnType<typeof loadConfig>>;

const postgres = ['postgres:', 'postgresql:'];
const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const taskQueues = ['campaigns', 'webhooks', 'maintenance'] as const;
export type TaskQueue = (typeof taskQueues)[number];

/** Paths of PEM files; a certificate with its key authenticates this process to the server (mTLS). */
export type TemporalTls =
  | boolean
  | { readonly authority: string; readonly certificate?: string; readonly key?: string };

/** Names every problem of the environment, one per line of `problems`. */
export class ConfigError extends Failure {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`The configuration is not usable:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

/** Settings that are read only if others are set, or by `npm start` alone. */
const conditional = [
  'S3_ENDPOINT',
  'S3_REGION',
  'S3_FORCE_PATH_STYLE',
  'OUTBOUND_ALLOW_PRIVATE',
  'TEMPORAL_UI_PORT',
];

/** Decodes the environment; throws ConfigError naming every problem at once. */
export function loadConfig(environment: Environment, terminal = false) {
  const problems: string[] = [];
  const read = createEnvironmentReader(environment, problems);
  const { raw, text, integer, decimal, choice, list, url, optionalUrl, address } = read;
  const { secret, networks, nameServers } = read;
  const production =
    choice('NODE_ENV', ['development', 'production', 'test'], 'development') === 'production';
  const temporalTls = (): TemporalTls => {
    const value = raw('TEMPORAL_TLS');
    if (value === undefined || value === 'false') {
      if (raw('TEMPORAL_API_KEY') !== undefined) problems.push('TEMPORAL_API_KEY needs TEMPORAL_TLS');
      return false;
    }
    if (value === 'true') return true;
    const [authority = '', certificate, key, ...more] = list('TEMPORAL_TLS', []);
    const isPair = (certificate === undefined) === (key === undefined);
    if (authority === '' || !isPair || more.length > 0)
      problems.push(
        'TEMPORAL_TLS must be true, or paths of PEM files: authority, or authority,certificate,key',
      );
    return certificate === undefined || key === undefined ? { authority } : { authority, certificate, key };
  };
  const queues = raw('TASK_QUEUES') === undefined ? taskQueues : list('TASK_QUEUES', []);
  const served = taskQueues.filter((queue) => queues.includes(queue));
  if (served.length === 0 || served.length < new Set(queues).size)
    problems.push(`TASK_QUEUES must name some of ${taskQueues.join(', ')}, not "${raw('TASK_QUEUES')}"`);
  // Development secrets may be short and readable.
  const [leastKey, leastToken] = production ? [32, 16] : [16, 1];
  const secrets = (name: string): readonly string[] => [
    secret(name, leastKey),
    ...list(`${name}_PREVIOUS`, []),
  ];

  const outboundAllowCidrs = networks('OUTBOUND_ALLOW_CIDRS');
  if (production && outboundAllowCidrs.length > 0 && environment['OUTBOUND_ALLOW_PRIVATE'] !== 'yes') {
    problems.push('OUTBOUND_ALLOW_CIDRS is refused in production unless OUTBOUND_ALLOW_PRIVATE=yes');
  }
  const outboundDnsServers = nameServers('OUTBOUND_DNS_SERVERS');
  if (production && outboundDnsServers.length > 0) {
    problems.push('OUTBOUND_DNS_SERVERS is refused in production');
  }
  const bucket = raw('S3_BUCKET');
  const retentionDays = integer('RETENTION_DAYS', 30, 1, 3650);
  const webhookExpiryHours = integer('WEBHOOK_EXPIRY_HOURS', 24, 1, 8760);
  // A delivery cannot be sent once its event is deleted.
  if (webhookExpiryHours > retentionDays * 24)
    problems.push(
      `WEBHOOK_EXPIRY_HOURS must not be longer than RETENTION_DAYS (${retentionDays * 24} hours)`,
    );

  const warnings = production ? findUnsafe(environment, { leastKey, leastToken }) : [];

  const config = {
    production,
    /** Unsafe settings in production: logged at startup, because refusing to start would break upgrades. */
    warnings,
    /** Folder of all persistent files: uploads, and in development the data of the embedded servers. */
    dataDir: text('DATA_DIR', '.data'),
    host: text('HOST', '127.0.0.1'),
    port: integer('PORT', 3000, 0, 65535),
    /**
     * Port of /healthz, /readyz and /metrics; 0 picks a free one. Undefined: a worker serves none of them, and the API serves
     * /metrics on its main port, except in production.
     */
    metricsPort: raw('METRICS_PORT') === undefined ? undefined : integer('METRICS_PORT', 0, 0, 65535),
    databaseUrl: url('DATABASE_URL', postgres),
    /** Used for migrations only; undefined if the user of `databaseUrl` owns the schema. */
    databaseOwnerUrl: optionalUrl('DATABASE_OWNER_URL', postgres),
    databasePoolSize: integer('DATABASE_POOL_SIZE', 10, 2, 500),
    temporalAddress: address('TEMPORAL_ADDRESS'),
    temporalNamespace: text('TEMPORAL_NAMESPACE', 'default'),
    /** False: plain text. True: TLS with the system's authorities. Otherwise the paths of PEM files. */
    temporalTls: temporalTls(),
    /** Sent as a bearer token with every call; needs TLS. */
    temporalApiKey: raw('TEMPORAL_API_KEY'),
    /** Address of Temporal's Web UI as operators reach it; undefined: the dashboard does not link to it. */
    temporalUiUrl: optionalUrl('TEMPORAL_UI_URL'),
    /** The version of a worker's deployment; undefined: the worker is not versioned. */
    workerBuildId: raw('WORKER_BUILD_ID'),
    /** Task queues that a worker serves, each with the loops that belong to it. */
    taskQueues: served,
    /** The provider's root with its version segment, without a trailing slash. */
    providerBaseUrl: url('PROVIDER_BASE_URL'),
    providerAppSecret: secret('PROVIDER_APP_SECRET', leastToken),
    /** Older app secrets, accepted until the provider signs with the current one. */
    providerAppSecretsPrevious: list('PROVIDER_APP_SECRET_PREVIOUS', []),
    providerVerifyToken: secret('PROVIDER_VERIFY_TOKEN', leastToken),
    providerTimeoutMs: integer('PROVIDER_TIMEOUT_MS', 30_000, 100, 600_000),
    providerConnections: integer('PROVIDER_CONNECTIONS', 1_024, 1, 10_000),
    /** The current pepper or key comes first; the others only verify or decrypt older values. */
    keyPeppers: secrets('KEY_PEPPER'),
    secretsKeys: secrets('SECRETS_KEY'),
    /** Networks of the proxies in front of the API; the caller's address that they forward is trusted. */
    trustedProxies: networks('TRUSTED_PROXIES'),
    /** ISO 3166 alpha-2 codes of countries whose recipients a MARKETING campaign skips, because the provider delivers none there. */
    marketingSkipCountries: list('MARKETING_SKIP_COUNTRIES', []),
    /** Production may start campaigns on the prices that came with the service, which no provider charges. */
    allowExamplePrices: raw('ALLOW_EXAMPLE_PRICES') === 'yes',
    outboundAllowCidrs,
    outboundDnsServers,
    outcomeGraceSeconds: integer('OUTCOME_GRACE_SECONDS', 600, 1, 86_400),
    rateLimitPerSecond: integer('RATE_LIMIT_PER_SECOND', 1000, 1, 1_000_000),
    /** GiB of uploaded files that a workspace may keep. */
    uploadGibPerWorkspace: integer('UPLOAD_GIB_PER_WORKSPACE', 10, 1, 1_000_000),
    /** Seconds during which a stopping API reports that it is not ready before it stops listening. */
    drainDelaySeconds: integer('DRAIN_DELAY_SECONDS', 0, 0, 15),
    webhookExpiryHours,
    /** Hours of nothing but failed attempts after which a webhook is disabled; fractions of an hour are for rehearsals. */
    webhookDisableAfterHours: decimal('WEBHOOK_DISABLE_AFTER_HOURS', 72, 0.001, 8760),
    /** Delivery schedulers lock shards of the webhooks, so that they can work in parallel. */
    webhookShards: integer('WEBHOOK_SHARDS', 16, 1, 1024),
    /** Maximum delivery workflow starts in flight in a worker. */
    webhookStarts: integer('WEBHOOK_STARTS', 16, 1, 1000),
    /** Maximum attempts in flight in a worker; slow endpoints have their own, a quarter as many. */
    webhookSlots: integer('WEBHOOK_SLOTS', 1000, 1, 10_000),
    /** Maximum deliveries in flight to one endpoint, across all workers. */
    webhookSlotsPerEndpoint: integer('WEBHOOK_SLOTS_PER_ENDPOINT', 1000, 1, 10_000),
    retentionDays,
    /** Undefined: recipients and messages are kept for good. */
    messageRetentionMonths:
      raw('MESSAGE_RETENTION_MONTHS') === undefined
        ? undefined
        : integer('MESSAGE_RETENTION_MONTHS', 0, 1, 1200),
    optOutWords: list('OPT_OUT_WORDS', defaultOptOutWords),
    optInWords: list('OPT_IN_WORDS', defaultOptInWords),
    storage:
      bucket === undefined
        ? { kind: 'folder' as const }
        : {
            kind: 's3' as const,
            bucket,
            endpoint: optionalUrl('S3_ENDPOINT'),
            region: text('S3_REGION', 'us-east-1'),
            forcePathStyle: choice('S3_FORCE_PATH_STYLE', ['yes', 'no'], 'no') === 'yes',
          },
    /** Percentage of log lines written for delivered webhooks and stored callbacks; failures are always logged. */
    logSamplePercent: integer('LOG_SAMPLE_PERCENT', 100, 0, 100),
    logLevel: choice('LOG_LEVEL', logLevels, 'info'),
    logFormat: choice('LOG_FORMAT', ['json', 'pretty'], terminal ? 'pretty' : 'json'),
    /** OTLP address that spans are exported to; undefined: none are exported. */
    otlpEndpoint: optionalUrl('OTEL_EXPORTER_OTLP_ENDPOINT'),
    /** Where this API is reached from outside; builds csv_file_url. Default: http://host:port */
    publicUrl: optionalUrl('PUBLIC_URL'),
  };
  problems.push(...findMistyped(environment, [...read.names(), ...conditional]));
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

const webSettings = [
  'PROVIDER_BASE_URL',
  'S3_ENDPOINT',
  'PUBLIC_URL',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'TEMPORAL_UI_URL',
] as const;
const previousSecrets = ['KEY_PEPPER', 'SECRETS_KEY', 'PROVIDER_APP_SECRET'] as const;

/** Finds settings that send secrets or personal data unencrypted over a public network, and short former secrets. */
function findUnsafe(
  environment: Environment,
  { leastKey, leastToken }: { readonly leastKey: number; readonly leastToken: number },
): readonly string[] {
  const warnings: string[] = [];
  for (const name of webSettings) {
    const value = environment[name] ?? '';
    if (value.startsWith('http:') && !isNear(tryHost(value)))
      warnings.push(`${name} begins with http: what is sent there can be read on the way. Use https`);
  }
  for (const name of ['DATABASE_URL', 'DATABASE_OWNER_URL']) {
    const value = environment[name] ?? '';
    if (
      value !== '' &&
      !isNear(tryHost(value)) &&
      !/[?&]sslmode=(?:require|verify-ca|verify-full)/.test(value)
    )
      warnings.push(`${name} asks for no TLS: add sslmode=verify-full`);
  }
  const temporal = (environment['TEMPORAL_ADDRESS'] ?? '').replace(/:\d+$/, '');
  if (['', 'false'].includes(environment['TEMPORAL_TLS'] ?? '') && !isNear(temporal))
    warnings.push('TEMPORAL_TLS is not set: the connection to TEMPORAL_ADDRESS can be read on the way');
  for (const name of previousSecrets) {
    const least = name === 'PROVIDER_APP_SECRET' ? leastToken : leastKey;
    const former = (environment[`${name}_PREVIOUS`] ?? '').split(',').map((secret) => secret.trim());
    if (former.some((secret) => secret !== '' && secret.length < least))
      warnings.push(`${name}_PREVIOUS holds a secret of fewer than ${least} characters: drop it soon`);
  }
  return warnings;
}

const tryHost = (value: string): string =>
  parseUrl(value)?.hostname ?? /^[a-z]+:\/\/(?:[^/@]*@)?([^/:?]*)/.exec(value)?.[1] ?? '';

/** Loopback, private and link-local addresses. */
const nearNetworks = [
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '169.254.0.0/16',
  '::1/128',
  'fc00::/7',
  'fe80::/16',
].flatMap((network) => parseBlock(network) ?? []);

/** True for loopback, private addresses, and names that only a private network resolves. */
function isNear(host: string): boolean {
  const name = host.replaceAll(/[[\]]/g, '').toLowerCase();
  const address = parseAddress(name);
  if (address !== undefined) return nearNetworks.some((network) => blockContains(network, address));
  return !/[.:]/.test(name) || /\.(?:local|localhost|internal|svc|cluster\.local)$/.test(name);
}

/** Secrets, and what processes of one installation need not share. */
const ownSettings: ReadonlySet<string> = new Set<keyof Config>([
  'databaseUrl',
  'databaseOwnerUrl',
  'temporalApiKey',
  'providerAppSecret',
  'providerAppSecretsPrevious',
  'providerVerifyToken',
  'keyPeppers',
  'secretsKeys',
  'host',
  'port',
  'metricsPort',
  'taskQueues',
  'workerBuildId',
  'drainDelaySeconds',
  'warnings',
]);

/** Twelve hexadecimal digits that are the same for processes with the same settings, secrets aside. */
export function settingsFingerprint(config: Config): string {
  const shared = Object.entries(config).filter(([name]) => !ownSettings.has(name));
  return createHash('sha256').update(JSON.stringify(shared.toSorted())).digest('hex').slice(0, 12);
}
