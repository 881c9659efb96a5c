// Tests the reasons shown for an unavailable Redis.
import {
  failureReason,
  isStoreFailure,
  storeFailureText,
  whereRedisIs,
  whyAway,
} from '../../../src/directory/redis/why-away.ts';

const failure = (message: string, code?: string): Error =>
  Object.assign(new Error(message), code ? { code } : {});

test.each([
  ['connect ECONNREFUSED 127.0.0.1:6379', 'nothing listens there'],
  ['getaddrinfo ENOTFOUND redis', 'the host name is unknown'],
  [
    "Stream isn't writeable and enableOfflineQueue options is false",
    'the connection broke, or it is a replica',
  ],
  ["READONLY You can't write against a read only replica.", 'it is a replica'],
  ["OOM command not allowed when used memory > 'maxmemory'.", 'its memory is full'],
  ['Socket timeout. Expecting data, but did not receive any in 5000ms.', 'no answer in time'],
  ['Command timed out', 'no answer in time'],
  ['WRONGPASS invalid username-password pair or user is disabled.', 'user or password are refused'],
  ['NOAUTH Authentication required.', 'user or password are refused'],
  ['LOADING Redis is loading the dataset in memory', 'it loads its data'],
  ['All sentinels are unreachable. Retrying from scratch after 10ms.', 'no sentinel names a primary'],
  ['self-signed certificate', 'the TLS certificate is not accepted'],
  ['The write was not confirmed by a replica of Redis.', 'not every replica has confirmed the write'],
  ['something else', 'the connection fails'],
])('the Redis error "%s" is translated to its reason', (message, reason) => {
  expect(whyAway(failure(message))).toBe(reason);
});

test.each([
  [
    "Stream isn't writeable and enableOfflineQueue options is false",
    'the connection broke, or it is a replica',
  ],
  [
    "OOM command not allowed when used memory > 'maxmemory'. script: f00, on @user_script:1.",
    'its memory is full',
  ],
  [
    'WRONGTYPE Operation against a key holding the wrong kind of value script: f00, on @user_script:1.',
    'it refuses a command',
  ],
  ['the receiver answers 500', 'the receiver answers 500'],
])('the reason of the failure "%s" in a line of the log is "%s"', (message, reason) => {
  expect(failureReason(failure(message))).toBe(reason);
});

test('a Redis error with a code and no message is translated to its reason', () => {
  expect(whyAway(failure('', 'ECONNREFUSED'))).toBe('nothing listens there');
});

test('a Redis error reply without a known code is reported as a refused command, not as a failed connection', () => {
  const reply = Object.assign(failure('WRONGTYPE Operation against a key'), { name: 'ReplyError' });
  expect(storeFailureText(reply)).toContain('(it refuses a command)');
});

test('a discarded Redis transaction is reported with the reason of the command that failed, such as full memory', () => {
  const error = Object.assign(new Error('EXECABORT Transaction discarded because of previous errors.'), {
    previousErrors: [new Error("OOM command not allowed when used memory > 'maxmemory'.")],
  });
  expect(isStoreFailure(error)).toBe(true);
  expect(storeFailureText(error)).toContain('(its memory is full)');
});

test.each([
  "NOPERM this user has no permissions to run the 'evalsha' command",
  'LOADING Redis is loading the dataset in memory',
  'CLUSTERDOWN The cluster is down',
])('the error of one call of a batch with the message "%s" counts as a failure of Redis', (message) => {
  expect(isStoreFailure(failure(message))).toBe(true);
});

test('an error of the platform does not count as a failure of Redis', () => {
  expect(isStoreFailure(failure('GET /api/v1/users/me had no connection (ECONNREFUSED)'))).toBe(false);
});

test('the address of Redis is shown without user and password', () => {
  expect(whereRedisIs({ url: 'redis://bridge:secret@redis.example:6380/2' })).toBe('redis.example:6380');
  expect(whereRedisIs({ url: 'redis://x', cluster: ['redis://:secret@a:1', 'redis://b:2'] })).toBe(
    'a:1, b:2',
  );
});
