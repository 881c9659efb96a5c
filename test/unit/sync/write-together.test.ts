// Tests the order of attribute writes, and which values of a combined PATCH count as written.
import { PlatformResponse } from '../../../src/platform/errors.ts';
import type { PlatformPatchOperation, WireUser } from '../../../src/platform/wire.ts';
import type { SyncContext } from '../../../src/sync/context.ts';
import { EXTENSION, writeOrder } from '../../../src/sync/diff.ts';
import type { DesiredUser } from '../../../src/sync/mapping.ts';
import { writeTogether } from '../../../src/sync/write-together.ts';

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
  ['a cleared text', { country: null }, { country: 'DE' }, 'first'],
  ['an empty text', { country: '' }, { country: 'DE' }, 'first'],
  ['a text', { country: 'PT' }, { country: 'DE' }, 'together'],
  ['a whole number', { level: 2 }, { level: 1 }, 'together'],
  ['a fraction', { level: 0.5 }, { level: 1 }, 'last'],
  ['a number beyond what JSON carries exactly', { level: 2 ** 60 }, { level: 1 }, 'last'],
  ['false', { external: false }, { external: true }, 'first'],
  ['true', { external: true }, { external: false }, 'last'],
  ['a list that loses elements', { regions: ['a'] }, { regions: ['a', 'b'] }, 'first'],
  ['a list that becomes empty', { regions: [] }, { regions: ['a'] }, 'first'],
  ['a list that gains elements', { regions: ['a', 'b'] }, { regions: ['a'] }, 'last'],
  ['a list that loses and gains', { regions: ['a', 'c'] }, { regions: ['a', 'b'] }, 'last'],
  ['a list without known value', { regions: ['a'] }, {}, 'last'],
])('%s is written first, together with others or last', (_what, desired, applied, turn) => {
  const order = { first: [], together: [], last: [], [turn]: Object.keys(desired) };
  expect(ordered(desired, applied)).toEqual(order);
});

test('a list with an unconfirmed value is written last, because it may grant access', () => {
  expect(ordered({ regions: ['a'] }, { regions: ['a', 'b'] }, ['attributes.regions']).last).toEqual([
    'regions',
  ]);
});

/** Creates a context whose platform answers the PATCH as given. */
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
      lacks: { externalIdFilter: false, combinedPatchUntil: 0 },
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
  'after an answer that shows %s the shown values count as written, and the rest as unconfirmed',
  async (_what, answer, left) => {
    const { context } = contextOf(() => answer);
    await expect(writeTogether(context, DESIRED, NAMES)).resolves.toEqual(left);
    const written = NAMES.filter((name) => !left.includes(name));
    expect(context.link.core).toEqual({ displayName: 'Eva M' });
    for (const name of written) expect(context.link.attributes?.[name]).toBe(DESIRED.attributes[name]);
    expect(context.link.unsure ?? []).toEqual(left.map((name) => `attributes.${name}`));
    expect(context.target.lacks.combinedPatchUntil > 1000).toBe(written.length === 0);
  },
);

test.each([
  [400, false],
  [501, true],
  [403, false],
  [409, false],
])('a refusal with %i leads to single writes; remembered for the target: %s', async (status, remembered) => {
  const { context, sent } = contextOf(() => {
    throw new PlatformResponse({ status, platformMessage: 'no' }, { method: 'PATCH', route: '/Users/{id}' });
  });
  await expect(writeTogether(context, DESIRED, NAMES)).resolves.toEqual(NAMES);
  expect(context.link.core).toEqual({ displayName: 'Eva' });
  await writeTogether(context, DESIRED, NAMES);
  expect(sent).toHaveLength(remembered ? 1 : 2);
});

test('a single changed value is written by a value call', async () => {
  const { context, sent } = contextOf(() => undefined);
  const one = { ...DESIRED, core: { displayName: 'Eva' } } as DesiredUser;
  await expect(writeTogether(context, one, ['country'])).resolves.toEqual(['country']);
  expect(sent).toEqual([]);
});
