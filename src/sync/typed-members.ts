// Returns the types of extension members from the mapping rules.
import { USER_ATTRIBUTE_URN, type UserAttributeDefinition } from '../scim/index.ts';
import type { AttributeRule } from './mapping.ts';

/**
 * A member has the type of the attribute that reads it (`from: urn:…:UserAttribute:<member>`), otherwise of the
 * attribute with the same name. If two targets disagree, the member has no type and each mapping converts it.
 */
export function typedMembers(
  targets: readonly { attributes: Record<string, AttributeRule> }[],
): UserAttributeDefinition[] {
  const types = new Map<string, Set<UserAttributeDefinition['type']>>();
  for (const { attributes } of targets) {
    for (const [name, rule] of Object.entries(attributes)) {
      const member = memberOf(rule.from) ?? name;
      types.set(member, (types.get(member) ?? new Set()).add(rule.type));
    }
  }
  return [...types].flatMap(([name, found]) => {
    const [type] = found;
    return found.size === 1 && type !== undefined ? [{ name, type }] : [];
  });
}

function memberOf(from: string | undefined): string | undefined {
  const prefix = `${USER_ATTRIBUTE_URN}:`;
  return from?.toLowerCase().startsWith(prefix.toLowerCase()) ? from.slice(prefix.length) : undefined;
}
