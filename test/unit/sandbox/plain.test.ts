// Tests that values without JSON form survive the snapshot of `--data`.
import fc from 'fast-check';
import { decode, encode } from '../../../src/sandbox/persistence/plain.ts';
import { createState } from '../../../src/sandbox/state.ts';
import { partsOf } from '../../../src/sandbox/persistence/parts.ts';

const roundTrip = (value: unknown): unknown => decode(JSON.parse(JSON.stringify(encode(value))));

test('saved maps, sets, bigints, infinities and objects with the type-tag key ($) are restored unchanged', () => {
  const value = {
    map: new Map<unknown, unknown>([[1, new Set(['a', Infinity])]]),
    big: 12n ** 30n,
    $: { $: 'map', value: [[1, 2]] },
    list: [null, '', -Infinity, { $: 1 }],
  };
  expect(roundTrip(value)).toEqual(value);
});

test('any JSON that the sandbox saves is restored unchanged, also with a key named __proto__', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      // JSON writes -0 as 0, so the expected value does too.
      const value: unknown = JSON.parse(JSON.stringify(JSON.parse(text)));
      expect(roundTrip(JSON.parse(text))).toEqual(value);
    }),
    // Random tests rarely produce such values, so known ones are always included.
    { examples: [['-0'], ['{"__proto__":1}']] },
  );
  const hostile: unknown = JSON.parse('{"__proto__":{"isAdmin":true}}');
  expect(JSON.stringify(roundTrip(hostile))).toBe('{"__proto__":{"isAdmin":true}}');
});

test('saving a value that JSON cannot express fails instead of dropping the value', () => {
  expect(() => encode({ run: () => undefined })).toThrow('function');
  expect(() => encode(new Date())).toThrow('Date');
});

test("every part of the sandbox's state is saved, or listed as not saved with the reason", () => {
  const state = createState({ now: () => 0, isKept: () => false });
  expect([...partsOf(state).keys()]).toEqual(expect.arrayContaining(['users', 'grants', 'threads', 'audit']));
  expect(() => partsOf({ ...state, oddity: { count: () => 1 } } as never)).toThrow('oddity');
});
