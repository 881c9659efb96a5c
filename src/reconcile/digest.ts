// A fingerprint of the rules by which records become what a target shall have. When it changes, what was applied is no
// longer what is desired, so everybody has to be mapped again.
import { createHash } from 'node:crypto';
import type { MappingRules } from '../sync/mapping.ts';
import { canonicalJson } from '../support/canonical-json.ts';

/** Raise when the code maps the same rules to something else. */
const MAPPER = 1;

export function planDigest(rules: MappingRules & { users: { scope: string; protected?: string[] } }): string {
  const { users, groups, attributes } = rules;
  const { include, exclude, rename } = groups;
  const parts = {
    mapper: MAPPER,
    scope: users.scope,
    protected: users.protected ?? [],
    groups: { include, exclude, rename },
    attributes,
  };
  return createHash('sha256').update(canonicalJson(parts)).digest('hex').slice(0, 16);
}
