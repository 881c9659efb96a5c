// Collects what a comparison found beside the plan: facts that the next run builds on, resources to mark, and signs of another
// tenant.
import { isBySettingsOfThen } from '../../directory/outbox/link-condition.ts';
import type { ComparedDefinitions } from '../../directory/outbox/known-definitions.ts';
import type { Cursor, SeenGroup } from '../../directory/outbox/runs.ts';
import type { Ref } from '../../directory/records.ts';
import type { PlanEntry } from '../entry.ts';
import { isWaitingActivation } from '../unwritten/unmappable.ts';
import { toDoneNote } from '../compare/done-changes.ts';
import type { VerifiedResource } from '../compare/verified.ts';
import type { ValueLook } from '../compare/verify-values.ts';
import type { GroupScan } from '../scan/scan-groups.ts';
import { whyAnotherTenant } from '../tenant/tenant.ts';
import type { UserScan } from '../scan/user-scan.ts';
import type { PlanFacts } from './plan-facts.ts';

/** Whether the platform is the tenant of the links. */
export interface TenantVerdict {
  /** Reason to suspect another tenant; undefined: the tenant is recognised. */
  tenantSuspicion: string | undefined;
  /** Why another connection held the target when this run began, because of another tenant; undefined: none did. */
  suspicionElsewhere: string | undefined;
  /** Whether the address was new to the connection when the comparison began. */
  hasMoved: boolean;
  /** False: the address changed, and too few accounts could be read to recognise the tenant. */
  isRecognised: boolean;
}

/** Findings of a comparison beside the plan. apply-plan.ts marks resources by them, and stores what the next run builds on. */
export type RunFindings = ReturnType<typeof toFindings>;

/** Returns whether the scan could recognise the tenant, and a reason to suspect another one. */
export function judgeTenant({ proof, recognition }: UserScan): Omit<TenantVerdict, 'suspicionElsewhere'> {
  const { linked, same, hasMoved } = recognition;
  // A tenant at a new address is judged by a linked account that is there, or by a complete list.
  const isRecognised = !hasMoved || linked === 0 || same > 0 || proof.complete;
  return {
    hasMoved,
    isRecognised,
    tenantSuspicion: isRecognised ? whyAnotherTenant(recognition) : undefined,
  };
}

/** Returns what a comparison found beside the plan. */
export function toFindings(facts: PlanFacts, tenant: TenantVerdict) {
  const { run, lists, values, verified, entries, doneChanges, endedDeadLetters, toMark } = facts;
  const { scan, mapsAll, rulesAgree, mappedBy } = run;
  const { users, groups } = lists;
  const isValueUnread = [...users.valued].some((ref) => scan.unread.has(ref));
  const areListsComplete = users.proof.complete && groups.proof.complete;
  const cursors: Partial<Record<Cursor, number>> = {
    members: groups.cursor,
    ...(values.cursor === undefined ? {} : { values: values.cursor }),
  };
  return {
    cursors,
    /** Groups with equal members, with the platform's time of their last change. */
    groupsSeen: equalGroups(groups, verified),
    /** Members whose unconfirmed removal this comparison confirms: the platform does not show them in their group any more. */
    confirmed: verified.flatMap(({ confirmed }) => confirmed ?? []),
    /** Links of resources without difference, with values that the platform has already and the stored links lack. */
    asApplied: [...users.asApplied, ...verified.flatMap(({ asApplied }) => asApplied ?? [])],
    /** Attribute definitions at the platform; undefined: not read, or no attribute is mapped. */
    definitions: comparedDefinitions(values),
    /**
     * Whether this run may store that its rules mapped every user. It mapped all of them from complete lists, all running processes
     * have the same rules, no attribute is defined with another type, and no value that had to be read is unread.
     */
    mapped: mapsAll && rulesAgree && !hasTypeConflict(entries) && areListsComplete && !isValueUnread,
    rulesAgree,
    mapsAll,
    mappedBy,
    /**
     * Users to mark: their mapping fails or their activation waits for a value, and their last sync was not refused under the
     * present settings (`unmappedUsers`).
     */
    unmapped: unmappedUsers(verified, entries, scan.scope.outbox.settings),
    toMark,
    /** Derived data was repaired, so the run repeats until no resource is left out. */
    isRepaired: scan.isRepaired,
    /** Number of resources that were skipped, because a push or a sync changed them during every read. */
    moved: scan.counts.moved,
    endedDeadLetters,
    /** Held and rejected changes that somebody made at the platform; the run notes them as done. */
    done: doneChanges.filter(({ marked }) => !marked).map(toDoneNote),
    /** Returns whether the lists showed the linked account or group. */
    isShown: (ref: Ref, platformId: string): boolean =>
      (ref.startsWith('User:') ? users : groups).isListed(platformId),
    ...tenant,
  };
}

/**
 * Returns the groups whose members were read and are equal, with the platform's time of their last change. A group with a member
 * whom somebody added and whom no run removes is read again, so that each plan tells of the member.
 */
function equalGroups(groups: GroupScan, verified: readonly VerifiedResource[]): SeenGroup[] {
  return verified.flatMap(({ ref, entries, linkHash: link }) => {
    const changedAt = groups.changedAt.get(ref);
    const isEqual = groups.withMembers.has(ref) && entries.length === 0;
    return isEqual && changedAt !== undefined && link !== undefined ? [{ ref, changedAt, link }] : [];
  });
}

/**
 * Returns the definitions that a comparison read. `isWhole`: the values of every user could be read, so that all lost values are
 * known. Users who join meanwhile change nothing in that, because their first sync writes all values. Undefined: no definitions
 * were read.
 */
const comparedDefinitions = ({ definitions, failed }: ValueLook): ComparedDefinitions | undefined =>
  definitions && { ...definitions, isWhole: failed === 0 };

/**
 * Returns whether the platform defines an attribute with another type than the settings. Then the run does not
 * store that all users are mapped by these rules, so that every run maps all users again and shows the conflict.
 */
const hasTypeConflict = (entries: readonly PlanEntry[]): boolean =>
  entries.some(({ action, attribute }) => action === 'conflict' && attribute !== undefined);

/**
 * Returns users whose values cannot be mapped, or whose activation waits for a value. A user whose last sync was refused under the
 * present settings is left out, because another sync would only repeat the refusal.
 * @param settings print of the present settings
 */
function unmappedUsers(
  verified: readonly VerifiedResource[],
  entries: readonly PlanEntry[],
  settings: string,
): Ref[] {
  const waiting = new Set(entries.filter(isWaitingActivation).map(({ ref }) => ref));
  return verified.flatMap(({ ref, isUnmappable, refusal }) => {
    const isRefusedNow = refusal?.settings !== undefined && !isBySettingsOfThen(refusal, settings);
    return (isUnmappable || waiting.has(ref)) && !isRefusedNow ? [ref] : [];
  });
}
