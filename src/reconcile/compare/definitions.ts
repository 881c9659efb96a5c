// Compares the definitions of the mapped attributes at the platform with the settings: `definitionEntries` returns an entry for
// each missing one, and conflicts for those of another type. `goneWithDefinition` and `toTypeConflict` then correct the entries
// of users about values of such attributes.
import { fold, type Ref } from '../../directory/records.ts';
import { aboutDefinition, isChange, isDrift, type PlanEntry } from '../entry.ts';
import { asking } from './platform-reads.ts';
import type { ScanResult } from '../scope.ts';

/** Actions of a user's sync that end it before an attribute is written. */
const ENDING: ReadonlySet<string> = new Set(['deactivate', 'delete']);

/** How the definitions of attributes are compared with the settings. */
export interface DefinitionReads {
  /** Reads the definitions even if no user changes: a value may look equal although its type is another one, such as 5 and "5". */
  readsWithoutChange?: boolean;
  /**
   * True: a definition of another type is one conflict of the attribute. Default: it is one conflict of each person whose value
   * waits for the definition.
   */
  isConflictPerAttribute?: boolean;
}

/** By attribute name, the reason why a definition of another type is a conflict. */
type TypeConflicts = ReadonlyMap<string, string>;

/** How the attribute definitions differ from the settings. */
export interface DefinitionFindings {
  /** Entries for missing definitions; the first sync of a user creates these definitions. */
  definitions: PlanEntry[];
  conflicts: TypeConflicts;
}

const NOT_DEFINED = 'the settings map it and the platform does not define it';
const DELETED =
  'its definition was deleted at the platform, with all values: it is defined again, and the values are written again';
const VALUE_DELETED = 'the platform does not define the attribute any more';

/**
 * Reads which attribute definitions differ from the settings, if the plan changes a user or `readsWithoutChange` asks for it. The
 * sync of any changed user creates all missing definitions, so their entries follow the first changed user in `found`.
 */
export async function definitionEntries(
  scan: ScanResult,
  found: PlanEntry[],
  { readsWithoutChange = false }: DefinitionReads,
): Promise<DefinitionFindings> {
  const { catalogue, mapping } = scan.scope.target;
  const changed = found.find(
    (entry) => isChange(entry) && entry.kind === 'User' && entry.ref && !ENDING.has(entry.action),
  );
  const isRead = changed !== undefined || (readsWithoutChange && Object.keys(mapping.types).length > 0);
  const faults = isRead && (await asking(scan, (signal) => catalogue.faults(signal)));
  // If the definitions were not read, no sync is known to define an attribute.
  if (!faults || faults === 'absent' || faults === 'unknown')
    return { definitions: [], conflicts: new Map() };
  // Without a change of a user no sync defines an attribute.
  if (!changed) return { definitions: [], conflicts: faults.conflicts };
  const definitions = faults.missing
    .sort((left, right) => (fold(left) < fold(right) ? -1 : 1))
    .map((name): PlanEntry => ({
      ...aboutDefinition(name),
      action: 'defineAttribute',
      after: { name, type: mapping.types[name] ?? 'string' },
      effect: 'apply',
      ...(found.some((entry) => entry.attribute === name && isDrift(entry))
        ? { reason: DELETED, attribution: { cause: 'platform changed' } }
        : {
            reason: NOT_DEFINED,
            attribution: { cause: isDrift(changed) ? 'mapping changed' : changed.attribution.cause },
          }),
      basis: changed.basis,
      follows: changed.ref as Ref,
    }));
  return { definitions, conflicts: faults.conflicts };
}

/**
 * Corrects entries of drift about values of the attributes in `definitions`: the definition was deleted at the platform, and its
 * values with it. The cause is `platform changed`, not `write did not stick`. Returns other entries unchanged.
 */
export function goneWithDefinition(entries: PlanEntry[], definitions: readonly PlanEntry[]): PlanEntry[] {
  const names = new Set(definitions.map(({ name }) => name));
  return entries.map((entry): PlanEntry => {
    const { attribute, attribution } = entry;
    if (attribute === undefined || !names.has(attribute) || !isDrift(entry)) return entry;
    if (attribution.cause !== 'write did not stick') return { ...entry, reason: VALUE_DELETED };
    return { ...entry, reason: VALUE_DELETED, attribution: { cause: 'platform changed' } };
  });
}

/**
 * Returns a conflict for a value of an attribute that the platform defines with another type, because a person has to
 * correct the mapping. Returns other entries unchanged.
 * @param waiting users whose activation and memberships wait for the value; the conflict of any other user keeps the entry's cause
 */
export function toTypeConflict(
  entry: PlanEntry,
  conflicts: TypeConflicts,
  waiting: ReadonlySet<Ref>,
): PlanEntry {
  const reason = entry.attribute === undefined ? undefined : conflicts.get(entry.attribute);
  if (reason === undefined || !isChange(entry)) return entry;
  const conflict: PlanEntry = { ...entry, action: 'conflict', effect: 'report', reason };
  return entry.ref && !waiting.has(entry.ref) ? conflict : { ...conflict, attribution: { cause: 'none' } };
}

/**
 * Returns the one conflict of an attribute that the platform defines with another type.
 * @param entries those of users, before `toTypeConflict`: if a value was lost, the definition was made again at the platform
 */
export const toDefinitionConflict = (
  [name, reason]: [name: string, reason: string],
  entries: readonly PlanEntry[],
): PlanEntry => ({
  ...aboutDefinition(name),
  action: 'conflict',
  reason,
  ...(entries.some((entry) => entry.attribute === name && isDrift(entry)) && {
    attribution: { cause: 'platform changed' as const },
  }),
});
