// Defines the settings of security events: the receiver of the changes of a connection, and the way of delivery.
import { list, optionalText, section, text, whole, type SchemaNode } from './node.ts';

export interface EventsConfig {
  issuer: string;
  audience: string;
  /** Private key, PEM or JWK. */
  key: string;
  /** Public keys, PEM or JWK. */
  otherKeys: string[];
  /** Exactly one of poll and push is given. */
  poll: { token: string } | null;
  push: { endpoint: string; token: string | null; allowLoopbackHttp: boolean; timeoutMs: number } | null;
  externalIds: boolean;
  mostPending: number;
  maxAgeMs: number;
}

const orNull = (node: SchemaNode): SchemaNode => ({ ...node, type: ['object', 'null'], default: null });

const pollSchema = orNull(
  section(
    'The receiver fetches events at /connections/<name>/events (RFC 8936); null = it does not.',
    { token: text('What the receiver presents as bearer token; make one with: openssl rand -hex 32.') },
    ['token'],
  ),
);

const pushSchema = orNull(
  section(
    'The bridge posts events to the receiver (RFC 8935); null = it does not.',
    {
      endpoint: text('Address of the receiver, by https://.'),
      token: optionalText('What the bridge presents as bearer token, as the receiver gave it out.'),
      allowLoopbackHttp: {
        type: 'boolean',
        description: 'Allow http:// when the receiver is on this machine.',
        default: false,
      },
      timeoutMs: whole('Longest wait for one answer, in milliseconds.', 10_000, 100, 20_000),
    },
    ['endpoint'],
  ),
);

export const eventsSchema: SchemaNode = orNull(
  section(
    'A receiver that is told of every change, by security event tokens (RFC 9967) with names of attributes and no values; null = off.',
    {
      issuer: { ...text('Who says so (iss), such as the address of the bridge.'), minLength: 1 },
      audience: { ...text('For whom it is (aud), as the receiver expects it.'), minLength: 1 },
      key: text('Private key that signs: PEM or JWK, EC P-256, Ed25519 or RSA; best as ${file:/path}.'),
      otherKeys: list(
        'Public keys that are shown beside it: the next one, and the one before while it is still looked for.',
        { type: 'string' },
      ),
      poll: pollSchema,
      push: pushSchema,
      externalIds: {
        type: 'boolean',
        description:
          'Name the externalId of who changed beside the id of the bridge. It can be a name or an address.',
        default: false,
      },
      mostPending: whole(
        'Events that wait at most; then the oldest are dropped, and that is counted.',
        100_000,
        100,
        10_000_000,
      ),
      maxAge: {
        type: 'string',
        description: 'How long an event waits at most, such as 7d or 12h.',
        default: '7d',
      },
    },
    ['issuer', 'audience', 'key'],
  ),
);
