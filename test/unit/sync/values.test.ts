// Tests the conversion and comparison of attribute values.
import fc from 'fast-check';
import type { UserAttributeType } from '../../../src/platform/wire.ts';
import { sameValue, toAttributeValue } from '../../../src/sync/mapping/values.ts';

const TYPES: UserAttributeType[] = ['string', 'number', 'boolean', 'string_array', 'number_array'];
const value = (of: unknown) => ({ kind: 'value', value: of });
const invalid = { kind: 'invalid', reason: expect.stringMatching(/^is .+ and cannot become .+$/) };

describe.each(TYPES)('missing source values of a %s attribute', (type) => {
  it('a missing source value keeps the attribute, or clears it under onEmpty: clear', () => {
    expect(toAttributeValue(type, undefined, 'keep')).toEqual({ kind: 'absent' });
    expect(toAttributeValue(type, undefined, 'clear')).toEqual({ kind: 'clear' });
  });

  it('an explicit null at the source clears the attribute', () => {
    expect(toAttributeValue(type, null, 'keep')).toEqual({ kind: 'clear' });
  });

  it('an object as source value is invalid for every attribute type', () => {
    expect(toAttributeValue(type, { a: 1 }, 'keep')).toEqual(invalid);
  });
});

describe('conversion of attribute values', () => {
  it.each<[UserAttributeType, unknown, unknown]>([
    ['string', 'x', value('x')],
    ['string', '', value('')],
    ['string', 5, value('5')],
    ['string', false, value('false')],
    ['string', ['x'], value('x')],
    ['string', ['x', 'y'], invalid],
    ['number', 5, value(5)],
    ['number', 0, value(0)],
    ['number', '12.5', value(12.5)],
    ['number', ' 12 ', value(12)],
    ['number', '-1', value(-1)],
    ['number', '', invalid],
    ['number', ' ', invalid],
    ['number', 'twelve', invalid],
    ['number', 'Infinity', invalid],
    ['number', Number.NaN, invalid],
    ['number', true, invalid],
    ['number', [7], value(7)],
    ['number', [1, 2], invalid],
    ['boolean', true, value(true)],
    ['boolean', 'False', value(false)],
    ['boolean', 'TRUE', value(true)],
    ['boolean', 'yes', invalid],
    ['boolean', 1, invalid],
    ['boolean', '', invalid],
    ['string_array', ['a', 5, true], value(['a', '5', 'true'])],
    ['string_array', [], value([])],
    ['string_array', 'one', value(['one'])],
    ['string_array', ['a', null], invalid],
    ['string_array', [['a']], invalid],
    ['number_array', ['1', 2], value([1, 2])],
    ['number_array', [], value([])],
    ['number_array', 3, value([3])],
    ['number_array', ['1', 'x'], invalid],
  ])('a %s attribute converts or refuses the source value %j', (type, raw, expected) => {
    expect(toAttributeValue(type, raw, 'keep')).toEqual(expected);
  });

  it.each<UserAttributeType>(['string', 'number', 'boolean'])(
    'an empty list counts as a missing %s',
    (type) => {
      expect(toAttributeValue(type, [], 'keep')).toEqual({ kind: 'absent' });
      expect(toAttributeValue(type, [], 'clear')).toEqual({ kind: 'clear' });
    },
  );

  it('conversion of attribute values never throws, and converting a converted value does not change it', () => {
    fc.assert(
      fc.property(fc.constantFrom(...TYPES), fc.jsonValue(), (type, raw) => {
        const mapped = toAttributeValue(type, raw, 'keep');
        if (mapped.kind === 'value') expect(toAttributeValue(type, mapped.value, 'keep')).toEqual(mapped);
      }),
    );
  });

  it.each([
    [undefined, null, true],
    ['a', 'a', true],
    ['1', 1, false],
    [[], null, false],
    [['a', 'b'], ['b', 'a'], false],
    [false, null, false],
  ])('whether %j and %j count as the same attribute value: %p', (left, right, same) => {
    expect(sameValue(left, right)).toBe(same);
  });
});
