// Lists the scans of a proof in their required order: surplus entries are removed before missing ones are created, because an
// index entry without a record would keep its name from another record. Pure.

/** A scan: calls of one script, one for each portion of a key. */
export interface ProofScan {
  /** Name without `prove_`. */
  script: string;
  args: Record<string, unknown>;
}

/** Families that prove_indexes.lua checks, with the kind of their resources. */
const INDEXES: [family: string, kind: 'User' | 'Group'][] = [
  ['userNames', 'User'],
  ['externalIds:User', 'User'],
  ['sharedExternalIds:User', 'User'],
  ['emails', 'User'],
  ['order:User', 'User'],
  ['externalIds:Group', 'Group'],
  ['displayNames', 'Group'],
  ['groupNames', 'Group'],
  ['order:Group', 'Group'],
];

/** Records per script call: few, as the checksum of each one is computed. */
const RECORDS = 50;

/**
 * Returns the scans of data that belongs to no single target. `groupsOf` comes first, because a member set that was lost is
 * restored from it. A push to the group before that would create a new set, which hides the loss.
 */
export const scansOfRecords = (): ProofScan[] => [
  { script: 'groups_of', args: {} },
  ...INDEXES.map(([family, kind]) => ({ script: 'indexes', args: { family, kind } })),
  ...(['User', 'Group'] as const).map((kind) => ({ script: 'records', args: { kind, count: RECORDS } })),
];

/** Families whose refs must have a mark or a running sync, and `marks` (prove_marks.lua). */
const MARKS = ['dirty', 'inflight', 'deliveries', 'accepted', 'guardWaiting', 'marks'];
/** Families whose refs must have a record, a link or a mark. */
const LISTS = ['blocked', 'alarms', 'suspectedDrift', 'groupsSeen'];

/** Scans of the links and reverse links of a target, and of groups whose link was restored. */
export const scansOfLinks = (target: string): ProofScan[] => [
  ...['links', 'linked'].map((family) => ({ script: 'links', args: { target, family } })),
  { script: 'readd', args: { target } },
];

/** Scans of marks, which run last, because other repairs set marks. */
export const scansOfMarks = (target: string): ProofScan[] => [
  ...[...MARKS, ...LISTS].map((family) => ({ script: 'marks', args: { target, family } })),
  ...['User', 'Group'].map((kind) => ({ script: 'synced', args: { target, kind } })),
];

/** Families of members and member values; `id` of a key: a group, or the value of `references`. */
const OF_GROUPS = ['members', 'unresolved', 'references'];
/** Families of pending memberships. */
const SIGNS = ['pendingMembers', 'pendingGroups'];
/** Families of the guard's changes. */
const GUARD_ITEMS = ['guardHeld', 'guardApproved', 'guardRejected', 'guardItems'];

/** Matches the keys of members and member values: one for each group or value. */
export const MEMBER_SETS = new RegExp(`^(${OF_GROUPS.join('|')}):`);
/** Matches the keys of pending memberships and of guard items: one for each group, user, kind or resource. */
export const PENDING_OR_HELD = new RegExp(`^(${[...SIGNS, ...GUARD_ITEMS].join('|')}):`);

/**
 * Returns the scan of a key that MEMBER_SETS or PENDING_OR_HELD match; undefined for every other key.
 * @param name key without the base
 */
export function scanOfKey(name: string, targets: readonly string[]): ProofScan | undefined {
  const [family = '', first = ''] = name.split(':', 2);
  if (OF_GROUPS.includes(family))
    return { script: 'members', args: { family, id: name.slice(`${family}:`.length) } };
  if (!targets.includes(first)) return undefined;
  // The id follows the family, the target and their colons.
  const args = { family, target: first, id: name.slice(`${family}:${first}:`.length) };
  if (SIGNS.includes(family)) return { script: 'signs', args };
  return GUARD_ITEMS.includes(family) ? { script: 'guard', args } : undefined;
}
