// Finds the attributes that differ because the platform defines them with another type than the mapping. Pure.
import type { UserAttribute, UserAttributeType } from '../platform/wire.ts';
import { judgeDefinition } from '../sync/mapping/catalogue.ts';
import type { AccountDifference } from './report.ts';

/**
 * Returns the reason for each differing value that no run writes because of the type of its definition, as the plan gives it.
 * @param types of the mapped attributes, by name
 */
export function typeConflictsOf(
  differences: readonly AccountDifference[],
  definitions: readonly UserAttribute[],
  types: Readonly<Record<string, UserAttributeType>>,
): string[] {
  const differing = new Set(
    differences.flatMap(({ name, unmappable }) => (unmappable === undefined ? [name] : [])),
  );
  return definitions
    .filter(({ name }) => differing.has(`attributes.${name}`))
    .flatMap((definition) => {
      const judged = judgeDefinition(definition.name, types[definition.name], definition);
      return judged.kind === 'conflict' ? [judged.message] : [];
    });
}
