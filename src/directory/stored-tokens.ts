// Stores the digests of inbound tokens that operators created, in one hash for each connection.
import type { StoreDeps } from './redis/scripts.ts';

/** A stored token. Times are Unix milliseconds of the process that created it. */
export interface StoredToken {
  /** Unique within the connection. */
  name: string;
  /** SHA-256 of the secret, base64url. */
  digest: string;
  createdAt: number;
  /** Name of the operator. */
  createdBy: string;
  /** null: the token does not expire. */
  expiresAt: number | null;
}

export type StoredTokens = ReturnType<typeof createStoredTokens>;

export function createStoredTokens({ redis, keys }: StoreDeps) {
  const tokens = keys.key('tokens');
  const uses = keys.key('tokenUses');
  /** Redis channel on which a process publishes that tokens have changed. */
  const channel = keys.key('tokensChanged');

  /** Notifies the other processes; without the message they notice the change within a second. */
  const notifyProcesses = async (): Promise<void> => void (await redis.publish(channel, ''));

  /** Stores a token. @returns false when another token has the name */
  async function add({ name, ...rest }: StoredToken): Promise<boolean> {
    const added = (await redis.hsetnx(tokens, name, JSON.stringify(rest))) === 1;
    if (added) await notifyProcesses();
    return added;
  }

  /** Deletes a token and the time of its last use. @returns false when there is no token with this name */
  async function remove(name: string): Promise<boolean> {
    const removed = (await redis.hdel(tokens, name)) === 1;
    await notifyProcesses();
    await redis.hdel(uses, name);
    return removed;
  }

  /** Returns the stored tokens that can be read. */
  async function all(): Promise<StoredToken[]> {
    const found = await redis.hgetall(tokens);
    return Object.entries(found).flatMap(([name, text]) => parseToken(name, text) ?? []);
  }

  const has = async (name: string): Promise<boolean> => (await redis.hexists(tokens, name)) === 1;

  const count = (): Promise<number> => redis.hlen(tokens);

  /** Returns the time of last use by token name, including tokens of the settings. */
  async function lastUses(): Promise<Map<string, number>> {
    const found = Object.entries(await redis.hgetall(uses));
    return new Map(found.map(([name, at]) => [name, Number(at)]));
  }

  /** Stores times of last use that are later than the stored ones. */
  async function noteUses(lastUsedAt: ReadonlyMap<string, number>): Promise<void> {
    if (lastUsedAt.size === 0) return;
    const names = [...lastUsedAt.keys()];
    const known = await redis.hmget(uses, ...names);
    const later = names.flatMap((name, index) => {
      const at = lastUsedAt.get(name) ?? 0;
      return at > Number(known[index] ?? 0) ? [name, String(at)] : [];
    });
    if (later.length > 0) await redis.hset(uses, ...later);
  }

  return { channel, add, has, remove, all, count, lastUses, noteUses };
}

/** Parses a stored token; undefined for an invalid one, which is never accepted. */
function parseToken(name: string, text: string): StoredToken | undefined {
  try {
    const { digest, createdAt, createdBy, expiresAt } = JSON.parse(text) as Record<string, unknown>;
    if (typeof digest !== 'string' || typeof createdAt !== 'number') return undefined;
    const isReadable = expiresAt === null || typeof expiresAt === 'number';
    // A token with an unreadable expiry counts as expired.
    return { name, digest, createdAt, createdBy: String(createdBy), expiresAt: isReadable ? expiresAt : 0 };
  } catch {
    return undefined;
  }
}
