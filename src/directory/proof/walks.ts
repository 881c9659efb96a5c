// What is walked through to prove derived data, in this order: surplus entries go before missing ones are made, because an
// entry of a name that leads nowhere would be in the way. Pure.

/** One call of a script for each portion of one key. */
export interface Walk {
  /** Name without `prove_`. */
  script: string;
  args: Record<string, unknown>;
}

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

/** What every connection has, whatever its targets are. */
export const walksOfRecords = (): Walk[] => [
  ...INDEXES.map(([family, kind]) => ({ script: 'indexes', args: { family, kind } })),
  ...(['User', 'Group'] as const).map((kind) => ({ script: 'records', args: { kind } })),
];

const MARKS = ['dirty', 'inflight', 'tickets', 'accepted', 'guardWaiting', 'marks'];
const LISTS = ['blocked', 'alarms', 'doubts', 'groupsSeen'];

/** Links first: what they restore is marked, and the marks are looked at afterwards. */
export const walksOfTarget = (target: string): Walk[] => [
  ...['links', 'linked'].map((family) => ({ script: 'links', args: { target, family } })),
  ...[...MARKS, ...LISTS].map((family) => ({ script: 'marks', args: { target, family } })),
];

const OF_GROUPS = ['members', 'unresolved', 'references'];
const SIGNS = ['memberMarks', 'owed'];
const HOLDS = ['guardStaged', 'guardApproved', 'guardRejected', 'guardHeld'];

/** The walk through one key of a family that has many; undefined: it is in none. @param name without the base */
export function walkOfKey(name: string, targets: readonly string[]): Walk | undefined {
  const [family = '', first = ''] = name.split(':', 2);
  if (OF_GROUPS.includes(family))
    return { script: 'members', args: { family, id: name.slice(family.length + 1) } };
  if (!targets.includes(first)) return undefined;
  const args = { family, target: first, id: name.slice(family.length + first.length + 2) };
  if (SIGNS.includes(family)) return { script: 'signs', args };
  return HOLDS.includes(family) ? { script: 'guard', args } : undefined;
}
