// Tests the verification of suspected drift: random faults of lists never give a plan entry without drift.
import { toLinkText, type Link } from '../../../src/directory/outbox/link.ts';
import { PlatformResponse } from '../../../src/platform/errors.ts';
import type { ListPage } from '../../../src/platform/readers.ts';
import { DESTRUCTIVE, isChange } from '../../../src/reconcile/entry.ts';
import type { ReconcileScope } from '../../../src/reconcile/scope.ts';
import { makePlan } from '../../../src/reconcile/plan/make-plan.ts';
import { createRandom } from '../../support/company.ts';

interface Person {
  id: string;
  userName: string;
  active: boolean;
}

const people = (size: number): Person[] =>
  Array.from({ length: size }, (_, index) => ({
    id: `p${index}`,
    userName: `u${index}@x.example`,
    // Some users have left and are inactive on both sides.
    active: index % 5 !== 0,
  }));

const linkOf = ({ id, userName, active }: Person): Link => ({
  id,
  core: { userName, active },
  attributes: {},
});

const fail = (status: number): never => {
  throw new PlatformResponse({ status, platformMessage: '' }, { method: 'GET', route: '/x' });
};

interface Meddling {
  /** Returns the page that the platform answers instead. */
  list(page: ListPage<Person>): ListPage<Person>;
  /** Called before each read of one account; an error fails the read. */
  beforeRead(): void;
}

/**
 * Creates a target in memory with links for `all`. The platform has the accounts `atPlatform`; `meddling` changes its
 * answers.
 */
function scopeOf(all: Person[], meddling: Meddling, atPlatform = all): ReconcileScope {
  const accounts = new Map(atPlatform.map((person) => [person.id, person]));
  const byId = new Map(all.map((person) => [person.id, person]));
  const textOf = (id: string): string => JSON.stringify(linkOf(byId.get(id) as Person));
  const readLinks = (refs: string[]) =>
    Promise.resolve(refs.map((ref) => ({ ref, text: textOf(ref.slice('User:'.length)), marked: false })));
  const none = async function* () {};
  const records = (ids: string[]) =>
    ids.map((id) => {
      const { userName, active } = byId.get(id) as Person;
      return {
        record: { id, version: 1, created: 0, lastModified: 0, text: JSON.stringify({ userName, active }) },
        groups: [],
      };
    });
  const scope = {
    connection: 'idp',
    digest: 'd',
    rulesAgree: () => Promise.resolve(true),
    isDataLost: () => Promise.resolve(false),
    concurrency: 4,
    others: [],
    acts: { search: async function* () {} },
    clock: { now: () => 0, sleep: () => Promise.resolve() },
    random: () => 0.5,
    links: { getMany: () => Promise.resolve([]), some: () => Promise.resolve([]) },
    outbox: {
      hasMoved: () => Promise.resolve(false),
      log: { search: async function* () {} },
      blocked: () => Promise.resolve([]),
      backlog: () => Promise.resolve({ exceptions: { total: 0, Dropped: 0 } }),
      exceptions: () => Promise.resolve([]),
      guardStore: {
        open: () => Promise.resolve(undefined),
        tenantHoldElsewhere: () => Promise.resolve(undefined),
        heldRefs: () => Promise.resolve([]),
        verdictsOn: (items: unknown[]) => Promise.resolve(items.map(() => undefined)),
        arePermitted: (items: unknown[]) => Promise.resolve(items.map(() => true)),
        counts: () => Promise.resolve({ population: {}, kinds: {} }),
        decisionsOfMembers: () => Promise.resolve([]),
      },
    },
    runs: {
      // The same as `digest`: the mapping rules did not change.
      mappedBy: () => Promise.resolve('d'),
      unwrittenSince: () => Promise.resolve(Infinity),
      read: () => Promise.resolve({}),
      cursor: () => Promise.resolve(0),
      groupsSeen: () => [],
    },
    directory: {
      markRenamed: () => Promise.resolve(),
      usersIn: async function* (ids: string[]) {
        yield await Promise.resolve(records(ids));
      },
      getMany: () => Promise.resolve([]),
      scan: none,
      count: () => Promise.resolve(all.length),
    },
    drifts: {
      // Every user is linked to the account with the same id.
      readLinks,
      linkedTo: (_kind: string, ids: string[]) => readLinks(ids.map((id) => `User:${id}`)),
      unlikePrints: (seen: unknown[]) => Promise.resolve(seen.map((_, index) => index)),
      deletedAtSource: () => Promise.resolve(false),
      deletionTimes: (ids: string[]) => Promise.resolve(ids.map(() => undefined)),
    },
    coverage: {
      briefly: async function* (kind: string) {
        await Promise.resolve();
        if (kind === 'User') yield { linked: all.length, others: [] };
      },
      resources: async function* (kind: string) {
        await Promise.resolve();
        const linked = all.map(({ id }) => ({ platformId: id, ref: `User:${id}` }));
        if (kind === 'User') yield { linked, others: [] };
      },
      orphans: none,
    },
    target: {
      name: 'main',
      catalogue: { isKeyOwnerTold: () => false, knownKeyOwner: () => undefined },
      policy: {
        guard: {},
        policy: 'sync',
        adopt: 'exact',
        users: { deprovision: 'deactivate', activation: 'safe', protected: [] },
        groups: { members: 'owned' },
        groupsRolesMap: {},
      },
      mapping: {
        types: {},
        rulesReadGroups: false,
        groupName: (name: string) => name,
        user: ({ userName, active }: { userName: string; active: boolean }) =>
          Promise.resolve({ inScope: true, active, core: { userName }, attributes: {}, faults: [] }),
      },
      client: {
        users: {
          list: ({ startIndex, count }: { startIndex: number; count: number }) => {
            const resources = atPlatform.slice(startIndex - 1, startIndex - 1 + Math.min(count, 9));
            return Promise.resolve().then(() =>
              meddling.list({ startIndex, totalResults: atPlatform.length, resources }),
            );
          },
          get: (id: string) =>
            Promise.resolve().then(() => {
              meddling.beforeRead();
              return accounts.get(id) ?? fail(404);
            }),
          findBy: () => Promise.resolve([]),
        },
        groups: {
          list: () => Promise.resolve({ startIndex: 1, totalResults: 0, resources: [] }),
        },
      },
    },
  };
  return scope as unknown as ReconcileScope;
}

