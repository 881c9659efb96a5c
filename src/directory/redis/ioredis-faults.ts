// Bridges two faults of ioredis.
import type { Duplex } from 'node:stream';
import type { Redis } from 'ioredis';

const ignore = (): void => undefined;
/** Pause before a connection that ioredis gave up is opened again. */
const PAUSE_MS = 200;

/**
 * Adds an error listener to each socket of the client. ioredis listens to the first error of a socket only
 * (https://github.com/redis/ioredis/pull/962). A TLS socket can report two (our verdict on the certificate, the server's
 * verdict on ours), and the second one would end the process.
 */
export function ignoreLateErrors(redis: Redis): Redis {
  let last: Duplex | undefined;
  redis.on('error', () => {
    // `stream` is undefined while no sentinel answers, and the former one while the next connection is opened.
    const stream = redis.stream as Duplex | undefined;
    if (stream !== last) stream?.on('error', ignore);
    last = stream;
  });
  return redis;
}

/**
 * Connects again when ioredis gives a connection up. It does so when a sentinel reports another primary while the client
 * asks the sentinels where to connect: the attempt fails, and no other follows. A connection that its owner closes ends
 * without an error and stays closed.
 */
export function connectAgain(redis: Redis): Redis {
  let hasFailed = false;
  redis.on('error', () => {
    hasFailed = true;
    // The end that belongs to an error follows in the same turn of the event loop.
    setImmediate(() => (hasFailed = false));
  });
  redis.on('end', () => {
    if (!hasFailed) return;
    setTimeout(() => {
      if (redis.status === 'end') redis.connect().catch(ignore);
    }, PAUSE_MS).unref();
  });
  return redis;
}
