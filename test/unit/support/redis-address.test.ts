// Tests the parser of Redis addresses.
import { parseRedisAddress, type RedisAddress } from '../../../src/support/redis-address.ts';

const nobody = { username: undefined, password: undefined };
const plain: RedisAddress = { hosts: [], tls: false, ...nobody, db: 0, sentinel: undefined };

const READ: [string, Partial<RedisAddress>][] = [
  ['redis://redis', { hosts: [{ host: 'redis', port: 6379 }] }],
  ['redis://127.0.0.1:7000/3', { hosts: [{ host: '127.0.0.1', port: 7000 }], db: 3 }],
  ['redis://redis:7000/', { hosts: [{ host: 'redis', port: 7000 }] }],
  ['rediss://[::1]:6380', { hosts: [{ host: '::1', port: 6380 }], tls: true }],
  [
    'redis://bridge:p%40ss%3Aw@redis',
    { hosts: [{ host: 'redis', port: 6379 }], username: 'bridge', password: 'p@ss:w' },
  ],
  ['redis://:a@b@redis', { hosts: [{ host: 'redis', port: 6379 }], password: 'a@b' }],
  [
    'redis+sentinel://one,two:26380,[::1]:3/main/2',
    {
      hosts: [
        { host: 'one', port: 26379 },
        { host: 'two', port: 26380 },
        { host: '::1', port: 3 },
      ],
      db: 2,
      sentinel: { name: 'main', ...nobody },
    },
  ],
  [
    'rediss+sentinel://u:p@one?sentinelUsername=s&sentinelPassword=t%2Bu',
    {
      hosts: [{ host: 'one', port: 26379 }],
      tls: true,
      username: 'u',
      password: 'p',
      sentinel: { name: 'mymaster', username: 's', password: 't+u' },
    },
  ],
  [
    'redis+sentinel://u:a+b@one?sentinelUsername=s+t&sentinelPassword=c+d=e%26f',
    {
      hosts: [{ host: 'one', port: 26379 }],
      username: 'u',
      password: 'a+b',
      sentinel: { name: 'mymaster', username: 's+t', password: 'c+d=e&f' },
    },
  ],
  [
    'redis+sentinel://one/2',
    { hosts: [{ host: 'one', port: 26379 }], db: 2, sentinel: { name: 'mymaster', ...nobody } },
  ],
];

test.each(READ)('the Redis address %s is parsed', (text, parts) => {
  expect(parseRedisAddress(text)).toEqual({ ...plain, ...parts });
});

const REFUSED: [string, RegExp][] = [
  ['http://redis', /Not an address/],
  ['redis://', /Not an address/],
  ['redis://secret@', /Not an address/],
  ['redis://redis:0', /host/],
  ['redis://redis:65536', /host/],
  ['redis://::1:6379', /brackets/],
  ['redis://one,two', /sentinel/],
  ['redis://one?password=secret', /from \? on/],
  ['redis+sentinel://one?role=secret', /from \? on/],
  ['redis://one/main', /path/],
  ['redis+sentinel://one/main/1/2', /path/],
  ['redis://:secret%@one', /%25/],
];

test.each(REFUSED)('the Redis address %s is refused without quoting it', (text, why) => {
  const answer = parseRedisAddress(text);
  expect(answer).toMatch(why);
  expect(answer).not.toContain('secret');
});
