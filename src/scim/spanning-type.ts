// Creates the resource type for filters over several types (RFC 7644 §3.4.2.1).
import type { Field, Section } from './attributes.ts';
import type { ResourceType } from './resource-type.ts';

/**
 * Returns `type` with the attribute names of `others` added, for filters and sorting only. In a resource of this type, an
 * attribute of another type counts as an attribute without a value. All other names stay unknown.
 */
export function spanningType(type: ResourceType, others: readonly ResourceType[]): ResourceType {
  const foreign = others.flatMap((other) => [other.core, ...other.sections]);
  const sections = [...type.sections, ...others.flatMap((other) => other.sections)];
  const urns = new Map<string, Section>();
  // As an extension of a user, the core schema of groups has no values, so `urn:…:Group:displayName` matches no user.
  for (const section of foreign) urns.set(section.key, { ...section, core: false });
  for (const section of [type.core, ...type.sections]) urns.set(section.key, section);
  return {
    ...type,
    core: withNames(
      type.core,
      others.map((other) => other.core),
    ),
    sections,
    byUrn: [...urns.values()].sort((a, b) => b.key.length - a.key.length),
  };
}

/** Returns `core` with the names of `others` added to its lookups. */
function withNames(core: Section, others: readonly Section[]): Section {
  const byName = new Map<string, Field>();
  // If several types have a name, the attribute of `core` counts, else that of the first type.
  for (const { fields } of [...others].reverse())
    for (const [name, field] of fields.byName) byName.set(name, field);
  for (const [name, field] of core.fields.byName) byName.set(name, field);
  return { ...core, fields: { list: core.fields.list, byName } };
}
