// Bridges a fault of ioredis, which listens to the first error of a socket only: https://github.com/redis/ioredis/pull/962.
// A TLS socket can report two (our verdict on the certificate, the server's verdict on ours), and the second one would end
// the process.
import type { Duplex } from 'node:stream';
import type { Redis } from 'ioredis';

const ignore = (): void => undefined;

/** Adds an error listener to each socket of the client, so that a second error of a socket does not end the process. */
export function ignoreLateErrors(redis: Redis): Redis {
  redis.on('error', () => {
    // `stream` is undefined while no sentinel answers.
    const stream = redis.stream as Duplex | undefined;
    stream?.on('error', ignore);
  });
  return redis;
}
