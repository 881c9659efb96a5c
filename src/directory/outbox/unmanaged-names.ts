// Keeps the userNames of unmanaged members (docs/glossary.md) whose removal from a group was judged or written, for
// display in approvals and logs. The bridge stores nothing else about these accounts.
import { isUnmanaged } from '../member-names.ts';
import type { StoreDeps } from '../redis/scripts.ts';

/** Time for which a name is kept after it was last seen, milliseconds: as long as the provisioning log by default, and a day. */
const KEPT_MS = 31 * 86_400_000;
/** Largest number of names; the oldest are dropped. */
const MOST_NAMES = 10_000;

export function createUnmanagedNames({ redis, keys }: StoreDeps, target: string) {
  const key = keys.key('unmanagedNames', target);

  /** Stores the userName of a member (`@<platform id>`), and drops names that are too old. @param now Unix milliseconds */
  async function note(member: string, userName: string, now: number): Promise<void> {
    await redis
      .multi()
      .zadd(key, now, `${member} ${userName}`)
      .zremrangebyscore(key, '-inf', now - KEPT_MS)
      .zremrangebyrank(key, 0, -MOST_NAMES - 1)
      .pexpire(key, KEPT_MS)
      .exec();
  }

  /** Returns the last known userName by member (`@<platform id>`); reads nothing if none of the members is unmanaged. */
  async function namesOf(members: Iterable<string>): Promise<ReadonlyMap<string, string>> {
    return [...members].some(isUnmanaged) ? all() : new Map();
  }

  /** Returns the last known userName of each unmanaged member (`@<platform id>`). */
  async function all(): Promise<ReadonlyMap<string, string>> {
    const found = await redis.zrange(key, '0', '-1');
    // The newest name of a renamed account comes last.
    return new Map(
      found.map((text) => {
        const end = text.indexOf(' ');
        return [text.slice(0, end), text.slice(end + 1)] as const;
      }),
    );
  }

  return { note, namesOf, all };
}
