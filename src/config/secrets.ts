// Which settings are secrets: the one table for checking and for masking them.
import { checkSecretForm } from './forms.ts';
import type { ConfigFault } from './faults.ts';
import { select } from './places.ts';

/** Secrets that callers of the bridge present; each must open one door only. */
const OWN_SECRETS = ['server/adminToken', 'connections/*/tokens/*/secret'];

/** Secrets that the platform gave out. */
const PLATFORM_SECRETS = ['targets/*/token', 'targets/*/scimToken'];

export const SECRET_PATTERNS: readonly string[] = [...OWN_SECRETS, ...PLATFORM_SECRETS];

/** Addresses that may carry a password. */
export const ADDRESS_PATTERNS: readonly string[] = ['redis/url', 'redis/cluster/*'];

const MAKE_ONE = 'Make one with: openssl rand -hex 32';
const COPY_IT = 'Copy the whole API key from the platform.';

/** Weak secrets, and secrets used twice: one token must not speak for two identity providers, or for an operator. */
export function checkSecrets(document: unknown): ConfigFault[] {
  const faults: ConfigFault[] = [];
  const seen = new Map<string, string>();
  for (const pattern of SECRET_PATTERNS) {
    const own = OWN_SECRETS.includes(pattern);
    for (const { path, value } of select(document, pattern)) {
      if (typeof value !== 'string') continue;
      const problem = checkSecretForm(value);
      const first = own ? seen.get(value) : undefined;
      if (problem) faults.push({ path, message: `${problem} ${own ? MAKE_ONE : COPY_IT}` });
      else if (first) faults.push({ path, message: `The same secret is used at ${first}. ${MAKE_ONE}` });
      else if (own) seen.set(value, path);
    }
  }
  return faults;
}
