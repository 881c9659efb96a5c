// Defines the settings of the process: addresses, limits of requests, Redis, the schedule of reconcile runs, the provisioning log,
// the key of backups, and logging. Arguments (node.ts): whole(description, default, smallest, largest),
// optionalWhole(description, smallest, largest), choice(description, words, default; absent: the first word).
import { signInSchema } from './sign-in.ts';
import {
  choice,
  list,
  nodeOf,
  optionalText,
  optionalWhole,
  section,
  TEXT,
  usualText,
  whole,
} from './node.ts';

export const serverSchema = section('The HTTP side of the service.', {
  port: whole('Port to listen on; 0 takes any free port. Variable PORT.', 8080, 0, 65535),
  host: usualText(
    'Address to listen on; :: is every address, IPv6 too where the machine has it. Variable HOST.',
    '0.0.0.0',
    { minLength: 1 },
  ),
  publicUrl: optionalText(
    'Address under which identity providers reach the bridge, for example https://scim.example.com; used for meta.location and $ref. Without it the address of the request is used. Variable PUBLIC_URL.',
  ),
  maxBodyBytes: whole('Largest request body of groups and Bulk, in bytes.', 10_485_760, 1024, 1_073_741_824),
  limits: section('Limits of one request and of all requests together.', {
    valueBytes: whole('Longest text value of an attribute, in bytes.', 65_536, 1024, 1_048_576),
    nameCharacters: whole('Longest userName, displayName and externalId, in characters.', 1000, 256, 10_000),
    resourceBytes: whole(
      'Largest stored user or group without its members, in bytes.',
      524_288,
      4096,
      8_388_608,
    ),
    userBodyBytes: whole(
      'Largest request body for a user, /Me and .search, in bytes, never more than maxBodyBytes.',
      1_048_576,
      1024,
      16_777_216,
    ),
    pageBytes: whole(
      'A page of a list ends when it has this many bytes, even if count asks for more resources.',
      4_194_304,
      65_536,
      33_554_432,
    ),
    inFlightBytes: whole(
      'Request bodies that one process holds at once, in bytes, and the same again for answers; one connection may have half. More is answered 503.',
      50_331_648,
      1_048_576,
      1_073_741_824,
    ),
    lists: whole(
      'Lists and searches that one process works on at once; one connection may have half. A few more wait, others are answered 503.',
      6,
      2,
      64,
    ),
  }),
  drainMs: whole(
    'How long a process that is told to end (SIGTERM) still answers while /readyz says 503, in milliseconds: longer than load balancers take to notice.',
    3000,
    0,
    30_000,
  ),
  trustedProxies: list(
    'Networks of load balancers and proxies in front of the bridge, in CIDR form: the client that they name in X-Forwarded-For is the one that allowedNetworks is about. Empty = the header is ignored.',
    TEXT,
  ),
  adminToken: optionalText(
    'Bearer token of the admin API and its page, at least 16 characters; without it and without signIn both are off. Variable ADMIN_TOKEN.',
  ),
  adminUrl: optionalText(
    'Address under which operators reach the page, for example https://bridge.internal.example.com, without /admin; sign-in and links lead there. Without it publicUrl is used.',
  ),
  signIn: signInSchema,
  adminPort: optionalWhole(
    'Port of its own for /admin, /livez, /readyz, /health and, without metricsPort, /metrics: port then serves SCIM and security events only. 0 takes any free one; null = served on port.',
    0,
    65535,
  ),
  metricsPort: optionalWhole(
    'Port of its own for /metrics, 0 takes any free one; null = served on port, where clients with a public address, or behind a proxy, need the admin token.',
    0,
    65535,
  ),
});

export const redisSchema = section('Where the desired state is kept.', {
  url: usualText(
    'Address of Redis: redis://host:6379, rediss:// (TLS), or redis+sentinel://host:26379,host:26379/name-of-primary (rediss+sentinel:// with TLS), with user and password when needed. Variable REDIS_URL.',
    'redis://127.0.0.1:6379',
    { pattern: '^rediss?(\\+sentinel)?://[^\\s]+$' },
  ),
  cluster: nodeOf<string[] | null>({
    type: ['array', 'null'],
    description:
      'Addresses of some nodes of a Redis Cluster, instead of url; the others are found through them. All have the same scheme, user and password.',
    default: null,
    minItems: 1,
    items: { type: 'string', pattern: '^rediss?://[^\\s]+$' },
  }),
  tls: section(
    'Files in PEM form for rediss:// and rediss+sentinel://. They are read at every new connection.',
    {
      caFile: optionalText(
        'Certificate authorities for the certificate of Redis; null = those of Node.js and NODE_EXTRA_CA_CERTS.',
      ),
      certFile: optionalText('Certificate that the bridge shows to Redis.'),
      keyFile: optionalText('Private key of that certificate.'),
      serverName: optionalText(
        'Name that the certificate of Redis must carry; null = the host of the address.',
      ),
    },
  ),
  prefix: usualText(
    'First part of every Redis key, so that several bridges can share one Redis.',
    'scim-bridge',
    { pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$' },
  ),
  durability: choice(
    'When an answer to the identity provider counts as safe: everysec (append-only file, written every second) or always (written before the answer). The bridge does not change Redis; with always, /readyz reports a Redis that is not set up so.',
    ['everysec', 'always'],
  ),
  confirmation: choice(
    'auto: where Redis has replicas, an answer waits until all of them have the change too, so that a failover loses nothing; off: it does not.',
    ['auto', 'off'],
  ),
});

export const reconcileSchema = section('The scheduled comparison of all targets with the desired state.', {
  schedule: nodeOf<string | null>({
    type: ['string', 'null'],
    description: 'When it runs, as a node-cron pattern of 5 or 6 fields; null = off.',
    default: '*/30 * * * *',
  }),
  expectedSchedule: optionalText(
    'When another runner, such as a CronJob, starts scim-bridge reconcile. The bridge starts nothing by it; alerts expect a run by it. Used where schedule is null.',
  ),
  timezone: usualText('Time zone of the schedule, an IANA name such as Europe/Berlin.', 'UTC'),
  onDrift: choice('What to do about changes that others made at the platform.', ['repair', 'report']),
});

export const provisioningLogSchema = section(
  'How long the provisioning log is kept: what was written at each target, and what was not and why (scim-bridge log). An entry takes about 700 bytes of Redis.',
  {
    maxEntries: whole('Entries for each connection and target.', 50_000, 100, 10_000_000),
    maxAgeDays: whole('Days.', 30, 1, 3650),
  },
);

export const backupSchema = section('Proof that a backup comes from this bridge.', {
  key: optionalText(
    'Secret of at least 16 characters with which backups carry an HMAC-SHA256; restore then refuses a file without a fitting one. Keep it apart from the backups.',
  ),
});

export const loggingSchema = section('What the service writes to standard output.', {
  level: choice(
    'Least severe level that is written. Variable LOG_LEVEL.',
    ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    'info',
  ),
});

/** CIDR list, shared by every place that limits callers by network. */
export const networksSchema = list(
  'Networks that may call, in CIDR form such as 10.0.0.0/8 or 2001:db8::/32; empty = any.',
  TEXT,
);
