// Lists which Redis keys of a connection a backup contains (keys.ts).

/** Returns a pattern of whole keys. @param names names of keys, or `family:.*` for all keys of a family */
const keysOf = (...names: string[]): RegExp => new RegExp(`^(${names.join('|')})$`);

/** Derived keys, which a restore rebuilds from the records. */
const DERIVED = keysOf(
  ...[
    'userNames',
    'displayNames',
    'emails',
    'externalIds:User',
    'sharedExternalIds:User',
    'externalIds:Group',
  ],
  ...['groupNames', 'groupsOf', 'memberCount', 'pendingGroups:.*', 'references:.*'],
  ...['linked:.*', 'synced:.*', 'syncedTargets'],
);
/** Momentary keys, which a backup leaves out. */
const MOMENTARY = keysOf(
  // Marks: a restore marks every resource that is not synced (ops/backup/restore.ts).
  ...['accepted:.*', 'deliveries:.*', 'dirty:.*', 'inflight:.*', 'marks:.*'],
  // Holds: the header of a backup names those of operators, and a restore holds every target (ops/backup/restore-hold.ts).
  'hold:.*',
  // Leases of syncs, and the run that is under way.
  ...['lease:.*', 'run:.*'],
  // Resources that wait for a name, and groups whose members are being written or marked again.
  ...['heirs:.*', 'readding:.*', 'renamed:.*'],
  // Notes on pending additions; without `unsentMembers` each counts as sent.
  ...['takenOutMembers:.*', 'unsentMembers:.*'],
  // First approvals, which operators give again; and notes of the guard and of runs, made again later.
  ...[
    'guardFirst:.*',
    'guardWaiting:.*',
    'groupsSeen:.*',
    'mapped:.*',
    'observedDrift:.*',
    'unmanagedNames:.*',
  ],
  // Progress of a load, of proofs and of repairs; and when processes last looked for lost data.
  ...[
    'dataSeen',
    'load:.*',
    'loadDone:.*',
    'loadSamples:.*',
    'memberSum',
    'proofLast',
    'proofTurn',
    'rebuilding',
  ],
  // Events, orders to forget a person, and what checks and readers of the logs keep.
  ...['actsFirst', 'eventCounts', 'events\\w*', 'forgetting', 'logChecks', 'logFirst:.*', 'wholeReads'],
);
/** A backup writes the records first, apart from all other keys (`dump` of archive.ts). */
const RECORDS = keysOf('users', 'groups');

export type PlainType = 'string' | 'hash' | 'set' | 'zset' | 'list' | 'stream';

/** Keys that are restored unchanged. `[^:]+` is a target, whose name has no colon. */
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

/** Returns for the key of a log the keys of its chain and personal data, dumped with it; undefined: no log. */
export function logFamiliesOf(key: string): { chain: string; personal: string } | undefined {
  const [, name = '', rest = ''] = /^(acts|log)(:[^:]+)?$/.exec(key) ?? [];
  return name === '' ? undefined : { chain: `${name}Chain${rest}`, personal: `${name}Personal${rest}` };
}

/** Returns whether a key is dumped together with its log. */
export const isPartOfLog = (key: string): boolean => /^(acts|log)(Chain|Personal)(:[^:]+)?$/.test(key);

/**
 * Returns whether a key is momentary or has the records. A restore skips a `plain` line with such a key, because a backup of
 * another release may contain it.
 */
export const isLeftOut = (key: string): boolean => MOMENTARY.test(key) || RECORDS.test(key);

/**
 * Returns how a backup treats a key. `kept`: the backup has it. `leftOut`: it is derived or momentary, or has the
 * records, which `dump` writes first. `unknown`: a key of another version, which is left out.
 */
export function archiveRuleOf(key: string): 'kept' | 'leftOut' | 'unknown' {
  if (DERIVED.test(key) || isLeftOut(key)) return 'leftOut';
  return WITH_OWN_FORM.test(key) || plainTypeOf(key) ? 'kept' : 'unknown';
}
