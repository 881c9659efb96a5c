// Compares the names of a user's groups at the platform with the desired ones; writes nothing.
import type { Ref } from '../../directory/records.ts';
import { leftBy, type PlanEntry } from '../entry.ts';
import type { ScanResult } from '../scope.ts';
import { beyond, MOST_READ } from './group-reads.ts';
import { applyRefusals } from './refusals.ts';
import type { VerifiedResource } from './verified.ts';
import { verifyGroups } from './verify-groups.ts';

/** Groups of a user that have another name at the platform. */
export interface GroupNames {
  /** Renames that a sync writes, or that the policy of the target leaves. */
  entries: PlanEntry[];
  /** Conflicts of groups that have another name at the platform, because it refused to rename them. */
  refusedNames: PlanEntry[];
  /** Number of groups beyond MOST_READ. */
  notCompared: number;
}

/**
 * Compares the names of groups, because access goes by the name.
 * @param refs groups that the user is in or is about to join
 * @returns an entry for each group whose name at the platform is not the desired one: in `refusedNames` if the platform refused the
 *   rename; null when a group could not be read
 */
export async function groupsUnderOtherName(scan: ScanResult, refs: Ref[]): Promise<GroupNames | null> {
  const read = refs.slice(0, MOST_READ);
  const groups = read.length === 0 ? [] : await comparedGroups(scan, read);
  if (groups.length < read.length) return null;
  const all = groups.flatMap((group) => group.entries);
  return {
    entries: all.filter(isRename).map((entry) => {
      const left = entry.effect === 'report' ? leftBy(scan.scope.target.policy) : '';
      return { ...entry, reason: `${underOtherName(entry)}${left}` };
    }),
    refusedNames: all
      .filter(isRefusedRename)
      .map((entry) => ({ ...entry, reason: `${underOtherName(entry)}; ${entry.reason}` })),
    notCompared: beyond(refs),
  };
}

/** Returns the reason of an entry about the name of a group: what the difference means for the members. */
const underOtherName = ({ before }: PlanEntry): string =>
  `the group is called ${String(before?.displayName)} at the platform, so its members have the access of that name`;

/**
 * Returns whether the entry is the conflict into which `applyRefusals` converts a refused rename. Another conflict is about a group
 * of the same name, whose id `before` contains.
 */
const isRefusedRename = ({ action, before }: PlanEntry): boolean =>
  action === 'conflict' && before?.displayName !== undefined && before.id === undefined;

/** Compares groups, but not their members. A write that the platform refused before becomes a conflict, because no run repeats it. */
export async function comparedGroups(scan: ScanResult, refs: Ref[]): Promise<VerifiedResource[]> {
  const { outbox } = scan.scope;
  const groups = await verifyGroups(scan, refs, { withMembers: () => false, namesOnly: true });
  if (groups.every(({ refusal }) => refusal === undefined)) return groups;
  const blocked = new Map((await outbox.blocked()).map(({ ref, since }) => [ref, since]));
  return applyRefusals(groups, { blocked, rulesChanged: undefined, settings: outbox.settings });
}

/** Returns whether the entry gives a group its desired name. */
export const isRename = ({ action, kind }: PlanEntry): boolean => action === 'update' && kind === 'Group';
