// Defines the link between a resource and its account or group at a target, and its stored text. A link has the platform id, the
// values that were last written or read there, and flags for what a later sync has to know; each flag tells what sets it and what
// removes it. Every sync reads the link at its start (`parseLink`) and stores it again (`toLinkText`). Lua scripts read and write
// the stored text too (`NAMES`).
import type { Ref } from '../records.ts';
import type { Condition } from './link-condition.ts';

/** A create without answer. It may have made an account or group, which is recognised by these values. */
export interface TriedCreate {
  /** The core values that were sent, by platform path. */
  core: Record<string, string | boolean | null>;
  /** Unix milliseconds by the clock of the bridge: when it was sent first. */
  since: number;
  /** End of the wait for the last answer, or its latest possible end. */
  until: number;
}

export interface Link {
  // The account or group at the platform.

  /** The platform's SCIM id. */
  id?: string;
  /** The platform's numeric user id as text; attribute values are keyed by it. */
  account?: string;
  /** Whether the bridge created the account or group, or adopted it. */
  origin?: 'created' | 'adopted';
  /** Whether the account was an administrator when it was last read. */
  isAdministrator?: boolean;

  // The values there, and whether they are those of the record.

  /** Synced state: version of the record, and a hash of its groups if rules use them (lua/basis.lua). */
  basis?: string;
  /** Core attributes last written or observed, by platform path. */
  core?: Record<string, string | boolean | null>;
  /**
   * Core attributes that the bridge has emptied: a value there now was given by others and is drift. If the source has no value of
   * an attribute that is in neither `core` nor this list, the bridge never wrote it; emails are never in this list.
   */
  emptied?: string[];
  /** Attribute values last written or observed, by name. */
  attributes?: Record<string, unknown>;
  /**
   * Names of values that were sent and not confirmed: core paths, and `attributes.<name>`. They are stored before the write,
   * so that after a lost answer or a crash the old value does not count as applied.
   */
  unsure?: string[];
  /** Values of unsure names that a comparison saw at the platform: the value before the next write. */
  observed?: Record<string, unknown>;
  /**
   * Generation of the mark whose sync has written the attributes: from then on groups may add the user (`readiness` of
   * pending-memberships.ts). Removed at the end of that sync: without a mark the link is current.
   */
  observedGeneration?: string;
  /** Unix milliseconds of the bridge's last write at the platform. Later changes there were made by others. */
  writtenAt?: number;
  /** Unix milliseconds of the bridge's last write of the userName since `account` was found; absent: none. */
  renamedAt?: number;

  // Creates and deletions that are not known to be complete.

  /**
   * The create that was sent and has no stored answer. Set before the create is sent (names/lost-create.ts); removed when the
   * account or group is linked, when the answer shows that nothing was made, or when a leaver's account is not found.
   */
  tried?: TriedCreate;
  /**
   * Set in a link without `id` if an account or group of this resource may exist. `id`: its platform id in the link that an
   * operator ordered to forget (lua/forget_link.lua); `core` has its names as they were. Without `id`, a restore may have lost the
   * link (note_may_exist.lua): then `core` has the names at the source, and of a group the displayName before the mapping. Removed
   * when the resource is linked again.
   */
  mayExist?: { id?: string };
  /**
   * Set before a deletion is sent, so that after a lost answer an absence counts as the bridge's own deletion. Removed when the
   * resource is wanted again, or the platform refused the deletion.
   */
  deleting?: boolean;
  /**
   * Set at the creation, until all values or members are written: the policy `create-only` writes to such an account or group only.
   */
  isIncomplete?: boolean;

  // Memberships.

