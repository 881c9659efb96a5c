// Starts one Redis for the whole test run; each test uses its own key prefix.
import { startLocalRedis, type LocalRedis } from '../../src/demo/local-redis.ts';

declare global {
  var localRedis: LocalRedis | undefined;
}

export default async function setup(): Promise<void> {
  const redis = await startLocalRedis({ env: process.env });
  globalThis.localRedis = redis;
  process.env.TEST_REDIS_URL = redis.url;
}
