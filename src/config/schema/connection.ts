// Defines the settings of a connection: one identity provider that pushes to the bridge.
// The schema describes each field of the types.
import { customSchemasSchema, type CustomSchemaConfig } from './custom-schema.ts';
import { eventsSchema, type EventsConfig } from './events.ts';
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
  text,
  whole,
  type SchemaNode,
} from './node.ts';

/** An inbound bearer token as written in the settings. */
export interface TokenConfig {
  name: string;
  secret: string;
  /** RFC 3339 date and time. */
  expiresAt?: string;
}

/** Check of the JWTs of a connection: the issuer that signs them, its keys, and the audience that they must carry. */
export interface JwtConfig {
  issuer: string;
  audience: string;
  jwksUri: string;
  allowLoopbackHttp: boolean;
}

export interface ConnectionConfig {
  name: string;
  profile: 'auto' | 'rfc' | 'entra' | 'okta' | 'lenient';
  tokens: TokenConfig[];
  /** null or absent = JWTs are refused. */
  jwt?: JwtConfig | null;
  allowedNetworks: string[];
  /** Rate limit of each token in each process; absent = no limit. */
  rateLimit?: { requestsPerSecond: number; burst: number };
  targets: string[];
  schemas: CustomSchemaConfig[];
  /** Absent = the profile decides. */
  reviveInactive?: boolean;
  /** null or absent = no security events are sent. */
  events?: EventsConfig | null;
}

const tokenSchema = section(
  'One token.',
  {
    name: { ...text('Name of the token, unique within the connection.'), pattern: NAME_PATTERN },
    secret: text('The token itself, at least 16 characters; make one with: openssl rand -hex 32.'),
    expiresAt: optionalText('Date and time after which the token is refused, such as 2027-01-31T00:00:00Z.'),
  },
  ['name', 'secret'],
);

const jwtSchema = optionalSection(
  section(
    'OAuth client-credential tokens of the identity provider; null = off.',
    {
      issuer: { ...text('Expected issuer (iss), to the letter.'), minLength: 1 },
      audience: { ...text('Expected audience (aud).'), minLength: 1 },
      jwksUri: text('Address of the signing keys (JWKS), by https://.'),
      allowLoopbackHttp: flag('Allow http:// when the keys are on this machine.'),
    },
    ['issuer', 'audience', 'jwksUri'],
  ),
);

const rateLimitSchema = section(
  'Rate limit of one token in one process. Further requests are answered 429. Identity providers may stop after 429, so keep the limit far above their rate.',
  {
    requestsPerSecond: {
      type: 'number',
      description: 'Requests per second, on average.',
      default: 50_000,
      minimum: 1,
      maximum: 1_000_000,
    },
    burst: whole('Requests that may come at once after a pause.', 100_000, 1, 1_000_000),
  },
);

const connectionSchema = section('One identity provider.', {
  profile: choice(
    'Deviations from the RFC that are accepted. auto and lenient accept those of all known providers.',
    ['auto', 'rfc', 'entra', 'okta', 'lenient'],
  ),
  tokens: list(
    'Bearer tokens that this identity provider may use. The variable SCIM_TOKEN sets the one named primary of the connection default.',
    tokenSchema,
  ),
  jwt: jwtSchema,
  allowedNetworks: networksSchema,
  rateLimit: rateLimitSchema,
  targets: list('Targets that get the users and groups of this connection.', { type: 'string' }, ['main']),
  schemas: customSchemasSchema,
  reviveInactive: {
    type: ['boolean', 'null'],
    description:
      'Whether a POST of an inactive user reactivates it instead of answering 409; null = the profile decides.',
    default: null,
  },
  events: eventsSchema,
});

export const connectionsSchema: SchemaNode = {
  ...named(
    'Identity providers by name. default is served at /scim/v2, others at /connections/<name>/scim/v2.',
    NAME_PATTERN,
    connectionSchema,
    { default: {} },
  ),
  minProperties: 1,
};
