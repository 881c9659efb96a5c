// Computes a digest of the mapping rules and the policy of a target. When it changes, the applied state may differ from the
// desired state, so the next run maps every user again.
import { createHash } from 'node:crypto';
import type { MappingRules } from '../../sync/mapping/mapping.ts';
import { canonicalJson } from '../../support/canonical-json.ts';

/** Version of the mapping code; increase it when the same rules give other results. */
const MAPPER = 2;

/** Returns the digest of a target's rules, as 16 hex digits. */
export function planDigest(
  rules: MappingRules & { users: { scope: string; protected?: string[] }; policy: string },
): string {
  const { users, groups, attributes, policy } = rules;
  const { include, exclude, rename } = groups;
  const parts = {
    mapper: MAPPER,
    policy,
    scope: users.scope,
    protected: users.protected ?? [],
    groups: { include, exclude, rename },
    attributes,
  };
  return createHash('sha256').update(canonicalJson(parts)).digest('hex').slice(0, 16);
}
