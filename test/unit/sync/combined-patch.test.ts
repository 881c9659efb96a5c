// Tests the order of attribute writes, and which values of a combined PATCH count as written.
import { PlatformResponse } from '../../../src/platform/errors.ts';
import type { PlatformPatchOperation, WireUser } from '../../../src/platform/wire.ts';
import type { SyncContext } from '../../../src/sync/context.ts';
import { EXTENSION, writeOrder } from '../../../src/sync/diff.ts';
import type { DesiredUser } from '../../../src/sync/mapping/mapping.ts';
import { writeCombinedPatch } from '../../../src/sync/user/write-account.ts';

const types = {
  country: 'string',
  level: 'number',
  external: 'boolean',
  regions: 'string_array',
} as const;

const ordered = (desired: object, attributes: object, unsure: string[] = []) =>
  writeOrder(
    desired as DesiredUser['attributes'],
    { types, attributes: { ...attributes }, unsure },
    Object.keys(desired),
  );

test.each([
  ['a cleared text', 'revoking', { country: null }, { country: 'DE' }],
  ['an empty text', 'revoking', { country: '' }, { country: 'DE' }],
  ['a text', 'combinable', { country: 'PT' }, { country: 'DE' }],
  ['a whole number', 'combinable', { level: 2 }, { level: 1 }],
  ['a fraction', 'others', { level: 0.5 }, { level: 1 }],
  ['a number beyond what JSON carries exactly', 'others', { level: 2 ** 60 }, { level: 1 }],
  ['false', 'revoking', { external: false }, { external: true }],
  ['true', 'others', { external: true }, { external: false }],
  ['a list that loses elements', 'revoking', { regions: ['a'] }, { regions: ['a', 'b'] }],
  ['a list that becomes empty', 'revoking', { regions: [] }, { regions: ['a'] }],
  ['a list that gains elements', 'others', { regions: ['a', 'b'] }, { regions: ['a'] }],
  ['a list that loses and gains', 'others', { regions: ['a', 'c'] }, { regions: ['a', 'b'] }],
  ['a list without known value', 'others', { regions: ['a'] }, {}],
])('a change of a user to %s is written in the step `%s` of the sync', (_what, step, desired, applied) => {
  const order = { revoking: [], combinable: [], others: [], [step]: Object.keys(desired) };
  expect(ordered(desired, applied)).toEqual(order);
});

test('a list attribute with an unconfirmed value is written last, because it may grant access', () => {
  expect(ordered({ regions: ['a'] }, { regions: ['a', 'b'] }, ['attributes.regions']).others).toEqual([
    'regions',
  ]);
});

/** Creates a context whose platform answers each PATCH as given; `sent` collects the operations of each. */
function contextOf(answer: (operations: PlatformPatchOperation[]) => WireUser | undefined) {
  const sent: PlatformPatchOperation[][] = [];
  const context = {
    clock: { now: () => 1000 },
    link: {
      id: '7',
      core: { displayName: 'Eva' },
      attributes: { country: 'PT', level: 1 },
    } as SyncContext['link'],
    target: {
      lacks: { externalIdFilter: false, combinedPatchUntil: 0, userList: false },
      recentExternalIds: { note: () => Promise.resolve(false) },
      client: {
        users: {
          patch: (_id: string, operations: PlatformPatchOperation[]) => {
            sent.push(operations);
            return Promise.resolve().then(() => answer(operations));
          },
        },
      },
    },
    call: {},
    save: () => Promise.resolve(),
    attempt: (_names: string[], _operation: string, run: () => Promise<unknown>) => run(),
  };
  return { context: context as unknown as SyncContext, sent };
}

const DESIRED = {
  core: { displayName: 'Eva M' },
  attributes: { country: 'DE', level: 2 },
} as unknown as DesiredUser;
const NAMES = ['country', 'level'];
const shown = (values?: Record<string, string | number>): WireUser => ({
  id: '7',
  userName: 'eva',
  ...(values && { [EXTENSION]: values }),
});

test.each([
  ['all values', shown({ country: 'DE', level: 2 }), []],
  ['a number as text', shown({ country: 'DE', level: '2' }), []],
  ['an old value', shown({ country: 'PT', level: 2 }), ['country']],
  ['no values', shown(), NAMES],
  ['nothing', undefined, NAMES],
])(
  'the answer to a combined PATCH shows %s → values shown as desired count as written, and all others as unconfirmed',
  async (_what, answer, left) => {
    const { context } = contextOf(() => answer);
    await expect(writeCombinedPatch(context, DESIRED, NAMES)).resolves.toEqual(left);
    const written = NAMES.filter((name) => !left.includes(name));
    expect(context.link.core).toEqual({ displayName: 'Eva M' });
    for (const name of written) expect(context.link.attributes?.[name]).toBe(DESIRED.attributes[name]);
    expect(context.link.unsure ?? []).toEqual(left.map((name) => `attributes.${name}`));
    // Without any shown value, no combined PATCH is sent for a time after now (1000).
    expect(context.target.lacks.combinedPatchUntil > 1000).toBe(written.length === 0);
  },
);

test.each([
  [400, false],
  [501, true],
  [403, false],
  [409, false],
])(
  'a combined PATCH is refused with %i → all values are to be written singly; further combined PATCHes are disabled: %s',
  async (status, remembered) => {
    const { context, sent } = contextOf(() => {
      throw new PlatformResponse(
        { status, platformMessage: 'no' },
        { method: 'PATCH', route: '/Users/{id}' },
      );
    });
    await expect(writeCombinedPatch(context, DESIRED, NAMES)).resolves.toEqual(NAMES);
    expect(context.link.core).toEqual({ displayName: 'Eva' });
    await writeCombinedPatch(context, DESIRED, NAMES);
    expect(sent).toHaveLength(remembered ? 1 : 2);
  },
);

test('a single changed value is not sent as a combined PATCH, and remains to be written', async () => {
  const { context, sent } = contextOf(() => undefined);
  const one = { ...DESIRED, core: { displayName: 'Eva' } } as DesiredUser;
  await expect(writeCombinedPatch(context, one, ['country'])).resolves.toEqual(['country']);
  expect(sent).toEqual([]);
});
