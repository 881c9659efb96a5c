// Works around two faults of ioredis: a late error of a socket, and a connection that is not opened again.
import type { Duplex } from 'node:stream';
import type { Redis } from 'ioredis';

const ignore = (): void => undefined;
/** Pause before a connection that ioredis has ended is opened again. */
const PAUSE_MS = 200;

/**
 * Adds an error listener to each socket of the client. ioredis listens to the first error of a socket only
 * (https://github.com/redis/ioredis/pull/962). A TLS socket can report two errors: this process refuses the certificate of
 * the server, and the server refuses the certificate of this process. The second error would end the process.
 */
export function ignoreLateErrors(redis: Redis): Redis {
  let last: Duplex | undefined;
  redis.on('error', () => {
    // `stream` is undefined while no sentinel answers. While the next connection is opened, it is still the old stream.
    const stream = redis.stream as Duplex | undefined;
    if (stream !== last) stream?.on('error', ignore);
    last = stream;
  });
  return redis;
}

/**
 * Connects again after ioredis has ended a connection with an error. ioredis does so when a sentinel reports another primary
 * while the client asks the sentinels for the address: the attempt fails, and no other one follows. A connection that its owner
 * closes ends without an error and stays closed.
 */
export function connectAgain(redis: Redis): Redis {
  let hasFailed = false;
  redis.on('error', () => {
    hasFailed = true;
    // An `end` that an error causes follows in the same turn of the event loop.
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
