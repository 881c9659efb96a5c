// Finds the attributes whose values the bridge has written, by the links of a sample of users, and reports those that left the
// mapping, because their values stay at the platform.
import type { Links } from '../../directory/outbox/links.ts';
import { isEmpty } from '../../sync/diff.ts';
import { aboutDefinition, type PlanEntry } from '../entry.ts';
import type { ReconcileScope } from '../scope.ts';

/** Number of users whose links are read, whatever the size of the target. Attributes that only other users have are not found. */
const SAMPLE = 1000;

/** Returns the names of attributes that have an applied value in at least one link of the sample. Reads Redis only. */
export async function appliedAttributes(links: Pick<Links, 'some'>, target: string): Promise<Set<string>> {
  const users = await links.some(target, 'User', SAMPLE);
  const names = users.flatMap(({ id, attributes = {} }) =>
    id === undefined ? [] : Object.keys(attributes).filter((name) => !isEmpty(attributes[name])),
  );
  return new Set(names);
}

/** Words that follow the name of an attribute that has left the settings. */
export const UNMAPPED = 'is no longer mapped: values that the bridge wrote stay at the platform';

/** Returns what an operator does to remove the values of an attribute that has left the settings. */
export const unmappedAdvice = (target: string, name: string): string =>
  `To clear them, map it to nothing (targets.${target}.attributes.${name} with its type and expression: 'null'), restart and reconcile.`;

/** Returns an entry for each attribute that has left the settings while the bridge has written values of it. */
export async function unmappedEntries({
  links,
  target,
}: Pick<ReconcileScope, 'links' | 'target'>): Promise<PlanEntry[]> {
  const applied = await appliedAttributes(links, target.name);
  const unmapped = [...applied].filter((name) => target.mapping.types[name] === undefined).sort();
  return unmapped.map((name) => ({
    ...aboutDefinition(name),
    action: 'unmanaged',
    reason: UNMAPPED,
  }));
}
