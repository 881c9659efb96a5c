// Adds to the report of a finished sync (SyncEnd) what was compared and is not written, or was not compared.
import { counted } from '../../support/counted.ts';
import { WAITS_FOR_GROUP } from '../../reconcile/compare/group-case.ts';
import type { ComparedOne } from '../../reconcile/plan/compare-one.ts';
import { isLeftBy, type PlanEntry } from '../../reconcile/entry.ts';
import type { ReconcileScope } from '../../reconcile/scope.ts';
import { notComparedText } from '../../reconcile/text/not-compared.ts';
import type { Ref } from '../../directory/records.ts';
import type { FoundResource } from '../find.ts';
import { withReason, type SyncEnd } from './sync-outcome.ts';

/**
 * Adds to the report a difference that no sync can write: a value of an attribute that the platform defines with another type, or a
 * membership whose member or group is gone and cannot be made anew.
 */
export function withConflicts(
  end: SyncEnd,
  { ref, differences }: { ref: Ref; differences: readonly PlanEntry[] | null },
): SyncEnd {
  // Resources that a missing membership waits for: the member, and the group if the reason says so. `null` stands for none.
  const lacking = differences?.flatMap(({ action, member, ref: group, reason }) =>
    action === 'addMember' ? [member?.ref, reason.endsWith(WAITS_FOR_GROUP) ? group : null] : [],
  );
  const conflict = differences?.find(
    (entry) =>
      entry.action === 'conflict' &&
      (entry.ref === ref ? entry.attribute !== undefined : entry.ref && lacking?.includes(entry.ref)),
  );
  if (!conflict) return end;
  const isOfGroup = conflict.kind === 'Group';
  const subject = isOfGroup
    ? `the membership in ${conflict.name} is not written: `
    : `${conflict.name} is not in the group: `;
  return withReason(end, 'needsPerson', `${conflict.ref === ref ? '' : subject}${conflict.reason}`);
}

/**
 * Adds to a report without another reason why the resource is not as desired: groups of a person, or removals of members of a
 * group, were not compared.
 * @param count number of these groups or removals
 */
export function withNotCompared(end: SyncEnd, kind: FoundResource['kind'], count = 0): SyncEnd {
  if (count === 0 || (end.outcome ?? 'equal') !== 'equal') return end;
  const message = [end.message, notComparedText(kind, count)].filter(Boolean).join('; ');
  // Not `waiting`, which may never end: the next sync may compare the same groups.
  return { ...end, message };
}

/** Adds to a report without a message the number of differences that the policy of the target leaves at the platform. */
export function withLeftByPolicy(
  { target }: ReconcileScope,
  end: SyncEnd,
  { ref, differences }: { ref: Ref; differences: readonly PlanEntry[] | null },
): SyncEnd {
  const left = (differences ?? []).filter((entry) => isLeftBy(target.policy, entry)).length;
  if (left === 0 || end.message !== undefined) return end;
  const message = `the policy ${target.policy.policy} leaves ${counted(left, 'difference')}: scim-bridge sync ${ref} --dry-run lists ${left === 1 ? 'it' : 'them'}`;
  return { ...end, message };
}

/** Returns the report when a difference of the resource was not noted, so that no sync repairs it. */
export const unnotedEnd = (ref: Ref): SyncEnd => ({
  outcome: 'waiting',
  message: `${ref} changed during the comparison or was being synced, so what differs there is not repaired yet: repeat the command`,
});

/** Returns the report when the platform could not be read; `compared` null: not at all, else only the values could not. */
export const unreadEnd = (compared: ComparedOne | null): SyncEnd => ({
  outcome: 'waiting',
  message: compared
    ? 'the attribute values could not be read, so nothing is known of values that differ'
    : 'the platform could not be read, or the resource changed during each read, so nothing is known of what differs',
});
