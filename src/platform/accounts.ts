// Reads console users (contract 3.3): the accounts that attribute values belong to.
import { listByCursor } from './pages.ts';
import { readConsoleUser, readRestList, type RestPage } from './readers.ts';
import { callsOf, type CallOptions, type RepeatRequest, type Send } from './request.ts';
import { listRest } from './rest-list.ts';
import type { ConsoleUser } from './wire.ts';

const LIST = '/api/v1/users';
const PAGE_SIZE = 50;
/** Largest number of pages of a search, together 1,000 accounts. A search with more hits cannot identify one user. */
const MAX_PAGES = 20;

export type PlatformAccounts = ReturnType<typeof createAccounts>;

/** Reads console users over `send`; every function throws PlatformError (errors.ts). */
export function createAccounts(send: Send) {
  const call = callsOf(send, 'rest');
  /** Returns one page of accounts. @param range.after cursor of the previous page; absent: the first page */
  async function page(
    range: { search?: string; after?: string | undefined },
    options?: CallOptions,
  ): Promise<RestPage<ConsoleUser> & { items: ConsoleUser[] }> {
    const query = { ...range, first: PAGE_SIZE };
    const found = await call('GET', LIST, { query, read: readRestList(readConsoleUser) }, options);
    // The older style of answers has the accounts in `data`. `count` is dropped, because the API does not say whether it counts the
    // hits of a search or all accounts. Without pageInfo, `listByCursor` then ends at the first page that is not full.
    return { ...found, items: found.items ?? found.data ?? [], count: undefined };
  }

  return {
    /**
     * Returns accounts whose first name, username or e-mail contains the text, ignoring case; compare exactly before use.
     * Throws EndpointAbsent, or PlatformResponse 404, on tenants without the endpoint; IncompleteList beyond 1,000 hits.
     */
    async search(text: string, options?: CallOptions): Promise<ConsoleUser[]> {
      const all: ConsoleUser[] = [];
      const context = { method: 'GET', route: LIST, correlationId: options?.correlationId };
      const fetchPage = (after: string | undefined) => page({ search: text, after }, options);
      const bounds = { pageSize: PAGE_SIZE, maxPages: MAX_PAGES };
      for await (const each of listByCursor(fetchPage, context, bounds)) all.push(each);
      return all;
    },
    /**
     * Yields all accounts; throws EndpointAbsent, or PlatformResponse 404, on tenants without the endpoint.
     * @param repeat sends the request of each page; default: once
     */
    list: (options?: CallOptions, repeat: RepeatRequest = (request) => request()) =>
      listRest(
        (request, each) => repeat(() => send(request, each)),
        { route: LIST, read: readConsoleUser },
        options,
      ),
    /** Returns the first page of accounts in unspecified order. Throws EndpointAbsent, or PlatformResponse 404, like `list`. */
    firstPage: async (options?: CallOptions) => (await page({}, options)).items,
    /** Returns the account that the token belongs to. */
    me: (options?: CallOptions) => call('GET', '/api/v1/users/me', { read: readConsoleUser }, options),
  };
}
