// Defines the settings of a connection: one identity provider that pushes to the bridge.
// Arguments (node.ts): section(description, keys, required keys), whole(description, default, smallest, largest).
import { customSchemasSchema } from './custom-schema.ts';
import { eventsSchema } from './events.ts';
import { networksSchema } from './server.ts';
import {
  choice,
  flag,
  list,
  named,
  NAME_PATTERN,
  optionalText,
  optionalSection,
  section,
  nodeOf,
  text,
  TEXT,
  whole,
  type ValueOf,
} from './node.ts';

const tokenSchema = section(
  'One token.',
  {
    name: text('Name of the token, unique within the connection.', { pattern: NAME_PATTERN }),
    secret: text('The token itself, at least 16 characters; make one with: openssl rand -hex 32.'),
    expiresAt: optionalText('Date and time after which the token is refused, such as 2027-01-31T00:00:00Z.'),
  },
  ['name', 'secret'],
);

const jwtSchema = optionalSection(
  section(
    'OAuth client-credential tokens of the identity provider; null = off.',
    {
      issuer: text('Expected issuer (iss), to the letter.', { minLength: 1 }),
      audience: text('Expected audience (aud).', { minLength: 1 }),
      jwksUri: text('Address of the signing keys (JWKS), by https://.'),
      allowLoopbackHttp: flag('Allow http:// when the keys are on this machine.'),
    },
    ['issuer', 'audience', 'jwksUri'],
  ),
);

const rateLimitSchema = section(
  'Rate limit of one token in one process. Further requests are answered 429. Identity providers may stop after 429, so keep the limit far above their rate.',
  {
    requestsPerSecond: nodeOf<number>({
      type: 'number',
      description: 'Requests per second, on average.',
      default: 50_000,
      minimum: 1,
      maximum: 1_000_000,
    }),
    burst: whole('Requests that may come at once after a pause.', 100_000, 1, 1_000_000),
  },
);

const connectionSchema = section('One identity provider.', {
  profile: choice(
    'Deviations from the RFC that are accepted. auto and lenient accept those of all known providers.',
    ['auto', 'rfc', 'entra', 'okta', 'lenient'],
  ),
  tokens: list(
    'Bearer tokens that this identity provider may use. The variable SCIM_TOKEN sets the token primary of the connection default.',
    tokenSchema,
  ),
  jwt: jwtSchema,
  allowedNetworks: networksSchema,
  rateLimit: rateLimitSchema,
  targets: list('Targets that get the users and groups of this connection.', TEXT, ['main']),
  schemas: customSchemasSchema,
  reviveInactive: nodeOf<boolean | null>({
    type: ['boolean', 'null'],
    description:
      'Whether a POST of an inactive user reactivates it instead of answering 409; null = the profile decides.',
    default: null,
  }),
  events: eventsSchema,
});

/** A connection of a document that has passed the schema. */
export type ConnectionDocument = ValueOf<typeof connectionSchema>;
type Optional<Name extends keyof ConnectionDocument> = Partial<Pick<ConnectionDocument, Name>>;

/** An inbound bearer token; without `expiresAt` it does not expire. */
export interface TokenConfig {
  name: string;
  secret: string;
  expiresAt?: string;
}

export type EventsConfig = Omit<NonNullable<ConnectionDocument['events']>, 'maxAge'> & { maxAgeMs: number };

/**
 * The effective settings of a connection. `jwt`, `events`: null or absent is off. `rateLimit`: absent is no limit; settings from a
 * document always have one. `reviveInactive`: absent means that the profile decides.
 */
export type ConnectionConfig = Omit<
  ConnectionDocument,
  'tokens' | 'jwt' | 'rateLimit' | 'reviveInactive' | 'events'
> &
  Optional<'jwt' | 'rateLimit'> & {
    name: string;
    tokens: TokenConfig[];
    reviveInactive?: boolean;
    events?: EventsConfig | null;
  };

/** One connection, called `default`, with the default of every setting. */
const ONE_CONNECTION = { default: {} };

export const connectionsSchema = {
  ...named(
    'Identity providers by name. default is served at /scim/v2, others at /connections/<name>/scim/v2.',
    NAME_PATTERN,
    connectionSchema,
    ONE_CONNECTION,
  ),
  minProperties: 1,
};
