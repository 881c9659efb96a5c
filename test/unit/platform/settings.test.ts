// Tests the validation of the tenant address and of the options of the platform client.
import { describe, expect, test } from '@jest/globals';
import { inspect } from 'node:util';
import { connectPlatform, type PlatformClientOptions } from '../../../src/platform/client.ts';
import { PlatformConfiguration } from '../../../src/platform/errors.ts';
import { parseTenantAddress } from '../../../src/platform/settings.ts';

describe('the tenant address', () => {
  test.each([
    ['https://acme.example.com', false, { origin: 'https://acme.example.com', prefix: '' }],
    [
      'https://acme.example.com:8443/base//',
      false,
      { origin: 'https://acme.example.com:8443', prefix: '/base' },
    ],
    ['http://127.0.0.1:8080/', true, { origin: 'http://127.0.0.1:8080', prefix: '' }],
    ['http://localhost', true, { origin: 'http://localhost', prefix: '' }],
    ['http://[::1]:1', true, { origin: 'http://[::1]:1', prefix: '' }],
  ])('the platform address %s is accepted (loopback http allowed: %s)', (url, allow, expected) => {
    expect(parseTenantAddress(url, allow)).toEqual(expected);
  });

  test.each([
    ['http://127.0.0.1:8080', false],
    ['http://acme.example.com', true],
    ['http://127.0.0.1.example.com', true],
    ['http://localhost.example.com', true],
    ['http://10.0.0.1', true],
    ['ftp://127.0.0.1', true],
    ['https://user:hunter2@acme.example.com', false],
    ['https://acme.example.com/?token=hunter2', false],
    ['https://acme.example.com/#hunter2', false],
    ['hunter2', false],
  ])(
    'BRIDGE-01 the platform address %s (loopback http allowed: %s) is refused, and the error does not quote it',
    (url, allow) => {
      let fault: unknown;
      try {
        parseTenantAddress(url, allow);
      } catch (thrown) {
        fault = thrown;
      }
      expect(fault).toBeInstanceOf(PlatformConfiguration);
      expect((fault as PlatformConfiguration).option).toBe('url');
      expect(inspect(fault).replace(/\n\s+at .*/g, '')).not.toContain('hunter2');
    },
  );
});

describe('options of the platform client besides the address', () => {
  test.each<[string, Partial<PlatformClientOptions>]>([
    ['token', { token: '' }],
    ['token', { token: 'sk-two words' }],
    ['token', { token: 'sk-line\nbreak' }],
    ['scimToken', { scimToken: '' }],
    ['timeoutMs', { timeoutMs: 0 }],
    ['timeoutMs', { timeoutMs: Number.POSITIVE_INFINITY }],
    ['connections', { connections: 1.5 }],
  ])('a platform client with an invalid %s is refused at construction: %j', (option, options) => {
    const make = (): unknown =>
      connectPlatform({ url: 'https://acme.example.com', token: 'sk-1', ...options });
    expect(make).toThrow(PlatformConfiguration);
    expect(make).toThrow(`"${option}"`);
    expect(make).not.toThrow(/sk-/);
  });
});
