// Console users (contract 3.3): the accounts whose ids attribute values hang on.
import { readByCursor, type CursorPage } from './pages.ts';
import { readConsoleUser, readRestList } from './readers.ts';
import type { CallOptions, Send } from './request.ts';
import type { ConsoleUser } from './wire.ts';

const LIST = '/api/v1/users';
const PAGE_SIZE = 50;
/** 1,000 accounts; a search that finds more is no way to find one person. */
const MAX_PAGES = 20;

export interface PlatformAccounts {
  /**
   * Accounts whose first name, username or e-mail contains the text, case ignored: compare before use. Throws
   * EndpointAbsent, or PlatformResponse 404, on tenants without it; IncompleteList beyond 1,000 hits.
   */
  search(text: string, options?: CallOptions): Promise<ConsoleUser[]>;
  /** Some accounts, in no order that is promised; throws like `search`. */
  firstPage(options?: CallOptions): Promise<ConsoleUser[]>;
  /** The account that the token belongs to. */
  me(options?: CallOptions): Promise<ConsoleUser>;
}

/** Console users over `send`; every call throws what `send` throws. */
export function createAccounts(send: Send): PlatformAccounts {
  async function page(
    { search, after }: { search?: string; after?: string | undefined },
    options?: CallOptions,
  ): Promise<CursorPage<ConsoleUser>> {
    const read = readRestList(readConsoleUser);
    const query = { search, first: PAGE_SIZE, after };
    const found = await send({ family: 'rest', method: 'GET', route: LIST, query, read }, options);
    const items = found.items ?? found.data ?? [];
    // without pageInfo a full page proves nothing: readByCursor then misses the cursor and throws
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
