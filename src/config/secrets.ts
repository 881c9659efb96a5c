// Lists the settings that are secrets, for checking and for masking them.
import { parsePrivateKey, parsePublicKey } from '../support/signing-key.ts';
import { checkSecretForm } from './forms.ts';
import type { ConfigFault } from './faults.ts';
import { select } from './places.ts';

/** Patterns (places.ts) of secrets that callers of the bridge present, and of the key of backups: no two may be equal. */
const OWN_SECRETS = [
  'server/adminToken',
  'connections/*/tokens/*/secret',
  'connections/*/events/poll/token',
  'backup/key',
];

/** Patterns of secrets that other parties issued, with the advice for a malformed one. */
const GIVEN_SECRETS = new Map([
  ['targets/*/token', 'Copy the whole API key from the platform.'],
  ['targets/*/scimToken', 'Copy the whole API key from the platform.'],
  ['connections/*/events/push/token', 'Copy the whole token from the receiver.'],
  ['server/signIn/openid/clientSecret', 'Copy the whole client secret from the provider.'],
]);

/** Key that signs events. */
const PRIVATE_KEYS = 'connections/*/events/key';
/** Further public keys. They count as secrets, because an operator may paste a private key here. */
const PUBLIC_KEYS = 'connections/*/events/otherKeys/*';

/** Secrets of notices (notice-checks.ts). The address of a chat's webhook is one, because it is enough to post messages. */
const NOTICE_SECRETS = ['notices/channels/*/url', 'notices/channels/*/secret'];

const TOKEN_PATTERNS: readonly string[] = [...OWN_SECRETS, ...GIVEN_SECRETS.keys()];
export const SECRET_PATTERNS: readonly string[] = [
  ...TOKEN_PATTERNS,
  PRIVATE_KEYS,
  PUBLIC_KEYS,
  ...NOTICE_SECRETS,
];

/** Addresses that may carry a password. */
export const ADDRESS_PATTERNS: readonly string[] = ['redis/url', 'redis/cluster/*'];

const MAKE_ONE = 'Make one with: openssl rand -hex 32';

function checkKeys(document: unknown): ConfigFault[] {
  const faultsAt = (pattern: string, parse: typeof parsePublicKey): ConfigFault[] =>
    select(document, pattern).flatMap(({ path, value }) => {
      const parsed = typeof value === 'string' ? parse(value) : undefined;
      // `parse` returns a fault as text.
      return typeof parsed === 'string' ? [{ path, message: parsed }] : [];
    });
  return [...faultsAt(PRIVATE_KEYS, parsePrivateKey), ...faultsAt(PUBLIC_KEYS, parsePublicKey)];
}

/** Settings with the same secret, as JSON pointers. */
interface SameSecret {
  /** A secret that the bridge itself checks, so its operator can replace it. */
  path: string;
  other: string;
}

/**
 * Returns the secrets of OWN_SECRETS that are used twice; two secrets that other parties issued may be equal. One token must not
 * stand for two identity providers or for an operator, and a caller of the bridge must not have the key of the platform.
 */
export function repeatedSecrets(document: unknown): SameSecret[] {
  const repeated: SameSecret[] = [];
  const seen = new Map<unknown, string>();
  for (const pattern of TOKEN_PATTERNS) {
    const isOwn = OWN_SECRETS.includes(pattern);
    for (const { path, value } of select(document, pattern)) {
      const first = typeof value === 'string' ? seen.get(value) : undefined;
      if (first !== undefined) repeated.push(isOwn ? { path, other: first } : { path: first, other: path });
      else if (isOwn) seen.set(value, path);
    }
  }
  return repeated;
}

/** Returns the faults of malformed keys, of malformed or short secrets, and of secrets that are used twice. */
export function checkSecrets(document: unknown): ConfigFault[] {
  const weak = TOKEN_PATTERNS.flatMap((pattern) =>
    select(document, pattern).flatMap(({ path, value }) => {
      const problem = typeof value === 'string' ? checkSecretForm(value) : undefined;
      return problem ? [{ path, message: `${problem} ${GIVEN_SECRETS.get(pattern) ?? MAKE_ONE}` }] : [];
    }),
  );
  const repeated = repeatedSecrets(document).map(({ path, other }) => ({
    path,
    message: `The same secret is used at ${other}. ${MAKE_ONE}`,
  }));
  return [...checkKeys(document), ...weak, ...repeated];
}
