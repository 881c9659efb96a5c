// Creates the keys and secrets of the seeds once per sandbox, so that a reset keeps them valid for the bridge.
import { randomBytes } from 'node:crypto';

export interface Secrets {
  /** Returns the secret of a name; the same name always gives the same secret. */
  named(name: string, prefix?: string): string;
  /** Returns a new secret, which is not saved by name. */
  fresh(prefix?: string): string;
  /** Returns all named secrets, to be saved for a restart. */
  all(): [string, string][];
}

/** Creates the secrets; `kept` are those of an earlier process. */
export function createSecrets(kept: readonly (readonly [string, string])[] = []): Secrets {
  const known = new Map<string, string>(kept);
  const fresh = (prefix = ''): string => `${prefix}${randomBytes(24).toString('hex')}`;
  return {
    fresh,
    all: () => [...known],
    named(name, prefix) {
      const secret = known.get(name) ?? fresh(prefix);
      known.set(name, secret);
      return secret;
    },
  };
}
