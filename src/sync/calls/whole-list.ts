// Reads a whole list of the platform to a proven end.
import type { ListPage } from '../../platform/readers.ts';
import { inPortions } from '../../directory/redis/portions.ts';

/** Requested page size; the platform may lower it. */
export const PAGE_SIZE = 500;
/** Number of pages that are read at the same time. */
const CONCURRENT_PAGES = 4;

/**
 * `read`: every resource was passed on. `unproven`: the list changed or contradicts itself. `tooLong`: it has more pages than
 * `worthPages` allows.
 */
type WholeList = 'read' | 'unproven' | 'tooLong';

/**
 * Reads a list to a proven end. Consecutive pages overlap by one resource: a resource that vanishes from the list while it is read
 * moves the rest, and the overlap shows it. New resources may appear at the end meanwhile.
 * @param list reads one page; `startIndex` is 1-based
 * @param onPage called for each page with its resources, without the one that the page before had, and with the total that the
 *   first page told
 * @param worthPages called after the first page; returns how many more pages may be read; absent: all
 * @throws PlatformError when a page cannot be read
 */
export async function readWholeList<T extends { id: string }>(
  list: (range: { startIndex: number; count: number }) => Promise<ListPage<T>>,
  onPage: (added: T[], total: number) => void,
  worthPages: () => Promise<number> = () => Promise.resolve(Infinity),
): Promise<WholeList> {
  const first = await list({ startIndex: 1, count: PAGE_SIZE });
  const total = first.totalResults;
  const size = first.resources.length;
  const ids = new Set<string>();
  let last: T | undefined;
  let highest = total;

  /** Passes a page on. @returns whether the page continues the one before without a gap */
  function take({ startIndex, totalResults, resources }: ListPage<T>): boolean {
    // A resource vanished, so the pages after it have moved.
    if (totalResults < highest) return false;
    highest = totalResults;
    const expectedLength = Math.min(size, totalResults - startIndex + 1);
    // The platform sent fewer or more resources than it counts.
    if (resources.length !== expectedLength) return false;
    // Every page but the first begins with the last resource of the page before.
    if (last !== undefined && resources[0]?.id !== last.id) return false;
    const added = last === undefined ? resources : resources.slice(1);
    for (const { id } of added) {
      // A resource came twice, so another one may be missing.
      if (ids.has(id)) return false;
      ids.add(id);
    }
    onPage(added, total);
    last = resources.at(-1);
    return true;
  }

  if (!take(first)) return 'unproven';
  // The first page has all resources.
  if (size >= total) return 'read';
  // Pages overlap by one resource, so a page of one resource would add none.
  if (size < 2) return 'unproven';
  const starts: number[] = [];
  for (let start = size; start < total; start += size - 1) starts.push(start);
  if (starts.length > (await worthPages())) return 'tooLong';
  for (const portion of inPortions(starts, CONCURRENT_PAGES)) {
    const pages = await Promise.all(portion.map((startIndex) => list({ startIndex, count: size })));
    for (const page of pages) if (!take(page)) return 'unproven';
  }
  return 'read';
}
