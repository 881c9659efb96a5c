// Reads the links and reverse links of one connection.
import type { Elsewhere } from '../resources/elsewhere.ts';
import { parseLink, parseReverseLink, readableLink, type Link } from './link.ts';
import type { Kind, Ref } from '../records.ts';
import { pairsOf, scanned } from '../redis/portions.ts';
import type { StoreDeps } from '../redis/scripts.ts';

/** Links that one step of a scan reads. */
const SCAN_COUNT = 500;

export type Links = ReturnType<typeof createLinks>;

/** Reads links of one connection. They are written by syncs (work.ts), by orders of operators, and by restores and repairs. */
export function createLinks(deps: StoreDeps & { elsewhere: Elsewhere }) {
  const { redis, keys, elsewhere } = deps;

  /** Returns the links in the order of the refs; an empty link for a resource without one. */
  async function getMany(target: string, refs: Ref[]): Promise<Link[]> {
    if (refs.length === 0) return [];
    return (await redis.hmget(keys.key('links', target), ...refs)).map((text) => parseLink(text ?? ''));
  }

  /** Returns the link of a resource; an empty link if it has none. */
  async function get(target: string, ref: Ref): Promise<Link> {
    return parseLink((await redis.hget(keys.key('links', target), ref)) ?? '');
  }

  /** Returns the resource that is linked to a platform id; undefined when there is none. */
  async function holderOf(target: string, kind: Kind, platformId: string): Promise<Ref | undefined> {
    const text = await redis.hget(keys.key('linked', target), `${kind}:${platformId}`);
    if (text === null) return undefined;
    const { ref } = parseReverseLink(text);
    const link = readableLink((await redis.hget(keys.key('links', target), ref)) ?? '');
    // The reverse link may be out of date. A link that is damaged or was lost may have had this id.
    return link?.id === undefined || link.id === platformId ? ref : undefined;
  }

  /** Returns up to `count` random links of a kind. */
  async function some(target: string, kind: Kind, count: number): Promise<Link[]> {
    // Four times as many are read, because links of the other kind are left out. Fewer than `count` may remain.
    const found = (await redis.hrandfield(keys.key('links', target), 4 * count, 'WITHVALUES')) as string[];
    const ofKind = pairsOf(found).filter(([ref]) => ref.startsWith(`${kind}:`));
    return ofKind.slice(0, count).map(([, text]) => parseLink(text));
  }

  /** Yields every link of a target in any order, with bounded memory. */
  async function* all(target: string): AsyncGenerator<{ ref: Ref; link: Link }> {
    for await (const [ref, text] of linkTexts(deps, target)) yield { ref, link: parseLink(text) };
  }

  return { get, getMany, holderOf, all, elsewhere, some };
}

/** Yields the text of every link, also of a damaged one. */
export async function* linkTexts(
  { redis, keys }: StoreDeps,
  target: string,
): AsyncGenerator<[ref: Ref, text: string]> {
  const links = keys.key('links', target);
  for await (const found of scanned((cursor) => redis.hscan(links, cursor, 'COUNT', SCAN_COUNT)))
    yield* pairsOf(found) as [Ref, string][];
}
