// Reads console users (contract 3.3): the accounts that attribute values belong to.
import { readByCursor, type CursorPage } from './pages.ts';
import { readConsoleUser, readRestList } from './readers.ts';
import type { CallOptions, Send } from './request.ts';
import type { ConsoleUser } from './wire.ts';

const LIST = '/api/v1/users';
const PAGE_SIZE = 50;
/** 1,000 accounts. A search with more hits cannot identify one user. */
const MAX_PAGES = 20;

export interface PlatformAccounts {
  /**
   * Returns accounts whose first name, username or e-mail contains the text, ignoring case; compare exactly
   * before use. Throws EndpointAbsent, or PlatformResponse 404, on tenants without the endpoint; IncompleteList
   * beyond 1,000 hits.
   */
  search(text: string, options?: CallOptions): Promise<ConsoleUser[]>;
  /** Returns the first page of accounts in unspecified order; throws like `search`. */
  firstPage(options?: CallOptions): Promise<ConsoleUser[]>;
  /** Returns the account that the token belongs to. */
  me(options?: CallOptions): Promise<ConsoleUser>;
}

/** Reads console users over `send`; every function throws what `send` throws. */
export function createAccounts(send: Send): PlatformAccounts {
  async function page(
    { search, after }: { search?: string; after?: string | undefined },
    options?: CallOptions,
  ): Promise<CursorPage<ConsoleUser>> {
    const read = readRestList(readConsoleUser);
    const query = { search, first: PAGE_SIZE, after };
    const found = await send({ family: 'rest', method: 'GET', route: LIST, query, read }, options);
    const items = found.items ?? found.data ?? [];
    // Without pageInfo nothing tells whether a full page is the last one. It counts as not the last, and
    // readByCursor throws because there is no cursor.
    return {
      items,
      hasNextPage: found.hasNextPage ?? items.length >= PAGE_SIZE,
      endCursor: found.endCursor,
    };
  }

  return {
    search: (text, options) =>
      readByCursor(
        (after) => page({ search: text, after }, options),
        { method: 'GET', route: LIST, correlationId: options?.correlationId },
        MAX_PAGES,
      ),
    firstPage: async (options) => (await page({}, options)).items,
    me: (options) =>
      send({ family: 'rest', method: 'GET', route: '/api/v1/users/me', read: readConsoleUser }, options),
  };
}
