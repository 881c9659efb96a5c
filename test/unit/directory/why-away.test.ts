// Tests the reasons shown for an unavailable Redis.
import { whereRedisIs, whyAway } from '../../../src/directory/redis/why-away.ts';

const failure = (message: string, code?: string): Error =>
  Object.assign(new Error(message), code ? { code } : {});

test.each([
  ['connect ECONNREFUSED 127.0.0.1:6379', 'nothing listens there'],
  ['getaddrinfo ENOTFOUND redis', 'the host name is unknown'],
  ["Stream isn't writeable and enableOfflineQueue options is false", 'no answer in time'],
  ['Command timed out', 'no answer in time'],
  ['WRONGPASS invalid username-password pair or user is disabled.', 'user or password are refused'],
  ['NOAUTH Authentication required.', 'user or password are refused'],
  ['LOADING Redis is loading the dataset in memory', 'it loads its data'],
  ['All sentinels are unreachable. Retrying from scratch after 10ms.', 'no sentinel names a primary'],
  ['self-signed certificate', 'the TLS certificate is not accepted'],
  ['something else', 'the connection fails'],
])('the Redis error "%s" gets its reason', (message, reason) => {
  expect(whyAway(failure(message))).toBe(reason);
});

test('an error code without a message gets its reason', () => {
  expect(whyAway(failure('', 'ECONNREFUSED'))).toBe('nothing listens there');
});

test('the address of Redis is shown without user and password', () => {
  expect(whereRedisIs({ url: 'redis://bridge:secret@redis.example:6380/2' })).toBe('redis.example:6380');
  expect(whereRedisIs({ url: 'redis://x', cluster: ['redis://:secret@a:1', 'redis://b:2'] })).toBe(
    'a:1, b:2',
  );
});
