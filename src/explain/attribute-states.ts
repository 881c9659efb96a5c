// Compares the desired values of a resource with the values that its link stores as applied.
import type { Link } from '../directory/outbox/link.ts';
import type { FoundResource } from '../ops/find.ts';
import type { ReconcileScope } from '../reconcile/scope.ts';
import type { Resource } from '../scim/index.ts';
import { keptAttributes, type DesiredUser, type Mapping } from '../sync/mapping/mapping.ts';
import { sameValue } from '../sync/mapping/values.ts';
import { isEmpty } from '../sync/diff.ts';
import type { Explanation, AttributeState } from './explanation.ts';

type Detail = Pick<Explanation, 'inScope' | 'nameAtTarget' | 'values'>;

/** Returns whether a user is in scope, the userName at the target and the values; null and no values: deleted or damaged. */
export async function userDetail(scope: ReconcileScope, found: FoundResource, link: Link): Promise<Detail> {
  if (!found.record?.text) return { inScope: null, nameAtTarget: null, values: [] };
  const [groups = []] = await scope.directory.groupsOf([found.id]);
  const resource = JSON.parse(found.record.text) as Resource;
  const desired: DesiredUser = await scope.target.mapping.user(resource, found.id, groups);
  const { inScope, core } = desired;
  return {
    inScope,
    nameAtTarget: inScope ? String(core.userName) : null,
    values: [
      ...toValues(desired, appliedIn(link)),
      ...valuesThatStay(desired, appliedIn(link), scope.target.mapping.types),
    ],
  };
}

/** Returns the link; an empty one while no account or group is linked, because its values may not be at the platform. */
const appliedIn = (link: Link): Link => (link.id === undefined ? {} : link);

/**
 * Returns whether a group is in scope, its name at the target, and the state of the attribute displayName. Null and no values:
 * the group was deleted, or its record is damaged.
 */
export function groupDetail({ target }: ReconcileScope, { record, name }: FoundResource, link: Link): Detail {
  if (!record) return { inScope: null, nameAtTarget: null, values: [] };
  const nameAtTarget = target.mapping.groupName(name) ?? null;
  const applied = appliedIn(link).core?.displayName ?? null;
  const unsure = link.unsure?.includes('displayName') ?? false;
  const state: AttributeState['state'] = unsure ? 'unsure' : applied === nameAtTarget ? 'equal' : 'differs';
  return {
    inScope: nameAtTarget !== null,
    nameAtTarget,
    values: nameAtTarget === null ? [] : [{ name: 'displayName', desired: nameAtTarget, applied, state }],
  };
}

/** Returns every managed value that is desired or applied, and every attribute that cannot be mapped. */
function toValues({ active, core, attributes, faults, inScope }: DesiredUser, link: Link): AttributeState[] {
  const unsure = new Set(link.unsure ?? []);
  const state = (name: string, desired: unknown, applied: unknown): AttributeState['state'] =>
    unsure.has(name) ? 'unsure' : sameValue(desired, applied) ? 'equal' : 'differs';
  const values: AttributeState[] = [];
  const add = (name: string, desired: unknown, applied: unknown): void => {
    if (desired === null && applied === null) return;
    values.push({ name, desired, applied, state: state(name, desired, applied) });
  };
  add('active', inScope && active, link.core?.active ?? null);
  for (const [path, desired] of Object.entries(core)) add(path, desired, link.core?.[path] ?? null);
  for (const [name, desired] of Object.entries(attributes))
    add(`attributes.${name}`, desired, link.attributes?.[name] ?? null);
  for (const { attribute, reason } of faults) {
    const applied = link.attributes?.[attribute] ?? null;
    values.push({ name: `attributes.${attribute}`, desired: null, applied, state: 'unmappable', reason });
  }
  return values;
}

/**
 * Returns the applied values that stay at the platform: of attributes that have left the settings (`unmapped`), and of attributes
 * without a value at the source whose `onEmpty` is `keep` (`kept`).
 */
function valuesThatStay(
  desired: DesiredUser,
  { attributes = {} }: Link,
  types: Mapping['types'],
): AttributeState[] {
  const kept = new Set(keptAttributes(desired, types));
  return Object.entries(attributes)
    .filter(([name, applied]) => (types[name] === undefined || kept.has(name)) && !isEmpty(applied))
    .map(([name, applied]) => ({
      name: `attributes.${name}`,
      desired: null,
      applied,
      state: kept.has(name) ? 'kept' : 'unmapped',
    }));
}
