// Computes a print of the settings of a target that decide how its resources are synced, so that a condition shows whether they
// have changed since.
import { createHash } from 'node:crypto';
import { canonicalJson } from '../support/canonical-json.ts';
import type { TargetSettings } from './target.ts';

/** Characters of the print; 8 of base64url are 48 bits. */
const LENGTH = 8;

/**
 * Returns a short text that changes with the mapping, the scope, the policy and the adoption, and with the connections that
 * feed the target; undefined settings: ''. A missing key of an attribute counts as its default. If the target has other
 * connections, a dot and a print of their names follow, because only some conditions depend on them (`printFor` in
 * link-condition.ts).
 * @param others names of the other connections of the target
 */
export function settingsPrint(
  settings: Pick<TargetSettings, 'attributes' | 'users' | 'groups' | 'policy' | 'adopt'> | undefined,
  others: readonly string[] = [],
): string {
  if (!settings) return '';
  const { users, groups, policy, adopt } = settings;
  const attributes = Object.entries(settings.attributes).map(
    ([name, { type, from = null, expression = null, onEmpty = 'clear' }]) => [
      name,
      type,
      from,
      expression,
      onEmpty,
    ],
  );
  const text = canonicalJson({ attributes: attributes.sort(), users, groups, policy, adopt });
  return digest(text) + (others.length > 0 ? `.${digest(canonicalJson([...others].sort()))}` : '');
}

const digest = (text: string): string =>
  createHash('sha256').update(text).digest('base64url').slice(0, LENGTH);
