// Reads the clock of Redis, which the processes of a service share.
import type { Redis } from 'ioredis';

/** Returns the time of Redis, Unix milliseconds. */
export async function redisTime(redis: Redis): Promise<number> {
  const [seconds, microseconds] = await redis.time();
  return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
}
