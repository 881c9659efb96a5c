// Describes changes that the guard holds, or that were decided: name, mail and cause of each, from the records and links as
// they are now.
import type { DesiredState } from '../../directory/desired-state.ts';
import type { Destruction } from '../../directory/guard/held-changes.ts';
import { removedUser } from '../../directory/member-names.ts';
import { DELETED_AFTERWARDS, formerSettingsNote } from '../../directory/outbox/condition-text.ts';
import type { Condition } from '../../directory/outbox/link-condition.ts';
import type { Outbox } from '../../directory/outbox/outbox.ts';
import type { Ref } from '../../directory/records.ts';
import type { DestructiveKind } from '../../guard/judge.ts';
import { mailOf, nameOfKnown, readKnown, type KnownResource } from './known-resource.ts';

/**
 * Why a change is due:
 * - `deleted`: the user or group was deleted at the source.
 * - `deactivated`: the user was deactivated at the source.
 * - `outOfScope`: the user is active at the source, and no longer in the scope of the target.
 * - `removedFromGroup`: the source does not have the person in the group. A pending removal does not tell whether the source
 *   removed the person, or others added the person at the platform.
 * - `groupDeleted`: the group was deleted at the source.
 * - `notAtSource`: the group has an account that no identity provider pushed.
 * - `emptied`: the source, or the mapping, has no value any more.
 * - `lastAdministrator`: no other administrator would be left.
 */
export const HELD_CAUSES = [
  'deleted',
  'deactivated',
  'outOfScope',
  'removedFromGroup',
  'groupDeleted',
  'notAtSource',
  'emptied',
  'lastAdministrator',
] as const;
export type HeldCause = (typeof HELD_CAUSES)[number];

/** A change that the guard holds, or that was decided, as an operator reads it. */
export interface HeldChange {
  kind: DestructiveKind;
  ref: Ref;
  /** Id of the removed member, `@<platform id>` of an unmanaged one, or name of the cleared attribute. */
  subject?: string;
  /** userName of a person at the source, or displayName of a group as last applied. */
  name: string;
  /** Address of the user, or of the removed member. */
  mail?: string;
  /** userName of the removed member (`@<platform id>` if it is unmanaged and not known), or name of the cleared attribute. */
  member?: string;
  /** Absent: the resource has changed at the source since the decision, so the cause of that time is not known. */
  cause?: HeldCause;
  /** `cause` as a phrase. For `lastAdministrator` it also says why an approval alone does not allow the change. */
  reason: string;
  /**
   * ISO 8601: since when a change of the person or group, or for a group the closing of a member's account, waits for a decision;
   * approvals.ts adds it to a page of changes.
   */
  since?: string;
}

const CHANGED_SINCE =
  'changed at the source since the decision: the name is the present one, and the cause of that time is not known any more';

const NO_MEMBER = 'not a member of the group at the source';

const REASONS: Record<HeldCause, string> = {
  deleted: 'deleted at the source',
  deactivated: 'deactivated at the source',
  outOfScope: 'active at the source, but no longer in the scope of the target',
  removedFromGroup: NO_MEMBER,
  groupDeleted: 'the group was deleted at the source',
  notAtSource: NO_MEMBER,
  emptied: 'no value any more at the source or in the mapping',
  lastAdministrator: 'no other active administrator would be left',
};

/**
 * Describes changes. The caller passes at most some thousand, because all their records and links are read together.
 * @param decidedAt time of the decision, ISO 8601; undefined: the changes are held
 */
