// Starts one Redis for the whole test run. Each worker has a database in it (own-database.ts), and each test its own key prefix.
import { startLocalRedis, type LocalRedis } from '../../src/demo/local-redis.ts';

declare global {
  var localRedis: LocalRedis | undefined;
}

export default async function setup(): Promise<void> {
  const redis = await startLocalRedis({ env: process.env });
  globalThis.localRedis = redis;
  process.env.TEST_REDIS_URL = redis.url;
  if (redis.process) process.env.TEST_REDIS_IS_OWN = '1';
}
