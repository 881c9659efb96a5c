// Compares the desired access of a user at a target with the platform's account. Reads Redis, writes nothing.
import { fold, refOf } from '../directory/records.ts';
import type { FoundResource } from '../ops/find.ts';
import type { ReconcileScope } from '../reconcile/scope.ts';
import type { Resource } from '../scim/index.ts';
import { observedCore } from '../sync/diff.ts';
import type { DesiredUser } from '../sync/mapping.ts';
import { sameValue } from '../sync/values.ts';
import type { AccountDifference } from './report.ts';
import type { Reading, ExpectedGroup } from './account.ts';

/** `closed`: the account must be inactive or deleted; `why` is the reason as a sentence. */
export type DesiredAccess =
  | { kind: 'closed'; why: string; groups: ExpectedGroup[] }
  | { kind: 'open'; desired: DesiredUser; groups: ExpectedGroup[] };

export async function desiredAccessOf(
  scope: ReconcileScope,
  { id, record }: FoundResource,
): Promise<DesiredAccess> {
  if (!record) return { kind: 'closed', why: 'deleted at the source', groups: [] };
  const { directory, links, target } = scope;
  const [joined = []] = await directory.groupsOf([id]);
  if (record.damaged)
    return { kind: 'closed', why: 'the stored record is damaged: push it again', groups: [] };
  const desired = await target.mapping.user(JSON.parse(record.text) as Resource, id, joined);
  const named = joined.flatMap((group) => {
    const name = target.mapping.groupName(group.displayName);
    return name === undefined ? [] : [{ id: group.id, name }];
  });
  const refs = named.map((group) => refOf('Group', group.id));
  const found = await links.getMany(target.name, refs);
  const groups = named.map(({ name }, index) => ({ name, platformId: found[index]?.id }));
  if (!desired.inScope) return { kind: 'closed', why: 'out of the scope of this target', groups };
  if (!desired.active) return { kind: 'closed', why: 'inactive at the source', groups };
  return { kind: 'open', desired, groups };
}

/** Returns every difference between desired and actual access; empty if there is none. */
export function differencesOf(wanted: DesiredAccess, reading: Reading | undefined): AccountDifference[] {
  if (wanted.kind === 'closed') {
    return reading?.view.active ? [{ name: 'active', desired: false, actual: true }] : [];
  }
  if (!reading) return [{ name: 'account', desired: 'an account', actual: null }];
  const { desired, groups } = wanted;
  const { user, view } = reading;
  const differences: AccountDifference[] = [];
  const compare = (name: string, wish: unknown, actual: unknown): void => {
    if (!sameValue(wish, actual)) differences.push({ name, desired: wish ?? null, actual: actual ?? null });
  };
  compare('active', true, view.active);
  const core = observedCore(user, desired.core);
  for (const [path, wish] of Object.entries(desired.core)) {
    // An attribute without desired value is not managed.
    if (wish !== null) compare(path, wish, core[path]);
  }
  for (const [name, wish] of Object.entries(desired.attributes)) {
    compare(`attributes.${name}`, wish, view.attributes[name]);
  }
  for (const { attribute, reason } of desired.faults)
    differences.push({
      name: `attributes.${attribute}`,
      desired: reason,
      actual: view.attributes[attribute] ?? null,
    });
  const present = new Set(view.groups.map(fold));
  const missing = groups.map(({ name }) => name).filter((name) => !present.has(fold(name)));
  if (missing.length > 0) differences.push({ name: 'groups', desired: missing, actual: view.groups });
  return differences;
}
