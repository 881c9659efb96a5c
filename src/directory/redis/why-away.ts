// Describes for operators why Redis does not answer.
import type { Redis } from 'ioredis';
import { parseRedisAddress } from '../../support/redis-address.ts';
import type { RedisSettings } from './redis-options.ts';

/** Reason for each kind of error; the first match counts. */
const REASONS: [RegExp, string][] = [
  [/ECONNREFUSED/, 'nothing listens there'],
  [/ENOTFOUND|EAI_AGAIN/, 'the host name is unknown'],
  [/EHOSTUNREACH|ENETUNREACH/, 'there is no way to the host'],
  [/ETIMEDOUT|timed out|Socket timeout|isn't ready|max retries/, 'no answer in time'],
  // The client ends its connection to a replica that refuses a write, and other commands fail with it.
  [
    /isn't writeable|Connection is closed|Stream connection ended/,
    'the connection broke, or it is a replica',
  ],
  [/READONLY/, 'it is a replica'],
  [/not confirmed by a replica/, 'not every replica has confirmed the write'],
  [/\bOOM\b/, 'its memory is full'],
  [/MISCONF/, 'it cannot write to its disk'],
  [/NOREPLICAS/, 'fewer replicas follow it than min-replicas-to-write demands'],
  [/WRONGTYPE/, 'it refuses a command'],
  [/NOPERM/, 'its user lacks a right'],
  [/WRONGPASS|NOAUTH|invalid password/, 'user or password are refused'],
  [/LOADING/, 'it loads its data'],
  [/CLUSTERDOWN|slots cache|startup nodes/, 'the cluster is not whole'],
  [/[Ss]entinel/, 'no sentinel names a primary'],
  [/certificate|self.signed|TLS|SSL|ERR_TLS|DEPTH_ZERO/, 'the TLS certificate is not accepted'],
];

/** Returns the reason why Redis cannot be reached, as a sentence without messages of libraries. */
export function whyAway(error: unknown): string {
  const { message = '', code = '', name } = error as { message?: string; code?: string; name?: string };
  const otherwise = name === 'ReplyError' ? 'it refuses a command' : 'the connection fails';
  const text = `${code} ${message}`;
  return REASONS.find(([pattern]) => pattern.test(text))?.[1] ?? otherwise;
}

/** Returns whether Redis refuses PING and writes, because it cannot write to its disk; it still answers reads. */
export const isDiskRefusal = (error: unknown): error is Error =>
  error instanceof Error && error.message.startsWith('MISCONF');

/**
 * Returns whether an error comes from Redis or its connection; errors of platform calls have other names and messages. Messages are
 * compared too, because the error of one call of a batch is an Error with only the message of Redis (scripts.ts).
 */
export const isStoreFailure = (error: unknown): error is Error =>
  error instanceof Error &&
  (['ReplyError', 'MaxRetriesPerRequestError', 'ClusterAllFailedError'].includes(error.name) ||
    /isn't (writeable|ready) and enableOfflineQueue|^Connection is closed|^Command timed out|^(EXECABORT|OOM|MISCONF|NOREPLICAS|READONLY|WRONGTYPE|NOPERM|LOADING|CLUSTERDOWN)\b/.test(
      error.message,
    ));

/** Returns whether the error only tells that there is no connection, and not why. */
export const isWithoutConnection = (error: Error): boolean =>
  /isn't (writeable|ready)|^Connection is closed/.test(error.message);

/** Returns what a command says when Redis refuses or breaks off its work. */
export const storeFailureText = (error: Error): string =>
  `Redis does not answer, or takes no writes (${whyAway(causeOf(error))}): scim-bridge doctor says what is in the way.`;

/** Returns the same as `storeFailureText` for a place that is read later. @param at time of the failure, ISO 8601 */
export const pastStoreFailureText = (error: Error, at: string): string =>
  `at ${at} Redis did not answer, or took no writes (${whyAway(causeOf(error))}): scim-bridge doctor tells whether it does now.`;

/** Returns the reason of a failure for a line of the log: of a failure of Redis without messages of libraries. */
export const failureReason = (error: unknown): string =>
  isStoreFailure(error) ? whyAway(causeOf(error)) : (error as Error).message;

/**
 * Returns the first command error of an aborted transaction, because EXECABORT does not contain the reason; else the error
 * itself.
 */
function causeOf(error: Error): Error {
  const { previousErrors } = error as { previousErrors?: Error[] };
  return previousErrors?.[0] ?? error;
}

/** Returns the hosts of the settings, without user and password. */
export function whereRedisIs({ url, cluster }: Pick<RedisSettings, 'url' | 'cluster'>): string {
  const addresses = (cluster && cluster.length > 0 ? cluster : [url]).map(parseRedisAddress);
  const hosts = addresses.flatMap((address) => (typeof address === 'string' ? [] : address.hosts));
  return hosts.map(({ host, port }) => `${host}:${port}`).join(', ');
}

/** Where each connection leads, and its last error since it was last ready. */
const watched = new WeakMap<Redis, { where: string; last: Error | undefined }>();

/** Remembers the address and the last error of a connection, because later commands only say that there is no connection. */
export function watchErrors(redis: Redis, settings: Pick<RedisSettings, 'url' | 'cluster'>): void {
  const seen: { where: string; last: Error | undefined } = { where: whereRedisIs(settings), last: undefined };
  watched.set(redis, seen);
  redis.on('error', (error: Error) => (seen.last = error));
  redis.on('ready', () => (seen.last = undefined));
}

/** Returns why the connection cannot be opened, if that is known; else the given error. */
export const causeOfAway = (redis: Redis, error: unknown): unknown => watched.get(redis)?.last ?? error;

/** Returns that Redis does not answer, at which address, and why, as a sentence without full stop. */
export function awayText(redis: Redis, error: unknown): string {
  const where = watched.get(redis)?.where;
  const at = where === undefined ? '' : ` at ${where}`;
  return `Redis does not answer${at}: ${whyAway(causeOfAway(redis, error))}`;
}
