// Describes changes that the guard holds, or that were decided: name, mail and cause of each, from the records and links as
// they are now.
import type { DesiredState } from '../../directory/desired-state.ts';
import type { Destruction } from '../../directory/guard/held-changes.ts';
import { removedUser } from '../../directory/member-names.ts';
import { DELETED_AFTERWARDS, formerSettingsNote } from '../../directory/outbox/condition-text.ts';
import { type Link } from '../../directory/outbox/links.ts';
import { parseRef, refOf, type Kind, type Ref } from '../../directory/records.ts';
import type { DestructiveKind } from '../../guard/judge.ts';

/**
 * `deleted`, `deactivated`: at the source. `outOfScope`: active at the source, and no longer for this target.
 * `groupDeleted`: at the source. `removedFromGroup`: the group at the platform has a person whom the source does not have in it;
 * a pending removal does not tell whether the source removed the person or others added the person at the platform. `notAtSource`:
 * the group has an account that no identity provider pushed.
 * `emptied`: the source, or the mapping, has no value any more. `lastAdministrator`: no other administrator would be left.
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
  /** Of a person the userName at the source, of a group the displayName as last applied. */
  name: string;
  /** Address of the user, or of the removed member. */
  mail?: string;
  /** userName of the member, `@<platform id>` of an unmanaged member whose name is not known, or the attribute. */
  member?: string;
  /** Absent: the resource has changed at the source since the decision, so the cause of that time is not known. */
  cause?: HeldCause;
  /** `cause` as a phrase. For `lastAdministrator` it also says why an approval alone does not allow the change. */
  reason: string;
  /**
   * ISO 8601: time since when some change of the person or group waits for a decision, of a group also the closing of a member's
   * account; approvals.ts adds it to a page of changes.
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

interface Known {
  /** Undefined: deleted at the source. */
  resource: Resource | undefined;
  /** Unix milliseconds of the last change at the source; undefined: not known. */
  changedAt: number | undefined;
  link: Link;
}

interface Resource {
  userName?: string;
  displayName?: string;
  active?: boolean;
  emails?: { value?: string; primary?: boolean }[];
}

/**
 * Describes changes. The caller passes at most some thousand, because all their records and links are read at once.
 * @param decidedAt time of the decision, ISO 8601; undefined: the changes are held
 */
export async function describeChanges(
  state: DesiredState,
  target: string,
  items: readonly Destruction[],
  decidedAt?: string,
): Promise<HeldChange[]> {
  const isChanged = (each: Known | undefined): boolean => {
    // A held change has no decision, so its cause is the present one.
    if (decidedAt === undefined) return false;
    const changedAt = each?.changedAt ?? NaN;
    const decided = Date.parse(decidedAt);
    // If one of the times is not known, the resource may have changed since.
    if (Number.isNaN(changedAt) || Number.isNaN(decided)) return true;
    return changedAt > decided;
  };
  const outbox = state.outboxes.get(target);
  const [known, unmanaged] = await Promise.all([
    readKnown(state, target, [...new Set(items.flatMap(refsOf))]),
    outbox?.unmanagedNames.namesOf(items.flatMap(({ subject }) => subject ?? [])),
  ]);
  return items.map((item) => {
    const ofResource = known.get(item.ref);
    const member = removedUser(item);
    const ofMember = member && known.get(member);
    const cause = causeOf(item, ofResource, ofMember);
    const mail = mailOf(member ? ofMember : ofResource);
    const memberName = member
      ? nameOf(member, ofMember)
      : (unmanaged?.get(item.subject ?? '') ?? item.subject);
    const names = {
      name: nameOf(item.ref, ofResource),
      ...(mail === undefined ? {} : { mail }),
      ...(memberName === undefined ? {} : { member: memberName }),
    };
    if (isChanged(ofResource) || (member && isChanged(ofMember)))
      return { ...item, ...names, reason: CHANGED_SINCE };
    const condition = ofResource?.link.condition;
    const reason = cause === 'lastAdministrator' ? (condition?.message ?? REASONS[cause]) : REASONS[cause];
    const isLeaver = cause === 'deleted' || cause === 'outOfScope' || condition?.isLeaver === true;
    if (!outbox || decidedAt !== undefined) return { ...item, ...names, cause, reason };
    const willBeDeleted = outbox.deletesLeavers && isLeaver && item.kind === 'deactivate';
    const note = formerSettingsNote(condition, outbox.settings);
    return {
      ...item,
      ...names,
      cause,
      reason: `${reason}${willBeDeleted ? DELETED_AFTERWARDS : ''}${note}`,
    };
  });
}

/** Returns the resource of a change and its removed member. */
export function refsOf(item: Destruction): Ref[] {
  const member = removedUser(item);
  return member ? [item.ref, member] : [item.ref];
}

async function readKnown(
  { links, directory }: DesiredState,
  target: string,
  refs: Ref[],
): Promise<Map<Ref, Known>> {
  const idsOf = (kind: Kind): string[] =>
    refs.map(parseRef).flatMap((ref) => (ref.kind === kind ? [ref.id] : []));
  const read = async (kind: Kind): Promise<[Ref, Pick<Known, 'resource' | 'changedAt'>][]> => {
    const ids = idsOf(kind);
    const records = ids.length > 0 ? await directory.getMany(kind, ids) : [];
    // The text of a damaged record is empty.
    return records.map(({ id, text, lastModified }) => [
      refOf(kind, id),
      { resource: JSON.parse(text || '{}') as Resource, changedAt: lastModified },
    ]);
  };
  const [found, users, groups] = await Promise.all([
    links.getMany(target, refs),
    read('User'),
    read('Group'),
  ]);
  const stored = new Map([...users, ...groups]);
  const known = refs.map(async (ref, index): Promise<[Ref, Known]> => {
    const link = found[index] ?? {};
    const record = stored.get(ref);
    if (record) return [ref, { ...record, link }];
    const gone = await directory.tombstone(parseRef(ref).id);
    return [ref, { resource: undefined, changedAt: gone?.deletedAt, link }];
  });
  return new Map(await Promise.all(known));
}

/** Returns the userName at the source, as all commands name a person; of a group the name at the platform. */
function nameOf(ref: Ref, known: Known | undefined): string {
  const { core } = known?.link ?? {};
  const { userName, displayName } = known?.resource ?? {};
  const name = userName ?? core?.userName ?? core?.displayName ?? displayName;
  return typeof name === 'string' ? name : parseRef(ref).id;
}

function mailOf(known: Known | undefined): string | undefined {
  const emails = known?.resource?.emails ?? [];
  return (emails.find(({ primary }) => primary) ?? emails[0])?.value;
}

/** Returns the cause of a change by what is known of its resource and of its removed member. */
function causeOf(item: Destruction, ofResource: Known | undefined, ofMember: Known | undefined): HeldCause {
  const stateOf = (known: Known | undefined): 'deleted' | 'deactivated' | undefined =>
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
