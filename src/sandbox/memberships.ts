// Indexes group memberships by group and by user; adding or removing a member takes constant time.
import type { Durable } from './durable.ts';
import { createRecentChanges, type RecentChangesDeps } from './recent-changes.ts';

export interface MembershipView {
  /**
   * Returns user ids in order of joining; in a view of an earlier time, users who left since then come last. The caller must
   * not change the set.
   */
  membersOf(groupId: number): ReadonlySet<number>;
  /** Returns group ids; the caller must not change the set. */
  groupsOf(userId: number): ReadonlySet<number>;
}

export interface Memberships extends MembershipView, Durable {
  /** Returns false when the user was already a member. */
  add(groupId: number, userId: number): boolean;
  /** Returns false when the user was not a member. */
  remove(groupId: number, userId: number): boolean;
  /** Returns the memberships at `cutoffMs` (Unix milliseconds); null = the live ones. */
  asOf(cutoffMs: number | null): MembershipView;
}

const NO_IDS: ReadonlySet<number> = new Set();

/** Takes back one change of a set of ids; `joined` = the change added the id. */
function undo(ids: Set<number>, id: number, joined: boolean): void {
  if (joined) ids.delete(id);
  else ids.add(id);
}

/** Creates an empty store of memberships. A view of an earlier time takes back the changes since then. */
export function createMemberships(deps: RecentChangesDeps): Memberships {
  /** User ids by group id. */
  const members = new Map<number, Set<number>>();
  /** Group ids by user id. */
  const groups = new Map<number, Set<number>>();
  const changes = createRecentChanges<{ groupId: number; userId: number; joined: boolean }>(deps);

  function setOf(sets: Map<number, Set<number>>, id: number): Set<number> {
    const present = sets.get(id);
    if (present) return present;
    const fresh = new Set<number>();
    sets.set(id, fresh);
    return fresh;
  }
  const live: MembershipView = {
    membersOf: (groupId) => members.get(groupId) ?? NO_IDS,
    groupsOf: (userId) => groups.get(userId) ?? NO_IDS,
  };

  /** Returns the memberships at an earlier time: the live ones without the changes since then. */
  function past(cutoffMs: number): MembershipView {
    const notes = changes.after(cutoffMs);
    if (notes.length === 0) return live;
    return {
      membersOf(groupId) {
        const userIds = new Set(live.membersOf(groupId));
        for (const note of notes) if (note.groupId === groupId) undo(userIds, note.userId, note.joined);
        return userIds;
      },
      groupsOf(userId) {
        const groupIds = new Set(live.groupsOf(userId));
        for (const note of notes) if (note.userId === userId) undo(groupIds, note.groupId, note.joined);
        return groupIds;
      },
    };
  }

  function add(groupId: number, userId: number): boolean {
    const present = setOf(members, groupId);
    if (present.has(userId)) return false;
    present.add(userId);
    setOf(groups, userId).add(groupId);
    changes.note({ groupId, userId, joined: true });
    return true;
  }

  return {
    ...live,
    add,
    remove(groupId, userId) {
      if (!members.get(groupId)?.delete(userId)) return false;
      groups.get(userId)?.delete(groupId);
      changes.note({ groupId, userId, joined: false });
      return true;
    },
    asOf: (cutoffMs) => (cutoffMs === null ? live : past(cutoffMs)),
    dump: () => [...members].map(([groupId, userIds]) => [groupId, [...userIds]]),
    restore(entries) {
      for (const [groupId, userIds] of entries as [number, number[]][]) {
        for (const userId of userIds) add(groupId, userId);
      }
    },
  };
}