export async function describeChanges(
  state: DesiredState,
  target: string,
  items: readonly Destruction[],
  decidedAt?: string,
): Promise<HeldChange[]> {
  const outbox = state.outboxes.get(target);
  const [known, unmanaged] = await Promise.all([
    readKnown(state, target, [...new Set(items.flatMap(refsOf))]),
    outbox?.unmanagedNames.namesOf(items.flatMap(({ subject }) => subject ?? [])),
  ]);
  return items.map((item) => {
    const member = removedUser(item);
    const ofResource = known.get(item.ref);
    const ofMember = member && known.get(member);
    const named = { ...item, ...namesOf(item, { ofResource, ofMember, unmanaged }) };
    const isChanged = (each: KnownResource | undefined): boolean => mayHaveChangedSince(each, decidedAt);
    if (isChanged(ofResource) || (member && isChanged(ofMember))) return { ...named, reason: CHANGED_SINCE };
    const cause = causeOf(item, ofResource, ofMember);
    const condition = ofResource?.link.condition;
    const reason = cause === 'lastAdministrator' ? (condition?.message ?? REASONS[cause]) : REASONS[cause];
    // Only the reason of a held change also says what follows an approval.
    const isHeld = decidedAt === undefined;
    return {
      ...named,
      cause,
      reason: outbox && isHeld ? `${reason}${afterApproval(item, cause, condition, outbox)}` : reason,
    };
  });
}

/**
 * Returns the fields that tell an operator whom a change is about: the name of its user or group, the mail address of the user or
 * removed member, and the name of the removed member or cleared attribute.
 */
function namesOf(
  item: Destruction,
  {
    ofResource,
    ofMember,
    unmanaged,
  }: {
    ofResource: KnownResource | undefined;
    ofMember: KnownResource | undefined;
    unmanaged: ReadonlyMap<string, string> | undefined;
  },
): Pick<HeldChange, 'name' | 'mail' | 'member'> {
  const removed = removedUser(item);
  const mail = mailOf(removed ? ofMember : ofResource);
  const member = removed
    ? nameOfKnown(removed, ofMember)
    : (unmanaged?.get(item.subject ?? '') ?? item.subject);
  return {
    name: nameOfKnown(item.ref, ofResource),
    ...(mail === undefined ? {} : { mail }),
    ...(member === undefined ? {} : { member }),
  };
}

/**
 * Returns the end of the reason of a held change: that the account is deleted after an approval, and that the settings have changed
 * since the change was held; '': neither.
 */
function afterApproval(
  { kind }: Destruction,
  cause: HeldCause,
  condition: Condition | undefined,
  { deletesLeavers, settings }: Outbox,
): string {
  const isLeaver = cause === 'deleted' || cause === 'outOfScope' || condition?.isLeaver === true;
  const willBeDeleted = deletesLeavers && isLeaver && kind === 'deactivate';
  return `${willBeDeleted ? DELETED_AFTERWARDS : ''}${formerSettingsNote(condition, settings)}`;
}

/**
 * Returns whether a resource may have changed at the source since the decision, so that the present cause may be another one. A
 * held change has no decision (`decidedAt` is undefined), so its cause is the present one.
 */
function mayHaveChangedSince(known: KnownResource | undefined, decidedAt: string | undefined): boolean {
  if (decidedAt === undefined) return false;
  const changedAt = known?.changedAt ?? NaN;
  const decided = Date.parse(decidedAt);
  // If one of the times is not known, the resource may have changed since.
  if (Number.isNaN(changedAt) || Number.isNaN(decided)) return true;
  return changedAt > decided;
}

/** Returns the resource of a change and its removed member. */
export function refsOf(item: Destruction): Ref[] {
  const member = removedUser(item);
  return member ? [item.ref, member] : [item.ref];
}

/** Returns the cause of a change by what is known of its resource and of its removed member. */
function causeOf(
  item: Destruction,
  ofResource: KnownResource | undefined,
  ofMember: KnownResource | undefined,
): HeldCause {
  const stateOf = (known: KnownResource | undefined): 'deleted' | 'deactivated' | undefined =>
    !known?.resource ? 'deleted' : known.resource.active === false ? 'deactivated' : undefined;
  switch (item.kind) {
    case 'deactivate':
      if (ofResource?.link.condition?.reason === 'LastAdministrator') return 'lastAdministrator';
      return stateOf(ofResource) ?? 'outOfScope';
    case 'delete':
      return stateOf(ofResource) ?? 'outOfScope';
    case 'removeMembers':
      if (!ofResource?.resource) return 'groupDeleted';
      if (removedUser(item) === undefined) return 'notAtSource';
      return stateOf(ofMember) ?? 'removedFromGroup';
    case 'clearAttributes':
      return 'emptied';
  }
}
