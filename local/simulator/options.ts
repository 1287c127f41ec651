export interface SimulatorOptions {
  /** Loopback by default; a container listens elsewhere. */
  readonly host?: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Target of status callbacks and inbound messages; undefined: none are sent. */
  readonly callbackUrl: string | undefined;
  /** Signs the callbacks. */
  readonly appSecret: string;
  /** Sent when a control asks for the verification request. */
  readonly verifyToken: string;
  readonly businessAccountId: string;
  readonly phoneNumberId: string;
  /** The only accepted access token; when unset, every token is accepted. */
  readonly accessToken: string | undefined;
  /** Received messages are appended to it and counted again after a restart. */
  readonly stateFile: string | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Decodes the simulator's environment; throws with every problem named. */
export function readSimulatorOptions(environment: Environment): SimulatorOptions {
  const problems: string[] = [];
  const portText = environment['SIMULATOR_PORT'] ?? '0';
  const port = Number(portText);
  if (!/^\d{1,5}$/.test(portText) || port > 65_535) problems.push('SIMULATOR_PORT must be a port number');
  const callbackUrl = environment['SIMULATOR_CALLBACK_URL'] || undefined;
  if (callbackUrl !== undefined && !URL.canParse(callbackUrl)) {
    problems.push('SIMULATOR_CALLBACK_URL must be a URL');
  }
  const id = (name: string, fallback: string): string => {
    const value = environment[name] || fallback;
    if (!/^\d{1,20}$/.test(value)) problems.push(`${name} must be digits`);
    return value;
  };
  const options = {
    host: environment['SIMULATOR_HOST'] || '127.0.0.1',
    port,
    callbackUrl,
    appSecret: environment['PROVIDER_APP_SECRET'] || 'simulator-app-secret',
    verifyToken: environment['PROVIDER_VERIFY_TOKEN'] || 'simulator-verify-token',
    businessAccountId: id('SIMULATOR_BUSINESS_ACCOUNT_ID', '102290129340398'),
    phoneNumberId: id('SIMULATOR_PHONE_NUMBER_ID', '106540352242922'),
    accessToken: environment['SIMULATOR_ACCESS_TOKEN'] || undefined,
    stateFile: environment['SIMULATOR_STATE_FILE'] || undefined,
  };
  if (problems.length > 0) throw new Error(problems.join('; '));
  return options;
}
