// Scans lists of the REST API: by cursor when the answer has `items`, else by offset. A scan that does not reach
// a proven end throws (contract 4.0, 9).
import { isRecord, readRestList, type Reader, type RestPage } from './readers.ts';
import { PlatformDecode, type CallContext } from './errors.ts';
import { createPageProof, listByCursor } from './pages.ts';
import type { CallOptions, Family, PlatformRequest, Send } from './request.ts';

const PAGE_SIZE = 100;

interface RestList<T> {
  /** Default: `rest`. */
  family?: Family;
  /** Path template, with its parameters in `params`. */
  route: string;
  params?: Record<string, string>;
  /** Parameters besides those of the page. */
  query?: PlatformRequest<unknown>['query'];
  /** Reads one entry. */
  read: Reader<T>;
  /**
   * Property of `data` that has the list in the form of the platform's specification. The form that the vendor published has it
   * in `items` (contract 4.1).
   */
  member?: string;
  /** False for a list without cursor, which is read by offset from the first request on. Default: true. */
  hasCursor?: boolean;
  /** True where a bare array is the whole list (contract 10). */
  allowsArray?: boolean;
  /** Pages after which a list with cursors counts as endless; default: no limit. */
  maxPages?: number;
}

/** Returns a reader for a page. `data` is the list or has the list under a name; the total may be in `pagination`. */
function pageReader<T>({ read, member, allowsArray }: RestList<T>): Reader<RestPage<T>> {
  const plain = readRestList(read);
  return (body, refuse) => {
    if (allowsArray && Array.isArray(body)) {
      return plain({ items: body, pageInfo: { hasNextPage: false } }, refuse);
    }
    if (!isRecord(body)) return plain(body, refuse);
    const { data, pagination } = body;
    const nested = member !== undefined && isRecord(data) ? data[member] : data;
    const total = isRecord(pagination) ? pagination['total'] : undefined;
    return plain({ ...body, data: nested, count: body['count'] ?? total }, refuse);
  };
}

/**
 * Yields every entry of the list and reads pages on demand. Throws IncompleteList when a page is empty or short
 * before the end, an id is repeated, a cursor is missing or repeated, or totals differ; PlatformDecode for a page without a list.
 */
export async function* listRest<T extends { id: string }>(
  send: Send,
  list: RestList<T>,
  options: CallOptions = {},
): AsyncGenerator<T, void, undefined> {
  const { family = 'rest', route, params } = list;
  const call: CallContext = { method: 'GET', route, correlationId: options.correlationId };
  const read = pageReader(list);
  const fetchPage = (range: PlatformRequest<unknown>['query']): Promise<RestPage<T>> => {
    const query = { ...list.query, ...range };
    return send({ family, method: 'GET', route, ...(params && { params }), query, read }, options);
  };
  const first = list.hasCursor === false ? undefined : await fetchPage({ first: PAGE_SIZE });
  // A list in the older style is read from its start: one scan must not mix both styles (contract 12.9).
  if (!first?.items) yield* byOffset(fetchPage, call);
  else
    yield* listByCursor(
      async (after) => (after === undefined ? first : fetchPage({ first: PAGE_SIZE, after })),
      call,
      { pageSize: PAGE_SIZE, maxPages: list.maxPages },
    );
}

type FetchPage<T> = (range: PlatformRequest<unknown>['query']) => Promise<RestPage<T>>;

/** Yields the entries of a list in the older style. @throws PlatformDecode for a page without list or total, and IncompleteList */
async function* byOffset<T extends { id: string }>(
  fetchPage: FetchPage<T>,
  call: CallContext,
): AsyncGenerator<T, void, undefined> {
  const proof = createPageProof(call);
  let offset = 0;
  do {
    const { data, count } = await fetchPage({ offset, limit: PAGE_SIZE });
    if (data === undefined || count === undefined) {
      throw new PlatformDecode('list with neither items nor data and a total', call);
    }
    proof.accept({ startIndex: offset + 1, totalResults: count, resources: data });
    yield* data;
    offset += data.length;
  } while (!proof.isComplete());
}
