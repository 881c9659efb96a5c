// Tests the list that replaces look-ups of new users: it never misses an account that existed when the list began, or
// it is not used.
import type { WireUser } from '../../../src/platform/wire.ts';
import {
  createListedAccounts,
  externalIdKey,
  nameKey,
  readAccountList,
} from '../../../src/sync/user/listed-accounts.ts';
import type { PlatformClient } from '../../../src/platform/client.ts';

const account = (number: number): WireUser => ({
  id: `id-${number}`,
  userName: `P${number}@acme.example`,
  externalId: `external-${number}`,
});

/** A small seeded generator of numbers in [0, 1). */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A platform with pages of at most `cap` accounts; `before` runs before every page. `calls.pages` counts the pages. */
function platformOf(accounts: WireUser[], cap: number, before: () => void = () => undefined) {
  const calls = { pages: 0 };
  const list = ({ startIndex = 1, count = 20 }) => {
    before();
    calls.pages++;
    const resources = accounts.slice(startIndex - 1, startIndex - 1 + Math.min(cap, count));
    return Promise.resolve({ startIndex, totalResults: accounts.length, resources });
  };
  return { calls, client: { users: { list } } as unknown as Pick<PlatformClient, 'users'> };
}

/** Number of further pages that may be read: enough for every list of these tests. */
const plenty = () => Promise.resolve(1000);

test('a completely read list of accounts finds each account by userName in any letter case and by externalId', async () => {
  const accounts = Array.from({ length: 95 }, (_, number) => account(number));
  const found = await readAccountList(platformOf(accounts, 10).client, plenty, {});
  if (found.kind !== 'read') throw new Error(found.kind);
  for (let number = 0; number < 95; number++) {
    expect(found.names.mayHave(nameKey(`p${number}@ACME.example`))).toBe(true);
    expect(found.names.mayHave(externalIdKey(`external-${number}`))).toBe(true);
  }
  const unlisted = Array.from({ length: 1000 }, (_, number) => found.names.mayHave(nameKey(`x${number}`)));
  const falsePositives = unlisted.filter(Boolean).length;
  expect(falsePositives).toBeLessThan(10);
});

test('a list of accounts changes while it is read → it counts as incomplete, or has every account that stayed', async () => {
  let unproven = 0;
  for (let seed = 1; seed <= 300; seed++) {
    const random = generator(seed);
    const accounts = Array.from({ length: 40 + Math.floor(random() * 40) }, (_, number) => account(number));
    const start = [...accounts];
    let next = 1000;
    const platform = platformOf(accounts, 2 + Math.floor(random() * 12), () => {
      if (random() < 0.1) accounts.splice(Math.floor(random() * accounts.length), 1);
      if (random() < 0.2) accounts.push(account(next++));
      if (random() < 0.02) accounts.reverse();
    });
    const found = await readAccountList(platform.client, plenty, {});
    if (found.kind !== 'read') {
      unproven++;
      continue;
    }
    for (const { userName } of start.filter((each) => accounts.includes(each)))
      expect(`${seed} ${userName} ${found.names.mayHave(nameKey(userName))}`).toBe(
        `${seed} ${userName} true`,
      );
  }
  // Of the 300 seeds some must give a proven list, and at least 30 none, or this test would check too little.
  expect(unproven).toBeGreaterThan(30);
  expect(unproven).toBeLessThan(300);
});

test('short pages, repeated accounts and smaller totals make a list of accounts count as incomplete', async () => {
  const accounts = Array.from({ length: 50 }, (_, number) => account(number));
  const { users } = platformOf(accounts, 10).client;
  const honest = (range: { startIndex?: number }) => users.list({ count: 500, ...range });
  type Page = Awaited<ReturnType<typeof honest>>;
  const lies: ((page: Page) => Page)[] = [
    (page) => ({ ...page, resources: page.resources.slice(0, 5) }),
    (page) => ({ ...page, totalResults: 49 }),
    (page) => ({ ...page, resources: [...page.resources.slice(0, -1), account(0)] }),
    (page) => ({ ...page, resources: [] }),
  ];
  for (const lie of lies) {
    const list: typeof honest = async (range) => {
      const page = await honest(range);
      return (range.startIndex ?? 1) > 10 ? lie(page) : page;
    };
    const client = { users: { list } } as unknown as Pick<PlatformClient, 'users'>;
    expect((await readAccountList(client, plenty, {})).kind).toBe('unproven');
  }
});

test('new users are looked up one by one if they are few, or if the user list is long; else the user list is read once', async () => {
  const clock = { now: () => 0, sleep: () => new Promise<void>((resolve) => setImmediate(resolve)) };
  const signal = new AbortController().signal;
  const wanted = { userName: 'new@acme.example', externalId: null };
  const small = platformOf([account(1)], 10);
  const few = createListedAccounts({ client: small.client, clock });
  const asking = { countNew: () => Promise.resolve(0), signal };
  // Undefined: there is no list, so the user is looked up.
  expect(await few.mayHave(wanted, asking)).toBeUndefined();
  expect(small.calls.pages).toBe(0);
  expect(await few.mayHave(wanted, asking)).toBe(false);
  expect(await few.mayHave({ userName: 'p1@acme.example', externalId: null }, asking)).toBe(true);
  expect(await few.mayHave({ ...wanted, externalId: 'external-1' }, asking)).toBe(true);
  expect(small.calls.pages).toBe(1);
  const large = platformOf(
    Array.from({ length: 500 }, (_, number) => account(number)),
    10,
  );
  const rare = createListedAccounts({ client: large.client, clock });
  // The first page shows that the list has more pages than three users would need look-ups.
  for (let user = 0; user < 3; user++) expect(await rare.mayHave(wanted, asking)).toBeUndefined();
  expect(large.calls.pages).toBe(1);
});
