import { describe, expect, test } from 'vitest';
import { readStackSettings, type StackSettings } from '../../../local/stack/settings.ts';

function read(environment: Record<string, string>, args: readonly string[] = []): StackSettings {
  const settings = readStackSettings(environment, args, false);
  if ('help' in settings) throw new Error('unexpected help');
  return settings;
}

describe('readStackSettings', () => {
  test('needs nothing in development', () => {
    const settings = read({});
    expect(settings).toMatchObject({ port: 3000, host: '127.0.0.1', workers: 1, logFormat: 'json' });
    expect(settings.databaseUrl).toBeUndefined();
    expect(settings.providerBaseUrl).toBeUndefined();
    expect(settings.environment['OUTBOUND_ALLOW_CIDRS']).toBe('127.0.0.0/8,::1/128');
  });

  test('takes an empty list of networks as none and any other empty value as unset', () => {
    const settings = read({ OUTBOUND_ALLOW_CIDRS: '', DATABASE_URL: '', PORT: '' });
    expect(settings.environment['OUTBOUND_ALLOW_CIDRS']).toBe('');
    expect(settings.databaseUrl).toBeUndefined();
    expect(settings.port).toBe(3000);
  });

  test('names every problem at once', () => {
    const environment = {
      PORT: 'x',
      TEMPORAL_UI_PORT: '70000',
      DATABASE_URL: 'mysql://h/d',
      LOG_LEVEL: 'loud',
    };
    expect(() => read(environment, ['--workers', '0'])).toThrow(
      /PORT must be[^]*DATABASE_URL must be[^]*LOG_LEVEL must be[^]*--workers must be[^]*TEMPORAL_UI_PORT must be/,
    );
  });

  test('has no default for a secret in production', () => {
    expect(() => read({ NODE_ENV: 'production' })).toThrow(/PROVIDER_APP_SECRET[^]*KEY_PEPPER is required/);
  });

  test('takes the number of workers from the command line', () => {
    expect(read({}, ['--workers', '3']).workers).toBe(3);
    expect(() => read({}, ['--wrokers', '3'])).toThrow('--workers <n>');
  });
});
