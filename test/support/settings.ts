// Makes the settings of a bridge with one connection, one target (the sandbox) and keys of its own in Redis.
import { randomUUID } from 'node:crypto';
import type { Sandbox } from '../../src/sandbox/server.ts';
import { ADMIN_TOKEN, TOKEN } from './build-bridge.ts';

export interface TestSettings {
  server: object;
  redis: { url: string; prefix: string };
  connections: object;
  targets: { main: Record<string, unknown> };
  reconcile: object;
}

/** @param target settings of the target @param rest other settings, by their first name */
export const settingsFor = (
  { ready }: Pick<Sandbox, 'ready'>,
  target: object = {},
  rest: Partial<TestSettings> = {},
): TestSettings => ({
  server: { adminToken: ADMIN_TOKEN },
  redis: { url: process.env.TEST_REDIS_URL ?? '', prefix: `test-${randomUUID()}` },
  connections: { default: { tokens: [{ name: 'primary', secret: TOKEN }] } },
  targets: {
    main: {
      url: ready.platformUrl,
      token: ready.fixtures.apiKeys.admin,
      allowLoopbackHttp: true,
      rateLimit: { requestsPerSecond: 1000, burst: 200 },
      ...target,
    },
  },
  reconcile: { schedule: null },
  ...rest,
});
