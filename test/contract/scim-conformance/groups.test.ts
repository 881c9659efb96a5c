// Tests members of groups, small and large (RFC 7643 §4.2, RFC 7644 §3.5.2).
import { PATCH_OP, startApi, type Client, type Json } from './client.ts';
import type { Bridge } from '../../support/build-bridge.ts';

let bridge: Bridge;
let scim: Client;
let a: string;
let b: string;
let c: string;
let serial = 0;
beforeAll(async () => {
  ({ bridge, scim } = await startApi());
  [a, b, c] = (await Promise.all(['a', 'b', 'c'].map((name) => scim.user(`${name}@x.example`)))).map(
    ({ id }) => id,
  ) as [string, string, string];
});
afterAll(() => bridge.stop());

const members = async (group: string): Promise<string[]> =>
  (await scim.get(`/Groups/${group}`)).body.members.map(({ value }: Json) => value).sort();
const sorted = (...values: string[]): string[] => values.sort();

describe.each<[string, object[], () => string[]]>([
  ['add of a present member', [{ op: 'add', path: 'members', value: [{ value: 'A' }] }], () => sorted(a, b)],
  [
    'add of the same member three times',
    [
      {
        op: 'add',
        path: 'members',
        value: [{ value: 'C' }, { value: 'C', display: 'x' }, { value: 'C', $ref: null }],
      },
    ],
    () => sorted(a, b, c),
  ],
  ['add of bare text', [{ op: 'add', path: 'members', value: 'C' }], () => sorted(a, b, c)],
  ['add of a list of bare text', [{ op: 'add', path: 'members', value: ['C'] }], () => sorted(a, b, c)],
  [
    'add of one object instead of a list',
    [{ op: 'add', path: 'members', value: { value: 'C' } }],
    () => sorted(a, b, c),
  ],
  [
    'add by $ref only',
    [{ op: 'add', path: 'members', value: [{ $ref: 'https://h/scim/v2/Users/C' }] }],
    () => sorted(a, b, c),
  ],
  ['add without a path', [{ op: 'add', value: { members: [{ value: 'C' }] } }], () => sorted(a, b, c)],
  [
    'add of an unknown member value',
    [{ op: 'add', path: 'members', value: [{ value: 'zz-unknown' }, { value: 'C' }] }],
    () => sorted(a, b, c, 'zz-unknown'),
  ],
  [
    'remove by a list of values',
    [{ op: 'remove', path: 'members', value: [{ value: 'A', $ref: null }] }],
    () => [b],
  ],
  ['remove by bare text', [{ op: 'remove', path: 'members', value: 'A' }], () => [b]],
  ['remove by filter', [{ op: 'remove', path: 'members[value eq "A"]' }], () => [b]],
  ['remove by a filter on type', [{ op: 'remove', path: 'members[type eq "User"]' }], () => []],
  [
    'remove of an absent member',
    [{ op: 'remove', path: 'members', value: [{ value: 'C' }] }],
    () => sorted(a, b),
  ],
  ['remove of an empty list', [{ op: 'remove', path: 'members', value: [] }], () => sorted(a, b)],
  ['remove without a value', [{ op: 'remove', path: 'members' }], () => []],
  ['replace by an empty list', [{ op: 'replace', path: 'members', value: [] }], () => []],
  ['replace by null', [{ op: 'replace', path: 'members', value: null }], () => []],
  [
    'replace by others',
    [{ op: 'replace', path: 'members', value: [{ value: 'C' }, { value: 'C' }] }],
    () => [c],
  ],
  ['replace without a path', [{ op: 'replace', value: { members: [{ value: 'C' }] } }], () => [c]],
  [
    'add, then remove',
    [
      { op: 'add', path: 'members', value: [{ value: 'C' }] },
      { op: 'remove', path: 'members[value eq "C"]' },
    ],
    () => sorted(a, b),
  ],
  [
    'remove, then add',
    [
      { op: 'remove', path: 'members' },
      { op: 'add', path: 'members', value: [{ value: 'C' }] },
    ],
    () => [c],
  ],
  [
    'add, then remove by a filter on type: in order',
    [
      { op: 'add', path: 'members', value: [{ value: 'C' }] },
      { op: 'remove', path: 'members[type eq "User"]' },
    ],
    () => [],
  ],
  [
    'remove by a filter on type, then add: in order',
    [
      { op: 'remove', path: 'members[type eq "User"]' },
      { op: 'add', path: 'members', value: [{ value: 'A' }] },
    ],
    () => [a],
  ],
])('members: %s (RFC 7644 §3.5.2)', (_what, operations, expected) => {
  const named = (text: string): object[] =>
    JSON.parse(
      text
        .replaceAll('"A"', JSON.stringify(a))
        .replaceAll('\\"A\\"', `\\"${a}\\"`)
        .replaceAll('"C"', JSON.stringify(c))
        .replaceAll('\\"C\\"', `\\"${c}\\"`)
        .replaceAll('/C"', `/${c}"`),
    );

  test('after a PATCH of members the group has the expected members, and keeps its version if the members did not change', async () => {
    const group = await scim.group(`g${++serial}`, [a, b]);
    const answer = await scim.patch(`/Groups/${group.id}`, ...named(JSON.stringify(operations)));
    expect([200, 204]).toContain(answer.status);
    expect(await members(group.id)).toEqual(expected());
    const after = (await scim.get(`/Groups/${group.id}`)).body;
    if (expected().join() === sorted(a, b).join()) expect(after.meta).toEqual(group.meta);
    else expect(after.meta.version).toBe('W/"2"');
    const user = (await scim.get(`/Users/${a}`)).body;
    expect((user.groups ?? []).some(({ value }: Json) => value === group.id)).toBe(expected().includes(a));
  });
});

