// Reads lists to a proven end. A truncated list looks like deleted users (contract 12.9), so a scan either returns
// everything that the platform counted, or throws.
import { IncompleteList, type CallContext } from './errors.ts';
import type { ListPage, RestPage } from './readers.ts';
import type { CallOptions } from './request.ts';

export interface ListOptions extends CallOptions {
  /** Resources per page; the platform may lower it. */
  count: number;
  /** Pages requested concurrently after the first, default 1. Pages are yielded in order. */
  inFlight?: number;
}

/** Checks the pages of one scan for repeated ids, changed totals and missing resources. */
export function createPageProof(call: CallContext): {
  /** Checks the next page of a list with a total. @throws IncompleteList */
  accept(page: ListPage<{ id: string }>): void;
  /** Checks only for repeated ids, for lists without a total. @throws IncompleteList */
  noteIds(items: { id: string }[]): void;
  /** Returns the error for a fault that neither `accept` nor `noteIds` finds, such as a missing cursor. */
  fail(reason: string): IncompleteList;
  /** Returns true when as many resources were read as the list has. */
  isComplete(): boolean;
} {
  const ids = new Set<string>();
  let total: number | undefined;
  let fullLength = 0;
  const fail = (reason: string): IncompleteList =>
    new IncompleteList(reason, { seen: ids.size, expected: total }, call);

  function noteIds(items: { id: string }[]): void {
    for (const { id } of items) {
      if (ids.has(id)) throw fail('an id came twice');
      ids.add(id);
    }
  }

  function accept({ totalResults, resources }: ListPage<{ id: string }>): void {
    if (total === undefined) {
      total = totalResults;
      // The platform may lower the requested `count`; the length of the first page shows the count that it uses.
      fullLength = resources.length;
    }
    if (totalResults !== total) throw fail('the totals disagree');
    // Number of resources that were not read yet.
    const left = total - ids.size;
    if (resources.length > left) throw fail('more came than was counted');
    if (resources.length === 0 && left > 0) throw fail('a page was empty before the end');
    if (resources.length < Math.min(fullLength, left)) throw fail('a page was short before the end');
    noteIds(resources);
  }

  return { accept, noteIds, fail, isComplete: () => ids.size === total };
}

/**
 * Scans a SCIM list by startIndex and yields its pages, the first one even when it is empty. Throws IncompleteList when a page is
 * empty or short before the end, an id is repeated, or `totalResults` changes. If one resource is deleted and another created
 * between two pages, the scan may miss a resource without an error. So a caller reads a resource by id before it acts on its
 * absence.
 */
export async function* listByIndex<T extends { id: string }>(
  fetchPage: (startIndex: number, options: CallOptions) => Promise<ListPage<T>>,
  call: CallContext,
  options: ListOptions,
): AsyncGenerator<ListPage<T>, void, undefined> {
  const { signal, correlationId, inFlight = 1 } = options;
  const proof = createPageProof({ ...call, correlationId });
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(signal?.reason);
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  const fetchOptions: CallOptions = {
    signal: controller.signal,
    ...(correlationId === undefined ? {} : { correlationId }),
  };
  const requested: Promise<ListPage<T>>[] = [];
  try {
    const first = await fetchPage(1, fetchOptions);
    proof.accept(first);
    yield first;
    let next = 1 + first.resources.length;
    while (!proof.isComplete()) {
      while (requested.length < Math.max(1, inFlight) && next <= first.totalResults) {
        const page = fetchPage(next, fetchOptions);
        page.catch(() => undefined); // The error is thrown where the page is awaited below.
        requested.push(page);
        next += first.resources.length;
      }
      const page = await requested.shift();
      if (page === undefined) throw proof.fail('the list ended early');
      proof.accept(page);
      yield page;
    }
  } finally {
    signal?.removeEventListener('abort', onAbort);
    controller.abort();
  }
}

/**
 * Yields the entries of a cursor list to its end. Without pageInfo the list ends when `count` entries were read, or, without a
 * count, at a page that is not full.
 * Throws IncompleteList when the cursor is missing or repeated, a page is empty before the end, an id is repeated, or more than
 * `maxPages` pages are needed.
 */
export async function* listByCursor<T extends { id: string }>(
  fetchPage: (after: string | undefined) => Promise<RestPage<T>>,
  call: CallContext,
  { pageSize, maxPages = Infinity }: { pageSize: number; maxPages?: number | undefined },
): AsyncGenerator<T, void, undefined> {
  const proof = createPageProof(call);
  const cursors = new Set<string>();
  let after: string | undefined;
  let seen = 0;
  for (let pages = 0; pages < maxPages; pages += 1) {
    const { items = [], count, hasNextPage, endCursor } = await fetchPage(after);
    proof.noteIds(items);
    yield* items;
    seen += items.length;
    const goesOnByCount = count === undefined ? items.length >= pageSize : seen !== count;
    if (!(hasNextPage ?? goesOnByCount)) return;
    if (items.length === 0) throw proof.fail('a page was empty before the end');
    if (endCursor === undefined) throw proof.fail('the cursor is missing');
    if (cursors.has(endCursor)) throw proof.fail('the cursor repeats');
    cursors.add(endCursor);
    after = endCursor;
  }
  throw proof.fail(`the list goes on after ${maxPages} pages`);
}
