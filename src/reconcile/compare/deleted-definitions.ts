// Finds the attributes whose definition somebody deleted at the platform, with all values: the definition is missing, or was made
// again under another id. The bridge knows the ids under which it wrote values.
import type { ComparedDefinitions } from '../../directory/outbox/known-definitions.ts';
import { asking } from './platform-reads.ts';
import type { ScanResult } from '../scope.ts';
import { appliedAttributes } from '../tenant/applied-attributes.ts';

/** The part of ComparedDefinitions that is known before the values are compared. */
export type ReadDefinitions = Omit<ComparedDefinitions, 'isWhole'>;

/** Reads the definitions, and compares their ids with those under which the bridge wrote values. @returns undefined: not read */
export async function readDefinitions(scan: ScanResult): Promise<ReadDefinitions | undefined> {
  const { links, outbox, target } = scan.scope;
  if (Object.keys(target.mapping.types).length === 0) return undefined;
  const faults = await asking(scan, (signal) => target.catalogue.faults(signal));
  if (faults === 'absent' || faults === 'unknown') return undefined;
  const { conflictIds, ids, missing } = faults;
  const known = await outbox.definitions.read();
  const isRemade = ([name, id]: [string, string]): boolean => known.has(name) && known.get(name) !== id;
  const remade = [...ids].filter(isRemade).map(([name]) => name);
  // A definition with the known id was not made anew: only the mapping has another type.
  const ofOtherType = new Set([...conflictIds].filter(isRemade).map(([name]) => name));
  const gone = missing.filter((name) => known.has(name));
  // An earlier version of the bridge, which stored no ids, may have written values of these attributes; then links have the values.
  const unknown = missing.filter((name) => !known.has(name));
  const applied = unknown.length > 0 ? await appliedAttributes(links, target.name) : new Set<string>();
  const lost = unknown.filter((name) => applied.has(name));
  return { ids, deleted: new Set([...remade, ...ofOtherType, ...gone, ...lost]), ofOtherType };
}