test('a member is removed by the $ref that the group returns', async () => {
  const group = await scim.group(`g${++serial}`, [a, b]);
  const shown = group.members.find(({ value }: Json) => value === a).$ref as string;
  await scim.patch(`/Groups/${group.id}`, { op: 'remove', path: `members[$ref eq "${shown}"]` });
  expect(await members(group.id)).toEqual([b]);
});

test.each([
  {},
  { display: 'x' },
  { value: '' },
  { value: null },
  { value: {} },
  { value: [] },
  null,
  true,
  [[]],
])(
  'PATCH and POST with the member %j, which has no usable value, answer 400 and change nothing',
  async (member) => {
    const group = await scim.group(`g${++serial}`, [a]);
    for (const op of ['add', 'replace', 'remove']) {
      const answer = await scim.patch(`/Groups/${group.id}`, {
        op,
        path: 'members',
        value: [{ value: b }, member],
      });
      expect([op, answer.status]).toEqual([op, 400]);
    }
    expect((await scim.post('/Groups', { displayName: `g${++serial}`, members: [member] })).status).toBe(400);
    expect((await scim.get(`/Groups/${group.id}`)).body).toEqual(group);
  },
);

test('1,000 members that one PATCH adds are stored, and the repeated PATCH keeps the version of the group', async () => {
  const group = await scim.group('thousand');
  const value = Array.from({ length: 1000 }, (_, n) => ({ value: `m${n}` }));
  for (let round = 0; round < 2; round++) {
    expect((await scim.patch(`/Groups/${group.id}`, { op: 'Add', path: 'members', value })).status).toBe(204);
    const { body } = await scim.get(`/Groups/${group.id}`);
    expect(body.members).toHaveLength(1000);
    expect(body.meta.version).toBe('W/"2"');
  }
});

test('adding a member takes at most five times as long in a group of 10,000 as in a small one, and listing without members is faster', async () => {
  const values = Array.from({ length: 10_000 }, (_, n) => ({ value: `crowd-${n}` }));
  const big = (await scim.post('/Groups', { displayName: 'big', members: values })).body.id as string;
  const small = (await scim.group('small')).id as string;
  const time = async (send: () => Promise<unknown>): Promise<number> => {
    const times: number[] = [];
    for (let round = 0; round < 15; round++) {
      const startedAt = performance.now();
      await send();
      times.push(performance.now() - startedAt);
    }
    return Math.min(...times);
  };
  const add = (group: string) => () =>
    scim.patch(`/Groups/${group}`, { op: 'add', path: 'members', value: [{ value: `x${Math.random()}` }] });
  const onSmall = await time(add(small));
  expect(await time(add(big))).toBeLessThan(Math.max(20, 5 * onSmall));
  const listed = await scim.get('/Groups?excludedAttributes=members&filter=displayName%20eq%20%22big%22');
  expect(listed.text.length).toBeLessThan(2000);
  const withMembers = await time(() => scim.get('/Groups'));
  expect(await time(() => scim.get('/Groups?excludedAttributes=members'))).toBeLessThan(withMembers / 2);
  const one = { schemas: [PATCH_OP], Operations: [{ op: 'remove', path: 'members[value eq "crowd-77"]' }] };
  const patched = await scim.send('PATCH', `/Groups/${big}?excludedAttributes=members`, one);
  expect([patched.status, patched.body.members]).toEqual([200, undefined]);
  expect((await scim.get(`/Groups/${big}`)).body.members).toHaveLength(10_000 + 15 - 1);
});
