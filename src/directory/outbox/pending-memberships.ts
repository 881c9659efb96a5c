// Reads the pending memberships of a target: additions and removals that are not written there, or not confirmed.
import { refOf } from '../records.ts';
import { pairsOf, scanned } from '../redis/portions.ts';
import { parseLink, type Link } from './link.ts';
import type { StoreDeps } from '../redis/scripts.ts';

/** Signs of pending memberships, in Redis and in Lua (lua/signs.lua). */
export const MEMBERSHIP_SIGN = {
  toAdd: '+',
  toRemove: '-',
  /** Not written, because the removal or the deactivation of a deleted user was rejected, or the user is protected. */
  keptRemoval: 'r',
  /** Written, and shown by no answer or read yet; or of a user whose account is still to be found. */
  unconfirmedRemoval: 'u',
} as const;
/** Sign of an addition or a removal, which a sync writes. */
export type WrittenSign = typeof MEMBERSHIP_SIGN.toAdd | typeof MEMBERSHIP_SIGN.toRemove;
/** Sign of an addition, a removal or a kept removal. */
export type PendingSign = WrittenSign | typeof MEMBERSHIP_SIGN.keptRemoval;

/** Returns the members of a group, or the groups of a user, whose pending membership has this sign. */
export const withSign = (pending: ReadonlyMap<string, string>, sign: PendingSign): string[] =>
  [...pending].filter(([, each]) => each === sign).map(([key]) => key);

/** Returns whether a sign is that of an unconfirmed removal. */
export const isUnconfirmed = (sign: string): boolean => sign === MEMBERSHIP_SIGN.unconfirmedRemoval;

/** Whether a user may be added to groups at the platform now. */
export interface Readiness {
  /** Id of the user. */
  user: string;
  link: Link;
  /** The user may be added now. */
  ready: boolean;
  /** The user has a mark, so a later sync may make the user ready. */
  underWay: boolean;
}

/** COUNT of HSCAN: about so many pending members are in one reply. */
const PENDING_PORTION = 5000;

export function createPendingMemberships({ redis, keys }: StoreDeps, { target }: { target: string }) {
  /** Returns the stored signs of the members of a group: name (member-names.ts) → sign. */
  async function signsOf(group: string): Promise<Map<string, string>> {
    const signs = new Map<string, string>();
    const pending = keys.key('pendingMembers', `${target}:${group}`);
    for await (const found of scanned((cursor) => redis.hscan(pending, cursor, 'COUNT', PENDING_PORTION)))
      for (const [member, sign] of pairsOf(found)) signs.set(member, sign);
    return signs;
  }

  /** Returns the pending members of a group without unconfirmed removals: name (member-names.ts) → PendingSign. */
  const pendingMembers = async (group: string): Promise<Map<string, string>> =>
    new Map([...(await signsOf(group))].filter(([, sign]) => !isUnconfirmed(sign)));

  /** Returns the names of the members of a group whose removal was written and is not confirmed. */
  const unconfirmedRemovals = async (group: string): Promise<string[]> =>
    [...(await signsOf(group))].flatMap(([member, sign]) => (isUnconfirmed(sign) ? [member] : []));

  /** Returns the ids of the users whose addition is pending because somebody took them out at the platform. */
  const takenOutMembers = async (group: string): Promise<Set<string>> =>
    new Set(await redis.smembers(keys.key('takenOutMembers', `${target}:${group}`)));

  /** Returns the ids of the users whose addition was never sent or was refused: pending, or left out by the policy. */
  const unsentMembers = (group: string): Promise<string[]> =>
    redis.smembers(keys.key('unsentMembers', `${target}:${group}`));

  /** Returns those of the groups to which the addition of the user was never sent (`unsentMembers`). */
  async function unsentGroups(user: string, groups: readonly string[]): Promise<string[]> {
    const isUnsent = await Promise.all(
      groups.map((group) => redis.sismember(keys.key('unsentMembers', `${target}:${group}`), user)),
    );
    return groups.filter((_, index) => isUnsent[index] === 1);
  }

  /**
   * Returns for each user whether memberships may be added now: the user is linked, the attributes are applied, and no removal of
   * the user from a group is still to be written.
   */
  async function readiness(users: string[]): Promise<Readiness[]> {
    if (users.length === 0) return [];
    const refs = users.map((user) => refOf('User', user));
    const [links, marks] = await Promise.all([
      redis.hmget(keys.key('links', target), ...refs),
      redis.hmget(keys.key('marks', target), ...refs),
    ]);
    return Promise.all(
      users.map(async (user, index) => {
        const link = parseLink(links[index] ?? '');
        const mark = marks[index];
        // A mark begins with its generation; the link has it once the sync of this mark has written the attributes. Without a mark
        // the last sync has ended, and a condition says that it did not write all.
        const attributesApplied = mark
          ? link.observedGeneration === mark.slice(0, mark.indexOf(' '))
          : !link.condition;
        const linked = link.id !== undefined && link.departed !== true;
        // `hasUnwrittenRemoval` sends a command, so it is called last: during a first load most users are not linked yet.
        const ready = linked && attributesApplied && !(await hasUnwrittenRemoval(user));
        return { user, link, ready, underWay: typeof mark === 'string' };
      }),
    );
  }

  const hasUnwrittenRemoval = async (user: string): Promise<boolean> =>
    (await redis.hvals(keys.key('pendingGroups', `${target}:${user}`))).includes(MEMBERSHIP_SIGN.toRemove);

  /** Returns the groups from which the removal of this user is pending. */
  async function pendingRemovals(user: string): Promise<string[]> {
    const pendingGroups = Object.entries(await redis.hgetall(keys.key('pendingGroups', `${target}:${user}`)));
    return pendingGroups.filter(([, sign]) => sign === MEMBERSHIP_SIGN.toRemove).map(([group]) => group);
  }

  return {
    pendingMembers,
    unconfirmedRemovals,
    takenOutMembers,
    unsentMembers,
    unsentGroups,
    readiness,
    pendingRemovals,
  };
}
