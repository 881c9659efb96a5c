// Gives each attribute of the schema extension UserAttribute the type that the mapping rules need.
import { USER_ATTRIBUTE_URN, type UserAttributeDefinition } from '../../scim/index.ts';
import type { AttributeRule } from './mapping.ts';

/**
 * Returns name and type of each attribute of the extension. The type is that of the platform attribute whose rule reads it
 * (`from: urn:…:UserAttribute:<name>`), otherwise of the platform attribute with the same name. An attribute with two types,
 * such as of two targets, is left out: each mapping then converts its value.
 */
export function typedUserAttributes(
  targets: readonly { attributes: Record<string, AttributeRule> }[],
): UserAttributeDefinition[] {
  const types = new Map<string, Set<UserAttributeDefinition['type']>>();
  for (const { attributes } of targets) {
    for (const [name, rule] of Object.entries(attributes)) {
      const source = extensionName(rule.from) ?? name;
      types.set(source, (types.get(source) ?? new Set()).add(rule.type));
    }
  }
  return [...types].flatMap(([name, found]) => {
    const [type] = found;
    return found.size === 1 && type !== undefined ? [{ name, type }] : [];
  });
}

/** Returns the name in a path of the extension; undefined for another path. */
function extensionName(from: string | undefined): string | undefined {
  const prefix = `${USER_ATTRIBUTE_URN}:`;
  return from?.toLowerCase().startsWith(prefix.toLowerCase()) ? from.slice(prefix.length) : undefined;
}
