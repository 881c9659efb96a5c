// Defines the settings of security events: the receiver of the changes of a connection, and the way of delivery.
// Arguments (node.ts): section(description, keys, required keys), whole(description, default, smallest, largest).
import { flag, list, optionalText, optionalSection, section, text, TEXT, usualText, whole } from './node.ts';

const pollSchema = optionalSection(
  section(
    'The receiver fetches events at /connections/<name>/events (RFC 8936); null = it does not.',
    { token: text('Bearer token of the receiver; make one with: openssl rand -hex 32.') },
    ['token'],
  ),
);

const pushSchema = optionalSection(
  section(
    'The bridge posts events to the receiver (RFC 8935); null = it does not.',
    {
      endpoint: text('Address of the receiver, by https://.'),
      token: optionalText('Bearer token of the bridge, as issued by the receiver.'),
      allowLoopbackHttp: flag('Allow http:// when the receiver is on this machine.'),
      timeoutMs: whole('Longest wait for one answer, in milliseconds.', 10_000, 100, 20_000),
    },
    ['endpoint'],
  ),
);

export const eventsSchema = optionalSection(
  section(
    'A receiver that is told of every change, by security event tokens (RFC 9967) with names of attributes and no values; null = off.',
    {
      issuer: text('Issuer of the tokens (iss), such as the address of the bridge.', { minLength: 1 }),
      audience: text('Audience of the tokens (aud), as the receiver expects it.', { minLength: 1 }),
      key: text('Private key that signs: PEM or JWK, EC P-256, Ed25519 or RSA; best as ${file:/path}.'),
      otherKeys: list(
        'Further public keys for receivers: the next key, and the former one while its tokens are still checked.',
        TEXT,
      ),
      poll: pollSchema,
      push: pushSchema,
      externalIds: flag(
        'Add the externalId of the changed resource to its id. It can contain a name or an e-mail address.',
      ),
      mostPending: whole(
        'Largest number of pending events; beyond it the oldest are dropped and counted.',
        100_000,
        100,
        10_000_000,
      ),
      maxAge: usualText('Longest time that an event waits, such as 7d or 12h.', '7d'),
    },
    ['issuer', 'audience', 'key'],
  ),
);