  /**
   * Set at the adoption of a group, until all members are written or the settings leave the group out: a member who was there
   * before needs no write and no log entry.
   */
  adopting?: true;
  /**
   * Set when a departed user comes back: all memberships become pending, also those that the platform still has. The sync of a
   * group reads its members first, and logs only users that it lacked. Removed when no addition is pending.
   */
  rejoining?: true;
  /**
   * Users whom the source removed from this group while it is out of scope, or while the policy forbids removals. They are
   * removed at the platform when the group is back in scope, or the policy is `sync` again. An entry is `@` and the platform id of
   * the account, or the id of a user without an account. Absent in a departed group: there is no list, so each managed user who
   * is no member at the source is removed.
   */
  leavers?: string[];
  /**
   * Unix milliseconds since which the group waits for accounts of more members, to add them in one request; at most
   * COALESCE_LIMIT_MS (sync/group/add-members.ts).
   */
  coalescingSince?: number;

  // A user or group that has left.

  /**
   * Set when the user or group has left: deleted at the source, out of scope, or protected. Removed on return: all memberships are
   * added again.
   */
  departed?: boolean;
  /** Set while the account may be active and should not be, because the policy of the target closes no account. */
  leftOpen?: true;
  /**
   * Unix milliseconds at which the bridge closed the account, or found that somebody else had closed it; absent: it is open.
   */
  closedAt?: number;
  /** Set for a leaver whose account may have another userName than the person last had at the source (former-name.ts). */
  hasFormerName?: true;

  // Why the last syncs did not reach the desired state.

  condition?: Condition;
  /** Consecutive failed attempts. */
  attempts?: number;
  /** Unix milliseconds of the first of the `attempts` whose call failed. */
  failingSince?: number;
  /** Message of the newest of the `attempts`: the provisioning log names only the first. */
  lastFailure?: string;
  /** Number of consecutive failed attempts, back from the latest, that were refusals which may be transient. */
  transientRefusals?: number;
  /**
   * Consecutive attempts that found the name or the account with its former holder; they count as no failure. While a sync of the
   * holder is pending, the number stays small (succession.ts).
   */
  successionAttempts?: number;
  /** Set once the dead letters of a circle of names that contains this resource were tried again (name-circle.ts). */
  hasRetriedCircle?: true;
  /** The userName that this user needs and that a leaver's account has: the leaver was marked to give it up (former-name.ts). */
  askedForName?: string;
  /** Unix milliseconds since when the bridge has searched for the account id without success. */
  searchingSince?: number;
}

/** Name of the numeric id of an account (`Link.account`) among the names of values that drift. */
export const ACCOUNT_NUMBER = 'account';

/**
 * Returns whether syncs leave the userName of the account as it is: the user left or is protected (`departed`), or the account of
 * a leaver is open, because its deactivation is held or was refused (`isLeaver`).
 */
export const isNeverRenamed = ({ departed, condition }: Link): boolean =>
  departed === true || condition?.isLeaver === true;

/** Returns whether a link is neither departed nor has a condition; a comparison counts only such links as matched. */
export const isUnconditional = ({ departed, condition }: Link): boolean =>
  !departed && condition === undefined;

/**
 * Removes the observed values of some names from a link, because they are out of date once the value was read or written.
 * @returns the removed values
 */
export function takeObserved(link: Link, names: readonly string[]): Record<string, unknown> {
  const taken: Record<string, unknown> = {};
  const others: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(link.observed ?? {})) {
    if (names.includes(name)) taken[name] = value;
    else others[name] = value;
  }
  if (Object.keys(others).length > 0) link.observed = others;
  else delete link.observed;
  return taken;
}

/** Removes a name from the unsure names of a link, and its observed value. */
export function forgetObserved(link: Link, name: string): void {
  const unsure = (link.unsure ?? []).filter((each) => each !== name);
  if (unsure.length > 0) link.unsure = unsure;
  else delete link.unsure;
  takeObserved(link, [name]);
}

/**
 * A link is kept for each user and target, so its text has short names and leaves out what repeats (ADR 0014). Fields that
 * are rare keep their names.
 */
const NAMES = { basis: 'b', core: 'c', attributes: 'v', origin: 'o', account: 'n', writtenAt: 'w' };

const CORE_NAMES = {
  userName: 'u',
  externalId: 'x',
  displayName: 'd',
  'name.givenName': 'g',
  'name.familyName': 'f',
  emails: 'e',
  active: 'a',
};

