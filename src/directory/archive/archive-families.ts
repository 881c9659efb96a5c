// Which keys of a connection a backup holds, by the names of keys.ts.

/** Built anew from the rest when a backup is put back. */
const DERIVED =
  /^(userNames|externalIds:User|sharedExternalIds:User|externalIds:Group|displayNames|emails|groupNames|memberCount|groupsOf|references:.*|linked:.*|owed:.*|prints?:.*|synced:.*|syncedTargets)$/;
/**
 * True of this moment only: who works on what, what waits, and what was concluded from lists. Marks are among it, because
 * a mark and its place among those that are due are two keys, and half of one waits for ever; restore marks everything.
 * Events are for receivers of that moment.
 */
const MOMENTARY =
  /^(marks:.*|dirty:.*|accepted:.*|guardWaiting:.*|lease:.*|inflight:.*|tickets:.*|run:.*|hold:.*|mapped:.*|proofLast|proofTurn|memberSum|rebuilding|readding:.*|groupsSeen:.*|events\w*|eventCounts|users|groups)$/;

export type PlainType = 'string' | 'hash' | 'set' | 'zset' | 'list' | 'stream';

/** Kept as they are. `<t>` is a target, of which a name holds no colon. */
const PLAIN: readonly (readonly [PlainType, RegExp])[] = [
  ['string', /^(sequence|runs|actsChain|logChain:[^:]+)$/],
  ['hash', /^(tokens|tokenUses|(doubts|reconcile|guardApproval|reconcileWrites):[^:]+)$/],
  ['set', /^(guardItems:[^:]+:(User|Group):[^:]+|tenant:[^:]+)$/],
  ['zset', /^(gone:(User|Group)|(blocked|alarms):[^:]+|guard(Used|Held|Approved|Rejected):[^:]+:\w+)$/],
  ['list', /^guardDecisions:[^:]+$/],
  ['stream', /^(acts|log:[^:]+)$/],
];

/** Families with a line form of their own. */
const PLACED = /^(tombstones|(order|members|unresolved|links):[^:]+|memberMarks:[^:]+:[^:]+)$/;

/** The type that a plain key has; undefined for every other key. */
export const plainTypeOf = (key: string): PlainType | undefined =>
  PLAIN.find(([, pattern]) => pattern.test(key))?.[0];

export const isMomentary = (key: string): boolean => MOMENTARY.test(key);

/** How a backup treats a key: `unknown` was left by another version, and is left out. */
export function archiveRuleOf(key: string): 'kept' | 'rebuilt' | 'unknown' {
  if (DERIVED.test(key) || MOMENTARY.test(key)) return 'rebuilt';
  return PLACED.test(key) || plainTypeOf(key) ? 'kept' : 'unknown';
}
