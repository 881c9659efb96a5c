// The link between a resource of ours and its counterpart at a target, with what was last applied there.
import type { Redis } from 'ioredis';
import type { Keyspace } from './keys.ts';
import type { Kind, Ref } from './records.ts';

/** Why a resource is not as desired; Kubernetes' condition with status False. */
export interface Condition {
  /** CamelCase, stable: `Refused`, `Conflict`, `Protected`, `AccountNotFound` ... */
  reason: string;
  /** For people; the platform's own words where it refused. */
  message: string;
  /** Unix milliseconds. */
  since: number;
  /** HTTP status of the platform's refusal. */
  status?: number;
}

export interface Link {
  /** The platform's SCIM id. */
  id?: string;
  /** The platform's numeric user id as text; attribute values are keyed by it. */
  account?: string;
  /** Was an administrator when its account was looked up. */
  isAdministrator?: boolean;
  /** Set before a create is sent: an account found later under this name is ours. */
  creating?: boolean;
  /** Made by us and not finished yet: `create-only` may still complete it. */
  making?: boolean;
  /** Whether the bridge made the counterpart or found it. */
  origin?: 'created' | 'adopted';
  /** Core members last written or observed, by platform path. */
  core?: Record<string, string | boolean | null>;
  /** Attribute values last written or observed, by name. */
  attributes?: Record<string, unknown>;
  /**
   * What was sent and not confirmed: core paths, and `attributes.<name>`. Noted before the write, so that neither a lost
   * answer nor a crash lets an old value pass for the applied one.
   */
  unsure?: string[];
  /** Outbox generation up to which attributes are in place, so that memberships may be granted. */
  settled?: string;
  /** Closed by us: deleted at the source, out of scope, or protected. Memberships are stated anew on return. */
  departed?: boolean;
  /** Unix milliseconds since which a group collects members that become ready. */
  gatheringSince?: number;
  /** Unix milliseconds of our last write there. What changed at the platform since was somebody else's. */
  writtenAt?: number;
  /** Consecutive failed attempts. */
  attempts?: number;
  /** Unix milliseconds since which the account id is looked for in vain. */
  searchingSince?: number;
  condition?: Condition;
}

export const parseLink = (text: string): Link => (text === '' ? {} : (JSON.parse(text) as Link));

/** Reads the way back from a platform id: a ref, and how the account looked when it was found equal to the link. */
export function parseWay(text: string): { ref: Ref; print?: string } {
  const blank = text.indexOf(' ');
  if (blank < 0) return { ref: text as Ref };
  return { ref: text.slice(0, blank) as Ref, print: text.slice(blank + 1) };
}

export type Links = ReturnType<typeof createLinks>;

/** Reads links of one connection; only a running sync writes them (outbox.ts). */
export function createLinks(deps: { redis: Redis; keys: Keyspace }) {
  const { redis, keys } = deps;

  async function getMany(target: string, refs: Ref[]): Promise<Link[]> {
    if (refs.length === 0) return [];
    return (await redis.hmget(keys.key('links', target), ...refs)).map((text) => parseLink(text ?? ''));
  }

  async function get(target: string, ref: Ref): Promise<Link> {
    return parseLink((await redis.hget(keys.key('links', target), ref)) ?? '');
  }

  /** Which of our resources holds a platform id, if any. */
  async function holderOf(target: string, kind: Kind, platformId: string): Promise<Ref | undefined> {
    const way = await redis.hget(keys.key('linked', target), `${kind}:${platformId}`);
    return way === null ? undefined : parseWay(way).ref;
  }

  /** Every link of a target, in no order, with bounded memory. */
  async function* all(target: string): AsyncGenerator<{ ref: Ref; link: Link }> {
    let cursor = '0';
    do {
      const [next, found] = await redis.hscan(keys.key('links', target), cursor, 'COUNT', 500);
      cursor = next;
      for (let index = 0; index + 1 < found.length; index += 2) {
        yield { ref: found[index] as Ref, link: parseLink(found[index + 1] ?? '') };
      }
    } while (cursor !== '0');
  }

  return { get, getMany, holderOf, all };
}
