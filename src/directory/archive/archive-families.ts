// Lists which Redis keys of a connection a backup contains (keys.ts).

/** Derived keys, which a restore rebuilds from the records. */
const DERIVED =
  /^(userNames|externalIds:User|sharedExternalIds:User|externalIds:Group|displayNames|emails|groupNames|memberCount|groupsOf|references:.*|linked:.*|pendingGroups:.*|prints?:.*|synced:.*|syncedTargets)$/;
/**
 * Momentary keys, which a backup leaves out: leases, queues, events and caches. Without `unsentMembers` each pending addition
 * counts as sent. Marks are left out too, because a restore marks every resource that is not synced (ops/backup/restore.ts).
 * `users` and `groups` are no momentary keys: a backup writes them first, apart from all other keys (`dump` of archive.ts).
 */
const MOMENTARY =
  /^(marks:.*|dirty:.*|accepted:.*|guardWaiting:.*|guardFirst:.*|heirs:.*|lease:.*|inflight:.*|deliveries:.*|run:.*|hold:.*|dataSeen|mapped:.*|load:.*|loadDone:.*|loadSamples:.*|proofLast|proofTurn|memberSum|rebuilding|renamed:.*|readding:.*|groupsSeen:.*|unmanagedNames:.*|(unsent|takenOut)Members:.*|events\w*|eventCounts|observedDrift:.*|forgetting|actsFirst|logFirst:.*|logReaders|logChecks|users|groups)$/;

export type PlainType = 'string' | 'hash' | 'set' | 'zset' | 'list' | 'stream';

/** Keys that are restored unchanged. `<t>` is a target, whose name has no colon. */
const PLAIN: readonly (readonly [PlainType, RegExp])[] = [
  ['string', /^(sequence|runs)$/],
  [
    'hash',
    /^(tokens|tokenUses|acts(Chain|Personal)|log(Chain|Personal):[^:]+|(suspectedDrift|definitions|reconcile|guardApproval|guardDeciding|reconcileWrites|exceptionReasons):[^:]+|handover:[^:]+:User:[^:]+)$/,
  ],
  ['set', /^(guardItems:[^:]+:(User|Group):[^:]+|tenant:[^:]+)$/],
  [
    'zset',
    /^(gone:(User|Group)|(blocked|alarms|handovers):[^:]+|(guard(Used|Held|Approved|Rejected)|exceptions):[^:]+:\w+)$/,
  ],
  ['list', /^(guardDecisions:[^:]+|guardChoice:[^:]+:[^:]+)$/],
  ['stream', /^(acts|log:[^:]+)$/],
];

/** Families whose lines have a form of their own (archive-line.ts). */
const WITH_OWN_FORM = /^(tombstones|(order|members|unresolved|links):[^:]+|pendingMembers:[^:]+:[^:]+)$/;

/** Returns the type of a plain key; undefined for every other key. */
export const plainTypeOf = (key: string): PlainType | undefined =>
  PLAIN.find(([, pattern]) => pattern.test(key))?.[0];

/** Returns the families that belong to a log and are dumped together with it; undefined for every other key. */
export function logFamiliesOf(key: string): { chain: string; personal: string } | undefined {
  const [, name = '', rest = ''] = /^(acts|log)(:[^:]+)?$/.exec(key) ?? [];
  return name === '' ? undefined : { chain: `${name}Chain${rest}`, personal: `${name}Personal${rest}` };
}

/** Returns whether a key is dumped together with its log. */
export const isPartOfLog = (key: string): boolean => /^(acts|log)(Chain|Personal)(:[^:]+)?$/.test(key);

/** Returns whether a key matches MOMENTARY. */
export const isMomentary = (key: string): boolean => MOMENTARY.test(key);

/**
 * Returns how a backup treats a key. `kept`: the backup has it. `rebuilt`: it is left out, because a restore or the service
 * makes it again. `unknown`: a key of another version, which is left out.
 */
export function archiveRuleOf(key: string): 'kept' | 'rebuilt' | 'unknown' {
  if (DERIVED.test(key) || MOMENTARY.test(key)) return 'rebuilt';
  return WITH_OWN_FORM.test(key) || plainTypeOf(key) ? 'kept' : 'unknown';
}
