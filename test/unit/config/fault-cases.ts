// Lists settings files with one fault each, and the path and message of the fault.
import { generateKeyPairSync } from 'node:crypto';
import { fileWith, KEY, SECRET } from './settings-folder.ts';

const connection = (body: string): string => `connections: { default: { ${body} } }
targets: { main: { url: 'https://acme.example.com', token: ${KEY} } }`;
const target = (url: string, more = ''): string =>
  `targets: { main: { url: '${url}', token: ${KEY} ${more} } }\nconnections: { default: {} }`;

const jwk = (curve: string): string =>
  JSON.stringify(generateKeyPairSync('ec', { namedCurve: curve }).privateKey.export({ format: 'jwk' }));
const P256 = jwk('P-256');
const POLL = `poll: { token: ${SECRET} }`;
const events = (body: string, key = P256): string =>
  connection(`events: { issuer: i, audience: a, key: '${key}', ${body} }`);

export const FAULTS: [what: string, file: string, path: string, message: RegExp][] = [
  ['an unknown section', fileWith('', 'sever: {}'), '/sever', /not known.*server, redis/],
  ['an unknown key', fileWith('', 'server: { prot: 1 }'), '/server/prot', /not known.*port, host/],
  ['a port out of range', fileWith('', 'server: { port: 70000 }'), '/server/port', /at most 65535/],
  [
    'one port for two servers',
    fileWith('', 'server: { port: 9000, adminPort: 9001, metricsPort: 9001 }'),
    '/server/metricsPort',
    /server\.adminPort is 9001 too/,
  ],
  [
    'the admin port on the default port',
    fileWith('', 'server: { adminPort: 8080 }'),
    '/server/adminPort',
    /server\.port is 8080 too/,
  ],
  ['text for a number', fileWith('timeoutMs: soon'), '/targets/main/timeoutMs', /whole number/],
  ['an empty section', fileWith('users:'), '/targets/main/users', /a mapping/],
  ['an unknown word', fileWith('policy: mirror'), '/targets/main/policy', /create-only, upsert-only, sync/],
  [
    'a rate of 0',
    fileWith('rateLimit: { requestsPerSecond: 0 }'),
    '/targets/main/rateLimit/requestsPerSecond',
    /more than 0/,
  ],
  ['no target at all', 'targets: {}', '/targets', /at least one/],
  ['a bad target name', `${fileWith('', '')}  Main_2: {}`, '/targets/Main_2', /lower-case letters/],
  ['a name from the prototype', `${fileWith()}  __proto__: {}`, '/targets/__proto__', /lower-case letters/],
  [
    'a bad attribute name',
    fileWith('attributes: { a-b: { type: string, from: a } }'),
    '/targets/main/attributes/a-b',
    /underscores/,
  ],
  [
    'a target without url',
    'connections: { a: { targets: [prod] } }\ntargets: { prod: { token: 0123456789abcdef-key } }',
    '/targets/prod/url',
    /missing\. Add it\. Address/,
  ],
  ['main without url', `targets: { main: { token: ${KEY} } }`, '/targets/main/url', /variable PLATFORM_URL/],
  [
    'an unknown target',
    connection('targets: [prod]'),
    '/connections/default/targets/0',
    /no such target.*main/,
  ],
  [
    'a target that only a prototype has',
    connection('targets: [constructor]'),
    '/connections/default/targets/0',
    /no such target/,
  ],
  [
    'an empty secret',
    connection("tokens: [{ name: a, secret: '' }]"),
    '/connections/default/tokens/0/secret',
    /empty.*openssl rand -hex 32/,
  ],
  [
    'a short secret',
    connection('tokens: [{ name: a, secret: abc }]'),
    '/connections/default/tokens/0/secret',
    /16 characters.*openssl rand -hex 32/,
  ],
  [
    'a secret with a line end',
    connection('tokens: [{ name: a, secret: "0123456789abcdef\\n" }]'),
    '/connections/default/tokens/0/secret',
    /blanks/,
  ],
  [
    'a short admin token',
    fileWith('', 'server: { adminToken: abc }'),
    '/server/adminToken',
    /openssl rand -hex 32/,
  ],
  [
    'the admin token as SCIM token',
    fileWith('', `server: { adminToken: ${SECRET} }`),
    '/connections/default/tokens/0/secret',
    /same secret.*\/server\/adminToken/,
  ],
  [
    'the key of the platform as SCIM token',
    fileWith(`scimToken: ${SECRET}`),
    '/connections/default/tokens/0/secret',
    /same secret.*\/targets\/main\/scimToken/,
  ],
  [
    'a token name used twice',
    connection(`tokens: [{ name: a, secret: ${SECRET}1 }, { name: a, secret: ${SECRET}2 }]`),
    '/connections/default/tokens/1/name',
    /same name/,
  ],
  [
    'a short platform key',
    fileWith('scimToken: abc'),
    '/targets/main/scimToken',
    /16 characters.*from the platform/,
  ],
  [
    'a bad expiry',
    connection(`tokens: [{ name: a, secret: ${SECRET}, expiresAt: tomorrow }]`),
    '/connections/default/tokens/0/expiresAt',
    /2027-01-31T00:00:00Z/,
  ],
  [
    'an expiry on a date that does not exist',
    connection(`tokens: [{ name: a, secret: ${SECRET}, expiresAt: '2027-02-31T00:00:00Z' }]`),
    '/connections/default/tokens/0/expiresAt',
    /2027-01-31T00:00:00Z/,
  ],
  [
    'a bad network',
    connection('allowedNetworks: [10.0.0.0/8, 10.0.0.0/33]'),
    '/connections/default/allowedNetworks/1',
    /CIDR/,
  ],
  [
    'plain http',
    target('http://acme.example.com', ', allowLoopbackHttp: true'),
    '/targets/main/url',
    /https:/,
  ],
  [
    'a name that only looks like loopback',
    target('http://127.0.0.1.example.com', ', allowLoopbackHttp: true'),
    '/targets/main/url',
    /https:/,
  ],
  [
    'loopback http without the switch',
    target('http://localhost:4000'),
    '/targets/main/url',
    /allowLoopbackHttp: true/,
  ],
  ['no web address', target('acme.example.com'), '/targets/main/url', /in full/],
  [
    'a password in the address',
    target('https://u:p@acme.example.com'),
    '/targets/main/url',
    /Remove user and password/,
  ],
  [
    'a bad public address',
    fileWith('', 'server: { publicUrl: scim.example.com }'),
    '/server/publicUrl',
    /in full/,
  ],
  ['a bad address of Redis', fileWith('', "redis: { url: 'http://localhost' }"), '/redis/url', /redis:\/\//],
  [
    'a bad include',
    fileWith("groups: { include: ['('] }"),
    '/targets/main/groups/include/0',
    /regular expression/,
  ],
  [
    'a bad exclude',
    fileWith("groups: { exclude: ['['] }"),
    '/targets/main/groups/exclude/0',
    /regular expression/,
  ],
  [
    'a bad rename',
    fileWith("groups: { rename: [{ match: '(', to: a }] }"),
    '/targets/main/groups/rename/0/match',
    /regular expression/,
  ],
  ['a bad duration', fileWith('guard: { window: 1 day }'), '/targets/main/guard/window', /24h/],
  [
    'a schedule with too few fields',
    fileWith('', "reconcile: { schedule: '* * *' }"),
    '/reconcile/schedule',
    /5 fields/,
  ],
  [
    'a schedule with strange signs',
    fileWith('', "reconcile: { schedule: '$ * * * *' }"),
    '/reconcile/schedule',
    /5 fields/,
  ],
  ['an unknown time zone', fileWith('', 'reconcile: { timezone: Mars/Base }'), '/reconcile/timezone', /IANA/],
  [
    'a schedule with minute 60',
    fileWith('', "reconcile: { schedule: '60 * * * *' }"),
    '/reconcile/schedule',
    /value that does not exist/,
  ],
  [
    'a schedule for the 31st of February',
    fileWith('', "reconcile: { schedule: '0 0 31 2 *' }"),
    '/reconcile/schedule',
    /value that does not exist/,
  ],
  [
    'an attribute without source',
    fileWith('attributes: { a: { type: string } }'),
    '/targets/main/attributes/a',
    /neither/,
  ],
  [
    'an attribute with two sources',
    fileWith('attributes: { a: { type: string, from: a, expression: a } }'),
    '/targets/main/attributes/a',
    /both/,
  ],
  [
    'an attribute without type',
    fileWith('attributes: { a: { from: a } }'),
    '/targets/main/attributes/a/type',
    /missing/,
  ],
  [
    'signing keys by plain http',
    connection("jwt: { issuer: a, audience: b, jwksUri: 'http://c.example/keys' }"),
    '/connections/default/jwt/jwksUri',
    /https/,
  ],
  [
    'signing keys by loopback http without the switch',
    connection("jwt: { issuer: a, audience: b, jwksUri: 'http://127.0.0.1:1/keys' }"),
    '/connections/default/jwt/jwksUri',
    /allowLoopbackHttp/,
  ],
  [
    'signing keys from a file',
    connection("jwt: { issuer: a, audience: b, jwksUri: 'file:///etc/keys', allowLoopbackHttp: true }"),
    '/connections/default/jwt/jwksUri',
    /https/,
  ],
  [
    'JWTs with an empty audience',
    connection("jwt: { issuer: a, audience: '', jwksUri: 'https://c' }"),
    '/connections/default/jwt/audience',
    /empty/,
  ],
  [
    'events without poll and push',
    events(''),
    '/connections/default/events',
    /exactly one of poll and push; here neither/,
  ],
  [
    'events with poll and push',
    events(`${POLL}, push: { endpoint: 'https://c.example' }`),
    '/connections/default/events',
    /here both/,
  ],
  [
    'an unreadable signing key',
    events(POLL, 'hunter2'),
    '/connections/default/events/key',
    /openssl genpkey/,
  ],
  ['a key on another curve', events(POLL, jwk('P-384')), '/connections/default/events/key', /P-256/],
  [
    'an unreadable further key',
    events(`${POLL}, otherKeys: [x]`),
    '/connections/default/events/otherKeys/0',
    /public key/,
  ],
  [
    'a short token of the receiver',
    events('poll: { token: secret }'),
    '/connections/default/events/poll/token',
    /shorter than 16/,
  ],
  [
    'a receiver that has the token of the identity provider',
    `${events(POLL)}\n`.replace('default: {', `default: { tokens: [{ name: a, secret: ${SECRET} }], `),
    '/connections/default/events/poll/token',
    /same secret/,
  ],
  [
    'a receiver by plain http',
    events("push: { endpoint: 'http://c.example/events' }"),
    '/connections/default/events/push/endpoint',
    /https/,
  ],
  [
    'a receiver by loopback http without the switch',
    events("push: { endpoint: 'http://127.0.0.1:1/events' }"),
    '/connections/default/events/push/endpoint',
    /allowLoopbackHttp/,
  ],
  [
    'a bad maxAge of events',
    events(`${POLL}, maxAge: long`),
    '/connections/default/events/maxAge',
    /duration/,
  ],
  [
    'all addresses as trusted proxies',
    fileWith('', "server: { trustedProxies: ['0.0.0.0/0'] }"),
    '/server/trustedProxies/0',
    /contains every address/,
  ],
  [
    'a rate of 0 for a connection',
    connection('rateLimit: { requestsPerSecond: 0 }'),
    '/connections/default/rateLimit/requestsPerSecond',
    /at least 1/,
  ],
  [
    'redis.url and redis.cluster',
    fileWith('', "redis: { url: 'redis://a', cluster: ['redis://a:1'] }"),
    '/redis/url',
    /either redis.url or redis.cluster/,
  ],
  ['a cluster without nodes', fileWith('', 'redis: { cluster: [] }'), '/redis/cluster', /at least one/],
  [
    'a cluster with a database number',
    fileWith('', "redis: { cluster: ['redis://a:1/2'] }"),
    '/redis/cluster/0',
    /only database 0/,
  ],
  [
    'cluster nodes with different passwords',
    fileWith('', "redis: { cluster: ['redis://:one@a:1', 'redis://:two@b:1'] }"),
    '/redis/cluster/1',
    /same scheme, user and password/,
  ],
  [
    'two servers without sentinels',
    fileWith('', "redis: { url: 'redis://a:1,b:2' }"),
    '/redis/url',
    /redis\+sentinel/,
  ],
  [
    'an unreadable CA file',
    fileWith('', "redis: { url: 'rediss://a', tls: { caFile: /nowhere/ca.crt } }"),
    '/redis/tls/caFile',
    /ENOENT/,
  ],
  [
    'a certificate without its key',
    fileWith('', 'redis: { tls: { certFile: /dev/null } }'),
    '/redis/tls/keyFile',
    /both certFile and keyFile/,
  ],
  [
    'a missing variable',
    fileWith("scimToken: 'x-${NOT_SET}'"),
    '/targets/main/scimToken',
    /variable NOT_SET is not set/,
  ],
  [
    'an unreadable file',
    fileWith('scimToken: ${file:/nowhere/key}'),
    '/targets/main/scimToken',
    /\/nowhere\/key.*ENOENT/,
  ],
  ['a bad reference', fileWith("scimToken: '${A-B}'"), '/targets/main/scimToken', /\$\{NAME\}/],
];