function withFault(page: ListPage<Person>, random: () => number, all: Person[]): ListPage<Person> {
  const { resources, startIndex } = page;
  const roll = random();
  if (roll < 0.2) return { ...page, resources: resources.slice(0, Math.floor(random() * resources.length)) };
  if (roll < 0.35) return { ...page, resources: [] };
  if (roll < 0.5) return { ...page, resources: [...all].reverse().slice(startIndex - 1, startIndex + 8) };
  if (roll < 0.6) return { ...page, totalResults: Math.floor(random() * all.length * 2) };
  // The worst fault: the list omits users and its total omits them too.
  const kept = resources.slice(0, Math.floor(resources.length / 2));
  if (roll < 0.8) return { ...page, totalResults: startIndex - 1 + kept.length, resources: kept };
  return fail(503);
}

test('faulty lists of a platform without drift never cause a change in the plan (1,000 random schedules)', async () => {
  let suspected = 0;
  for (let seed = 1; seed <= 1000; seed++) {
    const random = createRandom(seed * 104729);
    const all = people(Math.floor(random() * 50));
    const share = random();
    let gets = 0;
    const scope = scopeOf(all, {
      list: (page) => (random() < share ? withFault(page, random, all) : page),
      beforeRead: () => {
        gets++;
        if (random() < 0.2) fail(503);
      },
    });
    const signal = new AbortController().signal;
    const { plan } = await makePlan(scope, { id: `s${seed}`, signal });
    expect([seed, plan.entries.filter((entry) => DESTRUCTIVE.has(entry.action))]).toEqual([seed, []]);
    expect([seed, plan.entries.filter(isChange)]).toEqual([seed, []]);
    if (gets > 0) suspected++;
  }
  // The test proves nothing if faulty lists never cause the read of a single account.
  expect(suspected).toBeGreaterThan(50);
}, 60_000);

test('a reconcile plan has a deactivation for an account reactivated at the platform, and a creation for an account deleted there', async () => {
  const all = people(30);
  const atPlatform = all
    .filter(({ id }) => id !== 'p3')
    .map((person) => (person.id === 'p5' ? { ...person, active: true } : person));
  const scope = scopeOf(all, { list: (page) => page, beforeRead: () => undefined }, atPlatform);
  const { plan } = await makePlan(scope, { id: 'x', signal: new AbortController().signal });
  expect(plan.proof.users).toEqual({ complete: true, total: 29, seen: 29 });
  expect(plan.entries.map(({ action, name }) => `${action} ${name}`)).toEqual([
    'deactivate u5@x.example',
    'create u3@x.example',
  ]);
});

test('the mapping changes and the platform shows a value for no account → no single account is read', async () => {
  const all = people(40);
  let gets = 0;
  const scope = scopeOf(all, { list: (page) => page, beforeRead: () => void gets++ });
  const readLinks = (refs: string[]) =>
    Promise.resolve(
      refs.map((ref) => {
        const person = all.find(({ id }) => ref === `User:${id}`) as Person;
        const { core } = linkOf(person);
        const link = { ...linkOf(person), account: person.id, attributes: { team: 'sales' } };
        return { ref, text: toLinkText({ ...link, core: { ...core, displayName: 'Ann' } }), marked: false };
      }),
    );
  Object.assign(scope.drifts, {
    readLinks,
    linkedTo: (_kind: string, ids: string[]) => readLinks(ids.map((id) => `User:${id}`)),
  });
  Object.assign(scope.coverage, { readAllAnew: () => Promise.resolve() });
  Object.assign(scope.runs, { mappedBy: () => Promise.resolve('former rules') });
  Object.assign(scope.outbox, {
    definitions: { read: () => Promise.resolve(new Map()), note: () => Promise.resolve() },
  });
  Object.assign(scope.target, {
    catalogue: {
      ...scope.target.catalogue,
      faults: () =>
        Promise.resolve({ missing: [], conflicts: new Map(), conflictIds: new Map(), ids: new Map() }),
    },
    client: {
      ...scope.target.client,
      values: { list: () => Promise.resolve([{ name: 'team', type: 'string', value: 'sales' }]) },
    },
    mapping: {
      ...scope.target.mapping,
      types: { team: 'string', level: 'string' },
      user: ({ userName, active }: Person) =>
        Promise.resolve({
          ...{ inScope: true, active, core: { userName, displayName: 'Ann' } },
          ...{ attributes: { team: 'sales', level: 'high' }, faults: [] },
        }),
    },
  });
  const { plan } = await makePlan(scope, { id: 'x', signal: new AbortController().signal });
  expect(gets).toBe(0);
  expect(plan.entries.map(({ action, attribute }) => `${action} ${attribute}`)).toEqual(
    all.map(() => 'setAttribute level'),
  );
});
