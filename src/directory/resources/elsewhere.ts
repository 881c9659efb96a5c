// Finds accounts and groups that other connections of the same target are linked to. Each has one owner: the connection
// that saved its link first.
import type { Redis } from 'ioredis';
import { createKeyspace } from '../keys.ts';
import { parseLink, parseReverseLink } from '../outbox/link.ts';
import type { Kind, Ref } from '../records.ts';
import type { Scripts } from '../redis/scripts.ts';

/** The resource of another connection that is linked to an account or group. */
export interface Holder {
  connection: string;
  ref: Ref;
  /** Last written userName or displayName. */
  name: string;
  /** Last written externalId. */
  externalId: string | undefined;
}

/**
 * Duration of a claim. It is longer than a lease: when the claim has expired, a late save is refused for its expired
 * lease.
 */
const CLAIM_MS = 20_000;

export type Elsewhere = ReturnType<typeof createElsewhere>;

export function createElsewhere(
  { redis, scripts }: { redis: Redis; scripts: Scripts },
  options: { prefix: string; connection: string; othersOf: (target: string) => readonly string[] },
) {
  const { prefix, connection, othersOf } = options;

  /** Returns the resource of another connection that is linked to the account or group; undefined when there is none. */
  async function holderOf(target: string, kind: Kind, platformId: string): Promise<Holder | undefined> {
    for (const other of othersOf(target)) {
      const keys = createKeyspace(prefix, other);
      const text = await redis.hget(keys.key('linked', target), `${kind}:${platformId}`);
      if (text === null) continue;
      const { ref } = parseReverseLink(text);
      const { id, core } = parseLink((await redis.hget(keys.key('links', target), ref)) ?? '');
      // The reverse link may be out of date, so the link itself is compared.
      if (id !== platformId) continue;
      const name = String(core?.userName ?? core?.displayName ?? ref);
      const { externalId } = core ?? {};
      return { connection: other, ref, name, externalId: externalId ? String(externalId) : undefined };
    }
    return undefined;
  }

  /**
   * Claims an account or group right before its link is saved. `claimed`: no other connection is linked to it, and none
   * can save a link before the claim expires. `busy`: another resource has a claim. A holder: another connection is linked.
   */
  async function claim(
    target: string,
    ref: Ref,
    kind: Kind,
    platformId: string,
  ): Promise<Holder | 'claimed' | 'busy'> {
    if (othersOf(target).length === 0) return 'claimed';
    const { base } = createKeyspace(prefix, `target.${target}`);
    const id = `${target}:${kind}:${platformId}`;
    const [tag] = await scripts.run('claim_platform_id', base, {
      id,
      owner: `${connection} ${ref}`,
      ms: CLAIM_MS,
    });
    const holder = await holderOf(target, kind, platformId);
    return holder ?? (tag as 'claimed' | 'busy');
  }

  return { holderOf, claim };
}
