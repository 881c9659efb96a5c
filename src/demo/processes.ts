// Starts the processes that the story (story.ts) needs: Redis, the sandbox, the bridge. Stops them in reverse order.
import { randomBytes } from 'node:crypto';
import { Agent, request } from 'undici';
import { startSandbox, type ReadyLine } from '../sandbox/server.ts';
import { silentLogger } from '../support/logger.ts';
import { createReleasers } from '../support/releasers.ts';
import { startBridge, type BridgeProcess } from './bridge-process.ts';
import { bridgeSettings } from './bridge-settings.ts';
import type { Idp } from './company.ts';
import { startLocalRedis } from './local-redis.ts';
import { createPlatform, type Platform } from './platform.ts';
import { createScimHttp, type ScimHttp } from './scim-http.ts';
import type { Screen } from './screen.ts';

export interface DemoProcesses {
  bridge: BridgeProcess;
  /** Addresses and keys of the running sandbox. */
  sandbox: ReadyLine;
  platform: Platform;
  redisUrl: string;
  /** Prefix of all keys in Redis. */
  prefix: string;
  /** True when an existing Redis server is used, which is not stopped. */
  sharedRedis: boolean;
  scimUrls: Record<Idp, string>;
  tokens: Record<Idp, string>;
  adminToken: string;
  /** SCIM clients of the identity providers. */
  clients: Record<Idp, ScimHttp>;
  /** Returns the number of resources with pending changes. */
  backlog(): Promise<number>;
}

interface ProcessesDeps {
  screen: Screen;
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
  /** Called when a process ends unexpectedly. */
  onLost: (reason: Error) => void;
}

export function createDemoProcesses({ screen, env, signal, onLost }: ProcessesDeps) {
  const releasers = createReleasers(silentLogger);
  const agent = new Agent();
  let stopping = false;
  releasers.add('connections', () => agent.close());

  /** Starts all processes. @throws Error when one does not start, or the abort reason of `signal` */
  async function start(): Promise<DemoProcesses> {
    const redis = await screen.step(
      'Redis',
      () => startLocalRedis({ env, ownGroup: true }),
      ({ process }) => (process ? 'a private server, with its own data folder' : 'the one of REDIS_URL'),
    );
    releasers.add('redis', () => {
      stopping = true;
      return redis.stop();
    });
    redis.process?.once('exit', (code) => {
      if (!stopping) onLost(new Error(`The Redis server ended unexpectedly (${code ?? 'killed'}).`));
    });
    signal.throwIfAborted();
    const sandbox = await screen.step(
      'Platform',
      () => startSandbox(),
      ({ ready }) => `a stand-in at ${ready.platformUrl}`,
    );
    releasers.add('sandbox', () => sandbox.stop());
    const { platformUrl, controlUrl, fixtures } = sandbox.ready;
    const prefix = `scim-bridge-demo-${randomBytes(4).toString('hex')}`;
    const secret = (): string => randomBytes(24).toString('hex');
    const tokens = { okta: secret(), entra: secret() };
    const adminToken = secret();
    const platformKey = fixtures.apiKeys.admin ?? '';
    const settings = bridgeSettings({
      redisUrl: redis.url,
      prefix,
      platformUrl,
      platformKey,
      tokens,
      adminToken,
    });
    const bridge = await screen.step(
      'Bridge',
      () => startBridge({ settings, env, signal, onLost }),
      ({ url }) => `a process of its own at ${url}`,
    );
    releasers.add('bridge', () => bridge.stop());
    const scimUrls = { okta: `${bridge.url}/scim/v2`, entra: `${bridge.url}/connections/entra/scim/v2` };
    const createClient = (idp: Idp, name: string, headers: Record<string, string>): ScimHttp =>
      createScimHttp({ name, baseUrl: scimUrls[idp], token: tokens[idp], headers, agent, signal });
    return {
      bridge,
      sandbox: sandbox.ready,
      prefix,
      scimUrls,
      tokens,
      adminToken,
      redisUrl: redis.url,
      sharedRedis: redis.process === undefined,
      platform: createPlatform({ controlUrl, agent }),
      clients: {
        okta: createClient('okta', 'Okta', { 'user-agent': 'Okta SCIM Client 1.0.0' }),
        entra: createClient('entra', 'Entra', {}),
      },
      backlog: async () => {
        const answer = await request(`${bridge.url}/health`, {
          dispatcher: agent,
          signal,
          headers: { authorization: `Bearer ${adminToken}` },
        });
        const health = (await answer.body.json()) as {
          components: Record<string, { dirty?: number } | undefined>;
        };
        // If the answer lacks the number, the bridge counts as not idle.
        return health.components['target main']?.dirty ?? 1;
      },
    };
  }

  /** `stop` stops the running processes, also after `start` failed. */
  return { start, stop: releasers.releaseAll };
}