const ORIGINS = { created: 'c', adopted: 'a' };

/** Stored in place of a core value that is equal to its expected value (EXPECTED). No core value is a number. */
const SAME = 0;

const toMap = (names: Record<string, string>) => new Map(Object.entries(names));
const inverse = (names: Map<string, string>) => new Map([...names].map(([long, short]) => [short, long]));

/** Short names by long name, and the other way round. */
const SHORT = toMap(NAMES);
const SHORT_CORE = toMap(CORE_NAMES);
const SHORT_ORIGINS = toMap(ORIGINS);
const LONG = inverse(SHORT);
const LONG_CORE = inverse(SHORT_CORE);
const LONG_ORIGINS = inverse(SHORT_ORIGINS);

type Fields = Record<string, unknown>;

/** Returns the fields under their other names; a field without one keeps its name. */
function renamed(fields: Fields, names: ReadonlyMap<string, string>): Fields {
  const result: Fields = {};
  for (const name in fields) result[names.get(name) ?? name] = fields[name];
  return result;
}

/**
 * Core values that most users have, computed from other values: the e-mail address is the userName, and the displayName is
 * the given and the family name. A value that is equal to its expected one is stored as SAME, to save memory.
 */
const EXPECTED: [name: string, valueOf: (core: Fields) => unknown][] = [
  ['emails', ({ userName }) => userName],
  ['displayName', (core) => `${String(core['name.givenName'])} ${String(core['name.familyName'])}`],
];

/** Returns the stored text of a link. */
export function toLinkText(link: Link): string {
  const { id, basis } = link;
  // The text begins with `id` and `basis`, where lua/link_states.lua reads them.
  const short: Fields = {};
  if (id !== undefined) short.id = id;
  if (basis !== undefined) short.basis = basis;
  Object.assign(short, link);
  if (link.origin) short.origin = SHORT_ORIGINS.get(link.origin);
  if (link.core) {
    const core: Fields = { ...link.core };
    for (const [name, valueOf] of EXPECTED)
      if (typeof core[name] === 'string' && core[name] === valueOf(core)) core[name] = SAME;
    short.core = renamed(core, SHORT_CORE);
  }
  return JSON.stringify(renamed(short, SHORT));
}

/** Returns the link of a stored text; '' gives a link without any field. */
export function parseLink(text: string): Link {
  if (text === '') return {};
  const link = renamed(JSON.parse(text) as Fields, LONG);
  if (typeof link.origin === 'string') link.origin = LONG_ORIGINS.get(link.origin) ?? link.origin;
  if (link.core) {
    const core = renamed(link.core as Fields, LONG_CORE);
    for (const [name, valueOf] of EXPECTED) if (core[name] === SAME) core[name] = valueOf(core);
    link.core = core;
  }
  return link;
}

/** Returns the link of a stored text; undefined: it is damaged, so its account may be open. */
export function readableLink(text: string): Link | undefined {
  try {
    return parseLink(text);
  } catch {
    return undefined;
  }
}

/**
 * Parses a reverse link, the value that `linked:<target>` (keys.ts) has for `kind:platform id`.
 * @returns the ref, and the fingerprint of the account when it was equal to its link
 */
export function parseReverseLink(text: string): { ref: Ref; print?: string } {
  const space = text.indexOf(' ');
  if (space < 0) return { ref: text as Ref };
  return { ref: text.slice(0, space) as Ref, print: text.slice(space + 1) };
}

/**
 * Returns the platform id of a resource in the steps of a sync that come after its account or group was found or created.
 * @throws Error for a resource without link, which is a bug: the sync ends, and its mark is delivered again after the lease
 */
export function platformIdOf({ id }: Link): string {
  if (id === undefined) throw new Error('this step of a sync needs a linked account or group');
  return id;
}

/** Removes from a link the facts of the user list about its former account, because the link leads to another account now. */
export function forgetListId(link: Link): void {
  delete link.account;
  delete link.renamedAt;
  delete link.isAdministrator;
}
