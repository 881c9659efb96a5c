// Converts the entries of a plan to drift notes: one for each resource, which tells its next sync what differs at the platform.
// The sync alone would not see it, because it compares the desired state with the link, and drift leaves both unchanged.
import type { Drift } from '../../directory/outbox/drift.ts';
import type { Ref } from '../../directory/records.ts';
import { storedNameOf } from '../../directory/member-names.ts';
import { isTakenOut, type PlanEntry } from '../entry.ts';
import { isOpenAccount } from '../unwritten/destructions.ts';

/** Returns one drift note for each resource of the entries, with the values and memberships that have to be written again. */
export function toDrifts(entries: PlanEntry[]): Drift[] {
  const drifts = new Map<Ref, Drift>();
  for (const entry of entries) {
    if (entry.ref === null) continue;
    const drift = drifts.get(entry.ref) ?? {
      ref: entry.ref,
      ...entry.basis,
      names: [],
      observed: {},
      add: [],
      remove: [],
      priority: 'reconcile' as const,
    };
    drifts.set(entry.ref, drift);
    const names = namesIn(entry);
    drift.names.push(...names);
    for (const name of names) {
      // Entries of attributes have the name without `attributes.` in `before`.
      const value = entry.before?.[name.replace(/^attributes\./, '')];
      if (value !== undefined) drift.observed[name] = value;
    }
    if (entry.member) {
      const member = storedNameOf(entry.member);
      drift[entry.action === 'removeMember' ? 'remove' : 'add'].push(member);
      if (isTakenOut(entry)) (drift.takenOut ??= []).push(member);
    }
    // One urgent entry makes the whole note urgent.
    if (entry.action === 'deactivate' || isOpenAccount(entry)) drift.priority = 'deactivation';
  }
  return [...drifts.values()];
}

/**
 * Returns the names for `Link.unsure`: values that the sync has to write although the link says that they are written. Only
 * drift needs such names: other changes have new values, which differ from the link.
 */
function namesIn(entry: PlanEntry): string[] {
  const { action, attribution, attribute, platformId, after } = entry;
  if (attribution.cause === 'mapping changed' || attribution.cause === 'not applied') return [];
  switch (action) {
    case 'deactivate':
    case 'reactivate':
      return ['active'];
    case 'setAttribute':
    case 'clearAttribute':
      return attribute === undefined ? [] : [`attributes.${attribute}`];
    case 'update':
      return Object.keys(after ?? {});
    case 'create':
    case 'relink':
      // The link has no id, so the sync creates the resource with all values.
      if (platformId === null) return [];
      // The link still has the id of the deleted object. The sync writes these values there, gets 404, and then looks the resource up
      // anew. `id` is no value, and the sync of the new account writes `active` in any case.
      return Object.keys(after ?? {}).filter((name) => name !== 'active' && name !== 'id');
    case 'delete':
      // The account was opened again: its sync closes the account before the deletion.
      return isOpenAccount(entry) ? ['active'] : [];
    case 'adopt':
    case 'defineAttribute':
    case 'addMember':
    case 'removeMember':
    case 'conflict':
    case 'unmanaged':
      return [];
  }
}
